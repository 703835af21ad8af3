/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/cache/hand.h - the clock's hands: which frame a search tries next, and which misses search for none.
 *
 * A hand is a counter of places. In rounds, a place modulo the number of frames is the next frame to try. So
 * each page stays for one or two rounds of the hand, and longer if it is used. If a program goes over more
 * data than fit, again and again, every page has left before it is wanted again. For such programs there are
 * two other ways.
 *
 * By windows: the hand goes over a small window of frames many times before it goes on. Most new pages
 * then replace those that came shortly before. The other frames keep their pages for many rounds (bimodal
 * insertion).
 *
 * Around: one of about GN__AROUND reads that miss brings its page in. The others load their element from the
 * store's memory (detail/cache/fault.h). That moves fewest bytes if each line is read once, in a few words.
 *
 * Which way is best shows while a program runs. Three small groups of pages lead; two, if no read can go
 * around. Each has frames and a hand of its own, and works by one of the ways. All other pages follow the
 * group whose fetches and reads around moved clearly the least lately, or rounds (set dueling). The words of
 * pages decide alone whether a frame may be taken, so a wrong choice costs time, and nothing else.
 *
 * In a new or invalidated cache every frame is given out once before a page leaves. (Of threads that race,
 * one may try a frame that was given out before.) So data of as many pages as there are frames stay, whatever
 * groups their pages are in. The first pages of a leading group come into its own frames. By windows they
 * stay there, so a second pass over the data finds them early.
 *
 * Only the direct table has hands. Only GN_CLOCK has groups that lead, and only in a cache of enough frames
 * that is smaller than the stores.
 *
 * Source: Qureshi, Jaleel, Patt, Steely and Emer, "Adaptive insertion policies for high performance caching",
 * 2007, sections 4 and 5, for sets of a processor's cache.
 */
#ifndef GRAPNEL_CACHE_HAND_H
#define GRAPNEL_CACHE_HAND_H

#include <grapnel/detail/cache/table.h>
#include <grapnel/detail/cache/view.h>

enum {
	GN__LAPS = 256,     /* of the hand over a window; fewer in a cache of very many frames */
	GN__AROUND = 1024,  /* reads that miss go around the cache before one does not */
	GN__MOVE_UNITS = 9, /* a transfer counts so much beside its bytes */
	/* A way must be better by so many units, and by this share of its own. */
	GN__MOVED_LEAD = 1024,
	GN__MOVED_LEAD_SHARE = 32,
	/*
	 * Of gn_cache_view.moved_most, within bounds: what eight rounds over the group's frames move if pages
	 * are fetched whole, or four rounds if each sector is fetched alone. Most fetches of a page with
	 * sectors move several, so these caches remember four rounds or more.
	 */
	GN__MOVED_ROUNDS = 8,
	GN__MOVED_ROUNDS_OF_SECTORS = 4,
	GN__MOVED_LEAST = 1 << 15,
	GN__MOVED_LIMIT = 1 << 25,
	GN__HALVINGS = 8,    /* of the counts, from one renewal of the group by windows to the next */
	GN__MOVED_WORSE = 32 /* another way may move so many times as much before all are halved */
};

/*
 * The hand of a page: enum gn_cache_hands. Of each GN__CACHE_GROUPS pages in a row every group has one. So
 * the groups' parts of the data are as their frames; with parts by chance a group fits where the others do
 * not.
 */
SIMT_FN uint32_t gn__hand_of(const struct gn_cache_view *c, uint64_t page)
{
	const uint32_t row = (uint32_t)page / GN__CACHE_GROUPS;
	const uint32_t group = ((uint32_t)page - gn__stir(row * 0x9e3779b9u)) % GN__CACHE_GROUPS;

	return c->leaders && group < c->hands ? group : (uint32_t)GN_FOLLOWERS;
}

/* The number of frames of a hand. The followers' begin at frame 0; those of the leading groups are last. */
SIMT_FN uint32_t gn__hand_frames(const struct gn_cache_view *c, uint32_t hand)
{
	return hand == GN_FOLLOWERS ? c->frames - (c->leaders ? c->hands - 1 : 0) * c->leaders : c->leaders;
}

