/* SPDX-License-Identifier: Apache-2.0 */
/* Members of a replica have the same bytes; one that failed is not read again until it is rebuilt. */
#include <store/set/replica.h>

#include "test_replica_support.h"

/* ---- bytes ---- */

static void kernels_and_host_find_the_same_bytes_on_every_member(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	for (unsigned members = 2; members <= 3; members++) {
		make_replica(t, members);
		open_replica(t, members, NULL);
		assert_int_equal(gn_store_view_of(t->store)->capacity_bytes, REPLICA_BYTES);
		for (uint32_t page = 512; page <= 4096; page *= 8) {
			must_move_lanes(t, page, 1, page);
			must_move_lanes(t, page, 0, page);
			assert_content(t, 0, REPLICA_BYTES, page);
		}
		assert_int_equal(gn_store_flush(t->store, &t->error), 0);
		close_store(t);
		for (unsigned k = 0; k < members; k++)
			assert_member_holds(t, k, 4096);
		assert_state(t, "open 0", members, 0);
		drop_replica(t);
	}
}

static void lanes_of_wide_warps_ask_several_members(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	simt_close(t->machine);
	t->machine = open_machine(2, 32);
	open_uri(t, "replica:memq:192K?queues=1&depth=4,memq:192K?queues=2&depth=2,memq:192K", NULL);
	must_move_lanes(t, 4096, 1, 1);
	must_move_lanes(t, 4096, 0, 1);
	must_move_lanes(t, 1024, 1, 2);
	must_move_lanes(t, 1024, 0, 2);
	assert_content(t, 0, 192 << 10, 2);
	assert_int_equal(members_out(t), 0);
}

/* The members are given different bytes, so that each read shows where it went. */
static void reads_are_spread_over_the_members(void **state)
{
	enum { EACH = 64, BYTES = 4 << 20 };
	struct store_test *t = (struct store_test *)*state;
	const unsigned char ones = 1;
	unsigned char byte;
	int fd;

	make_member(t, 0, BYTES);
	make_member(t, 1, BYTES);
	fd = open(member_path(t, 1), O_WRONLY);
	for (uint64_t at = 0; at < BYTES; at += 512)
		assert_int_equal(pwrite(fd, &ones, 1, (off_t)at), 1);
	close(fd);
	open_uri(t, set_uri(t, "replica:ro,", 2, ""), NULL);
	for (uint64_t stride = 512; stride <= BYTES / EACH; stride *= 2) {
		unsigned second = 0;

		for (uint64_t k = 0; k < EACH; k++) {
			assert_int_equal(gn_store_read_host(t->store, k * stride, &byte, 1, &t->error), 0);
			second += byte;
		}
		assert_true(second > EACH / 4 && second < EACH - EACH / 4);
	}
}

static void threads_read_and_write_few_bytes(void **state)
{
	enum { BYTES = 4096 };
	struct store_test *t = (struct store_test *)*state;
	const struct gn_store_view *view;
	unsigned char value[REPLICA_BYTES], got[16];

	needs_cpu(t);
	make_replica(t, 3);
	open_replica(t, 3, NULL);
	view = gn_store_view_of(t->store);
	for (unsigned k = 0; k < sizeof value; k++)
		value[k] = byte_of(k, 1);
	assert_int_equal(gn_store_write_host(t->store, BYTES, value + BYTES, sizeof value - BYTES, &t->error),
	                 0);
	for (uint64_t at = 0; at < BYTES; at += 16) {
		assert_int_equal(gn_store_write_thread(view, at, value + at, 16).code, 0);
		assert_int_equal(gn_store_read_thread(view, at, got, 16).code, 0);
		assert_memory_equal(got, value + at, 16);
	}
	close_store(t);
	for (unsigned k = 0; k < 3; k++)
		assert_member_holds(t, k, 1);
}

static void an_array_with_write_back_is_on_every_member(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct walk_test w;

	for (unsigned members = 2; members <= 3; members++) {
		make_replica(t, members);
		open_replica(t, members, NULL);
		walk_open(&w, t, members == 2 ? 512 : 1024);
		for (uint32_t seed = 1; seed <= few_drawn(1, 3); seed++) {
			walk_run(&w, t, seed, 60);
			assert_int_equal(w.failed, 0);
			assert_int_equal(w.wrong, 0);
		}
		assert_int_equal(gn_cache_flush(w.cache, &t->error), 0);
		for (unsigned k = 0; k < members; k++)
			assert_member_is_model(t, k, &w);
		walk_close(&w, t);
		close_store(t);
		drop_replica(t);
	}
}

/* ---- failures while in use ---- */

