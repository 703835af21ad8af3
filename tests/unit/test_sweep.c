/* SPDX-License-Identifier: Apache-2.0 */
/* What grapnel sweep makes of its command line, of the data's size and of its runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sweep.h"
#include "unit.h"

/* ---- lists ---- */

static void expect_pressures(const char *text, const double *want, uint32_t count)
{
	struct sweep_request q;
	struct gn_error e;

	memset(&q, 0, sizeof q);
	q.pressures = 3; /* of a list that was given before */
	assert_int_equal(sweep_read_pressures(&q, text, &e), 0);
	assert_int_equal(q.pressures, count);
	for (uint32_t k = 0; k < count; k++)
		assert_true(q.pressure[k] == want[k]);
}

static void test_pressures_ascend_from_one(void **state)
{
	static const double all[] = {1, 2, 3, 4, 8, 16}, one[] = {1}, added[] = {1, 1.5, 40};

	(void)state;
	expect_pressures("1,2,3,4,8,16", all, 6);
	expect_pressures("1", one, 1);
	expect_pressures("1.5,40", added, 3);
}

static void test_other_pressures_are_refused(void **state)
{
	static const char *const wrong[] = {"",     "0",   "0.5", "2,1",  "2,2",   "1,,2",     "1,2,",
	                                    "1, 2", "nan", "inf", "-1",   "1x",    "1e9",      "x",
	                                    ",1",   "1;2", "+2",  "1,-2", "1,nan", "1,1000001"};
	struct sweep_request q;
	struct gn_error e;

	(void)state;
	for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
		assert_int_equal(sweep_read_pressures(&q, wrong[k], &e), -GN_EINVAL);
		assert_non_null(strstr(e.text, "--pressure"));
	}
}

/* As many as there is room for, and one more. */
static void test_a_long_list_is_refused_and_not_cut(void **state)
{
	struct sweep_request q;
	struct gn_error e;
	char text[8 * SWEEP_PRESSURES] = "2";

	(void)state;
	for (int k = 3; k <= SWEEP_PRESSURES; k++)
		sprintf(text + strlen(text), ",%d", k);
	assert_int_equal(sweep_read_pressures(&q, text, &e), 0);
	assert_int_equal(q.pressures, SWEEP_PRESSURES);
	strcat(text, ",100");
	assert_int_equal(sweep_read_pressures(&q, text, &e), -GN_EINVAL);
}

static void test_baselines_are_known_and_given_once(void **state)
{
	static const char *const wrong[] = {"",        "in",     "incore,",         ",incore",
	                                    "incorex", "incorf", "managed,managed", "incore zerocopy",
	                                    "tape"};
	struct sweep_request q;
	struct gn_error e;

	(void)state;
	assert_int_equal(sweep_read_baselines(&q, "managed,incore", &e), 0);
	assert_int_equal(q.baselines, 2);
	assert_string_equal(sweep_baselines[q.baseline[0]], "managed");
	assert_string_equal(sweep_baselines[q.baseline[1]], "incore");
	assert_int_equal(sweep_read_baselines(&q, "tiled,managed,zerocopy,incore", &e), 0);
	assert_int_equal(q.baselines, SWEEP_BASELINES);
	assert_null(sweep_baselines[SWEEP_BASELINES]);
	for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
		assert_int_equal(sweep_read_baselines(&q, wrong[k], &e), -GN_EINVAL);
}

/* ---- the job's arguments ---- */

static int check(const char *word, const char *before)
{
	char *job[] = {(char *)"bfs", strdup(before), strdup(word), NULL};
	struct gn_error e;
	const int rc = sweep_check_job(job, &e);

	free(job[1]);
	free(job[2]);
	return rc;
}

static void test_options_of_the_sweep_are_refused_for_the_job(void **state)
{
	static const char *const wrong[] = {"--cache",    "--cache=1M", "--ca",    "--json",
	                                    "--json=-",   "--js=x",     "--svg=f", "--out",
	                                    "--baseline", "--ba=x",     "--c"};
	static const char *const right[] = {"--count=x", "--source",  "-s", "cache",
	                                    "--caches",  "--outer=1", "-",  ""};

	(void)state;
	for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
		assert_int_equal(check(wrong[k], "g.gng"), -GN_EINVAL);
		assert_int_equal(check(wrong[k], "--"), 0); /* a name, not an option */
	}
	for (size_t k = 0; k < sizeof right / sizeof *right; k++)
		assert_int_equal(check(right[k], "g.gng"), 0);
}

static void expect_words(char *const *job, char *const *want, size_t count)
{
	char *got[8];

	assert_int_equal(sweep_baseline_words(got, job), count);
	assert_null(got[count]);
	for (size_t k = 0; k < count; k++)
		assert_string_equal(got[k], want[k]);
}

static void test_a_baseline_has_no_store_and_no_pages(void **state)
{
	char store[] = "--store", file[] = "file", page[] = "--page=4K", mode[] = "--mo", paged[] = "paged";
	char graph[] = "g.gng", source[] = "-s", zero[] = "0", end[] = "--", passes[] = "--passes";
	char *all[] = {store, file, graph, page, source, zero, NULL}, *left[] = {graph, source, zero};
	char *others[] = {passes, mode, paged, end, store, NULL}, *rest[] = {passes, end, store};
	char *cut[] = {graph, store, NULL};

	(void)state;
	expect_words(all, left, 3);
	expect_words(others, rest, 3);
	expect_words(cut, left, 1);
	expect_words(all + 6, NULL, 0);
}

/* ---- points ---- */

