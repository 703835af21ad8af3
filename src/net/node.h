/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node.h - the internals of a node of net. Only the network thread uses them, unless a comment says
 * otherwise.
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
#include <net/sort.h>
#include <net/transport.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GN_NET_MOST_HANDLERS = 64, GN_NET_SLOTS = 4096, GN_NET_NAME_BYTES = 56 };

/*
 * Why a packet is sent before it is full. Replies and requests for them are many, and are sent when the node
 * has no other work (SOON). Marks, answers to marks and signals are sent at once (NOW), because a whole
 * program may stand still until one has come.
 */
enum { GN_LINK_SOON = 1, GN_LINK_NOW = 2 };

/* A way from this node, with the packet that is being filled for it. */
struct gn_link {
	/* next word of the packet being filled, and its end; NULL: no packet is being filled */
	uint64_t *at, *end;
	struct gn_parcel *open; /* the packet that is being filled, or waits to be sent */
	struct gn_link *newer;  /* in the list of open links, oldest first */
	uint32_t class_, peer;
	uint32_t sequence; /* of the next packet */
	uint32_t urgent;   /* GN_LINK_SOON and GN_LINK_NOW: a thread waits for a message of the packet */
	uint32_t sealed;   /* 1: the packet is complete, but the transport had no room */
	/* a sealed packet that a kernel has filled, for which the transport had no room; NULL: none */
	struct gn_parcel *waiting;
};

/* The packets of one class. They are made when first needed, at most `most`. */
struct gn_pool {
	struct gn_parcel *free;
	uint32_t made, most;
};

/* The received packets of a class. */
struct gn_intake {
	struct gn_parcel *parcel;       /* the packet being applied, unless it lies in plain */
	const struct gn_packet *packet; /* the packet being applied; NULL: none */
	struct gn_packet *plain;        /* receives decompressed packets; made with the first of them */
	uint32_t at;                    /* the next word of packet */
	uint32_t *sequence;             /* [nodes] of the next packet from each node */
};

/* A log, and how far its oldest messages have been sorted. */
struct gn_source {
	struct gn__log *log;
	struct gn__log_reader reader;
	uint32_t lane;   /* next lane of the messages at reader.at */
	uint64_t wanted; /* a quiet waits until reader.at has reached this word */
	/* form GN_NET_COPROCESSOR, if the tail cannot be read: messages were complete up to this word */
	uint64_t whole;
	/* words reserved in the log; NULL: it is in memory that only the kernel of device.h reaches */
	const uint64_t *tail;
};

/* Another node as this node sees it. Messages are counted, but not replies and marks. */
struct gn_peer {
	uint64_t sent, applied; /* messages to the peer; messages from it */
	uint64_t marked;        /* value of sent when the way to the peer was last marked */
	uint32_t awaited;       /* 1: that mark has no answer yet */
	struct gn_hop hop;      /* the way to the peer */
	struct gn_link *link;   /* of requests to the peer */
	/* the node in the head of own messages to the peer: the peer, if they are passed on, or this node */
	uint32_t named;
	uint64_t group;     /* the last group of unordered messages of which the peer was sent one */
	uint32_t asked;     /* replies and answers that the peer owes; any thread reads it */
	uint64_t since_ns;  /* if asked is not 0: time of its last answer; any thread reads it */
	uint64_t waited_ns; /* total time with asked not 0, up to since_ns; any thread reads it */
};

/* Threads that wait for a quiet; those of a round are served together. */
struct gn_quiet {
	uint64_t *token;   /* [GN_NET_SLOTS] tokens of this round, then those that wait for the next */
	uint32_t waiting;  /* tokens */
	uint32_t served;   /* the first so many of them are of this round */
	uint32_t stage;    /* of the round: quiet.c */
	uint32_t next;     /* the next node to which a mark is sent */
	uint32_t marks;    /* marks without an answer */
	int32_t code;      /* what the round's threads are told */
	uint32_t flush;    /* what the round asked the kernel of sort.h */
	uint64_t deadline; /* of the round, as net.now */
};

struct gn_handler {
	char *name; /* owned */
	gn_net_handler_fn *run;
	void *context;
};