/* One of these members fails from its n-th command on: nobody notices, and the file says that it is stale. */
static void live_through(struct store_test *t, unsigned members, const struct gn_fault_plan *plan, int *out)
{
	struct gn_store_options options;
	struct walk_test w;

	memset(&options, 0, sizeof options);
	options.faults = plan;
	make_replica(t, members);
	open_uri(t, set_uri(t, state_uri(t), members, "?queues=1"), &options);
	walk_open(&w, t, 512);
	walk_run(&w, t, 1 + (uint32_t)plan->first, 12);
	assert_int_equal(w.failed, 0);
	assert_int_equal(w.wrong, 0);
	if (gn_cache_flush(w.cache, &t->error))
		fail_msg("%s", t->error.text);
	*out = members_out(t);
	walk_compare(&w, t);
	assert_state(t, "open 1", members, *out ? plan->members : 0);
	for (unsigned k = 0; k < members; k++)
		if (!*out || !(plan->members >> k & 1))
			assert_member_is_model(t, k, &w);
	walk_close(&w, t);
	close_store(t);
	assert_state(t, "open 0", members, *out ? plan->members : 0);
	drop_replica(t);
}

static void a_member_may_fail_at_any_point(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_fault_plan plan;
	int out = 0, all = 0;

	memset(&plan, 0, sizeof plan);
	for (plan.first = 0; plan.first < 200; plan.first += few_drawn(50, 4)) {
		const unsigned members = 2 + (plan.first / 4 & 1);

		plan.members = 1u << plan.first / 8 % members;
		plan.fail_ppm = 1000000;
		live_through(t, members, &plan, &out);
		all += out;
		if (plan.first < 20)
			assert_int_equal(out, 1);
	}
	assert_true(all > 3);
}

static void only_writes_may_fail_and_the_medium_be_full(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_fault_plan plan;
	int out;

	memset(&plan, 0, sizeof plan);
	plan.fail_ppm = 1000000;
	plan.fail_status = GN_NVME_CAPACITY_EXCEEDED;
	plan.writes_only = 1;
	plan.members = 2;
	plan.first = 3;
	live_through(t, 2, &plan, &out);
	assert_int_equal(out, 1);
}

static void two_of_three_may_fail(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_options options;
	struct gn_fault_plan plan;
	struct walk_test w;

	plan_faults(&options, &plan);
	plan.fail_ppm = 1000000;
	for (plan.members = 3; plan.members <= 6; plan.members = plan.members == 3 ? 5 : plan.members + 1) {
		plan.first = plan.members * 3;
		open_uri(t, "replica:memq:24K?queues=1,memq:24K?queues=1,memq:24K?queues=1", &options);
		walk_open(&w, t, 512);
		walk_run(&w, t, plan.members, 30);
		assert_int_equal(w.failed, 0);
		assert_int_equal(w.wrong, 0);
		assert_int_equal(gn_cache_flush(w.cache, &t->error), 0);
		assert_int_equal(members_out(t), 2);
		walk_compare(&w, t);
		walk_close(&w, t);
		close_store(t);
	}
}

static void when_the_last_fails_the_caller_hears_of_it(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_options options;
	struct gn_fault_plan plan;
	struct lanes_outcome o;

	plan_faults(&options, &plan);
	plan.fail_ppm = 1000000;
	for (uint64_t first = 0; first < 8; first += 7) {
		plan.first = first;
		open_uri(t, "replica:memq:64K?queues=1,memq:64K?queues=1", &options);
		o = move_lanes(t, 4096, 0, 0);
		assert_int_equal(o.code, -GN_EIO);
		assert_true(o.failed + 2 * first >= 16);
		assert_true(o.failed <= 16);
		o = move_lanes(t, 4096, 1, 0);
		assert_int_equal(o.failed, 16);
		assert_int_equal(members_out(t), 1);
		close_store(t);
	}
}

/* A random walk in which every command may fail: wrong bytes never come, whoever is left. */
static void no_wrong_bytes_come_when_all_may_fail(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_options options;
	struct gn_fault_plan plan;
	struct walk_test w;

	plan_faults(&options, &plan);
	plan.fail_ppm = 60000;
	plan.torn_ppm = 60000;
	for (plan.seed = 1; plan.seed <= few_drawn(3, 20); plan.seed++) {
		open_uri(t, "replica:memq:24K?queues=2,memq:24K?queues=2,memq:24K?queues=1", &options);
		walk_open(&w, t, 512);
		walk_run(&w, t, (uint32_t)plan.seed, 60);
		assert_int_equal(w.wrong, 0);
		walk_close(&w, t);
		close_store(t);
	}
}

