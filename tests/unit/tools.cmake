# What the subcommands share.
gn_unit(utf8)
target_link_libraries(test_utf8 PRIVATE gn_graph gn_scope_core)
