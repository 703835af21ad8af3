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
		wrong += gn_base_compare_page(&a->array, gn_base_touch(&a->order, k) * page_words, page_words);
	gn_base_report(a->wrong, wrong);
}
SIMT_KERNEL(gn_base_pages_cached, struct gn_base_pages_args)
