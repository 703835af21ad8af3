# Arrays: scalar accesses of every type, page references, cursors, loops over pages.
foreach(name array_access array_page array_range)
  gn_unit(${name})
endforeach()
