/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel bfs: breadth-first search over a graph that need not fit the cache. */
#include "bfs/bfs.h"

#include <stdio.h>
#include <stdlib.h>

#include "graph/reference.h"
#include "graph_search.h"

enum { OPT_OUT = 0x200, OPT_VERIFY, OPT_ALGORITHM };

static const struct argp_option options[] = {
    {"source", 's', "N", 0, "vertex where the search starts (must be given, unless --sources is)"},
    {"algorithm", OPT_ALGORITHM, "NAME", 0,
     "top-down: read the lists of the frontier; direction-optimising: where the frontier has many edges, "
     "look from the vertices that are not reached yet, which needs every edge in both directions (default "
     "direction-optimising if the graph says that it has them, else top-down)"},
    {"out", OPT_OUT, "FILE", 0,
     "write the depths to FILE: one little-endian u32 a vertex, 0xffffffff if unreachable"},
    {"verify", OPT_VERIFY, NULL, 0, "compare every depth with a search in memory"},
    {0},
};

/* In the order of enum gn_bfs_algorithm. */
static const char *const algorithms[] = {"top-down", "direction-optimising", NULL};

struct bfs_options {
	struct graph_search_options search;
	int algorithm; /* enum gn_bfs_algorithm; negative: as the graph allows */
};

struct bfs_run {
	const struct bfs_options *options;
	enum gn_bfs_algorithm algorithm;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct bfs_options *o = (struct bfs_options *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &o->search; return 0;
	case 's': o->search.source = tool_number(state, "--source", arg, 0, UINT32_MAX); return 0;
	case OPT_ALGORITHM: o->algorithm = (int)tool_word(state, "--algorithm", arg, algorithms); return 0;
	case OPT_OUT: o->search.graph.out = arg; return 0;
	case OPT_VERIFY: o->search.graph.verify = true; return 0;
	case ARGP_KEY_END:
		if (o->search.source == UINT64_MAX && !o->search.sources)
			argp_error(state, "no --source given; give --source N, the vertex where the search "
			                  "starts, or --sources N");
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    options,
    parse,
    "GRAPH",
    "Breadth-first search of a graph (.gng, .mtx, .el, .wel, also as .gz, .sg, .wsg, .bel, .bcsr, .bwcsr) "
    "from one vertex, or from several, one after the other. The graph is in a store. The threads of the "
    "machine fetch its pages themselves.\vExit "
    "status: 0 success, 1 the run failed, 2 the command line is wrong.",
    graph_search_child,
};

/* ---- the search ---- */

static int verify(void *user, struct graph_job *j, uint32_t source, struct gn_error *e)
{
	void *want;
	int rc = graph_job_reference(j, sizeof(uint32_t), &want, e);

	(void)user;
	if (!rc)
		rc = gn_bfs_reference(&j->input.graph, source, (uint32_t *)want, e);
	if (!rc)
		rc = gn_depths_verify(j->result, (const uint32_t *)want, j->input.vertices, e);
	free(want);
	return rc;
}

/* Bytes that the search must read: the edges that it looked at, and the offsets of the reached vertices. */
static uint64_t needed_bytes(const struct graph_job *j, const struct gn_bfs_result *result)
{
	return result->edges * j->input.id_bytes + (result->reached + 1) * sizeof(uint64_t);
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
	run->algorithm = asked >= 0 ? (enum gn_bfs_algorithm)asked
	                 : both     ? GN_BFS_DIRECTION
	                            : GN_BFS_TOP_DOWN;
	return 0;
}

static int search(void *user, struct graph_job *j, struct graph_search *s, struct gn_error *e)
{
	struct bfs_run *run = (struct bfs_run *)user;
	struct gn_bfs_result *result = (struct gn_bfs_result *)s->result;
	struct gn_bfs_options how;
	int rc = choose_algorithm(j, run, e);

	how.source = s->source;
	how.algorithm = run->algorithm;
	how.listener = graph_steps_listener(&s->steps);
	if (!rc)
		rc = gn_bfs(j->machine, &j->arrays.graph, &how, j->result, result, &j->progress, e);
	s->seconds = result->seconds;
	s->reached = result->reached;
	s->edges = result->edges;
	s->needed_bytes = needed_bytes(j, result);
	return rc;
}

/* ---- what is said ---- */

static json_t *members(const void *user, const struct graph_search *s)
{
	const struct gn_bfs_result *result = (const struct gn_bfs_result *)s->result;

	(void)user;
	return json_pack("{s:I, s:I, s:i, s:o}", "source", (json_int_t)s->source, "reached",
	                 (json_int_t)s->reached, "levels", (int)result->levels, "directions",
	                 graph_steps_phases(&s->steps));
}

static const struct graph_steps_kind steps = {true, true, NULL, NULL};
static const struct graph_search_kind kind = {search, verify, members, &steps, sizeof(struct gn_bfs_result)};

static json_t *report_json(const void *user, const struct graph_report *r)
{
	const struct graph_searches *all = (const struct graph_searches *)user;
	const struct bfs_run *run = (const struct bfs_run *)all->user;
	json_t *root =
	    json_pack("{s:s, s:o, s:o, s:s, s:b}", "schema", "grapnel-bfs-1", "machine",
	              tool_json_machine(&r->machine), "graph", graph_report_graph(r), "algorithm",
	              algorithms[run->algorithm], "both_directions", (int)r->input->both_directions);

	return graph_searches_join(root, all, r);
}

static void print_search(const struct graph_search *s, const struct bfs_run *run)
{
	printf("  reached              %llu vertices in %u levels from %u\n", (unsigned long long)s->reached,
	       ((const struct gn_bfs_result *)s->result)->levels, s->source);
	printf("  algorithm            %s: ", algorithms[run->algorithm]);
	graph_steps_print_phases(&s->steps, stdout);
	printf("\n");
	graph_steps_print(&s->steps, stdout);
}

/* Of several searches the report has a line each, and here are only the steps that were asked for. */
static void print_table(const void *user, const struct graph_report *r)
{
	const struct graph_searches *all = (const struct graph_searches *)user;
	const struct bfs_run *run = (const struct bfs_run *)all->user;

	if (!r->searches || r->options->steps)
		for (uint32_t k = 0; k < all->count; k++)
			print_search(&all->search[k], run);
	else
		printf("  algorithm            %s\n", algorithms[run->algorithm]);
}

static const struct graph_command command = {
    "Breadth-first search",
    "every depth verified",
    "edges that were read, offsets of the vertices that were reached",
    "every depth equals the reference search",
    graph_searches_run,
    NULL,
    report_json,
    print_table};

int tool_bfs(int argc, char **argv)
{
	struct bfs_options o = {0};
	struct bfs_run run = {&o, GN_BFS_TOP_DOWN};
	struct graph_searches all = {&o.search, &kind, &run};

	o.algorithm = -1;
	graph_search_options_init(&o.search, "bfs");
	o.search.graph.state.vertex_bytes = GN_BFS_STATE;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	return graph_searches_command(&command, &all);
}
