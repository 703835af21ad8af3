/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - passes over the cells of a plan. What scatters from one run to the next is where a buffer's pages
 * landed and what else ran in that second: each pass opens its cells anew, and passes lie as far apart as the
 * run is long. The first takes all cells; later ones those that are not sure yet, the widest first where
 * there is no time for all.
 */
#include "scope/sampling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "scope/schedule.h"
#include "scope/system.h"

struct running {
	const struct scope_plan *plan;
	struct scope_machine machine;       /* with the limits of the next round */
	const struct scope_machine *limits; /* as they were given */
	double began, budget;
	uint32_t cells, round, in_pass, at; /* the pass, its cells, how many of them are done */
	bool (*step)(void *user, const struct scope_progress *progress);
	void *user;
	struct scope_report *report;
	struct scope_turn *turn;      /* of each cell */
	uint32_t last;                /* measured before, `cells`: none */
	const struct scope_row *hung; /* a cell of it did not end */
	bool stopped;
};

static double spent(const struct running *x)
{
	return scope_clock() - x->began;
}

/* ---- time ---- */

/* The first pass should take so much of the budget, and all passes. */
static const double first_share = 0.4, last_share = 0.95;

/*
 * Opening, filling and checking take time too: sampling gets two thirds of a cell's share. Where they take
 * more than was thought, later cells still get a quarter of their share of all, as long as there is as much.
 */
static double first_seconds(const struct running *x)
{
	const double left = x->in_pass - x->at, now = spent(x);
	const double planned = (first_share * x->budget - now) / left,
	             least = last_share * x->budget / x->in_pass / 4;
	const double share = fmin(fmax(planned, least), (last_share * x->budget - now) / left);

	return x->budget > 0 ? fmin(x->limits->most_seconds, fmax(share * 2 / 3, 0.01))
	                     : x->limits->most_seconds;
}

/* That later passes may still take; this one half of it, unless it is little. */
static double seconds_of_pass(const struct running *x)
{
	const double left = last_share * x->budget - spent(x);

	return x->budget <= 0 ? INFINITY : left > 0.1 * x->budget ? left / 2 : left;
}

static double seconds_left(const struct running *x)
{
	const double so_far = spent(x), each = x->at ? so_far / x->at : -1;
	const double rounds = x->budget > 0 ? x->limits->most_rounds : x->limits->least_rounds;
	double left = each < 0 ? -1 : each * (rounds * x->in_pass - x->at);

	if (x->round > 1) { /* which others there will be is not known */
		left = 0;
		for (uint32_t k = x->last; k < x->cells; k++)
			left += x->turn[k].chosen ? x->turn[k].cost : 0;
	}
	return x->budget > 0 && x->round == 1 ? fmin(left, fmax(last_share * x->budget - so_far, 0)) : left;
}

double scope_run_seconds(const struct scope_plan *p, const struct scope_machine *m, double budget)
{
	double all = 0;

	for (uint32_t k = 0; k < scope_plan_count(p); k++) {
		const char *why;
		const struct scope_cell *c = scope_plan_cell(p, k, &why);
		const double open = (double)scope_cell_arg(c, "bytes", 0) / 1e9 +
		                    0.02; /* as measured: filling and checking, 1 GB/s */

		all += why ? 0
		           : m->least_rounds *
		                 (m->most_seconds / 2 + open); /* many are sure before their time is over */
	}
	return budget > 0 ? fmin(all, budget) : all;
}

/* ---- telling ---- */

static struct scope_progress progress_at(const struct running *x)
{
	const struct scope_progress now = {
	    x->round,   x->at,
	    x->in_pass, seconds_left(x),
	    NULL,       x->last < x->cells ? &x->report->result[x->last] : NULL,
	    NULL};

	return now;
}

static void tell(struct running *x, const struct scope_cell *next, const struct scope_result *result)
{
	struct scope_progress now = progress_at(x);

	now.next = next;
	now.result = result;
	if (x->step && !x->step(x->user, &now))
		x->stopped = true;
}

static void finish(struct running *x, uint32_t k)
{
	struct scope_result *r = &x->report->result[k];
	const size_t length = strlen(r->why);

	if (r->status == SCOPE_MEASURED && x->turn[k].width > x->limits->spread)
		snprintf(r->why + length, sizeof r->why - length, "%sstopped at a limit", length ? "; " : "");
	x->turn[k].told = x->turn[k].over = true;
	tell(x, NULL, r);
}

/* ---- a round of a cell ---- */

static void skip(struct scope_result *r, const char *why)
{
	r->status = SCOPE_SKIPPED;
	snprintf(r->why, sizeof r->why, "%s", why);
}

/* Why there is no first round, or NULL. */
static const char *left_out(const struct running *x, const struct scope_cell *c)
{
	if (x->stopped)
		return "the run was interrupted";
	if (x->hung == c->row)
		return "another cell of this row did not end";
	return x->budget > 0 && spent(x) > x->budget ? "the time for all was over" : NULL;
}

