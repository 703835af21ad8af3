/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is moved before it is wanted: ranges that are flushed and prefetched, pages fetched ahead of a
 * sequence, frames kept clean ahead of the hand.
 */
#define GN_TRACE_ENABLED 1 /* counts the write-backs that a miss waits for */

#include "test_cache_support.h"

enum { PAGE = 512, WORDS = PAGE / 8, PAGES = 64 };

static uint32_t waited_for; /* write-backs */

void gn_trace_note(const char *step)
{
	simt_add_relaxed_dev_u32(&waited_for, !strcmp(step, "write_back"));
}

static struct gn_cache_statistics counts(struct cache_test *t)
{
	return info_of(t).statistics;
}

/* ---- flush of a range ---- */

static void flush_range(struct cache_test *t, uint64_t offset, uint64_t bytes, int code)
{
	assert_int_equal(gn_cache_flush_range(t->cache, t->store, offset, bytes, &t->error), code);
}

static void only_pages_of_the_range_are_flushed(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (uint32_t ways = 0; ways <= 4; ways += 4) {
		close_store(t);
		open_words_of(t, PAGES, PAGES, PAGE, ways, GN_FIFO);
		for (uint64_t page = 0; page < 8; page++)
			set(t, page * WORDS + 3, page);
		flush_range(t, 2 * PAGE, 0, 0);
		flush_range(t, PAGES * PAGE, 0, 0);
		assert_int_equal(info_of(t).dirty_pages, 8);
		flush_range(t, 2 * PAGE + 511, 2, 0); /* the last byte of page 2, the first of page 3 */
		assert_int_equal(info_of(t).dirty_pages, 6);
		for (uint64_t page = 0; page < 8; page++)
			assert_int_equal(stored(t, page * WORDS + 3),
			                 page == 2 || page == 3 ? page : word_of(page * WORDS + 3));
		flush_range(t, 5 * PAGE, PAGE, 0);
		assert_int_equal(info_of(t).dirty_pages, 5);
		assert_int_equal(stored(t, 5 * WORDS + 3), 5);
		flush_range(t, 0, PAGES * PAGE, 0);
		assert_int_equal(info_of(t).dirty_pages, 0);
		assert_int_equal(counts(t).written, 8);
	}
}

static void ranges_that_are_none_are_refused(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_store *other;

	open_words_of(t, PAGES, PAGES, PAGE, 0, GN_FIFO);
	set(t, 3, 42);
	flush_range(t, PAGES * PAGE, 1, -GN_ERANGE);
	flush_range(t, PAGES * PAGE + 1, 0, -GN_ERANGE);
	flush_range(t, 1, UINT64_MAX, -GN_ERANGE);
	assert_int_equal(gn_cache_prefetch_range(t->cache, t->store, PAGES * PAGE - 1, 2, &t->error),
	                 -GN_ERANGE);
	assert_says(&t->error, "past the end of the store (32768");
	assert_int_equal(gn_store_open(&other, t->machine, "host:8K", NULL, &t->error), 0);
	assert_int_equal(gn_cache_flush_range(t->cache, other, 0, 1, &t->error), -GN_EINVAL);
	assert_int_equal(gn_cache_prefetch_range(t->cache, other, 0, 1, &t->error), -GN_EINVAL);
	gn_store_close(other);
	assert_int_equal(stored(t, 3), word_of(3));
	assert_int_equal(counts(t).fetched, 1);
}

/* Two stores of one cache: the same bytes of the second are other pages. */
static void ranges_are_of_one_store(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	const struct gn_cache_options o = {16 * PAGE, PAGE, GN_FIFO, GN_TABLE_DIRECT, 1, 0, 1};
	struct gn_store *store[2];
	struct gn_array array[2];
	uint64_t word;

	for (int s = 0; s < 2; s++) {
		assert_int_equal(gn_store_open(&store[s], t->machine, "host:5000", NULL, &t->error), 0);
		fill_store(t, store[s]);
	}
	assert_int_equal(gn_cache_create(&t->cache, t->machine, store, 2, &o, &t->error), 0);
	for (int s = 0; s < 2; s++) {
		array[s] = make_array(t, GN_PAGED, store[s], 0, 625, 8);
		assert_int_equal(act_one(t, &array[s], ACT_WRITE, 0, 624, 42).rc, 0);
	}
	assert_int_equal(gn_cache_flush_range(t->cache, store[1], 4992, 8, &t->error), 0);
	for (int s = 0; s < 2; s++) {
		assert_int_equal(gn_store_read_host(store[s], 4992, &word, 8, &t->error), 0);
		assert_int_equal(word, s ? 42 : word_of(624));
		gn_array_destroy(&array[s], t->machine);
	}
	close_cache(t);
	for (int s = 0; s < 2; s++)
		gn_store_close(store[s]);
}

