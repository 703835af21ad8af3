/* SPDX-License-Identifier: Apache-2.0 */
/*
 * direct.h - threads of a kernel write the work-queue entries of an RDMA device by themselves, ring its
 * doorbell and read its completions, as in GPUrdma and IBGDA. No thread of the host takes part.
 *
 * The entries are those of mlx5 devices (ConnectX-4 and later; the format is that of <infiniband/mlx5dv.h>).
 * It has never run on hardware: tests drive it against a device in software that reads the same entries. No
 * store uses it yet.
 *
 *   take   wait for a place in the ring; the ticket is the number of the entry
 *   write  the entry, and mark it (R1)
 *   turn   one waiting thread at a time frees the places of entries that have ended, and gives the
 *          marked entries to the device: it writes the doorbell record, then rings one doorbell
 *   poll   the completion of a ticket has a place of its own, so each thread waits for its own
 *
 * Every entry asks for a completion. A queue pair's entries end in their order, and the completion queue is
 * its own: entry and completion of a ticket have the same number.
 *
 * Edges (docs/memory-model.md says how to read them):
 *   R1 mark -> A1 turn             the entry is complete
 *   R2 record, doorbell -> device  the entries that it may fetch (system scope)
 *   device -> A2 poll              the completion, and the data that came before it (system scope)
 *   R3 ended, gone -> A3 turn      the completion was read: its place may be used again
 *   R4 head -> A4 take             the places before it are free
 */
#ifndef GN_STORE_RDMA_DIRECT_H
#define GN_STORE_RDMA_DIRECT_H

#include <grapnel/nvme.h>
#include <grapnel/store.h>

/* In device memory. All tickets count up and wrap around. */
struct gn_direct_state {
	uint32_t next;   /* the ticket that is taken next */
	uint32_t posted; /* the device may fetch the entries before it */
	uint32_t head;   /* the entries before it have ended */
	uint32_t lock;   /* 1: a thread serves */
};

/* Marks of a place: the ticket plus one that the mark is for. An older ticket's value says nothing. */
struct gn_direct_place {
	uint32_t written; /* the entry is complete */
	uint32_t ended;   /* its completion was read */
	uint32_t gone;    /* nobody waits for it any more */
};

/* A queue pair that is connected to a server's region. Plain data, passed to kernels by value. */
struct gn_direct {
	uint8_t *sq;                     /* [1 << sq_log2] entries of 64 bytes */
	uint8_t *cq;                     /* [1 << cq_log2] completions of 64 bytes; not fewer than entries */
	uint32_t *sq_record, *cq_record; /* doorbell records, big-endian */
	uint64_t *doorbell;              /* takes the first 8 bytes of the last entry */
	uint32_t sq_log2, cq_log2;
	uint32_t qpn;                   /* number of the queue pair */
	uint32_t local_key, remote_key; /* of the threads' memory and of the region */
	uint64_t remote;                /* address of the region in the server's memory */
	struct gn_direct_state *state;
	struct gn_direct_place *place; /* [1 << sq_log2] */
};

enum { GN_MLX5_RDMA_WRITE = 0x08, GN_MLX5_RDMA_READ = 0x10, GN_MLX5_ENTRY = 64 };

SIMT_FN uint32_t gn__direct_be32(uint32_t x)
{
	return x << 24 | (x & 0xff00) << 8 | (x >> 8 & 0xff00) | x >> 24;
}

/* ---- completions ---- */

/*
 * Has this ticket ended? Then *syndrome is 0 or why it failed. The device writes the owner bit last. The
 * bit has the other value in each round of the ring. An entry that was never written has an invalid opcode.
 */
SIMT_FN int gn__direct_poll(const struct gn_direct *d, uint32_t ticket, uint32_t *syndrome)
{
	const uint32_t place = ticket & ((1u << d->cq_log2) - 1);
	const uint32_t *at = (const uint32_t *)(const void *)(d->cq + (size_t)place * GN_MLX5_ENTRY);
	/* A2: pairs with the device's write of the completion. */
	const uint32_t last = simt_load_acquire_sys_u32(&at[15]), opcode = last >> 28;

	if (opcode == 15 || (last >> 24 & 1) != (ticket >> d->cq_log2 & 1))
		return 0;
	*syndrome = opcode ? simt_load_relaxed_sys_u32(&at[13]) >> 24 : 0;
	return 1;
}

