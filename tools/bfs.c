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
    {"source", 's', "N", 0, "vertex to start from (needed)", 0},
    {"undirected", 'u', NULL, 0, "add the other direction of every edge", 0},
    {"store", OPT_STORE, "KIND", 0, "where the graph rests: host or file (default file for .gng, else host)",
     0},
    {"cache", OPT_CACHE, "SIZE", 0, "bytes of cache, such as 64M (default one eighth of the graph)", 0},
    {"page", OPT_PAGE, "SIZE", 0, "page size, a power of two from 512 to 2M (default as tuned, else 4K)", 0},
    {"mode", OPT_MODE, "MODE", 0,
     "paged; direct: loads on the store's memory; auto: the edges as they are best read (default paged)", 0},
    {"policy", OPT_POLICY, "NAME", 0, "which page leaves: clock, fifo or random (default clock)", 0},
    {"deadline", OPT_DEADLINE, "MS", 0, "give a transfer up after so many milliseconds (default 10000)", 0},
    {"out", OPT_OUT, "FILE", 0,
     "write the depths: a little-endian u32 a vertex, 0xffffffff where unreachable", 0},
    {"json", OPT_JSON, "FILE", 0, "write the report as JSON; - for standard output, without the table", 0},
    {"svg", OPT_SVG, "FILE", 0, "with --mode paged: draw how many bytes were needed and moved", 0},
    {"explain", OPT_EXPLAIN, NULL, 0, "with --mode auto: what was seen, what was chosen and why", 0},
    {"verify", OPT_VERIFY, NULL, 0, "check every depth against a search in memory", 0},
    {"trust", OPT_TRUST, NULL, 0, "do not read a .gng file through to check it before the search", 0},
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
		argp_error(state, "a graph is needed; see --help");
	if (o->source == UINT64_MAX)
		argp_error(state, "--source N is needed: the vertex to start from");
	if (o->mode == BFS_DIRECT && o->store && !strcmp(o->store, "file"))
		argp_error(state,
		           "--mode direct needs --store host: a file cannot be loaded from byte by byte");
	if (o->mode == BFS_AUTO && o->page_bytes)
		argp_error(state, "--page is for --mode paged: auto chooses the size of pages itself");
	if (o->explain && o->mode != BFS_AUTO)
		argp_error(state, "--explain is for --mode auto: in the other modes nothing is chosen");
	if (o->svg && o->mode != BFS_PAGED)
		argp_error(state, "--svg is for --mode paged: it draws what went through the cache");
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
			argp_error(state, "%s: one argument too many; one graph is searched", arg);
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
    "graph rests "
    "in a store; the threads of the machine bring in its pages by themselves.\vExit status: 0 it went well, "
    "1 the run "
    "failed, 2 it was called wrongly.",
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
		return gn_error_set(e, -GN_ENOMEM, "no memory for %llu depths",
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
		return gn_error_set(e, -GN_ENOMEM, "no memory for %llu depths",
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
		rc = gn_error_set(e, -GN_ERANGE, "--source %llu: %s has %llu vertices, counted from 0",
		                  (unsigned long long)r->o->source, r->o->graph,
		                  (unsigned long long)r->input.vertices);
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
