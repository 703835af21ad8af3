/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cache_hand.c - which pages a cache keeps when the data do not fit: what is gone over again and again
 * stays in part, what was used lately stays, and groups of pages that lead take no frame away from a search.
 */
#include "test_cache_support.h"

#include <cache/cache.h>

enum { PAGE = 512, WORDS = PAGE / 8, FRAMES = 8192, PAGES = 4 * FRAMES };

/* The next number of a sequence of drawn numbers, below a bound. */
static uint32_t draw_below(uint64_t *state, uint32_t bound)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33) % bound;
}

struct visit_args {
	struct gn_array array;
	const uint32_t *page; /* [visits] */
	uint32_t visits;
	uint64_t first;  /* page of visit_many */
	uint32_t *wrong; /* words that were not the page's */
};

SIMT_FN void visit(const struct visit_args *a)
{
	for (uint32_t k = 0; k < a->visits; k++) {
		const uint64_t word = (uint64_t)a->page[k] * WORDS + a->page[k] % WORDS;

		if (gn_read_u64(&a->array, word) != word_of(word))
			++*a->wrong;
	}
}
SIMT_KERNEL(visit, struct visit_args)

static struct gn_cache_statistics statistics(struct cache_test *t)
{
	struct gn_cache_info info;

	assert_int_equal(gn_cache_describe(t->cache, &info, NULL), 0);
	return info.statistics;
}

/* Reads of the store: of a page, and around the cache. */
static uint64_t store_reads(struct cache_test *t)
{
	const struct gn_cache_statistics s = statistics(t);

	return s.fetched + s.bypassed;
}

/* One thread visits pages by a kernel, and finds no wrong word. */
static void visit_by(struct cache_test *t, const struct simt_kernel *kernel, struct visit_args args)
{
	uint32_t wrong = 0;

	args.array = t->array;
	args.wrong = &wrong;
	run_block(t, kernel, 1, &args);
	assert_int_equal(wrong, 0);
}

/* One thread reads the same word of each of these pages, in order. Returns the reads of the store. */
static uint64_t store_reads_for(struct cache_test *t, const uint32_t *page, uint32_t visits)
{
	const uint64_t before = store_reads(t);
	struct visit_args args;

	memset(&args, 0, sizeof args);
	args.page = page;
	args.visits = visits;
	visit_by(t, &visit_kernel, args);
	return store_reads(t) - before;
}

static void open_frames(struct cache_test *t, uint32_t pages, uint32_t frames, enum gn_cache_policy policy)
{
	close_store(t);
	open_words_of(t, pages, frames, PAGE, 0, policy);
}

/* ---- data that do not fit, gone over again and again ---- */

enum { PASSES = 14, FIRST = 8 };

/* The share of visits that read the store, of the later passes over all pages. */
static double share_of_passes(struct cache_test *t, uint32_t frames, enum gn_cache_policy policy)
{
	static uint32_t page[PAGES];
	uint64_t later = 0;

	open_frames(t, PAGES, frames, policy);
	for (uint32_t k = 0; k < PAGES; k++)
		page[k] = k;
	for (uint32_t pass = 0; pass < PASSES; pass++) {
		const uint64_t many = store_reads_for(t, page, PAGES);

		later += pass < FIRST ? 0 : many;
	}
	return (double)later / ((double)(PASSES - FIRST) * PAGES);
}

/*
 * A quarter of the pages fit: at best three quarters of the visits read the store in each pass. The oldest
 * first keeps none, and nothing goes around.
 */
static void passes_over_all_find_a_part(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	assert_true(share_of_passes(t, FRAMES, GN_FIFO) == 1);
	assert_int_equal(statistics(t).bypassed, 0);
	assert_true(share_of_passes(t, FRAMES, GN_CLOCK) < 0.84);
	assert_true(t->cache->image.leaders > 0);
}

/* ---- the same, with passes that are long beside what the choice remembers ---- */

