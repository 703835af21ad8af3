/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/cache/ticket.h - a ticket for a page: try to get the page, ask for it, give the ticket up.
 *
 * Collective over the mask of the ticket, whose first lane acts. None of these functions waits for another
 * thread, but gn__ticket_cancel, which waits for its own transfer. From memory there is nothing to wait for:
 * the lanes move the bytes themselves, at once.
 */
#ifndef GRAPNEL_CACHE_TICKET_H
#define GRAPNEL_CACHE_TICKET_H

#include <grapnel/detail/cache/access.h>
#include <grapnel/detail/cache/begun.h>

/* The claim of a ticket that holds nothing. */
SIMT_FN struct gn__claim gn__ticket_claim(const struct gn__ticket *t, int begins)
{
	struct gn__claim k = gn__claim_init(t->page, t->intent, 0xffffffffu);

	k.holds = 1;
	k.clean_only = (uint32_t)begins;
	k.waits = t->waits;
	k.waited = t->waited;
	k.deadline = t->deadline;
	return k;
}

/*
 * The claim has taken a frame, and the page's entry is locked: post the read. The fence is that of
 * gn__claim_move: it orders the swaps of the claim before the new bytes (R5), whoever moves them, and makes
 * them acquires (R6).
 */
SIMT_FN void gn__ticket_begins(const struct gn_cache_view *c, struct gn__ticket *t, const struct gn__claim *k)
{
	const struct gn__extent x = gn__extent_of(c, t->page);
	struct gn_cache_begun *b = &c->begun[t->at];

	simt_fence_acq_rel_dev();
	simt_store_relaxed_dev_u64(&b->page, t->page);
	b->claim = *k;
	gn__store_read_begin(x.store, &b->read, x.offset, x.bytes);
	gn__store_read_poll(x.store, &b->read); /* if it fails, the next one says so again */
	simt_add_relaxed_dev_u32(&c->shared->begun, 1);
	gn__begun_set(b, t->generation, GN__BEGUN_COMES);
	t->word = k->word;
	t->data = gn__frame(c, k->frame);
	t->state = GN__TICKET_COMES;
}

/* The claim would have to wait for another thread: let go what it holds. */
SIMT_FN void gn__ticket_lets_go(const struct gn_cache_view *c, struct gn__claim *k)
{
	if (k->pinned)
		gn__page_unpin(k->word);
	else if (k->searching)
		gn__claim_drop(c, k);
	k->pinned = 0;
}

/* The first lane: what came of its claim. */
SIMT_FN void gn__ticket_claimed(const struct gn_cache_view *c, struct gn__ticket *t, struct gn__claim *k)
{
	t->waited |= k->waited;
	t->status = k->status;
	if (k->step == GN__STEP_HIT) {
		t->word = k->word;
		t->data = gn__frame(c, k->frame);
		t->state = GN__TICKET_HELD;
		return;
	}
	if (k->step == GN__STEP_WAIT) {
		gn__ticket_lets_go(c, k);
		t->status.code = -GN_EAGAIN;
	}
}

/* Share the first lane's result. Returns its code. */
SIMT_FN int gn__ticket_share(uint32_t mask, struct gn__ticket *t)
{
	const uint32_t leader = simt_first_lane(mask);

	t->status = gn__store_share(mask, leader, t->status);
	t->state = simt_shfl_u32(mask, t->state, leader);
	t->data = (char *)(uintptr_t)simt_shfl_u64(mask, (uint64_t)(uintptr_t)t->data, leader);
	simt_warp_sync(mask); /* what the first lane has acquired, all lanes see */
	return t->status.code;
}

/*
 * Move bytes until the claim has ended or would wait: of a page in memory, or of the missing sectors of a
 * page that was written in parts.
 */
SIMT_FN void gn__ticket_moves(const struct gn_cache_view *c, uint32_t mask, struct gn__claim *k)
{
	const uint32_t moves =
	    1u << GN__STEP_WRITE_BACK | 1u << GN__STEP_FETCH | 1u << GN__STEP_PUBLISH | 1u << GN__STEP_FILL;

	while (simt_or_u32(mask, 1u << k->step | (uint32_t)(k->step == GN__STEP_NO_FRAME && !k->bypassed)
	                                             << 31) &
	       (moves | 1u << 31))
		gn__claim_round(c, mask, k, 0);
}

