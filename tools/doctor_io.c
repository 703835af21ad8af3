/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "columns/arrow.h"
#include "doctor.h"

void doctor_say(struct doctor_try *t, bool works, const char *format, ...)
{
	va_list arguments;

	t->works = works;
	va_start(arguments, format);
	vsnprintf(t->why, sizeof t->why, format, arguments);
	va_end(arguments);
}

/* kernel.io_uring_disabled: 0 all may, 1 a group may, 2 nobody may; -1 where there is no such switch. */
static int uring_switch(void)
{
	FILE *f = fopen("/proc/sys/kernel/io_uring_disabled", "re");
	int value = -1;

	if (f && fscanf(f, "%d", &value) != 1)
		value = -1;
	if (f)
		fclose(f);
	return value;
}

static void why_no_uring(struct doctor_try *t, int error)
{
	int state = uring_switch();

	if (state > 0)
		doctor_say(t, false, "switched off by sysctl kernel.io_uring_disabled=%d; set it to 0",
		           state);
	else if (error == EPERM || error == EACCES)
		doctor_say(
		    t, false,
		    "forbidden (%s), as by most container runtimes; allow io_uring in the seccomp profile",
		    strerror(error));
	else if (error == ENOSYS)
		doctor_say(t, false,
		           "not in this kernel or hidden by a container; needs Linux 5.1, built with "
		           "CONFIG_IO_URING");
	else if (error == ENOMEM)
		doctor_say(t, false, "out of lockable memory for a ring; raise ulimit -l");
	else
		doctor_say(t, false, "unable to set up a ring (%s); check the kernel log", strerror(error));
}

static int one_nop(struct io_uring *ring)
{
	struct io_uring_cqe *cqe;
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
	int err;

	io_uring_prep_nop(sqe);
	err = io_uring_submit(ring);
	if (err >= 0)
		err = io_uring_wait_cqe(ring, &cqe);
	if (!err)
		io_uring_cqe_seen(ring, cqe);
	return err;
}

void doctor_probe_uring(struct doctor_try *t)
{
	struct io_uring ring;
	int err = io_uring_queue_init(8, &ring, 0);

	if (err) {
		why_no_uring(t, -err);
		return;
	}
	err = one_nop(&ring);
	if (err)
		why_no_uring(t, -err);
	else
		doctor_say(t, true, "a ring was set up and answered");
	io_uring_queue_exit(&ring);
}

/* A file of its own in a directory, the file itself otherwise. */
static int open_direct(const char *path, bool *writable)
{
	struct stat st;

	*writable = !stat(path, &st) && S_ISDIR(st.st_mode);
	if (*writable)
		return open(path, O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600);
	return open(path, O_RDONLY | O_DIRECT | O_NONBLOCK | O_CLOEXEC);
}

static void why_no_direct(struct doctor_try *t, const char *path, int error)
{
	if (error == EINVAL)
		doctor_say(t, false,
		           "the file system of %.80s has no O_DIRECT; keep graphs on ext4, xfs or btrfs",
		           path);
	else if (error == EOPNOTSUPP || error == EISDIR)
		doctor_say(
		    t, false,
		    "no temporary file can be made on the file system of %.80s; give a file with --path",
		    path);
	else
		doctor_say(
		    t, false,
		    "O_DIRECT cannot be tried on %.80s (%s); give a folder or file that can be written with "
		    "--path",
		    path, strerror(error));
}

static ssize_t transfer(int fd, bool writable)
{
	enum { PAGE = 4096 };
	void *page = aligned_alloc(PAGE, PAGE);
	ssize_t n;

	if (!page) {
		errno = ENOMEM;
		return -1;
	}
	memset(page, 0, PAGE);
	n = writable ? pwrite(fd, page, PAGE, 0) : 0;
	if (n >= 0)
		n = pread(fd, page, PAGE, 0);
	free(page);
	return n;
}

void doctor_probe_direct(struct doctor_try *t, const char *path)
{
	bool writable;
	int fd = open_direct(path, &writable);

	if (fd < 0 || transfer(fd, writable) < 0)
		why_no_direct(t, path, errno);
	else
		doctor_say(t, true, "%.80s: 4096 bytes %s past the page cache", path,
		           writable ? "written and read" : "read");
	if (fd >= 0)
		close(fd);
}

void doctor_probe_arrow(struct doctor_try *t)
{
	const char *version = gn_arrow_version();

	if (version)
		doctor_say(t, true, "by Apache Arrow %s", version);
	else
		doctor_say(
		    t, false,
		    "this program was built without Apache Arrow; docs/column-format.md says how to build it "
		    "with it");
}
