/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache/claim.h - one thread finds a page, or gets it a frame.
 *
 * The functions here are the decisions; they move no data. gn_claim_seek goes on until bytes must be moved or the
 * matter is settled, and says which; the caller moves them (with its whole warp) and comes back:
 *
 *     seek -> HIT                     the page is pinned, or (claim.glimpse) to be looked at again after it was read
 *          -> FETCH                   read the whole page into claim.frame, then gn_claim_publish
 *          -> SHOW                    gn_claim_show the page, which has a frame and no bytes, then as FILL
 *          -> FILL                    read the sectors claim.owned of the pinned page, then gn_claim_filled
 *          -> WRITE_BACK              write claim.victim from claim.frame, then gn_claim_written
 *          -> WAIT                    let others run, then seek again: it goes on from there
 *          -> NO_FRAME                every frame is pinned; gn_claim_drop when done
 *          -> ERROR                   claim.status says what
 *
 * The words that a claim looks at and swaps tell it what to do, relaxed. What they order, for FETCH, FILL, WRITE_BACK
 * and NO_FRAME, is ordered by a fence that the caller passes before he moves a byte: one for all claims of a warp
 * (docs/memory-model.md, "One fence for the claims of a warp").
 *
 * Nobody waits while others could need what he holds: a loader holds its page's BUSY and searches frames by
 * trying; the lock of a set is held for a look at its words, or, by a claim that got no frame, until gn_claim_drop in the
 * next round. And nobody waits in here: lanes of one warp that want different pages can need each other's, and a lane
 * that is done may have to stand still until the others of its warp leave the same loop. So there is one place,
 * gn__claim_round (access.h), in which lanes wait and in which they also give up everything that others wait for. The
 * lanes of a mask meet before any of them claims something, so that none waits for a lane that is still to come.
 */
#ifndef GRAPNEL_CACHE_CLAIM_H
#define GRAPNEL_CACHE_CLAIM_H

#include <grapnel/cache/hand.h>
#include <grapnel/cache/move.h>
#include <grapnel/cache/page.h>
#include <grapnel/cache/sector.h>
#include <grapnel/cache/table.h>
#include <grapnel/cache/view.h>
#include <grapnel/trace.h>

enum gn_step {
	GN_STEP_HIT,
	GN_STEP_FETCH,
	GN_STEP_SHOW,
	GN_STEP_FILL,
	GN_STEP_WRITE_BACK,
	GN_STEP_WAIT,
	GN_STEP_NO_FRAME,
	GN_STEP_ERROR,
	GN__STEP_AGAIN /* inside only: lost a race, look again */
};

/* What the claimer is going to do with the page. */
enum gn_intent {
	GN_READ,      /* or, for a claim ahead of its reader, nothing yet */
	GN_WRITE,     /* change parts of it */
	GN_OVERWRITE, /* write every byte of it before anybody reads one: it need not be fetched */
	GN__COVER     /* overwrite whole sectors, at once: they need not be fetched */
};

struct gn_claim {
	uint64_t page;     /* wanted */
	uint64_t grant;    /* what a hit or a publish adds to the word: a pin, REF, and DIRTY for a writer */
	uint64_t deadline; /* 0 until the first wait */
	uint64_t *word;    /* of the page */
	uint64_t made;     /* version and payload of the word to publish; for a held absent page its version */
	uint64_t victim;   /* page to write back */
	uint64_t *victim_word;
	uint64_t glimpse;    /* of a HIT without a pin: the word; else 0 */
	uint32_t frame;
	uint32_t tried;      /* frames looked at in this search */
	uint32_t clean_only; /* a write-back failed: look for clean frames only */
	uint32_t waited;     /* this thread has seen the page BUSY */
	uint32_t searching;  /* holds its page BUSY while it waits for a frame (direct table) */
	uint32_t rests;      /* rounds that it has waited */
	uint32_t intent;     /* enum gn_intent */
	uint32_t sectors;    /* that must be there, or for GN__COVER are overwritten; all 32 bits for the whole page */
	uint32_t dirties;    /* sectors that will be written */
	uint32_t owned;      /* sectors in motion that are this claim's: to be fetched, or for GN__COVER to be written */
	uint32_t pinned;     /* the page is pinned for this claim */
	uint32_t step;       /* enum gn_step, between rounds (access.h) */
	uint32_t around;     /* went around the cache */
	uint32_t missed;     /* the page was not there, or not all of it */
	uint32_t holds;      /* the pin is the caller's to keep: where the page can count no more of them, it is refused */
	uint32_t may_glimpse; /* who reads an element does without a pin, once */
	uint32_t may_bypass; /* an element is read that the store's memory can be asked for: no long search for a frame */
	uint32_t ahead;      /* nobody waits for this page: never wait or write back for it, and leave no pin */
	struct gn_store_status status;
	struct gn_store_status unwritten; /* why the victim could not be written back */
};

