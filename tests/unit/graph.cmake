# Unit tests of graphs, their files, readers and generator; included by this folder's CMakeLists.txt.
if(NOT TARGET PkgConfig::CMOCKA)
  pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
endif()

foreach(part reference generate file read formats)
  add_executable(test_graph_${part} ${CMAKE_CURRENT_LIST_DIR}/test_graph_${part}.c)
  target_link_libraries(test_graph_${part} PRIVATE gn_graph PkgConfig::CMOCKA ZLIB::ZLIB m)
  add_test(NAME unit_graph_${part} COMMAND test_graph_${part})
  set_tests_properties(unit_graph_${part} PROPERTIES TIMEOUT ${gn_patience} LABELS unit)
  # gcc's OpenMP runtime is not instrumented: with more threads every barrier would be reported
  if(GN_SANITIZE MATCHES thread)
    set_tests_properties(unit_graph_${part} PROPERTIES ENVIRONMENT OMP_NUM_THREADS=1)
  endif()
endforeach()
target_link_libraries(test_graph_generate PRIVATE OpenMP::OpenMP_C)

# Jobs over a graph that is far away.
gn_unit(cc)
target_link_libraries(test_cc PRIVATE gn_cc)
gn_unit(bfs)
target_link_libraries(test_bfs PRIVATE gn_bfs)
gn_unit(graph_state)
target_link_libraries(test_graph_state PRIVATE gn_bfs gn_cc gn_sssp)
gn_unit(graph_ids)
target_link_libraries(test_graph_ids PRIVATE gn_bfs gn_cc ZLIB::ZLIB)
gn_unit(bc)
target_link_libraries(test_bc PRIVATE gn_bc)
gn_unit(sssp)
target_link_libraries(test_sssp PRIVATE gn_sssp)
gn_unit(pagerank)
target_link_libraries(test_pagerank PRIVATE gn_pagerank m)
gn_unit(tc)
target_link_libraries(test_tc PRIVATE gn_tc)

# Graphs drawn by kernels; on a GPU too, where there is one.
gn_unit(generate)
target_link_libraries(test_generate PRIVATE gn_generate)
if(GN_CUDA)
  set_tests_properties(unit_generate PROPERTIES LABELS device)
endif()

# libgomp's barriers are unknown to the thread sanitizer; these tests generate or order graphs.
if(GN_SANITIZE MATCHES thread)
  set_tests_properties(unit_bfs unit_tc unit_generate PROPERTIES ENVIRONMENT OMP_NUM_THREADS=1)
endif()
