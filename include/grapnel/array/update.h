/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array/update.h - what writing and changing an element have in common where the page is at hand.
 */
#ifndef GRAPNEL_ARRAY_UPDATE_H
#define GRAPNEL_ARRAY_UPDATE_H

#include <grapnel/array/look.h>

/* Lanes that update elements of one page, among those that came together. */
struct gn__updaters {
	uint32_t mask;  /* all that came */
	uint32_t lanes; /* those of the caller's page */
	uint64_t page;
	uint32_t at;    /* the caller's element */
	struct gn__reach reach;
};

/* Collective over the lanes that are together. Every exchange is between all of them (see gn__access_together). */
SIMT_FN struct gn__updaters gn__updaters_of(const struct gn_array *a, uint64_t address, uint32_t size)
{
	struct gn__updaters u;

	u.mask = simt_active();
	u.page = address >> a->page_log2;
	u.at = (uint32_t)address & ((1u << a->page_log2) - 1);
	u.lanes = gn__same_page(a, u.mask, u.page);
	u.reach = gn__sector_reach(a->cache, u.mask, u.lanes, u.at, size);
	return u;
}

/* The page of a group, pinned; what it holds in the first lane, and where the bytes are in all. */
struct gn__grip {
	uint64_t *word;
	char *data; /* NULL: it is not at hand */
	uint32_t frame;
	uint32_t owned; /* sectors that the group brings */
};

/* One lane, for its group: pin the page if it is in its frame, with what the group needs of it. */
SIMT_FN struct gn__grip gn__update_grip(const struct gn_array *a, const struct gn__updaters *u, uint32_t covered)
{
	const struct gn__glimpse g = gn__look(a, u->page);
	struct gn__grip grip = {0, 0, 0, 0};

	if (!(g.seen & GN_WORD_HELD) || g.seen & GN_WORD_BUSY || (g.seen & GN_WORD_PINS) == GN_WORD_PINS)
		return grip;
	grip.word = (uint64_t *)(uintptr_t)g.word;
	if (simt_cas_acquire_dev_u64(grip.word, g.seen, (g.seen | GN_WORD_REF | GN_WORD_DIRTY) + GN_WORD_PIN) != g.seen)
		return grip;
	grip.frame = (uint32_t)((size_t)(g.data - a->frame) >> a->page_log2);
	if (g.seen & GN_WORD_VALID) {
		gn__sector_dirty(a->cache, grip.frame, u->reach.touched);
	} else if (!u->reach.touched ||
		   !gn__sector_try_write(a->cache, grip.frame, u->reach.touched, covered != 0, &grip.owned)) {
		gn__unpin_word(grip.word);
		return grip;
	}
	grip.data = (char *)(uintptr_t)g.data;
	gn__count_hits(a, simt_popcount(u->lanes));
	return grip;
}

/*
 * Pin the page of each group if it is at hand. The first lane looks and takes the pin for all. Collective; ended by
 * gn__update_end. @covered  sectors that the group overwrites whole, at once: they need not be there
 */
SIMT_FN struct gn__grip gn__update_begin(const struct gn_array *a, const struct gn__updaters *u, uint32_t covered)
{
	const uint32_t leader = simt_first_lane(u->lanes);
	struct gn__grip grip = {0, 0, 0, 0};

	if (simt_lane() == leader)
		grip = gn__update_grip(a, u, covered);
	grip.data = (char *)(uintptr_t)simt_shfl_u64(u->mask, (uint64_t)(uintptr_t)grip.data, leader);
	grip.frame = simt_shfl_u32(u->mask, grip.frame, leader);
	simt_warp_sync(u->mask);
	return grip;
}

/* The bytes are written: let the pages go. Collective; lanes without a grip take part. */
SIMT_FN void gn__update_end(const struct gn_array *a, const struct gn__updaters *u, const struct gn__grip *grip)
{
	simt_warp_sync(u->mask);
	if (grip->data && simt_lane() == simt_first_lane(u->lanes))
		gn__written(a->cache, grip->word, grip->frame, grip->owned);
}

#endif
