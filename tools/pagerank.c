/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel pagerank: PageRank of a graph that need not fit the cache; with --nodes pagerank_net.c. */
#include "pagerank/pagerank.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph_job.h"
#include "net.h"

enum { OPT_ITERATIONS = 0x200, OPT_TOLERANCE, OPT_ALGORITHM, OPT_OUT, OPT_VERIFY, OPT_NODES };

static const struct argp_option options[] = {
    {"iterations", OPT_ITERATIONS, "N", 0, "at most so many iterations (default 20, as in GAP)", 0},
    {"tolerance", OPT_TOLERANCE, "SUM", 0,
     "stop when an iteration moves all ranks together by less than SUM; 0: never (default 1e-4, as in GAP)",
     0},
    {"algorithm", OPT_ALGORITHM, "NAME", 0,
     "pull: a vertex adds up what its neighbours give, for a graph that is stored in both directions; push: "
     "a vertex adds what it gives to its neighbours (default pull where the graph says so, else push)",
     0},
    {"out", OPT_OUT, "FILE", 0, "write the ranks to FILE: one little-endian f32 a vertex", 0},
    {"verify", OPT_VERIFY, NULL, 0,
     "compare the ranks with those of one thread, within the bound for rounding; and, as GAP does, see that "
     "one more iteration moves them by less than the tolerance",
     0},
    {"nodes", OPT_NODES, "N", 0,
     "spread the graph over N nodes that send messages: grapnel pagerank --nodes 2 --help has the options of "
     "this form",
     0},
    {0},
};

/* In the order of enum gn_pagerank_algorithm. */
static const char *const algorithms[] = {"pull", "push", NULL};

struct pagerank_options {
	struct graph_options graph;
	struct gn_pagerank_options how;
	bool has_algorithm; /* the line says which */
};

/* A run, and what must be given back behind it. */
struct pagerank_run {
	struct graph_job job;
	uint64_t *rank; /* of every vertex */
	struct gn_pagerank_result result;
	struct gn_pagerank_check check;
};

static double tolerance(const struct argp_state *state, const char *text)
{
	char *end;
	const double value = strtod(text, &end);

	if (end == text || *end || !(value >= 0) || isinf(value))
		argp_error(state, "--tolerance %s: give a number of 0 or more", text);
	return value;
}

/* --nodes does not come here: tool_pagerank has seen it. */
static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct pagerank_options *o = (struct pagerank_options *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &o->graph; return 0;
	case OPT_ITERATIONS:
		o->how.iterations = (uint32_t)tool_number(state, "--iterations", arg, 1, 1000000);
		return 0;
	case OPT_TOLERANCE: o->how.tolerance = tolerance(state, arg); return 0;
	case OPT_ALGORITHM:
		o->how.algorithm =
		    (enum gn_pagerank_algorithm)tool_word(state, "--algorithm", arg, algorithms);
		o->has_algorithm = true;
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
    "PageRank with damping 0.85 of a graph (.gng, .mtx, .el, .wel, also as .gz, .sg, .wsg, .bel, .bcsr, "
    ".bwcsr). The graph is in a store. The threads of the machine fetch its pages themselves.\vThe ranks add "
    "up to 1. What vertices without edges would give is given to all vertices alike. What a .gng file says "
    "of itself, that every edge is stored in both directions, is believed.\n\nExit status: 0 success, 1 the "
    "run failed, 2 the command line is wrong.",
    graph_layout_child,
    NULL,
    NULL,
};

/* ---- the run ---- */

static int choose_algorithm(const struct graph_input *in, struct pagerank_options *o, struct gn_error *e)
{
	if (!o->has_algorithm)
		o->how.algorithm = in->both_directions ? GN_PAGERANK_PULL : GN_PAGERANK_PUSH;
	if (o->how.algorithm == GN_PAGERANK_PUSH || in->both_directions)
		return 0;
	return gn_error_set(
	    e, -GN_EINVAL,
	    "--algorithm pull: %s does not say that every edge is stored in both directions, so "
	    "the edges that come in are not known; use --algorithm push",
	    o->graph.graph);
}

static int make_room(struct pagerank_run *r, struct gn_error *e)
{
	const uint64_t vertices = r->job.input.vertices;

	r->rank = (uint64_t *)malloc((vertices ? vertices : 1) * sizeof *r->rank);
	return r->rank ? 0
	               : gn_error_set(e, -GN_ENOMEM, "out of memory for the ranks of %llu vertices",
	                              (unsigned long long)vertices);
}

/* The ranks as they are written: f32. */
static void convert(struct pagerank_run *r)
{
	for (uint64_t v = 0; v < r->job.input.vertices; v++) {
		const float rank = (float)((double)r->rank[v] / (double)pagerank_one);

		memcpy(&r->job.result[v], &rank, sizeof rank);
	}
}

