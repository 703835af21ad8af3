/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrays.h - a graph as kernels read it: compressed sparse rows that may be larger than a machine's memory.
 */
#ifndef GN_GRAPH_ARRAYS_H
#define GN_GRAPH_ARRAYS_H

#include <grapnel/array.h>
#include <grapnel/auto.h>

struct gn_state_place;

/* Through arrays, or on pointers that the machine reaches. */
struct gn_graph_arrays {
	uint64_t vertices, edges;
	struct gn_array offsets;    /* u64, vertices + 1 */
	struct gn_array neighbours; /* u32, or u64 if wide; edges */
	struct gn_array weights;    /* u32, edges: bits of the kind below; not used where that is NONE */
	uint32_t weight;            /* GN_WEIGHT_* of graph.h */
	uint32_t wide;              /* 1: neighbours are u64, as in a .gng file of 64-bit ids */
	/*
	 * Pages that the cache of the neighbours holds, if it does not hold the whole graph; else 0. A job
	 * runs so few warps that each has a page of every array (gn_scanner_share_pages), and may fetch the
	 * lines of several lists together (gn_scan_is_scattered).
	 */
	uint64_t pages;
	/* not NULL: chooses how neighbours are read, launch by launch, instead of the array before */
	struct gn_auto *choice;
	const uint64_t *plain_offsets; /* not NULL: use these and the next instead of the arrays */
	const uint32_t *plain_neighbours;
	/* where jobs keep what they know of each vertex (state.h); NULL: in the machine's own memory */
	struct gn_state_place *state;
	/* Balanced CSR (balance.h): launches over all vertices go by chunks of edges. NULL: by vertices */
	uint32_t *starts; /* [start_chunks + 1], in the machine's own memory */
	uint64_t start_chunks;
	uint64_t start_end;   /* no vertex from this one on has an edge */
	uint32_t start_edges; /* of a chunk: a power of two */
};

#endif
