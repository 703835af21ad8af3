/* SPDX-License-Identifier: Apache-2.0 */
/* way.c - messages put together by destination, and when a packet is sent, in the order of src/net/link.c. */
#include "net_model/node.h"

void net_model_collect(struct model *s, struct node *n)
{
	net_model_arrivals(s, n);
	for (uint32_t k = 0; k < GN_PACKET_CLASSES; k++) {
		n->pool[k].free += n->pool[k].released;
		n->pool[k].released = 0;
	}
}

static int buffer_take(struct model *s, struct node *n, uint32_t class_)
{
	struct pool *p = &n->pool[class_];

	if (!p->free && p->made == p->most)
		net_model_collect(s, n);
	if (p->free)
		p->free--;
	else if (p->made < p->most)
		p->made++;
	else
		return 0;
	return 1;
}

/* As gn_packet_seal and gn_compress have it: one run of messages, which must save an eighth. */
static uint32_t body_of(const struct model *s, const struct parcel *p)
{
	const uint32_t bytes = 8 * model_words(&p->load);
	const int one_origin = p->origins == OWN || (p->origins == OTHERS && s->m->columns == 2);
	uint32_t stride = one_origin && p->class_ == GN_REQUESTS ? s->own_stride : s->stride[p->class_];
	uint32_t run;

	if (p->load.updates && p->load.marks)
		stride = s->mixed_stride;
	run = 4 + 10 * WORDS + stride * (bytes / (8 * WORDS));

	return s->m->compressed && bytes >= 64 && run <= bytes - bytes / 8 ? run : bytes;
}

static uint32_t log2_of(uint64_t value)
{
	uint32_t log2 = 0;

	while (value >>= 1)
		log2++;
	return log2 < 16 ? log2 : 16;
}

static void count(struct model *s, const struct parcel *p, uint32_t bytes, uint64_t *reason)
{
	s->stats.packets++;
	s->stats.packet_bytes += bytes;
	s->stats.message_bytes += 8ull * model_words(&p->load);
	s->stats.size[log2_of(bytes)]++;
	++*reason;
}

static void way_send(struct model *s, struct node *n, struct way *w, uint64_t *reason)
{
	struct parcel *p = w->open;
	const uint32_t body = body_of(s, p);

	count(s, p, GN_PACKET_HEAD + body, reason);
	s->spent += s->m->packet_ns + s->m->byte_ns * 8 * model_words(&p->load);
	net_model_carry(s, n, p, &s->node[w->peer % s->simulated], GN_PACKET_HEAD + body);
	*(w->older ? &w->older->newer : &n->oldest) = w->newer;
	*(w->newer ? &w->newer->older : &n->newest) = w->older;
	w->open = NULL;
}

static void way_open(struct model *s, struct node *n, struct way *w, struct parcel *p)
{
	p->class_ = w->class_;
	p->source = (uint32_t)(n - s->node);
	w->open = p;
	w->opened = s->now;
	w->urgent = 0;
	w->newer = NULL;
	w->older = n->newest;
	*(n->newest ? &n->newest->newer : &n->oldest) = w;
	n->newest = w;
}

int net_model_room(struct model *s, struct node *n, struct way *w)
{
	struct parcel *p;

	if (w->open) {
		const uint32_t words = model_words(&w->open->load);

		if (!words || words + WORDS <= s->most_words)
			return 1;
		way_send(s, n, w, &s->stats.full);
	}
	if (!buffer_take(s, n, w->class_)) {
		s->stats.stalls++;
		return 0;
	}
	p = net_model_parcel(s);
	if (!p)
		return 0;
	way_open(s, n, w, p);
	return 1;
}

void net_model_flush(struct model *s, struct node *n, int all, int idle)
{
	struct way *newer;

	for (struct way *w = n->oldest; w; w = newer) {
		newer = w->newer;
		s->spent += s->m->look_ns;
		if (all || w->urgent)
			way_send(s, n, w, &s->stats.urgent);
		else if (gn_rule_is_old((uint64_t)(s->now - w->opened), model_words(&w->open->load),
		                        s->m->flush_ns, idle))
			way_send(s, n, w, &s->stats.aged);
	}
}
