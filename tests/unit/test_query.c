/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries: expressions whose values are known, what the parser refuses, and random queries over random tables
 * against the row-by-row evaluator, for narrow and wide warps, through a cache of a few small pages and
 * without.
 */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <grapnel/cache.h>
#include <grapnel/store.h>

#include "columns/values.h"
#include "columns/write.h"
#include "query/query.h"

static struct gn_error error;
static char path[64];

static void must(int rc)
{
	if (rc)
		fail_msg("%s: %s", gn_error_name(rc), error.text);
}

/* ---- a table ---- */

enum { I, U, M, L, F, D, W, Q, COLUMNS };

static const struct gn_column shape[COLUMNS] = {
    {"i", GN_COLUMN_I32}, {"u", GN_COLUMN_U32}, {"m", GN_COLUMN_DECIMAL, 2}, {"l", GN_COLUMN_DECIMAL},
    {"f", GN_COLUMN_F32}, {"d", GN_COLUMN_F64}, {"w", GN_COLUMN_STRING},     {"q q", GN_COLUMN_I32},
};

static uint64_t state_of_draws = 88172645463325252u;

static uint64_t draw(uint64_t bound)
{
	state_of_draws ^= state_of_draws << 13;
	state_of_draws ^= state_of_draws >> 7;
	state_of_draws ^= state_of_draws << 17;
	return (state_of_draws >> 11) % bound;
}

static void draw_row(struct gn_table_writer *w, struct gn_cell *cells, uint64_t row)
{
	static const char *const words[] = {"a", "b''b", "", "long word"};
	const char *word = words[draw(4)];

	for (int k = 0; k < COLUMNS; k++)
		cells[k].missing = !draw(12);
	cells[I].value.exact = (int64_t)draw(2001) - 1000;
	cells[U].value.exact = (int64_t)(row / 3); /* ascends: zones can be skipped */
	cells[M].value.exact = (int64_t)draw(200001) - 100000;
	cells[L].value.exact = (int64_t)draw(2000000000) - 1000000000;
	cells[F].value.real = ((double)draw(4001) - 2000) / 8;
	cells[D].value.real = draw(9) ? ((double)draw(2000001) - 1000000) / 7 : 0;
	cells[Q].value.exact = (int64_t)draw(5);
	must(gn_table_word(w, W, word, strlen(word), &cells[W].value, &error));
}

static void make_table(struct gn_table_file *f, uint64_t rows)
{
	struct gn_table_writer *w;
	struct gn_cell cells[COLUMNS];

	must(gn_table_writer_begin(&w, path, shape, COLUMNS, rows, &error));
	for (uint64_t row = 0; row < rows; row++) {
		draw_row(w, cells, row);
		must(gn_table_writer_row(w, cells, &error));
	}
	must(gn_table_writer_end(w, &error));
	must(gn_table_open(f, path, &error));
}

