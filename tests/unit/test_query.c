/* SPDX-License-Identifier: Apache-2.0 */
/* Queries: expressions whose values are known, what the parser refuses, sums and traffic. */
#include "test_query_support.h"

/* ---- known values ---- */

/* Rows of three columns: 1.50 and 2, 2.50 and missing, -1.00 and 0, missing and 4. */
static void make_small(struct gn_table_file *f)
{
	static const struct gn_column columns[] = {
	    {"m", GN_COLUMN_DECIMAL, 2}, {"i", GN_COLUMN_I32}, {"w", GN_COLUMN_STRING}};
	const struct gn_cell rows[4][3] = {{{0, {150}}, {0, {2}}, {0, {0}}},
	                                   {{0, {250}}, {1, {0}}, {0, {1}}},
	                                   {{0, {-100}}, {0, {0}}, {1, {0}}},
	                                   {{1, {0}}, {0, {4}}, {0, {0}}}};
	struct gn_table_writer *w;
	union gn_value place;

	must(gn_table_writer_begin(&w, path, columns, 3, 4, &error));
	must(gn_table_word(w, 2, "it's", 4, &place, &error));
	must(gn_table_word(w, 2, "y", 1, &place, &error));
	for (int k = 0; k < 4; k++)
		must(gn_table_writer_row(w, rows[k], &error));
	must(gn_table_writer_end(w, &error));
	must(gn_table_open(f, path, &error));
}

static void expect_matching(const struct gn_table_file *f, const char *where, unsigned rows)
{
	for (unsigned k = 0; k < sizeof ways / sizeof ways[0]; k++) {
		struct gn_query_result result, want;
		struct gn_query q;
		unsigned got = 0;

		if (is_left_out(&ways[k]))
			continue;
		must(gn_query_begin(&q, f, where, &error));
		must(gn_query_aggregate(&q, GN_WANT_SUM, f->columns[0].name, &error));
		must(gn_query_ready(&q, &error));
		must(run(&q, &ways[k], &result));
		must(gn_query_reference(&q, &want, NULL, &error));
		got = (unsigned)result.rows;
		if (got != rows || want.rows != rows)
			fail_msg("%s: %u rows match, %u by the reference, not %u", where, got,
			         (unsigned)want.rows, rows);
		gn_query_result_free(&result);
		gn_query_result_free(&want);
		gn_query_end(&q);
	}
}

static void conditions_match_as_in_sql(void **state)
{
	struct gn_table_file f;

	(void)state;
	make_small(&f);
	expect_matching(&f, "m > 0", 2);
	expect_matching(&f, "m >= 1.5", 2);
	expect_matching(&f, "1.5 < m", 1);
	expect_matching(&f, "m = 1.500", 1);
	expect_matching(&f, "not m > 0", 1);
	expect_matching(&f, "m is null", 1);
	expect_matching(&f, "m is not null and i is not null", 2);
	expect_matching(&f, "i = 4 or m > 0", 3);
	expect_matching(&f, "i > 3 or i < 1", 2);
	expect_matching(&f, "m / i > 0", 1); /* by 0: missing */
	expect_matching(&f, "m * 2 - 1 = i", 1);
	expect_matching(&f, "-m = 1 and i = 0", 1);
	expect_matching(&f, "w = 'it''s'", 2);
	expect_matching(&f, "w != 'y'", 2);
	expect_matching(&f, "w <> 'nothing'", 3);
	expect_matching(&f, "w = 'nothing'", 0);
	expect_matching(&f, "'y' = w", 1);
	expect_matching(&f, "NOT (w = 'y') AND NOT w = 'y'", 2);
	expect_matching(&f, "i = 0.0e0", 1);
	expect_matching(&f, "1 + 2 * 3 - 4 / 2 = 5", 4);
	expect_matching(&f, "(1 + 2) * 3 = 9 and 2 - 1 - 1 = 0", 4);
	expect_matching(&f, "1 = 1 or m / 0 = 1", 4);
	expect_matching(&f, "i < 0 and 9223372036854775807 + i > 0", 0); /* the right side is not looked at */
	gn_table_close(&f);
}

static void expect_refused(const struct gn_table_file *f, const char *text, const char *words)
{
	struct gn_query q;
	const int rc = gn_query_begin(&q, f, text, &error);

	gn_query_end(&q);
	assert_int_equal(rc, -GN_EINVAL);
	if (!strstr(error.text, words))
		fail_msg("\"%s\": \"%s\" does not say \"%s\"", text, error.text, words);
}

