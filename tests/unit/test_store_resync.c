/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A member of a replica is put back while the replica is in use. Whatever else happens meanwhile, members
 * that are in use have every byte, and one that could not be put back is as it was.
 */
#include "test_resync_support.h"

enum { PAGE = 4096, PART = 512, PART_BYTES = 16, WRITERS = 8 };

/* ---- what is copied ---- */

/* A byte that the log says nothing of shows what was copied. */
static void what_it_missed_is_copied_and_nothing_far_from_it(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	char far_off;

	make_all(t);
	set_byte(t, 1, 200 * REGION, 'x');
	open_without_one(t, NULL);
	write_at(t, 5 * REGION + 7, 100, 1);
	write_at(t, BYTES - 100, 100, 1);
	must_resync(t, 1);
	assert_int_equal(members_out(t), 0);
	assert_state(t, "open 1", MEMBERS, 0);
	write_at(t, 40 * REGION, 3 * REGION, 2);
	assert_content(t, 5 * REGION + 7, 100, 1);
	close_store(t);
	assert_state(t, "open 0", MEMBERS, 0);
	assert_false(has_log(t));
	read_member(t, 1, 200 * REGION, &far_off, 1);
	assert_int_equal(far_off, 'x');
	set_byte(t, 1, 200 * REGION, 0);
	assert_equal_members(t, MEMBERS, BYTES);
}

static void another_file_in_its_place_is_copied_whole(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	make_all(t);
	open_replica(t, MEMBERS, NULL);
	write_at(t, 0, BYTES, 4);
	close_store(t);
	open_without_one(t, NULL);
	write_at(t, 7 * REGION, 100, 5);
	assert_int_equal(unlink(member_path(t, 1)), 0);
	make_member(t, 1, BYTES);
	must_resync(t, 1);
	close_store(t);
	assert_equal_members(t, MEMBERS, BYTES);
	open_replica(t, MEMBERS, NULL);
	assert_int_equal(members_out(t), 0);
}

/* What was missed in runs of the program before is in the log. */
static void what_it_missed_in_earlier_runs_is_copied(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	make_all(t);
	for (uint32_t k = 0; k < 3; k++) {
		open_without_one(t, NULL);
		write_at(t, (10 + 30 * k) * REGION, 5000, k);
		close_store(t);
	}
	open_replica(t, MEMBERS, NULL);
	assert_int_equal(members_out(t), 1);
	must_resync(t, 1);
	close_store(t);
	assert_equal_members(t, MEMBERS, BYTES);
}

static void after_a_kill_what_was_put_back_is_not_lost(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	make_all(t);
	open_without_one(t, NULL);
	write_at(t, 0, BYTES, 6);
	must_resync(t, 1);
	kill_program(t);
	assert_state(t, "open 1", MEMBERS, 0);
	rename_file(t, "member0", "away"); /* the first that is there counts: member 1 */
	open_replica(t, MEMBERS, NULL);
	assert_content(t, 0, BYTES, 6);
	close_store(t);
	rename_file(t, "away", "member0");
}

/* ---- beside kernels ---- */

struct busy_job {
	struct gn_store_view store;
	char *buffer;    /* two pages a thread */
	uint32_t *round; /* [page][2] with what it was last written, and with what the part of it was */
	uint32_t *stop;
	uint32_t *wrong; /* [0] bytes that differ, [1] transfers that failed */
	uint64_t pages;
	uint32_t seed;
};

SIMT_FN int is_part(uint32_t k)
{
	return k >= PART && k < PART + PART_BYTES;
}

SIMT_FN uint32_t busy_differs(const char *page, uint64_t offset, const uint32_t *round)
{
	uint32_t differ = 0;

	for (uint32_t k = 0; k < PAGE; k++)
		differ += (unsigned char)page[k] != byte_of(offset + k, round[is_part(k)]);
	return differ;
}

/* Write a page of this thread's own, or a part of it, and read it. */
SIMT_FN void busy_turn(const struct busy_job *j, char *page, uint64_t at, uint32_t round, int few)
{
	const uint64_t offset = at * PAGE;
	struct gn_store_status s;

	for (uint32_t k = 0; k < PAGE; k++)
		page[k] = (char)byte_of(offset + k, round);
	s = few ? gn_store_write_thread(&j->store, offset + PART, page + PART, PART_BYTES)
	        : gn_store_write_warp(&j->store, simt_active(), 1, offset, page, PAGE);
	j->round[2 * at + 1] = round;
	j->round[2 * at] = few ? j->round[2 * at] : round;
	if (!s.code)
		s = gn_store_read_warp(&j->store, simt_active(), 1, offset, page + PAGE, PAGE);
	if (s.code)
		simt_add_relaxed_dev_u32(&j->wrong[1], 1);
	else
		simt_add_relaxed_dev_u32(&j->wrong[0], busy_differs(page + PAGE, offset, &j->round[2 * at]));
}

