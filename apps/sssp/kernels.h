/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.h - what the host hands to the kernels of shortest paths.
 */
#ifndef GN_SSSP_KERNELS_H
#define GN_SSSP_KERNELS_H

#include "graph/scan.h"

enum {
	GN_SSSP_DENSE = 32, /* a near pile of more than one in so many vertices is not taken from its list */
	GN_SSSP_SAMPLES = 1024 /* weights from which the width of a step is chosen */
};

/* What the kernels count; the host looks at it between the steps. */
struct gn_sssp_counts {
	uint64_t reached; /* vertices whose list was read */
	uint64_t edges;   /* of these lists, each counted once */
	uint32_t least;   /* of the lengths in the far pile, or less */
	uint32_t pad;
};

/*
 * Lengths are u32, or the bits of f32; both are compared as u32. A vertex is in a pile if its length is less
 * than when its list was read last: in the near pile below the border, else in the far pile. Only the near
 * pile has a list, if it is short. scan.shared->found counts the vertices that the next near pile has.
 */
struct gn_sssp_args {
	struct gn_scan scan; /* items: entries of the list, all vertices or their edges (dense), or chunks */
	struct gn_state length; /* u32, as the two below */
	struct gn_state read;   /* the length when the list was read last */
	struct gn_state mark;   /* the last round for which the vertex was put into the list */
	const uint32_t *list;   /* the near pile, unless dense */
	uint32_t *next;         /* [capacity]: the next one; what does not fit is counted only */
	uint32_t *sample;       /* [GN_SSSP_SAMPLES] */
	struct gn_sssp_counts *counts;
	uint64_t capacity;
	uint32_t none;   /* the length of a vertex that was not reached */
	uint32_t limit;  /* the largest length: a longer one becomes this, and is an error at the end */
	uint32_t border; /* lengths below it are near */
	uint32_t round;  /* the next one; from 1 on */
	uint32_t most;   /* weights that are drawn are 1 to this */
	uint32_t dense;  /* 1: the near pile is found by looking at every vertex */
};

/* Read the lists of the near pile. Lists, and the chunks of long lists. */
GN_SCAN_LISTS_DECLARE(gn_sssp_relax);
GN_SCAN_KERNEL_DECLARE(gn_sssp_relax_chunks);
/* Put what is near after the border was moved into the list; find the least of what is far. */
GN_SCAN_KERNEL_DECLARE(gn_sssp_split);
/* Weights of edges that are spread over all. */
SIMT_KERNEL_DECLARE(gn_sssp_sample);

#endif
