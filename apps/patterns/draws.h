/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draws.h - where each pattern goes: the same for the kernels that read word by word and for the lists of
 * rows.
 */
#ifndef GN_PATTERNS_DRAWS_H
#define GN_PATTERNS_DRAWS_H

#include <math.h>

#include "kernels.h"
#include "spread/mix.h"

/* An odd number, so that i * scatter mod a power of two names every place once. */
static const uint64_t scatter = 0x9e3779b97f4a7c15ull;

/* What word i of the data is. */
SIMT_FN uint32_t word_at(uint64_t i)
{
	return (uint32_t)i * 2654435761u ^ (uint32_t)(i >> 32);
}

/* A number that depends on k and the launch alone. */
SIMT_FN uint64_t draw(const struct gn_pattern_args *a, uint64_t k)
{
	return spread_finish((k + 1) * 0x9e3779b97f4a7c15ull + a->launch * 0xd1342543de82ef95ull);
}

/* A rank from 0 to bound - 1; rank r comes with a probability of about 1 / (r + 1). */
SIMT_FN uint64_t rank_of(uint64_t drawn, uint64_t bound)
{
	const float part = (float)(drawn >> 40) * (1.0f / 16777216.0f);
	const uint64_t rank = (uint64_t)exp2f(part * log2f((float)bound));

	return rank - 1 < bound ? rank - 1 : 0;
}

/* ---- the k-th place of a pattern ---- */

SIMT_FN uint64_t random_word(const struct gn_pattern_args *a, uint64_t k)
{
	return draw(a, k) & (a->words - 1);
}

SIMT_FN uint64_t random_page(const struct gn_pattern_args *a, uint64_t k)
{
	return draw(a, k) & (a->words / GN_PATTERN_PAGE_WORDS - 1);
}

SIMT_FN uint64_t hot_word(const struct gn_pattern_args *a, uint64_t k)
{
	const uint64_t drawn = draw(a, k), pages = a->words / GN_PATTERN_PAGE_WORDS;
	const uint64_t page = rank_of(drawn, a->hot_pages) * scatter & (pages - 1);

	return page * GN_PATTERN_PAGE_WORDS + drawn % GN_PATTERN_PAGE_WORDS;
}

SIMT_FN uint64_t zipf_word(const struct gn_pattern_args *a, uint64_t k)
{
	return rank_of(draw(a, k), a->words) * scatter & (a->words - 1);
}

/* The first of the columns that a launch reads. */
SIMT_FN uint64_t column_of(const struct gn_pattern_args *a)
{
	return draw(a, 0) % (GN_PATTERN_ROW_WORDS / GN_PATTERN_COLUMNS) * GN_PATTERN_COLUMNS;
}

/* The first word of a tile, of the matrix's tiles row by row. */
SIMT_FN uint64_t tile_at(uint64_t tile)
{
	const uint64_t across = GN_PATTERN_ROW_WORDS / GN_PATTERN_TILE;

	return tile / across * GN_PATTERN_TILE * GN_PATTERN_ROW_WORDS + tile % across * GN_PATTERN_TILE;
}

SIMT_FN uint64_t random_tile(const struct gn_pattern_args *a, uint64_t k)
{
	return tile_at(draw(a, k) & (a->words / (GN_PATTERN_TILE * GN_PATTERN_TILE) - 1));
}

/* Where the updates of a launch begin; they go to begin + k * scatter, each place once. */
SIMT_FN uint64_t update_begin(uint32_t launch)
{
	return spread_finish(launch + 1);
}

SIMT_FN uint64_t updated_word(const struct gn_pattern_args *a, uint64_t k)
{
	return (update_begin(a->launch) + k * scatter) & (a->words - 1);
}

SIMT_FN void report(const struct gn_pattern_args *a, uint32_t wrong)
{
	if (wrong)
		simt_reduce_add_relaxed_dev_u64(a->wrong, wrong);
}

#endif
