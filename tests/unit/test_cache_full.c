/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk without room. What could not be written is kept and reported, the launch that found out soon ends,
 * and once room was made a flush writes it all. The disk is a file whose writes this program's own pwritev
 * refuses while it is full.
 */
#include "test_cache_support.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 512, WORDS = PAGE / 8, PAGES = 64, FRAMES = 16, MANY = 600 };

static uint32_t full, refused;

/* In place of the C library's, which the threads of a file: store call. */
/* clang-format off */
#ifdef __cplusplus
extern "C"
#endif
ssize_t pwritev(int fd, const struct iovec *pieces, int count, off_t offset)
/* clang-format on */
{
	if (simt_load_acquire_sys_u32(&full)) {
		simt_add_relaxed_dev_u32(&refused, 1);
		errno = ENOSPC;
		return -1;
	}
	return syscall(SYS_pwritev, fd, pieces, (long)count, (long)offset, 0l);
}

static void fill_disk(uint32_t is_full)
{
	simt_store_release_sys_u32(&full, is_full);
}

static uint32_t times_refused(void)
{
	return simt_load_relaxed_dev_u32(&refused);
}

static void open_disk(struct cache_test *t, uint32_t ways, uint32_t width)
{
	struct gn_cache_options o = {FRAMES * PAGE,   PAGE, GN_CLOCK, ways ? GN_TABLE_SETS : GN_TABLE_DIRECT,
	                             ways ? ways : 1, 0,    1};
	char uri[256];

	widen(t, width);
	remove(t->file);
	snprintf(uri, sizeof uri, "file:%s?create=%u&direct=0&io=threads", t->file, PAGES * PAGE);
	open_store(t, uri, NULL);
	fill_store(t, t->store);
	open_cache(t, &o);
	open_words(t);
	fill_disk(0);
	simt_store_relaxed_dev_u32(&refused, 0);
}

struct pass_args {
	struct gn_array array;
	uint64_t first, last; /* pages; or for writes words */
	uint32_t intent;
	uint32_t *given; /* pages handed out */
	int32_t *rc;     /* of the loop; or the last that a write returned */
};

/* A warp goes over pages and writes their first word, page + 1000. */
SIMT_FN void loop_over_pages(const struct pass_args *a)
{
	const uint32_t width = simt_warp_width(), all = width == 32 ? 0xffffffffu : (1u << width) - 1;
	struct gn_range r = gn_range_begin(&a->array, all, a->first * WORDS, a->last * WORDS, a->intent);
	struct gn_page page;
	int rc;

	while (gn_range_next(&r, &page)) {
		if (a->intent == GN_OVERWRITE)
			for (uint64_t k = simt_lane(); k < page.count; k += width)
				((uint64_t *)page.data)[k] = page.first / WORDS + 1000 + k;
		else if (!simt_lane() && a->intent == GN_WRITE)
			*(uint64_t *)page.data = page.first / WORDS + 1000;
		if (!simt_lane())
			++*a->given;
	}
	rc = gn_range_end(&r);
	if (!simt_lane())
		*a->rc = rc;
}
SIMT_KERNEL(loop_over_pages, struct pass_args)

/* Each lane writes a word of a page of its own, again and again, of pages that are not in the cache. */
SIMT_FN void write_words(const struct pass_args *a)
{
	for (uint64_t k = simt_lane(); k < MANY; k += simt_warp_width()) {
		const uint64_t page = a->first + k % (a->last - a->first);
		const int32_t rc = gn_write_u64(&a->array, page * WORDS + 1, page + 2000);

		if (rc)
			simt_store_relaxed_dev_u32((uint32_t *)a->rc, (uint32_t)rc);
	}
}
SIMT_KERNEL(write_words, struct pass_args)

static void run_pass(struct cache_test *t, const struct simt_kernel *kernel, uint32_t width,
                     struct pass_args *a, uint32_t *given, int32_t *rc)
{
	a->array = t->array;
	a->given = given;
	a->rc = rc;
	*given = 0;
	*rc = 0;
	run_block(t, kernel, width, a);
}

/* Fill the cache with pages that cannot be written: a loop that wants more ends and says why. */
static void a_loop_says_that_the_disk_is_full(struct cache_test *t, uint32_t ways, uint32_t width,
                                              uint32_t intent)
{
	struct pass_args a = {t->array, 0, PAGES, intent, NULL, NULL};
	struct gn_cache_info f;
	uint32_t given, kept = 0;
	int32_t rc;

	open_disk(t, ways, width);
	fill_disk(1);
	run_pass(t, &loop_over_pages_kernel, width, &a, &given, &rc);
	assert_int_equal(rc, -GN_ENOSPC);
	assert_in_range(given, 1, FRAMES);
	assert_int_equal(gn_array_failure(&t->array, &t->error), -GN_ENOSPC);
	assert_says(&t->error, "GN_ENOSPC");
	kept = (uint32_t)info_of(t).dirty_pages;
	assert_in_range(kept, given, FRAMES);
	for (int again = 0; again < 3; again++) { /* counted once, however often it is tried */
		char words[64];

		snprintf(words, sizeof words, "%u pages could not be written and stay in the cache", kept);
		assert_int_equal(gn_cache_flush(t->cache, &t->error), -GN_ENOSPC);
		assert_says(&t->error, words);
		assert_says(&t->error, "free storage");
	}
	assert_int_equal(gn_cache_write_failure(t->cache, &t->error), -GN_ENOSPC);
	assert_true(strtoul(t->error.text + strlen("cache: "), NULL, 10) <= kept);

	fill_disk(0);
	flush(t);
	f = info_of(t);
	assert_int_equal(f.dirty_pages, 0);
	for (uint64_t page = 0; page < given; page++)
		assert_int_equal(stored(t, page * WORDS), page + 1000);
	for (uint64_t page = given; page < PAGES; page++)
		assert_int_equal(stored(t, page * WORDS), word_of(page * WORDS));
	run_pass(t, &loop_over_pages_kernel, width, &a, &given, &rc);
	assert_int_equal(rc, 0);
	assert_int_equal(given, PAGES);
	flush(t);
	assert_int_equal(gn_cache_write_failure(t->cache, &t->error), 0);
	for (uint64_t page = 0; page < PAGES; page++)
		assert_int_equal(stored(t, page * WORDS), page + 1000);
}