/* The first of them. */
SIMT_FN uint32_t gn__hand_first(const struct gn_cache_view *c, uint32_t hand)
{
	return hand == GN_FOLLOWERS ? 0 : c->frames - hand * c->leaders;
}

/*
 * The number of places with which a hand begins, in whatever way it works. The followers' hand gives out
 * every frame of the cache that no leading group has taken first. The hand of a leading group goes round its
 * frames twice. While there are new frames, the first round takes those of its own; else a round may only
 * clear REF.
 */
SIMT_FN uint32_t gn__hand_begins(const struct gn_cache_view *c, uint32_t hand)
{
	return hand == GN_FOLLOWERS ? c->frames : 2 * c->leaders;
}

/*
 * Are there perhaps frames that were never given out? The followers' hand gives them out, for every group.
 * (When its counter has wrapped, it seems so for a round.)
 */
SIMT_FN int gn__has_new_frames(const struct gn_cache_view *c)
{
	return simt_load_relaxed_dev_u32(&c->shared->hand[GN_FOLLOWERS].at) <
	       gn__hand_begins(c, GN_FOLLOWERS);
}

/* The number of its own frames that a leading group has taken while they were new. */
SIMT_FN uint32_t gn__hand_taken(const struct gn_cache_view *c, uint32_t hand)
{
	const uint32_t at = simt_load_relaxed_dev_u32(&c->shared->hand[hand].at);

	return at < c->leaders ? at : c->leaders;
}

/* Has a leading group new frames of its own? Not when the followers' hand has come to those of the groups. */
SIMT_FN int gn__has_new_of_own(const struct gn_cache_view *c, uint32_t hand)
{
	return simt_load_relaxed_dev_u32(&c->shared->hand[GN_FOLLOWERS].at) <
	           gn__hand_frames(c, GN_FOLLOWERS) &&
	       gn__hand_taken(c, hand) < c->leaders;
}

/* Of a place of the followers' hand: it, or the next one, if a leading group has taken this new frame. */
SIMT_FN uint32_t gn__new_place(const struct gn_cache_view *c, uint32_t place)
{
	uint32_t *at = &c->shared->hand[GN_FOLLOWERS].at;

	while (c->leaders && place >= gn__hand_frames(c, GN_FOLLOWERS) && place < c->frames) {
		const uint32_t hand = (c->frames - 1 - place) / c->leaders + 1;
		const uint32_t behind = gn__hand_first(c, hand) + gn__hand_taken(c, hand);

		if (place >= behind)
			break;
		/* past all that the group has taken, unless another thread has moved the hand meanwhile */
		simt_cas_relaxed_dev_u32(at, place + 1, behind);
		place = simt_add_relaxed_dev_u32(at, 1);
	}
	return place;
}

/* The way of a hand's pages: enum gn_cache_hands. */
SIMT_FN uint32_t gn__hand_way(const struct gn_cache_view *c, uint32_t hand)
{
	return hand == GN_FOLLOWERS && c->leaders ? simt_load_relaxed_dev_u32(&gn__local(c)->way) : hand;
}

/* The number of frames of a hand's window; all its frames if it goes round. */
SIMT_FN uint32_t gn__hand_window(const struct gn_cache_view *c, uint32_t hand)
{
	if (gn__hand_way(c, hand) != GN_LEAD_WINDOW)
		return gn__hand_frames(c, hand);
	return hand == GN_FOLLOWERS ? c->window : c->window / GN__CACHE_GROUPS + 1;
}

/* The number of places after which a page's hand has tried all frames that it now goes over. */
SIMT_FN uint32_t gn__hand_round(const struct gn_cache_view *c, uint32_t hand)
{
	const int begins = hand != GN_FOLLOWERS &&
	                   simt_load_relaxed_dev_u32(&c->shared->hand[hand].at) < gn__hand_begins(c, hand);

	return begins ? gn__hand_frames(c, hand) : gn__hand_window(c, hand);
}

