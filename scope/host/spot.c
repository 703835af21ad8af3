/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/host/spot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scope/host/memory.h"
#include "scope/pattern.h"

enum { PIECE = 1 << 20 };

uint64_t scope_spot_bytes(const struct scope_machine *m)
{
	static const uint64_t bytes[] = {64 << 20, 256 << 20, 1 << 30};
	uint64_t most = bytes[m->effort];

	while (most > m->most_bytes)
		most /= 2;
	return most;
}

static int code(int error)
{
	return error == ENOSPC || error == EDQUOT  ? -GN_ENOSPC
	       : error == EACCES || error == EROFS ? -GN_EACCES
	                                           : -GN_EIO;
}

/* Where the file system has no files without a name, one that is unlinked at once. */
static int make(const char *directory, char *path, size_t room, struct gn_error *e)
{
	int fd;

	snprintf(path, room, "%s/grapnel-scope-XXXXXX", directory);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return gn_error_set(e, code(errno),
		                    "no file can be made in %s: %s; give another folder with --dir",
		                    directory, strerror(errno));
	return fd;
}

static int write_piece(int fd, uint64_t at, const char *piece, struct gn_error *e)
{
	for (uint64_t done = 0; done < PIECE;) {
		const ssize_t wrote = pwrite(fd, piece + done, PIECE - done, (off_t)(at + done));

		if (wrote <= 0)
			return gn_error_set(e, code(errno), "the test file cannot be written: %s",
			                    strerror(errno));
		done += (uint64_t)wrote;
	}
	return 0;
}

/* The word at byte b of the file is word b / 8 of the pattern. */
static int fill(int fd, uint64_t bytes, struct gn_error *e)
{
	uint64_t *piece = (uint64_t *)malloc(PIECE);
	int rc = piece ? 0 : gn_error_set(e, -GN_ENOMEM, "out of memory for a piece of the test file");

	for (uint64_t at = 0; at < bytes && !rc; at += PIECE) {
		for (uint64_t k = 0; k < PIECE / 8; k++)
			piece[k] = scope_pattern(SCOPE_SPOT_SEED, at / 8 + k);
		rc = write_piece(fd, at, (const char *)piece, e);
	}
	free(piece);
	if (!rc && fsync(fd))
		rc = gn_error_set(e, code(errno), "the test file cannot be written: %s", strerror(errno));
	return rc;
}

static int reopen(struct scope_spot *s, const char *path, struct gn_error *e)
{
	const int fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);

	if (fd < 0)
		return gn_error_set(e, errno == EINVAL ? -GN_ENOTSUP : code(errno),
		                    "the file system of this directory does not support O_DIRECT: %s",
		                    strerror(errno));
	posix_fadvise(s->fd, 0, 0, POSIX_FADV_DONTNEED);
	close(s->fd);
	s->fd = fd;
	return 0;
}

static int map(struct scope_spot *s, struct gn_error *e)
{
	void *at = mmap(NULL, s->bytes, PROT_READ, MAP_SHARED, s->fd, 0);

	if (at == MAP_FAILED)
		return gn_error_set(e, -GN_EIO, "the file cannot be mapped: %s", strerror(errno));
	s->mapping = at;
	madvise(at, s->bytes, MADV_RANDOM);
	return 0;
}

int scope_spot_open(struct scope_spot *s, const struct scope_machine *m, bool direct, bool mapped,
                    struct gn_error *e)
{
	char path[4096];
	int rc;

	s->mapping = NULL;
	s->bytes = scope_spot_bytes(m);
	s->fd = make(m->directory, path, sizeof path, e);
	if (s->fd < 0)
		return s->fd;
	rc = fill(s->fd, s->bytes, e);
	if (!rc && direct)
		rc = reopen(s, path, e);
	if (!rc && mapped)
		rc = map(s, e);
	unlink(path);
	if (rc)
		scope_spot_close(s);
	return rc;
}

void scope_spot_close(struct scope_spot *s)
{
	if (s->mapping)
		munmap(s->mapping, s->bytes);
	if (s->fd >= 0)
		close(s->fd);
	s->mapping = NULL;
	s->fd = -1;
}

/* Pages of the mapping that the page cache has. */
static uint64_t resident(const struct scope_spot *s)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), pages = s->bytes / page;
	unsigned char *has = (unsigned char *)calloc(pages, 1);
	uint64_t count = 0;

	if (has && !mincore(s->mapping, s->bytes, has))
		for (uint64_t k = 0; k < pages; k++)
			count += has[k] & 1;
	free(has);
	return count;
}

int scope_spot_cool(const struct scope_spot *s, struct gn_error *e)
{
	uint64_t left;

	if (s->mapping)
		madvise(s->mapping, s->bytes, MADV_DONTNEED);
	posix_fadvise(s->fd, 0, 0, POSIX_FADV_DONTNEED);
	left = s->mapping ? resident(s) : 0;
	if (left)
		return gn_error_set(e, -GN_ENOTSUP, "%llu pages of the file stay in the page cache",
		                    (unsigned long long)left);
	return 0;
}
