/* SPDX-License-Identifier: Apache-2.0 */
/* test_replica_sync.h - a member of a replica that cannot be flushed. Link with --wrap=fdatasync. */
#ifndef GN_TESTS_REPLICA_SYNC_H
#define GN_TESTS_REPLICA_SYNC_H

#include <errno.h>

#include "test_replica_support.h"

static int sync_fails; /* number of the member that cannot be flushed, from 1 */
static struct store_test *sync_test;

#ifdef __cplusplus
extern "C" {
#endif
int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);
#ifdef __cplusplus
}
#endif

int __wrap_fdatasync(int fd)
{
	struct stat a, b;

	if (sync_fails && !fstat(fd, &a) && !stat(member_path(sync_test, (unsigned)sync_fails - 1), &b) &&
	    a.st_ino == b.st_ino) {
		errno = EIO;
		return -1;
	}
	return __real_fdatasync(fd);
}

#endif