SIMT_FN void busy(const struct busy_job *j)
{
	const uint64_t me = simt_global_thread(), all = simt_global_threads(), mine = j->pages / all;
	uint64_t random = j->seed * 1000003u + me;
	char *page = j->buffer + 2 * me * PAGE;

	for (uint32_t k = 1; !simt_load_acquire_sys_u32(j->stop); k++)
		busy_turn(j, page, walk_next(&random) % mine * all + me, j->seed * 100000 + k,
		          walk_next(&random) % 4 == 0);
}
SIMT_KERNEL(busy, struct busy_job)

struct busy_test {
	struct simt_stream *stream;
	struct busy_job job;
};

/* Threads write as long as this runs. All pages are of round 0 first. */
static void busy_begin(struct busy_test *b, struct store_test *t, uint32_t seed)
{
	const struct simt_grid grid = {1, WRITERS, 0};

	memset(b, 0, sizeof *b);
	write_at(t, 0, BYTES, 0);
	assert_int_equal(simt_stream_create(&b->stream, t->machine, &t->error), 0);
	b->job.store = *gn_store_view_of(t->store);
	b->job.pages = BYTES / PAGE;
	b->job.seed = seed;
	b->job.buffer = (char *)simt_alloc(t->machine, (size_t)2 * WRITERS * PAGE, SIMT_DEVICE, &t->error);
	b->job.round = (uint32_t *)simt_alloc(t->machine, BYTES / PAGE * 8, SIMT_PINNED, &t->error);
	b->job.stop = (uint32_t *)simt_alloc(t->machine, 4, SIMT_PINNED, &t->error);
	b->job.wrong = (uint32_t *)simt_alloc(t->machine, 8, SIMT_PINNED, &t->error);
	assert_non_null(b->job.buffer);
	assert_non_null(b->job.round);
	assert_non_null(b->job.stop);
	assert_non_null(b->job.wrong);
	assert_int_equal(simt_launch_on(b->stream, &busy_kernel, grid, &b->job, &t->error), 0);
}

static void busy_end(struct busy_test *b, struct store_test *t)
{
	simt_store_release_sys_u32(b->job.stop, 1);
	assert_int_equal(simt_stream_wait(b->stream, &t->error), 0);
	assert_int_equal(b->job.wrong[0], 0);
	assert_int_equal(b->job.wrong[1], 0);
	for (uint64_t k = 0; k < b->job.pages; k++) {
		assert_content(t, k * PAGE, PART, b->job.round[2 * k]);
		assert_content(t, k * PAGE + PART, PART_BYTES, b->job.round[2 * k + 1]);
	}
	simt_stream_destroy(b->stream);
	simt_free(t->machine, b->job.buffer);
	simt_free(t->machine, b->job.round);
	simt_free(t->machine, b->job.stop);
	simt_free(t->machine, b->job.wrong);
}

static void it_comes_back_while_kernels_write(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct busy_test b;

	for (uint32_t seed = 1; seed <= few_or_all(2, 6); seed++) {
		make_all(t);
		open_without_one(t, NULL);
		busy_begin(&b, t, seed);
		must_resync(t, 1);
		assert_int_equal(gn_store_flush(t->store, &t->error), 0);
		assert_int_equal(members_out(t), 0);
		busy_end(&b, t);
		close_store(t);
		assert_equal_members(t, MEMBERS, BYTES);
		drop_replica(t);
	}
}

/* ---- behind a tier ---- */

enum { LEVELS = 2 }; /* members of a tier before those of the replica */

/* A tier over the replica, as open_without_one. */
static void open_tier_without_one(struct store_test *t, const char *fast)
{
	char uri[4400];

	snprintf(uri, sizeof uri, "tier:%s,%s", fast, replica_uri(t, MEMBERS));
	rename_file(t, "member1", "away");
	open_uri(t, uri, NULL);
	rename_file(t, "away", "member1");
}

/* Lines of two threads leave all the time, because the fast level has room for a few. */
static void it_comes_back_while_lines_leave(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct busy_test b;

	for (uint32_t seed = 1; seed <= few_or_all(2, 6); seed++) {
		make_all(t);
		open_tier_without_one(t, "line=8K,host:128K?memory=device");
		busy_begin(&b, t, seed);
		must_resync(t, LEVELS + 1);
		assert_int_equal(gn_store_flush(t->store, &t->error), 0);
		assert_int_equal(members_out(t), 0);
		busy_end(&b, t);
		close_store(t);
		assert_state(t, "open 0", MEMBERS, 0);
		assert_equal_members(t, MEMBERS, BYTES);
		drop_replica(t);
	}
}

