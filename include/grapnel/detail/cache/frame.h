/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/cache/frame.h - the search for a frame for a wanted page. A frame is taken from the page that is in
 * it, if that page may leave.
 *
 * In the direct table any frame will do, and the clock's hand (detail/cache/hand.h) gives the next one to
 * try. In the set table it is a frame of the page's set; the caller has locked the set, so that no two
 * searches bring the same page.
 *
 * A try takes a frame or returns why not. It never waits, because the searching thread holds a page or a set
 * that others want. A dirty page is not written here, because a whole warp moves its bytes: it stays in its
 * frame, BUSY, until the caller has written it.
 *
 * struct gn__claim holds what a thread wants and what it has got so far; it belongs to detail/cache/claim.h.
 * It is declared here because the search stores its result in it, and the claim calls the search.
 */
#ifndef GRAPNEL_CACHE_FRAME_H
#define GRAPNEL_CACHE_FRAME_H

#include <grapnel/detail/cache/hand.h>
#include <grapnel/detail/cache/move.h>
#include <grapnel/detail/cache/sector.h>
#include <grapnel/detail/cache/table.h>
#include <grapnel/detail/cache/view.h>
#include <grapnel/trace.h>

enum gn__step {
	GN__STEP_HIT,
	GN__STEP_FETCH,
	GN__STEP_PUBLISH,
	GN__STEP_FILL,
	GN__STEP_WRITE_BACK,
	GN__STEP_WAIT,
	GN__STEP_NO_FRAME,
	GN__STEP_ERROR,
	GN__STEP_AGAIN /* inside only: lost a race, look again */
};

/* What the claimer is going to do with the page. */
enum gn_intent {
	GN_READ,      /* or, for a claim ahead of its reader, nothing yet */
	GN_WRITE,     /* change parts of it */
	GN_OVERWRITE, /* write every byte of it before anybody reads one: it need not be fetched */
	GN__COVER     /* overwrite whole sectors, at once: they need not be fetched */
};

struct gn__claim {
	uint64_t page;     /* wanted */
	uint64_t grant;    /* what a hit or a publish adds to the word: a pin, REF, and DIRTY for a writer */
	uint64_t deadline; /* 0 until the first wait */
	uint64_t *word;    /* of the page */
	/* version and payload of the word to publish; for a held absent page its version */
	uint64_t made;
	uint64_t victim; /* page to write back */
	uint64_t *victim_word;
	uint64_t snapshot; /* of a HIT without a pin: the word; else 0 */
	uint32_t frame;
	uint32_t tried;      /* frames looked at in this search */
	uint32_t clean_only; /* a write-back failed: look for clean frames only */
	uint32_t waited;     /* this thread has seen the page BUSY */
	uint32_t searching;  /* holds its page BUSY while it waits for a frame (direct table) */
	uint32_t waits;      /* rounds that it has waited */
	uint32_t intent;     /* enum gn_intent */
	/* that must be there, or for GN__COVER are overwritten; all 32 bits for the whole page */
	uint32_t sectors;
	uint32_t dirties; /* sectors that will be written */
	/* sectors in motion that are this claim's: to be fetched, or for GN__COVER to be written */
	uint32_t owned;
	uint32_t pinned;   /* the page is pinned for this claim */
	uint32_t step;     /* enum gn__step, between rounds (access.h) */
	uint32_t bypassed; /* went around the cache */
	uint32_t missed;   /* the page was not there, or not all of it */
	/* the pin is the caller's to keep: where the page can count no more of them, it is refused */
	uint32_t holds;
	uint32_t may_snapshot; /* who reads an element does without a pin, once */
	/* an element is read that the store's memory can be asked for: no long search for a frame */
	uint32_t may_bypass;
	/* nobody waits for this page: never wait or write back for it, and leave no pin */
	uint32_t ahead;
	struct gn_store_status status;
	struct gn_store_status unwritten; /* why the victim could not be written back */
};

