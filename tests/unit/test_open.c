/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The short way in (open.h): what it opens by itself, what it refuses and how, and that gn_close loses
 * nothing.
 */
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <grapnel/grapnel.h>

static uint32_t full;

/* In place of the C library's, which the threads of a file: store call. */
/* clang-format off */
#ifdef __cplusplus
extern "C"
#endif
ssize_t pwritev(int fd, const struct iovec *pieces, int count, off_t offset)
/* clang-format on */
{
	if (simt_load_acquire_sys_u32(&full)) {
		errno = ENOSPC;
		return -1;
	}
	return syscall(SYS_pwritev, fd, pieces, (long)count, (long)offset, 0l);
}

/* 1: what is written cannot be made durable; 2: not once, which takes a while to find out */
static uint32_t unsure;

/* clang-format off */
#ifdef __cplusplus
extern "C"
#endif
int fdatasync(int fd)
/* clang-format on */
{
	const uint32_t how = simt_load_acquire_sys_u32(&unsure);

	if (how == 2) {
		simt_store_release_sys_u32(&unsure, 0);
		usleep(20000);
	}
	if (how) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_fdatasync, fd);
}

struct fill_args {
	struct gn_array array;
	uint64_t count; /* elements to write */
	uint32_t *threads;
};

SIMT_FN void fill(const struct fill_args *a)
{
	if (!simt_global_thread())
		simt_store_relaxed_dev_u32(a->threads, (uint32_t)simt_global_threads());
	for (uint64_t i = simt_global_thread(); i < a->count; i += simt_global_threads())
		gn_write_u64(&a->array, i, 3 * i + 1);
}
SIMT_KERNEL(fill, struct fill_args)

static struct gn_options words(void)
{
	struct gn_options o;

	memset(&o, 0, sizeof o);
	o.element_bytes = 8;
	return o;
}

/* Returns the code of the launch; *threads receives how many ran. */
static int fill_array(struct gn_data *d, uint64_t count, struct simt_grid grid, uint32_t *threads,
                      struct gn_error *e)
{
	struct fill_args a = {d->array, count, (uint32_t *)simt_alloc(d->machine, 4, SIMT_PINNED, e)};
	int rc = gn_launch(d, &fill_kernel, grid, &a, e);

	if (threads)
		*threads = *a.threads;
	simt_free(d->machine, a.threads);
	return rc;
}

static const struct simt_grid resident = {0, 0, 0};

static uint64_t word_of(struct gn_store *s, uint64_t at)
{
	uint64_t word = 0;

	assert_int_equal(gn_store_read_host(s, at, &word, 8, NULL), 0);
	return word;
}

static void defaults(void **state)
{
	struct gn_options o = words();
	struct gn_cache_info cache;
	struct simt_info info;
	struct gn_error e;
	struct gn_data d;
	uint32_t threads;

	(void)state;
	assert_int_equal(gn_open(&d, "host:2M", &o, &e), 0);
	assert_int_equal(gn_count(&d.array), (2 << 20) / 8);
	assert_int_equal(gn_cache_describe(d.cache, &cache, &e), 0);
	assert_int_equal((uint64_t)cache.frames * cache.page_bytes, 2 << 20);
	assert_int_equal(fill_array(&d, 1000, resident, &threads, &e), 0);
	simt_describe(d.machine, &info);
	assert_int_equal(threads, info.resident_threads / 256 ? info.resident_threads / 256 * 256 : 256);
	assert_int_equal(gn_flush(&d, &e), 0);
	assert_int_equal(word_of(d.store, 999 * 8), 3 * 999 + 1);
	assert_int_equal(gn_close(&d, &e), 0);
	assert_null(d.machine);
}

static void a_part_of_a_store(void **state)
{
	struct gn_options o = words();
	struct gn_error e;
	struct gn_data d;

	(void)state;
	o.offset = 8192 + 8;
	assert_int_equal(gn_open(&d, "host:64K", &o, &e), 0);
	assert_int_equal(gn_count(&d.array), (65536 - 8200) / 8);
	assert_int_equal(fill_array(&d, 2, resident, NULL, &e), 0);
	assert_int_equal(gn_flush(&d, &e), 0);
	assert_int_equal(word_of(d.store, 8192), 0);
	assert_int_equal(word_of(d.store, 8192 + 8), 1);
	assert_int_equal(gn_close(&d, &e), 0);
	o.count = 5;
	assert_int_equal(gn_open(&d, "host:64K", &o, &e), 0);
	assert_int_equal(gn_count(&d.array), 5);
	assert_int_equal(gn_close(&d, &e), 0);
}

