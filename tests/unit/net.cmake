# Messages between nodes.
gn_unit(net)
