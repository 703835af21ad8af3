/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/array/gather_rows.h - moving the rows of sorted entries: a group of lanes a row, in the order of
 * addresses.
 *
 * A row to be gathered is loaded once for all entries that name it (up to GN__RUN of them; then another group
 * loads it again). Where its page is in a frame it is loaded from there and the page is looked at again
 * behind the loads; where it is not, and loads reach the store, it is loaded from the store: the page was not
 * in a frame after the batch began, so the store has every write before the batch. Everything else takes a
 * pin.
 */
#ifndef GRAPNEL_ARRAY_GATHER_ROWS_H
#define GRAPNEL_ARRAY_GATHER_ROWS_H

#include <grapnel/detail/array/gather_sort.h>
#include <grapnel/detail/array/sample.h>

enum { GN__RUN = 64, GN__AT_ONCE = 4, GN__TURNS = 4 };
/* on cpu: how many rows ahead one is asked for, and so much of it */
enum { GN__SOON = 16, GN__SOON_BYTES = 512 };

/* ---- units ---- */

/* As a scalar read loads it: it may change meanwhile. */
SIMT_INLINE_FN uint64_t gn__unit_load(const char *from, uint32_t unit)
{
	switch (unit) {
	case 1: return simt_load_relaxed_dev_u8((const uint8_t *)from);
	case 2: return simt_load_relaxed_dev_u16((const uint16_t *)(const void *)from);
	case 4: return simt_load_relaxed_dev_u32((const uint32_t *)(const void *)from);
	default: return simt_load_relaxed_dev_u64((const uint64_t *)(const void *)from);
	}
}

SIMT_INLINE_FN void gn__unit_put(char *to, uint64_t value, uint32_t unit)
{
	switch (unit) {
	case 1: *to = (char)value; break;
	case 2: *(uint16_t *)(void *)to = (uint16_t)value; break;
	case 4: *(uint32_t *)(void *)to = (uint32_t)value; break;
	default: *(uint64_t *)(void *)to = value;
	}
}

/* ---- chunks: what a row has of one page ---- */

struct gn__chunk {
	uint64_t page;
	uint64_t from;  /* bytes from element 0 */
	uint32_t at;    /* in the page */
	uint32_t bytes; /* in the chunk */
};

/* The chunk that begins `done` bytes into a row. */
SIMT_FN struct gn__chunk gn__chunk_of(const struct gn__job *j, uint64_t row, uint32_t done)
{
	const struct gn_array *a = &j->array;
	const uint64_t address = a->base + row * j->row_bytes + done;
	const uint32_t left = j->row_bytes - done;
	struct gn__chunk p;

	p.page = gn__page_number(&a->pages, address);
	p.from = row * j->row_bytes + done;
	p.at = gn__page_offset(&a->pages, address);
	p.bytes =
	    a->memory || left < (1u << a->pages.page_log2) - p.at ? left : (1u << a->pages.page_log2) - p.at;
	return p;
}

/* ---- groups of lanes ---- */

/* The lane's place in its group, in bytes of a chunk, and how far all lanes of the group go at once. */
SIMT_FN uint32_t gn__lane_at(const struct gn__job *j)
{
	return (simt_lane() & (j->lanes - 1)) * j->unit;
}

SIMT_FN uint32_t gn__lane_step(const struct gn__job *j)
{
	return j->lanes * j->unit;
}

/* Note a row that is moved, once for all entries that name it. */
SIMT_NOINLINE_FN void gn__row_note(const struct gn__job *j, uint64_t row)
{
	const uint64_t elements = j->row_bytes >> j->array.element_log2;

	gn__sample_run(&j->array, simt_lane() & (j->lanes - 1), j->lanes, row * elements, elements,
	               GN__TOUCH_BATCH | (j->is_scatter ? GN__TOUCH_WRITE : 0));
}

/* ---- gather ---- */

