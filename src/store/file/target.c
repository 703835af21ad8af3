/* SPDX-License-Identifier: Apache-2.0 */
#include <store/file/target.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <grapnel/nvme.h>

enum { ALIGN_MOST = 4096, CACHE_UNIT_MOST = 1 << 20, TRIES_MOST = 64 };

#ifdef STATX_DIOALIGN
/* Ask the system for the alignment (Linux 6.1 and later). Returns 0 if the file system reports it. */
static int ask_alignment(struct gn_file_target *t)
{
	struct statx st;

	if (statx(t->fd[GN_FILE_DIRECT], "", AT_EMPTY_PATH, STATX_DIOALIGN, &st) ||
	    !(st.stx_mask & STATX_DIOALIGN))
		return -GN_ENOTSUP;
	t->offset_align = st.stx_dio_offset_align;
	t->memory_align = st.stx_dio_mem_align;
	return 0;
}
#else
static int ask_alignment(struct gn_file_target *t)
{
	(void)t;
	return -GN_ENOTSUP;
}
#endif

/* If the system does not report the alignment, try transfers. */
static int try_alignment(struct gn_file_target *t)
{
	void *buffer = NULL;
	uint32_t align;

	if (posix_memalign(&buffer, ALIGN_MOST, ALIGN_MOST))
		return -GN_ENOTSUP;
	for (align = 512; align <= ALIGN_MOST; align *= 2)
		if (pread(t->fd[GN_FILE_DIRECT], buffer, align, 0) >= 0)
			break;
	free(buffer);
	t->offset_align = t->memory_align = align;
	return 0;
}

/* Can blocks of at most a page have this alignment? */
static int usable(uint32_t align)
{
	return align && align <= ALIGN_MOST && !(align & (align - 1));
}

/* Open the file again by its descriptor, because the path may name another file by now. */
static int open_direct(struct gn_file_target *t, int read_only)
{
	char self[40];

	snprintf(self, sizeof self, "/proc/self/fd/%d", t->fd[GN_FILE_BUFFERED]);
	t->fd[GN_FILE_DIRECT] = open(self, (read_only ? O_RDONLY : O_RDWR) | O_DIRECT | O_CLOEXEC);
	if (t->fd[GN_FILE_DIRECT] < 0)
		return -GN_ENOTSUP;
	if (ask_alignment(t))
		try_alignment(t);
	if (usable(t->offset_align) && usable(t->memory_align))
		return 0;
	close(t->fd[GN_FILE_DIRECT]);
	t->fd[GN_FILE_DIRECT] = -1;
	return -GN_ENOTSUP;
}

/*
 * The bytes that the page cache reads, writes and drops at once: a page, or a block of the file system if
 * that is larger.
 */
static uint64_t cache_unit(int fd)
{
	struct stat st;
	uint64_t unit = (uint64_t)sysconf(_SC_PAGESIZE);

	if (!fstat(fd, &st))
		while (unit < (uint64_t)st.st_blksize && unit < CACHE_UNIT_MOST)
			unit *= 2;
	return unit;
}

int gn_file_target_init(struct gn_file_target *t, int fd, const char *path, uint64_t bytes, int read_only,
                        int direct, struct gn_error *error)
{
	memset(t, 0, sizeof *t);
	t->fd[GN_FILE_BUFFERED] = fd;
	t->fd[GN_FILE_DIRECT] = -1;
	t->bytes = bytes;
	t->offset_align = t->memory_align = 1;
	if (!direct)
		return 0;
	if (open_direct(t, read_only)) {
		t->offset_align = t->memory_align = 1;
		return direct < 0
		           ? 0
		           : gn_error_set(
		                 error, -GN_ENOTSUP,
		                 "file:%s: the file system does not support O_DIRECT; leave direct=1 out",
		                 path);
	}
	t->direct_end = bytes - bytes % cache_unit(fd);
	return 0;
}

void gn_file_target_fini(struct gn_file_target *t)
{
	if (t->fd[GN_FILE_DIRECT] >= 0)
		close(t->fd[GN_FILE_DIRECT]);
}

static int aligned(const struct gn_file_target *t, const struct gn_request *r)
{
	uint64_t memory = 0;

	if ((r->offset | r->bytes) & (t->offset_align - 1))
		return 0;
	for (uint32_t k = r->first; k < r->segments; k++)
		memory |= (uint64_t)(uintptr_t)r->segment[k].iov_base | r->segment[k].iov_len;
	return !(memory & (t->memory_align - 1));
}

int gn_file_target_choose(const struct gn_file_target *t, const struct gn_request *r)
{
	return r->tries == 0 && r->offset + r->bytes <= t->direct_end && aligned(t, r) ? GN_FILE_DIRECT
	                                                                               : GN_FILE_BUFFERED;
}

static uint32_t status_of(const struct gn_request *r, int error_number)
{
	if (error_number == EFAULT)
		return GN_NVME_DATA_TRANSFER_ERROR;
	if (r->opcode == GN_NVME_READ)
		return GN_NVME_UNRECOVERED_READ;
	return error_number == ENOSPC || error_number == EDQUOT ? GN_NVME_CAPACITY_EXCEEDED
	                                                        : GN_NVME_WRITE_FAULT;
}

int gn_file_target_moved(const struct gn_file_target *t, struct gn_request *r, int64_t result)
{
	int direct = gn_file_target_choose(t, r) == GN_FILE_DIRECT;

	r->status = GN_NVME_OK;
	if (result >= 0) {
		gn_request_advance(r, (uint32_t)result);
		if (!r->bytes)
			return 1;
	}
	if (r->tries++ < TRIES_MOST &&
	    (result > 0 || result == -EINTR || result == -EAGAIN || (result == -EINVAL && direct)))
		return 0;
	/*
	 * A read of 0 bytes: the file has become shorter since it was opened. That is an error; zeros would
	 * be wrong data.
	 */
	r->status = status_of(r, result < 0 ? (int)-result : r->opcode == GN_NVME_READ ? EIO : ENOSPC);
	return 1;
}
