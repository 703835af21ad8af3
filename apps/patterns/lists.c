/* SPDX-License-Identifier: Apache-2.0 */
/* The patterns whose accesses are known ahead, as lists of rows; and what is done with the rows. */
#include "draws.h"

/* Fills the batch's index by a function of a launch's row number; it is a constant at every call. */
SIMT_INLINE_FN void fill_list(const struct gn_pattern_args *a,
                              uint64_t (*row)(const struct gn_pattern_args *, uint64_t))
{
	uint64_t *index = (uint64_t *)(uintptr_t)a->batch.index;

	for (uint64_t k = simt_global_thread(); k < a->batch.count; k += simt_global_threads())
		index[k] = row(a, a->first + k);
}

SIMT_FN void gn_pattern_list_random(const struct gn_pattern_args *a)
{
	fill_list(a, random_word);
}
SIMT_KERNEL(gn_pattern_list_random, struct gn_pattern_args)

SIMT_FN void gn_pattern_list_pages(const struct gn_pattern_args *a)
{
	fill_list(a, random_page);
}
SIMT_KERNEL(gn_pattern_list_pages, struct gn_pattern_args)

SIMT_FN void gn_pattern_list_hot(const struct gn_pattern_args *a)
{
	fill_list(a, hot_word);
}
SIMT_KERNEL(gn_pattern_list_hot, struct gn_pattern_args)

SIMT_FN void gn_pattern_list_zipf(const struct gn_pattern_args *a)
{
	fill_list(a, zipf_word);
}
SIMT_KERNEL(gn_pattern_list_zipf, struct gn_pattern_args)

/* The columns' words of matrix row k. */
SIMT_FN uint64_t column_row(const struct gn_pattern_args *a, uint64_t k)
{
	return (k * GN_PATTERN_ROW_WORDS + column_of(a)) / GN_PATTERN_COLUMNS;
}

SIMT_FN void gn_pattern_list_column(const struct gn_pattern_args *a)
{
	fill_list(a, column_row);
}
SIMT_KERNEL(gn_pattern_list_column, struct gn_pattern_args)

/* A tile's rows, and once more. */
SIMT_FN uint64_t tile_row(const struct gn_pattern_args *a, uint64_t k)
{
	const uint64_t first = random_tile(a, k / (2 * GN_PATTERN_TILE));

	return (first + k % GN_PATTERN_TILE * GN_PATTERN_ROW_WORDS) / GN_PATTERN_TILE;
}

SIMT_FN void gn_pattern_list_tiles(const struct gn_pattern_args *a)
{
	fill_list(a, tile_row);
}
SIMT_KERNEL(gn_pattern_list_tiles, struct gn_pattern_args)

SIMT_FN void gn_pattern_list_update(const struct gn_pattern_args *a)
{
	fill_list(a, updated_word);
}
SIMT_KERNEL(gn_pattern_list_update, struct gn_pattern_args)

SIMT_FN void gn_pattern_compare(const struct gn_pattern_args *a)
{
	const uint32_t *word = (const uint32_t *)a->batch.rows, elements = a->batch.elements;
	uint32_t wrong = 0;

	for (uint64_t i = simt_global_thread(); i < a->batch.count * elements; i += simt_global_threads())
		wrong += word[i] != word_at(a->batch.index[i / elements] * elements + i % elements);
	report(a, wrong);
}
SIMT_KERNEL(gn_pattern_compare, struct gn_pattern_args)

SIMT_FN void gn_pattern_bump(const struct gn_pattern_args *a)
{
	uint32_t *word = (uint32_t *)a->batch.rows;

	for (uint64_t i = simt_global_thread(); i < a->batch.count * a->batch.elements;
	     i += simt_global_threads())
		word[i]++;
}
SIMT_KERNEL(gn_pattern_bump, struct gn_pattern_args)
