# The cache: a crowd by chance, the known breaking points of pagers by name, several streams; warps of 8 besides 1 and 32.
foreach(name cache cache_dream cache_streams)
  gn_stress(${name})
  add_test(NAME stress_${name}_warps8 COMMAND stress_${name} --warp-width 8)
  set_tests_properties(stress_${name}_warps8 PROPERTIES TIMEOUT ${limit})
endforeach()
