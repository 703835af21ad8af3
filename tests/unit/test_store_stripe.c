/* SPDX-License-Identifier: Apache-2.0 */
/* A stripe has the bytes of its members, a unit of each in turn, and no others. */
#include <store/set/stripe.h>

#include "test_set_support.h"

enum { UNIT = 4096, ROWS = 6 };

static void open_stripe(struct store_test *t, unsigned members, const char *begin, const char *each,
                        const struct gn_store_options *options)
{
	open_uri(t, set_uri(t, begin, members, each), options);
}

static void make_members(const struct store_test *t, unsigned members)
{
	for (unsigned k = 0; k < members; k++)
		make_member(t, k, ROWS * UNIT);
}

/* Unit u of the stripe is unit u / members of member u % members. */
static void assert_layout(const struct store_test *t, unsigned members, uint32_t round)
{
	unsigned char unit[UNIT];

	for (uint64_t u = 0; u < (uint64_t)members * ROWS; u++) {
		read_member(t, (unsigned)(u % members), u / members * UNIT, unit, UNIT);
		for (unsigned k = 0; k < UNIT; k++)
			if (unit[k] != byte_of(u * UNIT + k, round))
				fail_msg("%u members: byte %u of unit %llu is not where it must be", members,
				         k, (unsigned long long)u);
	}
}

static void kernels_and_host_find_the_same_bytes(void **state)
{
	static const unsigned counts[] = {1, 2, 3, 8};
	struct store_test *t = (struct store_test *)*state;

	for (unsigned k = 0; k < few_or_all(2, 4); k++) {
		make_members(t, counts[k]);
		open_stripe(t, counts[k], "stripe:unit=4K,", "", NULL);
		assert_int_equal(gn_store_view_of(t->store)->capacity_bytes, counts[k] * ROWS * UNIT);
		for (uint32_t page = 512; page <= UNIT; page *= 8) {
			must_move_lanes(t, page, 1, page);
			must_move_lanes(t, page, 0, page);
			assert_content(t, 0, counts[k] * ROWS * UNIT, page);
		}
		assert_int_equal(gn_store_flush(t->store, &t->error), 0);
		close_store(t);
		assert_layout(t, counts[k], UNIT);
	}
}

/* Lanes of one warp have transfers under way on several members, in queues that hold few of them. */
static void wide_warps_use_all_members_together(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	simt_close(t->machine);
	t->machine = open_machine(2, 32);
	open_uri(t, "stripe:unit=4K,memq:192K?queues=1&depth=4,memq:192K?queues=2&depth=2,memq:192K", NULL);
	assert_int_equal(gn_store_view_of(t->store)->queue_count, 1);
	must_move_lanes(t, 4096, 1, 1);
	must_move_lanes(t, 4096, 0, 1);
	must_move_lanes(t, 1024, 1, 2);
	must_move_lanes(t, 1024, 0, 2);
	assert_content(t, 0, 3 * 192 << 10, 2);
}

static void every_member_works(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_statistics s;
	struct gn_store_options options;
	struct gn_fault_plan plan;

	plan_faults(&options, &plan);
	plan.fail_ppm = 1000000;
	for (uint32_t member = 0; member < 3; member++) {
		plan.members = 1u << member;
		open_uri(t, "stripe:unit=4K,memq:48K,memq:48K,memq:48K", &options);
		assert_int_equal(move_lanes(t, 4096, 0, 0).failed, 12);
		gn_store_get_statistics(t->store, &s);
		assert_int_equal(s.reads, 24);
		assert_int_equal(s.read_bytes, 24 * 4096);
		close_store(t);
	}
}

