/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every form of access leaves in the sample: elements of every size, changes, page references, one a
 * lane, loops over pages, batches of rows; that all of them read and write what they should; and that a
 * kernel which uses no other is judged by them.
 */
#include "test_array_auto_support.h"

#include <grapnel/gather.h>
#include <grapnel/detail/array/recent.h>

enum { PIECES = 64, BLOCK_WORDS = 512, THREADS = 64 };

enum form { FORM_PAGE, FORM_EACH, FORM_RANGE, FORMS };

/* Words k * REGION_WORDS + skip and following, for each piece k. */
struct form_args {
	struct gn_array array;
	uint64_t pieces, skip, words;
	uint32_t form;
	uint64_t *wrong, *seen;
};

SIMT_FN uint64_t kernel_word(uint64_t k)
{
	return (k + 1) * 0x9e3779b97f4a7c15u;
}

/* Some lanes compare the words of a run up to end. */
SIMT_FN void check_run(const struct form_args *a, const struct gn_page *page, uint64_t from, uint64_t end,
                       uint32_t lane, uint32_t lanes)
{
	const uint64_t stop = page->first + page->count < end ? page->first + page->count : end;
	uint64_t wrong = 0, seen = 0;

	for (uint64_t i = from + lane; i < stop; i += lanes, seen++)
		wrong += ((const uint64_t *)page->data)[i - page->first] != kernel_word(i);
	simt_add_relaxed_dev_u64(a->wrong, wrong);
	simt_add_relaxed_dev_u64(a->seen, seen);
}

SIMT_FN void use_pages(const struct form_args *a, uint32_t warp, uint64_t begin, uint64_t end)
{
	struct gn_page page;

	for (uint64_t i = begin; i < end; i = page.first + page.count) {
		if (gn_array_acquire(&a->array, warp, i, GN_READ, &page)) {
			simt_add_relaxed_dev_u64(a->wrong, 1);
			return;
		}
		check_run(a, &page, i, end, simt_lane(), simt_warp_width());
		gn_array_release(&a->array, warp, &page);
	}
}

/* Each lane a piece of its own; where frames are short, element by element. */
SIMT_FN void use_each(const struct form_args *a, uint32_t warp, uint64_t begin, uint64_t end)
{
	struct gn_page page;

	for (uint64_t i = begin; simt_ballot(warp, i < end); i = page.first + page.count) {
		if (gn_array_acquire_each(&a->array, warp, i < end ? i : end - 1, GN_READ, &page)) {
			page.count = BLOCK_WORDS;
			page.first = i;
			simt_add_relaxed_dev_u64(a->seen, BLOCK_WORDS);
			for (uint64_t k = i; k < i + BLOCK_WORDS; k++)
				simt_add_relaxed_dev_u64(a->wrong,
				                         gn_read_u64(&a->array, k) != kernel_word(k));
			continue;
		}
		check_run(a, &page, i, end, 0, 1);
		gn_array_release_each(&a->array, &page);
	}
}

SIMT_FN void use_range(const struct form_args *a, uint32_t warp, uint64_t begin, uint64_t end)
{
	struct gn_range r = gn_range_begin(&a->array, warp, begin, end, GN_READ);
	struct gn_page page;

	while (gn_range_next(&r, &page))
		check_run(a, &page, page.first, end, simt_lane(), simt_warp_width());
	if (gn_range_end(&r))
		simt_add_relaxed_dev_u64(a->wrong, 1);
}

SIMT_FN void use_form(const struct form_args *a)
{
	const uint32_t width = simt_warp_width(), warp = width == 32 ? 0xffffffffu : (1u << width) - 1;
	const uint32_t share = a->form == FORM_EACH ? 1 : width;

	for (uint64_t k = simt_global_thread() / share; k < a->pieces; k += simt_global_threads() / share) {
		const uint64_t begin = k * REGION_WORDS + a->skip;

		switch (a->form) {
		case FORM_PAGE: use_pages(a, warp, begin, begin + a->words); break;
		case FORM_EACH: use_each(a, warp, begin, begin + a->words); break;
		default: use_range(a, warp, begin, begin + a->words);
		}
	}
}
SIMT_KERNEL(use_form, struct form_args)

/* One launch, all of whose words are compared. */
static void launch_form(struct cache_test *t, const struct gn_array *array, enum form form, uint64_t pieces,
                        uint64_t skip, uint64_t words)
{
	uint64_t wrong = 0, seen = 0;
	const struct form_args a = {*array, pieces, skip, words, (uint32_t)form, &wrong, &seen};

	run_block(t, &use_form_kernel, THREADS, &a);
	assert_int_equal(wrong, 0);
	assert_int_equal(seen, pieces * words);
}