/* ---- prefetch ---- */

static void prefetched_pages_are_hits(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (uint32_t ways = 0; ways <= 4; ways += 4)
		for (unsigned width = 1; width <= 32; width *= 32) {
			struct gn_cache_statistics c;

			widen(t, width);
			open_words_of(t, PAGES, PAGES, PAGE, ways, GN_CLOCK);
			assert_int_equal(
			    gn_cache_prefetch_range(t->cache, t->store, 2 * PAGE + 511, 2 * PAGE, &t->error),
			    0);
			assert_int_equal(gn_cache_prefetch_range(t->cache, t->store, 0, 0, &t->error), 0);
			c = counts(t);
			assert_int_equal(c.fetched, 3);
			assert_int_equal(c.hits + c.misses, 0);
			for (uint64_t k = 2 * WORDS; k < 5 * WORDS; k++)
				assert_int_equal(get(t, k), word_of(k));
			c = counts(t);
			assert_int_equal(c.fetched, 3);
			assert_int_equal(c.misses, 0);
			assert_int_equal(c.hits, 3 * WORDS);
			/* what is there is left alone */
			assert_int_equal(
			    gn_cache_prefetch_range(t->cache, t->store, 0, PAGES * PAGE, &t->error), 0);
			assert_true(counts(t).fetched <= PAGES);
			assert_true(ways || counts(t).fetched == PAGES);
		}
}

/* Neither dirty pages nor held ones make room for a hint. */
static void prefetch_takes_no_frame_that_is_needed(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (uint32_t ways = 0; ways <= 4; ways += 4) {
		close_store(t);
		open_words_of(t, PAGES, 4, PAGE, ways, GN_FIFO);
		/* whole, so that no later miss calls the cleaner */
		for (uint64_t page = 0; page < 4; page++) {
			assert_int_equal(hold(t, 0, page * WORDS, GN_READ), 0);
			let_go(t, 0);
		}
		for (uint64_t page = 0; page < 3; page++)
			set(t, page * WORDS, 42);
		assert_int_equal(hold(t, 0, 3 * WORDS, GN_READ), 0);
		assert_int_equal(gn_cache_prefetch_range(t->cache, t->store, 4 * PAGE, 8 * PAGE, &t->error),
		                 0);
		assert_int_equal(counts(t).fetched, 4);
		assert_int_equal(counts(t).written, 0);
		assert_int_equal(info_of(t).dirty_pages, 3);
		let_go(t, 0);
		assert_int_equal(get(t, 9 * WORDS), word_of(9 * WORDS)); /* no page was left busy */
	}
}

/* A prefetch that fails is no failure; whoever reads the page is told. */
static void a_prefetch_may_fail(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	const struct gn_cache_options o = {4 * PAGE, PAGE, GN_FIFO, GN_TABLE_DIRECT, 1, 0, 1};
	struct gn_fault_plan plan;
	struct gn_store_options options;
	uint64_t value;

	memset(&plan, 0, sizeof plan);
	plan.seed = 1;
	plan.fail_ppm = 1000000;
	memset(&options, 0, sizeof options);
	options.faults = &plan;
	open_store(t, "memq:8K", &options);
	open_cache(t, &o);
	open_words(t);
	assert_int_equal(gn_cache_prefetch_range(t->cache, t->store, 0, 3 * PAGE, &t->error), 0);
	assert_int_equal(gn_array_failure(&t->array, &t->error), 0);
	assert_int_equal(get_code(t, 3, &value), -GN_EIO);
}

struct prefetch_args {
	struct gn_array array;
	uint64_t first, count;
	/* 1: a lane its own element: first, and count further for every lane, if its rank is even */
	uint32_t each;
};

