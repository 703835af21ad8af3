# Parts of the grapnel command that can be tested by themselves.
gn_unit(utf8)
target_link_libraries(test_utf8 PRIVATE gn_graph gn_scope_core)
gn_unit(sweep ${PROJECT_SOURCE_DIR}/tools/sweep_plan.c)
target_include_directories(test_sweep PRIVATE ${PROJECT_SOURCE_DIR}/tools)
target_link_libraries(test_sweep PRIVATE gn_scope_core)
gn_unit(graph_sources ${PROJECT_SOURCE_DIR}/tools/graph_sources.c ${PROJECT_SOURCE_DIR}/tools/graph_offsets.c)
target_include_directories(test_graph_sources PRIVATE ${PROJECT_SOURCE_DIR}/tools)
target_link_libraries(test_graph_sources PRIVATE gn_graph gn_scope_core)
