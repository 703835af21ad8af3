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
     "component; sv: the passes of Shiloach and Vishkin over all edges (default afforest)",
     0},
    {"out", OPT_OUT, "FILE", 0,
     "write the components to FILE: one little-endian u32 a vertex, the least vertex of its component", 0},
    {"verify", OPT_VERIFY, NULL, 0, "compare every component with union-find in memory", 0},
    {0},
};

/* In the order of enum gn_cc_algorithm. */
static const char *const algorithms[] = {"afforest", "sv", NULL};

struct cc_options {
	struct graph_options graph;
	enum gn_cc_algorithm algorithm;
};

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
    NULL,
    NULL,
};

/* ---- the run ---- */

static int verify(struct graph_job *j, struct gn_error *e)
{
	const uint64_t vertices = j->input.vertices;
	int rc = graph_input_load(&j->input, &j->progress, e);
	uint32_t *want;

	if (rc)
		return rc;
	want = (uint32_t *)malloc((vertices ? vertices : 1) * sizeof *want);
	if (!want)
		return gn_error_set(e, -GN_ENOMEM, "out of memory for %llu labels",
		                    (unsigned long long)vertices);
	gn_cc_reference(&j->input.graph, want);
	rc = gn_cc_verify(j->result, want, vertices, e);
	free(want);
	return rc;
}

static int run(struct graph_job *j, enum gn_cc_algorithm algorithm, struct gn_cc_result *result,
               struct graph_report *report, struct gn_error *e)
{
	struct gn_cc_options how = {algorithm, 0};
	int rc = graph_job_open(j, e);

	how.both_directions = j->input.both_directions;
	if (!rc)
		rc = gn_cc(j->machine, &j->arrays.graph, &how, j->result, result, &j->progress, e);
	if (rc)
		return rc;
	graph_job_describe(j, report);
	report->seconds = result->seconds;
	report->edges = result->edges;
	report->needed_bytes = j->input.bytes;
	if (!j->options->verify)
		return 0;
	rc = verify(j, e);
	report->verified = !rc;
	return rc;
}

/* ---- what is said ---- */

static json_t *report_json(const struct graph_report *r, const struct gn_cc_result *result,
                           enum gn_cc_algorithm algorithm)
{
	json_t *root = json_pack(
	    "{s:s, s:o, s:o, s:s, s:b, s:I, s:I, s:I, s:i, s:f, s:I, s:f}", "schema", "grapnel-cc-1",
	    "machine", tool_json_machine(&r->machine), "graph", graph_report_graph(r), "algorithm",
	    algorithms[algorithm], "both_directions", (int)r->input->both_directions, "components",
	    (json_int_t)result->components, "largest", (json_int_t)result->largest, "largest_label",
	    (json_int_t)result->largest_label, "iterations", (int)result->iterations, "seconds", r->seconds,
	    "edges_traversed", (json_int_t)r->edges, "teps", graph_report_teps(r));

	return graph_report_join(root, r);
}

static void print_table(const struct graph_report *r, const struct gn_cc_result *result,
                        enum gn_cc_algorithm algorithm)
{
	graph_report_begin(r, stdout);
	printf("  components           %llu, the largest has %llu vertices\n",
	       (unsigned long long)result->components, (unsigned long long)result->largest);
	printf("  algorithm            %s, %u passes over the lists%s\n", algorithms[algorithm],
	       result->iterations,
	       algorithm == GN_CC_SV || r->input->both_directions ? ""
	                                                          : "; directed edges: no vertex left out");
	graph_report_end(r, "every component equals the reference's", stdout);
}

/* Results are written only for a run that went well. */
static int finish(const struct graph_job *j, const struct graph_report *r, const struct gn_cc_result *result,
                  enum gn_cc_algorithm algorithm, struct gn_error *e)
{
	const struct graph_options *o = j->options;
	int rc = 0;

	if (o->out)
		rc = tool_write_file(o->out, j->result, j->input.vertices * sizeof *j->result, e);
	if (!rc && o->json)
		rc = tool_write_json(report_json(r, result, algorithm), o->json, e);
	if (!rc && o->svg)
		rc = graph_report_svg(r, "Connected components", "every component verified",
		                      "both arrays of the graph, once", e);
	if (!rc && !tool_to_stdout(o->json))
		print_table(r, result, algorithm);
	return rc;
}

int tool_cc(int argc, char **argv)
{
	struct cc_options o = {0};
	struct gn_cc_result result;
	struct graph_report report = {0};
	struct gn_error e = {0};
	struct graph_job job = {0};
	struct tool_bar bar;
	int rc;

	graph_options_init(&o.graph, "cc");
	o.graph.state.vertex_bytes = GN_CC_STATE;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	report.verified = -1;
	job.options = &o.graph;
	job.progress = tool_bar_begin(&bar);
	rc = run(&job, o.algorithm, &result, &report, &e);
	tool_bar_end(&bar);
	if (!rc)
		rc = finish(&job, &report, &result, o.algorithm, &e);
	graph_job_close(&job);
	return rc ? tool_fail("cc", &e) : TOOL_OK;
}
