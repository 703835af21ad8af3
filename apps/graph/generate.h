/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generate.h - synthetic graphs by the parameters of the GAP benchmark suite (Beamer, Asanovic,
 * Patterson: The GAP Benchmark Suite, 2015, section 3).
 */
#ifndef GN_GRAPH_GENERATE_H
#define GN_GRAPH_GENERATE_H

#include <stdbool.h>
#include <stdint.h>

#include "graph.h"
#include <grapnel/error.h>
#include "progress.h"

#ifdef __cplusplus
extern "C" {
#endif

enum gn_generator {
	GN_GENERATOR_KRON, /* Kronecker (R-MAT), A 0.57, B 0.19, C 0.19, vertex ids permuted */
	GN_GENERATOR_URAND /* both ends of each edge uniformly random */
};

enum { GN_GENERATOR_MAX_SCALE = 31 };

struct gn_generate_options {
	enum gn_generator kind;
	unsigned scale;  /* 2^scale vertices */
	uint64_t degree; /* degree * 2^scale edges are drawn */
	uint64_t seed;
	bool undirected;       /* store both directions of each drawn edge */
	bool keep;             /* keep self loops and duplicates; GAP, and we by default, drop them */
	bool wide;             /* a .gng file of the graph has ids of 8 bytes */
	uint64_t memory_limit; /* as in gn_graph_init */
	struct gn_progress progress;
};

/*
 * gn_graph_generate - draw a graph.
 * Edge i depends on seed and i alone, so the graph is the same whatever the number of threads. The
 * edges are drawn twice (once to count, once to place) instead of being stored: memory is that of
 * the graph with its duplicates and nothing else of that order.
 * Returns 0, -GN_EINVAL for a scale past GN_GENERATOR_MAX_SCALE, -GN_EFBIG, -GN_ENOMEM; on failure
 * g holds nothing. Runs on OpenMP's threads.
 */
int gn_graph_generate(struct gn_graph *g, const struct gn_generate_options *options, struct gn_error *e);

/*
 * gn_graph_generate_check - whether scale and degree are within the limits: 0, or a code of
 * gn_graph_generate.
 */
int gn_graph_generate_check(const struct gn_generate_options *options, struct gn_error *e);

#ifdef __cplusplus
}
#endif

#endif
