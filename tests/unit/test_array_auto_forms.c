/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every form of access leaves in the sample: page references, one a lane, loops over pages, batches of rows; and
 * that a kernel which uses no other is judged by them.
 */
#include "test_array_auto_support.h"

#include <grapnel/array/gather.h>

enum { PIECES = 64, REGION_WORDS = 8192, BLOCK_WORDS = 512, THREADS = 64 };

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
SIMT_FN void check_run(const struct form_args *a, const struct gn_page *page, uint64_t from, uint64_t end, uint32_t lane,
		       uint32_t lanes)
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
				simt_add_relaxed_dev_u64(a->wrong, gn_read_u64(&a->array, k) != kernel_word(k));
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
static void launch_form(struct cache_test *t, const struct gn_array *array, enum form form, uint64_t pieces, uint64_t skip,
			uint64_t words)
{
	uint64_t wrong = 0, seen = 0;
	const struct form_args a = {*array, pieces, skip, words, (uint32_t)form, &wrong, &seen};

	run_block(t, &use_form_kernel, THREADS, &a);
	assert_int_equal(wrong, 0);
	assert_int_equal(seen, pieces * words);
}

static void look_at_form(struct cache_test *t, struct gn_auto *choice, enum form form, uint64_t skip, uint64_t words)
{
	const struct gn_array array = gn_auto_array(choice);

	assert_non_null(array.sample);
	launch_form(t, &array, form, PIECES, skip, words);
	assert_true(gn_auto_adapt(choice, &t->error) >= 0);
	assert_int_equal(gn_auto_failure(choice, &t->error), 0);
}

/* ---- what is seen ---- */

static void assert_saw_everything(const struct gn_auto_study *s)
{
	const double lines = (double)s->regions_kept * REGION_LINES;

	assert_int_equal(s->accesses, COUNT);
	assert_true(s->regions_kept > 0 && s->covered == 1);
	assert_true(s->touches == lines && s->held == lines);
	assert_true(s->lanes == 16 * lines && s->sectors == 4 * lines);
	assert_true(s->one_by_one == 0 && s->batch == 0 && s->writes == 0 && s->line_use == 1);
	for (unsigned p = 0; p < GN_AUTO_PAGE_SIZES; p++)
		assert_true(s->paged[p].used == 1 && s->paged[p].pins >= lines * 128 / gn_auto_page_bytes[p]);
}

/* All of an array by reference: each line once, whatever the form, the width of a warp and the mode in force. */
static void what_is_read_by_reference_is_seen_once(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	const struct gn_auto_rates rates = gpu_rates();

	for (unsigned width = 1; width <= 32; width *= 32)
		for (unsigned form = 0; form < FORMS; form++) {
			struct gn_auto *choice;

			open_wide(t, 2, width, "host:4M");
			choice = open_choice(t, 0, COUNT, &rates);
			look_at_form(t, choice, (enum form)form, 0, REGION_WORDS);
			assert_saw_everything(&choice->study);
			if (choice->choice != GN_AUTO_DIRECT) /* a stream: it is, but for how long is the clock's to say */
				assert_int_equal(gn__auto_switch(choice, GN_AUTO_DIRECT, &t->error), 1);
			assert_int_equal(gn__auto_look(choice, &t->error), 0);
			look_at_form(t, choice, (enum form)form, 0, REGION_WORDS);
			assert_saw_everything(&choice->study);
			gn_auto_close(choice);
		}
}

/* 100 words from the third of each region: 7 lines, 26 sectors, 2 pages of 512 B. */
static void a_loop_over_pages_is_seen_as_far_as_it_goes(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	const struct gn_auto_rates rates = gpu_rates();
	const struct gn_auto_study *s;
	struct gn_auto *choice;
	double kept;

	open_wide(t, 1, 8, "host:4M");
	choice = open_choice(t, 0, COUNT, &rates);
	look_at_form(t, choice, FORM_RANGE, 3, 100);
	s = &choice->study;
	kept = (double)s->regions_kept;
	assert_int_equal(s->accesses, PIECES * 100);
	assert_true(s->touches == 7 * kept && s->lanes == 100 * kept && s->sectors == 26 * kept);
	assert_true(s->paged[0].used == 26 * 32 / 1024.0 && s->paged[3].used == 26 * 32 / 4096.0);
	assert_true(s->paged[0].pins == 2 * kept && s->paged[1].pins == kept && s->paged[3].pins == kept);
	gn_auto_close(choice);
}

