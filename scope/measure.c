/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/sampling.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* A measurement that is under way. */
struct measuring {
	const struct scope_row *row;
	const struct scope_machine *machine;
	uint32_t wanted; /* samples; 0: this is the first round */
	struct scope_result *result;
	void *state;
	uint64_t operations;
	double began;    /* to warm up */
	long switches;   /* of this process' threads against their will, during the last sample */
	bool *disturbed; /* each sample that was kept: another program ran instead */
	uint32_t room;
	struct gn_error error;
};

__attribute__((format(printf, 2, 3))) static void note(struct measuring *x, const char *format, ...)
{
	char *why = x->result->why;
	va_list list;
	size_t length;

	if (why[0])
		snprintf(why + strlen(why), SCOPE_WHY - strlen(why), "; ");
	length = strlen(why);
	va_start(list, format);
	vsnprintf(why + length, SCOPE_WHY - length, format, list);
	va_end(list);
}

/* ---- one sample ---- */

/*
 * How often a thread of this process had to leave its processor to another program, or to another thread of
 * its own.
 */
static long switches(void)
{
	struct rusage use;

	return getrusage(RUSAGE_SELF, &use) ? 0 : use.ru_nivcsw;
}

static int take(struct measuring *x, struct scope_sample *s)
{
	const long before = switches();
	int rc;

	memset(s, 0, sizeof *s);
	rc = x->row->functions->sample(x->state, x->operations, s, &x->error);
	if (rc)
		return rc;
	x->switches = switches() - before;
	if (s->seconds <= 0 || !s->operations || (x->row->unit == SCOPE_BANDWIDTH && !s->bytes))
		return gn_error_set(
		    &x->error, -GN_EIO, "a sample is not plausible: %llu operations and %llu bytes in %g s",
		    (unsigned long long)s->operations, (unsigned long long)s->bytes, s->seconds);
	return 0;
}

static double value_of(const struct scope_row *row, const struct scope_sample *s)
{
	switch (row->unit) {
	case SCOPE_BANDWIDTH: return (double)s->bytes / s->seconds;
	case SCOPE_LATENCY: return s->seconds / (double)s->operations;
	default: return (double)s->operations / s->seconds;
	}
}

static int grow(double **list, uint32_t room)
{
	double *larger = (double *)realloc(*list, room * sizeof **list);

	if (larger)
		*list = larger;
	return larger ? 0 : -GN_ENOMEM;
}

static int reserve(struct measuring *x)
{
	struct scope_result *r = x->result;
	const uint32_t room = x->room ? 2 * x->room : 64;
	bool *disturbed;

	if (r->samples < x->room)
		return 0;
	disturbed = (bool *)realloc(x->disturbed, room * sizeof *disturbed);

	if (disturbed)
		x->disturbed = disturbed;
	if (!disturbed || grow(&r->value, room) || grow(&r->seconds, room) ||
	    (x->row->second && grow(&r->second, room)))
		return gn_error_set(&x->error, -GN_ENOMEM, "out of memory for %u samples", room);
	x->room = room;
	return 0;
}

static int keep(struct measuring *x, const struct scope_sample *s)
{
	struct scope_result *r = x->result;
	const int rc = reserve(x);

	if (rc)
		return rc;
	x->disturbed[r->samples] = x->switches > 0;
	r->value[r->samples] = value_of(x->row, s);
	r->seconds[r->samples] = s->seconds / (double)s->operations;
	if (x->row->second)
		r->second[r->samples] = s->second;
	r->operations = s->operations;
	r->bytes = s->bytes;
	r->samples++;
	return 0;
}

/* ---- how long a sample is ---- */

enum { SLOW = 20 }; /* no first sample takes so many times as long as the next */

static double tick(const struct measuring *x)
{
	const struct scope_machine *m = x->machine;

	return x->row->timer == SCOPE_HOST_CLOCK || m->event_tick <= 0 ? m->host_tick : m->event_tick;
}

