/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page references and cursors: what part of an array they show, by threads and by warps, and that a cursor's
 * hold is soft.
 */
#include "test_cache_support.h"

#include <cache/cache.h>

enum { PAGE = 512, WORDS = PAGE / 8 };

/* ---- extents ---- */

/* The run that a reference to an element of an array shows, worked out by hand. */
static void assert_run(struct cache_test *t, const struct gn_array *array, uint64_t index, uint64_t first,
                       uint64_t count, uint64_t word)
{
	assert_int_equal(act_one(t, array, ACT_ACQUIRE, 0, index, 0).rc, 0);
	assert_int_equal(t->held[0].first, first);
	assert_int_equal(t->held[0].count, count);
	for (uint64_t k = 0; k < count; k++)
		assert_int_equal(((const uint64_t *)t->held[0].data)[k], word_of(word + k));
	assert_int_equal(act_one(t, array, ACT_RELEASE, 0, 0, 0).rc, 0);
}

static void a_reference_shows_its_part_of_the_page(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_array part;

	for (uint32_t ways = 0; ways <= 2; ways += 2) {
		close_store(t);
		open_words_of(t, 16, 4, PAGE, ways, GN_CLOCK);
		assert_run(t, &t->array, 0, 0, 64, 0);
		assert_run(t, &t->array, 63, 0, 64, 0);
		assert_run(t, &t->array, 64, 64, 64, 64);
		assert_run(t, &t->array, 1023, 960, 64, 960);
		/* elements 0 to 199 are words 10 to 209: pages begin at elements 54, 118 and 182 */
		part = make_array(t, GN_PAGED, t->store, 80, 200, 8);
		assert_run(t, &part, 0, 0, 54, 10);
		assert_run(t, &part, 53, 0, 54, 10);
		assert_run(t, &part, 54, 54, 64, 64);
		assert_run(t, &part, 199, 182, 18, 192);
		gn_array_destroy(&part, t->machine);
		part = make_array(t, GN_PAGED, t->store, 80, 5, 8); /* within one page */
		assert_run(t, &part, 3, 0, 5, 10);
		gn_array_destroy(&part, t->machine);
	}
	part = make_array(t, GN_DIRECT, t->store, 80, 200, 8);
	assert_run(t, &part, 70, 0, 200, 10);
	gn_array_destroy(&part, t->machine);
}

static void a_page_that_starts_in_the_array_is_aligned(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	open_words_of(t, 16, 4, PAGE, 0, GN_CLOCK);
	for (uint64_t page = 0; page < 16; page++) {
		assert_int_equal(hold(t, 0, page * WORDS + 5, 0), 0);
		assert_int_equal((uintptr_t)t->held[0].data % 16, 0);
		let_go(t, 0);
	}
}

static void what_is_written_through_a_reference_is_written_back(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (uint32_t ways = 0; ways <= 2; ways += 2) {
		close_store(t);
		open_words_of(t, 16, 4, PAGE, ways, GN_CLOCK);
		for (uint64_t page = 0; page < 16; page++) {
			assert_int_equal(hold(t, 0, page * WORDS, 1), 0);
			for (uint64_t k = 0; k < WORDS; k++)
				((uint64_t *)t->held[0].data)[k] = ~(page * WORDS + k);
			let_go(t, 0);
		}
		for (uint64_t k = 0; k < 1024; k += 9)
			assert_int_equal(get(t, k), ~k);
		flush(t);
		for (uint64_t k = 0; k < 1024; k++)
			assert_int_equal(stored(t, k), ~k);
	}
}

/* One thread may hold a page twice, to read and to write. */
static void a_page_may_be_held_twice(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	open_words_of(t, 16, 1, PAGE, 0, GN_CLOCK);
	assert_int_equal(hold(t, 0, 0, 0), 0);
	assert_int_equal(hold(t, 1, 5, 1), 0);
	assert_ptr_equal(t->held[0].data, t->held[1].data);
	let_go(t, 0);
	assert_int_equal(hold(t, 2, WORDS, 0), -GN_ENOBUFS);
	let_go(t, 1);
	assert_int_equal(hold(t, 2, WORDS, 0), 0);
	let_go(t, 2);
}

/* ---- warps ---- */

