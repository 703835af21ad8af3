/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pagerank.h - ranks of the vertices of a graph that is spread over nodes.
 *
 * Every vertex sends 17/20 of its rank (the damping of 0.85) in equal shares along its edges, an addition
 * each; what is not sent, by vertices without edges too, is given to all vertices alike.
 *
 * Ranks are whole numbers of 2^-60. Additions of whole numbers may come in any order: the result is the same
 * bit by bit, whatever the number of nodes and threads, which sums of f64 are not. They also are what atomics
 * do everywhere at once, and no share can be lost unseen: what shares leave over is given out with the rest,
 * so the sum of all ranks is exactly 1 after every iteration.
 */
#ifndef GN_PAGERANK_PAGERANK_H
#define GN_PAGERANK_PAGERANK_H

#include <grapnel/net.h>

#include "graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

static const uint64_t pagerank_one = 1ull << 60;

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
                 struct pagerank_result *result);

/*
 * pagerank_reference - the same in one thread with long double, by pulling along the reversed edges.
 * @ranks  receives those of all vertices; their sum is 1
 * Returns 0 or -GN_ENOMEM.
 */
int pagerank_reference(const struct gn_graph *graph, uint32_t iterations, double *ranks);

/*
 * pagerank_bound - how far whole-number ranks may be from those of the reference, all differences added up.
 *
 * In an iteration less than 1 of a vertex's rank is lost when 17/20 are taken of it and less than 1 an edge
 * when that is shared, and both come back at other vertices; giving out the rest moves less than 1 a vertex:
 * under 2 * edges + 3 * vertices units of 2^-60. What the reference rounds, 2^-64 of a rank for each of its
 * edges, is less than one more of each. A distance from the iteration before shrinks to 17/20 in this one, so
 * it never exceeds 20/3 of that. At the end the reference rounds to f64: 2^-53 of a sum of 1.
 */
double pagerank_bound(const struct gn_graph *graph);

#ifdef __cplusplus
}
#endif

#endif
