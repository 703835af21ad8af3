/* SPDX-License-Identifier: Apache-2.0 */
/* What needs no RDMA device: addresses, the messages of a connection, and the regions of a server. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <grapnel/store.h>
#include <store/rdma/address.h>
#include <store/rdma/export.h>
#include <store/rdma/server.h>

#include "unit.h"

static struct gn_error error;

/* ---- addresses ---- */

static void a_path_has_host_port_and_name(void **state)
{
	static const char *const good[][4] = {
	    {"//node7/data", "node7", "7474", "data"},
	    {"//10.0.0.7:9000/a-B_c.9", "10.0.0.7", "9000", "a-B_c.9"},
	    {"//[fe80::1%eth0]/x", "fe80::1%eth0", "7474", "x"},
	    {"//[::1]:1/x", "::1", "1", "x"},
	    {"//h:65535/abcdefghijklmnopqrstuvwxyz012345", "h", "65535", "abcdefghijklmnopqrstuvwxyz012345"},
	};
	struct gn_rdma_address a;

	(void)state;
	for (unsigned k = 0; k < sizeof good / sizeof *good; k++) {
		assert_int_equal(gn_rdma_address_parse(&a, good[k][0], &error), 0);
		assert_string_equal(a.host, good[k][1]);
		assert_string_equal(a.port, good[k][2]);
		assert_string_equal(a.name, good[k][3]);
	}
}

static void other_paths_are_refused(void **state)
{
	static const char *const bad[] = {"",
	                                  "data",
	                                  "/h/x",
	                                  "//h",
	                                  "//h/",
	                                  "///x",
	                                  "//:1/x",
	                                  "//[::1/x",
	                                  "//[]/x",
	                                  "//h:/x",
	                                  "//h:0/x",
	                                  "//h:65536/x",
	                                  "//h:1a/x",
	                                  "//h:-1/x",
	                                  "//h: 1/x",
	                                  "//h:123456/x",
	                                  "//h/a b",
	                                  "//h/a/b",
	                                  "//h/\xc3\xa4",
	                                  "//[::1]x/y",
	                                  "//h/abcdefghijklmnopqrstuvwxyz0123456"};
	char path[400];
	struct gn_rdma_address a;

	(void)state;
	for (unsigned k = 0; k < sizeof bad / sizeof *bad; k++) {
		assert_int_equal(gn_rdma_address_parse(&a, bad[k], &error), -GN_EINVAL);
		assert_non_null(strstr(error.text, "rdma://HOST/NAME"));
	}
	memset(path, 'h', sizeof path);
	memcpy(path, "//", 2);
	memcpy(path + 300, "/x", 3);
	assert_int_equal(gn_rdma_address_parse(&a, path, &error), -GN_EINVAL);
}

/* ---- messages ---- */

static void a_request_has_these_bytes(void **state)
{
	static const uint8_t wanted[GN_HELLO_REQUEST_BYTES] = {
	    'G', 'N', 'R', 'D', 1, 0, 1, 0, 8, 7, 6, 5, 4, 3, 2, 1, 0x34, 0x12, 4, 0, 'd', 'a', 't', 'a'};
	const struct gn_hello_request sent = {0x0102030405060708u, 0x1234, GN_HELLO_CONTROL, "data"};
	uint8_t data[GN_HELLO_REQUEST_BYTES];
	struct gn_hello_request got;

	(void)state;
	gn_hello_put_request(data, &sent);
	assert_memory_equal(data, wanted, sizeof wanted);
	assert_int_equal(gn_hello_get_request(wanted, sizeof wanted, &got), 0);
	assert_true(got.session == sent.session && got.index == sent.index && got.flags == sent.flags);
	assert_string_equal(got.name, "data");
}

static void damaged_requests_are_refused(void **state)
{
	const struct gn_hello_request sent = {1, 2, 0, "data"};
	uint8_t data[GN_HELLO_REQUEST_BYTES];
	struct gn_hello_request got;

	(void)state;
	gn_hello_put_request(data, &sent);
	assert_int_equal(gn_hello_get_request(NULL, 0, &got), -GN_EBADMSG);
	assert_int_equal(gn_hello_get_request(data, sizeof data - 1, &got), -GN_EBADMSG);
	data[18] = 33;
	assert_int_equal(gn_hello_get_request(data, sizeof data, &got), -GN_EBADMSG);
	data[18] = 5; /* a zero inside the name */
	assert_int_equal(gn_hello_get_request(data, sizeof data, &got), -GN_EBADMSG);
	data[18] = 0;
	assert_int_equal(gn_hello_get_request(data, sizeof data, &got), -GN_EBADMSG);
	data[18] = 4;
	data[20] = '/';
	assert_int_equal(gn_hello_get_request(data, sizeof data, &got), -GN_EBADMSG);
	data[20] = 'd';
	data[4] = 2;
	assert_int_equal(gn_hello_get_request(data, sizeof data, &got), -GN_ENOTSUP);
	data[0] = 'g';
	assert_int_equal(gn_hello_get_request(data, sizeof data, &got), -GN_EBADMSG);
}

