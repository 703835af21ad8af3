/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bfs_kernel.h - what a level of the search hands to its kernels.
 */
#ifndef GN_BFS_KERNEL_H
#define GN_BFS_KERNEL_H

#include "graph/scan.h"

enum {
	GN_BFS_DENSE = 32, /* a frontier of more than one in so many vertices is dense */
	GN_BFS_ALONE = 8,  /* edges of a list that a lane reads by itself, looking for a parent */
	GN_BFS_NONE = -1   /* depth of a vertex not yet reached, as a u32 */
};

/* scan.shared->found counts the vertices found for the next level. */
struct gn_bfs_args {
	struct gn_scan scan;   /* items: frontier entries, all vertices or their edges (dense), or chunks */
	struct gn_state depth; /* u32 */
	const uint32_t *frontier; /* a list of vertices, unless dense */
	uint32_t *next;           /* [capacity]; what does not fit is counted only */
	uint64_t capacity;
	uint32_t level;
	uint32_t dense; /* 1: the frontier is every vertex whose depth is level */
	/*
	 * Of the steps bottom-up: a word for as many vertices as a warp has lanes, so that the warp that has
	 * these vertices writes it alone.
	 */
	uint32_t *frontier_bits;
	uint32_t *next_bits; /* every word is written in a step */
	uint32_t *open_bits; /* vertices that the next step looks at: with edges, and without a parent */
	uint32_t all_open;   /* 1: no step has written open_bits yet, and this one looks at all vertices */
};

/* Scan the frontier; put the rest of long adjacency lists aside. */
GN_SCAN_LISTS_DECLARE(gn_bfs_expand);
/* Scan the chunks of long lists, which gn_bfs_expand has put aside. */
GN_SCAN_KERNEL_DECLARE(gn_bfs_chunks);
/* The same two on plain pointers: what the arrays are measured against. */
SIMT_KERNEL_DECLARE(gn_bfs_expand_plain);
SIMT_KERNEL_DECLARE(gn_bfs_chunks_plain);
/* The first two, and the edges of the vertices that were found are added to scan.shared->ahead. */
GN_SCAN_LISTS_DECLARE(gn_bfs_expand_counted);
GN_SCAN_KERNEL_DECLARE(gn_bfs_chunks_counted);
/* Set frontier_bits to the vertices whose depth is level. Items: words. */
GN_SCAN_KERNEL_DECLARE(gn_bfs_mark);
/* Look for a neighbour in the frontier of each vertex without a depth. Items: words, then chunks. */
GN_SCAN_KERNEL_DECLARE(gn_bfs_parents);
GN_SCAN_KERNEL_DECLARE(gn_bfs_parents_chunks);

#endif
