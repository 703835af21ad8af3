/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/net/fetch.h - operations on another node's memory that return something, and waits for all
 * operations. A fetch sees what the thread sent to that node before. On cpu other threads run while it waits.
 */
#ifndef GRAPNEL_NET_FETCH_H
#define GRAPNEL_NET_FETCH_H

#include <grapnel/detail/net/send.h>

/* ---- slots ---- */

/* Take a free slot. Returns 0, or -GN_EAGAIN: no slot is free now. */
SIMT_FN int gn__net_slot_take(const struct gn_net_view *n, uint32_t *id)
{
	uint32_t ticket;
	const int rc = gn_ring_take(n->free_slot, &ticket);

	if (rc)
		return rc;
	*id = n->free_id[gn_ring_slot(n->free_slot, ticket)];
	gn_ring_release(n->free_slot, ticket);
	return 0;
}

/* Give a slot back. The ring has room for all slots, so it is never full for long. */
SIMT_FN void gn__net_slot_give(const struct gn_net_view *n, uint32_t id)
{
	uint32_t ticket;

	while (gn_ring_reserve(n->free_slot, &ticket))
		simt_relax();
	n->free_id[gn_ring_slot(n->free_slot, ticket)] = id;
	gn_ring_commit(n->free_slot, ticket);
}

/* Make a slot wait for a reply. Returns its token. */
SIMT_FN uint64_t gn__net_slot_arm(struct gn_net_slot *s, uint32_t id, char *to, uint32_t bytes,
                                  uint32_t unwaited)
{
	const uint32_t uses = ((simt_load_relaxed_dev_u32(&s->state) >> 2) + 1) & 0x1fffff;

	simt_store_relaxed_dev_u64(&s->to, (uint64_t)(uintptr_t)to);
	s->bytes = bytes;
	s->code = 0;
	simt_store_relaxed_dev_u32(&s->unwaited, unwaited);
	if (unwaited) /* R13 */
		simt_store_release_dev_u32(&s->state, uses << 2 | GN_NET_SLOT_WAITING);
	else
		simt_store_relaxed_dev_u32(&s->state, uses << 2 | GN_NET_SLOT_WAITING);
	return (uint64_t)uses << 16 | id;
}

/* Free an armed slot: nothing was sent for it, or its reply has come. */
SIMT_FN void gn__net_slot_disarm(const struct gn_net_view *n, uint32_t id)
{
	struct gn_net_slot *s = &n->slot[id];

	const uint32_t state = simt_load_relaxed_dev_u32(&s->state) & ~3u;

	if (SIMT_ON_CUDA) /* no slot of a GPU's thread is unwaited */
		simt_store_relaxed_dev_u32(&s->state, state);
	else
		simt_store_release_dev_u32(&s->state, state); /* R14 */
	gn__net_slot_give(n, id);
}

/*
 * Wait for the reply, at most patience_ns, and free the slot.
 * @to  receives the bytes that arrived in the stage; NULL: the stage is not used
 * Returns the code of the operation, -GN_ETIMEDOUT, or the code of gn__net_ended. In the last two cases the
 * reply frees the slot.
 */
SIMT_FN int gn__net_slot_wait(const struct gn_net_view *n, uint32_t id, uint64_t patience_ns, char *to,
                              uint64_t *value)
{
	struct gn_net_slot *s = &n->slot[id];
	const uint32_t waiting = (simt_load_relaxed_dev_u32(&s->state) & ~3u) | GN_NET_SLOT_WAITING;
	const uint64_t deadline = simt_clock_ns() + patience_ns;
	uint32_t tries = 0;
	int rc;

	/* A3: pairs with R3 */
	while ((simt_load_acquire_sys_u32(&s->state) & 3) != GN_NET_SLOT_DONE) {
		const int ended = gn__net_ended_by(n, tries++);

		if ((ended || simt_clock_ns() > deadline) &&
		    simt_cas_relaxed_sys_u32(&s->state, waiting, (waiting & ~3u) | GN_NET_SLOT_LOST) ==
		        waiting)
			return ended ? ended : -GN_ETIMEDOUT;
		simt_relax();
	}
	*value = s->value;
	rc = s->code;
	if (to && !rc)
		memcpy(to, (const void *)(uintptr_t)s->to, s->bytes);
	gn__net_slot_disarm(n, id);
	return rc;
}

