/* SPDX-License-Identifier: Apache-2.0 */
/* Streams in files: what was put comes out, and nothing else is taken for a stream. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "unit.h"

#include <sim/stream.h>

enum { BASE = 1 << 20 };

static FILE *file_of(const void *bytes, size_t count)
{
	FILE *f = tmpfile();

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, count, f), count);
	assert_int_equal(fflush(f), 0);
	return f;
}

static int open_bytes(const void *bytes, size_t count, struct sim_stream **stream)
{
	FILE *f = file_of(bytes, count);
	struct gn_error e = {0, ""};
	const int rc = sim_stream_open(stream, fileno(f), "file", &e);

	fclose(f);
	assert_int_equal(e.code, rc);
	if (rc)
		assert_memory_equal(e.text, "file: ", 6);
	return rc;
}

static struct sim_stream_head head_of(const char *name, uint32_t blocks, uint32_t warps)
{
	struct sim_stream_head h;

	memset(&h, 0, sizeof h);
	h.kind = 1;
	h.pages = 4;
	h.blocks = blocks;
	h.warps = warps;
	strcpy(h.name, name);
	return h;
}

/* Two launches: one warp that does something of everything, and two blocks of three that end at once. */
static uint8_t *example(size_t *bytes)
{
	static const struct sim_line line[] = {
	    {0, UINT64_MAX}, {4 * SIM_PAGE_BYTES - 64, 0xf0}, {128, 0x8000000000000001}};
	const struct sim_stream_head one = head_of("one", 1, 1), six = head_of("six", 2, 3);
	struct sim_stream_writer w;
	struct sim_code code[6];
	struct gn_error e;
	char *text;
	FILE *to = open_memstream(&text, bytes);

	memset(code, 0, sizeof code);
	assert_int_equal(sim_stream_begin(&w, to, &e), 0);
	sim_code_blocks(code, 1000);
	sim_code_lines(code, SIM_OP_LOAD, line, 3);
	sim_code_wait(code, 2);
	sim_code_barrier(code);
	sim_code_lines(code, SIM_OP_STORE, line + 2, 1);
	sim_code_end(code);
	assert_int_equal(sim_stream_put_launch(&w, &one, code, &e), 0);
	code[0].used = 0;
	for (unsigned k = 0; k < 6; k++)
		sim_code_end(&code[k]);
	assert_int_equal(sim_stream_put_launch(&w, &six, code, &e), 0);
	assert_int_equal(sim_stream_end(&w, &e), 0);
	fclose(to);
	for (unsigned k = 0; k < 6; k++)
		free(code[k].bytes);
	return (uint8_t *)text;
}

static struct sim_op next(struct sim_group *g)
{
	struct sim_op op;
	struct gn_error e;

	assert_int_equal(sim_wave_next(sim_group_wave(g, 0), &op, &e), 0);
	return op;
}

static void expect_everything(struct sim_group *g)
{
	struct sim_op op = next(g);

	assert_int_equal(op.kind, SIM_OP_SALU);
	assert_int_equal(op.count, 1000 * SIM_STREAM_SCALAR);
	op = next(g);
	assert_int_equal(op.kind, SIM_OP_VALU);
	assert_int_equal(op.count, 1000 * SIM_STREAM_VECTOR);
	op = next(g);
	assert_int_equal(op.kind, SIM_OP_LOAD);
	assert_int_equal(op.count, 3);
	assert_int_equal(op.line[0].address, BASE);
	assert_true(op.line[0].bytes == UINT64_MAX);
	assert_int_equal(op.line[1].address, BASE + 4 * SIM_PAGE_BYTES - 64);
	assert_int_equal(op.line[1].bytes, 0xf0);
	assert_int_equal(op.line[2].address, BASE + 128);
	assert_true(op.line[2].bytes == 0x8000000000000001);
	op = next(g);
	assert_int_equal(op.kind, SIM_OP_WAIT);
	assert_int_equal(op.count, 2);
	assert_int_equal(next(g).kind, SIM_OP_BARRIER);
	op = next(g);
	assert_int_equal(op.kind, SIM_OP_STORE);
	assert_int_equal(op.line[0].address, BASE + 128);
	assert_int_equal(next(g).kind, SIM_OP_END);
}

static void test_there_and_back(void **state)
{
	size_t bytes;
	uint8_t *all = example(&bytes);
	struct sim_stream *s;
	struct sim_waves *waves;
	struct sim_launch l;
	struct sim_group *g;

	(void)state;
	assert_int_equal(open_bytes(all, bytes, &s), 0);
	assert_int_equal(sim_stream_pages(s), 4);
	assert_int_equal(sim_waves_create(&waves), 0);
	assert_int_equal(sim_stream_next(s, BASE, &l), 1);
	assert_string_equal(l.name, "one");
	assert_int_equal(sim_launch_groups(&l), 1);
	g = sim_group_begin(waves, &l, 0, 0);
	expect_everything(g);
	sim_group_end(g);
	assert_false(sim_stream_ended(s));
	assert_int_equal(sim_stream_next(s, BASE, &l), 1);
	assert_string_equal(l.name, "six");
	assert_int_equal(sim_launch_groups(&l), 2);
	g = sim_group_begin(waves, &l, 1, 0);
	assert_int_equal(sim_group_waves(g), 3);
	assert_int_equal(next(g).kind, SIM_OP_END);
	sim_group_end(g);
	for (int k = 0; k < 2; k++)
		assert_int_equal(sim_stream_next(s, BASE, &l), 0);
	assert_true(sim_stream_ended(s));
	sim_waves_destroy(waves);
	sim_stream_close(s);
	free(all);
}