/* @sectors  that must be there, or for GN__COVER are overwritten; all 32 bits for the whole page. A writer makes them dirty. */
SIMT_FN struct gn_claim gn_claim_init(uint64_t page, uint32_t intent, uint32_t sectors)
{
	struct gn_claim k;

	memset(&k, 0, sizeof k);
	k.page = page;
	k.intent = intent;
	k.sectors = sectors;
	k.dirties = intent == GN_READ ? 0 : sectors;
	k.grant = GN_WORD_PIN | GN_WORD_REF | (intent == GN_READ ? 0 : GN_WORD_DIRTY);
	return k;
}

/* A claim for a page that may be wanted soon. */
SIMT_FN struct gn_claim gn_claim_ahead(uint64_t page)
{
	struct gn_claim k;

	memset(&k, 0, sizeof k);
	k.page = page;
	k.sectors = 0xffffffffu;
	k.ahead = 1;
	k.clean_only = 1;
	return k;
}

/* Has this claim waited for longer than wait_ns? */
SIMT_FN int gn__claim_is_late(const struct gn_cache_view *c, struct gn_claim *k)
{
	uint64_t now = simt_clock_ns();

	if (!k->deadline)
		k->deadline = now + c->wait_ns;
	return now > k->deadline;
}

SIMT_FN enum gn_step gn__claim_error(struct gn_claim *k, int code, uint32_t device)
{
	k->status.code = code;
	k->status.device = device;
	return GN_STEP_ERROR;
}

/*
 * The frame is the page's: everybody may see it, in the state of these flags (edge R4). Called behind a fence since the
 * frame was taken: who had it before is done with its sector word.
 */
SIMT_FN void gn__claim_give(const struct gn_cache_view *c, struct gn_claim *k, uint64_t flags)
{
	uint64_t made = k->made;

	if (flags & GN_WORD_VALID)
		gn__sector_reset(c, k->frame, 0xffffffffu, k->dirties);
	else
		gn__sector_reset(c, k->frame, ~gn__page_sectors(c, k->page), k->owned);
	if (c->owner) {
		made = gn_word_next_version(made) | k->frame;
		simt_store_relaxed_dev_u32(&c->owner[k->frame], (uint32_t)k->page); /* R4 releases it too */
	}
	simt_store_release_dev_u64(k->word, flags | k->grant | made); /* R4 */
	k->pinned = k->grant != 0;
}

/* Does a missing page come as a whole, its word BUSY until it is there? Else it is shown at once, and fetched by sectors. */
SIMT_FN int gn__claim_is_whole(const struct gn_cache_view *c, const struct gn_claim *k)
{
	return !c->sector || k->sectors == 0xffffffffu || gn__segment_of(c, k->page)->store.kind == GN_STORE_QUEUES;
}

/*
 * The frame is ours. Readers that looked before its page went must notice, so the change of the word is ordered before
 * the new bytes by a fence (edge R5, pairs with A5: the reader's acquire of the data): that of gn__claim_move, or the
 * one here if nothing is fetched.
 */
SIMT_FN enum gn_step gn__claim_fetch(const struct gn_cache_view *c, struct gn_claim *k)
{
	GN_TRACE(frame);
	k->missed = 1;
	if (k->intent != GN_OVERWRITE && k->intent != GN__COVER)
		return gn__claim_is_whole(c, k) ? GN_STEP_FETCH : GN_STEP_SHOW;
	simt_fence_acq_rel_dev(); /* R5 */
	k->owned = k->intent == GN__COVER ? k->sectors : 0;
	gn__claim_give(c, k, k->owned ? GN_WORD_PARTIAL : GN_WORD_VALID);
	return GN_STEP_HIT;
}

/*
 * gn_claim_show - after SHOW, behind a fence since then (R5): the page has its frame, and everybody sees it; the sectors
 * that the caller wants are in motion.
 */
SIMT_FN void gn_claim_show(const struct gn_cache_view *c, struct gn_claim *k)
{
	k->owned = k->sectors;
	gn__claim_give(c, k, GN_WORD_PARTIAL);
}

