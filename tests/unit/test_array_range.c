/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops over the pages of a run, and lanes that hold a page each: every element once, whatever the cache has
 * room for.
 */
#include "test_cache_support.h"

#include <cache/cache.h>

enum { PAGE = 512, WORDS = PAGE / 8 };

struct range_args {
	struct gn_array array;
	uint64_t begin, end;
	uint32_t write; /* what gn_range_begin is told */
	uint32_t *seen; /* [count] how often each element was handed out */
	uint32_t *wrong;
	int32_t *code;
	uint32_t pages;  /* leave after so many, if not 0 */
	uint32_t pinned; /* elements whose pages are held meanwhile */
};

SIMT_FN uint64_t kernel_word(uint64_t k)
{
	return (k + 1) * 0x9e3779b97f4a7c15u;
}

SIMT_FN void use_page(const struct range_args *w, const struct gn_page *page)
{
	for (uint64_t k = simt_lane(); k < page->count; k += simt_warp_width()) {
		uint64_t *word = &((uint64_t *)page->data)[k], index = page->first + k;

		simt_add_relaxed_dev_u32(&w->seen[index], 1);
		if (w->write != GN_OVERWRITE && *word != kernel_word(index + 10))
			simt_add_relaxed_dev_u32(w->wrong, 1);
		if (w->write)
			*word = ~kernel_word(index + 10);
	}
}

/* Each warp takes a piece of the run. */
SIMT_FN void loop(const struct range_args *w)
{
	const uint64_t warps = simt_global_threads() / simt_warp_width(),
	               warp = simt_global_thread() / simt_warp_width();
	const uint64_t share = (w->end - w->begin + warps - 1) / warps, begin = w->begin + warp * share;
	struct gn_page page;
	struct gn_range r;
	uint32_t pages = 0;
	int code;

	if (begin >= w->end)
		return;
	r = gn_range_begin(&w->array, simt_whole_warp(), begin,
	                   begin + share < w->end ? begin + share : w->end, (int)w->write);
	while (gn_range_next(&r, &page)) {
		use_page(w, &page);
		if (++pages == w->pages)
			break;
	}
	code = gn_range_end(&r);
	if (code)
		simt_store_relaxed_dev_u32((uint32_t *)w->code, (uint32_t)code);
}
SIMT_KERNEL(loop, struct range_args)

static struct range_args args_of(const struct gn_array *array, uint64_t begin, uint64_t end, uint32_t write)
{
	struct range_args w;

	memset(&w, 0, sizeof w);
	w.array = *array;
	w.begin = begin;
	w.end = end;
	w.write = write;
	return w;
}

/* Run a loop by so many warps; every element of the run comes once, no other. Returns the loop's code. */
static int run_loop(struct cache_test *t, struct range_args w, uint32_t blocks)
{
	struct simt_info info;
	struct simt_grid grid = {blocks, 1, 0};
	uint32_t wrong = 0;
	int32_t code = 0;

	simt_describe(t->machine, &info);
	grid.block_threads = info.warp_width;
	w.seen = (uint32_t *)calloc(w.array.count, sizeof *w.seen);
	w.wrong = &wrong;
	w.code = &code;
	assert_int_equal(simt_launch(t->machine, &loop_kernel, grid, &w, &t->error), 0);
	if (simt_wait(t->machine, &t->error))
		fail_msg("%s", t->error.text);
	assert_int_equal(wrong, 0);
	for (uint64_t k = 0; k < w.array.count && !code && !w.pages; k++)
		if (w.seen[k] != (k >= w.begin && k < w.end))
			fail_msg("element %u came %u times", (unsigned)k, w.seen[k]);
	free(w.seen);
	return code;
}

static void use_width(struct cache_test *t, uint32_t width)
{
	simt_free(t->machine, t->held);
	simt_close(t->machine);
	t->machine = open_machine(1, width);
	t->held =
	    (struct gn_page *)simt_alloc(t->machine, MOST_HELD * sizeof *t->held, SIMT_PINNED, &t->error);
}

static void assert_stored(struct cache_test *t, uint64_t begin, uint64_t end)
{
	flush(t);
	for (uint64_t k = 0; k < 900; k++)
		assert_int_equal(stored(t, k + 10),
		                 k >= begin && k < end ? ~word_of(k + 10) : word_of(k + 10));
}

