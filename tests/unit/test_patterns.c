/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns as batches of rows: the same words as the kernels read, in parts too; and a run that is advised to
 * gather does.
 */
#include "patterns/patterns.h"

#include <string.h>

#include "unit.h"

static struct gn_pattern_fixture fixture;
static struct gn_pattern_result result;

static int open_fixture(void **state)
{
	struct gn_pattern_options o;
	struct gn_error error;

	(void)state;
	memset(&o, 0, sizeof o);
	o.data_bytes = 16 << 20;
	o.cache_bytes = 2 << 20;
	o.touches = 2048;
	o.launches = 3;
	o.machine.name = "cpu";
	o.machine.threads = 1;
	o.machine.warp_width = 8;
	return gn_pattern_fixture_open(&fixture, &o, &error);
}

static int close_fixture(void **state)
{
	(void)state;
	gn_pattern_fixture_close(&fixture);
	return 0;
}

static const struct gn_pattern *pattern(const char *name)
{
	for (unsigned k = 0; k < GN_PATTERNS; k++)
		if (!strcmp(gn_patterns[k].name, name))
			return &gn_patterns[k];
	fail_msg("no pattern %s", name);
	return NULL;
}

static void run(const char *name, uint32_t mode)
{
	struct gn_error error;

	if (gn_pattern_run(&fixture, pattern(name), mode, 0, &result, &error))
		fail_msg("%s", error.text);
	assert_int_equal(result.launches, fixture.options.launches);
}

/* Every word that is gathered is compared, and what updates leave in the store. */
static void patterns_run_as_batches(void **state)
{
	unsigned lists = 0;

	(void)state;
	for (unsigned k = 0; k < GN_PATTERNS; k++)
		if (gn_patterns[k].list) {
			run(gn_patterns[k].name, GN_PATTERN_GATHER);
			lists++;
		}
	assert_int_equal(lists, 7);
}

static void what_is_not_known_ahead_is_no_batch(void **state)
{
	struct gn_error error;

	(void)state;
	assert_int_equal(gn_pattern_run(&fixture, pattern("chase"), GN_PATTERN_GATHER, 0, &result, &error),
	                 -GN_EINVAL);
	assert_non_null(strstr(error.text, "not known in advance"));
}

/*
 * Where translation reaches an eighth of the data. On this machine loads of the store's memory are loads of
 * its own: no pages.
 */
static void advice_to_gather_is_followed(void **state)
{
	(void)state;
	fixture.reach_bytes = 2 << 20;
	run("random", GN_PATTERN_AUTO);
	for (uint32_t k = 0; k < 2; k++) /* that are looked at */
		assert_string_equal(result.choice[k], "direct");
	for (uint32_t k = 2; k < result.launches; k++)
		assert_string_equal(result.choice[k], "gather");
	assert_int_equal(result.advice, GN_ADVICE_GATHER);
	run("chase", GN_PATTERN_AUTO); /* cannot follow it */
	assert_int_equal(result.advice, GN_ADVICE_GATHER);
	assert_string_equal(result.choice[result.launches - 1], "direct");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(patterns_run_as_batches),
	    cmocka_unit_test(what_is_not_known_ahead_is_no_batch),
	    cmocka_unit_test(advice_to_gather_is_followed),
	};

	return cmocka_run_group_tests_name("patterns", tests, open_fixture, close_fixture);
}