static void a_part_of_a_stripe_is_read_and_written_by_the_host(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	unsigned char model[3 * ROWS * UNIT], got[3 * ROWS * UNIT];
	uint64_t random = 7;

	make_members(t, 3);
	open_stripe(t, 3, "stripe:unit=4K,", "", NULL);
	memset(model, 0, sizeof model);
	for (int k = 0; k < 300; k++) {
		const uint64_t at = walk_next(&random) % sizeof model;
		const size_t bytes = walk_next(&random) % (sizeof model - at) + 1;

		for (size_t i = 0; i < bytes; i++)
			model[at + i] = (unsigned char)walk_next(&random);
		assert_int_equal(gn_store_write_host(t->store, at, &model[at], bytes, &t->error), 0);
	}
	assert_int_equal(gn_store_read_host(t->store, 0, got, sizeof got, &t->error), 0);
	assert_memory_equal(got, model, sizeof model);
	assert_int_equal(gn_store_read_host(t->store, sizeof model, got, 1, &t->error), -GN_ERANGE);
	assert_int_equal(gn_store_read_host(t->store, 5000, got, 9001, &t->error), 0);
	assert_memory_equal(got, &model[5000], 9001);
}

static void threads_read_and_write_few_bytes(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	const struct gn_store_view *view;
	unsigned char value[16], got[16];

	needs_cpu(t);
	open_uri(t, "stripe:unit=4K,memq:24K,memq:24K,memq:24K", NULL);
	view = gn_store_view_of(t->store);
	for (uint64_t at = 0; at < view->capacity_bytes; at += 1024 + 16) {
		for (unsigned k = 0; k < 16; k++)
			value[k] = byte_of(at + k, 1);
		assert_int_equal(gn_store_write_thread(view, at, value, 16).code, 0);
		assert_int_equal(gn_store_read_thread(view, at, got, 16).code, 0);
		assert_memory_equal(got, value, 16);
		assert_content(t, at, 16, 1);
	}
}

static void an_array_with_write_back_is_as_one_in_memory(void **state)
{
	static const unsigned counts[] = {2, 3, 8};
	struct store_test *t = (struct store_test *)*state;
	struct walk_test w;

	for (unsigned k = 0; k < few_drawn(1, 3); k++) {
		make_members(t, counts[k]);
		open_stripe(t, counts[k], "stripe:unit=4K,", "", NULL);
		walk_open(&w, t, k & 1 ? 1024 : 512);
		for (uint32_t seed = 1; seed <= 3; seed++) {
			walk_run(&w, t, seed, 60);
			assert_int_equal(w.failed, 0);
			assert_int_equal(w.wrong, 0);
		}
		if (gn_cache_flush(w.cache, &t->error))
			fail_msg("%s", t->error.text);
		walk_compare(&w, t);
		walk_close(&w, t);
		close_store(t);
	}
}

/* A member fails from its n-th command on: every access either is right or returns an error. */
static void a_member_that_fails_at_any_point_gives_errors_and_no_wrong_bytes(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_options options;
	struct gn_fault_plan plan;
	struct walk_test w;
	uint32_t failed = 0;

	plan_faults(&options, &plan);
	plan.fail_ppm = 1000000;
	for (plan.first = 0; plan.first < 120; plan.first += few_drawn(40, 5)) {
		plan.members = 1u << plan.first / 5 % 3;
		open_uri(t, "stripe:unit=4K,memq:24K?queues=1,memq:24K?queues=1,memq:24K?queues=1", &options);
		walk_open(&w, t, 512);
		walk_run(&w, t, 1 + (uint32_t)plan.first, 12);
		assert_int_equal(w.wrong, 0);
		failed += w.failed;
		gn_array_failure(&w.job.array, &t->error);
		walk_close(&w, t);
		close_store(t);
	}
	assert_true(failed > 0);
}

/* ---- what is refused ---- */

static void refused(struct store_test *t, int code, const char *uri, const char *one, const char *two)
{
	assert_int_equal(gn_store_open(&t->store, t->machine, uri, NULL, &t->error), code);
	assert_null(t->store);
	assert_says(t, one, two);
}

