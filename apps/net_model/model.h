/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - a discrete-event model of nodes that send small messages to each other: how full packets become,
 * how much memory they take and how much of the machine's rate is left, on more nodes than there are.
 *
 * Each modelled node is a thread that makes updates of random words of all nodes, a log, and a network thread
 * that takes the turns of src/net/loop.c: packets are taken in, the log is sorted into packets, old packets
 * are sent. Routes, sizes, pools and the rules by which packets leave are the library's own (net/route.h,
 * net/rule.h); what a message and a packet cost is given. The same configuration gives the same result.
 *
 * Traffic is uniform, so a few nodes can stand for all: of `simulated` nodes each is so many of the group as
 * it takes, and what goes to any of those comes to it.
 */
#ifndef GN_NET_MODEL_H
#define GN_NET_MODEL_H

#include <grapnel/net.h>

struct net_model {
	/* as struct gn_net_options */
	uint32_t nodes, columns;
	uint64_t log_bytes, packet_bytes, flush_ns;
	uint32_t compressed; /* 1: packets travel without what their messages share */

	/* what is to be done */
	uint64_t updates;    /* of a node */
	uint64_t part_words; /* of a node's part of the table, a power of two */
	uint32_t xors;       /* 1: operands are random; 0: they are all 1 */

	/* what it costs, in nanoseconds */
	double update_ns; /* a node makes an update so often, whether it goes away or not */
	double sort_ns;   /* a message from the log to a packet */
	double pass_ns;   /* a message from a packet to another, in which it is passed on */
	double apply_ns;  /* a message from a packet to memory */
	double packet_ns; /* each end of a packet */
	double byte_ns;   /* of a packet, checked and compressed at each end */
	double look_ns;   /* an open packet looked at, whether it is old */

	/* the machine */
	uint32_t simulated; /* nodes that are simulated; 0: all */
	uint32_t cores;     /* for all simulated nodes together; 0: two for each */
	double slice_ns;    /* a thread has a core for so long if others want it */
	/* bytes in a nanosecond that a node sends, and receives; 0: packets are handed over */
	double link_bytes_ns;
	double latency_ns; /* of the link */
};

struct net_model_result {
	struct gn_net_statistics stats; /* of the simulated nodes together */
	/* from the first update to the end of the last node's wait for all of them */
	double seconds;
	double sorted_seconds; /* to when the last log was empty */
	uint64_t made_bytes;   /* packets that one node made, at most */
	double link_share;     /* of that time, that a node's link was busy; 0 without a link */
};

/*
 * net_model_of - GUPS with defaults for everything: the library's own, and costs as measured on one machine
 * (README.md).
 * @nodes    from 2 on
 * @columns  0: as the library chooses
 */
struct net_model net_model_of(uint32_t nodes, uint32_t columns);

/*
 * net_model_buffers - bytes of packets that a node has at most, each end's copies for compression among them.
 */
uint64_t net_model_buffers(const struct net_model *m);

/*
 * net_model_run - simulate.
 * Returns 0, -GN_ENOMEM, -GN_EINVAL (no such grid, or more simulated nodes than nodes).
 */
int net_model_run(const struct net_model *m, struct net_model_result *result);

#endif
