/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.h - what happens when: events in the order of their cycle.
 *
 * An event is part of the object it is about (a line on its way, a wavefront, a message), so none is
 * allocated. A wheel has one bucket a cycle; what is further away waits beside it. Order: by cycle, and in
 * one cycle by the order in which events were put in. Nothing else decides, so the same input gives the same
 * run.
 */
#ifndef SIM_EVENT_H
#define SIM_EVENT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SIM_WHEEL = 1024 }; /* buckets */

struct sim_domain;
struct sim_event;

typedef void sim_event_fn(struct sim_domain *m, struct sim_event *e);

struct sim_event {
	struct sim_event *next;
	uint64_t cycle;
	sim_event_fn *fire; /* NULL: it does not wait */
};

struct sim_events {
	struct sim_event *first;
	struct sim_event **end; /* where the next one goes, if there is a first */
};

/* sim_events_add - behind the others. */
static inline void sim_events_add(struct sim_events *l, struct sim_event *e)
{
	struct sim_event **end = l->first ? l->end : &l->first;

	e->next = NULL;
	*end = e;
	l->end = &e->next;
}

struct sim_clock {
	uint64_t now;
	uint64_t last;                 /* cycle of the last event that has happened */
	uint64_t count;                /* events that have happened */
	uint64_t waiting;              /* events that have not */
	uint64_t full[SIM_WHEEL / 64]; /* a bit a bucket: it holds events */
	struct sim_events bucket[SIM_WHEEL];
	struct sim_events later; /* a wheel or more away */
};

static inline void sim__clock_put(struct sim_clock *c, struct sim_event *e)
{
	const uint64_t b = e->cycle % SIM_WHEEL;

	sim_events_add(&c->bucket[b], e);
	c->full[b / 64] |= 1ull << b % 64;
}

/* sim_clock_at - an event happens in a cycle, at the earliest this one. It may not be waiting already. */
static inline void sim_clock_at(struct sim_clock *c, struct sim_event *e, uint64_t cycle, sim_event_fn *fire)
{
	assert(cycle >= c->now && !e->fire);
	e->cycle = cycle;
	e->fire = fire;
	c->waiting++;
	if (cycle - c->now < SIM_WHEEL)
		sim__clock_put(c, e);
	else
		sim_events_add(&c->later, e);
}

/*
 * sim_clock_next - a cycle before which nothing happens; with what is far away it may be too early.
 * UINT64_MAX: nothing waits.
 */
uint64_t sim_clock_next(const struct sim_clock *c);

/* sim_clock_run - what happens before the cycle `end`, which it is afterwards; or until *stop is not 0. */
void sim_clock_run(struct sim_clock *c, struct sim_domain *m, const int *stop, uint64_t end);

#endif
