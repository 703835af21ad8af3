/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvmeq.h - an NVMe queue pair that thousands of threads use at once.
 *
 * The life of a command, each step one function. The entries are filled and marked in
 * detail/queue/submission.h, the completions are taken in detail/queue/completion.h.
 *
 *   begin   take a command slot from the free ring; it owns a buffer for the data         (may wait)
 *   post    ticket -> submission entry; copy the command; mark the entry
 *   ring    one winning thread moves the tail over all consecutive marks, and rings the doorbell once
 *   reap    one thread at a time takes the completions that are there, eight at most, and delivers each to
 *           the slot that its command id names; other threads that wait read their own slots only
 *   wait    ring and reap until the own slot is delivered or the deadline passes
 *   end     give the slot back
 *
 * There are depth - 1 slots, so never more than depth - 1 commands are outstanding. Two things follow,
 * without a turn for each entry. The entry of a new ticket is free: entries are fetched in order, and if the
 * command of ticket - depth were not yet fetched, all depth commands from there on would be outstanding. And
 * the completion queue cannot overflow.
 *
 * A command id is the slot's index, with a generation above it that changes with every use. So a completion
 * that comes twice, or for an abandoned command, is recognised and never completes another command. A
 * command whose deadline passes is abandoned. Its slot and buffer stay out of use until the completion
 * comes, because the controller may still move data. While an abandoned write is outstanding, no thread may
 * write the same blocks (gn_nvmeq_write_hazard), because the old data could overwrite the new.
 *
 * Sources: BaM section 3.3; NVM Express Base Specification 2.0, section 3.3. Edges (docs/memory-model.md):
 *   R1  mark -> A1 winner: the command lies in the queue before the tail passes it
 *   R2  doorbell -> the controller's read of it (system scope)
 *   A2  the controller's phase bit -> reap (system scope): data and status have arrived
 *   R3  delivery -> A3 wait
 *   R4  reap lock -> A4 reap: what stood in an entry a round ago is never read again
 *   R5  ticket -> A5 later ticket: the entry's command of the round before has been fetched
 */
#ifndef GRAPNEL_NVMEQ_H
#define GRAPNEL_NVMEQ_H

#include <grapnel/detail/queue/completion.h>
#include <grapnel/detail/queue/pair.h>
#include <grapnel/detail/queue/submission.h>
#include <grapnel/error.h>
#include <grapnel/nvme.h>
#include <grapnel/ring.h>
#include <grapnel/simt.h>
#include <grapnel/trace.h>

/*
 * gn_nvmeq_renew - get a new command id for a slot whose command has completed, to post another command from
 * its buffer. The owner only, instead of gn_nvmeq_end and gn_nvmeq_begin. Returns the new command id.
 */
SIMT_FN uint32_t gn_nvmeq_renew(const struct gn_nvmeq *q, uint32_t cid)
{
	cid = (cid + q->depth) & 0xffff;
	simt_store_relaxed_dev_u64(&q->slot[cid & (q->depth - 1)].word,
	                           gn__nvmeq_word(cid, GN__NVMEQ_IDLE, 0));
	return cid;
}

/* Would-block form of begin: the next free slot under a fresh command id. */
SIMT_FN int gn__nvmeq_try_begin(const struct gn_nvmeq *q, uint32_t *cid)
{
	struct gn_ring *free_ring = &q->state->free_ring;
	uint32_t ticket, index;

	if (gn_ring_take(free_ring, &ticket))
		return -GN_EAGAIN;
	index = q->free_id[gn_ring_slot(free_ring, ticket)];
	gn_ring_release(free_ring, ticket);
	GN_TRACE(slot);
	*cid = gn_nvmeq_renew(q, gn__nvmeq_cid(simt_load_relaxed_dev_u64(&q->slot[index].word)));
	return 0;
}

/*
 * gn_nvmeq_reap - take the completions that are there, up to GN__NVMEQ_AT_ONCE, and deliver them to their
 * commands. One thread does that at a time; all others return at once. So one thread alone reads the host's
 * memory, and the others read their slots.
 * Returns 1 if there were some, 0 if there was nothing or another thread reaps. Any thread, any number; never
 * waits.
 */
