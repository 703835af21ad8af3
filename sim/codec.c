/* SPDX-License-Identifier: Apache-2.0 */
/* codec.c - words of many replies in one packet. */
#include <sim/codec.h>

#include <sim/parts.h>

void sim_codec_init(struct sim_codec *k, uint8_t gpu, const struct sim_config *c)
{
	k->capacity = (uint32_t)(c->codec_packet - c->net_header_bytes);
	for (uint32_t to = 0; to < SIM_MOST_GPUS; to++) {
		k->buffer[to].from = gpu;
		k->buffer[to].to = (uint8_t)to;
	}
}

static uint32_t words_of(const struct sim_domain *m, const struct sim_access *a)
{
	return sim_granules(a->fine ? a->words : 0xffffu, m->config->granularity);
}

/* Of a packet. A whole line has one ID. */
static uint32_t bytes_of(const struct sim_domain *m, const struct sim_access *a)
{
	const struct sim_config *c = m->config;
	const uint32_t words = words_of(m, a), ids = a->fine && c->codec_id_of == SIM_ID_OF_WORD ? words : 1;

	return words * (uint32_t)c->granularity + ids * (uint32_t)c->codec_id;
}

/* No word more fits into a packet of what is held. */
static bool full(const struct sim_domain *m, const struct sim_codec *k, const struct sim_codec_buffer *b)
{
	return b->bytes + m->config->granularity + m->config->codec_id > k->capacity;
}

static bool has_room(const struct sim_domain *m, const struct sim_codec_buffer *b, const struct sim_access *a)
{
	if (m->config->codec_buffer_of == SIM_BUFFER_OF_WORDS)
		return !b->held.first || b->words + words_of(m, a) <= m->config->codec_buffer;
	return b->held.count < m->config->codec_buffer;
}

static bool ready(const struct sim_domain *m, const struct sim_codec *k, const struct sim_codec_buffer *b)
{
	return b->held.first && (full(m, k, b) || m->clock.now >= b->due);
}

static void tick(struct sim_domain *m, struct sim_event *e);

/*
 * One timer a buffer: when it fires too early, as the response that it was set for has gone, it is set anew.
 */
static void set_timer(struct sim_domain *m, struct sim_codec_buffer *b)
{
	if (b->ticking || !b->held.first || b->due <= m->clock.now)
		return;
	b->ticking = true;
	sim_clock_at(&m->clock, &b->timer, b->due, tick);
}

/* The time-out counts from the oldest response held, or from the last. */
static void set_due(struct sim_domain *m, struct sim_codec_buffer *b)
{
	const struct sim_access *a = sim_first(&b->held);

	if (m->config->codec_timeout_from == SIM_TIMEOUT_LAST)
		a = (const struct sim_access *)(void *)b->held.last;
	b->due = sim_first(&b->held) ? a->issued + a->back + m->config->codec_timeout : SIM_NEVER;
	set_timer(m, b);
}

/* a->back is not known yet: until then it is the cycle in which the response came to the buffer. */
static void hold(struct sim_domain *m, struct sim_codec_buffer *b, struct sim_access *a)
{
	a->back = sim_access_age(a, m->clock.now);
	b->words += words_of(m, a);
	b->bytes += bytes_of(m, a);
	sim_push(&b->held, &a->message);
}

/* The responses of a packet, linked by rest behind the first, which is its message. Returns their bytes. */
static uint32_t fill(struct sim_domain *m, struct sim_codec *k, struct sim_codec_buffer *b,
                     struct sim_access **packet)
{
	struct sim_access **end = packet, *a;
	uint32_t bytes = 0;

	while ((a = sim_first(&b->held)) && bytes + bytes_of(m, a) <= k->capacity) {
		sim_pop(&b->held);
		bytes += bytes_of(m, a);
		b->words -= words_of(m, a);
		m->stats.codec_words += words_of(m, a);
		*end = a;
		end = &a->rest;
	}
	*end = NULL;
	b->bytes -= bytes;
	return bytes;
}

static void send(struct sim_domain *m, struct sim_codec *k, struct sim_codec_buffer *b)
{
	const bool whole = full(m, k, b);
	struct sim_access *a = NULL;
	const uint32_t bytes = fill(m, k, b, &a);

	m->stats.codec_packets++;
	++*(whole ? &m->stats.codec_full_packets : &m->stats.codec_timeouts);
	a->message.bytes = (uint32_t)m->config->net_header_bytes + bytes;
	a->message.from = b->from;
	a->message.to = b->to;
	a->message.channel = SIM_REPLIES;
	a->message.packet = true;
	a->message.deliver = sim_rdma_back;
	k->packet_waits = true;
	while (b->behind.first && has_room(m, b, sim_first(&b->behind)))
		hold(m, b, sim_take(&b->behind));
	set_due(m, b);
	sim_network_send(m, &a->message);
}

static void serve(struct sim_domain *m, struct sim_codec *k)
{
	for (uint32_t n = 0; n < m->config->gpus && !k->packet_waits; n++) {
		struct sim_codec_buffer *b = &k->buffer[(k->turn + n) % m->config->gpus];

		if (!ready(m, k, b))
			continue;
		k->turn = (b->to + 1u) % (uint32_t)m->config->gpus;
		send(m, k, b);
	}
}

static void tick(struct sim_domain *m, struct sim_event *e)
{
	struct sim_codec_buffer *b = (struct sim_codec_buffer *)(void *)e;

	b->ticking = false;
	set_timer(m, b);
	serve(m, &m->gpu[b->from].codec);
}

void sim_codec_add(struct sim_domain *m, struct sim_access *a)
{
	struct sim_codec *k = &m->gpu[a->home].codec;
	struct sim_codec_buffer *b = &k->buffer[a->gpu];

	m->stats.codec_responses++;
	if (bytes_of(m, a) > k->capacity) {
		m->stats.codec_lines++;
		sim_rdma_reply(m, a);
		return;
	}
	if (b->behind.first || !has_room(m, b, a)) {
		sim_push(&b->behind, &a->message);
		return;
	}
	hold(m, b, a);
	set_due(m, b);
	serve(m, k);
}

void sim_codec_left(struct sim_domain *m, uint8_t gpu)
{
	struct sim_codec *k = &m->gpu[gpu].codec;

	k->packet_waits = false;
	serve(m, k);
}