/* ---- batches ---- */

enum { MOST_ROW = 4, ROWS = 4096 /* each wanted twice */ };

/* Rows of so many words; a power of two, so that no two of ROWS are the same. */
static uint64_t row_at(uint64_t k, uint32_t words)
{
	return k / 2 * 0x9e3779b1u % (COUNT / words);
}

struct batch_bed {
	struct gn_gather *gather;
	struct gn_batch batch;
	uint64_t *index;
};

static struct batch_bed open_batch(struct cache_test *t, uint32_t words)
{
	struct batch_bed b;

	b.index = (uint64_t *)simt_alloc(t->machine, 2 * ROWS * sizeof *b.index, SIMT_SHARED);
	b.batch.index = b.index;
	b.batch.rows = simt_alloc(t->machine, 2 * ROWS * MOST_ROW * 8, SIMT_SHARED);
	b.batch.count = 2 * ROWS;
	b.batch.elements = words;
	b.batch.reserved = 0;
	assert_true(b.index && b.batch.rows);
	assert_int_equal(gn_gather_create(&b.gather, t->machine, 2 * ROWS, &t->error), 0);
	for (uint64_t k = 0; k < 2 * ROWS; k++)
		b.index[k] = row_at(k, words);
	return b;
}

static void close_batch(struct cache_test *t, struct batch_bed *b)
{
	gn_gather_destroy(b->gather);
	simt_free(t->machine, b->index);
	simt_free(t->machine, b->batch.rows);
}

static void move_batch(struct cache_test *t, struct gn_auto *choice, struct batch_bed *b, int is_scatter)
{
	const struct gn_array array = gn_auto_array(choice);
	const uint32_t words = b->batch.elements;

	assert_non_null(array.sample);
	assert_int_equal((is_scatter ? gn_scatter_rows : gn_gather_rows)(b->gather, &array, &b->batch, &t->error), 0);
	assert_int_equal(simt_wait(t->machine), 0);
	for (uint64_t k = 0; k < 2 * ROWS * words; k++)
		assert_int_equal(((const uint64_t *)b->batch.rows)[k], word_of(b->index[k / words] * words + k % words));
	assert_true(gn_auto_adapt(choice, &t->error) >= 0);
	assert_int_equal(gn_auto_failure(choice, &t->error), 0);
}

static uint64_t rows_kept(const struct batch_bed *b, uint32_t keep)
{
	uint64_t kept = 0;

	for (uint64_t k = 0; k < 2 * ROWS; k += 2)
		kept += gn_sample_hash(b->index[k] * b->batch.elements * 8 >> GN_SAMPLE_REGION_LOG2) < keep;
	return kept;
}

/* A row that is wanted twice counts once; a gather fetches no pages of a store that loads reach, a scatter does. */
static void rows_of_batches_are_seen_once(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	const struct gn_auto_rates rates = gpu_rates();

	for (unsigned width = 1; width <= 32; width *= 32)
		for (int is_scatter = 0; is_scatter < 2; is_scatter++) {
			const struct gn_auto_study *s;
			struct gn_auto *choice;
			struct batch_bed b;
			double kept;

			open_wide(t, 1, width, "host:4M");
			b = open_batch(t, MOST_ROW);
			choice = open_choice(t, 0, COUNT, &rates);
			for (uint64_t k = 0; k < 2 * ROWS * MOST_ROW; k++)
				((uint64_t *)b.batch.rows)[k] = word_of(b.index[k / MOST_ROW] * MOST_ROW + k % MOST_ROW);
			move_batch(t, choice, &b, is_scatter);
			s = &choice->study;
			kept = (double)rows_kept(&b, choice->image.keep);
			assert_int_equal(s->accesses, ROWS * MOST_ROW);
			assert_true(kept > 0 && s->touches == kept && s->batch == kept && s->held == kept);
			assert_true(s->sectors == kept && s->lanes == MOST_ROW * kept && s->writes == is_scatter * kept);
			for (unsigned p = 0; p < GN_AUTO_PAGE_SIZES; p++) {
				assert_true(s->paged[p].first_around == (is_scatter ? 0 : kept));
				assert_true((s->paged[p].first > 0) == is_scatter);
				assert_true(s->paged[p].pins == kept);
			}
			gn_auto_close(choice);
			close_batch(t, &b);
		}
}

