/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvmeq.h - an NVMe queue pair that thousands of threads use at once.
 *
 * The life of a command, each step one function:
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
 *   R1 mark        -> A1 winner        the command lies in the queue before the tail passes it
 *   R2 doorbell    -> the controller's read of it (system scope)
 *   the controller's phase bit -> A2 reap (system scope): data and status have arrived
 *   R3 delivery    -> A3 wait
 *   R4 reap lock   -> A4 reap          what stood in an entry a round ago is never read again
 *   R5 ticket      -> A5 later ticket  the entry's command of the round before has been fetched
 */
#ifndef GRAPNEL_NVMEQ_H
#define GRAPNEL_NVMEQ_H

#include <grapnel/error.h>
#include <grapnel/nvme.h>
#include <grapnel/ring.h>
#include <grapnel/simt.h>
#include <grapnel/trace.h>

/* A command slot. */
struct gn_nvmeq_slot {
	uint64_t word; /* command id, state and status: GN__NVMEQ_* */
	uint64_t lba;  /* of the command in flight; others look at these three when it is abandoned */
	uint32_t blocks;
	uint32_t opcode;
	uint32_t ticket;
	uint32_t reserved;
};

/* What the threads share; words of different winners on different lines. */
struct gn_nvmeq_state {
	uint32_t ticket;
	uint32_t pad_ticket[31];
	uint32_t tail; /* published to the controller; only the holder of tail_lock writes it */
	uint32_t tail_lock;
	uint32_t pad_tail[30];
	uint32_t head; /* next completion; only the holder of reap_lock writes it */
	uint32_t reap_lock;
	uint32_t pad_head[30];
	uint32_t rung; /* head as the controller knows it; only the holder of head_lock writes it */
	uint32_t head_lock;
	uint32_t abandoned;        /* commands given up and still outstanding */
	uint32_t abandoned_writes; /* writes and deallocations among them */
	uint32_t strays;           /* completions that fitted no outstanding command, ever */
	uint32_t lent;             /* slots of reads that no thread waits for (detail/store/begin.h) */
	uint32_t pad_rung[26];
	struct gn_ring free_ring;
};

/*
 * A queue pair. Plain data; the same bytes on host and device. Submission and completion entries, doorbells
 * and buffers lie where the controller and the threads reach them; state, marks, slots and free ids may lie
 * in device memory.
 */
struct gn_nvmeq {
	struct gn_nvme_command *sq;
	struct gn_nvme_completion *cq;
	uint32_t *sq_doorbell;
	uint32_t *cq_doorbell;
	struct gn_nvmeq_state *state;
	uint32_t *mark;             /* [depth]: ticket + 1 once the entry is ready */
	struct gn_nvmeq_slot *slot; /* [depth] */
	uint32_t *free_id;          /* [depth]: records of state->free_ring */
	char *buffer;               /* [depth][buffer_bytes]: data of the commands */
	const uint64_t *prp_list;   /* [depth][buffer_bytes / 4096]: bus addresses, first page included */
	uint64_t prp_list_bus;      /* bus address of prp_list */
	uint32_t buffer_bytes;      /* the largest transfer, a power of two from 4096 to 2 MiB */
	uint32_t depth;             /* a power of two, 2 to 32768 */
	uint32_t depth_log2;
	uint32_t block_bytes; /* of the namespace */
	uint32_t nsid;
	uint32_t attached; /* 1: the doorbells are a controller's registers, not memory of this queue pair */
};

/*
 * Does a command of this opcode change the blocks of its slot? Admin queues have other commands under these
 * opcodes; their slots have no blocks.
 */
SIMT_FN int gn__nvmeq_changes(uint32_t opcode)
{
	return opcode == GN_NVME_WRITE || opcode == GN_NVME_DATASET_MANAGEMENT;
}

enum { GN__NVMEQ_IDLE = 0, GN__NVMEQ_PENDING = 1, GN__NVMEQ_DONE = 2, GN__NVMEQ_ABANDONED = 3 };
/* What a slot keeps of a status field. */
enum { GN__NVMEQ_KEPT = GN_NVME_STATUS_MASK | GN_NVME_DO_NOT_RETRY };

SIMT_FN uint64_t gn__nvmeq_word(uint32_t cid, uint32_t state, uint32_t status)
{
	return cid | (uint64_t)state << 16 | (uint64_t)status << 32;
}

SIMT_FN uint32_t gn__nvmeq_cid(uint64_t word)
{
	return (uint32_t)word & 0xffff;
}

SIMT_FN uint32_t gn__nvmeq_slot_state(uint64_t word)
{
	return (uint32_t)(word >> 16) & 3;
}

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

