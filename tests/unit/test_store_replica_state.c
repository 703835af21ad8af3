/* SPDX-License-Identifier: Apache-2.0 */
/* What a replica knows of its members from one run to the next, and how they are brought up to date. */
#include <store/set/state.h>

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include "test_replica_support.h"

static struct gn_replica_report report;

static void must_rebuild(struct store_test *t, unsigned members, unsigned from)
{
	if (gn_replica_rebuild(t->machine, replica_uri(t, members), from, 0, &report, &t->error))
		fail_msg("%s", t->error.text);
}

static void refused(struct store_test *t, int code, const char *uri, const char *one, const char *two)
{
	const int rc = gn_store_open(&t->store, t->machine, uri, NULL, &t->error);

	assert_null(t->store);
	assert_says(t, one, two);
	assert_int_equal(rc, code);
}

static void write_round(struct store_test *t, uint32_t round)
{
	unsigned char bytes[REPLICA_BYTES];

	for (unsigned k = 0; k < sizeof bytes; k++)
		bytes[k] = byte_of(k, round);
	assert_int_equal(gn_store_write_host(t->store, 0, bytes, sizeof bytes, &t->error), 0);
}

static void rename_state(const struct store_test *t, const char *from, const char *to)
{
	char a[200], b[200];

	snprintf(a, sizeof a, "%s/%s", t->folder, from);
	snprintf(b, sizeof b, "%s/%s", t->folder, to);
	assert_int_equal(rename(a, b), 0);
}

/* ---- a member that missed writes ---- */

static void a_member_that_was_away_is_not_read_until_it_is_rebuilt(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_member member;

	make_replica(t, 3);
	open_replica(t, 3, NULL);
	write_round(t, 1);
	close_store(t);
	rename_state(t, "member1", "away");
	open_replica(t, 3, NULL);
	assert_int_equal(members_out(t), 1);
	assert_state(t, "open 1", 3, 2);
	assert_int_equal(gn_store_get_member(t->store, 1, &member), 0);
	assert_int_equal(member.use, GN_MEMBER_MISSING);
	assert_int_equal(member.why.code, -GN_ENOENT);
	assert_non_null(strstr(member.text, "member1"));
	write_round(t, 2);
	close_store(t);

	rename_state(t, "away", "member1");
	for (int writes = 0; writes < 2; writes++) {
		struct gn_store_options options;

		memset(&options, 0, sizeof options);
		options.read_only = !writes;
		open_replica(t, 3, &options);
		assert_non_null(strstr(gn_store_path(t->store), "replica of 3, 2 in use"));
		assert_int_equal(gn_store_get_member(t->store, 1, &member), 0);
		assert_int_equal(member.use, GN_MEMBER_STALE);
		assert_non_null(strstr(member.text, "rebuild"));
		must_move_lanes(t, 512, 0, 2);
		assert_content(t, 0, REPLICA_BYTES, 2);
		close_store(t);
	}
	assert_member_holds(t, 1, 1);

	must_rebuild(t, 3, 0);
	assert_int_equal(report.source, 1);
	assert_int_equal(report.members, 1);
	assert_int_equal(report.bytes, REPLICA_BYTES);
	assert_int_equal(report.copied_bytes, REPLICA_BYTES);
	assert_state(t, "open 0", 3, 0);
	assert_member_holds(t, 1, 2);
	open_replica(t, 3, NULL);
	assert_int_equal(members_out(t), 0);
}

