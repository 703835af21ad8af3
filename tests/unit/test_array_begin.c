/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages that are begun and asked for later: what they show, that none is lost by failures, and that threads
 * with tickets cannot keep each other waiting.
 */
#include "test_cache_support.h"

#include <cache/cache.h>

enum { PAGE = 512, WORDS = PAGE / 8, AHEAD = 4 };

/* A kernel's thread goes through pages, and has begun the next ones. */
struct walk_args {
	struct gn_array array;
	uint64_t pages;  /* of each thread, one after the other; modulo those of the array */
	uint32_t ahead;  /* tickets of a thread, 1 to AHEAD */
	uint32_t intent; /* GN_READ, or GN_WRITE: every word becomes its complement */
	uint32_t reads;  /* 1: the thread reads an element of another thread's page while it holds tickets */
	uint32_t as_warp;
	uint32_t *good, *wrong, *failed, *refused; /* pages */
};

SIMT_FN uint32_t walk_mask(const struct walk_args *w)
{
	return w->as_warp ? simt_whole_warp() : 1u << simt_lane();
}

SIMT_FN uint64_t walk_page(const struct walk_args *w, uint64_t n)
{
	const uint64_t who = w->as_warp ? simt_global_thread() / simt_warp_width() : simt_global_thread();

	return (who * w->pages + n) % (gn_count(&w->array) / WORDS);
}

SIMT_FN void count_one(uint32_t *counter, const struct walk_args *w)
{
	if (simt_lane() == simt_first_lane(walk_mask(w)))
		simt_add_relaxed_dev_u32(counter, 1);
}

SIMT_FN void see_page(const struct walk_args *w, const struct gn_page *page)
{
	uint64_t *word = (uint64_t *)page->data;
	const uint32_t step = w->as_warp ? simt_warp_width() : 1;
	uint32_t wrong = page->count != WORDS;

	for (uint64_t k = w->as_warp ? simt_lane() : 0; k < page->count; k += step) {
		wrong |= word[k] != word_of(page->first + k);
		if (w->intent == GN_WRITE)
			word[k] = ~word[k];
	}
	if (wrong)
		simt_add_relaxed_dev_u32(w->wrong, 1);
	gn_array_release(&w->array, walk_mask(w), page);
	count_one(w->good, w);
}

/* Ask until the ticket has ended. */
SIMT_FN void walk_ask(const struct walk_args *w, struct gn_page_ticket *ticket)
{
	struct gn_page page;
	int rc;

	while ((rc = gn_page_ready(&w->array, walk_mask(w), ticket, &page)) == -GN_EAGAIN)
		simt_relax();
	if (!rc)
		see_page(w, &page);
	else
		count_one(rc == -GN_ENOBUFS ? w->refused : w->failed, w);
}

SIMT_FN int walk_begin(const struct walk_args *w, uint64_t n, struct gn_page_ticket *ticket)
{
	int rc;

	if (n >= w->pages)
		return 0;
	rc = gn_page_begin(&w->array, walk_mask(w), walk_page(w, n) * WORDS + n % WORDS, w->intent, ticket);
	if (rc)
		count_one(rc == -GN_ENOBUFS ? w->refused : w->failed, w);
	return !rc;
}

SIMT_FN void walk(const struct walk_args *w)
{
	struct gn_page_ticket ticket[AHEAD];
	int begun[AHEAD];
	uint64_t value;

	for (uint64_t n = 0; n < w->pages + w->ahead; n++) {
		if (n >= w->ahead && begun[n % w->ahead])
			walk_ask(w, &ticket[n % w->ahead]);
		begun[n % w->ahead] = walk_begin(w, n, &ticket[n % w->ahead]);
		if (w->reads &&
		    !gn_array_read(&w->array, (walk_page(w, n) + w->pages) * WORDS % gn_count(&w->array),
		                   &value) &&
		    value != word_of((walk_page(w, n) + w->pages) * WORDS % gn_count(&w->array)))
			simt_add_relaxed_dev_u32(w->wrong, 1);
	}
}
SIMT_KERNEL(walk, struct walk_args)

/* ---- opening ---- */

