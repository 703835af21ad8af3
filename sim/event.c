/* SPDX-License-Identifier: Apache-2.0 */
/* event.c - the wheel. */
#include <sim/event.h>

#include <assert.h>
#include <stddef.h>

static void append(struct sim_events *l, struct sim_event *e)
{
	e->next = NULL;
	if (!l->first)
		l->end = &l->first;
	*l->end = e;
	l->end = &e->next;
}

static void put(struct sim_clock *c, struct sim_event *e)
{
	uint64_t b = e->cycle % SIM_WHEEL;

	append(&c->bucket[b], e);
	c->full[b / 64] |= 1ull << b % 64;
}

void sim_clock_at(struct sim_clock *c, struct sim_event *e, uint64_t cycle, sim_event_fn *fire)
{
	assert(cycle >= c->now && !e->fire);
	e->cycle = cycle;
	e->fire = fire;
	c->waiting++;
	if (cycle - c->now < SIM_WHEEL)
		put(c, e);
	else
		append(&c->later, e);
}

/* At each turn of the wheel: what was too far away is looked at again. */
static void turn(struct sim_clock *c)
{
	struct sim_event *e = c->later.first, *next;

	c->later.first = NULL;
	for (; e; e = next) {
		next = e->next;
		if (e->cycle - c->now < SIM_WHEEL)
			put(c, e);
		else
			append(&c->later, e);
	}
}

/* The first bucket from b on that holds events; SIM_WHEEL: none before the wheel has turned. */
static uint64_t first_full(const struct sim_clock *c, uint64_t b)
{
	uint64_t w = b / 64, bits = c->full[w] & ~0ull << b % 64;

	while (!bits && ++w < SIM_WHEEL / 64)
		bits = c->full[w];
	return bits ? w * 64 + (uint64_t)__builtin_ctzll(bits) : (uint64_t)SIM_WHEEL;
}

static void happen(struct sim_clock *c, struct sim_machine *m, uint64_t b, const int *stop)
{
	struct sim_events *l = &c->bucket[b];
	sim_event_fn *fire;
	struct sim_event *e;

	while (!*stop && (e = l->first)) {
		l->first = e->next;
		__builtin_prefetch(e->next);
		__builtin_prefetch((const char *)e->next + 64);
		c->waiting--;
		c->count++;
		fire = e->fire;
		e->fire = NULL;
		fire(m, e);
	}
	if (!l->first)
		c->full[b / 64] &= ~(1ull << b % 64);
}

void sim_clock_run(struct sim_clock *c, struct sim_machine *m, const int *stop)
{
	while (c->waiting && !*stop) {
		uint64_t b = first_full(c, c->now % SIM_WHEEL);

		c->now = c->now / SIM_WHEEL * SIM_WHEEL + b;
		if (b == SIM_WHEEL)
			turn(c);
		else
			happen(c, m, b, stop);
	}
}
