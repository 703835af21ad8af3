/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kmeans.h - clusters of points that are spread over nodes: Lloyd's algorithm.
 *
 * Points stay where they are. In an iteration each joins the nearest centre (of equally near ones the first),
 * sums of the points of each cluster travel as additions to the node that keeps the cluster, which moves the
 * centre to their mean and tells all nodes. Coordinates are whole numbers and means are rounded to such, so
 * the outcome is the same bit by bit for any number of nodes and threads.
 */
#ifndef GN_KMEANS_KMEANS_H
#define GN_KMEANS_KMEANS_H

#include <grapnel/net.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { KMEANS_MOST_DIMENSIONS = 16, KMEANS_MOST_CLUSTERS = 1024 };

/* With coordinates below 2^16 and so many points the sum of all squared distances stays below 2^64. */
static const uint64_t kmeans_most_points = 1ull << 28;

struct kmeans {
	/* of all nodes, drawn around as many places as there are clusters; at most kmeans_most_points */
	uint64_t points;
	uint32_t dimensions; /* 1 to KMEANS_MOST_DIMENSIONS */
	/* 1 to KMEANS_MOST_CLUSTERS, not more than points; their first centres are the first points */
	uint32_t clusters;
	uint32_t iterations; /* at most; it ends when no point changes its cluster */
	uint64_t seed;
};

/* What was found, on every node. */
struct kmeans_result {
	double seconds;
	uint32_t iterations; /* that were needed */
	/* sum of the squared distances of all points from the centres they joined last */
	uint64_t distance;
	uint32_t *centres;              /* [clusters][dimensions], caller's */
	uint64_t *sizes;                /* [clusters], points, caller's */
	struct gn_net_statistics stats; /* of this node */
};

/* kmeans_heap - bytes that kmeans_run wants of a node's heap, and as many of its shared memory. */
uint64_t kmeans_heap(const struct kmeans *k);

/*
 * kmeans_run - all nodes call it.
 * @result  zero, but for the caller's memory in it
 * Returns 0, or what failed: -GN_ENOMEM, the machine's or the network's code.
 */
int kmeans_run(struct gn_net *net, const struct kmeans *k, struct kmeans_result *result,
               struct gn_error *error);

/* kmeans_reference - the same in one thread; seconds and stats stay. Returns 0 or -GN_ENOMEM. */
int kmeans_reference(const struct kmeans *k, struct kmeans_result *result);

#ifdef __cplusplus
}
#endif

#endif
