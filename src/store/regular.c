/* SPDX-License-Identifier: Apache-2.0 */
#include <store/regular.h>
#include <store/store.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *remedy(int error_number, const struct gn_store_settings *settings)
{
	switch (error_number) {
	case ENOENT:
		return settings->create              ? "the folder does not exist; make the folder first"
		       : settings->options.read_only ? "check the path"
		                                     : "check the path, or add create=SIZE to make the file";
	case ENOTDIR: return "a part of the path is not a directory";
	case EACCES:
	case EPERM:
		return settings->options.read_only ? "make the file readable for this user"
		       : settings->create
		           ? "make the file, or its folder if there is none yet, writable for this user"
		           : "make the file writable for this user, or add ?ro for reading only";
	case EROFS: return "the file system is read-only; add ?ro for reading only";
	case ENXIO: return "only regular files can be a store";
	case EISDIR: return "name a file in the directory";
	case EMFILE:
	case ENFILE: return "too many files are open; raise ulimit -n";
	case EFBIG: return "the file system has no files of that size; give less";
	case ENOSPC: return "the file system is full; free storage, or give less";
	default: return "check the path";
	}
}

static int refuse_kind(const struct gn_uri *uri, const struct stat *st, struct gn_error *error)
{
	const char *kind =
	    S_ISDIR(st->st_mode) ? "a directory; name a file in it"
	    : S_ISFIFO(st->st_mode)
	        ? "a FIFO; only regular files can be a store, copy its data into a regular file"
	    : S_ISBLK(st->st_mode) ? "a block device; only regular files can be a store"
	                           : "not a regular file; only regular files can be a store";

	return gn_error_set(error, -GN_ENOTSUP, "%s:%s: the path is %s", uri->scheme, uri->path, kind);
}

static int failed(const struct gn_uri *uri, const struct gn_store_settings *settings, int error_number,
                  struct gn_error *error)
{
	int code =
	    error_number == EISDIR || error_number == ENXIO ? -GN_ENOTSUP : gn_store_code(error_number);

	return gn_error_set(error, code, "%s:%s: the file cannot be opened: %s; %s", uri->scheme, uri->path,
	                    strerror(error_number), remedy(error_number, settings));
}

/* Create a sparse file. Returns a descriptor or a negative errno value. */
static int create_sparse(const char *path, uint64_t bytes)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	int saved;

	if (fd < 0)
		return -errno;
	if ((bytes <= INT64_MAX && !ftruncate(fd, (off_t)bytes)))
		return fd;
	saved = bytes <= INT64_MAX ? errno : EFBIG;
	close(fd);
	unlink(path);
	return -saved;
}

