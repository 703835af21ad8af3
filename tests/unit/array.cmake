# Arrays: scalar accesses of every type, page references, cursors, loops over pages, batches of rows, choosing the mode, kernels with
# large frames.
foreach(name array_access array_size array_page array_begin array_range array_gather array_gather_points array_auto array_auto_forms
        array_auto_analysis array_frame)
  gn_unit(${name})
endforeach()

# On a GPU too: all that it looks at lies where the host sees it.
if(GN_CUDA)
  foreach(name array_gather array_gather_points array_frame)
    add_test(NAME device_${name} COMMAND test_${name})
    set_tests_properties(device_${name} PROPERTIES TIMEOUT ${gn_patience} SKIP_RETURN_CODE 77 LABELS device ENVIRONMENT CACHE_MACHINE=cuda)
  endforeach()
endif()
