/* SPDX-License-Identifier: Apache-2.0 */
/* What samples come to, when there are enough of them, and how long one is. */
#include <math.h>
#include <stdlib.h>

#include "scope/sampling.h"
#include "unit.h"

static void near(double value, double expected)
{
	if (fabs(value - expected) > 1e-5 * fabs(expected))
		fail_msg("%.9g is not %.9g", value, expected);
}

/* From 1 to count, in another order. */
static void count_up(double *value, uint32_t count)
{
	for (uint32_t k = 0; k < count; k++)
		value[k] = 1 + (k * 7) % count;
}

/* As numpy.percentile and numpy.std(ddof=1) have them. */
static void test_known_values(void **state)
{
	struct scope_statistics s;
	double value[10];

	(void)state;
	count_up(value, 10);
	assert_int_equal(scope_statistics_of(value, 10, &s), 0);
	near(s.least, 1);
	near(s.p5, 1.45);
	near(s.quarter, 3.25);
	near(s.median, 5.5);
	near(s.three_quarters, 7.75);
	near(s.p95, 9.55);
	near(s.most, 10);
	near(s.mean, 5.5);
	near(s.variation, 3.0276504 / 5.5);
	assert_int_equal((int)value[1], 8); /* the samples stay as they were */
}

/*
 * Ranks of the 95 % interval of a median, as tables of the sign test have them (such as Hahn and Meeker,
 * table 5.1).
 */
static void test_interval(void **state)
{
	static const uint32_t table[][3] = {{5, 1, 5},    {6, 1, 6},    {8, 1, 8},    {9, 2, 8},
	                                    {10, 2, 9},   {15, 4, 12},  {20, 6, 15},  {25, 8, 18},
	                                    {30, 10, 21}, {50, 18, 33}, {100, 40, 61}};
	struct scope_statistics s;
	double value[101];

	(void)state;
	for (unsigned k = 0; k < sizeof table / sizeof *table; k++) {
		for (uint32_t j = 0; j < table[k][0]; j++)
			value[j] = table[k][0] - j;
		assert_int_equal(scope_statistics_of(value, table[k][0], &s), 0);
		assert_int_equal((int)s.low, (int)table[k][1]);
		assert_int_equal((int)s.high, (int)table[k][2]);
	}
}

static void test_few(void **state)
{
	struct scope_statistics s;
	const double one = 3;

	(void)state;
	assert_int_equal(scope_statistics_of(NULL, 0, &s), 0);
	assert_true(s.median == 0 && s.high == 0);
	assert_int_equal(scope_statistics_of(&one, 1, &s), 0);
	assert_true(s.least == 3 && s.median == 3 && s.most == 3 && s.low == 3 && s.high == 3 &&
	            s.variation == 0);
}

/*
 * Of 2000 sets of samples of a known median, the interval holds it in 95 % or more; a wrong rule shows as 93
 * or 99.9 %.
 */
static void test_coverage(void **state)
{
	enum { SETS = 2000, COUNT = 40 };
	uint32_t hold = 0;

	(void)state;
	srand(1);
	for (uint32_t set = 0; set < SETS; set++) {
		struct scope_statistics s;
		double value[COUNT];

		for (uint32_t k = 0; k < COUNT; k++)
			/* skewed, as times are; the median is ln 2 */
			value[k] = -log((rand() + 1.0) / (RAND_MAX + 2.0));
		assert_int_equal(scope_statistics_of(value, COUNT, &s), 0);
		hold += s.low <= log(2.0) && log(2.0) <= s.high;
	}
	assert_in_range(hold, SETS * 0.945, SETS * 0.98);
}

/*
 * Rounds of ten equal samples each: what is known is what the rounds say. Student's t of two degrees is
 * 4.303.
 */
static void test_rounds(void **state)
{
	static const double of[] = {98, 100, 103};
	const uint32_t end[] = {10, 20, 30};
	const double half =
	    4.303 * sqrt((2.333333 * 2.333333 + 0.333333 * 0.333333 + 2.666667 * 2.666667) / 2) / sqrt(3);
	struct scope_statistics s;
	double value[30];

	(void)state;
	for (uint32_t k = 0; k < 30; k++)
		value[k] = of[k / 10];
	assert_int_equal(scope_statistics_of_rounds(value, end, 3, &s), 0);
	assert_true(s.median == 100 && s.rounds == 3 && s.least_round == 98 && s.most_round == 103);
	assert_true(fabs(s.high - (100 + half)) < 1e-3 && fabs(s.low - (100 - half)) < 1e-3);
	assert_int_equal(scope_statistics_of_rounds(value, end, 1, &s), 0);
	assert_true(s.median == 98 && s.rounds == 1 && s.high == 98);
}

