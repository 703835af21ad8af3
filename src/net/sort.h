/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort.h - if a kernel applies messages (device.h), it sorts those of the node's kernels as well. The logs
 * are then in the device's memory, and the host sees no message, but whole packets.
 *
 * A sorter is a block of the kernel. It has logs of its own, and a stream of packets to each node; the
 * streams of different sorters are unordered. In each epoch it takes one reservation of each of its logs. A
 * thread has one log, so the messages of an epoch are unordered, and only the first one for a node is marked
 * as coming behind those before it (gn__message_first). Warps take reservations side by side: they claim
 * words of the open packets by additions in shared memory, and write the messages there. Packets are in host
 * memory that all machines of the process reach. The network thread gives each a head, and sends it.
 *
 * A way is a stream to one node. It has a few packets, used in turn. The sorter closes the open packet if a
 * message has no room, by the rules of rule.h, and if the host wants all messages sent (a flush).
 *
 * Edges:  R7 (the sorter: gn_sorted.turn, release) pairs with A7 (the host: acquire): the packet is complete.
 *         R8 (the host: freed, release) pairs with A8 (the sorter: acquire): nobody reads the packet any
 * more. R9 (the block of tails: gn_sort_orders, release) pairs with A9 (the sorter: acquire): the ends of the
 *         logs are noted. R10 (the sorter: done, release) pairs with A10 (the host: acquire): all packets of
 * a flush are closed.
 */
#ifndef GN_NET_SORT_H
#define GN_NET_SORT_H

#include <grapnel/net.h>
#include <net/transport.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gn_net;

/* The kernel sorts for up to so many nodes; for more, and in two ways, the network thread does. */
enum {
	GN_SORT_MOST_NODES = 64,
	GN_SORT_LEAST_WORDS = 1024, /* of a packet */
	GN_SORT_MOST_STREAMS = 8,

	GN_SORT_LOGS = 8,     /* of each processor of a GPU: the more, the more messages are unordered */
	GN_SORT_CPU_LOGS = 16 /* a sorter has several rounds and sets there too (sorter.h) */
};

enum gn_sort_reason { GN_SORT_FULL, GN_SORT_AGED, GN_SORT_URGENT };

/*
 * What the messages of a packet are, as fields of a word: their number without marks, those that fetch,
 * active messages, changes of the heap by one operand, and messages that are sent at once.
 */
enum {
	GN_SORT_FIELD = 13,
	GN_SORT_FETCHES = GN_SORT_FIELD,
	GN_SORT_CALLS = 2 * GN_SORT_FIELD,
	GN_SORT_PLAIN = 3 * GN_SORT_FIELD,
	GN_SORT_NOW = 4 * GN_SORT_FIELD
};

SIMT_FN uint32_t gn_sort_count(uint64_t counts, uint32_t field)
{
	return (uint32_t)(counts >> field) & ((1u << GN_SORT_FIELD) - 1);
}

/* A closed packet, as the sorter hands it over. */
struct gn_sorted {
	uint32_t turn; /* number of packets that the way has closed, with this one */
	uint32_t words;
	uint32_t reason; /* enum gn_sort_reason */
	uint32_t pad;
	uint64_t counts;
};

/* Words that the block of tails writes and the sorters poll, in memory of the device. */
struct gn_sort_orders {
	uint32_t flush; /* number of the last flush that is wanted */
	uint32_t quit;
};

struct gn_sort_args {
	uint32_t streams; /* 0: the host sorts */
	uint32_t slots;   /* packets of a way, a power of two */
	uint32_t words;   /* of a packet that is full */
	uint64_t flush_ns;
	/* in memory of the host; a way has number stream * nodes + node */
	struct gn_packet *packet; /* [ways][slots] */
	struct gn_sorted *sorted; /* [ways][slots] */
	uint32_t *freed;          /* [ways] packets that may be filled again */
	uint32_t *done;           /* [streams * 32] number of the last flush that is done */
	/* in memory of the device */
	struct gn_sort_orders *orders;
	struct gn__log_reader *reader; /* [logs] */
	uint64_t *wanted;              /* [logs] how far a flush sorts */
};

/* The host's side. */
struct gn_sort {
	struct gn_sort_args args;
	void *pinned, *apart;
	struct gn_parcel *parcel; /* [ways][slots] */
	uint32_t *taken, *freed;  /* [ways] packets taken from the sorter, and given back */
	uint8_t *lost;            /* [ways][slots] 1: the packet could not be sent */
	/* [ways] packets that were closed when flush `noted` was done, with all of the flush */
	uint32_t *until, noted;
	uint32_t last; /* number of the flush at the end of the run; 0: not begun */
};

/* gn__sort_is_possible - can a kernel, if the node has one, sort its messages with these options? */
int gn__sort_is_possible(const struct gn_net_options *options, uint32_t nodes);

/*
 * gn__sort_create - make the packets, and the words that host and sorters share.
 * @reader  [logs] readers of the kernels' logs, which are empty
 * Returns 0, -GN_ENOMEM, codes of simt_move.
 */
int gn__sort_create(struct gn_net *net, const struct gn__log_reader *reader, struct gn_error *error);
void gn__sort_destroy(struct gn_net *net);

/* gn__sort_drain - send packets that the sorters have closed. Returns the number of messages. */
uint32_t gn__sort_drain(struct gn_net *net);

/* gn__sort_is_flushed - is this flush done, and are its packets sent? */
int gn__sort_is_flushed(struct gn_net *net, uint32_t flush);

/* gn__sort_is_empty - at the end of a run, called repeatedly: have all messages left? */
int gn__sort_is_empty(struct gn_net *net);

#ifdef __cplusplus
}
#endif

#endif
