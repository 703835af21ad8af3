/* SPDX-License-Identifier: Apache-2.0 */
/* Opening stores: what cannot be one is refused by name, and says what to do. */
#include <errno.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "test_store_support.h"

static const char *const with_path[] = {"file", "host"};

static void says_what_is_missing(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	for (unsigned k = 0; k < 2; k++) {
		assert_int_equal(try_file(t, with_path[k], "", NULL), -GN_ENOENT);
		assert_says(t, t->file, "create=SIZE");
		assert_int_equal(try_file(t, with_path[k], "/x?create=8K", NULL), -GN_ENOENT);
		assert_says(t, t->file, "make the folder first");
		assert_int_equal(try_file(t, with_path[k], "?ro", NULL), -GN_ENOENT);
		assert_null(strstr(t->error.text, "create=SIZE"));
		assert_int_equal(try_file(t, with_path[k], "?create=0", NULL), -GN_EINVAL);
		assert_says(t, "create", "create=SIZE");
		assert_int_equal(access(t->file, F_OK), -1);
	}
}

static void refuses_a_directory(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	assert_int_equal(mkdir(t->file, 0777), 0);
	for (unsigned k = 0; k < 2; k++) {
		assert_int_equal(try_file(t, with_path[k], "", NULL), -GN_ENOTSUP);
		assert_says(t, t->file, "a directory");
		assert_int_equal(try_file(t, with_path[k], "?ro", NULL), -GN_ENOTSUP);
		assert_says(t, t->file, "a directory");
	}
	rmdir(t->file);
}

static void refuses_a_fifo_at_once(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	assert_int_equal(mkfifo(t->file, 0666), 0);
	alarm(20); /* an open that waits for the other end would hang */
	for (unsigned k = 0; k < 2; k++) {
		assert_int_equal(try_file(t, with_path[k], "", NULL), -GN_ENOTSUP);
		assert_says(t, t->file, "FIFO");
		assert_int_equal(try_file(t, with_path[k], "?ro", NULL), -GN_ENOTSUP);
		assert_says(t, t->file, "FIFO");
	}
	alarm(0);
}

static void refuses_a_device(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	assert_int_equal(gn_store_open(&t->store, t->machine, "file:/dev/null", NULL, &t->error),
	                 -GN_ENOTSUP);
	assert_says(t, "/dev/null", "regular file");
}

/*
 * In a process of nobody's: root may read everything. Returns what gn_store_open did, -254 if its message
 * says something else. Forks without threads, as the thread sanitizer wants it.
 */
static int open_as_nobody(struct store_test *t, const char *more, const char *says)
{
	int status = 0;
	pid_t child;

	simt_close(t->machine);
	child = fork();
	if (!child) {
		if (geteuid() == 0 && setuid(65534))
			_exit(255);
		t->machine = open_machine(1, 1);
		status = -try_file(t, "file", more, NULL);
		gn_store_close(t->store);
		simt_close(t->machine);
		_exit(status && !strstr(t->error.text, says) ? 254 : status);
	}
	waitpid(child, &status, 0);
	t->machine = open_machine(2, 1);
	return -WEXITSTATUS(status);
}

static void says_who_may_not_read(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	make_file(t, 4096, 0);
	chmod(t->folder, 0755);
	chmod(t->file, 0000);
	assert_int_equal(open_as_nobody(t, "?ro", "readable"), -GN_EACCES);
	chmod(t->file, 0444);
	assert_int_equal(open_as_nobody(t, "", "?ro"), -GN_EACCES);
	assert_int_equal(open_as_nobody(t, "?ro", ""), 0);
}

static void refuses_drives_that_are_not_there(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	assert_int_equal(gn_store_open(&t->store, t->machine, "nvme:/dev/nvme0n1", NULL, &t->error),
	                 -GN_EINVAL);
	assert_non_null(strstr(t->error.text, "0000:01:00.0"));
	assert_int_equal(gn_store_open(&t->store, t->machine, "nvme:ffff:ff:1f.7?ns=2&ro", NULL, &t->error),
	                 -GN_ENODEV);
	assert_non_null(strstr(t->error.text, "grapnel nvme list"));
	assert_int_equal(gn_store_open(&t->store, t->machine, "nvme:ffff:ff:1f.7?ns=0", NULL, &t->error),
	                 -GN_EINVAL);
	assert_non_null(strstr(t->error.text, "ns=N"));
	assert_int_equal(gn_store_open(&t->store, t->machine, "nvme:ffff:ff:1f.7?create=1M", NULL, &t->error),
	                 -GN_EINVAL);
}