/*
 * Rounds that scatter more than the samples in them: intervals of all samples alone would hold the median in
 * a fifth.
 */
static void test_coverage_of_rounds(void **state)
{
	enum { SETS = 1000, ROUNDS = 4, EACH = 20 };
	uint32_t hold = 0, alone = 0;

	(void)state;
	srand(2);
	for (uint32_t set = 0; set < SETS; set++) {
		uint32_t end[ROUNDS];
		double value[ROUNDS * EACH];
		struct scope_statistics s;

		for (uint32_t k = 0; k < ROUNDS; k++) {
			double where = 1000;

			for (uint32_t n = 0; n < 12; n++) /* near normal, with a deviation of 10 */
				where += 10 * (rand() / (RAND_MAX + 1.0) - 0.5);
			for (uint32_t n = 0; n < EACH; n++)
				value[k * EACH + n] = where + rand() / (RAND_MAX + 1.0) - 0.5;
			end[k] = (k + 1) * EACH;
		}
		assert_int_equal(scope_statistics_of(value, ROUNDS * EACH, &s), 0);
		alone += s.low <= 1000 && 1000 <= s.high;
		assert_int_equal(scope_statistics_of_rounds(value, end, ROUNDS, &s), 0);
		hold += s.low <= 1000 && 1000 <= s.high;
	}
	assert_in_range(hold, SETS * 0.92, SETS);
	assert_true(alone < SETS * 0.8);
}

static void test_enough(void **state)
{
	double value[100], share;

	(void)state;
	for (uint32_t k = 0; k < 100; k++)
		value[k] = 100;
	assert_false(scope_enough(value, SCOPE_LEAST_SAMPLES - 1, 0.01, &share));
	assert_true(scope_enough(value, SCOPE_LEAST_SAMPLES, 0.01, &share));
	assert_true(share == 0);
	for (uint32_t k = 0; k < 100; k++)
		value[k] = 90 + 20.0 * k / 99;
	/* the interval is samples 40 to 61, the median between 50 and 51: 10.5 steps of 20/99 of 100 */
	assert_false(scope_enough(value, 100, 0.021, &share));
	assert_true(scope_enough(value, 100, 0.0215, &share));
	near(share, 10.5 * 20 / 99 / 100);
}

static void test_steady(void **state)
{
	double last[SCOPE_WINDOW] = {100, 101, 99, 100, 180, 101, 100, 60, 100, 99};

	(void)state;
	assert_true(scope_steady(last)); /* two that are off change no median */
	for (uint32_t k = SCOPE_WINDOW / 2; k < SCOPE_WINDOW; k++)
		last[k] *= 1.05;
	assert_false(scope_steady(last));
}

static void test_drift(void **state)
{
	double value[60];

	(void)state;
	for (uint32_t k = 0; k < 60; k++)
		value[k] = (k < 40 ? 100 : 80) + k % 3;
	near(scope_drift(value, 60), 81.0 / 101 - 1);
	assert_true(scope_drift(value + 20, 20) == 0); /* too few */
	for (uint32_t k = 0; k < 60; k++)
		value[k] = k % 2 ? 50 : 150; /* the medians of thirds differ by chance */
	value[59] = 150;
	assert_true(scope_drift(value, 60) == 0);
}

/*
 * However an operation's time lies to the clock's steps, a few samples find a length, and it is not much too
 * long.
 */
static void test_operations(void **state)
{
	const double least = 30e-6;

	(void)state;
	assert_int_equal(scope_operations(7, 31e-6, least), 7);
	assert_int_equal(scope_operations(1, 0, least), 10);
	for (double each = 1e-10; each < 1e-3; each *= 3) {
		uint64_t operations = 1, before = 0;
		uint32_t samples = 0;

		while (operations != before) {
			before = operations;
			operations = scope_operations(operations, (double)operations * each, least);
			samples++;
		}
		assert_true((double)operations * each >= least);
		assert_true(operations == 1 || (double)operations * each < 4 * least);
		assert_in_range(samples, 1, 12);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_known_values), cmocka_unit_test(test_interval),
	    cmocka_unit_test(test_few),          cmocka_unit_test(test_coverage),
	    cmocka_unit_test(test_rounds),       cmocka_unit_test(test_coverage_of_rounds),
	    cmocka_unit_test(test_enough),       cmocka_unit_test(test_steady),
	    cmocka_unit_test(test_drift),        cmocka_unit_test(test_operations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