static void an_answer_must_not_contradict_itself(void **state)
{
	const struct gn_hello_answer sent = {0x7f0000000000u, 1u << 20, 77, 0xdeadbeefu, 512, GN_HELLO_FILE};
	struct gn_hello_answer bad, got;
	uint8_t data[GN_HELLO_ANSWER_BYTES];

	(void)state;
	gn_hello_put_answer(data, &sent);
	assert_int_equal(gn_hello_get_answer(data, sizeof data, &got), 0);
	assert_true(got.address == sent.address && got.bytes == sent.bytes && got.instance == 77);
	assert_true(got.key == sent.key && got.block == 512 && got.flags == GN_HELLO_FILE);
	assert_int_equal(gn_hello_get_answer(data, sizeof data - 1, &got), -GN_EBADMSG);
	for (unsigned k = 0; k < 5; k++) {
		bad = sent;
		bad.bytes = k == 0 ? 0 : k == 1 ? UINT64_MAX : sent.bytes;
		bad.block = k == 2 ? 0 : k == 3 ? 513 : k == 4 ? 1u << 20 : 512;
		gn_hello_put_answer(data, &bad);
		assert_int_equal(gn_hello_get_answer(data, sizeof data, &got), -GN_EBADMSG);
	}
}

static void a_refusal_is_text(void **state)
{
	uint8_t data[GN_HELLO_REFUSAL_BYTES];
	char text[GN_HELLO_TEXT + 1], longer[2 * GN_HELLO_TEXT];

	(void)state;
	gn_hello_put_refusal(data, "no\n\x1b[31m");
	assert_int_equal(gn_hello_get_refusal(data, sizeof data, text), 0);
	assert_string_equal(text, "no??[31m");
	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	gn_hello_put_refusal(data, longer);
	assert_int_equal(gn_hello_get_refusal(data, sizeof data, text), 0);
	assert_int_equal(strlen(text), GN_HELLO_TEXT);
	data[6] = GN_HELLO_TEXT + 1;
	assert_int_equal(gn_hello_get_refusal(data, sizeof data, text), -GN_EBADMSG);
	assert_int_equal(gn_hello_get_refusal(data, 7, text), -GN_EBADMSG);
}

static void a_note_is_sixteen_bytes(void **state)
{
	const struct gn_hello_note sent = {GN_HELLO_DONE, 9, -GN_ENOSPC};
	uint8_t data[GN_HELLO_NOTE_BYTES];
	struct gn_hello_note got;

	(void)state;
	gn_hello_put_note(data, &sent);
	assert_int_equal(gn_hello_get_note(data, sizeof data, &got), 0);
	assert_true(got.kind == GN_HELLO_DONE && got.number == 9 && got.code == -GN_ENOSPC);
	assert_int_equal(gn_hello_get_note(data, sizeof data - 1, &got), -GN_EBADMSG);
	data[4] = 9;
	assert_int_equal(gn_hello_get_note(data, sizeof data, &got), -GN_EBADMSG);
}

/* ---- regions ---- */

static void memory_is_zero(void **state)
{
	struct gn_export x, y;

	(void)state;
	assert_int_equal(gn_export_open(&x, "m=memory:10000", 0, &error), 0);
	assert_int_equal(gn_export_open(&y, "m=memory:10000", 1, &error), 0);
	assert_true(x.bytes == 10000 && !x.path && !strcmp(x.name, "m"));
	for (unsigned k = 0; k < 10000; k++)
		assert_int_equal(x.region.memory[k], 0);
	assert_true(x.instance && y.instance && x.instance != y.instance);
	assert_int_equal(gn_export_flush(&x, &error), 0);
	gn_export_close(&x);
	gn_export_close(&y);
}

static void other_exports_are_refused(void **state)
{
	static const char *const bad[] = {"",          "m",          "=memory:1M", "m=", "a b=memory:1M",
	                                  "m=memory:", "m=memory:x", "m=memory:0"};
	struct gn_export x;

	(void)state;
	for (unsigned k = 0; k < sizeof bad / sizeof *bad; k++)
		assert_int_equal(gn_export_open(&x, bad[k], 0, &error), -GN_EINVAL);
	assert_int_equal(gn_export_open(&x, "m=/nowhere/at/all", 0, &error), -GN_ENOENT);
	assert_int_equal(gn_export_open(&x, "m=/dev/null", 0, &error), -GN_ENOTSUP);
}

enum { FILE_BYTES = 3 * 65536 + 100 };

static void make_file(char *path, const char *bytes)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, FILE_BYTES), FILE_BYTES);
	close(fd);
}

static void read_file(const char *path, char *bytes)
{
	FILE *file = fopen(path, "re");

	assert_non_null(file);
	assert_int_equal(fread(bytes, 1, FILE_BYTES, file), FILE_BYTES);
	assert_int_equal(fgetc(file), EOF);
	fclose(file);
}

