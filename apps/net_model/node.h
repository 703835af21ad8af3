/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node.h - a modelled node from inside. Packets are numbers of messages; what is in them is drawn when it
 * matters.
 */
#ifndef GN_NET_MODEL_NODE_H
#define GN_NET_MODEL_NODE_H

#include <net/route.h>
#include <net/rule.h>

#include "net_model/model.h"
#include "spread/mix.h"

enum { WORDS = 2 }; /* of every message: updates, and the marks and answers by which a node waits for all */

struct load {
	uint32_t updates, marks, answers;
};

/* Who wrote a message. */
enum origin { OWN = 1, OTHERS = 2 };

struct parcel {
	struct parcel *next;
	struct load load;
	uint32_t class_, source; /* simulated node */
	uint32_t origins;        /* enum origin of its messages, or-ed */
	uint32_t packed;         /* 1: it is compressed */
	uint32_t is_word; /* 1: no packet, but the word that one of its class has begun to be received */
	double passes;    /* a link, in so long */
	double arrives;   /* at the receiver's link; behind that, at the receiver */
};

struct way {
	struct parcel *open;
	struct way *newer, *older;
	uint32_t class_, peer;
	uint32_t urgent;
	double opened;
};

struct pool {
	uint32_t most, made, free;
	uint32_t released; /* not collected yet */
};

struct fifo {
	struct parcel *first, *last;
};

enum { WORKER, NETWORK, THREADS };

struct thread {
	double ready; /* when it can run next */
	double had;   /* of a core, as the system counts it: who had least is next */
	int running, over;
	uint32_t idle; /* turns without work */
	double moved;  /* when it had some */
};

enum stage { SORTING, MARKING, ANSWERS, QUIET };

struct node {
	struct thread thread[THREADS];
	struct gn_route route;
	struct gn_hop *hop; /* [nodes] */
	struct way *way[GN_PACKET_CLASSES];
	struct way *oldest, *newest;
	struct pool pool[GN_PACKET_CLASSES];
	struct fifo coming; /* what has not passed this node's link */
	struct fifo come[GN_PACKET_CLASSES];
	uint32_t receives[GN_PACKET_CLASSES];      /* that are open, over a link */
	struct parcel *waiting[GN_PACKET_CLASSES]; /* the first in `come` that has found none open */
	struct load left[GN_PACKET_CLASSES];       /* of the packet that is being taken in */
	uint64_t made, logged;                     /* updates; messages in the log */
	double remote;                             /* share of an update that is not logged yet */
	enum stage stage;
	uint32_t next_mark, next_answer, next_passed;
	uint32_t other, row; /* where the next update of the log goes, and the next one that is passed on */
	double link_free, come_free, link_busy;
	double sorted;
	uint64_t random;
};

struct model {
	const struct net_model *m;
	struct node *node;
	uint32_t simulated;
	uint32_t most_words;
	uint64_t log_messages;
	uint32_t stride[GN_PACKET_CLASSES]; /* bytes of a compressed update */
	uint32_t own_stride;                /* on its last way, among those that one node wrote */
	uint32_t mixed_stride;              /* of an update or a mark in a packet that has both */
	double now, spent;                  /* of the turn: when it began, and what it has cost so far */
	double seconds;
	double had; /* the most that a thread had when it got a core */
	struct parcel *spare;
	uint64_t answers; /* that all simulated nodes got */
	struct gn_net_statistics stats;
	int rc;
};

/* ---- way.c ---- */

/* net_model_room - room for a message in the open packet of a way; 0: not now. */
int net_model_room(struct model *s, struct node *n, struct way *w);

/* net_model_flush - send open packets: all, or those that are old and those with a mark or an answer. */
void net_model_flush(struct model *s, struct node *n, int all, int idle);

/* net_model_collect - buffers that are released are free again when they are looked for. */
void net_model_collect(struct model *s, struct node *n);

/* ---- link.c ---- */

/* net_model_parcel - an empty one; NULL: no memory, and the model ends. */
struct parcel *net_model_parcel(struct model *s);

/* net_model_parcels_free - free a list. */
void net_model_parcels_free(struct parcel *first);

/* net_model_next - remove and return the first of a list that is not empty. */
struct parcel *net_model_next(struct fifo *f);

/* net_model_carry - send a packet of so many bytes to a node. */
void net_model_carry(struct model *s, struct node *n, struct parcel *p, struct node *to, uint32_t bytes);

/*
 * net_model_arrivals - receive what has come over a node's link by now: packets of other nodes, and the words
 * by which they say that they have received its own packets. The node calls it each time it looks for a
 * packet or a buffer, because MPI receives in each of its calls.
 */
void net_model_arrivals(struct model *s, struct node *n);

/* net_model_received - the oldest packet of a class that has arrived; NULL: none. */
struct parcel *net_model_received(struct model *s, struct node *n, uint32_t class_);

/* net_model_release - what a received packet was received into is used for the next one. */
void net_model_release(struct model *s, struct node *n, const struct parcel *p);

/* ---- node.c ---- */

/* net_model_turn - a turn of a node's network thread; its cost is added to spent. Returns how much moved. */
uint32_t net_model_turn(struct model *s, struct node *n);

int net_model_node_init(struct model *s, struct node *n, uint32_t node);
void net_model_node_fini(struct node *n);

static inline double model_time(const struct model *s)
{
	return s->now + s->spent;
}

static inline uint32_t model_words(const struct load *l)
{
	return WORDS * (l->updates + l->marks + l->answers);
}

/* A number below `end`. */
static inline uint32_t model_draw(struct node *n, uint32_t end)
{
	n->random += 0x9e3779b97f4a7c15ull;
	return (uint32_t)((spread_finish(n->random) >> 32) * end >> 32);
}

#endif
