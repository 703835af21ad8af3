/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/sampling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct running {
	const struct scope_plan *plan;
	struct scope_machine machine; /* with the limits of the next cell */
	double seconds; /* that the user gives a cell */
	double began, budget;
	uint32_t cells, to_measure, measured;
	json_t *context;
	const struct scope_row *hung; /* its last cell did not end */
	bool stopped;
};

static double spent(const struct running *x)
{
	return scope_clock() - x->began;
}

/* Opening, filling and checking take time too: sampling gets two thirds of a cell's share. */
static void share_out(struct running *x)
{
	const double share = (x->budget - spent(x)) / (x->to_measure - x->measured);

	x->machine.most_seconds = x->budget > 0 ? fmin(x->seconds, fmax(share * 2 / 3, 0.01)) : x->seconds;
}

static double seconds_left(const struct running *x)
{
	const double so_far = spent(x);
	const double left = x->measured ? so_far / x->measured * (x->to_measure - x->measured) : -1;

	return x->budget > 0 ? fmin(left, fmax(x->budget - so_far, 0)) : left;
}

static void skip(struct scope_result *r, const struct scope_cell *c, const char *why)
{
	memset(r, 0, sizeof *r);
	r->cell = *c;
	r->status = SCOPE_SKIPPED;
	snprintf(r->why, sizeof r->why, "%s", why);
}

static const char *left_out(const struct running *x, const struct scope_cell *c)
{
	if (x->stopped)
		return "the run was interrupted";
	if (x->hung == c->row)
		return "a cell of this row did not end";
	return x->budget > 0 && spent(x) > x->budget ? "the time for all was over" : NULL;
}

static void measure(struct running *x, uint32_t k, struct scope_result *r)
{
	const char *why;
	const struct scope_cell *c = scope_plan_cell(x->plan, k, &why);

	if (!why)
		why = left_out(x, c);
	if (why) {
		skip(r, c, why);
		return;
	}
	share_out(x);
	if (!scope_measure_within(c, &x->machine, r))
		x->hung = c->row;
	if (c->row->timer != SCOPE_HOST_CLOCK)
		json_object_set_new(x->context, "gpu_links_busy", scope_environment_links());
	x->measured++;
}

static uint32_t count_to_measure(const struct scope_plan *p)
{
	uint32_t count = 0;

	for (uint32_t k = 0; k < scope_plan_count(p); k++) {
		const char *why;

		scope_plan_cell(p, k, &why);
		count += !why;
	}
	return count;
}

static struct scope_progress progress_at(const struct running *x, const struct scope_report *report)
{
	const uint32_t k = report->results;
	struct scope_progress now = {k, x->cells, seconds_left(x), NULL, k ? &report->result[k - 1] : NULL};
	const char *why;

	if (k < x->cells)
		now.next = scope_plan_cell(x->plan, k, &why);
	return now;
}

int scope_run(const struct scope_plan *p, const struct scope_machine *m, double budget,
	      bool (*step)(void *user, const struct scope_progress *progress), void *user, struct scope_report *report)
{
	struct running x = {p, *m, m->most_seconds, scope_clock(), budget, scope_plan_count(p), count_to_measure(p), 0, NULL, NULL, false};

	memset(report, 0, sizeof *report);
	report->context = scope_environment(m);
	report->result = (struct scope_result *)calloc(x.cells ? x.cells : 1, sizeof *report->result);
	if (!report->context || !report->result) {
		scope_report_free(report);
		return -GN_ENOMEM;
	}
	x.context = report->context;
	for (;;) {
		const struct scope_progress now = progress_at(&x, report);

		if (step && !step(user, &now))
			x.stopped = true;
		if (report->results == x.cells)
			return 0;
		measure(&x, report->results, &report->result[report->results]);
		report->results++;
	}
}
