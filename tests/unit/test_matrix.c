/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products with matrices whose results are known, and with matrices of small whole numbers, where every sum
 * is exact in any order, against plain loops: for narrow and wide warps, through caches of a few small pages
 * and without one, by one pass and by two.
 */
#include "far_base.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "matrix/matrix.h"

/* ---- a matrix behind a cache ---- */

#define WAYS few_drawn(2, sizeof ways / sizeof *ways)

enum { BEFORE = 48 }; /* bytes in front of the matrix: no page begins with it */

struct far {
	struct far_base base;
	struct gn_matrix matrix;
};

static void open_far(struct far *f, const struct way *w, const char *uri, uint64_t rows, uint64_t columns)
{
	struct gn_array_options a = {
	    w->page_bytes ? GN_PAGED : GN_DIRECT, NULL, NULL, BEFORE, rows * columns, 4};

	memset(f, 0, sizeof *f);
	open_base(&f->base, w->warp_width, uri, w->page_bytes, w->cache_bytes);
	a.cache = f->base.cache;
	a.store = f->base.store;
	must(gn_array_create(&f->matrix.a, f->base.machine, &a, &error));
	f->matrix.rows = rows;
	f->matrix.columns = columns;
	f->matrix.cache_bytes = w->told_bytes;
}

static void close_far(struct far *f)
{
	gn_array_destroy(&f->matrix.a, f->base.machine);
	close_base(&f->base);
}

/* ---- what is expected ---- */

/* A matrix, two vectors for each side, and a place for results, all as plain arrays. */
struct plain {
	uint64_t rows, columns;
	float *a, *x, *u; /* x: [columns], u: [rows] */
	float *y, *v;     /* what is added to; [rows], [columns] */
	float *want_y, *want_v;
};

static float *numbers(uint64_t count)
{
	return (float *)calloc(count, sizeof(float));
}

static void plain_open(struct plain *p, uint64_t rows, uint64_t columns)
{
	p->rows = rows;
	p->columns = columns;
	p->a = numbers(rows * columns);
	p->x = numbers(columns);
	p->v = numbers(columns);
	p->want_v = numbers(columns);
	p->u = numbers(rows);
	p->y = numbers(rows);
	p->want_y = numbers(rows);
}

static void plain_close(struct plain *p)
{
	free(p->a);
	free(p->x);
	free(p->v);
	free(p->want_v);
	free(p->u);
	free(p->y);
	free(p->want_y);
}

/* Whole numbers from -3 to 3: sums of 2^20 products of three are exact. */
static void draw(float *to, uint64_t count, uint64_t seed)
{
	for (uint64_t i = 0; i < count; i++)
		to[i] = floorf(gn_matrix_value(seed, i) * 3.5f + 0.5f);
}

static void plain_draw(struct plain *p)
{
	draw(p->a, p->rows * p->columns, 1);
	draw(p->x, p->columns, 2);
	draw(p->u, p->rows, 3);
	draw(p->y, p->rows, 4);
	draw(p->v, p->columns, 5);
}

static void by_force(struct plain *p, const float *u)
{
	memcpy(p->want_y, p->y, p->rows * sizeof(float));
	memcpy(p->want_v, p->v, p->columns * sizeof(float));
	for (uint64_t i = 0; i < p->rows; i++)
		for (uint64_t j = 0; j < p->columns; j++)
			p->want_y[i] += p->a[i * p->columns + j] * p->x[j];
	for (uint64_t i = 0; i < p->rows; i++)
		for (uint64_t j = 0; j < p->columns; j++)
			p->want_v[j] += p->a[i * p->columns + j] * u[i];
}

static void expect_equal(const char *what, const float *got, const float *want, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		if (got[i] != want[i])
			fail_msg("%s: element %llu of %llu is %g, not %g", what, (unsigned long long)i,
			         (unsigned long long)count, (double)got[i], (double)want[i]);
}

static void open_filled(struct far *f, const struct way *w, const struct plain *p)
{
	char uri[64];

	snprintf(uri, sizeof uri, "host:%llu", (unsigned long long)(BEFORE + p->rows * p->columns * 4));
	open_far(f, w, uri, p->rows, p->columns);
	must(gn_store_write_host(f->base.store, BEFORE, p->a, p->rows * p->columns * 4, &error));
}

