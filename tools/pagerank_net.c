/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grapnel pagerank --nodes: ranks of a graph that is spread over nodes; PR in Gravel's figures 12 and 15 and
 * table 5.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "net.h"
#include "pagerank/net/pagerank.h"

enum { ITERATIONS };

struct request {
	struct tool_net net;
	struct pagerank_result result; /* node 0's */
};

static const struct tool_net_option options[] = {
    {"iterations", 0, "N", "number of iterations (default 20)", 20, 1, 1000000},
    {0},
};

static int prepare(struct tool_net *n, struct gn_error *e)
{
	n->config.heap_bytes = pagerank_heap(n->graph.vertices, tool_net_least_nodes(n));
	if (n->verify && pagerank_reference(&n->graph, (uint32_t)n->value[ITERATIONS], (double *)n->want))
		return gn_error_set(e, -GN_ENOMEM, "out of memory for the reference");
	return 0;
}

static int node(struct gn_net *net, struct tool_net *n, struct tool_net_part *part, struct gn_error *error)
{
	const uint64_t *got = (const uint64_t *)n->got;
	const double *want = (const double *)n->want;
	struct pagerank_result result;
	uint32_t end, v = tool_net_vertices(net, n, &end);
	const int rc =
	    pagerank_run(net, &n->graph, (uint32_t)n->value[ITERATIONS], (uint64_t *)n->got, &result, error);

	if (rc)
		return rc;
	part->seconds = result.seconds;
	part->stats = result.stats;
	part->digest = tool_net_digest(net, n, sizeof *got);
	for (; want && v < end; v++)
		part->wrong += fabs((double)got[v] / (double)pagerank_one - want[v]);
	if (!gn_net_node(net))
		((struct request *)n)->result = result;
	return 0;
}

static bool word(const struct tool_net *n, uint64_t vertex, uint32_t *to)
{
	const float rank = (float)((double)((const uint64_t *)n->got)[vertex] / (double)pagerank_one);

	memcpy(to, &rank, sizeof rank);
	return true;
}

static bool sum_is_one(const struct tool_net *n)
{
	return ((const struct request *)n)->result.sum == pagerank_one;
}

/* The sum of all ranks must be 1 whether they are compared or not: else no distance is near enough. */
static double bound(const struct tool_net *n)
{
	return sum_is_one(n) ? pagerank_bound(&n->graph) : -1;
}

static double edges_per_second(const struct tool_net *n)
{
	return (double)n->graph.edges * (double)n->value[ITERATIONS] / n->seconds;
}

static void print(const struct tool_net *n)
{
	printf("%llu iterations, %.3f s, %.3f M edges/s, the last moved %.3g\n",
	       (unsigned long long)n->value[ITERATIONS], n->seconds, 1e-6 * edges_per_second(n),
	       ((const struct request *)n)->result.moved);
	if (n->verify)
		printf("  verified: %.3g from the reference, at most %.3g\n", n->wrong,
		       pagerank_bound(&n->graph));
}

static json_t *report(const struct tool_net *n)
{
	const struct pagerank_result *r = &((const struct request *)n)->result;

	return json_pack("{s:I, s:f, s:f, s:b, s:o*, s:o*}", "iterations", (json_int_t)n->value[ITERATIONS],
	                 "edges_per_second", edges_per_second(n), "moved", r->moved, "sum_is_one",
	                 sum_is_one(n), "distance", n->verify ? json_real(n->wrong) : NULL, "bound",
	                 n->verify ? json_real(pagerank_bound(&n->graph)) : NULL);
}

static const struct tool_net_command command = {
    "pagerank",
    "PageRank with damping 0.85 of a graph (.gng, .mtx, .el, .wel, also as .gz, .sg, .wsg, .bel, .bcsr, "
    ".bwcsr) that is spread over nodes. Every contribution to a rank is a small message.",
    options,
    "GRAPH",
    "compare the ranks with those of one thread, within the bound for rounding",
    "is the error of the ranks; it is more than rounding allows, or the sum of the ranks is not 1",
    prepare,
    node,
    print,
    report,
    "write the ranks to FILE: one little-endian f32 a vertex",
    word,
    bound};

int tool_pagerank_net(int argc, char **argv)
{
	return tool_net_main(&command, sizeof(struct request), argc, argv);
}
