/* SPDX-License-Identifier: Apache-2.0 */
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int output_failed(const struct gn_output *o, const char *doing, int error, struct gn_error *e)
{
	const char *remedy = "check the directory and its permissions";

	if (error == ENOSPC || error == EDQUOT)
		remedy = "free some space or write to another place; nothing was overwritten";
	else if (error == EFBIG)
		remedy =
		    "the file would be over the limit of this process (ulimit -f) or of its file system; "
		    "raise it or write to another place; nothing was overwritten";
	else if (error == EIO)
		remedy = "check the disk; nothing was overwritten";
	return gn_error_set(e, gn__code_of_errno(error), "%s: %s failed (%s); %s", o->path, doing,
	                    strerror(error), remedy);
}

static void output_free(struct gn_output *o)
{
	if (o->fd >= 0)
		close(o->fd);
	free(o->path);
	free(o->temp);
	memset(o, 0, sizeof *o);
	o->fd = -1;
}

/* A link must stay a link: write beside what it points at, not beside the link. A pipe has no path. */
static char *resolve(const char *path)
{
	struct stat st;
	const int is_link = !lstat(path, &st) && S_ISLNK(st.st_mode);

	if (is_link && (stat(path, &st) || !S_ISFIFO(st.st_mode)))
		return realpath(path, NULL);
	return strdup(path);
}

static int open_device(struct gn_output *o, struct gn_error *e)
{
	o->in_place = true;
	o->fd = open(o->path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return o->fd < 0 ? output_failed(o, "opening for writing", errno, e) : 0;
}

/* The kernel applies the umask to 0666 here; mkostemp would leave a file that only we can read. */
static int open_temp(struct gn_output *o, struct gn_error *e)
{
	char *copy = strdup(o->path);
	size_t size = strlen(o->path) + 48;
	int error = ENOMEM;

	o->temp = (char *)malloc(size);
	if (copy && o->temp) {
		o->fd = open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
		o->unnamed = o->fd >= 0;
		error = errno;
		for (int k = 0; k < 100; k++) {
			snprintf(o->temp, size, "%s.%ld-%d.tmp", o->path, (long)getpid(), k);
			if (o->unnamed && access(o->temp, F_OK))
				break;
			if (!o->unnamed)
				o->fd = open(o->temp, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
			error = errno;
			if (o->fd >= 0 || error != EEXIST)
				break;
		}
	}
	free(copy);
	return o->fd < 0 ? output_failed(o, "creating the file", error, e) : 0;
}

static int reserve(struct gn_output *o, uint64_t bytes, struct gn_error *e)
{
	int failed = bytes ? fallocate(o->fd, 0, 0, (off_t)bytes) : 0;

	/* not every file system can; those tell when they are written */
	if (failed && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG))
		return output_failed(o, "reserving space", errno, e);
	return 0;
}

int gn__output_begin(struct gn_output *o, const char *path, uint64_t bytes, struct gn_error *e)
{
	struct stat st;
	int err;

	memset(o, 0, sizeof *o);
	o->fd = -1;
	o->path = resolve(path);
	if (!o->path)
		return gn_error_set(e, gn__code_of_errno(errno),
		                    "%s: the target of the link cannot be found (%s); name a file", path,
		                    strerror(errno));
	if (!stat(o->path, &st) && !S_ISREG(st.st_mode)) {
		if (S_ISCHR(st.st_mode))
			err = open_device(o, e);
		else
			err = gn_error_set(e, -GN_EINVAL, "%s: the path is %s; name a file to write", path,
			                   S_ISDIR(st.st_mode) ? "a directory" : "not a regular file");
	} else {
		err = open_temp(o, e);
		if (!err)
			err = reserve(o, bytes, e);
	}
	if (err)
		gn__output_drop(o);
	return err;
}

int gn__output_write(struct gn_output *o, const void *data, uint64_t bytes, struct gn_error *e)
{
	const char *from = (const char *)data;

	while (bytes) {
		ssize_t n = write(o->fd, from, bytes < 1u << 30 ? bytes : 1u << 30);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return output_failed(o, "writing", n < 0 ? errno : ENOSPC, e);
		from += n;
		bytes -= (uint64_t)n;
		o->written += (uint64_t)n;
	}
	return 0;
}

int gn__output_write_at(struct gn_output *o, uint64_t at, const void *data, uint64_t bytes,
                        struct gn_error *e)
{
	const char *from = (const char *)data;

	while (bytes) {
		ssize_t n = pwrite(o->fd, from, bytes < 1u << 30 ? bytes : 1u << 30, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return output_failed(o, "writing", n < 0 ? errno : ENOSPC, e);
		from += n;
		at += (uint64_t)n;
		bytes -= (uint64_t)n;
	}
	return 0;
}

int gn__output_resize(struct gn_output *o, uint64_t bytes, struct gn_error *e)
{
	return ftruncate(o->fd, (off_t)bytes) ? output_failed(o, "setting the length", errno, e) : 0;
}

static int give_temp_name(struct gn_output *o)
{
	char self[64];

	if (!o->unnamed)
		return 0;
	snprintf(self, sizeof self, "/proc/self/fd/%d", o->fd);
	if (linkat(AT_FDCWD, self, AT_FDCWD, o->temp, AT_SYMLINK_FOLLOW))
		return -1;
	o->unnamed = false;
	return 0;
}

/* The new name is safe on the disk only when the directory is; an old file system may refuse. */
static void sync_directory(const char *path)
{
	char *copy = strdup(path);
	int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (fd >= 0) {
		(void)fsync(fd);
		close(fd);
	}
	free(copy);
}

int gn__output_end(struct gn_output *o, struct gn_error *e)
{
	int err = 0;

	if (!o->in_place) {
		if (fsync(o->fd))
			err = output_failed(o, "writing it to the disk", errno, e);
		else if (give_temp_name(o) || rename(o->temp, o->path))
			err = output_failed(o, "giving the file its name", errno, e);
		if (err) {
			gn__output_drop(o);
			return err;
		}
		sync_directory(o->path);
	}
	output_free(o);
	return 0;
}

void gn__output_drop(struct gn_output *o)
{
	if (o->fd >= 0 && !o->in_place && !o->unnamed && o->temp)
		unlink(o->temp);
	output_free(o);
}
