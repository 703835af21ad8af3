/* SPDX-License-Identifier: Apache-2.0 */
/* Pages fetched ahead of a sequence: by the lane that misses, by those that wait, by lanes that only help. */
#include "test_cache_support.h"

enum { PAGE = 512, WORDS = PAGE / 8, PAGES = 64 };

static struct gn_cache_statistics counts(struct cache_test *t)
{
	return info_of(t).statistics;
}

/* ---- fetching ahead of a sequence ---- */

struct walk_args {
	struct gn_array array;
	const uint32_t *page; /* to visit, in this order */
	uint32_t pages;
	uint32_t *foreign; /* wrong words */
};

/* A warp reads one page after the other. */
SIMT_FN void walk(const struct walk_args *a)
{
	uint32_t foreign = 0;

	for (uint32_t n = 0; n < a->pages; n++)
		for (uint32_t k = simt_lane(); k < WORDS; k += 32) {
			const uint64_t index = (uint64_t)a->page[n] * WORDS + k;

			foreign += gn_read_u64(&a->array, index) != (index + 1) * 0x9e3779b97f4a7c15u;
		}
	if (foreign)
		simt_add_relaxed_dev_u32(a->foreign, foreign);
}
SIMT_KERNEL(walk, struct walk_args)

static void walk_pages(struct cache_test *t, const uint32_t *page, uint32_t pages)
{
	uint32_t foreign = 0;
	struct walk_args args = {t->array, page, pages, &foreign};

	run_block(t, &walk_kernel, 32, &args);
	assert_int_equal(foreign, 0);
}

static void a_sequence_is_fetched_ahead(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	uint32_t page[PAGES];

	for (uint32_t k = 0; k < PAGES; k++)
		page[k] = k;
	for (uint32_t ways = 0; ways <= 8; ways += 8) {
		struct gn_cache_statistics c;

		widen(t, 32);
		open_words_at(t, "memq", PAGES, 2 * PAGES, PAGE, ways, GN_CLOCK);
		walk_pages(t, page, PAGES);
		c = counts(t);
		assert_true(c.misses / 32 >= 3 && c.misses / 32 <= PAGES / 4);
		assert_int_equal(c.fetched, PAGES); /* each once, none past the end */
		assert_int_equal(c.hits + c.misses, PAGES * WORDS);
	}
}

/* Every read is a hit or a miss, however its sector came. */
static void reads_by_a_warp_are_counted_once(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	uint32_t page[PAGES];

	for (uint32_t k = 0; k < PAGES; k++)
		page[k] = k * 7 % PAGES;
	for (uint32_t ways = 0; ways <= 8; ways += 8) {
		struct gn_cache_statistics c;

		widen(t, 32);
		open_words_of(t, PAGES, 2 * PAGES, PAGE, ways, GN_CLOCK);
		walk_pages(t, page, PAGES);
		walk_pages(t, page, PAGES);
		c = counts(t);
		assert_int_equal(c.hits + c.misses, 2 * PAGES * WORDS);
		assert_true(c.hits >= PAGES * WORDS);
		assert_int_equal(c.fetched_bytes, PAGES * PAGE);
	}
}

/* No page that is the next of one before. */
static void random_reads_fetch_nothing_ahead(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	uint32_t page[PAGES / 2];

	for (uint32_t k = 0; k < PAGES / 2; k++)
		page[k] = k * 11 % (PAGES / 2) * 2;
	for (uint32_t ways = 0; ways <= 8; ways += 8) {
		widen(t, 32);
		open_words_at(t, "memq", PAGES, 2 * PAGES, PAGE, ways, GN_CLOCK);
		walk_pages(t, page, PAGES / 2);
		assert_int_equal(counts(t).fetched, PAGES / 2);
		assert_int_equal(counts(t).misses / 32, PAGES / 2);
	}
}

/* Sequences of two pages: behind each a page is fetched in vain, until that is noticed. */
static void it_rests_when_sequences_break_off(void **state)
{
	enum { RUNS = 700 };
	struct cache_test *t = (struct cache_test *)*state;
	static uint32_t page[2 * RUNS];
	uint64_t extra;

	for (uint32_t k = 0; k < 2 * RUNS; k++)
		page[k] = k / 2 * 4 + k % 2;
	widen(t, 32);
	open_words_at(t, "memq", 4 * RUNS, 4 * RUNS, PAGE, 0, GN_CLOCK);
	walk_pages(t, page, 2 * RUNS);
	extra = counts(t).fetched - 2 * RUNS;
	assert_true(extra >= 128 && extra <= RUNS / 2);
}

