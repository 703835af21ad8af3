/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel bfs: breadth-first search over a graph that need not fit the cache. */
#include "bfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/reference.h"

enum {
	OPT_STORE = 256,
	OPT_CACHE,
	OPT_PAGE,
	OPT_MODE,
	OPT_POLICY,
	OPT_DEADLINE,
	OPT_OUT,
	OPT_JSON,
	OPT_SVG,
	OPT_VERIFY,
	OPT_TRUST,
	OPT_EXPLAIN
};

static const struct argp_option options[] = {
    {"source", 's', "N", 0, "vertex where the search starts (must be given)", 0},
    {"undirected", 'u', NULL, 0, "add the opposite direction of every edge", 0},
    {"store", OPT_STORE, "KIND", 0,
     "where the graph is stored: host (memory) or file (default file for .gng, else host)", 0},
    {"cache", OPT_CACHE, "SIZE", 0, "bytes of cache, for example 64M (default one eighth of the graph)", 0},
    {"page", OPT_PAGE, "SIZE", 0,
     "bytes of a page, a power of two from 512 to 2M (default as tuned, else 4K)", 0},
    {"mode", OPT_MODE, "MODE", 0,
     "paged: through a cache; direct: loads from the store's memory; auto: the library chooses how the edges "
     "are read (default paged)",
     0},
    {"policy", OPT_POLICY, "NAME", 0,
     "how the cache chooses the page to evict: clock, fifo or random (default clock)", 0},
    {"deadline", OPT_DEADLINE, "MS", 0,
     "milliseconds after which a transfer fails, 1 to 3600000 (default 10000)", 0},
    {"out", OPT_OUT, "FILE", 0,
     "write the depths to FILE: one little-endian u32 a vertex, 0xffffffff if unreachable", 0},
    {"json", OPT_JSON, "FILE", 0,
     "write the report to FILE as JSON; - is standard output, and then no table is printed", 0},
    {"svg", OPT_SVG, "FILE", 0,
     "with --mode paged: draw to FILE how many bytes were needed and how many were moved", 0},
    {"explain", OPT_EXPLAIN, NULL, 0, "with --mode auto: print what was sampled, what was chosen, and why",
     0},
    {"verify", OPT_VERIFY, NULL, 0, "compare every depth with a search in memory", 0},
    {"trust", OPT_TRUST, NULL, 0, "do not read and check the whole .gng file before the search", 0},
    {0},
};

static void store_option(struct bfs_options *o, const struct argp_state *state, int key, const char *arg)
{
	static const char *const modes[] = {"paged", "direct", "auto", NULL};
	static const char *const stores[] = {"host", "file", NULL};

	switch (key) {
	case OPT_STORE: o->store = stores[tool_word(state, "--store", arg, stores)]; break;
	case OPT_CACHE: o->cache_bytes = tool_size(state, "--cache", arg, 1); break;
	case OPT_PAGE: o->page_bytes = tool_page(state, "--page", arg); break;
	case OPT_MODE: o->mode = (enum bfs_mode)tool_word(state, "--mode", arg, modes); break;
	case OPT_POLICY:
		o->policy = (enum gn_cache_policy)tool_word(state, "--policy", arg, tool_policies);
		break;
	default: o->deadline_ms = tool_number(state, "--deadline", arg, 1, 3600000); break;
	}
}

/* Options that need each other, or rule each other out. */
static void check_together(struct bfs_options *o, const struct argp_state *state)
{
	if (!o->graph)
		argp_error(state, "no graph given; give GRAPH, see --help");
	if (o->source == UINT64_MAX)
		argp_error(state, "no --source given; give --source N, the vertex where the search starts");
	if (o->mode == BFS_DIRECT && o->store && !strcmp(o->store, "file"))
		argp_error(
		    state,
		    "--mode direct needs --store host: threads cannot load from a file without a cache");
	if (o->mode == BFS_AUTO && o->page_bytes)
		argp_error(state,
		           "--page is for --mode paged: --mode auto chooses the page size; leave --page out");
	if (o->explain && o->mode != BFS_AUTO)
		argp_error(
		    state,
		    "--explain is for --mode auto: the other modes choose nothing; leave --explain out");
	if (o->svg && o->mode != BFS_PAGED)
		argp_error(state,
		           "--svg is for --mode paged: it draws the traffic of the cache; leave --svg out");
	if (o->mode == BFS_PAGED)
		tool_tuned_defaults("bfs", o->machine.name, &o->page_bytes, NULL, NULL);
	if (!o->page_bytes)
		o->page_bytes = 4096;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct bfs_options *o = (struct bfs_options *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &o->machine; return 0;
	case 's': o->source = tool_number(state, "--source", arg, 0, UINT32_MAX); return 0;
	case 'u': o->undirected = true; return 0;
	case OPT_OUT: o->out = arg; return 0;
	case OPT_JSON: o->json = arg; return 0;
	case OPT_SVG: o->svg = arg; return 0;
	case OPT_VERIFY: o->verify = true; return 0;
	case OPT_TRUST: o->trust = true; return 0;
	case OPT_EXPLAIN: o->explain = true; return 0;
	case ARGP_KEY_ARG:
		if (o->graph)
			argp_error(state, "%s: too many arguments; give one graph", arg);
		o->graph = arg;
		return 0;
	case ARGP_KEY_END: check_together(o, state); return 0;
	default:
		if (key < OPT_STORE || key > OPT_DEADLINE)
			return ARGP_ERR_UNKNOWN;
		store_option(o, state, key, arg);
		return 0;
	}
}