SIMT_FN void gn__nvmeq_put_back(const struct gn_nvmeq *q, uint32_t index)
{
	struct gn_ring *free_ring = &q->state->free_ring;
	uint32_t ticket;

	/* There is a place for every slot; a refusal can only be a consumer that has not released yet. */
	while (gn_ring_reserve(free_ring, &ticket))
		simt_relax();
	q->free_id[gn_ring_slot(free_ring, ticket)] = index;
	gn_ring_commit(free_ring, ticket);
}

/*
 * A completion whose command does not wait for it: of a command that was given up, whose slot comes back, or
 * a stray, which is counted and dropped. Not inlined: it is rare, and a batch has a place for each of its
 * completions.
 */
SIMT_NOINLINE_FN void gn__nvmeq_deliver_late(const struct gn_nvmeq *q, uint32_t cid)
{
	uint32_t index = cid & (q->depth - 1), opcode;
	struct gn_nvmeq_slot *slot = &q->slot[index];
	const uint64_t abandoned = gn__nvmeq_word(cid, GN__NVMEQ_ABANDONED, 0);

	if (simt_load_acquire_dev_u64(&slot->word) == abandoned) {
		opcode = simt_load_relaxed_dev_u32(&slot->opcode);
		if (simt_cas_acq_rel_dev_u64(&slot->word, abandoned,
		                             gn__nvmeq_word(cid, GN__NVMEQ_IDLE, 0)) == abandoned) {
			simt_add_acq_rel_dev_u32(&q->state->abandoned, (uint32_t)-1);
			if (gn__nvmeq_changes(opcode))
				simt_add_acq_rel_dev_u32(&q->state->abandoned_writes, (uint32_t)-1);
			gn__nvmeq_put_back(q, index);
			return;
		}
	}
	simt_reduce_add_relaxed_dev_u32(&q->state->strays, 1);
}

/* Entries that one thread looks at together: completions or marks, a line or two of memory. */
enum { GN__NVMEQ_AT_ONCE = 8 };

/* Of entries that were looked at, bit k for the k-th: how many may be taken, which are those before a gap. */
SIMT_FN uint32_t gn__nvmeq_before_gap(uint32_t ready)
{
	return simt_first_lane(~ready);
}

/* Swap the slot of a completion from PENDING to DONE. Returns what stood there. */
SIMT_FN uint64_t gn__nvmeq_swap_done(const struct gn_nvmeq *q, uint32_t word)
{
	const uint32_t cid = word & 0xffff;
	uint64_t *slot = &q->slot[cid & (q->depth - 1)].word;
	const uint64_t pending = gn__nvmeq_word(cid, GN__NVMEQ_PENDING, 0);
	const uint64_t done = gn__nvmeq_word(cid, GN__NVMEQ_DONE, word >> 17 & GN__NVMEQ_KEPT);

	/* R3: pairs with A3. On a GPU the fence of A2 is before it, and makes it release. */
	return SIMT_ON_CUDA ? simt_cas_relaxed_dev_u64(slot, pending, done)
	                    : simt_cas_acq_rel_dev_u64(slot, pending, done);
}

/*
 * Hand completions to their slots: word[k] has the id and status of the k-th of count. Returns those whose
 * commands did not wait for them, the k-th as bit k. On a GPU all swaps are under way together. Two
 * completions with one id keep their order, because they swap the same word.
 */
SIMT_FN uint32_t gn__nvmeq_deliver(const struct gn_nvmeq *q, uint32_t count, const uint32_t *word)
{
	uint64_t found[GN__NVMEQ_AT_ONCE];
	uint32_t late = 0;

	SIMT_UNROLL
	for (uint32_t k = 0; k < GN__NVMEQ_AT_ONCE; k++)
		if (k < count) {
			GN_TRACE(reap);
			found[k] = gn__nvmeq_swap_done(q, word[k]);
		}
	SIMT_UNROLL
	for (uint32_t k = 0; k < GN__NVMEQ_AT_ONCE; k++)
		if (k < count) {
			if (found[k] != gn__nvmeq_word(word[k] & 0xffff, GN__NVMEQ_PENDING, 0))
				late |= 1u << k;
			else
				GN_TRACE(deliver);
		}
	return late;
}

/* Tell the controller how far completions were taken, once for many. The caller holds reap_lock. */
SIMT_FN void gn__nvmeq_ring_head(const struct gn_nvmeq *q, uint32_t head)
{
	struct gn_nvmeq_state *s = q->state;

	if (simt_cas_acquire_dev_u32(&s->head_lock, 0, 1))
		return;
	simt_store_relaxed_dev_u32(&s->rung, head);
	simt_store_release_sys_u32(q->cq_doorbell, head & (q->depth - 1));
	simt_store_release_dev_u32(&s->head_lock, 0);
}

