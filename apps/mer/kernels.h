/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.h - every k-mer of a node's share of the sequences, sent to the node that keeps it. */
#ifndef GN_MER_KERNELS_H
#define GN_MER_KERNELS_H

#include <grapnel/net.h>

#include "mer/reads.h"
#include "spread/mix.h"

/* An active message. */
struct mer_message {
	uint64_t kmer;
	uint32_t left, right; /* the bases beside it, or MER_BREAK */
};

struct mer_args {
	struct gn_net_view net;
	const uint8_t *base; /* base[0] is the one before the share; behind the share there are k more */
	uint64_t count;      /* k-mers that may begin in the share */
	uint32_t k;
	uint32_t handler;
	uint64_t *sent; /* the kernel adds how many k-mers there were */
};

SIMT_KERNEL_DECLARE(mer_send);

/* The node that keeps a k-mer; in its table, the search begins at other bits of the same hash. */
SIMT_FN uint32_t mer_owner(uint64_t hash, uint32_t nodes)
{
	return (uint32_t)((hash >> 32) * nodes >> 32);
}

#endif
