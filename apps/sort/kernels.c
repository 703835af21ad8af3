/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

#include "keys.h"

SIMT_FN uint64_t mapped(const struct gn_sort_map *m, uint64_t key)
{
	const int high = (key & m->sign) != 0;

	if (m->step == GN_SORT_AS_THEY_ARE)
		return key;
	if (m->is_float && high == (m->step == GN_SORT_TO_ORDER))
		return ~key;
	return key ^ m->sign;
}

SIMT_INLINE_FN uint64_t read_key(const struct gn_array *a, uint64_t i, int wide)
{
	return wide ? gn_read_u64(a, i) : gn_read_u32(a, i);
}

/* ---- from the array to memory ---- */

/* Keys [begin, end) of the array go to memory from place `to` on. Where no frame can be had they go one by
 * one. */
SIMT_INLINE_FN void fetch_piece(const struct gn_sort_move_args *a, uint64_t begin, uint64_t end, uint64_t to,
                                int wide)
{
	struct gn_range r = gn_range_begin(&a->a, simt_whole_warp(), begin, end, GN_READ);
	struct gn_page page;

	while (gn_range_next(&r, &page))
		for (uint64_t k = simt_lane(); k < page.count; k += simt_warp_width())
			gn_sort_store(a->keys, to + (page.first - begin) + k,
			              mapped(&a->map, gn_sort_load(page.data, k, wide)), wide);
	if (simt_unlikely(gn_range_end(&r) == -GN_ENOBUFS))
		for (uint64_t i = r.next + simt_lane(); i < end; i += simt_warp_width())
			gn_sort_store(a->keys, to + (i - begin), mapped(&a->map, read_key(&a->a, i, wide)),
			              wide);
}

/* The last piece that begins at a place or before it. */
SIMT_FN uint64_t piece_at(const struct gn_sort_move_args *a, uint64_t place)
{
	uint64_t low = 0, high = a->pieces;

	while (high - low > 1) {
		const uint64_t middle = low + (high - low) / 2;

		if (a->piece[middle].to <= place)
			low = middle;
		else
			high = middle;
	}
	return low;
}

SIMT_INLINE_FN void fetch(const struct gn_sort_move_args *a, int wide)
{
	const uint64_t width = simt_warp_width(), warps = simt_global_threads() / width;

	for (uint64_t at = simt_global_thread() / width * a->tile; at < a->count; at += warps * a->tile) {
		const uint64_t end = gn_sort_least(at + a->tile, a->count);
		uint64_t piece = piece_at(a, at), next;

		for (uint64_t place = at; place < end; place = next, piece++) {
			const struct gn_sort_piece *p = &a->piece[piece];

			next = piece + 1 < a->pieces ? gn_sort_least(p[1].to, end) : end;
			if (place < next)
				fetch_piece(a, p->from + (place - p->to), p->from + (next - p->to), place,
				            wide);
		}
	}
}

SIMT_FN void gn_sort_fetch_4(const struct gn_sort_move_args *a)
{
	fetch(a, 0);
}
SIMT_KERNEL(gn_sort_fetch_4, struct gn_sort_move_args)

SIMT_FN void gn_sort_fetch_8(const struct gn_sort_move_args *a)
{
	fetch(a, 1);
}
SIMT_KERNEL(gn_sort_fetch_8, struct gn_sort_move_args)

/* ---- from memory to the array ---- */

SIMT_INLINE_FN uint64_t key_for(const struct gn_sort_move_args *a, uint64_t i, int wide)
{
	return mapped(&a->map, gn_sort_load(a->keys, i - a->first, wide));
}

SIMT_INLINE_FN void put_tile(const struct gn_sort_move_args *a, uint64_t begin, uint64_t end, int wide)
{
	struct gn_range r = gn_range_begin(&a->a, simt_whole_warp(), begin, end, GN_OVERWRITE);
	struct gn_page page;

	while (gn_range_next(&r, &page))
		for (uint64_t k = simt_lane(); k < page.count; k += simt_warp_width())
			gn_sort_store(page.data, k, key_for(a, page.first + k, wide), wide);
	if (simt_likely(gn_range_end(&r) != -GN_ENOBUFS))
		return;
	for (uint64_t i = r.next + simt_lane(); i < end; i += simt_warp_width()) {
		if (wide)
			gn_write_u64(&a->a, i, key_for(a, i, wide));
		else
			gn_write_u32(&a->a, i, (uint32_t)key_for(a, i, wide));
	}
}

/* Tiles begin where those of the whole array do, with a page: no two warps write one page. */
SIMT_INLINE_FN void put(const struct gn_sort_move_args *a, int wide)
{
	const uint64_t width = simt_warp_width(), warps = simt_global_threads() / width;
	const uint64_t after = a->first + a->count;
	uint64_t at = (a->first / a->tile + simt_global_thread() / width) * a->tile;

	for (; at < after; at += warps * a->tile)
		put_tile(a, at < a->first ? a->first : at, gn_sort_least(at + a->tile, after), wide);
}

SIMT_FN void gn_sort_put_4(const struct gn_sort_move_args *a)
{
	put(a, 0);
}
SIMT_KERNEL(gn_sort_put_4, struct gn_sort_move_args)

SIMT_FN void gn_sort_put_8(const struct gn_sort_move_args *a)
{
	put(a, 1);
}
SIMT_KERNEL(gn_sort_put_8, struct gn_sort_move_args)

/* ---- where buckets begin ---- */

SIMT_FN void gn_sort_sample(const struct gn_sort_sample_args *a)
{
	for (uint64_t s = simt_global_thread(); s * a->interval < a->count; s += simt_global_threads())
		a->samples[s] = a->key_bytes == 8 ? gn_sort_load(a->keys, s * a->interval, 1)
		                                  : gn_sort_load(a->keys, s * a->interval, 0);
}
SIMT_KERNEL(gn_sort_sample, struct gn_sort_sample_args)

/* Is a key of another run before the splitter? Of equal keys that of the lower run is. */
SIMT_FN int is_before(const struct gn_sort_splitter *splitter, uint64_t key, uint64_t run)
{
	return key < splitter->key || (key == splitter->key && run < splitter->run);
}

/*
 * How many keys of a run are before the splitter. That many samples are: so the last of these is, and the
 * next sample is not.
 */
SIMT_FN uint64_t find_place(const struct gn_sort_split_args *a, const struct gn_sort_splitter *splitter,
                            uint64_t run, uint64_t samples)
{
	const uint64_t first = run * a->run_keys,
	               keys = gn_sort_least(a->run_keys, gn_count(&a->runs) - first);
	uint64_t low = samples ? (samples - 1) * a->interval + 1 : 0;
	uint64_t high = gn_sort_least(samples * a->interval, keys);

	if (run == splitter->run)
		return high; /* the splitter's own place */
	while (low < high) {
		const uint64_t middle = low + (high - low) / 2, i = first + middle;
		const uint64_t key = a->key_bytes == 8 ? gn_read_u64(&a->runs, i) : gn_read_u32(&a->runs, i);

		if (is_before(splitter, key, run))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

SIMT_FN void gn_sort_split(const struct gn_sort_split_args *a)
{
	const uint64_t places = a->splitters * a->run_count;

	for (uint64_t i = simt_global_thread(); i < places; i += simt_global_threads())
		a->place[i] = find_place(a, &a->splitter[i / a->run_count], i % a->run_count, a->place[i]);
}
SIMT_KERNEL(gn_sort_split, struct gn_sort_split_args)
