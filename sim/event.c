/* SPDX-License-Identifier: Apache-2.0 */
/* event.c - the wheel. */
#include <sim/event.h>

/* At each turn of the wheel: what was too far away is looked at again. */
static void turn(struct sim_clock *c)
{
	struct sim_event *e = c->later.first, *next;

	c->later.first = NULL;
	for (; e; e = next) {
		next = e->next;
		if (e->cycle - c->now < SIM_WHEEL)
			sim__clock_put(c, e);
		else
			sim_events_add(&c->later, e);
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

/* An event and what it is a part of: two of the host's lines. */
static void prefetch(const struct sim_event *e)
{
	__builtin_prefetch(e);
	__builtin_prefetch((const char *)e + 64);
}

/* The next bucket that holds events, if it is near: they will be wanted soon. */
static void prefetch_next(const struct sim_clock *c, uint64_t b)
{
	const uint64_t others = c->full[b / 64] & ~1ull << b % 64;
	const struct sim_event *e;

	if (!others)
		return;
	e = c->bucket[b / 64 * 64 + (uint64_t)__builtin_ctzll(others)].first;
	__builtin_prefetch(e);
	__builtin_prefetch((const char *)e + 64);
}

/* All that a bucket holds; what is put into it meanwhile is found there next. */
static void happen(struct sim_clock *c, struct sim_domain *m, uint64_t b, const int *stop)
{
	struct sim_event *e = c->bucket[b].first, *next;
	uint64_t count = 0;

	c->bucket[b].first = NULL;
	c->full[b / 64] &= ~(1ull << b % 64);
	if (e)
		c->last = c->now;
	prefetch_next(c, b);
	next = e ? e->next : NULL;
	prefetch(next);
	for (; e && !*stop; e = next) {
		sim_event_fn *fire = e->fire;

		next = e->next;
		if (next)
			prefetch(next->next);
		e->fire = NULL;
		count++;
		fire(m, e);
	}
	c->waiting -= count;
	c->count += count;
}

uint64_t sim_clock_next(const struct sim_clock *c)
{
	return c->waiting ? c->now / SIM_WHEEL * SIM_WHEEL + first_full(c, c->now % SIM_WHEEL) : UINT64_MAX;
}

void sim_clock_run(struct sim_clock *c, struct sim_domain *m, const int *stop, uint64_t end)
{
	while (c->now < end && !*stop) {
		const uint64_t b = c->now % SIM_WHEEL, bits = c->full[b / 64] >> b % 64;
		uint64_t next = bits         ? c->now + (uint64_t)__builtin_ctzll(bits)
		                : c->waiting ? (c->now | 63) + 1
		                             : end;

		c->now = next < end ? next : end;
		if (!bits && c->now % SIM_WHEEL == 0)
			turn(c);
		if (bits && next < end)
			happen(c, m, next % SIM_WHEEL, stop);
	}
}
