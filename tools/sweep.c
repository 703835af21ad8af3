/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel sweep: a job with smaller and smaller caches. */
#include "sweep.h"

#include <stdlib.h>
#include <string.h>

#include "tool.h"

enum { OPT_PRESSURE = 256, OPT_BASELINE, OPT_REPEAT, OPT_VERIFY, OPT_JSON, OPT_SVG };

static const struct argp_option options[] = {
    {"pressure", OPT_PRESSURE, "LIST", 0,
     "bytes of the data over bytes of the cache, ascending; 1 is always among them (default 1,2,3,4,8,16)"},
    {"baseline", OPT_BASELINE, "LIST", 0,
     "measure these too: incore, zerocopy, managed, tiled; the job says what each is (default none)"},
    {"repeat", OPT_REPEAT, "N", 0, "runs of each point, 1 to 99; the report shows the median (default 3)"},
    {"verify", OPT_VERIFY, NULL, 0, "have the job verify the first run of each point"},
    {"json", OPT_JSON, "FILE", 0,
     "write the report to FILE as JSON; - is standard output, and then no table is printed"},
    {"svg", OPT_SVG, "FILE", 0, "draw slowdown over pressure to FILE"},
    {0},
};

static void check_list(const struct argp_state *state, int rc, const struct gn_error *e)
{
	if (rc)
		argp_error(state, "%s", e->text);
}

/* All that follows is the job's. */
static void take_job(struct argp_state *state, struct sweep_request *q, const char *name)
{
	struct gn_error e;

	tool_word(state, "JOB", name, sweep_jobs);
	q->job = &state->argv[state->next - 1];
	state->next = state->argc;
	check_list(state, sweep_check_job(q->job, &e), &e);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct sweep_request *q = (struct sweep_request *)state->input;
	struct gn_error e;

	switch (key) {
	case OPT_PRESSURE: check_list(state, sweep_read_pressures(q, arg, &e), &e); return 0;
	case OPT_BASELINE: check_list(state, sweep_read_baselines(q, arg, &e), &e); return 0;
	case OPT_REPEAT: q->repeat = (unsigned)tool_number(state, "--repeat", arg, 1, SWEEP_RUNS); return 0;
	case OPT_VERIFY: q->verify = true; return 0;
	case OPT_JSON: q->json = arg; return 0;
	case OPT_SVG: q->svg = arg; return 0;
	case ARGP_KEY_ARG: take_job(state, q, arg); return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state,
		           "no job given; give one with its arguments, for example bfs g.gng --source 0");
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    options,
    parse,
    "JOB [ARGUMENT...]",
    "Run a job over data in a store with smaller and smaller caches, and show how much slower it becomes. "
    "JOB is bfs, cc, sssp, pagerank, bc, tc, add, mvt, atax, bicg, stencil, sort or query, with its own "
    "arguments behind it. Each run is a process of its own. The points take turns, after one run that does "
    "not count and tells how large the data is.\vThe slowdown is the time over that of the baseline incore "
    "if it is measured, else over that of the cache with room for all data (pressure 1). A point that the "
    "job refuses is left out, as is a cache of less than 16 pages.\n\nExit status: 0 success, 1 a run "
    "failed, 2 the command line is wrong.",
};

/* ---- runs ---- */

/* What a run that failed said, and which it was. */
static void print_failure(const struct sweep_request *q, const char *which, int status, const char *said)
{
	fputs(said, stderr);
	if (*said && said[strlen(said) - 1] != '\n')
		fputc('\n', stderr);
	fprintf(stderr, "grapnel sweep: the run of %s %s failed with exit status %d\n", q->job[0], which,
	        status);
}

static int no_member(const struct sweep_request *q, const char *member, struct gn_error *e)
{
	return gn_error_set(
	    e, -GN_EBADMSG,
	    "%s reports no %s, so it cannot be swept; leave out what takes its cache away, such as --mode "
	    "direct",
	    q->job[0], member);
}

/* What the first report says of the data. */
static int read_first(struct sweep *s, const json_t *report, struct gn_error *e)
{
	const json_t *data = json_object_get(report, "data_bytes");
	const json_t *page = json_object_get(json_object_get(report, "cache"), "page_bytes");

	if (!report)
		return gn_error_set(
		    e, -GN_EBADMSG,
		    "%s ended without a report; run it by itself, without the sweep, to see what it "
		    "does",
		    s->request->job[0]);
	if (!json_is_integer(data))
		return no_member(s->request, "data_bytes", e);
	if (!json_is_integer(page) || json_integer_value(page) <= 0)
		return no_member(s->request, "cache", e);
	s->data_bytes = (uint64_t)json_integer_value(data);
	s->page_bytes = (uint32_t)json_integer_value(page);
	s->machine = json_incref(json_object_get(report, "machine"));
	return sweep_plan(s, e);
}