/* How many entries from k on want the row of entry k and get it by its group: 0 if k is another group's. */
SIMT_FN uint32_t gn__run_at(const struct gn__job *j, const uint64_t *entry, uint64_t count, uint64_t k)
{
	const uint32_t bits = j->position_bits;
	const uint64_t here = entry[k];
	uint32_t run = 1;

	if (here == GN__NO_ENTRY || (k % GN__RUN && entry[k - 1] >> bits == here >> bits))
		return 0;
	while ((k + run) % GN__RUN && k + run < count && entry[k + run] >> bits == here >> bits)
		run++;
	return run;
}

/* The lane's units of a chunk, to every row of the run. Unit is a constant at every call. */
SIMT_INLINE_FN void gn__units_out(const struct gn__job *j, const uint64_t *entry, uint32_t run,
                                  const char *from, uint32_t done, uint32_t bytes, uint32_t unit)
{
	const uint32_t step = gn__lane_step(j);

	if (!SIMT_ON_CUDA && run == 1) { /* a cpu has the next loads under way by itself */
		char *to = j->rows + gn__entry_position(j, *entry) * j->row_bytes + done;

		for (uint32_t at = gn__lane_at(j); at < bytes; at += step)
			gn__unit_put(to + at, gn__unit_load(from + at, unit), unit);
		return;
	}
	for (uint32_t at = gn__lane_at(j); at < bytes; at += GN__AT_ONCE * step) {
		uint64_t value[GN__AT_ONCE];

		for (uint32_t k = 0; k < GN__AT_ONCE; k++)
			value[k] = at + k * step < bytes ? gn__unit_load(from + at + k * step, unit) : 0;
		for (uint32_t n = 0; n < run; n++) {
			char *to = j->rows + gn__entry_position(j, entry[n]) * j->row_bytes + done + at;

			for (uint32_t k = 0; k < GN__AT_ONCE; k++)
				if (at + k * step < bytes)
					gn__unit_put(to + k * step, value[k], unit);
		}
	}
}

SIMT_INLINE_FN void gn__chunk_out(const struct gn__job *j, const uint64_t *entry, uint32_t run,
                                  const char *from, uint32_t done, uint32_t bytes)
{
	switch (j->unit) {
	case 1: gn__units_out(j, entry, run, from, done, bytes, 1); break;
	case 2: gn__units_out(j, entry, run, from, done, bytes, 2); break;
	case 4: gn__units_out(j, entry, run, from, done, bytes, 4); break;
	default: gn__units_out(j, entry, run, from, done, bytes, 8);
	}
}

/*
 * Lanes whose page is pinned are done with it: one of each group unpins. Collective over mask, all that came
 * together; see gn__access_together.
 */
SIMT_FN void gn__groups_done(const struct gn_cache_view *c, uint32_t mask, uint32_t lanes, int hit,
                             const struct gn__claim *k)
{
	simt_warp_sync(mask);
	if (!hit || simt_lane() != simt_first_lane(lanes))
		return;
	gn__count_access(c, simt_popcount(lanes), k);
	gn__page_written(c, k->word, k->frame, k->owned);
}

/* No frame could be had, or the page cannot be read: unit by unit wherever they are, or zero. */
SIMT_NOINLINE_FN void gn__chunk_bypass(const struct gn__job *j, const uint64_t *entry, uint32_t run,
                                       const struct gn__chunk *p, uint32_t done,
                                       struct gn_store_status status)
{
	for (uint32_t at = gn__lane_at(j); at < p->bytes; at += gn__lane_step(j)) {
		const struct gn__request request = {GN__READS, 0, p->at + at, j->unit, {0, 0}};
		struct gn__access access = {{0, 0}, status};

		if (status.code == -GN_ENOBUFS)
			access = gn_cache_access(j->array.pages.cache, p->page, request);
		if (access.status.code) {
			access.bits[0] = 0;
			gn__fail(&j->array, (p->from + at) >> j->array.element_log2, access.status);
		}
		for (uint32_t n = 0; n < run; n++)
			memcpy(j->rows + gn__entry_position(j, entry[n]) * j->row_bytes + done + at,
			       access.bits, j->unit);
	}
}

