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

enum { OPT_POINTS = 256, OPT_DIMENSIONS, OPT_CLUSTERS, OPT_ITERATIONS, OPT_SEED, OPT_VERIFY };

struct request {
	struct tool_net net;
	struct kmeans k;
	bool verify;
	struct kmeans_result result; /* node 0's; stats: of all nodes */
	struct kmeans_result want;
	uint32_t nodes;
};

static const struct argp_option options[] = {
    {"points", OPT_POINTS, "N", 0,
     "of all nodes, drawn around as many places as there are clusters (default 1000000)", 0},
    {"dimensions", OPT_DIMENSIONS, "N", 0, "of a point, 1 to 16 (default 2)", 0},
    {"clusters", OPT_CLUSTERS, "N", 0, "1 to 1024 (default 8)", 0},
    {"iterations", OPT_ITERATIONS, "N", 0, "at most; it ends when no point changes its cluster (default 100)",
     0},
    {"seed", OPT_SEED, "N", 0, "draw other points (default 1)", 0},
    {"verify", OPT_VERIFY, NULL, 0, "compare everything with what one thread finds", 0},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct request *q = (struct request *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &q->net; break;
	case OPT_POINTS: q->k.points = tool_number(state, "--points", text, 1, kmeans_most_points); break;
	case OPT_DIMENSIONS:
		q->k.dimensions =
		    (uint32_t)tool_number(state, "--dimensions", text, 1, KMEANS_MOST_DIMENSIONS);
		break;
	case OPT_CLUSTERS:
		q->k.clusters = (uint32_t)tool_number(state, "--clusters", text, 1, KMEANS_MOST_CLUSTERS);
		break;
	case OPT_ITERATIONS:
		q->k.iterations = (uint32_t)tool_number(state, "--iterations", text, 1, 1000000);
		break;
	case OPT_SEED: q->k.seed = tool_number(state, "--seed", text, 0, UINT64_MAX); break;
	case OPT_VERIFY: q->verify = true; break;
	case ARGP_KEY_ARG: argp_error(state, "%s: nothing is expected behind the options", text); break;
	case ARGP_KEY_END:
		if (q->k.clusters > q->k.points)
			argp_error(state, "--clusters %u: not more than points", q->k.clusters);
		break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child children[] = {{&tool_net_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    options,
    parse,
    NULL,
    "Clusters (Lloyd's k-means) of points that are spread over nodes; sums of points are small messages.",
    children,
    NULL,
    NULL};

/* ---- the run ---- */

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

/* A node other than 0 finds the same, and keeps it to itself. */
static int node_main(struct gn_net *net, void *argument)
{
	struct request *q = (struct request *)argument;
	struct kmeans_result result;
	int rc = result_alloc(&q->k, &result);

	if (!rc)
		rc = kmeans_run(net, &q->k, &result);
	if (!rc)
		rc = tool_net_gather(net, &q->net, &result.stats);
	if (!rc && !gn_net_node(net)) {
		q->result = result;
		q->nodes = gn_net_nodes(net);
		return 0;
	}
	result_free(&result);
	return rc;
}

static bool is_right(const struct request *q)
{
	const struct kmeans_result *got = &q->result, *want = &q->want;

	return got->iterations == want->iterations && got->distance == want->distance &&
	       !memcmp(got->sizes, want->sizes, 8ull * q->k.clusters) &&
	       !memcmp(got->centres, want->centres, 4ull * q->k.clusters * q->k.dimensions);
}

static double points_per_second(const struct request *q)
{
	return (double)q->k.points * q->result.iterations / q->result.seconds;
}

static void print(const struct request *q)
{
	printf("%u nodes, %llu points, %u clusters: %u iterations, %.3f s, %.3f M points/s, mean squared "
	       "distance %.1f%s\n",
	       q->nodes, (unsigned long long)q->k.points, q->k.clusters, q->result.iterations,
	       q->result.seconds, 1e-6 * points_per_second(q),
	       (double)q->result.distance / (double)q->k.points, q->verify ? ", verified" : "");
	tool_net_print(&q->result.stats);
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

static json_t *report(const struct request *q)
{
	json_t *r = json_pack("{s:s, s:i, s:I, s:i, s:i, s:f, s:f, s:I, s:o, s:o}", "schema",
	                      "grapnel-kmeans-1", "nodes", (int)q->nodes, "points", (json_int_t)q->k.points,
	                      "dimensions", (int)q->k.dimensions, "iterations", (int)q->result.iterations,
	                      "seconds", q->result.seconds, "points_per_second", points_per_second(q),
	                      "squared_distances", (json_int_t)q->result.distance, "clusters", clusters_of(q),
	                      "net", tool_net_json(&q->net, &q->result.stats));

	if (r && q->verify)
		json_object_set_new(r, "verified", json_boolean(is_right(q)));
	return r;
}

static int verify(struct request *q, struct gn_error *e)
{
	if (result_alloc(&q->k, &q->want) || kmeans_reference(&q->k, &q->want))
		return gn_error_set(e, -GN_ENOMEM, "no memory for the reference's %llu points",
		                    (unsigned long long)q->k.points);
	return is_right(q) ? 0
	                   : gn_error_set(e, -GN_EBADMSG,
	                                  "the clusters are not the reference's: this is a bug; please "
	                                  "report it");
}

int tool_kmeans(int argc, char **argv)
{
	struct gn_error e;
	struct request q;
	int rc;

	memset(&q, 0, sizeof q);
	q.k.points = 1000000;
	q.k.dimensions = 2;
	q.k.clusters = 8;
	q.k.iterations = 100;
	q.k.seed = 1;
	argp_parse(&argp, argc, argv, 0, NULL, &q);
	q.net.config.heap_bytes = kmeans_heap(&q.k);
	rc = tool_net_run("kmeans", &q.net, node_main, &q, &e);
	if (!rc && q.nodes && q.verify)
		rc = verify(&q, &e);
	if (!rc && q.nodes && q.net.json)
		rc = tool_write_json(report(&q), q.net.json, &e);
	if (!rc && q.nodes && !tool_to_stdout(q.net.json))
		print(&q);
	result_free(&q.result);
	result_free(&q.want);
	return rc ? tool_fail("kmeans", &e) : TOOL_OK;
}
