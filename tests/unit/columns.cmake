# Unit tests of tables and of queries over them; included by this folder's CMakeLists.txt.
gn_unit(columns)
target_link_libraries(test_columns PRIVATE gn_columns m)
gn_unit(query)
target_link_libraries(test_query PRIVATE gn_query)
