/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.c - what is under way between modelled nodes. Packets are handed over as by src/net/local.c, or they
 * pass links as by src/net/mpi.c.
 *
 * Every node has a link to the others. It passes what the node sends, and what is sent to the node, each in
 * the order in which it comes to the link. A receiver begins to receive a packet when one of its receives is
 * open, and sends word of it. The word passes the same links behind packets. When it is back, the sender's
 * buffer is free.
 */
#include "net_model/node.h"

#include <stdlib.h>
#include <string.h>

struct parcel *net_model_parcel(struct model *s)
{
	struct parcel *p = s->spare;

	if (p)
		s->spare = p->next;
	else
		p = (struct parcel *)malloc(sizeof *p);
	if (!p)
		s->rc = -GN_ENOMEM;
	else
		memset(p, 0, sizeof *p);
	return p;
}

void net_model_parcels_free(struct parcel *p)
{
	while (p) {
		struct parcel *next = p->next;

		free(p);
		p = next;
	}
}

/* Behind all that arrives before it or at the same time. */
static void put(struct fifo *f, struct parcel *p)
{
	struct parcel **at = &f->first;

	if (f->last && f->last->arrives <= p->arrives)
		at = &f->last->next;
	while (*at && (*at)->arrives <= p->arrives)
		at = &(*at)->next;
	p->next = *at;
	*at = p;
	if (!p->next)
		f->last = p;
}

struct parcel *net_model_next(struct fifo *f)
{
	struct parcel *p = f->first;

	f->first = p->next;
	if (!f->first)
		f->last = NULL;
	return p;
}

static int has_links(const struct model *s)
{
	return s->m->link_bytes_ns > 0;
}

/* Over the link of this node to the link of another one. */
static void leave(struct model *s, struct node *n, struct parcel *p, struct node *to)
{
	const double now = model_time(s);

	n->link_free = (n->link_free > now ? n->link_free : now) + p->passes;
	n->link_busy += p->passes;
	p->arrives = n->link_free + s->m->latency_ns;
	put(&to->coming, p);
}

void net_model_carry(struct model *s, struct node *n, struct parcel *p, struct node *to, uint32_t bytes)
{
	p->packed = bytes < GN_PACKET_HEAD + 8 * model_words(&p->load);
	if (has_links(s)) {
		p->passes = bytes / s->m->link_bytes_ns;
		leave(s, n, p, to);
	} else {
		p->arrives = model_time(s);
		put(&to->come[p->class_], p);
	}
}

/* Begin to receive a packet, and send word of it. */
static void begin(struct model *s, struct node *n, struct parcel *p)
{
	struct parcel *word = net_model_parcel(s);

	if (!word)
		return;
	n->receives[p->class_]--;
	word->is_word = 1;
	word->class_ = p->class_;
	leave(s, n, word, &s->node[p->source]);
}

static void arrive(struct model *s, struct node *n, struct parcel *p)
{
	if (p->is_word) {
		n->pool[p->class_].released++;
		p->next = s->spare;
		s->spare = p;
		return;
	}
	put(&n->come[p->class_], p);
	if (n->receives[p->class_])
		begin(s, n, p);
	else if (!n->waiting[p->class_])
		n->waiting[p->class_] = p;
}

void net_model_arrivals(struct model *s, struct node *n)
{
	for (struct parcel *p; (p = n->coming.first);) {
		const double free = n->come_free + p->passes, at = p->arrives > free ? p->arrives : free;

		if (at > model_time(s))
			return;
		p->arrives = n->come_free = at;
		arrive(s, n, net_model_next(&n->coming));
	}
}

struct parcel *net_model_received(struct model *s, struct node *n, uint32_t class_)
{
	struct parcel *first;

	net_model_arrivals(s, n);
	first = n->come[class_].first;
	return first && (has_links(s) || first->arrives <= s->now) ? first : NULL;
}

void net_model_release(struct model *s, struct node *n, const struct parcel *p)
{
	struct parcel **waiting = &n->waiting[p->class_];

	if (!has_links(s)) {
		s->node[p->source].pool[p->class_].released++;
		return;
	}
	n->receives[p->class_]++;
	if (*waiting) {
		begin(s, n, *waiting);
		*waiting = (*waiting)->next;
	}
}
