/* SPDX-License-Identifier: Apache-2.0 */
/* From pages to words and back, what a word tells, and which page a policy lets go. */
#include "test_cache_support.h"

#include <cache/cache.h>

/* ---- pages, sets and tags ---- */

static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static void a_set_and_a_tag_are_a_page(void **state)
{
	struct gn_cache_view c;
	uint64_t random = 1;

	(void)state;
	memset(&c, 0, sizeof c);
	for (c.sets_log2 = 0; c.sets_log2 < 28; c.sets_log2++)
		for (int k = 0; k < 20000; k++) {
			uint64_t page =
			    draw(&random) & ((1ull << (draw(&random) % (28 + c.sets_log2) + 1)) - 1);
			uint32_t set = gn__set_of(&c, page), tag = gn__tag_of(&c, page);

			assert_true(set < 1u << c.sets_log2);
			assert_true(tag < 1u << GN__WORD_PAYLOAD_BITS);
			assert_int_equal(gn__page_of(&c, set, tag), page);
		}
}

/* Pages next to each other lie in different sets: each run of as many as there are sets uses every set once.
 */
static void a_run_of_pages_uses_every_set_once(void **state)
{
	enum { SETS_LOG2 = 8, SETS = 1 << SETS_LOG2 };
	struct gn_cache_view c;

	(void)state;
	memset(&c, 0, sizeof c);
	c.sets_log2 = SETS_LOG2;
	for (uint64_t run = 0; run < 1000; run++) {
		unsigned char used[SETS] = {0};

		for (uint64_t k = 0; k < SETS; k++)
			assert_int_equal(used[gn__set_of(&c, run * SETS + k)]++, 0);
	}
}

/* Arrays with equal strides do not pile up in one set. */
static void strides_spread_over_sets(void **state)
{
	enum { SETS_LOG2 = 6, SETS = 1 << SETS_LOG2, PAGES = 64 * SETS };
	static const uint64_t strides[] = {2, 16, SETS, 2 * SETS, 16 * SETS, SETS * SETS, SETS + 1};
	struct gn_cache_view c;

	(void)state;
	memset(&c, 0, sizeof c);
	c.sets_log2 = SETS_LOG2;
	for (size_t s = 0; s < sizeof strides / sizeof *strides; s++) {
		unsigned count[SETS] = {0}, most = 0;

		for (uint64_t k = 0; k < PAGES; k++)
			most = ++count[gn__set_of(&c, k * strides[s])] > most
			           ? count[gn__set_of(&c, k * strides[s])]
			           : most;
		assert_true(most <= 2 * PAGES / SETS);
	}
}

/* The way where a page is looked for first is the rest of its tag by the ways, for every tag there can be. */
static void the_preferred_way_is_a_remainder(void **state)
{
	const uint32_t most = (1u << GN__WORD_PAYLOAD_BITS) - 1;
	struct gn_cache_view c;

	(void)state;
	memset(&c, 0, sizeof c);
	for (c.ways = 1; c.ways <= GN_CACHE_MOST_WAYS; c.ways++) {
		c.ways_inverse = gn__ways_inverse(c.ways);
		for (uint32_t tag = 0; tag <= 5000; tag++) {
			assert_int_equal(gn__preferred_way(&c, tag), tag % c.ways);
			assert_int_equal(gn__preferred_way(&c, most - tag), (most - tag) % c.ways);
			assert_int_equal(gn__preferred_way(&c, tag * 53687), tag * 53687 % c.ways);
		}
	}
}

/* ---- words ---- */

static void a_failed_word_says_why(void **state)
{
	static const int codes[] = {-GN_EIO, -GN_ETIMEDOUT, -GN_EBUSY};

	(void)state;
	for (size_t k = 0; k < 3; k++)
		for (uint32_t device = 0; device < 0x800; device++) {
			uint64_t word = gn__word_failed(~(uint64_t)0, 0xabcdef1, codes[k], device);

			assert_int_equal(gn__word_failed_code(word), codes[k]);
			assert_int_equal(gn__word_failed_device(word), device);
			assert_int_equal(gn__word_payload(word), 0xabcdef1);
			assert_int_equal(word & GN__WORD_USED, GN__WORD_FAILED);
			assert_int_equal(word & GN__WORD_VERSION, GN__WORD_VERSION);
			assert_int_equal(word & (GN__WORD_DIRTY | GN__WORD_REF), 0);
		}
	assert_int_equal(gn__word_failed_code(gn__word_failed(0, 0, -GN_EINVAL, 0)), -GN_EIO);
}

static void versions_wrap_in_their_place(void **state)
{
	uint64_t word = ~(uint64_t)0;

	(void)state;
	assert_int_equal(gn__word_next_version(word), 0);
	word = gn__word_next_version(0);
	assert_int_equal(word, 1ull << GN__WORD_VERSION_SHIFT);
	for (uint32_t k = 1; k < 1u << GN__WORD_VERSION_BITS; k++)
		word = gn__word_next_version(word);
	assert_int_equal(word, 0);
}

/* ---- who goes ---- */

enum { PAGE = 512, WORDS = PAGE / 8 };

