/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The object that chooses a mode: what a launch leaves in the sample, what is made of it, and that nothing that is read or
 * written suffers, whatever is chosen.
 */
#include "test_cache_support.h"

#include <array/auto.h>

enum { PAGE = 4096, COUNT = 1 << 19 /* words of 8 bytes: 4 MiB, 64 regions */, CACHE = 1 << 20 };

/* ---- the modelled cache against a list that is searched ---- */

struct list {
	uint64_t page[64];
	int dirty[64];
	unsigned used;
};

/* Returns 1 on a miss; *written: a dirty page went. The newest is last. */
static int list_use(struct list *l, unsigned capacity, uint64_t page, int write, int *written)
{
	unsigned k = 0;
	int dirty = write, missed;

	while (k < l->used && l->page[k] != page)
		k++;
	missed = k == l->used;
	*written = 0;
	if (!missed)
		dirty |= l->dirty[k];
	else if (l->used < capacity)
		k = l->used++;
	else
		*written = l->dirty[k = 0];
	for (; k + 1 < l->used; k++) {
		l->page[k] = l->page[k + 1];
		l->dirty[k] = l->dirty[k + 1];
	}
	l->page[k] = page;
	l->dirty[k] = dirty;
	return missed;
}

static uint64_t touch_of(uint64_t line, unsigned sectors, unsigned lanes, int write)
{
	return line << GN_TOUCH_LINE_SHIFT | GN_TOUCH_VALID | (write ? GN_TOUCH_WRITE : 0) |
	       (uint64_t)sectors << GN_TOUCH_SECTOR_SHIFT | (lanes - 1);
}

static void the_modelled_cache_is_lru(void **state)
{
	enum { TOUCHES = 4000 };
	uint64_t *touch = (uint64_t *)malloc(TOUCHES * sizeof *touch);
	uint64_t draw = 7;

	(void)state;
	assert_non_null(touch);
	for (unsigned k = 0; k < TOUCHES; k++) {
		draw = draw * 6364136223846793005u + 1442695040888963407u;
		touch[k] = touch_of((draw >> 33) % (draw & 1u << 20 ? 200 : 2000), 1, 1 + k % 2, draw >> 60 == 3);
	}
	for (unsigned capacity = 1; capacity <= 64; capacity *= 4) {
		double fetched[2] = {0, 0}, alone[2] = {0, 0}, writes = 0;
		struct gn_auto_paged out;
		struct list l;

		memset(&l, 0, sizeof l);
		for (unsigned k = 0; k < 2 * TOUCHES; k++) {
			const uint64_t t = touch[k % TOUCHES];
			int written;

			if (!list_use(&l, capacity, t >> GN_TOUCH_LINE_SHIFT >> 2, (t & GN_TOUCH_WRITE) != 0, &written))
				continue;
			fetched[k / TOUCHES]++;
			alone[k / TOUCHES] += k % 2 ? 0.5 : 1;
			writes += k >= TOUCHES ? written : 0;
		}
		assert_int_equal(gn__auto_replay(touch, TOUCHES, 9, capacity, &out), 0);
		assert_true(out.first == fetched[0] && out.second == fetched[1]);
		assert_true(out.first_alone == alone[0] && out.second_alone == alone[1]);
		assert_true(out.written == writes);
	}
	free(touch);
}

/* ---- what is made of a log ---- */

enum { REGION_LINES = 512 };

static struct gn_auto_study study_of(uint64_t *touch, uint64_t count, uint64_t accesses, uint64_t bytes)
{
	struct gn_auto_study_input in;
	struct gn_auto_study out;

	memset(&in, 0, sizeof in);
	in.touch = touch;
	in.count = in.noted = count;
	in.accesses = accesses;
	in.keep = UINT32_MAX;
	in.element_bytes = 4;
	in.bytes = bytes;
	in.cache_bytes = bytes / 8;
	in.near_bytes = 1 << 14;
	in.reach_bytes = 1ull << 40;
	assert_int_equal(gn__auto_study(&in, &out), 0);
	return out;
}

/* Rates of a GPU behind PCIe: loads 0.7 G/s near and 43 M/s far, 51 GB/s; 12 M pages of 4 KiB a second. */
static struct gn_auto_rates gpu_rates(void)
{
	struct gn_auto_rates r;

	memset(&r, 0, sizeof r);
	r.measured = 1;
	r.line = 1.0e-9;
	r.sector = 0.375e-9;
	r.again = 0.1e-9;
	r.lost = 22e-9;
	r.hit = 0.04e-9;
	for (unsigned p = 0; p < GN_AUTO_PAGE_SIZES; p++) {
		r.together[p] = gn_auto_page_bytes[p] / 51e9;
		r.together[p] = r.together[p] > 30e-9 ? r.together[p] : 30e-9;
		r.alone[p] = 2 * r.together[p];
	}
	return r;
}

static struct gn_auto_forecast forecast_of(const struct gn_auto_study *s)
{
	static const double same[GN_AUTO_PAGE_SIZES] = {1, 1, 1, 1, 1, 1};
	const struct gn_auto_rates rates = gpu_rates();
	struct gn_auto_forecast f;
	struct gn_auto_config c;

	memset(&c, 0, sizeof c);
	gn__auto_forecast(s, &rates, &c, 1, same, &f);
	return f;
}

