/* SPDX-License-Identifier: Apache-2.0 */
/* A report as files: what stands in them against what was put in, and files that are no report. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scope/output/format.h"
#include "scope_sample.h"
#include "unit.h"

static struct sample s;
static json_t *report;
static struct gn_error error;

static int open_sample(void **state)
{
	(void)state;
	memset(&error, 0, sizeof error);
	sample_open(&s);
	sample_fill(&s);
	report = scope_report_json(&s.report);
	return report ? 0 : -1;
}

static int close_sample(void **state)
{
	(void)state;
	json_decref(report);
	sample_close(&s);
	return 0;
}

typedef int writer(const json_t *, FILE *, struct gn_error *);

static char *written(writer *write)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&text, &bytes);

	assert_int_equal(write(report, to, &error), 0);
	fclose(to);
	return text;
}

static uint32_t measured(void)
{
	uint32_t count = 0;

	for (uint32_t k = 0; k < s.report.results; k++)
		count += s.result[k].status == SCOPE_MEASURED;
	return count;
}

/* ---- Google Benchmark's schema ---- */

static double number(const json_t *entry, const char *member)
{
	const json_t *v = json_object_get(entry, member);

	if (!json_is_number(v))
		fail_msg("%s is no number", member);
	return json_number_value(v);
}

static const char *text(const json_t *entry, const char *member)
{
	const json_t *v = json_object_get(entry, member);

	if (!json_is_string(v))
		fail_msg("%s is no text", member);
	return json_string_value(v);
}

/* Every member that compare.py names; aggregates have those of Google Benchmark's own reporter too. */
static void expect_entry(const json_t *b)
{
	const int aggregate = !strcmp(text(b, "run_type"), "aggregate");

	assert_true(number(b, "real_time") > 0 || aggregate);
	assert_true(number(b, "cpu_time") > 0 || aggregate);
	assert_string_equal(text(b, "time_unit"), "ns");
	text(b, "name");
	if (!aggregate)
		return;
	assert_true(number(b, "iterations") >= 1);
	assert_true(number(b, "threads") >= 1);
	assert_true(number(b, "family_index") >= 0 && number(b, "per_family_instance_index") >= 0);
	assert_string_equal(text(b, "aggregate_unit"),
	                    strcmp(text(b, "aggregate_name"), "cv") ? "time" : "percentage");
	assert_int_equal(strncmp(text(b, "name"), text(b, "run_name"), strlen(text(b, "run_name"))), 0);
	assert_string_equal(text(b, "name") + strlen(text(b, "run_name")) + 1, text(b, "aggregate_name"));
}

static void test_schema(void **state)
{
	const json_t *list = json_object_get(report, "benchmarks");
	size_t samples = 0;

	(void)state;
	assert_int_equal((int)number(json_object_get(report, "context"), "json_schema_version"), 1);
	for (uint32_t k = 0; k < s.report.results; k++)
		samples += s.result[k].samples;
	assert_int_equal(json_array_size(list), samples + 4 * measured());
	for (size_t k = 0; k < json_array_size(list); k++)
		expect_entry(json_array_get(list, k));
}

static const json_t *benchmark(const char *name)
{
	const json_t *list = json_object_get(report, "benchmarks");

	for (size_t k = 0; k < json_array_size(list); k++)
		if (!strcmp(text(json_array_get(list, k), "name"), name))
			return json_array_get(list, k);
	fail_msg("no %s", name);
	return NULL;
}

/* The first copy: 4 KiB; its figures once more, by other formulas. */
static void test_figures(void **state)
{
	const struct scope_result *r = &s.result[0];
	double sum = 0, squares = 0, time = 0;

	(void)state;
	for (uint32_t k = 0; k < r->samples; k++) {
		sum += r->value[k];
		squares += r->value[k] * r->value[k];
		time += 1e9 * r->seconds[k];
	}
	expect_near(number(benchmark("copy/pinned-to-device/bytes:4096"), "bytes_per_second"), r->value[0],
	            1);
	expect_near(number(benchmark("copy/pinned-to-device/bytes:4096"), "real_time"),
	            1e9 * 4096 / r->value[0], 1e-3);
	expect_near(number(benchmark("copy/pinned-to-device/bytes:4096_mean"), "bytes_per_second"),
	            sum / r->samples, 10);
	expect_near(number(benchmark("copy/pinned-to-device/bytes:4096_mean"), "real_time"),
	            time / r->samples, 1e-3);
	expect_near(number(benchmark("copy/pinned-to-device/bytes:4096_cv"), "bytes_per_second"),
	            sqrt((squares - sum * sum / r->samples) / (r->samples - 1)) / (sum / r->samples), 1e-6);
	expect_near(number(benchmark("latency/host-memory/span:1048576_median"), "real_time"), 1330, 14);
	assert_true(number(benchmark("latency/loaded/blocks:8"), "load_bytes_per_second") > 48e9);
	expect_near(number(benchmark("doorbell/write"), "items_per_second"), 5.1e6, 0.11e6);
}

