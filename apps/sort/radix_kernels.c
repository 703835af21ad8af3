/* SPDX-License-Identifier: Apache-2.0 */
#include "radix_kernels.h"

#include "keys.h"

enum { AHEAD = 4 }; /* loads of a lane that are in flight together */

SIMT_FN uint32_t digit_of(const struct gn_radix_args *a, uint64_t key)
{
	return (uint32_t)(key >> a->shift) & a->most;
}

/* ---- sums ---- */

/* The sum of the values of the caller's lane and of those before it. */
SIMT_FN uint64_t sum_up_to_lane(uint64_t value)
{
	const uint32_t lane = simt_lane();

	for (uint32_t step = 1; step < simt_warp_width(); step *= 2) {
		const uint64_t before =
		    simt_shfl_u64(simt_whole_warp(), value, lane >= step ? lane - step : lane);

		value += lane >= step ? before : 0;
	}
	return value;
}

/* A warp: each number becomes the sum of those before it. Returns the sum of all. */
SIMT_FN uint64_t add_up(uint64_t *number, uint64_t count)
{
	const uint32_t width = simt_warp_width();
	uint64_t before = 0;

	for (uint64_t at = 0; at < count; at += width) {
		const uint64_t i = at + simt_lane(), own = i < count ? number[i] : 0;
		const uint64_t up_to = sum_up_to_lane(own);

		if (i < count)
			number[i] = before + up_to - own;
		before += simt_shfl_u64(simt_whole_warp(), up_to, width - 1);
	}
	return before;
}

SIMT_FN void gn_radix_scan(const struct gn_radix_args *a)
{
	const uint64_t width = simt_warp_width(), warps = simt_global_threads() / width;

	for (uint64_t digit = simt_global_thread() / width; digit < GN_RADIX_DIGITS; digit += warps) {
		const uint64_t total = add_up(a->counts + digit * a->parts, a->parts);

		if (!simt_lane())
			a->totals[digit] = total;
	}
}
SIMT_KERNEL(gn_radix_scan, struct gn_radix_args)

/* ---- counts ---- */

/*
 * A warp counts a digit of each lane that is in. Returns how many keys with this digit the warp had before
 * the lane's. Lanes with one digit count it once: no atomics, and no queue where all digits are equal.
 */
SIMT_FN uint32_t count_digit(uint32_t *count, int in, uint32_t digit)
{
	const uint32_t mask = simt_ballot(simt_whole_warp(), in);
	uint32_t same, before;

	if (!in)
		return 0;
	same = simt_match_small(mask, digit, 8);
	before = count[digit];
	simt_warp_sync(mask);
	if (!simt_rank(same))
		count[digit] = before + simt_popcount(same);
	simt_warp_sync(mask);
	return before + simt_rank(same);
}

/*
 * A warp counts the keys [begin, end), as many side by side as it has lanes, and then `step` further on. With
 * a tile, they also go to their places there.
 */
SIMT_INLINE_FN void walk(const struct gn_radix_args *a, struct gn_radix_shared *s, uint64_t begin,
                         uint64_t end, uint64_t step, void *tile, int wide)
{
	uint32_t *count = s->count[simt_thread() / simt_warp_width()];
	const uint64_t lane = simt_lane();

	for (uint64_t at = begin + lane; at - lane < end; at += AHEAD * step) {
		uint64_t key[AHEAD];

		SIMT_UNROLL
		for (uint32_t k = 0; k < AHEAD; k++)
			key[k] = at + k * step < end ? gn_sort_load(a->from, at + k * step, wide) : 0;
		SIMT_UNROLL
		for (uint32_t k = 0; k < AHEAD; k++) {
			const int in = at + k * step < end;
			const uint32_t digit = digit_of(a, key[k]), rank = count_digit(count, in, digit);

			if (tile && in)
				gn_sort_store(tile, s->start[digit] + rank, key[k], wide);
		}
	}
}

SIMT_FN void clear_counts(struct gn_radix_shared *s)
{
	for (uint32_t k = simt_thread(); k < GN_RADIX_WARPS * GN_RADIX_DIGITS; k += simt_block_threads())
		s->count[k / GN_RADIX_DIGITS][k % GN_RADIX_DIGITS] = 0;
	simt_block_sync();
}

/* The counts of the warps become sums of those of the warps before. Returns the sum of all. */
SIMT_FN uint32_t add_up_warps(struct gn_radix_shared *s, uint32_t digit)
{
	uint32_t before = 0;

	for (uint32_t warp = 0; warp < GN_RADIX_WARPS; warp++) {
		const uint32_t here = s->count[warp][digit];

		s->count[warp][digit] = before;
		before += here;
	}
	return before;
}

