/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rows of the host are made of, and the rows themselves: small cells of each measure, verify, and see
 * what is wrong.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scope/host/ring.h"
#include "scope/host/rows.h"
#include "scope/host/words.h"
#include "unit.h"

#include "scope/host/stream.c" /* to spoil what it has moved */

static void test_pattern(void **state)
{
	char memory[803];
	struct gn_error e;

	(void)state;
	scope_fill(memory, sizeof memory, 9);
	assert_int_equal(scope_check(memory, sizeof memory, 9, "it", NULL), 0);
	assert_int_equal(scope_check(memory, sizeof memory, 8, "it", NULL), -GN_EIO);
	memory[400] ^= 1;
	assert_int_equal(scope_check(memory, sizeof memory, 9, "it", &e), -GN_EIO);
	assert_string_equal(e.text, "it: 1 of 101 words are wrong, the first at byte 400");
	memory[400] ^= 1;
	memory[802] ^= 1; /* in the word that is cut */
	assert_int_equal(scope_check(memory, sizeof memory, 9, "it", NULL), -GN_EIO);
	/* SplitMix64 from state 0, as its author's program prints it */
	assert_true(scope_pattern(0, 0) == 0xe220a8397b1dcdafull);
}

static void test_words(void **state)
{
	static uint64_t memory[512] __attribute__((aligned(64)));
	uint64_t sum = 0;

	(void)state;
	scope_words_write(memory, sizeof memory, 1000);
	for (uint64_t k = 0; k < 512; k++) {
		assert_true(memory[k] == 1000 + k);
		sum += memory[k];
	}
	assert_true(scope_words_sum(memory, sizeof memory) == sum);
}

/* Each line is visited once a round, and a step too many or too few shows. */
static void test_ring(void **state)
{
	enum { LINES = 1000 };
	static unsigned char visited[LINES];
	struct scope_ring r = {{NULL, 0, NULL, 0}, 0, NULL, 0};

	(void)state;
	assert_int_equal(scope_ring_open(&r, LINES * SCOPE_LINE, SCOPE_PAGES_SMALL, SCOPE_ANY_NODE, NULL), 0);
	for (uint32_t k = 0; k < LINES; k++) {
		scope_ring_chase(&r, 1);
		assert_int_equal(visited[((char *)r.at - (char *)r.memory.at) / SCOPE_LINE]++, 0);
		assert_int_equal(scope_ring_check(&r, NULL), 0);
	}
	scope_ring_chase(&r, 12345);
	assert_int_equal(scope_ring_check(&r, NULL), 0);
	r.steps++;
	assert_int_equal(scope_ring_check(&r, NULL), -GN_EIO);
	scope_ring_close(&r);
}

/* Parts are whole lines, and together everything once. */
static void test_parts(void **state)
{
	(void)state;
	for (uint32_t members = 1; members < 20; members++) {
		uint64_t at = 0;

		for (uint32_t k = 0; k < members; k++) {
			const struct scope_part part = scope_part_of(4096, members, k);

			assert_int_equal(part.at, at);
			assert_int_equal(part.bytes % SCOPE_LINE, 0);
			at += part.bytes;
		}
		assert_int_equal(at, 4096);
	}
}

static void add_one(void *user, uint32_t member, uint64_t operations)
{
	((uint64_t *)user)[16 * member] += operations;
}

static void test_team(void **state)
{
	uint64_t count[16 * 4] = {0};
	uint32_t cpu[4];
	const uint32_t cpus = scope_cpus(SCOPE_ANY_NODE, cpu, 4);
	struct scope_team *team;

	(void)state;
	assert_in_range(cpus, 1, 4);
	assert_int_equal(scope_team_open(&team, cpus, cpu, add_one, count, NULL), 0);
	for (uint32_t k = 0; k < 100; k++)
		assert_true(scope_team_run(team, 3) > 0);
	scope_team_close(team);
	for (uint32_t k = 0; k < cpus; k++)
		assert_int_equal(count[16 * k], 300);
	cpu[0] = 1000; /* that there is not */
	assert_int_equal(scope_team_open(&team, 1, cpu, add_one, count, NULL), -GN_ENOTSUP);
}

/* ---- rows ---- */

static struct scope_machine m;

/* The smallest cell of a row, with fewer seconds than any user would take. */
static void small_cell(const struct scope_row *row, struct scope_cell *c)
{
	memset(c, 0, sizeof *c);
	c->row = row;
	c->args = 1;
	c->arg[0].name = "bytes";
	c->arg[0].value = strstr(row->name, "huge") ? 2 << 20 : strstr(row->name, "loaded") ? 1 << 20 : 65536;
	if (!strcmp(row->name, "memory/copy") && m.cpus > 1) {
		c->arg[1].name = "threads";
		c->arg[c->args++].value = m.cpus;
	}
}

/* What the last sample should have moved and did not is seen, in each of its buffers. */
static void test_wrong_data(void **state)
{
	(void)state;
	for (uint32_t k = 0; k < 3; k++) { /* copy, read, write */
		struct scope_sample s = {0, 0, 0, 0};
		struct stream opened;
		struct scope_cell c;

		memset(&opened, 0, sizeof opened);
		small_cell(scope_row_at(&scope_stream_rows, k), &c);
		assert_int_equal(stream_open(&c, &m, &opened, NULL), 0);
		assert_int_equal(stream_verify(&opened, NULL), -GN_EIO);
		assert_int_equal(stream_sample(&opened, 3, &s, NULL), 0);
		assert_int_equal(s.bytes, 3 * 65536);
		assert_int_equal(stream_verify(&opened, NULL), 0);
		opened.sum[0] += k == 1;
		if (k != 1)
			((char *)opened.to.at)[65535] ^= 1;
		assert_int_equal(stream_verify(&opened, NULL), -GN_EIO);
		stream_close(&opened);
	}
}

static int find_machine(void **state)
{
	(void)state;
	scope_machine_find(&m, SCOPE_QUICK, ".");
	m.most_seconds = 0.05;
	m.most_samples = 50;
	return 0;
}

static void test_machine(void **state)
{
	json_t *environment = scope_environment(&m);
	static const char *const members[] = {
	    "date",  "host_name",       "num_cpus", "caches",    "run",  "cpu",    "memory",
	    "nodes", "virtual_machine", "iommu",    "gpu_links", "gpus", "no_gpu", "kernel_options"};

	(void)state;
	assert_true(m.cpus > 0 && m.free_bytes > 0 && m.nodes > 0 && m.line_bytes > 0);
	assert_true(m.host_tick > 1e-10 && m.host_tick < 1e-4);
	assert_int_equal(m.most_bytes & (m.most_bytes - 1), 0);
	for (unsigned k = 0; k < sizeof members / sizeof *members; k++)
		assert_non_null(json_object_get(environment, members[k]));
	json_decref(environment);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_pattern), cmocka_unit_test(test_words), cmocka_unit_test(test_ring),
	    cmocka_unit_test(test_parts),   cmocka_unit_test(test_team),  cmocka_unit_test(test_wrong_data),
	    cmocka_unit_test(test_machine),
	};

	return cmocka_run_group_tests(tests, find_machine, NULL);
}
