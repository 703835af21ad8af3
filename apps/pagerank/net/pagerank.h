/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pagerank.h - ranks (pagerank/ranks.h) of the vertices of a graph that is spread over nodes: every vertex
 * sends its shares along its edges, an addition each.
 */
#ifndef GN_PAGERANK_NET_PAGERANK_H
#define GN_PAGERANK_NET_PAGERANK_H

#include <grapnel/net.h>

#include "graph/graph.h"
#include "pagerank/ranks.h"

struct pagerank_result {
	double seconds;                 /* of the iterations */
	double moved;                   /* sum of the changes of all ranks in the last one */
	uint64_t sum;                   /* of all ranks; pagerank_one */
	struct gn_net_statistics stats; /* of this node, of the iterations only */
};

/* pagerank_heap - bytes of a node's heap that pagerank_run wants. */
uint64_t pagerank_heap(uint64_t vertices, uint32_t nodes);

/*
 * pagerank_run - all nodes call it with the same graph, of 1 vertex at least.
 * @ranks  of all vertices; receives those of this node's, at their places
 * Returns 0, or what failed: -GN_ENOMEM, the machine's or the network's code.
 */
int pagerank_run(struct gn_net *net, const struct gn_graph *graph, uint32_t iterations, uint64_t *ranks,
                 struct pagerank_result *result, struct gn_error *error);

#endif
