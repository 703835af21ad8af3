/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/array/gather_rows.h - moves the rows of sorted entries in the order of their addresses. A group of
 * lanes moves a row.
 *
 * A row to gather is loaded once for all entries that name it, up to GN__RUN; another group loads it for
 * further entries. If its page is in a frame, the row is loaded from there, and the page's word is validated
 * behind the loads. If the page is not in a frame and loads reach the store, the row is loaded from the
 * store: the page was absent after the batch began, so the store has every write from before the batch. In
 * all other cases the page is pinned.
 */
#ifndef GRAPNEL_ARRAY_GATHER_ROWS_H
#define GRAPNEL_ARRAY_GATHER_ROWS_H

#include <grapnel/detail/array/gather_sort.h>
#include <grapnel/detail/array/read.h>
#include <grapnel/detail/array/sample.h>

enum { GN__RUN = 64, GN__AT_ONCE = 4, GN__TURNS = 4 };
/* on cpu: how many rows ahead a row is prefetched, and how many bytes of it */
enum { GN__SOON = 16, GN__SOON_BYTES = 512 };

/* ---- units ---- */

/* Load a unit by an atomic load, because another thread may change it at the same time. */
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

/* ---- chunks: the part of a row that lies in one page ---- */

struct gn__chunk {
	uint64_t page;
	uint64_t from;  /* bytes from element 0 */
	uint32_t at;    /* offset in the page, in bytes */
	uint32_t bytes; /* of the chunk */
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

/* Where in a chunk the lane's first unit is, and the bytes that all lanes of its group move at once. */
SIMT_FN uint32_t gn__lane_at(const struct gn__job *j)
{
	return (simt_lane() & (j->lanes - 1)) * j->unit;
}

SIMT_FN uint32_t gn__lane_step(const struct gn__job *j)
{
	return j->lanes * j->unit;
}

/* Note in the sample a row that is moved, once for all entries that name it. */
SIMT_NOINLINE_FN void gn__row_note(const struct gn__job *j, uint64_t row)
{
	const uint64_t elements = j->row_bytes >> j->array.element_log2;

	gn__sample_run(&j->array, simt_lane() & (j->lanes - 1), j->lanes, row * elements, elements,
	               GN__TOUCH_BATCH | (j->is_scatter ? GN__TOUCH_WRITE : 0));
}

/* ---- gather ---- */

/*
 * The number of entries from k on that the group of entry k serves with its row; 0: another group serves k.
 */
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

/* Copy the lane's units of a chunk to every row of the run. unit is a constant at every call. */
SIMT_INLINE_FN void gn__units_out(const struct gn__job *j, const uint64_t *entry, uint32_t run,
                                  const char *from, uint32_t done, uint32_t bytes, uint32_t unit)
{
	const uint32_t step = gn__lane_step(j);

	if (!SIMT_ON_CUDA && run == 1) { /* a cpu overlaps the loads by itself */
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
 * Lanes with a pinned page no longer use it: one lane of each group unpins. Collective over mask, all lanes
 * that came together (see detail/cache/group.h).
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

/*
 * The page of a chunk could not be pinned. If there was no frame (-GN_ENOBUFS), read unit by unit through
 * gn_cache_access. A unit that cannot be read becomes zero, and the array keeps the failure.
 */
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

/* The lanes that want the caller's page; a lane that wants none is alone. Collective over the warp. */
SIMT_FN uint32_t gn__wanting(int wants, const struct gn__chunk *p)
{
	return simt_match_any_u64(simt_whole_warp(), wants ? p->page : ~(uint64_t)0 - simt_lane());
}

/*
 * Read chunks through pins: one pin for the lanes that want the same page, and all pages are in flight
 * together. Each group unpins its page before the next round, so that it holds nothing while other groups
 * wait. Collective over the whole warp, also for lanes that want no page.
 */
SIMT_NOINLINE_FN void gn__chunk_slowly(const struct gn__job *j, const uint64_t *entry, uint32_t run,
                                       const struct gn__chunk *p, uint32_t done, int wants)
{
	const struct gn_cache_view *c = j->array.pages.cache;
	const uint32_t mask = simt_whole_warp(), lanes = gn__wanting(wants, p),
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

/*
 * Are all sectors of a chunk absent from the frame, so that the store has the newest bytes? An acquire of the
 * sector word.
 */
SIMT_FN int gn__chunk_is_absent(const struct gn_array *a, const struct gn_hold *g, const struct gn__chunk *p)
{
	const uint64_t seen =
	    simt_load_acquire_dev_u64(&a->pages.cache->sector[gn__page_frame(&a->pages, g)]);

	return !(((uint32_t)seen | (uint32_t)(seen >> 32)) &
	         gn__sectors(a->pages.cache, p->at, p->at + p->bytes)) &&
	       /* if the word has changed, the sector word may be another page's */
	       gn__word_validate(g->seen, simt_load_acquire_dev_u64(g->word));
}

/* Read a chunk without a pin. Returns 1, or 0: it takes a pin, or the page left its frame meanwhile. */
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
		simt_fence_acq_rel_dev(); /* the loads stay before the second load of the word (A5) */
		if (!gn__word_validate(g.seen, simt_load_relaxed_dev_u64(g.word)))
			return 0;
		if (gn__lane_at(j) == 0)
			gn__count_hits(&a->pages, 1);
		return 1;
	}
	if (!j->memory || (g.seen & GN__WORD_PARTIAL && !gn__chunk_is_absent(a, &g, p)))
		return 0;
	/* A search that finds no word in the set is no acquire; the fence makes it one (pairs with R6). */
	if (!a->pages.word)
		simt_fence_acq_rel_dev();
	gn__chunk_out(j, entry, run, j->memory + p->from, done, p->bytes);
	if (gn__lane_at(j) == 0)
		gn__count_bypass(a);
	return 1;
}

/* Move one row to the `run` entries that want it; run may be 0. Collective over the whole warp. */
SIMT_FN void gn__gather_row(const struct gn__job *j, const uint64_t *entry, uint32_t run)
{
	const uint64_t row = run ? gn__entry_row(j, *entry) : 0;
	uint32_t done = run ? 0 : j->row_bytes;

	if (simt_unlikely(j->array.sample != 0) && run)
		SIMT_COLD(gn__row_note)(j, row);
	while (simt_ballot(simt_whole_warp(), done < j->row_bytes)) {
		const int wants = done < j->row_bytes;
		const struct gn__chunk p = gn__chunk_of(j, row, wants ? done : 0);
		const int slow = wants && !gn__chunk_at_once(j, entry, run, &p, done);

		if (simt_unlikely(simt_ballot(simt_whole_warp(), slow)))
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

/*
 * Store a chunk to the array's memory or a frame, atomically, because a scalar read may load it at any time.
 */
SIMT_FN void gn__chunk_in(const struct gn__job *j, char *to, const char *from, uint32_t bytes)
{
	for (uint32_t at = gn__lane_at(j); at < bytes; at += gn__lane_step(j))
		gn__store_element(to + at, from + at, j->unit);
}

/*
 * The page of a chunk could not be pinned. If there was no frame (-GN_ENOBUFS), write unit by unit through
 * gn_cache_access. The array keeps a failure.
 */
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

/* The lanes that move the caller's row. */
SIMT_FN uint32_t gn__group_mask(const struct gn__job *j)
{
	const uint32_t all = j->lanes == 32 ? 0xffffffffu : (1u << j->lanes) - 1;

	return all << (simt_lane() & ~(j->lanes - 1));
}

/* The lanes that write chunks of one page, and the sectors that they write. */
struct gn__row_writers {
	uint32_t lanes;
	struct gn__reach reach;
};

/* Sectors are covered only if all lanes of each row's group are here. Collective over the warp. */
SIMT_FN struct gn__row_writers gn__row_writers_of(const struct gn__job *j, const struct gn__chunk *p,
                                                  int wants)
{
	const struct gn_cache_view *c = j->array.pages.cache;
	const uint32_t inside = (1u << c->sector_log2) - 1, mask = simt_whole_warp();
	const uint32_t mine = wants ? gn__sectors(c, p->at, p->at + p->bytes) : 0;
	struct gn__row_writers w;
	uint32_t missing; /* not 0: sectors are written in part, or lanes of a group are missing */

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

/* If the page is fetched by sectors, only sectors that are written in part must be fetched first. */
SIMT_FN struct gn__claim gn__writers_claim(const struct gn_cache_view *c, uint64_t page,
                                           const struct gn__reach *reach)
{
	const uint32_t needed = reach->covered || gn__by_sectors(c, page) ? reach->touched : 0xffffffffu;
	struct gn__claim k = gn__claim_init(page, reach->covered ? GN__COVER : GN_WRITE, needed);

	k.dirties = reach->touched;
	return k;
}

/* Write chunks through pins, as gn__chunk_slowly reads them. */
SIMT_NOINLINE_FN void gn__chunk_write(const struct gn__job *j, const struct gn__chunk *p, const char *from,
                                      int wants)
{
	const struct gn_cache_view *c = j->array.pages.cache;
	const uint32_t mask = simt_whole_warp();
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

/* Write the row of an entry if is_mine is 1. Collective over the whole warp. */
SIMT_FN void gn__scatter_row(const struct gn__job *j, const uint64_t *entry, int is_mine)
{
	const char *from = is_mine ? j->rows + gn__entry_position(j, *entry) * j->row_bytes : j->rows;
	const uint64_t row = is_mine ? gn__entry_row(j, *entry) : 0;
	uint32_t done = is_mine ? 0 : j->row_bytes;

	if (simt_unlikely(j->array.sample != 0) && is_mine)
		SIMT_COLD(gn__row_note)(j, row);
	while (simt_ballot(simt_whole_warp(), done < j->row_bytes)) {
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

/*
 * Move the row of entry k if there is such an entry and this group has to move it. Collective over the warp.
 */
SIMT_FN void gn__move_row(const struct gn__job *j, const uint64_t *entry, uint64_t k)
{
	if (!j->is_scatter)
		gn__gather_row(j, entry + k, k < j->count ? gn__run_at(j, entry, j->count, k) : 0);
	else
		gn__scatter_row(j, entry + k, k < j->count && gn__is_last(j, entry, j->count, k));
}

/*
 * Move the rows of a job's sorted entries. Called by whole warps. Each warp takes the next entries from a
 * common counter, GN__TURNS rows for each of its groups. So all warps stay near each other, also if some are
 * faster, and the addresses that are read at one time fit the device's address translation caches. Waits for
 * pages that are fetched.
 * @next  the counter, 0 when the first warp comes; in shared memory if a block works alone
 */
SIMT_FN void gn__move_rows(const struct gn__job *j, const uint64_t *entry, uint64_t *next)
{
	const uint32_t groups = simt_warp_width() / j->lanes;

	for (;;) {
		uint64_t first = simt_lane() == 0 ? simt_add_relaxed_any_u64(next, groups * GN__TURNS) : 0;

		first = simt_shfl_u64(simt_whole_warp(), first, 0);
		if (first >= j->count)
			break;
		for (uint32_t turn = 0; turn < GN__TURNS; turn++)
			gn__move_row(j, entry, first + turn * groups + simt_lane() / j->lanes);
	}
}

/* Gather a row that lies in one page, if that takes no pin. Returns 1 or 0. */
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
 * Prefetch a row from where it probably is. Of a long row only the beginning is prefetched: the cpu's own
 * prefetcher continues.
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
 * Gather the rows of a job in the order of the batch, without a sort; the array has no sample. This is
 * fastest on a cpu, which has caches of its own in front of memory and translates an address at little cost.
 * Called by whole warps; each has a part of the batch. Waits for pages that are fetched.
 */
SIMT_FN void gn__move_as_they_come(const struct gn__job *shared)
{
	/* a copy: the compiler then knows that no store to a row changes it */
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
		if (simt_unlikely(simt_ballot(simt_whole_warp(), left)))
			SIMT_COLD(gn__gather_left)(shared, entry, left);
	}
}

#endif