SIMT_FN void gn__count_eviction(const struct gn_cache_view *c)
{
	if (c->stripe)
		gn__count_u64(&gn__stripe(c)->evicted, 1);
}

/* What came of a look at a frame: ours; pinned; not this time, but perhaps the next; others are just at work on it. */
enum gn__taking { GN__TAKEN, GN__TAKEN_DIRTY, GN__PINNED, GN__UNSETTLED, GN__MOVING };

/* ---- direct table: any frame will do ---- */

/*
 * A page that was written back leaves its frame, which is ours. Whoever finds the page absent reads it from the store,
 * so what was written there comes before (edge R6, pairs with A4).
 */
SIMT_FN void gn__detach(const struct gn_cache_view *c, uint64_t *word)
{
	simt_store_release_dev_u64(word, simt_load_relaxed_dev_u64(word) & GN_WORD_VERSION); /* R6 */
	gn__count_eviction(c);
}

/*
 * Take a frame from the page that is in it, if that page may go. One that is clean goes at once: the swap goes on with
 * the release of whoever made it clean (R6). The frame's owner stays until the next page is there: who meets it sees by
 * the page's word that it has left.
 * @clean_only  1: a dirty page may not go
 */
SIMT_FN enum gn__taking gn__take_from(const struct gn_cache_view *c, uint32_t frame, uint32_t page, uint32_t clean_only)
{
	uint64_t *word = &c->word[page];
	const uint64_t seen = simt_load_once_dev_u64(word);
	const int used = seen & GN_WORD_REF && c->policy == GN_CLOCK;
	uint64_t then = seen & GN_WORD_DIRTY ? seen | GN_WORD_BUSY : seen & GN_WORD_VERSION;

	if (!(seen & GN_WORD_HELD) || seen & GN_WORD_BUSY || gn_word_payload(seen) != frame)
		return GN__MOVING;
	if (seen & GN_WORD_PINS || (seen & GN_WORD_DIRTY && (clean_only || gn__is_full(c, page))))
		return GN__PINNED;
	if (used)
		then = seen & ~GN_WORD_REF; /* one swap for both, since lanes side by side do both */
	if (simt_cas_fenced_dev_u64(word, seen, then) != seen || used)
		return GN__UNSETTLED;
	if (seen & GN_WORD_DIRTY)
		return GN__TAKEN_DIRTY;
	gn__count_eviction(c);
	return GN__TAKEN;
}

/* @page  of a frame that is taken dirty: the page to write back */
SIMT_FN enum gn__taking gn__take_frame(const struct gn_cache_view *c, uint32_t frame, uint32_t clean_only, uint32_t *page)
{
	const uint32_t owner = simt_load_relaxed_dev_u32(&c->owner[frame]); /* a hint: the words decide */

	*page = owner;
	if (owner == GN__OWNER_CLAIMED)
		return GN__MOVING;
	if (owner != GN__OWNER_FREE)
		return gn__take_from(c, frame, owner, clean_only);
	if (simt_cas_fenced_dev_u32(&c->owner[frame], GN__OWNER_FREE, GN__OWNER_CLAIMED) != GN__OWNER_FREE)
		return GN__UNSETTLED;
	return GN__TAKEN;
}

/*
 * The frame to look at next: where the hand is, for two rounds, since the first may only clear REF. Others move the
 * hand too, so the third round goes from frame to frame: then none was overlooked. For the random policy every round
 * does, from a place that is drawn.
 */
SIMT_FN uint32_t gn__next_frame(const struct gn_cache_view *c, const struct gn_claim *k)
{
	if (k->tried >= 2 * c->frames || (c->policy == GN_RANDOM && k->tried))
		return k->frame + 1 == c->frames ? 0 : k->frame + 1;
	if (c->policy == GN_RANDOM)
		return gn__stir(gn__next_place(c) + (uint32_t)k->page * 31) % c->frames;
	return gn__next_place(c) % c->frames;
}

/* So many frames that others are at work on, in one search: more threads miss than there are frames, so let those finish. */
enum { GN__MANY_MOVING = 32 };

/* An element that the store can be asked for does not wait for more frames than this, and then so many misses ask for none. */
enum { GN__FEW_FRAMES = 16, GN__BYPASS_REST = 32 };

/*
 * No frame is easily had, and the claimed element can be loaded from the store: the page is let go, absent, and the caller
 * loads it (gn__access_alone). Where frames are pinned or changing hands, there are fewer than threads that miss: then the
 * next misses of these processors do not even look for one.
 */
