/* SPDX-License-Identifier: Apache-2.0 */
/*
 * natural.h - loops as a user writes them first: one element a thread by gn_read_f32, beside the same loop
 * over plain loads of the same memory. Every kernel adds up what it reads, and the sum is compared with that
 * of a kernel that reads nothing and knows what each element is.
 */
#ifndef GN_NATURAL_NATURAL_H
#define GN_NATURAL_NATURAL_H

#include <grapnel/array.h>
#include <grapnel/simt.h>

enum {
	GN_NATURAL_PATTERNS = 20,
	GN_NATURAL_PLAIN = 3,   /* at most so many plain kernels of one pattern */
	GN_NATURAL_ROW = 32,    /* elements of a row of 128 bytes */
	GN_NATURAL_PAGE = 1024, /* of 4 KiB */
	GN_NATURAL_STEPS = 64   /* of a chain */
};

struct gn_natural_args {
	struct gn_array array; /* f32 or, of keys, u32 */
	void *memory;          /* the same elements, in the store */
	uint64_t words;        /* elements of the array */
	uint64_t touches;      /* reads or writes of all threads together */
	uint64_t hot_words;    /* a set that fits in the cache, for the patterns that have one */
	uint64_t *sum;         /* of what was read; of a check: how many elements were wrong. Device memory */
	uint32_t salt;         /* stores: another value each run */
	/* search: a bit for each line of GN_NATURAL_ROW keys that a query reads. Device memory */
	uint32_t *line;
};

/* One pattern of reads. */
struct gn_natural_pattern {
	const char *name, *summary;
	uint32_t shift;                  /* elements of the array / 2^shift are the touches */
	const struct simt_kernel *read;  /* by gn_read_f32 */
	const struct simt_kernel *known; /* reads nothing */
	/* plain loads, several ways; NULL behind the last */
	const struct simt_kernel *plain[GN_NATURAL_PLAIN];
};

/* The most used four, which are among the patterns by these numbers. */
enum { GN_NATURAL_IN_ORDER, GN_NATURAL_ROWS, GN_NATURAL_RANDOM, GN_NATURAL_HOT_ROWS };

extern const struct gn_natural_pattern gn_natural_patterns[GN_NATURAL_PATTERNS];

SIMT_KERNEL_DECLARE(gn_natural_fill); /* every element as it should be */

/* The sum of all elements in order, in other ways. */
SIMT_KERNEL_DECLARE(gn_natural_sum_wide);   /* plain loads of 16 bytes, four under way */
SIMT_KERNEL_DECLARE(gn_natural_sum_cursor); /* gn_cursor_read_f32 */
SIMT_KERNEL_DECLARE(gn_natural_sum_view);   /* x[i] of gn::array<float> */

/* Binary search of sorted keys: touches queries, each compared with its answer. sum counts the wrong ones. */
SIMT_KERNEL_DECLARE(gn_natural_keys); /* makes the keys */
SIMT_KERNEL_DECLARE(gn_natural_search_plain);
SIMT_KERNEL_DECLARE(gn_natural_search_four); /* plain loads, four queries of a thread under way */
SIMT_KERNEL_DECLARE(gn_natural_search_read);
SIMT_KERNEL_DECLARE(gn_natural_search_mark);  /* reads nothing, and marks the lines that queries read */
SIMT_KERNEL_DECLARE(gn_natural_search_lines); /* one plain load of each marked line, in scattered order */

/* Every element written in order, with salt. */
SIMT_KERNEL_DECLARE(gn_natural_store_plain);
SIMT_KERNEL_DECLARE(gn_natural_store_wide);  /* 16 bytes a lane */
SIMT_KERNEL_DECLARE(gn_natural_store_write); /* gn_write_f32 */
SIMT_KERNEL_DECLARE(gn_natural_store_check); /* sum counts the wrong ones */

#endif