/* ---- damage ---- */

static void test_cut(void **state)
{
	size_t bytes;
	uint8_t *all = example(&bytes);
	struct sim_stream *s;

	(void)state;
	for (size_t k = 0; k < bytes; k++)
		assert_int_equal(open_bytes(all, k, &s), -GN_EBADMSG);
	all = (uint8_t *)realloc(all, bytes + 1);
	all[bytes] = 0;
	assert_int_equal(open_bytes(all, bytes + 1, &s), -GN_EBADMSG);
	free(all);
}

static void test_flipped(void **state)
{
	size_t bytes;
	uint8_t *all = example(&bytes);
	struct sim_stream *s;

	(void)state;
	for (size_t k = 0; k < 8 * (bytes - sizeof(struct sim_stream_head)); k++) {
		all[k / 8] ^= (uint8_t)(1u << k % 8);
		assert_int_equal(open_bytes(all, bytes, &s), -GN_EBADMSG);
		all[k / 8] ^= (uint8_t)(1u << k % 8);
	}
	free(all);
}

/* A file with one launch of one warp, of this code, whose checksum is right. */
static int open_code(const struct sim_stream_head *head, const uint8_t *bytes, size_t count)
{
	struct sim_code code = {(uint8_t *)(uintptr_t)bytes, count, count, 0, 0};
	struct sim_stream_writer w;
	struct gn_error e;
	struct sim_stream *s = NULL;
	size_t size;
	char *text;
	FILE *to = open_memstream(&text, &size);
	int rc;

	assert_int_equal(sim_stream_begin(&w, to, &e), 0);
	assert_int_equal(sim_stream_put_launch(&w, head, &code, &e), 0);
	assert_int_equal(sim_stream_end(&w, &e), 0);
	fclose(to);
	rc = open_bytes(text, size, &s);
	free(text);
	sim_stream_close(s);
	return rc;
}

static void test_unsound(void **state)
{
	static const struct {
		uint8_t code[16];
		size_t count;
		int rc;
	} all[] = {
	    {{0}, 1, 0},
	    {{1, 5, 0}, 3, 0},
	    {{3, 1, 0, 0, 64, 0}, 6, 0},
	    {{3, 1, 0xfe, 3, 63, 1, 0}, 7, 0},           /* line 255 of 4 pages */
	    {{3, 1, 0x80, 4, 63, 1, 0}, 7, -GN_EBADMSG}, /* line 256 */
	    {{3, 1, 1, 0, 1, 0}, 6, -GN_EBADMSG},        /* line -1 */
	    {{0}, 0, -GN_EBADMSG},                       /* no end */
	    {{1, 5}, 2, -GN_EBADMSG},
	    {{0, 0}, 2, -GN_EBADMSG},              /* something behind the end */
	    {{6, 0}, 2, -GN_EBADMSG},              /* no such operation */
	    {{1, 0x80}, 2, -GN_EBADMSG},           /* a number that goes on */
	    {{3, 0, 0}, 3, -GN_EBADMSG},           /* no lines */
	    {{3, 65, 0}, 3, -GN_EBADMSG},          /* too many */
	    {{3, 1, 0, 0, 0, 0}, 6, -GN_EBADMSG},  /* no bytes of it */
	    {{3, 1, 0, 1, 64, 0}, 6, -GN_EBADMSG}, /* behind its end */
	    {{3, 1, 0, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 13, -GN_EBADMSG},
	    {{1, 0xff, 0xff, 0xff, 0xff, 0x0f, 0}, 7, -GN_EBADMSG},
	};
	struct sim_stream_head h = head_of("one", 1, 1);

	(void)state;
	for (size_t k = 0; k < sizeof all / sizeof *all; k++)
		assert_int_equal(open_code(&h, all[k].code, all[k].count), all[k].rc);
	h.kind = 3;
	assert_int_equal(open_code(&h, all[0].code, 1), -GN_EBADMSG);
	h = head_of("one", 1, 1);
	memset(h.name, 'x', sizeof h.name);
	assert_int_equal(open_code(&h, all[0].code, 1), -GN_EBADMSG);
	h = head_of("one", 1, 1);
	h.pages = 1ull << 40;
	assert_int_equal(open_code(&h, all[0].code, 1), -GN_EBADMSG);
}

static void test_no_file(void **state)
{
	struct sim_stream *s;

	(void)state;
	assert_int_equal(open_bytes("", 0, &s), -GN_EBADMSG);
	assert_int_equal(open_bytes("0 1\n1 2\n2 3\n3 4\n", 16, &s), -GN_EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_cut),
	    cmocka_unit_test(test_flipped),        cmocka_unit_test(test_unsound),
	    cmocka_unit_test(test_no_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
