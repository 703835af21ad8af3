# Arrays, every function; the cache: a crowd by chance, the known breaking points of pagers by name, several streams, lanes that
# want different things. Warps of 8 besides 1 and 32.
foreach(name array cache cache_dream cache_streams mixed)
  gn_stress(${name})
  add_test(NAME stress_${name}_warps8 COMMAND stress_${name} --warp-width 8)
  set_tests_properties(stress_${name}_warps8 PROPERTIES TIMEOUT ${gn_patience})
endforeach()
# A seed that once hung: a lane claimed pages for its warp, whose other lanes waited for them before they came.
add_test(NAME stress_array_kept COMMAND stress_array --warp-width 8 --seconds 0 --seed 83)
set_tests_properties(stress_array_kept PROPERTIES TIMEOUT ${gn_patience})