/* The file as it was while the replica was open is what a program leaves that ends without closing it. */
static void after_a_crash_one_member_is_used(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_member member;
	char command[600];

	make_replica(t, 3);
	open_replica(t, 3, NULL);
	write_round(t, 1);
	assert_state(t, "open 1", 3, 0);
	rename_state(t, "state", "crashed");
	close_store(t);
	rename_state(t, "crashed", "state");
	open_replica(t, 3, NULL);
	assert_int_equal(members_out(t), 2);
	assert_int_equal(gn_store_get_member(t->store, 0, &member), 0);
	assert_int_equal(member.use, GN_MEMBER_USED);
	assert_int_equal(gn_store_get_member(t->store, 2, &member), 0);
	assert_int_equal(member.use, GN_MEMBER_STALE);
	assert_non_null(strstr(member.text, "ended while it did"));
	assert_state(t, "open 1", 3, 6);
	write_round(t, 2);
	close_store(t);
	assert_state(t, "open 0", 3, 6);
	must_rebuild(t, 3, 0);
	for (unsigned k = 0; k < 3; k++)
		assert_member_holds(t, k, 2);
	snprintf(command, sizeof command, "%s/crashed", t->folder);
	assert_int_not_equal(access(command, F_OK), 0);
}

/* The first member that is up to date is gone: the next has all that was flushed. */
static void after_a_crash_the_first_may_be_gone_too(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	make_replica(t, 2);
	open_replica(t, 2, NULL);
	write_round(t, 3);
	assert_int_equal(gn_store_flush(t->store, &t->error), 0);
	rename_state(t, "state", "crashed");
	close_store(t);
	rename_state(t, "crashed", "state");
	assert_int_equal(unlink(member_path(t, 0)), 0);
	open_replica(t, 2, NULL);
	assert_content(t, 0, REPLICA_BYTES, 3);
	assert_state(t, "open 1", 2, 1);
}

static void a_reader_changes_nothing(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_options options;

	memset(&options, 0, sizeof options);
	options.read_only = 1;
	make_replica(t, 2);
	assert_int_equal(unlink(member_path(t, 0)), 0);
	open_replica(t, 2, &options);
	assert_int_equal(members_out(t), 1);
	assert_int_equal(gn_store_write_host(t->store, 0, "x", 1, &t->error), -GN_EROFS);
	assert_int_equal(gn_store_flush(t->store, &t->error), 0);
	close_store(t);
	assert_state(t, "open 0", 2, 0);
}

static void nothing_is_read_if_no_member_is_up_to_date(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	make_replica(t, 2);
	rename_state(t, "member0", "away");
	open_replica(t, 2, NULL);
	close_store(t);
	rename_state(t, "away", "member0");
	assert_int_equal(unlink(member_path(t, 1)), 0);
	refused(t, -GN_ENOENT, replica_uri(t, 2), "no member that is up to date", "member1");
	make_member(t, 1, REPLICA_BYTES);
	assert_int_equal(gn_replica_rebuild(t->machine, replica_uri(t, 2), 1, 0, &report, &t->error),
	                 -GN_EINVAL);
	assert_says(t, "out of date", "remove that file first");
}

/* ---- two programs ---- */

/* Opens or rebuilds a replica while another store writes it. */
struct second {
	struct store_test *t;
	const char *uri;
	struct gn_store *store;
	struct gn_replica_report report;
	int rebuilds, rc;
};

static void *open_second(void *argument)
{
	struct second *s = (struct second *)argument;

	s->rc = s->rebuilds ? gn_replica_rebuild(s->t->machine, s->uri, 0, 0, &s->report, NULL)
	                    : gn_store_open(&s->store, s->t->machine, s->uri, NULL, NULL);
	return NULL;
}

/* A replica whose first member takes no write of a kernel. */
static void open_failing(struct store_test *t)
{
	struct gn_store_options options;
	struct gn_fault_plan plan;

	plan_faults(&options, &plan);
	plan.fail_ppm = 1000000;
	plan.writes_only = 1;
	plan.members = 1;
	open_replica(t, 2, &options);
}

/*
 * The second program reads the state, and waits for the lock of the first member. Meanwhile the first program
 * says that this member is stale, and ends. However the two are scheduled, the member must not count.
 */
