/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel bfs: breadth-first search over a graph that need not fit the cache. */
#include "bfs/bfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bfs_steps.h"
#include "graph/reference.h"
#include "graph_job.h"

enum { OPT_OUT = 0x200, OPT_VERIFY, OPT_ALGORITHM, OPT_STEPS };

static const struct argp_option options[] = {
    {"source", 's', "N", 0, "vertex where the search starts (must be given)", 0},
    {"algorithm", OPT_ALGORITHM, "NAME", 0,
     "top-down: read the lists of the frontier; direction-optimising: where the frontier has many edges, "
     "look from the vertices that are not reached yet, which needs every edge in both directions (default "
     "direction-optimising if the graph says that it has them, else top-down)",
     0},
    {"steps", OPT_STEPS, NULL, 0,
     "report each step: its direction, its frontier, the edges read, what was moved, its time", 0},
    {"out", OPT_OUT, "FILE", 0,
     "write the depths to FILE: one little-endian u32 a vertex, 0xffffffff if unreachable", 0},
    {"verify", OPT_VERIFY, NULL, 0, "compare every depth with a search in memory", 0},
    {0},
};

/* In the order of enum gn_bfs_algorithm. */
static const char *const algorithms[] = {"top-down", "direction-optimising", NULL};

struct bfs_options {
	struct graph_options graph;
	uint64_t source;
	int algorithm; /* enum gn_bfs_algorithm; negative: as the graph allows */
	int steps;
};

