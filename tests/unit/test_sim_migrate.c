/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of the simulated machine that move to who uses them. */
#include "test_sim_support.h"

static struct fixture fixture;

static void open_with(uint64_t policy, uint64_t flush, uint64_t moves)
{
	fixture_config(&fixture, "none", 4);
	fixture.config.migrate_policy = policy;
	fixture.config.migrate_flush = flush;
	fixture.config.migrate_moves = moves;
	fixture_open(&fixture);
}

static struct sim_stats read_by(struct sim_buffer b, uint32_t gpus, uint32_t turns)
{
	struct walk a = walk_of(b, gpus, turns, 1);

	a.wait = 1;
	return fixture_walk(&fixture, &a);
}

/* The first read of a page of the other GPU of the pair, step by step; then it is local. */
static void test_one(void **state)
{
	enum {
		DOWN = 6 + 60 + 5 + 2 + 1,
		DRAM = 20 + (7 + 7 + 1) * 2,
		FILL = 12,
		TO_MMU = 2 * 143 + 2,
		FROM_OTHER = 143 + 6 + 1
	};
	struct sim_buffer b;
	struct sim_stats s;

	(void)state;
	open_with(SIM_MIGRATE_PAGE, 1, 16);
	b = fixture_buffer(&fixture, 4096, SIM_ON_ONE, 1);
	s = read_by(b, 1, 1);
	assert_int_equal(s.migrate_pages, 1);
	assert_int_equal(s.remote_transactions, 0);
	assert_int_equal(s.migrate_stall_cycles, 500);
	/*
	 * walk, fault, flush, 64 lines of 6 flits and a gap each, the word to the IOMMU, its answer, the read
	 */
	assert_int_equal(s.read_latency_cycles, 3 + TO_MMU + 100 + 1000 + 500 + 63 * 7 + FROM_OTHER + TO_MMU +
	                                            TO_MMU + DOWN + DRAM + FILL);
	assert_int_equal(sim_memory_home(fixture.memory, b.address), 0);
	s = read_by(b, 1, 8);
	assert_int_equal(s.migrate_pages + s.page_walks + s.remote_transactions, 0);
	fixture_close(&fixture);
}

/* Two GPUs in turn: the page goes to and fro, unless the first keeps it. */
static void test_policies(void **state)
{
	struct sim_buffer b;

	(void)state;
	for (uint64_t policy = SIM_MIGRATE_NONE; policy <= SIM_MIGRATE_FIRST_TOUCH; policy++) {
		open_with(policy, 0, 16);
		b = fixture_buffer(&fixture, 4096, SIM_ON_ONE, 3);
		for (uint32_t k = 0; k < 6; k++)
			read_by(b, 1u << k % 2, 1);
		assert_int_equal(fixture.machine->stats.migrate_pages, policy == SIM_MIGRATE_NONE   ? 0
		                                                       : policy == SIM_MIGRATE_PAGE ? 6
		                                                                                    : 1);
		assert_int_equal(fixture.machine->stats.remote_transactions == 0, policy == SIM_MIGRATE_PAGE);
		assert_int_equal(fixture.machine->stats.migrate_stall_cycles, 0);
		fixture_close(&fixture);
	}
}

/* Everybody wants every page at once, and one can move at a time: all get what they asked for. */
static void test_crowd(void **state)
{
	(void)state;
	for (uint64_t moves = 1; moves <= 16; moves *= 4) {
		struct sim_stats s;
		struct walk a;

		open_with(SIM_MIGRATE_PAGE, 1, moves);
		a = walk_of(fixture_buffer(&fixture, 64 << 10, SIM_INTERLEAVED, 0), 15, 16, 64);
		s = fixture_walk(&fixture, &a);
		assert_int_equal(s.vector_reads, 4 * 1024);
		assert_true(s.migrate_pages >= 12);
		assert_int_equal(fixture.machine->migrate.active, 0);
		assert_null(fixture.machine->migrate.waiting.first);
		fixture_close(&fixture);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_one),
	    cmocka_unit_test(test_policies),
	    cmocka_unit_test(test_crowd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
