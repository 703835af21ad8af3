/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report as JSON: Google Benchmark's context and benchmarks, and beside them rows and cells, which say once
 * what every sample of a cell has in common. What was skipped or failed is a cell only: in benchmarks its
 * time of 0 would make compare.py's geometric mean 0.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scope/output/read.h"

/* Text of a device or file may be in any encoding; JSON's is UTF-8. */
static json_t *text(const char *t)
{
	json_t *v = t ? json_string(t) : json_null();

	return v ? v : json_string("(not UTF-8)");
}

/* Missing is null, and so is what no number says. */
static json_t *number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

/* ---- rows and cells ---- */

static json_t *row_json(const struct scope_row *r)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:s}", "name", r->name, "summary",
	                 text(r->summary), "paper", text(r->paper), "direction", text(r->direction), "limit",
	                 text(r->limit), "second", text(r->second), "unit", scope_unit_words[r->unit],
	                 "timer", scope_timer_words[r->timer], "role", scope_role_words[r->role]);
}

/* Is no cell before it of the same row? */
static bool is_first(const struct scope_report *r, uint32_t k)
{
	for (uint32_t before = k; before--;)
		if (r->result[before].cell.row == r->result[k].cell.row)
			return false;
	return true;
}

static int add_rows(json_t *rows, const struct scope_report *r)
{
	int bad = 0;

	for (uint32_t k = 0; k < r->results; k++)
		if (is_first(r, k))
			bad |= json_array_append_new(rows, row_json(r->result[k].cell.row));
	return bad;
}

static json_t *arguments_json(const struct scope_cell *c)
{
	json_t *args = json_object();

	for (uint32_t k = 0; k < c->args; k++)
		json_object_set_new(args, c->arg[k].name, json_integer((json_int_t)c->arg[k].value));
	return args;
}

static json_t *statistics_json(const struct scope_result *r)
{
	struct scope_statistics s;

	if (scope_result_statistics(r, &s))
		return NULL;
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "median",
	                 number(s.median), "low", number(s.low), "high", number(s.high), "least",
	                 number(s.least), "p5", number(s.p5), "quarter", number(s.quarter), "three_quarters",
	                 number(s.three_quarters), "p95", number(s.p95), "most", number(s.most), "mean",
	                 number(s.mean), "variation", number(s.variation), "least_round",
	                 number(s.least_round), "most_round", number(s.most_round));
}

/* How many samples each round has, in the order of the samples. */
static json_t *rounds_json(const struct scope_result *r)
{
	json_t *list = json_array();

	for (uint32_t k = 0; k < r->rounds; k++)
		json_array_append_new(list, json_integer(r->end[k] - (k ? r->end[k - 1] : 0)));
	return list;
}

/* A figure of no time, or of nothing, is not measured: a kernel that never ran looks like that. */
static bool is_sound(const struct scope_result *r)
{
	bool sound = r->samples > 0;

	for (uint32_t k = 0; k < r->samples; k++)
		sound = sound && isfinite(r->value[k]) && r->value[k] > 0 && isfinite(r->seconds[k]) &&
		        r->seconds[k] > 0;
	return sound;
}

static json_t *cell_json(const struct scope_result *r, const char *name)
{
	const bool measured = r->status == SCOPE_MEASURED, sound = !measured || is_sound(r);
	json_t *c = json_pack(
	    "{s:s, s:s, s:o, s:s, s:o}", "name", name, "row", r->cell.row->name, "arguments",
	    arguments_json(&r->cell), "status", scope_status_words[sound ? r->status : SCOPE_FAILED], "why",
	    text(sound ? r->why : "a sample has no time or no operations: the timed code did not run"));

	if (!measured || !sound)
		return c;
	json_object_set_new(c, "samples", json_integer(r->samples));
	json_object_set_new(c, "rounds", rounds_json(r));
	json_object_set_new(c, "operations", json_integer((json_int_t)r->operations));
	json_object_set_new(c, "bytes", json_integer((json_int_t)r->bytes));
	json_object_set_new(c, "statistics", statistics_json(r));
	return c;
}

/* ---- benchmarks ---- */

/* Where a cell stands among Google Benchmark's families. */
struct family {
	const char *name;
	uint32_t index, instance;
};

/* Seconds of one operation of a sample. */
static double each(const struct scope_result *r, uint32_t k)
{
	switch (r->cell.row->unit) {
	case SCOPE_LATENCY: return r->value[k];
	case SCOPE_RATE: return 1 / r->value[k];
	default: return r->seconds[k];
	}
}

/*
 * What a sample has: as little as Google Benchmark's readers do with, for there are many. The CPU's time is
 * not measured: compare.py wants one, so it is given the clock's, which is right for a thread that spins.
 */
static json_t *entry_json(const struct scope_result *r, const char *name, const char *suffix,
                          const char *type, double time)
{
	return json_pack("{s:s+, s:s, s:I, s:o, s:o, s:s}", "name", name, suffix, "run_type", type,
	                 "iterations", (json_int_t)(r->operations ? r->operations : 1), "real_time",
	                 number(time), "cpu_time", number(time), "time_unit", "ns");
}

/* And an aggregate, beside it, what all samples of its cell have in common. */
static json_t *aggregate_json(const struct scope_result *r, const struct family *f, const char *name,
                              double time)
{
	char suffix[16] = "_";
	json_t *entry = entry_json(r, f->name, strncat(suffix, name, sizeof suffix - 2), "aggregate", time);
	json_t *rest =
	    json_pack("{s:i, s:i, s:s, s:i, s:I, s:s, s:s}", "family_index", (int)f->index,
	              "per_family_instance_index", (int)f->instance, "run_name", f->name, "repetitions",
	              (int)r->samples, "threads", (json_int_t)scope_cell_arg(&r->cell, "threads", 1),
	              "aggregate_name", name, "aggregate_unit", strcmp(name, "cv") ? "time" : "percentage");

	json_object_update(entry, rest);
	json_decref(rest);
	return entry;
}