static int open_path(void **state)
{
	int fd;

	(void)state;
	strcpy(path, "/tmp/grapnel-query-XXXXXX");
	fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

/* ---- the table behind a store ---- */

struct how {
	unsigned width;
	uint32_t page; /* 0: direct */
	const char *scheme;
	uint64_t at_once;
};

static const struct how ways[] = {{1, 512, "host", 0},
                                  {32, 512, "host", 0},
                                  {32, 4096, "file", 2},
                                  {1, 4096, "file", 0},
                                  {8, 0, "host", 3}};

/* A file's queues take long to open and to close: of the runs over files one in eight is done. */
static int is_left_out(const struct how *how)
{
	static unsigned files;

	return !strcmp(how->scheme, "file") && files++ % 8;
}

struct far {
	struct simt_machine *machine;
	struct gn_store *store;
	struct gn_cache *cache;
	struct gn_array arrays[GN_QUERY_COLUMNS];
};

static void open_arrays(struct far *x, const struct gn_query *q, int direct)
{
	struct gn_array_options a = {direct ? GN_DIRECT : GN_PAGED, x->cache, x->store, 0, q->table->rows, 0};

	for (uint32_t k = 0; k < q->compiler.columns; k++) {
		const struct gn_column *c = &q->table->columns[q->compiler.column[k]];

		a.offset = q->table->rows ? c->data.at : 0;
		a.element_bytes = gn_column_width(c->type);
		must(gn_array_create(&x->arrays[k], x->machine, &a, &error));
	}
}

static void open_far(struct far *x, const struct gn_query *q, const struct how *how)
{
	struct gn_cache_options c = {0};
	struct simt_options m = {0};
	char uri[128];

	memset(x, 0, sizeof *x);
	m.name = "cpu";
	m.threads = 2;
	m.warp_width = how->width;
	must(simt_open(&x->machine, &m, &error));
	snprintf(uri, sizeof uri, "%s:%s?ro", how->scheme, path);
	must(gn_store_open(&x->store, x->machine, uri, NULL, &error));
	c.page_bytes = how->page;
	c.bytes = 16 * how->page;
	if (how->page)
		must(gn_cache_create(&x->cache, x->machine, &x->store, 1, &c, &error));
	open_arrays(x, q, !how->page);
}

static void close_far(struct far *x, const struct gn_query *q)
{
	for (uint32_t k = 0; k < q->compiler.columns; k++)
		gn_array_destroy(&x->arrays[k], x->machine);
	if (x->cache)
		gn_cache_destroy(x->cache);
	gn_store_close(x->store);
	simt_close(x->machine);
}

static int run(const struct gn_query *q, const struct how *how, struct gn_query_result *result)
{
	struct far x;
	int rc;

	open_far(&x, q, how);
	rc = gn_query_run(q, x.machine, x.arrays, how->at_once, result, NULL, &error);
	close_far(&x, q);
	return rc;
}

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
		must(gn_query_aggregate(&q, GN_WANT_SUM, "i", &error));
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
	char deep[400];
	struct gn_table_file f;

	(void)state;
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

/* ---- random queries ---- */

static void random_number(char *to, size_t room, int depth)
{
	static const char *const leaves[] = {"i",       "u", "m",    "l",  "f",    "d",
	                                     "\"q q\"", "7", "0.25", "-3", "1.5e0"};
	static const char signs[] = "+-*/";
	char a[512], b[512];

	if (!depth || !draw(3)) {
		snprintf(to, room, "%s", leaves[draw(sizeof leaves / sizeof leaves[0])]);
		return;
	}
	random_number(a, sizeof a, depth - 1);
	random_number(b, sizeof b, depth - 1);
	snprintf(to, room, "(%.200s %c %.200s)", a, signs[draw(4)], b);
}

static void random_condition(char *to, size_t room, int depth)
{
	static const char *const relations[] = {"=", "!=", "<", "<=", ">", ">="};
	char a[512], b[512];

	if (depth && draw(3)) {
		random_condition(a, sizeof a, depth - 1);
		random_condition(b, sizeof b, depth - 1);
		snprintf(to, room, "%s(%.220s %s %.220s)", draw(4) ? "" : "not ", a, draw(2) ? "and" : "or",
		         b);
		return;
	}
	switch (draw(6)) {
	case 0: snprintf(to, room, "w %s 'a'", draw(2) ? "=" : "!="); return;
	case 1: snprintf(to, room, "u %s %d", relations[draw(6)], (int)draw(1400)); return;
	case 2: snprintf(to, room, "%d.5 %s m", (int)draw(1000), relations[draw(6)]); return;
	case 3:
		random_number(a, sizeof a, 1);
		snprintf(to, room, "%.200s is %snull", a, draw(2) ? "not " : "");
		return;
	default:
		random_number(a, sizeof a, 1);
		random_number(b, sizeof b, 0);
		snprintf(to, room, "%.200s %s %.200s", a, relations[draw(6)], b);
	}
}

struct random_query {
	char where[512], first[512], second[512];
	int with_where;
	const char *group;
};

static void draw_query(struct random_query *r)
{
	static const char *const groups[] = {NULL, "w", "\"q q\"", "i", "m"};

	random_condition(r->where, sizeof r->where, 2);
	random_number(r->first, sizeof r->first, 2);
	random_number(r->second, sizeof r->second, 1);
	r->with_where = draw(6) != 0;
	r->group = groups[draw(4)];
}

/* 0, or the query has no answer: numbers with too many decimal places, say. */
static int prepare(struct gn_query *q, const struct gn_table_file *f, const struct random_query *r)
{
	int rc = gn_query_begin(q, f, r->with_where ? r->where : NULL, &error);

	if (!rc)
		rc = gn_query_aggregate(q, GN_WANT_AVG, r->first, &error);
	if (!rc)
		rc = gn_query_aggregate(q, GN_WANT_SUM, r->second, &error);
	if (!rc)
		rc = gn_query_aggregate(q, GN_WANT_COUNT, "w", &error);
	if (!rc && r->group)
		rc = gn_query_group(q, r->group, &error);
	return rc ? rc : gn_query_ready(q, &error);
}

static void compare(const struct gn_query *q, const struct random_query *r, const struct how *how,
                    const struct gn_query_result *want, int want_rc)
{
	struct gn_query_result got;
	const int rc = run(q, how, &got);

	/* rows of a zone that is skipped overflow unseen */
	if (rc != want_rc && !(want_rc == -GN_ERANGE && q->zone_count < gn_table_zone_count(q->table)))
		fail_msg("where %s, %s, %s: %d and %d: %s", r->where, r->first, r->second, rc, want_rc,
		         error.text);
	if (!rc && !want_rc && gn_query_verify(q, &got, want, &error))
		fail_msg("where %s, group by %s: %s", r->with_where ? r->where : "-",
		         r->group ? r->group : "-", error.text);
	gn_query_result_free(&got);
}

static unsigned check_random(const struct gn_table_file *f, unsigned *skipping)
{
	struct gn_query_result want;
	struct random_query r;
	struct gn_query q;
	int rc;

	draw_query(&r);
	rc = prepare(&q, f, &r);
	if (rc) {
		if (!strstr(error.text, "decimal places"))
			fail_msg("%s", error.text);
		gn_query_end(&q);
		return 0;
	}
	*skipping += q.zone_count < gn_table_zone_count(f);
	rc = gn_query_reference(&q, &want, NULL, &error);
	for (unsigned k = 0; k < sizeof ways / sizeof ways[0]; k++)
		if (!is_left_out(&ways[k]))
			compare(&q, &r, &ways[k], &want, rc);
	gn_query_result_free(&want);
	gn_query_end(&q);
	return !rc;
}

static void random_queries_equal_the_reference(void **state)
{
	static const uint64_t sizes[] = {1, 511, 512, 513, 4000};
	unsigned answered = 0, skipping = 0;

	(void)state;
	for (unsigned k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
		struct gn_table_file f;

		make_table(&f, sizes[k]);
		must(gn_table_check(&f, NULL, &error));
		for (unsigned round = 0; round < 30; round++)
			answered += check_random(&f, &skipping);
		gn_table_close(&f);
	}
	assert_true(answered > 75);
	assert_true(skipping > 5);
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
	    cmocka_unit_test(random_queries_equal_the_reference),
	    cmocka_unit_test(an_empty_table_has_no_rows),
	    cmocka_unit_test(only_needed_sectors_are_counted),
	    cmocka_unit_test(verify_names_what_differs),
	};

	return cmocka_run_group_tests(tests, open_path, remove_path);
}