static void look_at_form(struct cache_test *t, struct gn_auto *choice, enum form form, uint64_t skip,
                         uint64_t words)
{
	const struct gn_array array = gn_auto_array(choice);

	assert_non_null(array.sample);
	launch_form(t, &array, form, PIECES, skip, words);
	assert_true(gn_auto_adapt(choice, &t->error) >= 0);
	assert_int_equal(gn_auto_failure(choice, &t->error), 0);
}

static void change_to_direct(struct cache_test *t, struct gn_auto *choice)
{
	if (choice->choice != GN_AUTO_DIRECT)
		assert_int_equal(gn__auto_switch(choice, GN_AUTO_DIRECT, &t->error), 1);
	assert_int_equal(gn__auto_sample(choice, &t->error), 0);
}

/* ---- elements ---- */

enum { ELEMENTS = 2048, CHANGES = 64 };

enum one { ONE_READ, ONE_CURSOR, ONE_VIEW, ONE_WRITE, ONES };

struct one_args {
	struct gn_array array;
	uint32_t one, size;
	uint64_t *wrong;
};

/* The bytes of an element: those that fill_store put there, or as they are written. */
SIMT_FN void bytes_of(uint64_t index, uint32_t size, int written, unsigned char *to)
{
	for (uint32_t k = 0; k < size && k < 16; k++) {
		const uint64_t at = index * size + k;

		to[k] = (unsigned char)(written ? at * 7 + 3 : kernel_word(at / 8) >> at % 8 * 8);
	}
}

SIMT_FN void use_one(const struct one_args *a)
{
	struct gn_cursor cursor = gn_cursor_init(&a->array);
	struct gn__recent recent;

	gn__recent_forget(&recent);
	for (uint64_t i = simt_global_thread(); i < ELEMENTS; i += simt_global_threads()) {
		uint64_t value[2] = {0, 0}, expected[2] = {0, 0};
		int rc;

		bytes_of(i, a->size, a->one == ONE_WRITE, (unsigned char *)expected);
		if (a->one == ONE_WRITE)
			rc = gn_array_write(&a->array, i, expected);
		else if (a->one == ONE_VIEW)
			rc = gn__recent_read(&a->array, &recent, i, value, a->size);
		else
			rc = a->one == ONE_READ ? gn_array_read(&a->array, i, value)
			                        : gn__cursor_read(&cursor, i, value, a->size);
		if (rc || (a->one != ONE_WRITE && (value[0] != expected[0] || value[1] != expected[1])))
			simt_add_relaxed_dev_u64(a->wrong, 1);
	}
	gn_cursor_end(&cursor);
}
SIMT_KERNEL(use_one, struct one_args)

static void check_bytes(struct cache_test *t, uint32_t size, int written)
{
	unsigned char bytes[16], expected[16];

	for (uint64_t i = 0; i < ELEMENTS; i++) {
		assert_int_equal(gn_store_read_host(t->store, i * size, bytes, size, &t->error), 0);
		bytes_of(i, size, written, expected);
		assert_memory_equal(bytes, expected, size);
	}
}

/* Each element once; lanes that are together in a line of a direct array leave one touch. */
static void look_at_elements(struct cache_test *t, struct gn_auto *choice, uint32_t one, uint32_t size,
                             unsigned width)
{
	uint64_t wrong = 0;
	struct one_args a = {gn_auto_array(choice), one, size, &wrong};
	const uint64_t in_line = 128 / size, together = in_line < width ? in_line : width;

	assert_non_null(a.array.sample);
	run_block(t, &use_one_kernel, THREADS, &a);
	assert_int_equal(wrong, 0);
	assert_true(gn_auto_adapt(choice, &t->error) >= 0);
	assert_int_equal(gn_auto_failure(choice, &t->error), 0);
	assert_int_equal(choice->analysis.elements, ELEMENTS);
	if (a.array.memory)
		assert_int_equal(choice->analysis.touches, ELEMENTS / together);
	assert_int_equal(choice->analysis.writes, one == ONE_WRITE ? choice->analysis.touches : 0);
	assert_int_equal(gn_auto_flush(choice, &t->error), 0);
	check_bytes(t, size, one == ONE_WRITE);
}

