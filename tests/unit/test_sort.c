/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The far sort against qsort: sizes around pages, tiles and runs, every type and kind of keys, far more keys
 * than the memory and the cache hold, for narrow and wide warps, through caches of a few small pages and
 * without one.
 */
#include "far_base.h"
#include "sort_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sort/sort.h"

struct sort_way {
	unsigned warp_width;
	uint32_t page_bytes; /* 0: direct */
	uint64_t frames;
};

static const struct sort_way sort_ways[] = {{1, 512, 16},   {8, 512, 16},  {32, 512, 40}, {32, 4096, 64},
                                            {8, 512, 4096}, {1, 4096, 16}, {1, 0, 0},     {32, 0, 0}};

/* EACH: of the sizes and kinds, one of so many is run. */
#define WAYS few_drawn(2, sizeof sort_ways / sizeof *sort_ways)
#define EACH few_drawn(5u, 1u)

struct far {
	struct far_base base;
	struct gn_sort sort;
	uint64_t apart; /* bytes from one array to the next in the store */
};

static void open_array(struct far *f, struct gn_array *array, unsigned place, uint64_t count,
                       uint32_t key_bytes)
{
	struct gn_array_options a = {f->base.cache ? GN_PAGED : GN_DIRECT,
	                             f->base.cache,
	                             f->base.store,
	                             place * f->apart,
	                             count,
	                             key_bytes};

	must(gn_array_create(array, f->base.machine, &a, &error));
}

/* Three arrays side by side in a store, each from a page on. uri NULL: host memory. */
static void open_far(struct far *f, const struct sort_way *w, const char *uri, uint64_t count,
                     enum gn_sort_type type)
{
	const uint32_t key_bytes = gn_sort_key_bytes(type);
	char memory[64];

	memset(f, 0, sizeof *f);
	f->apart = (count * key_bytes + 4095) / 4096 * 4096;
	snprintf(memory, sizeof memory, "host:%llu", (unsigned long long)(3 * f->apart));
	open_base(&f->base, w->warp_width, uri ? uri : memory, w->page_bytes, w->frames * w->page_bytes);
	open_array(f, &f->sort.from, 0, count, key_bytes);
	open_array(f, &f->sort.runs, 1, count, key_bytes);
	open_array(f, &f->sort.to, 2, count, key_bytes);
	f->sort.cache = f->base.cache;
	f->sort.type = type;
}

static void close_far(struct far *f)
{
	gn_array_destroy(&f->sort.from, f->base.machine);
	gn_array_destroy(&f->sort.runs, f->base.machine);
	gn_array_destroy(&f->sort.to, f->base.machine);
	close_base(&f->base);
}

/* ---- the keys ---- */

static char *make_keys(unsigned kind, uint64_t count, uint32_t key_bytes)
{
	char *keys = (char *)malloc(count * key_bytes);
	uint64_t state = count * 8 + kind;

	assert_non_null(keys);
	for (uint64_t i = 0; i < count; i++) {
		const uint64_t key = key_of(kind, i, count, &state);

		memcpy(keys + i * key_bytes, &key, key_bytes);
	}
	return keys;
}

/* ---- one sort ---- */

struct job {
	const struct sort_way *way;
	enum gn_sort_type type;
	uint64_t count, room;
	unsigned in_place, hold;
};

static struct gn_sort_result result;

