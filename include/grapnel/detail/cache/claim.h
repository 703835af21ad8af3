/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/cache/claim.h - the claim of a page: one thread finds the page, or gets a frame for it
 * (detail/cache/frame.h) and its bytes.
 *
 * The functions here decide; they move no data. gn__claim_seek goes on until bytes must be moved or the
 * claim has ended, and returns which. The caller moves the bytes (with its whole warp) and calls again:
 *
 *     seek -> HIT                     the page is pinned, or (claim.snapshot) looked at again behind the read
 *          -> FETCH                   read the whole page into claim.frame, then gn__claim_publish
 *          -> PUBLISH                 gn__claim_publish_sectors: the page has a frame and no bytes; then as
 *                                     FILL
 *          -> FILL                    read the sectors claim.owned of the pinned page, then gn__claim_filled
 *          -> WRITE_BACK              write claim.victim from claim.frame, then gn__claim_written
 *          -> WAIT                    let others run, then seek again: it goes on from there
 *          -> NO_FRAME                every frame is pinned; gn__claim_drop when done
 *          -> ERROR                   claim.status says what
 *
 * A claim loads and swaps words relaxed. For FETCH, FILL, WRITE_BACK and NO_FRAME the caller passes a fence
 * before it moves a byte, which gives the order: one fence for all claims of a warp (docs/memory-model.md,
 * "One fence for the claims of a warp").
 *
 * No thread waits while it holds what others may need, but for a loader in the direct table: it keeps
 * its page BUSY while it waits for a frame. Threads that have frames let them go without needing that page.
 * The lock of a set is held for a search of its words. A claim that got no frame keeps its page absent until
 * gn__claim_drop in the next round. And no function here waits but for announced writes: lanes of one warp
 * that want different pages can need each other's pages, and a lane that is done may have to stand still
 * until the others of its warp leave the same loop. So there is one place, gn__claim_round (access.h), in
 * which lanes wait and in which they also give up everything that others wait for. The lanes of a mask
 * synchronise before any of them claims something, so that none waits for a lane that has not come yet.
 */
#ifndef GRAPNEL_CACHE_CLAIM_H
#define GRAPNEL_CACHE_CLAIM_H

#include <grapnel/detail/cache/frame.h>
#include <grapnel/detail/cache/pace.h>
#include <grapnel/detail/cache/page.h>
#include <grapnel/detail/cache/sector.h>
#include <grapnel/detail/cache/table.h>
#include <grapnel/detail/cache/view.h>
#include <grapnel/trace.h>

/*
 * @sectors  that must be there, or for GN__COVER are overwritten; all 32 bits for the whole page. A writer
 *           makes them dirty.
 */
SIMT_FN struct gn__claim gn__claim_init(uint64_t page, uint32_t intent, uint32_t sectors)
{
	struct gn__claim k;

	memset(&k, 0, sizeof k);
	k.page = page;
	k.intent = intent;
	k.sectors = sectors;
	k.dirties = intent == GN_READ ? 0 : sectors;
	k.grant = GN__WORD_PIN | GN__WORD_REF | (intent == GN_READ ? 0 : GN__WORD_DIRTY);
	return k;
}

/* A claim for a page that may be wanted soon. */
SIMT_FN struct gn__claim gn__claim_ahead(uint64_t page)
{
	struct gn__claim k;

	memset(&k, 0, sizeof k);
	k.page = page;
	k.sectors = 0xffffffffu;
	k.ahead = 1;
	k.clean_only = 1;
	return k;
}

SIMT_FN enum gn__step gn__claim_error(struct gn__claim *k, int code, uint32_t device)
{
	k->status.code = code;
	k->status.device = device;
	return GN__STEP_ERROR;
}

/* Not this time: wait, or give up what is held. Returns GN__STEP_WAIT or GN__STEP_ERROR. */
SIMT_FN enum gn__step gn__claim_waits(const struct gn_cache_view *c, struct gn__claim *k)
{
	if (!gn__claim_is_late(c, k))
		return GN__STEP_WAIT;
	if (k->pinned) {
		gn__sector_give_back(c, k->frame, k->owned);
		gn__page_unpin(k->word);
		k->pinned = k->owned = 0;
	}
	return gn__claim_error(k, -GN_ETIMEDOUT, 0);
}

/*
 * gn__claim_publish_sectors - after PUBLISH, behind a fence since then (R5): the page has its frame, and
 * everybody sees it; the sectors that the caller wants are in motion.
 */