/* Elements of every size, in both modes, by lone threads and by warps. */
static void elements_of_every_size_are_seen_once(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (unsigned width = 1; width <= 32; width *= 32)
		for (uint32_t size = 1; size <= 16; size *= few_or_all(16, 2))
			for (unsigned one = 0; one < ONES; one++)
				for (int direct = 0; direct < 2; direct++) {
					struct gn_auto *choice;

					open_wide(t, 1, width, "host:1M");
					choice = open_choice_of(t, 0, ELEMENTS, size);
					if (direct)
						change_to_direct(t, choice);
					look_at_elements(t, choice, one, size, width);
					gn_auto_close(choice);
				}
}

/* Even lanes read and odd ones write, all at once. */
SIMT_FN void read_and_write(const struct one_args *a)
{
	for (uint64_t i = simt_global_thread(); i < ELEMENTS; i += simt_global_threads()) {
		if (i & 1)
			gn_write_u64(&a->array, i, i);
		else if (gn_read_u64(&a->array, i) != kernel_word(i))
			simt_add_relaxed_dev_u64(a->wrong, 1);
	}
}
SIMT_KERNEL(read_and_write, struct one_args)

static void reads_and_writes_of_a_line_are_told_apart(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_auto *choice;
	struct one_args a;
	uint64_t wrong = 0;

	open_wide(t, 1, 32, "host:1M");
	choice = open_choice_of(t, 0, ELEMENTS, 8);
	change_to_direct(t, choice);
	a.array = gn_auto_array(choice);
	a.one = 0;
	a.size = 8;
	a.wrong = &wrong;
	run_block(t, &read_and_write_kernel, THREADS, &a);
	assert_int_equal(wrong, 0);
	assert_true(gn_auto_adapt(choice, &t->error) >= 0);
	assert_int_equal(choice->analysis.elements, ELEMENTS);
	assert_true(choice->analysis.writes > 0);
	assert_int_equal(choice->analysis.touches, 2 * choice->analysis.writes);
	gn_auto_close(choice);
}

struct change_args {
	struct gn_array array;
	uint64_t *wrong;
};

/* Every thread changes the same words: each change is seen by one of them. */
SIMT_FN void use_change(const struct change_args *a)
{
	for (uint64_t i = 0; i < CHANGES; i++) {
		gn_add_u64(&a->array, i, 1);
		gn_max_u64(&a->array, CHANGES + i, ~0ull - 5);
		gn_cas_u64(&a->array, 2 * CHANGES + i, kernel_word(2 * CHANGES + i), 5);
	}
}
SIMT_KERNEL(use_change, struct change_args)

static void changes_are_seen_and_made(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (unsigned width = 1; width <= 8; width *= 8)
		for (int direct = 0; direct < 2; direct++) {
			uint64_t wrong = 0;
			struct change_args a;
			struct gn_auto *choice;

			open_wide(t, 2, width, "host:1M");
			choice = open_choice(t, REGION_WORDS);
			if (direct)
				change_to_direct(t, choice);
			a.array = gn_auto_array(choice);
			a.wrong = &wrong;
			run_block(t, &use_change_kernel, THREADS, &a);
			assert_true(gn_auto_adapt(choice, &t->error) >= 0);
			assert_int_equal(choice->analysis.elements, 3 * CHANGES * THREADS);
			assert_int_equal(choice->analysis.writes, choice->analysis.touches);
			assert_int_equal(gn_auto_flush(choice, &t->error), 0);
			for (uint64_t i = 0; i < CHANGES; i++) {
				assert_int_equal(stored(t, i), word_of(i) + THREADS);
				assert_true(
				    stored(t, CHANGES + i) ==
				    (word_of(CHANGES + i) > ~0ull - 5 ? word_of(CHANGES + i) : ~0ull - 5));
				assert_int_equal(stored(t, 2 * CHANGES + i), 5);
			}
			gn_auto_close(choice);
		}
}

/* ---- what is seen by reference ---- */

/* All of an array by reference: each line once, whatever the form, the width of a warp and the mode in force.
 */
static void what_is_read_by_reference_is_seen_once(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (unsigned width = few_or_all(32, 1); width <= 32; width *= 32)
		for (unsigned form = 0; form < FORMS; form++)
			for (int direct = 0; direct < 2; direct++) {
				struct gn_auto *choice;

				open_wide(t, 2, width, "host:4M");
				choice = open_choice(t, COUNT);
				if (direct)
					change_to_direct(t, choice);
				see_all(t, choice);
				look_at_form(t, choice, (enum form)form, 0, REGION_WORDS);
				assert_int_equal(choice->analysis.touches, COUNT / LINE_WORDS);
				assert_int_equal(choice->analysis.elements, COUNT);
				assert_true(choice->analysis.writes == 0 && choice->analysis.batch == 0 &&
				            choice->analysis.covered == 1);
				gn_auto_close(choice);
			}
}

