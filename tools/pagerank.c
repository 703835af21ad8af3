/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grapnel pagerank: ranks of a graph that is spread over nodes; PR in Gravel's figures 12 and 15 and table 5.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net_graph.h"
#include "pagerank/pagerank.h"
#include "spread/blocks.h"

enum { OPT_ITERATIONS = 256, OPT_VERIFY, DEFAULT_ITERATIONS = 20 };

struct request {
	struct tool_net net;
	struct tool_graph input;
	uint32_t iterations;
	bool verify;
	uint64_t *ranks;
	double *want;                  /* NULL: not asked for */
	struct pagerank_result result; /* node 0's; stats: of all nodes */
	double distance;               /* of all ranks from the reference's */
	uint32_t nodes;
};

static const struct argp_option options[] = {
    {"iterations", OPT_ITERATIONS, "N", 0, "so many (default 20)", 0},
    {"verify", OPT_VERIFY, NULL, 0, "compare with ranks that one thread finds, within the bound for rounding",
     0},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct request *q = (struct request *)state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &q->net;
		state->child_inputs[1] = &q->input;
		break;
	case OPT_ITERATIONS:
		q->iterations = (uint32_t)tool_number(state, "--iterations", text, 1, 1000000);
		break;
	case OPT_VERIFY: q->verify = true; break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child children[] = {
    {&tool_net_argp, 0, NULL, 0}, {&tool_graph_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    options,
    parse,
    NULL,
    "PageRank, damping 0.85, of a graph (.gng, .mtx, .el, .wel, also as .gz, .sg, .wsg) that is "
    "spread over nodes; every share of a rank is a small message.",
    children,
    NULL,
    NULL};

/* ---- the run ---- */

/* How far this node's ranks are from the reference's, then those of all. */
static int compare(struct gn_net *net, const struct request *q, double *distance)
{
	const struct spread_blocks b = spread_blocks_of((uint32_t)q->input.graph.vertices, gn_net_nodes(net));
	const uint32_t end = spread_first(&b, gn_net_node(net) + 1);
	uint64_t word;
	int rc;

	*distance = 0;
	for (uint32_t v = spread_first(&b, gn_net_node(net)); q->want && v < end; v++)
		*distance += fabs((double)q->ranks[v] / (double)pagerank_one - q->want[v]);
	memcpy(&word, distance, 8);
	rc = gn_net_reduce_u64(gn_net_host(net), GN_ADD_FLOAT, &word, 1);
	memcpy(distance, &word, 8);
	return rc;
}

static int node_main(struct gn_net *net, void *argument)
{
	struct request *q = (struct request *)argument;
	struct pagerank_result result;
	double distance = 0;
	int rc = pagerank_run(net, &q->input.graph, q->iterations, q->ranks, &result);

	if (!rc)
		rc = tool_net_gather(net, &q->net, &result.stats);
	if (!rc)
		rc = compare(net, q, &distance);
	if (!rc && !gn_net_node(net)) {
		q->result = result;
		q->distance = distance;
		q->nodes = gn_net_nodes(net);
	}
	return rc;
}

static double edges_per_second(const struct request *q)
{
	return (double)q->input.graph.edges * q->iterations / q->result.seconds;
}

static void print(const struct request *q)
{
	printf("%s: %u nodes, %u iterations, %.3f s, %.3f M edges/s, the last moved %.3g\n", q->input.path,
	       q->nodes, q->iterations, q->result.seconds, 1e-6 * edges_per_second(q), q->result.moved);
	if (q->want)
		printf("  verified: %.3g from the reference, at most %.3g\n", q->distance,
		       pagerank_bound(&q->input.graph));
	tool_net_print(&q->result.stats);
}

static json_t *report(const struct request *q)
{
	json_t *r = json_pack(
	    "{s:s, s:s, s:i, s:I, s:I, s:i, s:f, s:f, s:f, s:b, s:o}", "schema", "grapnel-pagerank-1",
	    "graph", q->input.path, "nodes", (int)q->nodes, "vertices", (json_int_t)q->input.graph.vertices,
	    "edges", (json_int_t)q->input.graph.edges, "iterations", (int)q->iterations, "seconds",
	    q->result.seconds, "edges_per_second", edges_per_second(q), "moved", q->result.moved,
	    "sum_is_one", q->result.sum == pagerank_one, "net", tool_net_json(&q->net, &q->result.stats));

	if (r && q->want)
		json_object_update_new(r,
		                       json_pack("{s:b, s:f, s:f}", "verified",
		                                 q->distance <= pagerank_bound(&q->input.graph), "distance",
		                                 q->distance, "bound", pagerank_bound(&q->input.graph)));
	return r;
}

/* What must hold of every result. */
static int check(const struct request *q, struct gn_error *e)
{
	if (q->result.sum != pagerank_one)
		return gn_error_set(
		    e, -GN_EBADMSG,
		    "the sum of all ranks is %.17g instead of 1: this is a bug; please report it",
		    (double)q->result.sum / (double)pagerank_one);
	if (q->want && !(q->distance <= pagerank_bound(&q->input.graph)))
		return gn_error_set(
		    e, -GN_EBADMSG,
		    "the ranks are %g from the reference's, more than %g: this is a bug; please "
		    "report it",
		    q->distance, pagerank_bound(&q->input.graph));
	return 0;
}

static int prepare(struct request *q, struct gn_error *e)
{
	const uint64_t vertices = q->input.graph.vertices;

	q->net.config.heap_bytes = pagerank_heap(vertices, tool_graph_least_nodes(&q->net));
	q->ranks = (uint64_t *)malloc(vertices * sizeof *q->ranks);
	q->want = q->verify ? (double *)malloc(vertices * sizeof *q->want) : NULL;
	if (!q->ranks ||
	    (q->verify && (!q->want || pagerank_reference(&q->input.graph, q->iterations, q->want))))
		return gn_error_set(e, -GN_ENOMEM, "no memory for the ranks of %llu vertices",
		                    (unsigned long long)vertices);
	return 0;
}

int tool_pagerank(int argc, char **argv)
{
	struct gn_error e;
	struct request q;
	int rc;

	memset(&q, 0, sizeof q);
	q.iterations = DEFAULT_ITERATIONS;
	argp_parse(&argp, argc, argv, 0, NULL, &q);
	rc = tool_graph_read(&q.input, &e);
	if (!rc)
		rc = prepare(&q, &e);
	if (!rc)
		rc = tool_net_run("pagerank", &q.net, node_main, &q, &e);
	if (!rc && q.nodes)
		rc = check(&q, &e);
	if (!rc && q.nodes && q.net.json)
		rc = tool_write_json(report(&q), q.net.json, &e);
	if (!rc && q.nodes && !tool_to_stdout(q.net.json))
		print(&q);
	free(q.ranks);
	free(q.want);
	gn_graph_fini(&q.input.graph);
	return rc ? tool_fail("pagerank", &e) : TOOL_OK;
}