/* These bytes are newer than those of all members. */
static void what_the_fast_level_alone_has_gets_to_it_later(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	unsigned char got[REGION];

	make_all(t);
	open_tier_without_one(t, "host:4M?memory=device");
	write_at(t, 0, BYTES, 1);
	must_move_lanes(t, PAGE, 1, 2);
	must_resync(t, LEVELS + 1);
	read_member(t, 1, 9 * REGION, got, sizeof got);
	for (unsigned k = 0; k < sizeof got; k++)
		assert_int_equal(got[k], byte_of(9 * REGION + k, 1));
	assert_int_equal(gn_store_flush(t->store, &t->error), 0);
	must_move_lanes(t, PAGE, 0, 2);
	read_member(t, 1, 9 * REGION, got, sizeof got);
	for (unsigned k = 0; k < sizeof got; k++)
		assert_int_equal(got[k], byte_of(9 * REGION + k, 2));
	close_store(t);
	assert_equal_members(t, MEMBERS, BYTES);
}

static void without_a_fast_level_it_comes_back_too(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_member member;

	needs_cpu(t);
	make_all(t);
	open_tier_without_one(t, "host:4000000T?memory=device");
	write_at(t, 5 * REGION, 3 * REGION, 1);
	must_resync(t, LEVELS + 1);
	assert_int_equal(gn_store_get_member(t->store, 0, &member), 0);
	assert_int_equal(member.use, GN_MEMBER_MISSING);
	close_store(t);
	assert_equal_members(t, MEMBERS, BYTES);
}

static void a_tier_numbers_its_levels_first(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_member member;

	make_all(t);
	open_tier_without_one(t, "host:1M?memory=device");
	assert_int_equal(gn_store_get_member(t->store, LEVELS + 1, &member), 0);
	assert_int_equal(member.use, GN_MEMBER_MISSING);
	assert_non_null(strstr(member.uri, "member1"));
	assert_int_equal(gn_store_get_member(t->store, LEVELS + MEMBERS, &member), -GN_ERANGE);
	assert_int_equal(resync(t, 0), -GN_ENOTSUP);
	assert_says(t, "fast level", "host:1M");
	assert_int_equal(resync(t, 1), -GN_ENOTSUP);
	assert_says(t, "slow store", "members of a replica");
	assert_int_equal(resync(t, LEVELS + MEMBERS), -GN_ERANGE);
	must_resync(t, LEVELS + 1);
	close_store(t);
	open_uri(t, "tier:host:1M?memory=device,stripe:memq:1M,memq:1M", NULL);
	assert_int_equal(resync(t, LEVELS), -GN_ENOTSUP);
	assert_says(t, "stripe:", "no members that can be put back");
	close_store(t);
	open_uri(t, "tier:host:1M?memory=device,memq:1M", NULL);
	assert_int_equal(resync(t, LEVELS), -GN_ERANGE);
}

/* ---- failures ---- */

static void await_out(struct store_test *t, int members)
{
	const uint64_t deadline = simt_clock_ns() + 60000000000u;

	while (members_out(t) != members && simt_clock_ns() < deadline)
		simt_relax();
	assert_int_equal(members_out(t), members);
}

static struct gn_fault_plan plan;

static const struct gn_store_options *faults(uint32_t members, uint32_t writes_only, uint64_t first)
{
	static struct gn_store_options options;

	memset(&options, 0, sizeof options);
	memset(&plan, 0, sizeof plan);
	options.faults = &plan;
	options.queue_count = 1;
	plan.members = members;
	plan.fail_ppm = 1000000;
	plan.writes_only = writes_only;
	plan.first = first;
	return &options;
}

/* Its device goes on failing, so it cannot come back. */
static void a_member_that_fails_again_is_out_as_before(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_replica_report report;
	struct gn_store_member member;
	struct busy_test b;

	make_all(t);
	open_replica(t, MEMBERS, faults(4, 1, 20));
	busy_begin(&b, t, 1);
	await_out(t, 1);
	assert_int_equal(resync(t, 2), -GN_EIO);
	assert_says(t, "member 3", "try again");
	assert_int_equal(gn_store_get_member(t->store, 2, &member), 0);
	assert_int_equal(member.use, GN_MEMBER_FAILED);
	assert_int_equal(members_out(t), 1);
	busy_end(&b, t);
	close_store(t);
	assert_state(t, "open 0", MEMBERS, 4);
	assert_int_equal(gn_replica_rebuild(t->machine, replica_uri(t, MEMBERS), 0, 0, &report, &t->error),
	                 0);
	assert_int_equal(report.logged, 1);
	assert_equal_members(t, MEMBERS, BYTES);
}

/* The copying reads what is left from another. */
static void a_member_that_is_copied_may_fail(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	make_all(t);
	open_without_one(t, faults(1, 0, 3));
	write_at(t, 0, BYTES, 8);
	must_resync(t, 1);
	assert_int_equal(members_out(t), 1);
	close_store(t);
	assert_equal_members(t, MEMBERS, BYTES);
}

