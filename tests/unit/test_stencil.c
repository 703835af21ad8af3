/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stencil over grids whose values are known, and over random ones against the reference, bit by bit: for
 * narrow and wide warps, through caches of a few small pages and without one.
 */
#include "far_base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stencil/stencil.h"

#define WAYS few_drawn(3, sizeof ways / sizeof *ways)

struct far {
	struct far_base base;
	struct gn_stencil stencil;
};

/* Two grids, one behind the other in a store: the second does not begin with a page. */
static void open_far(struct far *f, const struct way *w, uint64_t rows, uint64_t columns)
{
	struct gn_array_options a = {w->page_bytes ? GN_PAGED : GN_DIRECT, NULL, NULL, 0, rows * columns, 4};
	char uri[64];

	memset(f, 0, sizeof *f);
	snprintf(uri, sizeof uri, "host:%llu", (unsigned long long)(rows * columns * 8));
	open_base(&f->base, w->warp_width, uri, w->page_bytes, w->cache_bytes);
	a.cache = f->base.cache;
	a.store = f->base.store;
	for (unsigned k = 0; k < 2; k++) {
		must(gn_array_create(&f->stencil.grid[k], f->base.machine, &a, &error));
		a.offset = rows * columns * 4;
	}
	f->stencil.rows = rows;
	f->stencil.columns = columns;
	f->stencil.cache_bytes = w->told_bytes;
}

static void close_far(struct far *f)
{
	for (unsigned k = 0; k < 2; k++)
		gn_array_destroy(&f->stencil.grid[k], f->base.machine);
	close_base(&f->base);
}

/* The grid after so many steps, in every way, is this one. */
static void check_held(const float *start, const float *want, uint64_t rows, uint64_t columns, uint64_t steps,
                       int hold)
{
	const uint64_t bytes = rows * columns * sizeof(float);
	float *got = (float *)malloc(bytes);
	double seconds;

	for (unsigned k = 0; k < WAYS; k++) {
		struct far f;

		open_far(&f, &ways[k], rows, columns);
		must(gn_store_write_host(f.base.store, 0, start, bytes, &error));
		if (hold && f.base.cache)
			hold_all(&f.base, &f.stencil.grid[0], 128);
		must(gn_stencil_run(f.base.machine, &f.stencil, steps, &seconds, &error));
		if (f.base.cache)
			must(gn_cache_flush(f.base.cache, &error));
		must(gn_store_read_host(f.base.store, steps % 2 * bytes, got, bytes, &error));
		for (uint64_t i = 0; i < rows * columns; i++)
			if (got[i] != want[i])
				fail_msg("way %u: point %llu of row %llu is %g, not %g", k,
				         (unsigned long long)(i % columns), (unsigned long long)(i / columns),
				         (double)got[i], (double)want[i]);
		close_far(&f);
	}
	free(got);
}

static void check_as(const float *start, const float *want, uint64_t rows, uint64_t columns, uint64_t steps)
{
	check_held(start, want, rows, columns, steps, 0);
}

static void check(const float *start, uint64_t rows, uint64_t columns, uint64_t steps)
{
	const uint64_t bytes = rows * columns * sizeof(float);
	float *grid[2] = {(float *)malloc(bytes), (float *)malloc(bytes)};

	memcpy(grid[0], start, bytes);
	gn_stencil_reference(grid, rows, columns, steps);
	check_as(start, grid[steps % 2], rows, columns, steps);
	free(grid[0]);
	free(grid[1]);
}

/* A point of 64 spreads to its neighbours, and from them on. */
static void a_point_spreads(void **state)
{
	float start[7 * 9] = {0}, one[7 * 9] = {0}, two[7 * 9] = {0};
	const unsigned at = 3 * 9 + 4;

	(void)state;
	start[at] = 64;
	one[at - 1] = one[at + 1] = one[at - 9] = one[at + 9] = 16;
	two[at] = 16;
	two[at - 2] = two[at + 2] = two[at - 18] = two[at + 18] = 4;
	two[at - 10] = two[at - 8] = two[at + 8] = two[at + 10] = 8;
	check_as(start, start, 7, 9, 0);
	check_as(start, one, 7, 9, 1);
	check_as(start, two, 7, 9, 2);
}

/* A plane is the mean of its neighbours everywhere. */
static void a_plane_stays(void **state)
{
	float *plane = (float *)malloc(100 * 333 * sizeof *plane);

	(void)state;
	for (unsigned i = 0; i < 100 * 333; i++)
		plane[i] = (float)(2 * (i / 333) + 3 * (i % 333));
	check_as(plane, plane, 100, 333, 3);
	free(plane);
}

/* No page can be held: all is read and written element by element. */
static void without_frames_the_values_are_right(void **state)
{
	float plane[6 * 70];

	(void)state;
	for (unsigned i = 0; i < 6 * 70; i++)
		plane[i] = (float)(2 * (i / 70) + 3 * (i % 70));
	check_held(plane, plane, 6, 70, 2, 1);
}

static void odd_sizes_equal_the_reference(void **state)
{
	static const uint64_t sizes[][3] = {{1, 1, 2},    {1, 3000, 2},  {3000, 1, 2},  {2, 2, 3},
	                                    {3, 5000, 3}, {129, 127, 4}, {40, 2047, 3}, {64, 1024, 2}};
	uint32_t x = 1;

	(void)state;
	for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; k++) {
		const uint64_t points = sizes[k][0] * sizes[k][1];
		float *start = (float *)malloc(points * sizeof *start);

		for (uint64_t i = 0; i < points; i++) {
			x = x * 1664525u + 1013904223u;
			start[i] = (float)(x >> 8) / 65536.0f - 100.0f;
		}
		check(start, sizes[k][0], sizes[k][1], sizes[k][2]);
		free(start);
	}
}

static void sizes_that_do_not_fit_are_refused(void **state)
{
	struct far f;
	double seconds;

	(void)state;
	open_far(&f, &ways[0], 4, 4);
	f.stencil.rows = 0;
	assert_int_equal(gn_stencil_run(f.base.machine, &f.stencil, 1, &seconds, &error), -GN_EINVAL);
	f.stencil.rows = 5;
	assert_int_equal(gn_stencil_run(f.base.machine, &f.stencil, 1, &seconds, &error), -GN_EINVAL);
	assert_non_null(strstr(error.text, "16 points, not 5 rows of 4"));
	close_far(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_point_spreads),
	    cmocka_unit_test(a_plane_stays),
	    cmocka_unit_test(without_frames_the_values_are_right),
	    cmocka_unit_test(odd_sizes_equal_the_reference),
	    cmocka_unit_test(sizes_that_do_not_fit_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
