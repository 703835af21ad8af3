/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.h - the two halves of an iteration: shares are sent, then ranks are made of what has come. */
#ifndef GN_PAGERANK_NET_KERNELS_H
#define GN_PAGERANK_NET_KERNELS_H

#include "spread/graph.h"

struct pagerank_args {
	struct gn_net_view net;
	struct spread_graph graph;
	uint64_t *rank;   /* of this node's vertices */
	uint64_t *come;   /* symmetric: sums of shares; 0 when an iteration begins */
	uint64_t *totals; /* pagerank_take adds: how much ranks have moved; what they will send */
	uint64_t base;    /* for every vertex */
	uint32_t extra;   /* vertices from 0 on that get 1 more */
};

SIMT_KERNEL_DECLARE(pagerank_send);
SIMT_KERNEL_DECLARE(pagerank_take);

#endif