/* Has this claim waited for longer than wait_ns? */
SIMT_FN int gn__claim_is_late(const struct gn_cache_view *c, struct gn__claim *k)
{
	uint64_t now = simt_clock_ns();

	if (!k->deadline)
		k->deadline = now + c->wait_ns;
	return now > k->deadline;
}

/*
 * The frame is the page's: everybody may see it, in the state of these flags (edge R4). Called behind a fence
 * since the frame was taken: who had it before is done with its sector word.
 */
SIMT_FN void gn__claim_give(const struct gn_cache_view *c, struct gn__claim *k, uint64_t flags)
{
	uint64_t made = k->made;

	if (flags & GN__WORD_VALID)
		gn__sector_reset(c, k->frame, 0xffffffffu, k->dirties);
	else
		gn__sector_reset(c, k->frame, ~gn__page_sectors(c, k->page), k->owned);
	if (c->owner) {
		made = gn__word_next_version(made) | k->frame;
		simt_store_relaxed_dev_u32(&c->owner[k->frame], (uint32_t)k->page); /* R4 releases it too */
	}
	simt_store_release_dev_u64(k->word, flags | k->grant | made); /* R4 */
	k->pinned = k->grant != 0;
}

/*
 * Does a missing page come as a whole, its word BUSY until it is there? Else it is shown at once, and fetched
 * by sectors.
 */
SIMT_FN int gn__claim_is_whole(const struct gn_cache_view *c, const struct gn__claim *k)
{
	return !c->sector || k->sectors == 0xffffffffu ||
	       gn__segment_of(c, k->page)->store.kind == GN_STORE_QUEUES;
}

/*
 * The frame is ours. Readers that looked before its page went must notice, so the change of the word is
 * ordered before the new bytes by a fence (edge R5, pairs with A5: the reader's acquire of the data): that of
 * gn__claim_move, or the one here if nothing is fetched.
 */
SIMT_FN enum gn__step gn__claim_fetch(const struct gn_cache_view *c, struct gn__claim *k)
{
	GN_TRACE(frame);
	k->missed = 1;
	if (k->intent != GN_OVERWRITE && k->intent != GN__COVER)
		return gn__claim_is_whole(c, k) ? GN__STEP_FETCH : GN__STEP_PUBLISH;
	simt_fence_acq_rel_dev(); /* R5 */
	k->owned = k->intent == GN__COVER ? k->sectors : 0;
	gn__claim_give(c, k, k->owned ? GN__WORD_PARTIAL : GN__WORD_VALID);
	return GN__STEP_HIT;
}

SIMT_FN void gn__count_eviction(const struct gn_cache_view *c)
{
	if (c->stripe)
		gn__count_u64(&gn__stripe(c)->evicted, 1);
}

/*
 * What came of a look at a frame: ours; pinned; not this time, but perhaps the next; others are just at work
 * on it.
 */
enum gn__taking { GN__TAKEN, GN__TAKEN_DIRTY, GN__PINNED, GN__UNSETTLED, GN__MOVING };

/* ---- direct table: any frame will do ---- */

/*
 * A page that was written back leaves its frame, which is ours. Whoever finds the page absent reads it from
 * the store, so what was written there comes before (edge R6, pairs with A4).
 */
SIMT_FN void gn__detach(const struct gn_cache_view *c, uint64_t *word)
{
	simt_store_release_dev_u64(word, simt_load_relaxed_dev_u64(word) & GN__WORD_VERSION); /* R6 */
	gn__count_eviction(c);
}

/*
 * Take a frame from the page that is in it, if that page may go. One that is clean goes at once: the swap
 * goes on with the release of whoever made it clean (R6). The frame's owner stays until the next page is
 * there: who meets it sees by the page's word that it has left.
 * @clean_only  1: a dirty page may not go
 */
