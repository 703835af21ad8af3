/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of missed writes: a rebuild copies what it has and nothing else, and whenever the log may lack
 * something, all is copied. No member is up to date before it has every byte.
 */
#include <store/set/state.h>

#include <signal.h>
#include <sys/resource.h>

#include "test_replica_sync.h"

enum { BYTES = 1 << 20, REGION = 4096, MEMBERS = 3 };

static struct gn_replica_report report;

/* ---- members ---- */

static void make_all(struct store_test *t)
{
	sync_fails = 0;
	sync_test = t;
	for (unsigned k = 0; k < MEMBERS; k++)
		make_member(t, k, BYTES);
	if (gn_replica_rebuild(t->machine, replica_uri(t, MEMBERS), 1, 0, &report, &t->error))
		fail_msg("%s", t->error.text);
}

static void open_all(struct store_test *t)
{
	open_replica(t, MEMBERS, NULL);
}

static void must_rebuild(struct store_test *t)
{
	if (gn_replica_rebuild(t->machine, replica_uri(t, MEMBERS), 0, 0, &report, &t->error))
		fail_msg("%s", t->error.text);
}

static char get_byte(const struct store_test *t, unsigned k, uint64_t at)
{
	char value;

	read_member(t, k, at, &value, 1);
	return value;
}

/* Member 2 is away while this many regions are written, a byte of each. */
static void miss(struct store_test *t, const uint64_t *offset, unsigned regions, uint32_t round)
{
	rename_file(t, "member1", "away");
	open_all(t);
	for (unsigned k = 0; k < regions; k++)
		write_at(t, offset[k], 100, round);
	close_store(t);
	rename_file(t, "away", "member1");
}

static const uint64_t places[] = {5 * REGION + 7, 6 * REGION, 200 * REGION + 3996, BYTES - 100};

/* ---- what is copied ---- */

/* A byte that the log says nothing of shows whether it was compared. */
static void what_was_missed_is_copied_and_nothing_else(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	make_all(t);
	assert_false(has_log(t));
	miss(t, places, 4, 1);
	assert_non_null(strstr(state_text(t), "\nmissed file:"));
	assert_non_null(strstr(state_text(t), "\nlog "));
	assert_true(has_log(t));
	set_byte(t, 1, 100 * REGION, 'x');
	must_rebuild(t);
	assert_int_equal(report.source, 1);
	assert_int_equal(report.members, 1);
	assert_int_equal(report.logged, 1);
	assert_int_equal(report.copied_bytes, 4 * REGION);
	assert_int_equal(get_byte(t, 1, 100 * REGION), 'x');
	assert_false(has_log(t));
	assert_null(strstr(state_text(t), "\nlog "));
	set_byte(t, 1, 100 * REGION, 0);
	assert_equal_members(t, MEMBERS, BYTES);
	must_rebuild(t);
	assert_int_equal(report.members, 0);
}

static void whole_compares_all_of_it(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	make_all(t);
	miss(t, places, 4, 1);
	set_byte(t, 1, 100 * REGION, 'x');
	set_byte(t, 2, 101 * REGION, 'x');
	assert_int_equal(gn_replica_rebuild(t->machine, replica_uri(t, MEMBERS), 0, 1, &report, &t->error),
	                 0);
	assert_int_equal(report.members, 2);
	assert_int_equal(report.logged, 0);
	assert_equal_members(t, MEMBERS, BYTES);
	assert_false(has_log(t));
}

/* What is missed in several runs of the program adds up. */
static void the_log_goes_on_from_run_to_run(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	make_all(t);
	for (unsigned k = 0; k < 4; k++)
		miss(t, &places[k], 1, k);
	open_all(t);
	assert_int_equal(members_out(t), 1);
	write_at(t, 50 * REGION, 2 * REGION, 9);
	close_store(t);
	must_rebuild(t);
	assert_int_equal(report.logged, 1);
	assert_int_equal(report.copied_bytes, 6 * REGION);
	assert_equal_members(t, MEMBERS, BYTES);
}

/* Writes of kernels, from the first that a member fails on. */
static void a_write_that_a_member_failed_is_logged(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_options options;
	struct gn_fault_plan plan;

	for (int few = 0; few < 2; few++) {
		if (few)
			needs_cpu(t);
		plan_faults(&options, &plan);
		plan.members = 4;
		plan.fail_ppm = 1000000;
		plan.writes_only = 1;
		plan.first = few ? 4 : 100;
		make_all(t);
		open_uri(t, set_uri(t, state_uri(t), MEMBERS, "?queues=1"), &options);
		if (!few)
			must_move_lanes(t, REGION, 1, 3);
		for (unsigned k = 0; k < 16 && few; k++)
			assert_int_equal(gn_store_write_thread(gn_store_view_of(t->store), k * 3 * REGION + k,
			                                       "sixteen bytes...", 16)
			                     .code,
			                 0);
		assert_int_equal(members_out(t), 1);
		close_store(t);
		must_rebuild(t);
		assert_int_equal(report.logged, 1);
		assert_true(report.copied_bytes >= (few ? 8 : BYTES / REGION - 100) * REGION);
		assert_true(report.copied_bytes <= (few ? 16 : BYTES / REGION) * REGION);
		assert_equal_members(t, MEMBERS, BYTES);
		drop_replica(t);
	}
}

