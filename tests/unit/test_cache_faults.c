/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores that fail. A file that somebody cuts short fails every read behind its end; the process's limit on
 * the size of files fails every write behind it; fault plans fail, tear, delay, repeat and reorder by chance.
 */
#include "test_cache_support.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PAGE = 512, WORDS = PAGE / 8, PAGES = 32 };

static void open_file_words(struct cache_test *t, uint32_t frames, uint32_t ways)
{
	struct gn_cache_options o = {
	    (uint64_t)frames * PAGE, PAGE, GN_FIFO, ways ? GN_TABLE_SETS : GN_TABLE_DIRECT,
	    ways ? ways : 1,         0,    1};
	char uri[256];

	close_store(t);
	remove(t->file);
	snprintf(uri, sizeof uri, "file:%s?create=%u&direct=0", t->file, PAGES * PAGE);
	open_store(t, uri, NULL);
	fill_store(t, t->store);
	open_cache(t, &o);
	open_words(t);
}

static void cut(struct cache_test *t, uint64_t bytes)
{
	assert_int_equal(truncate(t->file, (off_t)bytes), 0);
}

/* As long as before, and full. */
static void mend(struct cache_test *t)
{
	cut(t, PAGES * PAGE);
	fill_store(t, t->store);
}

/* Writes behind so many bytes of a file fail from now on. */
static void limit_writes(rlim_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void allow_writes(void)
{
	limit_writes(RLIM_INFINITY);
}

static int teardown(void **state)
{
	allow_writes();
	return cache_teardown(state);
}

/* ---- write-backs that fail ---- */

static void what_cannot_be_written_is_kept(struct cache_test *t, uint32_t ways)
{
	struct gn_cache_info f;

	open_file_words(t, 4, ways);
	limit_writes(0); /* nor can the cleaner write */
	for (uint64_t page = 0; page < 4; page++)
		set(t, page * WORDS + page, 100 + page);
	assert_int_equal(get(t, 20 * WORDS),
	                 word_of(20 * WORDS)); /* no frame can be freed: around the cache */
	assert_int_equal(hold(t, 0, 20 * WORDS, 0), -GN_EIO);
	assert_int_equal(set_code(t, 20 * WORDS, 42), -GN_EIO);
	assert_int_equal(get(t, 20 * WORDS), word_of(20 * WORDS));
	for (uint64_t page = 0; page < 4; page++)
		assert_int_equal(get(t, page * WORDS + page), 100 + page);
	assert_int_equal(gn_cache_flush(t->cache, &t->error), -GN_EIO);
	assert_says(&t->error, "4 pages could not be written and stay in the cache");
	assert_says(&t->error, "GN_EIO");
	f = info_of(t);
	assert_int_equal(f.dirty_pages, 4);
	assert_int_equal(f.statistics.written, 0);
	assert_true(f.write_failures >= 5);

	allow_writes();
	assert_int_equal(get(t, 20 * WORDS), word_of(20 * WORDS));
	flush(t);
	assert_int_equal(info_of(t).dirty_pages, 0);
	for (uint64_t k = 0; k < 4 * WORDS; k++)
		assert_int_equal(stored(t, k), k % (WORDS + 1) ? word_of(k) : 100 + k / WORDS);
}

static void failed_write_backs_direct(void **state)
{
	what_cannot_be_written_is_kept((struct cache_test *)*state, 0);
}

static void failed_write_backs_sets(void **state)
{
	what_cannot_be_written_is_kept((struct cache_test *)*state, 4);
}

/* One page that cannot be written does not keep the cache from using its other frames. */
static void clean_frames_serve_beside_a_dirty_one(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (uint32_t ways = 0; ways <= 2; ways += 2) {
		open_file_words(t, 2, ways);
		set(t, 31 * WORDS, 42);
		limit_writes(0);
		for (uint64_t page = 0; page < 31; page++)
			assert_int_equal(get(t, page * WORDS + 5), word_of(page * WORDS + 5));
		assert_int_equal(get(t, 31 * WORDS), 42);
		assert_int_equal(info_of(t).statistics.bypassed, 0);
		allow_writes();
		flush(t);
		assert_int_equal(stored(t, 31 * WORDS), 42);
	}
}

/* The message of a flush tells of that flush, not of failures that were mended before it. */
static void a_flush_reports_its_own_failures(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	open_file_words(t, 8, 0);
	set(t, 30 * WORDS, 1);
	limit_writes(30 * PAGE);
	assert_int_equal(gn_cache_flush(t->cache, &t->error), -GN_EIO);
	assert_says(&t->error, "1 pages could not be written");
	assert_says(&t->error, "at page 30 ");
	allow_writes();
	flush(t);
	set(t, 31 * WORDS, 2);
	limit_writes(31 * PAGE);
	assert_int_equal(gn_cache_flush(t->cache, &t->error), -GN_EIO);
	assert_says(&t->error, "at page 31 ");
	assert_int_equal(info_of(t).write_failures, 2);
}

/* ---- fetches that fail ---- */

/* BaM, defect 5; DREAM, weakness 7: a fetch that failed is an error, not data. */
static void a_failed_fetch_is_an_error_and_the_next_tries_again(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	uint64_t value;

	for (uint32_t ways = 0; ways <= 4; ways += 2) {
		open_file_words(t, 4, ways);
		cut(t, 16 * PAGE);
		for (int again = 0; again < 2; again++) {
			assert_int_equal(get_code(t, 20 * WORDS + 3, &value), -GN_EIO);
			assert_int_equal(value, 0xdead);
			assert_int_equal(gn_array_failure(&t->array, &t->error), -GN_EIO);
			assert_says(&t->error, "element 1283 of 2048");
			assert_says(
			    &t->error,
			    "0x281"); /* unrecovered read error: NVMe base specification, media errors */
		}
		assert_int_equal(set_code(t, 20 * WORDS + 3, 1), -GN_EIO);
		assert_int_equal(hold(t, 0, 20 * WORDS, 0), -GN_EIO);
		assert_int_equal(get(t, 15 * WORDS), word_of(15 * WORDS));
		mend(t);
		assert_int_equal(get(t, 20 * WORDS + 3), word_of(20 * WORDS + 3));
		assert_int_equal(info_of(t).dirty_pages, 0);
	}
}

/* Failures give their frames back: more of them than there are frames. */
static void failed_fetches_use_up_no_frames(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	uint64_t value;

	for (uint32_t ways = 0; ways <= 2; ways += 2) {
		open_file_words(t, 4, ways);
		cut(t, 16 * PAGE);
		for (uint64_t page = 16; page < PAGES; page++)
			assert_int_equal(get_code(t, page * WORDS, &value), -GN_EIO);
		for (uint64_t page = 0; page < 4; page++)
			assert_int_equal(get(t, page * WORDS), word_of(page * WORDS));
		assert_int_equal(info_of(t).statistics.bypassed, 0);
	}
}

/* Whoever waits for a fetch that fails is told, and does not start one of his own. */
static void those_who_wait_for_a_failed_fetch_are_told(void **state)
{
	enum { THREADS = 200 };
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_fault_plan drops;
	struct gn_store_options options;
	struct gn_cache_options o = {8 * PAGE, PAGE, GN_FIFO, GN_TABLE_DIRECT, 1, 0, 1};
	struct gn_store_statistics moved;
	struct act act[THREADS];

	memset(&drops, 0, sizeof drops);
	drops.drop_ppm = 1000000;
	memset(&options, 0, sizeof options);
	options.timeout_ns = 1000000000; /* all threads must come within it, on a busy machine too */
	options.faults = &drops;
	open_store(t, "memq:64K", &options);
	open_cache(t, &o);
	open_words(t);
	memset(act, 0, sizeof act);
	for (int k = 0; k < THREADS; k++)
		act[k].index = (uint64_t)k % WORDS;
	run_acts(t, &t->array, act, THREADS, 1);
	for (int k = 0; k < THREADS; k++)
		assert_int_equal(act[k].rc, -GN_ETIMEDOUT);
	gn_store_get_statistics(t->store, &moved);
	assert_int_equal(moved.reads, 1);
	assert_int_equal(gn_array_failure(&t->array, &t->error), -GN_ETIMEDOUT);
}

/* ---- by chance ---- */

/* What an element may hold: after writes that failed, the old value or that of any of them. */
enum { MOST_MAYBE = 8 };

struct belief {
	uint64_t sure, maybe[MOST_MAYBE];
	uint32_t failed;
};

static int believed(const struct belief *b, uint64_t value)
{
	for (uint32_t k = 0; k < b->failed; k++)
		if (value == b->maybe[k])
			return 1;
	return value == b->sure;
}

static void check_read(struct cache_test *t, struct belief *b, uint64_t k)
{
	uint64_t value;

	if (get_code(t, k, &value))
		return;
	assert_true(believed(&b[k], value));
}

static void write_and_believe(struct cache_test *t, struct belief *b, uint64_t k, uint64_t value)
{
	if (set_code(t, k, value)) {
		assert_true(b[k].failed < MOST_MAYBE);
		b[k].maybe[b[k].failed++] = value;
	} else {
		b[k].sure = value;
		b[k].failed = 0;
	}
}

static void flush_at_last(struct cache_test *t)
{
	for (int k = 0; k < 1000; k++)
		if (!gn_cache_flush(t->cache, &t->error))
			return;
	fail_msg("%s", t->error.text);
}

static void live_through(struct cache_test *t, const char *uri, const struct gn_fault_plan *plan,
                         uint32_t ways, struct belief *b)
{
	struct gn_cache_options o = {4 * PAGE,        PAGE, GN_CLOCK, ways ? GN_TABLE_SETS : GN_TABLE_DIRECT,
	                             ways ? ways : 1, 0,    1};
	struct gn_store_options options;
	uint64_t random = plan->seed;

	memset(&options, 0, sizeof options);
	options.faults = plan;
	options.timeout_ns = 1000000000;
	open_store(t, uri, &options);
	fill_store(t, t->store);
	open_cache(t, &o);
	open_words(t);
	for (uint64_t k = 0; k < t->array.count; k++) {
		b[k].sure = word_of(k);
		b[k].failed = 0;
	}
	for (int step = 0; step < 2000; step++) {
		uint64_t k = (random = random * 6364136223846793005u + 1442695040888963407u) >> 33;

		if (k & 1)
			write_and_believe(t, b, (k >> 1) % t->array.count, random);
		else
			check_read(t, b, (k >> 1) % t->array.count);
	}
	flush_at_last(t);
	assert_int_equal(info_of(t).dirty_pages, 0);
}

static void plan_of(struct gn_fault_plan *plan, uint64_t seed)
{
	memset(plan, 0, sizeof *plan);
	plan->seed = seed;
	plan->delay_ppm = 50000;
	plan->delay_us = 100;
	plan->reorder_ppm = 50000;
	plan->duplicate_ppm = 100000;
	plan->fail_ppm = 150000;
	plan->torn_ppm = 100000;
}

static void no_write_is_lost_under_a_fault_plan(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct belief *b = (struct belief *)calloc(PAGES * WORDS, sizeof *b);
	struct gn_fault_plan plan;

	assert_non_null(b);
	for (uint32_t run = 0; run < few_drawn(3, 6); run++) {
		plan_of(&plan, run + 1);
		close_store(t);
		live_through(t, "memq:16K", &plan, run % 3 * 2, b);
		for (uint64_t k = 0; k < t->array.count; k++)
			assert_true(believed(&b[k], stored(t, k)));
	}
	free(b);
}

static void a_file_written_under_a_fault_plan_is_whole_when_reopened(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct belief *b = (struct belief *)calloc(PAGES * WORDS, sizeof *b);
	struct gn_fault_plan plan;
	char uri[256];

	assert_non_null(b);
	plan_of(&plan, 99);
	snprintf(uri, sizeof uri, "file:%s?create=%u", t->file, PAGES * PAGE);
	live_through(t, uri, &plan, 0, b);
	close_store(t);
	snprintf(uri, sizeof uri, "file:%s?ro", t->file);
	open_store(t, uri, NULL);
	for (uint64_t k = 0; k < PAGES * WORDS; k++)
		assert_true(believed(&b[k], stored(t, k)));
	free(b);
}

/* ---- read-only ---- */

static void a_read_only_store_is_read_only(void **state)
{
	static const char *const uris[] = {"host:16K?ro", "memq:16K?ro"};
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_cache_options o = {4 * PAGE, PAGE, GN_FIFO, GN_TABLE_DIRECT, 1, 0, 1};

	for (int k = 0; k < 2; k++) {
		close_store(t);
		open_store(t, uris[k], NULL);
		open_cache(t, &o);
		open_words(t);
		assert_int_equal(get(t, 5), 0);
		assert_int_equal(set_code(t, 5, 42), -GN_EROFS);
		assert_int_equal(gn_array_failure(&t->array, &t->error), -GN_EROFS);
		assert_int_equal(hold(t, 0, 5, 1), -GN_EROFS);
		assert_int_equal(gn_array_failure(&t->array, &t->error), -GN_EROFS);
		assert_int_equal(hold(t, 0, 5, 0), 0);
		let_go(t, 0);
		assert_int_equal(get(t, 5), 0);
		flush(t);
		assert_int_equal(info_of(t).statistics.written, 0);
	}
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, cache_setup, teardown)
	const struct CMUnitTest tests[] = {
	    CASE(failed_write_backs_direct),
	    CASE(failed_write_backs_sets),
	    CASE(clean_frames_serve_beside_a_dirty_one),
	    CASE(a_flush_reports_its_own_failures),
	    CASE(a_failed_fetch_is_an_error_and_the_next_tries_again),
	    CASE(failed_fetches_use_up_no_frames),
	    CASE(those_who_wait_for_a_failed_fetch_are_told),
	    CASE(no_write_is_lost_under_a_fault_plan),
	    CASE(a_file_written_under_a_fault_plan_is_whole_when_reopened),
	    CASE(a_read_only_store_is_read_only),
	};

	return cmocka_run_group_tests_name("cache: stores that fail", tests, NULL, NULL);
}