/* The run that does not count. Returns an exit status; the job's own where the command line is wrong. */
static int run_first(struct sweep *s, struct gn_error *e)
{
	struct sweep_run run;
	int rc = sweep_run_job(s->request, NULL, false, &run, e), status = run.status;

	if (!rc && status) {
		print_failure(s->request, "that tells how large the data is", status, run.said);
	} else if (!rc) {
		fputs(run.said, stderr);
		rc = read_first(s, run.report, e);
	}
	sweep_run_free(&run);
	if (rc)
		return tool_fail("sweep", e);
	return status && status != TOOL_USAGE ? TOOL_FAILED : status;
}

/* @why  taken over */
static void stop_point(struct sweep_point *p, enum sweep_state state, int status, char *why)
{
	p->state = state;
	p->status = status;
	p->why = why;
}

/* The job took the same arguments before: what it calls wrong now is this point. */
static void keep_failure(struct sweep_point *p, struct sweep_run *run)
{
	stop_point(p, run->status == TOOL_USAGE ? SWEEP_LEFT_OUT : SWEEP_FAILED, run->status, run->said);
	run->said = NULL;
}

static void keep_run(struct sweep_point *p, struct sweep_run *run)
{
	const json_t *seconds = json_object_get(run->report, "seconds");

	if (!json_is_number(seconds)) {
		stop_point(p, SWEEP_FAILED, run->status, strdup("the report of the run has no seconds"));
		return;
	}
	p->seconds[p->runs++] = json_number_value(seconds);
	if (!p->report)
		p->report = json_incref(run->report);
}

static void measure_point(const struct sweep *s, struct sweep_point *p)
{
	struct sweep_run run;
	struct gn_error e;

	if (p->state != SWEEP_OPEN)
		return;
	if (sweep_run_job(s->request, p, s->request->verify && !p->runs, &run, &e))
		stop_point(p, SWEEP_FAILED, TOOL_FAILED, strdup(e.text));
	else if (run.status)
		keep_failure(p, &run);
	else
		keep_run(p, &run);
	sweep_run_free(&run);
}

/* In rounds: what else the machine does meanwhile hits all points alike. */
static int measure(struct sweep *s, struct gn_error *e)
{
	const uint32_t all = s->request->repeat * s->points;
	struct tool_bar bar;
	const struct gn_progress progress = tool_bar_begin(&bar);

	for (uint32_t k = 0; k < all; k++) {
		gn_progress_step(&progress, "runs", k, all);
		measure_point(s, &s->point[k % s->points]);
	}
	tool_bar_end(&bar);
	return sweep_sum_up(s) ? gn_error_set(e, -GN_ENOMEM, "out of memory for the samples") : 0;
}

/* ---- what is said ---- */

static void print_point_failure(const struct sweep_request *q, const struct sweep_point *p)
{
	char which[64];

	if (p->baseline)
		snprintf(which, sizeof which, "with --baseline %s", p->baseline);
	else
		snprintf(which, sizeof which, "with --cache %llu", (unsigned long long)p->cache_bytes);
	print_failure(q, which, p->status, p->why ? p->why : "");
}

/* Returns an exit status. */
static int print_failures(const struct sweep *s)
{
	int status = TOOL_OK;

	for (uint32_t k = 0; k < s->points; k++)
		if (s->point[k].state == SWEEP_FAILED) {
			print_point_failure(s->request, &s->point[k]);
			status = TOOL_FAILED;
		}
	return status;
}

static int finish(const struct sweep *s, struct gn_error *e)
{
	const struct sweep_request *q = s->request;
	int rc = q->json ? tool_write_json(sweep_json(s), q->json, e) : 0;

	if (!rc && q->svg)
		rc = sweep_draw(s, q->svg, e);
	if (!rc && !tool_to_stdout(q->json))
		sweep_print(s, stdout);
	return rc;
}

static int check_files(const struct sweep_request *q, struct gn_error *e)
{
	const int rc = tool_can_write(q->json, e);

	return rc ? rc : tool_can_write(q->svg, e);
}

static int run_sweep(struct sweep *s)
{
	struct gn_error e;
	int status, rc = check_files(s->request, &e);

	if (rc)
		return tool_fail("sweep", &e);
	status = run_first(s, &e);
	if (status)
		return status;
	rc = measure(s, &e);
	if (!rc) {
		status = print_failures(s);
		rc = finish(s, &e);
	}
	return rc ? tool_fail("sweep", &e) : status;
}

int tool_sweep(int argc, char **argv)
{
	struct sweep_request q;
	struct gn_error e;
	struct sweep *s = (struct sweep *)calloc(1, sizeof *s);
	int status;

	if (!s) {
		gn_error_set(&e, -GN_ENOMEM, "out of memory");
		return tool_fail("sweep", &e);
	}
	memset(&q, 0, sizeof q);
	q.repeat = 3;
	sweep_read_pressures(&q, "1,2,3,4,8,16", &e);
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &q);
	s->request = &q;
	status = run_sweep(s);
	sweep_free(s);
	free(s);
	return status;
}