/* A search and what is known of it. */
struct bfs_run {
	const struct bfs_options *options;
	struct gn_bfs_options search;
	struct gn_bfs_result result;
	struct bfs_steps steps;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct bfs_options *o = (struct bfs_options *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &o->graph; return 0;
	case 's': o->source = tool_number(state, "--source", arg, 0, UINT32_MAX); return 0;
	case OPT_ALGORITHM: o->algorithm = (int)tool_word(state, "--algorithm", arg, algorithms); return 0;
	case OPT_STEPS: o->steps = 1; return 0;
	case OPT_OUT: o->graph.out = arg; return 0;
	case OPT_VERIFY: o->graph.verify = true; return 0;
	case ARGP_KEY_END:
		if (o->source == UINT64_MAX)
			argp_error(state,
			           "no --source given; give --source N, the vertex where the search starts");
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    options,
    parse,
    "GRAPH",
    "Breadth-first search of a graph (.gng, .mtx, .el, .wel, also as .gz, .sg, .wsg, .bel, .bcsr, .bwcsr) "
    "from one vertex. The graph is in a store. The threads of the machine fetch its pages themselves.\vExit "
    "status: 0 success, 1 the run failed, 2 the command line is wrong.",
    graph_options_child,
    NULL,
    NULL,
};

/* ---- the search ---- */

static int check_source(const struct graph_job *j, uint64_t source, struct gn_error *e)
{
	if (source < j->input.vertices)
		return 0;
	return gn_error_set(
	    e, -GN_ERANGE, "--source %llu: %s has %llu vertices, numbered from 0; give a smaller number",
	    (unsigned long long)source, j->options->graph, (unsigned long long)j->input.vertices);
}

static int verify(struct graph_job *j, uint64_t source, struct gn_error *e)
{
	int rc = graph_input_load(&j->input, &j->progress, e);
	uint32_t *want;

	if (rc)
		return rc;
	want = (uint32_t *)malloc(j->input.vertices * sizeof *want);
	if (!want)
		return gn_error_set(e, -GN_ENOMEM, "out of memory for %llu depths",
		                    (unsigned long long)j->input.vertices);
	rc = gn_bfs_reference(&j->input.graph, source, want, e);
	if (!rc)
		rc = gn_depths_verify(j->result, want, j->input.vertices, e);
	free(want);
	return rc;
}

/* Bytes that the search must read: the edges that it looked at, and the offsets of the reached vertices. */
static uint64_t needed_bytes(const struct gn_bfs_result *result)
{
	return result->edges * sizeof(uint32_t) + (result->reached + 1) * sizeof(uint64_t);
}

/* The words and what the graph says of itself decide how it is searched. */
static int choose_algorithm(const struct graph_job *j, struct bfs_run *run, struct gn_error *e)
{
	const int asked = run->options->algorithm, both = j->input.both_directions;

	if (asked == GN_BFS_DIRECTION && !both)
		return gn_error_set(
		    e, -GN_EINVAL,
		    "--algorithm %s: %s does not say that every edge is stored in both directions; make an "
		    "undirected graph with grapnel convert --undirected, or take --algorithm %s",
		    algorithms[GN_BFS_DIRECTION], j->options->graph, algorithms[GN_BFS_TOP_DOWN]);
	run->search.algorithm = asked >= 0 ? (enum gn_bfs_algorithm)asked
	                        : both     ? GN_BFS_DIRECTION
	                                   : GN_BFS_TOP_DOWN;
	return 0;
}

static int search(struct graph_job *j, struct bfs_run *run, struct gn_error *e)
{
	int rc = check_source(j, run->options->source, e);

	if (!rc)
		rc = choose_algorithm(j, run, e);
	run->search.source = run->options->source;
	run->search.step = bfs_steps_add;
	run->search.context = &run->steps;
	run->steps.wanted = run->options->steps;
	if (j->options->mode == GRAPH_PAGED)
		run->steps.cache = j->arrays.cache;
	return rc ? rc
	          : gn_bfs(j->machine, &j->arrays.graph, &run->search, j->result, &run->result, &j->progress,
	                   e);
}

static int run_job(struct graph_job *j, struct bfs_run *run, struct graph_report *report, struct gn_error *e)
{
	int rc = graph_job_open(j, e);

	if (!rc)
		rc = search(j, run, e);
	if (rc)
		return rc;
	graph_job_describe(j, report);
	report->seconds = run->result.seconds;
	report->edges = run->result.edges;
	report->needed_bytes = needed_bytes(&run->result);
	if (!j->options->verify)
		return 0;
	rc = verify(j, run->options->source, e);
	report->verified = !rc;
	return rc;
}

/* ---- what is said ---- */

static json_t *report_json(const struct graph_report *r, const struct bfs_run *run)
{
	const struct gn_bfs_result *result = &run->result;
	json_t *root =
	    json_pack("{s:s, s:o, s:o, s:I, s:s, s:b, s:I, s:i, s:o, s:o, s:f, s:I, s:f}", "schema",
	              "grapnel-bfs-1", "machine", tool_json_machine(&r->machine), "graph",
	              graph_report_graph(r), "source", (json_int_t)run->search.source, "algorithm",
	              algorithms[run->search.algorithm], "both_directions", (int)r->input->both_directions,
	              "reached", (json_int_t)result->reached, "levels", (int)result->levels, "directions",
	              bfs_steps_phases(&run->steps), "steps", bfs_steps_rows(&run->steps), "seconds",
	              r->seconds, "edges_traversed", (json_int_t)r->edges, "teps", graph_report_teps(r));

	return graph_report_join(root, r);
}

static void print_table(const struct graph_report *r, const struct bfs_run *run)
{
	graph_report_begin(r, stdout);
	printf("  reached              %llu vertices in %u levels from %llu\n",
	       (unsigned long long)run->result.reached, run->result.levels,
	       (unsigned long long)run->search.source);
	bfs_steps_print(&run->steps, algorithms[run->search.algorithm], stdout);
	graph_report_end(r, "every depth equals the reference search", stdout);
}

/* Results are written only for a search that went well. */
static int finish(const struct graph_job *j, const struct graph_report *r, const struct bfs_run *run,
                  struct gn_error *e)
{
	const struct graph_options *o = j->options;
	int rc = 0;

	if (o->out)
		rc = tool_write_file(o->out, j->result, j->input.vertices * sizeof *j->result, e);
	if (!rc && o->json)
		rc = tool_write_json(report_json(r, run), o->json, e);
	if (!rc && o->svg)
		rc = graph_report_svg(r, "Breadth-first search", "every depth verified",
		                      "edges that were read, offsets of the vertices that were reached", e);
	if (!rc && !tool_to_stdout(o->json))
		print_table(r, run);
	return rc;
}

int tool_bfs(int argc, char **argv)
{
	struct bfs_options o = {0};
	struct bfs_run run;
	struct graph_report report = {0};
	struct gn_error e = {0};
	struct graph_job job = {0};
	struct tool_bar bar;
	int rc;

	o.source = UINT64_MAX;
	o.algorithm = -1;
	graph_options_init(&o.graph, "bfs");
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	memset(&run, 0, sizeof run);
	run.options = &o;
	report.verified = -1;
	job.options = &o.graph;
	job.progress = tool_bar_begin(&bar);
	rc = run_job(&job, &run, &report, &e);
	tool_bar_end(&bar);
	if (!rc)
		rc = finish(&job, &report, &run, &e);
	bfs_steps_free(&run.steps);
	graph_job_close(&job);
	return rc ? tool_fail("bfs", &e) : TOOL_OK;
}
