/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regular.h - open a regular file for a store, and nothing else.
 */
#ifndef GN_STORE_REGULAR_H
#define GN_STORE_REGULAR_H

#include <store/settings.h>

/*
 * gn_regular_open - open the file of a URI, or create it where the settings say so.
 * @reserve      1: all its bytes get their place on the medium, as far as the file system can promise that
 * @fd, @bytes   receive the descriptor (owned) and the size now
 * A file that is opened for writing is locked until the descriptor is closed, where the file system has
 * locks. Never blocks, on a FIFO neither. Returns 0 or a negative code: -GN_EBUSY (another store writes it),
 * -GN_ENOSPC (no place for all its bytes); the message names the path and what to do. A file that was created
 * is gone again if this fails.
 */
int gn_regular_open(const struct gn_uri *uri, const struct gn_store_settings *settings, int reserve, int *fd,
                    uint64_t *bytes, struct gn_error *error);

/*
 * gn_regular_close - close it; the lock ends now, also where a child process or a ring that the system takes
 * down later still has the file.
 */
void gn_regular_close(int fd);

/*
 * gn_regular_read, gn_regular_write - all bytes at an offset, however many system calls that takes.
 * @name  for messages
 * Returns 0, -GN_EIO (the file ends early, or the system failed), -GN_ENOSPC.
 */
int gn_regular_read(int fd, const char *name, uint64_t offset, void *to, size_t bytes,
                    struct gn_error *error);
int gn_regular_write(int fd, const char *name, uint64_t offset, const void *from, size_t bytes,
                     struct gn_error *error);

/* gn_regular_sync - the file's data are on the medium. Returns 0, -GN_EIO, -GN_ENOSPC. */
int gn_regular_sync(int fd, const char *name, struct gn_error *error);

#endif