SIMT_FN void gn__claim_publish_sectors(const struct gn_cache_view *c, struct gn__claim *k)
{
	k->owned = k->sectors;
	gn__claim_give(c, k, GN__WORD_PARTIAL);
}

/* ---- direct table ---- */

SIMT_FN enum gn__step gn__claim_direct(const struct gn_cache_view *c, struct gn__claim *k,
                                       const struct gn_hold *found)
{
	k->made = found->seen & GN__WORD_VERSION;
	if (simt_cas_fenced_dev_u64(found->word, found->seen, GN__WORD_BUSY | k->made) != found->seen)
		return GN__STEP_AGAIN;
	GN_TRACE(claim);
	k->word = found->word;
	return gn__search_frames(c, k);
}

/* ---- set table ---- */

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

/*
 * The word that says of one page at a time that a thread accesses it in the store: the page + 1, else 0. That
 * page is in no frame, and no thread may fetch it. Several pages share a word: then one access waits for the
 * other.
 */
SIMT_FN uint64_t *gn__kept_absent(const struct gn_cache_view *c, uint64_t page)
{
	return &c->shared->kept_absent[gn__stir((uint32_t)page) % GN_CACHE_ABSENT];
}

/*
 * Keep a page out of the frames until gn__claim_drop, for a thread that accesses it in the store. The page is
 * absent and its set is locked. Returns 1; or 0 if another thread's access to the store goes on.
 */
SIMT_FN int gn__keep_absent(const struct gn_cache_view *c, uint64_t page)
{
	return simt_cas_acquire_dev_u64(gn__kept_absent(c, page), 0, page + 1) == 0;
}

/* The set is locked: may the page get a way of it? Not if it has one, or is kept absent. */
SIMT_FN int gn__set_lacks(const struct gn_cache_view *c, uint64_t page, int *found)
{
	*found = gn__find_in_set(c, page, 0).word != 0;
	return !*found && simt_load_relaxed_dev_u64(gn__kept_absent(c, page)) != page + 1;
}

SIMT_FN enum gn__step gn__claim_in_set(const struct gn_cache_view *c, struct gn__claim *k)
{
	const uint32_t set = gn__set_of(c, k->page);
	/*
	 * Look first: the lock is for claims that may find a way, and for those that want none. A read that
	 * may go around the cache takes its chance at once.
	 */
	enum gn__taking taking = k->waits || !k->may_bypass ? gn__look_at_ways(c, set) : GN__TAKEN;
	const int pinned = taking == GN__PINNED, patient = gn__claim_is_patient(k);
	int found, kept = 0;
	uint32_t hand;

	if (k->may_bypass && taking == GN__MOVING)
		return gn__claim_bypass(c, k, 0);
	if (taking == GN__MOVING || (pinned && patient) || !gn__lock_set(c, set, &hand))
		return gn__claim_waits(c, k);
	if (gn__set_lacks(c, k->page, &found)) {
		taking = pinned ? GN__PINNED : gn__search_ways(c, k, set, &hand);
		kept = taking == GN__PINNED && !k->may_bypass && !patient &&
		       (k->holds || gn__keep_absent(c, k->page)); /* a hold accesses no store */
	} else {
		taking = GN__UNSETTLED;
	}
	gn__unlock_set(c, set, hand);
	if (found) /* another thread was faster */
		return GN__STEP_AGAIN;
	if (kept)
		return GN__STEP_NO_FRAME;
	if (taking == GN__TAKEN)
		return gn__claim_fetch(c, k);
	if (taking == GN__TAKEN_DIRTY)
		return GN__STEP_WRITE_BACK;
	return k->may_bypass ? gn__claim_bypass(c, k, taking == GN__PINNED) : gn__claim_waits(c, k);
}

/*
 * The victim of a set is written: give its way to the wanted page, unless that came by another way meanwhile
 * or is to stay absent.
 * If another thread has the lock, the victim stays, clean, and the claim looks again: to keep the way it
 * would have to wait for the lock, which other threads take in turns.
 */
