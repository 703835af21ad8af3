/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/cache/move.h - moves pages between frames and stores: the lanes of a warp move the sectors of many
 * pages together.
 */
#ifndef GRAPNEL_CACHE_MOVE_H
#define GRAPNEL_CACHE_MOVE_H

#include <grapnel/detail/cache/sector.h>
#include <grapnel/detail/cache/table.h>
#include <grapnel/detail/cache/view.h>

/* Where a page lies in its store, in bytes. */
struct gn__extent {
	const struct gn_store_view *store;
	uint64_t offset;
	uint32_t bytes; /* the page size, or less for the last page of a store */
};

SIMT_FN struct gn__extent gn__extent_of(const struct gn_cache_view *c, uint64_t page)
{
	const struct gn_cache_segment *segment = gn__segment_of(c, page);
	struct gn__extent e;
	uint64_t rest;

	e.store = &segment->store;
	e.offset = (page - segment->first_page) << c->page_log2;
	rest = segment->store.capacity_bytes - e.offset;
	e.bytes = rest < 1u << c->page_log2 ? (uint32_t)rest : 1u << c->page_log2;
	return e;
}

/* All sectors that a page has. */
SIMT_FN uint32_t gn__sectors_of(const struct gn_cache_view *c, const struct gn__extent *e)
{
	return gn__sectors(c, 0, e->bytes);
}

SIMT_FN uint32_t gn__page_sectors(const struct gn_cache_view *c, uint64_t page)
{
	const struct gn__extent e = gn__extent_of(c, page);

	return gn__sectors_of(c, &e);
}

/* What one lane has to move: the sectors `left` of a page in a frame. */
struct gn__move {
	struct gn__extent extent;
	char *frame;
	uint32_t left;
	uint32_t to_store;
	struct gn_store_status status;
	uint64_t moved; /* bytes */
};

/* A run of adjacent sectors, in bytes from the start of the page. */
struct gn__run {
	uint32_t at, bytes;
};

/* Take the first run of adjacent sectors from left. */
SIMT_FN struct gn__run gn__move_next(const struct gn_cache_view *c, struct gn__move *m)
{
	const uint32_t first = simt_first_lane(m->left);
	const uint32_t gaps = ~(m->left >> first); /* where the run ends */
	const uint32_t many = gaps ? simt_first_lane(gaps) : 32;
	const uint32_t end = (first + many) << c->sector_log2;
	struct gn__run run;

	run.at = first << c->sector_log2;
	run.bytes = (end < m->extent.bytes ? end : m->extent.bytes) - run.at;
	m->left &= ~((many == 32 ? 0xffffffffu : (1u << many) - 1) << first);
	return run;
}

/* Move one run of each lane that has one in store s. Collective; s is the same for all lanes. */
SIMT_FN void gn__move_runs(const struct gn_store_view *s, uint32_t mask, int wants, struct gn__move *m,
                           const struct gn__run *run)
{
	const uint64_t offset = m->extent.offset + run->at;
	struct gn_store_status status =
	    m->to_store ? gn_store_write_warp(s, mask, wants, offset, m->frame + run->at, run->bytes)
	                : gn_store_read_warp(s, mask, wants, offset, m->frame + run->at, run->bytes);

	if (!wants)
		return;
	m->status = status;
	m->moved += status.code ? 0 : run->bytes;
	m->left = status.code ? 0 : m->left;
}

/* The move of a lane that has no bytes of its own to move. */
SIMT_FN struct gn__move gn__move_none(int to_store)
{
	struct gn__move m;

	memset(&m, 0, sizeof m);
	m.to_store = (uint32_t)to_store;
	return m;
}

/* The move of these sectors of a page; sectors past the end of the store are left out. */
SIMT_FN struct gn__move gn__move_of(const struct gn_cache_view *c, uint64_t page, uint32_t frame,
                                    uint32_t sectors, int to_store)
{
	struct gn__move m = gn__move_none(to_store);

	m.extent = gn__extent_of(c, page);
	m.frame = gn__frame(c, frame);
	m.left = sectors & gn__sectors_of(c, &m.extent);
	return m;
}

