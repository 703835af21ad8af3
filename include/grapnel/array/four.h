/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array/four.h - several scalar reads of one thread side by side.
 *
 * A hit is three accesses one behind the other: the page's word, the data, the word again. A thread that reads four
 * elements at once waits for three, not twelve.
 */
#ifndef GRAPNEL_ARRAY_FOUR_H
#define GRAPNEL_ARRAY_FOUR_H

#include <grapnel/array.h>

/* The four elements, if all are in pages of the direct table that stay in their frames. Returns 1 or 0. */
SIMT_FN int gn__read4_hit(const struct gn_array *a, uint64_t index, uint64_t stride, uint32_t value[4])
{
	const uint64_t page_mask = (1ull << a->page_log2) - 1;
	struct gn__glimpse g[4];
	int still = 1;

	SIMT_UNROLL
	for (int k = 0; k < 4; k++) {
		g[k].word = &a->word[(a->base + (index + (uint64_t)k * stride) * 4) >> a->page_log2];
		g[k].seen = simt_load_relaxed_dev_u64(g[k].word);
		still &= (g[k].seen & GN_WORD_VALID) != 0;
	}
	if (!still)
		return 0;
	simt_fence_acq_rel_dev(); /* A4 for all four: the data are the pages' or newer */
	SIMT_UNROLL
	for (int k = 0; k < 4; k++) {
		const char *data = a->frame + ((size_t)gn_word_payload(g[k].seen) << a->page_log2);
		const uint64_t at = (a->base + (index + (uint64_t)k * stride) * 4) & page_mask;

		value[k] = simt_load_relaxed_dev_u32((const uint32_t *)(const void *)(data + at));
	}
	simt_fence_acq_rel_dev(); /* A5 for all four: the second looks stay behind the data */
	SIMT_UNROLL
	for (int k = 0; k < 4; k++) {
		gn__touch(&g[k]);
		still &= gn__still(&g[k]);
	}
	return still;
}

/*
 * gn_read4_u32 - elements index, index + stride, index + 2 * stride and index + 3 * stride.
 * @value  receives them; 0 for one that cannot be read, whose failure is kept in the array
 * As four times gn_read_u32, in one wait where all four are hits.
 */
SIMT_FN void gn_read4_u32(const struct gn_array *a, uint64_t index, uint64_t stride, uint32_t value[4])
{
	const uint64_t last = index + 3 * stride;

	if (simt_likely(a->word && last < a->count && last >= index && stride < a->count) && simt_likely(gn__read4_hit(a, index, stride, value))) {
		gn__count_hits(a, 4);
		return;
	}
	for (int k = 0; k < 4; k++)
		value[k] = gn_read_u32(a, index + (uint64_t)k * stride);
}

#endif