SIMT_FN enum gn__step gn__claim_way_written(const struct gn_cache_view *c, struct gn__claim *k)
{
	const uint32_t set = gn__set_of(c, k->page);
	const uint64_t seen = simt_load_relaxed_dev_u64(k->victim_word);
	uint32_t hand;
	int found, lacks;

	if (!gn__lock_set(c, set, &hand)) {
		gn__sector_cleaned(c, k->frame);
		simt_and_acq_rel_dev_u64(k->victim_word, ~(GN__WORD_BUSY | GN__WORD_DIRTY));
		return GN__STEP_AGAIN;
	}
	lacks = gn__set_lacks(c, k->page, &found);
	gn__count_eviction(c);
	simt_store_release_dev_u64(k->victim_word, lacks ? gn__retagged(c, k, k->victim_word, seen)
	                                                 : seen & GN__WORD_VERSION);
	gn__unlock_set(c, set, hand);
	return lacks ? gn__claim_fetch(c, k) : GN__STEP_AGAIN;
}

/* A page whose last fetch failed still has its way: try again in it. */
SIMT_FN enum gn__step gn__claim_failed_way(const struct gn_cache_view *c, struct gn__claim *k,
                                           const struct gn_hold *found)
{
	const uint64_t busy = gn__retagged(c, k, found->word, found->seen);

	k->frame = gn__frame_of(c, found);
	if (simt_cas_fenced_dev_u64(found->word, found->seen, busy) != found->seen)
		return GN__STEP_AGAIN;
	return gn__claim_fetch(c, k);
}

/* ---- both ---- */

SIMT_FN enum gn__step gn__claim_missing(const struct gn_cache_view *c, struct gn__claim *k,
                                        const struct gn_hold *found)
{
	if (k->may_bypass && gn__backs_off(&gn__local(c)->bypass_backoff))
		return gn__claim_bypass(c, k, 0);
	if (k->intent != GN_READ && gn__is_full(c, k->page))
		return gn__claim_error(k, -GN_ENOSPC, GN_NVME_CAPACITY_EXCEEDED);
	if (gn__pace_holds(c, k))
		return gn__claim_waits(c, k);
	if (c->owner)
		return gn__claim_direct(c, k, found);
	if (found->word && found->seen & GN__WORD_FAILED)
		return gn__claim_failed_way(c, k, found);
	return gn__claim_in_set(c, k);
}

/* ---- a page in parts ---- */

/* A claim ahead has nothing left to fetch: it lets the page go. */
SIMT_FN enum gn__step gn__claim_leave(struct gn__claim *k)
{
	gn__page_unpin(k->word);
	k->pinned = 0;
	return GN__STEP_HIT;
}

/*
 * Sectors are wanted. If they end a run of the page's sectors, and there are no others, the page is read in
 * order: then as many are fetched as the run had before them. A page that is read at random has gaps.
 */
SIMT_FN uint32_t gn__claim_widened(uint64_t seen, uint32_t wanted)
{
	const uint32_t all = (uint32_t)seen | (uint32_t)(seen >> 32) | wanted, sum = all + (all & (0 - all));
	const uint32_t run = all & ~sum, next = sum & ~all; /* the lowest run, and the sector behind it */
	const uint32_t rest = all & sum, end = rest & (0 - rest);
	const uint32_t before = simt_popcount(run & ~wanted), many = simt_popcount(wanted);

	/* sectors behind the end of the page are there: a run up to the top is no gap */
	if (wanted & ~run || !(next >> 1 & wanted) || rest + end || before <= many)
		return wanted;
	return wanted | (((next << (before - many)) - next) & (end - 1));
}

/*
 * The page is pinned, and PARTIAL when it was: are the wanted sectors there? Those that are absent become the
 * claim's. A claim fetches its sectors at once; so a claim that waits for sectors holds none that others
 * need, but for GN__COVER, whose sectors are claimed from the lowest on.
 */
SIMT_FN enum gn__step gn__claim_sectors(const struct gn_cache_view *c, struct gn__claim *k)
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
		return covers ? GN__STEP_AGAIN : k->owned ? GN__STEP_FILL : GN__STEP_AGAIN;
	}
	if (k->ahead)
		return gn__claim_leave(k);
	if (theirs)
		return gn__claim_waits(c, k);
	if (k->dirties & ~k->owned)
		gn__sector_dirty(c, k->frame, k->dirties & ~k->owned);
	return GN__STEP_HIT;
}