/* A handler's name, and the node that sent it first; kept by node 0. */
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
	/* logs that the network thread sorts: of the kernels unless a kernel sorts them, of the host, of the
	 * handlers */
	struct gn_source *source;
	uint32_t sources;
	uint32_t logs;    /* of the kernels */
	uint32_t sharing; /* nodes that use the machine of this one, at most */
	uint32_t each;    /* logs of a processor if a kernel sorts them, else 0 */
	uint32_t slots;   /* of both views */
	/*
	 * allocated by the machine and reached by the host: logs, slots, and without a device also the heap
	 */
	void *shared;
	void *apart;                    /* allocated by the machine and not reached by the host */
	char *map;                      /* heaps that the kernels reach, for view.mapped */
	struct gn_peer_heap *peer_heap; /* [nodes] heaps imported from other processes; NULL: none */
	char name[24];                  /* of the machine, if it was chosen here */
	struct gn_device *device;       /* its kernel changes the heap; NULL: the network thread does */
	struct gn_sort *sort; /* it also sorts the kernels' messages; NULL: the network thread does */
	uint64_t group;       /* number of the current group; messages of one group are unordered */
	/* [sources] logs in the order in which they are drained; index of the first of them */
	uint32_t *turn, first_turn;

	struct gn_link *link[GN_PACKET_CLASSES];
	uint32_t most_words;             /* of a packet with more than one message */
	struct gn_link *oldest, *newest; /* open links */
	struct gn_pool pool[GN_PACKET_CLASSES];
	struct gn_packet *scratch; /* where packets are compressed; NULL: they are not compressed */
	struct gn_parcel *sent;    /* packets that have not left yet */
	struct gn_intake intake[GN_PACKET_CLASSES];
	struct gn_peer *peer; /* [nodes] */
	struct gn_quiet quiet;
	uint64_t now, moved_ns; /* of this round of the loop, and of the last in which a message moved */
	uint32_t beyond;        /* packets above the pool's limit, while handlers' messages are sorted */
	/* form GN_NET_COPROCESSOR: words written to all logs, and when their number last changed */
	uint64_t written, written_ns;

	struct gn_handler handler[GN_NET_MOST_HANDLERS];
	uint32_t handlers; /* any thread reads it; the registering thread stores it with release */
	struct gn_said said[GN_NET_MOST_HANDLERS];
	struct gn_net_statistics statistics;
	struct gn_net_fault *fault; /* in shared; any thread */
	struct gn_error failure;    /* of the network itself */
	uint32_t failed;            /* any thread; 1: failure is complete */
	uint32_t begun;             /* any thread; 1: the kernel of device.h runs, or none will */
	uint32_t stop;              /* any thread; 1: leave when all other nodes do */
	int32_t outcome;            /* of the program; valid when stop is 1 */
	uint32_t told;              /* the next node to tell that the program has failed */
	uint32_t heard;             /* 1: another node's program has failed */
	struct gn_heap *heap;       /* allocates the heap; with a device data allocates the data */
	struct gn_heap *data;
};

/* Add to a count of the network thread, which other threads may read at the same time. */
static inline void gn__count(uint64_t *count, uint64_t more)
{
	simt_store_relaxed_dev_u64(count, *count + more);
}

/* ---- node.c ---- */

/*
 * gn__node_create - make a node and its machine.
 * @options    every member is set; zeros are not replaced by defaults
 * @transport  becomes the node's, also if this fails
 */
int gn__node_create(struct gn_net **net, const struct gn_net_options *options, struct gn_transport *transport,
                    struct gn_error *error);
void gn__node_destroy(struct gn_net *net);

/*
 * gn__heaps_map - on the direct route: set the heaps that the kernels of a node change directly, and also its
 * host if the host reaches the own heap.
 * @heap  [nodes] a heap, or NULL: this heap is not changed directly
 * Returns 0 or -GN_EIO.
 */
int gn__heaps_map(struct gn_net *net, char *const *heap, struct gn_error *error);

/* ---- peers.c ---- */

/*
 * gn__peers_map - gn__heaps_map for nodes that are processes: for nodes on this host whose machines can
 * export memory. All nodes call it, and wait for each other. Returns 0, -GN_ENOMEM, -GN_EIO, -GN_ETIMEDOUT.
 */
int gn__peers_map(struct gn_net *net, struct gn_error *error);
void gn__peers_unmap(struct gn_net *net);

/* ---- link.c ---- */

int gn__links_create(struct gn_net *net);
void gn__links_destroy(struct gn_net *net);

/*
 * gn__post - put a message into the packet for `to`, another node.
 * @reply   1: the message is a reply
 * @origin  the node that wrote the message
 * @word    [words], the head first
 * Returns 0, or -GN_EAGAIN: there is no room now, and nothing was changed.
 */
int gn__post(struct gn_net *net, int reply, uint32_t to, uint32_t origin, const uint64_t *word,
             uint32_t words);

/*
 * gn__message_first if a message is the first one of its group of unordered messages for this peer, else 0.
 * Only used if kernels apply messages (device.h).
 */
static inline uint64_t gn__first(struct gn_net *net, struct gn_peer *to, uint32_t origin, uint64_t head)
{
	if (simt_likely(!net->device))
		return 0;
	if (origin != net->route.node)
		return head & gn__message_first; /* the node that wrote the message has set it */
	if (to->group == net->group)
		return 0;
	to->group = net->group;
	return gn__message_first;
}

/* gn__post of an own request, if the packet is open and has room. Returns 1, or 0: nothing was done. */
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

