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

static void test_sample(void **state)
{
	struct sample s;
	json_t *all;

	(void)state;
	sample_open(&s);
	sample_fill(&s);
	all = tuned(&s);
	assert_int_equal((int)value(all, "page_bytes"),
	                 4096);                          /* 50 of 51.2 GB/s; 40 of 51.2 would be too little */
	assert_int_equal((int)value(all, "depth"), 128); /* 2 x 488 thousand x 102 us = 2 x 50 */
	assert_int_equal((int)value(all, "queues"), 1);
	expect_why(all, "depth", "Little");
	assert_int_equal((uint64_t)value(all, "reach_bytes"), 1ull << 29);
	assert_string_equal(json_string_value(json_object_get(all, "machine")), "cuda");
	json_decref(all);
	sample_close(&s);
}

static void test_open(void **state)
{
	static const char *const names[] = {"page_bytes", "depth", "queues"};
	struct sample s;
	json_t *all;

	(void)state;
	sample_open(&s);
	all = tuned(&s);
	for (unsigned k = 0; k < 3; k++) {
		assert_true(json_is_null(json_object_get(json_object_get(all, names[k]), "value")));
		expect_why(all, names[k], "not known: needs");
	}
	expect_why(all, "reach_bytes", "own guess stays");
	json_decref(all);
	sample_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_sample), cmocka_unit_test(test_open)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