/* Sort keys; `want` has them in their order. */
static void check_keys(const struct job *job, const char *keys, const char *want)
{
	const uint32_t key_bytes = gn_sort_key_bytes(job->type);
	const uint64_t bytes = job->count * key_bytes;
	char *got = (char *)malloc(bytes);
	struct far f;

	assert_non_null(got);
	open_far(&f, job->way, NULL, job->count, job->type);
	must(gn_sort_plan_make(&f.sort.plan, job->count, key_bytes, job->room * 2 * key_bytes,
	                       job->way->page_bytes, &error));
	must(gn_store_write_host(f.base.store, 0, keys, bytes, &error));
	if (job->hold && f.base.cache)
		hold_all(&f.base, &f.sort.from, 64);
	if (job->in_place) {
		gn_array_destroy(&f.sort.to, f.base.machine);
		open_array(&f, &f.sort.to, 0, job->count, key_bytes);
	}
	must(gn_sort_run(f.base.machine, &f.sort, &result, &error));
	if (f.base.cache)
		must(gn_cache_flush(f.base.cache, &error));
	must(gn_store_read_host(f.base.store, job->in_place ? 0 : 2 * f.apart, got, bytes, &error));
	for (uint64_t i = 0; i < job->count; i++)
		if (memcmp(got + i * key_bytes, want + i * key_bytes, key_bytes))
			fail_msg("way %u, type %u, %llu keys with room for %llu: key %llu is wrong",
			         (unsigned)(job->way - sort_ways), (unsigned)job->type,
			         (unsigned long long)job->count, (unsigned long long)job->room,
			         (unsigned long long)i);
	close_far(&f);
	free(got);
}

static void check(const struct job *job, unsigned kind)
{
	const uint32_t key_bytes = gn_sort_key_bytes(job->type);
	char *keys = make_keys(kind, job->count, key_bytes), *want = make_keys(kind, job->count, key_bytes);

	qsort(want, job->count, key_bytes, gn_sort_compare(job->type));
	check_keys(job, keys, want);
	free(keys);
	free(want);
}

/* ---- sorts ---- */

static void sizes_around_pages_and_runs(void **state)
{
	static const uint64_t counts[] = {1,    2,    127,  128,  129,  1023, 1024,
	                                  1025, 2047, 2048, 2049, 5000, 10007};

	(void)state;
	for (unsigned w = 0; w < WAYS; w++)
		for (unsigned k = w % 4;
		     k<sizeof counts / sizeof *counts; k += sort_ways[w].warp_width> 8 ? 4 : 2) {
			const enum gn_sort_type type = k % 4 > 1 ? GN_SORT_U32 : GN_SORT_U64;
			const struct job job = {&sort_ways[w], type, counts[k], 1024 + k, k % 3 == 0, 0};

			check(&job, RANDOM);
		}
}

static void every_type_and_kind_of_keys(void **state)
{
	(void)state;
	for (unsigned type = GN_SORT_U32; type <= GN_SORT_F64; type++)
		for (unsigned kind = 0; kind < KINDS; kind += EACH) {
			const struct job job = {&sort_ways[kind % 2],
			                        (enum gn_sort_type)type,
			                        few_or_all(2501, 5001),
			                        1024,
			                        type % 2,
			                        0};

			check(&job, kind);
		}
}

/* 128 runs, in memory for 1 of 200 keys, through a cache of 16 pages. */
static void far_more_keys_than_memory(void **state)
{
	const struct job narrow = {&sort_ways[0], GN_SORT_U32, 100003 / EACH, 800, 1, 0};
	const struct job skewed = {&sort_ways[1], GN_SORT_I64, 50021 / EACH, 704, 0, 0};
	const struct job equal = {&sort_ways[6], GN_SORT_U64, 60000 / EACH, 512, 0, 0};

	(void)state;
	check(&narrow, RANDOM);
	assert_true(result.buckets >= narrow.count / 800 && result.buckets < 2 * narrow.count / 800);
	check(&skewed, SKEWED);
	check(&equal, EQUAL);
	assert_true(result.buckets >= equal.count / 512);
}

/* No page can be held: all is read and written key by key. */
static void without_frames_the_keys_are_right(void **state)
{
	(void)state;
	for (unsigned w = 0; w < 3; w += EACH) {
		const struct job narrow = {&sort_ways[w], GN_SORT_F32, 300, 128, 0, 1};
		const struct job wide = {&sort_ways[w], GN_SORT_I64, 150, 64, 0, 1};

		check(&narrow, RANDOM);
		check(&wide, RANDOM);
	}
}

