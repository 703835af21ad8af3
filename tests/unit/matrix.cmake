# Jobs over matrices and grids that are far away.
gn_unit(matrix)
target_link_libraries(test_matrix PRIVATE gn_matrix)
gn_unit(tiles)
target_link_libraries(test_tiles PRIVATE gn_tiles)
gn_unit(stencil)
target_link_libraries(test_stencil PRIVATE gn_stencil)
gn_unit(radix)
target_link_libraries(test_radix PRIVATE gn_radix)
gn_unit(sort)
target_link_libraries(test_sort PRIVATE gn_sort)

# Threads read elements and validate afterwards, while the next page's owner writes to the frame with plain stores: a race by
# design that the thread sanitizer cannot tell from others.
if(GN_SANITIZE MATCHES thread)
  set_tests_properties(unit_stencil PROPERTIES DISABLED ON)
endif()