SIMT_FN int gn_nvmeq_reap(const struct gn_nvmeq *q)
{
	return gn__nvmeq_try_reap(q) > 0;
}

/*
 * gn_nvmeq_ring - move the tail over all entries that are ready and ring the doorbell once for them.
 * Any thread; never waits: if another thread is doing this, it returns at once (gn_nvmeq_wait tries again).
 */
SIMT_FN void gn_nvmeq_ring(const struct gn_nvmeq *q)
{
	struct gn_nvmeq_state *s = q->state;

	/* Most find it taken, and need not swap to know. */
	if (simt_load_relaxed_dev_u32(&s->tail_lock) || simt_cas_acquire_dev_u32(&s->tail_lock, 0, 1))
		return;
	gn__nvmeq_move_tail(q);
	simt_store_release_dev_u32(&s->tail_lock, 0);
}

/*
 * The work of a waiting thread for the queue: ring the doorbell for entries that no thread has rung for,
 * then reap. The owners of such entries may have ended: an owner that abandons its command while another
 * thread holds the tail leaves its entry behind.
 */
SIMT_FN int gn__nvmeq_serve(const struct gn_nvmeq *q)
{
	if (simt_load_relaxed_dev_u32(&q->state->tail) != simt_load_relaxed_dev_u32(&q->state->ticket))
		gn_nvmeq_ring(q);
	return gn_nvmeq_reap(q);
}

/*
 * Take all completions that are there. Waits for a thread that reaps, which may have looked before the last
 * one came; not longer than a second, in case that thread does not go on.
 */
SIMT_NOINLINE_FN void gn__nvmeq_drain(const struct gn_nvmeq *q)
{
	const uint64_t patience = simt_clock_ns() + 1000000000u;
	uint32_t batches = 0;
	int moved;

	do {
		gn_nvmeq_ring(q);
		moved = gn__nvmeq_try_reap(q);
		batches += moved > 0;
		if (moved < 0)
			simt_relax();
	} while (moved && batches < q->depth && simt_clock_ns() < patience);
}

/* gn_nvmeq_buffer - the data buffer of a command between begin and end; buffer_bytes long, page-aligned. */
SIMT_FN char *gn_nvmeq_buffer(const struct gn_nvmeq *q, uint32_t cid)
{
	return q->buffer + (size_t)(cid & (q->depth - 1)) * q->buffer_bytes;
}

/*
 * gn_nvmeq_begin - take a command slot.
 * @deadline  on simt_clock_ns
 * @cid       receives the command id
 * Any thread. Waits while all slots are in use, and rings and reaps for others meanwhile. If the lanes of
 * one warp may need more slots than there are, they must not wait here while each holds a slot: they try,
 * use the slot and end it in one loop, as the stores do (gn__store_move_blocks). Returns 0 or -GN_ETIMEDOUT.
 */
SIMT_FN int gn_nvmeq_begin(const struct gn_nvmeq *q, uint64_t deadline, uint32_t *cid)
{
	while (gn__nvmeq_try_begin(q, cid)) {
		if (!gn__nvmeq_serve(q))
			simt_relax();
		if (simt_clock_ns() > deadline)
			return -GN_ETIMEDOUT;
	}
	return 0;
}

/*
 * gn_nvmeq_end - give a slot back after wait returned anything but -GN_ETIMEDOUT, or without a post.
 * The owner only.
 */
SIMT_FN void gn_nvmeq_end(const struct gn_nvmeq *q, uint32_t cid)
{
	GN_TRACE(end);
	gn__nvmeq_put_back(q, cid & (q->depth - 1));
}

/*
 * gn_nvmeq_write_hazard - may an abandoned write of this queue still change these blocks? Call it for every
 * queue of the store before a write. It searches the slots only while there are abandoned writes, and then
 * reaps first. Any thread; does not wait. Returns 1 or 0.
 */
SIMT_FN int gn_nvmeq_write_hazard(const struct gn_nvmeq *q, uint64_t lba, uint32_t blocks)
{
	if (simt_likely(!simt_load_acquire_dev_u32(&q->state->abandoned_writes)))
		return 0;
	/*
	 * A thread that abandoned its command no longer polls. If no other thread polls, the completion that
	 * ends the hazard is still in the queue.
	 */
	gn__nvmeq_drain(q);
	for (uint32_t k = 0; k < q->depth; k++)
		if (gn__nvmeq_may_land(&q->slot[k], lba, blocks))
			return 1;
	return 0;
}