/* What never ran looks very fast: it is not measured, and says so. */
static void test_unsound(void **state)
{
	const json_t *cell;

	(void)state;
	s.result[0].value[3] = INFINITY;
	json_decref(report);
	report = scope_report_json(&s.report);
	cell = json_array_get(json_object_get(report, "cells"), 0);
	assert_string_equal(text(cell, "status"), "failed");
	assert_non_null(strstr(text(cell, "why"), "did not run"));
	free(written(scope_write_csv));
}

/* ---- CSV ---- */

enum { FIELDS = 64 };

/* One record of RFC 4180; returns where the next begins. Fields are cut out in place. */
static char *record(char *at, char **field, unsigned *fields)
{
	for (*fields = 0; *fields < FIELDS;) {
		const int quoted = *at == '"';
		char *to = at += quoted;

		field[(*fields)++] = at;
		while (*at && (quoted ? *at != '"' || at[1] == '"' : *at != ',' && *at != '\n')) {
			at += quoted && *at == '"';
			*to++ = *at++;
		}
		at += quoted;
		assert_true(*at == ',' || *at == '\n');
		if (*at == '\n') {
			*to = '\0';
			return at + 1;
		}
		at++;
		*to = '\0';
	}
	fail_msg("too many fields");
	return at;
}

static unsigned column(char **header, unsigned columns, const char *name)
{
	for (unsigned k = 0; k < columns; k++)
		if (!strcmp(header[k], name))
			return k;
	fail_msg("no column %s", name);
	return 0;
}

static void expect_record(char **header, unsigned columns, char **field, const struct scope_result *r)
{
	struct scope_statistics st;
	char name[SCOPE_NAME];

	scope_cell_name(&r->cell, name, sizeof name);
	assert_string_equal(field[column(header, columns, "name")], name);
	assert_string_equal(field[column(header, columns, "why")], r->why);
	assert_string_equal(field[column(header, columns, "direction")], r->cell.row->direction);
	assert_int_equal(strtoull(field[column(header, columns, "bytes")], NULL, 10),
	                 scope_cell_arg(&r->cell, "bytes", 0));
	if (r->status != SCOPE_MEASURED) {
		assert_string_equal(field[column(header, columns, "median")], "");
		return;
	}
	assert_int_equal(scope_statistics_of(r->value, r->samples, &st), 0);
	assert_true(fabs(atof(field[column(header, columns, "median")]) / st.median - 1) < 1e-6);
	assert_true(fabs(atof(field[column(header, columns, "p95")]) / st.p95 - 1) < 1e-6);
	assert_int_equal(atoi(field[column(header, columns, "samples")]), r->samples);
	if (!r->second)
		return;
	assert_int_equal(scope_statistics_of(r->second, r->samples, &st), 0);
	assert_true(fabs(atof(field[column(header, columns, "second_median")]) / st.median - 1) < 1e-6);
}

static void test_csv(void **state)
{
	char *all = written(scope_write_csv), *header[FIELDS], *field[FIELDS], *at;
	unsigned columns, fields;

	(void)state;
	at = record(all, header, &columns);
	for (uint32_t k = 0; k < s.report.results; k++) {
		at = record(at, field, &fields);
		assert_int_equal(fields, columns);
		expect_record(header, columns, field, &s.result[k]);
		if (scope_cell_arg(&s.result[k].cell, "warps", 0) == 64)
			assert_string_equal(field[column(header, columns, "others")], "warps:64");
	}
	assert_int_equal(*at, '\0');
	free(all);
}

/* ---- Markdown ---- */

static unsigned bars(const char *line)
{
	unsigned count = 0;

	for (; *line && *line != '\n'; line++) {
		count += *line == '|';
		line += *line == '\\' && line[1];
	}
	return count;
}

/* What a median of so much noise looks like: half its interval is that share of it. */
static void shows(enum scope_unit unit, double median, double half, uint32_t rounds, const char *text)
{
	struct scope_statistics of;

	memset(&of, 0, sizeof of);
	of.median = median;
	of.low = median * (1 - half);
	of.high = median * (1 + half);
	of.rounds = rounds;
	assert_string_equal(scope_format_median(unit, &of).text, text);
}