/*
 * Look at the entries from head on. Returns how many completions are there; word receives their last words:
 * id and status, which lie in one naturally aligned word and so come together.
 */
SIMT_FN uint32_t gn__nvmeq_arrived(const struct gn_nvmeq *q, uint32_t head, uint32_t *word)
{
	uint32_t ready = 0;

	/* A2. On a GPU all loads are under way together, and one fence behind them makes them acquire. */
	SIMT_UNROLL
	for (uint32_t k = 0; k < GN__NVMEQ_AT_ONCE; k++) {
		const struct gn_nvme_completion *entry = &q->cq[(head + k) & (q->depth - 1)];
		const uint32_t *last = (const uint32_t *)(const void *)&entry->cid;

		word[k] = SIMT_ON_CUDA ? simt_load_relaxed_sys_u32(last) : simt_load_acquire_sys_u32(last);
	}
	/* The phase starts at 1 and turns over with every round of the queue (Base Specification 4.2.4). */
	SIMT_UNROLL
	for (uint32_t k = 0; k < GN__NVMEQ_AT_ONCE; k++)
		ready |= (uint32_t)((word[k] >> 16 & 1) == (~((head + k) >> q->depth_log2) & 1)) << k;
	if (SIMT_ON_CUDA && (ready & 1))
		simt_fence_acq_rel_sys();
	return gn__nvmeq_before_gap(ready);
}

/*
 * Reap; the caller holds reap_lock. Not inlined: it is long, and each kernel has many places that poll. Here
 * and in gn__nvmeq_move_tail the handle is copied, because what is behind a pointer would be loaded again
 * after each atomic, by way of a processor's cache that each fence empties.
 */
SIMT_NOINLINE_FN int gn__nvmeq_reap_some(const struct gn_nvmeq *queue)
{
	const struct gn_nvmeq q = *queue;
	struct gn_nvmeq_state *s = q.state;
	const uint32_t first = simt_load_relaxed_dev_u32(&s->head),
	               rung = simt_load_relaxed_dev_u32(&s->rung);
	uint32_t word[GN__NVMEQ_AT_ONCE], late;
	const uint32_t count = gn__nvmeq_arrived(&q, first, word), head = first + count;

	if (count) {
		late = gn__nvmeq_deliver(&q, count, word);
		SIMT_UNROLL
		for (uint32_t k = 0; k < GN__NVMEQ_AT_ONCE; k++)
			if (simt_unlikely(late >> k & 1))
				SIMT_COLD(gn__nvmeq_deliver_late)(queue, word[k] & 0xffff);
		simt_store_release_dev_u32(&s->head, head);
	}
	if (head - rung >= (count ? q.depth / 4 : 1))
		gn__nvmeq_ring_head(&q, head);
	return count != 0;
}

