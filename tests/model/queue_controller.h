/* SPDX-License-Identifier: Apache-2.0 */
/* queue_controller.h - a controller that checks what it is sent and misbehaves as the trial says. */
#ifndef GN_TESTS_QUEUE_CONTROLLER_H
#define GN_TESTS_QUEUE_CONTROLLER_H

#include "queue_trial.h"

enum { MOST_HELD = 16 };

struct held {
	struct gn_nvme_command command;
	uint32_t status;
	uint32_t executed; /* only its completion is missing */
	uint32_t dropped;
	uint32_t stray; /* a second or an invented completion */
};

struct controller {
	struct trial *t;
	struct gn_nvme_port port;
	uint64_t random;
	struct held held[MOST_HELD];
	uint32_t count, outstanding;
};

/* The entry must be the command of a slot that waits for it: nobody wrote over it before it was fetched. */
SIMT_FN void check_command(struct controller *c, const struct gn_nvme_command *command)
{
	const struct gn_nvmeq *q = &c->t->q;
	const struct gn_nvmeq_slot *slot = &q->slot[command->cid & (q->depth - 1)];
	uint64_t word = simt_load_acquire_dev_u64(&slot->word);
	uint32_t state = gn__nvmeq_slot_state(word);

	if (gn__nvmeq_cid(word) != command->cid ||
	    (state != GN__NVMEQ_PENDING && state != GN__NVMEQ_ABANDONED))
		blame(c->t, "the controller fetched a command that nobody waits for");
	if (slot->lba != command->lba || slot->opcode != command->opcode)
		blame(c->t, "the controller fetched another command than was posted");
	for (uint32_t k = 0; k < c->count; k++)
		if (c->held[k].command.cid == command->cid && !c->held[k].stray)
			blame(c->t, "two outstanding commands have one id");
	if (++c->outstanding > q->depth - 1)
		blame(c->t, "more than depth - 1 commands are outstanding");
}

SIMT_FN void hold(struct controller *c, const struct gn_nvme_command *command)
{
	struct held *h = &c->held[c->count++];

	memset(h, 0, sizeof *h);
	h->command = *command;
	h->dropped = draw_chance(&c->random, c->t->faults.drop);
}

SIMT_FN int fetch_one(struct controller *c)
{
	struct gn_nvme_command command;

	if (c->count == MOST_HELD || gn_nvme_port_fetch(&c->port, &command))
		return 0;
	c->t->fetched++;
	check_command(c, &command);
	hold(c, &command);
	return 1;
}

SIMT_FN void write_block(struct controller *c, const struct gn_nvme_command *command)
{
	const uint64_t *word = (const uint64_t *)(uintptr_t)command->prp1;
	/* The first word tells the value; 2^64 / golden ratio is odd, hence invertible. */
	uint64_t value = (word[0] * 0xf1de83e19937733du) >> 8;

	if (!trial_holds(word, command->lba, value))
		blame(c->t, "the controller read a torn or foreign buffer");
	c->t->disk[command->lba] = value;
}

SIMT_FN void execute(struct controller *c, struct held *h)
{
	const struct gn_nvme_command *command = &h->command;

	h->executed = 1;
	if (draw_chance(&c->random, c->t->faults.fail))
		h->status = trial_status(command->lba);
	else if (command->opcode == GN_NVME_READ)
		trial_fill((void *)(uintptr_t)command->prp1, command->lba, c->t->disk[command->lba]);
	else if (command->opcode == GN_NVME_WRITE)
		write_block(c, command);
}

/* Repeat the completion of h later, or invent one. */
SIMT_FN void hold_stray(struct controller *c, const struct held *h, uint32_t cid, uint32_t status)
{
	struct held *stray;

	if (c->count == MOST_HELD)
		return;
	stray = &c->held[c->count++];
	*stray = *h;
	stray->command.cid = (uint16_t)cid;
	stray->executed = stray->stray = 1;
	stray->dropped = 0;
	stray->status = status;
}

SIMT_FN void misbehave(struct controller *c, const struct held *h)
{
	enum { NOBODYS = 0x7ff }; /* whoever gets this status complains */

	/* Whichever of the two is delivered first completes the command, so they say the same. */
	if (draw_chance(&c->random, c->t->faults.duplicate))
		hold_stray(c, h, h->command.cid, h->status);
	if (draw_chance(&c->random, c->t->faults.bogus))
		hold_stray(c, h, h->command.cid + 0x4000, NOBODYS);
	if (draw_chance(&c->random, c->t->faults.bogus))
		hold_stray(c, h, h->command.cid | (c->t->q.depth - 1), NOBODYS);
}

SIMT_FN void let_go(struct controller *c, uint32_t k)
{
	c->count--;
	for (; k < c->count; k++)
		c->held[k] = c->held[k + 1];
}

SIMT_FN int complete_at(struct controller *c, uint32_t k)
{
	struct held h = c->held[k];

	if (!h.executed)
		execute(c, &h);
	c->held[k].executed = 1;
	c->held[k].status = h.status;
	/* Counted first: behind the completion its slot may be in use again. */
	c->outstanding -= !h.stray;
	if (gn_nvme_port_complete(&c->port, h.command.cid, h.status)) {
		c->outstanding += !h.stray;
		return 0;
	}
	c->t->strays += h.stray;
	let_go(c, k);
	if (!h.stray)
		misbehave(c, &h);
	return 1;
}

/* Complete a command, any of those held if it reorders. Returns 0 if there was none, or no room. */
SIMT_FN int complete_one(struct controller *c, int last_orders)
{
	uint32_t first;

	if (!c->count || (!last_orders && draw_chance(&c->random, c->t->faults.late)))
		return 0;
	first = draw_chance(&c->random, c->t->faults.reorder) ? draw_below(&c->random, c->count) : 0;
	for (uint32_t k = 0; k < c->count; k++) {
		uint32_t at = (first + k) % c->count;

		if (last_orders || !c->held[at].dropped)
			return complete_at(c, at);
	}
	return 0;
}

SIMT_FN void serve(struct trial *t)
{
	struct controller c;

	memset(&c, 0, sizeof c);
	c.t = t;
	c.random = t->seed;
	gn_nvme_port_init(&c.port, &t->q);
	while (simt_load_acquire_dev_u32(&t->finished) < t->users) {
		int moved = fetch_one(&c);

		if (!(complete_one(&c, 0) | moved))
			simt_relax();
	}
	/* The users are gone. Let what they gave up come home, as the next user would. */
	for (int quiet = 0; quiet < 3;) {
		int moved = fetch_one(&c) | complete_one(&c, 1);

		gn_nvmeq_ring(&t->q);
		moved |= gn_nvmeq_reap(&t->q);
		quiet = moved ? 0 : quiet + 1;
	}
	if (c.count)
		blame(t, "the completion queue stays full");
}

#endif