SIMT_FN enum gn_step gn__claim_bypass(const struct gn_cache_view *c, struct gn_claim *k, int scarce)
{
	if (scarce)
		simt_store_relaxed_dev_u32(&gn__local(c)->bypass_resting, GN__BYPASS_REST);
	k->status.code = -GN_ENOBUFS;
	k->around = 1;
	return GN_STEP_NO_FRAME;
}

/* Look for a frame for a page that is held BUSY: at every one, or for a claim that may go around the cache at a few. */
SIMT_FN enum gn_step gn__search_frames(const struct gn_cache_view *c, struct gn_claim *k)
{
	const uint32_t most = k->may_bypass ? (uint32_t)GN__FEW_FRAMES : 3 * c->frames;
	uint32_t moving = 0, pinned = 0;
	int unsettled = 0;

	k->searching = 1;
	for (k->tried = 0; k->tried < most && moving < GN__MANY_MOVING; k->tried++) {
		uint32_t frame = gn__next_frame(c, k);
		uint32_t page;
		enum gn__taking taking = gn__take_frame(c, frame, k->clean_only, &page);

		k->frame = frame;
		if (taking == GN__TAKEN)
			return gn__claim_fetch(c, k);
		if (taking == GN__TAKEN_DIRTY) {
			k->victim = page;
			k->victim_word = &c->word[page];
			return GN_STEP_WRITE_BACK;
		}
		moving += taking == GN__MOVING;
		pinned += taking == GN__PINNED;
		unsettled |= taking != GN__PINNED && k->tried >= 2 * c->frames;
	}
	if (k->may_bypass) {
		simt_store_release_dev_u64(k->word, k->made);
		return gn__claim_bypass(c, k, 2 * (moving + pinned) > most);
	}
	unsettled |= moving == GN__MANY_MOVING;
	/* Frames in motion settle within their deadlines; pinned ones need not, ever. */
	return unsettled && !gn__claim_is_late(c, k) ? GN_STEP_WAIT : GN_STEP_NO_FRAME;
}

SIMT_FN enum gn_step gn__claim_direct(const struct gn_cache_view *c, struct gn_claim *k, const struct gn_hold *found)
{
	k->made = found->seen & GN_WORD_VERSION;
	if (simt_cas_fenced_dev_u64(found->word, found->seen, GN_WORD_BUSY | k->made) != found->seen)
		return GN__STEP_AGAIN;
	GN_TRACE(claim);
	k->word = found->word;
	return gn__search_frames(c, k);
}

/* ---- set table: a frame of the page's set ---- */

/* Lock a set, unless it is locked. Returns 1 or 0. */
SIMT_FN int gn__lock_set(const struct gn_cache_view *c, uint32_t set, uint32_t *hand)
{
	uint32_t seen = simt_load_relaxed_dev_u32(&c->lock[set]);

	*hand = seen >> 1;
	return !(seen & 1) && simt_cas_acquire_dev_u32(&c->lock[set], seen, seen | 1) == seen;
}

SIMT_FN void gn__unlock_set(const struct gn_cache_view *c, uint32_t set, uint32_t hand)
{
	simt_store_release_dev_u32(&c->lock[set], hand << 1);
}

/* Unlock a set and leave its hand where it was. */
SIMT_FN void gn__open_set(const struct gn_cache_view *c, uint32_t set)
{
	gn__unlock_set(c, set, simt_load_relaxed_dev_u32(&c->lock[set]) >> 1);
}

/* The word of a way that now stands for the wanted page, held BUSY. */
SIMT_FN uint64_t gn__retagged(const struct gn_cache_view *c, struct gn_claim *k, uint64_t *word, uint64_t seen)
{
	k->word = word;
	k->made = gn_word_next_version(seen) | gn__tag_of(c, k->page);
	return GN_WORD_BUSY | k->made;
}