/* gn_nvmeq_reap; -GN_EBUSY if another thread reaps. */
SIMT_FN int gn__nvmeq_try_reap(const struct gn_nvmeq *q)
{
	struct gn_nvmeq_state *s = q->state;
	int moved;

	/* A4: pairs with R4, so that no entry that is read next is older than what those before saw there. */
	if (simt_load_relaxed_dev_u32(&s->reap_lock) || simt_cas_acquire_dev_u32(&s->reap_lock, 0, 1))
		return -GN_EBUSY;
	moved = gn__nvmeq_reap_some(q);
	simt_store_release_dev_u32(&s->reap_lock, 0); /* R4 */
	return moved;
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

/* Look at the marks from tail on. Returns how many entries are ready. */
SIMT_FN uint32_t gn__nvmeq_marked(const struct gn_nvmeq *q, uint32_t tail)
{
	uint32_t mark[GN__NVMEQ_AT_ONCE], ready = 0;

	/* A1: pairs with R1. On a GPU all loads are under way together; a fence follows the last of them. */
	SIMT_UNROLL
	for (uint32_t k = 0; k < GN__NVMEQ_AT_ONCE; k++) {
		const uint32_t *from = &q->mark[(tail + k) & (q->depth - 1)];

		mark[k] = SIMT_ON_CUDA ? simt_load_relaxed_dev_u32(from) : simt_load_acquire_dev_u32(from);
	}
	/* A mark of the round before is ticket + 1 - depth, never ticket + 1. */
	SIMT_UNROLL
	for (uint32_t k = 0; k < GN__NVMEQ_AT_ONCE; k++)
		ready |= (uint32_t)(mark[k] == tail + k + 1) << k;
	return gn__nvmeq_before_gap(ready);
}

/* Move the tail over the marks and ring; the caller holds tail_lock. Not inlined, as gn__nvmeq_reap_some. */
SIMT_NOINLINE_FN void gn__nvmeq_move_tail(const struct gn_nvmeq *queue)
{
	const struct gn_nvmeq q = *queue;
	struct gn_nvmeq_state *s = q.state;
	const uint32_t first = simt_load_relaxed_dev_u32(&s->tail);
	uint32_t tail = first, marked;

	do {
		marked = gn__nvmeq_marked(&q, tail);
		tail += marked;
	} while (marked == GN__NVMEQ_AT_ONCE);
	if (tail == first)
		return;
	GN_TRACE(doorbell);
	if (SIMT_ON_CUDA)
		simt_fence_acq_rel_sys(); /* A1 and R2 */
	simt_store_relaxed_dev_u32(&s->tail, tail);
	if (SIMT_ON_CUDA)
		simt_store_relaxed_sys_u32(q.sq_doorbell, tail & (q.depth - 1));
	else
		simt_store_release_sys_u32(q.sq_doorbell, tail & (q.depth - 1)); /* R2 */
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
 * Does an abandoned write or deallocation of this slot overlap these blocks? If its completion comes at this
 * moment, the members may be those of the slot's next command. Then either answer is right, because the write
 * is over.
 */
SIMT_FN int gn__nvmeq_may_land(const struct gn_nvmeq_slot *slot, uint64_t lba, uint32_t blocks)
{
	uint64_t at;

	if (gn__nvmeq_slot_state(simt_load_acquire_dev_u64(&slot->word)) != GN__NVMEQ_ABANDONED ||
	    !gn__nvmeq_changes(simt_load_relaxed_dev_u32(&slot->opcode)))
		return 0;
	at = simt_load_relaxed_dev_u64(&slot->lba);
	return at < lba + blocks && lba < at + simt_load_relaxed_dev_u32(&slot->blocks);
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
	 * Those who gave up poll no longer; if nobody else does, the completion that ends the hazard waits
	 * here.
	 */
	gn__nvmeq_drain(q);
	for (uint32_t k = 0; k < q->depth; k++)
		if (gn__nvmeq_may_land(&q->slot[k], lba, blocks))
			return 1;
	return 0;
}

/* Lay the command down in the queue's memory: eight stores of 8 bytes. */
SIMT_FN void gn__nvmeq_fill(const struct gn_nvmeq *q, struct gn_nvme_command *to, uint32_t cid,
                            uint32_t opcode, uint64_t lba, uint32_t blocks)
{
	uint32_t pages = q->buffer_bytes / GN_NVME_PAGE;
	size_t first = (size_t)(cid & (q->depth - 1)) * pages;
	uint32_t used = (blocks * q->block_bytes + GN_NVME_PAGE - 1) / GN_NVME_PAGE;
	uint64_t *word = (uint64_t *)(void *)to;

	word[0] = opcode | (uint64_t)cid << 16 | (uint64_t)q->nsid << 32;
	word[1] = 0;
	word[2] = 0;
	word[3] = blocks ? q->prp_list[first] : 0;
	/* NVM Express Base Specification 2.0, 4.1.1: a second page directly, more than two by a list. */
	word[4] = used <= 1 ? 0 : used == 2 ? q->prp_list[first + 1] : q->prp_list_bus + (first + 1) * 8;
	word[5] = lba;
	word[6] = blocks ? blocks - 1 : 0;
	word[7] = 0;
}

/* Make the slot of a command pending. Returns its ticket, whose entry the caller fills. */
SIMT_FN uint32_t gn__nvmeq_take_entry(const struct gn_nvmeq *q, uint32_t cid, uint32_t opcode, uint64_t lba,
                                      uint32_t blocks)
{
	struct gn_nvmeq_slot *slot = &q->slot[cid & (q->depth - 1)];
	uint32_t ticket;

	simt_store_relaxed_dev_u64(&slot->lba, lba);
	simt_store_relaxed_dev_u32(&slot->blocks, blocks);
	simt_store_relaxed_dev_u32(&slot->opcode, opcode);
	simt_store_release_dev_u64(&slot->word, gn__nvmeq_word(cid, GN__NVMEQ_PENDING, 0));
	/* R5, A5: who shares slots with earlier tickets knows that the entry was fetched; hand that on. */
	ticket = simt_add_acq_rel_dev_u32(&q->state->ticket, 1);
	slot->ticket = ticket;
	return ticket;
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