static int verify(struct pagerank_run *r, const struct gn_pagerank_options *how, struct gn_error *e)
{
	int rc = graph_input_load(&r->job.input, &r->job.progress, e);

	return rc ? rc : gn_pagerank_verify(&r->job.input.graph, how, &r->result, r->rank, &r->check, e);
}

static int run(struct pagerank_run *r, struct pagerank_options *o, struct graph_report *report,
               struct gn_error *e)
{
	struct graph_job *j = &r->job;
	int rc = graph_job_open(j, e);

	if (!rc)
		rc = choose_algorithm(&j->input, o, e);
	if (!rc)
		rc = make_room(r, e);
	if (!rc)
		rc = gn_pagerank(j->machine, &j->arrays.graph, &o->how, r->rank, &r->result, &j->progress, e);
	if (rc)
		return rc;
	convert(r);
	graph_job_describe(j, report);
	report->seconds = r->result.seconds;
	report->edges = r->result.edges;
	report->needed_bytes = j->input.bytes;
	if (!j->options->verify)
		return 0;
	rc = verify(r, &o->how, e);
	report->verified = !rc;
	return rc;
}

/* ---- what is said ---- */

static json_t *if_verified(const struct graph_report *r, double value)
{
	return r->verified > 0 ? json_real(value) : json_null();
}

static json_t *report_json(const struct graph_report *r, const struct pagerank_run *run,
                           const struct gn_pagerank_options *how)
{
	const struct gn_pagerank_result *result = &run->result;
	json_t *root =
	    json_pack("{s:s, s:o, s:o, s:s, s:b, s:I, s:f, s:b, s:f, s:o, s:o, s:o, s:f, s:I, s:f}", "schema",
	              "grapnel-pagerank-store-1", "machine", tool_json_machine(&r->machine), "graph",
	              graph_report_graph(r), "algorithm", algorithms[how->algorithm], "both_directions",
	              (int)r->input->both_directions, "iterations", (json_int_t)result->iterations,
	              "tolerance", how->tolerance, "converged", result->converged, "moved", result->moved,
	              "distance", if_verified(r, run->check.distance), "bound",
	              if_verified(r, run->check.bound), "error", if_verified(r, run->check.error), "seconds",
	              r->seconds, "edges_traversed", (json_int_t)r->edges, "teps", graph_report_teps(r));

	return graph_report_join(root, r);
}

static void print_table(const struct graph_report *r, const struct pagerank_run *run,
                        const struct gn_pagerank_options *how)
{
	const struct gn_pagerank_result *result = &run->result;

	graph_report_begin(r, stdout);
	printf("  iterations           %u, the last moved %.3g%s\n", result->iterations, result->moved,
	       result->converged ? "" : ", which is not below the tolerance yet");
	printf("  algorithm            %s\n", algorithms[how->algorithm]);
	if (r->verified > 0)
		printf("  distance             %.3g from the reference, at most %.3g; one more iteration "
		       "moves %.3g\n",
		       run->check.distance, run->check.bound, run->check.error);
	graph_report_end(r, "the ranks are the reference's but for rounding", stdout);
}

/* Results are written only for a run that went well. */
static int finish(const struct pagerank_run *run, const struct graph_report *r,
                  const struct gn_pagerank_options *how, struct gn_error *e)
{
	const struct graph_job *j = &run->job;
	const struct graph_options *o = j->options;
	int rc = 0;

	if (o->out)
		rc = tool_write_file(o->out, j->result, j->input.vertices * sizeof *j->result, e);
	if (!rc && o->json)
		rc = tool_write_json(report_json(r, run, how), o->json, e);
	if (!rc && o->svg)
		rc = graph_report_svg(r, "PageRank", "the ranks verified", "both arrays of the graph, once",
		                      e);
	if (!rc && !tool_to_stdout(o->json))
		print_table(r, run, how);
	return rc;
}

int tool_pagerank(int argc, char **argv)
{
	struct pagerank_options o = {0};
	struct pagerank_run r = {0};
	struct graph_report report = {0};
	struct gn_error e = {0};
	struct tool_bar bar;
	int rc;

	if (tool_net_asked(argc, argv))
		return tool_pagerank_net(argc, argv);
	graph_options_init(&o.graph, "pagerank");
	o.graph.state.vertex_bytes = GN_PAGERANK_STATE;
	o.how.iterations = 20;
	o.how.tolerance = 1e-4;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	report.verified = -1;
	r.job.options = &o.graph;
	r.job.progress = tool_bar_begin(&bar);
	rc = run(&r, &o, &report, &e);
	tool_bar_end(&bar);
	if (!rc)
		rc = finish(&r, &report, &o.how, &e);
	graph_job_close(&r.job);
	free(r.rank);
	return rc ? tool_fail("pagerank", &e) : TOOL_OK;
}
