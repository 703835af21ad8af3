/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An access of the simulated machine, hop by hop, against latencies worked out by hand; and how many a port
 * takes.
 */
#include "test_sim_support.h"

static struct fixture fixture;

/* Cycles from issue to the RDMA engine: both pipes, reorder buffer and TLB, the directory, the way down. */
enum {
	DOWN = 6 + 60 + 5 + 2 + 1,
	DRAM = 20 + (7 + 7 + 1) * 2,
	OPEN = 20 + (7 + 1) * 2,
	FILL = 12,
	L2_HIT = 12
};

static void open_with(const char *assignment, uint64_t gpus)
{
	fixture_config(&fixture, "none", gpus);
	if (assignment)
		assert_int_equal(sim_config_set(&fixture.config, assignment, NULL), 0);
	fixture_open(&fixture);
}

static struct sim_stats read_lines(struct sim_buffer b, uint32_t gpu, uint32_t first, uint32_t turns,
                                   uint32_t lanes)
{
	struct walk a = walk_of(b, 1u << gpu, turns, lanes);

	a.first = first;
	return fixture_walk(&fixture, &a);
}

/* ---- one read of another GPU's memory ---- */

static void check_remote(uint32_t home, uint64_t switches)
{
	struct sim_buffer b = fixture_buffer(&fixture, 8192, SIM_ON_ONE, home);
	uint64_t one_way = switches * 143 + 1;
	struct sim_stats s;

	read_lines(b, 0, 0, 1, 1); /* the page is known, and the row of DRAM open, from here on */
	s = read_lines(b, 0, 1, 1, 1);
	assert_int_equal(s.remote_reads, 1);
	assert_int_equal(s.tlb_hits, 1);
	assert_int_equal(s.remote_to_rdma_cycles, DOWN);
	assert_int_equal(s.remote_request_cycles, one_way + 1);
	assert_int_equal(s.remote_home_cycles, OPEN + FILL);
	assert_int_equal(s.remote_reply_cycles, 1 + one_way + 6);
	assert_int_equal(s.remote_return_cycles, 0);
	assert_int_equal(s.read_latency_cycles, DOWN + OPEN + FILL + 2 * one_way + 8);

	s = read_lines(b, 1, 1, 1, 1); /* the line is in its home's L2 now */
	if (home == 1)
		return;
	s = read_lines(b, 1, 1, 1, 1);
	assert_int_equal(s.l1v_read_hits, 1);
}

/* Notes: about 400 cycles by one switch, about 1000 by three. */
static void test_remote_near(void **state)
{
	(void)state;
	open_with(NULL, 4);
	check_remote(1, 1);
	assert_in_range(DOWN + OPEN + FILL + 2 * 144 + 8, 360, 440);
	fixture_close(&fixture);
}

static void test_remote_far(void **state)
{
	(void)state;
	open_with(NULL, 4);
	check_remote(3, 3);
	assert_in_range(DOWN + OPEN + FILL + 2 * 430 + 8, 900, 1100);
	fixture_close(&fixture);
}

/* ---- local ---- */

static void test_local(void **state)
{
	struct sim_buffer b;
	struct sim_stats s;

	(void)state;
	open_with(NULL, 2);
	b = fixture_buffer(&fixture, 4096, SIM_ON_ONE, 0);
	read_lines(b, 0, 0, 1, 1);
	s = read_lines(b, 0, 1, 1, 1);
	assert_int_equal(s.remote_transactions, 0);
	assert_int_equal(s.l2_misses, 1);
	assert_int_equal(s.dram_reads, 1);
	assert_int_equal(s.read_latency_cycles, DOWN + OPEN + FILL);
	s = read_lines(b, 0, 1, 1, 1);
	assert_int_equal(s.l1v_read_hits, 1);
	assert_int_equal(s.read_latency_cycles, DOWN - 1 + 60);
	for (uint32_t k = 0; k < fixture.machine->gpu[0].cus; k++)
		sim_tags_clear(&fixture.machine->gpu[0].l1[k].tags);
	s = read_lines(b, 0, 1, 1, 1);
	assert_int_equal(s.l2_hits, 1);
	assert_int_equal(s.read_latency_cycles, DOWN + L2_HIT);
	fixture_close(&fixture);
}

/* The first access to a page: two TLBs, the IOMMU two switches away, a walk of 100 cycles, and back. */
static void test_cold_page(void **state)
{
	struct sim_stats s;

	(void)state;
	open_with(NULL, 2);
	s = read_lines(fixture_buffer(&fixture, 4096, SIM_ON_ONE, 0), 0, 0, 1, 1);
	assert_int_equal(s.page_walks, 1);
	assert_int_equal(s.read_latency_cycles, DOWN + DRAM + FILL + 3 + 100 + 2 * (2 * 143 + 2));
	fixture_close(&fixture);
}

/* Lines of a page that comes: one walk for all. Two compute units ask their GPU's TLB once each. */
static void test_page_merges(void **state)
{
	struct sim_stats s;

	(void)state;
	open_with(NULL, 1);
	s = read_lines(fixture_buffer(&fixture, 4096, SIM_ON_ONE, 0), 0, 0, 1, 10);
	assert_int_equal(s.tlb_lookups, 10);
	assert_int_equal(s.tlb_misses, 1);
	assert_int_equal(s.tlb_merges, 9);
	assert_int_equal(s.page_walks, 1);
	fixture_close(&fixture);
}

/* ---- what bounds many ---- */

