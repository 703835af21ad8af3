# Messages between nodes: what operations do, their order, the ways of packets, networks that fail.
gn_unit(net ${CMAKE_CURRENT_SOURCE_DIR}/net_cases.c)
gn_unit(net_packet)
gn_unit(net_rounds)
gn_unit(net_peers)
gn_unit(net_faults)
gn_unit(net_compress)
gn_unit(net_model)
target_link_libraries(test_net_model PRIVATE gn_gups gn_net_model)