static void a_wrong_uri_says_what_to_write(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	char many[4096] = "stripe:";

	refused(t, -GN_EINVAL, "stripe:", "empty", "stripe:file:/a,file:/b");
	refused(t, -GN_EINVAL, "stripe:memq:64K,", "empty", "stripe:URI,URI");
	refused(t, -GN_EINVAL, "stripe:unit=4K", "no member", "stripe:URI,URI");
	refused(t, -GN_EINVAL, "stripe:/a,memq:64K", "\"/a\"", "file:PATH");
	refused(t, -GN_EINVAL, "stripe:unit=5K,memq:64K", "unit=5K", "power of two");
	refused(t, -GN_EINVAL, "stripe:unit=2K,memq:64K", "unit=2K", "4K to 1G");
	refused(t, -GN_EINVAL, "stripe:unit=2G,memq:64K", "unit=2G", "4K to 1G");
	refused(t, -GN_EINVAL, "stripe:unit,memq:64K", "\"unit\"", "power of two");
	refused(t, -GN_EINVAL, "stripe:size=0,memq:64K", "size=0", "of each member");
	refused(t, -GN_EINVAL, "stripe:ro=1,memq:64K", "ro=1", "the options are");
	for (int k = 0; k < 33; k++)
		strcat(many, k ? ",memq:64K" : "memq:64K");
	refused(t, -GN_EINVAL, many, "more than 32", "fewer");
}

static void a_member_that_does_not_fit_is_named(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	refused(t, -GN_EINVAL, "stripe:memq:128K,memq:128K,memq:192K", "member 3 (memq:192K) has 196608",
	        "size=131072");
	refused(t, -GN_EINVAL, "stripe:memq:128K,memq:64K", "truncate -s 131072", "size=65536");
	refused(t, -GN_EINVAL, "stripe:size=65K,memq:128K,memq:64K", "member 2 (memq:64K)", "smaller size=");
	refused(t, -GN_EINVAL, "stripe:memq:32K,memq:32K", "less than a unit of 65536", "smaller unit=");
	refused(t, -GN_ENOTSUP, "stripe:memq:64K,host:64K", "member 2 (host:64K)", "file:");
	refused(t, -GN_ENOTSUP, "stripe:memq:64K,stripe:memq:64K", "member 2", "members itself");
	refused(t, -GN_ENOENT, "stripe:memq:64K,file:/no/such/file,memq:64K", "member 2 of 3",
	        "file:/no/such/file");
	refused(t, -GN_ENOTSUP, "stripe:tape:0,memq:64K", "member 1 of 2", "stripe:");
	refused(t, -GN_EINVAL, "stripe:memq:64K?depth=3,memq:64K", "member 1 of 2", "power of two");
}

static void size_takes_a_part_of_each(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	open_uri(t, "stripe:size=130K,memq:256K,memq:192K", NULL);
	assert_int_equal(gn_store_view_of(t->store)->capacity_bytes, 2 * 128 << 10);
	must_move_lanes(t, 4096, 1, 1);
	assert_content(t, 0, 2 * 128 << 10, 1);
}

static void the_same_file_twice_is_refused(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	char uri[600];

	make_member(t, 0, 64 << 10);
	snprintf(uri, sizeof uri, "stripe:ro,file:%s,memq:64K,file:%s/../%s/member0?depth=8",
	         member_path(t, 0), t->folder, strrchr(t->folder, '/') + 1);
	refused(t, -GN_EINVAL, uri, "members 1 and 3 are the same file", "once");
	snprintf(uri, sizeof uri, "stripe:file:%s/new?create=64K,file:%s/new?create=64K", t->folder,
	         t->folder);
	refused(t, -GN_EBUSY, uri, "member 2 of 2", "/new");
	snprintf(uri, sizeof uri, "%s/new", t->folder);
	unlink(uri);
}

static void a_read_only_stripe_is_not_written(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	char uri[600];

	open_uri(t, "stripe:ro,memq:64K,memq:64K", NULL);
	assert_int_equal(gn_store_write_host(t->store, 0, "x", 1, &t->error), -GN_EROFS);
	assert_int_equal(move_lanes(t, 4096, 1, 1).code, -GN_EROFS);
	close_store(t);
	snprintf(uri, sizeof uri, "stripe:memq:64K,memq:64K?ro");
	open_uri(t, uri, NULL);
	assert_int_equal(gn_store_view_of(t->store)->read_only, 1);
}

