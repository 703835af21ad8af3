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

struct late {
	struct sim_buffer pages, own; /* own: a page of each */
};

/* GPU 0 reads all pages at once, and all others as soon as they have read a page of their own. */
static void read_late(struct sim_wave *w, const void *arguments)
{
	const struct late *a = (const struct late *)arguments;
	const struct walk all = walk_of(a->pages, 15, 16, 64);
	struct walk own = walk_of(a->own, 15, 1, 64);

	own.part = 64;
	if (sim_wave_gpu(w)) {
		walk_turn(w, &own, 0);
		sim_wait(w, 0);
	}
	for (uint32_t turn = 0; turn < all.turns; turn++)
		walk_turn(w, &all, turn);
	sim_wait(w, 0);
}

/*
 * A GPU reads 16 pages at once, of which the others hold 12: however few can move at a time, all do, also if
 * their owners touch them meanwhile.
 */
static void test_few_moves(void **state)
{
	(void)state;
	for (uint64_t policy = SIM_MIGRATE_FIRST_TOUCH; policy <= SIM_MIGRATE_GRIFFIN; policy++)
		for (uint64_t moves = 1; moves <= 16; moves *= 4) {
			struct late a;

			fixture_config(&fixture, "none", 4);
			fixture.config.migrate_policy = policy;
			fixture.config.migrate_moves = moves;
			fixture.config.migrate_delayed = fixture.config.migrate_period = 0;
			fixture_open(&fixture);
			a.pages = fixture_buffer(&fixture, 64 << 10, SIM_INTERLEAVED, 0);
			a.own = fixture_buffer(&fixture, 4 * 4096, SIM_INTERLEAVED, 0);
			assert_int_equal(fixture_try(&fixture, read_late, &a, 4), 0);
			assert_int_equal(fixture.machine->stats.migrate_pages, 12);
			fixture_close(&fixture);
		}
}

/* When a workload is over, no page waits for a move that it was promised. */
static void test_none_waits(void **state)
{
	(void)state;
	for (uint64_t policy = SIM_MIGRATE_FIRST_TOUCH; policy <= SIM_MIGRATE_GRIFFIN; policy++) {
		fixture_config(&fixture, "none", 4);
		fixture.config.migrate_policy = policy;
		fixture.config.migrate_moves = 1;
		fixture_run(&fixture, "mt", "256");
		assert_true(fixture.machine->stats.migrate_touched > 0);
		for (uint64_t page = 0; page < fixture.machine->migrate.pages; page++)
			assert_int_not_equal(fixture.machine->migrate.touched[page], SIM_WANTED);
		fixture_close(&fixture);
	}
}

/* ---- Griffin ---- */

static void configure_griffin(const char *preset, uint64_t delayed, uint64_t period)
{
	fixture_config(&fixture, preset, 4);
	fixture.config.migrate_policy = SIM_MIGRATE_GRIFFIN;
	fixture.config.migrate_delayed = delayed;
	fixture.config.migrate_period = period;
	fixture.config.migrate_least = 4;
}

static void open_griffin(uint64_t delayed, uint64_t period)
{
	configure_griffin("none", delayed, period);
	fixture_open(&fixture);
}

/* A GPU that has its share of pages gets no more by touching them first. Whoever asks next gets them. */
static void test_delayed(void **state)
{
	struct sim_buffer b;
	struct sim_stats s;

	(void)state;
	for (uint64_t delayed = 0; delayed < 2; delayed++) {
		open_griffin(delayed, 0);
		b = fixture_buffer(&fixture, 4 * 4096, SIM_ON_ONE, 3);
		s = read_by(b, 1, 256); /* four pages */
		assert_int_equal(s.migrate_touched, delayed ? 1 : 4);
		assert_int_equal(s.migrate_delayed, delayed ? 3 : 0);
		assert_int_equal(s.remote_transactions, delayed ? 3 * 64 : 0);
		s = read_by(b, 2, 256);
		assert_int_equal(s.migrate_pages, delayed ? 3 : 0);
		fixture_close(&fixture);
	}
}

