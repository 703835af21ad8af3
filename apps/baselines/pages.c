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
	char *to = a->scratch + gn_base_warp() * a->page_bytes;
	uint64_t wrong = 0;

	for (uint64_t k = gn_base_warp(); k < a->touches; k += gn_base_warps()) {
		const uint64_t first = gn_base_touch(&a->order, k) * page_words;

		simt_copy(gn_base_whole_warp(), to, a->memory + first, a->page_bytes);
		wrong += gn_base_compare((const uint32_t *)(const void *)to, first, page_words);
		simt_warp_sync(gn_base_whole_warp());
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

/* The lanes of a warp compare the pages that they have pinned, one after another. */
SIMT_FN uint64_t compare_pinned(const struct gn_base_pages_args *a, uint32_t count, uint64_t page,
                                const struct gn_pinned *pinned)
{
	const uint32_t warp = gn_base_whole_warp();
	const uint64_t page_words = a->page_bytes / 4;
	uint64_t wrong = 0;

	for (uint32_t lane = 0; lane < count; lane++) {
		const uint64_t data = simt_shfl_u64(warp, (uint64_t)(uintptr_t)pinned->hold.data, lane);
		const uint64_t first = simt_shfl_u64(warp, page, lane) * page_words;

		wrong += data ? gn_base_compare((const uint32_t *)(uintptr_t)data, first, page_words)
		              : gn_base_compare_scalar(&a->array, first, page_words);
	}
	return wrong;
}

SIMT_FN void gn_base_pages_batch(const struct gn_base_pages_args *a)
{
	const uint32_t batch = a->batch < simt_warp_width() ? a->batch : simt_warp_width();
	uint64_t wrong = 0;

	for (uint64_t k = gn_base_warp() * batch; k < a->touches; k += gn_base_warps() * batch) {
		const uint32_t count = a->touches - k < batch ? (uint32_t)(a->touches - k) : batch;
		const int wants = simt_lane() < count;
		const uint64_t page = wants ? gn_base_touch(&a->order, k + simt_lane()) : 0;
		const struct gn_pinned pinned =
		    SIMT_COLD(gn_cache_pin_each)(a->array.cache, gn_base_whole_warp(), wants, page, GN_READ);

		wrong += compare_pinned(a, count, page, &pinned);
		simt_warp_sync(gn_base_whole_warp());
		if (wants && pinned.hold.data)
			gn_cache_unpin(1u << simt_lane(), &pinned.hold);
	}
	gn_base_report(a->wrong, wrong);
}
SIMT_KERNEL(gn_base_pages_batch, struct gn_base_pages_args)
