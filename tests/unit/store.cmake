# Stores and the software controller.
foreach(name store_uri store_open store_memory store_transfer store_stripe store_replica store_replica_state controller_commands controller_faults nvme_drive nvme_watch)
  gn_unit(${name})
endforeach()
