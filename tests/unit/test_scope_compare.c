/* SPDX-License-Identifier: Apache-2.0 */
/* What counts as a change, and Mann and Whitney's test against values from elsewhere. */
#include <string.h>

#include <scope/output/utest.h>

#include "scope_sample.h"
#include "unit.h"

/* ---- the test ---- */

static void expect_p(const double *a, uint32_t n, const double *b, uint32_t m, double p)
{
	expect_near(scope_utest(a, n, b, m), p, 1e-10);
	expect_near(scope_utest(b, m, a, n), p, 1e-10);
}

/*
 * Hollander and Wolfe, Nonparametric Statistical Methods, 4.1: permeability of a membrane, W = 35, 0.1272 on
 * one side.
 */
static const double permeable[] = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
static const double early[] = {1.15, 0.88, 0.90, 0.74, 1.21};

/* Values of scipy 1.x: mannwhitneyu, two-sided, method exact or asymptotic. */
static void test_known(void **state)
{
	static const double low[] = {1, 2, 3, 4, 5}, high[] = {6, 7, 8, 9, 10};
	static const double a[] = {11.288, 11.449, 10.066, 9.235,  8.908,  10.031, 8.978,
	                           8.563,  10.199, 10.133, 10.546, 9.086,  10.005, 9.935,
	                           8.494,  10.538, 10.321, 12.389, 10.203, 9.855};
	static const double b[] = {11.933, 10.899, 11.609, 10.334, 10.918, 11.724, 11.396,
	                           10.828, 9.618,  11.145, 10.777, 11.42,  10.916, 11.788,
	                           10.648, 10.902, 11.367, 9.613,  10.298, 10.2};
	static const double tied[] = {1, 2, 2, 3, 3, 3, 4, 5, 5, 6}, other[] = {2, 3, 4, 4, 5, 6, 6, 7, 8, 8};
	double many[60], others[50];

	(void)state;
	expect_p(low, 5, high, 5, 2.0 / 252);
	expect_p(permeable, 10, early, 5, 0.2544122544122544);
	expect_p(a, 20, b, 20, 0.0008357657823247607);
	expect_p(tied, 10, other, 10, 0.047069540401444114);
	for (int k = 0; k < 60; k++)
		many[k] = k * 37 % 101 + 0.5;
	for (int k = 0; k < 50; k++)
		others[k] = k * 53 % 97 + 4.25;
	expect_p(many, 60, others, 50, 0.9020583614844571);
}

static void test_extremes(void **state)
{
	static const double same[] = {7, 7, 7, 7}, one = 1, two = 2;

	(void)state;
	expect_p(same, 4, same, 4, 1);
	expect_p(&one, 1, &two, 1, 1);
	expect_p(same, 0, same, 4, 1);
}

/* The exact distribution by trying every choice of ranks. */
static void test_by_trying(void **state)
{
	double all[9] = {0};

	(void)state;
	for (unsigned choice = 0; choice < 1 << 9; choice++) {
		double a[9], b[9], u = 0, ways = 0, below = 0, least;
		unsigned n = 0, m = 0;

		if (__builtin_popcount(choice) != 4)
			continue;
		for (unsigned k = 0; k < 9; k++) {
			all[k] = k;
			if (choice >> k & 1)
				a[n++] = all[k];
			else
				b[m++] = all[k];
		}
		for (unsigned k = 0; k < n * m; k++)
			u += a[k % n] > b[k / n];
		least = u < n * m - u ? u : n * m - u;
		for (unsigned other = 0; other < 1 << 9; other++) {
			double v = 0;

			if (__builtin_popcount(other) != 4)
				continue;
			for (unsigned i = 0; i < 9; i++)
				for (unsigned j = 0; j < 9; j++)
					v += (other >> i & 1) && !(other >> j & 1) && i > j;
			ways++;
			below += v <= least;
		}
		expect_p(a, n, b, m, 2 * below / ways < 1 ? 2 * below / ways : 1);
	}
}

/* ---- reports ---- */

static const struct scope_row rate = {"copy/x", "", NULL, "h2d", "pcie", NULL, SCOPE_BANDWIDTH, SCOPE_EVENTS};
static const struct scope_row time_of = {"latency/x", "",   NULL,          "none",
                                         NULL,        NULL, SCOPE_LATENCY, SCOPE_EVENTS};

/* A report of one cell. */
static json_t *one(const struct scope_row *row, double value, double noise, uint32_t samples, uint64_t seed)
{
	const struct scope_arg args[] = {{"bytes", 4096}, {NULL, 0}};
	struct sample s;
	json_t *report;

	sample_open(&s);
	s.random = seed;
	sample_add(&s, row, args, value, noise, samples);
	report = scope_report_json(&s.report);
	sample_close(&s);
	assert_non_null(report);
	return report;
}