/* A flush writes what others have written into memory, and nothing else. */
static void a_flush_renews_the_file(void **state)
{
	char path[] = "/tmp/rdma_words_XXXXXX", text[64];
	char *model = (char *)malloc(FILE_BYTES), *got = (char *)malloc(FILE_BYTES);
	struct gn_export x, other;

	(void)state;
	for (unsigned k = 0; k < FILE_BYTES; k++)
		model[k] = (char)(k % 251);
	make_file(path, model);
	snprintf(text, sizeof text, "f=%s", path);
	assert_int_equal(gn_export_open(&x, text, 0, &error), 0);
	assert_memory_equal(x.region.memory, model, FILE_BYTES);
	assert_int_equal(gn_export_open(&other, text, 0, &error), -GN_EBUSY);
	x.region.memory[70000] = model[70000] = 'a';
	x.region.memory[FILE_BYTES - 1] = model[FILE_BYTES - 1] = 'z';
	assert_int_equal(gn_export_flush(&x, &error), 0);
	read_file(path, got);
	assert_memory_equal(got, model, FILE_BYTES);
	gn_export_close(&x);
	unlink(path);
	free(model);
	free(got);
}

/* Was the file written since its times were set to 1970? Sets them again. */
static int was_written(const char *path)
{
	const struct timespec old[2] = {{1, 0}, {1, 0}};
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
	return st.st_mtim.tv_sec != 1;
}

/* After a sync that failed, equal bytes in the system's memory do not show what is on the medium. */
static void a_flush_after_a_failed_one_writes_everything(void **state)
{
	char path[] = "/tmp/rdma_words_XXXXXX", text[64];
	char *bytes = (char *)calloc(1, FILE_BYTES);
	struct gn_export x;

	(void)state;
	make_file(path, bytes);
	snprintf(text, sizeof text, "f=%s", path);
	assert_int_equal(gn_export_open(&x, text, 0, &error), 0);
	was_written(path);
	assert_int_equal(gn_export_flush(&x, &error), 0);
	assert_false(was_written(path));
	x.unsure = 1;
	assert_int_equal(gn_export_flush(&x, &error), 0);
	assert_true(was_written(path));
	assert_int_equal(gn_export_flush(&x, &error), 0);
	assert_false(was_written(path));
	gn_export_close(&x);
	unlink(path);
	free(bytes);
}

/* Only of a file that nobody may write is another server's region the same one. */
static void a_file_to_read_is_known_again(void **state)
{
	char path[] = "/tmp/rdma_words_XXXXXX", text[64];
	char *bytes = (char *)calloc(1, FILE_BYTES);
	uint64_t first, second;
	struct gn_export x;

	(void)state;
	make_file(path, bytes);
	snprintf(text, sizeof text, "f=%s", path);
	for (int read_only = 0; read_only < 2; read_only++) {
		assert_int_equal(gn_export_open(&x, text, read_only, &error), 0);
		first = x.instance;
		gn_export_close(&x);
		assert_int_equal(gn_export_open(&x, text, read_only, &error), 0);
		second = x.instance;
		gn_export_close(&x);
		assert_int_equal(first == second, read_only);
	}
	assert_int_equal(truncate(path, 100), 0);
	assert_int_equal(gn_export_open(&x, text, 1, &error), 0);
	assert_true(x.instance != second);
	gn_export_close(&x);
	unlink(path);
	free(bytes);
}

/* ---- without a device, or without the library ---- */

static void a_store_says_what_is_missing(void **state)
{
	struct simt_options cpu = {"cpu", 1, 0, SIMT_FAIR, 0};
	struct simt_machine *machine;
	struct gn_store *store;
	int rc;

	(void)state;
	assert_int_equal(simt_open(&machine, &cpu, &error), 0);
	assert_int_equal(gn_store_open(&store, machine, "rdma://localhost/x?depth=3", NULL, &error),
	                 -GN_EINVAL);
	rc = gn_store_open(&store, machine, "rdma://localhost:1/x", NULL, &error);
	assert_true(rc < 0);
	assert_non_null(strstr(error.text, gn_rdma_is_built ? "rdma://localhost:1/x" : "librdmacm-dev"));
	simt_close(machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_path_has_host_port_and_name),
	    cmocka_unit_test(other_paths_are_refused),
	    cmocka_unit_test(a_request_has_these_bytes),
	    cmocka_unit_test(damaged_requests_are_refused),
	    cmocka_unit_test(an_answer_must_not_contradict_itself),
	    cmocka_unit_test(a_refusal_is_text),
	    cmocka_unit_test(a_note_is_sixteen_bytes),
	    cmocka_unit_test(memory_is_zero),
	    cmocka_unit_test(other_exports_are_refused),
	    cmocka_unit_test(a_flush_renews_the_file),
	    cmocka_unit_test(a_flush_after_a_failed_one_writes_everything),
	    cmocka_unit_test(a_file_to_read_is_known_again),
	    cmocka_unit_test(a_store_says_what_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