static void direct_has_no_cache(void **state)
{
	struct gn_options o = words();
	struct gn_error e;
	struct gn_data d;

	(void)state;
	o.mode = GN_DIRECT;
	assert_int_equal(gn_open(&d, "host:64K", &o, &e), 0);
	assert_null(d.cache);
	assert_int_equal(fill_array(&d, 8192, resident, NULL, &e), 0);
	assert_int_equal(word_of(d.store, 8191 * 8), 3 * 8191 + 1);
	assert_int_equal(gn_close(&d, &e), 0);
}

/* gn_open fails with this code, its message has this word, and nothing is left open. */
static void refuses(const char *uri, const struct gn_options *o, int code, const char *word)
{
	struct gn_error e;
	struct gn_data d;

	memset(&e, 0, sizeof e);
	assert_int_equal(gn_open(&d, uri, o, &e), code);
	assert_int_equal(e.code, code);
	if (!strstr(e.text, word))
		fail_msg("\"%s\" does not say %s", e.text, word);
	assert_null(d.machine);
	assert_null(d.store);
}

static void refusals(void **state)
{
	struct gn_options o = words();

	(void)state;
	refuses(NULL, &o, -GN_EINVAL, "URI");
	refuses("host:1M", NULL, -GN_EINVAL, "element_bytes");
	refuses("file:/no/such/file", &o, -GN_ENOENT, "/no/such/file");
	refuses("nothing:1M", &o, -GN_ENOTSUP, "nothing");
	o.machine = "abacus";
	refuses("host:1M", &o, -GN_ENODEV, "abacus");
	o = words();
	o.element_bytes = 0;
	refuses("host:1M", &o, -GN_EINVAL, "element_bytes");
	o.element_bytes = 3;
	refuses("file:not-made?create=1M", &o, -GN_EINVAL, "3");
	assert_int_not_equal(access("not-made", F_OK), 0);
	o = words();
	o.offset = 4;
	refuses("host:1M", &o, -GN_EINVAL, "offset 4");
	o = words();
	o.mode = (enum gn_mode)7;
	refuses("host:1M", &o, -GN_EINVAL, "mode 7 does not exist");
	o = words();
	o.offset = 1 << 20;
	refuses("host:1M", &o, -GN_EINVAL, "1048576");
	o = words();
	o.count = 1 << 20;
	refuses("host:1M", &o, -GN_ERANGE, "1048576 elements");
	o = words();
	o.cache.bytes = 4096;
	o.cache.page_bytes = 100;
	refuses("host:1M", &o, -GN_EINVAL, "100");
	o = words();
	o.mode = GN_DIRECT;
	refuses("memq:1M", &o, -GN_ENOTSUP, "direct");
}

static void launches_that_fail(void **state)
{
	const struct simt_grid large = {1, 4096, 0};
	struct gn_options o = words();
	struct gn_error e;
	struct gn_data d;

	(void)state;
	memset(&e, 0, sizeof e);
	assert_int_equal(gn_open(&d, "host:64K", &o, &e), 0);
	assert_int_equal(fill_array(&d, 1, large, NULL, &e), -GN_EINVAL);
	assert_non_null(strstr(e.text, "4096"));
	/* A failed access is told once. */
	assert_int_equal(fill_array(&d, 8192 + 1, resident, NULL, &e), -GN_ERANGE);
	assert_non_null(strstr(e.text, "8192"));
	assert_int_equal(fill_array(&d, 8192, resident, NULL, &e), 0);
	assert_int_equal(gn_close(&d, &e), 0);
}

