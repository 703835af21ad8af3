/* SPDX-License-Identifier: Apache-2.0 */
/* network.c - messages as intervals on links, and credits. */
#include <sim/network.h>

#include <sim/codec.h>
#include <sim/parts.h>
#include <stdio.h>

static void link_init(struct sim_link *l, const char *from, uint32_t a, const char *to, uint32_t b, bool sink,
                      uint32_t end, const struct sim_config *c)
{
	l->sink = sink;
	l->end = (int16_t)end;
	/* as many flits are on the way through a pipeline whose latency stays while its clock rises */
	l->credits[SIM_REQUESTS] = (uint32_t)(c->net_buffer * (c->net_scale_latency ? 1 : c->net_clock));
	l->credits[SIM_REPLIES] = l->credits[SIM_REQUESTS];
	snprintf(l->name, sizeof l->name, "%s%u-%s%u", from, a & 255, to, b & 255);
}

void sim_network_init(struct sim_network *n, const struct sim_config *c)
{
	uint32_t host = (uint32_t)c->gpus, root;

	n->endpoints = host + 1;
	n->gpus_per_switch = (uint32_t)c->net_gpus_per_switch;
	n->leaves = root = (host + n->gpus_per_switch - 1) / n->gpus_per_switch;
	n->cost = SIM_PARTS / (uint32_t)c->net_clock;
	n->latency =
	    1 + (c->net_switch_cycles + c->net_hop_cycles) / (c->net_scale_latency ? c->net_clock : 1);
	n->eject = c->net_eject_cycles;
	n->flit_bytes = (uint32_t)c->net_flit_bytes;
	n->encoding = (uint32_t)c->net_encoding;
	for (uint32_t e = 0; e < host; e++) {
		link_init(&n->up[e], "gpu", e, "sw", e / n->gpus_per_switch, false, e / n->gpus_per_switch,
		          c);
		n->up[e].gap = (uint32_t)c->net_gap_cycles * n->cost;
		link_init(&n->down[e], "sw", e / n->gpus_per_switch, "gpu", e, true, 0, c);
	}
	link_init(&n->up[host], "mmu", 0, "root", 0, false, root, c);
	link_init(&n->down[host], "root", 0, "mmu", 0, true, 0, c);
	for (uint32_t s = 0; s < n->leaves; s++) {
		link_init(&n->rise[s], "sw", s, "root", 0, false, root, c);
		link_init(&n->fall[s], "root", 0, "sw", s, false, s, c);
	}
}

struct sim_link *sim_network_link(struct sim_network *n, uint32_t k)
{
	if (k < n->endpoints)
		return &n->up[k];
	k -= n->endpoints;
	if (k < n->endpoints)
		return &n->down[k];
	k -= n->endpoints;
	if (k < n->leaves)
		return &n->rise[k];
	k -= n->leaves;
	return k < n->leaves ? &n->fall[k] : NULL;
}

uint32_t sim_network_flits(const struct sim_network *n, uint64_t bytes)
{
	uint64_t coded = (bytes * (100 + n->encoding) + 99) / 100;
	uint32_t flits = (uint32_t)((coded + n->flit_bytes - 1) / n->flit_bytes);

	return flits ? flits : 1;
}

/* The link by which a message leaves a switch. */
static struct sim_link *route(struct sim_network *n, int16_t at, uint8_t to)
{
	uint32_t leaf = to / n->gpus_per_switch;

	if (to + 1u == n->endpoints)
		return (uint32_t)at == n->leaves ? &n->down[to] : &n->rise[at];
	if ((uint32_t)at == n->leaves)
		return &n->fall[leaf];
	return (uint32_t)at == leaf ? &n->down[to] : &n->rise[at];
}

static void wake(struct sim_machine *m, struct sim_event *e);

static bool has_gone(const struct sim_machine *m, const struct sim_link *l)
{
	return l->free_at < (m->clock.now + 1) * SIM_PARTS;
}

static void arm(struct sim_machine *m, struct sim_link *l)
{
	if (l->armed)
		return;
	l->armed = true;
	sim_clock_at(&m->clock, &l->wake, l->free_at / SIM_PARTS, wake);
}

/* The last message has left the buffer that it was in. */
static void settle(struct sim_link *l)
{
	struct sim_link *b = l->from;

	if (!b)
		return;
	b->credits[l->from_channel] += l->from_flits;
	b->occupied[l->from_channel] = false;
	b->crossing[l->from_channel] = NULL;
	l->from = NULL;
}

/* Who waits for the first message of a buffer to leave: it has, or the link by which it leaves will say so. */
static void watch(struct sim_machine *m, struct sim_link *b, uint32_t channel)
{
	struct sim_link *l = b->crossing[channel];

	if (!l || l->armed)
		return;
	if (has_gone(m, l))
		settle(l);
	else
		arm(m, l);
}

static bool has_credits(struct sim_machine *m, struct sim_link *l, const struct sim_message *x)
{
	if (l->sink || l->credits[x->channel] >= x->flits)
		return true;
	watch(m, l, x->channel);
	return l->credits[x->channel] >= x->flits;
}