SIMT_FN uint32_t gn__move_frame(const struct gn_cache_view *c, const struct gn__move *m)
{
	return (uint32_t)((size_t)(m->frame - c->frame) >> c->page_log2);
}

/* The bit of the page's segment in gn_cache_shared.full. */
SIMT_FN uint64_t gn__full_bit(const struct gn_cache_view *c, uint64_t page)
{
	return 1ull << (gn__segment_of(c, page) - c->segment);
}

/*
 * A page could not be written. `kept` counts the page once, however often its write fails; the other counters
 * count each failure.
 */
SIMT_FN void gn__note_write_failure(const struct gn_cache_view *c, uint64_t page, const struct gn__move *m)
{
	const uint32_t frame = gn__move_frame(c, m);
	const uint64_t bit = 1ull << frame % 64;
	struct gn_cache_shared *s = c->shared;

	simt_reduce_add_relaxed_dev_u32(&s->write_failures, 1);
	if (m->status.code == -GN_ENOSPC)
		simt_or_acq_rel_dev_u64(&s->full, gn__full_bit(c, page));
	if (!s->write_failure)
		return;
	if (c->kept && !(simt_or_acq_rel_dev_u64(&c->kept[frame / 64], bit) & bit))
		simt_reduce_add_relaxed_dev_u32(&s->write_failure->kept, 1);
	gn__cache_fail(s->write_failure, page, m->status);
}

/* A page was written, in a cache in which writes have failed: undo the notes of an earlier failure of it. */
SIMT_NOINLINE_FN void gn__note_written(const struct gn_cache_view *c, uint64_t page, uint32_t frame)
{
	const uint64_t bit = 1ull << frame % 64;
	struct gn_cache_shared *s = c->shared;

	if (gn__is_full(c, page))
		simt_and_acq_rel_dev_u64(&s->full, ~gn__full_bit(c, page));
	if (c->kept && simt_load_relaxed_dev_u64(&c->kept[frame / 64]) & bit) {
		simt_and_acq_rel_dev_u64(&c->kept[frame / 64], ~bit);
		simt_reduce_add_relaxed_dev_u32(&s->write_failure->kept, (uint32_t)-1);
	}
}

SIMT_FN void gn__count_moved(const struct gn_cache_view *c, const struct gn__move *m)
{
	struct gn_cache_statistics *stripe = gn__stripe(c);

	gn__count_u64(m->to_store ? &stripe->written : &stripe->fetched, 1);
	gn__count_u64(m->to_store ? &stripe->written_bytes : &stripe->fetched_bytes, m->moved);
}

/*
 * Move what every lane of mask has left. Collective; to_store is the same for all lanes. Pages may be of
 * different stores. The pages of one store are in flight together. A failed write of `page` is noted.
 */
SIMT_FN void gn__move_all(const struct gn_cache_view *c, uint32_t mask, uint64_t page, struct gn__move *m)
{
	uint32_t wanting = simt_ballot(mask, m->left != 0);

	while (wanting) {
		struct gn__run run = {0, 0};
		uint32_t todo = wanting;

		if (m->left)
			run = gn__move_next(c, m);
		while (todo) {
			const uint64_t mine = (uint64_t)(uintptr_t)m->extent.store;
			const uint64_t store = simt_shfl_u64(mask, mine, simt_first_lane(todo));
			const int wants = run.bytes && mine == store;

			todo &= ~simt_ballot(mask, wants);
			gn__move_runs((const struct gn_store_view *)(uintptr_t)store, mask, wants, m, &run);
		}
		wanting = simt_ballot(mask, m->left != 0);
	}
	if (m->to_store && m->status.code)
		gn__note_write_failure(c, page, m);
	else if (m->to_store && m->moved &&
	         simt_unlikely(simt_load_relaxed_dev_u32(&c->shared->write_failures) != 0))
		SIMT_COLD(gn__note_written)(c, page, gn__move_frame(c, m));
	if (c->stripe && m->moved && !m->status.code)
		gn__count_moved(c, m);
}

#endif