static const struct argp argp = {
    options,
    parse,
    "GRAPH",
    "Breadth-first search of a graph (.gng, .mtx, .el, .wel, also as .gz, .sg, .wsg) from one vertex. The "
    "graph is in a store. The threads of the machine fetch its pages themselves.\vExit status: 0 success, 1 "
    "the run failed, 2 the command line is wrong.",
    tool_machine_child,
    NULL,
    NULL,
};

/* A run in progress; what is not NULL must be given back. */
struct run {
	const struct bfs_options *o;
	struct simt_machine *machine;
	struct bfs_input input;
	struct bfs_arrays arrays;
	uint32_t *depth, *want;
	struct gn_progress progress;
	char path[512];
};

static int search(struct run *r, struct bfs_report *report, struct gn_error *e)
{
	const uint64_t bytes = (r->input.vertices ? r->input.vertices : 1) * sizeof *r->depth;

	r->depth = (uint32_t *)malloc(bytes);
	if (!r->depth)
		return gn_error_set(e, -GN_ENOMEM, "out of memory for %llu depths",
		                    (unsigned long long)r->input.vertices);
	return gn_bfs(r->machine, &r->arrays.graph, r->o->source, r->depth, &report->result, &r->progress, e);
}

static int verify(struct run *r, struct bfs_report *report, struct gn_error *e)
{
	int rc = bfs_input_graph(&r->input, &r->progress, e);

	report->verified = 0;
	if (rc)
		return rc;
	r->want = (uint32_t *)malloc(r->input.vertices * sizeof *r->want);
	if (!r->want)
		return gn_error_set(e, -GN_ENOMEM, "out of memory for %llu depths",
		                    (unsigned long long)r->input.vertices);
	rc = gn_bfs_reference(&r->input.graph, r->o->source, r->want, e);
	if (!rc)
		rc = gn_depths_verify(r->depth, r->want, r->input.vertices, e);
	report->verified = !rc;
	return rc;
}

static void describe(struct run *r, struct bfs_report *report)
{
	report->options = r->o;
	report->input = &r->input;
	simt_describe(r->machine, &report->machine);
	bfs_arrays_describe(&r->arrays, report);
	gn_store_get_statistics(r->input.store, &report->store);
	snprintf(r->path, sizeof r->path, "%s (%u processors, warps of %u), %s, %s", report->machine.name,
	         report->machine.processors, report->machine.warp_width, bfs_mode_name(r->o->mode),
	         gn_store_path(r->input.store));
	report->path = r->path;
}

static int run_all(struct run *r, struct bfs_report *report, struct gn_error *e)
{
	int rc = simt_open(&r->machine, &r->o->machine, e);

	if (!rc)
		rc = bfs_input_open(&r->input, r->machine, r->o, &r->progress, e);
	if (!rc && r->o->source >= r->input.vertices)
		rc = gn_error_set(
		    e, -GN_ERANGE,
		    "--source %llu: %s has %llu vertices, numbered from 0; give a smaller number",
		    (unsigned long long)r->o->source, r->o->graph, (unsigned long long)r->input.vertices);
	if (!rc)
		rc = bfs_arrays_open(&r->arrays, r->machine, &r->input, r->o, e);
	if (!rc)
		rc = search(r, report, e);
	if (!rc)
		describe(r, report);
	if (!rc && r->o->verify)
		rc = verify(r, report, e);
	return rc;
}

/* Results are written only for a search that went well. */
static int finish(struct run *r, const struct bfs_report *report, struct gn_error *e)
{
	int rc = 0;

	if (r->o->out)
		rc = bfs_write_depths(r->o->out, r->depth, r->input.vertices, e);
	if (!rc && r->o->json)
		rc = bfs_write_json(report, r->o->json, e);
	if (!rc && r->o->svg)
		rc = bfs_write_svg(report, r->o->svg, e);
	if (!rc && !tool_to_stdout(r->o->json))
		bfs_print_table(report, stdout);
	return rc;
}

static void close_run(struct run *r)
{
	bfs_arrays_close(&r->arrays, r->machine);
	bfs_input_close(&r->input);
	simt_close(r->machine);
	free(r->depth);
	free(r->want);
}

int tool_bfs(int argc, char **argv)
{
	struct bfs_options o = {0};
	struct bfs_report report;
	struct tool_bar bar;
	struct gn_error e = {0};
	struct run r;
	int rc;

	o.source = UINT64_MAX;
	o.machine.name = "cpu";
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	memset(&r, 0, sizeof r);
	memset(&report, 0, sizeof report);
	report.verified = -1;
	r.o = &o;
	r.progress = tool_bar_begin(&bar);
	rc = run_all(&r, &report, &e);
	tool_bar_end(&bar);
	if (!rc)
		rc = finish(&r, &report, &e);
	close_run(&r);
	return rc ? tool_fail("bfs", &e) : TOOL_OK;
}
