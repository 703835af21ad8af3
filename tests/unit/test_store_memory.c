/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host: stores with memory=: each kind holds what is written, and a file's bytes; what cannot be is refused.
 * Managed memory and a device's own are tested with functions in place of CUDA's.
 */
#include <simt/machine.h>
#include <store/settings.h>

#include "test_store_support.h"

static const char *const kinds[] = {"pinned", "device", "managed", "read-mostly"};
enum { KINDS = 4 };

/* ---- a machine that has managed memory ---- */

enum { ROOM = 1 << 20 }; /* bytes of managed memory */

static struct {
	size_t bytes; /* in use */
	unsigned settled;
	int read_mostly; /* of the last time */
	int fails;       /* what settling returns */
} managed;

static int managed_alloc(struct simt_machine *machine, size_t bytes, void **memory, struct gn_error *error)
{
	(void)machine;
	if (bytes > ROOM - managed.bytes)
		return gn_error_set(error, -GN_ENOMEM, "%zu bytes of %d", bytes, (int)ROOM);
	managed.bytes += bytes;
	*memory = calloc(1, bytes);
	return 0;
}

static void managed_free(struct simt_machine *machine, void *memory, size_t bytes)
{
	(void)machine;
	managed.bytes -= bytes;
	free(memory);
}

static int managed_settle(struct simt_machine *machine, void *memory, size_t bytes, int read_mostly,
                          struct gn_error *error)
{
	(void)machine;
	(void)memory;
	(void)bytes;
	managed.settled++;
	managed.read_mostly = read_mostly;
	return managed.fails ? gn_error_set(error, managed.fails, "settling failed") : 0;
}

static const struct simt_managed_ops managed_ops = {managed_alloc, managed_free, managed_settle};
static struct simt_machine_ops ops;

static void has_managed(struct store_test *t)
{
	ops = *t->machine->ops;
	ops.managed = &managed_ops;
	t->machine->ops = &ops;
	memset(&managed, 0, sizeof managed);
}

/* ---- tests ---- */

static void open_size(struct store_test *t, const char *kind)
{
	char uri[64];

	snprintf(uri, sizeof uri, "host:100000?memory=%s", kind);
	open_uri(t, uri, NULL);
}

/* Zeros at first; then what was written, beside zeros. */
static void holds(struct store_test *t, const char *kind)
{
	unsigned char bytes[300], zeros[300] = {0};

	open_size(t, kind);
	assert_int_equal(gn_store_view_of(t->store)->kind, GN_STORE_MEMORY);
	assert_int_equal(gn_store_view_of(t->store)->capacity_bytes, 100000);
	assert_int_equal(gn_store_read_host(t->store, 99700, bytes, 300, &t->error), 0);
	assert_memory_equal(bytes, zeros, 300);
	for (unsigned k = 0; k < 300; k++)
		bytes[k] = byte_of(5000 + k, 1);
	assert_int_equal(gn_store_write_host(t->store, 5000, bytes, 300, &t->error), 0);
	assert_int_equal(gn_store_flush(t->store, &t->error), 0);
	assert_content(t, 5000, 300, 1);
	assert_int_equal(gn_store_read_host(t->store, 5300, bytes, 300, &t->error), 0);
	assert_memory_equal(bytes, zeros, 300);
	assert_int_equal(gn_store_read_host(t->store, 99701, bytes, 300, &t->error), -GN_ERANGE);
	close_store(t);
}

static void each_kind_holds_what_is_written(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	for (unsigned k = 0; k < KINDS; k++)
		holds(t, kinds[k]);
	needs_cpu(t);
	has_managed(t);
	for (unsigned k = 0; k < KINDS; k++)
		holds(t, kinds[k]);
	assert_int_equal(managed.bytes, 0);
	assert_int_equal(managed.settled, 2);
}

/* The file has more than a piece of what is copied at a time, and no whole page at its end. */
static void each_kind_has_a_files_bytes(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	const size_t bytes = (4 << 20) + 777;
	char more[64];

	make_file(t, bytes, 3);
	for (unsigned k = 0; k < KINDS; k++) {
		snprintf(more, sizeof more, "?ro&memory=%s", kinds[k]);
		open_file(t, "host", more, NULL);
		assert_int_equal(gn_store_view_of(t->store)->capacity_bytes, bytes);
		assert_content(t, 0, bytes, 3);
		assert_int_equal(gn_store_write_host(t->store, 0, more, 1, &t->error), -GN_EROFS);
		close_store(t);
	}
}