/* The lanes that want the caller's page; of a lane that wants none, itself. Collective over the warp. */
SIMT_FN uint32_t gn__wanting(int wants, const struct gn__chunk *p)
{
	return simt_match_any_u64(gn__whole_warp(), wants ? p->page : UINT64_MAX - simt_lane());
}

/*
 * By pins: one for lanes that want the same page, and all pages are in flight together. Each group is done
 * with its page before the next round, whatever the others wait for. Collective over the warp, whoever wants
 * something.
 */
SIMT_NOINLINE_FN void gn__chunk_slowly(const struct gn__job *j, const uint64_t *entry, uint32_t run,
                                       const struct gn__chunk *p, uint32_t done, int wants)
{
	const struct gn_cache_view *c = j->array.pages.cache;
	const uint32_t mask = gn__whole_warp(), lanes = gn__wanting(wants, p),
	               leader = simt_first_lane(lanes);
	struct gn__claim k = gn__claim_init(p->page, GN_READ, 0xffffffffu);
	struct gn_store_status status;
	int served = 0, hit, more;
	uint32_t frame;

	gn__claim_begin(c, mask, wants && simt_lane() == leader, &k);
	do {
		more = gn__claim_round(c, mask, &k, 0);
		hit = simt_shfl_u32(mask, k.step == GN__STEP_HIT, leader) && wants && !served;
		served |= hit;
		frame = simt_shfl_u32(mask, k.frame, leader);
		if (hit)
			gn__chunk_out(j, entry, run, gn__frame(c, frame) + p->at, done, p->bytes);
		if (simt_ballot(mask, hit))
			gn__groups_done(c, mask, lanes, hit, &k);
	} while (more);
	gn__claim_end(c, mask, &k);
	status = gn__store_share(mask, leader, k.status);
	if (wants && !served)
		gn__chunk_bypass(j, entry, run, p, done, status);
}

SIMT_FN void gn__count_bypass(const struct gn_array *a)
{
	if (simt_unlikely(a->pages.counting))
		gn__count_u64(&gn__stripe(a->pages.cache)->bypassed, 1);
}

/* Has a frame nothing of a chunk, so that the store has it as it is? Acquires what the frame has. */
SIMT_FN int gn__chunk_is_absent(const struct gn_array *a, const struct gn_hold *g, const struct gn__chunk *p)
{
	const uint64_t seen =
	    simt_load_acquire_dev_u64(&a->pages.cache->sector[gn__page_frame(&a->pages, g)]);

	return !(((uint32_t)seen | (uint32_t)(seen >> 32)) &
	         gn__sectors(a->pages.cache, p->at, p->at + p->bytes)) &&
	       /* else they were another page's sectors */
	       gn__word_validate(g->seen, simt_load_acquire_dev_u64(g->word));
}

/* From where its page is now. Returns 0 if that takes a pin, or the page went meanwhile. */
SIMT_INLINE_FN int gn__chunk_at_once(const struct gn__job *j, const uint64_t *entry, uint32_t run,
                                     const struct gn__chunk *p, uint32_t done)
{
	const struct gn_array *a = &j->array;
	struct gn_hold g;

	if (a->memory) {
		gn__chunk_out(j, entry, run, a->memory + p->from, done, p->bytes);
		return 1;
	}
	g = gn__page_snapshot(&a->pages, p->page, GN__ACQUIRE);
	if (g.seen & GN__WORD_VALID) {
		gn__page_touch(&g, g.seen);
		gn__chunk_out(j, entry, run, g.data + p->at, done, p->bytes);
		simt_fence_acq_rel_dev(); /* the loads stay before the second look (A5) */
		if (!gn__word_validate(g.seen, simt_load_relaxed_dev_u64(g.word)))
			return 0;
		if (gn__lane_at(j) == 0)
			gn__count_hits(&a->pages, 1);
		return 1;
	}
	if (!j->memory || (g.seen & GN__WORD_PARTIAL && !gn__chunk_is_absent(a, &g, p)))
		return 0;
	/* A set without the page was looked through without an acquire (pairs with R6). */
	if (!a->pages.word)
		simt_fence_acq_rel_dev();
	gn__chunk_out(j, entry, run, j->memory + p->from, done, p->bytes);
	if (gn__lane_at(j) == 0)
		gn__count_bypass(a);
	return 1;
}

