/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The object that chooses a mode: what a launch leaves in the sample, that the model of a cache says what a
 * cache does, what is chosen, and that nothing that is read or written suffers, whatever is chosen.
 */
#include "test_array_auto_support.h"

enum how { READ, CURSOR, UPDATE, PAGES, HOWS };

/* Words first + k * stride of `words`, for each k below count; so many times in turn. */
struct use_args {
	struct gn_array array;
	uint64_t words, count, first, stride;
	uint32_t how, rounds;
	uint32_t updates; /* that were made before */
	uint64_t *wrong;
};

SIMT_FN uint64_t kernel_word(uint64_t k)
{
	return (k + 1) * 0x9e3779b97f4a7c15u;
}

SIMT_FN void use_page(const struct use_args *a, uint64_t i)
{
	const uint32_t self = 1u << simt_lane();
	struct gn_page page;

	if (gn_array_acquire(&a->array, self, i, GN_READ, &page)) {
		simt_add_relaxed_dev_u64(a->wrong, 1);
		return;
	}
	if (((const uint64_t *)page.data)[i - page.first] != kernel_word(i))
		simt_add_relaxed_dev_u64(a->wrong, 1);
	gn_array_release(&a->array, self, &page);
}

SIMT_FN void use_word(const struct use_args *a, struct gn_cursor *c, uint64_t i)
{
	const uint64_t value = a->how == CURSOR ? gn_cursor_read_u64(c, i) : gn_read_u64(&a->array, i);

	if (value != kernel_word(i) + (a->how == UPDATE ? a->updates : 0))
		simt_add_relaxed_dev_u64(a->wrong, 1);
	if (a->how == UPDATE)
		gn_write_u64(&a->array, i, value + 1);
}

SIMT_FN void use(const struct use_args *a)
{
	struct gn_cursor c = gn_cursor_init(&a->array);

	for (uint32_t round = 0; round < a->rounds; round++)
		for (uint64_t k = simt_global_thread(); k < a->count; k += simt_global_threads()) {
			const uint64_t i = (a->first + k * a->stride) % a->words;

			if (a->how == PAGES)
				use_page(a, i);
			else
				use_word(a, &c, i);
		}
}
SIMT_KERNEL(use, struct use_args)

static struct use_args args_of(uint64_t count, uint64_t stride)
{
	struct use_args a;

	memset(&a, 0, sizeof a);
	a.words = COUNT;
	a.count = count;
	a.stride = stride;
	a.rounds = 1;
	return a;
}

static void launch_use(struct cache_test *t, struct use_args *a, uint32_t threads)
{
	uint64_t wrong = 0;

	a->wrong = &wrong;
	run_block(t, &use_kernel, threads, a);
	assert_int_equal(wrong, 0);
}

/* One launch, looked back at. @threads  1: in this order */
static int run_once(struct cache_test *t, struct gn_auto *choice, struct use_args a, uint32_t threads)
{
	int rc;

	a.array = gn_auto_array(choice);
	launch_use(t, &a, threads);
	rc = gn_auto_adapt(choice, &t->error);
	assert_true(rc >= 0);
	assert_int_equal(gn_auto_failure(choice, &t->error), 0);
	return rc;
}

static struct gn_auto_state state_of(const struct gn_auto *choice)
{
	struct gn_auto_state s;

	gn_auto_describe(choice, &s);
	return s;
}

/* ---- what a launch leaves ---- */

/* Each line once, with all its elements; of a direct array, as no lane has to wait. */
static void lanes_that_share_a_line_leave_one_touch(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct use_args a = args_of(FEW, 1);
	struct gn_auto *choice;

	open_wide(t, 1, 32, "host:4M");
	choice = open_choice(t, FEW);
	assert_int_equal(gn__auto_switch(choice, GN_AUTO_DIRECT, &t->error), 1);
	run_once(t, choice, a, 64);
	assert_int_equal(choice->samples, 1);
	assert_int_equal(choice->analysis.touches, FEW / LINE_WORDS);
	assert_int_equal(choice->analysis.elements, FEW);
	assert_true(choice->analysis.regions == 15 && choice->analysis.regions_kept == 15 &&
	            choice->analysis.covered == 1);
	gn_auto_close(choice);
}

