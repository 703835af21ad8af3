/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "natural/access.h"

/* An odd number, so that i * scatter names places far apart. */
static const uint64_t scatter = 0x9e3779b97f4a7c15ull;

/* ---- where a touch goes ---- */

SIMT_FN uint64_t in_order(const struct gn_natural_args *a, uint64_t k)
{
	(void)a;
	return k;
}

SIMT_FN uint64_t backwards(const struct gn_natural_args *a, uint64_t k)
{
	return a->words - 1 - k;
}

SIMT_FN uint64_t every_eighth(const struct gn_natural_args *a, uint64_t k)
{
	(void)a;
	return 8 * k;
}

/* Down the columns of a matrix whose rows have 16 KiB. */
SIMT_FN uint64_t columns(const struct gn_natural_args *a, uint64_t k)
{
	const uint64_t across = 4 * GN_NATURAL_PAGE, down = a->words / across;

	return k % down * across + k / down;
}

/* Upwards, with gaps of 1 to 31 elements: a sorted list of indices. */
SIMT_FN uint64_t sorted(const struct gn_natural_args *a, uint64_t k)
{
	(void)a;
	return 16 * k + gn_natural_draw(k) % 16;
}

SIMT_FN uint64_t random_words(const struct gn_natural_args *a, uint64_t k)
{
	return gn_natural_draw(k) % a->words;
}

/* Runs of so many elements anywhere, a run in each `size` touches; an inlined constant. */
SIMT_INLINE_FN uint64_t run_of(const struct gn_natural_args *a, uint64_t k, uint64_t size)
{
	return gn_natural_draw(k / size) % (a->words / size) * size + k % size;
}

SIMT_FN uint64_t rows(const struct gn_natural_args *a, uint64_t k)
{
	return run_of(a, k, GN_NATURAL_ROW);
}

SIMT_FN uint64_t rows_512(const struct gn_natural_args *a, uint64_t k)
{
	return run_of(a, k, 128);
}

SIMT_FN uint64_t pages(const struct gn_natural_args *a, uint64_t k)
{
	return run_of(a, k, GN_NATURAL_PAGE);
}

/*
 * Rows of 128 bytes. A 64th of all rows is hot: three of four reads go to hot rows. Hot rows lie scattered,
 * at least 4 KiB apart.
 */
SIMT_FN uint64_t hot_rows(const struct gn_natural_args *a, uint64_t k)
{
	const uint64_t all = a->words / GN_NATURAL_ROW, hot = all / 64 ? all / 64 : 1;
	const uint64_t drawn = gn_natural_draw(k / GN_NATURAL_ROW), which = drawn >> 8;

	return (drawn & 3 ? which % hot * 61 : which) % all * GN_NATURAL_ROW + k % GN_NATURAL_ROW;
}

/* A rank from 0 to bound - 1; rank r comes with a probability of about 1 / (r + 1). */
SIMT_FN uint64_t rank_of(uint64_t drawn, uint64_t bound)
{
	const float part = (float)(drawn >> 40) * (1.0f / 16777216.0f);
	const uint64_t rank = (uint64_t)exp2f(part * log2f((float)bound));

	return rank - 1 < bound ? rank - 1 : 0;
}

/* Some words much more often, scattered over everything. */
SIMT_FN uint64_t zipf(const struct gn_natural_args *a, uint64_t k)
{
	return rank_of(gn_natural_draw(k), a->words) * scatter % a->words;
}

/* Words of few pages, which fit in the cache; some pages much more often. */
SIMT_FN uint64_t hot_set(const struct gn_natural_args *a, uint64_t k)
{
	const uint64_t drawn = gn_natural_draw(k), all = a->words / GN_NATURAL_PAGE;
	const uint64_t hot = a->hot_words / GN_NATURAL_PAGE ? a->hot_words / GN_NATURAL_PAGE : 1;

	return rank_of(drawn, hot) * scatter % all * GN_NATURAL_PAGE + drawn % GN_NATURAL_PAGE;
}

/* In order, and from the middle on random words. */
SIMT_FN uint64_t phases(const struct gn_natural_args *a, uint64_t k)
{
	return k < a->touches - a->touches / 64 ? k : gn_natural_draw(k) % a->words;
}

/* Five cells of a matrix whose rows have 4 KiB: a stencil. */
SIMT_FN uint64_t stencil(const struct gn_natural_args *a, uint64_t k)
{
	const uint64_t cell = k / 5 + GN_NATURAL_PAGE, end = a->words;

	switch (k % 5) {
	case 0: return cell - GN_NATURAL_PAGE;
	case 1: return cell - 1;
	case 2: return cell;
	case 3: return cell + 1 < end ? cell + 1 : cell;
	default: return cell + GN_NATURAL_PAGE < end ? cell + GN_NATURAL_PAGE : cell;
	}
}

