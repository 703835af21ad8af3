/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/cache/round.h - the claims of many lanes, and the rounds in which their lanes move bytes together.
 *
 * Each lane may want another page. The lane decides alone what to do for its page (claim.h), and all lanes
 * move the bytes together, so the pages of all lanes are in flight at once.
 */
#ifndef GRAPNEL_CACHE_ROUND_H
#define GRAPNEL_CACHE_ROUND_H

#include <grapnel/detail/cache/ahead.h>
#include <grapnel/detail/cache/begun.h>
#include <grapnel/detail/change.h>
#include <grapnel/detail/cache/claim.h>
#include <grapnel/detail/cache/element.h>
#include <grapnel/detail/cache/flush.h>
#include <grapnel/detail/cache/move.h>
#include <grapnel/detail/cache/page.h>
#include <grapnel/detail/cache/view.h>
#include <grapnel/trace.h>

/* Count one access for each of these lanes, by the result of their claim. */
SIMT_FN void gn__count_access(const struct gn_cache_view *c, uint32_t lanes, const struct gn__claim *k)
{
	if (c->stripe)
		gn__count_u64(k->step == GN__STEP_HIT && !k->missed ? &gn__stripe(c)->hits
		                                                    : &gn__stripe(c)->misses,
		              lanes);
}

/*
 * What a lane does in a scalar access. A lane that helps accesses no element: it only moves bytes for the
 * other lanes.
 */
enum gn__doing { GN__READS, GN__WRITES, GN__CHANGES, GN__HELPS };

struct gn__request {
	uint32_t doing;  /* enum gn__doing */
	uint32_t change; /* enum gn_change */
	uint32_t at;     /* offset in the page, in bytes */
	uint32_t size;   /* in bytes: 1 to 16; for changes 4 or 8 */
	/*
	 * in: the element to write, or the operands of a change; out: the element read or before the change
	 */
	uint64_t bits[2];
};

/*
 * Access the element in its frame. The page is pinned, or the caller validates its snapshot afterwards.
 * Returns all bits that were read, combined by |.
 */
SIMT_FN uint64_t gn__request_inside(struct gn__request *e, char *page)
{
	uint64_t read = 0;

	if (e->doing == GN__READS)
		/* another thread may change it at the same time */
		read = gn__load_element(e->bits, page + e->at, e->size);
	else if (e->doing == GN__WRITES)
		gn__store_element(page + e->at, e->bits, e->size);
	else
		e->bits[0] = gn__change_element(page + e->at, (enum gn_change)e->change, e->bits, e->size);
	GN_TRACE(element);
	return read;
}

/* Access the element in the store. The page is held absent, or the request is a read. */
SIMT_FN struct gn_store_status gn__request_bypass(struct gn__request *e, const struct gn__extent *x)
{
	struct gn_store_status status = {0, 0};
	uint64_t before = 0, after;

	if (e->doing == GN__READS)
		return gn_store_read_thread(x->store, x->offset + e->at, e->bits, e->size);
	if (e->doing == GN__WRITES)
		return gn_store_write_thread(x->store, x->offset + e->at, e->bits, e->size);
	status = gn_store_read_thread(x->store, x->offset + e->at, &before, e->size);
	if (status.code)
		return status;
	after = gn__changed((enum gn_change)e->change, before, e->bits, e->size);
	e->bits[0] = before;
	return gn_store_write_thread(x->store, x->offset + e->at, &after, e->size);
}

/*
 * The status of a claim that got no frame. If the caller wanted to hold the page, a failed write-back or a
 * full store is the reason; else all frames are pinned.
 */
SIMT_FN struct gn_store_status gn__claim_refusal(const struct gn_cache_view *c, const struct gn__claim *k)
{
	struct gn_store_status status = {-GN_ENOBUFS, 0};

	if (k->holds && k->unwritten.code)
		return k->unwritten;
	if (k->holds && simt_load_relaxed_dev_u64(&c->shared->full)) {
		status.code = -GN_ENOSPC;
		status.device = GN_NVME_CAPACITY_EXCEEDED;
	}
	return status;
}

/*
 * The claim got no frame, and its page is held absent. Make the request in the store, then drop the claim.
 * The fence makes the claim an acquire: after it, this lane and lanes that synchronise with it read from the
 * store the bytes that were written back (R6). A function of its own, so that gn__claim_round does not save
 * the registers that it needs.
 * @around  the request, or NULL: there is none
 */
