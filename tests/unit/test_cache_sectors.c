/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of pages: what is overwritten whole is not fetched, and only what was written goes to the store. */
#include "test_cache_support.h"

enum { PAGE = 4096, WORDS = PAGE / 8, SECTOR = PAGE / 32, PAGES = 8 };

/* A cache of frames for PAGES pages of a store: with both tables, in memory and behind queues. */
static const struct fixture {
	uint32_t ways;
	const char *uri;
	uint32_t sector; /* not less than a block */
} fixtures[] = {{0, "host:32K", SECTOR}, {4, "host:32K", SECTOR}, {0, "memq:32K", 512}, {4, "memq:32K", 512}};

enum { BEDS = sizeof fixtures / sizeof *fixtures };

static void open_fixture(struct cache_test *t, const struct fixture *b, unsigned warp_width, uint32_t frames)
{
	struct gn_cache_options o = {
	    (uint64_t)frames * PAGE, PAGE, GN_FIFO, b->ways ? GN_TABLE_SETS : GN_TABLE_DIRECT, b->ways, 0, 1};

	widen(t, warp_width);
	open_store(t, b->uri, NULL);
	fill_store(t, t->store);
	open_cache(t, &o);
	open_words(t);
}

struct fill_args {
	struct gn_array array;
	uint64_t first, count;
	uint32_t *failures;
};

static inline uint64_t new_word(uint64_t k)
{
	return ~((k + 1) * 0x9e3779b97f4a7c15u);
}

/* Threads side by side write elements side by side. */
SIMT_FN void fill_elements(const struct fill_args *a)
{
	const uint32_t size = 1u << a->array.element_log2;
	uint32_t failures = 0;

	for (uint64_t k = simt_global_thread(); k < a->count; k += simt_global_threads()) {
		const uint64_t index = a->first + k, word = index * size / 8;
		uint64_t value[2] = {~((word + 1) * 0x9e3779b97f4a7c15u),
		                     ~((word + 2) * 0x9e3779b97f4a7c15u)};

		if (size == 4)
			value[0] >>= index % 2 * 32;
		failures += gn_array_write(&a->array, index, value) != 0;
	}
	if (failures)
		simt_add_relaxed_dev_u32(a->failures, failures);
}
SIMT_KERNEL(fill_elements, struct fill_args)

/* Bytes begin to begin + bytes of the store become new words, written as elements of a size. */
static void fill(struct cache_test *t, uint32_t threads, uint32_t size, uint64_t begin, uint64_t bytes)
{
	uint32_t failures = 0;
	struct fill_args args = {
	    make_array(t, GN_PAGED, t->store, 0, gn_store_view_of(t->store)->capacity_bytes / size, size),
	    begin / size, bytes / size, &failures};

	run_block(t, &fill_elements_kernel, threads, &args);
	assert_int_equal(failures, 0);
	gn_array_destroy(&args.array, t->machine);
}

/*
 * Every word of the cache, then of the store, is a new one in begin to end - 1, counted in bytes, and else as
 * it was.
 */
static void check_words(struct cache_test *t, uint64_t begin, uint64_t end)
{
	for (uint64_t k = 0; k < t->array.count; k++)
		assert_int_equal(get(t, k), k * 8 >= begin && k * 8 < end ? new_word(k) : word_of(k));
	flush(t);
	for (uint64_t k = 0; k < t->array.count; k++)
		assert_int_equal(stored(t, k), k * 8 >= begin && k * 8 < end ? new_word(k) : word_of(k));
}

static void assert_moved(struct cache_test *t, uint64_t fetched_bytes, uint64_t written_bytes)
{
	const struct gn_cache_statistics c = info_of(t).statistics;

	assert_int_equal(c.fetched_bytes, fetched_bytes);
	assert_int_equal(c.written_bytes, written_bytes);
}

/* Eight lanes with 16-byte elements cover a sector of 128 bytes, in the smallest pages too. */
static void eight_lanes_overwrite_pages_unfetched(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (uint32_t ways = 0; ways <= 4; ways += 4) {
		widen(t, 8);
		open_words_of(t, PAGES, PAGES, 512, ways, GN_CLOCK);
		fill(t, 8, 16, 0, PAGES * 512);
		assert_moved(t, 0, 0);
		flush(t);
		assert_moved(t, 0, PAGES * 512);
		check_words(t, 0, PAGES * 512);
		assert_moved(t, 0, PAGES * 512);
	}
}

static void a_warp_overwrites_pages_unfetched(void **state)
{
	static const uint32_t sizes[] = {4, 8, 16};
	struct cache_test *t = (struct cache_test *)*state;

	for (int b = 0; b < BEDS; b++)
		for (int s = 0; s < 3; s++) {
			/* 32 lanes must cover the smallest sector */
			const int covers = 32 * sizes[s] >= fixtures[b].sector;

			open_fixture(t, &fixtures[b], 32, PAGES);
			fill(t, 32, sizes[s], 0, PAGES * PAGE);
			flush(t);
			assert_moved(t, covers ? 0 : PAGES * PAGE, PAGES * PAGE);
			check_words(t, 0, PAGES * PAGE);
		}
}