/* Not so short either that the samples of a round are more than anybody looks at. */
static double least_region(const struct measuring *x)
{
	return fmax(SCOPE_TICKS * tick(x), x->machine->most_seconds / 200);
}

/* Was that too short? Then the next has more operations, if the row can. */
static bool lengthen(struct measuring *x, const struct scope_sample *s)
{
	const uint64_t before = x->operations;

	if (s->operations >= x->operations)
		x->operations = scope_operations(x->operations, s->seconds, least_region(x));
	return x->operations != before;
}

/*
 * The first sample of a length may be slow because it is the first: the second decides, for now, if it could
 * matter.
 */
static int choose_operations(struct measuring *x)
{
	struct scope_sample s = {0, 0, 0, 0};
	uint32_t long_enough = 0;
	int rc = 0;

	/* also in a later round: what was quick before may be a thousand times slower now */
	x->operations = 1;
	while (long_enough < 2 && s.seconds < SLOW * least_region(x) && !(rc = take(x, &s)))
		long_enough = lengthen(x, &s) ? 0 : long_enough + 1;
	return rc;
}

/* ---- warming up ---- */

/* Seconds of it: a processor takes some to reach its clock, a GPU more. */
static double least_warm(const struct measuring *x)
{
	static const double host[] = {0.02, 0.1, 0.2}, device[] = {0.06, 0.2, 0.4};
	const enum scope_effort effort = x->machine->effort;
	const double least = x->row->timer == SCOPE_HOST_CLOCK ? host[effort] : device[effort];

	return fmin(x->wanted ? least / 2 : least, x->machine->most_seconds / 3);
}

/* Choosing the operations was the beginning of it. */
static int warm_up(struct measuring *x)
{
	const double least = least_warm(x), most = x->machine->most_seconds / 3;
	double last[SCOPE_WINDOW];
	uint32_t count = 0;

	for (;;) {
		const double spent = scope_clock() - x->began;
		const bool steady = count >= SCOPE_WINDOW && scope_steady(last);
		struct scope_sample s;
		int rc;

		if (spent >= most || (spent >= least && steady))
			return 0;
		rc = take(x, &s);
		if (rc)
			return rc;
		if (lengthen(x, &s)) /* those before were long because something else ran */
			count = 0;
		if (count >= SCOPE_WINDOW)
			memmove(last, last + 1, (SCOPE_WINDOW - 1) * sizeof *last);
		last[count < SCOPE_WINDOW ? count : SCOPE_WINDOW - 1] = value_of(x->row, &s);
		count++;
	}
}

/* ---- sampling ---- */

enum { LEAST_IN_TIME = 3 }; /* samples that a round has, however slow it is */

/* Those of a later round are as many as the first had, so that every round counts as much. */
static int sample(struct measuring *x)
{
	const struct scope_machine *m = x->machine;
	const struct scope_result *r = x->result;
	const uint32_t most = x->wanted ? x->wanted : m->most_samples;
	const double began = scope_clock();
	uint32_t look = SCOPE_LEAST_SAMPLES;
	double share;

	while (r->samples < most) {
		struct scope_sample s;
		int rc = take(x, &s);
		double spent;

		if (!rc)
			rc = keep(x, &s);
		if (rc)
			return rc;
		spent = scope_clock() - began;
		if (r->samples >= LEAST_IN_TIME && spent > m->most_seconds)
			break;
		/* a moment's samples agree too well */
		if (x->wanted || r->samples < look || spent < m->most_seconds / 10)
			continue;
		if (scope_enough(r->value, r->samples, m->spread, &share))
			break;
		/* looking after every sample would stop at a lucky one */
		look = r->samples + r->samples / 4 + 1;
	}
	return 0;
}

/*
 * A sample in which another program had the processor says how long that one ran. Where a quarter or more
 * went undisturbed, and three at least, the rest is left out; where threads are more than processors, none
 * does, and all count.
 */
