# Slots: every size, store, hint and refusal.
foreach(name slots)
  gn_unit(${name})
endforeach()

# On a GPU too.
if(GN_CUDA)
  foreach(name slots)
    add_test(NAME device_${name} COMMAND test_${name})
    set_tests_properties(device_${name} PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77 LABELS device ENVIRONMENT GN_TEST_MACHINE=cuda)
  endforeach()
endif()