static void who_waited_for_a_writer_knows_what_it_said(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_member member;
	struct second s;
	pthread_t thread;

	for (int rebuilds = 0; rebuilds < 2; rebuilds++) {
		make_replica(t, 2);
		open_failing(t);
		memset(&s, 0, sizeof s);
		s.t = t;
		s.rebuilds = rebuilds;
		s.uri = replica_uri(t, 2);
		assert_int_equal(pthread_create(&thread, NULL, open_second, &s), 0);
		usleep(200000);
		must_move_lanes(t, 512, 1, 5);
		close_store(t);
		assert_int_equal(pthread_join(thread, NULL), 0);
		if (s.store) {
			assert_int_equal(gn_store_get_member(s.store, 0, &member), 0);
			assert_int_equal(member.use, GN_MEMBER_STALE);
		}
		gn_store_close(s.store);
		assert_member_holds(t, 1, 5);
		drop_replica(t);
	}
}

/* ---- verify, rebuild ---- */

static void change_byte(const struct store_test *t, unsigned k, off_t at)
{
	const int fd = open(member_path(t, k), O_WRONLY);

	assert_int_equal(pwrite(fd, "x", 1, at), 1);
	close(fd);
}

static void verify_finds_the_byte_that_differs(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	make_replica(t, 3);
	assert_int_equal(gn_replica_verify(t->machine, replica_uri(t, 3), &report, &t->error), 0);
	assert_int_equal(report.members, 2);
	assert_int_equal(report.bytes, REPLICA_BYTES);
	change_byte(t, 2, 12345);
	assert_int_equal(gn_replica_verify(t->machine, replica_uri(t, 3), &report, &t->error), -GN_EBADMSG);
	assert_says(t, "member 3", "at byte 12345");
	must_rebuild(t, 3, 3);
	assert_int_equal(report.source, 3);
	assert_int_equal(gn_replica_verify(t->machine, replica_uri(t, 3), &report, &t->error), 0);
	assert_int_equal(gn_replica_verify(t->machine, set_uri(t, "replica:ro,", 3, ""), &report, &t->error),
	                 0);
}

/* The member that is copied may turn out to be the broken one: others that are whole must still count. */
static void a_rebuild_that_fails_leaves_equal_members_up_to_date(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	const struct rlimit little = {REPLICA_BYTES - 4096, RLIM_INFINITY};
	struct rlimit before;
	int rc;

	make_replica(t, 3);
	change_byte(t, 1, REPLICA_BYTES - 1);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
	rc = gn_replica_rebuild(t->machine, replica_uri(t, 3), 1, 0, &report, &t->error);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_not_equal(rc, 0);
	assert_state(t, "open 0", 3, 2);
	must_rebuild(t, 3, 0);
	assert_state(t, "open 0", 3, 0);
}

static void rebuild_writes_nothing_that_is_read_only(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	const char *uri;

	make_replica(t, 2);
	change_byte(t, 1, 7);
	assert_int_equal(
	    gn_replica_rebuild(t->machine, set_uri(t, "replica:ro,", 2, ""), 1, 0, &report, &t->error),
	    -GN_EROFS);
	assert_says(t, "ro", "leave");
	uri = set_uri(t, state_uri(t), 2, "?ro");
	assert_int_equal(gn_replica_rebuild(t->machine, uri, 1, 0, &report, &t->error), -GN_EROFS);
	assert_says(t, "member 1", "leave");
	assert_state(t, "open 0", 2, 0);
	assert_int_equal(gn_replica_verify(t->machine, uri, &report, &t->error), -GN_EBADMSG);
}

