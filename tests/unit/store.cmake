# Stores and the software controller.
foreach(name store_uri store_open store_memory store_peer store_transfer store_stripe store_replica store_replica_state controller_commands controller_faults nvme_drive nvme_watch
        rdma_words)
  gn_unit(${name})
endforeach()
if(GN_RDMA_FOUND) # the device is faked: calls of the library for which it would want one go elsewhere
  foreach(name rdma_engine rdma_control)
    gn_unit(${name})
    target_link_libraries(test_${name} PRIVATE PkgConfig::RDMA)
    target_link_options(test_${name} PRIVATE LINKER:--wrap=ibv_create_cq LINKER:--wrap=ibv_destroy_cq)
  endforeach()
  if(MLX5_FOUND) # no store uses it yet, so the library does not have it
    gn_unit(rdma_direct ${PROJECT_SOURCE_DIR}/src/store/rdma/direct_mlx5.c)
    target_link_libraries(test_rdma_direct PRIVATE PkgConfig::RDMA PkgConfig::MLX5)
    target_link_options(test_rdma_direct PRIVATE LINKER:--wrap=mlx5dv_is_supported LINKER:--wrap=mlx5dv_init_obj)
  endif()
  foreach(name rdma_server rdma_link)
    gn_unit(${name})
    target_link_libraries(test_${name} PRIVATE PkgConfig::RDMA)
  endforeach()
  foreach(function ibv_get_cq_event ibv_ack_cq_events ibv_query_port rdma_get_cm_event rdma_disconnect rdma_destroy_qp rdma_destroy_id)
    target_link_options(test_rdma_server PRIVATE LINKER:--wrap=${function})
  endforeach()
  foreach(function getaddrinfo freeaddrinfo rdma_create_event_channel rdma_destroy_event_channel rdma_create_id rdma_destroy_id
      rdma_resolve_addr rdma_get_cm_event)
    target_link_options(test_rdma_link PRIVATE LINKER:--wrap=${function})
  endforeach()
endif()
if(GN_CUDA) # with two GPUs one of them has the other's data, with one its own
  add_test(NAME device_store_peer COMMAND test_store_peer)
  set_tests_properties(device_store_peer PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77 LABELS device ENVIRONMENT GN_TEST_MACHINE=cuda)
endif()
