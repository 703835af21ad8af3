/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a report to settings. Every setting is an object {value, why}: why holds the figures and the reckoning, or which
 * row is missing when value is null. Nothing is guessed.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scope/output/format.h"
#include "scope/output/limits.h"

/* What share of the best is enough: the rest costs more than it gives. */
static const double enough = 0.9;

struct tuning {
	const struct scope_read *r;
	const char *machine; /* "grapnel-gpu" or "grapnel-cpu": whose rows are used */
	double page;         /* bytes, 0: not known */
	double page_rate;    /* bytes a second that pages of that size reach */
	json_t *to;
};

/* ---- settings ---- */

static json_t *setting(json_t *value, const char *format, va_list list)
{
	char why[900];
	json_t *text;

	vsnprintf(why, sizeof why, format, list);
	text = json_string(why);
	return json_pack("{s:o, s:o}", "value", value, "why", text ? text : json_string("from rows whose names cannot be written"));
}

/* A value below zero is none. */
static void set_number(json_t *to, const char *name, double value, const char *format, ...) __attribute__((format(printf, 4, 5)));
static void set_number(json_t *to, const char *name, double value, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	json_object_set_new(to, name, setting(value < 0 ? json_null() : value == floor(value) ? json_integer((json_int_t)value) :
											     json_real(value), format, list));
	va_end(list);
}

/* ---- cells ---- */

static bool is_row(const struct tuning *t, const struct scope_read_cell *c, const char *name)
{
	const size_t n = strlen(t->machine);

	return c->status == SCOPE_MEASURED && !strncmp(c->row->name, t->machine, n) && c->row->name[n] == '/' &&
	       !strcmp(c->row->name + n + 1, name);
}

/* The best cell of a row of the machine's with an argument of that value; value 0: any. */
static const struct scope_read_cell *best_of(const struct tuning *t, const char *row, const char *arg, uint64_t value)
{
	const struct scope_read_cell *best = NULL;

	for (uint32_t k = 0; k < t->r->cells; k++) {
		const struct scope_read_cell *c = &t->r->cell[k];
		const bool more = best && scope_more_is_better(c->row->unit) ? c->s.median > best->s.median :
							   best && c->s.median < best->s.median;

		if (is_row(t, c, row) && (!value || scope_read_arg(c, arg, 0) == value) && (!best || more))
			best = c;
	}
	return best;
}

/* ---- pages, and how many at once ---- */

/* The smallest page that reaches enough of the best. */
static void tune_page(struct tuning *t)
{
	const struct scope_read_cell *best = best_of(t, "page-in", NULL, 0), *least = best;

	if (!best) {
		set_number(t->to, "page_bytes", -1, "not known: needs %s/page-in", t->machine);
		return;
	}
	for (uint32_t k = 0; k < t->r->cells; k++) {
		const struct scope_read_cell *c = &t->r->cell[k];

		if (is_row(t, c, "page-in") && c->s.median >= enough * best->s.median &&
		    scope_read_arg(c, "bytes", 0) < scope_read_arg(least, "bytes", 0))
			least = c;
	}
	least = best_of(t, "page-in", "bytes", scope_read_arg(least, "bytes", 0));
	t->page = (double)scope_read_arg(least, "bytes", 0);
	t->page_rate = least->s.median;
	set_number(t->to, "page_bytes", t->page, "pages of %s come in at %.4g GB/s, %.0f %% of the best of any size (%.4g GB/s with %s); the "
		   "smallest page that gives %.0f %% wastes least on what is not wanted", scope_format_bytes(t->page).text,
		   1e-9 * t->page_rate, 100 * t->page_rate / best->s.median, 1e-9 * best->s.median,
		   scope_format_bytes((double)scope_read_arg(best, "bytes", 0)).text, 100 * enough);
}

/* How long a page of that size takes when nothing else is on its way; name receives the cell that says so. 0: not known. */
static double alone(const struct tuning *t, const char **name)
{
	const struct scope_read_cell *miss = best_of(t, "miss", "bytes", (uint64_t)t->page), *few = NULL;

	for (uint32_t k = 0; !miss && k < t->r->cells; k++) {
		const struct scope_read_cell *c = &t->r->cell[k];

		if (is_row(t, c, "page-in") && scope_read_arg(c, "bytes", 0) == (uint64_t)t->page &&
		    (!few || scope_read_arg(c, "warps", 1) < scope_read_arg(few, "warps", 1)))
			few = c;
	}
	*name = miss ? miss->name : few ? few->name : "";
	if (miss)
		return miss->row->unit == SCOPE_LATENCY ? miss->s.median : t->page / miss->s.median;
	return few ? t->page * (double)scope_read_arg(few, "warps", 1) / few->s.median : 0;
}

