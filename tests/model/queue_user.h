/* SPDX-License-Identifier: Apache-2.0 */
/* queue_user.h - a thread that reads and writes its blocks and believes only what it was told. */
#ifndef GN_TESTS_QUEUE_USER_H
#define GN_TESTS_QUEUE_USER_H

#include "queue_trial.h"

/* A command in flight. */
struct flight {
	uint32_t cid, opcode;
	uint64_t lba, value, deadline;
	int patient; /* a time-out would be an error */
};

SIMT_FN void believe_only(struct belief *b, uint64_t value)
{
	b->value[0] = value;
	b->count = 1;
}

SIMT_FN void believe_also(struct trial *t, struct belief *b, uint64_t value)
{
	if (b->count < MOST_VALUES)
		b->value[b->count++] = value;
	else
		blame(t, "the test keeps too few values");
}

SIMT_FN void check_read(struct trial *t, const struct flight *f)
{
	const struct belief *b = &t->belief[f->lba];

	for (uint32_t k = 0; k < b->count; k++)
		if (trial_holds(gn_nvmeq_buffer(&t->q, f->cid), f->lba, b->value[k]))
			return;
	blame(t, "a read that succeeded returned something else than the block");
}

/* Returns 0 if the command is in flight. */
SIMT_FN int take_off(struct trial *t, uint64_t *random, struct flight *f)
{
	struct belief *b = &t->belief[f->lba];

	f->opcode = draw_chance(random, 50) && b->count < MOST_VALUES ? GN_NVME_WRITE : GN_NVME_READ;
	f->patient = !draw_chance(random, t->hasty);
	f->deadline = simt_clock_ns() + (f->patient ? (uint64_t)FOREVER_NS : draw_below(random, t->short_ns));
	f->value = draw(random) >> 32;
	if (f->opcode == GN_NVME_WRITE && gn_nvmeq_write_hazard(&t->q, f->lba, 1))
		return -GN_EBUSY;
	if (gn_nvmeq_begin(&t->q, f->deadline, &f->cid)) {
		/* With slots lost for good nobody may promise one. */
		if (f->patient && !t->faults.drop)
			blame(t, "no slot came back");
		return -GN_ETIMEDOUT;
	}
	/* What a read should not find there. */
	trial_fill(gn_nvmeq_buffer(&t->q, f->cid), f->lba, f->value);
	if (gn_nvmeq_post(&t->q, f->cid, f->opcode, f->lba, 1))
		blame(t, "post refused a command");
	return 0;
}

/* Returns -GN_ETIMEDOUT if the slot is gone with the command, else 0. */
SIMT_FN int land(struct trial *t, const struct flight *f)
{
	struct belief *b = &t->belief[f->lba];
	uint32_t status = 0xffff;
	int rc = gn_nvmeq_wait(&t->q, f->cid, f->deadline, &status);

	if (rc == -GN_ETIMEDOUT) {
		if (f->patient && !t->faults.drop)
			blame(t, "a completion was lost");
		if (f->opcode == GN_NVME_WRITE)
			believe_also(t, b, f->value);
		return rc;
	}
	if (status != (rc ? trial_status(f->lba) : 0) || (rc && rc != -GN_EIO))
		blame(t, "a user got a status that is not its command's");
	if (!rc && f->opcode == GN_NVME_READ)
		check_read(t, f);
	if (!rc && f->opcode == GN_NVME_WRITE)
		believe_only(b, f->value);
	return 0;
}

/*
 * After a write, sometimes read the block back from the same slot under a fresh id.
 * Returns 0 if there is a slot to end.
 */
SIMT_FN int land_and_read_back(struct trial *t, uint64_t *random, struct flight *f)
{
	int rc = land(t, f);

	if (rc || f->opcode != GN_NVME_WRITE || !draw_chance(random, 40))
		return rc;
	f->cid = gn_nvmeq_renew(&t->q, f->cid);
	f->opcode = GN_NVME_READ;
	trial_fill(gn_nvmeq_buffer(&t->q, f->cid), f->lba, f->value + 1);
	if (gn_nvmeq_post(&t->q, f->cid, f->opcode, f->lba, 1))
		blame(t, "post refused a command");
	return land(t, f);
}

SIMT_FN void use(struct trial *t, uint32_t user)
{
	uint64_t random = draw_mix(t->seed + user + 1);
	struct flight flight[MOST_WINDOW];

	for (uint32_t k = 0; k < t->each; k++) {
		uint32_t flying = 0;

		for (uint32_t w = 0; w < t->window; w++) {
			flight[flying].lba = user * MOST_WINDOW + w;
			flying += !take_off(t, &random, &flight[flying]);
		}
		while (flying--)
			if (!land_and_read_back(t, &random, &flight[flying]))
				gn_nvmeq_end(&t->q, flight[flying].cid);
	}
	simt_add_acq_rel_dev_u32(&t->finished, 1);
}

#endif
