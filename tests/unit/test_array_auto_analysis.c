/* SPDX-License-Identifier: Apache-2.0 */
/* What is made of the log of a launch: the modelled cache, what each choice moves, the advice. */
#include "test_array_auto_support.h"

static uint64_t touch_of(uint64_t line, unsigned elements, uint64_t kind)
{
	return line << GN__TOUCH_LINE_SHIFT | kind | (elements - 1);
}

static uint64_t drawn(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* ---- the modelled cache against a list that is searched ---- */

enum { MOST_PAGES = 512, LINES_OF_PAGE = 4, REPLAYED = 4000 };

struct list {
	uint64_t page[MOST_PAGES];
	int valid[MOST_PAGES][LINES_OF_PAGE], dirty[MOST_PAGES][LINES_OF_PAGE];
	unsigned used;
};

/* Make the page the newest, which is last; of no lines if it was not there. Returns where it is. */
static unsigned list_find(struct list *l, unsigned capacity, uint64_t page, struct gn_auto_moved *m)
{
	struct list was;
	unsigned k = 0;

	while (k < l->used && l->page[k] != page)
		k++;
	was = *l;
	if (k == l->used) {
		m->frames++;
		if (l->used < capacity)
			l->used++;
		else
			k = 0;
		memset(was.valid[k], 0, sizeof was.valid[0]);
		memset(was.dirty[k], 0, sizeof was.dirty[0]);
	}
	for (unsigned n = k; n + 1 < l->used; n++) {
		l->page[n] = was.page[n + 1];
		memcpy(l->valid[n], was.valid[n + 1], sizeof was.valid[0]);
		memcpy(l->dirty[n], was.dirty[n + 1], sizeof was.dirty[0]);
	}
	l->page[l->used - 1] = page;
	memcpy(l->valid[l->used - 1], was.valid[k], sizeof was.valid[0]);
	memcpy(l->dirty[l->used - 1], was.dirty[k], sizeof was.dirty[0]);
	return l->used - 1;
}

/*
 * If a run of lines right before it is there, and nothing else but the page's last lines, as many more as the
 * run has are fetched.
 */
static unsigned lines_brought(const int *valid, unsigned line)
{
	unsigned run = 0, below = 0, above = 0, gap = 1, last = 0;

	while (run < line && valid[line - 1 - run])
		run++;
	for (unsigned k = 0; k < line; k++)
		below += (unsigned)valid[k];
	for (unsigned k = line + 1; k < LINES_OF_PAGE; k++)
		above += (unsigned)valid[k];
	while (last < LINES_OF_PAGE && valid[LINES_OF_PAGE - 1 - last])
		last++;
	if (!run || below != run || above != last)
		return 1;
	while (line + gap < LINES_OF_PAGE - last)
		gap++;
	return run < gap ? run : gap;
}

static void list_use(struct list *l, unsigned capacity, uint64_t touch, int around, struct gn_auto_moved *m)
{
	const uint64_t line = touch >> GN__TOUCH_LINE_SHIFT, page = line / LINES_OF_PAGE;
	const unsigned at = line % LINES_OF_PAGE;
	const int write = (touch & GN__TOUCH_WRITE) != 0;
	unsigned k = 0;

	while (k < l->used && l->page[k] != page)
		k++;
	if (around && k == l->used && touch & GN__TOUCH_BATCH && !write) {
		m->bypassed++;
		return;
	}
	k = list_find(l, capacity, page, m);
	m->hits += (uint64_t)l->valid[k][at];
	if (!l->valid[k][at] && !(write && (touch & GN__TOUCH_ELEMENTS) + 1 == 16)) {
		const unsigned brought = write ? 1 : lines_brought(l->valid[k], at);

		m->fetches++;
		m->sectors += brought;
		for (unsigned n = 0; n < brought; n++)
			l->valid[k][at + n] = 1;
	}
	l->valid[k][at] = 1;
	if (write && !l->dirty[k][at]) {
		int dirty = 0;

		for (unsigned n = 0; n < LINES_OF_PAGE; n++)
			dirty |= l->dirty[k][n];
		m->dirtied++;
		m->page_dirtied += !dirty;
		l->dirty[k][at] = 1;
	}
}

static void compare_caches(const uint64_t *touch, unsigned capacity, int around, uint64_t from)
{
	const struct gn_auto_model model = {9, 7, capacity, 16, around};
	const struct gn_auto_trace trace = {touch, from, REPLAYED};
	struct gn_auto_moved out, expected;
	struct list l;

	memset(&l, 0, sizeof l);
	memset(&expected, 0, sizeof expected);
	for (uint64_t k = 0; k < REPLAYED; k++) {
		if (k == from)
			memset(&expected, 0, sizeof expected);
		list_use(&l, capacity, touch[k], around, &expected);
	}
	assert_int_equal(gn__auto_replay(&trace, &model, &out), 0);
	assert_memory_equal(&out, &expected, sizeof out);
	assert_true(out.hits && out.fetches && out.frames && out.dirtied);
}

/*
 * Reads and writes, of whole lines too, in order now and then, and rows of batches, which may leave the cache
 * as it is.
 */
static void the_modelled_cache_is_lru(void **state)
{
	uint64_t *touch = (uint64_t *)malloc(REPLAYED * sizeof *touch);
	uint64_t draw = 7, line = 0;

	(void)state;
	assert_non_null(touch);
	for (unsigned k = 0; k < REPLAYED; k++) {
		const uint64_t kind = drawn(&draw) % 5 ? 0 : GN__TOUCH_WRITE;

		line = drawn(&draw) % 3 ? drawn(&draw) % (k % 2 ? 200 : 2000) : line + 1;
		touch[k] = touch_of(line, drawn(&draw) % 2 ? 16 : 3, kind | (k % 7 ? 0 : GN__TOUCH_BATCH));
	}
	for (unsigned capacity = 1; capacity < MOST_PAGES; capacity *= 4)
		for (int around = 0; around < 2; around++) {
			compare_caches(touch, capacity, around, 0);
			compare_caches(touch, capacity, around, REPLAYED / 3);
		}
	free(touch);
}

/* ---- what is made of a log ---- */

enum { TOUCHES = 20000 };

/* Of 4-byte words, on a machine of warps of 32 far from the memory; a cache of an eighth. */
static struct gn_auto_setup fixture_of(uint64_t lines)
{
	struct gn_auto_setup b;

	memset(&b, 0, sizeof b);
	b.bytes = lines * 128;
	b.cache_bytes = b.bytes / 8;
	b.near_bytes = 1 << 14;
	b.reach_bytes = 1ull << 40;
	b.element_bytes = 4;
	b.has_memory = 1;
	b.can = 15;
	b.warp_width = 32;
	return b;
}

static struct gn_auto_log log_of(uint64_t *touch, uint64_t count)
{
	const struct gn_auto_log log = {touch, count, count, 1ull << 32, 1};

	return log;
}

static struct gn_auto_analysis study_of(const struct gn_auto_setup *setup, uint64_t *touch, uint64_t count,
                                        uint64_t *before)
{
	const struct gn_auto_log log = log_of(touch, count), last = log_of(before, before ? count : 0);
	struct gn_auto_analysis out;

	assert_int_equal(gn__auto_analyse(setup, &log, &last, &out), 0);
	assert_true(out.touches == count && out.before == last.count);
	return out;
}

/* Half of the log is of regions that fell out; and half of what was noted found no room. */
static void a_log_is_sifted_by_the_last_bound(void **state)
{
	const struct gn_auto_setup setup = fixture_of(256 * 512);
	struct gn_auto_log log, before = log_of(NULL, 0);
	struct gn_auto_analysis out;
	uint64_t touch[256], kept = 0;

	(void)state;
	for (uint64_t k = 0; k < 256; k++) {
		touch[k] = touch_of(k * 512, 3, k % 2 ? GN__TOUCH_WRITE : 0);
		kept += gn__sample_hash(k) < 1u << 31;
	}
	log = log_of(touch, 256);
	log.keep = 1u << 31;
	assert_int_equal(gn__auto_analyse(&setup, &log, &before, &out), 0);
	assert_true(kept > 90 && kept < 166); /* it is a hash */
	assert_true(out.touches == kept && out.regions_kept == kept && out.regions == 256 &&
	            out.elements == 3 * kept);
	assert_true(out.covered == 1);
	log.noted = 256 + kept;
	assert_int_equal(gn__auto_analyse(&setup, &log, &before, &out), 0);
	assert_true(out.covered == 0.5);
}

/* The launch before counts where both looked. */
static void two_looks_are_compared_where_both_looked(void **state)
{
	const struct gn_auto_setup setup = fixture_of(256 * 512);
	struct gn_auto_log log, before;
	struct gn_auto_analysis out;
	uint64_t touch[256];

	(void)state;
	for (uint64_t k = 0; k < 256; k++)
		touch[k] = touch_of(k * 512, 1, 0);
	log = before = log_of(touch, 256);
	before.keep = 1u << 31;
	assert_int_equal(gn__auto_analyse(&setup, &log, &before, &out), 0);
	assert_true(out.touches < 166 && out.before == out.touches && out.regions_kept == out.touches);
	assert_int_equal(out.way[PAGES_4K].hits, out.touches);
}

/*
 * Whole lines in order over all of the data, as often as the cache may hold them or not, at once or launch by
 * launch.
 */
static void a_stream_is_cached_if_it_fits(void **state)
{
	static uint64_t touch[TOUCHES];

	(void)state;
	for (unsigned part = 2; part <= 16; part *= 8) {
		struct gn_auto_setup setup = fixture_of(TOUCHES * (part == 16 ? 16 : 1));
		struct gn_auto_analysis s;

		for (uint64_t k = 0; k < TOUCHES; k++)
			touch[k] = touch_of(k, 32, 0);
		s = study_of(&setup, touch, TOUCHES, NULL);
		assert_int_equal(s.best, GN_AUTO_DIRECT);
		assert_int_equal(s.way[GN_AUTO_DIRECT].fetches, TOUCHES);
		for (unsigned p = 0; p <= PAGES_4K; p++)
			assert_int_equal(s.way[p].frames, TOUCHES * 128 / gn_auto_page_bytes[p] +
			                                      (TOUCHES * 128 % gn_auto_page_bytes[p] != 0));
		s = study_of(&setup, touch, TOUCHES, touch);
		assert_int_equal(s.best == GN_AUTO_DIRECT, part == 2);
		assert_null(gn__auto_batches(&setup, &s));
	}
}

/* What the log did not see may have evicted what it saw; but not where the launch's pages fit altogether. */
static void a_log_that_ran_full_finds_nothing_of_the_launch_before(void **state)
{
	static uint64_t touch[TOUCHES];
	const struct gn_auto_setup setup = fixture_of(TOUCHES * 16);

	(void)state;
	for (uint64_t k = 0; k < TOUCHES; k++)
		touch[k] = touch_of(k, 32, 0);
	for (unsigned more = 0; more < 8; more += 4) {
		struct gn_auto_log log = log_of(touch, TOUCHES / 2), before = log;
		struct gn_auto_analysis s;

		log.noted += more * TOUCHES; /* the cache has 2 * TOUCHES lines */
		assert_int_equal(gn__auto_analyse(&setup, &log, &before, &s), 0);
		assert_int_equal(s.way[PAGES_4K].hits == TOUCHES / 2, !more);
		assert_int_equal(s.way[PAGES_4K].frames > 0, more > 0);
		assert_int_equal(s.best == GN_AUTO_DIRECT, more > 0);
	}
}

/*
 * Scattered words: directly if they are anywhere, by a cache of small pages if they are some that it can
 * hold.
 */
static void scattered_words_are_read_directly_and_a_hot_set_is_cached(void **state)
{
	static uint64_t touch[TOUCHES];
	const uint64_t lines = 1024 * 512;
	const struct gn_auto_setup setup = fixture_of(lines);
	uint64_t draw = 1;

	(void)state;
	for (unsigned hot = 0; hot < 2; hot++) {
		struct gn_auto_analysis s;

		for (uint64_t k = 0; k < TOUCHES; k++)
			touch[k] = touch_of(hot ? drawn(&draw) % 8000 * 61 : drawn(&draw) % lines, 1, 0);
		s = study_of(&setup, touch, TOUCHES, NULL);
		assert_int_equal(s.best, hot ? (int)PAGES_512 : (int)GN_AUTO_DIRECT);
		assert_int_equal(s.lines[PAGES_512] < s.lines[PAGES_4K],
		                 hot); /* else large ones take fewer frames */
		assert_int_equal(s.way[PAGES_512].fetches + s.way[PAGES_512].hits, TOUCHES);
	}
}

/* ---- the advice ---- */

/*
 * Thirty-two lanes, each along a line of its own: of a line one word at a time. Not so: side by side,
 * scattered, for writing, and words of a few hot lines.
 */
static void lanes_that_walk_lines_are_seen(void **state)
{
	enum { WALKED = 256 * 32 };
	static uint64_t touch[5][WALKED];
	struct gn_auto_setup setup = fixture_of(WALKED * 4);

	(void)state;
	for (uint64_t k = 0; k < WALKED; k++) {
		const uint64_t line = k / 1024 * 32 + k % 32;

		touch[0][k] = touch_of(4 * line, 1, 0);
		touch[1][k] = touch_of(k, 32, 0);
		touch[2][k] = touch_of(k * 7919 % WALKED, 1, 0);
		touch[3][k] = touch_of(4 * line, 1, GN__TOUCH_WRITE);
		touch[4][k] = touch_of(k % 16 ? k * 7919 % 64 * 32 : k * 7919 % WALKED, 1, 0);
	}
	for (unsigned way = 0; way < 5; way++) {
		const struct gn_auto_analysis s = study_of(&setup, touch[way], WALKED, NULL);
		const char *why = gn__auto_batches(&setup, &s);

		assert_int_equal(s.best, GN_AUTO_DIRECT);
		assert_int_equal(why != NULL, way == 0);
		if (why)
			assert_non_null(strstr(why, "walk lines"));
	}
	setup.warp_width = 1; /* lone threads always do */
	{
		const struct gn_auto_analysis s = study_of(&setup, touch[0], WALKED, NULL);

		assert_null(gn__auto_batches(&setup, &s));
	}
}

/*
 * The same lines again and again, more than a cache can hold: a batch moves each once. Scattered lines: fewer
 * translations.
 */
static void batches_are_advised_where_they_would_move_less(void **state)
{
	static uint64_t touch[TOUCHES];
	struct gn_auto_setup setup = fixture_of(1024 * 512);
	struct gn_auto_analysis s;
	uint64_t draw = 1;

	(void)state;
	setup.cache_bytes = 1 << 16;
	for (uint64_t k = 0; k < TOUCHES; k++)
		touch[k] = touch_of(k % 5000 * 100, 1, 0);
	s = study_of(&setup, touch, TOUCHES, NULL);
	assert_true(s.lines[s.best] == TOUCHES && s.batches == 5000);
	assert_non_null(strstr(gn__auto_batches(&setup, &s), "would move less"));
	for (uint64_t k = 0; k < TOUCHES; k++)
		touch[k] = touch_of(drawn(&draw) % (1024 * 512), 1, 0);
	s = study_of(&setup, touch, TOUCHES, NULL);
	assert_null(gn__auto_batches(&setup, &s));
	setup.reach_bytes = setup.bytes / 8;
	s = study_of(&setup, touch, TOUCHES, NULL);
	assert_int_equal(s.translated_sorted, 1024);
	assert_non_null(strstr(gn__auto_batches(&setup, &s), "translation"));
}

int main(void)
{
#define CASE(f) cmocka_unit_test(f)
	const struct CMUnitTest tests[] = {
	    CASE(the_modelled_cache_is_lru),
	    CASE(a_log_is_sifted_by_the_last_bound),
	    CASE(two_looks_are_compared_where_both_looked),
	    CASE(a_stream_is_cached_if_it_fits),
	    CASE(a_log_that_ran_full_finds_nothing_of_the_launch_before),
	    CASE(scattered_words_are_read_directly_and_a_hot_set_is_cached),
	    CASE(lanes_that_walk_lines_are_seen),
	    CASE(batches_are_advised_where_they_would_move_less),
	};

	return cmocka_run_group_tests_name("array: what is made of a sample", tests, NULL, NULL);
}
