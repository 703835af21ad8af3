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
#include "scope/output/limits.h"
#include "scope/output/read.h"

/* What share of the best is enough: the rest costs more than it gives. */
static const double enough = 0.9;

struct tuning {
	const struct scope_read *r;
	const char *machine; /* "grapnel-gpu" or "grapnel-cpu": whose rows are used */
	double page;         /* bytes, 0: not known */
	json_t *to;
};

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

/* A value below zero is none. */
static __attribute__((format(printf, 4, 5))) void set(json_t *to, const char *name, double value,
                                                      const char *format, ...)
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

/* Is it a cell of that row of the machine's, such as "page-in"? */
static bool is_of(const struct tuning *t, const struct scope_read_cell *c, const char *name)
{
	const size_t n = strlen(t->machine);

	return !strncmp(c->row->name, t->machine, n) && c->row->name[n] == '/' &&
	       !strcmp(c->row->name + n + 1, name);
}

/* The best cell of such a row with an argument of that value; value 0: any. NULL: none was measured. */
static const struct scope_read_cell *best_of(const struct tuning *t, const char *row, const char *arg,
                                             uint64_t value)
{
	const struct scope_read_cell *best = NULL;

	for (const struct scope_read_cell *c = NULL; (c = scope_read_next(t->r, NULL, c));) {
		const bool more = best && scope_more_is_better(c->row->unit)
		                      ? c->s.median > best->s.median
		                      : best && c->s.median < best->s.median;

		if (is_of(t, c, row) && (!value || scope_read_arg(c, arg, 0) == value) && (!best || more))
			best = c;
	}
	return best;
}

/* ---- pages ---- */

/* The smallest page that reaches enough of the best. */
static void tune_page(struct tuning *t)
{
	const struct scope_read_cell *best = best_of(t, "page-in", NULL, 0), *least = best;

	if (!best) {
		set(t->to, "page_bytes", -1, "not known: needs %s/page-in", t->machine);
		return;
	}
	for (const struct scope_read_cell *c = NULL; (c = scope_read_next(t->r, NULL, c));)
		if (is_of(t, c, "page-in") && c->s.median >= enough * best->s.median &&
		    scope_read_arg(c, "bytes", 0) < scope_read_arg(least, "bytes", 0))
			least = c;
	least = best_of(t, "page-in", "bytes", scope_read_arg(least, "bytes", 0));
	t->page = (double)scope_read_arg(least, "bytes", 0);
	set(t->to, "page_bytes", t->page,
	    "pages of %s come in at %.4g GB/s, %.0f %% of the best of any size (%.4g GB/s with %s); the "
	    "smallest page that gives %.0f %% wastes least on what is not wanted",
	    scope_format_bytes(t->page).text, 1e-9 * least->s.median, 100 * least->s.median / best->s.median,
	    1e-9 * best->s.median, scope_format_bytes((double)scope_read_arg(best, "bytes", 0)).text,
	    100 * enough);
}

/* ---- queues of a store ---- */

struct disk {
	const struct scope_read_cell *alone, *best; /* a request at a time, and as many as help */
};

static bool is_read(const struct scope_read_cell *c, uint64_t bytes)
{
	return !strcmp(c->row->name, "file/uring-direct") && scope_read_arg(c, "depth", 0) &&
	       scope_read_arg(c, "bytes", 0) == bytes && bytes;
}

static struct disk of_size(const struct scope_read *r, uint64_t bytes)
{
	struct disk d = {NULL, NULL};

	for (const struct scope_read_cell *c = NULL; (c = scope_read_next(r, NULL, c));) {
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
static struct disk find_disk(const struct tuning *t)
{
	struct disk d = of_size(t->r, (uint64_t)t->page);

	for (const struct scope_read_cell *c = NULL; (c = scope_read_next(t->r, NULL, c));) {
		const uint64_t bytes = scope_read_arg(c, "bytes", 0);

		if (d.alone && d.alone != d.best)
			return d;
		d = is_read(c, bytes) ? of_size(t->r, bytes) : d;
	}
	return d;
}

/*
 * Requests in flight = rate x latency; a queue holds depth - 1 of them. Twice that, so that a late completion
 * does not empty the queue.
 */
static void tune_queues(struct tuning *t)
{
	const struct disk d = find_disk(t);
	double bytes, seconds, flight, depth = 64, queues;

	if (!d.alone || d.alone == d.best) {
		set(t->to, "depth", -1,
		    "not known: needs file/uring-direct of one size at several depths, in a "
		    "folder on the disk that is meant");
		set(t->to, "queues", -1, "not known: needs file/uring-direct");
		return;
	}
	bytes = (double)scope_read_arg(d.alone, "bytes", 0);
	seconds = bytes * (double)scope_read_arg(d.alone, "depth", 1) / d.alone->s.median;
	flight = d.best->s.median * seconds / bytes;
	while (depth < 1024 && depth - 1 < 2 * flight)
		depth *= 2;
	queues = ceil(2 * flight / (depth - 1));
	set(t->to, "depth", depth,
	    "Little's law: %.4g thousand reads/s of %s (%s) x %.4g us for one (%s) = %.3g in "
	    "flight; twice that, and a power of two from 64 to 1024",
	    1e-3 * d.best->s.median / bytes, scope_format_bytes(bytes).text, d.best->name, 1e6 * seconds,
	    d.alone->name, flight);
	set(t->to, "queues", queues, "2 x %.3g in flight / %.0f that a queue of depth %.0f holds", flight,
	    depth - 1, depth);
}

/* ---- address translation ---- */

static void tune_reach(struct tuning *t)
{
	const char *link = !strcmp(t->machine, "grapnel-gpu") ? "pcie" : "host memory";
	const double reach = scope_reach(t->r, link);

	if (reach > 0)
		set(t->to, "reach_bytes", reach,
		    "a chase or random accesses over %s are a third slower from beyond a span of %s on", link,
		    scope_format_bytes(reach).text);
	else
		set(t->to, "reach_bytes", -1,
		    "no step was seen in latencies or rates over spans of memory behind %s: the "
		    "library's own guess stays",
		    link);
}

/* ---- the whole ---- */

static json_t *or_null(const struct scope_read *r, const char *path)
{
	const json_t *v = scope_read_context(r, path);

	return v ? json_incref((json_t *)v) : json_null();
}

static const char *machine_of(const struct scope_read *r)
{
	for (const struct scope_read_cell *c = NULL; (c = scope_read_next(r, NULL, c));)
		if (scope_read_family(c->row, "grapnel-gpu"))
			return "grapnel-gpu";
	return "grapnel-cpu";
}

int scope_tune(const json_t *report, json_t **out, struct gn_error *e)
{
	struct tuning t = {NULL, NULL, 0, NULL};
	struct scope_read *r;
	int rc = scope_read_make(report, &r, e);

	*out = NULL;
	if (rc)
		return rc;
	t.r = r;
	t.machine = machine_of(r);
	t.to = json_pack("{s:i, s:o, s:o, s:s}", "tune_version", SCOPE_TUNE_VERSION, "host_name",
	                 or_null(r, "host_name"), "measured", or_null(r, "date"), "machine",
	                 strcmp(t.machine, "grapnel-gpu") ? "cpu" : "cuda");
	if (t.to) {
		tune_page(&t);
		tune_queues(&t);
		tune_reach(&t);
	}
	scope_read_free(r);
	*out = t.to;
	return t.to ? 0 : gn_error_set(e, -GN_ENOMEM, "out of memory for the settings");
}