/* What a member took and could not flush is missing there, too. */
static void a_flush_that_a_member_failed_counts_for_all_that_was_written(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	make_all(t);
	open_all(t);
	write_at(t, 7 * REGION, 100, 1);
	write_at(t, 9 * REGION, 100, 1);
	sync_fails = 3;
	assert_int_equal(gn_store_flush(t->store, &t->error), 0);
	assert_int_equal(members_out(t), 1);
	write_at(t, 20 * REGION, 100, 2);
	close_store(t);
	sync_fails = 0;
	set_byte(t, 2, 7 * REGION, 'l'); /* the bytes that the system dropped */
	set_byte(t, 2, 9 * REGION, 'o');
	must_rebuild(t);
	assert_int_equal(report.logged, 1);
	assert_int_equal(report.copied_bytes, 3 * REGION);
	assert_equal_members(t, MEMBERS, BYTES);
}

/* ---- a program that is killed ---- */

static void after_a_kill_what_it_wrote_is_compared(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	for (int opens = 0; opens < 2; opens++) {
		make_all(t);
		if (opens)
			miss(t, places, 1, 1);
		open_all(t);
		write_at(t, places[2], 100, 2);
		kill_program(t);
		set_byte(t, 2, places[2], 'x'); /* a member that the write did not reach */
		set_byte(t, 2, 100 * REGION, 'y');
		if (opens) {
			open_all(t);
			assert_int_equal(members_out(t), 2);
			write_at(t, places[3], 100, 3);
			close_store(t);
		}
		must_rebuild(t);
		assert_int_equal(report.members, 2);
		assert_int_equal(report.logged, 2);
		assert_int_equal(get_byte(t, 2, 100 * REGION), 'y');
		set_byte(t, 2, 100 * REGION, 0);
		assert_equal_members(t, MEMBERS, BYTES);
		assert_int_equal(report.copied_bytes, (opens ? 5 : 1) * REGION);
		drop_replica(t);
	}
}

/* The log was in memory when the system stopped. */
static void after_another_boot_all_is_copied(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	char *text;

	for (int opens = 0; opens < 2; opens++) {
		make_all(t);
		miss(t, places, 1, 1);
		open_all(t);
		write_at(t, places[2], 100, 2);
		kill_program(t);
		text = state_text(t);
		assert_non_null(strstr(text, "\nboot "));
		strstr(text, "\nboot ")[6] ^= 1;
		set_state(t, text);
		set_byte(t, 1, 101 * REGION, 'x');
		set_byte(t, 2, 102 * REGION, 'y');
		if (opens) {
			open_all(t);
			close_store(t);
		}
		must_rebuild(t);
		assert_int_equal(report.members, 2);
		assert_int_equal(report.logged, 0);
		assert_equal_members(t, MEMBERS, BYTES);
		drop_replica(t);
	}
}

/* ---- a log or a member that is another one ---- */

static void damage_log(const struct store_test *t, int how)
{
	char path[200];
	int fd;

	snprintf(path, sizeof path, "%s/state.log", t->folder);
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	if (how == 0)
		assert_int_equal(unlink(path), 0);
	else if (how == 1)
		assert_int_equal(ftruncate(fd, 4096), 0);
	else
		assert_int_equal(pwrite(fd, "", 1, how == 2 ? 0 : how == 3 ? 16 : 26), 1);
	close(fd);
}

static void a_log_that_is_not_the_right_one_is_not_trusted(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	for (int how = 0; how < 5; how++) {
		make_all(t);
		miss(t, places, 2, 1);
		set_byte(t, 1, 100 * REGION, 'x');
		damage_log(t, how);
		must_rebuild(t);
		assert_int_equal(report.members, 1);
		assert_int_equal(report.logged, 0);
		assert_equal_members(t, MEMBERS, BYTES);
		drop_replica(t);
	}
}

