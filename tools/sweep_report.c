/* SPDX-License-Identifier: Apache-2.0 */
/* What a sweep says: in a table, in a JSON object. */
#include <grapnel/version.h>
#include <math.h>
#include <string.h>

#include "sweep.h"
#include "tool.h"

double sweep_number(const struct sweep_point *p, const char *object, const char *member)
{
	const json_t *from = object ? json_object_get(p->report, object) : p->report;
	const json_t *v = json_object_get(from, member);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

double sweep_moved_over_needed(const struct sweep_point *p)
{
	const double needed = sweep_number(p, NULL, "needed_bytes");
	const double moved =
	    sweep_number(p, "counters", "fetched_bytes") + sweep_number(p, "counters", "written_bytes");

	return needed > 0 ? moved / needed : NAN;
}

/* ---- the table ---- */

static void print_job(const struct sweep *s, FILE *to)
{
	fputs("  job                 ", to);
	for (char *const *word = s->request->job; *word; word++)
		fprintf(to, " %s", *word);
	fprintf(to, "\n  data                 %.1f MiB in pages of %u bytes\n",
	        (double)s->data_bytes / (1 << 20), s->page_bytes);
	fprintf(to, "  runs                 %u of each row; seconds is their median\n", s->request->repeat);
}

static void print_reference(const struct sweep *s, FILE *to)
{
	const struct sweep_point *r = sweep_reference(s);

	fprintf(to, "  slowdown             %s\n",
	        !r            ? "none: neither the baseline incore nor pressure 1 was measured"
	        : r->baseline ? "over the baseline incore, with all data in the machine's memory"
	                      : "over the cache of pressure 1, which has room for all data");
}

/* A number, or a stroke where there is none. */
static void print_number(double value, int width, int digits, FILE *to)
{
	if (isnan(value))
		fprintf(to, " %*s", width, "-");
	else
		fprintf(to, " %*.*f", width, digits, value);
}

static void print_measured(const struct sweep *s, const struct sweep_point *p, FILE *to)
{
	const double mib = 1 << 20;

	print_number(p->baseline ? NAN : (double)p->cache_bytes / mib, 10, 1, to);
	print_number(p->statistics.median, 10, 4, to);
	print_number(p->statistics.least, 10, 4, to);
	print_number(p->statistics.most, 10, 4, to);
	print_number(sweep_slowdown(s, p->statistics.median), 9, 2, to);
	print_number(sweep_number(p, "counters", "fetched_bytes") / mib, 10, 1, to);
	print_number(sweep_moved_over_needed(p), 13, 2, to);
	fputc('\n', to);
}

static void print_point(const struct sweep *s, const struct sweep_point *p, FILE *to)
{
	char name[32];

	snprintf(name, sizeof name, "%g", p->pressure);
	fprintf(to, "  %-9s", p->baseline ? p->baseline : name);
	if (p->state == SWEEP_OPEN)
		print_measured(s, p, to);
	else if (p->state == SWEEP_FAILED)
		fprintf(to, "  failed with exit status %d after %u runs, see the message\n", p->status,
		        p->runs);
	else
		fprintf(to, "  left out: %.*s\n", (int)strcspn(p->why, "\n"), p->why);
}

void sweep_print(const struct sweep *s, FILE *to)
{
	print_job(s, to);
	print_reference(s, to);
	fprintf(to, "\n  %-9s %10s %10s %10s %10s %9s %10s %13s\n", "pressure", "cache MiB", "seconds",
	        "least", "most", "slowdown", "read MiB", "moved/needed");
	for (uint32_t k = 0; k < s->points; k++)
		print_point(s, &s->point[k], to);
}

/* ---- JSON ---- */

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

/* A copy of a member of a point's report; null where it has none. */
static json_t *copy(const struct sweep_point *p, const char *object, const char *member)
{
	json_t *v = json_object_get(object ? json_object_get(p->report, object) : p->report, member);

	return v ? json_incref(v) : json_null();
}

static json_t *samples(const struct sweep_point *p)
{
	json_t *all = json_array();

	for (uint32_t k = 0; k < p->runs; k++)
		json_array_append_new(all, json_real(p->seconds[k]));
	return all;
}

static json_t *times_json(const struct sweep *s, const struct sweep_point *p)
{
	const struct scope_statistics *t = &p->statistics;
	const bool any = p->runs;

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "seconds", number(any ? t->median : NAN), "least",
	                 number(any ? t->least : NAN), "most", number(any ? t->most : NAN), "slowdown",
	                 number(any ? sweep_slowdown(s, t->median) : NAN), "samples", samples(p),
	                 "first_source_seconds", copy(p, "times", "first"));
}

static json_t *traffic_json(const struct sweep_point *p)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "read_bytes", copy(p, "counters", "fetched_bytes"),
	                 "written_bytes", copy(p, "counters", "written_bytes"), "needed_bytes",
	                 copy(p, NULL, "needed_bytes"), "edges_traversed", copy(p, NULL, "edges_traversed"),
	                 "moved_over_needed", number(sweep_moved_over_needed(p)), "verified",
	                 copy(p, NULL, "verified"));
}

static json_t *point_json(const struct sweep *s, const struct sweep_point *p)
{
	json_t *root = p->baseline ? json_pack("{s:s, s:o}", "baseline", p->baseline, "load_seconds",
	                                       copy(p, NULL, "load_seconds"))
	                           : json_pack("{s:f, s:I}", "pressure", p->pressure, "cache_bytes",
	                                       (json_int_t)p->cache_bytes);
	int bad =
	    json_object_update_new(root, json_pack("{s:b, s:b, s:i, s:o}", "failed", p->state == SWEEP_FAILED,
	                                           "left_out", p->state == SWEEP_LEFT_OUT, "exit_status",
	                                           p->status, "message", tool_json_text(p->why)));

	bad |= json_object_update_new(root, times_json(s, p));
	bad |= json_object_update_new(root, traffic_json(p));
	if (!bad)
		return root;
	json_decref(root);
	return NULL;
}

/* Those with a baseline, or those with a cache. */
static json_t *points_json(const struct sweep *s, bool baselines)
{
	json_t *all = json_array();
	int bad = 0;

	for (uint32_t k = 0; k < s->points; k++)
		if (!s->point[k].baseline != baselines)
			bad |= json_array_append_new(all, point_json(s, &s->point[k]));
	if (!bad)
		return all;
	json_decref(all);
	return NULL;
}

static json_t *reference_json(const struct sweep *s)
{
	const struct sweep_point *r = sweep_reference(s);

	return !r ? json_null()
	          : json_pack("{s:s, s:f}", "what", r->baseline ? r->baseline : "cache", "seconds",
	                      r->statistics.median);
}

static json_t *job_json(const struct sweep *s)
{
	json_t *all = json_array();

	for (char *const *word = s->request->job; *word; word++)
		json_array_append_new(all, tool_json_text(*word));
	return all;
}

json_t *sweep_json(const struct sweep *s)
{
	return json_pack(
	    "{s:s, s:s, s:o, s:o, s:o, s:i, s:b, s:I, s:i, s:o, s:o, s:o}", "schema", "grapnel-sweep-1",
	    "version", gn_version_text(), "context", tool_json_context("sweep"), "job", job_json(s),
	    "machine", s->machine ? json_incref(s->machine) : json_null(), "repeat", (int)s->request->repeat,
	    "verify", (int)s->request->verify, "data_bytes", (json_int_t)s->data_bytes, "page_bytes",
	    (int)s->page_bytes, "reference", reference_json(s), "baselines", points_json(s, true), "points",
	    points_json(s, false));
}