/* No page lies on two members; a transfer that would has no place. */
static void nothing_crosses_a_unit(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_cache *cache = NULL;
	struct gn_cache_options c;
	char bytes[8192];

	memset(&c, 0, sizeof c);
	c.page_bytes = 8192;
	c.bytes = 1 << 20;
	open_uri(t, "stripe:unit=4K,memq:64K,memq:64K", NULL);
	assert_int_equal(gn_store_view_of(t->store)->transfer_bytes, 4096);
	assert_int_equal(gn_cache_create(&cache, t->machine, &t->store, 1, &c, &t->error), -GN_EINVAL);
	assert_says(t, "unit=8192", "larger");
	needs_cpu(t);
	assert_int_equal(gn_store_read_warp(gn_store_view_of(t->store), 1, 1, 2048, bytes, 4096).code,
	                 -GN_EINVAL);
	assert_int_equal(gn_store_write_warp(gn_store_view_of(t->store), 1, 1, 2048, bytes, 4096).code,
	                 -GN_EINVAL);
	assert_int_equal(gn_store_read_warp(gn_store_view_of(t->store), 1, 1, 2048, bytes, 2048).code, 0);
}

static void blocks_of_two_sizes_make_the_larger(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	const char *const name[] = {"nvme:1", "nvme:2"};
	uint64_t capacity[] = {1 << 20, 1 << 20};
	struct gn_stripe_settings s = {64 << 10, 0, 0};
	struct gn_store_view view;

	memset(&view, 0, sizeof view);
	view.block_bytes = 4096;
	view.transfer_bytes = 128 << 10;
	assert_int_equal(gn_stripe_shape(&view, &s, name, capacity, 2, &t->error), 0);
	assert_int_equal(view.transfer_bytes, 64 << 10);
	assert_int_equal(view.unit_log2, 16);
	assert_int_equal(view.capacity_bytes, 2 << 20);
	capacity[0] = capacity[1] = (uint64_t)1 << 63;
	assert_int_equal(gn_stripe_shape(&view, &s, name, capacity, 2, &t->error), -GN_EINVAL);
	assert_says(t, "64 bits", "size=");
	capacity[0] = capacity[1] = 1 << 20;
	view.block_bytes = 128 << 10;
	assert_int_equal(gn_stripe_shape(&view, &s, name, capacity, 2, &t->error), -GN_EINVAL);
	assert_says(t, "smaller than a block", "unit=131072");
}

static void options_reach_every_member(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_options options;

	memset(&options, 0, sizeof options);
	options.queue_count = 3;
	options.timeout_ns = 5000000000u;
	options.transfer_bytes = 8192;
	open_uri(t, "stripe:memq:64K,memq:64K?timeout=7000,memq:64K?queues=2", &options);
	assert_int_equal(gn_store_view_of(t->store)->queue_count, 2);
	assert_int_equal(gn_store_view_of(t->store)->timeout_ns, 7000000000u);
	assert_int_equal(gn_store_view_of(t->store)->transfer_bytes, 8192);
	assert_non_null(strstr(gn_store_path(t->store), "stripe of 3"));
}

static void a_comma_in_a_path_is_written_as_its_code(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	char uri[600], path[200];

	snprintf(path, sizeof path, "%s/a,b", t->folder);
	snprintf(uri, sizeof uri, "stripe:file:%s/a%%2Cb?create=64K,memq:64K", t->folder);
	open_uri(t, uri, NULL);
	assert_int_equal(access(path, R_OK), 0);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    set_case(kernels_and_host_find_the_same_bytes),
	    set_case(wide_warps_use_all_members_together),
	    set_case(every_member_works),
	    set_case(a_part_of_a_stripe_is_read_and_written_by_the_host),
	    set_case(threads_read_and_write_few_bytes),
	    set_case(an_array_with_write_back_is_as_one_in_memory),
	    set_case(a_member_that_fails_at_any_point_gives_errors_and_no_wrong_bytes),
	    set_case(a_wrong_uri_says_what_to_write),
	    set_case(a_member_that_does_not_fit_is_named),
	    set_case(size_takes_a_part_of_each),
	    set_case(the_same_file_twice_is_refused),
	    set_case(a_read_only_stripe_is_not_written),
	    set_case(nothing_crosses_a_unit),
	    set_case(blocks_of_two_sizes_make_the_larger),
	    set_case(options_reach_every_member),
	    set_case(a_comma_in_a_path_is_written_as_its_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
