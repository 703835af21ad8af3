/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - a bounded ring for many producers and many consumers.
 *
 * A ring hands out slots. The user has the records (`record[gn_ring_slot(ring, ticket)]`), so a ring can
 * guard records of any size in any memory. Each slot has a turn, which says which ticket may use the slot.
 * Ticket, slot and turn are those of BaM section 3.3. As in Vyukov's bounded MPMC queue the turn alone
 * decides, and a refusal by a full or an empty ring changes nothing:
 *
 *     turn == ticket           free: the producer with this ticket may write      (set by R2)
 *     turn == ticket + 1       full: the consumer with this ticket may read       (set by R1)
 *     turn == ticket + depth   free again, for the producer of the next round     (set by R2)
 *
 * Tickets and turns are 32-bit and wrap; they are compared by difference, which is exact because no ticket is
 * ever more than depth ahead of another and 2 <= depth <= 2^30.
 *
 * Edges:  R1 (commit) pairs with A1 (take): the record is seen by its consumer.
 *         R2 (release) pairs with A2 (reserve): the consumer has read before the slot is written again.
 */
#ifndef GRAPNEL_RING_H
#define GRAPNEL_RING_H

#include <grapnel/error.h>
#include <grapnel/simt.h>

/*
 * A ring. It must be in memory that all its users reach. The words of producers and consumers are on
 * different lines.
 */
struct gn_ring {
	uint32_t tail; /* next ticket of a producer */
	uint32_t pad_tail[31];
	uint32_t head; /* next ticket of a consumer */
	uint32_t pad_head[31];
	uint32_t *turn; /* depth of them */
	uint32_t depth; /* a power of two */
	uint32_t pad[29];
};

#if !defined(__CUDACC_RTC__)
#ifdef __cplusplus
extern "C" {
#endif

/*
 * gn_ring_init - make an empty ring.
 * @ring   host-readable image; copy it to the device if its users are there
 * @turn   depth turns, likewise; @turn_address is where the users will find them
 * @depth  slots, a power of two from 2 to 2^30
 * @start  first ticket: 0, or anything in tests of the wrap-around
 * Host. Returns 0 or -GN_EINVAL (depth).
 */
int gn_ring_init(struct gn_ring *ring, uint32_t *turn, uint32_t *turn_address, uint32_t depth,
                 uint32_t start);

#ifdef __cplusplus
}
#endif
#endif

/* gn_ring_slot - the slot of a ticket, 0 to depth - 1. */
SIMT_FN uint32_t gn_ring_slot(const struct gn_ring *ring, uint32_t ticket)
{
	return ticket & (ring->depth - 1);
}

/*
 * gn_ring_reserve - take the next free slot to write a record into.
 * @ticket  receives the ticket; write record[gn_ring_slot(ring, *ticket)], then gn_ring_commit
 * Any thread; lock-free; never waits. Returns 0, or -GN_EAGAIN when the ring is full (nothing changed).
 */
SIMT_FN int gn_ring_reserve(struct gn_ring *ring, uint32_t *ticket)
{
	uint32_t t = simt_load_relaxed_dev_u32(&ring->tail);

	for (;;) {
		/* A2: pairs with R2 */
		uint32_t turn = simt_load_acquire_dev_u32(&ring->turn[gn_ring_slot(ring, t)]);
		int32_t ahead = (int32_t)(turn - t);
		uint32_t seen;

		if (ahead < 0)
			return -GN_EAGAIN;
		if (ahead > 0) { /* another producer took this ticket */
			t = simt_load_relaxed_dev_u32(&ring->tail);
			continue;
		}
		seen = simt_cas_relaxed_dev_u32(&ring->tail, t, t + 1);
		if (seen == t) {
			*ticket = t;
			return 0;
		}
		t = seen;
	}
}

/* gn_ring_commit - hand the record of a reserved ticket to the consumers. R1. */
SIMT_FN void gn_ring_commit(struct gn_ring *ring, uint32_t ticket)
{
	simt_store_release_dev_u32(&ring->turn[gn_ring_slot(ring, ticket)], ticket + 1);
}

/*
 * gn_ring_take - take the oldest committed record.
 * @ticket  receives the ticket; read record[gn_ring_slot(ring, *ticket)], then gn_ring_release
 * Any thread; lock-free; never waits. Returns 0, or -GN_EAGAIN when the oldest slot holds no committed record
 * (the ring is empty, or its producer has not committed yet); nothing changed.
 */
SIMT_FN int gn_ring_take(struct gn_ring *ring, uint32_t *ticket)
{
	uint32_t t = simt_load_relaxed_dev_u32(&ring->head);

	for (;;) {
		/* A1: pairs with R1 */
		uint32_t turn = simt_load_acquire_dev_u32(&ring->turn[gn_ring_slot(ring, t)]);
		int32_t ahead = (int32_t)(turn - (t + 1));
		uint32_t seen;

		if (ahead < 0)
			return -GN_EAGAIN;
		if (ahead > 0) { /* another consumer took this ticket */
			t = simt_load_relaxed_dev_u32(&ring->head);
			continue;
		}
		seen = simt_cas_relaxed_dev_u32(&ring->head, t, t + 1);
		if (seen == t) {
			*ticket = t;
			return 0;
		}
		t = seen;
	}
}

/* gn_ring_release - free the slot of a taken ticket: its record has been read, and may be overwritten. R2. */
SIMT_FN void gn_ring_release(struct gn_ring *ring, uint32_t ticket)
{
	simt_store_release_dev_u32(&ring->turn[gn_ring_slot(ring, ticket)], ticket + ring->depth);
}

#endif