static void open_blocks(struct cache_test *t, const char *uri, const struct gn_store_options *options,
                        uint32_t frames, uint32_t ways)
{
	struct gn_cache_options o = {
	    (uint64_t)frames * PAGE, PAGE, GN_CLOCK, ways ? GN_TABLE_SETS : GN_TABLE_DIRECT,
	    ways ? ways : 1,         0,    1};

	close_store(t);
	open_store(t, uri, options);
	fill_store(t, t->store);
	open_cache(t, &o);
	open_words(t);
}

struct walked {
	uint32_t good, wrong, failed, refused;
};

/* On cpu the host sees the words. */
static uint32_t pinned_pages(const struct cache_test *t)
{
	const struct gn_cache_view *c = &t->cache->image;
	const uint64_t words = c->owner ? c->pages : c->frames;
	uint32_t pinned = 0;

	for (uint64_t k = 0; k < words; k++)
		pinned +=
		    c->word[k] & GN__WORD_BUSY || (c->word[k] & GN__WORD_HELD && c->word[k] & GN__WORD_PINS);
	return pinned;
}

static struct walked run_walk(struct cache_test *t, struct walk_args w, uint32_t threads)
{
	struct walked *all = (struct walked *)simt_alloc(t->machine, sizeof *all, SIMT_PINNED, &t->error),
	              result;

	memset(all, 0, sizeof *all);
	w.array = t->array;
	w.good = &all->good;
	w.wrong = &all->wrong;
	w.failed = &all->failed;
	w.refused = &all->refused;
	run_block(t, &walk_kernel, threads, &w);
	result = *all;
	simt_free(t->machine, all);
	assert_int_equal(result.wrong, 0);
	assert_int_equal(pinned_pages(t), 0);
	return result;
}

static struct walk_args walk_of(uint64_t pages, uint32_t ahead)
{
	struct walk_args w;

	memset(&w, 0, sizeof w);
	w.pages = pages;
	w.ahead = ahead;
	return w;
}

/* ---- what they show ---- */

/* Every page was seen, or had no frame to be in: a set of few ways may be pinned. */
static void assert_walked(struct walked result, uint32_t pages)
{
	assert_int_equal(result.failed, 0);
	assert_int_equal(result.good + result.refused, pages);
	assert_true(result.good > 0);
}

static const char *const uris[] = {
    "memq:64K?queues=1&depth=16",       "memq:64K?queues=2&depth=4", "memq:64K?queues=1&depth=2", "host:64K",
    "stripe:unit=4K,memq:32K,memq:32K", "replica:memq:64K,memq:64K", "tier:host:64K,memq:64K"};

static void pages_that_were_begun_are_the_pages(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (size_t k = 0; k < sizeof uris / sizeof *uris; k++)
		for (uint32_t ways = 0; ways <= 4; ways += 4)
			for (uint32_t ahead = 1; ahead <= AHEAD; ahead++) {
				open_blocks(t, uris[k], NULL, 64, ways);
				/* missed and hit, and wished for by several at once */
				assert_walked(run_walk(t, walk_of(16, ahead), 8), 8 * 16);
				assert_walked(run_walk(t, walk_of(16, ahead), 8), 8 * 16);
				assert_walked(run_walk(t, walk_of(128, ahead), 3), 3 * 128);
			}
}

static void warps_begin_pages_together(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct walk_args w = walk_of(32, 3);

	for (uint32_t width = few_drawn(8, 2); width <= few_drawn(8, 32); width *= 4) {
		widen(t, width);
		for (size_t k = 0; k < sizeof uris / sizeof *uris; k++) {
			open_blocks(t, uris[k], NULL, 64, 0);
			w.as_warp = 1;
			assert_walked(run_walk(t, w, 4 * width), 4 * 32);
			w.as_warp = 0;
			assert_walked(run_walk(t, w, width), width * 32);
		}
	}
}

static void what_is_written_to_them_is_written_back(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct walk_args w = walk_of(32, AHEAD);
	struct walked result;

	w.intent = GN_WRITE;
	for (size_t k = 0; k < sizeof uris / sizeof *uris; k++) {
		open_blocks(t, uris[k], NULL, 128, 0);
		result = run_walk(t, w, 4);
		assert_int_equal(result.good, 4 * 32);
		flush(t);
		for (uint64_t at = 0; at < 128 * WORDS; at += 7)
			assert_int_equal(stored(t, at), ~word_of(at));
	}
}

