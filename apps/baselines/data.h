/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data.h - what the workloads read: words that say where they are, and orders to read them in.
 *
 * The same functions make the words, choose the order and check what was read, whatever the way: a plain
 * pointer, host memory read in place, managed memory, a tile that was copied, or an array of ours.
 */
#ifndef GN_BASELINES_DATA_H
#define GN_BASELINES_DATA_H

#include <grapnel/array.h>
#include <grapnel/simt.h>

#include "spread/mix.h"

/* Sixteen bytes that a lane loads at once. */
struct gn_base_wide {
	uint32_t word[4];
} __attribute__((aligned(16)));

/* What word i of the data is. */
SIMT_FN uint32_t gn_base_word(uint64_t i)
{
	return (uint32_t)i * 2654435761u ^ (uint32_t)(i >> 32);
}

/* How many of four words, of which the first is word `first`, are not what they should be. */
SIMT_FN uint32_t gn_base_wrong_wide(const struct gn_base_wide *w, uint64_t first)
{
	uint32_t wrong = 0;

	for (uint32_t k = 0; k < 4; k++)
		wrong += w->word[k] != gn_base_word(first + k);
	return wrong;
}

/* Count wrong words; one atomic a thread that saw some. */
SIMT_FN void gn_base_report(uint64_t *counter, uint64_t wrong)
{
	if (wrong)
		simt_reduce_add_relaxed_dev_u64(counter, wrong);
}

/* ---- who am I ---- */

SIMT_FN uint64_t gn_base_warp(void)
{
	return simt_global_thread() / simt_warp_width();
}

SIMT_FN uint64_t gn_base_warps(void)
{
	return simt_global_threads() / simt_warp_width();
}

/* ---- a warp and a run of words that lie together ---- */

/* The lanes of a whole warp compare words [first, first + count) at `at`, 16 bytes a lane; count a multiple
 * of 4. */
SIMT_FN uint64_t gn_base_compare(const uint32_t *at, uint64_t first, uint64_t count)
{
	uint64_t wrong = 0;

	for (uint64_t i = 4 * simt_lane(); i < count; i += 4 * simt_warp_width()) {
		const struct gn_base_wide w = *(const struct gn_base_wide *)(const void *)(at + i);

		wrong += gn_base_wrong_wide(&w, first + i);
	}
	return wrong;
}

/* Our way to do the same with words [first, first + count), one by one; also where no page can be held. */
SIMT_FN uint64_t gn_base_compare_scalar(const struct gn_array *array, uint64_t first, uint64_t count)
{
	uint64_t wrong = 0;

	for (uint64_t i = simt_lane(); i < count; i += simt_warp_width())
		wrong += gn_read_u32(array, first + i) != gn_base_word(first + i);
	return wrong;
}

/* Our way to do the same with words that lie in one page: by a page reference. */
SIMT_FN uint64_t gn_base_compare_page(const struct gn_array *array, uint64_t first, uint64_t count)
{
	struct gn_page page;
	uint64_t wrong;

	if (gn_array_acquire(array, simt_whole_warp(), first, GN_READ, &page))
		return gn_base_compare_scalar(array, first, count);
	wrong = gn_base_compare((const uint32_t *)page.data + (first - page.first), first, count);
	gn_array_release(array, simt_whole_warp(), &page);
	return wrong;
}

/* And with words [first, end) of any number of pages: by a loop over them. */
SIMT_FN uint64_t gn_base_compare_range(const struct gn_array *array, uint64_t first, uint64_t end)
{
	struct gn_range r = gn_range_begin(array, simt_whole_warp(), first, end, GN_READ);
	struct gn_page page;
	uint64_t wrong = 0;

	while (gn_range_next(&r, &page))
		wrong += gn_base_compare((const uint32_t *)page.data, page.first, page.count);
	gn_range_end(&r);
	return r.next < end ? wrong + gn_base_compare_scalar(array, r.next, end - r.next) : wrong;
}

/* ---- orders ---- */

/* A number below bound that depends on k and the seed alone. */
SIMT_FN uint64_t gn_base_draw(uint64_t k, uint32_t seed, uint64_t bound)
{
	return spread_finish((k + 1) * 0x9e3779b97f4a7c15ull + seed) % bound;
}

/* A permutation of [0, count): a Feistel network over 2 * half bits, walked until it is inside. */
struct gn_base_order {
	uint64_t count;
	uint32_t half; /* 4^half >= count; 0: as they come */
	uint32_t seed;
};

SIMT_FN struct gn_base_order gn_base_order_init(uint64_t count, uint32_t seed)
{
	struct gn_base_order o;

	o.count = count;
	o.seed = seed;
	for (o.half = 1; 1ull << 2 * o.half < count;)
		o.half++;
	return o;
}

/* Where touch k < count of this order goes. */
SIMT_FN uint64_t gn_base_touch(const struct gn_base_order *o, uint64_t k)
{
	const uint64_t mask = (1ull << o->half) - 1;

	if (!o->half)
		return k;
	do {
		uint64_t left = k >> o->half, right = k & mask;

		for (uint32_t round = 0; round < 4; round++) {
			const uint64_t old = right;

			right =
			    left ^
			    ((spread_finish(right + o->seed * 0x9e3779b97f4a7c15ull + round) >> 16) & mask);
			left = old;
		}
		k = left << o->half | right;
	} while (k >= o->count);
	return k;
}

/* ---- making the data ---- */

struct gn_base_fill_args {
	uint32_t *to;
	uint64_t words;
	uint64_t first; /* word to[0] is this one of the data */
};

/* to[i] = word first + i. */
SIMT_KERNEL_DECLARE(gn_base_fill);

#endif