/* Take a way from the page that is in it, if there is none or it may go. The set is locked. */
SIMT_FN enum gn__taking gn__take_way(const struct gn_cache_view *c, struct gn_claim *k, uint32_t set, uint32_t frame)
{
	uint64_t *word = &c->word[frame];
	const uint64_t seen = simt_load_relaxed_dev_u64(word), page = gn__page_of(c, set, gn_word_payload(seen));
	int is_free = !(seen & GN_WORD_USED) || (seen & GN_WORD_FAILED);

	if (!is_free) {
		if (!(seen & GN_WORD_HELD) || seen & GN_WORD_BUSY)
			return GN__UNSETTLED;
		if (seen & GN_WORD_PINS || (seen & GN_WORD_DIRTY && (k->clean_only || gn__is_full(c, page))))
			return GN__PINNED;
		if (seen & GN_WORD_REF && c->policy == GN_CLOCK) {
			simt_cas_relaxed_dev_u64(word, seen, seen & ~GN_WORD_REF);
			return GN__UNSETTLED;
		}
	}
	k->frame = frame;
	if (is_free || !(seen & GN_WORD_DIRTY)) {
		if (simt_cas_fenced_dev_u64(word, seen, gn__retagged(c, k, word, seen)) != seen)
			return GN__UNSETTLED;
		if (!is_free)
			gn__count_eviction(c);
		return GN__TAKEN;
	}
	if (simt_cas_fenced_dev_u64(word, seen, seen | GN_WORD_BUSY) != seen)
		return GN__UNSETTLED;
	k->victim = page;
	k->victim_word = word;
	return GN__TAKEN_DIRTY;
}

/* The way to look at first; for the random policy the hand counts draws. */
SIMT_FN uint32_t gn__first_way(const struct gn_cache_view *c, uint32_t *hand)
{
	return (c->policy == GN_RANDOM ? gn__stir(++*hand) : *hand) % c->ways;
}

/* Take the way where the page will be looked for first, if no page is in it. */
SIMT_FN enum gn__taking gn__take_preferred(const struct gn_cache_view *c, struct gn_claim *k, uint32_t set)
{
	const uint32_t frame = set * c->ways + gn__preferred_way(c, gn__tag_of(c, k->page));

	return simt_load_relaxed_dev_u64(&c->word[frame]) & (GN_WORD_HELD | GN_WORD_BUSY) ? GN__PINNED
	                                                                                    : gn__take_way(c, k, set, frame);
}

/* The preferred way if it is free, then round the ways of a locked set, twice. */
SIMT_FN enum gn__taking gn__search_ways(const struct gn_cache_view *c, struct gn_claim *k, uint32_t set, uint32_t *hand)
{
	enum gn__taking best = gn__take_preferred(c, k, set);
	uint32_t way;

	if (best == GN__TAKEN || best == GN__TAKEN_DIRTY) {
		/* the newest page is the last to go, and to be cleaned */
		*hand = c->policy == GN_RANDOM ? *hand + 1 + ((*hand + 1) % c->ways == k->frame % c->ways)
					       : (k->frame + 1) % c->ways;
		return best;
	}
	best = GN__PINNED;
	way = gn__first_way(c, hand);
	for (uint32_t tried = 0; tried < 2 * c->ways; tried++) {
		enum gn__taking taking = gn__take_way(c, k, set, set * c->ways + way);

		way = way + 1 == c->ways ? 0 : way + 1;
		if (c->policy != GN_RANDOM)
			*hand = way;
		if (taking == GN__TAKEN || taking == GN__TAKEN_DIRTY)
			return taking;
		if (taking == GN__UNSETTLED)
			best = GN__UNSETTLED;
	}
	return best;
}

SIMT_FN enum gn_step gn__claim_in_set(const struct gn_cache_view *c, struct gn_claim *k)
{
	uint32_t set = gn__set_of(c, k->page);
	enum gn__taking taking;
	uint32_t hand;

	if (!gn__lock_set(c, set, &hand))
		return gn__claim_is_late(c, k) ? gn__claim_error(k, -GN_ETIMEDOUT, 0) : GN_STEP_WAIT;
	if (gn__find_in_set(c, k->page, 0).word) { /* somebody was faster */
		gn__unlock_set(c, set, hand);
		return GN__STEP_AGAIN;
	}
	taking = gn__search_ways(c, k, set, &hand);
	if (taking == GN__PINNED && !k->may_bypass)
		return GN_STEP_NO_FRAME; /* with the lock, so that the page stays absent; gn_claim_drop opens it */
	gn__unlock_set(c, set, hand);
	if (taking == GN__TAKEN)
		return gn__claim_fetch(c, k);
	if (taking == GN__TAKEN_DIRTY)
		return GN_STEP_WRITE_BACK;
	if (k->may_bypass)
		return gn__claim_bypass(c, k, taking == GN__PINNED);
	return gn__claim_is_late(c, k) ? gn__claim_error(k, -GN_ETIMEDOUT, 0) : GN_STEP_WAIT;
}

