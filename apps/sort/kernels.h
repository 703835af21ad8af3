/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.h - what the host hands to the kernels that bring keys to the machine and back.
 */
#ifndef GN_SORT_KERNELS_H
#define GN_SORT_KERNELS_H

#include <grapnel/array.h>
#include <grapnel/simt.h>

enum gn_sort_step { GN_SORT_AS_THEY_ARE, GN_SORT_TO_ORDER, GN_SORT_FROM_ORDER };

/*
 * How a key becomes a number that is sorted as unsigned, and back: integers with a sign change their sign
 * bit, floating-point numbers below zero all bits, others their sign bit.
 */
struct gn_sort_map {
	uint64_t sign; /* the sign bit; 0: the keys are unsigned */
	uint32_t is_float;
	uint32_t step; /* enum gn_sort_step */
};

/* Keys that lie together in the array, and in memory. */
struct gn_sort_piece {
	uint64_t from; /* index of the first one */
	uint64_t to;   /* its place in memory */
};

struct gn_sort_move_args {
	struct gn_array a;
	void *keys; /* in memory */
	uint64_t count;
	uint64_t tile; /* keys that a warp moves before it takes others: a page, or several */
	struct gn_sort_map map;
	/* gn_sort_fetch: [pieces], in the order of their places; the last piece has all keys from its place
	 * up to count. */
	const struct gn_sort_piece *piece;
	uint64_t pieces;
	uint64_t first; /* gn_sort_put: index of key 0 */
};

struct gn_sort_sample_args {
	const void *keys;  /* [count], sorted */
	uint64_t *samples; /* receives every interval-th key, from key 0 on */
	uint64_t count, interval;
	uint32_t key_bytes, reserved;
};

/* A sample. Splitters are ordered by key, by run, by place: no two are equal. */
struct gn_sort_splitter {
	uint64_t key;
	uint64_t run;
};

struct gn_sort_split_args {
	struct gn_array runs;
	struct gn_sort_splitter *splitter; /* [splitters] */
	/* [splitters][run_count]: samples of the run before the splitter; becomes keys of the run before it
	 */
	uint64_t *place;
	uint64_t splitters, run_count;
	uint64_t run_keys; /* of each run but the last */
	uint64_t interval;
	uint32_t key_bytes, reserved;
};

/* The name's number is that of the bytes of a key. */
SIMT_KERNEL_DECLARE(gn_sort_fetch_4);
SIMT_KERNEL_DECLARE(gn_sort_fetch_8);
SIMT_KERNEL_DECLARE(gn_sort_put_4);
SIMT_KERNEL_DECLARE(gn_sort_put_8);
SIMT_KERNEL_DECLARE(gn_sort_sample);
SIMT_KERNEL_DECLARE(gn_sort_split);

#endif