SIMT_FN enum gn__taking gn__take_from(const struct gn_cache_view *c, uint32_t frame, uint32_t page,
                                      uint32_t clean_only)
{
	uint64_t *word = &c->word[page];
	const uint64_t seen = simt_load_once_dev_u64(word);
	const int used = seen & GN__WORD_REF && c->policy == GN_CLOCK;
	uint64_t then = seen & GN__WORD_DIRTY ? seen | GN__WORD_BUSY : seen & GN__WORD_VERSION;

	if (!(seen & GN__WORD_HELD) || seen & GN__WORD_BUSY || gn__word_payload(seen) != frame)
		return GN__MOVING;
	if (seen & GN__WORD_PINS || (seen & GN__WORD_DIRTY && (clean_only || gn__is_full(c, page))))
		return GN__PINNED;
	if (used)
		then = seen & ~GN__WORD_REF; /* one swap for both, since lanes side by side do both */
	if (simt_cas_fenced_dev_u64(word, seen, then) != seen || used)
		return GN__UNSETTLED;
	if (seen & GN__WORD_DIRTY)
		return GN__TAKEN_DIRTY;
	gn__count_eviction(c);
	return GN__TAKEN;
}

/* @page  of a frame that is taken dirty: the page to write back */
SIMT_FN enum gn__taking gn__take_frame(const struct gn_cache_view *c, uint32_t frame, uint32_t clean_only,
                                       uint32_t *page)
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
 * The frame to look at next: where the hand is, for two rounds, since the first may only clear REF. Others
 * move the hand too, so the third round goes from frame to frame: then none was overlooked. For the random
 * policy every round does, from a place that is drawn.
 */
SIMT_FN uint32_t gn__next_frame(const struct gn_cache_view *c, const struct gn__claim *k)
{
	if (k->tried >= 2 * c->frames || (c->policy == GN_RANDOM && k->tried))
		return k->frame + 1 == c->frames ? 0 : k->frame + 1;
	if (c->policy == GN_RANDOM)
		return gn__stir(gn__next_place(c) + (uint32_t)k->page * 31) % c->frames;
	return gn__next_place(c) % c->frames;
}

/*
 * So many frames that others are at work on, in one search: more threads miss than there are frames, so let
 * those finish.
 */
enum { GN__MANY_MOVING = 32 };

/*
 * An element that the store can be asked for does not wait for more frames than this, and then so many misses
 * ask for none.
 */
enum { GN__FEW_FRAMES = 16, GN__BYPASS_BACKOFF = 32 };

/*
 * All frames are pinned. Most pins are those of an element that is being written, and shorter than the way
 * around the cache; so a claim looks again so many times before it takes that way. Pages that a program holds
 * stay pinned.
 */
enum { GN__PIN_WAITS = 16 };

SIMT_FN int gn__claim_is_patient(const struct gn__claim *k)
{
	return !k->may_bypass && k->waits < GN__PIN_WAITS;
}

/*
 * No frame is easily had, and the claimed element can be loaded from the store: the page is let go, absent,
 * and the caller loads it (gn__access_alone). Where frames are pinned or changing hands, there are fewer than
 * threads that miss: then the next misses of these processors do not even look for one.
 */
SIMT_FN enum gn__step gn__claim_bypass(const struct gn_cache_view *c, struct gn__claim *k, int scarce)
{
	if (scarce)
		simt_store_relaxed_dev_u32(&gn__local(c)->bypass_backoff, GN__BYPASS_BACKOFF);
	k->status.code = -GN_ENOBUFS;
	k->bypassed = 1;
	return GN__STEP_NO_FRAME;
}

/*
 * Look for a frame for a page that is held BUSY: at every one, or for a claim that may go around the cache at
 * a few.
 */
SIMT_FN enum gn__step gn__search_frames(const struct gn_cache_view *c, struct gn__claim *k)
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
			return GN__STEP_WRITE_BACK;
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
	unsettled |= gn__claim_is_patient(k);
	return unsettled && !gn__claim_is_late(c, k) ? GN__STEP_WAIT : GN__STEP_NO_FRAME;
}