static void check_products(const struct plain *p, const struct way *w, unsigned passes, int wants)
{
	float *y = numbers(p->rows), *v = numbers(p->columns);
	struct gn_matrix_vectors vectors = {p->x, wants & 1 ? y : NULL, p->u, wants & 2 ? v : NULL};
	struct gn_matrix_result result;
	struct far f;

	memcpy(y, p->y, p->rows * sizeof *y);
	memcpy(v, p->v, p->columns * sizeof *v);
	open_filled(&f, w, p);
	must(gn_matrix_products(f.base.machine, &f.matrix, &vectors, passes, &result, &error));
	assert_int_equal(result.passes, wants == 3 ? passes : 1);
	expect_equal("A x", y, wants & 1 ? p->want_y : p->y, p->rows);
	expect_equal("A^T u", v, wants & 2 ? p->want_v : p->v, p->columns);
	close_far(&f);
	free(y);
	free(v);
}

static void check_atax(struct plain *p, const struct way *w)
{
	float *v = numbers(p->columns), *want = numbers(p->columns);
	float *ax = numbers(p->rows);
	struct gn_matrix_result result;
	struct far f;

	for (uint64_t i = 0; i < p->rows; i++)
		ax[i] = p->want_y[i] - p->y[i];
	for (uint64_t i = 0; i < p->rows; i++)
		for (uint64_t j = 0; j < p->columns; j++)
			want[j] += p->a[i * p->columns + j] * ax[i];
	for (unsigned passes = 0; passes < 3; passes++) {
		int rc;

		open_filled(&f, w, p);
		rc = gn_matrix_atax(f.base.machine, &f.matrix, p->x, v, passes, &result, &error);
		if (passes != 1 || rc != -GN_ENOBUFS) {
			must(rc);
			expect_equal("A^T A x", v, want, p->columns);
			assert_int_equal(passes ? result.passes : passes, passes);
		}
		close_far(&f);
	}
	free(v);
	free(ax);
	free(want);
}

static void check(struct plain *p)
{
	by_force(p, p->u);
	for (unsigned k = 0; k < WAYS; k++) {
		for (int wants = few_drawn(3, 1); wants <= 3; wants++)
			check_products(p, &ways[k], 1, wants);
		check_products(p, &ways[k], 2, 3);
		check_atax(p, &ways[k]);
	}
}

/* ---- matrices ---- */

static void identity_gives_the_vector(void **state)
{
	struct plain p;

	(void)state;
	plain_open(&p, 200, 200);
	for (uint64_t i = 0; i < 200; i++) {
		p.a[i * 200 + i] = 1;
		p.x[i] = (float)i;
		p.u[i] = (float)(1000 - i);
	}
	check(&p);
	expect_equal("x", p.want_y, p.x, 200);
	expect_equal("u", p.want_v, p.u, 200);
	plain_close(&p);
}

static void ones_count(void **state)
{
	struct plain p;

	(void)state;
	plain_open(&p, 150, 333);
	for (uint64_t i = 0; i < 150 * 333; i++)
		p.a[i] = 1;
	for (uint64_t j = 0; j < 333; j++)
		p.x[j] = 1;
	for (uint64_t i = 0; i < 150; i++)
		p.u[i] = 1;
	check(&p);
	assert_true(p.want_y[0] == 333 && p.want_y[149] == 333);
	assert_true(p.want_v[0] == 150 && p.want_v[332] == 150);
	plain_close(&p);
}

/* Rows that are no multiple of a page, of a warp or of a tile; several tiles side by side; crumbs. */
static void odd_sizes_equal_plain_loops(void **state)
{
	static const uint64_t sizes[][2] = {{1, 1},    {1, 5000},  {5000, 1},  {1, 20011},
	                                    {7, 8193}, {3, 8192},  {129, 127}, {31, 33},
	                                    {1000, 3}, {64, 1024}, {4097, 16}};

	(void)state;
	for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; k += few_drawn(3, 1)) {
		struct plain p;

		plain_open(&p, sizes[k][0], sizes[k][1]);
		plain_draw(&p);
		check(&p);
		plain_close(&p);
	}
}

/* No page can be held: all is read element by element. */
static void without_frames_the_products_are_right(void **state)
{
	struct gn_matrix_result result;
	struct plain p;

	(void)state;
	plain_open(&p, 50, 700);
	plain_draw(&p);
	by_force(&p, p.u);
	for (unsigned k = 0; k < 3; k++) {
		float y[50], v[700];
		const struct gn_matrix_vectors vectors = {p.x, y, p.u, v};
		struct far f;

		memcpy(y, p.y, sizeof y);
		memcpy(v, p.v, sizeof v);
		open_filled(&f, &ways[k], &p);
		hold_all(&f.base, &f.matrix.a, 128);
		must(gn_matrix_products(f.base.machine, &f.matrix, &vectors, 1, &result, &error));
		expect_equal("A x", y, p.want_y, 50);
		expect_equal("A^T u", v, p.want_v, 700);
		close_far(&f);
	}
	plain_close(&p);
}