/*
 * Give up the gets of these bytes for which only a quiet waits: when this returns, no reply writes there any
 * more. Their slots are free when the replies come.
 */
SIMT_NOINLINE_FN void gn__net_give_up(const struct gn_net_view *n, const char *to, uint64_t bytes)
{
	const uint64_t first = (uint64_t)(uintptr_t)to;

	for (uint32_t id = 0; id < n->slots; id++) {
		struct gn_net_slot *s = &n->slot[id];
		uint32_t state = simt_load_acquire_sys_u32(&s->state); /* A13: pairs with R13 */

		if (!simt_load_relaxed_sys_u32(&s->unwaited) ||
		    simt_load_relaxed_sys_u64(&s->to) - first >= bytes)
			continue;
		if ((state & 3) == GN_NET_SLOT_WAITING)
			state = simt_cas_relaxed_sys_u32(&s->state, state, (state & ~3u) | GN_NET_SLOT_LOST);
		while ((state & 3) == GN_NET_SLOT_DONE && simt_load_acquire_sys_u32(&s->state) == state)
			simt_relax(); /* the network thread copies 4 KiB at most, then frees it; A14: pairs
			                 with R14 */
	}
}

/* ---- fetching ---- */

/* A message that gets a reply. Its token comes behind the operands. */
struct gn__net_request {
	uint64_t head; /* the place of a MARK is 0; the token is added to it */
	uint64_t operand[2];
	uint32_t operands;
	uint32_t unwaited; /* 1: only a quiet waits for the reply */
	char *to;          /* receives the bytes of the reply; NULL: the reply is a value */
	uint32_t bytes;
	uint64_t patience_ns;
};

/* Send a request with slot id, and wait for its reply. Returns as gn__net_push and gn__net_slot_wait. */
SIMT_FN int gn__net_request_with(const struct gn_net_view *n, const struct gn__net_request *q, uint32_t id,
                                 uint64_t *value)
{
	char *stage = n->stage && q->bytes ? n->stage + (uint64_t)id * GN__MESSAGE_MOST_BYTES : 0;
	const uint64_t token =
	    gn__net_slot_arm(&n->slot[id], id, stage ? stage : q->to, q->bytes, q->unwaited);
	int rc;

	if (gn__message_kind(q->head) == GN__MESSAGE_MARK)
		rc = gn__net_push(n, 1, q->head | token, 0, 0, 0);
	else
		rc = gn__net_push(n, 2 + q->operands, q->head, q->operands ? q->operand[0] : token,
		                  q->operands > 1 ? q->operand[1] : token, token);
	if (rc) {
		gn__net_slot_disarm(n, id);
		return rc;
	}
	return q->unwaited ? 0 : gn__net_slot_wait(n, id, q->patience_ns, stage ? q->to : 0, value);
}

/*
 * Take a slot, send a request and wait for its reply. Slots are few: a lane that has one must run to the end
 * while other lanes of its warp still wait for one, so no collective function may come in between.
 */
SIMT_FN int gn__net_ask(const struct gn_net_view *n, const struct gn__net_request *q, uint64_t *value)
{
	uint64_t deadline = 0;
	uint32_t id = 0, tries = 0;
	int rc;

	do {
		if (!gn__net_slot_take(n, &id))
			rc = gn__net_request_with(n, q, id, value);
		else
			rc = gn__net_backoff(n, tries++, &deadline);
	} while (rc == -GN_EAGAIN);
	return rc;
}

SIMT_FN int gn__net_fetch_far(const struct gn_net_view *n, uint32_t op, uint32_t pe, uint64_t address,
                              uint32_t change, uint64_t a, uint64_t b, uint64_t *before)
{
	struct gn__net_request q;

	memset(&q, 0, sizeof q);
	q.head = gn__message_head(op, pe, address / 4);
	q.operand[0] = a;
	q.operand[1] = b;
	q.operands = gn__change_operands(change);
	q.patience_ns = n->timeout_ns;
	return gn__net_ask(n, &q, before);
}

