/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.c - the threads of modelled nodes have cores in turns, one step at a time: always the one furthest
 * behind.
 */
#include "net_model/model.h"

#include <stdlib.h>
#include <string.h>

#include "net_model/node.h"

/* Updates in a step of a thread that makes them; the system wakes a sleeper so much later than it wanted. */
enum { STEP = 256, LATE_NS = 55000 };

static const double never = 1e300;

struct net_model net_model_of(uint32_t nodes, uint32_t columns)
{
	struct net_model m;

	memset(&m, 0, sizeof m);
	m.nodes = nodes;
	m.columns = columns ? columns : gn_rule_columns(nodes);
	m.log_bytes = 1 << 20;
	m.packet_bytes = GN_PACKET_BYTES;
	m.flush_ns = GN_RULE_FLUSH_NS;
	m.updates = 4 << 20;
	m.part_words = 1 << 21;
	m.update_ns = 22;
	m.sort_ns = 13;
	m.pass_ns = 13;
	m.apply_ns = 12;
	m.packet_ns = 1000;
	m.byte_ns = 0.05;
	m.look_ns = 3;
	m.slice_ns = 3e6;
	return m;
}

/* ---- compressed messages ---- */

static uint32_t bytes_that_differ(uint64_t mask)
{
	return mask ? 8 - (uint32_t)__builtin_clzll(mask) / 8 - (uint32_t)__builtin_ctzll(mask) / 8 : 0;
}

/* Bits that differ among numbers first, first + step, ... below end. */
static uint64_t differ(uint32_t first, uint32_t step, uint32_t end)
{
	uint64_t mask = 0;

	for (uint32_t k = first; k < end; k += step)
		mask |= k ^ first;
	return mask;
}

/*
 * Of the head, the place differs; and, where messages are passed on, the peer: before it is the node they go
 * to, one of a column, behind it the node they come from, one of a row. Where an update meets a mark, the
 * kind in the highest byte of the head differs too, and the operand differs from the mark's number of
 * messages.
 */
static void find_strides(struct model *s)
{
	const uint64_t place = 2 * s->m->part_words - 2;
	const uint64_t column = differ(0, s->m->columns, s->m->nodes), row = differ(0, 1, s->m->columns);
	const uint32_t operand = s->m->xors ? 8 : 0;

	s->stride[GN_REPLIES] = s->stride[GN_REPLIES_PASSED] = 8 * WORDS;
	s->stride[GN_REQUESTS_PASSED] =
	    bytes_that_differ(gn__message_head(0, (uint32_t)column, place)) + operand;
	s->own_stride = bytes_that_differ(place) + operand;
	s->stride[GN_REQUESTS] = bytes_that_differ(gn__message_head(0, (uint32_t)row, place)) + operand;
	s->mixed_stride = 8 + (operand ? operand : bytes_that_differ(s->m->updates / s->m->nodes));
}

uint64_t net_model_buffers(const struct net_model *m)
{
	const struct gn_route route = {m->nodes, 0, m->columns};
	uint64_t packets = m->compressed ? 1 : 0;

	for (uint32_t k = 0; k < GN_PACKET_CLASSES; k++) {
		const uint32_t pool = gn_rule_pool(gn_route_links(&route, k & 1), k);

		packets += pool + (pool && m->compressed);
	}
	return packets * GN_PACKET_BYTES;
}

/* ---- threads and cores ---- */

struct core {
	double clock, until; /* the end of its thread's slice */
	struct node *node;   /* NULL: it has no thread */
	uint32_t which;
};

/* A thread makes some updates, which go to its log unless they stay; a full log is waited for. */
static void work(struct model *s, struct node *n)
{
	struct thread *t = &n->thread[WORKER];
	const double step = (double)s->m->flush_ns / 16 / s->m->update_ns;
	uint64_t batch = step < 1 ? 1 : step < STEP ? (uint64_t)step : (uint64_t)STEP;

	if (n->logged + batch > s->log_messages) {
		t->ready = never;
		return;
	}
	if (batch > s->m->updates - n->made)
		batch = s->m->updates - n->made;
	n->made += batch;
	n->remote += (double)batch * (s->m->nodes - 1) / s->m->nodes;
	n->logged += (uint64_t)n->remote;
	n->remote -= (double)(uint64_t)n->remote;
	s->spent += (double)batch * s->m->update_ns;
	t->over = n->made == s->m->updates;
	t->ready = t->over ? never : s->now + s->spent;
}

/*
 * A turn of the network; when nothing moves it looks again, lets others run, sleeps. Returns 1: it keeps its
 * core.
 */
static int serve(struct model *s, struct node *n)
{
	struct thread *t = &n->thread[NETWORK], *worker = &n->thread[WORKER];
	const uint32_t moved = net_model_turn(s, n);

	s->spent += 100;
	t->idle = moved ? 0 : t->idle + 1;
	t->moved = moved ? s->now : t->moved;
	t->ready = s->now + s->spent;
	if (!worker->over && worker->ready == never && n->logged + STEP <= s->log_messages)
		worker->ready = t->ready;
	if (s->now - t->moved >= GN_RULE_AWAKE_NS)
		t->ready += GN_RULE_SLEEP_NS + LATE_NS;
	return t->idle < GN_RULE_LOOKS;
}

