# Measuring: without rows, with rows made for the test, and the rows of the host.
foreach(part statistics plan measure)
  gn_unit(scope_${part})
  target_link_libraries(test_scope_${part} PRIVATE gn_scope_core)
endforeach()
foreach(part host rows)
  gn_unit(scope_${part})
  target_link_libraries(test_scope_${part} PRIVATE gn_scope_host)
endforeach()
