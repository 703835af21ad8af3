/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.h - what the host hands to the kernels of betweenness centrality.
 */
#ifndef GN_BC_KERNELS_H
#define GN_BC_KERNELS_H

#include "graph/scan.h"

enum {
	GN_BC_NONE = -1,  /* depth of a vertex not yet reached, as a u32 */
	GN_BC_DENSE = 32, /* a level of more than one in so many vertices is gone over by chunks of edges,
	                     where the graph is balanced */
	GN_BC_CANDIDATES = 256 /* vertices among which sources are chosen at once */
};

struct gn_bc_args {
	struct gn_scan scan;   /* items: vertices of a level, chunks of edges, or what was put aside */
	struct gn_state depth; /* u32 */
	struct gn_state paths; /* f64, as the two below: shortest paths from the source */
	struct gn_state share; /* (1 + dependency) / paths; before that the sum of the successors' */
	struct gn_state score; /* of all sources */
	struct gn_state order; /* u32: the vertices that are reached, level by level */
	uint64_t level;        /* where in order the vertices begin whose depth is at */
	uint64_t next;         /* and where those come whose depth is at + 1 */
	uint32_t source;
	uint32_t at;
	uint32_t *candidates; /* [GN_BC_CANDIDATES]: a vertex, and then whether it has edges */
};

/* Nothing is reached but the source. Items: all vertices. */
GN_SCAN_KERNEL_DECLARE(gn_bc_clear);
/* Find the next level, and add up the paths to its vertices. Lists, and chunks. */
GN_SCAN_LISTS_DECLARE(gn_bc_forward);
GN_SCAN_KERNEL_DECLARE(gn_bc_forward_chunks);
/* Add up the shares of the successors of each vertex. Lists, and chunks. */
GN_SCAN_LISTS_DECLARE(gn_bc_backward);
GN_SCAN_KERNEL_DECLARE(gn_bc_backward_chunks);
/* Dependencies of a level from these sums. scan.shared->found counts vertices with too many paths. */
GN_SCAN_KERNEL_DECLARE(gn_bc_settle);
/* Each candidate becomes 1 if it has edges, else 0. */
SIMT_KERNEL_DECLARE(gn_bc_have_edges);

#endif
