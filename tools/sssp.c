/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel sssp: shortest paths in a graph that need not fit the cache; with --nodes sssp_net.c. */
#include "sssp/sssp.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph_search.h"
#include "net.h"
#include "sssp/reference.h"
#include "sssp/weights.h"

enum { OPT_DELTA = 0x200, OPT_MOST, OPT_OUT, OPT_VERIFY, OPT_NODES };

static const struct argp_option options[] = {
    {"source", 's', "N", 0, "vertex where the paths start (default 0)"},
    {"delta", OPT_DELTA, "WIDTH", 0,
     "treat vertices in the order of their lengths, so much at a time (default by the mean weight and "
     "degree)"},
    {"most", OPT_MOST, "N", 0,
     "random weights of the edges from 1 to N, if the graph has no weights (default 255, as in GAP)"},
    {"out", OPT_OUT, "FILE", 0,
     "write the lengths to FILE: one little-endian u32 a vertex, 0xffffffff if unreachable; if the weights "
     "are real numbers one f32, infinity if unreachable; a whole number of 4294967294 or more is not held"},
    {"verify", OPT_VERIFY, NULL, 0, "compare every length with the result of Dijkstra's algorithm"},
    {"nodes", OPT_NODES, "N", 0,
     "spread the graph over N nodes that send messages: grapnel sssp --nodes 2 --help has the options of "
     "this form"},
    {0},
};

struct sssp_options {
	struct graph_search_options search;
	struct gn_sssp_options how; /* but for the source */
};

static double number(const struct argp_state *state, const char *text)
{
	char *end;
	const double value = strtod(text, &end);

	if (end == text || *end || !(value > 0 && value <= (double)FLT_MAX))
		argp_error(state, "--delta %s: give a number above 0 and at most 3.4e38", text);
	return value;
}

/* --nodes does not come here: tool_sssp has seen it. */
static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct sssp_options *o = (struct sssp_options *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &o->search; return 0;
	case 's': o->search.source = tool_number(state, "--source", arg, 0, UINT32_MAX); return 0;
	case OPT_DELTA: o->how.delta = number(state, arg); return 0;
	case OPT_MOST: o->how.most = (uint32_t)tool_number(state, "--most", arg, 1, INT32_MAX); return 0;
	case OPT_OUT: o->search.graph.out = arg; return 0;
	case OPT_VERIFY: o->search.graph.verify = true; return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    options,
    parse,
    "GRAPH",
    "The lengths of the shortest paths from one vertex, or from several, one after the other, of a graph "
    "(.gng, .mtx, .el, .wel, also as .gz, .sg, "
    ".wsg, .bel, .bcsr, .bwcsr), by delta-stepping. The graph and its weights are in a store. The threads of "
    "the machine fetch its pages themselves.\vWeights are whole or real numbers of 0 or more. A graph "
    "without weights gets whole numbers that look random, by the ends of an edge, the same in both "
    "directions.\n\nExit status: 0 success, 1 the run failed, 2 the command line is wrong.",
    graph_search_child,
};

/* ---- the run ---- */

static int verify(void *user, struct graph_job *j, uint32_t source, struct gn_error *e)
{
	const struct gn_sssp_options *how = &((const struct sssp_options *)user)->how;
	const uint64_t vertices = j->input.vertices;
	const struct gn_graph *g = &j->input.graph;
	void *want;
	int rc = graph_job_reference(j, sizeof(uint64_t), &want, e);

	if (!rc)
		rc = sssp_draw_weights(&j->input.graph, how->most, e);
	if (!rc && sssp_reference(g, source, (uint64_t *)want))
		rc = gn_error_set(e, -GN_ENOMEM, "out of memory for the reference");
	if (!rc)
		rc = gn_sssp_verify(j->result, (const uint64_t *)want, vertices, g->weight, e);
	free(want);
	return rc;
}

