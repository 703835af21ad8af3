/* SPDX-License-Identifier: Apache-2.0 */
#include <store/nvme/renew.h>

static uint32_t *word_of(const struct gn_nvmeq *q, uint32_t at)
{
	return (uint32_t *)(void *)&q->cq[at & (q->depth - 1)].cid;
}

static uint32_t phase_of(const struct gn_nvmeq *q, uint32_t at)
{
	return ~(at >> q->depth_log2) & 1;
}

uint32_t gn_nvmeq_posted(const struct gn_nvmeq *q)
{
	const uint32_t head = simt_load_acquire_dev_u32(&q->state->head);
	uint32_t at = head;

	while (at - head < q->depth - 1 &&
	       (simt_load_acquire_sys_u32(word_of(q, at)) >> 16 & 1) == phase_of(q, at))
		at++;
	return at;
}

static void post(struct gn_nvmeq *q, uint32_t at, uint32_t cid, uint32_t status)
{
	struct gn_nvme_completion *entry = &q->cq[at & (q->depth - 1)];

	entry->result = 0;
	simt_store_release_sys_u32(word_of(q, at), cid | phase_of(q, at) << 16 | status << 17);
}

void gn_nvmeq_answer(struct gn_nvmeq *q, uint32_t *tail, uint32_t *answered, uint32_t status)
{
	for (uint32_t k = 0; k + 1 < q->depth; k++) {
		const uint64_t word = simt_load_acquire_dev_u64(&q->slot[k].word);
		const uint32_t state = gn__nvmeq_slot_state(word), cid = gn__nvmeq_cid(word);

		if (state != GN__NVMEQ_PENDING && state != GN__NVMEQ_ABANDONED) {
			answered[k] = 0;
			continue;
		}
		if (answered[k] == cid + 1)
			continue;
		if (*tail - simt_load_acquire_dev_u32(&q->state->head) >= q->depth - 1)
			return;
		answered[k] = cid + 1;
		post(q, (*tail)++, cid, status);
	}
}

/* Other threads only try these locks, and do not wait while they hold one. */
static int lock(uint32_t *word, uint64_t deadline)
{
	while (simt_cas_acq_rel_dev_u32(word, 0, 1)) {
		if (simt_clock_ns() > deadline)
			return -GN_ETIMEDOUT;
		simt_relax();
	}
	return 0;
}

int gn_nvmeq_hold_doorbells(struct gn_nvmeq *q, uint64_t deadline)
{
	int rc = lock(&q->state->tail_lock, deadline);

	if (rc)
		return rc;
	rc = lock(&q->state->head_lock, deadline);
	if (rc)
		simt_store_release_dev_u32(&q->state->tail_lock, 0);
	return rc;
}

int gn_nvmeq_is_idle(const struct gn_nvmeq *q)
{
	struct gn_nvmeq_state *s = q->state;
	const uint32_t head = simt_load_acquire_dev_u32(&s->head);

	if (head != simt_load_relaxed_dev_u32(&s->rung)) {
		simt_store_relaxed_dev_u32(&s->rung, head);
		simt_store_release_sys_u32(q->cq_doorbell, head & (q->depth - 1));
	}
	return gn_nvmeq_posted(q) == simt_load_acquire_dev_u32(&s->tail);
}

int gn_nvmeq_renew_all(struct gn_nvmeq *q, uint64_t deadline)
{
	struct gn_nvmeq_state *s = q->state;
	const uint32_t round = 2 * q->depth;
	uint32_t start;

	if (lock(&s->reap_lock, deadline))
		return -GN_ETIMEDOUT;
	start = (simt_load_acquire_dev_u32(&s->ticket) + round - 1) & ~(round - 1);
	for (uint32_t k = 0; k < q->depth; k++)
		simt_store_release_sys_u32(word_of(q, k), 0);
	for (uint32_t k = 0; k < q->depth; k++)
		simt_store_relaxed_dev_u32(&q->mark[k], start + k + 1 - q->depth);
	simt_store_relaxed_dev_u32(&s->ticket, start);
	simt_store_relaxed_dev_u32(&s->tail, start);
	simt_store_relaxed_dev_u32(&s->rung, start);
	simt_store_relaxed_dev_u32(&s->head, start);
	simt_store_release_dev_u32(&s->reap_lock, 0);
	simt_store_release_dev_u32(&s->head_lock, 0);
	simt_store_release_dev_u32(&s->tail_lock, 0);
	return 0;
}