static struct sweep *plan(struct sweep_request *q, uint64_t data_bytes, uint32_t page_bytes)
{
	struct sweep *s = (struct sweep *)calloc(1, sizeof *s);
	struct gn_error e;

	assert_non_null(s);
	s->request = q;
	s->data_bytes = data_bytes;
	s->page_bytes = page_bytes;
	assert_int_equal(sweep_plan(s, &e), 0);
	return s;
}

static void drop(struct sweep *s)
{
	sweep_free(s);
	free(s);
}

static void ask(struct sweep_request *q, const char *pressures, const char *baselines)
{
	struct gn_error e;

	memset(q, 0, sizeof *q);
	assert_int_equal(sweep_read_pressures(q, pressures, &e), 0);
	if (baselines)
		assert_int_equal(sweep_read_baselines(q, baselines, &e), 0);
}

static void test_a_cache_has_its_part_in_whole_pages(void **state)
{
	struct sweep_request q;
	struct sweep *s;

	(void)state;
	ask(&q, "1,2,3,6,7", "zerocopy");
	s = plan(&q, 100 * 4096 + 1, 4096);
	assert_int_equal(s->points, 6);
	assert_string_equal(s->point[0].baseline, "zerocopy");
	assert_int_equal(s->point[1].cache_bytes, (101 + SWEEP_MORE_FRAMES) * 4096);
	assert_int_equal(s->point[2].cache_bytes, 51 * 4096);
	assert_int_equal(s->point[3].cache_bytes, 34 * 4096);
	/* 17 pages and 15 */
	assert_int_equal(s->point[4].state, SWEEP_OPEN);
	assert_int_equal(s->point[5].state, SWEEP_LEFT_OUT);
	assert_non_null(strstr(s->point[5].why, "16 pages of 4096 bytes"));
	drop(s);
}

static void test_data_of_few_pages_is_refused(void **state)
{
	struct sweep_request q;
	struct sweep s;
	struct gn_error e;

	(void)state;
	ask(&q, "1,2", "incore");
	memset(&s, 0, sizeof s);
	s.request = &q;
	s.data_bytes = 15 * 4096;
	s.page_bytes = 4096;
	assert_int_equal(sweep_plan(&s, &e), -GN_EINVAL);
	assert_non_null(strstr(e.text, "61440 bytes"));
	sweep_free(&s);
}

/* ---- what runs come to ---- */

static void measured(struct sweep_point *p, double a, double b, double c)
{
	p->seconds[p->runs++] = a;
	p->seconds[p->runs++] = b;
	p->seconds[p->runs++] = c;
}

static void test_the_median_is_compared_with_the_reference(void **state)
{
	struct sweep_request q;
	struct sweep *s;

	(void)state;
	ask(&q, "1,2", "zerocopy");
	s = plan(&q, 1 << 20, 4096);
	measured(&s->point[0], 9, 9, 9);
	measured(&s->point[1], 5, 2, 1);
	measured(&s->point[2], 8, 3, 4);
	assert_int_equal(sweep_sum_up(s), 0);
	assert_ptr_equal(sweep_reference(s), &s->point[1]);
	assert_true(s->point[2].statistics.median == 4 && s->point[2].statistics.least == 3 &&
	            s->point[2].statistics.most == 8);
	assert_true(sweep_slowdown(s, s->point[2].statistics.median) == 2);
	drop(s);
}

/* Wherever it stands among the baselines; without it, or if it failed, pressure 1 is the reference. */
static void test_in_core_is_the_reference_if_it_was_measured(void **state)
{
	struct sweep_request q;
	struct sweep *s;

	(void)state;
	ask(&q, "1,2", "zerocopy,incore");
	s = plan(&q, 1 << 20, 4096);
	for (uint32_t k = 0; k < s->points; k++)
		measured(&s->point[k], k + 1, k + 1, k + 1);
	assert_int_equal(sweep_sum_up(s), 0);
	assert_ptr_equal(sweep_reference(s), &s->point[1]);
	assert_true(sweep_slowdown(s, 8) == 4);
	s->point[1].state = SWEEP_FAILED;
	assert_ptr_equal(sweep_reference(s), &s->point[2]);
	s->point[2].state = SWEEP_FAILED;
	assert_null(sweep_reference(s));
	assert_true(isnan(sweep_slowdown(s, 8)));
	drop(s);
}

static void test_a_reference_without_time_gives_no_slowdown(void **state)
{
	struct sweep_request q;
	struct sweep *s;

	(void)state;
	ask(&q, "1", NULL);
	s = plan(&q, 1 << 20, 4096);
	measured(&s->point[0], 0, 0, 0);
	assert_int_equal(sweep_sum_up(s), 0);
	assert_true(isnan(sweep_slowdown(s, 1)));
	drop(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_pressures_ascend_from_one),
	    cmocka_unit_test(test_other_pressures_are_refused),
	    cmocka_unit_test(test_a_long_list_is_refused_and_not_cut),
	    cmocka_unit_test(test_baselines_are_known_and_given_once),
	    cmocka_unit_test(test_options_of_the_sweep_are_refused_for_the_job),
	    cmocka_unit_test(test_a_baseline_has_no_store_and_no_pages),
	    cmocka_unit_test(test_a_cache_has_its_part_in_whole_pages),
	    cmocka_unit_test(test_data_of_few_pages_is_refused),
	    cmocka_unit_test(test_the_median_is_compared_with_the_reference),
	    cmocka_unit_test(test_in_core_is_the_reference_if_it_was_measured),
	    cmocka_unit_test(test_a_reference_without_time_gives_no_slowdown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
