/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/store/begin.h - a read from a store of queues that is begun and looked at later, by any thread.
 *
 * A read holds a command slot from its post until its bytes have been taken, and nobody may be waiting for it
 * meanwhile. So such reads get fewer than half of the slots of a queue pair. The others are left to threads
 * that wait: these give their slots back in the loop in which they took them.
 */
#ifndef GRAPNEL_STORE_BEGIN_H
#define GRAPNEL_STORE_BEGIN_H

#include <grapnel/store.h>

struct gn__store_read {
	struct gn__store_move move;
	const struct gn_nvmeq *queue;
	uint32_t member; /* of a replica */
	uint32_t tried;  /* members that have failed */
};

/* The most slots of a queue pair that are lent to such reads. */
SIMT_FN uint32_t gn__store_lends(const struct gn_nvmeq *q)
{
	return (q->depth - 1) / 2;
}

/* A queue pair in use: those of a replica's member that is out of use may be replaced (gn_store_resync). */
SIMT_FN const struct gn_nvmeq *gn__store_used(const struct gn_store_view *s)
{
	return s->health ? gn__set_member(s, simt_first_lane(gn__replica_readers(s, 0))) : s->queue;
}

/* Can reads from this store be begun? */
SIMT_FN int gn__store_can_begin(const struct gn_store_view *s)
{
	return s->kind == GN_STORE_QUEUES && !s->tier && gn__store_lends(gn__store_used(s));
}

/* Count one more slot as lent, or one less. Returns 1, or 0: no more are lent. */
SIMT_FN int gn__store_lend(const struct gn_nvmeq *q)
{
	if (simt_add_relaxed_dev_u32(&q->state->lent, 1) < gn__store_lends(q))
		return 1;
	simt_reduce_add_relaxed_dev_u32(&q->state->lent, (uint32_t)-1);
	return 0;
}

SIMT_FN void gn__store_lent_back(const struct gn_nvmeq *q)
{
	simt_reduce_add_relaxed_dev_u32(&q->state->lent, (uint32_t)-1);
}

/* Choose a member of a replica that was not tried. Returns 1, or 0: no other is left. */
SIMT_FN int gn__store_read_choose(const struct gn_store_view *s, struct gn__store_read *r)
{
	const uint32_t left = gn__replica_readers(s, r->tried);

	if (!left)
		return 0;
	r->member = gn__replica_choose(left, r->move.offset);
	r->queue = gn__set_member(s, r->member) + gn__set_mine(s);
	r->move.part = GN__STORE_WANTS;
	r->move.tries = 0;
	r->move.deadline = simt_clock_ns() + gn__replica_timeout(s);
	return 1;
}

/*
 * gn__store_read_begin - describe a read; gn__store_read_poll posts it. One thread; waits for nothing.
 * @s  gn__store_can_begin
 */
SIMT_FN void gn__store_read_begin(const struct gn_store_view *s, struct gn__store_read *r, uint64_t offset,
                                  uint32_t bytes)
{
	struct gn__stripe_place place;

	memset(r, 0, sizeof *r);
	r->move.part = GN__STORE_WANTS;
	r->move.opcode = GN_NVME_READ;
	r->move.bytes = bytes;
	r->move.offset = offset;
	r->move.deadline = simt_clock_ns() + s->timeout_ns;
	if (!s->members) {
		r->queue = gn__store_queue(s);
	} else if (s->health) {
		if (gn__replica_refuses(s, offset, bytes) || !gn__store_read_choose(s, r))
			r->move.status.code = -GN_EINVAL;
	} else {
		place = gn__stripe_find(s, offset, bytes);
		r->queue = &place.q[gn__set_mine(s)];
		r->move.offset = place.offset;
		r->move.status.code = place.code;
	}
	if (r->move.status.code)
		r->move.part = GN__STORE_NONE;
}

/* The next step of a read that has a slot, or gets one. */
SIMT_FN void gn__store_read_on(struct gn__store_read *r)
{
	uint32_t part = r->move.part;
	int lent = part == GN__STORE_POSTED;

	if (part == GN__STORE_WANTS) {
		lent = gn__store_lend(r->queue);
		if (!lent) {
			r->move.status.code = gn__store_backoff(r->queue, r->move.deadline);
			r->move.part = r->move.status.code ? GN__STORE_NONE : GN__STORE_WANTS;
			return;
		}
	}
	if (part != GN__STORE_NONE)
		gn__store_move_on(r->queue, &r->move);
	part = r->move.part;
	if (lent && part != GN__STORE_POSTED && part != GN__STORE_LANDED)
		gn__store_lent_back(r->queue);
}

/*
 * gn__store_read_poll - take one step: get a slot, post, or poll. Rings and reaps for all threads. One thread
 * at a time; waits for nothing. Returns -GN_EAGAIN; 0: the bytes are there, call gn__store_read_take; or why
 * it failed, with the device's status in move.status: then the read has ended.
 */
SIMT_FN int gn__store_read_poll(const struct gn_store_view *s, struct gn__store_read *r)
{
	gn__store_read_on(r);
	if (r->move.part == GN__STORE_LANDED)
		return 0;
	if (r->move.part != GN__STORE_NONE)
		return -GN_EAGAIN;
	if (r->queue && s->health && gn__replica_again(s, r->member, r->move.status)) {
		r->tried |= 1u << r->member;
		if (gn__store_read_choose(s, r))
			return -GN_EAGAIN;
	}
	return r->move.status.code;
}

/*
 * gn__store_read_take - collective: copy the bytes of reads that have landed, and give their slots back.
 * @wants  1: the lane's read r has landed
 */
SIMT_FN void gn__store_read_take(uint32_t mask, int wants, struct gn__store_read *r, void *to)
{
	const char *from = wants ? gn_nvmeq_buffer(r->queue, r->move.cid) : 0;

	simt_copy_each(mask, simt_ballot(mask, wants), to, from, wants ? (r->move.bytes + 15) & ~15u : 0);
	if (!wants)
		return;
	gn__store_move_ends(r->queue, &r->move);
	gn__store_lent_back(r->queue);
}

#endif
