/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node.h - a node of net from inside. All of it is the network thread's, but for what says otherwise.
 *
 *     logs --drain.c--> links (link.c) --> transport --> apply.c --> memory, slots, handlers
 *                         ^                                |
 *                         +------- replies, passed on -----+
 */
#ifndef GN_NET_NODE_H
#define GN_NET_NODE_H

#include <grapnel/net.h>
#include <net/device.h>
#include <net/route.h>
#include <net/rule.h>
#include <net/transport.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GN_NET_MOST_HANDLERS = 64, GN_NET_SLOTS = 4096, GN_NET_NAME_BYTES = 56 };

/*
 * Why a packet leaves before it is full. Replies and what asks for them are many, and go when the node has
 * nothing else to do; of marks, answers to them and signals there is one, and a whole program stands still
 * until it has come.
 */
enum { GN_LINK_SOON = 1, GN_LINK_NOW = 2 };

/* A way out. */
struct gn_link {
	/* of the packet being filled: its next word, and where it is full; NULL: there is none */
	uint64_t *at, *end;
	struct gn_parcel *open; /* being filled, or waiting to be sent */
	struct gn_link *newer;  /* in the list of open links, oldest first */
	uint32_t class_, peer;
	uint32_t sequence; /* of the next packet */
	uint32_t urgent;   /* somebody waits for what is in it: GN_LINK_SOON and GN_LINK_NOW */
	uint32_t sealed;   /* open is whole: only the transport had no room */
};

/* Packets of one class; made when first needed, up to most of them. */
struct gn_pool {
	struct gn_parcel *free;
	uint32_t made, most;
};

/* Packets of a class that come in. */
struct gn_intake {
	struct gn_parcel *parcel;       /* being applied, unless its messages lie in plain */
	const struct gn_packet *packet; /* being applied; NULL: none */
	struct gn_packet *plain;        /* for packets that come compressed; made with the first */
	uint32_t at;                    /* its next word */
	uint32_t *sequence;             /* [nodes] of the next packet */
};

/* A log, and how far its oldest messages have been sorted. */
struct gn_source {
	struct gn__log *log;
	struct gn__log_reader reader;
	uint32_t lane;   /* of the messages at reader.at */
	uint64_t wanted; /* a quiet waits until reader.at is here */
	/* of GN_NET_COPROCESSOR, where the tail is not seen: up to here messages were whole */
	uint64_t whole;
	/* how far it is written; NULL: in memory that only the kernel of net/device.h reaches */
	const uint64_t *tail;
};

/* What a node knows of another. Messages are counted, replies and marks not. */
struct gn_peer {
	uint64_t sent, applied; /* to it, from it */
	uint64_t marked;        /* sent when its way was last marked */
	uint32_t awaited;       /* 1: that mark has no answer yet */
	struct gn_hop hop;      /* the way to it */
	struct gn_link *link;   /* of requests to it */
	/* who stands in the head of the own messages to it: itself, if they are passed on, or this node */
	uint32_t named;
	uint64_t group;     /* the last messages without an order among them of which it was sent one */
	uint32_t asked;     /* replies and answers that should come; any thread reads it */
	uint64_t since_ns;  /* it has not answered since then, if asked; any thread reads it */
	uint64_t waited_ns; /* while it was asked, up to since_ns; any thread reads it */
};

/* Threads that wait until all is done, served together. */
struct gn_quiet {
	uint64_t *token; /* [GN_NET_SLOTS] those of this round, then those that wait for the next */
	uint32_t waiting, served;
	uint32_t stage; /* of the round */
	uint32_t next;  /* the next node to mark */
	uint32_t marks; /* not answered */
	int32_t code;
	uint64_t deadline;
};

struct gn_handler {
	const char *name;
	gn_net_handler_fn *run;
	void *context;
};

/* A handler's name as a node said it first; node 0 keeps them. */
struct gn_said {
	char name[GN_NET_NAME_BYTES];
	uint32_t node;
};

struct gn_net {
	struct simt_machine *machine;
	struct gn_transport *transport;
	struct gn_route route;
	struct gn_net_options options;