/* A run of entries that want one row, or none. Collective over the warp, whatever its lanes have. */
SIMT_FN void gn__gather_row(const struct gn__job *j, const uint64_t *entry, uint32_t run)
{
	const uint64_t row = run ? gn__entry_row(j, *entry) : 0;
	uint32_t done = run ? 0 : j->row_bytes;

	if (simt_unlikely(j->array.sample != 0) && run)
		SIMT_COLD(gn__row_note)(j, row);
	while (simt_ballot(gn__whole_warp(), done < j->row_bytes)) {
		const int wants = done < j->row_bytes;
		const struct gn__chunk p = gn__chunk_of(j, row, wants ? done : 0);
		const int slow = wants && !gn__chunk_at_once(j, entry, run, &p, done);

		if (simt_unlikely(simt_ballot(gn__whole_warp(), slow)))
			SIMT_COLD(gn__chunk_slowly)(j, entry, run, &p, done, slow);
		done += wants ? p.bytes : 0;
	}
}

/* ---- scatter ---- */

/* Is entry k the last of its row? */
SIMT_FN int gn__is_last(const struct gn__job *j, const uint64_t *entry, uint64_t count, uint64_t k)
{
	const uint64_t here = entry[k];

	return here != GN__NO_ENTRY &&
	       (k + 1 == count || entry[k + 1] >> j->position_bits != here >> j->position_bits);
}

/* Into the array's memory, or a frame, where a scalar read may look at any time. */
SIMT_FN void gn__chunk_in(const struct gn__job *j, char *to, const char *from, uint32_t bytes)
{
	for (uint32_t at = gn__lane_at(j); at < bytes; at += gn__lane_step(j))
		gn__store_element(to + at, from + at, j->unit);
}

/* No frame could be had: unit by unit, wherever they are; or the page cannot be written. */
SIMT_NOINLINE_FN void gn__chunk_in_bypass(const struct gn__job *j, const struct gn__chunk *p,
                                          const char *from, struct gn_store_status status)
{
	for (uint32_t at = gn__lane_at(j); at < p->bytes; at += gn__lane_step(j)) {
		struct gn__request request = {GN__WRITES, 0, p->at + at, j->unit, {0, 0}};
		struct gn_store_status written = status;

		memcpy(request.bits, from + at, j->unit);
		if (status.code == -GN_ENOBUFS)
			written = gn_cache_access(j->array.pages.cache, p->page, request).status;
		if (written.code)
			gn__fail(&j->array, (p->from + at) >> j->array.element_log2, written);
	}
}

/* The lanes of the caller's group. */
SIMT_FN uint32_t gn__group_mask(const struct gn__job *j)
{
	const uint32_t all = j->lanes == 32 ? 0xffffffffu : (1u << j->lanes) - 1;

	return all << (simt_lane() & ~(j->lanes - 1));
}

/* Lanes that write chunks of one page, and what they reach of it. */
struct gn__row_writers {
	uint32_t lanes;
	struct gn__reach reach;
};

/* Whole sectors are covered only if each group is here with all its lanes. Collective over the warp. */
SIMT_FN struct gn__row_writers gn__row_writers_of(const struct gn__job *j, const struct gn__chunk *p,
                                                  int wants)
{
	const struct gn_cache_view *c = j->array.pages.cache;
	const uint32_t inside = (1u << c->sector_log2) - 1, mask = gn__whole_warp();
	const uint32_t mine = wants ? gn__sectors(c, p->at, p->at + p->bytes) : 0;
	struct gn__row_writers w;
	uint32_t missing; /* sectors are written in part, or a group is not whole */

	w.lanes = gn__wanting(wants, p);
	w.reach.touched = w.reach.covered = 0;
	missing = !c->sector || (p->at | (p->at + p->bytes)) & inside || gn__group_mask(j) & ~w.lanes;
	for (uint32_t left = simt_ballot(mask, wants); left; left &= left - 1) {
		const uint32_t lane = simt_first_lane(left);
		const uint32_t theirs = simt_shfl_u32(mask, mine, lane);
		const uint32_t partly = simt_shfl_u32(mask, missing, lane);

		if (w.lanes >> lane & 1) {
			w.reach.touched |= theirs;
			missing |= partly;
		}
	}
	w.reach.covered = missing ? 0 : w.reach.touched;
	return w;
}