/* Behind queue pairs a gather goes through the cache, and counts as what fetches. */
static void a_gather_from_blocks_fetches_pages(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	const struct gn_auto_rates rates = gpu_rates();
	struct gn_auto *choice;
	struct batch_bed b;

	open_wide(t, 1, 1, "memq:4M");
	b = open_batch(t, MOST_ROW);
	choice = open_choice(t, 0, COUNT, &rates);
	move_batch(t, choice, &b, 0);
	assert_true(choice->study.batch > 0 && choice->study.paged[3].first_around == 0 && choice->study.paged[3].first > 0);
	gn_auto_close(choice);
	close_batch(t, &b);
}

/* ---- what is chosen ---- */

static void a_hot_part_read_by_reference_is_cached(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	const struct gn_auto_rates rates = gpu_rates();

	for (unsigned form = 0; form < FORMS; form++)
		for (unsigned hot = 0; hot < 2; hot++) {
			struct gn_auto *choice;
			struct gn_array array;

			open_wide(t, 1, 1, "host:4M");
			choice = open_choice(t, 0, COUNT, &rates);
			array = gn_auto_array(choice);
			for (unsigned round = 0; round < (hot ? 8 : 1); round++) /* half of what the cache holds */
				launch_form(t, &array, (enum form)form, hot ? 8 : PIECES, 0, REGION_WORDS);
			assert_true(gn_auto_adapt(choice, &t->error) >= 0);
			assert_int_equal(choice->looks, 1);
			assert_int_equal(gn_auto_advice(choice), hot ? GN_ADVICE_PAGED : GN_ADVICE_DIRECT);
			gn_auto_close(choice);
		}
}

/* A program that follows the advice to gather is not told to stop, until it reads something else. */
static void the_advice_to_gather_stays(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_auto_rates rates = gpu_rates();
	struct gn_auto *choice;
	struct batch_bed b;

	rates.reach_bytes = 1 << 20; /* a quarter of the data */
	open_wide(t, 1, 1, "host:4M");
	b = open_batch(t, 1);
	choice = open_choice(t, 0, COUNT, &rates);
	for (unsigned k = 0; k < 3; k++) {
		assert_int_equal(gn__auto_look(choice, &t->error), 0);
		move_batch(t, choice, &b, 0);
		assert_int_equal(gn_auto_advice(choice), GN_ADVICE_GATHER);
	}
	assert_int_equal(gn__auto_look(choice, &t->error), 0);
	look_at_form(t, choice, FORM_RANGE, 0, REGION_WORDS);
	assert_int_equal(gn_auto_advice(choice), GN_ADVICE_DIRECT);
	gn_auto_close(choice);
	close_batch(t, &b);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, cache_setup, cache_teardown)
	const struct CMUnitTest tests[] = {
	    CASE(what_is_read_by_reference_is_seen_once),
	    CASE(a_loop_over_pages_is_seen_as_far_as_it_goes),
	    CASE(rows_of_batches_are_seen_once),
	    CASE(a_gather_from_blocks_fetches_pages),
	    CASE(a_hot_part_read_by_reference_is_cached),
	    CASE(the_advice_to_gather_stays),
	};

	return cmocka_run_group_tests_name("array: what every form of access leaves", tests, NULL, NULL);
}
