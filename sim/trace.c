/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c - counters in intervals, and lists that grow. */
#include <sim/trace.h>

#include <sim/parts.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_INTERVAL = 256 };

struct source {
	struct sim_trace_track track;
	const uint64_t *count;       /* of a domain; NULL: see the others */
	const struct sim_link *link; /* messages that wait for it */
	const struct sim_mmu *mmu;   /* page walks that wait */
	uint64_t seen;               /* of count, in intervals that are over */
};

struct busy_list {
	struct sim_trace_busy *busy;
	uint32_t count, room;
};

struct sim_trace {
	uint64_t interval;
	uint32_t most, at; /* intervals; the one that is now */
	uint32_t sources, launches, launch_room;
	struct source *source;
	uint64_t *value; /* of source 0 in each interval, of source 1 ... */
	struct sim_trace_launch *launch;
	struct busy_list busy[SIM_MOST_GPUS]; /* each is of the thread that runs the GPU */
};

/* ---- what is watched ---- */

static struct source *add(struct sim_trace *t, const char *name, const char *unit, int32_t gpu)
{
	struct source *s = &t->source[t->sources++];

	s->track.name = name;
	s->track.unit = unit;
	s->track.gpu = gpu;
	return s;
}

static void watch_gpu(struct sim_trace *t, struct sim_domain *d, int32_t gpu)
{
	add(t, "vector reads", "lines", gpu)->count = &d->stats.vector_reads;
	add(t, "vector writes", "lines", gpu)->count = &d->stats.vector_writes;
	add(t, "L2 look-ups", "lines", gpu)->count = &d->stats.l2_lookups;
	add(t, "DRAM transactions", "lines", gpu)->count = &d->stats.dram_transactions;
	add(t, "remote transactions", "requests", gpu)->count = &d->stats.remote_transactions;
	add(t, "vector lines under way", "lines", gpu)->count = &d->in_flight;
	t->source[t->sources - 1].track.level = true;
}

static void watch_link(struct sim_trace *t, struct sim_link *l)
{
	struct source *flits = add(t, l->name, "flits", -1),
	              *waiting = add(t, l->name, "messages waiting", -1);

	flits->count = &l->flits;
	waiting->link = l;
	flits->track.link = waiting->track.link = waiting->track.level = true;
}

static void watch(struct sim_trace *t, struct sim_machine *m)
{
	struct sim_link *l;
	struct source *walks;

	for (uint32_t k = 0; (l = sim_network_link(&m->network, k)); k++)
		watch_link(t, l);
	for (uint32_t k = 0; k < m->config.gpus; k++)
		watch_gpu(t, &m->gpu[k].domain, (int32_t)k);
	add(t, "page walks", "pages", -1)->count = &m->core.stats.page_walks;
	walks = add(t, "page walks waiting", "pages", -1);
	walks->mmu = &m->mmu;
	walks->track.level = true;
}

int sim_trace_begin(struct sim_machine *m, uint32_t intervals)
{
	const size_t most = 2 * (2 * (SIM_MOST_GPUS + 1) + 2 * SIM_MOST_GPUS) + 6 * SIM_MOST_GPUS + 2;
	struct sim_trace *t;

	if (!intervals || intervals % 2)
		return -GN_EINVAL;
	t = (struct sim_trace *)calloc(1, sizeof *t);
	if (!t)
		return -GN_ENOMEM;
	t->interval = FIRST_INTERVAL;
	t->most = intervals;
	t->source = (struct source *)calloc(most, sizeof *t->source);
	t->value = (uint64_t *)calloc(most * intervals, sizeof *t->value);
	if (!t->source || !t->value) {
		sim_trace_end(t);
		return -GN_ENOMEM;
	}
	watch(t, m);
	m->trace = t;
	return 0;
}

void sim_trace_end(struct sim_trace *t)
{
	if (!t)
		return;
	for (uint32_t k = 0; k < SIM_MOST_GPUS; k++)
		free(t->busy[k].busy);
	free(t->launch);
	free(t->source);
	free(t->value);
	free(t);
}

/* ---- as time goes on ---- */

static uint64_t *values(const struct sim_trace *t, uint32_t k)
{
	return t->value + (size_t)k * t->most;
}

/* How many there are. */
static uint64_t level(const struct source *s)
{
	if (s->link)
		return s->link->waiting[SIM_REQUESTS].count + s->link->waiting[SIM_REPLIES].count;
	return s->mmu ? s->mmu->waiting.count : *s->count;
}

