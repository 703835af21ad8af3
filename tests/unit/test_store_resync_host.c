/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A member of a replica is put back: what the host does meanwhile, flushes that fail, writes that are late,
 * and the way of a GPU, on the cpu machine.
 */
#include "test_resync_support.h"
#include "test_replica_sync.h"

#include <pthread.h>

/* ---- flushes that fail ---- */

static void make_and_sync(struct store_test *t)
{
	sync_fails = 0;
	sync_test = t;
	make_all(t);
}

/* It failed a flush, so it may have lost what it took; it comes back when it can be flushed. */
static void one_that_cannot_be_flushed_is_refused(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	make_and_sync(t);
	open_replica(t, MEMBERS, NULL);
	write_at(t, 3 * REGION, 5 * REGION, 1);
	sync_fails = 2;
	assert_int_equal(gn_store_flush(t->store, &t->error), 0);
	assert_int_equal(members_out(t), 1);
	assert_int_not_equal(resync(t, 1), 0);
	assert_says(t, "member 2", "cannot be flushed");
	assert_int_equal(members_out(t), 1);
	close_store(t);
	sync_fails = 0;
	assert_state(t, "open 0", MEMBERS, 2);
}

static void one_that_cannot_be_flushed_at_the_end_is_out(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	make_and_sync(t);
	open_without_one(t, NULL);
	write_at(t, 3 * REGION, 5 * REGION, 1);
	sync_fails = 2;
	assert_int_equal(resync(t, 1), -GN_EIO);
	assert_says(t, "member 2", "could not be flushed");
	assert_int_equal(members_out(t), 1);
	close_store(t);
	sync_fails = 0;
	assert_state(t, "open 0", MEMBERS, 2);
}

/* ---- writes that are late ---- */

/* A write that timed out may still land, so it may not be copied over. */
static void where_a_write_may_still_land_it_stays_out(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_options options;
	struct gn_fault_plan plan;
	struct gn_store_status s;
	struct gn_store_member member;
	static char page[REGION];
	int rc;

	needs_cpu(t);
	make_and_sync(t);
	memset(&options, 0, sizeof options);
	memset(&plan, 0, sizeof plan);
	options.timeout_ns = 200000000;
	options.queue_count = 1;
	options.faults = &plan;
	plan.members = 4;
	plan.drop_ppm = 1000000;
	plan.writes_only = 1;
	open_replica(t, MEMBERS, &options);
	s = gn_store_write_thread(gn_store_view_of(t->store), 0, page, sizeof page);
	assert_int_equal(s.code, 0);
	assert_int_equal(members_out(t), 1);
	rc = resync(t, 2);
	if (rc != -GN_EBUSY)
		assert_int_equal(rc, -GN_ETIMEDOUT);
	assert_says(t, "member 3", "out of use again");
	assert_int_equal(gn_store_get_member(t->store, 2, &member), 0);
	assert_int_equal(member.use, GN_MEMBER_FAILED);
	close_store(t);
	assert_state(t, "open 0", MEMBERS, 4);
}

/* The copy of a window does not end: a write waits until its deadline, and then does without the member. */
static void a_write_does_not_wait_for_ever_for_a_copy(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_status s;
	struct gn_replica *r;
	uint64_t turn;
	char bytes[16] = "by a thread";

	needs_cpu(t);
	make_and_sync(t);
	rename_file(t, "member1", "away");
	open_uri(t, set_uri(t, state_uri(t), MEMBERS, "?timeout=100"), NULL);
	r = (struct gn_replica *)t->store;
	assert_int_equal(gn__back_begins(gn_store_view_of(t->store), 2), -GN_EBUSY);
	turn = r->health->turn;
	assert_int_equal(turn, 2);
	turn = 1ull << GN__TURN_COUNT | 1ull << GN__TURN_BACK | 3;
	r->health->turn = turn; /* of member 0, which its writes reach */
	r->health->at = gn__turn_at(turn) + 1;
	s = gn_store_write_thread(gn_store_view_of(t->store), 16, bytes, sizeof bytes);
	assert_int_equal(s.code, 0);
	assert_int_equal(gn__turn_back(r->health->turn), 0);
	assert_int_equal(gn__replica_stale(gn_store_view_of(t->store)), 3);
	assert_int_equal(r->health->why[0].code, -GN_ETIMEDOUT);
	close_store(t);
	rename_file(t, "away", "member1");
}

/* ---- the host's other threads ---- */

struct host {
	struct store_test *t;
	struct gn_error error;
	uint32_t done;
	int code; /* what resync returned */
};

static void *resync_by_thread(void *host)
{
	struct host *h = (struct host *)host;

	h->code = gn_store_resync(h->t->store, 1, &h->error);
	simt_store_release_sys_u32(&h->done, 1);
	return NULL;
}

