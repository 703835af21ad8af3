/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grapnel sssp: shortest ways in a graph that is spread over nodes; SSSP in Gravel's figures 12 and 15 and
 * table 5.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net_graph.h"
#include "spread/blocks.h"
#include "sssp/sssp.h"

enum { OPT_VERIFY = 256, OPT_MOST, DEFAULT_MOST = 255 };

struct request {
	struct tool_net net;
	struct tool_graph input;
	uint64_t source;
	uint32_t most;
	bool verify;
	uint64_t *lengths;
	uint64_t *want;            /* NULL: not asked for */
	struct sssp_result result; /* node 0's; stats: of all nodes */
	uint64_t wrong;
	uint32_t nodes;
};

static const struct argp_option options[] = {
    {"source", 's', "N", 0, "vertex to start from (default 0)", 0},
    {"most", OPT_MOST, "N", 0, "a graph without weights gets lengths from 1 to N (default 255, as in GAP)",
     0},
    {"verify", OPT_VERIFY, NULL, 0, "compare every length with that of Dijkstra's algorithm", 0},
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
	case 's': q->source = tool_number(state, "--source", text, 0, UINT32_MAX); break;
	case OPT_MOST: q->most = (uint32_t)tool_number(state, "--most", text, 1, INT32_MAX); break;
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
    "The lengths of the shortest ways from one vertex of a graph (.gng, .mtx, .el, .wel, also as .gz, "
    ".sg, .wsg) that is spread over nodes; every edge that may shorten one is a small message.",
    children,
    NULL,
    NULL};

/* ---- the run ---- */

/* Lengths of this node that are not the reference's, then those of all. */
static int compare(struct gn_net *net, const struct request *q, uint64_t *wrong)
{
	const struct spread_blocks b = spread_blocks_of((uint32_t)q->input.graph.vertices, gn_net_nodes(net));
	const uint32_t end = spread_first(&b, gn_net_node(net) + 1);

	*wrong = 0;
	for (uint32_t v = spread_first(&b, gn_net_node(net)); q->want && v < end; v++)
		*wrong += q->lengths[v] != q->want[v];
	return gn_net_reduce_u64(gn_net_host(net), GN_ADD, wrong, 1);
}

static int node_main(struct gn_net *net, void *argument)
{
	struct request *q = (struct request *)argument;
	struct sssp_result result;
	uint64_t wrong = 0;
	int rc = sssp_run(net, &q->input.graph, (uint32_t)q->source, q->lengths, &result);

	if (!rc)
		rc = tool_net_gather(net, &q->net, &result.stats);
	if (!rc)
		rc = compare(net, q, &wrong);
	if (!rc && !gn_net_node(net)) {
		q->result = result;
		q->wrong = wrong;
		q->nodes = gn_net_nodes(net);
	}
	return rc;
}

static void print(const struct request *q)
{
	const struct sssp_result *r = &q->result;

	printf("%s: %u nodes, %.3f s, %llu of %llu vertices reached, each sent %.2f times, %llu rounds%s\n",
	       q->input.path, q->nodes, r->seconds, (unsigned long long)r->reached,
	       (unsigned long long)q->input.graph.vertices, (double)r->sends / (double)r->reached,
	       (unsigned long long)r->rounds, q->want ? ", verified" : "");
	tool_net_print(&r->stats);
}

static json_t *report(const struct request *q)
{
	const struct sssp_result *s = &q->result;
	json_t *r = json_pack("{s:s, s:s, s:i, s:I, s:I, s:I, s:f, s:I, s:I, s:I, s:o}", "schema",
	                      "grapnel-sssp-1", "graph", q->input.path, "nodes", (int)q->nodes, "vertices",
	                      (json_int_t)q->input.graph.vertices, "edges", (json_int_t)q->input.graph.edges,
	                      "source", (json_int_t)q->source, "seconds", s->seconds, "rounds",
	                      (json_int_t)s->rounds, "sends", (json_int_t)s->sends, "reached",
	                      (json_int_t)s->reached, "net", tool_net_json(&q->net, &s->stats));

	if (r && q->want)
		json_object_set_new(r, "verified", json_boolean(!q->wrong));
	return r;
}

static int prepare(struct request *q, struct gn_error *e)
{
	const uint64_t vertices = q->input.graph.vertices;
	int rc;

	if (q->source >= vertices)
		return gn_error_set(e, -GN_ERANGE, "--source %llu: %s has %llu vertices, counted from 0",
		                    (unsigned long long)q->source, q->input.path,
		                    (unsigned long long)vertices);
	rc = sssp_weights(&q->input.graph, q->most, e);
	if (rc)
		return rc;
	q->net.config.heap_bytes = sssp_heap(vertices, tool_graph_least_nodes(&q->net));
	q->lengths = (uint64_t *)malloc(vertices * sizeof *q->lengths);
	q->want = q->verify ? (uint64_t *)malloc(vertices * sizeof *q->want) : NULL;
	if (!q->lengths ||
	    (q->verify && (!q->want || sssp_reference(&q->input.graph, (uint32_t)q->source, q->want))))
		return gn_error_set(e, -GN_ENOMEM, "no memory for the lengths of %llu vertices",
		                    (unsigned long long)vertices);
	return 0;
}

int tool_sssp(int argc, char **argv)
{
	struct gn_error e;
	struct request q;
	int rc;

	memset(&q, 0, sizeof q);
	q.most = DEFAULT_MOST;
	argp_parse(&argp, argc, argv, 0, NULL, &q);
	rc = tool_graph_read(&q.input, &e);
	if (!rc)
		rc = prepare(&q, &e);
	if (!rc)
		rc = tool_net_run("sssp", &q.net, node_main, &q, &e);
	if (!rc && q.nodes && q.net.json)
		rc = tool_write_json(report(&q), q.net.json, &e);
	if (!rc && q.nodes && !tool_to_stdout(q.net.json))
		print(&q);
	if (!rc && q.wrong)
		rc = gn_error_set(&e, -GN_EBADMSG, "%llu lengths are wrong: this is a bug; please report it",
				  (unsigned long long)q.wrong);
	free(q.lengths);
	free(q.want);
	gn_graph_fini(&q.input.graph);
	return rc ? tool_fail("sssp", &e) : TOOL_OK;
}
