# Messages between nodes: what operations do, the ways of packets, networks that fail.
foreach(name net net_packet net_faults)
  gn_unit(${name})
endforeach()