/*
 * The victim of a set is written: give its way to the wanted page, unless that came by another way meanwhile. If the set is
 * locked the victim stays, clean, and the claim looks again: to keep its way it would have to wait for the lock, while
 * others, who find every way held, take that lock in turns.
 */
SIMT_FN enum gn_step gn__claim_way_written(const struct gn_cache_view *c, struct gn_claim *k)
{
	const uint32_t set = gn__set_of(c, k->page);
	const uint64_t seen = simt_load_relaxed_dev_u64(k->victim_word);
	uint32_t hand;
	int found;

	if (!gn__lock_set(c, set, &hand)) {
		gn__sector_cleaned(c, k->frame);
		simt_and_acq_rel_dev_u64(k->victim_word, ~(GN_WORD_BUSY | GN_WORD_DIRTY));
		return GN__STEP_AGAIN;
	}
	found = gn__find_in_set(c, k->page, 0).word != 0;
	gn__count_eviction(c);
	simt_store_release_dev_u64(k->victim_word, found ? seen & GN_WORD_VERSION : gn__retagged(c, k, k->victim_word, seen));
	gn__unlock_set(c, set, hand);
	return found ? GN__STEP_AGAIN : gn__claim_fetch(c, k);
}

/* A page whose last fetch failed still has its way: try again in it. */
SIMT_FN enum gn_step gn__claim_failed_way(const struct gn_cache_view *c, struct gn_claim *k, const struct gn_hold *found)
{
	const uint64_t busy = gn__retagged(c, k, found->word, found->seen);

	k->frame = gn__frame_of(c, found);
	if (simt_cas_fenced_dev_u64(found->word, found->seen, busy) != found->seen)
		return GN__STEP_AGAIN;
	return gn__claim_fetch(c, k);
}

/* ---- both ---- */

SIMT_FN enum gn_step gn__claim_missing(const struct gn_cache_view *c, struct gn_claim *k, const struct gn_hold *found)
{
	if (k->may_bypass && gn__rests(&gn__local(c)->bypass_resting))
		return gn__claim_bypass(c, k, 0);
	if (k->intent != GN_READ && gn__is_full(c, k->page))
		return gn__claim_error(k, -GN_ENOSPC, GN_NVME_CAPACITY_EXCEEDED);
	if (c->owner)
		return gn__claim_direct(c, k, found);
	if (found->word && found->seen & GN_WORD_FAILED)
		return gn__claim_failed_way(c, k, found);
	return gn__claim_in_set(c, k);
}

/* ---- a page in parts ---- */

/* Not this time: wait, or give up what is held. Returns GN_STEP_WAIT or GN_STEP_ERROR. */
SIMT_FN enum gn_step gn__claim_waits(const struct gn_cache_view *c, struct gn_claim *k)
{
	if (!gn__claim_is_late(c, k))
		return GN_STEP_WAIT;
	if (k->pinned) {
		gn__sector_give_back(c, k->frame, k->owned);
		gn__page_unpin(k->word);
		k->pinned = k->owned = 0;
	}
	return gn__claim_error(k, -GN_ETIMEDOUT, 0);
}

/* Nothing is left to bring for a claim that nobody waits for. */
SIMT_FN enum gn_step gn__claim_leave(struct gn_claim *k)
{
	gn__page_unpin(k->word);
	k->pinned = 0;
	return GN_STEP_HIT;
}

/*
 * One sector is wanted. If the page has a run of sectors right before it and no others, it is read in order: then as many
 * more are fetched as the run has. A page that is read at random has gaps.
 */
SIMT_FN uint32_t gn__claim_widened(uint64_t seen, uint32_t wanted)
{
	const uint32_t there = (uint32_t)seen | (uint32_t)(seen >> 32);
	const uint32_t below = there & (wanted - 1), above = there & ~(wanted | (wanted - 1));
	const uint32_t first = below & (0 - below), end = above & (0 - above);

	/* sectors behind the end of the page are there: a run up to the top is no gap */
	if (wanted & (wanted - 1) || !below || below + first != wanted || above + end)
		return wanted;
	return ((wanted << simt_popcount(below)) - wanted) & (end - 1);
}

/*
 * The page is pinned, and PARTIAL when it was: are the wanted sectors there? Those that are absent become the claim's.
 * Fetched at once, by whoever claims them; so who waits for sectors holds none that others wait for, but for GN__COVER,
 * whose sectors are claimed from the lowest on.
 */
