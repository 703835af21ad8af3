/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue pair under every kind of schedule: up to four users and a controller that delays, reorders,
 * repeats, invents, fails and withholds completions; tickets that start near 2^32. What must hold:
 *   - a user gets the status and the data of its own command, or a time-out if its deadline was short;
 *   - a write that succeeded stays, also against earlier writes that timed out;
 *   - the controller fetches every posted command once, as it was posted, at most depth - 1 at a time;
 *   - in the end all slots are free, nothing counts as abandoned, both doorbells show everything, and
 *     the strays are the completions that the controller repeated or invented.
 */
#include "harness.h"
#include "queue_controller.h"
#include "queue_trial.h"
#include "queue_user.h"

#include <stdlib.h>

SIMT_FN void queue_trial(const struct arguments *a)
{
	if (simt_thread())
		use(a->t, simt_thread() - 1);
	else
		serve(a->t);
}
SIMT_KERNEL(queue_trial, struct arguments)

/* One run of bytes of a queue pair as gn_nvmeq_create left it. */
struct image {
	void *at;
	void *copy;
	size_t bytes;
};

enum { IMAGES = 6, DEPTHS = 3, STARTS = 3 };

struct fresh_queue {
	struct gn_nvmeq q;
	uint32_t start;
	struct image image[IMAGES];
};

static struct fresh_queue fresh[DEPTHS][STARTS];
static const struct fresh_queue *chosen;

static void keep(struct image *image, void *at, size_t bytes)
{
	image->at = at;
	image->bytes = bytes;
	image->copy = malloc(bytes);
	if (!image->copy)
		abort();
	memcpy(image->copy, at, bytes);
}

static int make(struct fresh_queue *f, struct simt_machine *machine, uint32_t depth, uint32_t start)
{
	struct gn_nvmeq_options options = {depth, 4096, 512, 1, start};

	if (gn_nvmeq_create(&f->q, machine, &options, NULL))
		return -1;
	f->start = start;
	keep(&f->image[0], f->q.sq, depth * sizeof *f->q.sq);
	keep(&f->image[1], f->q.cq, depth * sizeof *f->q.cq);
	keep(&f->image[2], f->q.sq_doorbell, 512);
	keep(&f->image[3], f->q.state, sizeof *f->q.state + depth * 4);
	keep(&f->image[4], f->q.slot, depth * sizeof *f->q.slot);
	keep(&f->image[5], f->q.free_id, depth * 4);
	return 0;
}

/* Marks have no member of their own in the table above: they say which round was last. */
static void reset_marks(const struct fresh_queue *f)
{
	for (uint32_t k = 0; k < f->q.depth; k++)
		f->q.mark[k] = f->start + k + 1 - f->q.depth;
}

static void reset(void *unused)
{
	struct trial *t = &the_trial;

	(void)unused;
	for (int k = 0; k < IMAGES; k++)
		memcpy(chosen->image[k].at, chosen->image[k].copy, chosen->image[k].bytes);
	reset_marks(chosen);
	t->q = chosen->q;
	t->finished = t->fetched = t->strays = 0;
	t->wrong = NULL;
	for (uint64_t k = 0; k < BLOCKS; k++) {
		t->disk[k] = k + 1;
		believe_only(&t->belief[k], k + 1);
	}
}

static void choose(uint32_t depth, uint32_t start)
{
	chosen = &fresh[depth == 2 ? 0 : depth == 4 ? 1 : 2][start];
}

static uint32_t one_of(uint64_t *random, uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t choice = draw_below(random, 3);

	return choice == 0 ? a : choice == 1 ? b : c;
}

static void draw_faults(uint64_t *random, struct faults *faults)
{
	memset(faults, 0, sizeof *faults);
	if (draw_chance(random, 30))
		return;
	faults->reorder = one_of(random, 0, 30, 100);
	faults->late = one_of(random, 0, 30, 80);
	faults->duplicate = one_of(random, 0, 10, 60);
	faults->bogus = one_of(random, 0, 0, 30);
	faults->fail = one_of(random, 0, 10, 50);
	faults->drop = one_of(random, 0, 0, 20);
}

static void draw_trial(uint64_t seed)
{
	struct trial *t = &the_trial;
	uint64_t s = seed;
	uint32_t depth = one_of(&s, 2, 4, 8);

	choose(depth, draw_below(&s, STARTS));
	t->seed = draw(&s);
	t->users = 1 + draw_below(&s, MOST_USERS);
	t->each = 1 + draw_below(&s, 5);
	t->window = 2 * t->users < depth ? 1 + draw_below(&s, MOST_WINDOW) : 1;
	t->hasty = one_of(&s, 0, 20, 70);
	t->short_ns = one_of(&s, 20000, 100000, 400000);
	draw_faults(&s, &t->faults);
	if (t->faults.drop) /* nobody waits for ever for what never comes */
		t->hasty = 100;
}