/* Hits leave L1 16 at a time, each after 62 cycles. */
static void test_hits(void **state)
{
	struct sim_buffer b;
	struct walk a;
	struct sim_stats s;

	(void)state;
	open_with(NULL, 1);
	b = fixture_buffer(&fixture, 4096, SIM_ON_ONE, 0);
	a = walk_of(b, 1, 1, 64);
	fixture_walk(&fixture, &a);
	s = fixture_walk(&fixture, &a);
	assert_int_equal(s.l1v_read_hits, 64);
	/* the first 16 enter one a cycle; the others follow them at 62 cycles each */
	assert_in_range(s.kernel_cycles, 71 + 15 + 4 * 62, 71 + 15 + 4 * 62 + 40);
	fixture_close(&fixture);
	open_with("l1v.transactions = 4096", 1); /* then one line a cycle is the bound */
	b = fixture_buffer(&fixture, 4096, SIM_ON_ONE, 0);
	a = walk_of(b, 1, 1, 64);
	fixture_walk(&fixture, &a);
	s = fixture_walk(&fixture, &a);
	assert_in_range(s.kernel_cycles, 71 + 63 + 62, 71 + 63 + 62 + 40);
	fixture_close(&fixture);
}

/* Column by column: every line is in one set, and 4 ways give 4 lines a time; without their conflict 16. */
static void stride(struct sim_wave *w, const void *arguments)
{
	const struct sim_buffer *b = (const struct sim_buffer *)arguments;
	uint32_t index[SIM_LANES], value[SIM_LANES];

	for (uint32_t l = 0; l < SIM_LANES; l++)
		index[l] = l * 1024;
	sim_load_u32(w, ~0ull, b, index, value);
	sim_wait(w, 0);
}

static uint64_t stride_cycles(const char *preset)
{
	struct sim_buffer b;
	uint64_t cycles;

	fixture_config(&fixture, preset, 2);
	fixture_open(&fixture);
	b = fixture_buffer(&fixture, 64 * 4096, SIM_ON_ONE, 1);
	assert_int_equal(fixture_try(&fixture, stride, &b, 1), 0);
	cycles = fixture.machine->stats.kernel_cycles;
	/* pages are known, lines are not kept: 64 lines in 4 ways */
	assert_int_equal(fixture_try(&fixture, stride, &b, 1), 0);
	cycles = fixture.machine->stats.kernel_cycles - cycles;
	fixture_close(&fixture);
	return cycles;
}

static void test_set_conflict(void **state)
{
	(void)state;
	assert_true(stride_cycles("none") > 3 * stride_cycles("bypass"));
}

/* A full reorder buffer, few lines under way, one MSHR: slower, and nothing is lost. */
static void test_small(void **state)
{
	static const char *const less[] = {"cu.rob = 1",    "cu.in_flight = 128",   "l1v.mshr = 1",
	                                   "tlb.mshr = 1",  "tlb2.mshr = 1",        "l2.mshr = 1",
	                                   "mmu.walks = 1", "l1v.transactions = 1", "tlb.entries = 1"};
	uint64_t cycles[1 + sizeof less / sizeof *less];

	(void)state;
	for (size_t k = 0; k <= sizeof less / sizeof *less; k++) {
		struct walk a;

		open_with(k ? less[k - 1] : NULL, 4);
		a = walk_of(fixture_buffer(&fixture, 64 << 10, SIM_INTERLEAVED, 0), 15, 4, 64);
		a.part = 256;
		cycles[k] = fixture_walk(&fixture, &a).kernel_cycles;
		if (cycles[k] < cycles[0])
			fail_msg("%s is faster", less[k - 1]);
		fixture_close(&fixture);
	}
	assert_true(cycles[1] > 2 * cycles[0]);
}

/* ---- writes ---- */

static void test_writes(void **state)
{
	struct sim_buffer b;
	struct walk a;
	struct sim_stats s;

	(void)state;
	open_with(NULL, 2);
	b = fixture_buffer(&fixture, 8192, SIM_ON_ONE, 1);
	a = walk_of(b, 1, 1, 16);
	a.write = 1;
	s = fixture_walk(&fixture, &a); /* some bytes of each line: its home reads them before */
	assert_int_equal(s.remote_writes, 16);
	assert_int_equal(s.l2_misses, 16);
	assert_int_equal(s.l2_write_backs, 0);
	assert_int_equal(s.net_flits_in - 2 * s.page_walks, 16 * (6 + 1));
	s = fixture_walk(&fixture, &a);
	assert_int_equal(s.l2_hits, 16);
	fixture_close(&fixture);
}

/* Dirty lines that make room in L2 go to DRAM. */
static void test_write_back(void **state)
{
	struct walk a;
	struct sim_stats s;

	(void)state;
	open_with("l2.size = 32K", 1);
	a = walk_of(fixture_buffer(&fixture, 256 << 10, SIM_ON_ONE, 0), 1, 64, 64);
	a.write = 1;
	s = fixture_walk(&fixture, &a);
	assert_int_equal(s.l2_misses, 4096);
	assert_int_equal(s.l2_write_backs, 4096 - 512);
	assert_int_equal(s.dram_writes, 4096 - 512);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_remote_near),  cmocka_unit_test(test_remote_far),
	    cmocka_unit_test(test_local),        cmocka_unit_test(test_cold_page),
	    cmocka_unit_test(test_page_merges),  cmocka_unit_test(test_hits),
	    cmocka_unit_test(test_set_conflict), cmocka_unit_test(test_small),
	    cmocka_unit_test(test_writes),       cmocka_unit_test(test_write_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
