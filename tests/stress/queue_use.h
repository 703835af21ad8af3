/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_use.h - the threads that read and write through queue pairs. Each has blocks of its own and knows
 * which values each of them may have: the last one written, and those of writes that ended without a known
 * result.
 */
#ifndef GN_TESTS_QUEUE_USE_H
#define GN_TESTS_QUEUE_USE_H

#include "../model/draw.h"

#include <grapnel/nvmeq.h>

enum {
	USE_QUEUES = 4,
	USE_BLOCKS = 24,
	USE_BLOCK_BYTES = 512,
	USE_BLOCK_WORDS = USE_BLOCK_BYTES / 8,
	USE_VALUES = 4
};

struct use_belief {
	uint32_t value[USE_VALUES];
	uint32_t count;
};

/* One thread's. */
struct use_thread {
	struct use_belief belief[USE_BLOCKS];
	uint64_t scratch[USE_BLOCKS * USE_BLOCK_WORDS]; /* at a multiple of 16 */
	uint64_t pad[4];
};

enum use_wrong { USE_WELL, USE_LOST, USE_STATUS, USE_DATA, USE_NO_SLOT, USE_REFUSED };

struct use_report {
	uint32_t wrong; /* enum use_wrong of whoever was first */
	uint32_t served, timed_out, failed, hazards;
};

struct use_arguments {
	struct gn_nvmeq queue[USE_QUEUES];
	struct use_thread *thread;
	struct use_report *report;
	uint64_t seed;
	uint64_t patience_ns, short_ns;
	uint32_t queues, each;
	uint32_t hasty;     /* chance of a short deadline, in percent */
	uint32_t fail_each; /* as the disk has it */
};

/* A command of this thread. */
struct use_command {
	const struct gn_nvmeq *q;
	struct use_thread *mine;
	uint64_t lba;
	uint32_t first, blocks, opcode, value, cid;
	uint64_t deadline;
};

SIMT_FN void use_blame(const struct use_arguments *a, enum use_wrong what)
{
	simt_cas_relaxed_dev_u32(&a->report->wrong, USE_WELL, what);
}

SIMT_FN uint64_t use_word(uint64_t lba, uint32_t value, uint32_t k)
{
	return ((uint64_t)value << 32 | lba) * 0x9e3779b97f4a7c15u + k;
}

SIMT_FN void use_fill(struct use_command *c)
{
	for (uint32_t k = 0; k < c->blocks * USE_BLOCK_WORDS; k++)
		c->mine->scratch[k] = use_word(c->lba + k / USE_BLOCK_WORDS, c->value, k % USE_BLOCK_WORDS);
	simt_copy(1u << simt_lane(), gn_nvmeq_buffer(c->q, c->cid), c->mine->scratch,
	          (size_t)c->blocks * USE_BLOCK_BYTES);
}

SIMT_FN int use_holds(const uint64_t *word, uint64_t lba, const struct use_belief *b)
{
	for (uint32_t v = 0; v < b->count; v++) {
		uint32_t k = 0;

		while (k < USE_BLOCK_WORDS && word[k] == (b->value[v] ? use_word(lba, b->value[v], k) : 0))
			k++;
		if (k == USE_BLOCK_WORDS)
			return 1;
	}
	return 0;
}

SIMT_FN int use_check(const struct use_command *c)
{
	simt_copy(1u << simt_lane(), c->mine->scratch, gn_nvmeq_buffer(c->q, c->cid),
	          (size_t)c->blocks * USE_BLOCK_BYTES);
	for (uint32_t k = 0; k < c->blocks; k++)
		if (!use_holds(&c->mine->scratch[k * USE_BLOCK_WORDS], c->lba + k,
		               &c->mine->belief[c->first + k]))
			return 0;
	return 1;
}

/* A block is not written again while too many values are possible. */
SIMT_FN int use_may_write(const struct use_command *c)
{
	for (uint32_t k = 0; k < c->blocks; k++)
		if (c->mine->belief[c->first + k].count == USE_VALUES)
			return 0;
	return 1;
}

SIMT_FN void use_believe(struct use_command *c, int sure)
{
	for (uint32_t k = 0; k < c->blocks; k++) {
		struct use_belief *b = &c->mine->belief[c->first + k];

		if (sure)
			b->count = 0;
		b->value[b->count++] = c->value;
	}
}

