/* SPDX-License-Identifier: Apache-2.0 */
/* file_limit.h - make writes to files fail: for tests of what cannot be written. */
#ifndef GN_TEST_FILE_LIMIT_H
#define GN_TEST_FILE_LIMIT_H

#include "unit.h"

#include <signal.h>
#include <sys/resource.h>

/* Writes behind so many bytes of any file of this process fail from now on. */
static inline void limit_writes(rlim_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

#endif
