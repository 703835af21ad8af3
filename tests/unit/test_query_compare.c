/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparisons of exact values with constants of more and of fewer decimal places, at the edges of 64 bits:
 * against the same rows compared in 128 bits.
 */
#include "test_query_support.h"

enum { ROWS = 64, SCALES = 19, ROUNDS = few_or_all(150, 1500) };

static int64_t column[SCALES][ROWS]; /* of as many decimal places */
static int missing[SCALES][ROWS];

static int64_t power_of_ten(unsigned exponent)
{
	int64_t power = 1;

	while (exponent--)
		power *= 10;
	return power;
}

/* Near a power of ten, near an edge, or anything. */
static int64_t draw_value(void)
{
	const int64_t sign = draw(2) ? 1 : -1, near = (int64_t)draw(3);

	switch (draw(3)) {
	case 0: return sign * (power_of_ten((unsigned)draw(19)) - 1 + near);
	case 1: return sign * (INT64_MAX - near);
	default: return sign * (int64_t)draw((uint64_t)1 << draw(53));
	}
}

static void make_scales(struct gn_table_file *f)
{
	struct gn_column columns[SCALES];
	struct gn_cell cells[SCALES];
	struct gn_table_writer *w;

	memset(columns, 0, sizeof columns);
	for (unsigned s = 0; s < SCALES; s++) {
		snprintf(columns[s].name, sizeof columns[s].name, "c%u", s);
		columns[s].type = GN_COLUMN_DECIMAL;
		columns[s].scale = s;
	}
	must(gn_table_writer_begin(&w, path, columns, SCALES, ROWS, &error));
	for (unsigned row = 0; row < ROWS; row++) {
		for (unsigned s = 0; s < SCALES; s++) {
			cells[s].missing = missing[s][row] = !draw(10);
			cells[s].value.exact = column[s][row] = draw_value();
		}
		must(gn_table_writer_row(w, cells, &error));
	}
	must(gn_table_writer_end(w, &error));
	must(gn_table_open(f, path, &error));
}

/* ---- a constant, and what it matches ---- */

struct constant {
	char text[48];
	int64_t value;
	unsigned scale;
};

/* Half of them lie at or beside a value of the column, as far as their decimal places let them. */
static void draw_constant(struct constant *c, unsigned scale)
{
	const int64_t value = draw(2) ? draw_value() : column[scale][draw(ROWS)];

	c->scale = (unsigned)draw(SCALES);
	c->value = value;
	if (c->scale < scale)
		c->value = value / power_of_ten(scale - c->scale);
	else if (value < INT64_MAX / power_of_ten(c->scale - scale) &&
	         value > -(INT64_MAX / power_of_ten(c->scale - scale)))
		c->value = value * power_of_ten(c->scale - scale) + (int64_t)draw(3) - 1;
	snprintf(c->text, sizeof c->text, "%s%llu.%0*llu", c->value < 0 ? "-" : "",
	         (unsigned long long)(llabs(c->value) / power_of_ten(c->scale)), (int)c->scale,
	         (unsigned long long)(llabs(c->value) % power_of_ten(c->scale)));
	if (!c->scale)
		*strchr(c->text, '.') = '\0';
}

static const char *const relations[] = {"=", "!=", "<", "<=", ">", ">="};

static int holds(unsigned relation, __int128 a, __int128 b)
{
	switch (relation) {
	case 0: return a == b;
	case 1: return a != b;
	case 2: return a < b;
	case 3: return a <= b;
	case 4: return a > b;
	default: return a >= b;
	}
}

/* How many rows match, whichever side the column is on. */
static unsigned count_rows(unsigned scale, unsigned relation, const struct constant *c, int swapped)
{
	unsigned rows = 0;

	for (unsigned row = 0; row < ROWS; row++) {
		const __int128 a = (__int128)column[scale][row] * power_of_ten(c->scale);
		const __int128 b = (__int128)c->value * power_of_ten(scale);

		rows += !missing[scale][row] && (swapped ? holds(relation, b, a) : holds(relation, a, b));
	}
	return rows;
}

/* ---- the query ---- */

static void expect_rows(const struct gn_table_file *f, const char *where, unsigned want)
{
	struct gn_query_result got, reference;
	struct gn_query q;

	must(gn_query_begin(&q, f, where, &error));
	must(gn_query_aggregate(&q, GN_WANT_COUNT, "c0", &error));
	must(gn_query_ready(&q, &error));
	must(run(&q, &ways[draw(2)], &got));
	must(gn_query_reference(&q, &reference, NULL, &error));
	if (got.rows != want || reference.rows != want)
		fail_msg("%s: %u rows, by the reference %u, must be %u", where, (unsigned)got.rows,
		         (unsigned)reference.rows, want);
	gn_query_result_free(&got);
	gn_query_result_free(&reference);
	gn_query_end(&q);
}

static void constants_of_all_sizes_compare_as_numbers_do(void **state)
{
	struct gn_table_file f;
	unsigned some = 0;

	(void)state;
	make_scales(&f);
	for (unsigned round = 0; round < ROUNDS; round++) {
		const unsigned scale = (unsigned)draw(SCALES), relation = (unsigned)draw(6);
		const int swapped = (int)draw(2);
		struct constant c;
		char where[128];
		unsigned rows;

		draw_constant(&c, scale);
		if (swapped)
			snprintf(where, sizeof where, "%s %s c%u", c.text, relations[relation], scale);
		else
			snprintf(where, sizeof where, "c%u %s %s", scale, relations[relation], c.text);
		rows = count_rows(scale, relation, &c, swapped);
		some += rows > 0 && rows < ROWS / 2;
		expect_rows(&f, where, rows);
	}
	assert_in_range(some, ROUNDS / 5, ROUNDS - ROUNDS / 15);
	gn_table_close(&f);
}

static unsigned count_present(unsigned scale)
{
	unsigned rows = 0;

	for (unsigned row = 0; row < ROWS; row++)
		rows += !missing[scale][row];
	return rows;
}

/* Also where no zone map helps, and where both sides are constants. */
static void other_sides_compare_alike(void **state)
{
	struct gn_table_file f;

	(void)state;
	make_scales(&f);
	expect_rows(&f, "10 > 1.000000000000000001", ROWS);
	expect_rows(&f, "1.000000000000000001 > 10", 0);
	expect_rows(&f, "-(c18 - c18) < 10", count_present(18));
	expect_rows(&f, "not -10 < c18 - c18", 0);
	expect_rows(&f, "c0 - c0 < 0.000000000000000001", count_present(0));
	expect_rows(&f, "c0 - c0 = 0.000000000000000001", 0);
	gn_table_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(constants_of_all_sizes_compare_as_numbers_do),
	                                   cmocka_unit_test(other_sides_compare_alike)};

	return cmocka_run_group_tests(tests, open_path, remove_path);
}
