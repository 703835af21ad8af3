/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.h - one look at all vertices of a node that have no colour yet. */
#ifndef GN_COLOR_KERNELS_H
#define GN_COLOR_KERNELS_H

#include "spread/graph.h"

struct color_args {
	struct gn_net_view net;
	struct spread_graph graph;
	uint32_t *color; /* of this node's vertices, and 1; 0: none yet */
	uint32_t *seen;  /* symmetric, one a edge: the neighbour's colour, and 1; 0: none yet */
	/* of each edge: where its other direction lies among the neighbour's node's edges */
	const uint64_t *twin;
	uint64_t *changes; /* the kernel adds the vertices that it gave a colour */
};

SIMT_KERNEL_DECLARE(color_some);

/* A vertex's rank: its number, mixed (the end of Appleby's MurmurHash3), so no two have the same. */
SIMT_FN uint32_t color_rank(uint32_t vertex)
{
	uint32_t x = vertex;

	x = (x ^ x >> 16) * 0x85ebca6bu;
	x = (x ^ x >> 13) * 0xc2b2ae35u;
	return x ^ x >> 16;
}

#endif