/* Open or create the file. Returns a descriptor or a negative errno value. @created  1: the file is new */
static int open_any(const char *path, const struct gn_store_settings *settings, int *created)
{
	int flags = settings->options.read_only ? O_RDONLY : O_RDWR;
	/* O_NONBLOCK: opening a FIFO must not wait for its other end. */
	int fd = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	if (errno != ENOENT || !settings->create)
		return -errno;
	fd = create_sparse(path, settings->create_bytes);
	*created = fd >= 0;
	if (fd != -EEXIST)
		return fd;
	fd = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* When a program ends without closing a store, the lock stays until the system has removed its ring. */
enum { LOCK_PATIENCE_MS = 1000 };

/* Returns 1: locked, or the file system has no locks; 0: somebody else has the lock. */
static int try_lock(int fd)
{
	return !flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK;
}

static int refuse_lock(const struct gn_uri *uri, struct gn_error *error)
{
	return gn_error_set(error, -GN_EBUSY,
	                    "%s:%s: the file is open for writing in another store, of this program or of "
	                    "another program; close that store, or add ?ro for reading only",
	                    uri->scheme, uri->path);
}

/*
 * Lock the file against other writers. Two writers would each write back pages of their own, and the last
 * would undo changes of the other. The lock belongs to this open file description, so it also excludes other
 * stores of this process.
 */
static int lock(int fd, const struct gn_uri *uri, struct gn_error *error)
{
	const struct timespec little = {0, 1000000};
	const uint64_t deadline = simt_clock_ns() + LOCK_PATIENCE_MS * 1000000ull;

	while (!try_lock(fd)) {
		if (simt_clock_ns() > deadline)
			return refuse_lock(uri, error);
		nanosleep(&little, NULL);
	}
	return 0;
}

/*
 * Reserve space for all bytes. Without space, a write to a page of a mapped file ends the process (SIGBUS).
 */
static int reserve_bytes(int fd, const struct gn_uri *uri, uint64_t bytes, struct gn_error *error)
{
	int rc;

	if (!bytes)
		return 0;
	do {
		rc = fallocate(fd, 0, 0, (off_t)bytes);
	} while (rc && errno == EINTR);
	if (!rc || errno == EOPNOTSUPP || errno == ENOSYS)
		return 0;
	return gn_error_set(error, gn_store_code(errno),
	                    "%s:%s: storage cannot be reserved for all %llu bytes of the file: %s; free "
	                    "storage, or open it as file:PATH, which needs storage for written bytes only",
	                    uri->scheme, uri->path, (unsigned long long)bytes, strerror(errno));
}

/* Check, lock and size an open file. Returns 0 or a negative code; the descriptor stays the caller's. */
static int take(int fd, const struct gn_uri *uri, const struct gn_store_settings *settings, int reserve,
                uint64_t *bytes, struct gn_error *error)
{
	struct stat st;
	int rc = 0;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return refuse_kind(uri, &st, error);
	/* io_uring would answer EAGAIN instead of waiting for the disk. */
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	if (!settings->options.read_only)
		rc = lock(fd, uri, error);
	/* The writer before may have changed the size until it let the lock go. */
	if (!rc && fstat(fd, &st))
		rc = refuse_kind(uri, &st, error);
	*bytes = (uint64_t)st.st_size;
	if (!rc && reserve)
		rc = reserve_bytes(fd, uri, *bytes, error);
	return rc;
}

int gn_regular_open(const struct gn_uri *uri, const struct gn_store_settings *settings, int reserve, int *fd,
                    uint64_t *bytes, struct gn_error *error)
{
	int created = 0, rc;

	*fd = open_any(uri->path, settings, &created);
	if (*fd < 0)
		return failed(uri, settings, -*fd, error);
	rc = take(*fd, uri, settings, reserve, bytes, error);
	if (!rc)
		return 0;
	if (created && rc != -GN_EBUSY) /* -GN_EBUSY: another store uses it already */
		unlink(uri->path);
	gn_regular_close(*fd);
	return rc;
}

void gn_regular_mark(int fd, char *text, size_t size)
{
	struct statx st;

	*text = '\0';
	if (!statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &st) && st.stx_mask & STATX_BTIME)
		snprintf(text, size, "file %llu of %lld.%09u", (unsigned long long)st.stx_ino,
		         (long long)st.stx_btime.tv_sec, st.stx_btime.tv_nsec);
}

void gn_regular_close(int fd)
{
	flock(fd, LOCK_UN);
	close(fd);
}

int gn_regular_read(int fd, const char *name, uint64_t offset, void *to, size_t bytes, struct gn_error *error)
{
	char *at = (char *)to;

	while (bytes) {
		ssize_t n = pread(fd, at, bytes, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return gn_error_set(error, -GN_EIO, "%s: %zu bytes at byte %llu cannot be read: %s",
			                    name, bytes, (unsigned long long)offset, strerror(errno));
		if (!n)
			return gn_error_set(
			    error, -GN_EIO,
			    "%s: the file ends at byte %llu; it was shortened while it was open", name,
			    (unsigned long long)offset);
		at += n;
		offset += (uint64_t)n;
		bytes -= (size_t)n;
	}
	return 0;
}

int gn_regular_write(int fd, const char *name, uint64_t offset, const void *from, size_t bytes,
                     struct gn_error *error)
{
	const char *at = (const char *)from;

	while (bytes) {
		ssize_t n = pwrite(fd, at, bytes, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return gn_error_set(error, gn_store_code(n ? errno : ENOSPC),
			                    "%s: %zu bytes at byte %llu cannot be written: %s", name, bytes,
			                    (unsigned long long)offset, strerror(n ? errno : ENOSPC));
		at += n;
		offset += (uint64_t)n;
		bytes -= (size_t)n;
	}
	return 0;
}

int gn_regular_sync(int fd, const char *name, struct gn_error *error)
{
	if (!fdatasync(fd))
		return 0;
	return gn_error_set(error, gn_store_code(errno), "%s: the written data cannot be made durable: %s",
	                    name, strerror(errno));
}
