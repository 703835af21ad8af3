/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regular.h - open a regular file for a store, and nothing else.
 */
#ifndef GN_STORE_REGULAR_H
#define GN_STORE_REGULAR_H

#include <store/settings.h>

/*
 * gn_regular_open - open the file of a URI, or create it if the settings say so.
 * @reserve      1: reserve space on the medium for all bytes, if the file system supports that
 * @fd, @bytes   receive the descriptor, which the caller owns, and the current size
 * A file that is opened for writing is locked until the descriptor is closed, if the file system has locks.
 * Waits a second for the lock, and for nothing else, also not on a FIFO. Returns 0 or a negative code, among
 * them -GN_EBUSY (another store writes the file) and -GN_ENOSPC (no space for all bytes). The message names
 * the path and what to do. If this fails, a file that it created is removed.
 */
int gn_regular_open(const struct gn_uri *uri, const struct gn_store_settings *settings, int reserve, int *fd,
                    uint64_t *bytes, struct gn_error *error);

/*
 * gn_regular_mark - a text that this file keeps, and that no other file gets: not one that is made in its
 * place later, nor a copy. Empty if the file system does not say when a file was made.
 */
void gn_regular_mark(int fd, char *text, size_t size);

/*
 * gn_regular_close - close the file. The lock ends now, also if a child process, or a ring that the system
 * removes later, still has the file open.
 */
void gn_regular_close(int fd);

/*
 * gn_regular_read, gn_regular_write - read or write all bytes at an offset, by several system calls if
 * needed.
 * @name  for messages
 * Returns 0, -GN_EIO (the file ends early, or the system failed), -GN_ENOSPC.
 */
int gn_regular_read(int fd, const char *name, uint64_t offset, void *to, size_t bytes,
                    struct gn_error *error);
int gn_regular_write(int fd, const char *name, uint64_t offset, const void *from, size_t bytes,
                     struct gn_error *error);

/* gn_regular_sync - wait until the file's data are on the medium. Returns 0, -GN_EIO, -GN_ENOSPC. */
int gn_regular_sync(int fd, const char *name, struct gn_error *error);

#endif