/* One pass moves the matrix once: also where it does not begin with a page, and the cache is small. */
static void one_pass_moves_each_page_once(void **state)
{
	const struct way w = {32, 512, 2048 * 512, 2048 * 512};
	struct gn_matrix_result result;
	struct gn_cache_info info;
	struct plain p;
	struct far f;

	(void)state;
	plain_open(&p, 300, 1000);
	plain_draw(&p);
	for (unsigned job = 0; job < 2; job++) {
		const struct gn_matrix_vectors v = {p.x, p.y, p.u, p.v};

		open_filled(&f, &w, &p);
		if (job)
			must(gn_matrix_atax(f.base.machine, &f.matrix, p.x, p.v, 1, &result, &error));
		else
			must(gn_matrix_products(f.base.machine, &f.matrix, &v, 1, &result, &error));
		gn_cache_describe(f.base.cache, &info, NULL);
		/* warps whose rows meet in a page may each fetch it */
		assert_true(info.statistics.fetched_bytes < 300 * 1000 * 4 * 11 / 10);
		close_far(&f);
	}
	plain_close(&p);
}

/* ---- real numbers, and the reference ---- */

static struct gn_matrix_exact exact(uint64_t count, const float *from)
{
	struct gn_matrix_exact e = {(double *)calloc(count, sizeof(double)),
	                            (double *)calloc(count, sizeof(double))};

	for (uint64_t i = 0; i < count && from; i++) {
		e.value[i] = (double)from[i];
		e.magnitude[i] = fabs((double)from[i]);
	}
	return e;
}

static void exact_free(struct gn_matrix_exact *e)
{
	free(e->value);
	free(e->magnitude);
}

/* The matrix of a struct plain, and not of a store. */
static int read_plain(const void *user, uint64_t first, uint64_t count, float *to, struct gn_error *e)
{
	(void)e;
	memcpy(to, ((const struct plain *)user)->a + first, count * sizeof *to);
	return 0;
}

/* Nine thousand columns are more than a tile has. */
enum { REAL_ROWS = few_or_all(33, 211) };

static void real_numbers_stay_within_the_bound(void **state)
{
	struct gn_matrix_result result;
	struct plain p;

	(void)state;
	plain_open(&p, REAL_ROWS, 9001);
	for (uint64_t i = 0; i < REAL_ROWS * 9001; i++)
		p.a[i] = gn_matrix_value(7, i);
	for (uint64_t j = 0; j < 9001; j++)
		p.x[j] = gn_matrix_value(8, j);
	for (uint64_t i = 0; i < REAL_ROWS; i++)
		p.u[i] = gn_matrix_value(9, i);
	for (unsigned k = 0; k < WAYS; k++) {
		struct gn_matrix_exact x = exact(9001, p.x), y = exact(REAL_ROWS, NULL),
		                       u = exact(REAL_ROWS, p.u), v = exact(9001, NULL);
		const struct gn_matrix_vectors vectors = {p.x, p.y, p.u, p.v};
		const struct gn_matrix_source a = {read_plain, &p};
		struct far f;

		memset(p.y, 0, REAL_ROWS * sizeof(float));
		memset(p.v, 0, 9001 * sizeof(float));
		open_filled(&f, &ways[k], &p);
		must(gn_matrix_products(f.base.machine, &f.matrix, &vectors, 1, &result, &error));
		must(gn_matrix_reference(&a, REAL_ROWS, 9001, &x, &y, &u, &v, &error));
		must(gn_matrix_verify("y", p.y, &y, REAL_ROWS, result.row_roundings, &error));
		must(gn_matrix_verify("v", p.v, &v, 9001, result.column_roundings, &error));
		p.v[9000] += 0.01f; /* a term that was left out is more than the bound */
		assert_int_equal(gn_matrix_verify("v", p.v, &v, 9001, result.column_roundings, &error),
		                 -GN_EBADMSG);
		assert_non_null(strstr(error.text, "v: element 9000 is"));
		assert_non_null(strstr(error.text, "1 of 9001 are off"));
		close_far(&f);
		exact_free(&x);
		exact_free(&y);
		exact_free(&u);
		exact_free(&v);
	}
	plain_close(&p);
}