/*
 * From the root of a binary tree in the order of its levels down to a leaf that is drawn: touch j of 16 is at
 * level j.
 */
SIMT_FN uint64_t tree(const struct gn_natural_args *a, uint64_t k)
{
	const uint64_t level = k % 16, leaf = gn_natural_draw(k / 16) & 0xffff,
	               node = (1ull << level) - 1 + (leaf >> (16 - level));

	/* A node has as many elements as let the tree fill the array; one of them is read. */
	return node * (a->words >> 16) + gn_natural_draw(k) % (a->words >> 16);
}

/* Rows of a square tile of a matrix whose rows have 16 KiB; a tile is read twice. */
SIMT_FN uint64_t tiles(const struct gn_natural_args *a, uint64_t k)
{
	const uint64_t side = GN_NATURAL_ROW, across = 4 * GN_NATURAL_PAGE / side;
	const uint64_t all = a->words / (side * side * across) * across;
	const uint64_t tile = gn_natural_draw(k / (2 * side * side)) % all, j = k % (side * side);

	return (tile / across * side + j / side) * (across * side) + tile % across * side + j % side;
}

/* ---- loops of their own ---- */

/* Lists of 4 to 256 elements anywhere, 63 in the mean, each by a warp. */
SIMT_INLINE_FN double lists(const struct gn_natural_args *a, gn_natural_reader at)
{
	const uint32_t width = simt_warp_width();
	double mine = 0;

	for (uint64_t k = simt_global_thread() / width; k < a->touches / 64;
	     k += simt_global_threads() / width) {
		const uint64_t drawn = gn_natural_draw(k), length = 4 + rank_of(drawn, 253),
		               first = (drawn >> 3) % (a->words - 256);

		for (uint64_t j = simt_lane(); j < length; j += width)
			mine += at(a, first + j);
	}
	return mine;
}

/* Each element says where the next one is. */
SIMT_INLINE_FN double chains(const struct gn_natural_args *a, gn_natural_reader at)
{
	double mine = 0;

	for (uint64_t k = simt_global_thread(); k < a->touches / GN_NATURAL_STEPS;
	     k += simt_global_threads()) {
		uint64_t i = gn_natural_draw(k) % a->words;

		for (uint32_t step = 0; step < GN_NATURAL_STEPS; step++) {
			const float value = at(a, i);

			mine += value;
			i = spread_finish(i + (uint64_t)value * scatter + step) % a->words;
		}
	}
	return mine;
}

SIMT_INLINE_FN double runs_alone(const struct gn_natural_args *a, gn_natural_reader at)
{
	return gn_natural_walk(a, at, in_order, 64); /* each thread a run of its own */
}

SIMT_INLINE_FN double rows_alone(const struct gn_natural_args *a, gn_natural_reader at)
{
	return gn_natural_walk(a, at, rows, GN_NATURAL_ROW); /* each thread a row of its own */
}

SIMT_INLINE_FN double stencils(const struct gn_natural_args *a, gn_natural_reader at)
{
	return gn_natural_walk(a, at, stencil, 5);
}

SIMT_INLINE_FN double trees(const struct gn_natural_args *a, gn_natural_reader at)
{
	return gn_natural_walk(a, at, tree, 16);
}

SIMT_INLINE_FN double warp_pages(const struct gn_natural_args *a, gn_natural_reader at)
{
	return gn_natural_warps(a, at, pages, GN_NATURAL_PAGE);
}

SIMT_INLINE_FN double warp_tiles(const struct gn_natural_args *a, gn_natural_reader at)
{
	return gn_natural_warps(a, at, tiles, 2 * GN_NATURAL_ROW * GN_NATURAL_ROW);
}

/* ---- kernels ---- */

