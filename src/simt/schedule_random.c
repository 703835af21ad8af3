/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule_random.c - at every choice a seeded generator draws a candidate. Threads that relax are kept apart
 * and get one turn in four. Otherwise, if a thousand threads wait for one, that one would rarely run.
 */
#include <simt/check.h>

#include <sched.h>
#include <stdlib.h>

/* The processor is yielded when all threads have relaxed this number of times in a row. */
enum { PATIENCE = 32 };

struct random_schedule {
	struct simt__check base; /* first */
	uint64_t state;
	struct simt__fiber **candidate; /* [0, eager) stand at points, [eager, count) relax */
	uint32_t eager, count, room;
	uint32_t relaxes; /* in a row */
};

/* SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
static uint64_t draw(struct random_schedule *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static uint32_t draw_below(struct random_schedule *r, uint32_t bound)
{
	return (uint32_t)(((draw(r) >> 32) * bound) >> 32);
}

static void put(struct random_schedule *r, uint32_t slot, struct simt__fiber *f)
{
	r->candidate[slot] = f;
	f->slot = slot;
}

static void exchange(struct random_schedule *r, uint32_t a, uint32_t b)
{
	struct simt__fiber *f = r->candidate[a];

	put(r, a, r->candidate[b]);
	put(r, b, f);
}

static void make_eager(struct random_schedule *r, struct simt__fiber *f)
{
	if (f->slot >= r->eager)
		exchange(r, f->slot, r->eager++);
}

static void make_relaxed(struct random_schedule *r, struct simt__fiber *f)
{
	if (f->slot < r->eager)
		exchange(r, f->slot, --r->eager);
}

static int enable(struct simt__check *check, struct simt__fiber *f)
{
	struct random_schedule *r = (struct random_schedule *)check;

	if (r->count == r->room) {
		uint32_t room = r->room ? 2 * r->room : 2048; /* as many as live at once, in general */
		void *more = realloc(r->candidate, room * sizeof *r->candidate);

		if (!more)
			return -GN_ENOMEM;
		r->candidate = (struct simt__fiber **)more;
		r->room = room;
	}
	put(r, r->count++, f);
	make_eager(r, f);
	r->relaxes = 0;
	return 0;
}

static void disable(struct simt__check *check, struct simt__fiber *f)
{
	struct random_schedule *r = (struct random_schedule *)check;

	make_relaxed(r, f);
	exchange(r, f->slot, --r->count);
	f->slot = SIMT__NO_SLOT;
	r->relaxes = 0;
}

static uint32_t choose_slot(struct random_schedule *r)
{
	uint32_t relaxed = r->count - r->eager;

	if (!r->eager || (relaxed && draw_below(r, 4) == 0))
		return r->eager + draw_below(r, relaxed);
	return draw_below(r, r->eager);
}

static struct simt__fiber *choose(struct simt__check *check, struct simt__fiber *self, enum simt__stop why)
{
	struct random_schedule *r = (struct random_schedule *)check;
	struct simt__fiber *next;

	if (!r->count)
		return NULL;
	if (self && why == SIMT__RELAXED) {
		make_relaxed(r, self);
		/*
		 * The threads may all wait for a host thread. On a busy machine a yield may last for many
		 * turns of other processes, so it is rare.
		 */
		if (++r->relaxes > PATIENCE * r->count) {
			sched_yield();
			r->relaxes = 0;
		}
	}
	next = r->candidate[choose_slot(r)];
	make_eager(r, next);
	return next;
}

struct simt__check *simt__random_new(uint64_t seed)
{
	static const struct simt__check_ops ops = {enable, disable, choose};
	struct random_schedule *r = (struct random_schedule *)calloc(1, sizeof *r);

	if (!r)
		return NULL;
	r->base.ops = &ops;
	r->state = seed;
	return &r->base;
}

void simt__random_reset(struct simt__check *check)
{
	struct random_schedule *r = (struct random_schedule *)check;

	r->eager = r->count = r->relaxes = 0;
}

void simt__random_free(struct simt__check *check)
{
	if (check)
		free(((struct random_schedule *)check)->candidate);
	free(check);
}
