/* SPDX-License-Identifier: Apache-2.0 */
/* What lanes do by themselves becomes what their warp does together. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include <sim/record.h>
#include <sim/stream.h>

#include "sim_observed.h"

enum { WORDS = 2048 }; /* of an array: 8 KB, two pages; in is the first */

struct fixture {
	FILE *file;
	struct simt_machine *machine;
	struct observed a;
	struct sim_stream *stream;
	struct sim_waves *waves;
	struct sim_launch launch;
	struct sim_group *group;
	uint32_t loads[2], behind[2]; /* of each wavefront: not waited for; stores since */
	struct gn_error e;
};

static void fixture_open(struct fixture *b, uint64_t seed)
{
	memset(b, 0, sizeof *b);
	b->file = tmpfile();
	assert_non_null(b->file);
	assert_int_equal(sim_record_open(&b->machine, b->file, seed, &b->e), 0);
	b->a.in = (uint32_t *)simt_alloc(b->machine, WORDS * 4, SIMT_DEVICE, &b->e);
	b->a.other = (uint32_t *)simt_alloc(b->machine, WORDS * 4, SIMT_DEVICE, &b->e);
	b->a.out = (uint32_t *)simt_alloc(b->machine, WORDS * 4, SIMT_PINNED, &b->e);
	for (uint32_t k = 0; k < WORDS; k++) {
		b->a.in[k] = k;
		b->a.other[k] = 7 * k;
	}
	b->a.rounds = 6;
}

static void fixture_launch(struct fixture *b, const struct simt_kernel *kernel, uint32_t blocks,
                           uint32_t threads)
{
	const struct simt_grid grid = {blocks, threads, 0};

	if (simt_launch(b->machine, kernel, grid, &b->a, &b->e) || simt_wait(b->machine, &b->e))
		fail_msg("%s", b->e.text);
}

/* The recording is over; the first launch of it. */
static void fixture_read(struct fixture *b)
{
	assert_int_equal(sim_record_end(b->machine, &b->e), 0);
	if (sim_stream_open(&b->stream, fileno(b->file), "test", &b->e))
		fail_msg("%s", b->e.text);
	assert_int_equal(sim_stream_pages(b->stream), 6);
	assert_int_equal(sim_stream_next(b->stream, 0, &b->launch), 1);
	assert_int_equal(sim_waves_create(&b->waves), 0);
	b->group = sim_group_begin(b->waves, &b->launch, 0, 0);
	assert_non_null(b->group);
}

static void fixture_close(struct fixture *b)
{
	if (b->group)
		sim_group_end(b->group);
	sim_waves_destroy(b->waves);
	sim_stream_close(b->stream);
	simt_free(b->machine, b->a.in);
	simt_free(b->machine, b->a.other);
	simt_free(b->machine, b->a.out);
	simt_close(b->machine);
	fclose(b->file);
}

/* A warp of one block runs a kernel; its stream is at hand. */
static void run(struct fixture *b, const struct simt_kernel *kernel)
{
	fixture_open(b, 1);
	fixture_launch(b, kernel, 1, 32);
	fixture_read(b);
	assert_string_equal(b->launch.name, kernel->name);
	assert_int_equal(sim_group_waves(b->group), 1);
}

/* What was loaded in a block is there when the next one begins; stores behind it may be under way. */
static void check_wait(struct fixture *b, uint32_t wave, const struct sim_op *op)
{
	switch (op->kind) {
	case SIM_OP_LOAD:
		b->loads[wave] = 1;
		b->behind[wave] = 0;
		break;
	case SIM_OP_STORE: b->behind[wave]++; break;
	case SIM_OP_WAIT:
		assert_int_equal(b->loads[wave], 1);
		assert_int_equal(op->count, b->behind[wave]);
		b->loads[wave] = 0;
		break;
	case SIM_OP_SALU:
	case SIM_OP_VALU: assert_int_equal(b->loads[wave], 0); break;
	default: break;
	}
}

/* The next access or barrier, without what is between them; its words are counted. */
static struct sim_op next(struct fixture *b, uint32_t wave, uint32_t *words)
{
	struct sim_op op;

	do {
		assert_int_equal(sim_wave_next(sim_group_wave(b->group, wave), &op, &b->e), 0);
		check_wait(b, wave, &op);
	} while (op.kind == SIM_OP_VALU || op.kind == SIM_OP_SALU || op.kind == SIM_OP_WAIT);
	*words = 0;
	for (uint32_t k = 0; (op.kind == SIM_OP_LOAD || op.kind == SIM_OP_STORE) && k < op.count; k++)
		*words += (uint32_t)__builtin_popcountll(op.line[k].bytes) / 4;
	return op;
}

