/* SPDX-License-Identifier: Apache-2.0 */
/* Corners of the search for a frame that ordinary use hardly meets: pins that run out, a hand that others
 * move. */
#define SIMT_PREEMPT 1

#include "test_cache_support.h"

#include <cache/cache.h>

enum { PAGE = 512, WORDS = PAGE / 8 };

/* ---- every pin of a page is taken ---- */

struct slow_args {
	struct gn_array array;
	uint64_t value;
	int32_t rc;
};

struct slow_launch {
	struct slow_args *a;
};

/* A read that found the page busy a moment ago. */
SIMT_FN void read_slowly(const struct slow_launch *l)
{
	l->a->rc = gn__read_give(gn__read_missing(&l->a->array, 0, 8), &l->a->value, 8);
}
SIMT_KERNEL(read_slowly, struct slow_launch)

static void open_impatient(struct cache_test *t, uint32_t ways)
{
	struct gn_store_options store;
	struct gn_cache_options cache;

	memset(&store, 0, sizeof store);
	store.timeout_ns = 1000000;
	memset(&cache, 0, sizeof cache);
	cache.bytes = 4 * PAGE;
	cache.page_bytes = PAGE;
	cache.table = ways ? GN_TABLE_SETS : GN_TABLE_DIRECT;
	cache.ways = ways;
	open_store(t, "host:8K", &store);
	fill_store(t, t->store);
	open_cache(t, &cache);
	open_words(t);
}

/* The store is older than the frame: nobody may go around the cache. To read an element no pin is needed. */
static void a_page_with_all_pins_taken_is_not_bypassed(struct cache_test *t, uint32_t ways)
{
	struct slow_args args;
	struct slow_launch launch = {&args};
	struct simt_grid one = {1, 1, 0};
	uint64_t *word;

	open_impatient(t, ways);
	set(t, 0, 42);
	word = gn__table_find(&t->cache->image, 0).word;
	*word |= GN__WORD_PINS;

	assert_int_equal(get(t, 0), 42);
	assert_int_equal(set_code(t, 0, 43), -GN_ETIMEDOUT);
	assert_int_equal(hold(t, 0, 0, GN_READ), -GN_ENOBUFS); /* at once */
	assert_int_equal(hold(t, 0, 0, GN_WRITE), -GN_ENOBUFS);
	/* the write's; the others are not kept */
	assert_int_equal(gn_array_failure(&t->array, &t->error), -GN_ETIMEDOUT);
	memset(&args, 0, sizeof args);
	args.array = t->array;
	assert_int_equal(simt_launch(t->machine, &read_slowly_kernel, one, &launch, &t->error), 0);
	assert_int_equal(simt_wait(t->machine, &t->error), 0);
	assert_int_equal(args.rc, 0);
	assert_int_equal(args.value, 42);
	assert_int_not_equal(stored(t, 0), 43);

	*word &= ~GN__WORD_PINS;
	set(t, 0, 44);
	flush(t);
	assert_int_equal(stored(t, 0), 44);
}

static void all_pins_taken_direct(void **state)
{
	a_page_with_all_pins_taken_is_not_bypassed((struct cache_test *)*state, 0);
}

static void all_pins_taken_sets(void **state)
{
	a_page_with_all_pins_taken_is_not_bypassed((struct cache_test *)*state, 4);
}

/* ---- others move the hand ---- */

struct hand_args {
	struct gn_array array;
	uint32_t *stop, *failures;
};

/* Thread 0 holds a page and acquires the others in turn, for which there is one frame; thread 1 moves the
 * hand. */
SIMT_FN void acquire_beside_a_moving_hand(const struct hand_args *a)
{
	struct gn_page held, page;
	uint32_t k;

	if (simt_thread()) {
		while (!simt_load_acquire_dev_u32(a->stop))
			simt_add_relaxed_dev_u32(&a->array.pages.cache->shared->hand[GN_FOLLOWERS].at, 1);
		return;
	}
	*a->failures += gn_array_acquire(&a->array, 1, 0, 0, &held) != 0;
	for (k = 0; k < 50; k++) {
		int rc = gn_array_acquire(&a->array, 1, (1 + k % 8) * WORDS, 0, &page);

		*a->failures += rc != 0;
		if (!rc)
			gn_array_release(&a->array, 1, &page);
	}
	gn_array_release(&a->array, 1, &held);
	simt_store_release_dev_u32(a->stop, 1);
}
SIMT_KERNEL(acquire_beside_a_moving_hand, struct hand_args)

/* A frame that nobody holds is found, though another thread takes the hand past it again and again. */
static void a_frame_is_found_whoever_moves_the_hand(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	open_words_of(t, 16, 2, PAGE, 0, GN_FIFO);
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct simt_options options = {"cpu", 1, 1, SIMT_RANDOM, seed};
		struct simt_grid two = {1, 2, 0};
		uint32_t stop = 0, failures = 0;
		struct hand_args args = {t->array, &stop, &failures};
		struct simt_machine *machine;

		assert_int_equal(simt_open(&machine, &options, &t->error), 0);
		assert_int_equal(
		    simt_launch(machine, &acquire_beside_a_moving_hand_kernel, two, &args, &t->error), 0);
		assert_int_equal(simt_wait(machine, &t->error), 0);
		simt_close(machine);
		assert_int_equal(failures, 0);
	}
}

