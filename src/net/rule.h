/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule.h - rules: when a packet leaves, how many packets there are, and how much work is done before other
 * work has a turn. Nodes and their model (apps/net_model) use the same rules and parameters.
 */
#ifndef GN_NET_RULE_H
#define GN_NET_RULE_H

#include <net/packet.h>

enum {
	GN_RULE_FLUSH_NS = 125000, /* by default */
	/* messages taken from one log before the other logs and the packets have a turn */
	GN_RULE_SORTED = 2048,
	GN_RULE_COALESCED = 256,   /* the same in the coalesced form */
	GN_RULE_APPLIED = 8192,    /* messages applied before the logs have a turn */
	GN_RULE_LOOKS = 4,         /* a node without work looks again this number of times at once, */
	GN_RULE_AWAKE_NS = 200000, /* then yields between looks, until this time after its last work, */
	/* then sleeps between looks. A sleep takes 100000 ns, so staying awake costs at most twice that. */
	GN_RULE_SLEEP_NS = 50000,
	GN_RULE_SLICE_NS = 100000, /* the scheduler slice of the network thread: the shortest possible */
	GN_RULE_RECEIVES = 8,      /* open receives of each class, where packets come by MPI */
	GN_RULE_TWO_WAYS_FROM = 65 /* nodes, unless the number of columns is given */
};

/*
 * An idle node sends packets for which a thread waits. Other packets may grow for flush_ns /
 * GN_RULE_IDLE_SHARE. A packet that grows so fast that it will be full within GN_RULE_WORTH * flush_ns is
 * left to grow: on a busy machine time passes while no thread can run, and a short packet costs as much as a
 * full one.
 */
enum { GN_RULE_IDLE_SHARE = 4, GN_RULE_WORTH = 32 };

/* Must a packet be sent that has this age and number of words? */
SIMT_FN int gn_rule_is_old(uint64_t age_ns, uint32_t words, uint64_t flush_ns, int idle)
{
	const uint64_t patience = idle ? flush_ns / GN_RULE_IDLE_SHARE : flush_ns,
	               most = GN_RULE_WORTH * flush_ns;

	if (age_ns < patience)
		return 0;
	return age_ns >= most || age_ns * GN_PACKET_WORDS > most * words;
}

/*
 * The number of packets of a class. Each link has one packet being filled and one on its way; of replies,
 * which are few, only every second link has one on its way.
 */
static inline uint32_t gn_rule_pool(uint32_t links, uint32_t class_)
{
	return links ? links + (class_ < GN_REQUESTS ? links / 2 : links) + 2 : 0;
}

/* The most words of a packet that has more than one message. */
static inline uint32_t gn_rule_words(uint64_t packet_bytes)
{
	return packet_bytes > GN_PACKET_HEAD ? (uint32_t)((packet_bytes - GN_PACKET_HEAD) / 8) : 0;
}

/* The default number of columns of the grid. */
static inline uint32_t gn_rule_columns(uint32_t nodes)
{
	uint32_t root = 1;

	while ((root + 1) * (root + 1) <= nodes)
		root++;
	return nodes < GN_RULE_TWO_WAYS_FROM ? 1 : root;
}

#endif
