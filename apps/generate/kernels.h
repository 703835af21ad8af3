/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.h - what the host hands to the kernels that generate a graph. Private to this folder.
 *
 * An edge of a part is a key: its source, counted from the part's first, above the bits of its target. So
 * keys in order are rows in order, with neighbours that ascend.
 */
#ifndef GN_GENERATE_KERNELS_H
#define GN_GENERATE_KERNELS_H

#include <grapnel/simt.h>

#include "graph/draw.h"

enum { GN_GENERATE_TILE = 4096 }; /* keys that a warp looks at in one go */

/* Kernels over the edges that are drawn. */
struct gn_generate_draw_args {
	struct gn_draw draw;
	uint64_t first;  /* edge of the launch */
	uint64_t edges;  /* of the launch */
	uint32_t mirror; /* not 0: an edge is there in both directions, a self loop once */
	uint32_t simple; /* not 0: self loops are dropped */
	/* gn_generate_count: */
	uint64_t *count; /* [ranges], adds the edges of each range of sources */
	uint32_t shift;  /* a range has 2^shift vertices */
	/* gn_generate_keep: */
	uint64_t source;  /* the part's first */
	uint64_t sources; /* how many it has */
	uint64_t *keys;   /* of the part's edges, in any order */
	uint64_t *kept;   /* how many are there; adds */
};

/* Kernels over the part's keys in order. */
struct gn_generate_rows_args {
	const uint64_t *keys; /* [count] */
	uint64_t count;
	uint64_t *tile;   /* [tiles], of each tile: how many keys are new; then the place of the first such */
	uint64_t *unique; /* [count], receives each key once */
	uint32_t bits;    /* of a target */
	/* the next two: what lies behind here is of the launch */
	uint64_t first;    /* vertex of the part, or key */
	uint64_t items;    /* vertices, or keys */
	uint64_t before;   /* edges of earlier parts */
	uint64_t *offsets; /* [items], pinned */
	void *neighbours;  /* [items], pinned: u32, or u64 if id_bytes is 8 */
	uint32_t id_bytes;
};

SIMT_KERNEL_DECLARE(gn_generate_count);
SIMT_KERNEL_DECLARE(gn_generate_keep);
SIMT_KERNEL_DECLARE(gn_generate_count_unique);
SIMT_KERNEL_DECLARE(gn_generate_place_unique);
SIMT_KERNEL_DECLARE(gn_generate_offsets);
SIMT_KERNEL_DECLARE(gn_generate_neighbours);

#endif