struct warp_args {
	struct gn_array array;
	uint32_t *wrong;
};

SIMT_FN uint64_t kernel_word(uint64_t k)
{
	return (k + 1) * 0x9e3779b97f4a7c15u;
}

/* A warp holds a page once and shares its words out; then each half of it a page of its own. */
SIMT_FN void hold_as_warps(const struct warp_args *w)
{
	const uint32_t half = simt_warp_width() / 2;
	const uint32_t low = (1u << half) - 1, mine = simt_lane() < half ? low : simt_whole_warp() & ~low;
	struct gn_page page;
	uint64_t index;

	for (index = 0; index < w->array.count; index += page.count) {
		if (gn_array_acquire(&w->array, simt_whole_warp(), index, 0, &page)) {
			simt_add_relaxed_dev_u32(w->wrong, 1);
			return;
		}
		for (uint64_t k = simt_lane(); k < page.count; k += simt_warp_width())
			if (((const uint64_t *)page.data)[k] != kernel_word(page.first + k))
				simt_add_relaxed_dev_u32(w->wrong, 1);
		gn_array_release(&w->array, simt_whole_warp(), &page);
	}
	index = simt_lane() < half ? 0 : w->array.count - 1;
	if (gn_array_acquire(&w->array, mine, index, 0, &page) ||
	    ((const uint64_t *)page.data)[1] != kernel_word(page.first + 1))
		simt_add_relaxed_dev_u32(w->wrong, 1);
	else
		gn_array_release(&w->array, mine, &page);
}
SIMT_KERNEL(hold_as_warps, struct warp_args)

/* Lanes read and write scattered elements, some the same page, from divergent code. */
SIMT_FN void scatter_as_warps(const struct warp_args *w)
{
	const uint64_t threads = simt_global_threads(), count = w->array.count / threads;

	for (uint64_t k = 0; k < count; k++) {
		uint64_t index = simt_lane() % 3 == 0 ? k * threads + simt_global_thread()
		                                      : simt_global_thread() * count + k;

		if (simt_lane() % 3 == 2)
			continue;
		if (gn_read_u64(&w->array, index) != kernel_word(index))
			simt_add_relaxed_dev_u32(w->wrong, 1);
	}
}
SIMT_KERNEL(scatter_as_warps, struct warp_args)

/* Every lane writes its words; a warp's words lie in one page or in many. */
SIMT_FN void write_as_warps(const struct warp_args *w)
{
	const uint64_t threads = simt_global_threads();

	for (uint64_t index = simt_global_thread(); index < w->array.count; index += threads)
		if (gn_write_u64(&w->array, index ^ 64, ~(index ^ 64)))
			simt_add_relaxed_dev_u32(w->wrong, 1);
}
SIMT_KERNEL(write_as_warps, struct warp_args)

static void launch_warps(struct cache_test *t, const struct simt_kernel *kernel, uint32_t threads)
{
	struct simt_grid grid = {2, threads, 0};
	uint32_t wrong = 0;
	struct warp_args args;

	memset(&args, 0, sizeof args);
	args.array = t->array;
	args.wrong = &wrong;
	assert_int_equal(simt_launch(t->machine, kernel, grid, &args, &t->error), 0);
	if (simt_wait(t->machine, &t->error))
		fail_msg("%s", t->error.text);
	assert_int_equal(wrong, 0);
}

static void use_warps(struct cache_test *t, uint32_t width, uint32_t ways)
{
	struct gn_cache_statistics c;

	simt_free(t->machine, t->held);
	simt_close(t->machine);
	t->machine = open_machine(1, width);
	t->held =
	    (struct gn_page *)simt_alloc(t->machine, MOST_HELD * sizeof *t->held, SIMT_PINNED, &t->error);
	open_words_of(t, 16, 8, PAGE, ways, GN_CLOCK);
	if (width > 1) {
		launch_warps(t, &hold_as_warps_kernel, width);
		c = info_of(t).statistics;
		assert_int_equal(c.hits + c.misses,
		                 2 * (16 * width + width)); /* every lane's, though one acted for all */
	}
	launch_warps(t, &scatter_as_warps_kernel, 64);
	launch_warps(t, &write_as_warps_kernel, 64);
	flush(t);
	for (uint64_t k = 0; k < 1024; k++)
		assert_int_equal(stored(t, k), ~k);
	close_store(t);
}

