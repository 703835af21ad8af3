/* SPDX-License-Identifier: Apache-2.0 */
/* What is made of the log of a launch: the modelled cache, the figures, the forecast. */
#include "test_array_auto_support.h"

/* ---- the modelled cache against a list that is searched ---- */

struct list {
	uint64_t page[512];
	int dirty[512];
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

static int list_has(const struct list *l, uint64_t page)
{
	for (unsigned k = 0; k < l->used; k++)
		if (l->page[k] == page)
			return 1;
	return 0;
}

enum { REPLAYED = 4000 };

static void compare_caches(const uint64_t *touch, unsigned capacity, uint64_t around)
{
	double fetched[2] = {0, 0}, alone[2] = {0, 0}, past[2] = {0, 0}, writes = 0;
	struct gn_auto_paged out;
	struct list l;

	memset(&l, 0, sizeof l);
	for (unsigned k = 0; k < 2 * REPLAYED; k++) {
		const uint64_t t = touch[k % REPLAYED], page = t >> GN_TOUCH_LINE_SHIFT >> 2;
		const int write = (t & GN_TOUCH_WRITE) != 0;
		int written;

		if (t & around && !write && !list_has(&l, page)) {
			past[k / REPLAYED]++;
			continue;
		}
		if (!list_use(&l, capacity, page, write, &written))
			continue;
		fetched[k / REPLAYED]++;
		alone[k / REPLAYED] += t & GN_TOUCH_HELD ? 0 : k % 2 ? 0.5 : 1;
		writes += k >= REPLAYED ? written : 0;
	}
	assert_int_equal(gn__auto_replay(touch, REPLAYED, 9, capacity, around, &out), 0);
	assert_true(out.first == fetched[0] && out.second == fetched[1]);
	assert_true(out.first_alone == alone[0] && out.second_alone == alone[1]);
	assert_true(out.first_around == past[0] && out.second_around == past[1]);
	assert_true(out.written == writes);
}

/* Also with rows of batches among the touches, which may leave the cache as it is. */
static void the_modelled_cache_is_lru(void **state)
{
	uint64_t *touch = (uint64_t *)malloc(REPLAYED * sizeof *touch);
	uint64_t draw = 7;

	(void)state;
	assert_non_null(touch);
	for (unsigned k = 0; k < REPLAYED; k++) {
		draw = draw * 6364136223846793005u + 1442695040888963407u;
		touch[k] = touch_of((draw >> 33) % (draw & 1u << 20 ? 200 : 2000), 1, 1 + k % 2, draw >> 60 == 3);
	}
	for (unsigned k = 0; k < REPLAYED; k += 5)
		touch[k] |= GN_TOUCH_HELD | GN_TOUCH_BATCH;
	for (unsigned capacity = 1; capacity <= 1024; capacity *= 4) { /* there are 500 pages */
		compare_caches(touch, capacity, 0);
		compare_caches(touch, capacity, GN_TOUCH_BATCH);
	}
	free(touch);
}

/* ---- what is made of a log ---- */

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

/* Lines from all over: their numbers have up to 48 bits. Nothing gets lost. */
static void a_log_is_left_in_order_of_address(void **state)
{
	enum { TOUCHES = 3000 };
	static uint64_t touch[TOUCHES];

	(void)state;
	for (unsigned bits = 1; bits <= 48; bits++) {
		uint64_t draw = bits, sum = 0, sorted = 0;

		for (unsigned k = 0; k < TOUCHES; k++) {
			draw = draw * 6364136223846793005u + 1442695040888963407u;
			touch[k] = touch_of(draw >> (64 - bits), 1 + k % 15, 1 + k % 32, 0);
			sum += touch[k] * (touch[k] >> 7);
		}
		assert_int_equal(study_of(touch, TOUCHES, TOUCHES, 1 << 20).touches, TOUCHES);
		for (unsigned k = 0; k < TOUCHES; k++) {
			assert_true(!k || touch[k - 1] >> GN_TOUCH_LINE_SHIFT <= touch[k] >> GN_TOUCH_LINE_SHIFT);
			sorted += touch[k] * (touch[k] >> 7);
		}
		assert_true(sorted == sum);
	}
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

/* Thirty-two lanes, each along a line of its own: of a line one word at a time. Not so: side by side, scattered, by reference. */
static void lanes_that_walk_lines_are_seen(void **state)
{
	enum { TOUCHES = 256 * 32 };
	static uint64_t touch[4][TOUCHES];

	(void)state;
	for (uint64_t k = 0; k < TOUCHES; k++) {
		const uint64_t line = k / 1024 * 32 + k % 32;

		touch[0][k] = touch_of(4 * line, 1u << k / 256 % 4, 1, 0);
		touch[1][k] = touch_of(k, 15, 32, 0);
		touch[2][k] = touch_of(k * 7919 % TOUCHES, 1, 1, 0);
		touch[3][k] = touch[0][k] | GN_TOUCH_HELD;
	}
	for (unsigned way = 0; way < 4; way++) {
		const struct gn_auto_study s = study_of(touch[way], TOUCHES, TOUCHES, TOUCHES * 128);

		assert_int_equal(gn__auto_walks(&s), way == 0);
	}
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

/*
 * Columns of a wide table, one after the other: every region each time, twice as many as translation
 * reaches. Where the lines stay in the processors' own caches, only the first time is anything translated.
 */
static void what_is_at_hand_is_not_translated(void **state)
{
	enum { REGIONS = 1024, SWEEPS = 16, TOUCHES = REGIONS * SWEEPS };
	uint64_t *touch = (uint64_t *)malloc(TOUCHES * sizeof *touch);

	(void)state;
	assert_non_null(touch);
	for (int stays = 0; stays < 2; stays++) {
		struct gn_auto_study_input in;
		struct gn_auto_study s;

		for (uint64_t k = 0; k < TOUCHES; k++)
			touch[k] = touch_of(k % REGIONS * REGION_LINES, 1, 1, 0);
		memset(&in, 0, sizeof in);
		in.touch = touch;
		in.count = in.noted = in.accesses = TOUCHES;
		in.keep = UINT32_MAX;
		in.element_bytes = 4;
		in.bytes = (uint64_t)REGIONS * REGION_LINES * 128;
		in.cache_bytes = in.bytes / 8;
		in.near_bytes = (stays ? 2 : 1) * REGIONS / 2 * 128;
		in.reach_bytes = in.bytes / 2;
		assert_int_equal(gn__auto_study(&in, &s), 0);
		assert_true(s.line_first == (stays ? REGIONS : TOUCHES) && s.lost_first == s.line_first);
		assert_true(s.line_second == (stays ? 0 : TOUCHES) && s.lost_second == s.line_second);
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

int main(void)
{
#define CASE(f) cmocka_unit_test(f)
	const struct CMUnitTest tests[] = {
	    CASE(the_modelled_cache_is_lru),
	    CASE(a_log_is_left_in_order_of_address),
	    CASE(a_stream_is_read_directly),
	    CASE(lanes_that_walk_lines_are_seen),
	    CASE(scattered_words_are_read_directly_and_a_hot_set_is_cached),
	    CASE(what_is_at_hand_is_not_translated),
	    CASE(a_log_is_sifted_by_the_last_bound),
	};

	return cmocka_run_group_tests_name("array: what is made of a sample", tests, NULL, NULL);
}
