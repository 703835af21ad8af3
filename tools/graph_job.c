/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a job over a graph, and what the job holds while it runs. */
#include "graph_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_MODE = 256, OPT_JSON, OPT_SVG, OPT_TRUST, OPT_EXPLAIN, OPT_STEPS };

static const struct argp_option options[] = {
    {"undirected", 'u', NULL, 0, "add the opposite direction of every edge"},
    {"mode", OPT_MODE, "MODE", 0,
     "paged: through a cache; direct: loads from the store's memory; auto: the library chooses how the edges "
     "are read (default paged)"},
    {"json", OPT_JSON, "FILE", 0,
     "write the report to FILE as JSON; - is standard output, and then no table is printed"},
    {"svg", OPT_SVG, "FILE", 0,
     "with --mode paged: draw to FILE how many bytes were needed and how many were moved"},
    {"explain", OPT_EXPLAIN, NULL, 0, "with --mode auto: print what was sampled, what was chosen, and why"},
    {"steps", OPT_STEPS, NULL, 0,
     "report each step, such as a level, a round, a pass or an iteration: its frontier, the edges read, what "
     "was moved, its time"},
    {"trust", OPT_TRUST, NULL, 0, "do not read and check the whole .gng file before the run"},
    {0},
};

void graph_options_init(struct graph_options *o, const char *subcommand)
{
	o->subcommand = subcommand;
	o->machine.name = "cpu";
}

const char *graph_mode_name(enum graph_mode mode)
{
	return mode == GRAPH_PAGED ? "paged" : mode == GRAPH_DIRECT ? "direct" : "auto";
}

static void refuse_same_files(const struct graph_options *o, const struct argp_state *state)
{
	tool_own_file(state, "--json", o->json, o->graph);
	tool_own_file(state, "--json", o->json, o->out);
	tool_own_file(state, "--json", o->json, o->svg);
	tool_own_file(state, "--out", o->out, o->graph);
	tool_own_file(state, "--out", o->out, o->svg);
	tool_own_file(state, "--svg", o->svg, o->graph);
}

/* Options that need each other, or rule each other out. */
static void check_together(struct graph_options *o, const struct argp_state *state)
{
	tool_far_refuse_tiles(&o->far, state);
	if (o->far.baseline)
		o->mode = GRAPH_DIRECT;
	if (!o->graph)
		argp_error(state, "no graph given; give GRAPH, see --help");
	if (o->mode == GRAPH_DIRECT && !tool_far_is_memory(&o->far))
		argp_error(
		    state,
		    "--mode direct needs --store host or peer:GPUS: threads cannot load from a file, a "
		    "drive or another machine without a cache");
	if (o->mode == GRAPH_AUTO && o->far.page_bytes)
		argp_error(state,
		           "--page is for --mode paged: --mode auto chooses the page size; leave --page out");
	if (o->explain && o->mode != GRAPH_AUTO)
		argp_error(
		    state,
		    "--explain is for --mode auto: the other modes choose nothing; leave --explain out");
	if (o->svg && o->mode != GRAPH_PAGED)
		argp_error(state,
		           "--svg is for --mode paged: it draws the traffic of the cache; leave --svg out");
	refuse_same_files(o, state);
}

static void set_defaults(struct graph_options *o)
{
	if (o->mode == GRAPH_PAGED)
		tool_tuned_defaults(o->subcommand, o->machine.name, &o->far.page_bytes, NULL, NULL);
	if (!o->far.page_bytes)
		o->far.page_bytes = 4096;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const modes[] = {"paged", "direct", "auto", NULL};
	struct graph_options *o = (struct graph_options *)state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->machine;
		o->far.drives = true;
		state->child_inputs[1] = &o->far;
		return 0;
	case OPT_MODE:
		o->mode = (enum graph_mode)tool_word(state, "--mode", arg, modes);
		o->far.said = "--mode";
		return 0;
	case 'u': o->undirected = true; return 0;
	case OPT_JSON: o->json = arg; return 0;
	case OPT_SVG: o->svg = arg; return 0;
	case OPT_TRUST: o->trust = true; return 0;
	case OPT_EXPLAIN: o->explain = true; return 0;
	case OPT_STEPS: o->steps = true; return 0;
	case ARGP_KEY_ARG: tool_argument(state, &o->graph, "graph", arg); return 0;
	case ARGP_KEY_END: check_together(o, state); return 0;
	case ARGP_KEY_SUCCESS: set_defaults(o); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&tool_machine_argp}, {&tool_far_argp}, {0}};

static const struct argp argp = {options, parse, NULL, NULL, children};

const struct argp_child graph_options_child[] = {{&argp}, {0}};

/* ---- the job ---- */

static int make_room(struct graph_job *j, struct gn_error *e)
{
	const uint64_t vertices = j->input.vertices;

	j->result = (uint32_t *)malloc((vertices ? vertices : 1) * sizeof *j->result);
	return j->result ? 0
	                 : gn_error_set(e, -GN_ENOMEM, "out of memory for the results of %llu vertices",
	                                (unsigned long long)vertices);
}