/* The store returns one element wrong; the verifier, which has the source, must notice. */
static void a_store_that_lies_is_found_out(void **state)
{
	const float lie = 5;
	struct gn_matrix_source a = {read_plain, NULL};
	struct gn_matrix_vectors v = {NULL, NULL, NULL, NULL};
	struct gn_matrix_result result;
	struct gn_matrix_exact x, y;
	struct plain p;
	struct far f;

	(void)state;
	plain_open(&p, 20, 300);
	plain_draw(&p);
	memset(p.y, 0, 20 * sizeof *p.y);
	p.x[100] = 1;
	x = exact(300, p.x);
	y = exact(20, NULL);
	a.user = &p;
	v.x = p.x;
	v.y = p.y;
	open_filled(&f, &ways[0], &p);
	must(gn_store_write_host(f.base.store, BEFORE + (7 * 300 + 100) * sizeof lie, &lie, sizeof lie,
	                         &error));
	must(gn_matrix_products(f.base.machine, &f.matrix, &v, 1, &result, &error));
	must(gn_matrix_reference(&a, 20, 300, &x, &y, NULL, NULL, &error));
	assert_int_equal(gn_matrix_verify("y", p.y, &y, 20, result.row_roundings, &error), -GN_EBADMSG);
	assert_non_null(strstr(error.text, "y: element 7 is"));
	assert_non_null(strstr(error.text, "1 of 20 are off"));
	close_far(&f);
	exact_free(&x);
	exact_free(&y);
	plain_close(&p);
}

static void verify_says_what_is_off(void **state)
{
	double value[3] = {1, 2, NAN}, magnitude[3] = {1, 2, 1};
	const struct gn_matrix_exact want = {value, magnitude};
	const float right[3] = {1, 2, NAN}, wrong[3] = {1, 2.001f, 0};

	(void)state;
	assert_int_equal(gn_matrix_verify("w", right, &want, 3, 10, &error), 0);
	assert_int_equal(gn_matrix_verify("w", wrong, &want, 3, 10, &error), -GN_EBADMSG);
	assert_non_null(strstr(error.text, "w: element 1 is 2.00"));
	assert_non_null(strstr(error.text, "2 of 3 are off"));
	assert_int_equal(gn_matrix_verify("w", right, &want, 3, 1u << 24, &error), -GN_ERANGE);
}

/* Where a sum may be too large for a float on its way, it may end as anything. */
static void verify_takes_anything_where_a_sum_may_overflow(void **state)
{
	double value[4] = {1e39, -1e39, 5, INFINITY}, magnitude[4] = {1e39, 1e39, 4e38, INFINITY};
	const struct gn_matrix_exact want = {value, magnitude};
	const float any[][4] = {
	    {INFINITY, -INFINITY, 5, INFINITY}, {-INFINITY, NAN, INFINITY, NAN}, {0, 1e38f, NAN, -1}};

	(void)state;
	for (unsigned k = 0; k < 3; k++)
		assert_int_equal(gn_matrix_verify("w", any[k], &want, 4, 10, &error), 0);
	assert_int_equal(gn_matrix_overflows(&want, 4, 10), 4);
	assert_true(isinf(magnitude[2]));
}

/* Just below the largest float: with the error of ten roundings a sum may be larger, with that of one not. */
static void verify_wants_numbers_where_none_can_overflow(void **state)
{
	const double most = (double)FLT_MAX * (1 - 0x1p-22);
	double value[4] = {1, 1, most, NAN}, magnitude[4] = {1e38, most, most, NAN};
	const struct gn_matrix_exact want = {value, magnitude};
	const float right[4] = {1, 1, (float)most, NAN}, wrong[4] = {INFINITY, NAN, -INFINITY, 1};

	(void)state;
	assert_int_equal(gn_matrix_verify("w", right, &want, 4, 1, &error), 0);
	assert_int_equal(gn_matrix_verify("w", wrong, &want, 4, 1, &error), -GN_EBADMSG);
	assert_non_null(strstr(error.text, "w: element 0 is inf"));
	assert_non_null(strstr(error.text, "4 of 4 are off"));
	assert_int_equal(gn_matrix_overflows(&want, 4, 1), 0);
	assert_int_equal(gn_matrix_verify("w", wrong, &want, 4, 10, &error), -GN_EBADMSG);
	assert_non_null(strstr(error.text, "2 of 4 are off"));
	assert_int_equal(gn_matrix_overflows(&want, 4, 10), 2);
}

/* A^T (A x) of rows {3e38, 3e38, 0} and {1, 1, 1}: the first row's product overflows, and goes on as 0 times
 * infinity even where A has a 0. */