/* Without a first touch that moves it, counters bring a page to who uses it. */
static void test_dedicated(void **state)
{
	struct sim_buffer b;
	struct sim_stats s;

	(void)state;
	open_griffin(0, 10000);
	b = fixture_buffer(&fixture, 4096, SIM_ON_ONE, 3);
	read_by(b, 8, 1); /* the owner has touched it */
	s = read_by(b, 1, 64);
	assert_int_equal(s.migrate_touched, 0);
	assert_int_equal(s.migrate_dedicated + s.migrate_shifting, 1);
	assert_in_range(s.remote_transactions, 4, 60);
	assert_int_equal(sim_memory_home(fixture.memory, b.address), 0);
	assert_int_equal(s.migrate_stall_cycles, 0);
	assert_int_equal(fixture.machine->migrate.griffin.draining, 0);
	fixture_close(&fixture);
}

/* A page leaves when the accesses to it have ended: many are under way when the period is over. */
static void test_drains(void **state)
{
	struct sim_buffer b;
	struct sim_stats s;
	struct walk a;

	(void)state;
	configure_griffin("none", 0, 500);
	fixture.config.migrate_least = 1;
	fixture_open(&fixture);
	b = fixture_buffer(&fixture, 4096, SIM_ON_ONE, 3);
	read_by(b, 8, 1);
	a = walk_of(b, 1, 64, 1);
	s = fixture_walk(&fixture, &a);
	assert_int_equal(s.migrate_pages, 1);
	assert_true(s.migrate_drain_cycles > 0);
	assert_int_equal(fixture.machine->migrate.griffin.under_way[b.address / SIM_PAGE_BYTES], 0);
	fixture_close(&fixture);
}

/* GPU 0 writes whole lines, 16 at a time. */
static void write_lines(struct sim_wave *w, const void *arguments)
{
	const struct sim_buffer *b = (const struct sim_buffer *)arguments;
	uint32_t index[SIM_LANES];
	float four[SIM_LANES][4];

	if (sim_wave_gpu(w))
		return;
	memset(four, 0, sizeof four);
	for (uint32_t turn = 0; turn < 16; turn++) {
		for (uint32_t l = 0; l < SIM_LANES; l++)
			index[l] = (turn * SIM_LANES + l) * 4;
		sim_store_f32x4(w, ~0ull, b, index, (const float(*)[4])four);
	}
	sim_wait(w, 0);
}

/* A kernel that writes remote pages which no period moves. Returns its cycles. */
static uint64_t cycles_of_period(const char *preset, uint64_t period)
{
	struct sim_buffer b;
	uint64_t before;

	configure_griffin(preset, 0, period);
	fixture.config.migrate_least = 1 << 20; /* all pages are hardly used */
	fixture_open(&fixture);
	b = fixture_buffer(&fixture, 4 * 4096, SIM_ON_ONE, 3);
	read_by(b, 8, 256); /* the owner has touched them */
	before = fixture.machine->stats.kernel_cycles;
	assert_int_equal(fixture_try(&fixture, write_lines, &b, 4), 0);
	assert_int_equal(fixture.machine->stats.migrate_pages, 0);
	assert_int_equal(fixture.machine->stats.rc_write_backs > 0, fixture.config.remote_cache);
	before = fixture.machine->stats.kernel_cycles - before;
	fixture_close(&fixture);
	return before;
}

/* When periods end changes no kernel's time, even if remote caches are written back behind it. */
static void test_no_time(void **state)
{
	static const char *const presets[] = {"none", "cache"};

	(void)state;
	for (size_t k = 0; k < sizeof presets / sizeof *presets; k++) {
		const uint64_t none = cycles_of_period(presets[k], 0);

		assert_int_equal(cycles_of_period(presets[k], 1000), none);
		assert_int_equal(cycles_of_period(presets[k], 1000000), none);
	}
}

