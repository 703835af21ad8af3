/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grapnel color: colours of a graph that is spread over nodes; color in Gravel's figures 12 and 15 and table
 * 5.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "color/color.h"
#include "net_graph.h"
#include "spread/blocks.h"

enum { OPT_VERIFY = 256 };

struct request {
	struct tool_net net;
	struct tool_graph input;
	bool verify;
	uint32_t *colors;
	uint32_t *want;  /* by rank, in one thread; NULL: not asked for */
	int64_t greedy;  /* colours in the order of numbers; 0: not asked for */
	struct color_result result; /* node 0's; stats: of all nodes */
	uint64_t wrong;
	uint32_t nodes;
};

static const struct argp_option options[] = {
    {"verify", OPT_VERIFY, NULL, 0,
     "see that no edge has two ends of one colour, compare every colour with those given one "
     "by one, and say how many the plain greedy order needs",
     0},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct request *q = (struct request *)state->input;

	(void)text;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &q->net;
		state->child_inputs[1] = &q->input;
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
    "Colours for the vertices of an undirected graph (.gng, .mtx, .el, .wel, also as .gz, .sg, .wsg) "
    "that is spread over nodes, so that neighbours differ; every colour travels along each edge as a "
    "small message. Loops and duplicate edges are left out.",
    children,
    NULL,
    NULL};

/* ---- the run ---- */

/* Colours of this node that are not those given one by one, then those of all. */
static int compare(struct gn_net *net, const struct request *q, uint64_t *wrong)
{
	const struct spread_blocks b = spread_blocks_of((uint32_t)q->input.graph.vertices, gn_net_nodes(net));
	const uint32_t end = spread_first(&b, gn_net_node(net) + 1);

	*wrong = 0;
	for (uint32_t v = spread_first(&b, gn_net_node(net)); q->want && v < end; v++)
		*wrong += q->colors[v] != q->want[v];
	return gn_net_reduce_u64(gn_net_host(net), GN_ADD, wrong, 1);
}

static int node_main(struct gn_net *net, void *argument)
{
	struct request *q = (struct request *)argument;
	struct color_result result;
	uint64_t wrong = 0;
	int rc = color_run(net, &q->input.graph, q->colors, &result);

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
	printf("%s: %u nodes, %.3f s, %llu colours, %llu rounds\n", q->input.path, q->nodes,
	       q->result.seconds, (unsigned long long)q->result.colors, (unsigned long long)q->result.rounds);
	if (q->want)
		printf("  verified; in the order of their numbers vertices need %lld colours\n",
		       (long long)q->greedy);
	tool_net_print(&q->result.stats);
}

static json_t *report(const struct request *q)
{
	json_t *r = json_pack("{s:s, s:s, s:i, s:I, s:I, s:f, s:I, s:I, s:o}", "schema", "grapnel-color-1",
	                      "graph", q->input.path, "nodes", (int)q->nodes, "vertices",
	                      (json_int_t)q->input.graph.vertices, "edges", (json_int_t)q->input.graph.edges,
	                      "seconds", q->result.seconds, "rounds", (json_int_t)q->result.rounds, "colors",
	                      (json_int_t)q->result.colors, "net", tool_net_json(&q->net, &q->result.stats));

	if (r && q->want)
		json_object_update_new(r, json_pack("{s:b, s:I}", "verified", !q->wrong, "greedy_colors",
		                                    (json_int_t)q->greedy));
	return r;
}

/* The colours wanted, themselves held against their definition. */
static int find_wanted(struct request *q, struct gn_error *e)
{
	const struct gn_graph *g = &q->input.graph;

	q->want = (uint32_t *)malloc(g->vertices * sizeof *q->want);
	q->greedy = q->want ? color_greedy(g, COLOR_BY_NUMBER, q->want) : -GN_ENOMEM;
	if (q->greedy < 0 || color_greedy(g, COLOR_BY_RANK, q->want) < 0)
		return gn_error_set(e, -GN_ENOMEM, "no memory for the colours of %llu vertices",
		                    (unsigned long long)g->vertices);
	if (color_conflicts(g, q->want))
		return gn_error_set(
		    e, -GN_EBADMSG,
		    "the reference gives neighbours one colour: this is a bug; please report it");
	return 0;
}

static int prepare(struct request *q, struct gn_error *e)
{
	q->net.config.heap_bytes = color_heap(&q->input.graph, tool_graph_least_nodes(&q->net));
	q->colors = (uint32_t *)malloc(q->input.graph.vertices * sizeof *q->colors);
	if (!q->colors)
		return gn_error_set(e, -GN_ENOMEM, "no memory for the colours of %llu vertices",
				    (unsigned long long)q->input.graph.vertices);
	return q->verify ? find_wanted(q, e) : 0;
}

int tool_color(int argc, char **argv)
{
	struct gn_error e;
	struct request q;
	int rc;

	memset(&q, 0, sizeof q);
	q.input.undirected = q.input.simple = true;
	argp_parse(&argp, argc, argv, 0, NULL, &q);
	rc = tool_graph_read(&q.input, &e);
	if (!rc)
		rc = prepare(&q, &e);
	if (!rc)
		rc = tool_net_run("color", &q.net, node_main, &q, &e);
	if (!rc && q.nodes && q.net.json)
		rc = tool_write_json(report(&q), q.net.json, &e);
	if (!rc && q.nodes && !tool_to_stdout(q.net.json))
		print(&q);
	if (!rc && q.wrong)
		rc = gn_error_set(&e, -GN_EBADMSG, "%llu colours are wrong: this is a bug; please report it",
				  (unsigned long long)q.wrong);
	free(q.colors);
	free(q.want);
	gn_graph_fini(&q.input.graph);
	return rc ? tool_fail("color", &e) : TOOL_OK;
}
