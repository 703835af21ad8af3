/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pagerank.h - ranks (ranks.h) of the vertices of a graph that may be larger than the memory of the machine.
 */
#ifndef GN_PAGERANK_PAGERANK_H
#define GN_PAGERANK_PAGERANK_H

#include "graph/arrays.h"
#include "graph/progress.h"
#include "graph/step.h"
#include "pagerank/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GN_PAGERANK_STATE = 28 /* bytes of a vertex's state */ };

enum gn_pagerank_algorithm {
	/* a vertex adds up the shares of its neighbours: right only if every edge is there in both directions
	 */
	GN_PAGERANK_PULL,
	GN_PAGERANK_PUSH /* a vertex adds its share to each of its neighbours, by an atomic addition */
};

struct gn_pagerank_options {
	enum gn_pagerank_algorithm algorithm;
	uint32_t iterations; /* at most */
	double tolerance;    /* stop when an iteration moves all ranks together by less than this */
	/*
	 * Told each iteration, which is over all vertices; the first is told with the count of the degrees
	 * before it. Its measure is how far it moved all ranks together.
	 */
	struct gn_graph_listener listener;
};

struct gn_pagerank_result {
	uint32_t iterations;
	int converged;  /* 1: the last iteration moved less than the tolerance */
	double moved;   /* by the last iteration: the sum of all differences */
	uint64_t edges; /* read, in all iterations */
	double seconds; /* from the first launch to the end of the last */
};

/*
 * gn_pagerank - ranks after some iterations. Each uses the ranks that the one before left behind.
 * @graph     its arrays, of 1 vertex at least; plain pointers are not used
 * @rank      host memory, receives the rank of each of graph->vertices, in units of 2^-60; their sum is
 *            pagerank_one. They do not depend on the algorithm or the order of the work.
 * @progress  told the iterations; may be NULL
 * Memory on the machine: 28 bytes a vertex, unless graph->state has a place for them, and 1/64 byte an edge.
 * Host. Returns 0; -GN_EINVAL (no vertex); -GN_EBADMSG (offsets that decrease, a neighbour out of range; a
 * sum other than 1, because edges of a graph that is pulled are there in one direction only); -GN_EFBIG (a
 * vertex has 2^32 - 1 edges or more); -GN_ENOMEM; what an array could not read; what the machine, or
 * gn_auto_adapt, or the listener, failed with. Then rank is not to be used. Source: Beamer, Asanovic and
 * Patterson, "The GAP benchmark suite", 2015: damping 0.85, the tolerance, the limit of iterations, and
 * pulling.
 */
int gn_pagerank(struct simt_machine *machine, struct gn_graph_arrays *graph,
                const struct gn_pagerank_options *options, uint64_t *rank, struct gn_pagerank_result *result,
                const struct gn_progress *progress, struct gn_error *error);

/* What a verification found. */
struct gn_pagerank_check {
	double distance; /* from the reference after as many iterations, all differences added up */
	double bound;    /* how far rounding can be from it */
	double error;    /* how far one more iteration, in double precision, moves the ranks: GAP's rule */
};

/*
 * gn_pagerank_verify - hold ranks against the reference, and if they converged, against GAP's rule: the error
 * is less than the tolerance. Returns 0, -GN_EBADMSG with what is too far, or -GN_ENOMEM.
 */
int gn_pagerank_verify(const struct gn_graph *graph, const struct gn_pagerank_options *options,
                       const struct gn_pagerank_result *result, const uint64_t *rank,
                       struct gn_pagerank_check *check, struct gn_error *error);

#ifdef __cplusplus
}
#endif

#endif
