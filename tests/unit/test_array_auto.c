/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The object that chooses a mode: what a launch leaves in the sample, what is chosen, and that nothing that is read or
 * written suffers, whatever is chosen.
 */
#include "test_array_auto_support.h"

/* ---- what a launch leaves ---- */

struct use_args {
	struct gn_array array;
	uint64_t count, first, stride;
	uint32_t how; /* 0 read, 1 cursor, 2 read and write, 3 page references */
	uint32_t launch;
	uint64_t *wrong;
};

SIMT_FN uint64_t kernel_word(uint64_t k)
{
	return (k + 1) * 0x9e3779b97f4a7c15u;
}

SIMT_FN void use_pages(const struct use_args *a)
{
	const uint32_t self = 1u << simt_lane();
	struct gn_page page;

	for (uint64_t i = simt_global_thread() * 512; i < a->count; i += simt_global_threads() * 512) {
		if (gn_array_acquire(&a->array, self, i, GN_READ, &page)) {
			simt_add_relaxed_dev_u64(a->wrong, 1);
			continue;
		}
		if (((const uint64_t *)page.data)[i - page.first] != kernel_word(i))
			simt_add_relaxed_dev_u64(a->wrong, 1);
		gn_array_release(&a->array, self, &page);
	}
}

SIMT_FN void use(const struct use_args *a)
{
	struct gn_cursor c = gn_cursor_init(&a->array);

	if (a->how == 3) {
		use_pages(a);
		return;
	}
	for (uint64_t k = simt_global_thread(); k < a->count; k += simt_global_threads()) {
		const uint64_t i = (a->first + k * a->stride) % COUNT;
		const uint64_t value = a->how == 1 ? gn_cursor_read_u64(&c, i) : gn_read_u64(&a->array, i);

		if (value != kernel_word(i) + (a->how == 2 ? a->launch : 0))
			simt_add_relaxed_dev_u64(a->wrong, 1);
		if (a->how == 2)
			gn_write_u64(&a->array, i, value + 1);
	}
}
SIMT_KERNEL(use, struct use_args)

static void launch_use(struct cache_test *t, struct use_args *a, uint32_t threads)
{
	struct simt_grid grid = {4, threads, 0};
	uint64_t wrong = 0;

	a->wrong = &wrong;
	assert_int_equal(simt_launch(t->machine, &use_kernel, grid, a), 0);
	if (simt_wait(t->machine))
		fail_msg("%s", simt_message(t->machine));
	assert_int_equal(wrong, 0);
}

/* Sixteen lanes of 8 bytes share a line: one touch of all its sectors. */
static void lanes_that_share_a_line_leave_one_touch(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	const struct gn_auto_rates rates = gpu_rates();
	struct gn_auto *choice;
	struct use_args a;

	open_wide(t, 1, 32, "host:4M");
	choice = open_choice(t, 0, COUNT, &rates);
	memset(&a, 0, sizeof a);
	a.array = gn_auto_array(choice);
	assert_non_null(a.array.sample);
	a.count = COUNT;
	a.stride = 1;
	launch_use(t, &a, 64);
	assert_int_not_equal(gn_auto_adapt(choice, &t->error), -GN_EIO);
	assert_int_equal(choice->looks, 1);
	assert_int_equal(choice->study.accesses, COUNT);
	/* Every access once; lanes that had to wait may come late, so that a few lines are touched twice. */
	assert_true(choice->study.lanes == 16.0 * (double)choice->study.regions_kept * REGION_LINES);
	assert_true(choice->study.touches >= choice->study.regions_kept * REGION_LINES);
	assert_true((double)choice->study.touches < 1.1 * (double)choice->study.regions_kept * REGION_LINES);
	assert_true(choice->study.paged[3].used == 1 && choice->study.covered == 1);
	gn_auto_close(choice);
}

/* Whatever is chosen and however the array is used, what is read is what is there. */
static void every_launch_reads_what_is_there(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_auto_rates rates = gpu_rates();

	for (unsigned width = 1; width <= 16; width *= 4)
		for (unsigned how = 0; how < 4; how++) {
			struct gn_auto *choice;
			struct use_args a;

			open_wide(t, 2, width, "host:4M");
			choice = open_choice(t, 0, COUNT, &rates);
			for (unsigned k = 0; k < 8; k++) {
				memset(&a, 0, sizeof a);
				a.array = gn_auto_array(choice);
				a.count = how == 3 ? COUNT : COUNT / 16;
				a.first = 12345 * (how == 2 ? 1 : k);
				a.stride = k < 4 || how == 2 ? 7001 : 1; /* a new phase half-way */
				a.how = how;
				a.launch = k;
				launch_use(t, &a, 64);
				assert_true(gn_auto_adapt(choice, &t->error) >= 0);
				assert_int_equal(gn_auto_failure(choice, &t->error), 0);
			}
			assert_int_equal(gn_auto_flush(choice, &t->error), 0);
			for (uint64_t k = 0; how == 2 && k < COUNT / 16; k++) {
				const uint64_t i = (12345 + k * 7001) % COUNT;

				assert_int_equal(stored(t, i), word_of(i) + 8);
			}
			gn_auto_close(choice);
		}
}