SIMT_FN void prefetch_elements(const struct prefetch_args *a)
{
	const uint32_t width = simt_warp_width(), all = width == 32 ? 0xffffffffu : (1u << width) - 1;

	if (a->each)
		gn_array_prefetch_each(&a->array, all, !(simt_lane() & 1), a->first + simt_lane() * a->count);
	else
		gn_array_prefetch(&a->array, all, a->first, a->count);
}
SIMT_KERNEL(prefetch_elements, struct prefetch_args)

static uint64_t fetched_by(struct cache_test *t, const struct gn_array *array, uint64_t first, uint64_t count,
                           uint32_t each)
{
	const uint64_t before = counts(t).fetched;
	struct prefetch_args args = {*array, first, count, each};
	struct gn_array kept = *array;

	run_block(t, &prefetch_elements_kernel, 32, &args);
	assert_int_equal(gn_array_failure(&kept, &t->error), 0);
	return counts(t).fetched - before;
}

static void kernels_prefetch(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (unsigned width = 1; width <= 32; width *= 32) {
		struct gn_array part, direct;
		uint64_t misses;

		widen(t, width);
		open_words_of(t, PAGES, PAGES, PAGE, 0, GN_CLOCK);
		assert_int_equal(fetched_by(t, &t->array, 3 * WORDS - 1, 2, 0), 2);
		assert_int_equal(fetched_by(t, &t->array, 0, 0, 0), 0);
		assert_int_equal(fetched_by(t, &t->array, t->array.count, 1, 0), 0);
		assert_int_equal(fetched_by(t, &t->array, UINT64_MAX, UINT64_MAX, 0), 0);
		assert_int_equal(fetched_by(t, &t->array, t->array.count - 1, UINT64_MAX, 0), 1);
		assert_int_equal(fetched_by(t, &t->array, 10 * WORDS, 40 * WORDS, 0), 40);
		part = make_array(t, GN_PAGED, t->store, 55 * PAGE + 8, 1, 8);
		assert_int_equal(fetched_by(t, &part, 0, 1000, 0), 1);
		assert_int_equal(fetched_by(t, &part, 1, 1000, 1), 0); /* past the end */
		gn_array_destroy(&part, t->machine);
		direct = make_array(t, GN_DIRECT, t->store, 0, 1000, 8);
		assert_int_equal(fetched_by(t, &direct, 0, 1000, 0) + fetched_by(t, &direct, 0, 1, 1), 0);
		gn_array_destroy(&direct, t->machine);
		misses = counts(t).misses;
		for (uint64_t k = 10 * WORDS; k < 50 * WORDS; k++)
			assert_int_equal(get(t, k), word_of(k));
		assert_int_equal(counts(t).misses, misses);
		assert_int_equal(gn_cache_invalidate(t->cache, &t->error), 0);
		/* 16 of 32 lanes name a page each, two lanes the same; a warp of one never has an odd lane */
		assert_int_equal(fetched_by(t, &t->array, 0, WORDS / 2, 1), width == 32 ? 16 : 1);
	}
}

/* A lane alone comes late to a prefetch of its warp: it first reads an element of that page. */
SIMT_FN void prefetch_late(const struct prefetch_args *a)
{
	if (simt_lane() == simt_warp_width() - 1)
		gn_read_u64(&a->array, a->first);
	prefetch_elements(a);
}
SIMT_KERNEL(prefetch_late, struct prefetch_args)

