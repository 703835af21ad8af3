/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/cache/group.h - groups: lanes of one call that want the same page. One lane acts on the page's word
 * for its group.
 *
 * All lanes of the call take part in every exchange, with one mask, even if only one group needs it. If each
 * group exchanged values with a mask of its own, the groups would run one after the other, and the lanes
 * might not be together at the next exchange.
 */
#ifndef GRAPNEL_CACHE_GROUP_H
#define GRAPNEL_CACHE_GROUP_H

#include <grapnel/detail/cache/element.h>
#include <grapnel/detail/cache/page.h>
#include <grapnel/detail/cache/sector.h>

/*
 * The sectors that the lanes of a group write. If the elements of the lanes are adjacent, as in a warp that
 * writes an array in order, the group writes one run of sectors. If it also overwrites all of the run, the
 * run is not fetched. If the elements are not adjacent, each lane marks its own sectors.
 */
struct gn__reach {
	uint32_t touched; /* the run; 0: each lane marks its own sectors */
	uint32_t covered; /* touched if all of it is overwritten, else 0 */
};

/* The caller's group. */
struct gn__group {
	uint32_t mask;   /* all lanes of the call */
	uint32_t lanes;  /* the lanes of the group */
	uint32_t leader; /* the first lane of the group */
	uint32_t
	    by_sectors; /* 1: the page is fetched by sectors, and all lanes of the group want one sector */
	struct gn__reach reach; /* the sectors that the group writes; if it reads by sectors, its sector */
};

/*
 * The reach of the caller's group. Collective over mask, with the one mask (see the top of this file).
 * @lanes  the lanes of the group
 * @at     where in the page the caller writes size bytes
 */
SIMT_FN struct gn__reach gn__group_reach(const struct gn_cache_view *c, uint32_t mask, uint32_t lanes,
                                         uint32_t at, uint32_t size)
{
	const uint32_t first = simt_shfl_u32(mask, at, simt_first_lane(lanes));
	const uint32_t end = first + simt_popcount(lanes) * size, inside = (1u << c->sector_log2) - 1;
	const uint32_t in_line = simt_ballot(mask, at == first + simt_rank(lanes) * size);
	struct gn__reach r = {0, 0};

	if ((in_line & lanes) == lanes) {
		r.touched = gn__sectors(c, first, end);
		r.covered = c->sector && !((first | end) & inside) ? r.touched : 0;
	}
	return r;
}

/*
 * Mark the caller's sectors dirty if the elements of its group are not adjacent. The page is pinned, and the
 * bytes are not yet stored.
 */
SIMT_FN void gn__group_touch(const struct gn_cache_view *c, const struct gn__reach *r, uint32_t frame,
                             uint32_t at, uint32_t size)
{
	if (!r->touched)
		gn__sector_dirty(c, frame, gn__sectors(c, at, at + size));
}

/*
 * The lanes of mask whose elements have the caller's size and lie in the caller's page of the same cache.
 * Collective. In a direct table the address of the page's word identifies page and cache. Its lowest 3 bits
 * are 0 and take the size.
 */
SIMT_FN uint32_t gn__group_lanes(const struct gn__pages *p, uint32_t mask, uint64_t page, uint32_t size)
{
	const uint64_t where = p->word ? (uint64_t)(uintptr_t)&p->word[page] : (uint64_t)(uintptr_t)p->cache;
	uint32_t lanes = simt_match_any_u64(mask, where | gn__size_log2(size)), same;

	if (simt_ballot(mask, !p->word)) {
		same = simt_match_any_u64(mask, page);
		lanes &= p->word ? lanes : same;
	}
	return lanes;
}

/*
 * The caller's group among the active lanes. Each lane writes or changes `size` bytes at `at` of a page.
 * Collective over them.
 */
SIMT_FN struct gn__group gn__group_writers(const struct gn__pages *p, uint64_t page, uint32_t at,
                                           uint32_t size)
{
	const uint32_t mask = simt_active(), lanes = gn__group_lanes(p, mask, page, size);
	const struct gn__group g = {mask, lanes, simt_first_lane(lanes), 0,
	                            gn__group_reach(p->cache, mask, lanes, at, size)};

	return g;
}

/*
 * A group's page, pinned for writing. Only the leader has hold.word and owned; all lanes have hold.data and
 * frame.
 */
struct gn__written_page {
	struct gn_hold hold; /* data is NULL: the page could not be pinned at once */
	uint32_t frame;
	uint32_t owned; /* absent sectors that the group overwrites whole and makes valid */
};

/*
 * The leader of a group: pin the page and prepare the group's sectors, if both can be done at once.
 * @covers  see gn__group_pin
 */
SIMT_FN struct gn__written_page gn__group_try(const struct gn__pages *p, const struct gn__group *g,
                                              uint64_t page, int covers)
{
	const struct gn_hold h = gn__page_snapshot(p, page, GN__ACQUIRE);
	const uint32_t touched = g->reach.touched, frame = gn__page_frame(p, &h);
	struct gn__written_page w = {{0, 0, 0}, 0, 0};

	if (!gn__page_try_pin(h.word, h.seen, GN__WORD_REF | GN__WORD_DIRTY, GN__ACQUIRE))
		return w;
	if (h.seen & GN__WORD_VALID) {
		gn__sector_dirty(p->cache, frame, touched);
	} else if (!touched || !gn__sector_try_write(p->cache, frame, touched, covers, &w.owned)) {
		gn__page_unpin(h.word);
		return w;
	}
	w.hold = h;
	w.frame = frame;
	gn__count_hits(p, simt_popcount(g->lanes));
	return w;
}

/*
 * gn__group_pin - pin the page of each group for writing, if that can be done at once. Collective; ended by
 * gn__group_unpin.
 * @covers  1: the group overwrites all of reach.touched at once, so these sectors may be absent
 */
SIMT_FN struct gn__written_page gn__group_pin(const struct gn__pages *p, const struct gn__group *g,
                                              uint64_t page, int covers)
{
	struct gn__written_page w = {{0, 0, 0}, 0, 0};

	if (simt_lane() == g->leader)
		w = gn__group_try(p, g, page, covers);
	w.hold.data = (char *)(uintptr_t)simt_shfl_u64(g->mask, (uint64_t)(uintptr_t)w.hold.data, g->leader);
	w.frame = simt_shfl_u32(g->mask, w.frame, g->leader);
	simt_warp_sync(g->mask);
	return w;
}

/* gn__group_unpin - the bytes are written: unpin the pages. Collective; lanes without a page take part. */
SIMT_FN void gn__group_unpin(const struct gn__pages *p, const struct gn__group *g,
                             const struct gn__written_page *w)
{
	simt_warp_sync(g->mask);
	if (w->hold.data && simt_lane() == g->leader)
		gn__page_written(p->cache, w->hold.word, w->frame, w->owned);
}

#endif
