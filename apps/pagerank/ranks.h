/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks.h - the ranks of PageRank, as both forms compute them, and the reference they are held against.
 *
 * Every vertex gives 17/20 of its rank (the damping of 0.85) in equal shares along its edges; what is not
 * given, by vertices without edges too, is given to all vertices alike.
 *
 * Ranks are whole numbers of 2^-60. Additions of whole numbers may come in any order: the result is the same
 * bit by bit, whatever the number of nodes and threads, which sums of f64 are not. They also are what atomics
 * do everywhere at once, and no share can be lost unseen: what shares leave over is given out with the rest,
 * so the sum of all ranks is exactly 1 after every iteration.
 */
#ifndef GN_PAGERANK_RANKS_H
#define GN_PAGERANK_RANKS_H

#include <grapnel/simt.h>

#include "graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

static const uint64_t pagerank_one = 1ull << 60;

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

/*
 * pagerank_error - GAP's rule: how far one more iteration, in double precision, moves ranks, all differences
 * added up.
 * @ranks  of all vertices
 * @error  receives it
 * Returns 0 or -GN_ENOMEM.
 */
int pagerank_error(const struct gn_graph *graph, const double *ranks, double *error);

#ifdef __cplusplus
}
#endif

/* pagerank_share - 17/20 of a rank, in equal shares for degree edges; 0 of a vertex without edges. */
SIMT_FN uint64_t pagerank_share(uint64_t rank, uint64_t degree)
{
	return degree ? (rank / 20 * 17 + rank % 20 * 17 / 20) / degree : 0;
}

#endif
