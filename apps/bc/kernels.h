/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.h - what the host hands to the kernels of betweenness centrality.
 */
#ifndef GN_BC_KERNELS_H
#define GN_BC_KERNELS_H

#include "graph/scan.h"

enum {
	GN_BC_NONE = -1,       /* depth of a vertex not yet reached, as a u32 */
	GN_BC_CANDIDATES = 256 /* vertices among which sources are chosen at once */
};

struct gn_bc_args {
	struct gn_scan scan; /* items: vertices of a level, or chunks */
	uint32_t *depth;     /* [vertices] */
	double *paths;       /* [vertices]: shortest paths from the source */
	double *share; /* [vertices]: (1 + dependency) / paths; before that the sum of the successors' */
	double *score; /* [vertices]: of all sources */
	const uint32_t *level; /* the vertices whose depth is at */
	uint32_t *next;        /* receives those whose depth is at + 1 */
	uint32_t at;
	uint32_t *candidates; /* [GN_BC_CANDIDATES]: a vertex, and then whether it has edges */
};

/* Nothing is reached. Items: all vertices. */
SIMT_KERNEL_DECLARE(gn_bc_clear);
/* Find the next level, and add up the paths to its vertices. Lists, and chunks. */
SIMT_KERNEL_DECLARE(gn_bc_forward);
SIMT_KERNEL_DECLARE(gn_bc_forward_chunks);
/* Add up the shares of the successors of each vertex. Lists, and chunks. */
SIMT_KERNEL_DECLARE(gn_bc_backward);
SIMT_KERNEL_DECLARE(gn_bc_backward_chunks);
/* Dependencies of a level from these sums. scan.shared->found counts vertices with too many paths. */
SIMT_KERNEL_DECLARE(gn_bc_settle);
/* Each candidate becomes 1 if it has edges, else 0. */
SIMT_KERNEL_DECLARE(gn_bc_have_edges);

#endif