/* Some of the regions, of these everything. */
static void a_part_of_a_large_array_is_seen_wholly(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_auto *choice;

	open_wide(t, 2, 16, "host:4M");
	choice = open_choice(t, COUNT);
	assert_int_equal(gn__auto_switch(choice, GN_AUTO_DIRECT, &t->error), 1);
	run_once(t, choice, args_of(COUNT, 1), 64);
	assert_true(choice->analysis.regions == 64 && choice->analysis.regions_kept >= 4 &&
	            choice->analysis.regions_kept < 40);
	assert_true(choice->analysis.covered == 1);
	assert_int_equal(choice->analysis.elements, choice->analysis.regions_kept * REGION_WORDS);
	gn_auto_close(choice);
}

/* Whatever is chosen and however the array is used, what is read is what is there. */
static void every_launch_reads_what_is_there(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (unsigned width = few_drawn(16, 1); width <= 16; width *= 16)
		for (unsigned how = 0; how < HOWS; how++) {
			struct gn_auto *choice;

			open_wide(t, 2, width, "host:4M");
			choice = open_choice(t, COUNT);
			for (unsigned k = 0; k < 8; k++) {
				struct use_args a =
				    args_of(COUNT / 64, k < 4 || how == UPDATE ? 7001 : 1); /* a new phase */

				a.first = 12345 * (how == UPDATE ? 1 : k);
				a.how = how;
				a.updates = k;
				run_once(t, choice, a, 64);
			}
			assert_int_equal(gn_auto_flush(choice, &t->error), 0);
			for (uint64_t k = 0; how == UPDATE && k < COUNT / 64; k++) {
				const uint64_t i = (12345 + k * 7001) % COUNT;

				assert_int_equal(stored(t, i), word_of(i) + 8);
			}
			gn_auto_close(choice);
		}
}

/* ---- the model beside a cache ---- */

/*
 * The launch through a cache that counts, looked at by the sample of an object. Returns what the cache
 * counted.
 */
static struct gn_cache_statistics count_launch(struct cache_test *t, struct gn_auto *choice,
                                               uint32_t page_bytes, struct use_args a)
{
	struct gn_cache_options o;

	close_cache(t);
	memset(&o, 0, sizeof o);
	o.bytes = CACHE;
	o.page_bytes = page_bytes;
	o.statistics = 1;
	open_cache(t, &o);
	t->array = make_array(t, GN_PAGED, t->store, 0, a.words, 8);
	a.array = t->array;
	a.array.sample = gn_auto_array(choice).sample;
	assert_non_null(a.array.sample);
	gn__array_bounds(&a.array, 0);
	launch_use(t, &a, 1);
	assert_true(gn_auto_adapt(choice, &t->error) >= 0);
	return info_of(t).statistics;
}

static void compare_with_cache(struct cache_test *t, struct use_args a)
{
	for (int p = PAGES_512; p <= PAGES_4K; p++) {
		struct gn_auto *choice = open_choice(t, a.words);
		const struct gn_cache_statistics c = count_launch(t, choice, gn_auto_page_bytes[p], a);
		const struct gn_auto_moved *m = &choice->analysis.way[p];

		assert_int_equal(choice->analysis.touches, c.hits + c.misses); /* nothing goes around */
		assert_int_equal(choice->analysis.touches, a.count * a.rounds * (a.how == UPDATE ? 2 : 1));
		assert_int_equal(m->hits, c.hits);
		assert_int_equal(m->fetches, c.misses);
		assert_int_equal(m->sectors * 128, c.fetched_bytes);
		assert_true(c.bypassed == 0 && m->bypassed == 0);
		gn_auto_close(choice);
	}
}

/*
 * One thread, so that the order is known. Scattered, in order, and in order with gaps; read, and read and
 * written.
 */
static void the_model_hits_where_a_cache_does(void **state)
{
	static const uint64_t strides[] = {7001, 1, 48};
	struct cache_test *t = (struct cache_test *)*state;

	open_wide(t, 1, 1, "host:4M");
	for (unsigned k = 0; k < 3; k++)
		for (int update = 0; update < 2; update++) {
			struct use_args a = args_of(2000, strides[k]);

			a.words = FEW; /* less than the cache has */
			a.how = update ? UPDATE : READ;
			a.rounds = update ? 1 : 3;
			compare_with_cache(t, a);
			fill_store(t, t->store);
		}
}