/*
 * gn__ticket_try - try to pin the page of a ticket that holds nothing, or to begin its fetch.
 * Returns 0 (HELD), -GN_EAGAIN (LATER or COMES), or why it cannot be had.
 */
SIMT_NOINLINE_FN int gn__ticket_try(const struct gn_cache_view *c, uint32_t mask, struct gn__ticket *t)
{
	const int begins = c->begun && gn__store_can_begin(&gn__segment_of(c, t->page)->store);
	const int leads = simt_lane() == simt_first_lane(mask);
	const int entry = leads && begins && gn__begun_take(c, t);
	struct gn__claim k = gn__ticket_claim(t, begins);
	int begun;

	t->waits++;
	t->status.code = 0;
	simt_warp_sync(mask); /* as in gn__claim_begin */
	k.step = GN__STEP_HIT;
	if (leads)
		k.step = !begins || entry                ? gn__claim_seek(c, &k)
		         : simt_clock_ns() > t->deadline ? gn__claim_error(&k, -GN_ETIMEDOUT, 0)
		                                         : GN__STEP_WAIT;
	begun = entry && k.step == GN__STEP_FETCH;
	if (begun) {
		gn__ticket_begins(c, t, &k);
		t->status.code = -GN_EAGAIN;
	} else if (entry) {
		gn__begun_set(&c->begun[t->at], t->generation, GN__BEGUN_FREE);
	}
	if (simt_ballot(mask, begun))
		k.step = GN__STEP_HIT;
	else
		gn__ticket_moves(c, mask, &k);
	if (leads && !begun)
		gn__ticket_claimed(c, t, &k);
	if (leads && (begun || k.step == GN__STEP_HIT))
		gn__count_access(c, simt_popcount(mask), &k);
	return gn__ticket_share(mask, t);
}

/* Ask for the fetch of a ticket. Returns 0 (HELD), -GN_EAGAIN, or why it failed. */
SIMT_FN int gn__ticket_comes(const struct gn_cache_view *c, uint32_t mask, struct gn__ticket *t)
{
	const int leads = simt_lane() == simt_first_lane(mask);
	struct gn_cache_begun *b = &c->begun[leads ? t->at : 0];
	const uint32_t comes = t->generation << 2 | GN__BEGUN_COMES;
	uint32_t now = leads ? simt_load_acquire_dev_u32(&b->state) : 0; /* A2 */

	if (simt_ballot(mask, leads && now == comes)) {
		gn__begun_serve(c, mask, leads, t->at);
		now = leads ? simt_load_acquire_dev_u32(&b->state) : 0; /* A2 */
	}
	if (leads) {
		t->status.code = -GN_EAGAIN;
		if ((now ^ comes) >> 2) {
			t->status.code = 0;
			t->state = GN__TICKET_HELD;
		} else if ((now & 3) == GN__BEGUN_FAILED) {
			t->status = b->read.move.status;
			t->state = GN__TICKET_LATER;
			gn__begun_set(b, t->generation + 1, GN__BEGUN_FREE);
		}
	}
	return gn__ticket_share(mask, t);
}

/* gn__ticket_poll - ask for the page of a ticket that is not HELD. Returns as gn__ticket_try. */
SIMT_NOINLINE_FN int gn__ticket_poll(const struct gn_cache_view *c, uint32_t mask, struct gn__ticket *t)
{
	const uint32_t leader = simt_first_lane(mask);
	int code;

	if (t->state == GN__TICKET_COMES) {
		t->waits++;
		code = gn__ticket_comes(c, mask, t);
	} else {
		code = gn__ticket_try(c, mask, t);
	}
	/* the others in turn: what they hold may be in the way */
	if (code == -GN_EAGAIN && c->begun)
		gn__begun_help(c, mask, simt_lane() == leader, t->page,
		               t->state == GN__TICKET_COMES ? 2 * t->waits + 1 : t->waits);
	return code;
}

/* gn__ticket_cancel - end a ticket. Waits for its fetch, which cannot be taken back. */
SIMT_NOINLINE_FN void gn__ticket_cancel(const struct gn_cache_view *c, uint32_t mask, struct gn__ticket *t)
{
	while (t->state == GN__TICKET_COMES && gn__ticket_poll(c, mask, t) == -GN_EAGAIN)
		simt_relax();
	if (t->state == GN__TICKET_HELD && simt_lane() == simt_first_lane(mask))
		gn__page_unpin(t->word);
	t->state = GN__TICKET_LATER;
}

#endif