/* Bytes that must be read at least: the lists, weights and offsets of the vertices that are reached. */
static uint64_t needed_bytes(const struct graph_job *j, const struct gn_sssp_result *result)
{
	return result->edges_needed * (j->input.id_bytes + (j->input.weight ? 4 : 0)) +
	       (result->reached + 1) * sizeof(uint64_t);
}

static int search(void *user, struct graph_job *j, struct graph_search *s, struct gn_error *e)
{
	struct gn_sssp_result *result = (struct gn_sssp_result *)s->result;
	struct gn_sssp_options how = ((const struct sssp_options *)user)->how;
	int rc;

	how.source = s->source;
	how.listener = graph_steps_listener(&s->steps);
	rc = gn_sssp(j->machine, &j->arrays.graph, &how, j->result, result, &j->progress, e);
	s->seconds = result->seconds;
	s->reached = result->reached;
	s->edges = result->edges;
	s->needed_bytes = needed_bytes(j, result);
	return rc;
}

/* ---- what is said ---- */

static const char *weights_name(const struct graph_report *r)
{
	return !r->input->weight ? "drawn" : r->input->weight == GN_WEIGHT_F32 ? "f32" : "i32";
}

static json_t *members(const void *user, const struct graph_search *s)
{
	const struct gn_sssp_result *result = (const struct gn_sssp_result *)s->result;

	(void)user;
	return json_pack("{s:I, s:f, s:I, s:I, s:I, s:f}", "source", (json_int_t)s->source, "delta",
	                 result->delta, "reached", (json_int_t)result->reached, "buckets",
	                 (json_int_t)result->buckets, "launches", (json_int_t)result->launches, "farthest",
	                 result->farthest);
}

static const struct graph_steps_kind steps = {false, false, NULL, "border"};
static const struct graph_search_kind kind = {search, verify, members, &steps, sizeof(struct gn_sssp_result)};

static json_t *report_json(const void *user, const struct graph_report *r)
{
	json_t *root = json_pack("{s:s, s:o, s:o, s:s}", "schema", "grapnel-sssp-store-1", "machine",
	                         tool_json_machine(&r->machine), "graph", graph_report_graph(r), "weights",
	                         weights_name(r));

	return graph_searches_join(root, (const struct graph_searches *)user, r);
}

static void print_search(const struct graph_report *r, const struct graph_search *s)
{
	const struct gn_sssp_result *result = (const struct gn_sssp_result *)s->result;

	printf("  reached              %llu of %llu vertices from %u, the farthest at %.*g\n",
	       (unsigned long long)result->reached, (unsigned long long)r->input->vertices, s->source,
	       r->input->weight == GN_WEIGHT_F32 ? 9 : 10, result->farthest);
	printf("  delta                %.9g (weights: %s), %u buckets, %llu launches\n", result->delta,
	       weights_name(r), result->buckets, (unsigned long long)result->launches);
	graph_steps_print(&s->steps, stdout);
}

/* Of several searches the report has a line each, and here are only the steps that were asked for. */
static void print_table(const void *user, const struct graph_report *r)
{
	const struct graph_searches *all = (const struct graph_searches *)user;
	const struct gn_sssp_result *first = (const struct gn_sssp_result *)all->search->result;

	if (!r->searches || r->options->steps)
		for (uint32_t k = 0; k < all->count; k++)
			print_search(r, &all->search[k]);
	else
		printf("  delta                %.9g (weights: %s)\n", first->delta, weights_name(r));
}

static const struct graph_command command = {"Shortest paths",
                                             "every length verified",
                                             "lists and weights of the reached vertices, once",
                                             "every length equals the reference's",
                                             graph_searches_run,
                                             NULL,
                                             report_json,
                                             print_table};

int tool_sssp(int argc, char **argv)
{
	struct sssp_options o = {0};
	struct graph_searches all = {&o.search, &kind, &o};

	if (tool_net_asked(argc, argv))
		return tool_sssp_net(argc, argv);
	graph_search_options_init(&o.search, "sssp");
	o.search.graph.state.vertex_bytes = GN_SSSP_STATE;
	o.search.graph.weights = true;
	o.how.most = 255;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	return graph_searches_command(&command, &all);
}