/* A drive that is gone answers no more. Whoever waits for it is answered by another, after the deadline. */
static void a_member_that_is_lost_is_left_out_after_its_deadline(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_options options;
	struct gn_store_member member;
	struct gn_fault_plan plan;

	plan_faults(&options, &plan);
	options.timeout_ns = 3000000000u;
	plan.drop_ppm = 1000000;
	plan.members = 1;
	plan.first = 3;
	open_uri(t, "replica:memq:128K?queues=1,memq:128K?queues=1", &options);
	assert_int_equal(gn_store_view_of(t->store)->timeout_ns, 6000000000u);
	assert_int_equal(move_lanes(t, 4096, 0, 0).failed, 0);
	assert_int_equal(members_out(t), 1);
	assert_int_equal(gn_store_get_member(t->store, 0, &member), 0);
	assert_int_equal(member.use, GN_MEMBER_FAILED);
	assert_int_equal(member.why.code, -GN_ETIMEDOUT);
	must_move_lanes(t, 4096, 1, 5);
	must_move_lanes(t, 4096, 0, 5);
}

static void what_failed_is_told(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_options options;
	struct gn_store_member member;
	struct gn_fault_plan plan;

	plan_faults(&options, &plan);
	plan.fail_ppm = 1000000;
	plan.members = 2;
	open_uri(t, "replica:memq:64K,memq:64K?depth=8", &options);
	must_move_lanes(t, 4096, 1, 1);
	assert_int_equal(gn_store_get_member(t->store, 0, &member), 0);
	assert_int_equal(member.use, GN_MEMBER_USED);
	assert_string_equal(member.uri, "memq:64K");
	assert_int_equal(gn_store_get_member(t->store, 1, &member), 0);
	assert_int_equal(member.use, GN_MEMBER_FAILED);
	assert_int_equal(member.why.code, -GN_EIO);
	assert_int_equal(member.why.device, GN_NVME_WRITE_FAULT);
	assert_string_equal(member.uri, "memq:64K?depth=8");
	assert_non_null(strstr(member.text, "write fault"));
	assert_int_equal(gn_store_get_member(t->store, 2, &member), -GN_ERANGE);
	close_store(t);
	open_uri(t, "memq:64K", NULL);
	assert_int_equal(gn_store_get_member(t->store, 0, &member), -GN_ERANGE);
}

/* A member without its last bytes is not asked for others either, but it has every write. */
static void the_host_too_goes_on_without_a_member(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_member member;
	unsigned char bytes[REPLICA_BYTES];

	make_replica(t, 2);
	open_replica(t, 2, NULL);
	assert_int_equal(truncate(member_path(t, 0), 100), 0);
	for (uint64_t at = 512; at < REPLICA_BYTES; at += 512)
		assert_int_equal(gn_store_read_host(t->store, at, bytes, 1, &t->error), 0);
	assert_int_equal(members_out(t), 1);
	assert_int_equal(gn_store_get_member(t->store, 0, &member), 0);
	assert_int_equal(member.use, GN_MEMBER_FAILED);
	assert_null(strstr(member.text, "out of date"));
	for (unsigned k = 0; k < sizeof bytes; k++)
		bytes[k] = byte_of(k, 7);
	assert_int_equal(gn_store_write_host(t->store, 0, bytes, sizeof bytes, &t->error), 0);
	assert_content(t, 0, sizeof bytes, 7);
	close_store(t);
	assert_state(t, "open 0", 2, 0);
	assert_member_holds(t, 0, 7);
	assert_member_holds(t, 1, 7);
}

/* Two members with bytes that cannot be read, but not the same ones: together they have all. */
static void what_one_member_can_read_is_read(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_options options;
	unsigned char got[16], zeros[16] = {0};
	const uint64_t half = REPLICA_BYTES / 2;

	needs_cpu(t);
	memset(&options, 0, sizeof options);
	options.read_only = 1;
	make_replica(t, 2);
	open_replica(t, 2, &options);
	assert_int_equal(truncate(member_path(t, 0), (off_t)half), 0);
	for (uint64_t at = half; at < REPLICA_BYTES; at += 512)
		assert_int_equal(gn_store_read_thread(gn_store_view_of(t->store), at, got, 16).code, 0);
	assert_int_equal(truncate(member_path(t, 1), 0), 0);
	for (uint64_t at = 0; at < half; at += 512) {
		assert_int_equal(gn_store_read_thread(gn_store_view_of(t->store), at, got, 16).code, 0);
		assert_memory_equal(got, zeros, 16);
		assert_int_equal(gn_store_read_host(t->store, at, got, 16, &t->error), 0);
	}
	assert_int_not_equal(gn_store_read_thread(gn_store_view_of(t->store), half, got, 16).code, 0);
	assert_int_not_equal(gn_store_read_host(t->store, half, got, 16, &t->error), 0);
}