/* A word of each page of 4 KiB, round and round, twice as many as there are frames: nobody finds his page. */
static void the_model_evicts_where_a_cache_does(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct use_args a = args_of(512, 512);
	struct gn_auto *choice;
	struct gn_cache_statistics c;

	open_wide(t, 1, 1, "host:4M");
	choice = open_choice(t, COUNT);
	see_all(t, choice); /* so that the model has all of the cache */
	a.rounds = 4;
	c = count_launch(t, choice, 4096, a);
	assert_int_equal(choice->analysis.touches, 4 * 512);
	assert_int_equal(choice->analysis.way[PAGES_4K].hits, 0);
	assert_int_equal(choice->analysis.way[PAGES_4K].frames, 4 * 512);
	assert_int_equal(c.hits, 0);
	assert_int_equal(c.misses, 4 * 512);
	assert_int_equal(c.evicted + c.bypassed, 4 * 512 - CACHE / 4096); /* a few do not look for a frame */
	gn_auto_close(choice);
}

/* ---- choosing ---- */

static struct gn_auto_state after(struct cache_test *t, struct gn_auto *choice, struct use_args a,
                                  unsigned launches)
{
	for (unsigned k = 0; k < launches; k++) {
		a.updates = k * a.rounds;
		run_once(t, choice, a, 1);
	}
	return state_of(choice);
}

/* Once each: a cache would move the same lines, and look after frames besides. */
static void what_is_used_once_is_read_directly(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	const struct use_args cases[] = {args_of(COUNT, 1), args_of(COUNT / 128, 0x9e3779b1)};

	open_wide(t, 1, 1, "host:4M");
	for (unsigned k = 0; k < 2; k++) {
		struct gn_auto *choice = open_choice(t, COUNT);
		struct gn_auto_state s = state_of(choice);

		assert_true(s.mode == GN_PAGED && s.page_bytes == 512 && !s.samples);
		s = after(t, choice, cases[k], 1);
		assert_true(s.mode == GN_DIRECT && !s.page_bytes && s.samples == 1 && s.switches == 1);
		assert_int_equal(s.advice, GN_ADVICE_DIRECT);
		gn_auto_close(choice);
	}
}

/*
 * In order, again and again, four times what the cache holds: it would have evicted each page before it is
 * wanted again.
 */
static void a_long_loop_is_read_directly(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_auto *choice;
	struct gn_auto_state s;

	open_wide(t, 1, 1, "host:4M");
	choice = open_choice(t, COUNT);
	s = after(t, choice, args_of(COUNT, 1), 4);
	assert_true(s.mode == GN_DIRECT && s.switches == 1 && s.samples == 3);
	assert_true(choice->analysis.before > 0 && choice->analysis.way[PAGES_4K].frames * 32 ==
	                                               choice->analysis.way[GN_AUTO_DIRECT].fetches);
	gn_auto_close(choice);
}

/* What one launch leaves in the cache the next one finds: that is seen by the second look. */
static void a_loop_that_fits_is_cached(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_auto *choice;

	open_wide(t, 1, 1, "host:4M");
	choice = open_choice(t, COUNT);
	assert_int_equal(after(t, choice, args_of(COUNT / 8, 1), 1).mode, GN_DIRECT);
	assert_int_equal(after(t, choice, args_of(COUNT / 8, 1), 1).mode, GN_PAGED);
	assert_int_equal(choice->analysis.way[PAGES_4K].hits, choice->analysis.touches);
	assert_int_equal(gn_auto_advice(choice), GN_ADVICE_PAGED);
	gn_auto_close(choice);
}

/*
 * A line of each 4 KiB, a quarter of what the cache holds in pages of 512 B and twice that in those of 4 KiB,
 * four times.
 */
static void a_scattered_hot_set_has_small_pages(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct use_args a = args_of(COUNT / 512, 512);
	struct gn_auto_state s;
	struct gn_auto *choice;

	open_wide(t, 1, 1, "host:4M");
	choice = open_choice(t, COUNT);
	a.rounds = 4;
	s = after(t, choice, a, 3);
	assert_true(s.mode == GN_PAGED && s.page_bytes == 512 && s.switches == 0);
	assert_true(choice->analysis.lines[PAGES_512] < choice->analysis.lines[GN_AUTO_DIRECT]);
	assert_true(choice->analysis.lines[GN_AUTO_DIRECT] < choice->analysis.lines[PAGES_4K]);
	gn_auto_close(choice);
}