SIMT_FN int gn__net_fetch(const struct gn_net_view *n, uint32_t pe, void *element, uint32_t change,
                          uint64_t a, uint64_t b, uint32_t bytes, uint64_t *before)
{
	const uint32_t op = gn__change_op(change, bytes) | GN__MESSAGE_FETCH;
	uint64_t address = 0;
	int rc = gn__net_element(n, pe, element, bytes, &address);

	if (!rc && !gn__net_change_self(n, pe, address, element, change, a, b, bytes, before))
		rc = gn__net_fetch_far(n, op, pe, address, change, a, b, before);
	return rc ? gn__net_fail(n, rc, pe, op) : 0;
}

SIMT_FN int gn__net_fetch_u32(const struct gn_net_view *n, uint32_t pe, void *element, uint32_t change,
                              uint32_t a, uint32_t b, uint32_t *before)
{
	uint64_t bits = 0;
	const int rc = gn__net_fetch(n, pe, element, change, a, b, 4, &bits);

	*before = (uint32_t)bits;
	return rc;
}

SIMT_FN int gn__net_fetch_u64(const struct gn_net_view *n, uint32_t pe, void *element, uint32_t change,
                              uint64_t a, uint64_t b, uint64_t *before)
{
	*before = 0;
	return gn__net_fetch(n, pe, element, change, a, b, 8, before);
}

SIMT_FN int gn_net_get_u32(const struct gn_net_view *n, uint32_t pe, const uint32_t *from, uint32_t *value)
{
	return gn__net_fetch_u32(n, pe, (void *)(uintptr_t)from, GN_GET, 0, 0, value);
}

SIMT_FN int gn_net_get_u64(const struct gn_net_view *n, uint32_t pe, const uint64_t *from, uint64_t *value)
{
	return gn__net_fetch_u64(n, pe, (void *)(uintptr_t)from, GN_GET, 0, 0, value);
}

SIMT_FN int gn_net_fetch_add_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t by,
                                 uint32_t *before)
{
	return gn__net_fetch_u32(n, pe, to, GN_ADD, by, 0, before);
}

SIMT_FN int gn_net_fetch_add_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t by,
                                 uint64_t *before)
{
	return gn__net_fetch_u64(n, pe, to, GN_ADD, by, 0, before);
}

SIMT_FN int gn_net_fetch_min_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t value,
                                 uint32_t *before)
{
	return gn__net_fetch_u32(n, pe, to, GN_MIN, value, 0, before);
}

SIMT_FN int gn_net_fetch_min_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t value,
                                 uint64_t *before)
{
	return gn__net_fetch_u64(n, pe, to, GN_MIN, value, 0, before);
}

SIMT_FN int gn_net_fetch_max_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t value,
                                 uint32_t *before)
{
	return gn__net_fetch_u32(n, pe, to, GN_MAX, value, 0, before);
}

SIMT_FN int gn_net_fetch_max_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t value,
                                 uint64_t *before)
{
	return gn__net_fetch_u64(n, pe, to, GN_MAX, value, 0, before);
}

SIMT_FN int gn_net_fetch_and_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t value,
                                 uint32_t *before)
{
	return gn__net_fetch_u32(n, pe, to, GN_AND, value, 0, before);
}

SIMT_FN int gn_net_fetch_and_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t value,
                                 uint64_t *before)
{
	return gn__net_fetch_u64(n, pe, to, GN_AND, value, 0, before);
}

SIMT_FN int gn_net_fetch_or_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t value,
                                uint32_t *before)
{
	return gn__net_fetch_u32(n, pe, to, GN_OR, value, 0, before);
}

SIMT_FN int gn_net_fetch_or_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t value,
                                uint64_t *before)
{
	return gn__net_fetch_u64(n, pe, to, GN_OR, value, 0, before);
}

SIMT_FN int gn_net_fetch_xor_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t value,
                                 uint32_t *before)
{
	return gn__net_fetch_u32(n, pe, to, GN_XOR, value, 0, before);
}

SIMT_FN int gn_net_fetch_xor_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t value,
                                 uint64_t *before)
{
	return gn__net_fetch_u64(n, pe, to, GN_XOR, value, 0, before);
}

SIMT_FN int gn_net_swap_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t value,
                            uint32_t *before)
{
	return gn__net_fetch_u32(n, pe, to, GN_PUT, value, 0, before);
}

SIMT_FN int gn_net_swap_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t value,
                            uint64_t *before)
{
	return gn__net_fetch_u64(n, pe, to, GN_PUT, value, 0, before);
}

SIMT_FN int gn_net_cas_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t expected,
                           uint32_t value, uint32_t *before)
{
	return gn__net_fetch_u32(n, pe, to, GN_CAS, expected, value, before);
}