/* A new file in the place of a member lacks more than its writes. */
static void another_file_in_a_members_place_is_copied_whole(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	make_all(t);
	open_all(t);
	write_at(t, 0, BYTES, 4);
	close_store(t);
	miss(t, places, 2, 5);
	assert_int_equal(unlink(member_path(t, 1)), 0);
	make_member(t, 1, BYTES);
	must_rebuild(t);
	assert_int_equal(report.logged, 0);
	assert_int_equal(report.copied_bytes, BYTES);
	assert_equal_members(t, MEMBERS, BYTES);
}

static void a_file_in_the_logs_place_is_left_alone(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct stat st;
	char path[200];

	make_all(t);
	make_member(t, 3, 777);
	set_byte(t, 3, 0, 'x');
	rename_file(t, "member3", "state.log");
	assert_int_equal(gn_store_open(&t->store, t->machine, replica_uri(t, MEMBERS), NULL, &t->error),
	                 -GN_EINVAL);
	assert_says(t, "state.log", "move it");
	snprintf(path, sizeof path, "%s/state.log", t->folder);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 777);
}

/* A program that is killed between the two leaves the log after the file no longer names it. */
static void a_log_that_the_state_does_not_name_is_removed(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	make_all(t);
	miss(t, places, 2, 1);
	copy_file(t, "state.log", "kept");
	must_rebuild(t);
	assert_false(has_log(t));
	rename_file(t, "kept", "state.log");
	must_rebuild(t);
	assert_int_equal(report.members, 0);
	assert_false(has_log(t));

	make_member(t, 3, 777); /* no log */
	set_byte(t, 3, 0, 'x');
	rename_file(t, "member3", "state.log");
	must_rebuild(t);
	assert_true(has_log(t));
}

/* Programs before this one kept no log. Theirs says nothing of what was missed. */
static void a_state_without_a_log_is_read(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	char text[1000];

	make_all(t);
	set_byte(t, 1, 100 * REGION, 'x');
	snprintf(text, sizeof text,
	         "grapnel replica 1\nopen 0\nok file:%s/member0\nstale file:%s/member1\nok "
	         "file:%s/member2\nend\n",
	         t->folder, t->folder, t->folder);
	set_state(t, text);
	open_all(t);
	assert_int_equal(members_out(t), 1);
	write_at(t, 0, 10, 1);
	close_store(t);
	must_rebuild(t);
	assert_int_equal(report.logged, 0);
	assert_equal_members(t, MEMBERS, BYTES);
}

/* ---- a rebuild that does not come to its end ---- */

static int rebuild_up_to(struct store_test *t, uint64_t bytes)
{
	const struct rlimit little = {bytes, RLIM_INFINITY};
	struct rlimit before;
	int rc;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
	rc = gn_replica_rebuild(t->machine, replica_uri(t, MEMBERS), 0, 0, &report, &t->error);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_DFL);
	return rc;
}

/* It ends after so many regions; the member is not used before another one has copied the rest. */
static void a_rebuild_may_end_after_any_write(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	uint64_t offset[8];
	unsigned copied;

	for (copied = 0; copied < 8; copied++) {
		make_all(t);
		for (unsigned k = 0; k < 8; k++)
			offset[k] = (20 + 2 * k) * REGION;
		miss(t, offset, 8, 1);
		assert_int_not_equal(rebuild_up_to(t, offset[copied]), 0);
		assert_state(t, "open 0", MEMBERS, 2);
		assert_non_null(strstr(state_text(t), "\nmissed file:"));
		if (copied & 1) {
			open_all(t);
			assert_int_equal(members_out(t), 1);
			write_at(t, offset[0], 100, 2);
			close_store(t);
		}
		must_rebuild(t);
		assert_int_equal(report.logged, 1);
		assert_equal_members(t, MEMBERS, BYTES);
		drop_replica(t);
	}
}

/* ---- at random ---- */

struct history {
	struct store_test *t;
	uint64_t random;
	unsigned char *model; /* what each byte must be */
	unsigned char *old;   /* or what it may be instead: a write that was not flushed before a kill */
	uint32_t round;
};

static uint32_t draw(struct history *h, uint32_t most)
{
	return (uint32_t)(walk_next(&h->random) % most);
}

/* Each byte is as it was written, or, after a kill, as it was flushed before. That is what it must be then.
 */
static void take_bytes(struct history *h, const unsigned char *got)
{
	for (size_t at = 0; at < BYTES; at++)
		if (got[at] != h->model[at] && got[at] != h->old[at])
			fail_msg("byte %zu is lost", at);
	memcpy(h->model, got, BYTES);
	memcpy(h->old, got, BYTES);
}

static void compare_store(struct history *h)
{
	unsigned char *got = (unsigned char *)malloc(BYTES);

	if (gn_store_read_host(h->t->store, 0, got, BYTES, &h->t->error))
		fail_msg("%s", h->t->error.text);
	take_bytes(h, got);
	free(got);
}