/* Elements 0 to 899 are words 10 to 909, so no run begins or ends with a page unless it is meant to. */
static void loop_over(struct cache_test *t, uint64_t frames, uint32_t ways, uint64_t begin, uint64_t end)
{
	struct gn_array part;

	close_store(t);
	open_words_of(t, 16, frames, PAGE, ways, GN_CLOCK);
	part = make_array(t, GN_PAGED, t->store, 80, 900, 8);
	assert_int_equal(run_loop(t, args_of(&part, begin, end, 0), 2), 0);
	assert_int_equal(run_loop(t, args_of(&part, begin, end, 1), 2), 0);
	assert_stored(t, begin, end);
	close_array(t);
	fill_store(t, t->store);
	assert_int_equal(gn_cache_invalidate(t->cache, &t->error), 0); /* also: nothing is pinned any more */
	assert_int_equal(run_loop(t, args_of(&part, begin, end, GN_OVERWRITE), 2), 0);
	open_words(t);
	assert_stored(t, begin, end);
	gn_array_destroy(&part, t->machine);
}

static void every_element_comes_once(void **state)
{
	static const uint64_t runs[][2] = {{0, 900},  {0, 1},    {899, 900}, {5, 5},
	                                   {54, 118}, {53, 119}, {100, 700}};
	struct cache_test *t = (struct cache_test *)*state;

	for (uint32_t width = 1; width <= 32; width *= 4) {
		use_width(t, width);
		for (uint32_t ways = 0; ways <= 4; ways += 4)
			for (uint64_t frames = 4; frames <= 512; frames *= 8)
				for (size_t k = 0; k < sizeof runs / sizeof *runs; k++)
					loop_over(t, frames, ways, runs[k][0], runs[k][1]);
		close_store(t);
	}
}

static void direct_mode_gives_the_run_at_once(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_array part;

	use_width(t, 8);
	open_words_of(t, 16, 4, PAGE, 0, GN_CLOCK);
	part = make_array(t, GN_DIRECT, t->store, 80, 900, 8);
	assert_int_equal(run_loop(t, args_of(&part, 3, 800, 0), 2), 0);
	gn_array_destroy(&part, t->machine);
}

/* A loop that is left early lets its pages go. */
static void a_loop_may_be_left(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct range_args w;

	use_width(t, 32);
	open_words_of(t, 16, 512, PAGE, 0, GN_CLOCK);
	w = args_of(&t->array, 0, 1024, 0);
	w.array = make_array(t, GN_PAGED, t->store, 80, 900, 8);
	w.end = 900;
	w.pages = 2;
	assert_int_equal(run_loop(t, w, 2), 0);
	assert_int_equal(gn_cache_invalidate(t->cache, &t->error), 0);
	gn_array_destroy(&w.array, t->machine);
}

/*
 * The pages that an overwriting loop handed out are the only ones that it changed, in the cache and in the
 * store.
 */
static void leave_overwriting(struct cache_test *t, uint32_t width, uint32_t ways, uint64_t begin,
                              uint32_t pages)
{
	/* the first element that was not handed out */
	const uint64_t given = ((begin + 10) / WORDS + pages) * WORDS - 10;
	struct gn_array part;
	struct range_args w;

	use_width(t, width);
	open_words_of(t, 64, 128, PAGE, ways, GN_CLOCK);
	part = make_array(t, GN_PAGED, t->store, 80, 64 * WORDS - 10, 8);
	for (uint64_t k = 0; k < 64 * WORDS; k += 5 * WORDS) /* some pages are there already */
		assert_int_equal(get(t, k), word_of(k));
	w = args_of(&part, begin, part.count, GN_OVERWRITE);
	w.pages = pages;
	assert_int_equal(run_loop(t, w, 1), 0);
	for (uint64_t k = 0; k < part.count; k++)
		assert_int_equal(get(t, k + 10),
		                 k >= begin && k < given ? ~word_of(k + 10) : word_of(k + 10));
	flush(t);
	for (uint64_t k = 0; k < part.count; k++)
		assert_int_equal(stored(t, k + 10),
		                 k >= begin && k < given ? ~word_of(k + 10) : word_of(k + 10));
	assert_int_equal(info_of(t).statistics.written, pages);
	gn_array_destroy(&part, t->machine);
	close_store(t);
}

static void a_loop_overwrites_only_what_it_handed_out(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (uint32_t width = 1; width <= 32; width *= few_drawn(16, 4))
		for (uint32_t ways = 0; ways <= 4; ways += 4)
			for (uint32_t pages = 1; pages <= 5; pages += few_drawn(2, 1)) {
				/* its first page is there in part */
				leave_overwriting(t, width, ways, 0, pages);
				/* its first page is a whole one */
				leave_overwriting(t, width, ways, 3 * WORDS - 10, pages);
			}
}