static void warps_of_every_width(void **state)
{
	for (uint32_t width = 1; width <= 32; width *= 2)
		for (uint32_t ways = 0; ways <= 4; ways += 2)
			use_warps((struct cache_test *)*state, width, ways);
}

/* ---- cursors ---- */

struct walk_args {
	struct gn_array array;
	uint32_t *wrong;
	uint64_t stride;
	uint32_t rounds, end;
};

/*
 * Some at once from here on, or more than one call brings; in strides that leave the page, as far as the
 * array goes.
 */
SIMT_FN void walk_every(const struct walk_args *w, struct gn_cursor *c, uint64_t index)
{
	const uint32_t most = index % 2 ? 4 : 2 * GN__CURSOR_STEP + 8;

	for (uint64_t stride = 0; stride < 2 * w->array.count / 3; stride = 3 * stride + 1) {
		uint64_t value[2 * GN__CURSOR_STEP + 8] = {0};
		uint32_t in = 0;
		int rc;

		while (in < most && index + in * stride < w->array.count)
			in++;
		rc = gn_cursor_read_every_u64(c, index, stride, in, value);
		for (uint32_t k = 0; k < in; k++)
			if (rc || value[k] != kernel_word(index + k * stride + 10))
				simt_add_relaxed_dev_u32(w->wrong, 1);
	}
}

/* Forward, backward and in strides, over page borders and beyond the end. */
SIMT_FN void walk(const struct walk_args *w)
{
	struct gn_cursor c = gn_cursor_init(&w->array);

	for (uint32_t round = 0; round < w->rounds; round++)
		for (uint64_t k = 0; k < w->array.count; k += w->stride) {
			uint64_t index = round & 1 ? w->array.count - 1 - k : k;

			if (gn_cursor_read_u64(&c, index) != kernel_word(index + 10))
				simt_add_relaxed_dev_u32(w->wrong, 1);
			if (!w->end) /* there it is counted */
				walk_every(w, &c, index);
		}
	if (w->end)
		gn_cursor_end(&c);
}
SIMT_KERNEL(walk, struct walk_args)

static void launch_walk(struct cache_test *t, const struct gn_array *array, uint64_t stride, uint32_t rounds,
                        uint32_t end)
{
	struct simt_grid one = {1, 1, 0};
	uint32_t wrong = 0;
	struct walk_args args;

	memset(&args, 0, sizeof args);
	args.array = *array;
	args.wrong = &wrong;
	args.stride = stride;
	args.rounds = rounds;
	args.end = end;
	assert_int_equal(simt_launch(t->machine, &walk_kernel, one, &args, &t->error), 0);
	assert_int_equal(simt_wait(t->machine, &t->error), 0);
	assert_int_equal(wrong, 0);
}

static void cursors_go_anywhere(void **state)
{
	static const uint64_t strides[] = {1, 7, 63, 64, 65, 200};
	static const uint32_t frames[] = {1, 2, 16};
	struct cache_test *t = (struct cache_test *)*state;

	for (uint32_t ways = 0; ways <= 1; ways++)
		for (size_t f = 0; f < 3; f++) {
			struct gn_array part;

			close_store(t);
			open_words_of(t, 16, frames[f], PAGE, ways, GN_CLOCK);
			part = make_array(t, GN_PAGED, t->store, 80, 900, 8);
			for (size_t s = 0; s < sizeof strides / sizeof *strides; s++)
				launch_walk(t, &part, strides[s], 4, 0);
			assert_int_equal(gn_array_failure(&part, &t->error), 0);
			gn_array_destroy(&part, t->machine);
			part = make_array(t, GN_DIRECT, t->store, 80, 900, 8);
			launch_walk(t, &part, 7, 4, 0);
			gn_array_destroy(&part, t->machine);
		}
}

struct past_args {
	struct gn_array array;
	uint64_t stride;
	uint64_t *value; /* [3] */
	int32_t *code;
};

/* Three elements from the last but one on. */
SIMT_FN void read_past(const struct past_args *p)
{
	struct gn_cursor c = gn_cursor_init(&p->array);

	*p->code = gn_cursor_read_every_u64(&c, p->array.count - 2, p->stride, 3, p->value);
	gn_cursor_end(&c);
}
SIMT_KERNEL(read_past, struct past_args)

