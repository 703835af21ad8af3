/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel tc: the triangles of a graph that need not fit the cache. */
#include "tc/tc.h"

#include <stdio.h>
#include <stdlib.h>

#include "graph_job.h"

enum { OPT_ORDER = 0x200, OPT_VERIFY };

static const struct argp_option options[] = {
    {"order", OPT_ORDER, "WHEN", 0,
     "number the vertices by their degrees first, in memory, and keep each edge once: never, always, or "
     "auto, where the GAP benchmark's rule says that it pays and memory suffices (default auto)"},
    {"verify", OPT_VERIFY, NULL, 0, "compare the number with that of a hash table of all edges in memory"},
    {0},
};

/* In the order of enum graph_order. */
static const char *const orders[] = {"never", "auto", "always", NULL};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct graph_options *o = (struct graph_options *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = o; return 0;
	case OPT_ORDER: o->order = (enum graph_order)tool_word(state, "--order", arg, orders); return 0;
	case OPT_VERIFY: o->verify = true; return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    options,
    parse,
    "GRAPH",
    "Count the triangles of an undirected graph (.gng, .mtx, .el, .wel, also as .gz, .sg, .wsg, .bel, .bcsr, "
    ".bwcsr), each once. The graph is in a store. The threads of the machine fetch its pages themselves.\vA "
    "graph that does not say that it is undirected is refused: give --undirected, for a .gng file to grapnel "
    "convert. What a .gng file says of itself is believed. Edges that are there twice and self loops count "
    "for nothing.\n\nExit status: 0 success, 1 the run failed, 2 the command line is wrong.",
    graph_options_child,
};

/* ---- the run ---- */

static int verify(void *user, struct graph_job *j, struct gn_error *e)
{
	const struct gn_tc_result *result = (const struct gn_tc_result *)user;
	uint64_t want = 0;
	int rc = graph_input_load(&j->input, &j->progress, e);

	if (!rc)
		rc = gn_tc_reference(&j->input.graph, &want, e);
	return rc ? rc : gn_tc_verify(result->triangles, want, e);
}

static int run(void *user, struct graph_job *j, struct graph_report *report, struct gn_error *e)
{
	struct gn_tc_result *result = (struct gn_tc_result *)user;
	const struct gn_tc_options how = {graph_steps_listener(&j->steps)};
	const int rc = gn_tc(j->machine, &j->arrays.graph, &how, result, &j->progress, e);

	report->seconds = result->seconds;
	report->edges = result->edges;
	return rc;
}

/* ---- what is said ---- */

static json_t *report_json(const void *user, const struct graph_report *r)
{
	const struct gn_tc_result *result = (const struct gn_tc_result *)user;
	json_t *root = json_pack(
	    "{s:s, s:o, s:o, s:s, s:f, s:I, s:I, s:f, s:I, s:f}", "schema", "grapnel-tc-1", "machine",
	    tool_json_machine(&r->machine), "graph", graph_report_graph(r), "order",
	    r->input->ordered ? "degree" : "given", "order_seconds", r->input->order_seconds, "triangles",
	    (json_int_t)result->triangles, "looked_up", (json_int_t)result->looked_up, "seconds", r->seconds,
	    "edges_traversed", (json_int_t)r->edges, "teps", graph_report_teps(r));

	return graph_report_join(root, r);
}

static void print_table(const void *user, const struct graph_report *r)
{
	const struct gn_tc_result *result = (const struct gn_tc_result *)user;

	printf("  triangles            %llu\n", (unsigned long long)result->triangles);
	printf("  looked up            %llu elements of lists in other lists\n",
	       (unsigned long long)result->looked_up);
	if (r->input->ordered)
		printf("  order                by degree, each edge once; made in %.3f s\n",
		       r->input->order_seconds);
}

static const struct graph_steps_kind steps = {false, false, "triangles", NULL};
static const struct graph_command command = {"Triangles",
                                             "the number verified",
                                             "both arrays of the graph in the store, once",
                                             "the number equals the reference's",
                                             run,
                                             verify,
                                             report_json,
                                             print_table,
                                             &steps};

int tool_tc(int argc, char **argv)
{
	struct graph_options o = {0};
	struct gn_tc_result result = {0};

	graph_options_init(&o, "tc");
	o.undirected_only = true;
	o.order = GRAPH_ORDER_AUTO;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	return graph_command_run(&command, &o, &result);
}
