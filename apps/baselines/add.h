/* SPDX-License-Identifier: Apache-2.0 */
/*
 * add.h - c[i] = a[i] + b[i] + salt, three arrays in host memory.
 *
 * The salt is another one each run: what stands in c tells which run wrote it, and nobody has to clear it
 * before.
 */
#ifndef GN_BASELINES_ADD_H
#define GN_BASELINES_ADD_H

#include "baselines/data.h"

struct gn_base_add_args {
	struct gn_array a, b, c; /* u32 */
	const uint32_t
	    *in[2]; /* or the words themselves: a tile, or all of them; in[k][0] is word 0 of the tile */
	uint32_t *out;
	uint64_t words; /* of the tile, or of all: a multiple of a page */
	uint64_t *wrong;
	uint32_t salt;
	uint32_t page_words;
};

/* Word i of b; that of a is gn_base_word(i). */
SIMT_FN uint32_t gn_base_other_word(uint64_t i)
{
	return gn_base_word(~i);
}

SIMT_KERNEL_DECLARE(gn_base_add_fill);  /* in[0] and in[1], which are written here: the data */
SIMT_KERNEL_DECLARE(gn_base_add_check); /* every word of out: what it should be? */

SIMT_KERNEL_DECLARE(gn_base_add_pointer); /* 16 bytes a lane */
SIMT_KERNEL_DECLARE(gn_base_add_scalar);  /* gn_read_u32 and gn_write_u32 */
SIMT_KERNEL_DECLARE(gn_base_add_page);    /* page references, 16 bytes a lane */
SIMT_KERNEL_DECLARE(gn_base_add_range);   /* a loop over the pages of a run of each array, side by side */

#endif
