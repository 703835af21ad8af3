/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/cache/access.h - the operations that arrays use: pin pages, unpin them, go around the cache.
 *
 * Collective over a mask of lanes. Each lane may want another page. The lane decides alone what to do for its
 * page (claim.h), and all lanes move the bytes together, so the pages of all lanes are in flight at once.
 */
#ifndef GRAPNEL_CACHE_ACCESS_H
#define GRAPNEL_CACHE_ACCESS_H

#include <grapnel/detail/cache/ahead.h>
#include <grapnel/detail/cache/begun.h>
#include <grapnel/detail/change.h>
#include <grapnel/detail/cache/claim.h>
#include <grapnel/detail/cache/element.h>
#include <grapnel/detail/cache/flush.h>
#include <grapnel/detail/cache/group.h>
#include <grapnel/detail/cache/move.h>
#include <grapnel/detail/cache/page.h>
#include <grapnel/detail/cache/view.h>
#include <grapnel/trace.h>

/* ---- claims of many lanes ---- */

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
	if (c->low_water && simt_ballot(mask, (int)k->missed))
		gn__clean_ahead(c, mask, k);
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

/* ---- pin and unpin ---- */

/* The result of a pin for one lane. */
struct gn_pinned {
	struct gn_hold hold; /* hold.word is set in the first lane of a group only */
	struct gn_store_status status;
};

/*
 * gn_cache_pin_lanes - collective: pin a page for every group of lanes; all pages are in flight together.
 * @mask     the calling lanes; all of them move the bytes of each page
 * @lanes    the lanes that want the same page, the caller among them; 0: the caller wants no page and only
 *           helps. One pin is taken for these lanes together; gn_cache_unpin over the same lanes ends it.
 * @page     < c->pages
 * @intent   GN_READ, GN_WRITE or GN_OVERWRITE
 * Waits for transfers, at most c->wait_ns. Order: an acquire of all earlier unpins of the page.
 * Returns to all lanes of a group a status of 0, -GN_ENOBUFS (every frame that the page could take is pinned,
 * or the page has 16383 pins), -GN_ENOSPC (frames hold dirty pages of a full store, or the page is to be
 * written and its store is full), -GN_EIO (status.device is the device's status), -GN_ETIMEDOUT, -GN_EROFS
 * (write to a read-only store).
 */
SIMT_NOINLINE_FN struct gn_pinned gn_cache_pin_lanes(const struct gn_cache_view *c, uint32_t mask,
                                                     uint32_t lanes, uint64_t page, uint32_t intent)
{
	const uint32_t leader = lanes ? simt_first_lane(lanes) : simt_lane();
	int leads = lanes && simt_lane() == leader;
	struct gn__claim k = gn__claim_init(page, intent, 0xffffffffu);
	struct gn_pinned pinned = {{0, 0, 0}, {0, 0}};
	uint32_t frame, waiting;

	k.holds = 1;
	if (leads && intent != GN_READ && gn__segment_of(c, page)->store.read_only) {
		k.status.code = -GN_EROFS;
		leads = 0;
	}
	gn__claim_begin(c, mask, leads, &k);
	do {
		waiting = gn__claim_waiting(c, mask, &k, 0);
		if (waiting)
			gn__claim_helps(c, mask, waiting, k.page);
	} while (gn__claim_round(c, mask, &k, 0));
	gn__claim_end(c, mask, &k);
	pinned.status = gn__store_share(mask, leader, k.status);
	frame = simt_shfl_u32(mask, k.frame, leader);
	if (leads)
		gn__count_access(c, simt_popcount(lanes), &k);
	if (lanes && !pinned.status.code) {
		pinned.hold.word = k.word;
		pinned.hold.data = gn__frame(c, frame);
	}
	return pinned;
}

