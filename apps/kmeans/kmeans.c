/* SPDX-License-Identifier: Apache-2.0 */
#include "kmeans/kmeans.h"

#include "kmeans/kernels.h"
#include "spread/run.h"

static const uint64_t most_part_bytes = 256ull << 20; /* memory for sums of threads */

uint64_t kmeans_heap(const struct kmeans *k)
{
	return 8ull * k->clusters * (2 * k->dimensions + 2) + (1u << 20);
}

/*
 * A cluster's centre moves to the mean of its points, and all nodes hear of it; that of an empty one stays.
 */
static int move_centre(struct gn_net *net, const struct kmeans_args *a, uint32_t cluster)
{
	uint64_t *sum = &a->sum[cluster * (a->k.dimensions + 1)];
	const uint64_t count = sum[a->k.dimensions];
	const uint32_t *centre = &a->centre[cluster * a->k.dimensions];
	uint32_t mean[KMEANS_MOST_DIMENSIONS];
	int rc = 0;

	for (uint32_t d = 0; d < a->k.dimensions && count; d++)
		mean[d] = (uint32_t)((sum[d] + count / 2) / count);
	for (uint32_t pe = 0; pe < a->net.nodes && !rc && count; pe++)
		rc =
		    gn_net_put(gn_net_host(net), pe, (void *)(uintptr_t)centre, mean, 4ull * a->k.dimensions);
	return rc;
}

/* The sizes of all clusters, on all nodes. */
static int collect_sizes(struct gn_net *net, const struct kmeans_args *a, uint64_t *sizes)
{
	for (uint32_t c = 0; c < a->k.clusters; c++)
		sizes[c] = a->sum[c * (a->k.dimensions + 1) + a->k.dimensions];
	return gn_net_reduce_u64(gn_net_host(net), GN_ADD, sizes, a->k.clusters);
}

/*
 * The threads of a launch. Each keeps sums of all clusters between its points and its messages; a GPU has so
 * many threads that these would fill its memory if clusters are many.
 */
static uint32_t threads_of(struct gn_net *net, const struct kmeans *k)
{
	const uint64_t most = most_part_bytes / (8 * k->clusters * (k->dimensions + 1ull));
	const uint32_t threads = spread_threads(net);

	return threads < most ? threads : most > 256 ? (uint32_t)(most / 256 * 256) : 256;
}

/* All points join, all centres move. @totals  of all nodes */
static int iterate(struct gn_net *net, const struct kmeans_args *a, uint64_t totals[2], uint64_t *sizes,
                   struct gn_error *error)
{
	const uint64_t sum_bytes = 8ull * a->k.clusters * (a->k.dimensions + 1);
	int rc;

	rc = spread_launch_counting(net, &kmeans_join_kernel, threads_of(net, &a->k), a, a->totals, 2, totals,
	                            error);
	if (!rc)
		rc = gn_net_barrier(gn_net_host(net)); /* all sums have come, nobody reads the centres */
	for (uint32_t c = gn_net_node(net); c < a->k.clusters && !rc; c += gn_net_nodes(net))
		rc = move_centre(net, a, c);
	if (!rc)
		rc = gn_net_reduce_u64(gn_net_host(net), GN_ADD, totals, 2);
	if (!rc)
		rc = collect_sizes(net, a, sizes);
	memset(a->sum, 0, sum_bytes);
	return rc ? rc : gn_net_barrier(gn_net_host(net)); /* all centres have come, all sums are 0 */
}

static int run(struct gn_net *net, const struct kmeans_args *a, struct kmeans_result *result,
               struct gn_error *error)
{
	uint64_t totals[2] = {1, 0};
	struct simt_machine *m = gn_net_machine(net);
	uint32_t *centre = (uint32_t *)(uintptr_t)a->centre;
	const uint64_t bytes = 4ull * a->k.clusters * a->k.dimensions;
	int rc = spread_launch(net, &kmeans_draw_kernel, 0, a, error);

	for (uint32_t c = 0; c < a->k.clusters; c++)
		for (uint32_t d = 0; d < a->k.dimensions; d++)
			result->centres[c * a->k.dimensions + d] = kmeans_coordinate(&a->k, c, d);
	if (!rc)
		rc = simt_move(m, centre, result->centres, bytes, error);
	if (!rc)
		rc = gn_net_barrier(gn_net_host(net));
	spread_count_begin(net, &result->stats);
	result->seconds = -spread_clock();
	for (; !rc && totals[0] && result->iterations < a->k.iterations; result->iterations++)
		rc = iterate(net, a, totals, result->sizes, error);
	result->seconds += spread_clock();
	spread_count_end(net, &result->stats);
	result->distance = totals[1];
	return rc ? rc : simt_move(m, result->centres, centre, bytes, error);
}

int kmeans_run(struct gn_net *net, const struct kmeans *k, struct kmeans_result *result,
               struct gn_error *error)
{
	struct simt_machine *m = gn_net_machine(net);
	const uint32_t node = gn_net_node(net), nodes = gn_net_nodes(net);
	uint32_t *centre = (uint32_t *)gn_net_alloc(net, 4ull * k->clusters * k->dimensions, error);
	struct kmeans_args a;
	int rc = 0;

	memset(&a, 0, sizeof a);
	a.net = gn_net_device(net);
	a.k = *k;
	a.first = k->points * node / nodes;
	a.count = k->points * (node + 1) / nodes - a.first;
	a.centre = centre;
	a.sum = (uint64_t *)gn_net_alloc_shared(net, 8ull * k->clusters * (k->dimensions + 1), error);
	a.totals = (uint64_t *)simt_alloc(m, 16, SIMT_DEVICE, error);
	a.point = (uint32_t *)simt_alloc(m, 4 * a.count * k->dimensions + 4, SIMT_DEVICE, error);
	a.joined = (uint32_t *)simt_alloc(m, 4 * a.count + 4, SIMT_DEVICE, error);
	/* zero, as simt_alloc gives it, before and behind each launch */
	a.part = (uint64_t *)simt_alloc(
	    m, 8ull * k->clusters * (k->dimensions + 1) * (threads_of(net, k) + 256), SIMT_DEVICE, error);
	if (!(centre && a.sum && a.totals && a.point && a.joined && a.part))
		rc = -GN_ENOMEM;
	if (!rc)
		rc = run(net, &a, result, error);
	simt_free(m, a.part);
	simt_free(m, a.joined);
	simt_free(m, a.point);
	simt_free(m, a.totals);
	gn_net_free(net, a.sum);
	gn_net_free(net, centre);
	return rc;
}