static const char *pick(unsigned k, struct simt_exploration *bound)
{
	static const struct {
		const char *name;
		unsigned preemptions;
		uint32_t depth, users, each, hasty, short_ns;
		struct faults faults; /* reorder, late, duplicate, bogus, fail, drop */
	} small[] = {
	    {"1 user, depth 2", 3, 2, 1, 2, 0, 0, {0, 0, 0, 0, 0, 0}},
	    {"1 user, depth 2, failures and duplicates", 2, 2, 1, 3, 0, 0, {0, 0, 50, 0, 50, 0}},
	    {"1 user, depth 2, time-outs", 2, 2, 1, 3, 70, 20000, {0, 30, 0, 0, 0, 0}},
	    {"1 user, depth 4, time-outs and duplicates", 2, 4, 1, 3, 70, 20000, {50, 30, 50, 0, 0, 0}},
	    {"2 users, depth 2", 1, 2, 2, 1, 0, 0, {0, 0, 0, 0, 0, 0}},
	    {"2 users, depth 4", 1, 4, 2, 1, 0, 0, {50, 0, 0, 0, 0, 0}},
	    {"2 users, depth 4, duplicates", 1, 4, 2, 1, 0, 0, {50, 0, 60, 0, 30, 0}},
	    {"2 users, depth 2, time-outs", 2, 2, 2, 1, 70, 30000, {0, 30, 0, 0, 0, 0}},
	    {"2 users, depth 4, time-outs", 2, 4, 2, 1, 70, 30000, {0, 30, 0, 0, 0, 0}},
	    {"2 users, depth 4, withheld completions", 2, 4, 2, 1, 100, 30000, {0, 0, 0, 0, 0, 60}},
	};
	struct trial *t = &the_trial;

	if (k >= sizeof small / sizeof *small)
		return NULL;
	choose(small[k].depth, 1);
	t->seed = k + 1;
	t->users = small[k].users;
	t->each = small[k].each;
	t->window = 1;
	t->hasty = small[k].hasty;
	t->short_ns = small[k].short_ns;
	t->faults = small[k].faults;
	bound->preemptions = small[k].preemptions;
	return small[k].name;
}

static struct simt_grid grid(void)
{
	struct simt_grid one_block = {1, 1 + the_trial.users, 0};

	return one_block;
}

static int check_slots(const struct gn_nvmeq *q)
{
	uint32_t seen = 0, ticket;

	for (uint32_t k = 0; k + 1 < q->depth; k++) {
		if (gn_ring_take(&q->state->free_ring, &ticket))
			return model_wrong("only %u of %u slots are free in the end", k, q->depth - 1);
		seen |= 1u << q->free_id[gn_ring_slot(&q->state->free_ring, ticket)];
		gn_ring_release(&q->state->free_ring, ticket);
	}
	if (seen != (1u << (q->depth - 1)) - 1)
		return model_wrong("the free slots are %x", seen);
	if (!gn_ring_take(&q->state->free_ring, &ticket))
		return model_wrong("more slots are free than there are");
	return 0;
}

static int check_state(const struct trial *t)
{
	const struct gn_nvmeq_state *s = t->q.state;
	uint32_t mask = t->q.depth - 1;

	if (s->abandoned || s->abandoned_writes)
		return model_wrong("%u commands and %u writes still count as abandoned", s->abandoned,
		                   s->abandoned_writes);
	if (s->tail != s->ticket || *t->q.sq_doorbell != (s->ticket & mask) ||
	    t->fetched != s->ticket - chosen->start)
		return model_wrong("%u commands posted, tail at %u, %u fetched", s->ticket - chosen->start,
		                   s->tail - chosen->start, t->fetched);
	if (s->rung != s->head || *t->q.cq_doorbell != (s->head & mask))
		return model_wrong("head at %u, but rung at %u", s->head - chosen->start,
		                   s->rung - chosen->start);
	if (s->strays != t->strays || s->head != s->ticket + t->strays)
		return model_wrong("%u strays were sent, %u counted", t->strays, s->strays);
	return 0;
}

/* What the disk holds is what its user believes. */
static int check_disk(const struct trial *t)
{
	for (uint32_t k = 0; k < BLOCKS; k++) {
		const struct belief *b = &t->belief[k];
		uint32_t at = 0;

		while (at < b->count && b->value[at] != t->disk[k])
			at++;
		if (at == b->count)
			return model_wrong("block %u lost a write that succeeded", k);
	}
	return 0;
}

static int check(void *unused)
{
	const struct trial *t = &the_trial;

	(void)unused;
	if (t->wrong)
		return model_wrong("%s", t->wrong);
	return check_state(t) || check_slots(&t->q) || check_disk(t);
}

int main(int argc, char **argv)
{
	static const struct model model = {
	    "queue", &queue_trial_kernel, &the_arguments, draw_trial, pick, grid, reset, check, NULL};
	struct simt_options options = {"cpu", 1, 1, SIMT_FAIR, 0};
	struct simt_machine *machine;

	if (simt_open(&machine, &options, NULL))
		return 1;
	for (uint32_t d = 0; d < DEPTHS; d++)
		for (uint32_t s = 0; s < STARTS; s++)
			if (make(&fresh[d][s], machine, 2u << d, 0u - 2 * s * (2u << d)))
				return 1;
	return model_main(&model, argc, argv);
}