/* Scattered words, each read and written: once, directly; again and again, where they stay. */
static void updates_are_cached_where_they_come_again(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (unsigned again = 0; again < 2; again++) {
		struct use_args a = args_of(1024, 7 * 512 + 64);
		struct gn_auto *choice;
		struct gn_auto_state s;

		open_wide(t, 1, 1, "host:4M");
		choice = open_choice(t, COUNT);
		a.how = UPDATE;
		s = after(t, choice, a, again ? 4 : 1);
		assert_int_equal(s.mode, again ? GN_PAGED : GN_DIRECT);
		assert_int_equal(choice->analysis.writes * 2, choice->analysis.touches);
		assert_int_equal(gn_auto_flush(choice, &t->error), 0);
		for (uint64_t k = 0; k < 1024; k++)
			assert_int_equal(stored(t, k * a.stride % COUNT),
			                 word_of(k * a.stride % COUNT) + (again ? 4 : 1));
		gn_auto_close(choice);
	}
}

/*
 * Behind queue pairs there is no direct way, and a command costs as much as a few pages: large ones in order,
 * small ones anywhere.
 */
static void a_store_of_blocks_has_pages_only(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (unsigned scattered = 0; scattered < 2; scattered++) {
		struct use_args a = args_of(scattered ? COUNT / 128 : COUNT, scattered ? 0x9e3779b1 : 1);
		struct gn_auto *choice;
		struct gn_auto_state s;

		open_wide(t, 1, 1, "memq:4M");
		choice = open_choice(t, COUNT);
		s = state_of(choice);
		assert_true(s.mode == GN_PAGED && s.page_bytes == 4096);
		assert_null(gn_auto_array(choice).memory);
		s = after(t, choice, a, 2);
		assert_int_equal(s.mode, GN_PAGED);
		assert_true(scattered ? s.page_bytes <= 4096 : s.page_bytes > 4096);
		assert_true(choice->analysis.lines[GN_AUTO_DIRECT] < 0);
		gn_auto_close(choice);
	}
}

/* This machine loads the memory of a store as its own: a cache would be a copy of it. */
static void memory_of_the_machine_itself_is_read_directly(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct use_args a = args_of(COUNT / 512, 512);
	struct gn_auto_options c;
	struct gn_auto *choice;
	char text[4096];

	open_wide(t, 1, 1, "host:4M");
	memset(&c, 0, sizeof c);
	c.cache_bytes = CACHE;
	c.count = COUNT;
	c.element_bytes = 8;
	assert_int_equal(gn_auto_open(&choice, t->machine, t->store, &c, &t->error), 0);
	a.rounds = 4;
	assert_int_equal(after(t, choice, a, 3).mode, GN_DIRECT);
	assert_int_equal(state_of(choice).switches, 0);
	gn_auto_explain(choice, text, sizeof text);
	assert_non_null(strstr(text, "this machine's own"));
	gn_auto_close(choice);
}

/* ---- when it looks, and what it says ---- */

/*
 * The launches 1, 2, 4, 8 and so on, as long as nothing changes; nothing is told from a launch that does
 * nothing.
 */
static void it_looks_ever_less_often(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	uint64_t expected = 0;
	struct gn_auto *choice;

	open_wide(t, 1, 1, "host:4M");
	choice = open_choice(t, FEW);
	for (unsigned k = 1; k <= 300; k++) {
		struct use_args a = args_of(k == 1 ? 0 : 200, 512);

		a.words = FEW;
		a.rounds = 4;
		assert_int_equal(gn_auto_array(choice).sample != NULL, k <= 3 || k == 5 || k == 9 ||
		                                                           k == 17 || k == 33 || k == 65 ||
		                                                           k == 129 || k == 193 || k == 257);
		expected += k > 1 && gn_auto_array(choice).sample;
		run_once(t, choice, a, 1);
		assert_int_equal(state_of(choice).samples, expected);
		assert_int_equal(state_of(choice).launches, k);
	}
	assert_true(state_of(choice).mode == GN_PAGED && state_of(choice).switches == 0);
	gn_auto_close(choice);
}

/* Nothing is noted between two looks, and hits are quick again. */
static void a_launch_that_is_not_looked_at_is_as_any(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_auto *choice;
	struct gn_array array;

	open_wide(t, 1, 1, "host:4M");
	choice = open_choice(t, COUNT);
	array = gn_auto_array(choice);
	assert_true(array.sample && array.pages.word && array.quick[3] == 0 && array.bound[3] == COUNT);
	choice->sampling = 0;
	array = gn_auto_array(choice);
	assert_true(!array.sample && array.quick[3] == COUNT && array.bound[3] == COUNT);
	gn_auto_close(choice);
}