enum { MANY = 8 * FRAMES, READS = 16, MANY_PASSES = 6 };

/* One thread reads READS words of each page, four of each line: reads around would cost more. */
SIMT_FN void visit_many(const struct visit_args *a)
{
	for (uint32_t k = 0; k < a->visits * READS; k++) {
		const uint64_t word = (a->first + k / READS) * WORDS + k % READS * (WORDS / READS);

		if (gn_read_u64(&a->array, word) != word_of(word))
			++*a->wrong;
	}
}
SIMT_KERNEL(visit_many, struct visit_args)

/* One pass over so many pages from the first one on. Returns the bytes fetched, of those of the pages. */
static double share_of_bytes(struct cache_test *t, uint64_t first, uint32_t pages)
{
	const uint64_t before = statistics(t).fetched_bytes;
	struct visit_args args;

	memset(&args, 0, sizeof args);
	args.first = first;
	args.visits = pages;
	visit_by(t, &visit_many_kernel, args);
	return (double)(statistics(t).fetched_bytes - before) / ((double)pages * PAGE);
}

/*
 * Pages that stayed are found in one part of each pass. In the rest windows fetch no less than rounds do. The
 * choice must not change there: rounds would evict what had stayed. It is made early in the second pass,
 * which so finds most of what the first one left in the cache.
 */
static void what_stayed_outlives_a_pass(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	const uint32_t frames = few_drawn((uint32_t)FRAMES, (uint32_t)MANY), pages = 4 * frames;
	double later = 0;

	close_store(t);
	open_words_of(t, pages, frames, PAGE, 0, GN_CLOCK);
	assert_true(share_of_bytes(t, 0, pages) > 0.98); /* the rest goes around */
	assert_true(share_of_bytes(t, 0, pages) < 0.92);
	share_of_bytes(t, 0, pages);
	for (uint32_t pass = 3; pass < MANY_PASSES; pass++)
		later += share_of_bytes(t, 0, pages);
	assert_true(later < 0.82 * (MANY_PASSES - 3));
}

/* First over some pages again and again, then over others: the frames that kept the first ones are needed. */
static void passes_over_other_data_find_a_part_too(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	double later = 0;

	close_store(t);
	open_words_of(t, 2 * PAGES, FRAMES, PAGE, 0, GN_CLOCK);
	for (uint32_t pass = 0; pass < MANY_PASSES; pass++)
		share_of_bytes(t, 0, PAGES);
	for (uint32_t pass = MANY_PASSES; pass < 5 * MANY_PASSES; pass++) {
		const double share = share_of_bytes(t, PAGES, PAGES);

		later += pass < 4 * MANY_PASSES ? 0 : share;
	}
	assert_true(later < 0.84 * MANY_PASSES);
}

/* ---- data that just fit ---- */

/* Passes over as many pages as there are frames, of a store that has more of them: each page is read once. */
static void as_many_pages_as_frames_stay(void **state)
{
	static const uint32_t bases[] = {0, 57, 3 * FRAMES};
	struct cache_test *t = (struct cache_test *)*state;
	static uint32_t page[FRAMES];

	for (uint32_t k = 0; k < 6; k++) {
		close_store(t);
		open_words_at(t, k & 1 ? "memq" : "host", PAGES, FRAMES, PAGE, 0, GN_CLOCK);
		assert_true(t->cache->image.leaders > 0);
		assert_int_equal(t->cache->image.hands, k & 1 ? GN_LEAD_AROUND : GN_CACHE_HANDS);
		for (uint32_t n = 0; n < FRAMES; n++)
			page[n] = bases[k / 2] + n;
		assert_int_equal(store_reads_for(t, page, FRAMES), FRAMES);
		assert_int_equal(store_reads_for(t, page, FRAMES), 0);
		assert_int_equal(store_reads_for(t, page, FRAMES), 0);
	}
	close_store(t);
	open_words_at(t, "host", FRAMES, FRAMES, PAGE, 0, GN_CLOCK);
	assert_int_equal(t->cache->image.leaders, 0);
}