/* What cannot be: past the end, and writing what may not be written. */
static void a_loop_says_what_cannot_be(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_array part;

	open_words_of(t, 16, 4, PAGE, 0, GN_CLOCK);
	part = make_array(t, GN_PAGED, t->store, 80, 900, 8);
	assert_int_equal(run_loop(t, args_of(&part, 0, 901, 0), 1), -GN_ERANGE);
	assert_int_equal(gn_array_failure(&part, &t->error), -GN_ERANGE);
	part.read_only = 1;
	assert_int_equal(run_loop(t, args_of(&part, 0, 10, 1), 1), -GN_EROFS);
	assert_int_equal(gn_array_failure(&part, &t->error), -GN_EROFS);
	gn_array_destroy(&part, t->machine);
}

/*
 * With all frames but one held the loop goes page by page; with none free it says so, and works again
 * afterwards.
 */
static void a_loop_needs_one_frame(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_array part;

	use_width(t, 32);
	open_words_of(t, 16, 4, PAGE, 0, GN_CLOCK);
	part = make_array(t, GN_PAGED, t->store, 80, 900, 8);
	for (uint32_t k = 0; k < 3; k++)
		assert_int_equal(hold(t, k, (13 + k) * WORDS, 0), 0);
	assert_int_equal(run_loop(t, args_of(&part, 0, 500, 0), 1), 0);
	assert_int_equal(hold(t, 3, 12 * WORDS, 0), 0);
	assert_int_equal(run_loop(t, args_of(&part, 0, 500, 0), 1), -GN_ENOBUFS);
	assert_int_equal(gn_array_failure(&part, &t->error), 0);
	for (uint32_t k = 0; k < 4; k++)
		let_go(t, k);
	assert_int_equal(run_loop(t, args_of(&part, 0, 500, 0), 1), 0);
	gn_array_destroy(&part, t->machine);
}

/* ---- a page a lane ---- */

SIMT_FN void hold_each(const struct range_args *w)
{
	const uint64_t index = simt_global_thread() * 37 % (w->array.count + 1); /* one is past the end */
	struct gn_page page;
	int rc = gn_array_acquire_each(&w->array, simt_whole_warp(), index, (int)w->write, &page);

	if (rc != (index == w->array.count ? -GN_ERANGE : 0))
		simt_add_relaxed_dev_u32(w->wrong, 1);
	if (rc)
		return;
	if (((const uint64_t *)page.data)[index - page.first] != kernel_word(index + 10))
		simt_add_relaxed_dev_u32(w->wrong, 1);
	gn_array_release_each(&w->array, &page);
}
SIMT_KERNEL(hold_each, struct range_args)

static void lanes_hold_pages_of_their_own(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (uint32_t width = 1; width <= 32; width *= 4)
		for (uint32_t mode = 0; mode < 3; mode++) {
			struct simt_grid grid = {1, 64, 0};
			struct range_args w;
			uint32_t wrong = 0;

			use_width(t, width);
			open_words_of(t, 16, 64, PAGE, mode == 1 ? 4 : 0, GN_CLOCK);
			memset(&w, 0, sizeof w);
			w.array = make_array(t, mode == 2 ? GN_DIRECT : GN_PAGED, t->store, 80, 900, 8);
			w.wrong = &wrong;
			for (w.write = 0; w.write < 2; w.write++) {
				assert_int_equal(
				    simt_launch(t->machine, &hold_each_kernel, grid, &w, &t->error), 0);
				if (simt_wait(t->machine, &t->error))
					fail_msg("%s", t->error.text);
				assert_int_equal(wrong, 0);
			}
			flush(t);
			assert_int_equal(gn_cache_invalidate(t->cache, &t->error), 0);
			gn_array_destroy(&w.array, t->machine);
			close_store(t);
		}
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, cache_setup, cache_teardown)
	const struct CMUnitTest tests[] = {
	    CASE(every_element_comes_once),
	    CASE(direct_mode_gives_the_run_at_once),
	    CASE(a_loop_may_be_left),
	    CASE(a_loop_says_what_cannot_be),
	    CASE(a_loop_needs_one_frame),
	    CASE(lanes_hold_pages_of_their_own),
	    CASE(a_loop_overwrites_only_what_it_handed_out),
	};

	return cmocka_run_group_tests_name("array: loops over pages", tests, NULL, NULL);
}