/* All of them are under way before the first is asked for. */
static void many_are_under_way_at_once(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_page_ticket ticket[7];
	struct gn_page page;
	int rc;

	open_blocks(t, "memq:64K?queues=1&depth=16", NULL, 64, 0);
	for (uint64_t k = 0; k < 7; k++)
		assert_int_equal(gn_page_begin(&t->array, 1, k * WORDS, GN_READ, &ticket[k]), 0);
	assert_int_equal(gn_store_view_of(t->store)->queue->state->lent, 7);
	for (uint64_t k = 0; k < 7; k++) {
		while ((rc = gn_page_ready(&t->array, 1, &ticket[k], &page)) == -GN_EAGAIN)
			simt_relax();
		assert_int_equal(rc, 0);
		assert_int_equal(*(uint64_t *)page.data, word_of(k * WORDS));
		gn_array_release(&t->array, 1, &page);
	}
	assert_int_equal(gn_store_view_of(t->store)->queue->state->lent, 0);
	assert_int_equal(info_of(t).statistics.fetched, 7);
}

static void memory_is_there_at_once(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_page_ticket ticket;
	struct gn_page page;
	struct gn_array direct;

	open_blocks(t, "host:64K", NULL, 64, 0);
	assert_int_equal(gn_page_begin(&t->array, 1, 70, GN_READ, &ticket), 0);
	assert_int_equal(gn_page_ready(&t->array, 1, &ticket, &page), 0);
	assert_int_equal(page.first, 64);
	gn_array_release(&t->array, 1, &page);
	direct = make_array(t, GN_DIRECT, t->store, 0, 8192, 8);
	assert_int_equal(gn_page_begin(&direct, 1, 70, GN_READ, &ticket), 0);
	assert_int_equal(gn_page_ready(&direct, 1, &ticket, &page), 0);
	assert_int_equal(page.count, 8192);
	gn_array_release(&direct, 1, &page);
	gn_array_destroy(&direct, t->machine);
}

static void what_cannot_be_begun_is_refused(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_store_options read_only;
	struct gn_page_ticket ticket;

	memset(&read_only, 0, sizeof read_only);
	open_blocks(t, "memq:64K", NULL, 64, 0);
	assert_int_equal(gn_page_begin(&t->array, 1, 8192, GN_READ, &ticket), -GN_ERANGE);
	assert_int_equal(gn_array_failure(&t->array, &t->error), -GN_ERANGE);
}

/* ---- they cannot keep each other waiting ---- */

/* Threads with tickets read each other's pages, with few frames, few slots and few entries. */
static void threads_with_tickets_wait_for_pages(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct walk_args w = walk_of(16, AHEAD);
	struct walked result;

	w.reads = 1;
	for (size_t k = 0; k < sizeof uris / sizeof *uris; k++)
		for (uint32_t ways = 0; ways <= 2; ways += 2)
			for (uint32_t frames = 4; frames <= 64; frames *= 4) {
				open_blocks(t, uris[k], NULL, frames, ways);
				result = run_walk(t, w, 24);
				assert_int_equal(result.good + result.refused, 24 * 16);
				assert_int_equal(result.failed, 0);
				assert_int_equal(gn_array_failure(&t->array, &t->error), 0);
			}
}

/* A page that was begun, by a thread that does not ask, comes to a thread that reads it. */
static void a_reader_ends_what_another_has_begun(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_page_ticket ticket;
	struct gn_page page;

	for (uint32_t ways = 0; ways <= 4; ways += 4) {
		open_blocks(t, uris[0], NULL, 64, ways);
		assert_int_equal(gn_page_begin(&t->array, 1, 5 * WORDS, GN_READ, &ticket), 0);
		assert_int_equal(get(t, 5 * WORDS + 1), word_of(5 * WORDS + 1));
		assert_int_equal(gn_page_ready(&t->array, 1, &ticket, &page), 0);
		assert_int_equal(*(uint64_t *)page.data, word_of(5 * WORDS));
		gn_array_release(&t->array, 1, &page);
		assert_int_equal(info_of(t).statistics.fetched, 1);
	}
}