static void loops(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (uint32_t k = 0; k < 8; k++)
		a_loop_says_that_the_disk_is_full(t, k & 1 ? 4 : 0, k & 2 ? 32 : 1,
		                                  k & 4 ? GN_OVERWRITE : GN_WRITE);
}

/* Writes of elements fail without asking the disk again each time; reads go on; a flush ends it. */
static void a_full_disk_is_not_asked_again_and_again(struct cache_test *t, uint32_t ways, uint32_t width)
{
	struct pass_args a = {t->array, 0, PAGES, GN_WRITE, NULL, NULL};
	uint32_t given, pages = 0;
	int32_t rc;

	open_disk(t, ways, width);
	fill_disk(1);
	run_pass(t, &write_words_kernel, width, &a, &given, &rc);
	assert_int_equal(rc, -GN_ENOSPC);
	assert_int_equal(gn_array_failure(&t->array, &t->error), -GN_ENOSPC);
	assert_in_range(times_refused(), 1, 4 * (FRAMES + width));
	assert_int_equal(gn_cache_write_failure(t->cache, &t->error), -GN_ENOSPC);
	assert_true(strtoul(t->error.text + strlen("cache: "), NULL, 10) <= FRAMES);
	for (uint64_t page = 0; page < PAGES; page++)
		assert_int_equal(get(t, page * WORDS), word_of(page * WORDS));
	assert_int_equal(hold(t, 0, (PAGES - 1) * WORDS, GN_WRITE), -GN_ENOSPC);
	assert_in_range(times_refused(), 1, 4 * (FRAMES + width));

	fill_disk(0); /* nobody knows before somebody asks */
	flush(t);
	for (uint64_t page = 0; page < PAGES; page++)
		pages += stored(t, page * WORDS + 1) == page + 2000;
	assert_in_range(pages, 1, FRAMES);
	run_pass(t, &write_words_kernel, width, &a, &given, &rc);
	assert_int_equal(rc, 0);
	flush(t);
	for (uint64_t page = 0; page < PAGES; page++)
		assert_int_equal(stored(t, page * WORDS + 1), page + 2000);
}

static void writes(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (uint32_t k = 0; k < 4; k++)
		a_full_disk_is_not_asked_again_and_again(t, k & 1 ? 4 : 0, k & 2 ? 32 : 1);
}

/*
 * A cache of two stores, of which one is full: the other's pages come and go, also to and from frames that
 * wait.
 */
static void one_of_two_stores_is_full(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (uint32_t ways = 0; ways <= 4; ways += 4) {
		struct gn_cache_options o = {
		    FRAMES * PAGE,   PAGE, GN_FIFO, ways ? GN_TABLE_SETS : GN_TABLE_DIRECT,
		    ways ? ways : 1, 0,    1};
		struct gn_store *store[2];
		struct gn_array other;

		open_disk(t, ways, 1);
		close_cache(t);
		store[0] = t->store;
		assert_int_equal(gn_store_open(&store[1], t->machine, "memq:32K", NULL, &t->error), 0);
		assert_int_equal(gn_cache_create(&t->cache, t->machine, store, 2, &o, &t->error), 0);
		open_words(t);
		other = make_array(t, GN_PAGED, store[1], 0, PAGES * WORDS, 8);
		fill_disk(1);
		set(t, 3 * WORDS, 42);
		set(t, 5 * WORDS, 43);
		for (uint64_t page = 0; page < PAGES; page++)
			assert_int_equal(act_one(t, &other, ACT_WRITE, 0, page * WORDS, page + 1).rc, 0);
		assert_int_equal(set_code(t, 9 * WORDS, 44), -GN_ENOSPC);
		for (uint64_t page = 0; page < PAGES; page++)
			assert_int_equal(act_one(t, &other, ACT_READ, 0, page * WORDS, 0).value[0], page + 1);
		assert_int_equal(act_one(t, &other, ACT_ACQUIRE_WRITE, 0, 0, 0).rc, 0);
		let_go(t, 0);
		assert_int_equal(get(t, 3 * WORDS), 42);
		fill_disk(0);
		flush(t);
		assert_int_equal(stored(t, 3 * WORDS), 42);
		assert_int_equal(stored(t, 5 * WORDS), 43);
		gn_array_destroy(&other, t->machine);
		close_cache(t);
		gn_store_close(store[1]);
	}
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, cache_setup, cache_teardown)
	const struct CMUnitTest tests[] = {
	    CASE(loops),
	    CASE(writes),
	    CASE(one_of_two_stores_is_full),
	};

	return cmocka_run_group_tests_name("cache: a disk without room", tests, NULL, NULL);
}
