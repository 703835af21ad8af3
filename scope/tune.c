/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a report to settings. Every setting is an object {value, why}: why holds the figures and the
 * reckoning, or which row is missing when value is null. Nothing is guessed.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scope/output/format.h"
#include "scope/tune.h"

/* What share of the best is enough: the rest costs more than it gives. */
static const double enough = 0.9;

/* ---- settings ---- */

static json_t *setting(json_t *value, const char *format, va_list list)
{
	char why[900];
	json_t *text;

	vsnprintf(why, sizeof why, format, list);
	text = json_string(why);
	return json_pack("{s:o, s:o}", "value", value, "why",
	                 text ? text : json_string("from rows whose names cannot be written"));
}

void scope_tune_set(json_t *to, const char *name, double value, const char *format, ...)
{
	const bool whole = value == floor(value) && value < 1e15;
	va_list list;

	va_start(list, format);
	json_object_set_new(to, name,
	                    setting(value < 0 ? json_null()
	                            : whole   ? json_integer((json_int_t)value)
	                                      : json_real(value),
	                            format, list));
	va_end(list);
}

/* ---- cells ---- */

bool scope_tune_is(const struct scope_tuning *t, const struct scope_read_cell *c, const char *name)
{
	const size_t n = strlen(t->machine);

	return c->status == SCOPE_MEASURED && !strncmp(c->row->name, t->machine, n) &&
	       c->row->name[n] == '/' && !strcmp(c->row->name + n + 1, name);
}

const struct scope_read_cell *scope_tune_best(const struct scope_tuning *t, const char *row, const char *arg,
                                              uint64_t value)
{
	const struct scope_read_cell *best = NULL;

	for (uint32_t k = 0; k < t->r->cells; k++) {
		const struct scope_read_cell *c = &t->r->cell[k];
		const bool more = best && scope_more_is_better(c->row->unit)
		                      ? c->s.median > best->s.median
		                      : best && c->s.median < best->s.median;

		if (scope_tune_is(t, c, row) && (!value || scope_read_arg(c, arg, 0) == value) &&
		    (!best || more))
			best = c;
	}
	return best;
}

/* ---- pages, and how many at once ---- */

/* The smallest page that reaches enough of the best. */
static void tune_page(struct scope_tuning *t)
{
	const struct scope_read_cell *best = scope_tune_best(t, "page-in", NULL, 0), *least = best;

	if (!best) {
		scope_tune_set(t->to, "page_bytes", -1, "not known: needs %s/page-in", t->machine);
		return;
	}
	for (uint32_t k = 0; k < t->r->cells; k++) {
		const struct scope_read_cell *c = &t->r->cell[k];

		if (scope_tune_is(t, c, "page-in") && c->s.median >= enough * best->s.median &&
		    scope_read_arg(c, "bytes", 0) < scope_read_arg(least, "bytes", 0))
			least = c;
	}
	least = scope_tune_best(t, "page-in", "bytes", scope_read_arg(least, "bytes", 0));
	t->page = (double)scope_read_arg(least, "bytes", 0);
	t->page_rate = least->s.median;
	scope_tune_set(
	    t->to, "page_bytes", t->page,
	    "pages of %s come in at %.4g GB/s, %.0f %% of the best of any size (%.4g GB/s with %s); the "
	    "smallest page that gives %.0f %% wastes least on what is not wanted",
	    scope_format_bytes(t->page).text, 1e-9 * t->page_rate, 100 * t->page_rate / best->s.median,
	    1e-9 * best->s.median, scope_format_bytes((double)scope_read_arg(best, "bytes", 0)).text,
	    100 * enough);
}

/*
 * How long a page of that size takes when nothing else is on its way; name receives the cell that says so. 0:
 * not known.
 */
static double alone(const struct scope_tuning *t, const char **name)
{
	const struct scope_read_cell *miss = scope_tune_best(t, "miss", "bytes", (uint64_t)t->page),
	                             *few = NULL;

	for (uint32_t k = 0; !miss && k < t->r->cells; k++) {
		const struct scope_read_cell *c = &t->r->cell[k];

		if (scope_tune_is(t, c, "page-in") && scope_read_arg(c, "bytes", 0) == (uint64_t)t->page &&
		    (!few || scope_read_arg(c, "warps", 1) < scope_read_arg(few, "warps", 1)))
			few = c;
	}
	*name = miss ? miss->name : few ? few->name : "";
	if (miss)
		return miss->row->unit == SCOPE_LATENCY ? miss->s.median : t->page / miss->s.median;
	return few ? t->page * (double)scope_read_arg(few, "warps", 1) / few->s.median : 0;
}

/* Requests in flight = rate x latency (Little): of pages on their way in. */
static void tune_warps(struct scope_tuning *t)
{
	const char *name;
	const double seconds = t->page > 0 ? alone(t, &name) : 0,
	             flight = seconds > 0 ? t->page_rate * seconds / t->page : 0;

	if (flight > 0)
		scope_tune_set(
		    t->to, "warps_in_flight", ceil(flight),
		    "Little's law: %.4g GB/s x %.4g us / %s = %.3g pages on their way at once, each "
		    "with a warp that waits for it (%s)",
		    1e-9 * t->page_rate, 1e6 * seconds, scope_format_bytes(t->page).text, flight, name);
	else
		scope_tune_set(t->to, "warps_in_flight", -1, "not known: needs %s/page-in", t->machine);
}

