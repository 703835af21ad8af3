/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tier whose slow store cannot be written: a line that cannot is no hindrance to others, a flush of the
 * cache writes what can be written, one of a store that does not answer ends. And a flush beside a kernel.
 */

#include "file_limit.h"
#include "test_set_support.h"

enum { LINE = 4096, WAYS = 16, LINES = 60, BAD = LINES - 1 };

static int teardown(void **state)
{
	limit_writes(RLIM_INFINITY);
	return set_teardown(state);
}

/* So many sets before a file whose lines from this one on cannot be written. */
static void open_with_bad_lines(struct store_test *t, unsigned sets, uint64_t first_bad)
{
	char uri[300];

	make_member(t, 0, (uint64_t)LINES * LINE);
	snprintf(uri, sizeof uri, "tier:host:%uK,file:%s?io=threads", 64 * sets, member_path(t, 0));
	open_uri(t, uri, NULL);
	limit_writes((rlim_t)first_bad * LINE);
}

static int write_line(const struct store_test *t, uint64_t line, uint32_t round)
{
	unsigned char bytes[LINE];

	for (unsigned k = 0; k < LINE; k++)
		bytes[k] = byte_of(line * LINE + k, round);
	return gn_store_write_warp(gn_store_view_of(t->store), 1, 1, line * LINE, bytes, LINE).code;
}

static void assert_in_file(const struct store_test *t, uint64_t line, uint32_t round)
{
	unsigned char bytes[LINE];

	read_member(t, 0, line * LINE, bytes, LINE);
	for (unsigned k = 0; k < LINE; k++)
		assert_int_equal(bytes[k], byte_of(line * LINE + k, round));
}

static void one_line_that_cannot_be_written_blocks_no_other(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	unsigned char bytes[LINE];

	needs_cpu(t);
	open_with_bad_lines(t, 1, BAD);
	assert_int_equal(write_line(t, BAD, 1), 0);
	for (uint64_t line = 0; line < WAYS - 1 + 24; line++) /* the first 15 fill the set */
		assert_int_equal(write_line(t, line, 1), 0);
	assert_int_equal(
	    gn_store_read_warp(gn_store_view_of(t->store), 1, 1, (uint64_t)BAD * LINE, bytes, LINE).code, 0);
	for (unsigned k = 0; k < LINE; k++)
		assert_int_equal(bytes[k], byte_of((uint64_t)BAD * LINE + k, 1));
	assert_int_equal(gn_store_flush(t->store, &t->error), -GN_EIO);
	limit_writes(RLIM_INFINITY);
	assert_says(t, "1 lines could not be written", "at byte 241664");
	assert_int_equal(gn_store_flush(t->store, &t->error), 0);
	for (uint64_t line = 0; line < WAYS - 1 + 24; line++)
		assert_in_file(t, line, 1);
	assert_in_file(t, BAD, 1);
}

/* A page finds no room in a set of lines that cannot be written; lines of the other set can be. */
static void a_flush_of_the_cache_goes_on_behind_a_page_that_failed(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	const struct gn_tier_view *view;
	struct walk_test w;
	const uint32_t value = 7;
	uint64_t good = 0;

	needs_cpu(t);
	open_with_bad_lines(t, 2, LINES - 2 * WAYS);
	view = gn_store_view_of(t->store)->tier;
	while (gn__tier_set(view, good) == gn__tier_set(view, BAD))
		good++;
	assert_int_equal(write_line(t, good, 1), 0);
	for (uint64_t line = LINES - 2 * WAYS; line < LINES; line++)
		if (gn__tier_set(view, line) == gn__tier_set(view, BAD))
			assert_int_equal(write_line(t, line, 1), 0);
	walk_open(&w, t, LINE);
	for (uint64_t line = 0; line < 4; line++)
		if (gn__tier_set(view, line) == gn__tier_set(view, BAD))
			assert_int_equal(gn_array_write(&w.job.array, line * LINE / 4, &value), 0);
	assert_int_equal(gn_cache_flush(w.cache, &t->error), -GN_EIO);
	assert_says(t, "pages could not be written", "stay in the cache");
	assert_in_file(t, good, 1);
	limit_writes(RLIM_INFINITY);
	assert_int_equal(gn_cache_flush(w.cache, &t->error), 0);
	walk_close(&w, t);
	assert_in_file(t, BAD, 1);
}