/* Where pages come by sectors, what is written in part must be there, and the rest need not. */
SIMT_FN struct gn__claim gn__writers_claim(const struct gn_cache_view *c, uint64_t page,
                                           const struct gn__reach *reach)
{
	const uint32_t needed = reach->covered || gn__by_sectors(c, page) ? reach->touched : 0xffffffffu;
	struct gn__claim k = gn__claim_init(page, reach->covered ? GN__COVER : GN_WRITE, needed);

	k.dirties = reach->touched;
	return k;
}

/* As gn__chunk_slowly: each group is done with its page before the next round. */
SIMT_NOINLINE_FN void gn__chunk_write(const struct gn__job *j, const struct gn__chunk *p, const char *from,
                                      int wants)
{
	const struct gn_cache_view *c = j->array.pages.cache;
	const uint32_t mask = gn__whole_warp();
	const struct gn__row_writers w = gn__row_writers_of(j, p, wants);
	const uint32_t leader = simt_first_lane(w.lanes);
	struct gn__claim k = gn__writers_claim(c, p->page, &w.reach);
	struct gn_store_status status;
	int served = 0, hit, more;
	uint32_t frame;

	gn__claim_begin(c, mask, wants && simt_lane() == leader, &k);
	do {
		more = gn__claim_round(c, mask, &k, 0);
		hit = simt_shfl_u32(mask, k.step == GN__STEP_HIT, leader) && wants && !served;
		served |= hit;
		frame = simt_shfl_u32(mask, k.frame, leader);
		if (hit)
			gn__chunk_in(j, gn__frame(c, frame) + p->at, from, p->bytes);
		if (simt_ballot(mask, hit))
			gn__groups_done(c, mask, w.lanes, hit, &k);
	} while (more);
	gn__claim_end(c, mask, &k);
	status = gn__store_share(mask, leader, k.status);
	if (wants && !served)
		gn__chunk_in_bypass(j, p, from, status);
}

/* The row of an entry, or none. Collective over the warp, whatever its lanes have. */
SIMT_FN void gn__scatter_row(const struct gn__job *j, const uint64_t *entry, int is_mine)
{
	const char *from = is_mine ? j->rows + gn__entry_position(j, *entry) * j->row_bytes : j->rows;
	const uint64_t row = is_mine ? gn__entry_row(j, *entry) : 0;
	uint32_t done = is_mine ? 0 : j->row_bytes;

	if (simt_unlikely(j->array.sample != 0) && is_mine)
		SIMT_COLD(gn__row_note)(j, row);
	while (simt_ballot(gn__whole_warp(), done < j->row_bytes)) {
		const int wants = done < j->row_bytes;
		const struct gn__chunk p = gn__chunk_of(j, row, wants ? done : 0);

		if (!j->array.memory)
			gn__chunk_write(j, &p, from + done, wants);
		else if (wants)
			gn__chunk_in(j, j->array.memory + p.from, from + done, p.bytes);
		done += wants ? p.bytes : 0;
	}
}

/* ---- both ---- */

/* Move the row of entry k, if there is one and it is this group's to move. Collective over the warp. */
SIMT_FN void gn__move_row(const struct gn__job *j, const uint64_t *entry, uint64_t k)
{
	if (!j->is_scatter)
		gn__gather_row(j, entry + k, k < j->count ? gn__run_at(j, entry, j->count, k) : 0);
	else
		gn__scatter_row(j, entry + k, k < j->count && gn__is_last(j, entry, j->count, k));
}

