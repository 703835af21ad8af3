# The simulated machine: what runs on it.
gn_unit(sim_wave)
gn_unit(sim_workloads ${CMAKE_CURRENT_LIST_DIR}/sim_functional.c)
foreach(part wave workloads)
  target_link_libraries(test_sim_${part} PRIVATE gn_sim_front)
endforeach()
gn_unit(sim_stream)
target_link_libraries(test_sim_stream PRIVATE gn_sim_front ZLIB::ZLIB)
# The timing model.
foreach(part config parts network flits path dualopt migrate machine)
  gn_unit(sim_${part})
  target_link_libraries(test_sim_${part} PRIVATE gn_sim)
endforeach()
target_compile_definitions(test_sim_config PRIVATE SIM_CONFIGS="${PROJECT_SOURCE_DIR}/sim/configs")
# gcc's OpenMP runtime, which reads the graphs, is not instrumented: with more threads every barrier would be reported
if(GN_SANITIZE MATCHES thread)
  set_tests_properties(unit_sim_workloads unit_sim_machine PROPERTIES ENVIRONMENT OMP_NUM_THREADS=1)
endif()
