/* SPDX-License-Identifier: Apache-2.0 */
/* A member, or the log, that is another one than it was; and a log that ends within a region. */
#include <store/set/state.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "test_replica_support.h"

enum { BYTES = (64 << 10) - 512, REGION = 4096 };

static struct gn_replica_report report;
static int msync_fails;

#ifdef __cplusplus
extern "C" {
#endif
int __real_msync(void *at, size_t bytes, int flags);
int __wrap_msync(void *at, size_t bytes, int flags);
#ifdef __cplusplus
}
#endif

int __wrap_msync(void *at, size_t bytes, int flags)
{
	if (!msync_fails)
		return __real_msync(at, bytes, flags);
	errno = EIO;
	return -1;
}

static int rebuild(struct store_test *t, unsigned members, unsigned from)
{
	return gn_replica_rebuild(t->machine, replica_uri(t, members), from, 0, &report, &t->error);
}

static void must_rebuild(struct store_test *t, unsigned members, unsigned from)
{
	if (rebuild(t, members, from))
		fail_msg("%s", t->error.text);
}

/* Members of which all bytes were written. */
static void fill_members(struct store_test *t, unsigned members)
{
	for (unsigned k = 0; k < members; k++)
		make_member(t, k, BYTES);
	must_rebuild(t, members, 1);
	open_replica(t, members, NULL);
	write_at(t, 0, BYTES, 1);
	close_store(t);
}

static void assert_holds(const struct store_test *t, unsigned k, uint64_t offset, uint64_t bytes,
                         uint32_t round)
{
	unsigned char content[BYTES];

	read_member(t, k, offset, content, bytes);
	for (uint64_t at = 0; at < bytes; at++)
		if (content[at] != byte_of(offset + at, round))
			fail_msg("member %u: byte %llu is wrong", k, (unsigned long long)(offset + at));
}

/* A member is away while something is written. */
static void miss(struct store_test *t, unsigned members, const char *member, uint64_t offset, uint64_t bytes)
{
	rename_file(t, member, "away");
	open_replica(t, members, NULL);
	write_at(t, offset, bytes, 2);
	close_store(t);
	rename_file(t, "away", member);
}

/* ---- the log ---- */

static void the_last_region_may_be_shorter(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	fill_members(t, 2);
	miss(t, 2, "member1", BYTES - 1, 1);
	must_rebuild(t, 2, 0);
	assert_int_equal(report.logged, 1);
	assert_int_equal(report.copied_bytes, REGION - 512);
	assert_holds(t, 1, 0, BYTES - 1, 1);
	assert_holds(t, 1, BYTES - 1, 1, 2);
	assert_state(t, "open 0", 2, 0);
}

/* The rest of a member that lacks it must not count as up to date. */
static void a_part_of_what_was_written_is_not_rebuilt(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	char begin[300], part[4096];

	fill_members(t, 2);
	miss(t, 2, "member1", BYTES - 1, 1);
	snprintf(begin, sizeof begin, "%ssize=32K,", state_uri(t));
	snprintf(part, sizeof part, "%s", set_uri(t, begin, 2, ""));
	for (int whole = 0; whole < 2; whole++) {
		assert_int_equal(gn_replica_rebuild(t->machine, part, 0, whole, &report, &t->error),
		                 -GN_EINVAL);
		assert_says(t, "state.log", "without size=, or with size=65024");
	}
	assert_int_equal(gn_store_open(&t->store, t->machine, part, NULL, &t->error), -GN_EINVAL);
	must_rebuild(t, 2, 0);
	assert_int_equal(report.logged, 1);
	assert_holds(t, 1, BYTES - 1, 1, 2);
	assert_int_equal(gn_replica_rebuild(t->machine, part, 0, 1, &report, &t->error), 0);
}

struct opening {
	struct store_test *t;
	struct gn_replica_log log;
	int rc;
};

/* -GN_EBUSY: the other one was slow to let it go. */
static void *make_log(void *argument)
{
	struct opening *o = (struct opening *)argument;
	char path[200];

	snprintf(path, sizeof path, "%s/state", o->t->folder);
	do
		o->rc = gn_replica_log_make(&o->log, path, BYTES, NULL);
	while (o->rc == -GN_EBUSY);
	return NULL;
}

/* Who waited for the lock of a log that is removed meanwhile has another one, which has the name. */
static void a_log_that_was_removed_is_not_written(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct opening mine, other;
	struct stat st;
	pthread_t thread;

	memset(&mine, 0, sizeof mine);
	memset(&other, 0, sizeof other);
	mine.t = other.t = t;
	make_log(&mine);
	assert_int_equal(mine.rc, 0);
	assert_int_equal(pthread_create(&thread, NULL, make_log, &other), 0);
	usleep(100000);
	gn_replica_log_remove(&mine.log);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(other.rc, 0);
	assert_int_equal(fstat(other.log.fd, &st), 0);
	assert_int_equal(st.st_nlink, 1);
	assert_true(has_log(t));
	gn_replica_log_close(&other.log);
}

/* It may be mounted again without what was in memory. */
static void a_log_of_another_mount_is_not_trusted(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	char *text, *boot, *end;

	for (int again = 0; again < 2; again++) {
		fill_members(t, 2);
		open_replica(t, 2, NULL);
		write_at(t, 0, 10, 2);
		kill_program(t);
		text = state_text(t);
		boot = strstr(text, "\nboot ");
		assert_non_null(boot);
		end = strchr(boot + 6, '\n');
		assert_non_null(memchr(boot + 6, ' ', (size_t)(end - boot) - 6)); /* the mount is there */
		if (again)
			end[-1] = end[-1] == '1' ? '2' : '1';
		set_state(t, text);
		set_byte(t, 1, 5 * REGION, 'x');
		must_rebuild(t, 2, 0);
		assert_int_equal(report.logged, !again);
		set_byte(t, 1, 5 * REGION, (char)byte_of(5 * REGION, 1));
		drop_replica(t);
	}
}