static void order_of_numbers_with_a_sign(void **state)
{
	static const uint32_t sorted[] = {0xffc00000, 0xff800000, 0xc0000000, 0xbf800000,
	                                  0x80000001, 0x80000000, 0,          1,
	                                  0x3f800000, 0x40000000, 0x7f800000, 0x7fc00000};
	static const uint32_t mixed[] = {1,          0x7fc00000, 0x80000000, 0xff800000,
	                                 0x3f800000, 0xbf800000, 0x7f800000, 0,
	                                 0xc0000000, 0x80000001, 0x40000000, 0xffc00000};
	static const int32_t signed_sorted[] = {INT32_MIN, -2, -1, 0, 1, INT32_MAX};
	static const int32_t signed_mixed[] = {1, -1, INT32_MAX, INT32_MIN, 0, -2};
	const struct job real = {&sort_ways[0], GN_SORT_F32, 12, 100, 0, 0};
	const struct job whole = {&sort_ways[0], GN_SORT_I32, 6, 100, 0, 0};

	(void)state;
	check_keys(&real, (const char *)mixed, (const char *)sorted);
	check_keys(&whole, (const char *)signed_mixed, (const char *)signed_sorted);
	assert_int_equal(gn_sort_first_below(GN_SORT_F32, sorted, 12), 12);
	assert_int_equal(gn_sort_first_below(GN_SORT_I32, signed_sorted, 6), 6);
	assert_int_equal(gn_sort_first_below(GN_SORT_F32, mixed, 12), 2);
	assert_int_equal(gn_sort_first_below(GN_SORT_I32, signed_mixed, 6), 1);
}

/* Whole pages are not fetched before they are written; buckets share a page with the next at most. */
static void keys_move_twice(void **state)
{
	const struct sort_way w = {1, 512, 128};
	const uint64_t count = 100000, bytes = count * 4;
	char *keys = make_keys(RANDOM, count, 4);
	struct gn_cache_info info;
	struct far f;

	(void)state;
	open_far(&f, &w, NULL, count, GN_SORT_U32);
	must(gn_sort_plan_make(&f.sort.plan, count, 4, 1 << 17, 512, &error));
	must(gn_store_write_host(f.base.store, 0, keys, bytes, &error));
	must(gn_sort_run(f.base.machine, &f.sort, &result, &error));
	must(gn_cache_flush(f.base.cache, &error));
	gn_cache_describe(f.base.cache, &info, NULL);
	assert_in_range(info.statistics.fetched_bytes, 2 * bytes - w.frames * w.page_bytes,
	                2 * bytes * 11 / 10);
	assert_in_range(info.statistics.written_bytes, 2 * bytes, 2 * bytes * 11 / 10);
	close_far(&f);
	free(keys);
}

/* ---- the plan ---- */

/* Whatever the keys, a bucket fits: it has at most so many samples, and fewer than interval keys more a run.
 */
static void buckets_fit(void **state)
{
	uint64_t x = 1;
	unsigned good = 0;

	(void)state;
	for (unsigned k = 0; k < 100000; k++) {
		const uint64_t count = (next_random(&x) >> (24 + x % 40)) + 1,
		               bytes = next_random(&x) >> (20 + x % 44);
		const uint32_t page_bytes = x % 5 ? 512u << x % 13 : 0;
		struct gn_sort_plan p;
		const int rc = gn_sort_plan_make(&p, count, x % 2 ? 4 : 8, bytes, page_bytes, &error);

		if (rc || p.runs == 1)
			continue;
		good++;
		assert_true(p.runs * p.run_keys >= count && (p.runs - 1) * p.run_keys < count);
		assert_true(p.run_keys <= p.room && p.interval && p.bucket_samples);
		assert_true(p.bucket_samples * p.interval + p.runs * (p.interval - 1) <= p.room);
		assert_true(p.run_keys / p.interval * p.runs <= 1 << 24);
	}
	assert_true(good > 1000);
}

