/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/cache/frame.h - the search for a frame for a wanted page. A frame is taken from the page that is in
 * it, if that page may leave.
 *
 * In the direct table any frame will do, and the clock's hand (detail/cache/hand.h) gives the next frame to
 * try. In the set table the frame must be one of the page's set. The caller has locked the set, so that no
 * two searches bring the same page.
 *
 * Each function takes a frame or returns why not. None waits but for announced writes, which last for one
 * store (detail/cache/announce.h), because the searching thread holds a page or a set that other threads
 * want. A dirty page is not written here, because a whole warp moves its bytes: the page stays in its frame,
 * BUSY, until the caller has written it.
 *
 * struct gn__claim belongs to detail/cache/claim.h. It holds what a thread wants and what it has got so far.
 * It is declared here because the search stores its result in it, and the claim calls the search.
 */
#ifndef GRAPNEL_CACHE_FRAME_H
#define GRAPNEL_CACHE_FRAME_H

#include <grapnel/detail/cache/announce.h>
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
	GN__STEP_AGAIN /* internal, not returned to callers: the claim lost a race and looks again */
};

/* What the claiming thread is going to do with the page. */
enum gn_intent {
	GN_READ,      /* read it, or only bring it in ahead of its reader */
	GN_WRITE,     /* change parts of it */
	GN_OVERWRITE, /* write every byte of it before any thread reads one: it is not fetched */
	GN__COVER     /* overwrite whole sectors at once: they are not fetched */
};