/* The same of pages that are drawn, so that groups have more or fewer of them than frames. */
static void as_many_drawn_pages_as_frames_stay(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	static uint32_t page[PAGES];
	uint64_t seed = 1;

	for (uint32_t n = 0; n < PAGES; n++)
		page[n] = n;
	for (uint32_t k = 0; k < 8; k++) {
		for (uint32_t n = 0; n < FRAMES; n++) {
			const uint32_t other = n + draw_below(&seed, PAGES - n), drawn = page[other];

			page[other] = page[n];
			page[n] = drawn;
		}
		close_store(t);
		open_words_at(t, k & 1 ? "memq" : "host", PAGES, FRAMES, PAGE, 0, GN_CLOCK);
		assert_int_equal(store_reads_for(t, page, FRAMES), FRAMES);
		assert_int_equal(store_reads_for(t, page, FRAMES), 0);
	}
}

/* A few pages more than frames: by rounds every visit would read the store. */
static void a_little_more_than_fits_stays_for_the_most_part(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	static uint32_t page[2 * FRAMES];

	for (uint32_t k = 0; k < 6; k++) {
		const uint32_t pages = FRAMES + FRAMES / 200 + k * FRAMES / 300, base = 19 * k;
		uint64_t later = 0;

		close_store(t);
		open_words_at(t, k & 1 ? "memq" : "host", PAGES, FRAMES, PAGE, 0, GN_CLOCK);
		for (uint32_t n = 0; n < pages; n++)
			page[n] = base + n;
		for (uint32_t pass = 0; pass < 2 * PASSES; pass++) {
			const uint64_t many = store_reads_for(t, page, pages);

			later += pass < PASSES ? 0 : many;
		}
		assert_true((double)later < 0.2 * PASSES * pages);
	}
}

/* Of the pages of a row each hand of a leading group has one. */
static void groups_have_equal_parts_of_the_data(void **state)
{
	struct gn_cache_view view;

	(void)state;
	memset(&view, 0, sizeof view);
	view.leaders = 64;
	for (view.hands = GN_LEAD_AROUND; view.hands <= GN_CACHE_HANDS; view.hands++)
		for (uint64_t row = 0; row < 3000; row++) {
			uint32_t pages[GN_CACHE_HANDS] = {0};

			for (uint64_t k = 0; k < GN__CACHE_GROUPS; k++)
				pages[gn__hand_of(&view, row * GN__CACHE_GROUPS + k)]++;
			for (uint32_t hand = GN_LEAD_ROUND; hand < GN_CACHE_HANDS; hand++)
				assert_int_equal(pages[hand], hand < view.hands);
		}
}

/* In a small cache no group leads, and the clock goes round. */
static void few_frames_have_no_windows(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	open_frames(t, PAGES, FRAMES - 1, GN_CLOCK);
	assert_int_equal(t->cache->image.leaders, 0);
	open_frames(t, PAGES, FRAMES, GN_RANDOM);
	assert_int_equal(t->cache->image.leaders, 0);
}

/* ---- a working set that moves on ---- */

enum { MOVES = 400000, SET = FRAMES * 3 / 4, SLOWNESS = 24 };

/* Pages drawn from a set that fits; it moves on by one page for every SLOWNESS visits. */
static uint64_t store_reads_of_a_moving_set(struct cache_test *t, enum gn_cache_policy policy)
{
	static uint32_t page[MOVES];
	uint64_t seed = 1;

	open_frames(t, PAGES, FRAMES, policy);
	for (uint32_t k = 0; k < MOVES; k++)
		page[k] = (uint32_t)((k / SLOWNESS + draw_below(&seed, SET)) % PAGES);
	return store_reads_for(t, page, MOVES);
}

/*
 * With a working set that moves on slowly, the clock must not fetch more pages than the oldest first does. It
 * reads the store a seventh more often, because one group of pages goes around the cache to compare the ways.
 */
