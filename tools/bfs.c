/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel bfs: breadth-first search over a graph that need not fit the cache. */
#include "bfs/bfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/reference.h"
#include "graph_job.h"

enum { OPT_OUT = 0x200, OPT_VERIFY };

static const struct argp_option options[] = {
    {"source", 's', "N", 0, "vertex where the search starts (must be given)", 0},
    {"out", OPT_OUT, "FILE", 0,
     "write the depths to FILE: one little-endian u32 a vertex, 0xffffffff if unreachable", 0},
    {"verify", OPT_VERIFY, NULL, 0, "compare every depth with a search in memory", 0},
    {0},
};

struct bfs_options {
	struct graph_options graph;
	uint64_t source;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct bfs_options *o = (struct bfs_options *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &o->graph; return 0;
	case 's': o->source = tool_number(state, "--source", arg, 0, UINT32_MAX); return 0;
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
    "from one vertex. The "
    "graph is in a store. The threads of the machine fetch its pages themselves.\vExit status: 0 success, 1 "
    "the run failed, 2 the command line is wrong.",
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

/* Bytes that any search must read: the adjacency lists and offsets of the reached vertices. */
static uint64_t needed_bytes(const struct gn_bfs_result *result)
{
	return result->edges * sizeof(uint32_t) + (result->reached + 1) * sizeof(uint64_t);
}

static int run(struct graph_job *j, uint64_t source, struct gn_bfs_result *result,
               struct graph_report *report, struct gn_error *e)
{
	int rc = graph_job_open(j, e);

	if (!rc)
		rc = check_source(j, source, e);
	if (!rc)
		rc = gn_bfs(j->machine, &j->arrays.graph, source, j->result, result, &j->progress, e);
	if (rc)
		return rc;
	graph_job_describe(j, report);
	report->seconds = result->seconds;
	report->edges = result->edges;
	report->needed_bytes = needed_bytes(result);
	if (!j->options->verify)
		return 0;
	rc = verify(j, source, e);
	report->verified = !rc;
	return rc;
}

/* ---- what is said ---- */

static json_t *report_json(const struct graph_report *r, const struct gn_bfs_result *result, uint64_t source)
{
	json_t *root = json_pack("{s:s, s:o, s:o, s:I, s:I, s:i, s:f, s:I, s:f}", "schema", "grapnel-bfs-1",
	                         "machine", tool_json_machine(&r->machine), "graph", graph_report_graph(r),
	                         "source", (json_int_t)source, "reached", (json_int_t)result->reached,
	                         "levels", (int)result->levels, "seconds", r->seconds, "edges_traversed",
	                         (json_int_t)r->edges, "teps", graph_report_teps(r));

	return graph_report_join(root, r);
}

static void print_table(const struct graph_report *r, const struct gn_bfs_result *result, uint64_t source)
{
	graph_report_begin(r, stdout);
	printf("  reached              %llu vertices in %u levels from %llu\n",
	       (unsigned long long)result->reached, result->levels, (unsigned long long)source);
	graph_report_end(r, "every depth equals the reference search", stdout);
}

/* Results are written only for a search that went well. */
static int finish(const struct graph_job *j, const struct graph_report *r, const struct gn_bfs_result *result,
                  uint64_t source, struct gn_error *e)
{
	const struct graph_options *o = j->options;
	int rc = 0;

	if (o->out)
		rc = tool_write_file(o->out, j->result, j->input.vertices * sizeof *j->result, e);
	if (!rc && o->json)
		rc = tool_write_json(report_json(r, result, source), o->json, e);
	if (!rc && o->svg)
		rc = graph_report_svg(r, "Breadth-first search", "every depth verified",
		                      "adjacency lists and offsets of the vertices that were reached", e);
	if (!rc && !tool_to_stdout(o->json))
		print_table(r, result, source);
	return rc;
}

int tool_bfs(int argc, char **argv)
{
	struct bfs_options o = {0};
	struct gn_bfs_result result;
	struct graph_report report = {0};
	struct gn_error e = {0};
	struct graph_job job = {0};
	struct tool_bar bar;
	int rc;

	o.source = UINT64_MAX;
	graph_options_init(&o.graph, "bfs");
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	report.verified = -1;
	job.options = &o.graph;
	job.progress = tool_bar_begin(&bar);
	rc = run(&job, o.source, &result, &report, &e);
	tool_bar_end(&bar);
	if (!rc)
		rc = finish(&job, &report, &result, o.source, &e);
	graph_job_close(&job);
	return rc ? tool_fail("bfs", &e) : TOOL_OK;
}
