/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.h - what the host hands to the kernels of PageRank: shares go along the edges, then ranks are made
 * of what has come.
 */
#ifndef GN_PAGERANK_KERNELS_H
#define GN_PAGERANK_KERNELS_H

#include "graph/scan.h"

/* What the kernels add up; the host sets it to 0. */
struct gn_pagerank_counts {
	uint64_t moved;  /* how much ranks have changed */
	uint64_t given;  /* what they will give along their edges */
	uint64_t widest; /* the largest degree */
};

struct gn_pagerank_args {
	struct gn_scan scan;    /* items: all vertices, or chunks */
	struct gn_state rank;   /* u64, as the two below */
	struct gn_state share;  /* what a vertex gives along each of its edges */
	struct gn_state come;   /* sums of shares; 0 when an iteration begins */
	struct gn_state degree; /* u32 */
	struct gn_pagerank_counts *counts;
	uint64_t base;  /* for every vertex */
	uint64_t extra; /* vertices from 0 on that get 1 more */
};

/* The degrees of all vertices. */
GN_SCAN_KERNEL_DECLARE(gn_pagerank_degrees);
/* Each vertex adds up the shares of its neighbours. Lists, and the chunks of long lists. */
GN_SCAN_LISTS_DECLARE(gn_pagerank_pull);
GN_SCAN_KERNEL_DECLARE(gn_pagerank_pull_chunks);
/* Each vertex adds its share to its neighbours. Lists, and chunks. */
GN_SCAN_LISTS_DECLARE(gn_pagerank_push);
GN_SCAN_KERNEL_DECLARE(gn_pagerank_push_chunks);
/* What has come becomes the rank; from that the share. */
GN_SCAN_KERNEL_DECLARE(gn_pagerank_take);

#endif