/* The same codes as gn_rdma_status gives for what a completion of verbs says. */
SIMT_FN uint32_t gn__direct_status(uint32_t syndrome)
{
	switch (syndrome) {
	case 0: return GN_NVME_OK;
	case 0x12: /* remote invalid request */
	case 0x13: /* remote access */ return GN_NVME_ACCESS_DENIED | GN_NVME_DO_NOT_RETRY;
	case 0x01: /* local length, */
	case 0x02: /* operation, */
	case 0x04: /* protection, */
	case 0x11: /* access */ return GN_NVME_DATA_TRANSFER_ERROR | GN_NVME_DO_NOT_RETRY;
	default: return GN_NVME_HOST_PATH | GN_NVME_DO_NOT_RETRY;
	}
}

/* ---- serving ---- */

/* Free the places of the entries that have ended. The caller holds the lock. */
SIMT_FN void gn__direct_retire(const struct gn_direct *d)
{
	const uint32_t first = simt_load_relaxed_dev_u32(&d->state->head);
	const uint32_t posted = simt_load_relaxed_dev_u32(&d->state->posted);
	uint32_t head = first, syndrome;

	for (; head != posted; head++) {
		const struct gn_direct_place *p = &d->place[head & ((1u << d->sq_log2) - 1)];

		/* A3: pairs with R3. */
		if (simt_load_acquire_dev_u32(&p->ended) != head + 1 &&
		    !(simt_load_acquire_dev_u32(&p->gone) == head + 1 && gn__direct_poll(d, head, &syndrome)))
			break;
	}
	if (head == first)
		return;
	simt_store_release_sys_u32(d->cq_record, gn__direct_be32(head & 0xffffff));
	simt_store_release_dev_u32(&d->state->head, head); /* R4 */
}

/* Hand over the entries that are complete, with one doorbell. Under the lock. */
SIMT_FN void gn__direct_ring(const struct gn_direct *d)
{
	const uint32_t mask = (1u << d->sq_log2) - 1, first = simt_load_relaxed_dev_u32(&d->state->posted);
	uint32_t posted = first;
	const uint64_t *last;

	/* A1: pairs with R1. The mark of the round before is smaller by the number of places. */
	while (simt_load_acquire_dev_u32(&d->place[posted & mask].written) == posted + 1)
		posted++;
	if (posted == first)
		return;
	simt_store_relaxed_dev_u32(&d->state->posted, posted);
	simt_store_release_sys_u32(d->sq_record, gn__direct_be32(posted & 0xffff)); /* R2, and: */
	last = (const uint64_t *)(const void *)(d->sq + (size_t)((posted - 1) & mask) * GN_MLX5_ENTRY);
	simt_store_release_sys_u64(d->doorbell, simt_load_relaxed_sys_u64(last));
}

/*
 * Serve the queue, unless another thread does. Every waiting thread calls this until its own entry has ended,
 * so no entry is left unserved.
 */
SIMT_FN void gn__direct_turn(const struct gn_direct *d)
{
	if (simt_load_relaxed_dev_u32(&d->state->lock) || simt_cas_acq_rel_dev_u32(&d->state->lock, 0, 1))
		return;
	gn__direct_retire(d);
	gn__direct_ring(d);
	simt_store_release_dev_u32(&d->state->lock, 0);
}

/* ---- posting ---- */

SIMT_FN int gn__direct_take(const struct gn_direct *d, uint64_t deadline, uint32_t *ticket)
{
	for (;;) {
		const uint32_t next = simt_load_relaxed_dev_u32(&d->state->next);

		/* A4: pairs with R4. */
		if (next - simt_load_acquire_dev_u32(&d->state->head) < 1u << d->sq_log2 &&
		    simt_cas_acq_rel_dev_u32(&d->state->next, next, next + 1) == next) {
			*ticket = next;
			return 0;
		}
		gn__direct_turn(d);
		if (simt_clock_ns() > deadline)
			return -GN_ETIMEDOUT;
		simt_relax();
	}
}