/* Whole lines, one after the other, over eight times the cache. */
static void a_stream_is_read_directly(void **state)
{
	enum { LINES = 64 * REGION_LINES };
	uint64_t *touch = (uint64_t *)malloc(LINES * sizeof *touch);
	struct gn_auto_forecast f;
	struct gn_auto_study s;

	(void)state;
	assert_non_null(touch);
	for (uint64_t k = 0; k < LINES; k++)
		touch[k] = touch_of(k, 15, 32, 0);
	s = study_of(touch, LINES, LINES * 32, LINES * 128);
	assert_int_equal(s.touches, LINES);
	assert_int_equal(s.regions, 64);
	assert_true(s.share == 1 && s.covered == 1 && s.line_use == 1);
	for (unsigned p = 0; p < GN_AUTO_PAGE_SIZES; p++) {
		assert_true(s.paged[p].used == 1);
		assert_true(s.paged[p].first == LINES * 128.0 / gn_auto_page_bytes[p]); /* each page once a launch */
		assert_true(s.paged[p].second == s.paged[p].first);
	}
	f = forecast_of(&s);
	assert_int_equal(f.best, GN_AUTO_DIRECT);
	/* 4 MiB at 51 GB/s */
	assert_true(f.seconds[GN_AUTO_DIRECT] > 0.9 * 82e-6 && f.seconds[GN_AUTO_DIRECT] < 1.1 * 82e-6);
	free(touch);
}

static void scattered_words_are_read_directly_and_a_hot_set_is_cached(void **state)
{
	enum { TOUCHES = 20000 };
	const uint64_t lines = 1024 * REGION_LINES; /* 64 MiB */
	uint64_t *touch = (uint64_t *)malloc(TOUCHES * sizeof *touch), draw = 1;
	struct gn_auto_forecast f;
	struct gn_auto_study s;

	(void)state;
	assert_non_null(touch);
	for (unsigned hot = 0; hot < 2; hot++) {
		for (uint64_t k = 0; k < TOUCHES; k++) {
			draw = draw * 6364136223846793005u + 1442695040888963407u;
			touch[k] = touch_of((draw >> 30) % (hot ? lines / 64 : lines), 1, 1, 0);
		}
		s = study_of(touch, TOUCHES, TOUCHES, lines * 128);
		f = forecast_of(&s);
		assert_int_equal(f.class_seen, hot ? GN_CLASS_LOCAL : GN_CLASS_INSENSITIVE);
		if (hot)
			assert_int_not_equal(f.best, GN_AUTO_DIRECT);
		else
			assert_int_equal(f.best, GN_AUTO_DIRECT);
		if (hot) /* the second launch finds everything */
			assert_true(s.paged[3].second == 0 && s.paged[3].first > 0);
	}
	free(touch);
}

/* Half of the log is of regions that fell out. */
static void a_log_is_sifted_by_the_last_bound(void **state)
{
	struct gn_auto_study_input in;
	struct gn_auto_study out;
	uint64_t touch[256], kept = 0;

	(void)state;
	memset(&in, 0, sizeof in);
	for (uint64_t k = 0; k < 256; k++) {
		touch[k] = touch_of(k * REGION_LINES, 1, 1, k % 2);
		kept += gn_sample_hash(k) < UINT32_MAX / 2;
	}
	in.touch = touch;
	in.count = 256;
	in.noted = 512; /* ran full */
	in.accesses = 512;
	in.keep = UINT32_MAX / 2;
	in.element_bytes = 4;
	in.bytes = 256 << GN_SAMPLE_REGION_LOG2;
	in.cache_bytes = in.near_bytes = in.reach_bytes = 1 << 20;
	assert_int_equal(gn__auto_study(&in, &out), 0);
	assert_true(kept > 90 && kept < 166); /* it is a hash */
	assert_int_equal(out.touches, kept);
	assert_int_equal(out.regions_kept, kept);
	assert_int_equal(out.regions, 256);
	assert_true(out.covered > 0.49 && out.covered < 0.51);
}

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

static struct gn_auto *open_choice(struct cache_test *t, uint64_t offset, uint64_t count, const struct gn_auto_rates *rates)
{
	struct gn_auto_rates copy = *rates;
	struct gn_auto *choice = NULL;
	struct gn_auto_config c;

	memset(&c, 0, sizeof c);
	c.cache_bytes = CACHE;
	c.offset = offset;
	c.count = count;
	c.element_bytes = 8;
	c.rates = &copy;
	if (gn_auto_open(&choice, t->machine, t->store, &c, &t->error))
		fail_msg("%s", t->error.text);
	return choice;
}

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

static void open_wide(struct cache_test *t, unsigned threads, unsigned width, const char *uri)
{
	close_store(t);
	simt_free(t->machine, t->held);
	simt_close(t->machine);
	t->machine = open_machine(threads, width);
	t->held = (struct gn_page *)simt_alloc(t->machine, MOST_HELD * sizeof *t->held, SIMT_SHARED);
	if (gn_store_open(&t->store, t->machine, uri, NULL, &t->error))
		fail_msg("%s", t->error.text);
	fill_store(t, t->store);
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
	    CASE(the_modelled_cache_is_lru),
	    CASE(a_stream_is_read_directly),
	    CASE(scattered_words_are_read_directly_and_a_hot_set_is_cached),
	    CASE(a_log_is_sifted_by_the_last_bound),
	    CASE(lanes_that_share_a_line_leave_one_touch),
	    CASE(every_launch_reads_what_is_there),
	    CASE(the_first_look_chooses),
	    CASE(a_part_that_fits_is_cached),
	    CASE(a_store_of_blocks_has_pages_only),
	    CASE(a_machine_is_measured_once),
	    CASE(the_failure_stays_when_the_mode_changes),
	    CASE(what_cannot_be_is_refused),
	};

	return cmocka_run_group_tests_name("array: choosing the mode", tests, NULL, NULL);
}
