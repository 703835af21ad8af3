# Arrays: scalar accesses of every type, page references, cursors, loops over pages, batches of rows, choosing the mode.
foreach(name array_access array_page array_range array_gather array_auto array_auto_forms array_auto_study array_auto_weigh)
  gn_unit(${name})
endforeach()