/* The thread that had least of those that may run now; *next: when one may at the earliest. */
static struct thread *least(struct model *s, struct core *c, double *next)
{
	struct thread *best = NULL;

	*next = never;
	for (uint32_t k = 0; k < s->simulated * THREADS; k++) {
		struct thread *t = &s->node[k / THREADS].thread[k % THREADS];

		if (t->running)
			continue;
		*next = t->ready < *next ? t->ready : *next;
		if (t->ready > c->clock || (best && t->had >= best->had))
			continue;
		best = t;
		c->node = &s->node[k / THREADS];
		c->which = k % THREADS;
	}
	return best;
}

/* Who did not want a core does not save it up, but for a slice. Returns 0: nobody wants this one. */
static int choose(struct model *s, struct core *c, double *next)
{
	struct thread *t = least(s, c, next);

	if (!t)
		return 0;
	t->running = 1;
	s->had = t->had > s->had ? t->had : s->had;
	t->had = t->had > s->had - s->m->slice_ns ? t->had : s->had - s->m->slice_ns;
	c->until = c->clock + s->m->slice_ns;
	return 1;
}

/* One step of the thread that a core has. */
static void step(struct model *s, struct core *c)
{
	struct thread *t = &c->node->thread[c->which];
	int keeps = 1;

	s->now = c->clock;
	s->spent = 0;
	if (c->which == WORKER)
		work(s, c->node);
	else
		keeps = serve(s, c->node);
	c->clock = s->now + s->spent;
	t->had += s->spent;
	if (keeps && t->ready <= c->clock && c->clock < c->until)
		return;
	t->running = 0;
	c->node = NULL;
}

/* A core without work waits for the next thread that is ready, but sees what others do meanwhile. */
static void wait_on(struct core *core, uint32_t cores, struct core *c, double next)
{
	for (uint32_t k = 0; k < cores; k++)
		if (core[k].node && core[k].clock + 1 < next)
			next = core[k].clock + 1;
	c->clock = next > c->clock ? next : c->clock + 1;
}

static int all_quiet(const struct model *s)
{
	for (uint32_t k = 0; k < s->simulated; k++)
		if (s->node[k].stage != QUIET)
			return 0;
	return 1;
}

static void simulate(struct model *s, struct core *core, uint32_t cores)
{
	while (!s->rc && !all_quiet(s)) {
		struct core *c = core;
		double next;

		for (uint32_t k = 1; k < cores; k++)
			c = core[k].clock < c->clock ? &core[k] : c;
		if (c->node || choose(s, c, &next))
			step(s, c);
		else
			wait_on(core, cores, c, next);
	}
}

/* ---- a run ---- */

static int prepare(struct model *s)
{
	int rc = 0;

	s->most_words = gn_rule_words(s->m->packet_bytes);
	s->log_messages = s->m->log_bytes / (8 * WORDS);
	find_strides(s);
	for (uint32_t k = 0; k < s->simulated && !rc; k++)
		rc = net_model_node_init(s, &s->node[k], k);
	return rc;
}

static void conclude(const struct model *s, struct net_model_result *result)
{
	result->stats = s->stats;
	result->seconds = s->seconds;
	result->stats.buffer_bytes = s->simulated * net_model_buffers(s->m);
	for (uint32_t k = 0; k < s->simulated; k++) {
		const struct node *n = &s->node[k];
		uint64_t made = 0;

		for (uint32_t p = 0; p < GN_PACKET_CLASSES; p++)
			made += (uint64_t)n->pool[p].made * GN_PACKET_BYTES;
		result->made_bytes = made > result->made_bytes ? made : result->made_bytes;
		result->sorted_seconds =
		    1e-9 * n->sorted > result->sorted_seconds ? 1e-9 * n->sorted : result->sorted_seconds;
		result->link_share += 1e-9 * n->link_busy / s->seconds / s->simulated;
	}
}

static int is_possible(const struct net_model *m)
{
	return m->nodes >= 2 && m->nodes <= GN_NET_MOST_NODES && m->columns && m->columns <= m->nodes &&
	       m->simulated <= m->nodes && m->log_bytes >= 16 * STEP && m->packet_bytes <= GN_PACKET_BYTES &&
	       m->updates && m->update_ns > 0;
}

int net_model_run(const struct net_model *m, struct net_model_result *result)
{
	struct model s;
	const uint32_t simulated = m->simulated ? m->simulated : m->nodes,
	               cores = m->cores ? m->cores : THREADS * simulated;
	struct core *core = (struct core *)calloc(cores, sizeof *core);

	memset(result, 0, sizeof *result);
	memset(&s, 0, sizeof s);
	if (!is_possible(m)) {
		free(core);
		return -GN_EINVAL;
	}
	s.m = m;
	s.simulated = simulated;
	s.node = (struct node *)calloc(simulated, sizeof *s.node);
	s.rc = core && s.node ? prepare(&s) : -GN_ENOMEM;
	simulate(&s, core, cores);
	if (!s.rc)
		conclude(&s, result);
	for (uint32_t k = 0; s.node && k < simulated; k++)
		net_model_node_fini(&s.node[k]);
	net_model_parcels_free(s.spare);
	free(s.node);
	free(core);
	return s.rc;
}