/*
 * Move the rows of a job's sorted entries. Whole warps; each takes what comes next, a few rows for each of
 * its groups, so that all of them stay near each other however fast some are: what is read at a time is
 * within the device's reach of translations. @next  0 when the first warp comes; a block on its own has it in
 * its shared memory. Waits where pages are fetched.
 */
SIMT_FN void gn__move_rows(const struct gn__job *j, const uint64_t *entry, uint64_t *next)
{
	const uint32_t groups = simt_warp_width() / j->lanes;

	for (;;) {
		uint64_t first = simt_lane() == 0 ? simt_add_relaxed_any_u64(next, groups * GN__TURNS) : 0;

		first = simt_shfl_u64(gn__whole_warp(), first, 0);
		if (first >= j->count)
			break;
		for (uint32_t turn = 0; turn < GN__TURNS; turn++)
			gn__move_row(j, entry, first + turn * groups + simt_lane() / j->lanes);
	}
}

/* A row that lies in one page, if that takes no pin. Returns 1 or 0. */
SIMT_INLINE_FN int gn__gather_at_once(const struct gn__job *j, uint64_t entry)
{
	const struct gn__chunk p = gn__chunk_of(j, gn__entry_row(j, entry), 0);

	return p.bytes == j->row_bytes && gn__chunk_at_once(j, &entry, 1, &p, 0);
}

SIMT_NOINLINE_FN void gn__gather_left(const struct gn__job *j, uint64_t entry, int left)
{
	gn__gather_row(j, &entry, (uint32_t)left);
}

/*
 * Bring a row near, from where it probably is. Of a long one the beginning: a cpu then sees by itself where
 * it goes on.
 */
SIMT_FN void gn__gather_soon(const struct gn__job *j, uint64_t row)
{
	const struct gn_array *a = &j->array;
	const uint64_t from = row * j->row_bytes, address = a->base + from;
	const uint32_t most = GN__SOON_BYTES, some = j->row_bytes < most ? j->row_bytes : most;
	const uint32_t soon = j->row_bytes > 2 * most ? 1 : some;
	const char *there = j->memory + from;
	struct gn_hold h;

	if (simt_unlikely(row >= j->most))
		return;
	if (a->pages.word && !a->memory) {
		h = gn__page_snapshot_direct(&a->pages, gn__page_number(&a->pages, address), GN__OLD);
		there = h.seen & GN__WORD_HELD ? h.data + gn__page_offset(&a->pages, address) : there;
	}
	for (uint32_t at = 0; at < soon; at += 64)
		simt_prefetch_read(there + at);
}

/*
 * Read the rows of a job in the order of the batch, without a sort and without a note of what is read: what a
 * cpu does best, which has its own caches in front of memory and looks an address up at no great cost. Whole
 * warps; each has a part of the batch. Waits where pages are fetched.
 */
SIMT_FN void gn__move_as_they_come(const struct gn__job *shared)
{
	/* by its own copy a compiler knows that no row changes it */
	const struct gn__job job = *shared, *j = &job;
	const uint32_t width = simt_warp_width(), groups = width / j->lanes, group = simt_lane() / j->lanes;
	const uint64_t warps = simt_global_threads() / width, warp = simt_global_thread() / width;
	const uint64_t part = (j->count + warps - 1) / warps, begin = warp * part;
	const uint64_t end = begin + part < j->count ? begin + part : j->count;

	for (uint64_t first = begin; first < end; first += groups) {
		const uint64_t k = first + group;
		const uint64_t entry = k < end ? gn__entry_of(j, k, gn__lane_at(j) == 0) : GN__NO_ENTRY;
		const int left = entry != GN__NO_ENTRY && !gn__gather_at_once(j, entry);

		if (k + GN__SOON < end)
			gn__gather_soon(j, j->index[k + GN__SOON]);
		if (simt_unlikely(simt_ballot(gn__whole_warp(), left)))
			SIMT_COLD(gn__gather_left)(shared, entry, left);
	}
}

#endif