/* In a cache that is too small each page goes before the next comes. */
static void pages_go_unfetched_too(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (int b = 0; b < BEDS; b++) {
		open_fixture(t, &fixtures[b], 32, 4);
		fill(t, 32, 16, 0, PAGES * PAGE);
		flush(t);
		assert_moved(t, 0, PAGES * PAGE);
		check_words(t, 0, PAGES * PAGE);
	}
}

static void an_overwritten_page_is_not_fetched(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (int b = 0; b < BEDS; b++) {
		open_fixture(t, &fixtures[b], 1, PAGES);
		for (uint64_t page = 2; page < 5; page++) {
			assert_int_equal(hold(t, 0, page * WORDS, GN_OVERWRITE), 0);
			assert_int_equal(t->held[0].count, WORDS);
			for (uint64_t k = 0; k < WORDS; k++)
				((uint64_t *)t->held[0].data)[k] = new_word(page * WORDS + k);
			let_go(t, 0);
		}
		flush(t);
		assert_moved(t, 0, 3 * PAGE);
		check_words(t, 2 * PAGE, 5 * PAGE);
	}
}

/* An array that has a page in part may not leave the rest of it unfetched. */
static void a_run_of_less_than_a_page_is_fetched(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_array part;

	open_fixture(t, &fixtures[0], 1, PAGES);
	part = make_array(t, GN_PAGED, t->store, 0, WORDS + 3, 8);
	assert_int_equal(act_one(t, &part, ACT_ACQUIRE_OVERWRITE, 0, WORDS, 0).rc, 0);
	assert_int_equal(t->held[0].count, 3);
	for (uint64_t k = 0; k < 3; k++)
		((uint64_t *)t->held[0].data)[k] = new_word(WORDS + k);
	let_go(t, 0);
	gn_array_destroy(&part, t->machine);
	assert_moved(t, PAGE, 0);
	check_words(t, PAGE, PAGE + 24);
}

/*
 * What is missing of a page that was overwritten in parts is fetched when it is read, and no more: of memory
 * the sector that is wanted, from queues the rest of the page.
 */
static void what_is_missing_is_fetched(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (int b = 0; b < BEDS; b++) {
		const uint32_t sector = fixtures[b].sector;
		const uint64_t fetched = strncmp(fixtures[b].uri, "host", 4) ? PAGE - 3 * sector : sector;

		open_fixture(t, &fixtures[b], 32, PAGES);
		fill(t, 32, 16, PAGE + sector, sector);
		fill(t, 32, 16, PAGE + 3 * sector, 2 * sector);
		assert_moved(t, 0, 0);
		assert_int_equal(get(t, WORDS), word_of(WORDS));
		assert_moved(t, fetched, 0);
		assert_int_equal(get(t, WORDS + sector / 8), new_word(WORDS + sector / 8));
		flush(t);
		assert_moved(t, fetched, 3 * sector);
		assert_int_equal(hold(t, 0, WORDS, GN_READ), 0);
		let_go(t, 0);
		assert_moved(t, PAGE - 3 * sector, 3 * sector);
		for (uint64_t k = 0; k < WORDS; k++) {
			const uint64_t at = k * 8 / sector;

			assert_int_equal(stored(t, WORDS + k), at == 1 || at == 3 || at == 4
			                                           ? new_word(WORDS + k)
			                                           : word_of(WORDS + k));
		}
	}
}

/* A page that is there in parts and goes leaves the rest of it in the store alone. */
static void a_page_in_parts_goes_and_comes(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (int b = 0; b < BEDS; b++) {
		open_fixture(t, &fixtures[b], 32, 4);
		fill(t, 32, 16, PAGE + 512, 1024);
		for (uint64_t page = 2; page < PAGES; page++) {
			assert_int_equal(hold(t, 0, page * WORDS, GN_READ), 0);
			let_go(t, 0);
		}
		assert_int_equal(info_of(t).statistics.written_bytes, 1024);
		check_words(t, PAGE + 512, PAGE + 1536);
	}
}

/*
 * Parts of sectors: they are fetched, from queues with the rest of the page, and those that were touched are
 * written.
 */
static void less_than_a_sector_is_fetched_before(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (int b = 0; b < BEDS; b++) {
		const uint64_t fetched =
		    strncmp(fixtures[b].uri, "host", 4) ? (uint64_t)PAGE : 2 * fixtures[b].sector;

		open_fixture(t, &fixtures[b], 32, PAGES);
		fill(t, 32, 8, PAGE + fixtures[b].sector - 8, 16);
		assert_moved(t, fetched, 0);
		flush(t);
		assert_moved(t, fetched, 2 * fixtures[b].sector);
		check_words(t, PAGE + fixtures[b].sector - 8, PAGE + fixtures[b].sector + 8);
	}
}