struct gn__claim {
	uint64_t page;     /* the wanted page */
	uint64_t grant;    /* what a hit or a publish adds to the word: a pin, REF, and for a writer DIRTY */
	uint64_t deadline; /* 0 until the first wait */
	uint64_t *word;    /* of the page */
	/* version and payload of the word to publish; if the page is held absent, its version */
	uint64_t made;
	uint64_t victim; /* page to write back */
	uint64_t *victim_word;
	uint64_t snapshot; /* after a HIT without a pin the page's word; else 0 */
	uint32_t frame;
	uint32_t tried;      /* frames looked at in this search */
	uint32_t clean_only; /* 1: a write-back failed or must not happen: take clean frames only */
	uint32_t waited;     /* 1: this thread has seen the page BUSY */
	uint32_t searching;  /* 1: the claim holds its page BUSY while it waits for a frame (direct table) */
	uint32_t waits;      /* rounds that the claim has waited */
	uint32_t intent;     /* enum gn_intent */
	/* sectors that must be valid, or for GN__COVER are overwritten; all 32 bits for the whole page */
	uint32_t sectors;
	uint32_t dirties; /* sectors that will be written */
	/* sectors in motion that this claim owns: to be fetched, or for GN__COVER to be written */
	uint32_t owned;
	uint32_t pinned;   /* 1: the page is pinned for this claim */
	uint32_t step;     /* enum gn__step, between rounds (access.h) */
	uint32_t bypassed; /* 1: the claim went around the cache */
	uint32_t missed;   /* 1: the page was absent, or a wanted sector was */
	/* 1: the caller keeps the pin; if the page's pin count is at its limit, the claim fails */
	uint32_t holds;
	uint32_t paced;        /* 1: the claim waits for no round (detail/cache/pace.h) */
	uint32_t may_snapshot; /* 1: the caller reads an element; the next hit may be without a pin */
	/* 1: the element can be read from the store's memory, so the search for a frame is short */
	uint32_t may_bypass;
	/* 1: no thread waits for this page: never wait or write back for it, and leave no pin */
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
 * Give the frame to the page and publish the page's word with these flags (edge R4). The caller has passed a
 * fence since it took the frame: so the page that had the frame before no longer uses its sector word.
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
 * Is a missing page fetched as a whole, with its word BUSY until it is in the frame? Else it is published at
 * once and fetched by sectors.
 */
SIMT_FN int gn__claim_is_whole(const struct gn_cache_view *c, const struct gn__claim *k)
{
	return !c->sector || k->sectors == 0xffffffffu ||
	       gn__segment_of(c, k->page)->store.kind == GN_STORE_QUEUES;
}

/*
 * The claim has taken a frame. A reader that took its snapshot before the old page left must see that the
 * page's word has changed. So a fence orders the change of the word before the new bytes (edge R5, pairs with
 * A5, the reader's acquire of the data): the fence of gn__claim_move, or the one here if nothing is fetched.
 */
SIMT_FN enum gn__step gn__claim_fetch(const struct gn_cache_view *c, struct gn__claim *k)
{
	GN_TRACE(frame);
	k->missed = 1;
	if (k->intent != GN_OVERWRITE && k->intent != GN__COVER) {
		if (!gn__claim_is_whole(c, k))
			return GN__STEP_PUBLISH;
		gn__duel_count(c, k->page, 1ull << c->page_log2);
		return GN__STEP_FETCH;
	}
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
 * The result of a try to take a frame.
 *   TAKEN        the caller owns the frame
 *   TAKEN_DIRTY  the caller owns the frame when it has written the dirty page back
 *   PINNED       the page is pinned, or dirty and must not be written
 *   UNSETTLED    a lost race, or a cleared REF: a second try may succeed
 *   MOVING       another thread works on the frame or its page
 */
enum gn__taking { GN__TAKEN, GN__TAKEN_DIRTY, GN__PINNED, GN__UNSETTLED, GN__MOVING };

/* ---- direct table: any frame will do ---- */

/*
 * A page that was written back leaves the frame that the caller owns. A thread that finds the page absent
 * reads it from the store, so the written bytes are ordered before the absent word (edge R6, pairs with A4).
 */
SIMT_FN void gn__detach(const struct gn_cache_view *c, uint64_t *word)
{
	simt_store_release_dev_u64(word, simt_load_relaxed_dev_u64(word) & GN__WORD_VERSION); /* R6 */
	gn__count_eviction(c);
}

/*
 * Take a frame from the page that is in it, if that page may leave. A clean page leaves at once: the swap
 * continues the release sequence of the thread that fetched or cleaned the page (R6). The frame's owner stays
 * until the next page is published. A thread that reads the old owner sees from the page's word that the page
 * has left.
 * @clean_only  1: a dirty page may not leave
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
		then = seen & ~GN__WORD_REF; /* one swap for both cases: the lanes of a warp may have both */
	if (simt_cas_fenced_dev_u64(word, seen, then) != seen || used)
		return GN__UNSETTLED;
	if (seen & GN__WORD_DIRTY) {
		gn__await_announced(c, word);
		return GN__TAKEN_DIRTY;
	}
	gn__count_eviction(c);
	return GN__TAKEN;
}

/*
 * Try to take a frame: a free one, or one whose page may leave.
 * @page  receives the frame's owner: after GN__TAKEN_DIRTY the page to write back
 */
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
 * The next frame to try. For two rounds, or two laps over a window, it is where the page's hand is
 * (gn__hand_next), because the first may only clear REF. Other threads also move the hand, so the third round
 * goes from frame to frame, over those of all hands, and misses none. Under the random policy the first frame
 * is drawn, and every round goes from frame to frame.
 */
SIMT_FN uint32_t gn__next_frame(const struct gn_cache_view *c, const struct gn__claim *k)
{
	if (k->tried >= 2 * gn__hand_round(c, gn__hand_of(c, k->page)) ||
	    (c->policy == GN_RANDOM && k->tried))
		return k->frame + 1 == c->frames ? 0 : k->frame + 1;
	return gn__hand_next(c, k->page);
}

/*
 * A search stops after this number of frames in motion: more threads miss than there are frames, and the
 * threads that have frames must finish first.
 */
enum { GN__MANY_MOVING = 32 };

/*
 * For an element that can be read from the store a search tries GN__FEW_FRAMES frames. If that fails because
 * frames are scarce, the next GN__BYPASS_BACKOFF misses search for no frame.
 */
enum { GN__FEW_FRAMES = 16, GN__BYPASS_BACKOFF = 32 };

/*
 * All frames are pinned. Most pins last as long as an element is written, which is shorter than the way
 * around the cache. So a claim looks again GN__PIN_WAITS times before it goes around. Pages that a program
 * holds stay pinned. In a direct table of more than GN__PINNED_FRAMES short pins do not hold all frames, and
 * a search takes long: there a claim goes around at once.
 */
enum { GN__PINNED_FRAMES = 1024 };

#ifndef GN__PIN_WAITS /* a model of few steps has less patience */
#define GN__PIN_WAITS 16u
#endif

SIMT_FN int gn__claim_is_patient(const struct gn__claim *k)
{
	return !k->may_bypass && k->waits < GN__PIN_WAITS;
}

/*
 * No frame was found soon, and the claimed element can be loaded from the store. The page stays absent, and
 * the caller loads the element (gn__access_alone).
 * @scarce  1: most frames tried are pinned or in motion, so more threads miss than there are frames. Then the
 *          next misses of these processors do not search for a frame.
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
 * Search a frame for a page that the claim holds BUSY. All frames are tried, or only a few if the claim may
 * go around the cache.
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
	/*
	 * Wait for frames in motion: they settle within their deadlines. Wait for pinned frames a few times:
	 * a program may hold its pages as long as it likes.
	 */
	unsettled |= c->frames <= GN__PINNED_FRAMES && gn__claim_is_patient(k);
	return unsettled && !gn__claim_is_late(c, k) ? GN__STEP_WAIT : GN__STEP_NO_FRAME;
}

