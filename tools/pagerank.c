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
    {"iterations", OPT_ITERATIONS, "N", 0, "at most so many iterations (default 20, as in GAP)"},
    {"tolerance", OPT_TOLERANCE, "SUM", 0,
     "stop when an iteration moves all ranks together by less than SUM; 0: never (default 1e-4, as in GAP)"},
    {"algorithm", OPT_ALGORITHM, "NAME", 0,
     "pull: a vertex adds up what its neighbours give, for a graph that is stored in both directions; push: "
     "a vertex adds what it gives to its neighbours (default pull where the graph says so, else push)"},
    {"out", OPT_OUT, "FILE", 0, "write the ranks to FILE: one little-endian f32 a vertex"},
    {"verify", OPT_VERIFY, NULL, 0,
     "compare the ranks with those of one thread, within the bound for rounding; and, as GAP does, see that "
     "one more iteration moves them by less than the tolerance"},
    {"nodes", OPT_NODES, "N", 0,
     "spread the graph over N nodes that send messages: grapnel pagerank --nodes 2 --help has the options of "
     "this form"},
    {0},
};

/* In the order of enum gn_pagerank_algorithm. */
static const char *const algorithms[] = {"pull", "push", NULL};

struct pagerank_options {
	struct graph_options graph;
	struct gn_pagerank_options how;
	bool has_algorithm; /* the line says which */
};

struct pagerank_run {
	struct pagerank_options options;
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

static int make_room(struct pagerank_run *r, uint64_t vertices, struct gn_error *e)
{
	r->rank = (uint64_t *)malloc((vertices ? vertices : 1) * sizeof *r->rank);
	return r->rank ? 0
	               : gn_error_set(e, -GN_ENOMEM, "out of memory for the ranks of %llu vertices",
	                              (unsigned long long)vertices);
}

/* The ranks as they are written: f32. */
static void convert(const struct pagerank_run *r, struct graph_job *j)
{
	for (uint64_t v = 0; v < j->input.vertices; v++) {
		const float rank = (float)((double)r->rank[v] / (double)pagerank_one);

		memcpy(&j->result[v], &rank, sizeof rank);
	}
}

static int verify(void *user, struct graph_job *j, struct gn_error *e)
{
	struct pagerank_run *r = (struct pagerank_run *)user;
	int rc = graph_input_load(&j->input, &j->progress, e);

	return rc ? rc
	          : gn_pagerank_verify(&j->input.graph, &r->options.how, &r->result, r->rank, &r->check, e);
}

static int run(void *user, struct graph_job *j, struct graph_report *report, struct gn_error *e)
{
	struct pagerank_run *r = (struct pagerank_run *)user;
	int rc = choose_algorithm(&j->input, &r->options, e);

	r->options.how.listener = graph_steps_listener(&j->steps);
	if (!rc)
		rc = make_room(r, j->input.vertices, e);
	if (!rc)
		rc = gn_pagerank(j->machine, &j->arrays.graph, &r->options.how, r->rank, &r->result,
		                 &j->progress, e);
	if (!rc)
		convert(r, j);
	report->seconds = r->result.seconds;
	report->edges = r->result.edges;
	return rc;
}

/* ---- what is said ---- */

static json_t *if_verified(const struct graph_report *r, double value)
{
	return r->verified > 0 ? json_real(value) : json_null();
}

static json_t *report_json(const void *user, const struct graph_report *r)
{
	const struct pagerank_run *run = (const struct pagerank_run *)user;
	const struct gn_pagerank_options *how = &run->options.how;
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

static void print_table(const void *user, const struct graph_report *r)
{
	const struct pagerank_run *run = (const struct pagerank_run *)user;
	const struct gn_pagerank_result *result = &run->result;

	printf("  iterations           %u, the last moved %.3g%s\n", result->iterations, result->moved,
	       result->converged ? "" : ", which is not below the tolerance yet");
	printf("  algorithm            %s\n", algorithms[run->options.how.algorithm]);
	if (r->verified > 0)
		printf("  distance             %.3g from the reference, at most %.3g; one more iteration "
		       "moves %.3g\n",
		       run->check.distance, run->check.bound, run->check.error);
}

static const struct graph_steps_kind steps = {false, false, NULL, "moved"};
static const struct graph_command command = {"PageRank",
                                             "the ranks verified",
                                             "both arrays of the graph, once",
                                             "the ranks are the reference's but for rounding",
                                             run,
                                             verify,
                                             report_json,
                                             print_table,
                                             &steps};

int tool_pagerank(int argc, char **argv)
{
	struct pagerank_run r = {0};
	struct graph_options *o = &r.options.graph;
	int status;

	if (tool_net_asked(argc, argv))
		return tool_pagerank_net(argc, argv);
	graph_options_init(o, "pagerank");
	o->state.vertex_bytes = GN_PAGERANK_STATE;
	o->layout.asked = GN_LAYOUT_AUTO;
	r.options.how.iterations = 20;
	r.options.how.tolerance = 1e-4;
	argp_parse(&argp, argc, argv, 0, NULL, &r.options);
	status = graph_command_run(&command, o, &r);
	free(r.rank);
	return status;
}