/* Are all sectors that a reader wants in the frame? Acquires their bytes. */
SIMT_FN int gn__claim_has(const struct gn_cache_view *c, const struct gn__claim *k,
                          const struct gn_hold *found)
{
	uint32_t there;

	if (found->seen & GN__WORD_VALID)
		return 1;
	if (!(found->seen & GN__WORD_PARTIAL))
		return 0;
	there = gn__sector_valid(simt_load_acquire_dev_u64(&c->sector[gn__frame_of(c, found)]));
	return !(k->sectors & ~there);
}

/* Is another thread bringing what a reader wants? It need not pin the page meanwhile. */
SIMT_FN int gn__claim_comes(const struct gn_cache_view *c, const struct gn__claim *k,
                            const struct gn_hold *found)
{
	return k->may_snapshot && found->seen & GN__WORD_PARTIAL &&
	       k->sectors & gn__sector_moving(simt_load_relaxed_dev_u64(&c->sector[gn__frame_of(c, found)]));
}

/*
 * The page has come, for a claim that reads an element: it takes a snapshot instead of a pin, because threads
 * that have waited for a page together would pin it one after the other. If the page leaves meanwhile, the
 * claim pins it the next time. What is read comes after the word (A4):
 * in a direct table that look was a leading one, and the address of what is read depends on it.
 */
SIMT_FN enum gn__step gn__claim_snapshot(const struct gn_cache_view *c, struct gn__claim *k,
                                         const struct gn_hold *found)
{
	if ((!c->owner || !(found->seen & GN__WORD_VALID)) &&
	    simt_load_acquire_dev_u64(found->word) != found->seen)
		return GN__STEP_AGAIN;
	gn__page_touch(found, found->seen);
	k->may_snapshot = 0;
	k->snapshot = found->seen;
	k->word = found->word;
	k->frame = gn__frame_of(c, found);
	return GN__STEP_HIT;
}

SIMT_FN enum gn__step gn__claim_present(const struct gn_cache_view *c, struct gn__claim *k,
                                        const struct gn_hold *found)
{
	const uint64_t seen = found->seen;

	if (k->ahead && (seen & (GN__WORD_VALID | GN__WORD_BUSY)))
		return GN__STEP_HIT;
	if (k->may_snapshot && gn__claim_has(c, k, found))
		return gn__claim_snapshot(c, k, found);
	if (!gn__page_can_pin(seen) || gn__claim_comes(c, k, found)) {
		k->waited |= (seen & GN__WORD_BUSY) != 0;
		/* a program may hold its pins for ever, so no thread waits until one more can be counted */
		if (k->holds && !(seen & GN__WORD_BUSY) && (seen & GN__WORD_PINS) == GN__WORD_PINS)
			return gn__claim_error(k, -GN_ENOBUFS, 0);
		/*
		 * an access never gets -GN_ENOBUFS: the page is in a frame, and an access around the cache
		 * would miss writes to the frame
		 */
		return gn__claim_waits(c, k);
	}
	if (!gn__page_try_pin(found->word, seen, k->grant & ~GN__WORD_PINS, GN__ACQUIRE))
		return GN__STEP_AGAIN;
	k->word = found->word;
	k->frame = gn__frame_of(c, found);
	k->pinned = 1;
	if (!(seen & GN__WORD_VALID))
		return gn__claim_sectors(c, k);
	if (k->dirties)
		gn__sector_dirty(c, k->frame, k->dirties);
	return GN__STEP_HIT;
}

SIMT_FN enum gn__step gn__claim_lookup(const struct gn_cache_view *c, struct gn__claim *k)
{
	const struct gn_hold found = gn__table_find(c, k->page);

	if (found.word && found.seen & (GN__WORD_HELD | GN__WORD_BUSY))
		return gn__claim_present(c, k, &found);
	/* the fetch this thread waited for has failed; a thread that comes now tries again */
	if (found.word && found.seen & GN__WORD_FAILED && k->waited)
		return gn__claim_error(k, gn__word_failed_code(found.seen),
		                       gn__word_failed_device(found.seen));
	return gn__claim_missing(c, k, &found);
}

/*
 * gn__claim_seek - look for the page, or go on where the claim waited (see the top of this file).
 * One thread. Waits for nothing but announced writes.
 */
SIMT_NOINLINE_FN enum gn__step gn__claim_seek(const struct gn_cache_view *c, struct gn__claim *k)
{
	enum gn__step step;

	do {
		step = k->pinned      ? gn__claim_sectors(c, k)
		       : k->searching ? gn__search_frames(c, k)
		                      : gn__claim_lookup(c, k);
	} while (step == GN__STEP_AGAIN);
	/* A claim ahead never waits; a page that it holds BUSY without a frame must be let go. */
	if (k->ahead && step == GN__STEP_WAIT)
		step = k->searching ? GN__STEP_NO_FRAME : GN__STEP_HIT;
	return step;
}

