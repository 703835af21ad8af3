# Stores and the software controller.
foreach(name store_uri store_open store_memory store_transfer store_stripe store_replica store_replica_state controller_commands controller_faults nvme_drive nvme_watch
        rdma_words)
  gn_unit(${name})
endforeach()
if(GN_RDMA_FOUND) # the device is faked: the engine's own calls of the library for which it would want one go elsewhere
  gn_unit(rdma_engine)
  target_link_libraries(test_rdma_engine PRIVATE PkgConfig::RDMA)
  target_link_options(test_rdma_engine PRIVATE LINKER:--wrap=ibv_create_cq LINKER:--wrap=ibv_destroy_cq)
endif()
