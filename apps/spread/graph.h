/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.h - a graph spread over nodes: vertices in blocks, each node has the edges that begin at its
 * vertices.
 */
#ifndef GN_SPREAD_GRAPH_H
#define GN_SPREAD_GRAPH_H

#include <grapnel/net.h>

#include "graph/graph.h"
#include "spread/blocks.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A node's part, in memory of its machine. Plain data, passed to kernels by value; its vertices are numbered
 * from 0.
 */
struct spread_graph {
	struct spread_blocks blocks;
	uint32_t first, count; /* vertices */
	uint64_t edges;
	const uint64_t *offsets;    /* count + 1, from 0 on */
	const uint32_t *neighbours; /* in the whole graph's numbers */
	const uint32_t *weights;    /* NULL: the graph has none */
};

/*
 * spread_graph_load - copy this node's part of a graph.
 * @whole  borrowed until return
 * Host. Returns 0 or -GN_ENOMEM, or the machine's code; free it also then.
 */
int spread_graph_load(struct spread_graph *part, struct gn_net *net, const struct gn_graph *whole,
                      struct gn_error *error);

/* spread_graph_free - before the run ends. A zeroed part is nothing. */
void spread_graph_free(struct spread_graph *part, struct gn_net *net);

/* spread_most_edges - of any node. */
uint64_t spread_most_edges(const struct gn_graph *whole, uint32_t nodes);

#ifdef __cplusplus
}
#endif

/* ---- along the edges, in kernels ---- */

/* A vertex with so many edges is shared by the lanes of a warp; else each lane takes a vertex. */
enum { SPREAD_LONG = 64 };

SIMT_FN uint64_t spread_degree(const struct spread_graph *g, uint32_t vertex)
{
	return g->offsets[vertex + 1] - g->offsets[vertex];
}

/*
 * spread_push - every vertex that is ready sends something along each of its edges.
 * @ready  may it send, and what? Asked once for each vertex, by one thread
 * @send   send it along one edge; returns 0 or a code
 * All threads of a grid whose blocks are whole warps. Returns how many vertices this thread found ready. A
 * thread that cannot send stops sending (gn_net_failure has the code); the lanes stay together.
 */
SIMT_FN uint64_t spread_push(const struct spread_graph *g, const void *args,
                             int (*ready)(const void *args, uint32_t vertex, uint64_t *what),
                             int (*send)(const void *args, uint64_t what, uint64_t edge))
{
	const uint32_t warp = simt_whole_warp(), lane = simt_lane();
	uint64_t found = 0;
	int rc = 0;

	for (uint64_t at = simt_global_thread() - lane; at < g->count; at += simt_global_threads()) {
		const uint32_t mine = (uint32_t)at + lane;
		uint64_t what = 0;
		const int sends = mine < g->count && ready(args, mine, &what);
		const int shared = sends && spread_degree(g, mine) >= SPREAD_LONG;

		for (uint32_t rest = simt_ballot(warp, shared); rest; rest &= rest - 1) {
			const uint32_t whose = simt_first_lane(rest);
			const uint64_t its = simt_shfl_u64(warp, what, whose);

			for (uint64_t e = g->offsets[at + whose] + lane;
			     e < g->offsets[at + whose + 1] && !rc; e += simt_warp_width())
				rc = send(args, its, e);
		}
		for (uint64_t e = g->offsets[sends ? mine : 0];
		     sends && !shared && e < g->offsets[mine + 1] && !rc; e++)
			rc = send(args, what, e);
		found += (uint64_t)sends;
	}
	return found;
}

#endif