/* All threads of a grid go through the array side by side. */
SIMT_FN void stride(const struct walk_args *a)
{
	uint32_t foreign = 0;

	for (uint64_t k = simt_global_thread(); k < (uint64_t)a->pages * WORDS; k += simt_global_threads())
		foreign += gn_read_u64(&a->array, k) != (k + 1) * 0x9e3779b97f4a7c15u;
	if (foreign)
		simt_add_relaxed_dev_u32(a->foreign, foreign);
}
SIMT_KERNEL(stride, struct walk_args)

/* The stride over pages whose transfers take long. Returns what it counted. */
static struct gn_cache_statistics stride_slowly(struct cache_test *t, uint32_t ways, uint32_t width)
{
	const struct gn_cache_options o = {
	    2 * PAGES * PAGE, PAGE, GN_CLOCK, ways ? GN_TABLE_SETS : GN_TABLE_DIRECT, ways, 0, 1};
	struct gn_fault_plan plan;
	struct gn_store_options options;
	uint32_t foreign = 0;
	struct walk_args args;
	struct gn_cache_statistics c;

	memset(&plan, 0, sizeof plan);
	plan.seed = 1;
	plan.delay_ppm = 1000000;
	plan.delay_us = 20000;
	memset(&options, 0, sizeof options);
	options.faults = &plan;
	widen(t, width);
	open_store(t, "memq:32K", &options);
	fill_store(t, t->store);
	open_cache(t, &o);
	open_words(t);
	args.array = t->array;
	args.page = NULL;
	args.pages = PAGES;
	args.foreign = &foreign;
	run_block(t, &stride_kernel, width == 1 ? 64 : 256, &args);
	c = counts(t);
	assert_int_equal(foreign, 0);
	assert_int_equal(c.fetched, PAGES); /* each once, none past the end */
	assert_int_equal(c.hits + c.misses, PAGES * WORDS);
	assert_true(gn_cache_view_of(t->cache)->shared->offer != 0);
	return c;
}

/*
 * A loop over a grid: the threads that wait for a page fetch the pages behind it, in warps of one lane and of
 * many. Every transfer takes long, so that all others come to wait. On a busy machine some come too late for
 * that, and what is not fetched ahead is a miss: then it is tried again. Where nothing is fetched ahead no
 * try has few misses.
 */
static void threads_that_wait_fetch_ahead(void **state)
{
	enum { TRIES = 20 };
	struct cache_test *t = (struct cache_test *)*state;

	for (uint32_t n = 0; n < 4; n++) {
		const uint32_t ways = n & 1 ? 8 : 0, width = n & 2 ? 32 : 1;
		uint32_t tries = 0;

		while (stride_slowly(t, ways, width).misses > PAGES * width / 2)
			assert_true(++tries < TRIES);
	}
}

/* ---- lanes that only help ---- */

struct help_args {
	const struct gn_cache_view *cache;
	uint64_t page;  /* the first lane reads this one */
	uint64_t other; /* the others come with this one, */
	uint32_t apart; /* or each with one of its own from here on */
	uint32_t size;  /* of their elements */
	int32_t *code;  /* [lanes] */
};

SIMT_FN void help(const struct help_args *a)
{
	const uint32_t lane = simt_lane();
	const struct gn__request request = {
	    (uint32_t)(lane ? GN__HELPS : GN__READS), 0, PAGE - 16, a->size, {0, 0}};
	const uint64_t page = lane ? a->other + (a->apart ? lane : 0) : a->page;

	a->code[lane] = gn_cache_access(a->cache, page, request).status.code;
}
SIMT_KERNEL(help, struct help_args)

/*
 * A sequence of two misses, so that a lane that helps at the second fetches ahead; only one frame is to be
 * had.
 */
static void help_at_a_sequence(struct cache_test *t, uint32_t width, uint32_t apart, uint32_t size, int code)
{
	int32_t codes[32];
	struct help_args args = {gn_cache_view_of(t->cache), 8, 40, apart, size, codes};

	for (; args.page < 10; args.page++) {
		memset(codes, 1, sizeof codes);
		run_block(t, &help_kernel, width, &args);
		for (uint32_t k = 0; k < width; k++)
			assert_int_equal(codes[k], k ? 0 : code);
	}
	assert_int_equal(info_of(t).dirty_pages, 0);
}

