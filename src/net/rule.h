/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule.h - what decides when a packet leaves, how many there are, and how much is done before something else
 * has a turn. Nodes obey it, and so does their model (apps/net_model), which thereby has their parameters.
 */
#ifndef GN_NET_RULE_H
#define GN_NET_RULE_H

#include <net/packet.h>

enum {
	GN_RULE_FLUSH_NS = 125000, /* by default */
	/* messages taken from one log before the others have a turn, and packets are looked at */
	GN_RULE_SORTED = 2048,
	GN_RULE_COALESCED = 256,   /* the same, in the form of that name */
	GN_RULE_APPLIED = 8192,    /* messages applied before the logs have a turn */
	GN_RULE_LOOKS = 4,         /* a node with nothing to do looks again so many times at once, */
	GN_RULE_AWAKE_NS = 200000, /* then lets others run, until so long after it had something to do, */
	/* then sleeps a little; which takes 100000, so being awake has cost no more than twice that */
	GN_RULE_SLEEP_NS = 50000,
	GN_RULE_SLICE_NS = 100000, /* that the network thread asks for: the shortest that there is */
	GN_RULE_TWO_WAYS_FROM = 65 /* nodes, unless columns are said */
};

/*
 * An idle node sends what somebody waits for; what nobody waits for gets this share of flush_ns to grow. A
 * packet that will be full within so many flush_ns, if it goes on as it has begun, is left to grow: on a busy
 * machine time passes while nobody can do anything, and sending little costs as much as sending much.
 */
enum { GN_RULE_IDLE_SHARE = 4, GN_RULE_WORTH = 32 };

/* Has a packet of so many words waited long enough? */
static inline int gn_rule_is_old(uint64_t age_ns, uint32_t words, uint64_t flush_ns, int idle)
{
	const uint64_t patience = idle ? flush_ns / GN_RULE_IDLE_SHARE : flush_ns,
	               most = GN_RULE_WORTH * flush_ns;

	if (age_ns < patience)
		return 0;
	return age_ns >= most || age_ns * GN_PACKET_WORDS > most * words;
}

/*
 * Packets of a class: one being filled and one on its way; of replies, which are few, half as many on their
 * way.
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

/* Columns of the grid, where nobody says how many. */
static inline uint32_t gn_rule_columns(uint32_t nodes)
{
	uint32_t root = 1;

	while ((root + 1) * (root + 1) <= nodes)
		root++;
	return nodes < GN_RULE_TWO_WAYS_FROM ? 1 : root;
}

#endif
