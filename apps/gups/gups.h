/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gups.h - giga-updates per second: random words of a table that is spread over all nodes.
 *
 * Two forms: HPCC's RandomAccess (word ^= random; the same updates once more must give the table back, at
 * most 1 % of its words may be wrong: here none is) and Gravel's (word += 1). In both, the table after the
 * updates is compared with what the sequence must have made of it (check.h).
 */
#ifndef GN_GUPS_GUPS_H
#define GN_GUPS_GUPS_H

#include <grapnel/net.h>

struct gups {
	uint64_t part_words; /* of a node's part of the table, a power of two */
	uint64_t updates;    /* of a node */
	uint32_t threads;    /* of a node's grid; 0: what its machine holds at once */
	uint32_t xors;       /* 1: HPCC's form; 0: Gravel's */
	/* at most so many updates of a node under way (HPCC allows 1024); 0: any number */
	uint64_t hold;
};

struct gups_result {
	double seconds;                 /* from the barrier before the updates to the one behind them */
	uint64_t wrong;                 /* words, or parts whose sum is not right */
	struct gn_net_statistics stats; /* of this node, of the updates only */
};

/*
 * gups_run - all nodes call it. Returns 0, or what failed: -GN_ENOMEM (the heap has no room for the part),
 * the machine's or the network's code.
 */
int gups_run(struct gn_net *net, const struct gups *g, struct gups_result *result, struct gn_error *error);

#endif