/*
 * The page that a lane fetches ahead for another finds no frame: nobody asked for it, so nothing is done to
 * it, and nothing to the page that the lane came with. The file is mapped read-only: a write to it is a
 * signal.
 */
static void who_helps_changes_nothing(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	const struct gn_cache_options o = {4 * PAGE, PAGE, GN_FIFO, GN_TABLE_DIRECT, 1, 0, 1};
	char uri[200];

	snprintf(uri, sizeof uri, "host:%s?create=32K", t->file);
	open_store(t, uri, NULL);
	fill_store(t, t->store);
	snprintf(uri, sizeof uri, "host:%s?ro", t->file);
	for (uint32_t k = 0; k < 20; k++) {
		const uint32_t width = k & 1 ? 32 : 8, apart = k >> 1 & 1, size = 1u << k / 4;

		widen(t, width);
		open_store(t, uri, NULL);
		open_cache(t, &o);
		open_words(t);
		for (uint32_t n = 0; n < 3; n++)
			assert_int_equal(hold(t, n, n * WORDS, GN_READ), 0);
		help_at_a_sequence(t, width, apart, size, 0);
		assert_int_equal(counts(t).fetched, 5);
		assert_int_equal(counts(t).bypassed, 0);
		for (uint32_t n = 0; n < 3; n++)
			let_go(t, n);
		for (uint64_t n = 0; n < PAGES * WORDS; n += WORDS / 2) /* no page was left busy */
			assert_int_equal(get(t, n), word_of(n));
	}
}

/*
 * A page that could not be fetched ahead is no failure of the lane that fetched it, nor of the one for which
 * it did.
 */
static void who_helps_fails_in_nothing(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	const struct gn_cache_options o = {16 * PAGE, PAGE, GN_FIFO, GN_TABLE_DIRECT, 1, 0, 1};
	struct gn_fault_plan plan;
	struct gn_store_options options;

	memset(&plan, 0, sizeof plan);
	plan.seed = 1;
	plan.fail_ppm = 1000000;
	memset(&options, 0, sizeof options);
	options.faults = &plan;
	for (uint32_t apart = 0; apart < 2; apart++) {
		widen(t, 8);
		open_store(t, "memq:32K", &options);
		open_cache(t, &o);
		help_at_a_sequence(t, 8, apart, 8, -GN_EIO);
	}
}

/*
 * The first lane reads one page after the other; the second wants to write where nobody may, and the others
 * nothing.
 */
SIMT_FN void pin_some(const struct help_args *a)
{
	const uint32_t lane = simt_lane(), all = (1u << simt_warp_width()) - 1;
	const struct gn_pinned p = gn_cache_pin_lanes(a->cache, all, lane < 2 ? 1u << lane : 0,
	                                              lane ? a->other : a->page, lane ? GN_WRITE : GN_READ);

	a->code[lane] = p.status.code;
	if (lane < 2 && !p.status.code)
		gn__page_unpin(p.hold.word);
}
SIMT_KERNEL(pin_some, struct help_args)

static void who_is_refused_does_not_help(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	const struct gn_cache_options o = {16 * PAGE, PAGE, GN_FIFO, GN_TABLE_DIRECT, 1, 0, 1};
	int32_t codes[8];
	struct help_args args = {NULL, 8, 40, 0, 0, codes};

	widen(t, 8);
	open_store(t, "memq:32K?ro", NULL);
	open_cache(t, &o);
	args.cache = gn_cache_view_of(t->cache);
	for (; args.page < 10; args.page++) {
		run_block(t, &pin_some_kernel, 8, &args);
		assert_int_equal(codes[0], 0);
		assert_int_equal(codes[1], -GN_EROFS);
	}
	assert_int_equal(counts(t).fetched, 3); /* one ahead, by a lane that wants nothing */
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, cache_setup, cache_teardown)
	const struct CMUnitTest tests[] = {
	    CASE(a_sequence_is_fetched_ahead),       CASE(reads_by_a_warp_are_counted_once),
	    CASE(random_reads_fetch_nothing_ahead),  CASE(threads_that_wait_fetch_ahead),
	    CASE(it_rests_when_sequences_break_off), CASE(who_helps_changes_nothing),
	    CASE(who_helps_fails_in_nothing),        CASE(who_is_refused_does_not_help),
	};

	return cmocka_run_group_tests_name("cache: sequence", tests, NULL, NULL);
}