struct graph_steps graph_job_steps(const struct graph_job *j, const struct graph_steps_kind *kind,
                                   const struct gn_cache_statistics *before)
{
	struct graph_steps s = {0};

	s.kind = kind;
	s.wanted = j->options->steps;
	if (j->options->mode == GRAPH_PAGED)
		s.cache = j->arrays.cache;
	if (before)
		s.before = *before;
	return s;
}

int graph_job_reference(struct graph_job *j, uint32_t bytes, void **want, struct gn_error *e)
{
	const uint64_t vertices = j->input.vertices;
	const int rc = graph_input_load(&j->input, &j->progress, e);

	*want = rc ? NULL : malloc((vertices ? vertices : 1) * bytes);
	return rc || *want ? rc
	                   : gn_error_set(e, -GN_ENOMEM, "out of memory for the reference of %llu vertices",
	                                  (unsigned long long)vertices);
}

static int open_job(struct graph_job *j, struct gn_error *e)
{
	int rc = simt_open(&j->machine, &j->options->machine, e);

	if (!rc)
		rc = graph_input_open(&j->input, j->machine, j->options, &j->progress, e);
	if (!rc)
		rc = graph_arrays_open(&j->arrays, j->machine, &j->input, j->options, e);
	if (!rc)
		rc = graph_state_open(&j->state, j->machine, j->options, j->input.vertices, e);
	if (!rc)
		rc = graph_layout_open(&j->layout, j->machine, &j->input, j->options, &j->arrays.graph, e);
	if (j->state.store)
		j->arrays.graph.state = &j->state;
	return rc ? rc : make_room(j, e);
}

static void close_job(struct graph_job *j)
{
	graph_state_close(&j->state);
	if (j->machine)
		gn_balance_remove(j->machine, &j->arrays.graph);
	graph_arrays_close(&j->arrays, j->machine);
	graph_input_close(&j->input);
	simt_close(j->machine);
	graph_steps_free(&j->steps);
	free(j->result);
}

/* The report's parts that do not depend on the job. */
static void describe(const struct graph_job *j, struct graph_report *r)
{
	r->options = j->options;
	r->input = &j->input;
	r->layout = j->layout;
	simt_describe(j->machine, &r->machine);
	graph_arrays_describe(&j->arrays, r);
	if (j->state.cache)
		gn_cache_describe(j->state.cache, &r->state_cache, NULL);
	gn_store_get_statistics(j->input.store, &r->store);
	snprintf(r->path, sizeof r->path, "%s (%u processors, warps of %u), %s, %s", r->machine.name,
	         r->machine.processors, r->machine.warp_width, graph_mode_name(j->options->mode),
	         gn_store_path(j->input.store));
}

/* ---- the subcommand ---- */

static int check_files(const struct graph_options *o, struct gn_error *e)
{
	int rc = tool_can_write(o->out, e);

	if (!rc)
		rc = tool_can_write(o->json, e);
	return rc ? rc : tool_can_write(o->svg, e);
}

static int run(const struct graph_command *c, struct graph_job *j, void *user, struct graph_report *r,
               struct gn_error *e)
{
	int rc = check_files(j->options, e);

	if (!rc)
		rc = open_job(j, e);
	r->needed_bytes = j->input.bytes;
	if (!rc && c->steps) {
		j->steps = graph_job_steps(j, c->steps, NULL);
		r->steps = &j->steps;
	}
	if (!rc)
		rc = c->run(user, j, r, e);
	if (rc)
		return rc;
	describe(j, r);
	if (j->options->verify && c->verify)
		rc = c->verify(user, j, e);
	r->verified = j->options->verify ? !rc : -1;
	return rc;
}

/* The table is printed even if a file could not be written: the work is done. */
static int finish(const struct graph_command *c, const struct graph_job *j, const void *user,
                  const struct graph_report *r, struct gn_error *e)
{
	const struct graph_options *o = j->options;
	int rc = 0;

	if (o->out)
		rc = tool_write_file(o->out, j->result, j->input.vertices * sizeof *j->result, e);
	if (!rc && o->json)
		rc = tool_write_json(c->json(user, r), o->json, e);
	if (!rc && o->svg)
		rc = graph_report_svg(r, c, e);
	if (tool_to_stdout(o->json))
		return rc;
	graph_report_begin(r, stdout);
	c->print(user, r);
	graph_report_end(r, c->verified, stdout);
	return rc;
}

int graph_command_run(const struct graph_command *c, const struct graph_options *o, void *user)
{
	struct graph_report report = {0};
	struct gn_error e = {0};
	struct graph_job job = {0};
	struct tool_bar bar;
	int rc;

	job.options = o;
	job.progress = tool_bar_begin(&bar);
	rc = run(c, &job, user, &report, &e);
	tool_bar_end(&bar);
	if (!rc)
		rc = finish(c, &job, user, &report, &e);
	close_job(&job);
	return rc ? tool_fail(o->subcommand, &e) : TOOL_OK;
}