static void it_says_what_was_chosen_and_why(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct use_args a = args_of(COUNT / 512, 512);
	struct gn_auto *choice;
	char text[4096];

	open_wide(t, 1, 1, "host:4M");
	choice = open_choice(t, COUNT);
	assert_true(gn_auto_explain(choice, text, sizeof text) < 100); /* nothing was seen */
	after(t, choice, args_of(COUNT / 128, 0x9e3779b1), 1);
	assert_true(gn_auto_explain(choice, text, sizeof text) < (int)sizeof text);
	assert_non_null(strstr(text, "1 launches, 1 looked at, 1 changes; now direct\n"));
	assert_non_null(strstr(text, "chosen: direct. Too little is used again for a cache"));
	assert_non_null(strstr(text, "begins with an empty cache"));
	assert_int_equal(gn_auto_explain(choice, text, 10), gn_auto_explain(choice, NULL, 0));
	assert_int_equal(strlen(text), 9);
	a.rounds = 4;
	after(t, choice, a, 2);
	gn_auto_explain(choice, text, sizeof text);
	assert_non_null(strstr(text, "chosen: pages of 512 B. It moves "));
	assert_non_null(strstr(text, "begins with the launch that was looked at before"));
	gn_auto_close(choice);
}

static void the_failure_stays_when_the_mode_changes(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct use_args a = args_of(COUNT / 32, 0x9e3779b1);
	struct gn_auto *choice;
	struct gn_array array;

	open_wide(t, 1, 1, "host:4M");
	choice = open_choice(t, COUNT);
	array = gn_auto_array(choice);
	assert_int_equal(act_one(t, &array, ACT_READ, 0, COUNT, 0).rc, -GN_ERANGE);
	a.array = gn_auto_array(choice);
	launch_use(t, &a, 1);
	assert_int_equal(gn_auto_adapt(choice, &t->error), 1);
	assert_int_equal(gn_auto_failure(choice, &t->error), -GN_ERANGE);
	assert_int_equal(gn_auto_failure(choice, &t->error), 0);
	gn_auto_close(choice);
}

static void what_cannot_be_is_refused(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_auto *choice = (struct gn_auto *)t;
	struct gn_auto_options c;

	open_wide(t, 1, 1, "host:4M");
	memset(&c, 0, sizeof c);
	c.cache_bytes = CACHE;
	c.element_bytes = 8;
	assert_int_equal(gn_auto_open(&choice, t->machine, t->store, &c, &t->error), -GN_EINVAL);
	assert_null(choice);
	c.count = COUNT + 1;
	assert_int_equal(gn_auto_open(&choice, t->machine, t->store, &c, &t->error), -GN_ERANGE);
	c.count = COUNT;
	c.cache_bytes = 4096;
	assert_int_equal(gn_auto_open(&choice, t->machine, t->store, &c, &t->error), -GN_EINVAL);
	assert_says(&t->error, "fewer than 16 pages");
	c.cache_bytes = CACHE;
	c.touches = 5;
	assert_int_equal(gn_auto_open(&choice, t->machine, t->store, &c, &t->error), -GN_EINVAL);
	assert_says(&t->error, "too small");
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, cache_setup, cache_teardown)
	const struct CMUnitTest tests[] = {
	    CASE(lanes_that_share_a_line_leave_one_touch),
	    CASE(a_part_of_a_large_array_is_seen_wholly),
	    CASE(every_launch_reads_what_is_there),
	    CASE(the_model_hits_where_a_cache_does),
	    CASE(the_model_evicts_where_a_cache_does),
	    CASE(what_is_used_once_is_read_directly),
	    CASE(a_long_loop_is_read_directly),
	    CASE(a_loop_that_fits_is_cached),
	    CASE(a_scattered_hot_set_has_small_pages),
	    CASE(updates_are_cached_where_they_come_again),
	    CASE(a_store_of_blocks_has_pages_only),
	    CASE(memory_of_the_machine_itself_is_read_directly),
	    CASE(it_looks_ever_less_often),
	    CASE(a_launch_that_is_not_looked_at_is_as_any),
	    CASE(it_says_what_was_chosen_and_why),
	    CASE(the_failure_stays_when_the_mode_changes),
	    CASE(what_cannot_be_is_refused),
	};

	return cmocka_run_group_tests_name("array: choosing the mode", tests, NULL, NULL);
}