SIMT_NOINLINE_FN void gn__claim_bypass_cache(const struct gn_cache_view *c, struct gn__claim *k,
                                             struct gn__request *around)
{
	const struct gn__extent x = gn__extent_of(c, k->page);

	simt_fence_acq_rel_dev();
	k->status = gn__claim_refusal(c, k);
	if (around) {
		k->status = gn__request_bypass(around, &x);
		if (c->stripe)
			gn__count_u64(&gn__stripe(c)->bypassed, 1);
	}
	gn__claim_drop(c, k);
}

/*
 * Move the bytes that some lanes need. Collective.
 * @writes  the same for all lanes. 1: write victims back; 0: fetch and publish pages and sectors
 *
 * Any lane moves bytes for any other, so the lanes synchronise before the fence. The fence comes after the
 * swaps of all lanes. It orders the swaps before the new bytes of the frames (R5). It also makes the swaps
 * acquires of earlier releases into the words: of the unpins by the frames' users, and of R6 for the pages
 * that left.
 */
SIMT_FN void gn__claim_move(const struct gn_cache_view *c, uint32_t mask, struct gn__claim *k, int writes)
{
	struct gn__move m = gn__move_none(writes);

	simt_warp_sync(mask);
	simt_fence_acq_rel_dev(); /* R5 */
	if (!writes && k->step == GN__STEP_PUBLISH) {
		gn__claim_publish_sectors(c, k);
		k->step = GN__STEP_FILL;
	}
	if (writes && k->step == GN__STEP_WRITE_BACK)
		m = gn__move_of(c, k->victim, k->frame, gn__sector_dirty_of(c, k->frame), 1);
	else if (!writes && k->step == GN__STEP_FETCH)
		m = gn__move_of(c, k->page, k->frame, 0xffffffffu, 0);
	else if (!writes && k->step == GN__STEP_FILL)
		m = gn__move_of(c, k->page, k->frame, k->owned, 0);
	gn__move_all(c, mask, k->victim, &m);
	if (m.frame)
		k->status = m.status;
}

/* After gn__claim_move: set the next step of each lane from the status of its transfer. Collective. */
SIMT_FN void gn__claim_moved(const struct gn_cache_view *c, uint32_t mask, struct gn__claim *k, int writes)
{
	struct gn_store_status status = k->status;

	if (writes && k->step == GN__STEP_WRITE_BACK) {
		GN_TRACE(write_back);
		k->status.code = 0;
		k->step = gn__claim_written(c, k, status);
	} else if (!writes && k->step == GN__STEP_FETCH) {
		gn__claim_publish(c, k, status);
		k->step = status.code ? GN__STEP_ERROR : GN__STEP_HIT;
	}
	if (writes || !simt_ballot(mask, k->step == GN__STEP_FILL))
		return;
	simt_warp_sync(mask); /* any lane may have moved bytes for any other */
	simt_fence_acq_rel_dev();
	if (k->step == GN__STEP_FILL)
		k->step = gn__claim_filled(c, k, status);
}

/*
 * Claims of many lanes: gn__claim_begin, then gn__claim_round until it returns 0, then gn__claim_end. Between
 * rounds a lane whose step is HIT may use its page and unpin it, so that it does not hold a frame that other
 * lanes need. Lanes wait for pages only in rounds. Everything that other threads wait for is given up in
 * rounds, too.
 */
SIMT_FN void gn__claim_begin(const struct gn_cache_view *c, uint32_t mask, int wants, struct gn__claim *k)
{
	simt_warp_sync(mask); /* a lane that has not arrived yet may wait for what a claim holds */
	k->step = wants ? gn__claim_seek(c, k) : GN__STEP_HIT;
	if (c->stream)
		gn__read_ahead(c, mask, wants, k);
}

/* Does this claim need another round? */
SIMT_FN int gn__claim_goes_on(const struct gn__claim *k)
{
	return k->step == GN__STEP_NO_FRAME ? !k->bypassed
	                                    : k->step != GN__STEP_HIT && k->step != GN__STEP_ERROR;
}

