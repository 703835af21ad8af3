/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.h - the updates of a node, and the count of words that are wrong. */
#ifndef GN_GUPS_KERNELS_H
#define GN_GUPS_KERNELS_H

#include <grapnel/net.h>

struct gups_update_args {
	struct gn_net_view net;
	uint64_t *table;    /* this node's part */
	uint64_t part_mask; /* words of a part, less one; a power of two of them */
	uint32_t part_log2;
	uint32_t xors;    /* 1: table ^= random (HPCC); 0: table += 1 (Gravel) */
	uint64_t updates; /* of this node */
	uint64_t first;   /* the place of its first random number in the sequence */
	uint64_t hold;    /* HPCC: at most so many updates of a node under way; 0: any number */
};

SIMT_KERNEL_DECLARE(gups_update);

struct gups_fill_args {
	uint64_t *table;
	uint64_t words, first;
};

SIMT_KERNEL_DECLARE(gups_fill);

struct gups_count_args {
	const uint64_t *table;
	uint64_t words, first;
	uint64_t *count; /* receives the number of words that are not their index */
};

SIMT_KERNEL_DECLARE(gups_count);

#endif