static void refuses_an_unknown_scheme(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	assert_int_equal(gn_store_open(&t->store, t->machine, "tape:/dev/st0", NULL, &t->error), -GN_ENOTSUP);
	assert_says(t, "tape", "host:, file:");
	assert_int_equal(gn_store_open(&t->store, t->machine, "/data/x", NULL, &t->error), -GN_EINVAL);
	assert_says(t, "/data/x", "file:PATH");
}

static void refuses_options_of_others(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	assert_int_equal(gn_store_open(&t->store, t->machine, "host:4M?queues=2", NULL, &t->error),
	                 -GN_EINVAL);
	assert_says(t, "queues", "options of host: are ro, create=SIZE");
	assert_int_equal(gn_store_open(&t->store, t->machine, "memq:4M?direct=1", NULL, &t->error),
	                 -GN_EINVAL);
	assert_says(t, "direct", "the options of memq: are");
}

static void refuses_transfers_that_are_too_large(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_options options;

	memset(&options, 0, sizeof options);
	options.transfer_bytes = (2 << 20) + 1;
	assert_int_equal(gn_store_open(&t->store, t->machine, "memq:4M", &options, &t->error), -GN_EINVAL);
	assert_says(t, "2097153", "2097152");
	for (unsigned k = 0; k < 3; k++) {
		static const char *const uri[] = {"memq:4M?transfer=4M", "memq:4M?transfer=0",
		                                  "memq:4M?transfer"};

		assert_int_equal(gn_store_open(&t->store, t->machine, uri[k], NULL, &t->error), -GN_EINVAL);
		assert_says(t, "transfer=SIZE", "2M");
	}
}

static void a_uri_says_how_large_transfers_are(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	assert_int_equal(gn_store_open(&t->store, t->machine, "memq:4M?transfer=1M", NULL, &t->error), 0);
	assert_int_equal(gn_store_view_of(t->store)->transfer_bytes, 1 << 20);
}

static void refuses_more_memory_than_there_is(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	assert_int_equal(gn_store_open(&t->store, t->machine, "host:4000T", NULL, &t->error), -GN_ENOMEM);
	assert_says(t, "host memory", "give a smaller size");
}

static void creates_a_sparse_file_once(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct stat st;

	open_file(t, "file", "?create=10G", NULL);
	assert_int_equal(gn_store_view_of(t->store)->capacity_bytes, 10ull << 30);
	assert_int_equal(stat(t->file, &st), 0);
	assert_int_equal(st.st_size, 10ll << 30);
	assert_true(st.st_blocks < 1000);
	close_store(t);
	open_file(t, "file", "?create=20G", NULL);
	assert_int_equal(gn_store_view_of(t->store)->capacity_bytes, 10ull << 30);
}

/* ---- one writer ---- */

/* Opens the file beside the store that is open. Returns what came of it. */
static int try_beside(struct store_test *t, const char *scheme, const char *more)
{
	struct gn_store *first = t->store;
	int rc = try_file(t, scheme, more, NULL);

	if (!rc)
		close_store(t);
	t->store = first;
	return rc;
}

static void a_file_has_one_writer(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	make_file(t, 8192, 0);
	for (unsigned k = 0; k < 4; k++) {
		const char *one = with_path[k & 1], *other = with_path[k >> 1];

		open_file(t, one, "", NULL);
		assert_int_equal(try_beside(t, other, ""), -GN_EBUSY);
		assert_says(t, t->file, "?ro");
		assert_int_equal(try_beside(t, other, "?create=8K"), -GN_EBUSY);
		assert_int_equal(try_beside(t, other, "?ro"), 0);
		close_store(t);
		open_file(t, one, "?ro", NULL); /* and a reader keeps nobody out */
		assert_int_equal(try_beside(t, other, ""), 0);
		assert_int_equal(try_beside(t, other, "?ro"), 0);
		close_store(t);
	}
	assert_int_equal(access(t->file, F_OK), 0);
}

