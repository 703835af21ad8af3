/* SPDX-License-Identifier: Apache-2.0 */
/* Settings against a reckoning by hand (docs/scope-output.md shows it), and what is open without figures. */
#include <string.h>

#include "scope_sample.h"
#include "unit.h"

static json_t *tuned(struct sample *s)
{
	json_t *report = scope_report_json(&s->report), *settings;
	struct gn_error e;

	assert_int_equal(scope_tune(report, &settings, &e), 0);
	json_decref(report);
	return settings;
}

static double value(const json_t *settings, const char *name)
{
	const json_t *setting = json_object_get(settings, name);

	if (!json_is_number(json_object_get(setting, "value")))
		fail_msg("%s is open: %s", name, json_string_value(json_object_get(setting, "why")));
	return json_number_value(json_object_get(setting, "value"));
}

static void expect_why(const json_t *settings, const char *name, const char *word)
{
	const char *why = json_string_value(json_object_get(json_object_get(settings, name), "why"));

	if (!why || !strstr(why, word))
		fail_msg("%s: \"%s\" does not say \"%s\"", name, why ? why : "", word);
}

static void expect_range(const json_t *range, uint64_t from, uint64_t to, const char *method)
{
	assert_int_equal(json_integer_value(json_object_get(range, "from_bytes")), from);
	assert_int_equal(json_integer_value(json_object_get(range, "to_bytes")), to);
	assert_string_equal(json_string_value(json_object_get(range, "method")), method);
}

static void test_sample(void **state)
{
	struct sample s;
	json_t *all, *decisions, *in;

	(void)state;
	sample_open(&s);
	sample_fill(&s);
	all = tuned(&s);
	decisions = json_object_get(all, "decisions");
	assert_int_equal((int)value(all, "page_bytes"),
	                 4096); /* 50 of 51.2 GB/s; 40 of 51.2 would be too little */
	assert_in_range((int)value(all, "warps_in_flight"), 48, 50); /* 50e9 x 4e-6 / 4096 = 48.8 */
	expect_why(all, "warps_in_flight", "Little");
	assert_int_equal((int)value(all, "depth"), 128); /* 2 x 488 thousand x 102 us = 2 x 50 */
	assert_int_equal((int)value(all, "queues"), 1);
	in = json_object_get(json_object_get(all, "copy"), "to-device");
	/* 2.5 us + b / 55.4 against 1.2 us + b / 51.2: even at 878 thousand bytes, 3 % apart at 3 million */
	assert_int_equal(json_array_size(in), 2);
	expect_range(json_array_get(in, 0), 4096, 1048576, "kernel/pinned-to-device");
	expect_range(json_array_get(in, 1), 4194304, 1073741824, "copy/pinned-to-device");
	assert_int_equal((uint64_t)value(decisions, "reach_bytes"), 1ull << 29);
	expect_near(value(decisions, "line_use"), 5.0 / 50, 0.003);
	expect_near(value(decisions, "hit_share"), 0.703, 0.01); /* (81.9 - 24.4) / (81.9 - 0.07) ns */
	assert_string_equal(json_string_value(json_object_get(all, "machine")), "cuda");
	json_decref(all);
	sample_close(&s);
}

static void test_open(void **state)
{
	static const char *const names[] = {"page_bytes", "warps_in_flight", "depth", "queues"};
	struct sample s;
	json_t *all;

	(void)state;
	sample_open(&s);
	all = tuned(&s);
	for (unsigned k = 0; k < 4; k++) {
		assert_true(json_is_null(json_object_get(json_object_get(all, names[k]), "value")));
		expect_why(all, names[k], "not known: needs");
	}
	expect_why(json_object_get(all, "decisions"), "reach_bytes", "own guess stays");
	assert_int_equal(json_object_size(json_object_get(all, "copy")), 0);
	json_decref(all);
	sample_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_sample), cmocka_unit_test(test_open)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