static void a_set_that_moves_stays(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	const uint64_t oldest_first = store_reads_of_a_moving_set(t, GN_FIFO);
	uint64_t clock;

	assert_int_equal(statistics(t).bypassed, 0);
	clock = store_reads_of_a_moving_set(t, GN_CLOCK);
	assert_true(t->cache->image.leaders > 0);
	assert_true((double)statistics(t).fetched < 1.1 * (double)oldest_first);
	assert_true((double)clock < 1.2 * (double)oldest_first);
}

/* First the one, then the other: what was best before is given up. */
static void what_is_best_may_change(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	static uint32_t page[PAGES];
	uint64_t seed = 1, late = PAGES;

	share_of_passes(t, FRAMES, GN_CLOCK);
	assert_int_not_equal(gn__best_way(&t->cache->image), 0);
	for (uint32_t turn = 0; turn < 400 && (late >= PAGES / 8 || gn__best_way(&t->cache->image)); turn++) {
		for (uint32_t k = 0; k < PAGES; k++)
			page[k] = (turn * 200 + draw_below(&seed, SET)) % PAGES;
		late = store_reads_for(t, page, PAGES);
	}
	assert_int_equal(gn__best_way(&t->cache->image), 0);
	assert_true(late < PAGES / 8);
}

/* ---- around the cache ---- */

struct rewrite_args {
	struct gn_array array;
	uint64_t rounds;
	uint64_t *wrong;
};

/* Each thread writes words of its own, in pages far from each other, and reads them after others evicted
 * them. */
SIMT_FN void rewrite_and_read(const struct rewrite_args *a)
{
	const uint64_t count = gn_count(&a->array), step = simt_global_threads();

	for (uint64_t round = 1; round <= a->rounds; round++) {
		for (uint64_t word = simt_global_thread() * 113; word < count; word += step * 113)
			gn_write_u64(&a->array, word, word_of(word) + round);
		for (uint64_t word = simt_global_thread() * 113; word < count; word += step * 113)
			if (gn_read_u64(&a->array, word) != word_of(word) + round)
				simt_add_relaxed_dev_u64(a->wrong, 1);
	}
}
SIMT_KERNEL(rewrite_and_read, struct rewrite_args)

/* Reads around the cache return what was written through it, though the page was evicted meanwhile. */
static void what_is_read_around_is_what_was_written(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct rewrite_args args;
	struct gn_cache_info info;
	uint64_t wrong = 0;

	widen(t, 32);
	open_frames(t, PAGES, FRAMES, GN_CLOCK);
	for (uint32_t k = 0; k < GN_CACHE_LOCALS; k++)
		t->cache->image.shared->local[k].way = GN_LEAD_AROUND;
	memset(&args, 0, sizeof args);
	args.array = t->array;
	args.rounds = few_drawn(1, 3);
	args.wrong = &wrong;
	run_block(t, &rewrite_and_read_kernel, 256, &args);
	assert_int_equal(wrong, 0);
	assert_int_equal(gn_cache_describe(t->cache, &info, NULL), 0);
	assert_true(info.statistics.bypassed > 500);
}

/* ---- frames of all hands ---- */

struct hold_args {
	struct gn_array array;
	struct gn_page *held; /* [FRAMES] */
	uint32_t *failures;
};

/*
 * Hold a page in every frame. Then no page finds one, whatever its group; when one frame is let go, every
 * page finds it.
 */
