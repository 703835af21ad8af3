/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.h - a node draws its points, then lets them join the nearest centres. */
#ifndef GN_KMEANS_KERNELS_H
#define GN_KMEANS_KERNELS_H

#include "kmeans/kmeans.h"
#include "spread/mix.h"

struct kmeans_args {
	struct gn_net_view net;
	struct kmeans k;
	uint64_t first, count; /* this node's points */
	uint32_t *point;       /* [dimensions][count] */
	uint32_t *joined;      /* [count]: its cluster, and 1; 0: none yet */
	/* [clusters][dimensions + 1][threads]: sums of a thread's points, and how many; 0 between */
	uint64_t *part;
	const uint32_t *centre; /* symmetric, [clusters][dimensions] */
	uint64_t *sum;          /* symmetric, [clusters][dimensions + 1]: those that this node keeps */
	uint64_t *totals;       /* the kernel adds: points that changed their cluster; squared distances */
};

SIMT_KERNEL_DECLARE(kmeans_draw);
SIMT_KERNEL_DECLARE(kmeans_join);

/*
 * A coordinate of a point, below 2^16: a place that as many points share as fall to a cluster, and something
 * added.
 */
SIMT_FN uint32_t kmeans_coordinate(const struct kmeans *k, uint64_t point, uint32_t dimension)
{
	const uint64_t place =
	    spread_mix(k->seed ^ (point % k->clusters * KMEANS_MOST_DIMENSIONS + dimension));
	const uint64_t added = spread_mix(~k->seed ^ (point * KMEANS_MOST_DIMENSIONS + dimension));

	/* four draws added up lie most often in the middle */
	return (uint32_t)(place % 49152 + added % 4096 + (added >> 16) % 4096 + (added >> 32) % 4096 +
	                  (added >> 48) % 4096);
}

#endif