static void measure(struct running *x, uint32_t k, const struct scope_cell *c)
{
	struct scope_result *r = &x->report->result[k], round;
	const double began = scope_clock();

	x->machine.most_seconds = x->turn[k].seconds;
	if (!scope_measure_within(c, &x->machine, r->rounds ? r->end[0] : 0, &round))
		x->hung = c->row;
	x->turn[k].over = round.status == SCOPE_SKIPPED; /* it would be so again */
	if (!r->rounds)
		*r = round;
	else if (scope_result_pool(r, &round))
		x->turn[k].over = true;
	if (c->row->timer != SCOPE_HOST_CLOCK)
		json_object_set_new(x->report->context, "gpu_links_busy", scope_environment_links());
	x->turn[k].cost = scope_clock() - began;
	x->last = k;
	x->at++;
	scope_turn_judge(&x->turn[k], r, x->limits);
}

static void first_round(struct running *x, uint32_t k)
{
	const char *why;
	const struct scope_cell *c = scope_plan_cell(x->plan, k, &why);

	if (!why)
		tell(x, c, NULL);
	why = why ? why : left_out(x, c);
	x->turn[k].over = why != NULL;
	if (why) {
		skip(&x->report->result[k], why);
		return;
	}
	x->turn[k].seconds = first_seconds(x);
	measure(x, k, c);
}

static void later_round(struct running *x, uint32_t k)
{
	const char *why;
	const struct scope_cell *c = scope_plan_cell(x->plan, k, &why);

	tell(x, c, NULL);
	x->turn[k].over = left_out(x, c) != NULL;
	if (!x->turn[k].over && (x->budget <= 0 || spent(x) + x->turn[k].cost <= x->budget))
		measure(x, k, c);
}

/* ---- passes ---- */

/* Those that may still change are not told before the end; the rest in order. */
static void pass(struct running *x, void (*round)(struct running *x, uint32_t k))
{
	x->at = 0;
	x->round++;
	for (uint32_t k = 0; k < x->cells; k++) {
		if (!x->turn[k].chosen)
			continue;
		round(x, k);
		if (x->turn[k].over && !x->turn[k].told)
			finish(x, k);
	}
}

/* Returns how many cells the next pass has. */
static uint32_t choose(struct running *x)
{
	x->in_pass =
	    x->stopped ? 0 : scope_turns_choose(x->turn, x->report->result, x->cells, seconds_of_pass(x));
	return x->in_pass;
}

/* Seconds that all processors have worked, and that they have for this process. */
struct work {
	double all, own;
};

static struct work work_now(void)
{
	struct work now = {scope_system_busy(), 0};
	struct rusage use;

	if (!getrusage(RUSAGE_SELF, &use))
		now.own = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
		          1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
	return now;
}

/* What others took meanwhile, as a share of all processors: it says whether figures of shared memory can
 * repeat. */
static json_t *others_share(const struct running *x, const struct work *before)
{
	const struct work now = work_now();
	const double had = spent(x) * (double)sysconf(_SC_NPROCESSORS_ONLN);

	return before->all < 0 || had <= 0
	           ? json_null()
	           : json_real(fmax(0, (now.all - before->all) - (now.own - before->own)) / had);
}

static void run(struct running *x)
{
	const struct work before = work_now();

	for (uint32_t k = 0; k < x->cells; k++) {
		const char *why;

		x->report->result[k].cell = *scope_plan_cell(x->plan, k, &why);
		x->turn[k].chosen = true;
		x->in_pass += !why;
	}
	pass(x, first_round);
	while (choose(x))
		pass(x, later_round);
	json_object_set_new(x->report->context, "others_share", others_share(x, &before));
	for (uint32_t k = 0; k < x->cells; k++)
		if (!x->turn[k].told)
			finish(x, k);
}

int scope_run(const struct scope_plan *p, const struct scope_machine *m, double budget,
              bool (*step)(void *user, const struct scope_progress *progress), void *user,
              struct scope_report *report)
{
	struct running x;

	memset(&x, 0, sizeof x);
	x.plan = p;
	x.machine = *m;
	x.limits = m;
	x.began = scope_clock();
	x.budget = budget;
	x.last = x.cells = scope_plan_count(p);
	x.step = step;
	x.user = user;
	x.report = report;
	x.turn = (struct scope_turn *)calloc(x.cells + 1, sizeof *x.turn);
	memset(report, 0, sizeof *report);
	report->context = scope_environment(m);
	report->result = (struct scope_result *)calloc(x.cells + 1, sizeof *report->result);
	report->results = x.cells;
	if (x.turn && report->context && report->result)
		run(&x);
	else
		scope_report_free(report);
	free(x.turn);
	return report->context ? 0 : -GN_ENOMEM;
}