/*
 * gn__claim_written - the victim of WRITE_BACK was written, or not.
 * Returns the next step. A victim that could not be written keeps its frame and stays dirty.
 */
SIMT_NOINLINE_FN enum gn__step gn__claim_written(const struct gn_cache_view *c, struct gn__claim *k,
                                                 struct gn_store_status status)
{
	enum gn__step step = GN__STEP_AGAIN;

	/* the cleaner would have had something to do */
	simt_store_relaxed_dev_u32(&gn__local(c)->clean_backoff, 0);
	if (status.code) {
		simt_and_acq_rel_dev_u64(k->victim_word, ~GN__WORD_BUSY);
		k->clean_only = 1;
		k->unwritten = status;
	} else if (c->owner) {
		gn__detach(c, k->victim_word);
		step = gn__claim_fetch(c, k);
	} else {
		step = gn__claim_way_written(c, k);
	}
	return step == GN__STEP_AGAIN ? gn__claim_seek(c, k) : step;
}

/* The page could not be fetched: its frame is free again, and the page says why. */
SIMT_FN void gn__claim_fail(const struct gn_cache_view *c, struct gn__claim *k, struct gn_store_status status)
{
	uint64_t made = k->made;

	if (c->owner) {
		made = gn__word_next_version(made);
		simt_store_release_dev_u32(&c->owner[k->frame], GN__OWNER_FREE);
	}
	simt_store_release_dev_u64(k->word,
	                           gn__word_failed(made, gn__word_payload(made), status.code, status.device));
}

/*
 * gn__claim_publish - the bytes of FETCH are in the frame, or could not be had.
 * With a status of 0 the page is pinned for the caller and everybody may use it (edge R4, pairs with A4 of
 * gn__table_find); else the frame is free again and the page says what failed.
 */
SIMT_FN void gn__claim_publish(const struct gn_cache_view *c, struct gn__claim *k,
                               struct gn_store_status status)
{
	GN_TRACE(publish);
	if (status.code)
		gn__claim_fail(c, k, status);
	else
		gn__claim_give(c, k, GN__WORD_VALID);
}

/*
 * gn__claim_filled - the bytes of FILL are in the frame, behind a fence since then; or they could not be had,
 * and their sectors are absent as before, so that the next access tries again.
 * Returns the next step: HIT, or WAIT for sectors that others bring.
 */
SIMT_FN enum gn__step gn__claim_filled(const struct gn_cache_view *c, struct gn__claim *k,
                                       struct gn_store_status status)
{
	if (status.code)
		gn__sector_give_back(c, k->frame, k->owned);
	else
		gn__sector_arrive(c->sector, k->word, k->frame, k->owned, 0);
	gn__duel_count(c, k->page, (uint64_t)simt_popcount(k->owned) << c->sector_log2);
	k->owned = 0;
	if (status.code || k->ahead) {
		gn__page_unpin_after_fence(k->word);
		k->pinned = 0;
		return status.code ? GN__STEP_ERROR : GN__STEP_HIT;
	}
	return gn__claim_seek(c, k);
}

/*
 * gn__claim_backoff - after WAIT: pause before the next seek. The first pauses are 0.16 microseconds, since a
 * page takes one and more. A pause grows to about a 64th of the time that the claim has waited: thousands of
 * threads that poll for few frames slow down the memory accesses of the threads that move pages.
 */
SIMT_FN void gn__claim_backoff(struct gn__claim *k)
{
	/* other threads wait for a claim that holds a page or sectors */
	const uint32_t longer = k->pinned || k->searching ? 0 : k->waits / 64;

	simt_backoff(k->waits++, 3 + (longer < 10 ? longer : 10));
}

/* gn__claim_drop - give up after NO_FRAME; the page is absent and free to be claimed again. */
SIMT_FN void gn__claim_drop(const struct gn_cache_view *c, struct gn__claim *k)
{
	if (c->owner)
		simt_store_release_dev_u64(k->word, k->made);
	else if (!k->holds)
		simt_store_release_dev_u64(gn__kept_absent(c, k->page), 0);
}

#endif