/* 0: this program can write no file. */
static void let_write(int may)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = may ? limit.rlim_max : 0;
	signal(SIGXFSZ, may ? SIG_DFL : SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* The state may stay as it was while the program wrote: then it names a log that lacks what it should have.
 */
static void a_log_that_cannot_be_written_is_never_trusted(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	for (int may = 0; may < 2; may++) {
		fill_members(t, 2);
		rename_file(t, "member1", "away");
		open_replica(t, 2, NULL);
		write_at(t, 0, BYTES, 2);
		msync_fails = 1;
		let_write(may);
		close_store(t);
		let_write(1);
		msync_fails = 0;
		rename_file(t, "away", "member1");
		assert_false(has_log(t));
		assert_state(t, may ? "open 0" : "open 1", 2, 2);
		must_rebuild(t, 2, 0);
		assert_int_equal(report.logged, 0);
		assert_holds(t, 1, 0, BYTES, 2);
		drop_replica(t);
	}
}

/* ---- another file in a member's place ---- */

/* A new file with this name, of zeros. The one that was there is kept, so that the system cannot make it
 * anew. */
static void replace_member(const struct store_test *t, unsigned k)
{
	char name[16], kept[16];

	snprintf(name, sizeof name, "member%u", k);
	snprintf(kept, sizeof kept, "member%u", k + 4);
	rename_file(t, name, kept);
	make_member(t, k, BYTES);
}

/* In each place, also beside a member that is stale: its zeros are never copied. */
static void a_rebuild_never_copies_a_file_that_is_another_one(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	for (int stale = 0; stale < 2; stale++)
		for (unsigned k = 0; k < 2; k++) {
			fill_members(t, 3);
			if (stale)
				miss(t, 3, "member2", 0, REGION);
			replace_member(t, k);
			must_rebuild(t, 3, 0);
			assert_int_equal(report.source, 2 - k);
			assert_int_equal(report.members, 1 + stale);
			for (unsigned member = 0; member < 3; member++) {
				assert_holds(t, member, 0, REGION, stale ? 2 : 1);
				assert_holds(t, member, REGION, BYTES - REGION, 1);
			}
			assert_state(t, "open 0", 3, 0);
			drop_replica(t);
		}
}

/* Nothing is written, and the state knows what was there: when that is put back, it counts. */
static void a_rebuild_is_refused_if_all_are_others(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	fill_members(t, 2);
	replace_member(t, 0);
	replace_member(t, 1);
	assert_int_equal(rebuild(t, 2, 0), -GN_EBADMSG);
	assert_says(t, "is another file or drive than it was", "--from its number");
	assert_int_equal(rebuild(t, 2, 1), -GN_EINVAL);
	assert_says(t, "member 1", "is another file or drive than it was");
	rename_file(t, "member5", "member1");
	must_rebuild(t, 2, 0);
	assert_int_equal(report.source, 2);
	assert_holds(t, 0, 0, BYTES, 1);
}

static void a_file_that_is_another_one_is_not_used_until_it_is_rebuilt(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_options options;
	struct gn_store_member member;

	for (unsigned k = 0; k < 2; k++) {
		fill_members(t, 2);
		replace_member(t, k);
		for (int writes = 0; writes < 2; writes++) {
			memset(&options, 0, sizeof options);
			options.read_only = !writes;
			open_replica(t, 2, &options);
			assert_int_equal(members_out(t), 1);
			assert_int_equal(gn_store_get_member(t->store, k, &member), 0);
			assert_int_equal(member.use, GN_MEMBER_STALE);
			assert_non_null(strstr(member.text, "another file or drive"));
			must_move_lanes(t, 512, 0, 1);
			assert_content(t, 0, BYTES, 1);
			assert_state(t, writes ? "open 1" : "open 0", 2, writes ? 1u << k : 0);
			if (writes)
				write_at(t, 0, 10, 2);
			close_store(t);
		}
		assert_non_null(strstr(state_text(t), "\nstale file:"));
		must_rebuild(t, 2, 0);
		assert_int_equal(report.logged, 0);
		assert_holds(t, k, 0, 10, 2);
		assert_holds(t, k, 10, BYTES - 10, 1);
		open_replica(t, 2, NULL);
		assert_int_equal(members_out(t), 0);
		close_store(t);
		drop_replica(t);
	}
}

static void a_replica_is_refused_if_all_are_others(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	fill_members(t, 2);
	replace_member(t, 0);
	replace_member(t, 1);
	assert_int_equal(gn_store_open(&t->store, t->machine, replica_uri(t, 2), NULL, &t->error),
	                 -GN_EBADMSG);
	assert_says(t, "is another file or drive than it was", "--from its number");
	rename_file(t, "member5", "member1");
	open_replica(t, 2, NULL);
	assert_content(t, 0, BYTES, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    set_case(the_last_region_may_be_shorter),
	    set_case(a_part_of_what_was_written_is_not_rebuilt),
	    set_case(a_log_that_was_removed_is_not_written),
	    set_case(a_log_of_another_mount_is_not_trusted),
	    set_case(a_log_that_cannot_be_written_is_never_trusted),
	    set_case(a_rebuild_never_copies_a_file_that_is_another_one),
	    set_case(a_rebuild_is_refused_if_all_are_others),
	    set_case(a_file_that_is_another_one_is_not_used_until_it_is_rebuilt),
	    set_case(a_replica_is_refused_if_all_are_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