	struct gn_net_view view, host, handler_view;
	struct gn_source *source; /* of kernels, one a processor; then the host's; then the handlers' */
	uint32_t sources;
	uint32_t slots; /* of both views */
	/*
	 * what the machine allocated, and the host reaches: logs, slots, and the heap unless there is a
	 * device
	 */
	void *shared;
	void *apart;                    /* and what the host does not reach */
	char *map;                      /* heaps that the kernels reach, for view.mapped */
	struct gn_peer_heap *peer_heap; /* [nodes] what other processes gave; NULL: nothing */
	char name[24];                  /* of the machine, if it was chosen here */
	struct gn_device *device;       /* changes the heap; NULL: the network thread does */
	uint64_t group; /* counts messages that have an order: those of one group have none among them */
	/* [sources] logs in the order in which they are drained; the first of them */
	uint32_t *turn, first_turn;

	struct gn_link *link[GN_PACKET_CLASSES];
	uint32_t most_words;             /* of a packet with more than one message */
	struct gn_link *oldest, *newest; /* open links */
	struct gn_pool pool[GN_PACKET_CLASSES];
	struct gn_packet *scratch; /* to compress packets in; NULL: they are not compressed */
	struct gn_parcel *sent;    /* packets that have not left yet */
	struct gn_intake intake[GN_PACKET_CLASSES];
	struct gn_peer *peer; /* [nodes] */
	struct gn_quiet quiet;
	uint64_t now, moved_ns; /* of this round of the loop, and of the last in which a message moved */
	uint32_t beyond;        /* packets above the pool, while what handlers send is sorted; else 0 */
	/* of GN_NET_COPROCESSOR: words of all logs, and since when there are no more */
	uint64_t written, written_ns;

	struct gn_handler handler[GN_NET_MOST_HANDLERS];
	uint32_t handlers; /* any thread: release by who registers */
	struct gn_said said[GN_NET_MOST_HANDLERS];
	struct gn_net_statistics statistics;
	struct gn_net_fault *fault; /* in shared; any thread */
	struct gn_error failure;    /* of the network itself */
	uint32_t failed;            /* any thread: 1: failure is whole */
	uint32_t stop;              /* any thread: 1: leave when all others do */
	int32_t outcome;            /* of the program, when stop */
	uint32_t told;              /* the next node to be told that it failed */
	uint32_t heard;             /* another node's program has failed */
	struct gn_heap *heap;       /* the host's; of the data of both, where there is a device: data */
	struct gn_heap *data;
};

/* A count of the network thread, which others may read meanwhile. */
static inline void gn__count(uint64_t *count, uint64_t more)
{
	simt_store_relaxed_dev_u64(count, *count + more);
}

/* ---- net.c ---- */

/*
 * gn__node_create - put a node together, and a machine for it.
 * @options     without defaults: every member says something
 * @transport  becomes the node's, also when this fails
 */
int gn__node_create(struct gn_net **net, const struct gn_net_options *options, struct gn_transport *transport,
                    struct gn_error *error);
void gn__node_destroy(struct gn_net *net);

/*
 * gn__heaps_map - on the direct route: what the kernels of a node, and its host where it reaches the own
 * heap, change by themselves.
 * @heap  [nodes] NULL: they do not
 * Returns 0 or -GN_EIO.
 */
int gn__heaps_map(struct gn_net *net, char *const *heap, struct gn_error *error);

/* ---- peers.c ---- */

/*
 * gn__peers_map - gn__heaps_map of nodes that are processes, as far as they are of this host and their
 * machines can. All nodes call it, and wait for each other. Returns 0, -GN_ENOMEM, -GN_EIO, -GN_ETIMEDOUT.
 */
int gn__peers_map(struct gn_net *net, struct gn_error *error);
void gn__peers_unmap(struct gn_net *net);

/* ---- link.c ---- */

int gn__links_create(struct gn_net *net);
void gn__links_destroy(struct gn_net *net);

/*
 * gn__post - put a message into the packet that goes to `to`, another node.
 * @reply   1: it is a reply
 * @origin  who wrote it
 * @word    its words, the head first
 * Returns 0, or -GN_EAGAIN: there is no room now, nothing was changed.
 */
int gn__post(struct gn_net *net, int reply, uint32_t to, uint32_t origin, const uint64_t *word,
             uint32_t words);

/* For a kernel that applies: is it the first for this peer of those that have no order among them? */
static inline uint64_t gn__first(struct gn_net *net, struct gn_peer *to, uint32_t origin, uint64_t head)
{
	if (simt_likely(!net->device))
		return 0;
	if (origin != net->route.node)
		return head & gn__message_first; /* whoever wrote it knew */
	if (to->group == net->group)
		return 0;
	to->group = net->group;
	return gn__message_first;
}