static void mistakes_are_named_with_their_place(void **state)
{
	char deep[400], parentheses[GN_EXPRESSION_DEPTH + 1];
	struct gn_table_file f;

	(void)state;
	memset(parentheses, '(', sizeof parentheses);
	make_small(&f);
	expect_refused(&f, "", "ends where");
	expect_refused(&f, "m >", "position 4");
	expect_refused(&f, "m > > 1", "position 5");
	expect_refused(&f, "(m > 1", "closing parenthesis");
	expect_refused(&f, "m > 1)", "position 6");
	expect_refused(&f, "m >= and", "position 6");
	expect_refused(&f, "m = 1 or not", "position 13");
	expect_refused(&f, "m 1", "operator");
	expect_refused(&f, "nosuch > 1", "there are m, i, w");
	expect_refused(&f, "\"no such\" > 1", "no such is no column");
	expect_refused(&f, "m", "is no condition");
	expect_refused(&f, "m and i", "conditions");
	expect_refused(&f, "m > 1 > 0", "operator");
	expect_refused(&f, "(m > 1) > 0", "numbers on both sides");
	expect_refused(&f, "w > 'y'", "by = and != only");
	expect_refused(&f, "w = 1", "single quotes");
	expect_refused(&f, "'a' = 'b'", "single quotes");
	expect_refused(&f, "w + 1 > 1", "numbers on both sides");
	expect_refused(&f, "w = 'y", "not closed");
	expect_refused(&f, "m = 1.2.3", "not a number");
	expect_refused(&f, "m = 123456789012345678901", "too many digits");
	expect_refused(&f, "m = 1e999", "too large");
	expect_refused(&f, "m is", "null is wanted");
	expect_refused(&f, "m ! 1", "operator");
	expect_refused(&f, "m * 1.0000000001 * 1.0000000001 > 1", "decimal places");
	memset(deep, '(', sizeof deep);
	deep[sizeof deep - 1] = '\0';
	expect_refused(&f, deep, "nests too deeply");
	memset(deep, '-', sizeof deep);
	deep[sizeof deep - 1] = '\0';
	expect_refused(&f, deep, "nests too deeply");
	snprintf(deep, sizeof deep, "%.*sm>0", GN_EXPRESSION_DEPTH + 1, parentheses);
	expect_refused(&f, deep, "it may do so 64 times");
	snprintf(deep, sizeof deep, "%.*sm>0", GN_EXPRESSION_DEPTH, parentheses);
	expect_refused(&f, deep, "closing parenthesis");
	gn_table_close(&f);
}

static void long_programs_are_refused(void **state)
{
	char text[512] = "";
	struct gn_table_file f;
	struct gn_query q;

	(void)state;
	make_small(&f);
	for (int k = 0; k < GN_QUERY_STACK; k++)
		strcat(text, "1+(");
	strcat(text, "1");
	for (int k = 0; k < GN_QUERY_STACK; k++)
		strcat(text, ")");
	strcat(text, "=1");
	must(gn_query_begin(&q, &f, text, &error));
	assert_int_equal(gn_query_ready(&q, &error), -GN_EINVAL);
	assert_non_null(strstr(error.text, "to the right"));
	gn_query_end(&q);
	gn_table_close(&f);
}

/* ---- sums that a word does not hold ---- */

static void make_large(struct gn_table_file *f, uint64_t rows, int64_t value)
{
	static const struct gn_column columns[] = {{"l", GN_COLUMN_DECIMAL}};
	const struct gn_cell cell = {0, {value}};
	struct gn_table_writer *w;

	must(gn_table_writer_begin(&w, path, columns, 1, rows, &error));
	for (uint64_t k = 0; k < rows; k++)
		must(gn_table_writer_row(w, &cell, &error));
	must(gn_table_writer_end(w, &error));
	must(gn_table_open(f, path, &error));
}

static void exact_sums_do_not_wrap(void **state)
{
	(void)state;
	for (unsigned k = 0; k < sizeof ways / sizeof ways[0]; k++) {
		const int64_t value = k % 2 ? INT64_MAX : -INT64_MAX;
		struct gn_query_result result;
		struct gn_table_file f;
		struct gn_query q;

		make_large(&f, 3000, value);
		must(gn_query_begin(&q, &f, NULL, &error));
		must(gn_query_aggregate(&q, GN_WANT_SUM, "l", &error));
		must(gn_query_ready(&q, &error));
		must(run(&q, &ways[k], &result));
		assert_true(result.totals[0].exact == (__int128)value * 3000);
		assert_int_equal(result.totals[0].least.exact, value);
		gn_query_result_free(&result);
		gn_query_end(&q);
		gn_table_close(&f);
	}
}

static void expect_overflow(const struct gn_table_file *f, const char *text)
{
	struct gn_query_result result;
	struct gn_query q;

	for (unsigned k = 0; k < sizeof ways / sizeof ways[0]; k++) {
		if (is_left_out(&ways[k]))
			continue;
		must(gn_query_begin(&q, f, NULL, &error));
		must(gn_query_aggregate(&q, GN_WANT_SUM, text, &error));
		must(gn_query_ready(&q, &error));
		if (run(&q, &ways[k], &result) != -GN_ERANGE)
			fail_msg("%s overflows, and nobody says so", text);
		gn_query_result_free(&result);
		assert_int_equal(gn_query_reference(&q, &result, NULL, &error), -GN_ERANGE);
		gn_query_result_free(&result);
		gn_query_end(&q);
	}
}

