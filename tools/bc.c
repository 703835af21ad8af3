/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel bc: betweenness centrality of a graph that need not fit the cache. */
#include "bc/bc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph_job.h"

enum { OPT_SEED = 0x200, OPT_SOURCES, OPT_OUT, OPT_VERIFY, MOST_SOURCES = 1024 };

static const struct argp_option options[] = {
    {"source", 's', "N", 0, "vertex to search from; may be given several times (default: chosen by --seed)",
     0},
    {"sources", OPT_SOURCES, "COUNT", 0,
     "how many vertices with edges to choose, 1 to 1024, one maybe twice (default 4)", 0},
    {"seed", OPT_SEED, "N", 0, "which vertices are chosen (default 1)", 0},
    {"out", OPT_OUT, "FILE", 0, "write the scores to FILE: one little-endian f32 a vertex, from 0 to 1", 0},
    {"verify", OPT_VERIFY, NULL, 0, "compare every score with Brandes' algorithm in memory", 0},
    {0},
};

struct bc_options {
	struct graph_options graph;
	uint32_t source[MOST_SOURCES];
	uint32_t given; /* of the sources, on the command line */
	uint32_t count; /* to choose if none was given; 0: not said */
	uint64_t seed;
	int seeded;
};

static void add_source(struct bc_options *o, const struct argp_state *state, const char *arg)
{
	if (o->given == MOST_SOURCES)
		argp_error(state, "--source %s: at most %d sources; give fewer", arg, MOST_SOURCES);
	else
		o->source[o->given++] = (uint32_t)tool_number(state, "--source", arg, 0, UINT32_MAX - 1);
}