/* 100 words from the third of each region: 7 lines. */
static void a_loop_over_pages_is_seen_as_far_as_it_goes(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_auto *choice;

	open_wide(t, 1, 8, "host:4M");
	choice = open_choice(t, COUNT);
	see_all(t, choice);
	look_at_form(t, choice, FORM_RANGE, 3, 100);
	assert_int_equal(choice->analysis.touches, 7 * PIECES);
	assert_int_equal(choice->analysis.elements, 100 * PIECES);
	assert_int_equal(choice->analysis.way[PAGES_512].frames, 2 * PIECES);
	assert_int_equal(choice->analysis.way[PAGES_4K].frames, PIECES);
	gn_auto_close(choice);
}

/* ---- batches ---- */

enum { MOST_ROW = 4, ROWS = 2048 /* each wanted twice */ };

/* Rows of so many words, in eight regions. Each step can be undone, so no two of ROWS are the same. */
static uint64_t row_at(uint64_t k, uint32_t words)
{
	const uint64_t mask = REGION_WORDS * 8 / words - 1;
	uint64_t row = k / 2 * 0x9e37 & mask;

	row ^= row >> 7;
	row = row * 0x79b1 & mask;
	return row ^ row >> 8;
}

struct batch_fixture {
	struct gn_gather *gather;
	struct gn_batch batch;
	uint64_t *index;
};

static struct batch_fixture open_batch(struct cache_test *t, uint32_t words)
{
	struct batch_fixture b;

	b.index = (uint64_t *)simt_alloc(t->machine, 2 * ROWS * sizeof *b.index, SIMT_PINNED, &t->error);
	b.batch.index = b.index;
	b.batch.rows = simt_alloc(t->machine, 2 * ROWS * MOST_ROW * 8, SIMT_PINNED, &t->error);
	b.batch.count = 2 * ROWS;
	b.batch.elements = words;
	b.batch.reserved = 0;
	assert_true(b.index && b.batch.rows);
	assert_int_equal(gn_gather_create(&b.gather, t->machine, 2 * ROWS, &t->error), 0);
	for (uint64_t k = 0; k < 2 * ROWS; k++)
		b.index[k] = row_at(k, words);
	return b;
}

static void close_batch(struct cache_test *t, struct batch_fixture *b)
{
	gn_gather_destroy(b->gather);
	simt_free(t->machine, b->index);
	simt_free(t->machine, b->batch.rows);
}

static void move_batch(struct cache_test *t, struct gn_auto *choice, struct batch_fixture *b, int is_scatter)
{
	const struct gn_array array = gn_auto_array(choice);
	const uint32_t words = b->batch.elements;

	assert_non_null(array.sample);
	assert_int_equal(
	    (is_scatter ? gn_scatter_rows : gn_gather_rows)(b->gather, &array, &b->batch, &t->error), 0);
	assert_int_equal(simt_wait(t->machine, &t->error), 0);
	for (uint64_t k = 0; k < 2 * ROWS * words; k++)
		assert_int_equal(((const uint64_t *)b->batch.rows)[k],
		                 word_of(b->index[k / words] * words + k % words));
	assert_true(gn_auto_adapt(choice, &t->error) >= 0);
	assert_int_equal(gn_auto_failure(choice, &t->error), 0);
}

/*
 * A row that is wanted twice counts once; a gather fetches no pages of a store that loads reach, a scatter
 * does.
 */
static void rows_of_batches_are_seen_once(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (unsigned width = 1; width <= 32; width *= 32)
		for (int is_scatter = 0; is_scatter < 2; is_scatter++) {
			const struct gn_auto_analysis *s;
			struct gn_auto *choice;
			struct batch_fixture b;

			open_wide(t, 1, width, "host:4M");
			b = open_batch(t, MOST_ROW);
			choice = open_choice(t, FEW);
			for (uint64_t k = 0; k < 2 * ROWS * MOST_ROW; k++)
				((uint64_t *)b.batch.rows)[k] =
				    word_of(b.index[k / MOST_ROW] * MOST_ROW + k % MOST_ROW);
			move_batch(t, choice, &b, is_scatter);
			s = &choice->analysis;
			assert_int_equal(s->touches, ROWS);
			assert_int_equal(s->batch, ROWS);
			assert_int_equal(s->elements, MOST_ROW * ROWS);
			assert_int_equal(s->writes, is_scatter * ROWS);
			for (unsigned p = PAGES_512; p <= PAGES_4K; p++) {
				assert_int_equal(s->way[p].bypassed, is_scatter ? 0 : ROWS);
				assert_int_equal(s->way[p].frames > 0, is_scatter);
			}
			gn_auto_close(choice);
			close_batch(t, &b);
		}
}

