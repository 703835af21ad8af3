/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel bc: betweenness centrality of a graph that need not fit the cache. */
#include "bc/bc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph_job.h"

enum { OPT_SEED = 0x200, OPT_SOURCES, OPT_OUT, OPT_VERIFY, MOST_SOURCES = 1024 };

static const struct argp_option options[] = {
    {"source", 's', "N", 0, "vertex to search from; may be given several times (default: chosen by --seed)"},
    {"sources", OPT_SOURCES, "COUNT", 0,
     "how many vertices with edges to choose, 1 to 1024, one maybe twice (default 4)"},
    {"seed", OPT_SEED, "N", 0, "which vertices are chosen (default 1)"},
    {"out", OPT_OUT, "FILE", 0, "write the scores to FILE: one little-endian f32 a vertex, from 0 to 1"},
    {"verify", OPT_VERIFY, NULL, 0, "compare every score with Brandes' algorithm in memory"},
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
    graph_layout_child,
};

/* ---- the run ---- */

struct bc_run {
	struct bc_options options;
	struct gn_bc_options how;
	struct gn_bc_result result;
};

static int verify(void *user, struct graph_job *j, struct gn_error *e)
{
	const uint64_t vertices = j->input.vertices;
	void *want;
	int rc = graph_job_reference(j, sizeof(float), &want, e);

	if (!rc)
		rc = gn_bc_reference(&j->input.graph, &((struct bc_run *)user)->how, (float *)want, e);
	if (!rc)
		rc = gn_bc_verify((const float *)(const void *)j->result, (const float *)want, vertices, e);
	free(want);
	return rc;
}

/* The sources that were given, or chosen now: they are in o->source then. */
static int find_sources(struct graph_job *j, struct bc_options *o, struct gn_bc_options *how,
                        struct gn_error *e)
{
	how->sources = o->source;
	how->source_count = o->given ? o->given : o->count;
	how->listener = graph_steps_listener(&j->steps);
	return o->given ? 0
	                : gn_bc_choose_sources(j->machine, &j->arrays.graph, o->seed, o->count, o->source, e);
}

static int run(void *user, struct graph_job *j, struct graph_report *report, struct gn_error *e)
{
	struct bc_run *r = (struct bc_run *)user;
	int rc = find_sources(j, &r->options, &r->how, e);

	if (!rc)
		rc = gn_bc(j->machine, &j->arrays.graph, &r->how, (float *)(void *)j->result, &r->result,
		           &j->progress, e);
	report->seconds = r->result.seconds;
	report->edges = r->result.edges;
	return rc;
}

/* ---- what is said ---- */

static json_t *sources_json(const struct gn_bc_options *how)
{
	json_t *all = json_array();

	for (uint32_t k = 0; k < how->source_count; k++)
		if (json_array_append_new(all, json_integer((json_int_t)how->sources[k]))) {
			json_decref(all);
			return NULL;
		}
	return all;
}

static json_t *report_json(const void *user, const struct graph_report *r)
{
	const struct bc_run *run = (const struct bc_run *)user;
	const struct gn_bc_result *result = &run->result;
	const struct bc_options *o = &run->options;
	json_t *root = json_pack("{s:s, s:o, s:o, s:o, s:o, s:f, s:i, s:f, s:I, s:f}", "schema",
	                         "grapnel-bc-1", "machine", tool_json_machine(&r->machine), "graph",
	                         graph_report_graph(r), "sources", sources_json(&run->how), "seed",
	                         o->given ? json_null() : json_integer((json_int_t)o->seed), "largest",
	                         result->largest, "levels", (int)result->levels, "seconds", r->seconds,
	                         "edges_traversed", (json_int_t)r->edges, "teps", graph_report_teps(r));

	return graph_report_join(root, r);
}

static void print_table(const void *user, const struct graph_report *r)
{
	const struct bc_run *run = (const struct bc_run *)user;
	const uint32_t count = run->how.source_count;

	(void)r;
	printf("  sources             ");
	for (uint32_t k = 0; k < count && k < 8; k++)
		printf(" %u", run->how.sources[k]);
	printf("%s; %u levels\n", count > 8 ? " ..." : "", run->result.levels);
	printf("  largest score        %g before all are divided by it\n", run->result.largest);
}

static const struct graph_steps_kind steps = {true, false, "source", NULL};
static const struct graph_command command = {"Betweenness centrality",
                                             "every score verified",
                                             "both arrays of the graph, once",
                                             "every score equals the reference's to 2^-23",
                                             run,
                                             verify,
                                             report_json,
                                             print_table,
                                             &steps};

int tool_bc(int argc, char **argv)
{
	struct bc_run r;
	struct graph_options *o = &r.options.graph;

	memset(&r, 0, sizeof r);
	r.options.seed = 1;
	graph_options_init(o, "bc");
	o->state.vertex_bytes = GN_BC_STATE;
	argp_parse(&argp, argc, argv, 0, NULL, &r.options);
	return graph_command_run(&command, o, &r);
}
