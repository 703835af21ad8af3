/* SPDX-License-Identifier: Apache-2.0 */
#include "kmeans/kernels.h"

SIMT_FN void kmeans_draw(const struct kmeans_args *a)
{
	for (uint64_t p = simt_global_thread(); p < a->count; p += simt_global_threads()) {
		for (uint32_t d = 0; d < a->k.dimensions; d++)
			a->point[d * a->count + p] = kmeans_coordinate(&a->k, a->first + p, d);
		a->joined[p] = 0;
	}
}
SIMT_KERNEL(kmeans_draw, struct kmeans_args)

SIMT_FN uint64_t distance_from(const struct kmeans_args *a, uint64_t point, uint32_t cluster)
{
	uint64_t sum = 0;

	for (uint32_t d = 0; d < a->k.dimensions; d++) {
		const int64_t apart =
		    (int64_t)a->point[d * a->count + point] - a->centre[cluster * a->k.dimensions + d];

		sum += (uint64_t)(apart * apart);
	}
	return sum;
}

SIMT_FN uint32_t nearest(const struct kmeans_args *a, uint64_t point, uint64_t *distance)
{
	uint32_t cluster = 0;

	*distance = distance_from(a, point, 0);
	for (uint32_t c = 1; c < a->k.clusters; c++) {
		const uint64_t other = distance_from(a, point, c);

		if (other < *distance) {
			*distance = other;
			cluster = c;
		}
	}
	return cluster;
}

/* This thread's sum of one dimension of a cluster; of the one behind the last: how many points. */
SIMT_FN uint64_t *part_of(const struct kmeans_args *a, uint32_t cluster, uint32_t dimension)
{
	return &a->part[(cluster * (a->k.dimensions + 1ull) + dimension) * simt_global_threads() +
	                simt_global_thread()];
}

SIMT_FN void add_point(const struct kmeans_args *a, uint64_t point, uint32_t cluster)
{
	for (uint32_t d = 0; d < a->k.dimensions; d++)
		*part_of(a, cluster, d) += a->point[d * a->count + point];
	++*part_of(a, cluster, a->k.dimensions);
}

/* What this thread has added up of a cluster goes to the node that keeps it. */
SIMT_FN int send_part(const struct kmeans_args *a, uint32_t cluster)
{
	int rc = 0;

	if (!*part_of(a, cluster, a->k.dimensions))
		return 0;
	for (uint32_t d = 0; d <= a->k.dimensions && !rc; d++) {
		rc = gn_net_add_u64(&a->net, cluster % a->net.nodes,
		                    &a->sum[cluster * (a->k.dimensions + 1) + d], *part_of(a, cluster, d));
		*part_of(a, cluster, d) = 0;
	}
	return rc;
}

SIMT_FN void kmeans_join(const struct kmeans_args *a)
{
	uint64_t moved = 0, distances = 0, distance;
	int rc = 0;

	for (uint64_t p = simt_global_thread(); p < a->count; p += simt_global_threads()) {
		const uint32_t cluster = nearest(a, p, &distance);

		moved += a->joined[p] != cluster + 1;
		distances += distance;
		a->joined[p] = cluster + 1;
		add_point(a, p, cluster);
	}
	for (uint32_t c = 0; c < a->k.clusters && !rc; c++)
		rc = send_part(a, c);
	simt_reduce_add_relaxed_dev_u64(&a->totals[0], moved);
	simt_reduce_add_relaxed_dev_u64(&a->totals[1], distances);
}
SIMT_KERNEL(kmeans_join, struct kmeans_args)