/* The frame at a place of a hand. Under the random policy a place is a draw, and no frame. */
SIMT_FN uint32_t gn__frame_at(const struct gn_cache_view *c, uint32_t hand, uint32_t place)
{
	const uint32_t frames = gn__hand_frames(c, hand), window = gn__hand_window(c, hand);
	const int begins = place < gn__hand_begins(c, hand);

	if (c->policy == GN_RANDOM || (hand == GN_FOLLOWERS && begins))
		return place;
	if (window < frames && !begins)
		place = place / (window * c->laps) * window + place % window;
	return gn__hand_first(c, hand) + place % frames;
}

/*
 * The next frame of the followers' hand, taken from the lot of this thread's group of processors. A lot is a
 * range of frames that the group took from the hand at once. The thread that comes after the last one of a
 * lot fetches the next lot. Until the next lot is there, other threads take frames from the hand itself.
 * While there are frames that were never given out, all threads use the hand itself: so the first pages, as
 * many as there are frames, all find a frame, and no free frame stays unused in a lot.
 */
SIMT_FN uint32_t gn__next_of_lot(const struct gn_cache_view *c)
{
	uint64_t *lot = &gn__local(c)->lot;
	const uint64_t seen = c->lot > 1 ? simt_add_relaxed_dev_u64(lot, 1) : 0;
	const uint32_t taken = (uint32_t)seen - GN__LOT_BEGUN, many = taken == c->lot ? c->lot : 1;
	uint32_t place, frame;

	if ((uint32_t)seen >= GN__LOT_BEGUN && taken < c->lot) {
		frame = (uint32_t)(seen >> 32) + taken;
		return c->policy == GN_RANDOM ? frame : frame % gn__hand_frames(c, GN_FOLLOWERS);
	}
	place = gn__new_place(c, simt_add_relaxed_dev_u32(&c->shared->hand[GN_FOLLOWERS].at, many));
	frame = gn__frame_at(c, GN_FOLLOWERS, place);
	if (many > 1)
		simt_store_relaxed_dev_u64(lot, (uint64_t)frame << 32 | (GN__LOT_BEGUN + 1));
	else if (c->lot > 1 && (uint32_t)seen < GN__LOT_BEGUN && place >= c->frames)
		simt_store_relaxed_dev_u64(lot, GN__LOT_BEGUN +
		                                    c->lot); /* an empty lot: the next thread fetches one */
	return frame;
}

/* The next frame to try for a page. Under the random policy the hand counts draws. */
SIMT_FN uint32_t gn__hand_next(const struct gn_cache_view *c, uint64_t page)
{
	const uint32_t hand = gn__hand_of(c, page);
	uint32_t place;

	if (c->policy == GN_RANDOM)
		return gn__stir(gn__next_of_lot(c) + (uint32_t)page * 31) % c->frames;
	if (hand == GN_FOLLOWERS || (gn__has_new_frames(c) && !gn__has_new_of_own(c, hand)))
		return gn__next_of_lot(c);
	place = simt_add_relaxed_dev_u32(&c->shared->hand[hand].at, 1);
	/* other threads have taken its last new frame meanwhile */
	if (place >= c->leaders && gn__has_new_frames(c))
		return gn__next_of_lot(c);
	return gn__frame_at(c, hand, place);
}

/* ---- the duel ---- */

/* Were clearly fewer units moved in one way than in another? */
SIMT_FN int gn__moved_less(uint64_t one, uint64_t other)
{
	return one + one / GN__MOVED_LEAD_SHARE + GN__MOVED_LEAD <= other;
}

/*
 * The way by which the fewest bytes were moved: rounds, unless another is clearly better. Rounds also while
 * there are new frames, which cost nothing.
 *
 * The counts go back over some rounds of a group's frames. A program that passes over its data again and
 * again has hits by windows in a part of each pass only, where the pages are that stayed. Counts that forget
 * within a pass would choose rounds for the rest of it, and rounds evict what had stayed.
 */