static void compare_members(struct history *h)
{
	unsigned char *got = (unsigned char *)malloc(BYTES);

	assert_equal_members(h->t, MEMBERS, BYTES);
	read_member(h->t, 0, 0, got, BYTES);
	take_bytes(h, got);
	free(got);
}

/* A write of a thread, which faults hit, or of the host. */
static void write_some(struct history *h)
{
	const uint32_t bytes = 1 + draw(h, 600), at = draw(h, BYTES - 600) & ~15u;
	unsigned char *value = &h->model[at];
	const int by_thread = (int)draw(h, 2);

	h->round++;
	for (uint32_t k = 0; k < bytes; k++)
		value[k] = byte_of(at + k, h->round);
	if (by_thread) {
		for (uint32_t k = 0; k < bytes; k += 16)
			assert_int_equal(gn_store_write_thread(gn_store_view_of(h->t->store), at + k,
			                                       value + k, bytes - k < 16 ? bytes - k : 16)
			                     .code,
			                 0);
	} else
		assert_int_equal(gn_store_write_host(h->t->store, at, value, bytes, &h->t->error), 0);
}

/* A member that is up to date; after a kill the one that is used. */
static unsigned choose_hero(struct history *h)
{
	const uint32_t first = draw(h, MEMBERS);
	struct gn_replica_state s;
	unsigned hero;
	char path[200];

	snprintf(path, sizeof path, "%s/state", h->t->folder);
	assert_int_equal(gn_replica_state_load(&s, path, &h->t->error), 0);
	for (hero = s.open ? 0 : first; s.stale[hero];)
		hero = (hero + 1) % MEMBERS;
	gn_replica_state_fini(&s);
	return hero;
}

static void run_program(struct history *h)
{
	struct store_test *t = h->t;
	const unsigned hero = choose_hero(h), other = (hero + 1 + draw(h, MEMBERS - 1)) % MEMBERS,
	               trouble = draw(h, 3);
	struct gn_store_options options;
	struct gn_fault_plan plan;
	char name[16];

	plan_faults(&options, &plan);
	snprintf(name, sizeof name, "member%u", other);
	if (trouble == 1)
		rename_file(t, name, "away");
	plan.members = 1u << other;
	plan.fail_ppm = trouble == 2 ? 1000000 : 0;
	plan.first = draw(h, 60);
	open_uri(t, set_uri(t, state_uri(t), MEMBERS, "?queues=1"), &options);
	compare_store(h);
	sync_fails = draw(h, 4) ? 0 : 1 + (int)other;
	for (uint32_t k = draw(h, 4); k; k--)
		write_some(h);
	assert_int_equal(gn_store_flush(t->store, &t->error), 0);
	memcpy(h->old, h->model, BYTES);
	for (uint32_t k = draw(h, 3); k; k--)
		write_some(h);
	if (draw(h, 3))
		close_store(t);
	else
		kill_program(t);
	sync_fails = 0;
	if (trouble == 1)
		rename_file(t, "away", name);
}

static void whatever_happens_a_rebuild_makes_members_equal(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct history h;
	unsigned logged = 0;

	needs_cpu(t);
	memset(&h, 0, sizeof h);
	h.t = t;
	h.model = (unsigned char *)calloc(2, BYTES);
	h.old = h.model + BYTES;
	make_all(t);
	for (unsigned seed = 1; seed <= few_drawn(4, 12); seed++) {
		h.random = seed * 7919;
		for (uint32_t k = 1 + draw(&h, 3); k; k--) {
			run_program(&h);
			if (draw(&h, 3) == 0)
				rebuild_up_to(t, draw(&h, BYTES));
		}
		must_rebuild(t);
		logged += report.logged;
		compare_members(&h);
	}
	assert_true(logged > 2);
	free(h.model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    set_case(what_was_missed_is_copied_and_nothing_else),
	    set_case(whole_compares_all_of_it),
	    set_case(the_log_goes_on_from_run_to_run),
	    set_case(a_write_that_a_member_failed_is_logged),
	    set_case(a_flush_that_a_member_failed_counts_for_all_that_was_written),
	    set_case(after_a_kill_what_it_wrote_is_compared),
	    set_case(after_another_boot_all_is_copied),
	    set_case(a_log_that_is_not_the_right_one_is_not_trusted),
	    set_case(another_file_in_a_members_place_is_copied_whole),
	    set_case(a_file_in_the_logs_place_is_left_alone),
	    set_case(a_log_that_the_state_does_not_name_is_removed),
	    set_case(a_state_without_a_log_is_read),
	    set_case(a_rebuild_may_end_after_any_write),
	    set_case(whatever_happens_a_rebuild_makes_members_equal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
