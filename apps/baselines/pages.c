/* SPDX-License-Identifier: Apache-2.0 */
#include "pages.h"

SIMT_FN void gn_base_pages_pointer(const struct gn_base_pages_args *a)
{
	const uint64_t page_words = a->page_bytes / 4;
	uint64_t wrong = 0;

	for (uint64_t k = gn_base_warp(); k < a->touches; k += gn_base_warps()) {
		const uint64_t first = gn_base_touch(&a->order, k) * page_words;

		wrong += gn_base_compare(a->memory + first, first, page_words);
	}
	gn_base_report(a->wrong, wrong);
}
SIMT_KERNEL(gn_base_pages_pointer, struct gn_base_pages_args)

SIMT_FN void gn_base_pages_copy(const struct gn_base_pages_args *a)
{
	const uint64_t page_words = a->page_bytes / 4;
	char *to = a->scratch + gn_base_warp() * a->warp_frames * a->page_bytes;
	uint64_t wrong = 0;

	for (uint64_t k = gn_base_warp(); k < a->touches; k += gn_base_warps()) {
		const uint64_t first = gn_base_touch(&a->order, k) * page_words;

		simt_copy(simt_whole_warp(), to, a->memory + first, a->page_bytes);
		wrong += gn_base_compare((const uint32_t *)(const void *)to, first, page_words);
		simt_warp_sync(simt_whole_warp());
	}
	gn_base_report(a->wrong, wrong);
}
SIMT_KERNEL(gn_base_pages_copy, struct gn_base_pages_args)

SIMT_FN void gn_base_pages_cached(const struct gn_base_pages_args *a)
{
	const uint64_t page_words = a->page_bytes / 4;
	uint64_t wrong = 0;

	for (uint64_t k = gn_base_warp(); k < a->touches; k += gn_base_warps())
		wrong +=
		    gn_base_compare_page(&a->array, gn_base_touch(&a->order, k) * page_words, page_words);
	gn_base_report(a->wrong, wrong);
}
SIMT_KERNEL(gn_base_pages_cached, struct gn_base_pages_args)

/* The warp compares the pages that its lanes have, one after another. */
SIMT_FN uint64_t compare_pages(const struct gn_base_pages_args *a, uint32_t count, uint64_t page,
                               const char *mine)
{
	const uint32_t warp = simt_whole_warp();
	const uint64_t page_words = a->page_bytes / 4;
	uint64_t wrong = 0;

	for (uint32_t lane = 0; lane < count; lane++) {
		const uint64_t data = simt_shfl_u64(warp, (uint64_t)(uintptr_t)mine, lane);
		const uint64_t first = simt_shfl_u64(warp, page, lane) * page_words;

		wrong += data ? gn_base_compare((const uint32_t *)(uintptr_t)data, first, page_words)
		              : gn_base_compare_scalar(&a->array, first, page_words);
	}
	return wrong;
}

/*
 * What a cache cannot leave out, and nothing else: a word of a table says that the page is coming, the word
 * of the page that was in the frame that it has gone; then, when the bytes are there, the first says where.
 * Frames are the warp's own, so nothing is searched for, pinned or waited for.
 */
SIMT_FN void note_coming(const struct gn_base_pages_args *a, uint64_t page, uint64_t frame)
{
	const uint64_t before = simt_load_relaxed_dev_u64(&a->owner[frame]);

	simt_cas_relaxed_dev_u64(&a->table[page], 0, 1);
	if (before)
		simt_cas_relaxed_dev_u64(&a->table[before - 1], 2 + frame, 0);
}

SIMT_FN void gn_base_pages_noted(const struct gn_base_pages_args *a)
{
	const uint32_t warp = simt_whole_warp(),
	               batch = a->batch < simt_warp_width() ? a->batch : simt_warp_width();
	uint64_t wrong = 0, used = simt_lane();

	for (uint64_t k = gn_base_warp() * batch; k < a->touches;
	     k += gn_base_warps() * batch, used += batch) {
		const uint32_t count = a->touches - k < batch ? (uint32_t)(a->touches - k) : batch;
		const int wants = simt_lane() < count;
		const uint64_t page = wants ? gn_base_touch(&a->order, k + simt_lane()) : 0;
		const uint64_t frame = gn_base_warp() * a->warp_frames + used % a->warp_frames;
		char *to = a->scratch + frame * a->page_bytes;

		if (wants)
			note_coming(a, page, frame);
		simt_warp_sync(warp);
		simt_fence_acq_rel_dev();
		simt_copy_each(warp, simt_ballot(warp, wants), to,
		               (const char *)(const void *)a->memory + page * a->page_bytes, a->page_bytes);
		if (wants) {
			simt_store_relaxed_dev_u64(&a->owner[frame], page + 1);
			simt_store_release_dev_u64(&a->table[page], 2 + frame);
		}
		wrong += compare_pages(a, count, page, to);
		simt_warp_sync(warp);
	}
	gn_base_report(a->wrong, wrong);
}
SIMT_KERNEL(gn_base_pages_noted, struct gn_base_pages_args)

SIMT_FN void gn_base_pages_batch(const struct gn_base_pages_args *a)
{
	const uint32_t batch = a->batch < simt_warp_width() ? a->batch : simt_warp_width();
	uint64_t wrong = 0;

	for (uint64_t k = gn_base_warp() * batch; k < a->touches; k += gn_base_warps() * batch) {
		const uint32_t count = a->touches - k < batch ? (uint32_t)(a->touches - k) : batch;
		const int wants = simt_lane() < count;
		const uint64_t page = wants ? gn_base_touch(&a->order, k + simt_lane()) : 0;
		const struct gn_pinned pinned = SIMT_COLD(gn_cache_pin_each)(
		    a->array.pages.cache, simt_whole_warp(), wants, page, GN_READ);

		wrong += compare_pages(a, count, page, pinned.hold.data);
		simt_warp_sync(simt_whole_warp());
		if (wants && pinned.hold.data)
			gn_cache_unpin(1u << simt_lane(), &pinned.hold);
	}
	gn_base_report(a->wrong, wrong);
}
SIMT_KERNEL(gn_base_pages_batch, struct gn_base_pages_args)