/* Write, read and flush as long as the other thread is at work, and a little longer. */
static uint32_t use_until_done(struct host *h)
{
	struct store_test *t = h->t;
	struct gn_store_member member;
	uint32_t k = 1;

	for (uint32_t left = 8; left; k++) {
		write_at(t, k * 13 % 256 * REGION, REGION, k);
		assert_content(t, k * 13 % 256 * REGION, REGION, k);
		if (k % 4 == 0)
			assert_int_equal(gn_store_flush(t->store, &t->error), 0);
		assert_int_equal(gn_store_get_member(t->store, 1, &member), 0);
		left -= simt_load_acquire_sys_u32(&h->done);
	}
	return k;
}

static void assert_written(struct store_test *t, uint32_t last)
{
	for (uint32_t k = last > 256 ? last - 256 : 1; k < last; k++)
		assert_content(t, k * 13 % 256 * REGION, REGION, k);
}

static void other_threads_of_the_host_use_it_meanwhile(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	for (uint32_t k = 0; k < few_or_all(2, 8); k++) {
		struct host h = {t, {0, ""}, 0, 0};
		pthread_t thread;
		uint32_t last;

		make_and_sync(t);
		open_without_one(t, NULL);
		write_at(t, 0, BYTES, 0);
		assert_int_equal(pthread_create(&thread, NULL, resync_by_thread, &h), 0);
		last = use_until_done(&h);
		pthread_join(thread, NULL);
		if (h.code)
			fail_msg("%s", h.error.text);
		assert_int_equal(members_out(t), 0);
		assert_written(t, last);
		close_store(t);
		assert_equal_members(t, MEMBERS, BYTES);
		drop_replica(t);
	}
}

struct lets {
	struct store_test *t;
	uint32_t calls[2];
};

/* Others may use the replica, and the machine's own stream, from here on. */
static void use_and_count(void *lets, int go_on)
{
	struct lets *l = (struct lets *)lets;
	struct gn_store_member member;

	assert_int_equal(l->calls[1] + go_on, 1);
	l->calls[go_on]++;
	assert_int_equal(gn_store_get_member(l->t->store, 1, &member), 0);
	assert_int_equal(member.use, GN_MEMBER_RETURNING);
	write_at(l->t, 7 * REGION, REGION, 3 + (uint32_t)go_on);
	must_move_lanes(l->t, REGION, 1, 5);
	assert_int_equal(gn_store_flush(l->t->store, &l->t->error), 0);
}

static void a_caller_lets_others_in_while_it_copies(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct lets lets = {t, {0, 0}};
	const struct gn_store_others others = {use_and_count, &lets};

	make_and_sync(t);
	open_without_one(t, NULL);
	write_at(t, 0, BYTES, 1);
	assert_int_equal(gn_store_resync_beside(t->store, 1, &others, &t->error), 0);
	assert_int_equal(lets.calls[0], 1);
	assert_int_equal(gn_store_resync_beside(t->store, 1, &others, &t->error), 0); /* nothing to copy */
	assert_int_equal(lets.calls[0], 1);
	close_store(t);
	assert_equal_members(t, MEMBERS, BYTES);
}

/* ---- as on a GPU ---- */

static void a_warp_copies_what_host_and_kernels_logged(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_status s;
	char bytes[16] = "by a thread";

	make_all(t);
	open_without_one(t, NULL);
	as_on_a_gpu(t);
	write_at(t, 5 * REGION + 7, 3 * REGION, 1);
	s = gn_store_write_thread(gn_store_view_of(t->store), 100 * REGION, bytes, sizeof bytes);
	assert_int_equal(s.code, 0);
	must_resync(t, 1);
	assert_int_equal(members_out(t), 0);
	close_store(t);
	assert_state(t, "open 0", MEMBERS, 0);
	assert_equal_members(t, MEMBERS, BYTES);
}

/* A failure that the host meets is told to the device, and cancels the return of the member. */
static void the_device_learns_what_the_host_finds(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_member member;
	struct gn_replica *r;

	make_and_sync(t);
	open_replica(t, MEMBERS, NULL);
	as_on_a_gpu(t);
	r = (struct gn_replica *)t->store;
	write_at(t, 0, REGION, 1);
	sync_fails = 2;
	assert_int_equal(gn_store_flush(t->store, &t->error), 0);
	assert_int_equal(r->health->turn, 2);
	assert_int_equal(gn_store_get_member(t->store, 1, &member), 0);
	assert_int_equal(member.use, GN_MEMBER_FAILED);
	assert_int_equal(member.why.code, -GN_EIO);
	r->health->turn |= 2ull << GN__TURN_BACK;
	assert_int_equal(gn_store_flush(t->store, &t->error), 0);
	assert_int_equal(r->health->turn, 2);
	sync_fails = 0;
}

struct hold_job {
	uint32_t *stop;
	uint32_t *started;
};