static void near_memory_has_a_files_bytes(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	const size_t bytes = 300001;
	char more[64];

	needs_cpu(t);
	has_managed(t);
	make_file(t, bytes, 4);
	for (unsigned k = 1; k < KINDS; k++) {
		snprintf(more, sizeof more, "?ro&memory=%s", kinds[k]);
		open_file(t, "host", more, NULL);
		assert_content(t, 0, bytes, 4);
		assert_int_equal(managed.settled, k - 1); /* a file is complete: it is settled at once */
		assert_int_equal(managed.read_mostly, k == 3);
		assert_non_null(strstr(gn_store_path(t->store), k == 1 ? "device memory" : "managed memory"));
		close_store(t);
	}
	assert_int_equal(managed.bytes, 0);
}

/* Is the store's memory the file itself, so that it shows what the file gets later? */
static int is_the_file(struct store_test *t, const char *more)
{
	unsigned char one = 'x', got = 0;
	int fd;

	make_file(t, 5000, 2);
	open_file(t, "host", more, NULL);
	fd = open(t->file, O_WRONLY);
	assert_int_equal(pwrite(fd, &one, 1, 4999), 1);
	close(fd);
	assert_int_equal(gn_store_read_host(t->store, 4999, &got, 1, &t->error), 0);
	close_store(t);
	return got == one;
}

static void on_cpu_a_managed_file_is_mapped(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	needs_cpu(t);
	assert_true(is_the_file(t, "?ro"));
	assert_true(is_the_file(t, "?ro&memory=managed"));
	assert_true(is_the_file(t, "?ro&memory=read-mostly"));
	assert_false(is_the_file(t, "?ro&memory=pinned"));
	assert_false(is_the_file(t, "?ro&memory=device"));
}

static void files_are_only_read(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	char more[64];

	make_file(t, 5000, 0);
	for (unsigned k = 0; k < KINDS; k++) {
		snprintf(more, sizeof more, "?memory=%s", kinds[k]);
		assert_int_equal(try_file(t, "host", more, NULL), -GN_EINVAL);
		assert_says(t, t->file, "add ro");
	}
}

static void too_much_is_refused(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	needs_cpu(t);
	has_managed(t);
	assert_int_equal(gn_store_open(&t->store, t->machine, "host:2M?memory=managed", NULL, &t->error),
	                 -GN_ENOMEM);
	assert_says(t, "2097152", "1048576");
	assert_int_equal(gn_store_open(&t->store, t->machine, "host:4000000T?memory=device", NULL, &t->error),
	                 -GN_ENOMEM);
	assert_says(t, "4398046511104000000 bytes of device memory", "smaller size");
	make_file(t, 2 << 20, 0);
	assert_int_equal(try_file(t, "host", "?ro&memory=read-mostly", NULL), -GN_ENOMEM);
	assert_says(t, "2097152", "1048576");
	assert_int_equal(managed.bytes, 0);
}

static void a_failure_to_settle_is_told(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	needs_cpu(t);
	has_managed(t);
	managed.fails = -GN_EIO;
	make_file(t, 5000, 0);
	assert_int_equal(try_file(t, "host", "?ro&memory=managed", NULL), -GN_EIO);
	assert_int_equal(managed.bytes, 0);
	open_size(t, "managed");
	assert_int_equal(gn_store_flush(t->store, &t->error), -GN_EIO);
	close_store(t);
	open_size(t, "device");
	assert_int_equal(gn_store_flush(t->store, &t->error), 0); /* nothing to settle */
}

static void words_are_checked(void **state)
{
	static const char *const bad[] = {"host:4K?memory=far", "host:4K?memory", "host:4K?memory="};
	struct store_test *t = (struct store_test *)*state;

	for (unsigned k = 0; k < sizeof bad / sizeof bad[0]; k++) {
		assert_int_equal(gn_store_open(&t->store, t->machine, bad[k], NULL, &t->error), -GN_EINVAL);
		assert_says(t, "memory=pinned|device|managed|read-mostly", "one of the words");
	}
	assert_int_equal(gn_store_open(&t->store, t->machine, "memq:4K?memory=pinned", NULL, &t->error),
	                 -GN_EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    store_case(each_kind_holds_what_is_written),
	    store_case(each_kind_has_a_files_bytes),
	    store_case(near_memory_has_a_files_bytes),
	    store_case(on_cpu_a_managed_file_is_mapped),
	    store_case(files_are_only_read),
	    store_case(too_much_is_refused),
	    store_case(a_failure_to_settle_is_told),
	    store_case(words_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
