/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tier whose slow store cannot be written: a line that cannot is no hindrance to others, a flush of the
 * cache writes what can be written.
 */
#include <signal.h>
#include <sys/resource.h>

#include "test_set_support.h"

enum { LINE = 4096, WAYS = 16, LINES = 60, BAD = LINES - 1 };

/* Files of this process end here: bytes behind it cannot be written. */
static void files_end_at(rlim_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static int teardown(void **state)
{
	files_end_at(RLIM_INFINITY);
	return set_teardown(state);
}

/* One set before a file whose last line cannot be written. */
static void open_with_bad_line(struct store_test *t)
{
	char uri[300];

	make_member(t, 0, (uint64_t)LINES * LINE);
	snprintf(uri, sizeof uri, "tier:host:64K,file:%s?io=threads", member_path(t, 0));
	open_uri(t, uri, NULL);
	files_end_at((rlim_t)BAD * LINE);
}

static int write_line(const struct store_test *t, uint64_t line, uint32_t round)
{
	unsigned char bytes[LINE];

	for (unsigned k = 0; k < LINE; k++)
		bytes[k] = byte_of(line * LINE + k, round);
	return gn_store_write_warp(gn_store_view_of(t->store), 1, 1, line * LINE, bytes, LINE).code;
}

static void assert_in_file(const struct store_test *t, uint64_t line, uint32_t round)
{
	unsigned char bytes[LINE];

	read_member(t, 0, line * LINE, bytes, LINE);
	for (unsigned k = 0; k < LINE; k++)
		assert_int_equal(bytes[k], byte_of(line * LINE + k, round));
}

static void one_line_that_cannot_be_written_blocks_no_other(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	unsigned char bytes[LINE];

	needs_cpu(t);
	open_with_bad_line(t);
	assert_int_equal(write_line(t, BAD, 1), 0);
	for (uint64_t line = 0; line < WAYS - 1 + 24; line++) /* the first 15 fill the set */
		assert_int_equal(write_line(t, line, 1), 0);
	assert_int_equal(
	    gn_store_read_warp(gn_store_view_of(t->store), 1, 1, (uint64_t)BAD * LINE, bytes, LINE).code, 0);
	for (unsigned k = 0; k < LINE; k++)
		assert_int_equal(bytes[k], byte_of((uint64_t)BAD * LINE + k, 1));
	assert_int_equal(gn_store_flush(t->store, &t->error), -GN_EIO);
	files_end_at(RLIM_INFINITY);
	assert_says(t, "1 lines could not be written", "at byte 241664");
	assert_int_equal(gn_store_flush(t->store, &t->error), 0);
	for (uint64_t line = 0; line < WAYS - 1 + 24; line++)
		assert_in_file(t, line, 1);
	assert_in_file(t, BAD, 1);
}

#define faults_case(function) cmocka_unit_test_setup_teardown(function, store_setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    faults_case(one_line_that_cannot_be_written_blocks_no_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