/* As many digits as the spread allows, and two where it is not known. */
static void test_digits(void **state)
{
	(void)state;
	shows(SCOPE_BANDWIDTH, 55.4321e9, 0.001, 2, "55.43");
	shows(SCOPE_BANDWIDTH, 55.4321e9, 0.02, 2, "55.4");
	shows(SCOPE_BANDWIDTH, 55.4321e9, 0.3, 2, "55");
	shows(SCOPE_BANDWIDTH, 55.4321e9, 0.001, 1, "~55");
	shows(SCOPE_BANDWIDTH, 5.54321e9, 0, 1, "~5.5");
	shows(SCOPE_LATENCY, 1877e-9, 0.02, 3, "1880");
	shows(SCOPE_LATENCY, 1877e-9, 0.5, 3, "1900");
	shows(SCOPE_RATE, 12, 0.5, 3, "1.2e-05");
	shows(SCOPE_LATENCY, 0.5, 0.02, 1, "~5e+08");
	shows(SCOPE_BANDWIDTH, 0, 0, 0, "~0");
}

/* Every line of a table has the fields of its header. */
static void test_markdown(void **state)
{
	char *all = written(scope_write_markdown);
	unsigned width = 0, tables = 0;

	(void)state;
	for (char *line = all; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		if (*line != '|') {
			width = 0;
			continue;
		}
		tables += !width;
		width = width ? width : bars(line);
		assert_int_equal(bars(line), width);
	}
	assert_true(tables >= 10);
	assert_non_null(strstr(all, "| from \\\\ to (GB/s) | 0 | 1 |"));
	assert_non_null(strstr(all, "GiB | ~5")); /* the largest copy, of one round */
	assert_non_null(strstr(all, "\\<b\\>"));
	assert_non_null(strstr(all, "; 49.")); /* one direction of both */
	assert_non_null(strstr(all, " GB/s to device"));
	free(all);
}

/* ---- HTML ---- */

static unsigned count(const char *all, const char *word)
{
	unsigned n = 0;

	for (; (all = strstr(all, word)) != NULL; all++)
		n++;
	return n;
}

static void test_html(void **state)
{
	char *all = written(scope_write_html);

	(void)state;
	assert_int_equal(count(all, "<svg "), count(all, "</svg>"));
	assert_true(count(all, "<svg ") >= 13);
	assert_int_equal(count(all, "http"),
	                 count(all, "xmlns=\"http://www.w3.org/2000/svg\"") + count(all, "http-equiv"));
	assert_int_equal(count(all, "<script") + count(all, "<img") + count(all, "<link") +
	                     count(all, "url(") + count(all, "@import"),
	                 0);
	assert_non_null(strstr(all, "A &amp; B &lt;processor&gt;"));
	assert_null(strstr(all, "<processor>"));
	assert_null(strstr(all, "nan"));
	assert_null(strstr(all, "inf\""));
	/* every measured cell is a point, a field of a matrix or a bar, and has its figures */
	for (uint32_t k = 0; k < s.report.results; k++) {
		char name[SCOPE_NAME + 16], plain[SCOPE_NAME];

		scope_cell_name(&s.result[k].cell, plain, sizeof plain);
		snprintf(name, sizeof name, "<td>%s</td>", plain);
		assert_non_null(strstr(all, name));
	}
	assert_non_null(strstr(all, "Roofline of the link: pcie"));
	assert_non_null(strstr(all, "PCIe 5 x16: 63.02 GB/s"));
	assert_non_null(strstr(all, "L2 of the GPU"));
	assert_non_null(strstr(all, "class=\"tick end\">60</text>")); /* GB/s have no unit of sizes */
	assert_non_null(strstr(all, "reach of address translation"));
	free(all);
}

/* A report of nothing is a report. */
static void test_empty(void **state)
{
	const uint32_t all = s.report.results;

	(void)state;
	s.report.results = 0;
	json_decref(report);
	report = scope_report_json(&s.report);
	assert_non_null(report);
	free(written(scope_write_csv));
	free(written(scope_write_markdown));
	free(written(scope_write_html));
	s.report.results = all;
}

/* ---- what is no report ---- */