/*
 * gn_cache_pin - gn_cache_pin_lanes for one page that all lanes of mask want.
 * @intent  GN_READ; GN_WRITE: the page becomes dirty; GN_OVERWRITE: the caller writes every byte of the page
 *          before any thread reads one, so the page is not fetched; until then its bytes are undefined for
 *          all threads
 * gn_cache_unpin over the same mask ends the hold. The hold is returned by value: if its address were passed,
 * it would lie in memory, on the callers' common path too.
 */
SIMT_NOINLINE_FN struct gn_pinned gn_cache_pin(const struct gn_cache_view *c, uint32_t mask, uint64_t page,
                                               uint32_t intent)
{
	return gn_cache_pin_lanes(c, mask, mask, page, intent);
}

/*
 * gn_cache_pin_each - gn_cache_pin_lanes with a page and a pin for each lane. A lane ends its hold by
 * gn__page_unpin.
 * @wants  1: this lane wants a page
 */
SIMT_NOINLINE_FN struct gn_pinned gn_cache_pin_each(const struct gn_cache_view *c, uint32_t mask, int wants,
                                                    uint64_t page, uint32_t intent)
{
	return gn_cache_pin_lanes(c, mask, wants ? 1u << simt_lane() : 0, page, intent);
}

/* gn__page_hold - gn_cache_pin by an array's handle: without a call if the page is VALID. */
SIMT_FN struct gn_store_status gn__page_hold(const struct gn__pages *p, uint32_t mask, uint64_t page,
                                             uint32_t intent, struct gn_hold *hold)
{
	const struct gn_store_status ok = {0, 0};
	struct gn_pinned pinned;

	if (simt_likely(gn__page_pin_together(p, mask, page, intent != GN_READ, hold)))
		return ok;
	pinned = SIMT_COLD(gn_cache_pin)(p->cache, mask, page, intent);
	*hold = pinned.hold;
	return pinned.status;
}

/* gn_cache_unpin - collective over the mask of gn_cache_pin: end the hold. Order: a release. */
SIMT_FN void gn_cache_unpin(uint32_t mask, const struct gn_hold *hold)
{
	simt_warp_sync(mask);
	if (simt_lane() == simt_first_lane(mask))
		gn__page_unpin(hold->word);
}

/*
 * gn_cache_prefetch - collective: bring a page into a frame for every lane that wants one; all pages are in
 * flight together. It does nothing for a page that is in its frame, that another thread works on, or for
 * which there is no clean frame without pins. It never waits for other threads, only for the transfers that
 * it begins. If a fetch fails, threads that wait for the page get its error; a later reader fetches again.
 */
SIMT_NOINLINE_FN void gn_cache_prefetch(const struct gn_cache_view *c, uint32_t mask, int wants,
                                        uint64_t page)
{
	struct gn__claim k = gn__claim_ahead(page);

	gn__claim_begin(c, mask, wants, &k);
	while (gn__claim_round(c, mask, &k, 0))
		;
	gn__claim_end(c, mask, &k);
}

/* ---- one element ---- */

/*
 * The result of a scalar access. It is returned by value, so that the caller's variables have no address and
 * stay in registers.
 */
struct gn__access {
	uint64_t bits[2]; /* the element read, or before a change */
	struct gn_store_status status;
};

/* Is a page fetched by sectors (1) or as a whole (0)? */
SIMT_FN int gn__by_sectors(const struct gn_cache_view *c, uint64_t page)
{
	return c->sector && gn__segment_of(c, page)->store.kind == GN_STORE_MEMORY;
}

/*
 * The caller's group. Lanes that read may have come together with lanes that write and with lanes whose
 * elements have other sizes: these are in different groups. If the page is fetched by sectors, the lanes of a
 * group also want one sector. Collective.
 */