SIMT_FN enum gn_step gn__claim_sectors(const struct gn_cache_view *c, struct gn_claim *k)
{
	const int covers = k->intent == GN__COVER;
	const uint64_t seen = simt_load_acquire_dev_u64(&c->sector[k->frame]);
	const uint32_t missing = k->sectors & ~(gn__sector_valid(seen) | k->owned);
	const uint32_t theirs = missing & gn__sector_moving(seen);
	uint32_t free = missing & ~theirs;

	if (covers && theirs)
		free &= (theirs & (0 - theirs)) - 1;
	if (free) {
		k->missed = 1;
		if (k->intent == GN_READ)
			free = gn__claim_widened(seen, free);
		k->owned |= gn__sector_claim(c, k->frame, free);
		return covers ? GN__STEP_AGAIN : k->owned ? GN_STEP_FILL : GN__STEP_AGAIN;
	}
	if (k->ahead)
		return gn__claim_leave(k);
	if (theirs)
		return gn__claim_waits(c, k);
	if (k->dirties & ~k->owned)
		gn__sector_dirty(c, k->frame, k->dirties & ~k->owned);
	return GN_STEP_HIT;
}

/* Are all sectors that a reader wants in the frame? Acquires their bytes. */
SIMT_FN int gn__claim_has(const struct gn_cache_view *c, const struct gn_claim *k, const struct gn_hold *found)
{
	if (found->seen & GN_WORD_VALID)
		return 1;
	return found->seen & GN_WORD_PARTIAL &&
	       !(k->sectors & ~gn__sector_valid(simt_load_acquire_dev_u64(&c->sector[gn__frame_of(c, found)])));
}

/* Is another thread bringing what a reader wants? It need not pin the page meanwhile. */
SIMT_FN int gn__claim_comes(const struct gn_cache_view *c, const struct gn_claim *k, const struct gn_hold *found)
{
	return k->may_glimpse && found->seen & GN_WORD_PARTIAL &&
	       k->sectors & gn__sector_moving(simt_load_relaxed_dev_u64(&c->sector[gn__frame_of(c, found)]));
}

/*
 * The page is there for who reads an element: those who have waited for a page together would pin it one after the other. If it
 * goes meanwhile it is pinned the next time. What is read comes after the word (A4): in a direct table that look was a leading one,
 * and the address of what is read depends on it.
 */
SIMT_FN enum gn_step gn__claim_glimpse(const struct gn_cache_view *c, struct gn_claim *k, const struct gn_hold *found)
{
	if ((!c->owner || !(found->seen & GN_WORD_VALID)) && simt_load_acquire_dev_u64(found->word) != found->seen)
		return GN__STEP_AGAIN;
	gn__page_touch(found, found->seen);
	k->may_glimpse = 0;
	k->glimpse = found->seen;
	k->word = found->word;
	k->frame = gn__frame_of(c, found);
	return GN_STEP_HIT;
}

SIMT_FN enum gn_step gn__claim_present(const struct gn_cache_view *c, struct gn_claim *k, const struct gn_hold *found)
{
	const uint64_t seen = found->seen;

	if (k->ahead && (seen & (GN_WORD_VALID | GN_WORD_BUSY)))
		return GN_STEP_HIT;
	if (k->may_glimpse && gn__claim_has(c, k, found))
		return gn__claim_glimpse(c, k, found);
	if (!gn__page_can_pin(seen) || gn__claim_comes(c, k, found)) {
		k->waited |= (seen & GN_WORD_BUSY) != 0;
		/* holds may stay for ever, so nobody waits for one of them to add another */
		if (k->holds && !(seen & GN_WORD_BUSY) && (seen & GN_WORD_PINS) == GN_WORD_PINS)
			return gn__claim_error(k, -GN_ENOBUFS, 0);
		/* an access never gets -GN_ENOBUFS: the page is here, and whoever went around the cache would miss its writes */
		return gn__claim_waits(c, k);
	}
	if (!gn__page_try_pin(found->word, seen, k->grant & ~GN_WORD_PINS, GN__ACQUIRE))
		return GN__STEP_AGAIN;
	k->word = found->word;
	k->frame = gn__frame_of(c, found);
	k->pinned = 1;
	if (!(seen & GN_WORD_VALID))
		return gn__claim_sectors(c, k);
	if (k->dirties)
		gn__sector_dirty(c, k->frame, k->dirties);
	return GN_STEP_HIT;
}