/* Those that are in the array are read, each other one is 0. */
static void several_elements_of_which_some_are_past_the_end(void **state)
{
	static const uint64_t strides[] = {1, 2, 1ull << 32, 1ull << 62, 1ull << 63};
	static const struct simt_grid one = {1, 1, 0};
	struct cache_test *t = (struct cache_test *)*state;

	open_words_of(t, 16, 16, PAGE, 0, GN_CLOCK);
	for (uint32_t k = 0; k < 2 * sizeof strides / sizeof *strides; k++) {
		uint64_t value[3] = {7, 7, 7};
		int32_t code = 0;
		struct past_args args = {make_array(t, k & 1 ? GN_DIRECT : GN_PAGED, t->store, 80, 900, 8),
		                         strides[k / 2], value, &code};

		assert_int_equal(simt_launch(t->machine, &read_past_kernel, one, &args, &t->error), 0);
		assert_int_equal(simt_wait(t->machine, &t->error), 0);
		assert_int_equal(code, -GN_ERANGE);
		for (uint64_t n = 0; n < 3; n++) {
			const uint64_t index = 898 + n * args.stride;

			assert_int_equal(value[n], index < 900 ? word_of(index + 10) : 0);
		}
		assert_int_equal(gn_array_failure(&args.array, &t->error), -GN_ERANGE);
		gn_array_destroy(&args.array, t->machine);
	}
}

/* A cursor counts each read once. Of a page's four sectors the first two come alone, the others together. */
static void a_cursor_counts_what_it_read(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_array part;
	struct gn_cache_statistics c;
	uint64_t misses;

	open_words_of(t, 16, 16, PAGE, 0, GN_CLOCK);
	part = make_array(t, GN_PAGED, t->store, 80, 900, 8);
	launch_walk(t, &part, 1, 1, 1);
	c = info_of(t).statistics;
	misses = c.misses;
	assert_int_equal(misses, 14 * 3 + 1);
	assert_int_equal(c.hits, 900 - misses);
	assert_int_equal(c.fetched, misses);
	launch_walk(t, &part, 1, 1, 1);
	c = info_of(t).statistics;
	assert_int_equal(c.misses, misses);
	assert_int_equal(c.hits, 2 * 900 - misses);
	gn_array_destroy(&part, t->machine);
}

/* Reads by a cursor, with an eviction of its page by another's read in between. */
SIMT_FN void lose_the_page(const struct walk_args *w)
{
	struct gn_cursor c = gn_cursor_init(&w->array), other = gn_cursor_init(&w->array);

	for (uint32_t k = 0; k < w->rounds; k++) {
		uint64_t far = (k + 1) % 16 * WORDS;

		if (gn_cursor_read_u64(&c, 3) != kernel_word(3) ||
		    gn_cursor_read_u64(&other, far) != kernel_word(far) ||
		    gn_cursor_read_u64(&c, 4) != kernel_word(4) ||
		    gn_read_u64(&w->array, far + 1) != kernel_word(far + 1))
			simt_add_relaxed_dev_u32(w->wrong, 1);
	}
}
SIMT_KERNEL(lose_the_page, struct walk_args)

static void a_cursor_notices_that_its_page_went(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (uint32_t ways = 0; ways <= 1; ways++) {
		struct simt_grid one = {1, 1, 0};
		uint32_t wrong = 0;
		struct walk_args args;

		close_store(t);
		open_words_of(t, 16, 1, PAGE, ways, GN_CLOCK);
		memset(&args, 0, sizeof args);
		args.array = t->array;
		args.wrong = &wrong;
		args.rounds = 1000;
		assert_int_equal(simt_launch(t->machine, &lose_the_page_kernel, one, &args, NULL), 0);
		assert_int_equal(simt_wait(t->machine, NULL), 0);
		assert_int_equal(wrong, 0);
	}
}

