# Jobs over matrices and grids that are far away.
gn_unit(matrix)
target_link_libraries(test_matrix PRIVATE gn_matrix)
gn_unit(stencil)
target_link_libraries(test_stencil PRIVATE gn_stencil)
