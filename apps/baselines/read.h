/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read.h - every word once, in order. Each kernel compares every word that it reads.
 */
#ifndef GN_BASELINES_READ_H
#define GN_BASELINES_READ_H

#include "baselines/data.h"

struct gn_base_read_args {
	struct gn_array array;  /* u32 */
	const uint32_t *memory; /* or the words themselves, wherever they lie; memory[0] is word `first` */
	uint64_t first;         /* a multiple of 4 */
	uint64_t words;         /* a multiple of a page */
	uint64_t *wrong;
	uint32_t page_words; /* a warp's share at a time, for references to pages */
};

/*
 * By pointer, 16 bytes a lane, so that a warp asks for four whole lines of 128 bytes: aligned and merged,
 * which is what EMOGI (VLDB 2020) found to saturate the link; on local memory as good as a copy.
 */
SIMT_KERNEL_DECLARE(gn_base_read_wide);
SIMT_KERNEL_DECLARE(gn_base_read_narrow); /* by pointer, 4 bytes a lane */

SIMT_KERNEL_DECLARE(gn_base_read_scalar); /* gn_read_u32 */
SIMT_KERNEL_DECLARE(gn_base_read_cursor); /* a cursor a lane, a warp walks a run of its own */
SIMT_KERNEL_DECLARE(gn_base_read_page);   /* a page reference a warp, 16 bytes a lane */
SIMT_KERNEL_DECLARE(gn_base_read_range);  /* a loop over the pages of a run, as many as a warp has lanes */

#endif
