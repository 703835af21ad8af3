/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net/relay.h - changes of another GPU's memory, handed to that GPU many at once.
 *
 * A thread that changes an element of a peer by itself pays the link a transaction for 8 bytes. On the route
 * GN_NET_RELAY (net.h) it writes the message, 16 bytes, into a ring in the peer's memory; lanes that send to the same peer
 * write neighbouring slots, so the link carries whole lines, and nobody waits for an answer. A kernel of the peer that
 * stays for the whole run (src/net/relay_kernels.c) reads the rings and does the changes where they are local. What
 * Gravel's aggregator is to a network (section 3.4), the lanes of a warp are to a link.
 *
 * A ring has one reader and, as producers, the threads of one processor of one node. A slot whose head is 0 is empty.
 *
 * Edges:  the pair (simt_store_pair_sys, simt_load_pair_sys): who sees a head has its operand.
 *         R7 (the reader: released, release) pairs with A7 (the producer, a quiet: acquire): slots are empty, changes done.
 */
#ifndef GRAPNEL_NET_RELAY_H
#define GRAPNEL_NET_RELAY_H

#include <grapnel/net/view.h>

struct gn_relay_slot {
	uint64_t head, operand;
};

/* What the producers of a ring share: in memory of their device. */
struct gn_relay {
	uint64_t tail; /* slots reserved, ever */
	uint64_t pad_tail[15];
	uint64_t released; /* the reader's: slots that are empty again */
	uint64_t pad_released[15];
	struct gn_relay_slot *slot; /* in the peer's memory */
	uint64_t capacity;          /* a power of two */
	uint64_t pad[14];
};

/* A ring's reader: in memory of its device. */
struct gn_relay_reader {
	struct gn_relay_slot *slot;
	uint64_t capacity;
	uint64_t at;        /* slots read */
	uint64_t given;     /* what *released says */
	uint64_t *released; /* in memory of the producers */
	uint64_t pad[3];
};

/* The ring from this thread's processor to a node. */
SIMT_FN struct gn_relay *gn__relay_to(const struct gn_net_view *n, uint32_t pe)
{
	const uint32_t processor = simt_processor();

	return &n->relay[(uint64_t)(processor < n->logs ? processor : 0) * n->nodes + pe];
}

/* Wait until the slot of this ticket is empty. Returns 0, -GN_ETIMEDOUT or what another node's program has failed with. */
SIMT_FN int gn__relay_room(const struct gn_net_view *n, const struct gn_relay *r, uint64_t ticket)
{
	uint64_t deadline = 0;
	uint32_t tries = 0;
	int rc = 0;

	while ((int64_t)(ticket - simt_load_acquire_sys_u64(&r->released) - r->capacity) >= 0) { /* A7 */
		rc = gn__net_patience(n, tries++, &deadline);
		if (rc != -GN_EAGAIN)
			return rc;
	}
	return 0;
}

/*
 * Hand over a change. Lanes that come together for the same node take neighbouring slots, and the first waits for all: so
 * one lane of a warp polls. A ticket that was drawn is used, or the run has failed. Returns what gn__relay_room does.
 */
SIMT_FN int gn__relay_push(const struct gn_net_view *n, uint32_t pe, uint64_t head, uint64_t operand)
{
	struct gn_relay *r = gn__relay_to(n, pe);
	const uint32_t mask = simt_match_any_u64(simt_active(), (uint64_t)(uintptr_t)r), leader = simt_first_lane(mask);
	const uint32_t lanes = simt_popcount(mask);
	uint64_t ticket = 0;
	int rc = 0;

	if (simt_lane() == leader) {
		ticket = simt_add_relaxed_dev_u64(&r->tail, lanes);
		rc = gn__relay_room(n, r, ticket + lanes - 1);
	}
	simt_warp_sync(mask); /* the slots are empty for all (A7) */
	ticket = simt_shfl_u64(mask, ticket, leader) + simt_rank(mask);
	rc = (int)simt_shfl_u32(mask, (uint32_t)rc, leader);
	if (simt_likely(!rc))
		simt_store_pair_sys(&r->slot[ticket & (r->capacity - 1)].head, head, operand);
	return rc;
}

/* Wait until all is done that this thread handed over. */
SIMT_FN int gn__relay_settle(const struct gn_net_view *n)
{
	uint64_t deadline = 0;
	uint32_t tries = 0;

	for (uint32_t pe = 0; pe < n->nodes; pe++) {
		struct gn_relay *r = gn__relay_to(n, pe);
		const uint64_t tail = simt_load_relaxed_dev_u64(&r->tail);

		while ((int64_t)(tail - simt_load_acquire_sys_u64(&r->released)) > 0) {
			const int rc = gn__net_patience(n, tries++, &deadline);

			if (rc != -GN_EAGAIN)
				return gn__net_fail(n, rc, pe, GN_MESSAGE_NONE);
		}
	}
	return 0;
}

#endif