static void leave_out(struct measuring *x)
{
	struct scope_result *r = x->result;
	const uint32_t taken = r->samples;
	uint32_t kept = 0;

	for (uint32_t k = 0; k < taken; k++)
		kept += !x->disturbed[k];
	if (kept == taken || kept < LEAST_IN_TIME || kept < taken / 4)
		return;
	r->samples = 0;
	for (uint32_t k = 0; k < taken; k++) {
		if (x->disturbed[k])
			continue;
		r->value[r->samples] = r->value[k];
		r->seconds[r->samples] = r->seconds[k];
		if (r->second)
			r->second[r->samples] = r->second[k];
		r->samples++;
	}
	if (10 * kept < 9 * taken)
		note(x, "other programs ran in %u of %u samples, which are left out", taken - kept, taken);
}

static void look_for_short(struct measuring *x)
{
	struct scope_statistics s;
	double region;

	if (scope_statistics_of(x->result->seconds, x->result->samples, &s))
		return;
	region = s.median * (double)x->result->operations;
	if (region < 0.8 * SCOPE_TICKS * tick(x))
		note(x, "regions of %.3g us are shorter than %d steps of the clock", 1e6 * region,
		     SCOPE_TICKS);
}

static void look_for_drift(struct measuring *x)
{
	const struct scope_result *r = x->result;
	const double drift = scope_drift(r->value, r->samples);

	if (fabs(drift) > 0.1)
		note(x,
		     "the last third of the samples is %.0f %% %s than the first: clocks changed, or "
		     "something else ran",
		     100 * fabs(drift), (drift < 0) == (x->row->unit != SCOPE_LATENCY) ? "slower" : "faster");
}

/* ---- a round of a cell ---- */

static int measure_open(struct measuring *x)
{
	int rc;

	x->began = scope_clock();
	rc = choose_operations(x);
	if (!rc)
		rc = warm_up(x);
	if (!rc)
		rc = sample(x);
	if (!rc && (rc = x->row->functions->verify(x->state, &x->error)))
		return rc;
	if (!rc) {
		leave_out(x);
		x->result->end[x->result->rounds++] = x->result->samples;
		look_for_short(x);
		look_for_drift(x);
	}
	return rc;
}

/*
 * What cannot be opened because it is not to be had here is no failure; nor what was to be had a round
 * before.
 */
static void fail(struct measuring *x, int rc, bool opened)
{
	struct scope_result *r = x->result;

	scope_result_free(r);
	r->status = !opened && (rc == -GN_ENOTSUP || x->wanted) ? SCOPE_SKIPPED : SCOPE_FAILED;
	snprintf(r->why, sizeof r->why, "%.*s", SCOPE_WHY - 1,
	         x->error.text[0] ? x->error.text : gn_error_name(rc));
}

void scope_measure(const struct scope_cell *c, const struct scope_machine *m, uint32_t samples,
                   struct scope_result *r)
{
	const struct scope_functions *f = c->row->functions;
	struct measuring x = {c->row, m, samples, r};
	bool opened = false;
	int rc;

	memset(r, 0, sizeof *r);
	r->cell = *c;
	x.state = calloc(1, f->state_bytes);
	rc = x.state ? f->open(c, m, x.state, &x.error)
	             : gn_error_set(&x.error, -GN_ENOMEM, "out of memory for a cell");
	if (x.state) {
		opened = !rc;
		rc = rc ? rc : measure_open(&x);
		f->close(x.state);
	}
	free(x.state);
	free(x.disturbed);
	if (rc)
		fail(&x, rc, opened);
}

void scope_report_free(struct scope_report *r)
{
	for (uint32_t k = 0; k < r->results; k++)
		scope_result_free(&r->result[k]);
	free(r->result);
	json_decref(r->context);
	memset(r, 0, sizeof *r);
}