SIMT_INLINE_FN void count_part(const struct gn_radix_args *a, int wide)
{
	struct gn_radix_shared *s = (struct gn_radix_shared *)simt_shared();
	const uint64_t width = simt_warp_width(), begin = simt_block() * a->part;
	const uint64_t end = gn_sort_least(begin + a->part, a->count);

	clear_counts(s);
	walk(a, s, begin + simt_thread() / width * width, end, simt_block_threads(), 0, wide);
	simt_block_sync();
	for (uint32_t digit = simt_thread(); digit < GN_RADIX_DIGITS; digit += simt_block_threads())
		a->counts[digit * a->parts + simt_block()] = add_up_warps(s, digit);
}

SIMT_FN void gn_radix_count_4(const struct gn_radix_args *a)
{
	count_part(a, 0);
}
SIMT_KERNEL(gn_radix_count_4, struct gn_radix_args)

SIMT_FN void gn_radix_count_8(const struct gn_radix_args *a)
{
	count_part(a, 1);
}
SIMT_KERNEL(gn_radix_count_8, struct gn_radix_args)

/* ---- the scatter ---- */

/* The first warp of the block adds up the numbers of all digits. */
SIMT_FN void add_up_digits(uint64_t *number)
{
	simt_block_sync();
	if (simt_thread() < simt_warp_width())
		add_up(number, GN_RADIX_DIGITS);
	simt_block_sync();
}

/* s->base: where the part's keys with each digit go in the result. */
SIMT_FN void find_base(const struct gn_radix_args *a, struct gn_radix_shared *s)
{
	for (uint32_t digit = simt_thread(); digit < GN_RADIX_DIGITS; digit += simt_block_threads())
		s->base[digit] = a->totals[digit];
	add_up_digits(s->base);
	for (uint32_t digit = simt_thread(); digit < GN_RADIX_DIGITS; digit += simt_block_threads())
		s->base[digit] += a->counts[digit * a->parts + simt_block()];
}

/* Sort `keys` keys from `first` on into the tile. Each warp has a piece of them, for the order of equal
 * digits.
 */
SIMT_INLINE_FN void sort_tile(const struct gn_radix_args *a, struct gn_radix_shared *s, uint64_t first,
                              uint64_t keys, int wide)
{
	const uint32_t width = simt_warp_width();
	const uint64_t piece = GN_RADIX_TILE_BYTES / (wide ? 8 : 4) / GN_RADIX_WARPS;
	const uint64_t begin = gn_sort_least(simt_thread() / width * piece, keys),
	               end = gn_sort_least(begin + piece, keys);

	clear_counts(s);
	walk(a, s, first + begin, first + end, width, 0, wide);
	simt_block_sync();
	for (uint32_t digit = simt_thread(); digit < GN_RADIX_DIGITS; digit += simt_block_threads())
		s->start[digit] = add_up_warps(s, digit);
	add_up_digits(s->start);
	walk(a, s, first + begin, first + end, width, s->tile, wide);
	simt_block_sync();
}

/* Copy the sorted tile to its places in the result, and move s->base behind them. */
SIMT_INLINE_FN void write_tile(const struct gn_radix_args *a, struct gn_radix_shared *s, uint64_t keys,
                               int wide)
{
	for (uint64_t i = simt_thread(); i < keys; i += simt_block_threads()) {
		const uint64_t key = gn_sort_load(s->tile, i, wide);
		const uint32_t digit = digit_of(a, key);

		gn_sort_store(a->to, s->base[digit] + (i - s->start[digit]), key, wide);
	}
	simt_block_sync();
	for (uint32_t digit = simt_thread(); digit < GN_RADIX_DIGITS; digit += simt_block_threads()) {
		const uint64_t end = digit + 1 < GN_RADIX_DIGITS ? s->start[digit + 1] : keys;

		s->base[digit] += end - s->start[digit];
	}
}

SIMT_INLINE_FN void scatter_part(const struct gn_radix_args *a, int wide)
{
	struct gn_radix_shared *s = (struct gn_radix_shared *)simt_shared();
	const uint64_t tile = GN_RADIX_TILE_BYTES / (wide ? 8 : 4), begin = simt_block() * a->part;
	const uint64_t end = gn_sort_least(begin + a->part, a->count);

	find_base(a, s);
	for (uint64_t at = begin; at < end; at += tile) {
		const uint64_t keys = gn_sort_least(tile, end - at);

		sort_tile(a, s, at, keys, wide);
		write_tile(a, s, keys, wide);
	}
}

SIMT_FN void gn_radix_scatter_4(const struct gn_radix_args *a)
{
	scatter_part(a, 0);
}
SIMT_KERNEL(gn_radix_scatter_4, struct gn_radix_args)

SIMT_FN void gn_radix_scatter_8(const struct gn_radix_args *a)
{
	scatter_part(a, 1);
}
SIMT_KERNEL(gn_radix_scatter_8, struct gn_radix_args)
