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
     "auto, where the GAP benchmark's rule says that it pays and memory suffices (default auto)",
     0},
    {"verify", OPT_VERIFY, NULL, 0, "compare the number with that of a hash table of all edges in memory", 0},
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
    NULL,
    NULL,
};

/* ---- the run ---- */

static int verify(struct graph_job *j, uint64_t triangles, struct gn_error *e)
{
	uint64_t want = 0;
	int rc = graph_input_load(&j->input, &j->progress, e);

	if (!rc)
		rc = gn_tc_reference(&j->input.graph, &want, e);
	return rc ? rc : gn_tc_verify(triangles, want, e);
}

static int run(struct graph_job *j, struct gn_tc_result *result, struct graph_report *report,
               struct gn_error *e)
{
	int rc = graph_job_open(j, e);

	if (!rc)
		rc = gn_tc(j->machine, &j->arrays.graph, j->arrays.pages, result, &j->progress, e);
	if (rc)
		return rc;
	graph_job_describe(j, report);
	report->seconds = result->seconds;
	report->edges = result->edges;
	report->needed_bytes = j->input.bytes;
	if (!j->options->verify)
		return 0;
	rc = verify(j, result->triangles, e);
	report->verified = !rc;
	return rc;
}

/* ---- what is said ---- */

static json_t *report_json(const struct graph_report *r, const struct gn_tc_result *result)
{
	json_t *root = json_pack(
	    "{s:s, s:o, s:o, s:s, s:f, s:I, s:I, s:f, s:I, s:f}", "schema", "grapnel-tc-1", "machine",
	    tool_json_machine(&r->machine), "graph", graph_report_graph(r), "order",
	    r->input->ordered ? "degree" : "given", "order_seconds", r->input->order_seconds, "triangles",
	    (json_int_t)result->triangles, "looked_up", (json_int_t)result->looked_up, "seconds", r->seconds,
	    "edges_traversed", (json_int_t)r->edges, "teps", graph_report_teps(r));

	return graph_report_join(root, r);
}

static void print_table(const struct graph_report *r, const struct gn_tc_result *result)
{
	graph_report_begin(r, stdout);
	printf("  triangles            %llu\n", (unsigned long long)result->triangles);
	printf("  looked up            %llu elements of lists in other lists\n",
	       (unsigned long long)result->looked_up);
	if (r->input->ordered)
		printf("  order                by degree, each edge once; made in %.3f s\n",
		       r->input->order_seconds);
	graph_report_end(r, "the number equals the reference's", stdout);
}

/* Results are written only for a run that went well. */
static int finish(const struct graph_job *j, const struct graph_report *r, const struct gn_tc_result *result,
                  struct gn_error *e)
{
	const struct graph_options *o = j->options;
	int rc = 0;

	if (o->json)
		rc = tool_write_json(report_json(r, result), o->json, e);
	if (!rc && o->svg)
		rc = graph_report_svg(r, "Triangles", "the number verified",
		                      "both arrays of the graph in the store, once", e);
	if (!rc && !tool_to_stdout(o->json))
		print_table(r, result);
	return rc;
}

int tool_tc(int argc, char **argv)
{
	struct graph_options o = {0};
	struct gn_tc_result result;
	struct graph_report report = {0};
	struct gn_error e = {0};
	struct graph_job job = {0};
	struct tool_bar bar;
	int rc;

	graph_options_init(&o, "tc");
	o.undirected_only = true;
	o.order = GRAPH_ORDER_AUTO;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	report.verified = -1;
	job.options = &o;
	job.progress = tool_bar_begin(&bar);
	rc = run(&job, &result, &report, &e);
	tool_bar_end(&bar);
	if (!rc)
		rc = finish(&job, &report, &result, &e);
	graph_job_close(&job);
	return rc ? tool_fail("tc", &e) : TOOL_OK;
}