static void overflow_of_a_value_is_an_error(void **state)
{
	struct gn_table_file f;

	(void)state;
	make_large(&f, 600, INT64_MAX);
	expect_overflow(&f, "l + 1");
	expect_overflow(&f, "-l - 2");
	expect_overflow(&f, "l * 2");
	expect_overflow(&f, "l * l");
	expect_overflow(&f, "l + 0.1");
	expect_overflow(&f, "(l * 1e300) * 1e300");
	gn_table_close(&f);
	make_large(&f, 600, -1);
	expect_overflow(&f, "(9223372036854775807 - l) * 1");
	gn_table_close(&f);
}

/* Rows of two columns: missing and 390, 1 and missing, 0.5 and 2. As 18 places, 390 and 2 need more than 64
 * bits. */
static void make_apart(struct gn_table_file *f)
{
	static const struct gn_column columns[] = {{"a", GN_COLUMN_DECIMAL, 18},
	                                           {"the \"b\"", GN_COLUMN_DECIMAL, 0}};
	const struct gn_cell rows[3][2] = {{{1, {0}}, {0, {390}}},
	                                   {{0, {1000000000000000000}}, {1, {0}}},
	                                   {{0, {500000000000000000}}, {0, {2}}}};
	struct gn_table_writer *w;

	must(gn_table_writer_begin(&w, path, columns, 2, 3, &error));
	for (int k = 0; k < 3; k++)
		must(gn_table_writer_row(w, rows[k], &error));
	must(gn_table_writer_end(w, &error));
	must(gn_table_open(f, path, &error));
}

/* Beside a missing value no value is brought to more places, where it would be too large. */
static void what_is_beside_a_missing_value_is_never_too_large(void **state)
{
	struct gn_table_file f;

	(void)state;
	make_apart(&f);
	expect_matching(&f, "a <> \"the \"\"b\"\"\"", 1);
	expect_matching(&f, "\"the \"\"b\"\"\" > a", 1);
	expect_matching(&f, "a + \"the \"\"b\"\"\" is null", 2);
	expect_matching(&f, "\"the \"\"b\"\"\" - a = 1.5", 1);
	expect_refused(&f, "\"the \"b\" > 0", "there are a, the \"b\"");
	gn_table_close(&f);
}

static void an_empty_table_has_no_rows(void **state)
{
	struct gn_table_file f;

	(void)state;
	make_table(&f, 0);
	expect_matching(&f, "m > 0 or m is null", 0);
	gn_table_close(&f);
}

/* ---- traffic ---- */

/* One row of 4000 matches: of its other columns one sector each is needed. */
static void only_needed_sectors_are_counted(void **state)
{
	struct gn_query_result result;
	struct gn_table_file f;
	struct gn_query q;

	(void)state;
	make_table(&f, 4096);
	must(gn_query_begin(&q, &f, "u = 1000", &error));
	must(gn_query_aggregate(&q, GN_WANT_SUM, "m", &error));
	must(gn_query_ready(&q, &error));
	assert_int_equal(q.zone_count, 1);
	assert_int_equal(q.zones[0], 3000 / 512);
	assert_int_equal(q.pages, 4);
	assert_int_equal(q.pages_skipped, 3);
	must(run(&q, &ways[1], &result));
	assert_in_range(result.rows, 1, 3);
	assert_in_range(result.needed_bytes, 512 * 4 + 128, 512 * 4 + 2 * 128);
	gn_query_result_free(&result);
	gn_query_end(&q);
	gn_table_close(&f);
}

static void verify_names_what_differs(void **state)
{
	struct gn_query_result got, want;
	struct gn_table_file f;
	struct gn_query q;

	(void)state;
	make_small(&f);
	must(gn_query_begin(&q, &f, NULL, &error));
	must(gn_query_aggregate(&q, GN_WANT_SUM, "m", &error));
	must(gn_query_ready(&q, &error));
	must(gn_query_reference(&q, &want, NULL, &error));
	must(run(&q, &ways[0], &got));
	must(gn_query_verify(&q, &got, &want, &error));
	got.totals[0].exact++;
	assert_int_equal(gn_query_verify(&q, &got, &want, &error), -GN_EBADMSG);
	assert_non_null(strstr(error.text, "sum of \"m\" in group 0 is 3.01, but the reference says 3.00"));
	gn_query_result_free(&got);
	gn_query_result_free(&want);
	gn_query_end(&q);
	gn_table_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(conditions_match_as_in_sql),
	    cmocka_unit_test(mistakes_are_named_with_their_place),
	    cmocka_unit_test(long_programs_are_refused),
	    cmocka_unit_test(exact_sums_do_not_wrap),
	    cmocka_unit_test(overflow_of_a_value_is_an_error),
	    cmocka_unit_test(what_is_beside_a_missing_value_is_never_too_large),
	    cmocka_unit_test(an_empty_table_has_no_rows),
	    cmocka_unit_test(only_needed_sectors_are_counted),
	    cmocka_unit_test(verify_names_what_differs),
	};

	return cmocka_run_group_tests(tests, open_path, remove_path);
}
