/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.h - the file behind a file: store: its descriptors, and how one request becomes system calls.
 */
#ifndef GN_STORE_FILE_TARGET_H
#define GN_STORE_FILE_TARGET_H

#include <grapnel/error.h>
#include <store/controller/request.h>

/* Indices of struct gn_file_target.fd. */
enum { GN_FILE_BUFFERED, GN_FILE_DIRECT, GN_FILE_DESCRIPTORS };

/*
 * One file, opened twice: through the page cache and, if the file system supports it, around the page cache
 * (O_DIRECT). The rest of the file behind the last whole unit of the page cache is always accessed through
 * the page cache: a direct transfer cannot have the length of that rest, and blocks of one unit must not be
 * accessed both ways.
 */
struct gn_file_target {
	int fd[GN_FILE_DESCRIPTORS]; /* direct: -1 if there is none */
	uint64_t bytes;              /* size when it was opened; the store never makes the file larger */
	uint64_t direct_end;         /* a transfer that ends behind this goes through the page cache */
	uint32_t offset_align;       /* of direct transfers, a power of two */
	uint32_t memory_align;
};

/*
 * gn_file_target_init - find out how a file can be reached.
 * @fd      open; stays the caller's
 * @direct  0: do not use O_DIRECT; 1: fail without it; -1: use it if possible
 * Returns 0 or -GN_ENOTSUP.
 */
int gn_file_target_init(struct gn_file_target *t, int fd, const char *path, uint64_t bytes, int read_only,
                        int direct, struct gn_error *error);
void gn_file_target_fini(struct gn_file_target *t);

/*
 * gn_file_target_choose - GN_FILE_DIRECT or GN_FILE_BUFFERED for the bytes that a request still has to move.
 */
int gn_file_target_choose(const struct gn_file_target *t, const struct gn_request *r);

/*
 * gn_file_target_moved - take the result of a system call for a request.
 * @result  bytes moved, or a negative errno value
 * Returns 1 if the request is finished (with its status), 0 if the rest of it must be started again.
 */
int gn_file_target_moved(const struct gn_file_target *t, struct gn_request *r, int64_t result);

#endif