/* ---- queues of a store ---- */

struct disk {
	const struct scope_read_cell *alone, *best; /* a request at a time, and as many as help */
};

static bool is_read(const struct scope_read_cell *c, uint64_t bytes)
{
	return c->status == SCOPE_MEASURED && !strcmp(c->row->name, "file/uring-direct") &&
	       scope_read_arg(c, "depth", 0) && scope_read_arg(c, "bytes", 0) == bytes && bytes;
}

static struct disk of_size(const struct scope_read *r, uint64_t bytes)
{
	struct disk d = {NULL, NULL};

	for (uint32_t k = 0; k < r->cells; k++) {
		const struct scope_read_cell *c = &r->cell[k];

		if (!is_read(c, bytes))
			continue;
		d.alone = !d.alone || scope_read_arg(c, "depth", 0) < scope_read_arg(d.alone, "depth", 0)
		              ? c
		              : d.alone;
		d.best = !d.best || c->s.median > d.best->s.median ? c : d.best;
	}
	return d;
}

/*
 * Reads that go to the disk, of the size of a page where it was measured at more than one depth, else of the
 * first size that was.
 */
static struct disk find_disk(const struct scope_tuning *t)
{
	struct disk d = of_size(t->r, (uint64_t)t->page);

	for (uint32_t k = 0; (!d.alone || d.alone == d.best) && k < t->r->cells; k++) {
		const uint64_t bytes = scope_read_arg(&t->r->cell[k], "bytes", 0);
		const struct disk other = is_read(&t->r->cell[k], bytes) ? of_size(t->r, bytes) : d;

		if (other.alone && other.alone != other.best)
			d = other;
	}
	return d;
}

/*
 * Requests in flight = rate x latency; a queue holds depth - 1 of them. Twice that, so that a late completion
 * does not empty the queue.
 */
static void tune_queues(struct scope_tuning *t)
{
	const struct disk d = find_disk(t);
	double bytes, seconds, flight, depth = 64, queues;

	if (!d.alone || d.alone == d.best) {
		scope_tune_set(t->to, "depth", -1,
		               "not known: needs file/uring-direct of one size at several depths, in a "
		               "folder on the disk that is meant");
		scope_tune_set(t->to, "queues", -1, "not known: needs file/uring-direct");
		return;
	}
	bytes = (double)scope_read_arg(d.alone, "bytes", 0);
	seconds = bytes * (double)scope_read_arg(d.alone, "depth", 1) / d.alone->s.median;
	flight = d.best->s.median * seconds / bytes;
	while (depth < 1024 && depth - 1 < 2 * flight)
		depth *= 2;
	queues = ceil(2 * flight / (depth - 1));
	scope_tune_set(t->to, "depth", depth,
	               "Little's law: %.4g thousand reads/s of %s (%s) x %.4g us for one (%s) = %.3g in "
	               "flight; twice that, and a power of two from 64 to 1024",
	               1e-3 * d.best->s.median / bytes, scope_format_bytes(bytes).text, d.best->name,
	               1e6 * seconds, d.alone->name, flight);
	scope_tune_set(t->to, "queues", queues, "2 x %.3g in flight / %.0f that a queue of depth %.0f holds",
	               flight, depth - 1, depth);
}

/* ---- the whole ---- */

static json_t *or_null(const struct scope_read *r, const char *path)
{
	const json_t *v = scope_read_context(r, path);

	return v ? json_incref((json_t *)v) : json_null();
}

static const char *machine_of(const struct scope_read *r)
{
	for (uint32_t k = 0; k < r->cells; k++)
		if (r->cell[k].status == SCOPE_MEASURED && scope_read_family(r->cell[k].row, "grapnel-gpu"))
			return "grapnel-gpu";
	return "grapnel-cpu";
}

int scope_tune(const json_t *report, json_t **out, struct gn_error *e)
{
	struct scope_tuning t = {NULL, NULL, 0, 0, NULL};
	struct scope_read *r;
	json_t *decisions = json_object();
	int rc = scope_read_make(report, &r, e);

	*out = NULL;
	if (rc) {
		json_decref(decisions);
		return rc;
	}
	t.r = r;
	t.machine = machine_of(r);
	t.to = json_pack("{s:i, s:o, s:o, s:s}", "tune_version", 1, "host_name", or_null(r, "host_name"),
	                 "measured", or_null(r, "date"), "machine",
	                 strcmp(t.machine, "grapnel-gpu") ? "cpu" : "cuda");
	if (t.to && decisions) {
		tune_page(&t);
		tune_warps(&t);
		tune_queues(&t);
		scope_tune_copies(&t);
		scope_tune_decisions(&t, decisions);
	}
	rc = t.to && decisions && !json_object_set(t.to, "decisions", decisions)
	         ? 0
	         : gn_error_set(e, -GN_ENOMEM, "out of memory for the settings");
	json_decref(decisions);
	scope_read_free(r);
	if (rc)
		json_decref(t.to);
	else
		*out = t.to;
	return rc;
}
