# Reports of grapnel scope: written, read, compared, and what follows from them.
foreach(part output charts findings compare tune)
  gn_unit(scope_${part} ${CMAKE_CURRENT_LIST_DIR}/scope_sample.c)
  target_link_libraries(test_scope_${part} PRIVATE gn_scope_output)
endforeach()