/* A member that answers no read for a while has every write: it needs no rebuild. */
static void a_read_that_is_late_makes_no_member_stale(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_options options;
	struct gn_store_member member;
	struct gn_store_status status;
	struct gn_fault_plan plan;
	unsigned char got[16];

	needs_cpu(t);
	plan_faults(&options, &plan);
	options.timeout_ns = 3000000000u;
	plan.drop_ppm = 1000000;
	plan.members = 1;
	make_replica(t, 2);
	open_uri(t, set_uri(t, state_uri(t), 2, "?queues=1"), &options);
	for (uint64_t at = 0; at < REPLICA_BYTES; at += 512) {
		status = gn_store_read_thread(gn_store_view_of(t->store), at, got, 16);
		assert_int_equal(status.code, 0);
	}
	assert_int_equal(gn_store_get_member(t->store, 0, &member), 0);
	assert_int_equal(member.use, GN_MEMBER_FAILED);
	assert_int_equal(member.why.code, -GN_ETIMEDOUT);
	close_store(t);
	assert_state(t, "open 0", 2, 0);
}

static void a_deadline_may_be_never(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_options options;

	memset(&options, 0, sizeof options);
	options.timeout_ns = (uint64_t)1 << 63;
	open_uri(t, "replica:memq:64K,memq:64K", &options);
	must_move_lanes(t, 4096, 1, 1);
	must_move_lanes(t, 4096, 0, 1);
	assert_int_equal(members_out(t), 0);
}

/* The last page of a cache ends with the store, whose last block is a part of one. */
static void sizes_need_not_be_whole_blocks(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_replica_report report;
	struct walk_test w;

	for (unsigned k = 0; k < 2; k++)
		make_member(t, k, 10004);
	assert_int_equal(gn_replica_rebuild(t->machine, replica_uri(t, 2), 1, 0, &report, &t->error), 0);
	open_replica(t, 2, NULL);
	walk_open(&w, t, 4096);
	walk_run(&w, t, 1, 200);
	assert_int_equal(w.failed, 0);
	assert_int_equal(w.wrong, 0);
	assert_int_equal(gn_cache_flush(w.cache, &t->error), 0);
	assert_int_equal(members_out(t), 0);
	walk_compare(&w, t);
	walk_close(&w, t);
}

/* A transfer that no member could do is the caller's mistake. */
static void a_wrong_offset_takes_no_member_out(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	const struct gn_store_view *v;
	unsigned char got[512] = {0};

	needs_cpu(t);
	open_uri(t, "replica:memq:64K,memq:64K", NULL);
	v = gn_store_view_of(t->store);
	for (uint64_t at = 64 << 10; at; at = at == 64 << 10 ? UINT64_MAX - 511 : 0) {
		assert_int_equal(gn_store_read_thread(v, at, got, 16).code, -GN_EINVAL);
		assert_int_equal(gn_store_write_thread(v, at, got, 16).code, -GN_EINVAL);
		assert_int_equal(gn_store_read_warp(v, 1, 1, at, got, 512).code, -GN_EINVAL);
		assert_int_equal(gn_store_write_warp(v, 1, 1, at, got, 512).code, -GN_EINVAL);
	}
	assert_int_equal(members_out(t), 0);
	must_move_lanes(t, 4096, 1, 1);
	must_move_lanes(t, 4096, 0, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    set_case(kernels_and_host_find_the_same_bytes_on_every_member),
	    set_case(lanes_of_wide_warps_ask_several_members),
	    set_case(reads_are_spread_over_the_members),
	    set_case(threads_read_and_write_few_bytes),
	    set_case(an_array_with_write_back_is_on_every_member),
	    set_case(a_member_may_fail_at_any_point),
	    set_case(only_writes_may_fail_and_the_medium_be_full),
	    set_case(two_of_three_may_fail),
	    set_case(when_the_last_fails_the_caller_hears_of_it),
	    set_case(no_wrong_bytes_come_when_all_may_fail),
	    set_case(a_member_that_is_lost_is_left_out_after_its_deadline),
	    set_case(what_failed_is_told),
	    set_case(the_host_too_goes_on_without_a_member),
	    set_case(what_one_member_can_read_is_read),
	    set_case(a_read_that_is_late_makes_no_member_stale),
	    set_case(a_deadline_may_be_never),
	    set_case(sizes_need_not_be_whole_blocks),
	    set_case(a_wrong_offset_takes_no_member_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
