/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

/* The lanes of a warp. Blocks have whole warps. */
SIMT_FN uint32_t all_lanes(void)
{
	return 0xffffffffu >> (32 - simt_warp_width());
}

/* ---- edges that are drawn ---- */

SIMT_FN int is_wanted(const struct gn_generate_draw_args *a, struct gn_edge edge)
{
	return edge.from != edge.to || !a->simple;
}

SIMT_FN int is_mirrored(const struct gn_generate_draw_args *a, struct gn_edge edge)
{
	return edge.from != edge.to && a->mirror;
}

SIMT_FN void gn_generate_count(const struct gn_generate_draw_args *a)
{
	for (uint64_t i = simt_global_thread(); i < a->edges; i += simt_global_threads()) {
		const struct gn_edge edge = gn_draw_edge(&a->draw, a->first + i);

		if (is_wanted(a, edge))
			simt_reduce_add_relaxed_dev_u64(&a->count[edge.from >> a->shift], 1);
		if (is_mirrored(a, edge))
			simt_reduce_add_relaxed_dev_u64(&a->count[edge.to >> a->shift], 1);
	}
}
SIMT_KERNEL(gn_generate_count, struct gn_generate_draw_args)

/* Is the source in the part? One comparison: what is below the first wraps around. */
SIMT_FN int in_part(const struct gn_generate_draw_args *a, uint32_t source)
{
	return (uint64_t)source - a->source < a->sources;
}

SIMT_FN uint64_t key_of(const struct gn_generate_draw_args *a, uint32_t from, uint32_t to)
{
	return ((uint64_t)from - a->source) << a->draw.scale | to;
}

/* Lanes of mask: room for so many keys, by one addition. All lanes pass the same count. */
SIMT_FN uint64_t reserve(const struct gn_generate_draw_args *a, uint32_t mask, uint32_t count)
{
	const uint32_t leader = simt_first_lane(mask);
	uint64_t at = 0;

	if (simt_lane() == leader)
		at = simt_add_relaxed_dev_u64(a->kept, count);
	return simt_shfl_u64(mask, at, leader);
}

/* Lanes of mask: put aside the keys of their edges, where the part has their sources. */
SIMT_FN void keep(const struct gn_generate_draw_args *a, uint32_t mask, int is_edge, struct gn_edge edge)
{
	const int forth = is_edge && is_wanted(a, edge) && in_part(a, edge.from),
	          back = is_edge && is_mirrored(a, edge) && in_part(a, edge.to);
	const uint32_t forths = simt_ballot(mask, forth), backs = simt_ballot(mask, back);
	uint64_t at;

	if (!(forths | backs))
		return;
	at = reserve(a, mask, simt_popcount(forths) + simt_popcount(backs));
	if (forth)
		a->keys[at + simt_rank(forths)] = key_of(a, edge.from, edge.to);
	if (back)
		a->keys[at + simt_popcount(forths) + simt_rank(backs)] = key_of(a, edge.to, edge.from);
}

SIMT_FN void gn_generate_keep(const struct gn_generate_draw_args *a)
{
	const uint32_t mask = all_lanes();

	/* a warp's lanes stay together to the end, as the collectives want them */
	for (uint64_t i = simt_global_thread() - simt_lane(); i < a->edges; i += simt_global_threads()) {
		const uint64_t edge = a->first + i + simt_lane();

		keep(a, mask, i + simt_lane() < a->edges, gn_draw_edge(&a->draw, edge));
	}
}
SIMT_KERNEL(gn_generate_keep, struct gn_generate_draw_args)

/* ---- keys in order ---- */

SIMT_FN uint64_t warp_number(void)
{
	return simt_global_thread() / simt_warp_width();
}

SIMT_FN uint64_t warps(void)
{
	return simt_global_threads() / simt_warp_width();
}

/* Is it the first of its kind? */
SIMT_FN int is_new(const struct gn_generate_rows_args *a, uint64_t i)
{
	return i < a->count && (!i || a->keys[i] != a->keys[i - 1]);
}

SIMT_FN uint64_t tile_end(const struct gn_generate_rows_args *a, uint64_t tile)
{
	const uint64_t end = (tile + 1) * GN_GENERATE_TILE;

	return end < a->count ? end : a->count;
}

/* The lanes of a warp: how many keys of a tile are new. */
SIMT_FN uint64_t new_keys(const struct gn_generate_rows_args *a, uint64_t tile)
{
	const uint64_t end = tile_end(a, tile);
	uint64_t count = 0;

	for (uint64_t i = tile * GN_GENERATE_TILE; i < end; i += simt_warp_width())
		count += simt_popcount(simt_ballot(all_lanes(), is_new(a, i + simt_lane())));
	return count;
}

SIMT_FN void gn_generate_count_unique(const struct gn_generate_rows_args *a)
{
	for (uint64_t tile = warp_number(); tile * GN_GENERATE_TILE < a->count; tile += warps()) {
		const uint64_t count = new_keys(a, tile);

		if (!simt_lane())
			a->tile[tile] = count;
	}
}
SIMT_KERNEL(gn_generate_count_unique, struct gn_generate_rows_args)

/* The lanes of a warp: put the new keys of a tile side by side. */
SIMT_FN void place(const struct gn_generate_rows_args *a, uint64_t tile)
{
	const uint64_t end = tile_end(a, tile);
	uint64_t at = a->tile[tile];

	for (uint64_t i = tile * GN_GENERATE_TILE; i < end; i += simt_warp_width()) {
		const int mine = is_new(a, i + simt_lane());
		const uint32_t news = simt_ballot(all_lanes(), mine);

		if (mine)
			a->unique[at + simt_rank(news)] = a->keys[i + simt_lane()];
		at += simt_popcount(news);
	}
}

SIMT_FN void gn_generate_place_unique(const struct gn_generate_rows_args *a)
{
	for (uint64_t tile = warp_number(); tile * GN_GENERATE_TILE < a->count; tile += warps())
		place(a, tile);
}
SIMT_KERNEL(gn_generate_place_unique, struct gn_generate_rows_args)

/* ---- rows ---- */

/* How many keys are less. */
SIMT_FN uint64_t lower_bound(const struct gn_generate_rows_args *a, uint64_t key)
{
	uint64_t low = 0, high = a->count;

	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;

		if (a->keys[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

SIMT_FN void gn_generate_offsets(const struct gn_generate_rows_args *a)
{
	for (uint64_t i = simt_global_thread(); i < a->items; i += simt_global_threads())
		a->offsets[i] = a->before + lower_bound(a, (a->first + i) << a->bits);
}
SIMT_KERNEL(gn_generate_offsets, struct gn_generate_rows_args)

SIMT_FN void put_neighbour(const struct gn_generate_rows_args *a, uint64_t i, uint64_t id)
{
	if (a->id_bytes == 8)
		((uint64_t *)a->neighbours)[i] = id;
	else
		((uint32_t *)a->neighbours)[i] = (uint32_t)id;
}

SIMT_FN void gn_generate_neighbours(const struct gn_generate_rows_args *a)
{
	const uint64_t mask = (UINT64_C(1) << a->bits) - 1;

	for (uint64_t i = simt_global_thread(); i < a->items; i += simt_global_threads())
		put_neighbour(a, i, a->keys[a->first + i] & mask);
}
SIMT_KERNEL(gn_generate_neighbours, struct gn_generate_rows_args)
