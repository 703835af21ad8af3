/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/array/gather_few.h - gathers a batch of so few rows that a sort saves no fetch, on a GPU.
 *
 * A group of lanes has a row. It looks the page up and loads the row from the page's frame. If the page is
 * absent, it loads the row from the store's memory, so a batch takes about as long as plain loads of that
 * memory. To bring the page into a frame takes several times as long. So only one of about GN__FEW_TURNS
 * batches brings in the pages that it misses, by scalar reads; these follow the policy of the cache. The
 * pages that are wanted often come in that way soon, and those that are wanted once mostly do not (the
 * bimodal insertion of detail/cache/hand.h, by batches). The clock says which: turns follow one another, and
 * in one of GN__FEW_TURNS pages are brought in. A counter would cost the batch more than a look at the clock.
 * While frames are free every batch brings its pages in.
 *
 * For arrays in direct mode, and for arrays whose cache has a direct table and sectors, over a store that
 * loads reach.
 */
#ifndef GRAPNEL_ARRAY_GATHER_FEW_H
#define GRAPNEL_ARRAY_GATHER_FEW_H

#include <grapnel/detail/array/gather_rows.h>
#include <grapnel/detail/cache/hand.h>

enum { GN__FEW_TURNS = 16, GN__TURN_LOG2 = 16 /* ns of a turn */ };

/*
 * Lanes that move a row together: they load a line at once, or as much as the warp can if the row is long.
 * @width  lanes of a warp
 */
SIMT_FN uint32_t gn__few_lanes(uint32_t row_bytes, uint32_t unit, uint32_t width)
{
	const uint32_t line = SIMT_LINE, at_once = GN__AT_ONCE;
	const uint32_t most = row_bytes > at_once * line ? width : line / unit;
	uint32_t lanes = 1;

	while (lanes * unit < row_bytes && lanes < most && lanes < width)
		lanes *= 2;
	return lanes;
}

/* Host. The batch is not empty, and its array is one of those named above. */
static inline void gn__few_fill(struct gn__job *j, const struct gn_array *a, const struct gn_batch *batch,
                                uint32_t warp_width)
{
	memset(j, 0, sizeof *j);
	gn__job_fill(j, a, batch, 0);
	j->memory = a->memory ? a->memory : a->pages.backing + a->base;
	j->lanes = gn__few_lanes(j->row_bytes, j->unit, warp_width);
}

/* Does a batch bring in the pages that it misses? A thread asks when it first misses one, and keeps the
 * answer. */
enum gn__few_turn { GN__FEW_UNKNOWN, GN__FEW_LEAVES, GN__FEW_BRINGS };

SIMT_FN int gn__few_brings(const struct gn_cache_view *c, enum gn__few_turn *turn)
{
	const uint32_t number = (uint32_t)(simt_clock_ns() >> GN__TURN_LOG2);

	if (*turn == GN__FEW_UNKNOWN)
		*turn = !(gn__stir(number) % GN__FEW_TURNS) || gn__has_new_frames(c) ? GN__FEW_BRINGS
		                                                                     : GN__FEW_LEAVES;
	return *turn == GN__FEW_BRINGS;
}

/* Copy the lane's units of a chunk. unit is a constant at every call. Returns all bits, combined by |. */
SIMT_INLINE_FN uint64_t gn__few_copy(const struct gn__job *j, char *to, const char *from, uint32_t bytes,
                                     uint32_t unit)
{
	const uint32_t step = gn__lane_step(j);
	uint64_t all = 0;

	for (uint32_t at = gn__lane_at(j); at < bytes; at += GN__AT_ONCE * step) {
		uint64_t value[GN__AT_ONCE][2];

		for (uint32_t k = 0; k < GN__AT_ONCE; k++) {
			value[k][0] = 0;
			if (at + k * step < bytes)
				all |= gn__load_sized(value[k], from + at + k * step, unit);
		}
		for (uint32_t k = 0; k < GN__AT_ONCE; k++)
			if (at + k * step < bytes)
				gn__unit_put(to + at + k * step, value[k][0], unit);
	}
	return all;
}

/*
 * Where a lane finds a chunk, after one look at the page. This is an optimistic read, as gn__fault_snapshot
 * is, for all sectors of the chunk.
 */
struct gn__few_place {
	const char *from; /* NULL: by scalar reads */
	uint64_t *word;   /* not NULL: from is in a frame, and the word must be validated behind the loads */
	uint64_t seen;
};

SIMT_INLINE_FN struct gn__few_place gn__few_look(const struct gn__job *j, const struct gn__chunk *p,
                                                 enum gn__few_turn *turn)
{
	const struct gn__pages *pages = &j->array.pages;
	const struct gn_hold h = gn__page_snapshot_direct(pages, p->page, GN__LEADING);
	struct gn__few_place there = {0, h.word, h.seen};
	uint64_t sectors = ~0ull, now = h.seen;
	uint32_t wanted;

	if (h.seen & GN__WORD_HELD) {
		wanted = gn__run_of_sectors(p->at, p->at + p->bytes, pages->sector_log2);
		if (!(h.seen & GN__WORD_VALID))
			sectors = simt_load_leading_dev_u64(&pages->sector[gn__word_payload(h.seen)]);
		if (!(wanted & ~gn__sector_valid(sectors))) {
			there.from = h.data + p->at + (sectors & pages->zero); /* behind the sector word */
			return there;
		}
		/* if the word has changed, the sector word may be another page's */
		now = gn__page_reload(h.word, sectors, pages->zero);
		if (wanted & ((uint32_t)sectors | (uint32_t)(sectors >> 32)) ||
		    !gn__word_validate(h.seen, now))
			return there;
	}
	/* The store has every write from before the batch. The loads are behind the word (R6). */
	if (!gn__few_brings(pages->cache, turn))
		there.from = j->memory + p->from + (now & pages->zero);
	there.word = 0;
	return there;
}

