/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weights.h - lengths of the edges of a graph that has none: whole numbers that look random, by the ends of
 * an edge, the same in both directions. Both forms of sssp draw the same.
 */
#ifndef GN_SSSP_WEIGHTS_H
#define GN_SSSP_WEIGHTS_H

#include "graph/graph.h"
#include "spread/mix.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * sssp_draw_weights - give every edge of a graph a length from 1 to most; a graph with weights keeps its own.
 * Returns 0 or -GN_ENOMEM.
 */
int sssp_draw_weights(struct gn_graph *graph, uint32_t most, struct gn_error *e);

#ifdef __cplusplus
}
#endif

/* sssp_drawn - the length of an edge, from 1 to most. */
SIMT_FN uint32_t sssp_drawn(uint32_t from, uint32_t to, uint32_t most)
{
	const uint64_t low = from < to ? from : to, high = from < to ? to : from;

	return (uint32_t)(spread_mix(high << 32 | low) % most) + 1;
}

#endif