static void set_value(json_t *entry, const struct scope_row *row, double value)
{
	if (row->unit == SCOPE_BANDWIDTH)
		json_object_set_new(entry, "bytes_per_second", number(value));
	else if (row->unit == SCOPE_RATE)
		json_object_set_new(entry, "items_per_second", number(value));
}

static json_t *sample_json(const struct scope_result *r, const struct family *f, uint32_t k)
{
	json_t *entry = entry_json(r, f->name, "", "iteration", 1e9 * each(r, k));

	set_value(entry, r->cell.row, r->value[k]);
	if (r->second && r->cell.row->second)
		json_object_set_new(entry, r->cell.row->second, number(r->second[k]));
	return entry;
}

static int add_aggregate(json_t *list, const struct scope_result *r, const struct family *f, const char *name,
                         double time, double value)
{
	json_t *entry = aggregate_json(r, f, name, strcmp(name, "cv") ? 1e9 * time : time);

	set_value(entry, r->cell.row, value);
	return json_array_append_new(list, entry);
}

static int add_aggregates(json_t *list, const struct scope_result *r, const struct family *f)
{
	double *time = (double *)malloc((r->samples + 1) * sizeof *time);
	struct scope_statistics t, v;
	int bad = !time;

	for (uint32_t k = 0; time && k < r->samples; k++)
		time[k] = each(r, k);
	bad =
	    bad || scope_statistics_of(time, r->samples, &t) || scope_statistics_of(r->value, r->samples, &v);
	free(time);
	if (bad)
		return bad;
	bad |= add_aggregate(list, r, f, "mean", t.mean, v.mean);
	bad |= add_aggregate(list, r, f, "median", t.median, v.median);
	bad |= add_aggregate(list, r, f, "stddev", t.mean * t.variation, v.mean * v.variation);
	bad |= add_aggregate(list, r, f, "cv", t.variation, v.variation);
	return bad;
}

static int add_result(json_t *root, const struct scope_result *r, struct family *f)
{
	json_t *list = json_object_get(root, "benchmarks");
	char name[SCOPE_NAME];
	int bad;

	scope_cell_name(&r->cell, name, sizeof name);
	f->name = name;
	bad = json_array_append_new(json_object_get(root, "cells"), cell_json(r, name));
	if (r->status != SCOPE_MEASURED || !is_sound(r))
		return bad;
	for (uint32_t k = 0; k < r->samples && !bad; k++)
		bad = json_array_append_new(list, sample_json(r, f, k));
	return bad || add_aggregates(list, r, f);
}

/* A family is a row, in the order of their first cells; cells of a row need not stand together. */
static void place(const struct scope_report *r, const json_t *rows, uint32_t k, struct family *f)
{
	const struct scope_row *row = r->result[k].cell.row;

	f->index = f->instance = 0;
	while (strcmp(json_string_value(json_object_get(json_array_get(rows, f->index), "name")), row->name))
		f->index++;
	for (uint32_t before = 0; before < k; before++)
		f->instance += r->result[before].cell.row == row;
}

/* The context as it was, and which schemas this file has: Google Benchmark's and ours. */
static json_t *context_json(const struct scope_report *r)
{
	json_t *c = r->context ? json_deep_copy(r->context) : json_object();

	json_object_set_new(c, "json_schema_version", json_integer(1));
	json_object_set_new(c, "scope_version", json_integer(SCOPE_VERSION));
	return c;
}

json_t *scope_report_json(const struct scope_report *r)
{
	json_t *root =
	    json_pack("{s:o, s:[], s:[], s:[]}", "context", context_json(r), "rows", "cells", "benchmarks");
	struct family f = {NULL, 0, 0};
	int bad = !root || add_rows(json_object_get(root, "rows"), r);

	for (uint32_t k = 0; k < r->results && !bad; k++) {
		place(r, json_object_get(root, "rows"), k, &f);
		bad = add_result(root, &r->result[k], &f);
	}
	if (!bad)
		return root;
	json_decref(root);
	return NULL;
}

/* ---- as text ---- */

/* "name": [ a line each ] */
static int put_list(const json_t *report, const char *name, size_t flags, FILE *to)
{
	const json_t *list = json_object_get(report, name);
	int bad = fprintf(to, ",\n\"%s\": [", name) < 0;

	for (size_t k = 0; k < json_array_size(list) && !bad; k++)
		bad = fputs(k ? ",\n" : "\n", to) == EOF || json_dumpf(json_array_get(list, k), to, flags);
	return bad || fputs("\n]", to) == EOF;
}

int scope_write_json(const json_t *report, FILE *to, struct gn_error *e)
{
	/* six digits: no region is known better than to a thousandth, by its clock */
	const size_t cells = JSON_REAL_PRECISION(9), samples = JSON_COMPACT | JSON_REAL_PRECISION(6);
	const int bad = fputs("{\n\"context\": ", to) == EOF ||
	                json_dumpf(json_object_get(report, "context"), to, JSON_INDENT(1) | cells) ||
	                put_list(report, "rows", cells, to) || put_list(report, "cells", cells, to) ||
	                put_list(report, "benchmarks", samples, to) || fputs("\n}\n", to) == EOF ||
	                fflush(to);

	return bad ? gn_error_set(e, -GN_EIO,
	                          "the report cannot be written as JSON; check the folder and its free space")
	           : 0;
}