/* The last sector of a store that ends in it. */
static void the_last_sector_may_be_a_part(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_cache_options o = {4 * PAGE, PAGE, GN_FIFO, GN_TABLE_DIRECT, 1, 0, 1};

	widen(t, 32);
	open_store(t, "host:4688", NULL); /* a page, four sectors and 80 bytes */
	fill_store(t, t->store);
	open_cache(t, &o);
	open_words(t);
	fill(t, 32, 8, PAGE, 592);
	flush(t);
	assert_int_equal(info_of(t).statistics.written_bytes, 592);
	check_words(t, PAGE, PAGE + 592);
}

/* ---- lanes that are together, with different arrays ---- */

struct mixed_args {
	struct gn_array array[2];
	uint64_t *seen;
	uint32_t *failures;
};

SIMT_FN void use_either(const struct mixed_args *a)
{
	const uint64_t k = simt_global_thread();
	const struct gn_array *array = &a->array[k % 2];
	uint64_t value = k % 2 ? k << 32 | k : k;
	int failed = gn_array_read(array, k, &a->seen[k]) != 0;

	failed += gn_array_write(array, k, &value) != 0;
	if (failed)
		simt_add_relaxed_dev_u32(a->failures, (uint32_t)failed);
}
SIMT_KERNEL(use_either, struct mixed_args)

/* Of one cache, with elements of 8 and of 4 bytes. */
static void lanes_may_write_elements_of_different_sizes(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (int b = 0; b < BEDS; b++) {
		uint64_t seen[32];
		uint32_t failures = 0;
		struct mixed_args args;

		open_fixture(t, &fixtures[b], 32, PAGES);
		args.array[0] = t->array;
		args.array[1] = make_array(t, GN_PAGED, t->store, 2 * SECTOR, 1024, 4);
		args.seen = seen;
		args.failures = &failures;
		run_block(t, &use_either_kernel, 32, &args);
		assert_int_equal(failures, 0);
		flush(t);
		for (uint64_t k = 0; k < 32; k += 2) {
			assert_int_equal(seen[k], word_of(k));
			assert_int_equal(stored(t, k), k);
			assert_int_equal(stored(t, (2 * SECTOR + 4 * (k + 1)) / 8) >> 32, k + 1);
		}
		gn_array_destroy(&args.array[1], t->machine);
	}
}

/* Of two caches, whose pages have the same numbers; with tables of one kind, and of both. */
static void lanes_may_use_different_caches(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (int fixture = 0; fixture < 2 * BEDS; fixture++) {
		const int b = fixture / 2;
		const uint32_t ways = fixture % 2 ? 4 - fixtures[b].ways : fixtures[b].ways;
		const struct gn_cache_options o = {
		    4 * PAGE, PAGE, GN_FIFO, ways ? GN_TABLE_SETS : GN_TABLE_DIRECT, ways, 0, 1};
		uint64_t seen[32], word;
		uint32_t failures = 0;
		struct gn_store *other_store;
		struct gn_cache *other;
		struct mixed_args args;
		struct gn_array_options options = {GN_PAGED, NULL, NULL, 0, 512, 8};

		open_fixture(t, &fixtures[b], 32, 4);
		assert_int_equal(gn_store_open(&other_store, t->machine, fixtures[b].uri, NULL, &t->error),
		                 0);
		assert_int_equal(gn_cache_create(&other, t->machine, &other_store, 1, &o, &t->error), 0);
		options.cache = other;
		options.store = other_store;
		args.array[0] = t->array;
		assert_int_equal(gn_array_create(&args.array[1], t->machine, &options, &t->error), 0);
		args.seen = seen;
		args.failures = &failures;
		run_block(t, &use_either_kernel, 32, &args);
		assert_int_equal(failures, 0);
		flush(t);
		assert_int_equal(gn_cache_flush(other, &t->error), 0);
		for (uint64_t k = 0; k < 32; k++) {
			assert_int_equal(seen[k], k % 2 ? 0 : word_of(k));
			assert_int_equal(
			    gn_store_read_host(k % 2 ? other_store : t->store, k * 8, &word, 8, &t->error),
			    0);
			assert_int_equal(word, k % 2 ? k << 32 | k : k);
			assert_int_equal(
			    gn_store_read_host(k % 2 ? t->store : other_store, k * 8, &word, 8, &t->error),
			    0);
			assert_int_equal(word, k % 2 ? word_of(k) : 0);
		}
		gn_array_destroy(&args.array[1], t->machine);
		gn_cache_destroy(other);
		gn_store_close(other_store);
	}
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, cache_setup, cache_teardown)
	const struct CMUnitTest tests[] = {
	    CASE(eight_lanes_overwrite_pages_unfetched),
	    CASE(a_warp_overwrites_pages_unfetched),
	    CASE(pages_go_unfetched_too),
	    CASE(an_overwritten_page_is_not_fetched),
	    CASE(a_run_of_less_than_a_page_is_fetched),
	    CASE(what_is_missing_is_fetched),
	    CASE(a_page_in_parts_goes_and_comes),
	    CASE(less_than_a_sector_is_fetched_before),
	    CASE(the_last_sector_may_be_a_part),
	    CASE(lanes_may_write_elements_of_different_sizes),
	    CASE(lanes_may_use_different_caches),
	};

	return cmocka_run_group_tests_name("cache: sectors", tests, NULL, NULL);
}