static void check_together(struct bc_options *o, const struct argp_state *state)
{
	if (o->given && (o->count || o->seeded))
		argp_error(state, "--sources and --seed choose sources, but --source gives them; leave "
		                  "either out");
	if (!o->given && !o->count)
		o->count = 4;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct bc_options *o = (struct bc_options *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &o->graph; return 0;
	case 's': add_source(o, state, arg); return 0;
	case OPT_SOURCES:
		o->count = (uint32_t)tool_number(state, "--sources", arg, 1, MOST_SOURCES);
		return 0;
	case OPT_SEED:
		o->seed = tool_number(state, "--seed", arg, 0, INT64_MAX);
		o->seeded = 1;
		return 0;
	case OPT_OUT: o->graph.out = arg; return 0;
	case OPT_VERIFY: o->graph.verify = true; return 0;
	case ARGP_KEY_END: check_together(o, state); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    options,
    parse,
    "GRAPH",
    "Betweenness centrality of a graph (.gng, .mtx, .el, .wel, also as .gz, .sg, .wsg, .bel, .bcsr, .bwcsr), "
    "from a few sources "
    "as in the GAP benchmark. The graph is in a store. The threads of the machine fetch its pages "
    "themselves.\vThe score of a vertex is its part of the shortest paths from the sources, divided by the "
    "largest such sum.\n\nExit status: 0 success, 1 the run failed, 2 the command line is wrong.",
    graph_state_child,
    NULL,
    NULL,
};

/* ---- the run ---- */

static int verify(struct graph_job *j, const struct gn_bc_options *how, struct gn_error *e)
{
	const uint64_t vertices = j->input.vertices;
	int rc = graph_input_load(&j->input, &j->progress, e);
	float *want;

	if (rc)
		return rc;
	want = (float *)malloc((vertices ? vertices : 1) * sizeof *want);
	if (!want)
		return gn_error_set(e, -GN_ENOMEM, "out of memory for %llu scores",
		                    (unsigned long long)vertices);
	rc = gn_bc_reference(&j->input.graph, how, want, e);
	if (!rc)
		rc = gn_bc_verify((const float *)(const void *)j->result, want, vertices, e);
	free(want);
	return rc;
}

/* The sources that were given, or chosen now: they are in o->source then. */
static int find_sources(struct graph_job *j, struct bc_options *o, struct gn_bc_options *how,
                        struct gn_error *e)
{
	how->sources = o->source;
	how->source_count = o->given ? o->given : o->count;
	return o->given ? 0
	                : gn_bc_choose_sources(j->machine, &j->arrays.graph, o->seed, o->count, o->source, e);
}

static int run(struct graph_job *j, struct bc_options *o, struct gn_bc_result *result,
               struct graph_report *report, struct gn_error *e)
{
	struct gn_bc_options how;
	int rc = graph_job_open(j, e);

	if (!rc)
		rc = find_sources(j, o, &how, e);
	if (!rc)
		rc = gn_bc(j->machine, &j->arrays.graph, &how, (float *)(void *)j->result, result,
		           &j->progress, e);
	if (rc)
		return rc;
	graph_job_describe(j, report);
	report->seconds = result->seconds;
	report->edges = result->edges;
	report->needed_bytes = j->input.bytes;
	if (!j->options->verify)
		return 0;
	rc = verify(j, &how, e);
	report->verified = !rc;
	return rc;
}

/* ---- what is said ---- */

static uint32_t source_count(const struct bc_options *o)
{
	return o->given ? o->given : o->count;
}

static json_t *sources_json(const struct bc_options *o)
{
	json_t *all = json_array();

	for (uint32_t k = 0; k < source_count(o); k++)
		if (json_array_append_new(all, json_integer((json_int_t)o->source[k]))) {
			json_decref(all);
			return NULL;
		}
	return all;
}

static json_t *report_json(const struct graph_report *r, const struct gn_bc_result *result,
                           const struct bc_options *o)
{
	json_t *root =
	    json_pack("{s:s, s:o, s:o, s:o, s:o, s:f, s:i, s:f, s:I, s:f}", "schema", "grapnel-bc-1",
	              "machine", tool_json_machine(&r->machine), "graph", graph_report_graph(r), "sources",
	              sources_json(o), "seed", o->given ? json_null() : json_integer((json_int_t)o->seed),
	              "largest", result->largest, "levels", (int)result->levels, "seconds", r->seconds,
	              "edges_traversed", (json_int_t)r->edges, "teps", graph_report_teps(r));

	return graph_report_join(root, r);
}

static void print_table(const struct graph_report *r, const struct gn_bc_result *result,
                        const struct bc_options *o)
{
	graph_report_begin(r, stdout);
	printf("  sources             ");
	for (uint32_t k = 0; k < source_count(o) && k < 8; k++)
		printf(" %u", o->source[k]);
	printf("%s; %u levels\n", source_count(o) > 8 ? " ..." : "", result->levels);
	printf("  largest score        %g before all are divided by it\n", result->largest);
	graph_report_end(r, "every score equals the reference's to 2^-23", stdout);
}

/* Results are written only for a run that went well. */
static int finish(const struct graph_job *j, const struct graph_report *r, const struct gn_bc_result *result,
                  const struct bc_options *o, struct gn_error *e)
{
	int rc = 0;

	if (o->graph.out)
		rc = tool_write_file(o->graph.out, j->result, j->input.vertices * sizeof *j->result, e);
	if (!rc && o->graph.json)
		rc = tool_write_json(report_json(r, result, o), o->graph.json, e);
	if (!rc && o->graph.svg)
		rc = graph_report_svg(r, "Betweenness centrality", "every score verified",
		                      "both arrays of the graph, once", e);
	if (!rc && !tool_to_stdout(o->graph.json))
		print_table(r, result, o);
	return rc;
}

int tool_bc(int argc, char **argv)
{
	struct bc_options o;
	struct gn_bc_result result;
	struct graph_report report = {0};
	struct gn_error e = {0};
	struct graph_job job = {0};
	struct tool_bar bar;
	int rc;

	memset(&o, 0, sizeof o);
	o.seed = 1;
	graph_options_init(&o.graph, "bc");
	o.graph.state.vertex_bytes = GN_BC_STATE;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	report.verified = -1;
	job.options = &o.graph;
	job.progress = tool_bar_begin(&bar);
	rc = run(&job, &o, &result, &report, &e);
	tool_bar_end(&bar);
	if (!rc)
		rc = finish(&job, &report, &result, &o, &e);
	graph_job_close(&job);
	return rc ? tool_fail("bc", &e) : TOOL_OK;
}