static void a_member_is_replaced_by_another(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	char uri[600];

	make_replica(t, 2);
	open_replica(t, 2, NULL);
	write_round(t, 4);
	close_store(t);
	make_member(t, 2, REPLICA_BYTES);
	snprintf(uri, sizeof uri, "%sfile:%s/member2,file:%s/member0", state_uri(t), t->folder, t->folder);
	refused(t, -GN_EINVAL, uri, "does not know member 1", "rebuild");
	assert_int_equal(gn_replica_rebuild(t->machine, uri, 0, 0, &report, &t->error), 0);
	assert_int_equal(report.source, 2);
	assert_member_holds(t, 2, 4);
	open_uri(t, uri, NULL);
	assert_int_equal(members_out(t), 0);
	close_store(t);
	refused(t, -GN_EINVAL, replica_uri(t, 2), "does not know member 2", "member1");
	refused(t, -GN_EINVAL, replica_uri(t, 1), "one member", "two or more");
}

static void rebuild_says_what_it_needs(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	make_member(t, 0, REPLICA_BYTES);
	make_member(t, 1, REPLICA_BYTES / 2);
	assert_int_equal(gn_replica_rebuild(t->machine, replica_uri(t, 2), 0, 0, &report, &t->error),
	                 -GN_EINVAL);
	assert_says(t, "which member is up to date", "--from");
	assert_int_equal(gn_replica_rebuild(t->machine, replica_uri(t, 2), 3, 0, &report, &t->error),
	                 -GN_EINVAL);
	assert_says(t, "no member 3", "there are 2");
	assert_int_equal(gn_replica_rebuild(t->machine, replica_uri(t, 2), 1, 0, &report, &t->error),
	                 -GN_EINVAL);
	assert_says(t, "member 2", "truncate -s 24576");
	assert_int_equal(gn_replica_rebuild(t->machine, "stripe:memq:64K,memq:64K", 1, 0, &report, &t->error),
	                 -GN_EINVAL);
	assert_says(t, "not a replica", "replica:");
	make_replica(t, 2);
	open_replica(t, 2, NULL);
	assert_int_equal(gn_replica_rebuild(t->machine, replica_uri(t, 2), 1, 0, &report, &t->error),
	                 -GN_EBUSY);
}

/* ---- the file ---- */

static void a_state_that_is_cut_off_is_refused(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	char path[200], text[1000];
	struct stat st;
	FILE *file;
	size_t bytes;

	make_replica(t, 2);
	snprintf(path, sizeof path, "%s/state", t->folder);
	file = fopen(path, "r");
	bytes = fread(text, 1, sizeof text, file);
	fclose(file);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, bytes);
	for (size_t k = 0; k < bytes; k++) {
		assert_int_equal(truncate(path, 0), 0);
		file = fopen(path, "w");
		fwrite(text, 1, k, file);
		fclose(file);
		refused(t, -GN_EBADMSG, replica_uri(t, 2), "not the state of a replica", "--from");
	}
}

/* Who opens the file by its other name, and who goes to another folder meanwhile, has the same state. */
static void the_state_stays_in_its_file(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	char path[200], uri[800], here[200];
	struct stat st;

	make_replica(t, 2);
	rename_state(t, "state", "real");
	snprintf(path, sizeof path, "%s/state", t->folder);
	assert_int_equal(symlink("real", path), 0);
	must_rebuild(t, 2, 0);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	snprintf(uri, sizeof uri, "replica:state=state,file:%s/member0,file:%s/member1", t->folder,
	         t->folder);
	assert_non_null(getcwd(here, sizeof here));
	assert_int_equal(chdir(t->folder), 0);
	open_uri(t, uri, NULL);
	assert_int_equal(chdir(here), 0);
	assert_state(t, "open 1", 2, 0);
	close_store(t);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	rename_state(t, "real", "state");
	assert_state(t, "open 0", 2, 0);
}

static void files_beside_the_state_are_left_alone(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct stat st;

	make_member(t, 0, 12345);
	rename_state(t, "member0", "state.new");
	make_replica(t, 2);
	open_replica(t, 2, NULL);
	close_store(t);
	rename_state(t, "state.new", "member2");
	assert_int_equal(stat(member_path(t, 2), &st), 0);
	assert_int_equal(st.st_size, 12345);
}