/* ---- frames of the hand, in lots ---- */

enum { LOT = 4, TAKERS = 32, FIRST = 2, LATER = 16, FRAMES = TAKERS * FIRST };

struct take_args {
	struct gn_cache_view view;
	uint32_t *frame; /* [TAKERS][frames] */
	uint32_t frames;
};

SIMT_FN void take_frames(const struct take_args *a)
{
	for (uint32_t k = 0; k < a->frames; k++)
		a->frame[simt_global_thread() * a->frames + k] = gn__hand_next(&a->view, 0);
}
SIMT_KERNEL(take_frames, struct take_args)

/* All threads take so many frames; counts how often each was given out. */
static void count_frames(struct simt_machine *machine, struct take_args *args, uint32_t frames,
                         uint32_t *given)
{
	const struct simt_grid grid = {TAKERS, 1, 0};
	uint32_t frame[TAKERS * LATER];

	args->frame = frame;
	args->frames = frames;
	assert_int_equal(simt_launch(machine, &take_frames_kernel, grid, args, NULL), 0);
	assert_int_equal(simt_wait(machine, NULL), 0);
	for (uint32_t k = 0; k < TAKERS * frames; k++) {
		assert_true(frame[k] < args->view.frames);
		given[frame[k]]++;
	}
}

/*
 * At first each frame is given out once. Later ones are taken in lots, of which some are left; the hand
 * gives no frame more often than it went round.
 */
static void every_frame_is_given_out_in_turn(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct simt_options options = {"cpu", seed % 4 ? 3u : 1u, 1,
		                               seed % 4 ? SIMT_FAIR : SIMT_RANDOM, seed};
		uint32_t given[FRAMES] = {0};
		struct gn_cache_shared shared;
		struct take_args args;
		struct simt_machine *machine;
		uint32_t rounds;

		memset(&args, 0, sizeof args);
		memset(&shared, 0, sizeof shared);
		args.view.shared = &shared;
		args.view.frames = FRAMES;
		args.view.lot = LOT;
		assert_int_equal(simt_open(&machine, &options, &t->error), 0);
		count_frames(machine, &args, FIRST, given);
		for (uint32_t frame = 0; frame < FRAMES; frame++)
			assert_int_equal(given[frame], 1);
		count_frames(machine, &args, LATER, given);
		rounds = (shared.hand[GN_FOLLOWERS].at + FRAMES - 1) / FRAMES;
		for (uint32_t frame = 0; frame < FRAMES; frame++)
			assert_true(given[frame] <= rounds);
		simt_close(machine);
	}
}

/* As in a new cache, also where lots were begun. */
static void the_hand_begins_anew_when_all_is_forgotten(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	const struct gn_cache_shared *shared;

	open_words_of(t, 16, 4, PAGE, 0, GN_CLOCK);
	for (uint64_t page = 0; page < 16; page++)
		get(t, page * WORDS);
	shared = t->cache->image.shared;
	t->cache->image.shared->local[0].lot = GN__LOT_BEGUN + 1;
	t->cache->image.shared->moved[GN_LEAD_ROUND] = 1;
	assert_true(shared->hand[GN_FOLLOWERS].at >= 16);
	assert_int_equal(gn_cache_invalidate(t->cache, &t->error), 0);
	assert_int_equal(shared->hand[GN_FOLLOWERS].at, 0);
	assert_int_equal(shared->moved[GN_LEAD_ROUND], 0);
	assert_int_equal(shared->local[0].lot, 0);
}

/* ---- the hand of a set survives an access that found no frame ---- */

static void fifo_goes_on_after_no_frame(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	open_words_of(t, 16, 4, PAGE, 4, GN_FIFO);
	for (uint64_t page = 0; page < 6; page++) /* 4 and 5 took the place of 0 and 1: 2 is the oldest */
		get(t, page * WORDS);
	for (uint64_t page = 2; page < 6; page++)
		assert_int_equal(hold(t, (uint32_t)page, page * WORDS, 0), 0);
	assert_int_equal(hold(t, 0, 7 * WORDS, 0), -GN_ENOBUFS);
	for (uint64_t page = 2; page < 6; page++)
		let_go(t, (uint32_t)page);
	get(t, 8 * WORDS);
	assert_null(gn__table_find(&t->cache->image, 2).word);
	assert_non_null(gn__table_find(&t->cache->image, 4).word);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, cache_setup, cache_teardown)
	const struct CMUnitTest tests[] = {
	    CASE(all_pins_taken_direct),
	    CASE(all_pins_taken_sets),
	    CASE(a_frame_is_found_whoever_moves_the_hand),
	    CASE(every_frame_is_given_out_in_turn),
	    CASE(the_hand_begins_anew_when_all_is_forgotten),
	    CASE(fifo_goes_on_after_no_frame),
	};

	return cmocka_run_group_tests_name("cache: the search for a frame", tests, NULL, NULL);
}