static void when_none_can_be_read_it_stays_out(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_member member;

	make_all(t);
	open_without_one(t, faults(1 | 4, 0, 3));
	write_at(t, 0, BYTES, 8);
	assert_int_equal(resync(t, 1), -GN_EIO);
	assert_says(t, "member 2", "no other member could be read");
	assert_int_equal(gn_store_get_member(t->store, 1, &member), 0);
	assert_int_equal(member.use, GN_MEMBER_STALE);
	assert_non_null(strstr(member.text, "gn_store_resync"));
	close_store(t);
	assert_state(t, "open 0", MEMBERS, 2);
}

/* A member that failed a read missed nothing, and is asked again. */
static void one_that_failed_reads_is_read_again(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_status s;
	char bytes[16];

	needs_cpu(t);
	make_all(t);
	open_replica(t, MEMBERS, faults(1, 0, 0));
	for (uint64_t at = 0; at < BYTES && !members_out(t); at += REGION) {
		s = gn_store_read_thread(gn_store_view_of(t->store), at, bytes, sizeof bytes);
		assert_int_equal(s.code, 0);
	}
	assert_int_equal(members_out(t), 1);
	must_resync(t, 0);
	assert_int_equal(members_out(t), 0);
}

/* ---- what is refused ---- */

static void what_cannot_be_put_back_is_refused(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	make_all(t);
	open_replica(t, MEMBERS, NULL);
	assert_int_equal(resync(t, MEMBERS), -GN_ERANGE);
	assert_int_equal(resync(t, 1), 0); /* it is in use */
	close_store(t);
	open_without_one(t, NULL);
	rename_file(t, "member1", "away");
	assert_int_equal(resync(t, 1), -GN_ENOENT);
	make_member(t, 1, BYTES / 2);
	assert_int_equal(resync(t, 1), -GN_EINVAL);
	assert_int_equal(unlink(member_path(t, 1)), 0);
	rename_file(t, "away", "member1");
	must_resync(t, 1);
	close_store(t);
	rename_file(t, "member1", "away");
	open_uri(t, set_uri(t, "replica:ro,", MEMBERS, ""), NULL);
	rename_file(t, "away", "member1");
	assert_int_equal(resync(t, 0), 0);
	assert_int_equal(resync(t, 1), -GN_EROFS);
	close_store(t);
	open_uri(t, "memq:1M", NULL);
	assert_int_equal(resync(t, 0), -GN_ENOTSUP);
	assert_says(t, "memq:", "replica:");
}

/* Member 1 has options of its own, and is away when the replica is opened. Returns what a resync of it does.
 */
static int resync_with(struct store_test *t, const char *options)
{
	char uri[1024];
	size_t used = (size_t)snprintf(uri, sizeof uri, "%s", state_uri(t));

	for (unsigned k = 0; k < MEMBERS; k++)
		used += (size_t)snprintf(uri + used, sizeof uri - used, "%sfile:%s%s", k ? "," : "",
		                         member_path(t, k), k == 1 ? options : "");
	rename_file(t, "member1", "away");
	open_uri(t, uri, NULL);
	rename_file(t, "away", "member1");
	return resync(t, 1);
}

/* It is closed again, so the next opening finds it free. */
static void one_that_does_not_fit_is_left_alone(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	make_all(t);
	assert_int_equal(resync_with(t, "?transfer=4K"), -GN_ENOTSUP);
	assert_says(t, "member 2", "smaller transfers");
	assert_int_equal(resync(t, 1), -GN_ENOTSUP);
	assert_int_equal(members_out(t), 1);
	close_store(t);
	assert_int_equal(resync_with(t, "?ro"), -GN_EROFS);
	close_store(t);
	open_replica(t, MEMBERS, NULL);
	must_resync(t, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    set_case(what_it_missed_is_copied_and_nothing_far_from_it),
	    set_case(another_file_in_its_place_is_copied_whole),
	    set_case(what_it_missed_in_earlier_runs_is_copied),
	    set_case(after_a_kill_what_was_put_back_is_not_lost),
	    set_case(it_comes_back_while_kernels_write),
	    set_case(it_comes_back_while_lines_leave),
	    set_case(what_the_fast_level_alone_has_gets_to_it_later),
	    set_case(without_a_fast_level_it_comes_back_too),
	    set_case(a_tier_numbers_its_levels_first),
	    set_case(a_member_that_fails_again_is_out_as_before),
	    set_case(a_member_that_is_copied_may_fail),
	    set_case(when_none_can_be_read_it_stays_out),
	    set_case(one_that_failed_reads_is_read_again),
	    set_case(what_cannot_be_put_back_is_refused),
	    set_case(one_that_does_not_fit_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