SIMT_FN void hold_all(const struct hold_args *a)
{
	struct gn_page page;

	for (uint64_t k = 0; k < FRAMES; k++)
		*a->failures += gn_array_acquire(&a->array, 1, k * WORDS, 0, &a->held[k]) != 0;
	for (uint64_t k = FRAMES; k < FRAMES + 64; k++)
		*a->failures += gn_array_acquire(&a->array, 1, k * WORDS, 0, &page) != -GN_ENOBUFS;
	for (uint64_t k = 0; k < 4; k++) {
		const uint64_t free = k * (FRAMES / 4 + 1) % FRAMES;

		gn_array_release(&a->array, 1, &a->held[free]);
		for (uint64_t j = FRAMES; j < FRAMES + 64; j++) {
			*a->failures += gn_array_acquire(&a->array, 1, j * WORDS, 0, &page) != 0;
			gn_array_release(&a->array, 1, &page);
		}
		*a->failures += gn_array_acquire(&a->array, 1, free * WORDS, 0, &a->held[free]) != 0;
	}
	for (uint64_t k = 0; k < FRAMES; k++)
		gn_array_release(&a->array, 1, &a->held[k]);
}
SIMT_KERNEL(hold_all, struct hold_args)

static void a_search_tries_the_frames_of_all_hands(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	static struct gn_page held[FRAMES];
	struct hold_args args;
	uint32_t failures = 0;

	open_frames(t, PAGES, FRAMES, GN_CLOCK);
	assert_true(t->cache->image.leaders > 0);
	memset(&args, 0, sizeof args);
	args.array = t->array;
	args.held = held;
	args.failures = &failures;
	run_block(t, &hold_all_kernel, 1, &args);
	assert_int_equal(failures, 0);
}

enum { LAPS = 64 };

/* Places of a hand that works by windows: all frames once, then laps over one window after the other. */
static void a_window_is_gone_over_in_laps(void **state)
{
	struct gn_cache_shared shared;
	struct gn_cache_view view;

	(void)state;
	memset(&view, 0, sizeof view);
	memset(&shared, 0, sizeof shared);
	for (uint32_t k = 0; k < GN_CACHE_LOCALS; k++)
		shared.local[k].way = GN_LEAD_WINDOW;
	view.shared = &shared;
	view.leaders = 64;
	view.hands = GN_CACHE_HANDS;
	view.frames = 8192;
	view.window = 512;
	view.laps = LAPS;
	for (uint32_t place = 0; place < 8192; place++)
		assert_int_equal(gn__frame_at(&view, GN_FOLLOWERS, place), place);
	for (uint32_t place = 8192; place < 512 * LAPS; place++)
		assert_int_equal(gn__frame_at(&view, GN_FOLLOWERS, place), place % 512);
	for (uint32_t place = 512 * LAPS; place < 1024 * LAPS; place++)
		assert_int_equal(gn__frame_at(&view, GN_FOLLOWERS, place), 512 + place % 512);
	for (uint32_t place = 0; place < 128; place++)
		assert_int_equal(gn__frame_at(&view, GN_LEAD_WINDOW, place), 8064 + place % 64);
	for (uint32_t place = 128; place < 5 * LAPS; place++)
		assert_int_equal(gn__frame_at(&view, GN_LEAD_WINDOW, place), 8064 + place % 5);
	for (uint32_t place = 0; place < 1000; place++)
		assert_int_equal(gn__frame_at(&view, GN_LEAD_ROUND, place), 8128 + place % 64);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, cache_setup, cache_teardown)
	const struct CMUnitTest tests[] = {
	    CASE(passes_over_all_find_a_part),
	    CASE(what_stayed_outlives_a_pass),
	    CASE(passes_over_other_data_find_a_part_too),
	    CASE(as_many_pages_as_frames_stay),
	    CASE(as_many_drawn_pages_as_frames_stay),
	    CASE(a_little_more_than_fits_stays_for_the_most_part),
	    cmocka_unit_test(groups_have_equal_parts_of_the_data),
	    CASE(few_frames_have_no_windows),
	    CASE(a_set_that_moves_stays),
	    CASE(what_is_best_may_change),
	    CASE(what_is_read_around_is_what_was_written),
	    CASE(a_search_tries_the_frames_of_all_hands),
	    cmocka_unit_test(a_window_is_gone_over_in_laps),
	};

	return cmocka_run_group_tests_name("cache: the clock's hands", tests, NULL, NULL);
}
