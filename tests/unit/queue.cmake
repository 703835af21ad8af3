# The ring and the queue pair, by one thread and by host threads.
gn_unit(ring)
gn_unit(nvmeq)
gn_unit(nvmeq_commands)
