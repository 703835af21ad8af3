/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build.h - make compressed sparse rows of edges in any order. Private to apps/.
 */
#ifndef GN_GRAPH_BUILD_H
#define GN_GRAPH_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "edges.h"
#include "graph.h"
#include "progress.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is added for an edge from u to v, u unlike v. */
enum gn_mirror {
	GN_MIRROR_NONE,
	GN_MIRROR_SAME,   /* v to u of the same weight */
	GN_MIRROR_NEGATED /* v to u of the negated weight (a skew-symmetric matrix) */
};

/*
 * Where edges come from. They are asked for twice, once to count and once to place, and from many
 * threads at once, so a source either holds them or draws them again from their number.
 * @draw  writes edges first to first + count - 1, and their weights unless weights is NULL
 */
struct gn_edge_source {
	const void *self;
	uint64_t edges;
	void (*draw)(const void *self, uint64_t first, uint64_t count, struct gn_edge *edges,
	             uint32_t *weights);
};

struct gn_build {
	struct gn_edge_source source;
	uint64_t vertices; /* above every id that source gives */
	uint32_t weight;   /* GN_WEIGHT_* */
	enum gn_mirror mirror;
	bool simple; /* drop self loops; of duplicates keep the one of least weight */
	uint64_t memory_limit;
	const struct gn_progress *progress;
};

/*
 * gn__graph_build - count, place, sort.
 * The neighbours of a vertex ascend, equal ones by weight, so that the outcome does not depend on
 * the number of threads. Returns 0 or a code of gn_graph_init.
 */
int gn__graph_build(struct gn_graph *g, const struct gn_build *b, struct gn_error *e);

/* A source that reads a list, which stays the caller's. */
struct gn_edge_source gn__edges_source(const struct gn_edges *l);

/* A source that reads a graph, which stays the caller's. */
struct gn_edge_source gn__graph_source(const struct gn_graph *g);

/*
 * gn__row_sort - sort n neighbours in place, with their weights unless weights is NULL.
 * @weight    GN_WEIGHT_*: the order among equal neighbours
 * @vertices  above every neighbour
 * In place, because a row may hold most of the graph. Any thread.
 */
void gn__row_sort(uint32_t *neighbours, uint32_t *weights, uint64_t n, uint32_t weight, uint64_t vertices);

/* gn__graph_shrink - give back the memory of all but the first so many edges. */
void gn__graph_shrink(struct gn_graph *g, uint64_t edges);

#ifdef __cplusplus
}
#endif

#endif