/*
 * gn__post_packet - send a packet that a kernel has filled with messages for `to`. After -GN_EAGAIN nothing
 * else goes that way until it was called again with the same packet.
 * @form    of the packet (packet.h)
 * @reason  the count of packets that were sent for the same reason
 * Returns 0, -GN_EAGAIN: not now, or the network's failure: the packet is lost.
 */
int gn__post_packet(struct gn_net *net, uint32_t to, struct gn_parcel *p, uint32_t form, uint32_t words,
                    uint64_t *reason);

/* gn__post_room - has gn__post room for a message of this number of words now? */
int gn__post_room(struct gn_net *net, int reply, uint32_t to, uint32_t words);

/*
 * gn__flush - send open packets: those that are old, those marked GN_LINK_NOW, and if the node is idle those
 * marked GN_LINK_SOON.
 * @all  1: send all open packets
 */
void gn__flush(struct gn_net *net, int all, int idle);

/* gn__collect - take back packets that have left. Returns the number of packets that have not. */
uint32_t gn__collect(struct gn_net *net);

/* ---- drain.c ---- */

/* gn__drain - sort the messages of the logs into packets. Returns the number of messages. */
uint32_t gn__drain(struct gn_net *net);

/* gn__is_drained - are the logs empty, and is there no round of quiet? */
int gn__is_drained(struct gn_net *net);

/*
 * Form GN_NET_COPROCESSOR. gn__exchange_is_due: must the messages in the logs be sent now? gn__exchange_end:
 * they are sent, so threads may continue.
 */
int gn__exchange_is_due(struct gn_net *net);
void gn__exchange_end(struct gn_net *net);

/* ---- apply.c ---- */

/* gn__receive - receive packets and apply their messages. Returns the number of messages. */
uint32_t gn__receive(struct gn_net *net);

/*
 * gn__apply - apply a message.
 * Returns its number of words, 0: not now, or -GN_EBADMSG: it is no valid message.
 */
int gn__apply(struct gn_net *net, uint32_t origin, const uint64_t *word, uint32_t left);

/* ---- end.c ---- */

/*
 * gn__tell_end - tell all other nodes that the program has failed here. Returns 1 when all are told or there
 * is nothing to tell, else 0.
 */
int gn__tell_end(struct gn_net *net);

/*
 * gn__hear_end, gn__hear_name - apply another node's message that its program has failed, or its name of a
 * handler.
 */
void gn__hear_end(struct gn_net *net, uint32_t origin, uint64_t said);
void gn__hear_name(struct gn_net *net, uint32_t origin, uint32_t id, const char *name, uint32_t bytes);

/* ---- quiet.c ---- */

void gn__quiet_ask(struct gn_net *net, uint64_t token);
int gn__quiet_is_idle(const struct gn_net *net); /* is there no round? */
int gn__quiet_sorts(const struct gn_net *net);   /* does a round wait until the logs are sorted? */
void gn__quiet_answered(struct gn_net *net, uint32_t from, uint64_t mark, uint64_t applied);
void gn__quiet_go_on(struct gn_net *net);

/* gn__asked, gn__answered - a peer owes one more answer; a peer has given an answer. */
void gn__asked(struct gn_net *net, uint32_t peer);
void gn__answered(struct gn_net *net, uint32_t peer);

/* gn__slot_reply - deliver the reply for a token: a value, or bytes. */
void gn__slot_reply(struct gn_net *net, uint64_t token, int code, uint64_t value, const void *bytes,
                    uint32_t count);

/* ---- loop.c ---- */

/*
 * gn__network - run the network thread of a node until this node and all others have ended. Returns 0 or
 * -GN_ETIMEDOUT.
 */
int gn__network(struct gn_net *net);

/*
 * gn__network_fail - record a failure of the network itself, by which messages are lost. Only the first is
 * kept. All waits of this node end. Called by the network thread. Returns the error's code.
 * gn__network_late - the same for a peer that is late: the program may go on.
 */
int gn__network_fail(struct gn_net *net, uint32_t peer, const struct gn_error *error);
int gn__network_late(struct gn_net *net, uint32_t peer, const struct gn_error *error);

/* gn__net_fault - the fault of gn_net_failure. Returns its code; 0: none. */
int gn__net_fault(const struct gn_net *net, struct gn_net_fault *fault);

/* ---- heap.c ---- */

struct gn_heap;

/*
 * @machine  the machine that zeroes the memory; NULL: the host does
 * @used     bytes at the beginning that are already in use
 */
int gn__heap_create(struct gn_heap **heap, struct simt_machine *machine, char *memory, uint64_t used,
                    uint64_t bytes);
void gn__heap_destroy(struct gn_heap *heap);

/* gn__heap_alignment - the alignment that the memory of a heap of this size must have. */
uint64_t gn__heap_alignment(uint64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
