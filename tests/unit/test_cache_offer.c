/* SPDX-License-Identifier: Apache-2.0 */
/* Offers of pages that are fetched ahead (detail/cache/ahead.h): how threads that wait take them. */
#include "test_cache_support.h"

enum { PAGE = 512, PAGES = 64 };

struct take_args {
	const struct gn_cache_view *cache;
	uint64_t first; /* page of the offer */
	uint64_t waits_for;
	uint32_t left; /* pages of the offer */
	uint32_t
	    stream; /* pages that were fetched ahead of the one behind the offer; 0: there is no stream */
	uint32_t lanes;
	/* what came of two takes */
	uint32_t many[2];
	uint64_t page[2];
	uint64_t offer; /* what is left */
};

struct take_call {
	struct take_args *args;
};

/* Two takes of an offer that is as the arguments say. */
SIMT_FN void take(const struct take_call *call)
{
	struct take_args *a = call->args;
	const uint64_t end = a->first + a->left;

	a->cache->shared->offer = a->first << GN__AHEAD_LOG2 | a->left;
	*gn__stream_of(a->cache, end) = a->stream ? end << GN__AHEAD_LOG2 | a->stream : 0;
	for (uint32_t k = 0; k < 2; k++)
		a->many[k] = gn__offer_take(a->cache, a->lanes, a->waits_for, &a->page[k]);
	a->offer = a->cache->shared->offer;
}
SIMT_KERNEL(take, struct take_call)

static struct take_args taken(struct cache_test *t, uint64_t first, uint32_t left, uint64_t waits_for,
                              uint32_t stream)
{
	struct take_args args;
	const struct take_call call = {&args};

	memset(&args, 0, sizeof args);
	args.cache = gn_cache_view_of(t->cache);
	args.first = first;
	args.left = left;
	args.waits_for = waits_for;
	args.stream = stream;
	args.lanes = 1;
	run_block(t, &take_kernel, 1, &call);
	return args;
}

static void open_offers(struct cache_test *t)
{
	widen(t, 1);
	open_words_at(t, "memq", PAGES, 2 * PAGES, PAGE, 0, GN_CLOCK);
}

/* One after the other, as long as there are some, and none that lie before the one that is waited for. */
static void pages_behind_are_taken(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct take_args a;

	open_offers(t);
	a = taken(t, 10, 2, 9, 0);
	assert_int_equal(a.many[0], 1);
	assert_int_equal(a.page[0], 10);
	assert_int_equal(a.many[1], 1);
	assert_int_equal(a.page[1], 11);
	assert_int_equal(a.offer, 12 << GN__AHEAD_LOG2);
	a = taken(t, 10, 2, 11, 0);
	assert_int_equal(a.many[0] + a.many[1], 0);
	assert_int_equal(a.offer, 10 << GN__AHEAD_LOG2 | 2);
}

/* All are taken: a thread that waits for one of the last offers twice as many, and then takes the first. */
static void an_offer_goes_on(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct take_args a;

	open_offers(t);
	a = taken(t, 20, 0, 16, 4);
	assert_int_equal(a.many[0], 0);
	assert_int_equal(a.many[1], 1);
	assert_int_equal(a.page[1], 20);
	assert_int_equal(a.offer, 21 << GN__AHEAD_LOG2 | 7);
	/* the stream is expected behind the new offer */
	assert_int_equal(*gn__stream_of(a.cache, 28), 28 << GN__AHEAD_LOG2 | 8);
	assert_int_equal(*gn__stream_of(a.cache, 20), 0);
}

/* Not where no stream is expected, nor by a thread that is far behind, nor past the end of the store. */
static void an_offer_ends(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct take_args a;

	open_offers(t);
	a = taken(t, 20, 0, 19, 0);
	assert_int_equal(a.offer, 20 << GN__AHEAD_LOG2);
	assert_int_equal(gn__offer_most(a.cache), 16);
	a = taken(t, 20, 0, 10, 4);
	assert_int_equal(a.offer, 20 << GN__AHEAD_LOG2);
	a = taken(t, PAGES, 0, PAGES - 1, 4);
	assert_int_equal(a.offer, PAGES << GN__AHEAD_LOG2);
	a = taken(t, PAGES - 3, 0, PAGES - 4, 4);
	assert_int_equal(a.many[1], 1);
	assert_int_equal(a.offer, (PAGES - 2) << GN__AHEAD_LOG2 | 2);
}

struct pass_args {
	struct gn_array words;
	uint32_t writes; /* 1: each word is written as it was, 0: read */
	uint32_t step;   /* in pages */
	uint64_t right;  /* words that were right */
	uint64_t offer;  /* in the middle of the pass */
};

struct pass_call {
	struct pass_args *args;
};

/* Read or write one word of each page that is a multiple of the step. */
SIMT_FN void pass(const struct pass_call *call)
{
	struct pass_args *a = call->args;
	const uint64_t words = PAGE / 8;

	for (uint64_t page = 0; page < PAGES; page += a->step) {
		uint64_t word = a->writes ? word_of(page * words) : 0;
		const int rc = a->writes ? gn_array_write(&a->words, page * words, &word)
		                         : gn_array_read(&a->words, page * words, &word);

		a->right += !rc && word == word_of(page * words);
		if (page == PAGES / 2)
			a->offer = a->words.pages.cache->shared->offer;
	}
}
SIMT_KERNEL(pass, struct pass_call)

/* A thread goes over the store and back to its beginning. Others have taken all that was offered. */
static void every_pass_is_offered_pages(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	open_offers(t);
	for (uint32_t k = 0; k < 4; k++) {
		struct pass_args args = {t->array, k / 2, 1, 0, 0};
		const struct pass_call call = {&args};
		uint64_t *offer = &t->array.pages.cache->shared->offer, end;

		run_block(t, &pass_kernel, 1, &call);
		assert_int_equal(args.right, PAGES);
		end = (args.offer >> GN__AHEAD_LOG2) + (args.offer & ((1u << GN__AHEAD_LOG2) - 1));
		assert_in_range(end, PAGES / 2, PAGES / 2 + gn__offer_most(t->array.pages.cache));
		end = (*offer >> GN__AHEAD_LOG2) + (*offer & ((1u << GN__AHEAD_LOG2) - 1));
		*offer = end << GN__AHEAD_LOG2;
		assert_int_equal(gn_cache_flush(t->cache, &t->error), 0);
		assert_int_equal(gn_cache_invalidate(t->cache, &t->error), 0);
	}
}

/* An OS thread that wants every second, third or fourth page goes through a sequence, too. */
static void steps_of_few_pages_are_a_sequence(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (uint32_t step = 2; step < 8; step++) {
		struct pass_args args = {t->array, 0, step, 0, 0};
		const struct pass_call call = {&args};

		close_store(t);
		open_offers(t);
		args.words = t->array;
		run_block(t, &pass_kernel, 1, &call);
		assert_int_equal(args.right, (PAGES - 1) / step + 1);
		assert_int_equal(t->array.pages.cache->shared->offer != 0, step <= 4);
	}
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, cache_setup, cache_teardown)
	const struct CMUnitTest tests[] = {
	    CASE(pages_behind_are_taken),
	    CASE(an_offer_goes_on),
	    CASE(an_offer_ends),
	    CASE(every_pass_is_offered_pages),
	    CASE(steps_of_few_pages_are_a_sequence),
	};

	return cmocka_run_group_tests_name("cache: offers", tests, NULL, NULL);
}