SIMT_FN void hold(const struct hold_job *j)
{
	simt_add_relaxed_sys_u32(j->started, 1);
	while (!simt_load_acquire_sys_u32(j->stop))
		simt_relax();
}
SIMT_KERNEL(hold, struct hold_job)

struct held {
	struct simt_stream *stream;
	struct hold_job job;
};

static void held_end(struct held *h, struct store_test *t)
{
	simt_store_release_sys_u32(h->job.stop, 1);
	assert_int_equal(simt_stream_wait(h->stream, &t->error), 0);
	simt_stream_destroy(h->stream);
	simt_free(t->machine, h->job.stop);
}

/* The program's kernels leave no room, until held_end. */
static void held_begin(struct held *h, struct store_test *t)
{
	const uint64_t deadline = simt_clock_ns() + 60000000000u;
	struct simt_grid grid = {1, 1, 0};
	struct simt_info info;

	simt_describe(t->machine, &info);
	grid.blocks = info.resident_threads;
	h->job.stop = (uint32_t *)simt_alloc(t->machine, 8, SIMT_PINNED, &t->error);
	assert_non_null(h->job.stop);
	memset(h->job.stop, 0, 8);
	h->job.started = h->job.stop + 1;
	assert_int_equal(simt_stream_create(&h->stream, t->machine, &t->error), 0);
	assert_int_equal(simt_launch_on(h->stream, &hold_kernel, grid, &h->job, &t->error), 0);
	while (simt_load_relaxed_sys_u32(h->job.started) < grid.blocks && simt_clock_ns() < deadline)
		simt_relax();
	if (simt_load_relaxed_sys_u32(h->job.started) == grid.blocks)
		return;
	held_end(h, t);
	fail_msg("the kernel that takes all room did not start");
}

/* The member is not touched. */
static void without_room_for_a_warp_it_is_refused(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct held held;
	int rc;

	make_and_sync(t);
	rename_file(t, "member1", "away");
	open_uri(t, set_uri(t, state_uri(t), MEMBERS, "?timeout=100"), NULL);
	rename_file(t, "away", "member1");
	as_on_a_gpu(t);
	held_begin(&held, t);
	rc = resync(t, 1);
	held_end(&held, t);
	assert_int_equal(rc, -GN_EBUSY);
	assert_says(t, "no room", "fewer blocks");
	assert_int_equal(members_out(t), 1);
	must_resync(t, 1);
	close_store(t);
	assert_equal_members(t, MEMBERS, BYTES);
}

static void await_return(struct store_test *t)
{
	const uint64_t deadline = simt_clock_ns() + 60000000000u;
	struct gn_store_member member;

	do
		assert_int_equal(gn_store_get_member(t->store, 1, &member), 0);
	while (member.use != GN_MEMBER_RETURNING && simt_clock_ns() < deadline);
	assert_int_equal(member.use, GN_MEMBER_RETURNING);
	assert_non_null(strstr(member.text, "0 of 1048576"));
}

/* The host's other calls go on while a warp waits for room. */
static void nobody_waits_for_the_room_of_a_warp(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct host h = {t, {0, ""}, 0, 0};
	struct held held;
	pthread_t thread;

	make_and_sync(t);
	rename_file(t, "member1", "away");
	open_uri(t, set_uri(t, state_uri(t), MEMBERS, "?timeout=100000"), NULL);
	rename_file(t, "away", "member1");
	as_on_a_gpu(t);
	held_begin(&held, t);
	assert_int_equal(pthread_create(&thread, NULL, resync_by_thread, &h), 0);
	await_return(t);
	assert_int_equal(resync(t, 0), -GN_EBUSY);
	assert_says(t, "member 2", "wait until that has ended");
	write_at(t, 9 * REGION, REGION, 3);
	assert_content(t, 9 * REGION, REGION, 3);
	assert_int_equal(gn_store_flush(t->store, &t->error), 0);
	held_end(&held, t);
	use_until_done(&h);
	pthread_join(thread, NULL);
	if (h.code)
		fail_msg("%s", h.error.text);
	assert_int_equal(members_out(t), 0);
	close_store(t);
	assert_equal_members(t, MEMBERS, BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    set_case(one_that_cannot_be_flushed_is_refused),
	    set_case(one_that_cannot_be_flushed_at_the_end_is_out),
	    set_case(where_a_write_may_still_land_it_stays_out),
	    set_case(a_write_does_not_wait_for_ever_for_a_copy),
	    set_case(other_threads_of_the_host_use_it_meanwhile),
	    set_case(a_caller_lets_others_in_while_it_copies),
	    set_case(a_warp_copies_what_host_and_kernels_logged),
	    set_case(the_device_learns_what_the_host_finds),
	    set_case(without_room_for_a_warp_it_is_refused),
	    set_case(nobody_waits_for_the_room_of_a_warp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