/* A flush gives up with the first lines that have no answer. Each line would wait as long as they did. */
static void a_flush_does_not_wait_for_each_line_of_a_dead_store(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_options options;
	struct gn_store_statistics s;
	struct gn_fault_plan plan;
	unsigned char bytes[512] = "dirty";
	const uint32_t lines = 8192;

	needs_cpu(t);
	plan_faults(&options, &plan);
	options.timeout_ns = 20000000;
	plan.drop_ppm = 1000000;
	plan.writes_only = 1;
	open_uri(t, "tier:line=512,host:4M,memq:4M?queues=1&depth=2", &options);
	for (uint64_t line = 0; line < lines; line++)
		assert_int_equal(
		    gn_store_write_warp(gn_store_view_of(t->store), 1, 1, line * 512, bytes, 512).code, 0);
	assert_int_equal(gn_store_flush(t->store, &t->error), -GN_ETIMEDOUT);
	assert_says(t, "8192 lines could not be written", "repair the store");
	gn_store_get_statistics(t->store, &s);
	assert_true(s.unwritten > 0 && s.unwritten < lines);
}

/* A write that was lost may still land, so the slow store refuses another one of the line. */
static void a_write_that_may_still_land_is_a_failure_of_the_flush(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_options options;
	struct gn_fault_plan plan;
	unsigned char bytes[LINE] = "dirty";

	needs_cpu(t);
	plan_faults(&options, &plan);
	options.timeout_ns = 20000000;
	plan.drop_ppm = 1000000;
	plan.writes_only = 1;
	open_uri(t, "tier:host:64K,memq:240K", &options);
	assert_int_equal(gn_store_write_warp(gn_store_view_of(t->store), 1, 1, 0, bytes, LINE).code, 0);
	assert_int_equal(gn_store_flush(t->store, &t->error), -GN_ETIMEDOUT);
	assert_int_equal(gn_store_flush(t->store, &t->error), -GN_EIO); /* not -GN_EBUSY */
	assert_says(t, "1 lines could not be written", "GN_EIO");
}

/* A line that a kernel uses for too long is no fault of the slow store. */
static void a_flush_tells_a_line_in_use_from_a_dead_store(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	const struct gn_tier_view *view;
	unsigned char bytes[LINE] = "dirty";

	needs_cpu(t);
	open_uri(t, "tier:host:64K,memq:240K?timeout=500", NULL);
	view = gn_store_view_of(t->store)->tier;
	assert_int_equal(gn_store_write_warp(gn_store_view_of(t->store), 1, 1, 0, bytes, LINE).code, 0);
	view->word[0] += GN__TIER_PIN;
	assert_int_equal(gn_store_flush(t->store, &t->error), -GN_ETIMEDOUT);
	assert_says(t, "1 lines could not be written", "a kernel used the line");
	view->word[0] -= GN__TIER_PIN;
	assert_int_equal(gn_store_flush(t->store, &t->error), 0);
}

/* The host flushes on a stream of the store while a kernel writes. */
static void a_flush_runs_beside_a_kernel_that_writes(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	const struct simt_grid grid = {2, 32, 0};
	struct walk_test w;

	open_uri(t, "tier:host:64K,memq:240K", NULL);
	walk_open(&w, t, 512);
	w.job.steps = 25;
	for (w.job.seed = 1; w.job.seed <= 6; w.job.seed++) {
		assert_int_equal(simt_launch(t->machine, &walk_kernel, grid, &w.job, &t->error), 0);
		for (int k = 0; k < 3; k++)
			assert_int_equal(gn_store_flush(t->store, &t->error), 0);
		assert_int_equal(simt_wait(t->machine, &t->error), 0);
	}
	assert_int_equal(w.job.wrong[0] + w.job.wrong[1], 0);
	assert_int_equal(gn_cache_flush(w.cache, &t->error), 0);
	walk_compare(&w, t);
	walk_close(&w, t);
}

#define faults_case(function) cmocka_unit_test_setup_teardown(function, store_setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    faults_case(a_flush_does_not_wait_for_each_line_of_a_dead_store),
	    faults_case(a_flush_runs_beside_a_kernel_that_writes),
	    faults_case(a_flush_tells_a_line_in_use_from_a_dead_store),
	    faults_case(a_flush_of_the_cache_goes_on_behind_a_page_that_failed),
	    faults_case(a_write_that_may_still_land_is_a_failure_of_the_flush),
	    faults_case(one_line_that_cannot_be_written_blocks_no_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