SIMT_FN int gn_net_cas_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t expected,
                           uint64_t value, uint64_t *before)
{
	return gn__net_fetch_u64(n, pe, to, GN_CAS, expected, value, before);
}

/* ---- bytes ---- */

/*
 * Get bytes by several messages. Only a quiet waits for their replies; if the bytes arrive in the stage, the
 * thread waits for each reply.
 */
SIMT_FN int gn__net_get_parts(const struct gn_net_view *n, uint32_t pe, uint64_t address, char *to,
                              uint64_t bytes)
{
	struct gn__net_request q;
	uint64_t unused;
	int rc = 0;

	memset(&q, 0, sizeof q);
	q.operands = 1;
	q.unwaited = !n->stage;
	q.patience_ns = n->timeout_ns;
	for (uint64_t at = 0; !rc && at < bytes; at += GN__MESSAGE_MOST_BYTES) {
		q.bytes = gn__net_part(bytes - at);
		q.head = gn__message_head(GN__MESSAGE_BYTES | GN__MESSAGE_FETCH, pe, q.bytes);
		q.operand[0] = address + at;
		q.to = to + at;
		rc = gn__net_ask(n, &q, &unused);
	}
	if (rc && q.unwaited)
		gn__net_give_up(n, to, bytes);
	return rc;
}

SIMT_FN int gn_net_get_nb(const struct gn_net_view *n, uint32_t pe, const void *from, void *to,
                          uint64_t bytes)
{
	uint64_t address = 0;
	int rc = pe < n->nodes ? gn_net_address(n, from, bytes, &address) : -GN_EINVAL;
	const char *reached = rc ? 0 : gn__net_reached(n, pe, address, (void *)(uintptr_t)from);

	if (reached)
		memcpy(to, reached, bytes);
	else if (!rc)
		rc = gn__net_get_parts(n, pe, address, (char *)to, bytes);
	return rc ? gn__net_fail(n, rc, pe, GN__MESSAGE_BYTES | GN__MESSAGE_FETCH) : 0;
}

SIMT_FN int gn_net_quiet(const struct gn_net_view *n)
{
	const uint32_t op = GN__MESSAGE_MARK | GN__MESSAGE_FETCH;
	struct gn__net_request q;
	uint64_t unused = 0;
	int rc;

	memset(&q, 0, sizeof q);
	q.head = gn__message_head(op, n->node, 0);
	q.patience_ns = 3 * n->timeout_ns; /* the network thread gives up earlier and names the node */
	if (n->mapped)
		simt_fence_acq_rel_sys();
	rc = gn__net_ask(n, &q, &unused);
	return rc ? gn__net_fail(n, rc, n->node, op) : 0;
}

SIMT_FN int gn_net_get(const struct gn_net_view *n, uint32_t pe, const void *from, void *to, uint64_t bytes)
{
	uint64_t address = 0;
	int rc = gn_net_get_nb(n, pe, from, to, bytes);

	if (rc || n->stage ||
	    (!gn_net_address(n, from, bytes, &address) && gn__net_reached(n, pe, address, to)))
		return rc;
	rc = gn_net_quiet(n);
	if (rc)
		gn__net_give_up(n, (const char *)to, bytes);
	return rc;
}

SIMT_FN void gn_net_fence(const struct gn_net_view *n)
{
	(void)n;
	simt_fence_acq_rel_sys();
}

/* Wait until an element of the own memory, which node pe changes, is at least value. */
SIMT_FN int gn__net_await(const struct gn_net_view *n, uint32_t pe, const uint64_t *element, uint64_t value)
{
	const uint64_t deadline = simt_clock_ns() + n->timeout_ns;
	uint32_t tries = 0;

	while (simt_load_acquire_sys_u64(element) < value) {
		const int ended = gn__net_ended_by(n, tries++);

		if (ended || simt_clock_ns() > deadline)
			return gn__net_fail(n, ended ? ended : -GN_ETIMEDOUT, pe, GN__MESSAGE_NONE);
		simt_relax();
	}
	return 0;
}

SIMT_FN int gn_net_wait_until_ge_u64(const struct gn_net_view *n, const uint64_t *element, uint64_t value)
{
	return gn__net_await(n, n->node, element, value);
}

#endif
