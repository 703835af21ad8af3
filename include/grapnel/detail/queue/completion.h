/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/queue/completion.h - take the completions of a queue pair and deliver them to their slots (nvmeq.h).
 * One thread does this at a time.
 */
#ifndef GRAPNEL_QUEUE_COMPLETION_H
#define GRAPNEL_QUEUE_COMPLETION_H

#include <grapnel/error.h>
#include <grapnel/detail/queue/pair.h>
#include <grapnel/trace.h>

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

#endif