/* The entry of a ticket is filled: let it go to the controller. */
SIMT_FN void gn__nvmeq_mark_entry(const struct gn_nvmeq *q, uint32_t ticket)
{
	GN_TRACE(post);
	simt_store_release_dev_u32(&q->mark[ticket & (q->depth - 1)], ticket + 1); /* R1 */
	gn_nvmeq_ring(q);
}

/*
 * Post any command that changes these blocks; its cid is filled in. The blocks are what
 * gn_nvmeq_write_hazard looks at, not what the controller is told. Otherwise as gn_nvmeq_post.
 */
SIMT_FN void gn__nvmeq_post_change(const struct gn_nvmeq *q, uint32_t cid,
                                   const struct gn_nvme_command *command, uint64_t lba, uint32_t blocks)
{
	uint32_t ticket = gn__nvmeq_take_entry(q, cid, command->opcode, lba, blocks);
	struct gn_nvme_command *entry = &q->sq[ticket & (q->depth - 1)];

	*entry = *command;
	entry->cid = (uint16_t)cid;
	gn__nvmeq_mark_entry(q, ticket);
}

/* Post any command without blocks, such as an admin command. */
SIMT_FN void gn__nvmeq_post_command(const struct gn_nvmeq *q, uint32_t cid,
                                    const struct gn_nvme_command *command)
{
	gn__nvmeq_post_change(q, cid, command, 0, 0);
}

/*
 * gn_nvmeq_post - submit the command of a slot.
 * @opcode  GN_NVME_READ (fills the buffer), GN_NVME_WRITE (from the buffer) or GN_NVME_FLUSH (blocks 0)
 * @lba, @blocks  logical blocks; blocks * block_bytes <= buffer_bytes
 * The owner only; does not wait. Does NOT promise that the doorbell was rung; gn_nvmeq_wait rings it. Order:
 * the controller sees what the caller, and lanes that have synchronised with it, wrote into the buffer.
 * Returns 0 or -GN_EINVAL (too many blocks, or none); on failure the slot is as after begin.
 */
SIMT_FN int gn_nvmeq_post(const struct gn_nvmeq *q, uint32_t cid, uint32_t opcode, uint64_t lba,
                          uint32_t blocks)
{
	uint32_t ticket;

	if (!blocks != (opcode == GN_NVME_FLUSH) || (uint64_t)blocks * q->block_bytes > q->buffer_bytes)
		return -GN_EINVAL;
	ticket = gn__nvmeq_take_entry(q, cid, opcode, lba, blocks);
	gn__nvmeq_fill(q, &q->sq[ticket & (q->depth - 1)], cid, opcode, lba, blocks);
	gn__nvmeq_mark_entry(q, ticket);
	return 0;
}

/* The deadline passed: give the command up, unless it is delivered at the last moment. */
SIMT_FN uint64_t gn__nvmeq_abandon(const struct gn_nvmeq *q, struct gn_nvmeq_slot *slot, uint32_t cid)
{
	uint64_t pending = gn__nvmeq_word(cid, GN__NVMEQ_PENDING, 0);
	uint64_t word;

	/* Counted first: a writer that sees no abandoned write must be right. */
	if (gn__nvmeq_changes(slot->opcode))
		simt_add_acq_rel_dev_u32(&q->state->abandoned_writes, 1);
	simt_add_acq_rel_dev_u32(&q->state->abandoned, 1);
	word = simt_cas_acq_rel_dev_u64(&slot->word, pending, gn__nvmeq_word(cid, GN__NVMEQ_ABANDONED, 0));
	if (word != pending) {
		simt_add_acq_rel_dev_u32(&q->state->abandoned, (uint32_t)-1);
		if (gn__nvmeq_changes(slot->opcode))
			simt_add_acq_rel_dev_u32(&q->state->abandoned_writes, (uint32_t)-1);
	}
	return word;
}