static struct sim_message *choose(struct sim_machine *m, struct sim_link *l)
{
	for (uint32_t k = 0; k < SIM_CHANNELS; k++) {
		uint32_t kind = (l->turn + k) % SIM_CHANNELS;
		struct sim_message *x = l->waiting[kind].first;

		if (x && has_credits(m, l, x)) {
			l->turn = (uint8_t)((kind + 1) % SIM_CHANNELS);
			return sim_pop(&l->waiting[kind]);
		}
	}
	return NULL;
}

static bool somebody_waits(const struct sim_link *l)
{
	return l->waiting[SIM_REQUESTS].first || l->waiting[SIM_REPLIES].first;
}

static void arrive(struct sim_machine *m, struct sim_event *e);
static void delivered(struct sim_machine *m, struct sim_event *e);

/* A message leaves its buffer and is on its way to the next. */
static void cross(struct sim_machine *m, struct sim_link *l, struct sim_message *x)
{
	struct sim_link *b = x->buffer;

	l->from = b;
	l->from_flits = x->flits;
	l->from_channel = x->channel;
	l->packet = x->packet && !b;
	x->buffer = l;
	if (b)
		b->crossing[x->channel] = l;
	if (l->packet || somebody_waits(l) || (b && (b->buffer[x->channel].first || somebody_waits(b))))
		arm(m, l);
}

static void start(struct sim_machine *m, struct sim_link *l, struct sim_message *x)
{
	uint64_t begin = m->clock.now * SIM_PARTS, parts = (uint64_t)x->flits * m->network.cost;

	if (l->free_at > begin)
		begin = l->free_at;
	l->free_at = begin + parts + l->gap;
	l->busy += parts;
	l->messages++;
	l->flits += x->flits;
	l->bytes += x->bytes;
	m->stats.net_hop_flits += x->flits;
	if (!l->sink)
		l->credits[x->channel] -= x->flits;
	if (l->sink)
		sim_clock_at(&m->clock, &x->event, (begin + parts + SIM_PARTS - 1) / SIM_PARTS + m->network.eject, delivered);
	else
		sim_clock_at(&m->clock, &x->event, begin / SIM_PARTS + m->network.latency, arrive);
	cross(m, l, x);
}

/* Whatever can go over a link in this cycle goes. */
static void go(struct sim_machine *m, struct sim_link *l)
{
	struct sim_message *x;

	while (!l->armed && has_gone(m, l)) {
		settle(l);
		x = choose(m, l);
		if (!x)
			return;
		start(m, l, x);
	}
	if (somebody_waits(l))
		arm(m, l);
}

static void want(struct sim_machine *m, struct sim_link *l, struct sim_message *x)
{
	sim_push(&l->waiting[x->channel], x);
	go(m, l);
}

/* The message has gone: room for the link that fills its buffer, whose next message is the first now. */
static void wake(struct sim_machine *m, struct sim_event *e)
{
	struct sim_link *l = (struct sim_link *)(void *)e, *b = l->from;
	uint32_t channel = l->from_channel;
	struct sim_message *next;

	l->armed = false;
	settle(l);
	if (b) {
		next = sim_pop(&b->buffer[channel]);
		b->occupied[channel] = next != NULL;
		if (next)
			want(m, route(&m->network, b->end, next->to), next);
		go(m, b);
	} else if (l->packet) {
		l->packet = false;
		sim_codec_left(m, (uint8_t)(l - m->network.up));
	}
	go(m, l);
}

static void arrive(struct sim_machine *m, struct sim_event *e)
{
	struct sim_message *x = (struct sim_message *)(void *)e;
	struct sim_link *l = x->buffer;

	watch(m, l, x->channel);
	if (l->occupied[x->channel]) {
		sim_push(&l->buffer[x->channel], x);
		return;
	}
	l->occupied[x->channel] = true;
	want(m, route(&m->network, l->end, x->to), x);
}

static void delivered(struct sim_machine *m, struct sim_event *e)
{
	struct sim_message *x = (struct sim_message *)(void *)e;

	m->network.in_network--;
	m->stats.net_messages_out++;
	m->stats.net_flits_out += x->flits;
	x->deliver(m, e);
}

void sim_network_settle(struct sim_network *n)
{
	struct sim_link *l;

	for (uint32_t k = 0; (l = sim_network_link(n, k)); k++)
		settle(l);
}

void sim_network_send(struct sim_machine *m, struct sim_message *x)
{
	uint8_t kind = x->channel;

	x->buffer = NULL;
	if (m->config.net_channels == 1)
		x->channel = 0;
	x->flits = (uint16_t)sim_network_flits(&m->network, x->bytes);
	m->network.in_network++;
	m->stats.net_messages++;
	m->stats.net_bytes += x->bytes;
	m->stats.net_flits_in += x->flits;
	/* at their source requests and replies take turns in any case */
	sim_push(&m->network.up[x->from].waiting[kind], x);
	go(m, &m->network.up[x->from]);
}
