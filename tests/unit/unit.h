/* SPDX-License-Identifier: Apache-2.0 */
/* unit.h - cmocka, for sources that are compiled as C and as C++. */
#ifndef GN_TESTS_UNIT_H
#define GN_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif
#include <cmocka.h>
#ifdef __cplusplus
}
#endif

/*
 * few_or_all(few, all): how many cases of all a test runs. It runs few under the thread sanitizer, where all
 * take minutes: what that finds lies in kernels and locks, and each case runs the same ones. So too where
 * GN_TEST_FEW is defined, as for an emulated processor. Every list of ways begins with warps of one lane, and
 * then wide ones; every machine has several threads.
 */
#if defined(GN_TEST_FEW) || defined(__SANITIZE_THREAD__)
#define few_or_all(few, all) (few)
#else
#define few_or_all(few, all) (all)
#endif

/*
 * The same for cases that only chance tells apart, and for those that take most of a program's time: few also
 * where they are asked for, as under valgrind and by the quick check. No constant.
 */
#define few_drawn(few, all) (getenv("GN_TEST_FEW") ? (few) : few_or_all(few, all))

/*
 * For main: under valgrind only the cases whose name matches run, for a program whose other cases take
 * minutes there.
 */
static inline void few_cases(const char *pattern)
{
	if (getenv("GN_TEST_VALGRIND"))
		cmocka_set_test_filter(pattern);
}

#endif
