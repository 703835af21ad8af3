# Arrays: scalar accesses of every type, page references, cursors.
foreach(name array_access array_page)
  gn_unit(${name})
endforeach()