static void what_overflowed_spoils_what_it_is_a_factor_of(void **state)
{
	float a[6] = {3e38f, 3e38f, 0, 1, 1, 1}, ones[3] = {1, 1, 1};
	const struct plain p = {2, 3, a, NULL, NULL, NULL, NULL, NULL, NULL};
	struct gn_matrix_exact x = exact(3, ones), y = exact(2, NULL), v = exact(3, NULL);
	const struct gn_matrix_source source = {read_plain, &p};
	const float got[3] = {INFINITY, INFINITY, NAN};

	(void)state;
	must(gn_matrix_reference(&source, 2, 3, &x, &y, NULL, NULL, &error));
	assert_int_equal(gn_matrix_overflows(&y, 2, 10), 1);
	must(gn_matrix_reference(&source, 2, 3, NULL, NULL, &y, &v, &error));
	assert_true(v.value[2] == 3);
	must(gn_matrix_verify("v", got, &v, 3, 20, &error));
	assert_int_equal(gn_matrix_overflows(&v, 3, 20), 3);
	exact_free(&x);
	exact_free(&y);
	exact_free(&v);
}

/* ---- what is refused ---- */

static void sizes_that_do_not_fit_are_refused(void **state)
{
	struct gn_matrix_result result;
	float one[4] = {0, 0, 0, 0};
	const struct gn_matrix_vectors v = {one, one, one, one};
	struct far f;

	(void)state;
	open_far(&f, &ways[0], "host:4096", 2, 2);
	f.matrix.rows = 0;
	assert_int_equal(gn_matrix_products(f.base.machine, &f.matrix, &v, 1, &result, &error), -GN_EINVAL);
	assert_non_null(strstr(error.text, "0 rows"));
	f.matrix.rows = 2;
	f.matrix.columns = 0;
	assert_int_equal(gn_matrix_atax(f.base.machine, &f.matrix, one, one, 0, &result, &error), -GN_EINVAL);
	f.matrix.columns = 3;
	assert_int_equal(gn_matrix_products(f.base.machine, &f.matrix, &v, 1, &result, &error), -GN_EINVAL);
	assert_non_null(strstr(error.text, "4 elements"));
	close_far(&f);
}

static void a_row_that_no_cache_holds_takes_two_passes(void **state)
{
	struct gn_matrix_result result;
	struct plain p;
	struct far f;

	(void)state;
	plain_open(&p, 40, 5000);
	open_filled(&f, &ways[2], &p);
	assert_int_equal(gn_matrix_atax(f.base.machine, &f.matrix, p.x, p.v, 1, &result, &error),
	                 -GN_ENOBUFS);
	assert_non_null(strstr(error.text, "larger cache"));
	must(gn_matrix_atax(f.base.machine, &f.matrix, p.x, p.v, 0, &result, &error));
	assert_int_equal(result.passes, 2);
	close_far(&f);
	plain_close(&p);
}

/* A file that has become shorter cannot be read: nothing is returned as if it had been. */
static void what_cannot_be_read_is_said(void **state)
{
	const struct way w = {32, 4096, 64 * 4096, 64 * 4096};
	float x[1024] = {0}, y[64];
	const struct gn_matrix_vectors v = {x, y, NULL, NULL};
	struct gn_matrix_result result;
	char path[] = "/tmp/test-matrix-XXXXXX", uri[64];
	const int fd = mkstemp(path);
	struct far f;

	(void)state;
	assert_true(fd >= 0 && !ftruncate(fd, BEFORE + 64 * 1024 * 4));
	snprintf(uri, sizeof uri, "file:%s", path);
	open_far(&f, &w, uri, 64, 1024);
	assert_false(ftruncate(fd, 4096));
	y[0] = 7;
	assert_int_not_equal(gn_matrix_products(f.base.machine, &f.matrix, &v, 1, &result, &error), 0);
	assert_true(y[0] == 7);
	close_far(&f);
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(identity_gives_the_vector),
	    cmocka_unit_test(ones_count),
	    cmocka_unit_test(odd_sizes_equal_plain_loops),
	    cmocka_unit_test(without_frames_the_products_are_right),
	    cmocka_unit_test(one_pass_moves_each_page_once),
	    cmocka_unit_test(real_numbers_stay_within_the_bound),
	    cmocka_unit_test(a_store_that_lies_is_found_out),
	    cmocka_unit_test(verify_says_what_is_off),
	    cmocka_unit_test(verify_takes_anything_where_a_sum_may_overflow),
	    cmocka_unit_test(verify_wants_numbers_where_none_can_overflow),
	    cmocka_unit_test(what_overflowed_spoils_what_it_is_a_factor_of),
	    cmocka_unit_test(sizes_that_do_not_fit_are_refused),
	    cmocka_unit_test(a_row_that_no_cache_holds_takes_two_passes),
	    cmocka_unit_test(what_cannot_be_read_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