/* Requests in flight = rate x latency (Little): of pages on their way in. */
static void tune_warps(struct tuning *t)
{
	const char *name;
	const double seconds = t->page > 0 ? alone(t, &name) : 0, flight = seconds > 0 ? t->page_rate * seconds / t->page : 0;

	if (flight > 0)
		set_number(t->to, "warps_in_flight", ceil(flight), "Little's law: %.4g GB/s x %.4g us / %s = %.3g pages on their way at once, each "
			   "with a warp that waits for it (%s)", 1e-9 * t->page_rate, 1e6 * seconds, scope_format_bytes(t->page).text, flight, name);
	else
		set_number(t->to, "warps_in_flight", -1, "not known: needs %s/page-in", t->machine);
}

/* ---- queues of a store ---- */

struct disk {
	const struct scope_read_cell *alone, *best; /* a request at a time, and as many as help */
};

static bool is_read(const struct scope_read_cell *c, uint64_t bytes)
{
	return c->status == SCOPE_MEASURED && !strcmp(c->row->name, "file/uring-direct") && scope_read_arg(c, "depth", 0) &&
	       scope_read_arg(c, "bytes", 0) == bytes && bytes;
}

static struct disk of_size(const struct scope_read *r, uint64_t bytes)
{
	struct disk d = {NULL, NULL};

	for (uint32_t k = 0; k < r->cells; k++) {
		const struct scope_read_cell *c = &r->cell[k];

		if (!is_read(c, bytes))
			continue;
		d.alone = !d.alone || scope_read_arg(c, "depth", 0) < scope_read_arg(d.alone, "depth", 0) ? c : d.alone;
		d.best = !d.best || c->s.median > d.best->s.median ? c : d.best;
	}
	return d;
}

/* Reads that go to the disk, of the size of a page where it was measured at more than one depth, else of the first size that was. */
static struct disk find_disk(const struct tuning *t)
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
 * Requests in flight = rate x latency; a queue holds depth - 1 of them. Twice that, so that a late completion does
 * not empty the queue.
 */
static void tune_queues(struct tuning *t)
{
	const struct disk d = find_disk(t);
	double bytes, seconds, flight, depth = 64, queues;

	if (!d.alone || d.alone == d.best) {
		set_number(t->to, "depth", -1, "not known: needs file/uring-direct of one size at several depths, in a folder on the disk that "
			   "is meant");
		set_number(t->to, "queues", -1, "not known: needs file/uring-direct");
		return;
	}
	bytes = (double)scope_read_arg(d.alone, "bytes", 0);
	seconds = bytes * (double)scope_read_arg(d.alone, "depth", 1) / d.alone->s.median;
	flight = d.best->s.median * seconds / bytes;
	while (depth < 1024 && depth - 1 < 2 * flight)
		depth *= 2;
	queues = ceil(2 * flight / (depth - 1));
	set_number(t->to, "depth", depth, "Little's law: %.4g thousand reads/s of %s (%s) x %.4g us for one (%s) = %.3g in flight; twice that, and "
		   "a power of two from 64 to 1024", 1e-3 * d.best->s.median / bytes, scope_format_bytes(bytes).text, d.best->name,
		   1e6 * seconds, d.alone->name, flight);
	set_number(t->to, "queues", queues, "2 x %.3g in flight / %.0f that a queue of depth %.0f holds", flight, depth - 1, depth);
}

/* ---- how to copy ---- */

/* Ways of copying between the same two places, by copy engines and by kernels, among which there is a choice. */
struct road {
	const char *name;
	const char *rows[6];
};

static const struct road roads[] = {
    {"to-device", {"copy/pinned-to-device", "copy/batch-to-device", "kernel/pinned-to-device", NULL}},
    {"from-device", {"copy/device-to-pinned", "copy/batch-to-pinned", "kernel/device-to-pinned", NULL}},
    {"within-device", {"copy/device-local", "kernel/device-local", NULL}},
    {"between-devices", {"peer/copy", "peer/copy-pulled", "peer/copy-peer-async", "kernel/peer-read", "kernel/peer-write", NULL}},
};

