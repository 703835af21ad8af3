/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - a PE that finds something wrong says what, and ends all. */
#ifndef GN_TESTS_SHMEM_CHECK_H
#define GN_TESTS_SHMEM_CHECK_H

#include <stdio.h>

#include <shmem.h>

#define check(condition)                                                                                 \
	do {                                                                                             \
		if (!(condition)) {                                                                      \
			fprintf(stderr, "%s:%d: PE %d: not so: %s\n", __FILE__, __LINE__, shmem_my_pe(), \
			        #condition);                                                             \
			shmem_global_exit(1);                                                            \
		}                                                                                        \
	} while (0)

#endif
