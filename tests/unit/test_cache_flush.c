/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flushes on streams, of ranges too, and prefetches: they return at once, run beside other kernels, and each
 * stream hears of its own flushes.
 */
#include "file_limit.h"
#include "test_cache_support.h"

enum { PAGE = 512, WORDS = PAGE / 8, PAGES = 16 };

/* A file of pages, all in the cache; two OS threads, so that two kernels run at once. */
static void open_file_words(struct cache_test *t, uint32_t ways)
{
	struct gn_cache_options o = {PAGES * PAGE,    PAGE, GN_FIFO, ways ? GN_TABLE_SETS : GN_TABLE_DIRECT,
	                             ways ? ways : 1, 0,    1};
	char uri[256];

	simt_free(t->machine, t->held);
	simt_close(t->machine);
	t->machine = open_machine(2, 1);
	t->held =
	    (struct gn_page *)simt_alloc(t->machine, MOST_HELD * sizeof *t->held, SIMT_PINNED, &t->error);
	remove(t->file);
	snprintf(uri, sizeof uri, "file:%s?create=%u&direct=0", t->file, PAGES * PAGE);
	open_store(t, uri, NULL);
	fill_store(t, t->store);
	open_cache(t, &o);
	open_words(t);
}

static struct simt_stream *new_stream(struct cache_test *t)
{
	struct simt_stream *stream;

	if (simt_stream_create(&stream, t->machine, &t->error))
		fail_msg("%s", t->error.text);
	return stream;
}

static int teardown(void **state)
{
	limit_writes(RLIM_INFINITY);
	return cache_teardown(state);
}

static int flush_on(struct cache_test *t, struct simt_stream *stream)
{
	assert_int_equal(gn_cache_flush_on(t->cache, stream, &t->error), 0);
	assert_int_equal(simt_stream_wait(stream, &t->error), 0);
	return gn_cache_flush_result(t->cache, stream, &t->error);
}

/* ---- beside a kernel that runs ---- */

struct holder {
	struct gn_array words;
	uint32_t *held, *go;
	int32_t *rc;
};

/* Writes word 0, holds its page for writing, writes word 1 when told to. */
SIMT_FN void hold_and_write(const struct holder *a)
{
	const uint32_t self = 1u << simt_lane();
	struct gn_page page;

	*a->rc = gn_array_acquire(&a->words, self, 0, 1, &page);
	if (!*a->rc)
		simt_store_relaxed_dev_u64((uint64_t *)page.data, 1000);
	simt_store_release_sys_u32(a->held, 1);
	while (!simt_load_acquire_sys_u32(a->go))
		simt_relax();
	if (*a->rc)
		return;
	simt_store_relaxed_dev_u64((uint64_t *)page.data + 1, 1001);
	gn_array_release(&a->words, self, &page);
}
SIMT_KERNEL(hold_and_write, struct holder)

static void a_flush_runs_beside_a_kernel(struct cache_test *t, uint32_t ways)
{
	struct simt_stream *holding, *flushing;
	struct simt_grid one = {1, 1, 0};
	struct holder h;
	uint32_t *flag;

	open_file_words(t, ways);
	holding = new_stream(t);
	flushing = new_stream(t);
	flag = (uint32_t *)simt_alloc(t->machine, 4096, SIMT_PINNED, &t->error);
	set(t, 3 * WORDS, 3000);
	h.words = t->array;
	h.held = flag;
	h.go = flag + 1;
	h.rc = (int32_t *)(flag + 2);
	assert_int_equal(simt_launch_on(holding, &hold_and_write_kernel, one, &h, &t->error), 0);
	while (!simt_load_acquire_sys_u32(h.held))
		simt_relax();
	assert_int_equal(*h.rc, 0);
	assert_int_equal(flush_on(t, flushing), 0);
	assert_int_equal(stored(t, 3 * WORDS), 3000);
	assert_int_equal(stored(t, 0), 1000); /* held, and yet what was written before is in the store */
	assert_int_equal(stored(t, 1), word_of(1));
	simt_store_release_sys_u32(h.go, 1);
	assert_int_equal(simt_stream_wait(holding, &t->error), 0);
	assert_int_equal(flush_on(t, flushing), 0); /* the page was kept dirty */
	assert_int_equal(stored(t, 1), 1001);
	assert_int_equal(info_of(t).dirty_pages, 0);
	simt_stream_destroy(holding);
	simt_stream_destroy(flushing);
	simt_free(t->machine, flag);
}