/* The interval that was is over. */
static void take(struct sim_trace *t)
{
	for (uint32_t k = 0; k < t->sources; k++) {
		struct source *s = &t->source[k];
		uint64_t *value = &values(t, k)[t->at];

		if (s->track.level) {
			*value = level(s);
			continue;
		}
		*value += *s->count - s->seen;
		s->seen = *s->count;
	}
}

/* Two intervals become one. */
static void fold(struct sim_trace *t)
{
	for (uint32_t k = 0; k < t->sources; k++) {
		uint64_t *value = values(t, k);

		for (uint32_t n = 0; n < t->most / 2; n++)
			value[n] =
			    t->source[k].track.level ? value[2 * n + 1] : value[2 * n] + value[2 * n + 1];
		memset(value + t->most / 2, 0, t->most / 2 * sizeof *value);
	}
	t->interval *= 2;
	t->at /= 2;
}

/* In intervals up to `end` in which no window begins levels are what they were. */
static void hold_levels(struct sim_trace *t, uint32_t end)
{
	for (uint32_t k = 0; k < t->sources; k++) {
		uint64_t *value = values(t, k);

		for (uint32_t n = t->at + 1; t->source[k].track.level && n < end; n++)
			value[n] = value[t->at];
	}
}

void sim_trace_window(struct sim_machine *m, uint64_t begin)
{
	struct sim_trace *t = m->trace;

	if (!t || begin / t->interval <= t->at)
		return;
	take(t);
	while (begin / t->interval >= t->most) {
		hold_levels(t, t->most);
		fold(t);
	}
	hold_levels(t, (uint32_t)(begin / t->interval));
	t->at = (uint32_t)(begin / t->interval);
}

void sim_trace_finish(struct sim_machine *m)
{
	if (m->trace)
		take(m->trace);
}

/* Room for one more. */
static void *grown(void *list, uint32_t count, uint32_t *room, size_t size)
{
	void *more;

	if (count < *room)
		return list;
	more = realloc(list, (2 * (size_t)*room + 64) * size);
	if (more)
		*room = 2 * *room + 64;
	return more;
}

int sim_trace_add_launch(struct sim_trace *t, const char *name, uint64_t begin, uint64_t end)
{
	struct sim_trace_launch *launch;

	if (!t)
		return 0;
	launch = (struct sim_trace_launch *)grown(t->launch, t->launches, &t->launch_room, sizeof *launch);
	if (!launch)
		return -GN_ENOMEM;
	t->launch = launch;
	launch += t->launches++;
	launch->name = name;
	launch->begin = begin;
	launch->end = end;
	return 0;
}

int sim_trace_add_busy(struct sim_trace *t, const struct sim_cu *cu, uint64_t now)
{
	struct busy_list *l;
	struct sim_trace_busy *busy;

	if (!t)
		return 0;
	l = &t->busy[cu->gpu->number];
	busy = (struct sim_trace_busy *)grown(l->busy, l->count, &l->room, sizeof *busy);
	if (!busy)
		return -GN_ENOMEM;
	l->busy = busy;
	busy += l->count++;
	busy->begin = cu->busy_since;
	busy->end = now;
	busy->gpu = cu->gpu->number;
	busy->cu = (uint32_t)(cu - cu->gpu->cu);
	busy->groups = cu->busy_groups;
	return 0;
}

/* ---- reading ---- */

const struct sim_trace *sim_trace_of(const struct sim_machine *m)
{
	return m->trace;
}

uint64_t sim_trace_interval(const struct sim_trace *t)
{
	return t->interval;
}

uint32_t sim_trace_intervals(const struct sim_trace *t)
{
	return t->at + 1;
}

const struct sim_trace_track *sim_trace_track_at(const struct sim_trace *t, uint32_t k)
{
	return k < t->sources ? &t->source[k].track : NULL;
}

const struct sim_trace_launch *sim_trace_launch_at(const struct sim_trace *t, uint32_t k)
{
	return k < t->launches ? &t->launch[k] : NULL;
}

const struct sim_trace_busy *sim_trace_busy_at(const struct sim_trace *t, uint32_t k)
{
	for (uint32_t gpu = 0; gpu < SIM_MOST_GPUS; gpu++) {
		if (k < t->busy[gpu].count)
			return &t->busy[gpu].busy[k];
		k -= t->busy[gpu].count;
	}
	return NULL;
}

uint64_t sim_trace_value(const struct sim_trace *t, uint32_t k, uint32_t interval)
{
	return values(t, k)[interval];
}
