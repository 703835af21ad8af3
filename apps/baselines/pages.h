/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.h - whole pages in a random order, each at most once. Each kernel compares every word of each page.
 */
#ifndef GN_BASELINES_PAGES_H
#define GN_BASELINES_PAGES_H

#include "baselines/data.h"

struct gn_base_pages_args {
	struct gn_array array;  /* u32, in a cache with pages of page_bytes */
	const uint32_t *memory; /* the words themselves, for the ways by pointer */
	char *scratch;          /* warp_frames pages a warp, in the machine's own memory */
	uint64_t *table;        /* a word for each page, for the kernel that notes where pages are */
	uint64_t *owner;        /* a word for each page of scratch */
	uint64_t warp_frames;
	struct gn_base_order order; /* of the pages */
	uint64_t touches;           /* <= order.count */
	uint64_t *wrong;
	uint32_t page_bytes; /* a multiple of 16 */
	uint32_t batch;      /* pages that a warp holds at once, where it holds several: 1 to 32 */
};

SIMT_KERNEL_DECLARE(gn_base_pages_pointer); /* read in place, 16 bytes a lane */
SIMT_KERNEL_DECLARE(
    gn_base_pages_copy); /* copied into the warp's scratch page by simt_copy, and read there */
/* the same, several of a warp under way together, and a table says where each is */
SIMT_KERNEL_DECLARE(gn_base_pages_noted);
SIMT_KERNEL_DECLARE(gn_base_pages_cached); /* by page reference */
SIMT_KERNEL_DECLARE(gn_base_pages_batch);  /* several pages of a warp under way together, a lane each */

#endif