SIMT_FN enum gn_step gn__claim_look(const struct gn_cache_view *c, struct gn_claim *k)
{
	const struct gn_hold found = gn_table_find(c, k->page);

	if (found.word && found.seen & (GN_WORD_HELD | GN_WORD_BUSY))
		return gn__claim_present(c, k, &found);
	/* the fetch this thread waited for has failed; a thread that comes now tries again */
	if (found.word && found.seen & GN_WORD_FAILED && k->waited)
		return gn__claim_error(k, gn_word_failed_code(found.seen), gn_word_failed_device(found.seen));
	return gn__claim_missing(c, k, &found);
}

/*
 * gn_claim_seek - look for the page, or go on where the claim waited (see the top of this file).
 * One thread. Never waits itself.
 */
SIMT_NOINLINE_FN enum gn_step gn_claim_seek(const struct gn_cache_view *c, struct gn_claim *k)
{
	enum gn_step step;

	do {
		step = k->pinned ? gn__claim_sectors(c, k) : k->searching ? gn__search_frames(c, k) : gn__claim_look(c, k);
	} while (step == GN__STEP_AGAIN);
	/* What nobody waits for does not wait either; a page that is held without a frame must be let go. */
	if (k->ahead && step == GN_STEP_WAIT)
		step = k->searching ? GN_STEP_NO_FRAME : GN_STEP_HIT;
	return step;
}

/*
 * gn_claim_written - the victim of WRITE_BACK was written, or not.
 * Returns the next step. A victim that could not be written keeps its frame and stays dirty.
 */
SIMT_NOINLINE_FN enum gn_step gn_claim_written(const struct gn_cache_view *c, struct gn_claim *k, struct gn_store_status status)
{
	enum gn_step step = GN__STEP_AGAIN;

	simt_store_relaxed_dev_u32(&gn__local(c)->clean_resting, 0); /* the cleaner would have had something to do */
	if (status.code) {
		simt_and_acq_rel_dev_u64(k->victim_word, ~GN_WORD_BUSY);
		k->clean_only = 1;
		k->unwritten = status;
	} else if (c->owner) {
		gn__detach(c, k->victim_word);
		step = gn__claim_fetch(c, k);
	} else {
		step = gn__claim_way_written(c, k);
	}
	return step == GN__STEP_AGAIN ? gn_claim_seek(c, k) : step;
}

/* The page could not be fetched: its frame is free again, and the page says why. */
SIMT_FN void gn__claim_fail(const struct gn_cache_view *c, struct gn_claim *k, struct gn_store_status status)
{
	uint64_t made = k->made;

	if (c->owner) {
		made = gn_word_next_version(made);
		simt_store_release_dev_u32(&c->owner[k->frame], GN__OWNER_FREE);
	}
	simt_store_release_dev_u64(k->word, gn_word_failed(made, gn_word_payload(made), status.code, status.device));
}

/*
 * gn_claim_publish - the bytes of FETCH are in the frame, or could not be had.
 * With a status of 0 the page is pinned for the caller and everybody may use it (edge R4, pairs with A4 of
 * gn_table_find); else the frame is free again and the page says what failed.
 */
SIMT_FN void gn_claim_publish(const struct gn_cache_view *c, struct gn_claim *k, struct gn_store_status status)
{
	GN_TRACE(publish);
	if (status.code)
		gn__claim_fail(c, k, status);
	else
		gn__claim_give(c, k, GN_WORD_VALID);
}

/*
 * gn_claim_filled - the bytes of FILL are in the frame, behind a fence since then; or they could not be had, and their
 * sectors are absent as before, so that the next access tries again.
 * Returns the next step: HIT, or WAIT for sectors that others bring.
 */
SIMT_FN enum gn_step gn_claim_filled(const struct gn_cache_view *c, struct gn_claim *k, struct gn_store_status status)
{
	if (status.code)
		gn__sector_give_back(c, k->frame, k->owned);
	else
		gn__sector_arrive(c->sector, k->word, k->frame, k->owned, 0);
	k->owned = 0;
	if (status.code || k->ahead) {
		gn__page_unpin_after_fence(k->word);
		k->pinned = 0;
		return status.code ? GN_STEP_ERROR : GN_STEP_HIT;
	}
	return gn_claim_seek(c, k);
}

/* gn_claim_drop - give up after NO_FRAME; the page is absent and free to be claimed again. */
SIMT_FN void gn_claim_drop(const struct gn_cache_view *c, struct gn_claim *k)
{
	if (c->owner)
		simt_store_release_dev_u64(k->word, k->made);
	else
		gn__open_set(c, gn__set_of(c, k->page));
}

#endif