/* What a device says is told in words. */
static void devices_that_fail(void **state)
{
	struct gn_options o = words();
	struct gn_fault_plan plan;
	struct gn_error e;
	struct gn_data d;

	(void)state;
	memset(&plan, 0, sizeof plan);
	plan.fail_ppm = 1000000;
	plan.fail_status = GN_NVME_UNRECOVERED_READ;
	o.store.faults = &plan;
	assert_int_equal(gn_open(&d, "memq:64K", &o, &e), 0);
	assert_int_equal(fill_array(&d, 1, resident, NULL, &e), -GN_EIO);
	assert_non_null(strstr(e.text, "device status: unrecovered read error, 0x281"));
	assert_int_equal(gn_discard(&d, &e), 0);
	plan.fail_status = GN_NVME_WRITE_FAULT;
	plan.writes_only = 1;
	assert_int_equal(gn_open(&d, "memq:64K", &o, &e), 0);
	assert_int_equal(fill_array(&d, 1, resident, NULL, &e), 0);
	assert_int_equal(gn_close(&d, &e), -GN_EIO);
	assert_non_null(strstr(e.text, "device status: write fault, 0x280"));
	assert_int_equal(gn_discard(&d, &e), 0);
}

static void two_on_one_machine(void **state)
{
	struct gn_options o = words();
	struct gn_data first, second;
	struct gn_error e;

	(void)state;
	assert_int_equal(gn_open(&first, "host:64K", &o, &e), 0);
	o.beside = &first;
	o.machine = "not looked at";
	assert_int_equal(gn_open(&second, "host:128K", &o, &e), 0);
	assert_ptr_equal(first.machine, second.machine);
	assert_int_equal(fill_array(&second, 16384, resident, NULL, &e), 0);
	assert_int_equal(gn_close(&first, &e), -GN_EBUSY);
	assert_int_equal(gn_discard(&first, &e), -GN_EBUSY);
	assert_int_equal(gn_close(&second, &e), 0);
	assert_int_equal(fill_array(&first, 8192, resident, NULL, &e), 0);
	o.beside = &second;
	refuses("host:64K", &o, -GN_EINVAL, "not open");
	o.beside = &first;
	refuses("file:/no/such/file", &o, -GN_ENOENT, "/no/such/file");
	assert_int_equal(gn_close(&first, &e), 0);
}

/* Data that is not open can be closed; nothing else can be done with it. */
static void not_open(void **state)
{
	struct gn_options o = words();
	struct gn_error e;
	struct gn_data d;

	(void)state;
	assert_int_equal(gn_open(&d, "host:64K", &o, &e), 0);
	assert_int_equal(gn_close(&d, &e), 0);
	assert_int_equal(gn_close(&d, &e), 0);
	assert_int_equal(gn_discard(&d, &e), 0);
	assert_int_equal(gn_launch(&d, &fill_kernel, resident, NULL, &e), -GN_EINVAL);
	assert_int_equal(gn_flush(&d, &e), -GN_EINVAL);
}

/* On cpu a grid that is left to the library does not step over pages of a file. */
static void steps_of_a_grid_are_within_pages(void **state)
{
	const char *path = (const char *)*state;
	struct gn_options o = words();
	struct simt_info info;
	char uri[200];

	snprintf(uri, sizeof uri, "file:%s?create=1M", path);
	for (uint32_t page = 512; page <= 32768; page *= 8) {
		uint32_t threads, most = page / 8;
		struct gn_error e;
		struct gn_data d;

		o.cache.page_bytes = page;
		assert_int_equal(gn_open(&d, uri, &o, &e), 0);
		simt_describe(d.machine, &info);
		most = most < info.resident_threads ? most : info.resident_threads;
		assert_int_equal(fill_array(&d, 1000, resident, &threads, &e), 0);
		assert_in_range(threads, 32 * info.processors,
		                most < 32 * info.processors ? 32 * info.processors : most);
		assert_true(threads >= most / 2);
		assert_int_equal(gn_close(&d, &e), 0);
	}
}

/*
 * Kernels that run when the data is closed have ended before what they use is gone; and their failures are
 * told.
 */
static void close_waits_and_tells(void **state)
{
	const struct simt_grid grid = {4, 64, 0};
	struct gn_options o = words();
	struct gn_error e;
	struct gn_data d, first;

	(void)state;
	assert_int_equal(gn_open(&first, "host:64K", &o, &e), 0);
	o.beside = &first;
	for (unsigned mode = 0; mode < 3; mode++) {
		struct fill_args a;

		o.mode = mode == 1 ? GN_DIRECT : GN_PAGED;
		assert_int_equal(gn_open(&d, "host:4M", &o, &e), 0);
		a.array = d.array;
		a.count = (4 << 20) / 8 + (mode < 2);
		a.threads = (uint32_t *)simt_alloc(first.machine, 4, SIMT_PINNED, &e);
		assert_int_equal(simt_launch(d.machine, &fill_kernel, grid, &a, &e), 0);
		if (mode < 2) {
			assert_int_equal(gn_close(&d, &e), -GN_ERANGE);
			assert_int_equal(gn_close(&d, &e), 0);
		} else {
			assert_int_equal(gn_discard(&d, &e), 0);
		}
		simt_free(first.machine, a.threads);
	}
	assert_int_equal(gn_close(&first, &e), 0);
}