/* A cursor holds nothing: with cursors on all frames others still find one. */
SIMT_FN void park_cursors(const struct walk_args *w)
{
	struct gn_cursor c[4];

	for (uint32_t k = 0; k < 4; k++) {
		c[k] = gn_cursor_init(&w->array);
		gn_cursor_read_u64(&c[k], k * WORDS);
	}
	for (uint32_t k = 4; k < 16; k++) {
		struct gn_page page;

		if (gn_array_acquire(&w->array, 1u << simt_lane(), k * WORDS, 0, &page))
			simt_add_relaxed_dev_u32(w->wrong, 1);
		else
			gn_array_release(&w->array, 1u << simt_lane(), &page);
	}
	for (uint32_t k = 0; k < 4; k++)
		if (gn_cursor_read_u64(&c[k], k * WORDS + 1) != kernel_word(k * WORDS + 1))
			simt_add_relaxed_dev_u32(w->wrong, 1);
}
SIMT_KERNEL(park_cursors, struct walk_args)

static void a_cursor_keeps_no_frame(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct simt_grid one = {1, 1, 0};
	uint32_t wrong = 0;
	struct walk_args args;

	open_words_of(t, 16, 4, PAGE, 0, GN_CLOCK);
	memset(&args, 0, sizeof args);
	args.array = t->array;
	args.wrong = &wrong;
	assert_int_equal(simt_launch(t->machine, &park_cursors_kernel, one, &args, NULL), 0);
	assert_int_equal(simt_wait(t->machine, NULL), 0);
	assert_int_equal(wrong, 0);
}

/* Words whose version is about to wrap. */
static void versions_may_wrap(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (uint32_t ways = 0; ways <= 1; ways++) {
		close_store(t);
		open_words_of(t, 4, 1, PAGE, ways, GN_FIFO);
		for (int k = 0; k < (ways ? 1 : 4); k++)
			t->cache->image.word[k] = GN__WORD_VERSION - ((uint64_t)k << GN__WORD_VERSION_SHIFT);
		for (uint64_t k = 0; k < 40; k++)
			assert_int_equal(get(t, k % 4 * WORDS + k), word_of(k % 4 * WORDS + k));
	}
}

/* Past the end of the array, in a page that goes on, a cursor returns 0 and the array keeps why. */
SIMT_FN void walk_off(const struct walk_args *w)
{
	struct gn_cursor c = gn_cursor_init(&w->array);

	if (gn_cursor_read_u64(&c, 99) != kernel_word(109) || gn_cursor_read_u64(&c, 100) != 0 ||
	    gn_cursor_read_u64(&c, 0 - (uint64_t)1) != 0 || gn_cursor_read_u64(&c, 98) != kernel_word(108))
		*w->wrong = 1;
}
SIMT_KERNEL(walk_off, struct walk_args)

static void a_cursor_ends_with_the_array(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct simt_grid one = {1, 1, 0};
	uint32_t wrong = 0;
	struct walk_args args;

	open_words_of(t, 16, 4, PAGE, 0, GN_CLOCK);
	memset(&args, 0, sizeof args);
	args.array = make_array(t, GN_PAGED, t->store, 80, 100, 8);
	args.wrong = &wrong;
	assert_int_equal(simt_launch(t->machine, &walk_off_kernel, one, &args, &t->error), 0);
	assert_int_equal(simt_wait(t->machine, &t->error), 0);
	assert_int_equal(wrong, 0);
	assert_int_equal(gn_array_failure(&args.array, &t->error), -GN_ERANGE);
	assert_says(&t->error, "element 100 of 100");
	gn_array_destroy(&args.array, t->machine);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, cache_setup, cache_teardown)
	const struct CMUnitTest tests[] = {
	    CASE(a_reference_shows_its_part_of_the_page),
	    CASE(a_page_that_starts_in_the_array_is_aligned),
	    CASE(what_is_written_through_a_reference_is_written_back),
	    CASE(a_page_may_be_held_twice),
	    CASE(warps_of_every_width),
	    CASE(cursors_go_anywhere),
	    CASE(several_elements_of_which_some_are_past_the_end),
	    CASE(a_cursor_counts_what_it_read),
	    CASE(a_cursor_notices_that_its_page_went),
	    CASE(a_cursor_keeps_no_frame),
	    CASE(versions_may_wrap),
	    CASE(a_cursor_ends_with_the_array),
	};

	return cmocka_run_group_tests_name("array: page references and cursors", tests, NULL, NULL);
}