/* ---- what is fetched meanwhile ---- */

/* Pages that the cache of a launch that was looked at holds. */
static uint64_t held_pages(const struct gn_array *a)
{
	uint64_t held = 0;

	for (uint64_t page = 0; page < (COUNT * 8u) >> a->pages.page_log2; page++)
		held += (a->pages.word[page] & GN_WORD_HELD) != 0;
	return held;
}

/* @rounds  times that so many words are read */
static uint64_t held_after(struct cache_test *t, unsigned rounds, uint64_t count, uint64_t stride)
{
	const struct gn_auto_rates rates = gpu_rates();
	struct gn_auto *choice = open_choice(t, 0, COUNT, &rates);
	struct use_args a;
	uint64_t held;

	memset(&a, 0, sizeof a);
	a.array = gn_auto_array(choice);
	a.count = count;
	a.stride = stride;
	assert_true(a.array.sample && a.array.pages.word);
	for (unsigned k = 0; k < rounds; k++)
		launch_use(t, &a, 64);
	held = held_pages(&a.array);
	gn_auto_close(choice);
	return held;
}

/*
 * Five words of each page, far apart in time: that many are its price, so without an eye on what it brings every one would be
 * fetched. Only a quarter of the cache is, and what those have saved.
 */
static void pages_that_serve_nobody_are_not_fetched(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	uint64_t held;

	open_wide(t, 1, 1, "host:4M");
	held = held_after(t, 1, 5 * 1024, 0x9e3779b1);
	assert_true(held >= 8 && held < CACHE / 4096 / 2);
}

/* It was brought once, and is at hand then. */
static void a_line_that_is_read_on_costs_no_more(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	open_wide(t, 1, 1, "host:4M");
	assert_int_equal(held_after(t, 100, 16, 1), 0);
}

static void pages_that_are_read_again_are_fetched(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	open_wide(t, 1, 1, "host:4M");
	assert_int_equal(held_after(t, 8, COUNT / 16, 1), COUNT / 16 * 8 / 4096);
}

/* One word of each line. A quarter of the cache, 64 pages, is fetched on trust, the rest with what hits have saved, wherever they are. */
static void pages_are_paid_with_what_others_have_saved(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	open_wide(t, 1, 1, "host:4M");
	assert_int_equal(held_after(t, 1, 200 * 32, 16), 200);
}

/* ---- choosing ---- */

static int run_once(struct cache_test *t, struct gn_auto *choice, uint64_t count, uint64_t first, uint64_t stride)
{
	struct use_args a;

	memset(&a, 0, sizeof a);
	a.array = gn_auto_array(choice);
	a.count = count;
	a.first = first;
	a.stride = stride;
	launch_use(t, &a, 64);
	return gn_auto_adapt(choice, &t->error);
}

/* With the rates of a GPU: scattered words directly, a part that is read again and again through a cache. */
static void the_first_look_chooses(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	const struct gn_auto_rates rates = gpu_rates();
	struct gn_auto_state s;
	struct gn_auto *choice;
	char text[4096];

	open_wide(t, 1, 1, "host:4M");
	choice = open_choice(t, 0, COUNT, &rates);
	gn_auto_describe(choice, &s);
	assert_true(s.mode == GN_PAGED && s.page_bytes == 4096 && !s.looks);
	assert_int_equal(run_once(t, choice, COUNT / 128, 0, 0x9e3779b1), 1);
	gn_auto_describe(choice, &s);
	assert_int_equal(s.mode, GN_DIRECT);
	assert_int_equal(s.looks, 1);
	assert_int_equal(s.class_seen, GN_CLASS_INSENSITIVE);
	assert_true(gn_auto_explain(choice, text, sizeof text) < (int)sizeof text);
	assert_non_null(strstr(text, "now direct"));
	assert_non_null(strstr(text, "cache-insensitive"));
	assert_int_equal(gn_auto_explain(choice, text, 10), gn_auto_explain(choice, NULL, 0));
	assert_int_equal(strlen(text), 9);
	gn_auto_close(choice);
}