/* Three segments of 16 bytes: control, the remote address, one piece of memory. */
SIMT_FN void gn__direct_write_entry(const struct gn_direct *d, uint32_t ticket, uint32_t opcode,
                                    uint64_t offset, uint64_t memory, uint32_t bytes)
{
	const uint32_t place = ticket & ((1u << d->sq_log2) - 1);
	uint32_t *at = (uint32_t *)(void *)(d->sq + (size_t)place * GN_MLX5_ENTRY);
	const uint64_t remote = d->remote + offset;

	at[0] = gn__direct_be32((ticket & 0xffff) << 8 | opcode);
	at[1] = gn__direct_be32(d->qpn << 8 | 3);
	at[2] = 8u << 24; /* ask for a completion */
	at[3] = 0;
	at[4] = gn__direct_be32((uint32_t)(remote >> 32));
	at[5] = gn__direct_be32((uint32_t)remote);
	at[6] = gn__direct_be32(d->remote_key);
	at[7] = 0;
	at[8] = gn__direct_be32(bytes);
	at[9] = gn__direct_be32(d->local_key);
	at[10] = gn__direct_be32((uint32_t)(memory >> 32));
	at[11] = gn__direct_be32((uint32_t)memory);
	simt_store_release_dev_u32(&d->place[place].written, ticket + 1); /* R1 */
}

SIMT_FN struct gn_store_status gn__direct_wait(const struct gn_direct *d, uint32_t ticket, uint64_t deadline)
{
	struct gn_direct_place *p = &d->place[ticket & ((1u << d->sq_log2) - 1)];
	struct gn_store_status status = {0, 0};
	uint32_t syndrome = 0;

	while (!gn__direct_poll(d, ticket, &syndrome)) {
		gn__direct_turn(d);
		if (simt_clock_ns() > deadline) {
			simt_store_release_dev_u32(&p->gone, ticket + 1); /* R3 */
			status.code = -GN_ETIMEDOUT;
			return status;
		}
		simt_relax();
	}
	simt_store_release_dev_u32(&p->ended, ticket + 1); /* R3 */
	status.device = gn__direct_status(syndrome);
	status.code = syndrome ? -GN_EIO : 0;
	return status;
}

SIMT_FN struct gn_store_status gn__direct_move(const struct gn_direct *d, uint32_t opcode, uint64_t offset,
                                               uint64_t memory, uint32_t bytes, uint64_t timeout_ns)
{
	const uint64_t deadline = simt_clock_ns() + timeout_ns;
	struct gn_store_status status = {0, 0};
	uint32_t ticket;

	status.code = gn__direct_take(d, deadline, &ticket);
	if (status.code)
		return status;
	gn__direct_write_entry(d, ticket, opcode, offset, memory, bytes);
	return gn__direct_wait(d, ticket, deadline);
}

/*
 * gn_direct_read, gn_direct_write - a thread moves bytes between the region and its memory.
 * @offset  in the region
 * @to, @from  inside the memory of local_key, by the address under which that was registered
 * Any thread. Waits at most timeout_ns. Return 0, -GN_EIO (see device) or -GN_ETIMEDOUT: then the transfer
 * may still happen, and the memory must not be used otherwise before the queue pair is destroyed. A write may
 * land even after that, until the server has destroyed its end: no newer write of the bytes before. After a
 * failure all later transfers fail, too: the device has stopped the queue pair.
 */
SIMT_FN struct gn_store_status gn_direct_read(const struct gn_direct *d, uint64_t offset, void *to,
                                              uint32_t bytes, uint64_t timeout_ns)
{
	return gn__direct_move(d, GN_MLX5_RDMA_READ, offset, (uint64_t)(uintptr_t)to, bytes, timeout_ns);
}

SIMT_FN struct gn_store_status gn_direct_write(const struct gn_direct *d, uint64_t offset, const void *from,
                                               uint32_t bytes, uint64_t timeout_ns)
{
	return gn__direct_move(d, GN_MLX5_RDMA_WRITE, offset, (uint64_t)(uintptr_t)from, bytes, timeout_ns);
}

#endif