static void beside_a_kernel_direct(void **state)
{
	a_flush_runs_beside_a_kernel((struct cache_test *)*state, 0);
}

static void beside_a_kernel_sets(void **state)
{
	a_flush_runs_beside_a_kernel((struct cache_test *)*state, 4);
}

/* ---- failures ---- */

static void each_stream_hears_of_its_own(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct simt_stream *one, *other;

	open_file_words(t, 0);
	one = new_stream(t);
	other = new_stream(t);
	assert_int_equal(gn_cache_flush_result(t->cache, one, &t->error), 0); /* nothing was flushed */
	set(t, 14 * WORDS, 1);
	set(t, 15 * WORDS, 2);
	limit_writes(14 * PAGE);
	assert_int_equal(gn_cache_write_failure(t->cache, &t->error), 0);
	assert_int_equal(flush_on(t, one), -GN_EIO);
	assert_says(&t->error, "2 pages could not be written");
	assert_int_equal(gn_cache_flush_result(t->cache, one, &t->error), 0); /* told */
	assert_int_equal(gn_cache_flush_result(t->cache, other, &t->error), 0);
	assert_int_equal(gn_cache_write_failure(t->cache, &t->error), -GN_EIO);
	assert_says(&t->error, "GN_EIO");
	assert_int_equal(gn_cache_write_failure(t->cache, &t->error), 0);
	assert_int_equal(info_of(t).dirty_pages, 2);

	limit_writes(15 * PAGE);
	assert_int_equal(flush_on(t, other), -GN_EIO);
	assert_says(&t->error, "1 pages could not be written");
	assert_says(&t->error, "at page 15 ");
	assert_int_equal(stored(t, 14 * WORDS), 1);

	limit_writes(RLIM_INFINITY);
	assert_int_equal(flush_on(t, one), 0);
	assert_int_equal(stored(t, 15 * WORDS), 2);
	assert_int_equal(info_of(t).dirty_pages, 0);
	simt_stream_destroy(one);
	simt_stream_destroy(other);
}

/* ---- ranges ---- */

static int flush_range_on(struct cache_test *t, struct simt_stream *stream, uint64_t offset, uint64_t bytes)
{
	return gn_cache_flush_range_on(t->cache, stream, t->store, offset, bytes, &t->error);
}

/* Pages 2 and 3 and no other; what fails is the stream's, together with its other flushes. */
static void a_range_is_flushed_on_a_stream(struct cache_test *t, uint32_t ways)
{
	struct simt_stream *stream;

	open_file_words(t, ways);
	stream = new_stream(t);
	for (uint64_t page = 0; page < 8; page++)
		set(t, page * WORDS, page);
	assert_int_equal(flush_range_on(t, stream, 2 * PAGE + 511, 2), 0);
	assert_int_equal(simt_stream_wait(stream, &t->error), 0);
	assert_int_equal(gn_cache_flush_result(t->cache, stream, &t->error), 0);
	assert_int_equal(info_of(t).dirty_pages, 6);
	for (uint64_t page = 0; page < 8; page++)
		assert_int_equal(stored(t, page * WORDS),
		                 page == 2 || page == 3 ? page : word_of(page * WORDS));
	limit_writes(6 * PAGE);
	assert_int_equal(flush_range_on(t, stream, 6 * PAGE, PAGE), 0);
	assert_int_equal(flush_range_on(t, stream, 7 * PAGE, PAGE), 0);
	assert_int_equal(flush_range_on(t, stream, 0, PAGE), 0);
	assert_int_equal(simt_stream_wait(stream, &t->error), 0);
	assert_int_equal(gn_cache_flush_result(t->cache, stream, &t->error), -GN_EIO);
	assert_says(&t->error, "2 pages could not be written");
	assert_int_equal(stored(t, 0), 0);
	limit_writes(RLIM_INFINITY);
	assert_int_equal(flush_on(t, stream), 0);
	assert_int_equal(stored(t, 7 * WORDS), 7);
	simt_stream_destroy(stream);
}

