/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/cache/access.h - the operations that arrays use: pin pages, unpin them, go around the cache.
 *
 * Collective over a mask of lanes, whose claims go on in rounds (round.h).
 */
#ifndef GRAPNEL_CACHE_ACCESS_H
#define GRAPNEL_CACHE_ACCESS_H

#include <grapnel/detail/cache/element.h>
#include <grapnel/detail/cache/group.h>
#include <grapnel/detail/cache/page.h>
#include <grapnel/detail/cache/round.h>
#include <grapnel/detail/cache/view.h>

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
 * c->wait_ns, and on cpu half as long before that (detail/cache/pace.h). A change is indivisible with respect
 * to other changes of the element through this cache. Returns a status of 0, -GN_EIO, -GN_ETIMEDOUT; for a
 * write or change also -GN_ENOSPC (the store is full) or -GN_EBUSY (an earlier write to these blocks may
 * still land); for GN__HELPS always 0.
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
