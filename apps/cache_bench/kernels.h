/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.h - what `grapnel cache-bench` runs: one access each, on the same words, so that a figure can be
 * set against the one beside it. Every word read is compared with what gn_cb_word says it is.
 */
#ifndef GN_CACHE_BENCH_KERNELS_H
#define GN_CACHE_BENCH_KERNELS_H

#include <grapnel/array.h>
#include <grapnel/simt.h>

struct gn_cb_args {
	struct gn_array paged; /* u32, through the cache */
	uint32_t *store;       /* the same words where they rest, or NULL: not byte-addressable */
	uint32_t *plain;       /* a copy in the machine's own memory, as large as the cache */
	char *scratch;         /* one page a warp */
	uint64_t words;        /* of a pass over everything */
	uint64_t plain_words;  /* room in the copy */
	uint64_t pages;        /* that random touches choose from */
	uint64_t touches;      /* random accesses in all */
	uint64_t *wrong;       /* reads, of a word or several, that brought another than they should */
	uint32_t page_bytes;
	uint32_t seed;
};

/* Limits: no cache in the way. */
SIMT_KERNEL_DECLARE(gn_cb_fill);       /* write every word, to the store and the copy */
SIMT_KERNEL_DECLARE(gn_cb_plain);      /* every word of the copy, 4 bytes a lane, several under way */
SIMT_KERNEL_DECLARE(gn_cb_plain_wide); /* every word, 16 bytes a lane */
SIMT_KERNEL_DECLARE(gn_cb_plain_one);  /* 4 bytes a lane, one after the other: gn_cb_scalar's loop */
/* 4 bytes a lane, a run of its own for each warp: gn_cb_cursor's loop */
SIMT_KERNEL_DECLARE(gn_cb_plain_run);
SIMT_KERNEL_DECLARE(gn_cb_plain_page);    /* 16 bytes a lane, page by page: gn_cb_page's loop */
SIMT_KERNEL_DECLARE(gn_cb_plain_range);   /* the same, a run of pages for each warp: gn_cb_range's loop */
SIMT_KERNEL_DECLARE(gn_cb_plain_random);  /* random words of the copy */
SIMT_KERNEL_DECLARE(gn_cb_stream);        /* every word of the store, 16 bytes a lane */
SIMT_KERNEL_DECLARE(gn_cb_looks);         /* every word: the page's word, the data, the page's word */
SIMT_KERNEL_DECLARE(gn_cb_looks_or_call); /* the same, and a call where that fails */
SIMT_KERNEL_DECLARE(gn_cb_copy);          /* random pages of the store, copied by warps */

/* The cache. */
SIMT_KERNEL_DECLARE(gn_cb_warm);   /* bring every page in */
SIMT_KERNEL_DECLARE(gn_cb_scalar); /* every word, gn_read_u32 */
SIMT_KERNEL_DECLARE(gn_cb_pinned); /* every word, its page pinned and unpinned around each read */
SIMT_KERNEL_DECLARE(gn_cb_cursor); /* every word, through a cursor */
SIMT_KERNEL_DECLARE(gn_cb_page);   /* every word, by page reference, 16 bytes a lane */
SIMT_KERNEL_DECLARE(gn_cb_pages);  /* the same, a page for each lane pinned at once */
SIMT_KERNEL_DECLARE(gn_cb_range);  /* every word, by a range loop, 16 bytes a lane */
SIMT_KERNEL_DECLARE(gn_cb_random); /* random words, gn_read_u32 */
SIMT_KERNEL_DECLARE(gn_cb_touch);  /* random pages, by page reference, a few words of each */

#endif