/* Change one thing and expect to be told which. `path` are members and indices with dots. */
static void expect_refused(const char *path, json_t *value, const char *says)
{
	json_t *copy = json_deep_copy(report), *at = copy;
	char words[64], *rest = NULL, *word, *more;
	FILE *to = fopen("/dev/null", "w");

	snprintf(words, sizeof words, "%s", path);
	word = strtok_r(words, ".", &rest);
	while ((more = strtok_r(NULL, ".", &rest))) {
		at = json_is_array(at) ? json_array_get(at, (size_t)atoi(word)) : json_object_get(at, word);
		word = more;
	}
	if (value)
		json_object_set_new(at, word, value);
	else
		json_object_del(at, word);
	error.text[0] = '\0';
	assert_int_equal(scope_write_csv(copy, to, &error), -GN_EINVAL);
	if (!strstr(error.text, says))
		fail_msg("%s: \"%s\" does not say \"%s\"", path, error.text, says);
	assert_null(scope_findings(copy));
	fclose(to);
	json_decref(copy);
}

static void test_refused(void **state)
{
	const uint32_t all = s.report.results;

	(void)state;
	s.report.results = 12;
	json_decref(report);
	report = scope_report_json(&s.report);
	s.report.results = all;
	expect_refused("context", NULL, "not a report of grapnel scope");
	expect_refused("context.scope_version", NULL, "scope_version");
	expect_refused("context.scope_version", json_integer(2), "version 2");
	expect_refused("benchmarks", json_object(), "arrays");
	expect_refused("rows", json_null(), "arrays");
	expect_refused("rows.1.unit", json_string("furlongs"), "rows[1].unit");
	expect_refused("rows.0.name", NULL, "rows[0].name");
	expect_refused("cells.2.row", json_string("copy/none"), "cells[2].row");
	expect_refused("cells.2.arguments.bytes", json_integer(-1), "cells[2].arguments");
	expect_refused("cells.2.arguments", json_integer(1), "cells[2].arguments");
	expect_refused("cells.2.samples", json_integer(3), "cells[2].rounds");
	expect_refused("cells.2.rounds", json_pack("[i, i]", 7, -1), "cells[2].rounds");
	expect_refused("cells.2.rounds", json_array(), "cells[2].rounds");
	expect_refused("cells.2.rounds", json_string("two"), "cells[2].rounds");
	expect_refused("cells.2.samples", json_integer(0), "cells[2].samples");
	expect_refused("cells.2.status", json_string("well"), "cells[2].status");
	expect_refused("cells.3.name", json_string("copy/pinned-to-device/bytes:4096"), "twice");
	expect_refused("benchmarks.5.name", json_string("copy/other"), "benchmarks[5].name");
	expect_refused("benchmarks.5.bytes_per_second", json_string("1e9"), "benchmarks[5].bytes_per_second");
	expect_refused("benchmarks.5.bytes_per_second", json_real(-1), "benchmarks[5].bytes_per_second");
	expect_refused("benchmarks.5.bytes_per_second", json_real(1e300), "benchmarks[5].bytes_per_second");
	expect_refused("benchmarks.5.real_time", json_integer(0), "benchmarks[5].real_time");
	expect_refused("benchmarks.5.time_unit", json_string("h"), "benchmarks[5].time_unit");
}

static void test_files(void **state)
{
	json_t *none;

	(void)state;
	assert_int_equal(scope_report_load("/nowhere/at/all", &none, &error), -GN_ENOENT);
	assert_non_null(strstr(error.text, "/nowhere/at/all"));
	assert_int_equal(scope_report_load("/dev/null", &none, &error), -GN_EINVAL);
	assert_null(none);
}

/* A full disk is noticed. */
static void test_full(void **state)
{
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(full);
	assert_int_equal(scope_write_csv(report, full, &error), -GN_EIO);
	assert_int_equal(scope_write_markdown(report, full, &error), -GN_EIO);
	assert_int_equal(scope_write_html(report, full, &error), -GN_EIO);
	fclose(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_schema, open_sample, close_sample),
	    cmocka_unit_test_setup_teardown(test_figures, open_sample, close_sample),
	    cmocka_unit_test_setup_teardown(test_unsound, open_sample, close_sample),
	    cmocka_unit_test_setup_teardown(test_csv, open_sample, close_sample),
	    cmocka_unit_test(test_digits),
	    cmocka_unit_test_setup_teardown(test_markdown, open_sample, close_sample),
	    cmocka_unit_test_setup_teardown(test_html, open_sample, close_sample),
	    cmocka_unit_test_setup_teardown(test_empty, open_sample, close_sample),
	    cmocka_unit_test_setup_teardown(test_refused, open_sample, close_sample),
	    cmocka_unit_test_setup_teardown(test_files, open_sample, close_sample),
	    cmocka_unit_test_setup_teardown(test_full, open_sample, close_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