/* ---- set table: a frame of the page's set ---- */

/* The word of a way that now stands for the wanted page, held BUSY. */
SIMT_FN uint64_t gn__retagged(const struct gn_cache_view *c, struct gn__claim *k, uint64_t *word,
                              uint64_t seen)
{
	k->word = word;
	k->made = gn__word_next_version(seen) | gn__tag_of(c, k->page);
	return GN__WORD_BUSY | k->made;
}

/* Take a way from the page that is in it, if there is none or it may go. The set is locked. */
SIMT_FN enum gn__taking gn__take_way(const struct gn_cache_view *c, struct gn__claim *k, uint32_t set,
                                     uint32_t frame)
{
	uint64_t *word = &c->word[frame];
	const uint64_t seen = simt_load_relaxed_dev_u64(word),
	               page = gn__page_of(c, set, gn__word_payload(seen));
	int is_free = !(seen & GN__WORD_USED) || (seen & GN__WORD_FAILED);

	if (!is_free) {
		if (!(seen & GN__WORD_HELD) || seen & GN__WORD_BUSY)
			return GN__UNSETTLED;
		if (seen & GN__WORD_PINS ||
		    (seen & GN__WORD_DIRTY && (k->clean_only || gn__is_full(c, page))))
			return GN__PINNED;
		if (seen & GN__WORD_REF && c->policy == GN_CLOCK) {
			simt_cas_relaxed_dev_u64(word, seen, seen & ~GN__WORD_REF);
			return GN__UNSETTLED;
		}
	}
	k->frame = frame;
	if (is_free || !(seen & GN__WORD_DIRTY)) {
		if (simt_cas_fenced_dev_u64(word, seen, gn__retagged(c, k, word, seen)) != seen)
			return GN__UNSETTLED;
		if (!is_free)
			gn__count_eviction(c);
		return GN__TAKEN;
	}
	if (simt_cas_fenced_dev_u64(word, seen, seen | GN__WORD_BUSY) != seen)
		return GN__UNSETTLED;
	k->victim = page;
	k->victim_word = word;
	return GN__TAKEN_DIRTY;
}

/*
 * A look at a set without its lock: GN__TAKEN if a search could find a way; GN__MOVING if it finds none until
 * a page that is in motion has come; GN__PINNED if all pages are pinned.
 */
SIMT_FN enum gn__taking gn__look_at_ways(const struct gn_cache_view *c, uint32_t set)
{
	enum gn__taking best = GN__PINNED;

	for (uint32_t way = 0; way < c->ways; way++) {
		const uint64_t seen = simt_load_relaxed_dev_u64(&c->word[set * c->ways + way]);

		if (!(seen & (GN__WORD_BUSY | GN__WORD_PINS)))
			return GN__TAKEN;
		if (seen & GN__WORD_BUSY)
			best = GN__MOVING;
	}
	return best;
}

/* The way to look at first; for the random policy the hand counts draws. */
SIMT_FN uint32_t gn__first_way(const struct gn_cache_view *c, uint32_t *hand)
{
	return (c->policy == GN_RANDOM ? gn__stir(++*hand) : *hand) % c->ways;
}

/* Take the way where the page will be looked for first, if no page is in it. */
SIMT_FN enum gn__taking gn__take_preferred(const struct gn_cache_view *c, struct gn__claim *k, uint32_t set)
{
	const uint32_t frame = set * c->ways + gn__preferred_way(c, gn__tag_of(c, k->page));

	return simt_load_relaxed_dev_u64(&c->word[frame]) & (GN__WORD_HELD | GN__WORD_BUSY)
	           ? GN__PINNED
	           : gn__take_way(c, k, set, frame);
}

/* The preferred way if it is free, then round the ways of a locked set, twice. */
SIMT_FN enum gn__taking gn__search_ways(const struct gn_cache_view *c, struct gn__claim *k, uint32_t set,
                                        uint32_t *hand)
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

#endif