/*
 * One round: all lanes of mask move the bytes that some lanes need, or the lanes that wait look again.
 * Returns 1 to all lanes if some lane needs another round. At the end a lane's step is HIT (also if it wanted
 * nothing), NO_FRAME (the request `around` has been made in the store; k->status is its result) or ERROR.
 */
SIMT_NOINLINE_FN int gn__claim_round(const struct gn_cache_view *c, uint32_t mask, struct gn__claim *k,
                                     struct gn__request *around)
{
	const uint32_t moves =
	    1u << GN__STEP_WRITE_BACK | 1u << GN__STEP_FETCH | 1u << GN__STEP_PUBLISH | 1u << GN__STEP_FILL;
	uint32_t steps;

	if (k->step == GN__STEP_NO_FRAME && !k->bypassed) {
		k->bypassed = 1;
		gn__claim_bypass_cache(c, k, around);
	}
	steps = simt_or_u32(mask, 1u << k->step);
	if (steps & moves) {
		gn__claim_move(c, mask, k, (steps & 1u << GN__STEP_WRITE_BACK) != 0);
		gn__claim_moved(c, mask, k, (steps & 1u << GN__STEP_WRITE_BACK) != 0);
	} else {
		if (c->begun && steps & 1u << GN__STEP_WAIT)
			gn__begun_help(c, mask, k->step == GN__STEP_WAIT, k->page, k->waits);
		if (k->step == GN__STEP_WAIT) {
			gn__claim_backoff(k);
			k->step = gn__claim_seek(c, k);
		}
	}
	/* lanes that share a page may use what one of them has acquired or fetched */
	simt_warp_sync(mask);
	return steps & (moves | 1u << GN__STEP_WAIT) && simt_ballot(mask, gn__claim_goes_on(k));
}

SIMT_FN void gn__claim_end(const struct gn_cache_view *c, uint32_t mask, const struct gn__claim *k)
{
	uint32_t many = simt_warp_width() == 1 ? (uint32_t)GN__CLEANED_ALONE : 1;

	if (c->low_water && simt_ballot(mask, (int)k->missed))
		while (many-- && gn__clean_ahead(c, mask, k))
			;
	simt_warp_sync(mask);
}

/*
 * Lanes wait for pages that other threads fetch, and the warp has nothing else to do: it fetches offered
 * pages that lie behind these pages (detail/cache/ahead.h). Called between rounds. A function of its own, so
 * that the loops around it do not save the registers that it needs.
 * @waiting    from gn__claim_waiting, not 0
 * @waits_for  the page that the caller waits for
 */
SIMT_NOINLINE_FN void gn__claim_helps(const struct gn_cache_view *c, uint32_t mask, uint32_t waiting,
                                      uint64_t waits_for)
{
	const uint32_t leader = simt_first_lane(waiting);
	uint32_t many = 0;
	uint64_t page = 0;
	struct gn__claim ahead;

	if (simt_lane() == leader) {
		simt_store_relaxed_dev_u32(&gn__local(c)->awaited, 1);
		many = gn__offer_take(c, simt_popcount(mask), waits_for, &page);
	}
	many = simt_shfl_u32(mask, many, leader);
	if (!many)
		return;
	page = simt_shfl_u64(mask, page, leader) + simt_rank(mask);
	ahead = gn__claim_ahead(page);
	gn__claim_begin(c, mask, simt_rank(mask) < many, &ahead);
	while (gn__claim_round(c, mask, &ahead, 0))
		;
	gn__claim_end(c, mask, &ahead);
}

/*
 * The lanes that wait for pages of block stores that other threads fetch; 0 if some lane has something to do.
 * Collective.
 * @uses  1: the caller uses its page and unpins it as soon as it is there, before the warp does anything else
 */
SIMT_FN uint32_t gn__claim_waiting(const struct gn_cache_view *c, uint32_t mask, const struct gn__claim *k,
                                   int uses)
{
	const int busy = k->step == GN__STEP_HIT ? uses : gn__claim_goes_on(k) && k->step != GN__STEP_WAIT;
	const int waits = k->step == GN__STEP_WAIT && k->waited && c->stream &&
	                  gn__segment_of(c, k->page)->store.kind == GN_STORE_QUEUES;
	const uint32_t waiting = simt_ballot(mask, waits);

	return waiting && !simt_ballot(mask, busy) ? waiting : 0;
}

#endif
