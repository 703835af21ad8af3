# Arrays: scalar accesses of every type, page references, cursors, loops over pages, batches of rows.
foreach(name array_access array_page array_range array_gather)
  gn_unit(${name})
endforeach()
