# Jobs over matrices that are far away.
gn_unit(matrix)
target_link_libraries(test_matrix PRIVATE gn_matrix)