/* Behind queue pairs a gather goes through the cache, and counts as what fetches. */
static void a_gather_from_blocks_fetches_pages(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_auto *choice;
	struct batch_fixture b;

	open_wide(t, 1, 1, "memq:4M");
	b = open_batch(t, MOST_ROW);
	choice = open_choice(t, FEW);
	move_batch(t, choice, &b, 0);
	assert_int_equal(choice->analysis.batch, ROWS);
	assert_true(choice->analysis.way[PAGES_4K].bypassed == 0 &&
	            choice->analysis.way[PAGES_4K].frames > 0);
	gn_auto_close(choice);
	close_batch(t, &b);
}

/* ---- what is chosen ---- */

static void a_hot_part_read_by_reference_is_cached(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (unsigned form = 0; form < FORMS; form++)
		for (unsigned hot = 0; hot < 2; hot++) {
			struct gn_auto *choice;
			struct gn_array array;

			open_wide(t, 1, 1, "host:4M");
			choice = open_choice(t, COUNT);
			see_all(t, choice);
			array = gn_auto_array(choice);
			for (unsigned round = 0; round < (hot ? 3 : 1); round++)
				launch_form(t, &array, (enum form)form, hot ? 4 : PIECES, 0, REGION_WORDS);
			assert_true(gn_auto_adapt(choice, &t->error) >= 0);
			assert_int_equal(choice->samples, 1);
			assert_int_equal(gn_auto_advice(choice), hot ? GN_ADVICE_PAGED : GN_ADVICE_DIRECT);
			gn_auto_close(choice);
		}
}

/* Words anywhere, each by itself. */
static void read_scattered(struct cache_test *t, struct gn_auto *choice)
{
	const struct gn_array array = gn_auto_array(choice);
	struct act *act = (struct act *)calloc(ROWS, sizeof *act);

	assert_non_null(act);
	for (uint64_t k = 0; k < ROWS; k++) {
		act[k].op = ACT_READ;
		act[k].index = row_at(2 * k, 1);
	}
	run_acts(t, &array, act, 1, ROWS);
	for (uint64_t k = 0; k < ROWS; k++)
		assert_true(act[k].rc == 0 && act[k].value[0] == word_of(act[k].index));
	free(act);
	assert_true(gn_auto_adapt(choice, &t->error) >= 0);
}

/*
 * Scattered over eight times what translation reaches: advised by the second look. A program that follows is
 * not told to stop, until it reads something else.
 */
static void the_advice_to_gather_stays(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_auto *choice;
	struct batch_fixture b;
	char text[4096];

	open_wide(t, 1, 1, "host:4M");
	b = open_batch(t, 1);
	choice = open_choice(t, COUNT);
	choice->setup.cache_bytes = choice->setup.reach_bytes = 64 << 10;
	see_all(t, choice);
	read_scattered(t, choice);
	assert_int_equal(gn_auto_advice(choice), GN_ADVICE_DIRECT);
	for (unsigned k = 0; k < 3; k++) {
		assert_int_equal(gn__auto_sample(choice, &t->error), 0);
		if (k)
			move_batch(t, choice, &b, 0);
		else
			read_scattered(t, choice);
		assert_int_equal(gn_auto_advice(choice), GN_ADVICE_GATHER);
	}
	gn_auto_explain(choice, text, sizeof text);
	assert_non_null(strstr(text, "advice: gather in batches: "));
	assert_int_equal(gn__auto_sample(choice, &t->error), 0);
	look_at_form(t, choice, FORM_RANGE, 0, REGION_WORDS);
	assert_int_equal(gn_auto_advice(choice), GN_ADVICE_DIRECT);
	gn_auto_close(choice);
	close_batch(t, &b);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, cache_setup, cache_teardown)
	const struct CMUnitTest tests[] = {
	    CASE(elements_of_every_size_are_seen_once),
	    CASE(changes_are_seen_and_made),
	    CASE(reads_and_writes_of_a_line_are_told_apart),
	    CASE(what_is_read_by_reference_is_seen_once),
	    CASE(a_loop_over_pages_is_seen_as_far_as_it_goes),
	    CASE(rows_of_batches_are_seen_once),
	    CASE(a_gather_from_blocks_fetches_pages),
	    CASE(a_hot_part_read_by_reference_is_cached),
	    CASE(the_advice_to_gather_stays),
	};

	return cmocka_run_group_tests_name("array: what every form of access leaves", tests, NULL, NULL);
}
