/* SPDX-License-Identifier: Apache-2.0 */
/* Which cells stand together, and what a drawing makes of odd values. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <scope/output/charts.h>
#include <scope/output/svg.h>

#include "scope_sample.h"
#include "unit.h"

static const struct scope_chart *titled(const struct scope_charts *all, const char *title)
{
	for (uint32_t k = 0; k < all->charts; k++)
		if (!strcmp(all->chart[k].title, title))
			return &all->chart[k];
	fail_msg("no chart \"%s\"", title);
	return NULL;
}

static uint32_t points(const struct scope_charts *all, const struct scope_read_cell *c)
{
	uint32_t found = 0;

	for (uint32_t k = 0; k < all->charts; k++)
		for (uint32_t s = 0; s < all->chart[k].count; s++)
			for (uint32_t p = 0; p < all->chart[k].series[s].points; p++)
				found += all->chart[k].series[s].point[p] == c;
	return found;
}

/* Nothing that was measured is lost, and only pairs stand twice: as a matrix and over the argument. */
static void expect_all(const struct scope_read *r, const struct scope_charts *all)
{
	for (uint32_t k = 0; k < r->cells; k++)
		if (r->cell[k].status != SCOPE_MEASURED)
			assert_int_equal(points(all, &r->cell[k]), 0);
		else if (points(all, &r->cell[k]) != 1)
			fail_msg("%s stands in %u series", r->cell[k].name, points(all, &r->cell[k]));
}

static void expect_order(const struct scope_charts *all)
{
	for (uint32_t k = 0; k < all->charts; k++)
		for (uint32_t s = 0; all->chart[k].kind != SCOPE_PAIRS && s < all->chart[k].count; s++)
			for (uint32_t p = 1; p < all->chart[k].series[s].points; p++)
				assert_true(
				    scope_chart_x(&all->chart[k], all->chart[k].series[s].point[p - 1]) <
				    scope_chart_x(&all->chart[k], all->chart[k].series[s].point[p]));
}

static void test_sample(void **state)
{
	struct sample s;
	json_t *report;
	struct scope_read *r;
	struct scope_charts *all;
	const struct scope_chart *c;

	(void)state;
	sample_open(&s);
	sample_fill(&s);
	report = scope_report_json(&s.report);
	assert_int_equal(scope_read_make(report, &r, NULL), 0);
	assert_int_equal(scope_charts_make(r, &all), 0);
	expect_all(r, all);
	expect_order(all);
	c = titled(all, "copy: bandwidth over bytes");
	assert_int_equal(c->count, 4);
	assert_string_equal(c->series[0].label, "pinned-to-device");
	assert_int_equal(c->series[0].points, 10);
	assert_int_equal(titled(all, "copy: bandwidth of pairs")->kind, SCOPE_PAIRS);
	assert_int_equal(titled(all, "latency: latency over load_bytes_per_second")->kind, SCOPE_LOADED);
	assert_int_equal(titled(all, "doorbell: rate")->count, 2);
	c = titled(all, "grapnel-gpu: bandwidth over bytes");
	assert_string_equal(c->series[1].label, "page-in, warps 64");
	scope_charts_free(all);
	scope_read_free(r);
	json_decref(report);
	sample_close(&s);
}

/* ---- drawing ---- */

/* Every number in a drawing is one, and lies on the sheet. */
static void expect_inside(const char *svg, const char *attribute, double most)
{
	const size_t n = strlen(attribute);

	for (const char *at = svg; (at = strstr(at, attribute)) != NULL; at++) {
		const double v = atof(at + n);

		if (!(v >= 0 && v <= most))
			fail_msg("%.60s lies outside", at);
	}
}

static void draw(const double *x, const double *y, uint32_t n, bool log)
{
	struct scope_plot p = {
	    NULL, {"x", true, log, INFINITY, -INFINITY}, {"y", false, log, INFINITY, -INFINITY}, 0, 0};
	struct scope_plot_point point[8];
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	memset(point, 0, sizeof point);
	for (uint32_t k = 0; k < n; k++) {
		point[k].x = x[k];
		point[k].y = y[k];
		point[k].note = "<&>";
		scope_axis_hold(&p.x, x[k]);
		scope_axis_hold(&p.y, y[k]);
	}
	scope_plot_begin(&p, to, "t \"<&>\"");
	scope_plot_line(&p, "l", point, n);
	scope_plot_across(&p, 1e9, "beyond");
	scope_plot_upright(&p, 1e31, "beyond too");
	scope_plot_slope(&p, 1e-6, 50, "roof");
	scope_plot_end(&p);
	fclose(to);
	assert_null(strstr(text, "nan"));
	assert_null(strstr(text, "inf"));
	assert_null(strstr(text, "<&"));
	assert_null(strstr(text, "beyond too"));
	expect_inside(text, "x1=\"", 920);
	expect_inside(text, "cx=\"", 920);
	expect_inside(text, "cy=\"", 340);
	expect_inside(text, "y2=\"", 340);
	assert_true(bytes < 20000); /* ticks are few whatever the range */
	free(text);
}

static void test_odd_values(void **state)
{
	static const double wide[] = {1e-30, 1, 1e30}, zero[] = {0, 0, 0}, same[] = {5, 5, 5},
	                    mixed[] = {0, 4096, 1e19}, below[] = {-3, 0, 7};

	(void)state;
	for (int log = 0; log < 2; log++) {
		draw(wide, wide, 3, log);
		draw(zero, zero, 3, log);
		draw(same, wide, 3, log);
		draw(mixed, same, 3, log);
		draw(below, below, 3, log);
		draw(wide, wide, 0, log);
		draw(wide, wide, 1, log);
	}
}

/* A line over known axes: 2^12 to 2^20 is eight steps, the middle of them half way. */
static void test_places(void **state)
{
	static const char *const middle = "points=\"78.0,290.0 335.0,167.0 592.0,44.0\"";
	struct scope_plot p = {NULL, {"x", true, true, 4096, 1 << 20}, {"y", false, false, 0, 100}, 0, 0};
	const struct scope_plot_point point[] = {
	    {4096, 0, 0, 0, NULL}, {65536, 50, 0, 0, NULL}, {1 << 20, 100, 0, 0, NULL}};
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	(void)state;
	scope_plot_begin(&p, to, "t");
	scope_plot_line(&p, "l", point, 3);
	scope_plot_end(&p);
	fclose(to);
	if (!strstr(text, middle))
		fail_msg("no %s in %s", middle, text);
	assert_non_null(strstr(text, ">64 KiB</text>"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_sample), cmocka_unit_test(test_odd_values),
	                                   cmocka_unit_test(test_places)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
