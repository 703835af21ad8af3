/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.h - twelve ways to use an array, each a kernel; and those of them as lists of rows that can be.
 * Word i of the data holds word_at(i) (draws.h), and every word that is read is compared with it, so that no
 * mode can be fast by being wrong.
 */
#ifndef GN_PATTERNS_KERNELS_H
#define GN_PATTERNS_KERNELS_H

#include <grapnel/array.h>
#include <grapnel/gather.h>
#include <grapnel/simt.h>

enum {
	GN_PATTERN_PAGE_WORDS = 1024,
	GN_PATTERN_ROW_WORDS = 4096, /* of the matrix */
	GN_PATTERN_COLUMNS = 32,     /* that a launch reads */
	GN_PATTERN_TILE = 32,        /* words a side */
	GN_PATTERN_STEPS = 64,       /* of a chain */
	GN_PATTERN_LAUNCHES = 64     /* at most, of updates that are verified */
};

struct gn_pattern_args {
	struct gn_array array; /* u32 */
	uint64_t words;        /* a power of two */
	uint64_t touches;      /* accesses of a launch, where the pattern does not say itself */
	uint64_t hot_pages;    /* a power of two */
	uint32_t launch;       /* which one, from 0: draws differ */
	uint32_t launches;     /* verify: how many there were */
	uint64_t *wrong;       /* words that were not what they should be */
	struct gn_batch batch; /* lists: a part of a launch's rows */
	uint64_t first;        /* of the launch's rows, in the batch */
};

SIMT_KERNEL_DECLARE(gn_pattern_fill);       /* write every word */
SIMT_KERNEL_DECLARE(gn_pattern_sequential); /* every word, threads side by side */
SIMT_KERNEL_DECLARE(gn_pattern_strided);    /* every eighth word */
SIMT_KERNEL_DECLARE(gn_pattern_random);     /* words drawn from all */
SIMT_KERNEL_DECLARE(gn_pattern_pages);      /* pages of 4 KiB drawn from all, each read by a warp */
SIMT_KERNEL_DECLARE(gn_pattern_hot);        /* words of few pages, some pages much more often */
SIMT_KERNEL_DECLARE(gn_pattern_zipf);       /* words, some much more often, scattered over all pages */
SIMT_KERNEL_DECLARE(gn_pattern_frontier);   /* lists of 4 to 256 words anywhere, each read by a warp */
SIMT_KERNEL_DECLARE(gn_pattern_column);     /* a few columns of a matrix that lies in rows */
SIMT_KERNEL_DECLARE(gn_pattern_tiles);      /* tiles of the matrix, each read twice */
SIMT_KERNEL_DECLARE(gn_pattern_chase);      /* a lane follows words that name the next */
SIMT_KERNEL_DECLARE(gn_pattern_update);     /* words anywhere are read and written */
SIMT_KERNEL_DECLARE(gn_pattern_verify);     /* what gn_pattern_update must have left after so many launches */

/* The numbers of a launch's rows, as the kernel of the same name reads them. */
SIMT_KERNEL_DECLARE(gn_pattern_list_random);
SIMT_KERNEL_DECLARE(gn_pattern_list_pages);
SIMT_KERNEL_DECLARE(gn_pattern_list_hot);
SIMT_KERNEL_DECLARE(gn_pattern_list_zipf);
SIMT_KERNEL_DECLARE(gn_pattern_list_column);
SIMT_KERNEL_DECLARE(gn_pattern_list_tiles);
SIMT_KERNEL_DECLARE(gn_pattern_list_update);
SIMT_KERNEL_DECLARE(gn_pattern_compare); /* every word of the gathered rows */
SIMT_KERNEL_DECLARE(gn_pattern_bump);    /* every word of the gathered rows, one more */

#endif