/* What came back: status, and data of a read. */
SIMT_FN void use_judge(const struct use_arguments *a, struct use_command *c, int rc, uint32_t status)
{
	int fails = a->fail_each && c->lba % a->fail_each == 0;
	uint32_t expected = !fails                      ? GN_NVME_OK
	                    : c->opcode == GN_NVME_READ ? GN_NVME_UNRECOVERED_READ
	                                                : GN_NVME_WRITE_FAULT;

	if (rc != (fails ? -GN_EIO : 0) || status != expected)
		use_blame(a, USE_STATUS);
	else if (fails)
		simt_add_relaxed_dev_u32(&a->report->failed, 1);
	else if (c->opcode == GN_NVME_WRITE)
		use_believe(c, 1);
	else if (!use_check(c))
		use_blame(a, USE_DATA);
	simt_add_relaxed_dev_u32(&a->report->served, 1);
	gn_nvmeq_end(c->q, c->cid);
}

SIMT_FN void use_send(const struct use_arguments *a, struct use_command *c, int patient)
{
	uint32_t status = 0xffff;
	int rc;

	if (c->opcode == GN_NVME_WRITE)
		use_fill(c);
	if (gn_nvmeq_post(c->q, c->cid, c->opcode, c->lba, c->blocks))
		use_blame(a, USE_REFUSED);
	rc = gn_nvmeq_wait(c->q, c->cid, c->deadline, &status);
	if (rc != -GN_ETIMEDOUT) {
		use_judge(a, c, rc, status);
		return;
	}
	if (patient)
		use_blame(a, USE_LOST);
	simt_add_relaxed_dev_u32(&a->report->timed_out, 1);
	if (c->opcode == GN_NVME_WRITE)
		use_believe(c, 0);
}

SIMT_FN void use_one(const struct use_arguments *a, struct use_command *c, uint64_t *random)
{
	int patient = !draw_chance(random, a->hasty);

	c->first = draw_below(random, USE_BLOCKS);
	c->blocks = 1 + draw_below(random, USE_BLOCKS - c->first);
	c->lba = simt_global_thread() * USE_BLOCKS + c->first;
	c->value = 1 + (uint32_t)(draw(random) >> 33);
	c->opcode = draw_chance(random, 50) && use_may_write(c) ? GN_NVME_WRITE : GN_NVME_READ;
	c->deadline = simt_clock_ns() + (patient ? a->patience_ns : a->short_ns);
	if (c->opcode == GN_NVME_WRITE && gn_nvmeq_write_hazard(c->q, c->lba, c->blocks)) {
		simt_add_relaxed_dev_u32(&a->report->hazards, 1);
		return;
	}
	if (!gn_nvmeq_begin(c->q, c->deadline, &c->cid))
		use_send(a, c, patient);
	else if (patient)
		use_blame(a, USE_NO_SLOT);
}

SIMT_FN void use(const struct use_arguments *a)
{
	uint64_t random = draw_mix(a->seed + simt_global_thread());
	struct use_command c;

	c.mine = &a->thread[simt_global_thread()];
	c.q = &a->queue[simt_global_thread() % a->queues];
	for (uint32_t k = 0; k < USE_BLOCKS; k++) {
		c.mine->belief[k].value[0] = 0; /* the disk begins with zeros */
		c.mine->belief[k].count = 1;
	}
	for (uint32_t k = 0; k < a->each; k++)
		use_one(a, &c, &random);
}
SIMT_KERNEL(use, struct use_arguments)

/* One thread brings home what was given up, as the next user would. */
SIMT_FN void bring_home(const struct use_arguments *a)
{
	uint64_t deadline = simt_clock_ns() + a->patience_ns;

	for (uint32_t k = 0; k < a->queues; k++) {
		const struct gn_nvmeq *q = &a->queue[k];

		while (simt_clock_ns() < deadline && (simt_load_acquire_dev_u32(&q->state->abandoned) ||
		                                      simt_load_relaxed_dev_u32(&q->state->tail) !=
		                                          simt_load_relaxed_dev_u32(&q->state->ticket))) {
			gn_nvmeq_ring(q);
			if (!gn_nvmeq_reap(q))
				simt_relax();
		}
	}
}
SIMT_KERNEL(bring_home, struct use_arguments)

/* One thread takes what the controller posted last. */
SIMT_FN void reap_rest(const struct use_arguments *a)
{
	for (uint32_t k = 0; k < a->queues; k++)
		while (gn_nvmeq_reap(&a->queue[k]))
			;
}
SIMT_KERNEL(reap_rest, struct use_arguments)

#endif
