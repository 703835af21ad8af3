/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/cache/group.h - groups: lanes of one call that want the same page. One of them acts on the page's
 * word for all.
 *
 * All lanes of the call take part in every exchange, with one mask, even if only one group needs it. If
 * groups exchanged values among themselves, each with a mask of its own, they would go on one after the
 * other, and the lanes might not be together at the next exchange.
 */
#ifndef GRAPNEL_CACHE_GROUP_H
#define GRAPNEL_CACHE_GROUP_H

#include <grapnel/detail/cache/element.h>
#include <grapnel/detail/cache/page.h>
#include <grapnel/detail/cache/sector.h>

/*
 * Lanes write elements of one page. If they are side by side, as in a warp that writes an array in order,
 * the group knows which run of sectors it writes, and whether it overwrites it whole: then the run need not
 * be fetched. Otherwise each lane marks its own sectors.
 */
struct gn__reach {
	uint32_t touched; /* 0: each lane for itself */
	uint32_t covered; /* touched, or 0 */
};

/* Lanes that want something of one page, among those that came together. */
struct gn__group {
	uint32_t mask;          /* all that came together */
	uint32_t lanes;         /* those of the caller's page */
	uint32_t leader;        /* the first of these */
	uint32_t by_sectors;    /* the page is fetched by sectors, and the lanes want one of them */
	struct gn__reach reach; /* of those that write; the sector of those that read */
};

/*
 * Collective over mask; lanes are those of the caller's page, `at` is where in it the caller writes size
 * bytes. All lanes of mask take part in every exchange, also such as is of interest to one group only: see
 * gn__access_together.
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

/* A lane of a group that writes here and there: its page is pinned, its bytes are about to change. */
SIMT_FN void gn__group_touch(const struct gn_cache_view *c, const struct gn__reach *r, uint32_t frame,
                             uint32_t at, uint32_t size)
{
	if (!r->touched)
		gn__sector_dirty(c, frame, gn__sectors(c, at, at + size));
}

/*
 * Those of mask whose elements have the caller's size and lie in the caller's page of one cache. Collective.
 * With a direct table the address of the page's word says which page of which cache, and its lowest bits are
 * free for the size.
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

/* The lanes that are together and write or change size bytes at `at` of a page each. Collective over them. */
SIMT_FN struct gn__group gn__group_writers(const struct gn__pages *p, uint64_t page, uint32_t at,
                                           uint32_t size)
{
	const uint32_t mask = simt_active(), lanes = gn__group_lanes(p, mask, page, size);
	const struct gn__group g = {mask, lanes, simt_first_lane(lanes), 0,
	                            gn__group_reach(p->cache, mask, lanes, at, size)};

	return g;
}

/*
 * A group's page for writing: pinned, with what the group needs of it. The first lane knows the word and the
 * sectors, all know where the bytes are.
 */
struct gn__written_page {
	struct gn_hold hold; /* data is NULL: it is not at hand */
	uint32_t frame;
	uint32_t owned; /* sectors that the group brings */
};

/*
 * One lane, for its group: pin the page if it has a frame, with the sectors that the group needs. @covers
 * see gn__group_pin
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
 * gn__group_pin - pin the page of each group for writing, if it is at hand. Collective; ended by
 * gn__group_unpin.
 * @covers  1: the group overwrites the sectors of reach.covered whole, at once, so that they need not be
 * there
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

/* gn__group_unpin - the bytes are written: let the pages go. Collective; lanes without a page take part. */
SIMT_FN void gn__group_unpin(const struct gn__pages *p, const struct gn__group *g,
                             const struct gn__written_page *w)
{
	simt_warp_sync(g->mask);
	if (w->hold.data && simt_lane() == g->leader)
		gn__page_written(p->cache, w->hold.word, w->frame, w->owned);
}

#endif
