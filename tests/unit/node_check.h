/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_check.h - checks in nodes' programs, which run in threads that are not the test's own. An assertion of
 * cmocka ends the process there, without a word, and leaves the other threads behind. A check that fails says
 * what was wrong and returns; the program has then failed, all nodes end, and the test asserts that
 * gn_net_run returned 0.
 */
#ifndef GN_TESTS_NODE_CHECK_H
#define GN_TESTS_NODE_CHECK_H

#include <grapnel/error.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* What a program with a failed check returns: a code that net does not return itself. */
enum { NODE_WRONG = -GN_EACCES };

static inline int node_wrong(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
	return NODE_WRONG;
}

static inline int node_differs(const char *file, int line, const char *what, uint64_t is, uint64_t expected)
{
	fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", file, line, what, (long long)is,
	        (long long)expected);
	return NODE_WRONG;
}

/* In a function that returns int, a code. */
#define CHECK(condition)                                                   \
	do {                                                               \
		if (!(condition))                                          \
			return node_wrong(__FILE__, __LINE__, #condition); \
	} while (0)

#define CHECK_EQUAL(value, expected)                                                    \
	do {                                                                            \
		const uint64_t is_ = (uint64_t)(value), should_ = (uint64_t)(expected); \
		if (is_ != should_)                                                     \
			return node_differs(__FILE__, __LINE__, #value, is_, should_);  \
	} while (0)

#endif