/* Data in a file, all of whose 8192 words a kernel has written; the file's disk is full if is_full. */
static void write_file(struct gn_data *d, const char *uri, uint32_t is_full, struct gn_error *e)
{
	const struct gn_options o = words();

	assert_int_equal(gn_open(d, uri, &o, e), 0);
	simt_store_release_sys_u32(&full, is_full);
	assert_int_equal(fill_array(d, 8192, resident, NULL, e), 0);
}

/* What the system could not make durable stays told. */
static void durability_is_told_for_good(void **state)
{
	const char *file = (const char *)*state;
	struct gn_error e;
	struct gn_data d;
	char uri[256];

	snprintf(uri, sizeof uri, "file:%s?create=64K&direct=0&io=threads", file);
	write_file(&d, uri, 0, &e);
	simt_store_release_sys_u32(&unsure, 1);
	assert_int_equal(gn_close(&d, &e), -GN_EIO);
	simt_store_release_sys_u32(&unsure, 0);
	assert_int_equal(gn_close(&d, &e), -GN_EIO);
	assert_non_null(strstr(e.text, "durable"));
	assert_int_equal(gn_discard(&d, &e), 0);
}

static void *make_durable(void *store)
{
	struct gn_error e;

	return (void *)(intptr_t)gn_store_flush((struct gn_store *)store, &e);
}

/* The system tells of it once. Threads that ask at the same time all hear of it. */
static void all_threads_hear_that_it_is_not_durable(void **state)
{
	const char *file = (const char *)*state;
	pthread_t thread[4];
	struct gn_error e;
	struct gn_data d;
	char uri[256];

	snprintf(uri, sizeof uri, "file:%s?create=64K&direct=0&io=threads", file);
	write_file(&d, uri, 0, &e);
	simt_store_release_sys_u32(&unsure, 2);
	for (uint32_t k = 0; k < 4; k++)
		assert_int_equal(pthread_create(&thread[k], NULL, make_durable, d.store), 0);
	for (uint32_t k = 0; k < 4; k++) {
		void *rc;

		assert_int_equal(pthread_join(thread[k], &rc), 0);
		assert_int_equal((intptr_t)rc, -GN_EIO);
	}
	assert_int_equal(gn_discard(&d, &e), 0);
}

static void large_pages(void **state)
{
	struct gn_options o = words();
	struct gn_error e;
	struct gn_data d;

	(void)state;
	o.cache.page_bytes = 512 << 10;
	assert_int_equal(gn_open(&d, "host:1M", &o, &e), 0);
	assert_int_equal(gn_close(&d, &e), 0);
}

static void read_only(void **state)
{
	const char *file = (const char *)*state;
	struct gn_options o = words();
	struct gn_error e;
	struct gn_data d;
	char uri[256];

	snprintf(uri, sizeof uri, "file:%s?create=64K", file);
	assert_int_equal(gn_open(&d, uri, &o, &e), 0);
	assert_int_equal(gn_close(&d, &e), 0);
	snprintf(uri, sizeof uri, "file:%s?ro", file);
	assert_int_equal(gn_open(&d, uri, &o, &e), 0);
	assert_int_equal(fill_array(&d, 10, resident, NULL, &e), -GN_EROFS);
	assert_int_equal(gn_close(&d, &e), 0);
}

/* What gn_close cannot write it keeps, and nothing is closed; once there is room it writes all of it. */
static void close_loses_nothing(void **state)
{
	const char *file = (const char *)*state;
	struct gn_options o = words();
	struct gn_error e;
	struct gn_data d;
	char uri[256];

	snprintf(uri, sizeof uri, "file:%s?create=64K&direct=0&io=threads", file);
	write_file(&d, uri, 1, &e);
	assert_int_equal(gn_close(&d, &e), -GN_ENOSPC);
	assert_non_null(d.cache);
	simt_store_release_sys_u32(&full, 0);
	assert_int_equal(gn_close(&d, &e), 0);
	assert_int_equal(gn_open(&d, uri, &o, &e), 0);
	for (uint64_t i = 0; i < 8192; i++)
		assert_int_equal(word_of(d.store, 8 * i), 3 * i + 1);
	assert_int_equal(gn_discard(&d, &e), 0);
}

