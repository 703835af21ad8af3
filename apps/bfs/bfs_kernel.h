/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bfs_kernel.h - what a level of the search hands to its kernels.
 */
#ifndef GN_BFS_KERNEL_H
#define GN_BFS_KERNEL_H

#include <grapnel/array.h>
#include <grapnel/simt.h>

enum {
	GN_BFS_CHUNK = 1024, /* edges of a vertex that a warp scans in one go */
	GN_BFS_DENSE = 32,   /* a frontier of more than one in so many vertices is dense */
	GN_BFS_NONE = -1,    /* depth of a vertex not yet reached, as a u32 */
	GN_BFS_SOUND = 0,
	GN_BFS_BAD_OFFSETS = 1, /* offsets of a vertex decrease or reach past the edges */
	GN_BFS_BAD_NEIGHBOUR = 2
};

/* Edges begin to end - 1 of a vertex. */
struct gn_bfs_range {
	uint64_t begin, end;
};

/* Words that all warps share; each counter on a line of its own. */
struct gn_bfs_shared {
	uint64_t taken; /* items of the list that warps have taken */
	uint64_t pad_taken[15];
	uint64_t next_count; /* vertices found for the next level */
	uint64_t pad_next[15];
	uint64_t range_count; /* ranges left over by vertices of high degree */
	uint64_t pad_range[15];
	uint64_t edges; /* scanned, ever */
	uint32_t fault; /* GN_BFS_*: the first thing wrong with the graph */
	uint32_t fault_vertex;
};

struct gn_bfs_args {
	struct gn_array offsets;       /* u64, vertices + 1 */
	struct gn_array neighbours;    /* u32, edges */
	const uint64_t *plain_offsets; /* of the plain kernels */
	const uint32_t *plain_neighbours;
	uint64_t vertices, edges;
	uint32_t *depth;             /* [vertices] */
	const uint32_t *frontier;    /* a list of vertices, unless dense */
	uint32_t *next;              /* [vertices] */
	struct gn_bfs_range *ranges; /* [range_capacity] */
	uint64_t range_capacity;
	uint64_t item_count; /* of the kernel at hand: frontier entries, all vertices (dense), or ranges */
	struct gn_bfs_shared *shared;
	uint32_t level;
	uint32_t batch; /* items that a warp takes at once */
	uint32_t dense; /* 1: the frontier is every vertex whose depth is level */
};

/* Scan the frontier; leave the rest of long adjacency lists as ranges. */
SIMT_KERNEL_DECLARE(gn_bfs_expand);
/* Scan the ranges. */
SIMT_KERNEL_DECLARE(gn_bfs_ranges);
/* The same two on plain pointers: what the arrays are measured against. */
SIMT_KERNEL_DECLARE(gn_bfs_expand_plain);
SIMT_KERNEL_DECLARE(gn_bfs_ranges_plain);

#endif