/* Else it would wait for the page, and whoever claimed the page for it, until its deadline. */
static void a_prefetch_claims_nothing_before_all_lanes_are_there(void **state)
{
	static const char *const uri[] = {"host:64K", "memq:64K"};
	const struct gn_cache_options o = {8 * PAGE, PAGE, GN_CLOCK, GN_TABLE_DIRECT, 0, 0, 1};
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_store_options options;

	memset(&options, 0, sizeof options);
	options.timeout_ns = 10000000000; /* who is only slow is not taken to wait for ever */
	for (unsigned k = 0; k < 4; k++) {
		struct prefetch_args args;

		widen(t, 8);
		open_store(t, uri[k % 2], &options);
		fill_store(t, t->store);
		open_cache(t, &o);
		open_words(t);
		args.array = t->array;
		args.first = 3 * WORDS;
		args.count = k < 2 ? WORDS : 0; /* by each: all name the one page */
		args.each = k / 2;
		run_block(t, &prefetch_late_kernel, 8, &args);
		assert_int_equal(gn_array_failure(&t->array, &t->error), 0);
		assert_int_equal(get(t, 3 * WORDS), word_of(3 * WORDS));
	}
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

/* ---- the cleaner ---- */

struct write_args {
	struct gn_array array;
	uint32_t pages;
	uint32_t overwrite; /* whole pages */
	uint32_t *failures;
};

SIMT_FN void write_pages(const struct write_args *a)
{
	const uint32_t width = simt_warp_width(), all = width == 32 ? 0xffffffffu : (1u << width) - 1;
	uint32_t failures = 0;

	for (uint32_t n = 0; n < a->pages; n++) {
		const uint64_t first = (uint64_t)n * WORDS;
		struct gn_page page;

		if (!a->overwrite) {
			failures += gn_write_u64(&a->array, first + simt_lane(), n) != 0;
		} else if (gn_array_acquire(&a->array, all, first, GN_OVERWRITE, &page)) {
			failures++;
		} else {
			for (uint32_t k = simt_lane(); k < WORDS; k += width)
				((uint64_t *)page.data)[k] = n;
			gn_array_release(&a->array, all, &page);
		}
	}
	if (failures)
		simt_add_relaxed_dev_u32(a->failures, failures);
}
SIMT_KERNEL(write_pages, struct write_args)

/* Pages four times as many as frames are written in order: a miss waits for few of their write-backs. */
static void write_and_look(struct cache_test *t, struct write_args *args, uint32_t width)
{
	enum { FRAMES = PAGES / 4 };
	const struct gn_cache_statistics before = counts(t);
	uint32_t failures = 0;

	args->array = t->array;
	args->pages = PAGES;
	args->failures = &failures;
	waited_for = 0;
	run_block(t, &write_pages_kernel, width, args);
	assert_int_equal(failures, 0);
	assert_true(counts(t).written - before.written >= PAGES - FRAMES);
	assert_true(waited_for <= (PAGES - FRAMES) / 4);
	assert_int_equal((counts(t).misses - before.misses) / width, PAGES);
	/* lanes side by side overwrite sectors, too */
	assert_int_equal(counts(t).fetched - before.fetched, args->overwrite || width > 1 ? 0 : PAGES);
	flush(t);
	for (uint64_t page = 0; page < PAGES; page++)
		assert_int_equal(stored(t, page * WORDS), page);
}

static void misses_find_clean_frames(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (uint32_t k = 0; k < 8; k++) {
		struct write_args args;

		memset(&args, 0, sizeof args);
		args.overwrite = k >> 1 & 1;
		widen(t, k & 4 ? 32 : 1);
		open_words_of(t, PAGES, PAGES / 4, PAGE, k & 1 ? 4 : 0, GN_FIFO);
		write_and_look(t, &args, k & 4 ? 32 : 1);
		/* the hand begins anew, and so does the cleaner */
		assert_int_equal(gn_cache_invalidate(t->cache, &t->error), 0);
		write_and_look(t, &args, k & 4 ? 32 : 1);
	}
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, cache_setup, cache_teardown)
	const struct CMUnitTest tests[] = {
	    CASE(only_pages_of_the_range_are_flushed),
	    CASE(ranges_that_are_none_are_refused),
	    CASE(ranges_are_of_one_store),
	    CASE(prefetched_pages_are_hits),
	    CASE(prefetch_takes_no_frame_that_is_needed),
	    CASE(a_prefetch_may_fail),
	    CASE(kernels_prefetch),
	    CASE(a_prefetch_claims_nothing_before_all_lanes_are_there),
	    CASE(a_sequence_is_fetched_ahead),
	    CASE(reads_by_a_warp_are_counted_once),
	    CASE(random_reads_fetch_nothing_ahead),
	    CASE(threads_that_wait_fetch_ahead),
	    CASE(it_rests_when_sequences_break_off),
	    CASE(who_helps_changes_nothing),
	    CASE(who_helps_fails_in_nothing),
	    CASE(who_is_refused_does_not_help),
	    CASE(misses_find_clean_frames),
	};

	return cmocka_run_group_tests_name("cache: ahead", tests, NULL, NULL);
}