SIMT_FN void fill_anew(const struct fill_args *a)
{
	for (uint64_t i = simt_global_thread(); i < a->count; i += simt_global_threads())
		gn_write_u64(&a->array, i, 5 * i + 2);
}
SIMT_KERNEL(fill_anew, struct fill_args)

/* A program of its own: it flushes what it wrote, writes all anew and is ended by a signal. */
static void write_until(const char *uri, int ends)
{
	const struct simt_grid few = {2, 16, 0};
	struct gn_options o = words();
	struct fill_args a;
	struct gn_error e;
	struct gn_data d;

	signal(ends, SIG_DFL);
	o.cache.bytes = 16 << 10; /* a quarter of the file: most of what is written later is evicted */
	if (gn_open(&d, uri, &o, &e) || fill_array(&d, 8192, few, NULL, &e) || gn_flush(&d, &e)) {
		fprintf(stderr, "%s\n", e.text);
		_exit(1);
	}
	a.array = d.array;
	a.count = 8192;
	a.threads = NULL;
	if (gn_launch(&d, &fill_anew_kernel, few, &a, &e))
		_exit(2);
	kill(getpid(), ends);
	for (;;)
		pause();
}

/* Each word is that of the flush or the later one; none is torn or lost. */
static void what_was_flushed_outlives_a_signal(void **state)
{
	static const int signals[] = {SIGKILL, SIGINT, SIGTERM};
	const char *file = (const char *)*state;
	char uri[256];

#ifdef __SANITIZE_THREAD__
	skip(); /* it allows no thread after a fork */
#endif
	for (unsigned k = 0; k < 3; k++) {
		struct gn_options o = words();
		struct gn_error e;
		struct gn_data d;
		pid_t child;
		int status;

		remove(file);
		snprintf(uri, sizeof uri, "file:%s?create=64K", file);
		child = fork();
		assert_true(child >= 0);
		if (!child)
			write_until(uri, signals[k]);
		assert_int_equal(waitpid(child, &status, 0), child);
		if (!WIFSIGNALED(status))
			fail_msg("the program ended with %d", WEXITSTATUS(status));
		assert_int_equal(WTERMSIG(status), signals[k]);
		assert_int_equal(gn_open(&d, uri, &o, &e), 0);
		for (uint64_t i = 0; i < 8192; i++) {
			const uint64_t word = word_of(d.store, 8 * i);

			assert_true(word == 3 * i + 1 || word == 5 * i + 2);
		}
		assert_int_equal(gn_close(&d, &e), 0);
	}
}

static int make_name(void **state)
{
	char name[] = "open-XXXXXX";
	const int fd = mkstemp(name);

	if (fd < 0)
		return -1;
	close(fd);
	remove(name);
	*state = strdup(name);
	return 0;
}

static int drop_name(void **state)
{
	remove((const char *)*state);
	free(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(defaults),
	    cmocka_unit_test(a_part_of_a_store),
	    cmocka_unit_test(direct_has_no_cache),
	    cmocka_unit_test(refusals),
	    cmocka_unit_test(launches_that_fail),
	    cmocka_unit_test(devices_that_fail),
	    cmocka_unit_test(two_on_one_machine),
	    cmocka_unit_test(not_open),
	    cmocka_unit_test(close_waits_and_tells),
	    cmocka_unit_test(large_pages),
	    cmocka_unit_test_setup_teardown(steps_of_a_grid_are_within_pages, make_name, drop_name),
	    cmocka_unit_test_setup_teardown(durability_is_told_for_good, make_name, drop_name),
	    cmocka_unit_test_setup_teardown(all_threads_hear_that_it_is_not_durable, make_name, drop_name),
	    cmocka_unit_test_setup_teardown(read_only, make_name, drop_name),
	    cmocka_unit_test_setup_teardown(close_loses_nothing, make_name, drop_name),
	    cmocka_unit_test_setup_teardown(what_was_flushed_outlives_a_signal, make_name, drop_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
