/* SPDX-License-Identifier: Apache-2.0 */
/*
 * radix_kernels.h - what the host hands to the kernels of the radix sort.
 *
 * A pass sorts by one digit, in three launches. Each block has a part of the keys: it counts the digits
 * there. The counts, digit after digit and part after part, are added up: then each is the place of the
 * part's first key with that digit among all keys with it. Each block puts the keys of its part there, tile
 * by tile: it sorts a tile in its shared memory, so that keys with one digit are written side by side.
 */
#ifndef GN_SORT_RADIX_KERNELS_H
#define GN_SORT_RADIX_KERNELS_H

#include <grapnel/simt.h>

enum {
	GN_RADIX_DIGITS = 256,
	GN_RADIX_WARPS = 8, /* of a block */
	GN_RADIX_TILE_BYTES = 32768
};

/* The shared memory of a block. */
struct gn_radix_shared {
	uint32_t count[GN_RADIX_WARPS][GN_RADIX_DIGITS]; /* of a warp's keys; then where they go */
	/* Only gn_radix_scatter_ has what follows. */
	uint64_t start[GN_RADIX_DIGITS]; /* place of a digit's first key in the tile */
	uint64_t base[GN_RADIX_DIGITS];  /* the same in the result */
	uint64_t tile[GN_RADIX_TILE_BYTES / sizeof(uint64_t)];
};

struct gn_radix_args {
	void *from; /* [count] */
	void *to;   /* [count] */
	uint64_t count;
	uint64_t part;    /* keys of a block: whole tiles */
	uint64_t *counts; /* [GN_RADIX_DIGITS][blocks] */
	uint64_t *totals; /* [GN_RADIX_DIGITS] */
	uint64_t parts;   /* blocks of the launches that count and scatter */
	uint32_t shift;   /* of the digit, in bits */
	uint32_t most;    /* the largest digit: a power of two minus 1 */
};

/* Blocks have GN_RADIX_WARPS warps. */
SIMT_KERNEL_DECLARE(gn_radix_count_4);
SIMT_KERNEL_DECLARE(gn_radix_count_8);
SIMT_KERNEL_DECLARE(gn_radix_scan);
SIMT_KERNEL_DECLARE(gn_radix_scatter_4);
SIMT_KERNEL_DECLARE(gn_radix_scatter_8);

#endif