SIMT_FN uint32_t gn__best_way(const struct gn_cache_view *c)
{
	const uint32_t *moved = c->shared->moved;
	const uint64_t round = simt_load_relaxed_dev_u32(&moved[GN_LEAD_ROUND]),
	               window = simt_load_relaxed_dev_u32(&moved[GN_LEAD_WINDOW]),
	               around = simt_load_relaxed_dev_u32(&moved[GN_LEAD_AROUND]);
	const int by_windows = gn__moved_less(window, round);

	if (gn__has_new_frames(c))
		return 0;
	if (c->hands > GN_LEAD_AROUND && gn__moved_less(around, window < round ? window : round))
		return GN_LEAD_AROUND;
	return by_windows ? GN_LEAD_WINDOW : 0;
}

/*
 * Halve the counts, more than once if other threads have added much since this one reached the limit. They
 * are all loaded before one is stored: beside a count that is not yet halved another would seem best.
 */
SIMT_FN void gn__duel_forget(const struct gn_cache_view *c)
{
	uint32_t *moved = c->shared->moved, seen[GN_CACHE_HANDS], shift = 1;

	for (uint32_t lead = GN_LEAD_ROUND; lead < GN_CACHE_HANDS; lead++)
		seen[lead] = simt_load_relaxed_dev_u32(&moved[lead]);
	while (seen[GN_LEAD_ROUND] >> shift >= c->moved_most)
		shift++;
	for (uint32_t lead = GN_LEAD_ROUND; lead < GN_CACHE_HANDS; lead++)
		simt_store_relaxed_dev_u32(&moved[lead], seen[lead] >> shift);
}

/*
 * The counts have reached their limit: halve them. Every GN__HALVINGS times also renew the group that leads
 * by windows, if they are not the best way now: its hand begins again, and so takes each frame whose page is
 * not read meanwhile. The program may no longer read the pages that these frames keep. Then the group would
 * have no hits, and would not show that windows could save fetches of the pages that the program reads now.
 * It is not renewed each time, because pages that stay are found one pass later, and a pass may be long.
 */
SIMT_FN void gn__duel_halve(const struct gn_cache_view *c)
{
	struct gn_cache_shared *s = c->shared;
	const uint32_t halvings = simt_add_relaxed_dev_u32(&s->halvings, 1) + 1;

	if (halvings % GN__HALVINGS == 0 && gn__best_way(c) != GN_LEAD_WINDOW && !gn__has_new_frames(c)) {
		simt_store_relaxed_dev_u32(&s->hand[GN_LEAD_WINDOW].clean, 0);
		simt_store_relaxed_dev_u32(&s->hand[GN_LEAD_WINDOW].at, 0);
	}
	gn__duel_forget(c);
}

/*
 * Count a transfer of a page, if the page is of a leading group. Then choose the best way again, for the
 * pages that follow and the processors that share this thread's words (gn__local). One thread.
 * @bytes  that were moved at once
 */
SIMT_FN void gn__duel_count(const struct gn_cache_view *c, uint64_t page, uint64_t bytes)
{
	const uint32_t hand = gn__hand_of(c, page), units = (uint32_t)((bytes + 31) / 32) + GN__MOVE_UNITS;
	const uint32_t most = c->moved_most * (hand == GN_LEAD_ROUND ? 1 : GN__MOVED_WORSE);
	uint32_t before, way;

	if (hand == GN_FOLLOWERS)
		return;
	before = simt_add_relaxed_dev_u32(&c->shared->moved[hand], units);
	if (before < most && before + units >= most)
		gn__duel_halve(c);
	way = gn__best_way(c);
	if (simt_load_relaxed_dev_u32(&gn__local(c)->way) != way)
		simt_store_relaxed_dev_u32(&gn__local(c)->way, way);
}

/* A read misses: is it to go around the cache? */
SIMT_FN int gn__goes_around(const struct gn_cache_view *c, uint64_t page)
{
	const uint32_t hand = gn__hand_of(c, page);
	uint32_t *around = &gn__local(c)->around[hand != GN_FOLLOWERS];

	if (gn__hand_way(c, hand) != GN_LEAD_AROUND)
		return 0;
	if (hand != GN_FOLLOWERS &&
	    simt_load_relaxed_dev_u32(&c->shared->hand[hand].at) < gn__hand_begins(c, hand))
		return 0;
	if (gn__backs_off(around))
		return 1;
	simt_store_relaxed_dev_u32(around, GN__AROUND);
	return 0;
}

#endif
