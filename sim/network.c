/* SPDX-License-Identifier: Apache-2.0 */
/* network.c - messages as intervals on links, and credits. */
#include <sim/network.h>

#include <sim/codec.h>
#include <sim/parts.h>
#include <stdio.h>
#include <stdlib.h>

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

/* Each message that is in the buffer, or has left it without being counted, has a flit at least. */
static int rooms_init(struct sim_link *l)
{
	l->far = true;
	for (uint32_t k = 0; k < SIM_CHANNELS; k++) {
		struct sim_rooms *r = &l->rooms[k];

		r->link = l;
		r->size = l->credits[k];
		r->room = (struct sim_room *)malloc(r->size * sizeof *r->room);
		if (!r->room)
			return -GN_ENOMEM;
	}
	return 0;
}

static uint32_t flits_of(const struct sim_network *n, uint64_t bytes)
{
	uint64_t coded = (bytes * (100 + n->encoding) + 99) / 100;
	uint32_t flits = (uint32_t)((coded + n->flit_bytes - 1) / n->flit_bytes);

	return flits ? flits : 1;
}

int sim_network_init(struct sim_network *n, const struct sim_config *c)
{
	int r = 0;

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
	for (uint32_t bytes = 0; bytes < SIM_SHORT_MESSAGE; bytes++)
		n->flits[bytes] = flits_of(n, bytes);
	for (uint32_t e = 0; e < host && !r; e++) {
		link_init(&n->up[e], "gpu", e, "sw", e / n->gpus_per_switch, false, e / n->gpus_per_switch,
		          c);
		n->up[e].gap = (uint32_t)c->net_gap_cycles * n->cost;
		r = rooms_init(&n->up[e]);
		link_init(&n->down[e], "sw", e / n->gpus_per_switch, "gpu", e, true, 0, c);
	}
	link_init(&n->up[host], "mmu", 0, "root", 0, false, root, c);
	link_init(&n->down[host], "root", 0, "mmu", 0, true, 0, c);
	for (uint32_t s = 0; s < n->leaves; s++) {
		link_init(&n->rise[s], "sw", s, "root", 0, false, root, c);
		link_init(&n->fall[s], "root", 0, "sw", s, false, s, c);
	}
	return r;
}

void sim_network_fini(struct sim_network *n)
{
	for (uint32_t e = 0; e < SIM_MOST_GPUS; e++)
		for (uint32_t k = 0; k < SIM_CHANNELS; k++)
			free(n->up[e].rooms[k].room);
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
	return bytes < SIM_SHORT_MESSAGE ? n->flits[bytes] : flits_of(n, bytes);
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

/* Of an endpoint. */
static struct sim_domain *domain_of(struct sim_domain *m, uint8_t endpoint)
{
	return endpoint < m->config->gpus ? &m->gpu[endpoint].domain : &m->machine->core;
}

static void wake(struct sim_domain *m, struct sim_event *e);

static bool has_gone(const struct sim_domain *m, const struct sim_link *l)
{
	return l->free_at < (m->clock.now + 1) * SIM_PARTS;
}

static void arm(struct sim_domain *m, struct sim_link *l)
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
	if (!b->far)
		b->credits[l->from_channel] += l->from_flits;
	b->occupied[l->from_channel] = false;
	b->crossing[l->from_channel] = NULL;
	l->from = NULL;
}

/*
 * Who waits for the first message of a buffer to leave: it has, or the link by which it leaves will say so.
 */
static void watch(struct sim_domain *m, struct sim_link *b, uint32_t channel)
{
	struct sim_link *l = b->crossing[channel];

	if (!l || l->armed)
		return;
	if (has_gone(m, l))
		settle(l);
	else
		arm(m, l);
}

static void room_again(struct sim_domain *m, struct sim_event *e);

/* The core: a message leaves the far end of a GPU's link, and is gone in that cycle. */
static void make_room(struct sim_domain *m, struct sim_link *l, const struct sim_message *x, uint64_t cycle)
{
	struct sim_rooms *r = &l->rooms[x->channel];
	const uint32_t at = r->first + r->count++;
	struct sim_room *room = &r->room[at < r->size ? at : at - r->size];

	room->cycle = cycle;
	room->flits = x->flits;
	if (!r->wanted)
		return;
	r->wanted = false;
	sim_clock_at(&m->gpu[l - m->network->up].domain.clock, &r->event, cycle, room_again);
}

static void count_until(struct sim_link *l, uint32_t channel, uint64_t cycle)
{
	struct sim_rooms *r = &l->rooms[channel];

	for (; r->count && r->room[r->first].cycle <= cycle; r->count--) {
		l->credits[channel] += r->room[r->first].flits;
		r->first = r->first + 1 < r->size ? r->first + 1 : 0;
	}
}

/* The GPU: what there is room for by now. If it needs more, it will look again when there is. */
static void count_room(struct sim_domain *m, struct sim_link *l, uint32_t channel, uint32_t flits)
{
	struct sim_rooms *r = &l->rooms[channel];

	count_until(l, channel, m->clock.now);
	if (l->credits[channel] >= flits || r->event.fire)
		return;
	r->wanted = !r->count;
	if (r->count)
		sim_clock_at(&m->clock, &r->event, r->room[r->first].cycle, room_again);
}

/* There seems to be no room: is there by now? */
static bool look_for_credits(struct sim_domain *m, struct sim_link *l, const struct sim_message *x)
{
	if (l->far)
		count_room(m, l, x->channel, x->flits);
	else
		watch(m, l, x->channel);
	return l->credits[x->channel] >= x->flits;
}

