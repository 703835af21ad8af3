/* SPDX-License-Identifier: Apache-2.0 */
/* test_store_support.h - a machine, files of its own and an open store for the tests of stores. */
#ifndef GN_TESTS_STORE_SUPPORT_H
#define GN_TESTS_STORE_SUPPORT_H

#include <grapnel/store.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

struct store_test {
	struct simt_machine *machine;
	struct gn_store *store;
	struct gn_error error;
	char folder[128];
	char file[160]; /* in the folder; made by tests */
};

/* The machine that GN_TEST_MACHINE names, the cpu without it. Without such a machine the test is skipped. */
static inline struct simt_machine *open_machine(unsigned threads, unsigned warp_width)
{
	const char *name = getenv("GN_TEST_MACHINE");
	struct simt_options options;
	struct simt_machine *machine = NULL;
	struct gn_error error = {0, ""};

	memset(&options, 0, sizeof options);
	options.name = name ? name : "cpu";
	options.threads = threads;
	options.warp_width = warp_width;
	if (simt_open(&machine, &options, &error) == -GN_ENODEV) {
		fprintf(stderr, "skipped: %s\n", error.text);
		exit(77);
	}
	if (error.code)
		fail_msg("%s", error.text);
	return machine;
}

static inline int is_cuda(const struct store_test *t)
{
	struct simt_info info;

	simt_describe(t->machine, &info);
	return info.is_cuda;
}

/* For tests in which the host itself looks into device memory. */
static inline void needs_cpu(const struct store_test *t)
{
	if (is_cuda(t))
		skip();
}

static inline int store_setup(void **state)
{
	struct store_test *t = (struct store_test *)calloc(1, sizeof *t);
	const char *parent = getenv("TMPDIR");

	if (!t)
		return -1;
	snprintf(t->folder, sizeof t->folder, "%s/grapnel-store-XXXXXX",
	         parent && strlen(parent) < 90 ? parent : "/tmp");
	if (!mkdtemp(t->folder))
		return -1;
	snprintf(t->file, sizeof t->file, "%s/file", t->folder);
	t->machine = open_machine(2, 1);
	*state = t;
	return 0;
}

static inline int store_teardown(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	gn_store_close(t->store);
	simt_close(t->machine);
	unlink(t->file);
	rmdir(t->folder);
	free(t);
	return 0;
}

/* Open `scheme:FILE options` of the test. Returns what gn_store_open did. */
static inline int try_file(struct store_test *t, const char *scheme, const char *more,
                           const struct gn_store_options *options)
{
	char uri[256];

	snprintf(uri, sizeof uri, "%s:%s%s", scheme, t->file, more);
	return gn_store_open(&t->store, t->machine, uri, options, &t->error);
}

static inline void open_file(struct store_test *t, const char *scheme, const char *more,
                             const struct gn_store_options *options)
{
	if (try_file(t, scheme, more, options))
		fail_msg("%s", t->error.text);
}

/*
 * A test without options is patient on the cpu machine: under valgrind, which runs one thread at a time, and
 * beside other work, a queue of two commands keeps a lane waiting for longer than the default.
 */
static inline void open_uri(struct store_test *t, const char *uri, const struct gn_store_options *options)
{
	struct gn_store_options patient;

	memset(&patient, 0, sizeof patient);
	patient.timeout_ns = 100000000000u;
	if (!options && !is_cuda(t))
		options = &patient;
	if (gn_store_open(&t->store, t->machine, uri, options, &t->error))
		fail_msg("%s", t->error.text);
}

static inline void close_store(struct store_test *t)
{
	gn_store_close(t->store);
	t->store = NULL;
}

/* What byte `offset` holds when it was written in a round; kernels call it too. */
SIMT_FN unsigned char byte_of(uint64_t offset, uint32_t round)
{
	uint64_t z = (offset / 8 + 1) * 0x9e3779b97f4a7c15u + round * 0xd1342543de82ef95u;

	z ^= z >> 29;
	z *= 0xbf58476d1ce4e5b9u;
	return (unsigned char)(z >> (offset % 8 * 8));
}

/* Make the test's file with these many bytes of a round. */
static inline void make_file(struct store_test *t, size_t bytes, uint32_t round)
{
	unsigned char *content = (unsigned char *)malloc(bytes + 1);
	int fd = open(t->file, O_RDWR | O_CREAT | O_TRUNC, 0666);

	assert_non_null(content);
	assert_true(fd >= 0);
	for (size_t k = 0; k < bytes; k++)
		content[k] = byte_of(k, round);
	assert_int_equal(write(fd, content, bytes), (ssize_t)bytes);
	close(fd);
	free(content);
}

/* Compares a stretch of the store, read by the host, with what a round wrote. */
static inline void assert_content(struct store_test *t, uint64_t offset, size_t bytes, uint32_t round)
{
	unsigned char *content = (unsigned char *)malloc(bytes);

	assert_non_null(content);
	if (gn_store_read_host(t->store, offset, content, bytes, &t->error))
		fail_msg("%s", t->error.text);
	for (size_t k = 0; k < bytes; k++)
		if (content[k] != byte_of(offset + k, round))
			fail_msg("byte %llu is wrong", (unsigned long long)(offset + k));
	free(content);
}

/* A message must say every one of these things. */
static inline void assert_says(const struct store_test *t, const char *one, const char *two)
{
	if (!strstr(t->error.text, one) || !strstr(t->error.text, two))
		fail_msg("\"%s\" says nothing of \"%s\" or of \"%s\"", t->error.text, one, two);
}

#define store_case(function) cmocka_unit_test_setup_teardown(function, store_setup, store_teardown)

/* Options with a plan of faults, which has none yet. */
static inline void plan_faults(struct gn_store_options *options, struct gn_fault_plan *plan)
{
	memset(options, 0, sizeof *options);
	memset(plan, 0, sizeof *plan);
	options->faults = plan;
}

#endif
