# Applications on many nodes, each against its reference.
foreach(app gups pagerank_net sssp_net color kmeans)
  gn_unit(${app})
  target_link_libraries(test_${app} PRIVATE gn_${app} m)
endforeach()
gn_unit(mer)
target_link_libraries(test_mer PRIVATE gn_mer gn_graph ZLIB::ZLIB)