static bool is_copy(const struct scope_read_cell *c, const struct road *road)
{
	if (c->status != SCOPE_MEASURED || c->row->unit != SCOPE_BANDWIDTH || !scope_read_arg(c, "bytes", 0))
		return false;
	for (unsigned k = 0; road->rows[k]; k++)
		if (!strcmp(c->row->name, road->rows[k]))
			return true;
	return false;
}

static const struct scope_read_cell *best_copy(const struct scope_read *r, const struct road *road, uint64_t bytes, const char *not_row)
{
	const struct scope_read_cell *best = NULL;

	for (uint32_t k = 0; k < r->cells; k++) {
		const struct scope_read_cell *c = &r->cell[k];

		if (is_copy(c, road) && scope_read_arg(c, "bytes", 0) == bytes && (!not_row || strcmp(c->row->name, not_row)) &&
		    (!best || c->s.median > best->s.median))
			best = c;
	}
	return best;
}

/* The next size above that anything was copied with; 0: none. */
static uint64_t next_size(const struct scope_read *r, const struct road *road, uint64_t after)
{
	uint64_t next = 0;

	for (uint32_t k = 0; k < r->cells; k++) {
		const uint64_t bytes = is_copy(&r->cell[k], road) ? scope_read_arg(&r->cell[k], "bytes", 0) : 0;

		if (bytes > after && (!next || bytes < next))
			next = bytes;
	}
	return next;
}

static json_t *range_json(const struct scope_read *r, const struct road *road, const struct scope_read_cell *first, uint64_t last)
{
	const uint64_t bytes = scope_read_arg(first, "bytes", 0);
	const struct scope_read_cell *second = best_copy(r, road, bytes, first->row->name);
	char why[400];

	if (second)
		snprintf(why, sizeof why, "at %s %.4g GB/s, the next best %.4g (%.80s)", scope_format_bytes((double)bytes).text,
			 1e-9 * first->s.median, 1e-9 * second->s.median, second->row->name);
	else
		snprintf(why, sizeof why, "at %s %.4g GB/s, and nothing else was measured", scope_format_bytes((double)bytes).text,
			 1e-9 * first->s.median);
	return json_pack("{s:I, s:I, s:s, s:o}", "from_bytes", (json_int_t)bytes, "to_bytes", (json_int_t)last, "method", first->row->name,
			 "why", json_string(why));
}

/* The row that was best so far stays where another is no more than 3 % better: that may be noise. */
static const struct scope_read_cell *choose(const struct scope_read *r, const struct road *road, uint64_t bytes,
					    const struct scope_read_row *so_far)
{
	const struct scope_read_cell *best = best_copy(r, road, bytes, NULL);

	for (uint32_t k = 0; k < r->cells; k++)
		if (is_copy(&r->cell[k], road) && r->cell[k].row == so_far && scope_read_arg(&r->cell[k], "bytes", 0) == bytes &&
		    r->cell[k].s.median > best->s.median / 1.03)
			return &r->cell[k];
	return best;
}

/* Ranges of sizes with the same best row; the border between two is the crossover. */
static json_t *tune_road(const struct scope_read *r, const struct road *road)
{
	json_t *ranges = json_array();
	const struct scope_read_cell *first = NULL;
	uint64_t last = 0;

	for (uint64_t bytes = next_size(r, road, 0); bytes; bytes = next_size(r, road, bytes)) {
		const struct scope_read_cell *best = choose(r, road, bytes, first ? first->row : NULL);

		if (first && best->row != first->row) {
			json_array_append_new(ranges, range_json(r, road, first, last));
			first = NULL;
		}
		first = first ? first : best;
		last = bytes;
	}
	if (first)
		json_array_append_new(ranges, range_json(r, road, first, last));
	return ranges;
}

static void tune_copies(struct tuning *t)
{
	json_t *copies = json_object();

	for (unsigned k = 0; k < sizeof roads / sizeof *roads; k++) {
		json_t *ranges = tune_road(t->r, &roads[k]);

		if (json_array_size(ranges))
			json_object_set(copies, roads[k].name, ranges);
		json_decref(ranges);
	}
	json_object_set_new(t->to, "copy", copies);
}

/* ---- the decision engine ---- */

