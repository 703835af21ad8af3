/* SPDX-License-Identifier: Apache-2.0 */
/* Fields that are values, where a column keeps them in another way. */
#include "unit.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "columns/fields.h"

static void a_value_is_text_and_text_a_value(void **state)
{
	static const struct {
		struct gn_field field;
		struct gn_column column;
		const char *text;
		const char *fault;
		int64_t exact;
	} cases[] = {
	    {{GN_FIELD_EXACT, 0, NULL, 0, {-1230}, 3}, {"c", GN_COLUMN_DECIMAL, 3}, "-1.230", NULL, -1230},
	    {{GN_FIELD_EXACT, 0, NULL, 0, {-1230}, 3}, {"c", GN_COLUMN_DECIMAL, 2}, "-1.230", NULL, -123},
	    {{GN_FIELD_EXACT, 0, NULL, 0, {-1234}, 3},
	     {"c", GN_COLUMN_DECIMAL, 2},
	     "-1.234",
	     "behind the point",
	     0},
	    {{GN_FIELD_EXACT, 0, NULL, 0, {5}, 0}, {"c", GN_COLUMN_I32, 0}, "5", NULL, 5},
	    {{GN_FIELD_EXACT, 0, NULL, 0, {INT32_MIN}, 0},
	     {"c", GN_COLUMN_I32, 0},
	     "-2147483648",
	     "range",
	     0},
	    {{GN_FIELD_EXACT, 0, NULL, 0, {INT64_MIN}, 0},
	     {"c", GN_COLUMN_DECIMAL, 0},
	     "-9223372036854775808",
	     "range",
	     0},
	    {{GN_FIELD_TEXT, 1, "0.5", 3, {0}, 0}, {"c", GN_COLUMN_DECIMAL, 1}, "0.5", NULL, 5},
	};
	char room[GN_FIELD_ROOM];

	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		union gn_value value;
		size_t length;
		const char *text = gn__field_text(&cases[k].field, room, &length);
		const char *fault = gn__field_read(&cases[k].field, &cases[k].column, &value);

		assert_int_equal(length, strlen(cases[k].text));
		assert_memory_equal(text, cases[k].text, length);
		if (cases[k].fault)
			assert_true(fault && strstr(fault, cases[k].fault));
		else
			assert_true(!fault && value.exact == cases[k].exact);
	}
}

static void the_text_of_a_real_number_is_the_shortest(void **state)
{
	struct gn_field field = {GN_FIELD_F32};
	const struct gn_column cents = {"c", GN_COLUMN_DECIMAL, 2}, wide = {"c", GN_COLUMN_F64};
	char room[GN_FIELD_ROOM];
	union gn_value value;
	size_t length;

	(void)state;
	field.value.real = 0.1f;
	assert_string_equal(gn__field_text(&field, room, &length), "0.1");
	assert_null(gn__field_read(&field, &wide, &value));
	assert_true(value.real == (double)0.1f);
	field.kind = GN_FIELD_F64;
	assert_string_equal(gn__field_text(&field, room, &length), "0.10000000149011612");
	assert_non_null(gn__field_read(&field, &cents, &value));
	field.value.real = -12.35;
	assert_null(gn__field_read(&field, &cents, &value));
	assert_int_equal(value.exact, -1235);
	field.value.real = (double)INFINITY;
	assert_non_null(gn__field_read(&field, &wide, &value));
}

static void a_real_number_is_exact_where_its_digits_are(void **state)
{
	static const struct {
		double real;
		const char *text;
		uint32_t scale;
		int64_t exact; /* 0: the column is not for it */
	} cases[] = {
	    {10.0, "10", 0, 10},
	    {10.0, "10", 2, 1000},
	    {1200.0, "1200", 2, 120000},
	    {-1200.0, "-1200", 0, -1200},
	    {1e6, "1000000", 0, 1000000},
	    {1e15, "1000000000000000", 2, 100000000000000000},
	    {-1e17, "-100000000000000000", 0, -100000000000000000},
	    {144115188075855872.0, "144115188075855872", 0, 144115188075855872},
	    {1e18, "1e+18", 0, 0},
	    {0.00001, "0.00001", 5, 1},
	    {-0.00125, "-0.00125", 5, -125},
	    {1e-18, "0.000000000000000001", 18, 1},
	    {1e-19, "1e-19", 18, 0},
	    {1234.5, "1234.5", 1, 12345},
	};
	struct gn_field field = {GN_FIELD_F64};
	char room[GN_FIELD_ROOM];
	union gn_value value;
	size_t length;

	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		const struct gn_column column = {"c", GN_COLUMN_DECIMAL, cases[k].scale};
		const char *fault;

		field.value.real = cases[k].real;
		assert_string_equal(gn__field_text(&field, room, &length), cases[k].text);
		fault = gn__field_read(&field, &column, &value);
		assert_true(cases[k].exact ? !fault && value.exact == cases[k].exact : fault != NULL);
	}
	field.kind = GN_FIELD_F32;
	field.value.real = 134217728.0;
	assert_string_equal(gn__field_text(&field, room, &length), "134217728");
}

/* Halfway between two floats and a little more or less: a double between has no room for the little. */
static void a_text_becomes_the_nearest_float(void **state)
{
	static const struct {
		const char *text;
		double real; /* 0: it is too large */
	} cases[] = {
	    {"1.0000000596046447753906251", 0x1.000002p0},
	    {"1.0000000596046447753906249", 1},
	    {"-1.0000000596046447753906251", -0x1.000002p0},
	    {"3.4028235677973366163e38", FLT_MAX},
	    {"3.4028235677973366164e38", 0},
	    {"-1e39", 0},
	    {"1.4e-45", 0x1p-149},
	};
	const struct gn_column c = {"c", GN_COLUMN_F32};

	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		const struct gn_field field = {GN_FIELD_TEXT, 1, cases[k].text, strlen(cases[k].text)};
		union gn_value value;
		const char *fault = gn__field_read(&field, &c, &value);

		if (cases[k].real == 0)
			assert_true(fault && strstr(fault, "too large"));
		else
			assert_true(!fault && value.real == cases[k].real);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_value_is_text_and_text_a_value),
	    cmocka_unit_test(the_text_of_a_real_number_is_the_shortest),
	    cmocka_unit_test(a_text_becomes_the_nearest_float),
	    cmocka_unit_test(a_real_number_is_exact_where_its_digits_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