SIMT_FN struct gn__group gn__group_of(const struct gn_cache_view *c, uint32_t mask, uint64_t page,
                                      const struct gn__request *e)
{
	const int by_sectors = e->doing != GN__HELPS && gn__by_sectors(c, page);
	const uint32_t sector = by_sectors ? e->at >> c->sector_log2 : 0;
	const uint32_t lanes = simt_match_any_u64(mask, (page << 5 | sector) << 8 | e->doing << 5 | e->size);
	struct gn__group g = {mask, lanes, simt_first_lane(lanes), (uint32_t)by_sectors, {0, 0}};

	/* if all lanes read, no reach is needed */
	if (simt_ballot(mask, e->doing != GN__READS)) {
		g.reach = gn__group_reach(c, mask, lanes, e->at, e->size);
		if (e->doing != GN__WRITES)
			g.reach.covered = 0;
	}
	if (by_sectors)
		g.reach.touched = 1u << sector;
	return g;
}

/* The claim of a group's leader. */
SIMT_FN struct gn__claim gn__group_claim(const struct gn__group *g, uint64_t page,
                                         const struct gn__request *e)
{
	struct gn__claim k;

	if (e->doing == GN__READS) {
		k = gn__claim_init(page, GN_READ, g->by_sectors ? g->reach.touched : 0xffffffffu);
		k.may_snapshot = 1;
		k.may_bypass = g->by_sectors;
		return k;
	}
	k = gn__claim_init(page, g->reach.covered ? GN__COVER : GN_WRITE,
	                   g->reach.covered || g->by_sectors ? g->reach.touched : 0xffffffffu);
	k.dirties = g->reach.touched;
	return k;
}

/*
 * The groups whose page is there access their elements and unpin it. Collective.
 * @hit  1: the page of the caller's group is there
 * Returns 1 to all lanes of a group that is done. A group is not done if it had no pin and the page left its
 * frame.
 */
SIMT_FN int gn__groups_do(const struct gn_cache_view *c, uint32_t mask, const struct gn__group *g,
                          const struct gn__claim *k, int hit, struct gn__request *e)
{
	const uint32_t frame = simt_shfl_u32(mask, k->frame, g->leader);
	const uint64_t word = simt_shfl_u64(mask, (uint64_t)(uintptr_t)k->word, g->leader);
	const uint64_t snapshot = simt_shfl_u64(mask, k->snapshot, g->leader);
	uint64_t read, now;
	uint32_t lost;
	int gone = 0;

	if (hit) {
		if (e->doing != GN__READS)
			gn__group_touch(c, &g->reach, frame, e->at, e->size);
		read = gn__request_inside(e, gn__frame(c, frame));
		if (snapshot) { /* there is no pin */
			now = gn__page_reload((const uint64_t *)(uintptr_t)word, read, c->zero);
			gone = !gn__word_validate(snapshot, now);
		}
	}
	lost = simt_ballot(mask, gone);
	simt_warp_sync(mask);
	if (!hit || lost & g->lanes)
		return 0;
	if (simt_lane() != g->leader)
		return 1;
	gn__count_access(c, simt_popcount(g->lanes), k);
	if (!snapshot)
		gn__page_written(c, k->word, frame, k->owned);
	return 1;
}

/*
 * Each lane accesses one element; a group uses one pin. Each group unpins its page before the next round, so
 * that it holds nothing while other groups wait. All exchanges are among all lanes of mask (see
 * detail/cache/group.h). Returns -GN_ENOBUFS to lanes whose page found no frame, 0 to lanes that help.
 */
