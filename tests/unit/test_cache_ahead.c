/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is moved before it is wanted: ranges that are flushed and prefetched, frames kept clean ahead of the
 * hand.
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
	    CASE(misses_find_clean_frames),
	};

	return cmocka_run_group_tests_name("cache: ahead", tests, NULL, NULL);
}