/* In a process of its own, which has no threads before. */
static int in_a_child(struct store_test *t, int (*run)(struct store_test *t))
{
	int status = 0;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child)
		_exit(run(t));
	assert_int_equal(waitpid(child, &status, 0), child);
	if (!WIFEXITED(status))
		fail_msg("the process was ended by signal %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

static int writes_beside(struct store_test *t)
{
	int rc;

	t->machine = open_machine(1, 1);
	rc = try_file(t, "file", "", NULL);
	if (!rc)
		gn_store_close(t->store);
	simt_close(t->machine);
	return -rc;
}

static int leaves_open(struct store_test *t)
{
	t->machine = open_machine(1, 1);
	return -try_file(t, "file", "", NULL);
}

/* The system removes a ring some time after its program has ended, and the lock with it. */
static void a_program_that_has_ended_keeps_nobody_out(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	make_file(t, 8192, 0);
	simt_close(t->machine);
	t->machine = NULL;
	for (unsigned k = 0; k < few_drawn(4, 40); k++)
		assert_int_equal(in_a_child(t, leaves_open), 0);
	assert_int_equal(in_a_child(t, writes_beside), 0);
	t->machine = open_machine(2, 1);
}

/* Hold the file, as a store of another program would: flock(2) says who shares the lock. */
static void other_processes_are_kept_out(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	int to_child[2], from_child[2];
	char byte = 0;
	pid_t child;

	make_file(t, 8192, 0);
	simt_close(t->machine);
	t->machine = NULL;
	assert_int_equal(pipe(to_child), 0);
	assert_int_equal(pipe(from_child), 0);
	child = fork();
	if (!child) {
		close(to_child[1]); /* so that it ends with the test */
		t->machine = open_machine(1, 1);
		if (try_file(t, "host", "", NULL) || write(from_child[1], "", 1) != 1 ||
		    read(to_child[0], &byte, 1) < 0)
			_exit(1);
		gn_store_close(t->store);
		simt_close(t->machine);
		_exit(0);
	}
	assert_int_equal(read(from_child[0], &byte, 1), 1);
	assert_int_equal(in_a_child(t, writes_beside), GN_EBUSY);
	assert_int_equal(write(to_child[1], "", 1), 1);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(in_a_child(t, writes_beside), 0);
	for (int k = 0; k < 2; k++) {
		close(to_child[k]);
		close(from_child[k]);
	}
	t->machine = open_machine(2, 1);
}

/* ---- room for a mapped file ---- */

static int no_room; /* an errno value that fallocate fails with; 0: it does what it should */

/* In place of the C library's. */
/* clang-format off */
#ifdef __cplusplus
extern "C"
#endif
int fallocate(int fd, int mode, off_t offset, off_t bytes)
/* clang-format on */
{
	if (no_room) {
		errno = no_room;
		return -1;
	}
	return (int)syscall(SYS_fallocate, fd, mode, offset, bytes);
}

static void a_mapped_file_has_all_its_room(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct stat st;

	for (int there = 0; there < 2; there++) {
		if (there) {
			open_file(t, "file", "?create=1M", NULL);
			close_store(t);
		}
		no_room = ENOSPC;
		assert_int_equal(try_file(t, "host", "?create=1M", NULL), -GN_ENOSPC);
		assert_says(t, t->file, "1048576 bytes");
		assert_int_equal(access(t->file, F_OK), there ? 0 : -1); /* what was there stays */
		assert_int_equal(try_file(t, "host", "?ro", NULL), there ? 0 : -GN_ENOENT);
		if (there)
			close_store(t);
		no_room = EOPNOTSUPP; /* a file system that cannot promise it */
		open_file(t, "host", "?create=1M", NULL);
		close_store(t);
		no_room = 0;
		open_file(t, "host", "?create=1M", NULL);
		assert_int_equal(stat(t->file, &st), 0);
		assert_true(st.st_size == 1 << 20 && st.st_blocks * 512 >= 1 << 20);
		close_store(t);
		unlink(t->file);
	}
}

enum { NOT_PERMITTED = 77 };

static int say(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), rc = fd < 0 || write(fd, text, strlen(text)) < 0;

	if (fd >= 0)
		close(fd);
	return rc;
}

/*
 * The test's folder becomes a disk of 1 MiB, seen by this process only. Returns 0 or -1: that is not
 * permitted here.
 */
static int mount_small(const struct store_test *t)
{
	char map[64];

	if (geteuid() || unshare(CLONE_NEWNS)) {
		snprintf(map, sizeof map, "0 %d 1", (int)geteuid());
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS) || say("/proc/self/uid_map", map))
			return -1;
	}
	return mount("none", "/", "", MS_REC | MS_PRIVATE, NULL) ||
	               mount("none", t->folder, "tmpfs", 0, "size=1m")
	           ? -1
	           : 0;
}

