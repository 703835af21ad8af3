/* SPDX-License-Identifier: Apache-2.0 */
#include "read.h"

SIMT_FN void gn_base_read_wide(const struct gn_base_read_args *a)
{
	const struct gn_base_wide *memory = (const struct gn_base_wide *)(const void *)a->memory;
	const uint64_t step = simt_global_threads(), count = a->words / 4;
	uint64_t i = simt_global_thread(), wrong = 0;

	/* Four loads in flight a lane. */
	for (; i + 3 * step < count; i += 4 * step) {
		const struct gn_base_wide w0 = memory[i], w1 = memory[i + step], w2 = memory[i + 2 * step],
		                          w3 = memory[i + 3 * step];

		wrong += gn_base_wrong_wide(&w0, a->first + 4 * i) +
		         gn_base_wrong_wide(&w1, a->first + 4 * (i + step)) +
		         gn_base_wrong_wide(&w2, a->first + 4 * (i + 2 * step)) +
		         gn_base_wrong_wide(&w3, a->first + 4 * (i + 3 * step));
	}
	for (; i < count; i += step) {
		const struct gn_base_wide w = memory[i];

		wrong += gn_base_wrong_wide(&w, a->first + 4 * i);
	}
	gn_base_report(a->wrong, wrong);
}
SIMT_KERNEL(gn_base_read_wide, struct gn_base_read_args)

SIMT_FN void gn_base_read_narrow(const struct gn_base_read_args *a)
{
	uint64_t wrong = 0;

	for (uint64_t i = simt_global_thread(); i < a->words; i += simt_global_threads())
		wrong += a->memory[i] != gn_base_word(a->first + i);
	gn_base_report(a->wrong, wrong);
}
SIMT_KERNEL_RESIDENT(gn_base_read_narrow, struct gn_base_read_args, 2048)

SIMT_FN void gn_base_read_scalar(const struct gn_base_read_args *a)
{
	uint64_t wrong = 0;

	for (uint64_t i = simt_global_thread(); i < a->words; i += simt_global_threads())
		wrong += gn_read_u32(&a->array, i) != gn_base_word(i);
	gn_base_report(a->wrong, wrong);
}
SIMT_KERNEL_RESIDENT(gn_base_read_scalar, struct gn_base_read_args, 2048)

SIMT_FN void gn_base_read_cursor(const struct gn_base_read_args *a)
{
	struct gn_cursor c = gn_cursor_init(&a->array);
	const uint32_t width = simt_warp_width();
	uint64_t wrong = 0;

	for (uint64_t run = gn_base_warp() * a->page_words; run < a->words;
	     run += gn_base_warps() * a->page_words)
		for (uint64_t i = simt_lane(); i < a->page_words; i += width)
			wrong += gn_cursor_read_u32(&c, run + i) != gn_base_word(run + i);
	gn_cursor_end(&c);
	gn_base_report(a->wrong, wrong);
}
SIMT_KERNEL(gn_base_read_cursor, struct gn_base_read_args)

SIMT_FN void gn_base_read_page(const struct gn_base_read_args *a)
{
	uint64_t wrong = 0;

	for (uint64_t i = gn_base_warp() * a->page_words; i < a->words; i += gn_base_warps() * a->page_words)
		wrong += gn_base_compare_page(&a->array, i, a->page_words);
	gn_base_report(a->wrong, wrong);
}
SIMT_KERNEL(gn_base_read_page, struct gn_base_read_args)

SIMT_FN void gn_base_read_range(const struct gn_base_read_args *a)
{
	const uint64_t step = (uint64_t)simt_warp_width() * a->page_words;
	uint64_t wrong = 0;

	for (uint64_t i = gn_base_warp() * step; i < a->words; i += gn_base_warps() * step)
		wrong += gn_base_compare_range(&a->array, i, i + step < a->words ? i + step : a->words);
	gn_base_report(a->wrong, wrong);
}
SIMT_KERNEL(gn_base_read_range, struct gn_base_read_args)