SIMT_FN struct gn_store_status gn__access_together(const struct gn_cache_view *c, uint32_t mask,
                                                   uint64_t page, struct gn__request *e)
{
	const struct gn__group g = gn__group_of(c, mask, page, e);
	const int helps = e->doing == GN__HELPS, leads = simt_lane() == g.leader && !helps;
	struct gn__claim k = gn__group_claim(&g, page, e);
	/*
	 * A lane that is alone in its group goes around the cache at once. A larger group does not, because
	 * only the request of its first lane would be made. A lane that helps has no request, but its claim
	 * may be for a page fetched ahead that finds no frame.
	 */
	struct gn__request *around = leads && !(g.lanes & (g.lanes - 1)) ? e : 0;
	struct gn_store_status status;
	int served = helps, hit;
	uint32_t waiting;

	gn__claim_begin(c, mask, leads, &k);
	simt_warp_sync(mask); /* what a lane acquired is behind it for its group */
	for (;;) {
		/* first, because a page stays pinned meanwhile, and others of the warp may take long */
		hit = simt_shfl_u32(mask, k.step == GN__STEP_HIT, g.leader) && !served;
		if (simt_ballot(mask, hit))
			served |= gn__groups_do(c, mask, &g, &k, hit, e);
		if (hit && !served && leads) {
			k.snapshot = 0;
			k.step = gn__claim_seek(c, &k);
		}
		if (!simt_ballot(mask, gn__claim_goes_on(&k) || (leads && !served && k.step == GN__STEP_HIT)))
			break;
		waiting = gn__claim_waiting(c, mask, &k, leads && !served);
		if (waiting)
			gn__claim_helps(c, mask, waiting, page);
		gn__claim_round(c, mask, &k, around);
	}
	gn__claim_end(c, mask, &k);
	if (!served && leads)
		gn__count_access(c, simt_popcount(g.lanes), &k);
	status = gn__store_share(mask, g.leader, k.status);
	if (helps)
		status.code = 0; /* the failure of a page fetched ahead is left to its readers */
	return status;
}

/*
 * The access of one lane of a group that found no frame. A read goes to the store: the page was absent after
 * this access began, so the store has every write before it. A write or change is made in a frame if there is
 * one now, else in the store while the page is held absent.
 */
SIMT_FN struct gn_store_status gn__access_alone(const struct gn_cache_view *c, uint64_t page,
                                                struct gn__request *e)
{
	const uint32_t self = 1u << simt_lane();
	const struct gn__extent x = gn__extent_of(c, page);
	struct gn__claim k = gn__claim_init(page, GN_WRITE, gn__sectors(c, e->at, e->at + e->size));

	if (e->doing == GN__READS) {
		if (c->stripe)
			gn__count_u64(&gn__stripe(c)->bypassed, 1);
		simt_fence_acq_rel_dev(); /* makes the look that found the page absent an acquire (R6) */
		return gn__request_bypass(e, &x);
	}
	gn__claim_begin(c, self, 1, &k);
	while (gn__claim_round(c, self, &k, e))
		;
	gn__claim_end(c, self, &k);
	if (k.step == GN__STEP_HIT) {
		gn__request_inside(e, gn__frame(c, k.frame));
		gn__page_unpin(k.word);
	}
	return k.status;
}

/*
 * gn_cache_access - read, write or change an element of a page as one step. The page is brought into a frame;
 * if there is no frame for it, the element is accessed in the store.
 * @page     < c->pages; the store must not be read-only if the request writes
 * @request  what to do. For GN_CAS bits[0] is the expected value and bits[1] the new one
 * Any thread, from divergent code; lanes that call it together act together. Waits for transfers, at most
 * c->wait_ns. A change is indivisible with respect to other changes of the element through this cache.
 * Returns a status of 0, -GN_EIO, -GN_ETIMEDOUT; for a write or change also -GN_ENOSPC (the store is full) or
 * -GN_EBUSY (an earlier write to these blocks may still land); for GN__HELPS always 0.
 */
SIMT_NOINLINE_FN struct gn__access gn_cache_access(const struct gn_cache_view *c, uint64_t page,
                                                   struct gn__request request)
{
	struct gn__request e = request;
	struct gn__access access = {{0, 0}, {0, 0}};

	/* Lanes that are together may have come with arrays of different caches. */
	access.status =
	    gn__access_together(c, simt_match_any_u64(simt_active(), (uint64_t)(uintptr_t)c), page, &e);
	if (access.status.code == -GN_ENOBUFS)
		access.status = gn__access_alone(c, page, &e);
	access.bits[0] = e.bits[0];
	access.bits[1] = e.bits[1];
	return access;
}

#endif