/* The next one is this kind, of so many words of an array (0: in, 1: other, 2: out) from a word on. */
static void expect_of(struct fixture *b, uint32_t wave, enum sim_op_kind kind, uint32_t array, uint32_t from,
                      uint32_t words)
{
	const uint64_t address = array * 2 * SIM_PAGE_BYTES + from * 4;
	uint32_t got;
	const struct sim_op op = next(b, wave, &got);

	assert_int_equal(op.kind, kind);
	assert_int_equal(got, words);
	if (words)
		assert_int_equal(op.line[0].address + (uint64_t)__builtin_ctzll(op.line[0].bytes), address);
}

static void expect(struct fixture *b, enum sim_op_kind kind, uint32_t array, uint32_t from, uint32_t words)
{
	expect_of(b, 0, kind, array, from, words);
}

/* ---- divergence ---- */

static void test_rows(void **state)
{
	struct fixture b;

	(void)state;
	run(&b, &observed_rows_kernel);
	for (uint32_t k = 0; k < 31; k++)
		expect(&b, SIM_OP_LOAD, 0, 32 * k + k + 1, 31 - k);
	expect(&b, SIM_OP_STORE, 2, 0, 32);
	expect(&b, SIM_OP_END, 0, 0, 0);
	for (uint32_t l = 0; l < 32; l++)
		assert_int_equal(b.a.out[l], l * l + 32 * l * (l - 1) / 2);
	fixture_close(&b);
}

static void test_odd(void **state)
{
	struct fixture b;

	(void)state;
	run(&b, &observed_odd_kernel);
	for (uint32_t k = 0; k < 6; k++) {
		expect(&b, SIM_OP_LOAD, 1, 32 * k + !(k & 1), 16);
		expect(&b, SIM_OP_LOAD, 0, 32 * k, 32);
	}
	expect(&b, SIM_OP_STORE, 2, 0, 32);
	expect(&b, SIM_OP_END, 0, 0, 0);
	fixture_close(&b);
}

static void test_nested(void **state)
{
	struct fixture b;

	(void)state;
	run(&b, &observed_nested_kernel);
	for (uint32_t k = 0; k < 6; k++) {
		expect(&b, SIM_OP_LOAD, 1, 32 * k, 32);
		for (uint32_t n = 0; n < 3; n++) {
			uint32_t first = 0;

			while ((first + k) % 4 <= n)
				first++;
			expect(&b, SIM_OP_LOAD, 0, 32 * n + first, 8 * (3 - n));
		}
		expect(&b, SIM_OP_STORE, 2, 32 * k, 32);
	}
	expect(&b, SIM_OP_END, 0, 0, 0);
	fixture_close(&b);
}

static void test_called(void **state)
{
	struct fixture b;

	(void)state;
	run(&b, &observed_called_kernel);
	for (uint32_t k = 0; k < 4; k++) {
		uint32_t words;

		/* which half is first is the compiler's choice */
		assert_int_equal(next(&b, 0, &words).kind, SIM_OP_LOAD);
		assert_int_equal(words, 16);
	}
	expect(&b, SIM_OP_STORE, 2, 0, 32);
	expect(&b, SIM_OP_END, 0, 0, 0);
	for (uint32_t l = 0; l < 32; l++)
		assert_int_equal(b.a.out[l], l < 16 ? 2 * l + 33 : 3 * 7 * (2 * l + 32));
	fixture_close(&b);
}

/* ---- what is no plain access ---- */

static void test_atomic(void **state)
{
	struct fixture b;

	(void)state;
	run(&b, &observed_atomic_kernel);
	expect(&b, SIM_OP_LOAD, 2, 0, 1);
	expect(&b, SIM_OP_STORE, 2, 0, 1);
	assert_int_equal(b.a.out[0], 32);
	assert_in_range(b.a.out[32], 1, 32);
	fixture_close(&b);
}

