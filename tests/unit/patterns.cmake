# The access patterns of grapnel auto-bench.
gn_unit(patterns)
target_link_libraries(test_patterns PRIVATE gn_patterns)
