/* SPDX-License-Identifier: Apache-2.0 */
#include "draws.h"

/* The inverse of scatter mod 2^64. */
static const uint64_t gather_back = 0xf1de83e19937733dull;

SIMT_FN uint64_t warp_index(void)
{
	return simt_global_thread() / simt_warp_width();
}

SIMT_FN uint64_t warp_count(void)
{
	return simt_global_threads() / simt_warp_width();
}

/* 1 if word i is not what it should be. */
SIMT_FN uint32_t look_at(const struct gn_pattern_args *a, uint64_t i)
{
	return gn_read_u32(&a->array, i) != word_at(i);
}

SIMT_FN void gn_pattern_fill(const struct gn_pattern_args *a)
{
	for (uint64_t i = simt_global_thread(); i < a->words; i += simt_global_threads())
		((uint32_t *)(void *)a->array.memory)[i] = word_at(i);
}
SIMT_KERNEL(gn_pattern_fill, struct gn_pattern_args)

SIMT_FN void gn_pattern_sequential(const struct gn_pattern_args *a)
{
	uint32_t wrong = 0;

	for (uint64_t i = simt_global_thread(); i < a->words; i += simt_global_threads())
		wrong += look_at(a, i);
	report(a, wrong);
}
SIMT_KERNEL_RESIDENT(gn_pattern_sequential, struct gn_pattern_args, 2048)

SIMT_FN void gn_pattern_strided(const struct gn_pattern_args *a)
{
	uint32_t wrong = 0;

	for (uint64_t i = 8 * simt_global_thread(); i < a->words; i += 8 * simt_global_threads())
		wrong += look_at(a, i);
	report(a, wrong);
}
SIMT_KERNEL_RESIDENT(gn_pattern_strided, struct gn_pattern_args, 2048)

SIMT_FN void gn_pattern_random(const struct gn_pattern_args *a)
{
	uint32_t wrong = 0;

	for (uint64_t k = simt_global_thread(); k < a->touches; k += simt_global_threads())
		wrong += look_at(a, random_word(a, k));
	report(a, wrong);
}
SIMT_KERNEL_RESIDENT(gn_pattern_random, struct gn_pattern_args, 2048)

SIMT_FN void gn_pattern_pages(const struct gn_pattern_args *a)
{
	uint32_t wrong = 0;

	for (uint64_t k = warp_index(); k < a->touches / GN_PATTERN_PAGE_WORDS; k += warp_count()) {
		const uint64_t first = random_page(a, k) * GN_PATTERN_PAGE_WORDS;

		for (uint32_t j = simt_lane(); j < GN_PATTERN_PAGE_WORDS; j += simt_warp_width())
			wrong += look_at(a, first + j);
	}
	report(a, wrong);
}
SIMT_KERNEL_RESIDENT(gn_pattern_pages, struct gn_pattern_args, 2048)

SIMT_FN void gn_pattern_hot(const struct gn_pattern_args *a)
{
	uint32_t wrong = 0;

	for (uint64_t k = simt_global_thread(); k < a->touches; k += simt_global_threads())
		wrong += look_at(a, hot_word(a, k));
	report(a, wrong);
}
SIMT_KERNEL_RESIDENT(gn_pattern_hot, struct gn_pattern_args, 2048)

SIMT_FN void gn_pattern_zipf(const struct gn_pattern_args *a)
{
	uint32_t wrong = 0;

	for (uint64_t k = simt_global_thread(); k < a->touches; k += simt_global_threads())
		wrong += look_at(a, zipf_word(a, k));
	report(a, wrong);
}
SIMT_KERNEL_RESIDENT(gn_pattern_zipf, struct gn_pattern_args, 2048)

SIMT_FN void gn_pattern_frontier(const struct gn_pattern_args *a)
{
	uint32_t wrong = 0;

	/* 4 to 256 words, 63 in the mean */
	for (uint64_t k = warp_index(); k < a->touches / 64; k += warp_count()) {
		const uint64_t drawn = draw(a, k), length = 4 + rank_of(drawn, 253),
		               first = (drawn >> 3) & (a->words - 1);

		for (uint64_t j = simt_lane(); j < length && first + j < a->words; j += simt_warp_width())
			wrong += look_at(a, first + j);
	}
	report(a, wrong);
}
SIMT_KERNEL_RESIDENT(gn_pattern_frontier, struct gn_pattern_args, 2048)

SIMT_FN void gn_pattern_column(const struct gn_pattern_args *a)
{
	const uint64_t rows = a->words / GN_PATTERN_ROW_WORDS;
	const uint64_t column = column_of(a);
	uint32_t wrong = 0;

	for (uint64_t row = simt_global_thread(); row < rows; row += simt_global_threads())
		for (uint64_t j = 0; j < GN_PATTERN_COLUMNS; j++)
			wrong += look_at(a, row * GN_PATTERN_ROW_WORDS + column + j);
	report(a, wrong);
}
SIMT_KERNEL_RESIDENT(gn_pattern_column, struct gn_pattern_args, 2048)

SIMT_FN void gn_pattern_tiles(const struct gn_pattern_args *a)
{
	const uint64_t words = GN_PATTERN_TILE * GN_PATTERN_TILE;
	uint32_t wrong = 0;

	for (uint64_t k = warp_index(); k < a->touches / words / 2; k += warp_count()) {
		const uint64_t first = random_tile(a, k);

		for (uint32_t twice = 0; twice < 2; twice++)
			for (uint32_t j = simt_lane(); j < words; j += simt_warp_width())
				wrong += look_at(a, first + j / GN_PATTERN_TILE * GN_PATTERN_ROW_WORDS +
				                        j % GN_PATTERN_TILE);
	}
	report(a, wrong);
}
SIMT_KERNEL_RESIDENT(gn_pattern_tiles, struct gn_pattern_args, 2048)

SIMT_FN void gn_pattern_chase(const struct gn_pattern_args *a)
{
	uint32_t wrong = 0;

	for (uint64_t k = simt_global_thread(); k < a->touches / GN_PATTERN_STEPS;
	     k += simt_global_threads()) {
		uint64_t at = draw(a, k) & (a->words - 1);

		for (uint32_t step = 0; step < GN_PATTERN_STEPS; step++) {
			const uint32_t word = gn_read_u32(&a->array, at);

			wrong += word != word_at(at);
			at = spread_finish(word + ((uint64_t)k << 32) + step) & (a->words - 1);
		}
	}
	report(a, wrong);
}
SIMT_KERNEL_RESIDENT(gn_pattern_chase, struct gn_pattern_args, 2048)

SIMT_FN void gn_pattern_update(const struct gn_pattern_args *a)
{
	for (uint64_t k = simt_global_thread(); k < a->touches; k += simt_global_threads()) {
		const uint64_t i = updated_word(a, k);

		gn_write_u32(&a->array, i, gn_read_u32(&a->array, i) + 1);
	}
}
SIMT_KERNEL(gn_pattern_update, struct gn_pattern_args)

SIMT_FN void gn_pattern_verify(const struct gn_pattern_args *a)
{
	uint32_t wrong = 0;

	for (uint64_t i = simt_global_thread(); i < a->words; i += simt_global_threads()) {
		uint32_t expected = word_at(i);

		for (uint32_t launch = 0; launch < a->launches; launch++)
			expected += ((i - update_begin(launch)) * gather_back & (a->words - 1)) < a->touches;
		wrong += gn_read_u32(&a->array, i) != expected;
	}
	report(a, wrong);
}
SIMT_KERNEL(gn_pattern_verify, struct gn_pattern_args)
