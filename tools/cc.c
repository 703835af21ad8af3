/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel cc: connected components of a graph that need not fit the cache. */
#include "cc/cc.h"

#include <stdio.h>
#include <stdlib.h>

#include "graph_job.h"

enum { OPT_ALGORITHM = 0x200, OPT_OUT, OPT_VERIFY };

static const struct argp_option options[] = {
    {"algorithm", OPT_ALGORITHM, "NAME", 0,
     "afforest: link two neighbours of each vertex, then all others of vertices outside the largest "
     "component; sv: the passes of Shiloach and Vishkin over all edges (default afforest)"},
    {"out", OPT_OUT, "FILE", 0,
     "write the components to FILE: one little-endian u32 a vertex, the least vertex of its component"},
    {"verify", OPT_VERIFY, NULL, 0, "compare every component with union-find in memory"},
    {0},
};

/* In the order of enum gn_cc_algorithm. */
static const char *const algorithms[] = {"afforest", "sv", NULL};

struct cc_options {
	struct graph_options graph;
	enum gn_cc_algorithm algorithm;
};

/* Afforest leaves out most lists. */
static void choose_layout(struct cc_options *o)
{
	if (!o->graph.layout.given && o->algorithm != GN_CC_SV)
		o->graph.layout.asked = GN_LAYOUT_CSR;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct cc_options *o = (struct cc_options *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &o->graph; return 0;
	case OPT_ALGORITHM:
		o->algorithm = (enum gn_cc_algorithm)tool_word(state, "--algorithm", arg, algorithms);
		return 0;
	case OPT_OUT: o->graph.out = arg; return 0;
	case OPT_VERIFY: o->graph.verify = true; return 0;
	case ARGP_KEY_END: choose_layout(o); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    options,
    parse,
    "GRAPH",
    "Connected components of a graph (.gng, .mtx, .el, .wel, also as .gz, .sg, .wsg, .bel, .bcsr, .bwcsr). "
    "The graph is in a store. The threads of the machine fetch its pages themselves.\vAn edge joins its ends "
    "whichever its direction is: of a directed graph these are the weakly connected components. Where a "
    "graph does not say that it is undirected, that is, that every edge is stored in both directions, "
    "--algorithm afforest leaves no vertex out and reads every edge once. What a .gng file says of itself is "
    "believed.\n\nExit status: 0 success, 1 the run failed, 2 the command line is wrong.",
    graph_layout_child,
};

/* ---- the run ---- */

struct cc_run {
	struct cc_options options;
	struct gn_cc_result result;
};

static int verify(void *user, struct graph_job *j, struct gn_error *e)
{
	void *want;
	int rc = graph_job_reference(j, sizeof(uint32_t), &want, e);

	(void)user;
	if (rc)
		return rc;
	gn_cc_reference(&j->input.graph, (uint32_t *)want);
	rc = gn_cc_verify(j->result, (const uint32_t *)want, j->input.vertices, e);
	free(want);
	return rc;
}

static int run(void *user, struct graph_job *j, struct graph_report *report, struct gn_error *e)
{
	struct cc_run *r = (struct cc_run *)user;
	const struct gn_cc_options how = {r->options.algorithm, j->input.both_directions,
	                                  graph_steps_listener(&j->steps)};
	const int rc = gn_cc(j->machine, &j->arrays.graph, &how, j->result, &r->result, &j->progress, e);

	report->seconds = r->result.seconds;
	report->edges = r->result.edges;
	return rc;
}

/* ---- what is said ---- */

static json_t *report_json(const void *user, const struct graph_report *r)
{
	const struct gn_cc_result *result = &((const struct cc_run *)user)->result;
	const enum gn_cc_algorithm algorithm = ((const struct cc_run *)user)->options.algorithm;
	json_t *root = json_pack(
	    "{s:s, s:o, s:o, s:s, s:b, s:I, s:I, s:I, s:i, s:f, s:I, s:f}", "schema", "grapnel-cc-1",
	    "machine", tool_json_machine(&r->machine), "graph", graph_report_graph(r), "algorithm",
	    algorithms[algorithm], "both_directions", (int)r->input->both_directions, "components",
	    (json_int_t)result->components, "largest", (json_int_t)result->largest, "largest_label",
	    (json_int_t)result->largest_label, "iterations", (int)result->iterations, "seconds", r->seconds,
	    "edges_traversed", (json_int_t)r->edges, "teps", graph_report_teps(r));

	return graph_report_join(root, r);
}

static void print_table(const void *user, const struct graph_report *r)
{
	const struct gn_cc_result *result = &((const struct cc_run *)user)->result;
	const enum gn_cc_algorithm algorithm = ((const struct cc_run *)user)->options.algorithm;

	printf("  components           %llu, the largest has %llu vertices\n",
	       (unsigned long long)result->components, (unsigned long long)result->largest);
	printf("  algorithm            %s, %u passes over the lists%s\n", algorithms[algorithm],
	       result->iterations,
	       algorithm == GN_CC_SV || r->input->both_directions ? ""
	                                                          : "; directed edges: no vertex left out");
}

static const struct graph_steps_kind steps = {false, false, "joined", NULL};
static const struct graph_command command = {"Connected components",
                                             "every component verified",
                                             "both arrays of the graph, once",
                                             "every component equals the reference's",
                                             run,
                                             verify,
                                             report_json,
                                             print_table,
                                             &steps};

int tool_cc(int argc, char **argv)
{
	struct cc_run r = {0};
	struct graph_options *o = &r.options.graph;

	graph_options_init(o, "cc");
	o->state.vertex_bytes = GN_CC_STATE;
	o->layout.asked = GN_LAYOUT_AUTO;
	argp_parse(&argp, argc, argv, 0, NULL, &r.options);
	return graph_command_run(&command, o, &r);
}