static int fill_a_mapped_file(struct store_test *t)
{
	char bytes[4096];

	memset(bytes, 1, sizeof bytes);
	if (mount_small(t))
		return NOT_PERMITTED;
	t->machine = open_machine(1, 1);
	if (try_file(t, "host", "?create=8M", NULL) != -GN_ENOSPC || !access(t->file, F_OK))
		return 1;
	if (try_file(t, "host", "?create=512K", NULL))
		return 2;
	for (uint64_t at = 0; at < 512 << 10; at += sizeof bytes)
		if (gn_store_write_host(t->store, at, bytes, sizeof bytes, &t->error))
			return 3;
	if (gn_store_flush(t->store, &t->error))
		return 4;
	gn_store_close(t->store);
	simt_close(t->machine);
	return 0;
}

/* Before, the write that found no room ended the process. */
static void a_full_disk_is_told_when_a_file_is_mapped(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	int rc;

	simt_close(t->machine);
	t->machine = NULL;
	rc = in_a_child(t, fill_a_mapped_file);
	t->machine = open_machine(2, 1);
	if (rc == NOT_PERMITTED)
		/* no mounts here; a_mapped_file_has_all_its_room has looked at the same without a disk */
		skip();
	assert_int_equal(rc, 0);
}

static void leaves_nothing_when_a_file_cannot_be_created(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	assert_int_not_equal(try_file(t, "file", "?create=16000000T", NULL), 0);
	assert_says(t, t->file, "");
	assert_int_equal(access(t->file, F_OK), -1);
}

static void opens_an_empty_file(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	char byte;

	make_file(t, 0, 0);
	for (unsigned k = 0; k < 2; k++) {
		open_file(t, with_path[k], "", NULL);
		assert_int_equal(gn_store_view_of(t->store)->capacity_bytes, 0);
		assert_int_equal(gn_store_read_host(t->store, 0, &byte, 1, &t->error), -GN_ERANGE);
		assert_int_equal(gn_store_flush(t->store, &t->error), 0);
		close_store(t);
	}
}

static void says_which_way_bytes_go(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	open_uri(t, "host:4M", NULL);
	assert_non_null(strstr(gn_store_path(t->store), "host memory, 4 MiB"));
	assert_non_null(strstr(gn_store_path(t->store), "registered in 1 piece"));
	close_store(t);
	make_file(t, 8192, 0);
	open_file(t, "file", "?queues=2&depth=16&direct=0&io=threads", NULL);
	assert_string_equal(gn_store_path(t->store),
	                    "file, preadv in threads, page cache, 2 queues of 16, 1 controller thread");
}

static void opens_the_path_that_looks_like_a_size(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	char before[512], *was = getcwd(before, sizeof before);

	assert_non_null(was);
	assert_int_equal(chdir(t->folder), 0);
	open_uri(t, "host:./8K?create=100", NULL);
	assert_int_equal(chdir(was), 0);
	assert_int_equal(gn_store_view_of(t->store)->capacity_bytes, 100);
	snprintf(t->file, sizeof t->file, "%.120s/8K", t->folder);
	assert_int_equal(access(t->file, F_OK), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    store_case(says_what_is_missing),
	    store_case(refuses_a_directory),
	    store_case(refuses_a_fifo_at_once),
	    store_case(refuses_a_device),
	    store_case(says_who_may_not_read),
	    store_case(refuses_drives_that_are_not_there),
	    store_case(refuses_an_unknown_scheme),
	    store_case(refuses_options_of_others),
	    store_case(refuses_transfers_that_are_too_large),
	    store_case(a_uri_says_how_large_transfers_are),
	    store_case(refuses_more_memory_than_there_is),
	    store_case(creates_a_sparse_file_once),
	    store_case(a_file_has_one_writer),
	    store_case(a_program_that_has_ended_keeps_nobody_out),
	    store_case(other_processes_are_kept_out),
	    store_case(a_mapped_file_has_all_its_room),
	    store_case(a_full_disk_is_told_when_a_file_is_mapped),
	    store_case(leaves_nothing_when_a_file_cannot_be_created),
	    store_case(opens_an_empty_file),
	    store_case(says_which_way_bytes_go),
	    store_case(opens_the_path_that_looks_like_a_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