static void expect_verdict(json_t *before, json_t *after, const char *verdict)
{
	struct gn_error e = {0, ""};
	json_t *result;
	const json_t *cell;

	assert_int_equal(scope_compare(before, after, 0.03, &result, &e), 0);
	cell = json_array_get(json_object_get(result, "cells"), 0);
	assert_string_equal(json_string_value(json_object_get(cell, "verdict")), verdict);
	json_decref(result);
	json_decref(before);
	json_decref(after);
}

static void test_verdicts(void **state)
{
	(void)state;
	expect_verdict(one(&rate, 50e9, 0.02, 20, 1), one(&rate, 45e9, 0.02, 20, 2), "slower");
	expect_verdict(one(&rate, 50e9, 0.02, 20, 1), one(&rate, 55e9, 0.02, 20, 2), "faster");
	expect_verdict(one(&time_of, 1e-6, 0.02, 20, 1), one(&time_of, 1.1e-6, 0.02, 20, 2), "slower");
	expect_verdict(one(&time_of, 1e-6, 0.02, 20, 1), one(&time_of, 0.9e-6, 0.02, 20, 2), "faster");
	/* sure, but too little to care; much, but not sure; too few to be sure */
	expect_verdict(one(&rate, 50e9, 0.001, 20, 1), one(&rate, 49e9, 0.001, 20, 2), "same");
	expect_verdict(one(&rate, 50e9, 0.9, 8, 1), one(&rate, 45e9, 0.9, 8, 2), "same");
	expect_verdict(one(&rate, 50e9, 0.001, 3, 1), one(&rate, 40e9, 0.001, 3, 2), "same");
}

/* Of one distribution, cells that count as changed are no more than the test's own share of errors. */
static void test_no_false_alarm(void **state)
{
	unsigned changed = 0;

	(void)state;
	for (uint64_t k = 0; k < 400; k++) {
		json_t *before = one(&rate, 50e9, 0.2, 15, 2 * k + 1),
		       *after = one(&rate, 50e9, 0.2, 15, 1000003 * (k + 7)), *result;
		struct gn_error e;

		assert_int_equal(scope_compare(before, after, 0.03, &result, &e), 0);
		changed += strcmp(json_string_value(json_object_get(
		                      json_array_get(json_object_get(result, "cells"), 0), "verdict")),
		                  "same") != 0;
		json_decref(result);
		json_decref(before);
		json_decref(after);
	}
	assert_true(changed <= 20);
}

static void test_only(void **state)
{
	json_t *a = one(&rate, 50e9, 0.01, 10, 1), *b = one(&time_of, 1e-6, 0.01, 10, 1), *result, *cells;
	struct gn_error e;

	(void)state;
	assert_int_equal(scope_compare(a, b, 0.03, &result, &e), 0);
	cells = json_object_get(result, "cells");
	assert_int_equal(json_array_size(cells), 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(cells, 0), "verdict")),
	                    "only-before");
	assert_string_equal(json_string_value(json_object_get(json_array_get(cells, 1), "verdict")),
	                    "only-after");
	assert_true(json_is_null(json_object_get(json_array_get(cells, 1), "before")));
	json_decref(result);
	json_decref(a);
	json_decref(b);
}

/* A difference of the machine is one, a later date is none. */
static void test_environment(void **state)
{
	json_t *a = one(&rate, 50e9, 0.01, 10, 1), *b = json_deep_copy(a), *result, *list;
	struct gn_error e;

	(void)state;
	json_object_update_new(json_object_get(a, "context"),
	                       json_pack("{s:s, s:{s:s}, s:[{s:s,s:i}], s:s}", "date", "1", "cpu", "model",
	                                 "A", "gpus", "name", "H200", "free_bytes", 1, "kernel", "6.1"));
	json_object_update_new(json_object_get(b, "context"),
	                       json_pack("{s:s, s:{s:s}, s:[{s:s,s:i}], s:s}", "date", "2", "cpu", "model",
	                                 "A", "gpus", "name", "H100", "free_bytes", 2, "kernel", "6.2"));
	assert_int_equal(scope_compare(a, b, 0.03, &result, &e), 0);
	list = json_object_get(result, "environment");
	assert_int_equal(json_array_size(list), 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "key")),
	                    "gpus.0.name");
	assert_true(json_is_true(json_object_get(json_array_get(list, 0), "machine")));
	assert_string_equal(json_string_value(json_object_get(json_array_get(list, 1), "key")), "kernel");
	assert_true(json_is_false(json_object_get(json_array_get(list, 1), "machine")));
	json_decref(result);
	json_decref(a);
	json_decref(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_known),          cmocka_unit_test(test_extremes),
	    cmocka_unit_test(test_by_trying),      cmocka_unit_test(test_verdicts),
	    cmocka_unit_test(test_no_false_alarm), cmocka_unit_test(test_only),
	    cmocka_unit_test(test_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