static int is_cached(struct cache_test *t, uint64_t page)
{
	return gn__table_find(&t->cache->image, page).word &&
	       gn__table_find(&t->cache->image, page).seen & GN__WORD_HELD;
}

/* FIFO: pages go in the order they came, whatever is touched. */
static void first_in_goes_first(struct cache_test *t, uint32_t ways)
{
	enum { FRAMES = 4, PAGES = 16 };

	open_words_of(t, PAGES, FRAMES, PAGE, ways, GN_FIFO);
	for (uint64_t page = 0; page < PAGES; page++) {
		get(t, page * WORDS);
		for (uint64_t old = 0; old <= page; old++) {
			assert_int_equal(is_cached(t, old), old + FRAMES > page);
			if (is_cached(t, old))
				get(t, old * WORDS);
		}
	}
	assert_int_equal(info_of(t).statistics.evicted, PAGES - FRAMES);
}

static void fifo_direct(void **state)
{
	first_in_goes_first((struct cache_test *)*state, 0);
}

static void fifo_sets(void **state)
{
	first_in_goes_first((struct cache_test *)*state, 4);
}

/* The clock: a page that is touched between misses stays while others come and go. */
static void a_page_in_use_stays(struct cache_test *t, uint32_t ways)
{
	enum { FRAMES = 4, PAGES = 64 };

	open_words_of(t, PAGES, FRAMES, PAGE, ways, GN_CLOCK);
	get(t, 0);
	for (uint64_t page = 1; page < FRAMES + 1;
	     page++) /* the first round clears what the loads have set */
		get(t, page * WORDS);
	get(t, 0);
	for (uint64_t page = FRAMES + 1; page < PAGES; page++) {
		get(t, page * WORDS);
		assert_true(is_cached(t, 0));
		get(t, 0);
	}
}

static void clock_direct(void **state)
{
	a_page_in_use_stays((struct cache_test *)*state, 0);
}

static void clock_sets(void **state)
{
	a_page_in_use_stays((struct cache_test *)*state, 4);
}

static uint32_t frame_of(const struct gn_cache_view *c, uint64_t page)
{
	const struct gn_hold found = gn__table_find(c, page);

	return gn__frame_of(c, &found);
}

/* Random: over many misses every frame gives way, none far more often than the others. */
static void every_frame_gives_way(struct cache_test *t, uint32_t ways)
{
	enum { FRAMES = 8, PAGES = 800, FAIR = PAGES / FRAMES };
	unsigned taken[FRAMES] = {0};

	open_words_of(t, PAGES, FRAMES, PAGE, ways, GN_RANDOM);
	for (uint64_t page = 0; page < PAGES; page++) {
		get(t, page * WORDS);
		taken[frame_of(&t->cache->image, page)]++;
	}
	for (uint32_t frame = 0; frame < FRAMES; frame++)
		if (taken[frame] < FAIR / 2 || taken[frame] > 2 * FAIR)
			fail_msg("frame %u was taken %u times of %u", frame, taken[frame], PAGES);
}

static void random_direct(void **state)
{
	every_frame_gives_way((struct cache_test *)*state, 0);
}

static void random_sets(void **state)
{
	every_frame_gives_way((struct cache_test *)*state, 8);
}

static void random_is_not_fifo(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	uint32_t last = 0, in_order = 0;

	open_words_of(t, 400, 8, PAGE, 8, GN_RANDOM);
	for (uint64_t page = 0; page < 400; page++) {
		uint32_t frame;

		get(t, page * WORDS);
		frame = frame_of(&t->cache->image, page);
		in_order += frame == (last + 1) % 8;
		last = frame;
	}
	assert_true(in_order < 120); /* 50 are expected of chance */
}

/* A cache that holds all pages holds each where it is looked for first. */
static void pages_in_a_row_lie_in_their_preferred_ways(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (uint32_t ways = 1; ways <= 16; ways *= 2) {
		const struct gn_cache_view *c;

		close_store(t);
		open_words_of(t, 64, 64, 512, ways, GN_CLOCK);
		c = &t->cache->image;
		for (uint64_t page = 0; page < 64; page++) {
			uint32_t set = gn__set_of(c, page), tag = gn__tag_of(c, page);

			assert_int_equal(get(t, page * 64), word_of(page * 64));
			assert_int_equal(frame_of(c, page), set * ways + tag % ways);
		}
	}
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, cache_setup, cache_teardown)
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_set_and_a_tag_are_a_page),
	    cmocka_unit_test(a_run_of_pages_uses_every_set_once),
	    cmocka_unit_test(strides_spread_over_sets),
	    cmocka_unit_test(the_preferred_way_is_a_remainder),
	    cmocka_unit_test(a_failed_word_says_why),
	    cmocka_unit_test(versions_wrap_in_their_place),
	    CASE(pages_in_a_row_lie_in_their_preferred_ways),
	    CASE(fifo_direct),
	    CASE(fifo_sets),
	    CASE(clock_direct),
	    CASE(clock_sets),
	    CASE(random_direct),
	    CASE(random_sets),
	    CASE(random_is_not_fifo),
	};

	return cmocka_run_group_tests_name("cache: tables and policies", tests, NULL, NULL);
}