static void a_ticket_that_is_given_up_holds_nothing(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_page_ticket ticket[4];

	for (size_t k = 0; k < sizeof uris / sizeof *uris; k++) {
		open_blocks(t, uris[k], NULL, 4, 0);
		for (uint64_t n = 0; n < 40; n += 4) {
			int begun[4];

			for (uint64_t m = 0; m < 4; m++)
				begun[m] = !gn_page_begin(&t->array, 1, (n + m) * WORDS, GN_READ, &ticket[m]);
			for (uint64_t m = 0; m < 4; m++)
				if (begun[m])
					gn_page_cancel(&t->array, 1, &ticket[m]);
		}
		assert_int_equal(pinned_pages(t), 0);
		assert_int_equal(hold(t, 0, 100 * WORDS, 0), 0);
		let_go(t, 0);
	}
}

/* ---- failures ---- */

static void a_fetch_that_fails_is_told_to_its_ticket(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_fault_plan plan;
	struct gn_store_options options;
	struct gn_page_ticket first, second;
	struct gn_page page;
	int rc, again;

	memset(&plan, 0, sizeof plan);
	plan.fail_ppm = 1000000;
	memset(&options, 0, sizeof options);
	options.faults = &plan;
	for (uint32_t ways = 0; ways <= 4; ways += 4) {
		close_store(t);
		open_store(t, uris[0], &options);
		{
			struct gn_cache_options o = {
			    64 * PAGE,       PAGE, GN_CLOCK, ways ? GN_TABLE_SETS : GN_TABLE_DIRECT,
			    ways ? ways : 1, 0,    1};

			open_cache(t, &o);
		}
		open_words(t);
		for (int round = 0; round < 20; round++) { /* more than there are entries for a page */
			assert_int_equal(gn_page_begin(&t->array, 1, 7 * WORDS, GN_READ, &first), 0);
			assert_int_equal(gn_page_begin(&t->array, 1, 7 * WORDS, GN_READ, &second), 0);
			while ((rc = gn_page_ready(&t->array, 1, &first, &page)) == -GN_EAGAIN)
				simt_relax();
			assert_int_equal(rc, -GN_EIO);
			while ((again = gn_page_ready(&t->array, 1, &second, &page)) == -GN_EAGAIN)
				simt_relax();
			assert_int_equal(again, -GN_EIO);
			/* the second has waited for the first's fetch, and made none of its own */
			assert_int_equal(gn_store_view_of(t->store)->queue->state->ticket, round + 1);
			assert_int_equal(gn_array_failure(&t->array, &t->error), -GN_EIO);
			assert_says(&t->error, "0x281");
		}
		assert_int_equal(pinned_pages(t), 0);
	}
}

/* Every page is right, or its failure is told, whatever the controller does. */
static void no_ticket_is_lost_by_faults(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_fault_plan plan;
	struct gn_store_options options;
	struct walk_args w = walk_of(40, AHEAD);
	struct walked result;
	uint32_t failed = 0;

	memset(&plan, 0, sizeof plan);
	plan.fail_ppm = 100000;
	plan.drop_ppm = 1000;
	plan.duplicate_ppm = 100000;
	plan.reorder_ppm = 200000;
	plan.torn_ppm = 20000;
	plan.first = 64; /* not while the store is filled */
	memset(&options, 0, sizeof options);
	options.timeout_ns = 1000000000;
	options.faults = &plan;
	w.reads = 1;
	for (plan.seed = 1; plan.seed <= few_or_all(2, 6); plan.seed++) {
		open_blocks(t, "memq:2M?queues=1&depth=64", &options, 64, plan.seed % 2 ? 0 : 4);
		result = run_walk(t, w, 16);
		assert_int_equal(result.good + result.failed + result.refused, 16 * 40);
		failed += result.failed;
	}
	assert_true(failed > 0);
}

#define one_test(name) cmocka_unit_test_setup_teardown(name, cache_setup, cache_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    one_test(pages_that_were_begun_are_the_pages),
	    one_test(warps_begin_pages_together),
	    one_test(what_is_written_to_them_is_written_back),
	    one_test(many_are_under_way_at_once),
	    one_test(memory_is_there_at_once),
	    one_test(what_cannot_be_begun_is_refused),
	    one_test(threads_with_tickets_wait_for_pages),
	    one_test(a_reader_ends_what_another_has_begun),
	    one_test(a_ticket_that_is_given_up_holds_nothing),
	    one_test(a_fetch_that_fails_is_told_to_its_ticket),
	    one_test(no_ticket_is_lost_by_faults),
	};

	return cmocka_run_group_tests_name("array: pages that are begun", tests, NULL, NULL);
}