static void a_part_that_fits_is_cached(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	const struct gn_auto_rates rates = gpu_rates();
	struct gn_auto_state s;
	struct gn_auto *choice;
	struct use_args a;

	open_wide(t, 1, 1, "host:4M");
	choice = open_choice(t, 0, COUNT, &rates);
	memset(&a, 0, sizeof a);
	a.array = gn_auto_array(choice);
	a.count = COUNT / 16; /* a quarter of what the cache holds, eight times over */
	a.stride = 1;
	for (unsigned round = 0; round < 8; round++) {
		a.first = round % 2 * 100;
		launch_use(t, &a, 64);
	}
	assert_true(gn_auto_adapt(choice, &t->error) >= 0);
	gn_auto_describe(choice, &s);
	assert_int_equal(s.mode, GN_PAGED);
	assert_int_equal(gn_auto_advice(choice), GN_ADVICE_PAGED);
	gn_auto_close(choice);
}

/* Behind queue pairs there is no direct way; measuring and choosing go on without it. */
static void a_store_of_blocks_has_pages_only(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_auto_rates rates;
	struct gn_auto_state s;
	struct gn_auto *choice;

	memset(&rates, 0, sizeof rates);
	open_wide(t, 1, 1, "memq:4M");
	choice = open_choice(t, 512, COUNT - 64, &rates);
	assert_true(choice->rates.measured && choice->rates.line == 0);
	for (unsigned k = 0; k < 4; k++) {
		struct use_args a;

		memset(&a, 0, sizeof a);
		a.array = gn_auto_array(choice);
		assert_null(a.array.memory);
		assert_true(gn_auto_adapt(choice, &t->error) >= 0);
	}
	gn_auto_describe(choice, &s);
	assert_int_equal(s.mode, GN_PAGED);
	assert_int_equal(s.looks, 0); /* nothing was read, so nothing was seen */
	gn_auto_close(choice);
}

/* Rates that are measured here say something. */
static void a_machine_is_measured_once(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_auto_rates rates;
	struct gn_auto_config c;
	struct gn_auto *choice;
	double again;

	memset(&rates, 0, sizeof rates);
	memset(&c, 0, sizeof c);
	open_wide(t, 1, 1, "host:4M");
	c.cache_bytes = CACHE;
	c.count = COUNT;
	c.element_bytes = 8;
	c.rates = &rates;
	assert_int_equal(gn_auto_open(&choice, t->machine, t->store, &c, &t->error), 0);
	gn_auto_close(choice);
	assert_true(rates.measured && rates.seconds > 0 && rates.line + rates.sector > 0 && rates.hit > 0);
	for (unsigned p = 0; p < GN_AUTO_PAGE_SIZES; p++)
		assert_true(rates.together[p] > 0 && rates.alone[p] >= rates.together[p]);
	again = rates.seconds;
	assert_int_equal(gn_auto_open(&choice, t->machine, t->store, &c, &t->error), 0);
	gn_auto_close(choice);
	assert_true(rates.seconds == again);
}

static void the_failure_stays_when_the_mode_changes(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	const struct gn_auto_rates rates = gpu_rates();
	struct gn_auto *choice;
	struct gn_array array;

	open_wide(t, 1, 1, "host:4M");
	choice = open_choice(t, 0, COUNT, &rates);
	array = gn_auto_array(choice);
	assert_int_equal(act_one(t, &array, ACT_READ, 0, COUNT, 0).rc, -GN_ERANGE);
	assert_int_equal(run_once(t, choice, COUNT / 32, 0, 0x9e3779b1), 1);
	assert_int_equal(gn_auto_failure(choice, &t->error), -GN_ERANGE);
	assert_int_equal(gn_auto_failure(choice, &t->error), 0);
	gn_auto_close(choice);
}

static void what_cannot_be_is_refused(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_auto *choice = (struct gn_auto *)t;
	struct gn_auto_config c;

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
	assert_says(&t->error, "less than sixteen pages");
	c.cache_bytes = CACHE;
	c.touches = 5;
	assert_int_equal(gn_auto_open(&choice, t->machine, t->store, &c, &t->error), -GN_EINVAL);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, cache_setup, cache_teardown)
	const struct CMUnitTest tests[] = {
	    CASE(lanes_that_share_a_line_leave_one_touch),
	    CASE(every_launch_reads_what_is_there),
	    CASE(pages_that_serve_nobody_are_not_fetched),
	    CASE(a_line_that_is_read_on_costs_no_more),
	    CASE(pages_that_are_read_again_are_fetched),
	    CASE(pages_are_paid_with_what_others_have_saved),
	    CASE(the_first_look_chooses),
	    CASE(a_part_that_fits_is_cached),
	    CASE(a_store_of_blocks_has_pages_only),
	    CASE(a_machine_is_measured_once),
	    CASE(the_failure_stays_when_the_mode_changes),
	    CASE(what_cannot_be_is_refused),
	};

	return cmocka_run_group_tests_name("array: choosing the mode", tests, NULL, NULL);
}