static void a_range_on_a_stream_direct(void **state)
{
	a_range_is_flushed_on_a_stream((struct cache_test *)*state, 0);
}

static void a_range_on_a_stream_sets(void **state)
{
	a_range_is_flushed_on_a_stream((struct cache_test *)*state, 4);
}

/* A flush of a range that returns while a kernel holds its page, and a prefetch beside the same kernel. */
static void ranges_go_on_beside_a_kernel(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	const struct gn_cache_options small = {8 * PAGE, PAGE, GN_FIFO, GN_TABLE_DIRECT, 1, 0, 1};
	struct simt_stream *holding, *moving;
	struct simt_grid one = {1, 1, 0};
	struct holder h;
	uint32_t *flag;

	open_file_words(t, 0);
	close_cache(t);
	open_cache(t, &small);
	open_words(t);
	holding = new_stream(t);
	moving = new_stream(t);
	flag = (uint32_t *)simt_alloc(t->machine, 4096, SIMT_PINNED, &t->error);
	h.words = t->array;
	h.held = flag;
	h.go = flag + 1;
	h.rc = (int32_t *)(flag + 2);
	assert_int_equal(simt_launch_on(holding, &hold_and_write_kernel, one, &h, &t->error), 0);
	while (!simt_load_acquire_sys_u32(h.held))
		simt_relax();
	assert_int_equal(flush_range_on(t, moving, 0, PAGE), 0);
	assert_int_equal(
	    gn_cache_prefetch_range_on(t->cache, moving, t->store, 4 * PAGE, 4 * PAGE, &t->error), 0);
	assert_int_equal(simt_stream_wait(moving, &t->error), 0);
	assert_int_equal(gn_cache_flush_result(t->cache, moving, &t->error), 0);
	assert_int_equal(stored(t, 0), 1000);
	simt_store_release_sys_u32(h.go, 1);
	assert_int_equal(simt_stream_wait(holding, &t->error), 0);
	assert_int_equal(info_of(t).statistics.fetched, 5);
	for (uint64_t k = 4 * WORDS; k < 8 * WORDS; k++)
		assert_int_equal(get(t, k), word_of(k));
	assert_int_equal(info_of(t).statistics.fetched, 5);
	assert_int_equal(info_of(t).statistics.misses, 1);
	simt_stream_destroy(holding);
	simt_stream_destroy(moving);
	simt_free(t->machine, flag);
}

/* Nothing to do is no launch; what is wrong is said at once and launches nothing. */
static void ranges_on_streams_are_checked(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct simt_stream *stream;
	struct gn_store *other;

	open_file_words(t, 0);
	stream = new_stream(t);
	assert_int_equal(gn_store_open(&other, t->machine, "host:8K", NULL, &t->error), 0);
	set(t, 0, 1);
	assert_int_equal(flush_range_on(t, stream, PAGES * PAGE, 0), 0);
	assert_int_equal(flush_range_on(t, stream, PAGES * PAGE, 1), -GN_ERANGE);
	assert_says(&t->error, "past the end of the store (8192");
	assert_int_equal(gn_cache_flush_range_on(t->cache, stream, other, 0, 1, &t->error), -GN_EINVAL);
	assert_int_equal(gn_cache_prefetch_range_on(t->cache, stream, t->store, 0, 0, &t->error), 0);
	assert_int_equal(gn_cache_prefetch_range_on(t->cache, stream, t->store, 1, UINT64_MAX, &t->error),
	                 -GN_ERANGE);
	assert_int_equal(gn_cache_prefetch_range_on(t->cache, stream, other, 0, 1, &t->error), -GN_EINVAL);
	assert_int_equal(simt_stream_wait(stream, &t->error), 0);
	assert_int_equal(info_of(t).dirty_pages, 1);
	assert_int_equal(info_of(t).statistics.fetched, 1);
	gn_store_close(other);
	simt_stream_destroy(stream);
}