static void a_state_that_is_no_file_is_refused_at_once(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	char path[200];

	make_member(t, 0, REPLICA_BYTES);
	make_member(t, 1, REPLICA_BYTES);
	snprintf(path, sizeof path, "%s/state", t->folder);
	assert_int_equal(mkfifo(path, 0666), 0);
	refused(t, -GN_EBADMSG, replica_uri(t, 2), "not the state of a replica", "right file");
}

static void a_folder_that_cannot_be_written_is_said(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_replica_state s;
	char *uri[] = {(char *)(uintptr_t) "memq:64K", (char *)(uintptr_t) "memq:64K"};

	assert_int_equal(gn_replica_state_init(&s, uri, 2, &t->error), 0);
	assert_int_equal(gn_replica_state_save(&s, "/no/such/folder/state", &t->error), -GN_ENOENT);
	assert_says(t, "/no/such/folder/state", "writable");
	gn_replica_state_fini(&s);
}

static void names_say_where_the_bytes_are(void **state)
{
	static const char *const cases[][2] = {
	    {"file:/dev/../dev/x?direct=0&depth=8", "file:/dev/x"},
	    {"file:/no/such/x", "file:/no/such/x"},
	    {"file:/a%2Cb", "file:/a,b"},
	    {"nvme:01:00.0?queues=3&ns=2", "nvme:01:00.0?ns=2"},
	    {"nvme:01:00.0", "nvme:01:00.0"},
	    {"memq:64K?depth=4", "memq:64K"},
	};

	(void)state;
	for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
		char *name = gn_replica_name(cases[k][0]);

		assert_string_equal(name, cases[k][1]);
		free(name);
	}
}

/* ---- what is refused ---- */

static void a_wrong_uri_says_what_to_write(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	make_member(t, 0, REPLICA_BYTES);
	make_member(t, 1, REPLICA_BYTES);
	refused(t, -GN_EINVAL, "replica:memq:64K", "one member", "two or more");
	refused(t, -GN_EINVAL, "replica:unit=4K,memq:64K,memq:64K", "unit=4K", "state=FILE");
	refused(t, -GN_EINVAL, "replica:state,memq:64K,memq:64K", "\"state\"", "state=FILE");
	refused(t, -GN_EINVAL, "replica:state=%zz,memq:64K,memq:64K", "%zz", "state=FILE");
	refused(t, -GN_EINVAL, "replica:memq:64K,memq:128K", "member 2 (memq:128K) has 131072", "size=65536");
	refused(t, -GN_EINVAL, "replica:size=80K,memq:128K,memq:64K", "member 2 (memq:64K)", "not 81920");
	refused(t, -GN_EINVAL, "replica:size=1000,memq:64K,memq:64K", "size=1000", "give 512");
	refused(t, -GN_ENOTSUP, "replica:ro,host:64K,memq:64K", "member 1 (host:64K)", "queue pairs");
	refused(t, -GN_ENOTSUP, "replica:ro,memq:64K,stripe:memq:64K", "member 2", "members itself");
	refused(t, -GN_ENOENT, replica_uri(t, 2), "state=", "rebuild");
	refused(t, -GN_EINVAL, set_uri(t, "replica:", 2, ""), "needs state=FILE", "give ro");
	refused(t, -GN_EINVAL, set_uri(t, "replica:ro,memq:24K?depth=3,", 2, ""), "depth=3", "member 1 of 3");
}

/* Its bytes would be zeros, and nothing would say that they are not the others'. */
static void a_member_that_may_be_new_is_refused(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	const char *made;
	char uri[800];

	make_replica(t, 2);
	open_replica(t, 2, NULL);
	write_round(t, 1);
	close_store(t);
	assert_int_equal(unlink(member_path(t, 0)), 0);
	made = set_uri(t, state_uri(t), 2, "?create=24K");
	refused(t, -GN_EINVAL, made, "has create=", "truncate -s");
	assert_int_equal(gn_replica_rebuild(t->machine, made, 0, 0, &report, &t->error), -GN_EINVAL);
	assert_says(t, "has create=", "truncate -s");
	assert_int_not_equal(access(member_path(t, 0), F_OK), 0);
	assert_member_holds(t, 1, 1);
	snprintf(uri, sizeof uri, "%smemq:24K,file:%s", state_uri(t), member_path(t, 1));
	refused(t, -GN_EINVAL, uri, "forgets its bytes", "state=");
	assert_int_equal(gn_replica_rebuild(t->machine, uri, 2, 0, &report, &t->error), -GN_EINVAL);
	assert_says(t, "forgets its bytes", "state=");
}