/* Kernels shorter than a period: it ends in one of them, and says where the page belongs. */
static void test_short_kernels(void **state)
{
	struct sim_buffer b;
	uint32_t kernels = 0;

	(void)state;
	open_griffin(0, 10000);
	b = fixture_buffer(&fixture, 4096, SIM_ON_ONE, 3);
	read_by(b, 8, 1); /* the owner has touched it */
	while (!fixture.machine->stats.migrate_pages && kernels++ < 100)
		assert_true(read_by(b, 1, 4).kernel_cycles < 10000);
	assert_int_equal(fixture.machine->stats.migrate_pages, 1);
	assert_true(kernels > 1);
	fixture_close(&fixture);
}

/* Of eight pages that one GPU uses, one can move at a time: the others follow in later periods. */
static void test_few_at_a_time(void **state)
{
	struct sim_buffer b;
	struct sim_stats s;
	struct walk a;

	(void)state;
	configure_griffin("cache", 0, 3000);
	fixture.config.migrate_moves = 1;
	fixture_open(&fixture);
	b = fixture_buffer(&fixture, 8 * 4096, SIM_ON_ONE, 3);
	read_by(b, 8, 512); /* the owner has touched them */
	a = walk_of(b, 1, 8, 64);
	for (uint32_t k = 0; k < 20; k++)
		fixture_walk(&fixture, &a);
	s = fixture.machine->stats;
	assert_int_equal(s.migrate_dedicated + s.migrate_shifting, 8);
	assert_int_equal(s.migrate_pages, 8);
	assert_true(s.rc_hits + s.rc_misses > 0);
	for (uint64_t at = 0; at < 8; at++)
		assert_int_equal(sim_memory_home(fixture.memory, b.address + at * SIM_PAGE_BYTES), 0);
	assert_int_equal(fixture_walk(&fixture, &a).remote_transactions, 0);
	fixture_close(&fixture);
}

static void test_classes(void **state)
{
	static const struct {
		struct sim_page_use use[4];
		enum sim_page_class class_of;
		uint8_t to;
	} cases[] = {
	    {{{9, 3 << 8}}, SIM_PAGE_IDLE, 0},
	    {{{0, 9 << 8}}, SIM_PAGE_STREAMING, 0},
	    {{{9, 9 << 8}, {4, 4 << 8}, {4, 4 << 8}}, SIM_PAGE_DEDICATED, 0},
	    {{{4, 4 << 8}, {0, 0}, {8, 8 << 8}}, SIM_PAGE_DEDICATED, 2},
	    {{{9, 9 << 8}, {5, 5 << 8}}, SIM_PAGE_SHARED, 0},
	    {{{0, 7 << 8}, {0, 0}, {0, 0}, {9, 5 << 8}}, SIM_PAGE_SHIFTING, 3},
	    {{{7, 7 << 8}, {0, 0}, {0, 0}, {20, 5 << 8}}, SIM_PAGE_SHARED, 0}, /* the owner goes on */
	};
	struct sim_config c;
	uint8_t to = 0;

	(void)state;
	sim_config_init(&c);
	c.migrate_least = 4;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		assert_int_equal(sim_griffin_class(&c, cases[k].use, 0, &to), cases[k].class_of);
		assert_int_equal(to, cases[k].to);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_one),           cmocka_unit_test(test_policies),
	    cmocka_unit_test(test_crowd),         cmocka_unit_test(test_few_moves),
	    cmocka_unit_test(test_none_waits),    cmocka_unit_test(test_delayed),
	    cmocka_unit_test(test_dedicated),     cmocka_unit_test(test_drains),
	    cmocka_unit_test(test_no_time),       cmocka_unit_test(test_short_kernels),
	    cmocka_unit_test(test_few_at_a_time), cmocka_unit_test(test_classes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