/* ---- polling ---- */

struct failing {
	struct gn_array words;
	uint32_t *go;
};

/* Fails at once and runs on until told to end. */
SIMT_FN void fail_and_stay(const struct failing *a)
{
	gn_read_u64(&a->words, gn_count(&a->words) + 5);
	while (!simt_load_acquire_sys_u32(a->go))
		simt_relax();
}
SIMT_KERNEL(fail_and_stay, struct failing)

static void failures_are_seen_while_kernels_run(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct simt_grid one = {1, 1, 0};
	struct simt_stream *stream;
	struct failing f;
	int rc = 0;

	open_file_words(t, 0);
	stream = new_stream(t);
	f.words = t->array;
	f.go = (uint32_t *)simt_alloc(t->machine, 4096, SIMT_PINNED, &t->error);
	assert_int_equal(simt_launch_on(stream, &fail_and_stay_kernel, one, &f, &t->error), 0);
	while (!rc)
		rc = gn_array_failure(&t->array, &t->error);
	assert_int_equal(rc, -GN_ERANGE);
	assert_says(&t->error, "element 1029 of 1024");
	assert_int_equal(gn_array_failure(&t->array, &t->error), 0);
	simt_store_release_sys_u32(f.go, 1);
	assert_int_equal(simt_stream_wait(stream, &t->error), 0);
	simt_stream_destroy(stream);
	simt_free(t->machine, f.go);
}

static void streams_of_a_cache_are_many_but_bounded(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct simt_stream *stream[GN_CACHE_FLUSH_STREAMS + 1];

	open_file_words(t, 0);
	for (int k = 0; k <= GN_CACHE_FLUSH_STREAMS; k++) {
		stream[k] = new_stream(t);
		assert_int_equal(gn_cache_flush_on(t->cache, stream[k], &t->error),
		                 k < GN_CACHE_FLUSH_STREAMS ? 0 : -GN_ENOBUFS);
	}
	for (int k = 0; k <= GN_CACHE_FLUSH_STREAMS; k++)
		simt_stream_destroy(stream[k]);
}

/*
 * One after the other they are as many as a program likes, and none hears of the failures of those that are
 * gone.
 */
static void streams_that_are_gone_leave_room(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct simt_stream *kept, *stream;

	open_file_words(t, 0);
	kept = new_stream(t);
	set(t, 14 * WORDS, 1);
	limit_writes(14 * PAGE);
	assert_int_equal(gn_cache_flush_on(t->cache, kept, &t->error), 0);
	for (int k = 0; k < 3 * GN_CACHE_FLUSH_STREAMS; k++) {
		stream = new_stream(t);
		assert_int_equal(gn_cache_flush_result(t->cache, stream, &t->error), 0);
		if (gn_cache_flush_on(t->cache, stream, &t->error))
			fail_msg("%s", t->error.text);
		simt_stream_destroy(stream); /* nobody asks what came of it */
	}
	assert_int_equal(simt_stream_wait(kept, &t->error), 0);
	assert_int_equal(gn_cache_flush_result(t->cache, kept, &t->error), -GN_EIO);
	assert_says(&t->error, "1 pages could not be written");
	simt_stream_destroy(kept);
	limit_writes(RLIM_INFINITY);
	flush(t);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, cache_setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(beside_a_kernel_direct),
	    CASE(beside_a_kernel_sets),
	    CASE(each_stream_hears_of_its_own),
	    CASE(a_range_on_a_stream_direct),
	    CASE(a_range_on_a_stream_sets),
	    CASE(ranges_go_on_beside_a_kernel),
	    CASE(ranges_on_streams_are_checked),
	    CASE(failures_are_seen_while_kernels_run),
	    CASE(streams_of_a_cache_are_many_but_bounded),
	    CASE(streams_that_are_gone_leave_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
