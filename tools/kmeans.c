/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grapnel kmeans: clusters of points that are spread over nodes; kmeans in Gravel's figures 12 and 15 and
 * table 5.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kmeans/kmeans.h"
#include "net.h"

enum { POINTS, DIMENSIONS, CLUSTERS, ITERATIONS, SEED };

struct request {
	struct tool_net net;
	struct kmeans k;
	struct kmeans_result result; /* node 0's */
	struct kmeans_result want;
};

static const char *clusters_wrong(uint64_t clusters, const uint64_t *all)
{
	return clusters > all[POINTS] ? "not more than points" : NULL;
}

static const struct tool_net_option options[] = {
    {"points", 0, "N",
     "points of all nodes together, drawn around as many centres as there are clusters (default 1000000)",
     1000000, 1, kmeans_most_points},
    {"dimensions", 0, "N", "coordinates of a point, 1 to 16 (default 2)", 2, 1, KMEANS_MOST_DIMENSIONS},
    {"clusters", 0, "N", "clusters, 1 to 1024 (default 8)", 8, 1, KMEANS_MOST_CLUSTERS, clusters_wrong},
    {"iterations", 0, "N",
     "most iterations; the run ends earlier if no point changes its cluster (default 100)", 100, 1, 1000000},
    {"seed", 0, "N", "seed of the random points (default 1)", 1, 0, UINT64_MAX},
    {0},
};

static int result_alloc(const struct kmeans *k, struct kmeans_result *r)
{
	memset(r, 0, sizeof *r);
	r->centres = (uint32_t *)malloc(4ull * k->clusters * k->dimensions);
	r->sizes = (uint64_t *)malloc(8ull * k->clusters);
	return r->centres && r->sizes ? 0 : -GN_ENOMEM;
}

static void result_free(struct kmeans_result *r)
{
	free(r->centres);
	free(r->sizes);
}

static int prepare(struct tool_net *n, struct gn_error *e)
{
	struct request *q = (struct request *)n;

	q->k.points = n->value[POINTS];
	q->k.dimensions = (uint32_t)n->value[DIMENSIONS];
	q->k.clusters = (uint32_t)n->value[CLUSTERS];
	q->k.iterations = (uint32_t)n->value[ITERATIONS];
	q->k.seed = n->value[SEED];
	n->config.heap_bytes = n->config.shared_bytes = kmeans_heap(&q->k);
	if (n->verify && (result_alloc(&q->k, &q->want) || kmeans_reference(&q->k, &q->want)))
		return gn_error_set(e, -GN_ENOMEM, "out of memory for the %llu points of the reference",
		                    (unsigned long long)q->k.points);
	return 0;
}

static bool is_right(const struct request *q, const struct kmeans_result *got)
{
	const struct kmeans_result *want = &q->want;

	return got->iterations == want->iterations && got->distance == want->distance &&
	       !memcmp(got->sizes, want->sizes, 8ull * q->k.clusters) &&
	       !memcmp(got->centres, want->centres, 4ull * q->k.clusters * q->k.dimensions);
}

/* Every node finds the same; node 0 keeps it. */
static int node(struct gn_net *net, struct tool_net *n, struct tool_net_part *part, struct gn_error *error)
{
	struct request *q = (struct request *)n;
	struct kmeans_result result;
	int rc = result_alloc(&q->k, &result);

	if (!rc)
		rc = kmeans_run(net, &q->k, &result, error);
	part->seconds = result.seconds;
	part->stats = result.stats;
	part->wrong = !rc && n->verify && !is_right(q, &result);
	if (gn_net_node(net))
		result_free(&result);
	else
		q->result = result;
	return rc;
}

static double points_per_second(const struct tool_net *n)
{
	return (double)n->value[POINTS] * ((const struct request *)n)->result.iterations / n->seconds;
}

static void print(const struct tool_net *n)
{
	const struct kmeans_result *r = &((const struct request *)n)->result;

	printf("%llu points, %llu clusters: %u iterations, %.3f s, %.3f M points/s, mean squared distance "
	       "%.1f%s\n",
	       (unsigned long long)n->value[POINTS], (unsigned long long)n->value[CLUSTERS], r->iterations,
	       n->seconds, 1e-6 * points_per_second(n), (double)r->distance / (double)n->value[POINTS],
	       n->verify ? ", verified" : "");
}

static json_t *clusters_of(const struct request *q)
{
	json_t *all = json_array();

	for (uint32_t c = 0; c < q->k.clusters; c++) {
		json_t *centre = json_array();

		for (uint32_t d = 0; d < q->k.dimensions; d++)
			json_array_append_new(centre,
			                      json_integer(q->result.centres[c * q->k.dimensions + d]));
		json_array_append_new(
		    all, json_pack("{s:I, s:o}", "points", (json_int_t)q->result.sizes[c], "centre", centre));
	}
	return all;
}

static json_t *report(const struct tool_net *n)
{
	const struct request *q = (const struct request *)n;

	return json_pack("{s:I, s:i, s:i, s:f, s:I, s:o}", "points", (json_int_t)q->k.points, "dimensions",
	                 (int)q->k.dimensions, "iterations", (int)q->result.iterations, "points_per_second",
	                 points_per_second(n), "squared_distances", (json_int_t)q->result.distance,
	                 "clusters", clusters_of(q));
}

static void fini(struct tool_net *n)
{
	result_free(&((struct request *)n)->result);
	result_free(&((struct request *)n)->want);
}

static const struct tool_net_command command = {
    "kmeans",
    "Cluster points that are spread over nodes (Lloyd's k-means). Sums of points are small messages.",
    options,
    NULL,
    "compare clusters and centres with the results of one thread",
    "nodes have other clusters than the reference",
    prepare,
    node,
    print,
    report,
    NULL,
    NULL,
    NULL,
    NULL,
    fini};

int tool_kmeans(int argc, char **argv)
{
	return tool_net_main(&command, sizeof(struct request), argc, argv);
}