static inline bool has_credits(struct sim_domain *m, struct sim_link *l, const struct sim_message *x)
{
	return l->sink || l->credits[x->channel] >= x->flits || look_for_credits(m, l, x);
}

static struct sim_message *choose(struct sim_domain *m, struct sim_link *l)
{
	uint32_t kind = l->turn;
	struct sim_message *x = l->waiting[kind].first;

	if (!x || !has_credits(m, l, x)) {
		kind = !kind;
		x = l->waiting[kind].first;
		if (!x || !has_credits(m, l, x))
			return NULL;
	}
	l->turn = !kind;
	return sim_pop(&l->waiting[kind]);
}

static bool somebody_waits(const struct sim_link *l)
{
	return l->waiting[SIM_REQUESTS].first || l->waiting[SIM_REPLIES].first;
}

static void arrive(struct sim_domain *m, struct sim_event *e);
static void delivered(struct sim_domain *m, struct sim_event *e);

/* A message leaves its buffer and is on its way to the next. */
static void cross(struct sim_domain *m, struct sim_link *l, struct sim_message *x)
{
	struct sim_link *b = x->buffer;

	l->from = b;
	l->from_flits = x->flits;
	l->from_channel = x->channel;
	l->packet = x->packet && !b;
	x->buffer = l;
	if (b)
		b->crossing[x->channel] = l;
	if (l->packet || somebody_waits(l) ||
	    (b && (b->buffer[x->channel].first || (!b->far && somebody_waits(b)))))
		arm(m, l);
}

/* To the domain that it goes on in; from a GPU at the end of the window. */
static void send_on(struct sim_domain *m, struct sim_link *l, struct sim_message *x, uint64_t begin,
                    uint64_t parts)
{
	const uint64_t there = (begin + parts + SIM_PARTS - 1) / SIM_PARTS + m->network->eject;

	if (l->sink)
		sim_clock_at(&domain_of(m, x->to)->clock, &x->event, there, delivered);
	else if (!l->far)
		sim_clock_at(&m->clock, &x->event, begin / SIM_PARTS + m->network->latency, arrive);
	else {
		x->event.cycle = begin / SIM_PARTS + m->network->latency;
		sim_events_add(&m->sent, &x->event);
	}
}

static void start(struct sim_domain *m, struct sim_link *l, struct sim_message *x)
{
	uint64_t begin = m->clock.now * SIM_PARTS, parts = (uint64_t)x->flits * m->network->cost;

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
	if (x->buffer && x->buffer->far)
		make_room(m, x->buffer, x, l->free_at / SIM_PARTS);
	send_on(m, l, x, begin, parts);
	cross(m, l, x);
}

static void go_now(struct sim_domain *m, struct sim_link *l)
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

/* Whatever can go over a link in this cycle goes. */
static inline void go(struct sim_domain *m, struct sim_link *l)
{
	if (!l->armed)
		go_now(m, l);
}

static void want(struct sim_domain *m, struct sim_link *l, struct sim_message *x)
{
	sim_push(&l->waiting[x->channel], x);
	go(m, l);
}

static void room_again(struct sim_domain *m, struct sim_event *e)
{
	go(m, ((struct sim_rooms *)(void *)e)->link);
}

/* The message has gone: room for the link that fills its buffer, whose next message is the first now. */
static void wake(struct sim_domain *m, struct sim_event *e)
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
			want(m, route(m->network, b->end, next->to), next);
		if (!b->far)
			go(m, b);
	} else if (l->packet) {
		l->packet = false;
		sim_codec_left(m, (uint8_t)(l - m->network->up));
	}
	go(m, l);
}

static void arrive(struct sim_domain *m, struct sim_event *e)
{
	struct sim_message *x = (struct sim_message *)(void *)e;
	struct sim_link *l = x->buffer;

	watch(m, l, x->channel);
	if (l->occupied[x->channel]) {
		sim_push(&l->buffer[x->channel], x);
		return;
	}
	l->occupied[x->channel] = true;
	want(m, route(m->network, l->end, x->to), x);
}

static void delivered(struct sim_domain *m, struct sim_event *e)
{
	struct sim_message *x = (struct sim_message *)(void *)e;

	m->stats.net_messages_out++;
	m->stats.net_flits_out += x->flits;
	x->deliver(m, e);
}

void sim_network_settle(struct sim_network *n)
{
	struct sim_link *l;

	for (uint32_t k = 0; (l = sim_network_link(n, k)); k++) {
		settle(l);
		for (uint32_t c = 0; c < SIM_CHANNELS; c++)
			count_until(l, c, UINT64_MAX);
	}
}

void sim_network_collect(struct sim_machine *m)
{
	struct sim_event *e, *next;

	for (uint32_t k = 0; k < m->config.gpus; k++) {
		for (e = m->gpu[k].domain.sent.first; e; e = next) {
			next = e->next;
			sim_clock_at(&m->core.clock, e, e->cycle, arrive);
		}
		m->gpu[k].domain.sent.first = NULL;
	}
}

void sim_network_send(struct sim_domain *m, struct sim_message *x)
{
	struct sim_link *l = &m->network->up[x->from];
	uint8_t kind = x->channel;

	x->buffer = NULL;
	if (m->config->net_channels == 1)
		x->channel = 0;
	x->flits = (uint16_t)sim_network_flits(m->network, x->bytes);
	m->stats.net_messages++;
	m->stats.net_bytes += x->bytes;
	m->stats.net_flits_in += x->flits;
	/* at their source requests and replies take turns in any case */
	sim_push(&l->waiting[kind], x);
	go(domain_of(m, x->from), l); /* but for pages that move it is m */
}
