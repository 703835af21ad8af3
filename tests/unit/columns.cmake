# Unit tests of tables and of queries over them; included by this folder's CMakeLists.txt.
foreach(part columns fields)
  gn_unit(${part})
  target_link_libraries(test_${part} PRIVATE gn_columns m)
endforeach()
foreach(part query query_compare query_random)
  gn_unit(${part})
  target_link_libraries(test_${part} PRIVATE gn_query)
endforeach()