/* gn__post of an own request, where the packet is open and has room; else 0 and nothing was done. */
static inline int gn__post_quickly(struct gn_net *net, uint32_t to, const uint64_t *word, uint32_t words)
{
	struct gn_peer *peer = &net->peer[to];
	struct gn_link *l = peer->link;
	uint64_t *at = l->at;

	if (simt_unlikely(l->end - at < (int64_t)words))
		return 0;
	at[0] = gn__message_readdress(word[0], peer->named) | gn__first(net, peer, net->route.node, word[0]);
	for (uint32_t k = 1; k < words; k++)
		at[k] = word[k];
	l->at = at + words;
	return 1;
}

/* gn__post_room - will gn__post have room for so many words now? */
int gn__post_room(struct gn_net *net, int reply, uint32_t to, uint32_t words);

/*
 * gn__flush - send open packets: all, or those that are old, or that somebody waits for: now, or soon and the
 * node is idle.
 */
void gn__flush(struct gn_net *net, int all, int idle);

/* gn__collect - take back packets that have left. Returns how many are still on their way. */
uint32_t gn__collect(struct gn_net *net);

/* ---- drain.c ---- */

/* gn__drain - sort what is in the logs. Returns the number of messages. */
uint32_t gn__drain(struct gn_net *net);

/* gn__is_drained - is nothing in the logs, and no round of quiet under way? */
int gn__is_drained(const struct gn_net *net);

/* Of GN_NET_COPROCESSOR: should what the logs keep be sent now? It is done; threads may go on. */
int gn__exchange_is_due(struct gn_net *net);
void gn__exchange_end(struct gn_net *net);

/* ---- apply.c ---- */

/* gn__receive - take in packets. Returns the number of messages. */
uint32_t gn__receive(struct gn_net *net);

/*
 * gn__apply - do what a message says.
 * Returns its words, 0: not now, or -GN_EBADMSG: it is none.
 */
int gn__apply(struct gn_net *net, uint32_t origin, const uint64_t *word, uint32_t left);

/* ---- end.c ---- */

/*
 * gn__tell_end - tell all others that the program has failed here. Returns 1: all are told, or there is
 * nothing to tell.
 */
int gn__tell_end(struct gn_net *net);

/*
 * gn__hear_end, gn__hear_name - the messages of another node that say so, and what a handler is called there.
 */
void gn__hear_end(struct gn_net *net, uint32_t origin, uint64_t said);
void gn__hear_name(struct gn_net *net, uint32_t origin, uint32_t id, const char *name, uint32_t bytes);

/* ---- quiet.c ---- */

void gn__quiet_ask(struct gn_net *net, uint64_t token);
int gn__quiet_is_idle(const struct gn_net *net); /* is there no round? */
int gn__quiet_sorts(const struct gn_net *net);   /* does one wait for the logs to be sorted? */
void gn__quiet_answered(struct gn_net *net, uint32_t from, uint64_t mark, uint64_t applied);
void gn__quiet_go_on(struct gn_net *net);

/* gn__asked, gn__answered - a peer owes one answer more; has given one. */
void gn__asked(struct gn_net *net, uint32_t peer);
void gn__answered(struct gn_net *net, uint32_t peer);

/* gn__slot_reply - the reply for a token has come: the value, or bytes. */
void gn__slot_reply(struct gn_net *net, uint64_t token, int code, uint64_t value, const void *bytes,
                    uint32_t count);

/* ---- loop.c ---- */

/*
 * gn__network - the network thread of a node, until the node and all others have ended. Returns 0 or
 * -GN_ETIMEDOUT.
 */
int gn__network(struct gn_net *net);

/* The network itself failed: say so, once. */
int gn__network_fail(struct gn_net *net, uint32_t peer, const struct gn_error *error);

/* ---- heap.c ---- */

struct gn_heap;

/* @machine  that zeroes the memory; NULL: the host does. @bytes  of the begin, used already */
int gn__heap_create(struct gn_heap **heap, struct simt_machine *machine, char *memory, uint64_t used,
                    uint64_t bytes);
void gn__heap_destroy(struct gn_heap *heap);

/* gn__heap_alignment - where the memory of a heap of so many bytes must begin: at a multiple of this. */
uint64_t gn__heap_alignment(uint64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
