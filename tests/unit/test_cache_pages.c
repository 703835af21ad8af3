/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What reaches the store and when, what is counted, and what happens when frames run out: with both tables,
 * one frame a set and one set, and stores of memory and behind queues.
 */
#include "test_cache_support.h"

enum { PAGE = 512, SECTOR = 128, WORDS = PAGE / 8, PAGES = 32 };

/* Shapes that every test runs on: ways (0 direct) and frames. */
static const struct shape {
	uint32_t ways, frames;
	enum gn_cache_policy policy;
} shapes[] = {
    {0, 1, GN_CLOCK}, {0, 8, GN_CLOCK}, {0, 8, GN_FIFO},  {0, 7, GN_RANDOM},
    {1, 1, GN_CLOCK}, {1, 8, GN_FIFO},  {8, 8, GN_CLOCK}, {4, 8, GN_RANDOM},
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

static void open_shape(struct cache_test *t, const struct shape *s)
{
	close_store(t);
	open_words_of(t, PAGES, s->frames, PAGE, s->ways, s->policy);
}

static void every_word_is_its_own(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (int s = 0; s < SHAPES; s++) {
		open_shape(t, &shapes[s]);
		for (uint64_t k = 0; k < t->array.count; k += 3)
			assert_int_equal(get(t, k), word_of(k));
		for (uint64_t k = t->array.count; k-- > 0; k -= k % 5)
			assert_int_equal(get(t, k), word_of(k));
	}
}

/* DREAM, weakness 2: the first writer of a page that was clean in the cache. */
static void the_first_write_to_a_clean_page_reaches_the_store(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (int s = 0; s < SHAPES; s++) {
		open_shape(t, &shapes[s]);
		get(t, 5);
		set(t, 5, 42);
		for (uint64_t page = 1; page < PAGES; page++)
			get(t, page * WORDS);
		assert_int_equal(get(t, 5), 42);
		flush(t);
		assert_int_equal(stored(t, 5), 42);
		assert_int_equal(stored(t, 4), word_of(4));
	}
}

static void writes_survive_eviction(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (int s = 0; s < SHAPES; s++) {
		open_shape(t, &shapes[s]);
		for (uint64_t k = 0; k < t->array.count; k += 7)
			set(t, k, ~k);
		for (uint64_t k = 0; k < t->array.count; k++)
			if (k % 7 == 0 || k % 7 == 1)
				assert_int_equal(get(t, k), k % 7 ? word_of(k) : ~k);
		flush(t);
		for (uint64_t k = 0; k < t->array.count; k++)
			assert_int_equal(stored(t, k), k % 7 ? word_of(k) : ~k);
		assert_int_equal(info_of(t).dirty_pages, 0);
	}
}

/* BaM, defect 2: reading makes nothing dirty. */
static void reading_writes_nothing(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (int s = 0; s < SHAPES; s++) {
		struct gn_cache_info f;

		open_shape(t, &shapes[s]);
		for (uint64_t k = 0; k < t->array.count; k += 11)
			get(t, k);
		assert_int_equal(hold(t, 0, 0, 0), 0);
		let_go(t, 0);
		flush(t);
		f = info_of(t);
		assert_int_equal(f.dirty_pages, 0);
		assert_int_equal(f.statistics.written, 0);
		assert_int_equal(f.statistics.written_bytes, 0);
	}
}

/* BaM, defect 3: frames that hold no page are not flushed over page 0. */
static void a_flush_writes_dirty_pages_only(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (int s = 0; s < SHAPES; s++) {
		struct gn_cache_info f;

		open_shape(t, &shapes[s]);
		flush(t);
		assert_int_equal(info_of(t).statistics.written, 0);
		set(t, 9 * WORDS + 3, 42);
		assert_int_equal(info_of(t).dirty_pages, 1);
		flush(t);
		f = info_of(t);
		assert_int_equal(f.statistics.written, 1);
		assert_int_equal(f.statistics.written_bytes, SECTOR);
		assert_int_equal(f.dirty_pages, 0);
		for (uint64_t k = 0; k < t->array.count; k++)
			assert_int_equal(stored(t, k), k == 9 * WORDS + 3 ? 42 : word_of(k));
		flush(t);
		assert_int_equal(info_of(t).statistics.written, 1);
	}
}

/* BaM, defect 1: the page that a write makes dirty is the one that was written, though its frame has another
 * number. */
static void the_page_that_was_written_is_dirty(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (int s = 0; s < SHAPES; s++) {
		open_shape(t, &shapes[s]);
		for (uint64_t page = PAGES; page-- > 20;)
			get(t, page * WORDS);
		assert_int_equal(hold(t, 0, 25 * WORDS, 1), 0);
		((uint64_t *)t->held[0].data)[7] = 42;
		let_go(t, 0);
		assert_int_equal(info_of(t).dirty_pages, 1);
		flush(t);
		for (uint64_t k = 0; k < t->array.count; k++)
			assert_int_equal(stored(t, k), k == 25 * WORDS + 7 ? 42 : word_of(k));
	}
}

/* A pinned page may still be written: it is written by the flush and stays dirty for the next. */
static void a_pinned_page_is_flushed_and_stays_dirty(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (int s = 0; s < SHAPES; s++) {
		open_shape(t, &shapes[s]);
		assert_int_equal(hold(t, 0, 0, 1), 0);
		((uint64_t *)t->held[0].data)[0] = 41;
		flush(t);
		assert_int_equal(stored(t, 0), 41);
		((uint64_t *)t->held[0].data)[0] = 42;
		let_go(t, 0);
		assert_int_equal(info_of(t).dirty_pages, 1);
		flush(t);
		assert_int_equal(stored(t, 0), 42);
		assert_int_equal(info_of(t).dirty_pages, 0);
	}
}

/* ---- no frame ---- */

/* Hold every frame. Returns how many pages are held. */
static uint32_t hold_all(struct cache_test *t)
{
	uint32_t held = 0;

	for (uint64_t page = 0; page < PAGES && held < MOST_HELD - 1; page++)
		if (!hold(t, held, page * WORDS, 0))
			held++;
	return held;
}

/* BaM, defect 13: when all frames are held, nobody waits: acquires are refused, scalar accesses go around. */
static void when_every_frame_is_held_accesses_go_around(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (int s = 0; s < SHAPES; s++) {
		uint32_t held;
		uint64_t outside, bypassed;

		open_shape(t, &shapes[s]);
		held = hold_all(t);
		assert_int_equal(held, shapes[s].frames);
		for (outside = PAGES - 1; !hold(t, MOST_HELD - 1, outside * WORDS, 0); outside--)
			let_go(t, MOST_HELD - 1); /* a page that is held already */
		assert_int_equal(hold(t, MOST_HELD - 1, outside * WORDS, 1), -GN_ENOBUFS);
		assert_int_equal(get(t, outside * WORDS + 1), word_of(outside * WORDS + 1));
		set(t, outside * WORDS + 2, 42);
		assert_int_equal(stored(t, outside * WORDS + 2), 42);
		assert_int_equal(get(t, outside * WORDS + 2), 42);
		assert_int_equal(info_of(t).statistics.bypassed, 3);
		assert_int_equal(gn_array_failure(&t->array, &t->error), 0);

		let_go(t, 0);
		for (uint32_t k = 1; k < held; k++)
			let_go(t, k);
		/* reads that found no frame do without looking for one for a while */
		for (uint32_t k = 0; k < GN__BYPASS_BACKOFF; k++)
			assert_int_equal(get(t, outside * WORDS + 3), word_of(outside * WORDS + 3));
		bypassed = info_of(t).statistics.bypassed;
		assert_int_equal(get(t, outside * WORDS + 2), 42);
		assert_int_equal(get(t, outside * WORDS + 3), word_of(outside * WORDS + 3));
		set(t, outside * WORDS + 2, 43);
		flush(t);
		assert_int_equal(stored(t, outside * WORDS + 2), 43);
		assert_int_equal(info_of(t).statistics.bypassed, bypassed);
	}
}

/* ---- forgetting ---- */

static void what_is_invalidated_is_fetched_again(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (int s = 0; s < SHAPES; s++) {
		uint64_t other = 4711;

		open_shape(t, &shapes[s]);
		get(t, 5);
		assert_int_equal(gn_store_write_host(t->store, 5 * 8, &other, 8, &t->error), 0);
		assert_int_equal(get(t, 5), word_of(5));
		assert_int_equal(gn_cache_invalidate(t->cache, &t->error), 0);
		assert_int_equal(get(t, 5), 4711);
		set(t, 6, 42);
		assert_int_equal(gn_cache_invalidate(t->cache, &t->error), -GN_EBUSY);
		assert_says(&t->error, "1 dirty");
		assert_int_equal(get(t, 6), 42);
		flush(t);
		assert_int_equal(hold(t, 0, 6, 0), 0);
		assert_int_equal(gn_cache_invalidate(t->cache, &t->error), -GN_EBUSY);
		assert_says(&t->error, "1 pinned");
		let_go(t, 0);
		assert_int_equal(gn_cache_invalidate(t->cache, &t->error), 0);
		for (uint64_t k = 0; k < t->array.count; k += 13)
			if (k != 5 && k != 6)
				assert_int_equal(get(t, k), word_of(k));
	}
}

/* ---- counters ---- */

static void counters_are_exact(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_cache_statistics c;

	open_words_of(t, 4, 2, PAGE, 0, GN_FIFO);
	get(t, 0);
	get(t, 1);
	get(t, 2);                                     /* 1 miss, 2 hits: a sector comes */
	set(t, WORDS, 1);                              /* miss, a sector comes */
	set(t, WORDS, 2);                              /* hit */
	get(t, 2 * WORDS);                             /* miss, page 0 goes */
	get(t, 3 * WORDS);                             /* miss, page 2 goes, which is clean */
	assert_int_equal(hold(t, 0, 3 * WORDS, 0), 0); /* miss, the rest of page 3 comes */
	let_go(t, 0);
	/* miss, page 1 is written and goes: it was there first */
	assert_int_equal(hold(t, 0, 0, 0), 0);
	let_go(t, 0);
	c = info_of(t).statistics;
	assert_int_equal(c.hits, 3);
	assert_int_equal(c.misses, 6);
	assert_int_equal(c.fetched, 6);
	assert_int_equal(c.fetched_bytes, 4 * SECTOR + (PAGE - SECTOR) + PAGE);
	assert_int_equal(c.evicted, 3);
	assert_int_equal(c.written, 1);
	assert_int_equal(c.written_bytes, SECTOR);
	assert_int_equal(c.bypassed, 0);
}

static void nothing_is_counted_unless_asked(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_cache_options o;
	struct gn_cache_statistics c, none;

	memset(&o, 0, sizeof o);
	memset(&none, 0, sizeof none);
	o.bytes = 4 * PAGE;
	o.page_bytes = PAGE;
	open_store(t, "host:16K", NULL);
	open_cache(t, &o);
	open_words(t);
	for (uint64_t k = 0; k < t->array.count; k += 17)
		set(t, k, k);
	c = info_of(t).statistics;
	assert_memory_equal(&c, &none, sizeof c);
}

/* ---- several stores ---- */

static void stores_of_one_cache_keep_apart(struct cache_test *t, uint32_t ways)
{
	static const char *const uris[] = {"host:5000", "memq:20000", "host:1000", "memq:4096"};
	enum { STORES = 4 };
	struct gn_cache_options o = {8 * PAGE, PAGE, GN_CLOCK, ways ? GN_TABLE_SETS : GN_TABLE_DIRECT,
	                             ways,     0,    1};
	struct gn_store *store[STORES];
	struct gn_array array[STORES];
	uint64_t pages = 0;

	for (int s = 0; s < STORES; s++) {
		assert_int_equal(gn_store_open(&store[s], t->machine, uris[s], NULL, &t->error), 0);
		fill_store(t, store[s]);
		pages += (gn_store_view_of(store[s])->capacity_bytes + PAGE - 1) / PAGE;
	}
	assert_int_equal(gn_cache_create(&t->cache, t->machine, store, STORES, &o, &t->error), 0);
	assert_int_equal(info_of(t).pages, pages);
	for (int s = 0; s < STORES; s++)
		array[s] =
		    make_array(t, GN_PAGED, store[s], 0, gn_store_view_of(store[s])->capacity_bytes / 8, 8);
	for (uint64_t k = 0; k < 2500; k++)
		for (int s = 0; s < STORES; s++) {
			if (k >= array[s].count)
				continue;
			assert_int_equal(act_one(t, &array[s], ACT_READ, 0, k, 0).value[0], word_of(k));
			assert_int_equal(act_one(t, &array[s], ACT_WRITE, 0, k, k << 8 | (uint64_t)s).rc, 0);
		}
	flush(t);
	for (int s = 0; s < STORES; s++) {
		for (uint64_t k = 0; k < array[s].count; k++) {
			uint64_t word;

			assert_int_equal(gn_store_read_host(store[s], k * 8, &word, 8, &t->error), 0);
			assert_int_equal(word, k << 8 | (uint64_t)s);
		}
		gn_array_destroy(&array[s], t->machine);
	}
	close_cache(t);
	for (int s = 0; s < STORES; s++)
		gn_store_close(store[s]);
}

static void several_stores_direct(void **state)
{
	stores_of_one_cache_keep_apart((struct cache_test *)*state, 0);
}

static void several_stores_sets(void **state)
{
	stores_of_one_cache_keep_apart((struct cache_test *)*state, 2);
}

/* The end of a store that is no multiple of a page, or of a block. */
static void the_last_page_may_be_a_part(void **state)
{
	static const char *const uris[] = {"host:1000", "memq:1000", "memq:1544", "host:520", "host:8"};
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_cache_options o = {PAGE, PAGE, GN_CLOCK, GN_TABLE_DIRECT, 1, 0, 1};

	for (size_t k = 0; k < sizeof uris / sizeof *uris; k++) {
		uint64_t last;

		close_store(t);
		open_store(t, uris[k], NULL);
		fill_store(t, t->store);
		open_cache(t, &o);
		open_words(t);
		last = t->array.count - 1;
		assert_int_equal(get(t, last), word_of(last));
		set(t, last, 42);
		get(t, 0);
		assert_int_equal(get(t, last), 42);
		flush(t);
		assert_int_equal(stored(t, last), 42);
		if (last)
			assert_int_equal(stored(t, last - 1), word_of(last - 1));
	}
}

/* ---- files ---- */

/* Every byte that was written is there when the file is opened again, and the others are as they were. */
static void a_reopened_file_holds_what_was_written(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_cache_options o = {8 * PAGE, PAGE, GN_CLOCK, GN_TABLE_SETS, 4, 0, 1};
	char uri[256];

	snprintf(uri, sizeof uri, "file:%s?create=40000", t->file);
	open_store(t, uri, NULL);
	fill_store(t, t->store);
	open_cache(t, &o);
	open_words(t);
	for (uint64_t k = 0; k < t->array.count; k += 3)
		set(t, k, ~k);
	flush(t);
	close_store(t);
	snprintf(uri, sizeof uri, "host:%s?ro", t->file);
	open_store(t, uri, NULL);
	for (uint64_t k = 0; k < 5000; k++)
		assert_int_equal(stored(t, k), k % 3 ? word_of(k) : ~k);
}

/* A cache that is destroyed unflushed loses what it says it loses, and nothing else. */
static void without_a_flush_nothing_is_written_late(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	open_words_of(t, PAGES, 8, PAGE, 0, GN_CLOCK);
	set(t, 3, 42);
	close_cache(t);
	assert_int_equal(stored(t, 3), word_of(3));
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, cache_setup, cache_teardown)
	const struct CMUnitTest tests[] = {
	    CASE(every_word_is_its_own),
	    CASE(the_first_write_to_a_clean_page_reaches_the_store),
	    CASE(writes_survive_eviction),
	    CASE(reading_writes_nothing),
	    CASE(a_flush_writes_dirty_pages_only),
	    CASE(the_page_that_was_written_is_dirty),
	    CASE(a_pinned_page_is_flushed_and_stays_dirty),
	    CASE(when_every_frame_is_held_accesses_go_around),
	    CASE(what_is_invalidated_is_fetched_again),
	    CASE(counters_are_exact),
	    CASE(nothing_is_counted_unless_asked),
	    CASE(several_stores_direct),
	    CASE(several_stores_sets),
	    CASE(the_last_page_may_be_a_part),
	    CASE(a_reopened_file_holds_what_was_written),
	    CASE(without_a_flush_nothing_is_written_late),
	};

	return cmocka_run_group_tests_name("cache: pages", tests, NULL, NULL);
}
