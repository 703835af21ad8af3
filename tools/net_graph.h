/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_graph.h - the graph that a subcommand on many nodes works on: every process reads it as a whole.
 */
#ifndef GN_TOOL_NET_GRAPH_H
#define GN_TOOL_NET_GRAPH_H

#include "net.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tool_graph {
	const char *path;
	bool undirected, simple;
	struct gn_graph graph; /* fini it */
};

/* tool_graph_argp - the argument GRAPH and --undirected, as a child; its input is a struct tool_graph. */
extern const struct argp tool_graph_argp;

/* tool_graph_read - read it, with a progress bar. Codes of gn_graph_read; -GN_EINVAL: it has no vertex. */
int tool_graph_read(struct tool_graph *g, struct gn_error *e);

/*
 * tool_graph_least_nodes - the nodes that it is certainly spread over, for the size of a node's heap. Unless
 * the transport is said to be local a launcher may have started any number; what a node does not use of its
 * heap costs it addresses only.
 */
uint32_t tool_graph_least_nodes(const struct tool_net *net);

#ifdef __cplusplus
}
#endif

#endif
