# Slots: every size, store and hint, what stays and what is refused; random batches against a model, and under random schedules.
foreach(name slots slots_held slots_random)
  gn_unit(${name})
endforeach()

gn_unit(slots_schedules)

# On a GPU too.
if(GN_CUDA)
  foreach(name slots slots_held slots_random)
    add_test(NAME device_${name} COMMAND test_${name})
    set_tests_properties(device_${name} PROPERTIES TIMEOUT ${gn_patience} SKIP_RETURN_CODE 77 LABELS device ENVIRONMENT GN_TEST_MACHINE=cuda)
  endforeach()
endif()