/*
 * gn_nvmeq_poll - has a posted command completed? Rings and reaps for all threads, but does not wait.
 * @deadline  on simt_clock_ns
 * @status    receives the status field (GN_NVME_*); 0 if it timed out
 * The owner only. Order: after a return of 0 this thread sees the data of a read in the buffer. Returns
 * -GN_EAGAIN (not yet), 0 (completed well), -GN_ENOSPC (completed with GN_NVME_CAPACITY_EXCEEDED),
 * -GN_EIO (with another status than 0), -GN_ETIMEDOUT (abandoned: do NOT call gn_nvmeq_end; the queue pair
 * takes the slot back when the completion comes).
 */
SIMT_FN int gn_nvmeq_poll(const struct gn_nvmeq *q, uint32_t cid, uint64_t deadline, uint32_t *status)
{
	struct gn_nvmeq_slot *slot = &q->slot[cid & (q->depth - 1)];
	uint64_t word = simt_load_acquire_dev_u64(&slot->word); /* A3 */

	*status = 0;
	if (gn__nvmeq_slot_state(word) != GN__NVMEQ_DONE) {
		if ((int32_t)(simt_load_relaxed_dev_u32(&q->state->tail) - (slot->ticket + 1)) < 0)
			gn_nvmeq_ring(q);
		if (!gn_nvmeq_reap(q))
			simt_relax();
		if (simt_clock_ns() <= deadline)
			return -GN_EAGAIN;
		word = gn__nvmeq_abandon(q, slot, cid);
		if (gn__nvmeq_slot_state(word) != GN__NVMEQ_DONE)
			return -GN_ETIMEDOUT;
	}
	GN_TRACE(wake);
	*status = (uint32_t)(word >> 32) & GN_NVME_STATUS_MASK;
	return *status == GN_NVME_CAPACITY_EXCEEDED ? -GN_ENOSPC : *status ? -GN_EIO : 0;
}

/* After -GN_EIO and before renew or end: may the same command be posted again? The owner only. */
SIMT_FN int gn__nvmeq_may_retry(const struct gn_nvmeq *q, uint32_t cid)
{
	uint64_t word = simt_load_relaxed_dev_u64(&q->slot[cid & (q->depth - 1)].word);

	return !(word >> 32 & GN_NVME_DO_NOT_RETRY);
}

/* gn_nvmeq_wait - gn_nvmeq_poll until it is over. Returns as that, but never -GN_EAGAIN. */
SIMT_FN int gn_nvmeq_wait(const struct gn_nvmeq *q, uint32_t cid, uint64_t deadline, uint32_t *status)
{
	int rc;

	do {
		rc = gn_nvmeq_poll(q, cid, deadline, status);
	} while (rc == -GN_EAGAIN);
	return rc;
}

#if !defined(__CUDACC_RTC__)
#ifdef __cplusplus
extern "C" {
#endif

/* What a queue pair is made of. */
struct gn_nvmeq_options {
	uint32_t depth;        /* a power of two, 2 to 32768 */
	uint32_t buffer_bytes; /* largest transfer, a power of two from 4096 to 2 MiB */
	uint32_t block_bytes;  /* logical block of the namespace, a power of two from 512 */
	uint32_t nsid;         /* 1 */
	uint32_t start;        /* first ticket: a multiple of 2 * depth; not 0 in tests of the wrap-around */
};

/*
 * gn_nvmeq_create - allocate and reset a queue pair on a machine.
 * @q         receives it; give back with gn_nvmeq_destroy
 * Entries, doorbells, buffers and PRP lists are allocated as SIMT_PINNED, the rest as SIMT_DEVICE. Bus
 * addresses are the host's own, as a controller in software uses them. The store of a drive gives it others.
 * Host. Returns 0, -GN_EINVAL (which member, in the message), -GN_ENOMEM, -GN_EIO (the machine failed
 * before).
 */
int gn_nvmeq_create(struct gn_nvmeq *q, struct simt_machine *machine, const struct gn_nvmeq_options *options,
                    struct gn_error *error);

/* gn_nvmeq_destroy - free a queue pair; its controller must have stopped. */
void gn_nvmeq_destroy(struct gn_nvmeq *q, struct simt_machine *machine);

#ifdef __cplusplus
}
#endif
#endif

#endif
