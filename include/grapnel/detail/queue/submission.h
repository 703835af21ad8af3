/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/queue/submission.h - fill the submission entries of a queue pair and move its tail over those that
 * are ready (nvmeq.h).
 */
#ifndef GRAPNEL_QUEUE_SUBMISSION_H
#define GRAPNEL_QUEUE_SUBMISSION_H

#include <grapnel/detail/queue/pair.h>
#include <grapnel/trace.h>

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

#endif
