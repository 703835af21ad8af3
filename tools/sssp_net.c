/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grapnel sssp --nodes: shortest ways in a graph that is spread over nodes; SSSP in Gravel's figures 12 and
 * 15 and table 5.
 */
#include <stdio.h>

#include "net.h"
#include "sssp/net/sssp.h"
#include "sssp/sssp.h"

enum { SOURCE, MOST };

struct request {
	struct tool_net net;
	struct sssp_result result; /* node 0's */
};

static const struct tool_net_option options[] = {
    {"source", 's', "N", "vertex where the paths start (default 0)", 0, 0, UINT32_MAX},
    {"most", 0, "N",
     "random weights of the edges from 1 to N, if the graph has no weights (default 255, as in GAP)", 255, 1,
     INT32_MAX},
    {0},
};

static int prepare(struct tool_net *n, struct gn_error *e)
{
	int rc;

	if (n->value[SOURCE] >= n->graph.vertices)
		return gn_error_set(
		    e, -GN_ERANGE,
		    "--source %llu: %s has %llu vertices, numbered from 0; give a smaller number",
		    (unsigned long long)n->value[SOURCE], n->path, (unsigned long long)n->graph.vertices);
	rc = sssp_weights(&n->graph, (uint32_t)n->value[MOST], e);
	if (rc)
		return rc;
	n->config.heap_bytes = sssp_heap(n->graph.vertices, tool_net_least_nodes(n));
	if (n->verify && sssp_reference(&n->graph, (uint32_t)n->value[SOURCE], (uint64_t *)n->want))
		return gn_error_set(e, -GN_ENOMEM, "out of memory for the reference");
	return 0;
}

static int node(struct gn_net *net, struct tool_net *n, struct tool_net_part *part, struct gn_error *error)
{
	const uint64_t *got = (const uint64_t *)n->got, *want = (const uint64_t *)n->want;
	struct sssp_result result;
	uint32_t end, v = tool_net_vertices(net, n, &end);
	const int rc =
	    sssp_run(net, &n->graph, (uint32_t)n->value[SOURCE], (uint64_t *)n->got, &result, error);

	if (rc)
		return rc;
	part->seconds = result.seconds;
	part->stats = result.stats;
	part->digest = tool_net_digest(net, n, sizeof *got);
	for (; want && v < end; v++)
		part->wrong += got[v] != want[v];
	if (!gn_net_node(net))
		((struct request *)n)->result = result;
	return 0;
}

/* As the form over a store, which takes the largest length for one that is too long. */
static bool word(const struct tool_net *n, uint64_t vertex, uint32_t *to)
{
	const uint64_t length = ((const uint64_t *)n->got)[vertex];

	*to = length < GN_SSSP_NONE ? (uint32_t)length : GN_SSSP_NONE;
	return length < GN_SSSP_NONE - 1 || length == sssp_none;
}

static void print(const struct tool_net *n)
{
	const struct sssp_result *r = &((const struct request *)n)->result;

	printf("%.3f s, %llu of %llu vertices reached, each sent %.2f times, %llu rounds%s\n", n->seconds,
	       (unsigned long long)r->reached, (unsigned long long)n->graph.vertices,
	       (double)r->sends / (double)r->reached, (unsigned long long)r->rounds,
	       n->verify ? ", verified" : "");
}

static json_t *report(const struct tool_net *n)
{
	const struct sssp_result *r = &((const struct request *)n)->result;

	return json_pack("{s:I, s:I, s:I, s:I}", "source", (json_int_t)n->value[SOURCE], "rounds",
	                 (json_int_t)r->rounds, "sends", (json_int_t)r->sends, "reached",
	                 (json_int_t)r->reached);
}

static const struct tool_net_command command = {
    "sssp",
    "The lengths of the shortest ways from one vertex of a graph (.gng, .mtx, .el, .wel, also as .gz, "
    ".sg, .wsg, .bel, .bcsr, .bwcsr) that is spread over nodes; every edge that may shorten one is a small "
    "message.",
    options,
    "GRAPH",
    "compare every length with the result of Dijkstra's algorithm",
    "lengths are wrong",
    prepare,
    node,
    print,
    report,
    "write the lengths to FILE: one little-endian u32 a vertex, 0xffffffff if unreachable; a length of "
    "4294967294 or more is not held",
    word,
    NULL,
    NULL,
    NULL,
    false,
    "the length is 4294967294 or more, which is not held; give smaller weights"};

int tool_sssp_net(int argc, char **argv)
{
	return tool_net_main(&command, sizeof(struct request), argc, argv);
}