enum gn__few_found { GN__FEW_MISSED, GN__FEW_HIT, GN__FEW_AROUND };

/* Load a chunk if that takes no pin. GN__FEW_MISSED: read the row by gn__few_read. */
SIMT_INLINE_FN enum gn__few_found gn__few_chunk(const struct gn__job *j, char *to, const struct gn__chunk *p,
                                                enum gn__few_turn *turn, uint32_t unit)
{
	const struct gn_array *a = &j->array;
	struct gn__few_place there;
	uint64_t now;

	if (a->memory) {
		gn__few_copy(j, to, a->memory + p->from, p->bytes, unit);
		return GN__FEW_HIT;
	}
	there = gn__few_look(j, p, turn);
	if (!there.from)
		return GN__FEW_MISSED;
	now = gn__few_copy(j, to, there.from, p->bytes, unit);
	if (!there.word)
		return GN__FEW_AROUND;
	now = gn__page_reload(there.word, now, a->pages.zero);
	if (!gn__word_validate(there.seen, now))
		return GN__FEW_MISSED;
	if (gn__lane_at(j) == 0 && simt_unlikely(!(now & GN__WORD_REF)))
		simt_reduce_or_relaxed_dev_u64(there.word, GN__WORD_REF);
	return GN__FEW_HIT;
}

/* Count a chunk as its group's first lane has found it. */
SIMT_FN void gn__few_count(const struct gn__job *j, enum gn__few_found found)
{
	if (!j->array.pages.counting || gn__lane_at(j))
		return;
	if (found == GN__FEW_HIT)
		gn__count_hits(&j->array.pages, 1);
	else
		gn__count_bypass(&j->array);
}

SIMT_INLINE_FN void gn__element_put(char *to, const uint64_t value[2], uint32_t size)
{
	gn__unit_put(to, value[0], size < 8 ? size : 8);
	if (size == 16)
		gn__unit_put(to + 8, value[1], 8);
}

/*
 * Read the lane's elements of a row by scalar reads. Each lane has a run of elements of its own, so that the
 * lanes miss in different sectors at once, and not in one sector after the other. They miss all sectors of
 * the row at once if a run is at most one sector. A lane with a longer run misses its sectors one after the
 * other. size is a constant at every call.
 */
SIMT_INLINE_FN void gn__few_elements(const struct gn__job *j, char *to, uint64_t row, uint32_t size)
{
	const uint32_t elements = j->row_bytes / size, each = (elements + j->lanes - 1) / j->lanes;
	const uint32_t first = (simt_lane() & (j->lanes - 1)) * each, end = first + each;

	for (uint32_t k = first; k < elements && k < end; k++) {
		uint64_t value[2] = {0, 0};

		gn__read(&j->array, row * elements + k, value, size);
		gn__element_put(to + k * size, value, size);
	}
}

/* Read a row by scalar reads of the group's lanes. */
SIMT_NOINLINE_FN void gn__few_read(const struct gn__job *j, char *to, uint64_t row)
{
	switch (j->array.element_log2) {
	case 0: gn__few_elements(j, to, row, 1); break;
	case 1: gn__few_elements(j, to, row, 2); break;
	case 2: gn__few_elements(j, to, row, 4); break;
	case 3: gn__few_elements(j, to, row, 8); break;
	default: gn__few_elements(j, to, row, 16);
	}
}

/* Gather one row; the lanes of its group call it. unit is a constant at every call. */
SIMT_INLINE_FN void gn__few_row(const struct gn__job *j, uint64_t position, uint64_t row,
                                enum gn__few_turn *turn, uint32_t unit)
{
	const uint32_t group = gn__group_mask(j);
	char *to = j->rows + position * j->row_bytes;
	uint32_t done = 0;

	if (simt_unlikely(row >= j->most)) {
		if (gn__lane_at(j) == 0)
			SIMT_COLD(gn__entry_refused)(j, row, position);
		return;
	}
	while (done < j->row_bytes) {
		const struct gn__chunk p = gn__chunk_of(j, row, done);
		const enum gn__few_found found = gn__few_chunk(j, to + done, &p, turn, unit);

		/* each lane has looked for itself */
		if (simt_unlikely(simt_ballot(group, found == GN__FEW_MISSED))) {
			/* scalar reads divide the row in another way: their stores come behind all others */
			simt_warp_sync(group);
			SIMT_COLD(gn__few_read)(j, to, row);
			return;
		}
		gn__few_count(j, found);
		done += p.bytes;
	}
}

SIMT_INLINE_FN void gn__few_rows(const struct gn__job *j, uint32_t unit)
{
	const uint64_t step = simt_global_threads() / j->lanes;
	uint64_t k = simt_global_thread() / j->lanes, row = k < j->count ? j->index[k] : 0;
	enum gn__few_turn turn = GN__FEW_UNKNOWN;

	for (; k < j->count; k += step) {
		const uint64_t next = k + step < j->count ? j->index[k + step] : 0;

		gn__few_row(j, k, row, &turn, unit);
		row = next;
	}
}

/*
 * gn__gather_few - gather a batch of few rows with a whole grid. Waits for pages that scalar reads fetch.
 */
SIMT_INLINE_FN void gn__gather_few(const struct gn__job *j)
{
	switch (j->unit) {
	case 1: gn__few_rows(j, 1); break;
	case 2: gn__few_rows(j, 2); break;
	case 4: gn__few_rows(j, 4); break;
	default: gn__few_rows(j, 8);
	}
}

#endif