/* Whoever swaps writes; who does not only reads. They are the same instruction, in two parts. */
static void test_swap(void **state)
{
	struct fixture b;
	uint32_t words, loads = 0, stores = 0;
	struct sim_op op;

	(void)state;
	run(&b, &observed_atomic_kernel);
	expect(&b, SIM_OP_LOAD, 2, 0, 1);
	expect(&b, SIM_OP_STORE, 2, 0, 1);
	while ((op = next(&b, 0, &words)).kind != SIM_OP_END) {
		assert_int_equal(words, 1);
		assert_int_equal(op.line[0].address, 4 * SIM_PAGE_BYTES + 128);
		loads += op.kind == SIM_OP_LOAD;
		stores += op.kind == SIM_OP_STORE;
	}
	assert_int_equal(loads, 2);
	assert_int_equal(stores, 1);
	fixture_close(&b);
}

static void test_block(void **state)
{
	struct fixture b;

	(void)state;
	fixture_open(&b, 1);
	fixture_launch(&b, &observed_block_kernel, 1, 64);
	fixture_read(&b);
	assert_int_equal(sim_group_waves(b.group), 2);
	expect_of(&b, 0, SIM_OP_STORE, 2, 0, 32);
	expect_of(&b, 0, SIM_OP_BARRIER, 0, 0, 0);
	expect_of(&b, 1, SIM_OP_BARRIER, 0, 0, 0);
	expect_of(&b, 0, SIM_OP_END, 0, 0, 0);
	expect_of(&b, 1, SIM_OP_LOAD, 2, 0, 32);
	expect_of(&b, 1, SIM_OP_STORE, 2, 32, 32);
	expect_of(&b, 1, SIM_OP_END, 0, 0, 0);
	fixture_close(&b);
}

static void test_copy(void **state)
{
	struct fixture b;

	(void)state;
	run(&b, &observed_copy_kernel);
	for (uint32_t k = 0; k < 2; k++) {
		expect(&b, SIM_OP_LOAD, 0, 128 * k, 128);
		expect(&b, SIM_OP_STORE, 2, 128 * k, 128);
	}
	expect(&b, SIM_OP_END, 0, 0, 0);
	assert_memory_equal(b.a.in, b.a.out, 1024);
	fixture_close(&b);
}

/* ---- many warps ---- */

static uint8_t *recorded(uint64_t seed, size_t *bytes)
{
	uint8_t *all;
	struct fixture b;

	fixture_open(&b, seed);
	fixture_launch(&b, &observed_rows_kernel, 100, 96);
	fixture_launch(&b, &observed_nested_kernel, 3, 40);
	fixture_launch(&b, &observed_ticket_kernel, 20, 32);
	fixture_read(&b);
	assert_int_equal(sim_launch_groups(&b.launch), 100);
	assert_int_equal(sim_group_waves(b.group), 3);
	assert_int_equal(fseek(b.file, 0, SEEK_END), 0);
	*bytes = (size_t)ftell(b.file);
	all = (uint8_t *)malloc(*bytes);
	rewind(b.file);
	assert_int_equal(fread(all, 1, *bytes, b.file), *bytes);
	fixture_close(&b);
	return all;
}

/* The same seed makes the same stream; who comes first is drawn. */
static void test_again(void **state)
{
	size_t bytes, again_bytes, other_bytes;
	uint8_t *all = recorded(5, &bytes), *again = recorded(5, &again_bytes),
	        *other = recorded(6, &other_bytes);

	(void)state;
	assert_int_equal(bytes, again_bytes);
	assert_memory_equal(all, again, bytes);
	assert_true(bytes != other_bytes || memcmp(all, other, bytes));
	free(all);
	free(again);
	free(other);
}

/* ---- what it cannot do ---- */

static void test_refused(void **state)
{
	const struct simt_grid wide = {1, 544, 0};
	struct simt_stream *stream;
	struct fixture b;

	(void)state;
	fixture_open(&b, 1);
	assert_int_equal(simt_stream_create(&stream, b.machine, &b.e), -GN_ENOTSUP);
	assert_int_equal(simt_launch(b.machine, &observed_rows_kernel, wide, &b.a, &b.e), -GN_EFBIG);
	assert_non_null(strstr(b.e.text, "512"));
	/* what failed is missing: there is no stream */
	assert_int_equal(sim_record_end(b.machine, &b.e), -GN_EFBIG);
	assert_int_equal(sim_stream_open(&b.stream, fileno(b.file), "test", &b.e), -GN_EBADMSG);
	fixture_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rows),    cmocka_unit_test(test_odd),    cmocka_unit_test(test_nested),
	    cmocka_unit_test(test_called),  cmocka_unit_test(test_atomic), cmocka_unit_test(test_swap),
	    cmocka_unit_test(test_block),   cmocka_unit_test(test_copy),   cmocka_unit_test(test_again),
	    cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