static void tune_reach(const struct tuning *t, json_t *to)
{
	const char *link = !strcmp(t->machine, "grapnel-gpu") ? "pcie" : "host memory";
	const double reach = scope_reach(t->r, link);

	if (reach > 0)
		set_number(to, "reach_bytes", reach, "a chase or random accesses over %s are a third slower from beyond a span of %s on", link,
			   scope_format_bytes(reach).text);
	else
		set_number(to, "reach_bytes", -1, "no step was seen in latencies or rates over spans of memory behind %s: the library's own guess stays", link);
}

/* Rows of so many bytes as they come, over the largest span; NULL: not measured. */
static const struct scope_read_cell *scattered(const struct tuning *t, uint64_t bytes)
{
	const struct scope_read_cell *widest = NULL;

	for (uint32_t k = 0; k < t->r->cells; k++) {
		const struct scope_read_cell *c = &t->r->cell[k];

		if (is_row(t, c, "gather-plain") && scope_read_arg(c, "bytes", 0) == bytes &&
		    (!widest || scope_read_arg(c, "span", 0) > scope_read_arg(widest, "span", 0)))
			widest = c;
	}
	return widest;
}

/*
 * A page pays where so much of it is used that it is faster than to load each line: used x lines of a page x time of a
 * line > time of a page, and lines x time of a line = page / rate of lines.
 */
static void tune_line_use(const struct tuning *t, json_t *to)
{
	const struct scope_read_cell *line = scattered(t, 128);
	double use;

	if (!line || t->page_rate <= 0) {
		set_number(to, "line_use", -1, "not known: needs %s/page-in and %s/gather-plain of 128-byte rows", t->machine, t->machine);
		return;
	}
	use = line->s.median / t->page_rate;
	set_number(to, "line_use", use < 1 ? use : 1, "lines of 128 bytes come at %.4g GB/s (%s), pages at %.4g: below a share of %.2f of their "
		   "lines used, loading the lines is faster", 1e-9 * line->s.median, line->name, 1e-9 * t->page_rate, use < 1 ? use : 1);
}

/* Of single words: hits x time of a hit + misses x time of a page = time of a load, at the share of hits that is even. */
static void tune_hit_share(const struct tuning *t, json_t *to)
{
	const struct scope_read_cell *word = scattered(t, 4), *hit = best_of(t, "hit-random", NULL, 0);
	double page, load, found, share;

	if (!word || !hit || t->page_rate <= 0 || hit->row->unit != SCOPE_RATE) {
		set_number(to, "hit_share", -1, "not known: needs %s/page-in, %s/hit-random and %s/gather-plain of 4-byte rows", t->machine, t->machine,
			   t->machine);
		return;
	}
	page = t->page / t->page_rate;
	load = 4 / word->s.median;
	found = 1 / hit->s.median;
	share = page > found ? (page - load) / (page - found) : 0;
	share = share < 0.01 ? 0.01 : share > 0.99 ? 0.99 : share;
	set_number(to, "hit_share", share, "a page takes %.3g ns of all threads' time, a hit %.3g, a load of a word from the store %.3g (%s): the cache "
		   "is faster from a share of hits of (%.3g - %.3g) / (%.3g - %.3g) = %.2f", 1e9 * page, 1e9 * found, 1e9 * load, word->name,
		   1e9 * page, 1e9 * load, 1e9 * page, 1e9 * found, share);
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
	struct tuning t = {NULL, NULL, 0, 0, NULL};
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
	t.to = json_pack("{s:i, s:o, s:o, s:s}", "tune_version", 1, "host_name", or_null(r, "host_name"), "measured", or_null(r, "date"),
			 "machine", strcmp(t.machine, "grapnel-gpu") ? "cpu" : "cuda");
	if (t.to && decisions) {
		tune_page(&t);
		tune_warps(&t);
		tune_queues(&t);
		tune_copies(&t);
		tune_reach(&t, decisions);
		tune_line_use(&t, decisions);
		tune_hit_share(&t, decisions);
	}
	rc = t.to && decisions && !json_object_set(t.to, "decisions", decisions) ? 0 : gn_error_set(e, -GN_ENOMEM, "out of memory for the settings");
	json_decref(decisions);
	scope_read_free(r);
	if (rc)
		json_decref(t.to);
	else
		*out = t.to;
	return rc;
}