static void what_cannot_work_is_refused(void **state)
{
	struct gn_sort_plan p;
	struct far f;

	(void)state;
	assert_int_equal(gn_sort_plan_make(&p, 0, 4, 1 << 20, 4096, &error), -GN_EINVAL);
	assert_int_equal(gn_sort_plan_make(&p, 1 << 20, 4, 0, 4096, &error), -GN_ENOBUFS);
	assert_int_equal(gn_sort_plan_make(&p, 1 << 20, 4, 8191, 4096, &error), -GN_ENOBUFS);
	assert_int_equal(gn_sort_plan_make(&p, 1 << 20, 8, 16384, 512, &error), -GN_ENOBUFS);
	assert_non_null(strstr(error.text, "hold 1024 of 1048576 keys"));
	assert_non_null(strstr(error.text, "give 32768 bytes"));
	must(gn_sort_plan_make(&p, 1 << 20, 8, 32768, 512, &error));
	open_far(&f, &sort_ways[0], NULL, 100, GN_SORT_U32);
	must(gn_sort_plan_make(&f.sort.plan, 100, 4, 4096, 512, &error));
	gn_array_destroy(&f.sort.to, f.base.machine);
	open_array(&f, &f.sort.to, 2, 99, 4);
	assert_int_equal(gn_sort_run(f.base.machine, &f.sort, &result, &error), -GN_EINVAL);
	assert_non_null(strstr(error.text, "100 keys"));
	close_far(&f);
}

/* A file that has become shorter cannot be read: nothing is returned as if it had been. */
static void what_cannot_be_read_is_said(void **state)
{
	char path[] = "/tmp/test-sort-XXXXXX", uri[64];
	const int fd = mkstemp(path);
	struct far f;

	(void)state;
	assert_true(fd >= 0 && !ftruncate(fd, 3 * 40960));
	snprintf(uri, sizeof uri, "file:%s", path);
	open_far(&f, &sort_ways[5], uri, 10240, GN_SORT_U32);
	must(gn_sort_plan_make(&f.sort.plan, 10240, 4, 16384, 4096, &error));
	assert_false(ftruncate(fd, 4096));
	assert_int_not_equal(gn_sort_run(f.base.machine, &f.sort, &result, &error), 0);
	close_far(&f);
	close(fd);
	unlink(path);
}

static void sums_tell_sets_apart(void **state)
{
	const uint32_t a[] = {1, 2, 3, 4}, b[] = {4, 1, 3, 2}, c[] = {1, 2, 2, 5}, d[] = {4, 4, 1, 1};
	struct gn_sort_sum sum[4];

	(void)state;
	memset(sum, 0, sizeof sum);
	gn_sort_sum_add(&sum[0], GN_SORT_U32, a, 4);
	gn_sort_sum_add(&sum[1], GN_SORT_U32, b, 2);
	gn_sort_sum_add(&sum[1], GN_SORT_U32, b + 2, 2);
	gn_sort_sum_add(&sum[2], GN_SORT_U32, c, 4);
	gn_sort_sum_add(&sum[3], GN_SORT_U32, d, 4);
	assert_memory_equal(&sum[0], &sum[1], sizeof sum[0]);
	assert_memory_not_equal(&sum[0], &sum[2], sizeof sum[0]);
	assert_memory_not_equal(&sum[0], &sum[3], sizeof sum[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sizes_around_pages_and_runs),
	    cmocka_unit_test(every_type_and_kind_of_keys),
	    cmocka_unit_test(far_more_keys_than_memory),
	    cmocka_unit_test(without_frames_the_keys_are_right),
	    cmocka_unit_test(order_of_numbers_with_a_sign),
	    cmocka_unit_test(keys_move_twice),
	    cmocka_unit_test(buckets_fit),
	    cmocka_unit_test(what_cannot_work_is_refused),
	    cmocka_unit_test(what_cannot_be_read_is_said),
	    cmocka_unit_test(sums_tell_sets_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