/* A loop in the three ways to read. A macro, since a kernel has the name of its function. */
#define THREE_WAYS(name)                                                              \
	SIMT_FN void gn_natural_##name##_plain(const struct gn_natural_args *a)       \
	{                                                                             \
		gn_natural_add(a, name(a, gn_natural_plain));                         \
	}                                                                             \
	SIMT_KERNEL_RESIDENT(gn_natural_##name##_plain, struct gn_natural_args, 2048) \
	SIMT_FN void gn_natural_##name##_read(const struct gn_natural_args *a)        \
	{                                                                             \
		gn_natural_add(a, name(a, gn_natural_read));                          \
	}                                                                             \
	SIMT_KERNEL(gn_natural_##name##_read, struct gn_natural_args)                 \
	SIMT_FN void gn_natural_##name##_known(const struct gn_natural_args *a)       \
	{                                                                             \
		gn_natural_add(a, name(a, gn_natural_known));                         \
	}                                                                             \
	SIMT_KERNEL(gn_natural_##name##_known, struct gn_natural_args)

/* The same of a flat loop over the places of this name, and plain loads with four under way. */
#define FLAT(name)                                                                               \
	SIMT_INLINE_FN double flat_##name(const struct gn_natural_args *a, gn_natural_reader at) \
	{                                                                                        \
		return gn_natural_flat(a, at, name);                                             \
	}                                                                                        \
	THREE_WAYS(flat_##name)                                                                  \
	SIMT_FN void gn_natural_flat_##name##_four(const struct gn_natural_args *a)              \
	{                                                                                        \
		gn_natural_add(a, gn_natural_four(a, name));                                     \
	}                                                                                        \
	SIMT_KERNEL(gn_natural_flat_##name##_four, struct gn_natural_args)

FLAT(in_order)
FLAT(rows)
FLAT(random_words)
FLAT(hot_rows)
FLAT(backwards)
FLAT(every_eighth)
FLAT(columns)
FLAT(sorted)
FLAT(rows_512)
FLAT(zipf)
FLAT(hot_set)
FLAT(phases)
THREE_WAYS(stencils)
THREE_WAYS(trees)
THREE_WAYS(warp_pages)
THREE_WAYS(warp_tiles)
THREE_WAYS(lists)
THREE_WAYS(chains)
THREE_WAYS(runs_alone)
THREE_WAYS(rows_alone)

/* A line of the table. */
/* clang-format off */
#define PATTERN(text, summary, shift, name) \
	{text, summary, shift, &gn_natural_##name##_read_kernel, \
	 &gn_natural_##name##_known_kernel, {&gn_natural_##name##_plain_kernel}}
#define PATTERN_FLAT(text, summary, shift, name)                                                      \
	{                                                                                             \
		text, summary, shift, &gn_natural_flat_##name##_read_kernel,                          \
		    &gn_natural_flat_##name##_known_kernel,                                           \
		{                                                                                     \
			&gn_natural_flat_##name##_plain_kernel, &gn_natural_flat_##name##_four_kernel \
		}                                                                                     \
	}
/* clang-format on */

const struct gn_natural_pattern gn_natural_patterns[GN_NATURAL_PATTERNS] = {
    PATTERN_FLAT("in-order", "every element, threads side by side", 2, in_order),
    PATTERN_FLAT("rows", "rows of 128 bytes anywhere", 5, rows),
    PATTERN_FLAT("random", "words anywhere", 8, random_words),
    PATTERN_FLAT("hot-rows", "rows of 128 bytes, three of four among a scattered 64th", 5, hot_rows),
    PATTERN_FLAT("backwards", "every element from the last to the first", 2, backwards),
    PATTERN_FLAT("every-eighth", "every eighth element", 4, every_eighth),
    PATTERN_FLAT("columns", "down the columns of a matrix that lies in rows of 16 KiB", 6, columns),
    PATTERN_FLAT("sorted", "words in order with gaps of 1 to 31", 6, sorted),
    PATTERN_FLAT("rows-512", "rows of 512 bytes anywhere", 4, rows_512),
    PATTERN_FLAT("zipf", "words anywhere, some much more often", 8, zipf),
    PATTERN_FLAT("hot-set", "words of pages that fit in the cache, some much more often", 6, hot_set),
    PATTERN_FLAT("phases", "in order, then words anywhere", 4, phases),
    PATTERN("stencil", "five neighbours of each cell of a matrix, a thread a cell", 4, stencils),
    PATTERN("tree", "from the root of a tree to a leaf that is drawn, a thread a way", 6, trees),
    PATTERN("pages", "pages of 4 KiB anywhere, a warp a page", 4, warp_pages),
    PATTERN("tiles", "tiles of a matrix, each twice, a warp a tile", 4, warp_tiles),
    PATTERN("lists", "lists of 4 to 256 elements anywhere, a warp a list", 5, lists),
    PATTERN("chains", "each element says where the next one is, a thread a chain", 8, chains),
    PATTERN("lane-runs", "runs of 256 bytes in order, a thread a run", 4, runs_alone),
    PATTERN("lane-rows", "rows of 128 bytes anywhere, a thread a row", 6, rows_alone),
};