static void a_member_that_somebody_else_writes_is_not_taken_for_lost(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store *other = NULL;
	char uri[300];

	make_replica(t, 2);
	snprintf(uri, sizeof uri, "file:%s", member_path(t, 1));
	assert_int_equal(gn_store_open(&other, t->machine, uri, NULL, &t->error), 0);
	refused(t, -GN_EBUSY, replica_uri(t, 2), "member 2 of 2", "close that store");
	gn_store_close(other);
	assert_state(t, "open 0", 2, 0);
}

/* Whoever does what the message says must not end with zeros in all members. */
static void a_member_that_was_cut_off_is_not_the_one_to_copy(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	make_replica(t, 2);
	assert_int_equal(truncate(member_path(t, 0), 4096), 0);
	refused(t, -GN_EINVAL, replica_uri(t, 2), "if one lost bytes", "rebuild --from");
	assert_int_equal(gn_replica_rebuild(t->machine, replica_uri(t, 2), 0, 0, &report, &t->error),
	                 -GN_EINVAL);
	assert_says(t, "truncate -s 24576", "--from");
	assert_int_equal(gn_replica_verify(t->machine, replica_uri(t, 2), &report, &t->error), -GN_EINVAL);
	assert_says(t, "truncate -s 24576", "--from");
	assert_int_equal(unlink(member_path(t, 0)), 0);
	assert_int_equal(gn_replica_rebuild(t->machine, replica_uri(t, 2), 0, 0, &report, &t->error),
	                 -GN_ENOENT);
	assert_says(t, "member 1", "leave it out of the URI");
}

static void size_takes_a_part_of_each(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	open_uri(t, "replica:size=48K,memq:64K,memq:128K", NULL);
	assert_int_equal(gn_store_view_of(t->store)->capacity_bytes, 48 << 10);
	must_move_lanes(t, 4096, 1, 1);
	assert_content(t, 0, 48 << 10, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    set_case(a_member_that_was_away_is_not_read_until_it_is_rebuilt),
	    set_case(after_a_crash_one_member_is_used),
	    set_case(after_a_crash_the_first_may_be_gone_too),
	    set_case(a_reader_changes_nothing),
	    set_case(nothing_is_read_if_no_member_is_up_to_date),
	    set_case(who_waited_for_a_writer_knows_what_it_said),
	    set_case(verify_finds_the_byte_that_differs),
	    set_case(a_rebuild_that_fails_leaves_equal_members_up_to_date),
	    set_case(rebuild_writes_nothing_that_is_read_only),
	    set_case(a_member_is_replaced_by_another),
	    set_case(rebuild_says_what_it_needs),
	    set_case(a_state_that_is_cut_off_is_refused),
	    set_case(the_state_stays_in_its_file),
	    set_case(files_beside_the_state_are_left_alone),
	    set_case(a_state_that_is_no_file_is_refused_at_once),
	    set_case(a_folder_that_cannot_be_written_is_said),
	    set_case(names_say_where_the_bytes_are),
	    set_case(a_wrong_uri_says_what_to_write),
	    set_case(a_member_that_may_be_new_is_refused),
	    set_case(a_member_that_somebody_else_writes_is_not_taken_for_lost),
	    set_case(a_member_that_was_cut_off_is_not_the_one_to_copy),
	    set_case(size_takes_a_part_of_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