/* ---- set table: a frame of the page's set ---- */

/* The new word of a way that becomes the wanted page's, held BUSY. */
SIMT_FN uint64_t gn__retagged(const struct gn_cache_view *c, struct gn__claim *k, uint64_t *word,
                              uint64_t seen)
{
	k->word = word;
	k->made = gn__word_next_version(seen) | gn__tag_of(c, k->page);
	return GN__WORD_BUSY | k->made;
}

/* Take a way if no page is in it, or its page may leave. The set is locked. */
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

		/* a failed word holds its code where others count pins */
		if (!(seen & (GN__WORD_BUSY | GN__WORD_PINS)) || seen & GN__WORD_FAILED)
			return GN__TAKEN;
		if (seen & GN__WORD_BUSY)
			best = GN__MOVING;
	}
	return best;
}

/* The way to try first. Under the random policy the hand counts draws. */
SIMT_FN uint32_t gn__first_way(const struct gn_cache_view *c, uint32_t *hand)
{
	return (c->policy == GN_RANDOM ? gn__stir(++*hand) : *hand) % c->ways;
}

/* Take the page's preferred way if no page is in it. */
SIMT_FN enum gn__taking gn__take_preferred(const struct gn_cache_view *c, struct gn__claim *k, uint32_t set)
{
	const uint32_t frame = set * c->ways + gn__preferred_way(c, gn__tag_of(c, k->page));

	return simt_load_relaxed_dev_u64(&c->word[frame]) & (GN__WORD_HELD | GN__WORD_BUSY)
	           ? GN__PINNED
	           : gn__take_way(c, k, set, frame);
}

/* Try the preferred way if it is free, then all ways of the locked set, twice. */
SIMT_FN enum gn__taking gn__search_ways(const struct gn_cache_view *c, struct gn__claim *k, uint32_t set,
                                        uint32_t *hand)
{
	enum gn__taking best = gn__take_preferred(c, k, set);
	uint32_t way;

	if (best == GN__TAKEN || best == GN__TAKEN_DIRTY) {
		/* move the hand behind this way: its page is the last to be evicted or cleaned */
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
