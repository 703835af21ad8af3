/* SPDX-License-Identifier: Apache-2.0 */
/* L2 that brings and keeps words (dualopt.fine_l2): what it fetches, what it finds, and what writes make of
 * it. */
#include "test_sim_support.h"

static struct fixture fixture;

enum { LINES = 20, AT_HOME = 1, NEAR = 0, FAR = 2 };
#define WORD(k) (0xfull << 4 * (k))
#define WHOLE (~0ull)

/* The wavefront of each GPU touches these bytes of every line of a buffer; 0: it does nothing. */
struct touched {
	struct sim_buffer buffer;
	enum sim_op_kind kind;
	uint64_t bytes[4];
};

static void touch_kernel(struct sim_wave *w, const void *arguments)
{
	const struct touched *t = (const struct touched *)arguments;
	struct sim_line line[LINES];

	for (uint32_t k = 0; k < LINES; k++) {
		line[k].address = t->buffer.address + k * SIM_LINE_BYTES;
		line[k].bytes = t->bytes[sim_wave_gpu(w)];
	}
	if (line[0].bytes)
		sim_lines(w, t->kind, line, LINES);
	sim_wait(w, 0);
}

/* What a launch counts in which one or two GPUs touch the lines of GPU 1. */
static struct sim_stats touch(struct sim_buffer buffer, enum sim_op_kind kind, uint32_t gpu, uint64_t bytes,
                              uint32_t other, uint64_t bytes_of_other)
{
	struct sim_stats before = fixture.machine->stats, s;
	struct touched t;

	memset(&t, 0, sizeof t);
	t.buffer = buffer;
	t.kind = kind;
	t.bytes[gpu] = bytes;
	if (bytes_of_other)
		t.bytes[other] = bytes_of_other;
	if (fixture_try(&fixture, touch_kernel, &t, 4))
		fail_msg("%s", fixture.error.text);
	s = fixture.machine->stats;
	for (size_t k = 0; k < sizeof s / sizeof(uint64_t); k++)
		((uint64_t *)(void *)&s)[k] -= sim_stat_value(&before, (uint32_t)k);
	return s;
}

static struct sim_stats reads(struct sim_buffer buffer, uint32_t gpu, uint64_t bytes)
{
	return touch(buffer, SIM_OP_LOAD, gpu, bytes, 0, 0);
}

/* Lines of GPU 1. Remote reads never enter L1, so L2 sees each. */
static struct sim_buffer open_with(const char *assignment)
{
	fixture_config(&fixture, "coalesce", 4);
	fixture.config.l1_invalidate = 1;
	assert_int_equal(sim_config_set(&fixture.config, assignment, NULL), 0);
	fixture_open(&fixture);
	return fixture_buffer(&fixture, LINES * SIM_LINE_BYTES, SIM_ON_ONE, AT_HOME);
}

static void expect(struct sim_stats s, uint32_t hits, uint32_t misses, uint32_t word_misses, uint32_t words)
{
	assert_int_equal(s.l2_hits + s.l2_merges, hits);
	assert_int_equal(s.l2_misses, misses);
	assert_int_equal(s.l2_word_misses, word_misses);
	assert_int_equal(s.l2_fetched_words, words);
	assert_int_equal(s.dram_reads, misses);
}

/* Every other word is a miss of its own; what came stays. A read at home needs the line. */
static void test_words(void **state)
{
	struct sim_buffer b = open_with("dualopt.fine_l2 = yes");

	(void)state;
	expect(reads(b, NEAR, WORD(3)), 0, LINES, 0, LINES);
	expect(reads(b, NEAR, WORD(3)), LINES, 0, 0, 0);
	expect(reads(b, FAR, WORD(3)), LINES, 0, 0, 0);
	expect(reads(b, FAR, WORD(3) | WORD(9)), 0, LINES, LINES, 2 * LINES);
	expect(reads(b, NEAR, WORD(9)), LINES, 0, 0, 0);
	expect(reads(b, AT_HOME, WORD(9)), 0, LINES, LINES, 16 * LINES);
	expect(reads(b, NEAR, WORD(15)), LINES, 0, 0, 0);
	fixture_close(&fixture);
}

/* Without it the first read brings the line. */
static void test_lines(void **state)
{
	struct sim_buffer b = open_with("dualopt.fine_l2 = no");

	(void)state;
	expect(reads(b, NEAR, WORD(3)), 0, LINES, 0, 16 * LINES);
	expect(reads(b, FAR, WORD(9)), LINES, 0, 0, 0);
	expect(reads(b, AT_HOME, WORD(9)), LINES, 0, 0, 0);
	fixture_close(&fixture);
}

/* Words of a granularity of 16 bytes come together. */
static void test_granularity(void **state)
{
	struct sim_buffer b;

	(void)state;
	fixture_config(&fixture, "coalesce", 4);
	fixture.config.fine_l2 = 1;
	fixture.config.granularity = 16;
	fixture_open(&fixture);
	b = fixture_buffer(&fixture, LINES * SIM_LINE_BYTES, SIM_ON_ONE, AT_HOME);
	expect(reads(b, NEAR, WORD(4)), 0, LINES, 0, 4 * LINES);
	expect(reads(b, NEAR, WORD(7)), LINES, 0, 0, 0);
	expect(reads(b, NEAR, WORD(8)), 0, LINES, LINES, 4 * LINES);
	fixture_close(&fixture);
}

/* Reads without masks ask for lines, whatever L2 could do. */
static void test_without_fine(void **state)
{
	struct sim_buffer b;

	(void)state;
	fixture_config(&fixture, "bypass", 4);
	fixture.config.fine_l2 = 1;
	fixture_open(&fixture);
	b = fixture_buffer(&fixture, LINES * SIM_LINE_BYTES, SIM_ON_ONE, AT_HOME);
	expect(reads(b, NEAR, WORD(3)), 0, LINES, 0, 16 * LINES);
	fixture_close(&fixture);
}

/* A write of a part needs the line; one of the whole needs nothing, and makes it whole. */
static void test_writes(void **state)
{
	struct sim_buffer b = open_with("dualopt.fine_l2 = yes");

	(void)state;
	expect(reads(b, NEAR, WORD(0)), 0, LINES, 0, LINES);
	expect(touch(b, SIM_OP_STORE, FAR, WORD(1), 0, 0), 0, LINES, LINES, 16 * LINES);
	expect(reads(b, AT_HOME, WORD(1)), LINES, 0, 0, 0);
	b = fixture_buffer(&fixture, LINES * SIM_LINE_BYTES, SIM_ON_ONE, AT_HOME);
	expect(reads(b, NEAR, WORD(0)), 0, LINES, 0, LINES);
	expect(touch(b, SIM_OP_STORE, FAR, WHOLE, 0, 0), LINES, 0, 0, 0);
	expect(reads(b, AT_HOME, WORD(7)), LINES, 0, 0, 0);
	fixture_close(&fixture);
}

/* Two GPUs at equal distance want words of the same lines in the same cycles. */
static void test_at_once(void **state)
{
	struct sim_buffer b = open_with("dualopt.fine_l2 = yes");
	struct sim_stats s;

	(void)state;
	expect(touch(b, SIM_OP_LOAD, FAR, WORD(2), 3, WORD(5)), 0, 2 * LINES, LINES, 2 * LINES);
	expect(touch(b, SIM_OP_LOAD, FAR, WORD(5), 3, WORD(2)), 2 * LINES, 0, 0, 0);
	b = fixture_buffer(&fixture, LINES * SIM_LINE_BYTES, SIM_ON_ONE, AT_HOME);
	expect(touch(b, SIM_OP_LOAD, FAR, WORD(2), 3, WORD(2)), LINES, LINES, 0, LINES);
	b = fixture_buffer(&fixture, LINES * SIM_LINE_BYTES, SIM_ON_ONE, AT_HOME);
	expect(touch(b, SIM_OP_LOAD, FAR, WORD(2) | WORD(5), 3, WORD(5)), LINES, LINES, 0, 2 * LINES);
	fixture_close(&fixture);
	b = open_with("dualopt.fine_l2 = no");
	s = touch(b, SIM_OP_LOAD, FAR, WORD(2), 3, WORD(5));
	assert_int_equal(s.l2_misses, LINES);
	fixture_close(&fixture);
}

/* A line of which words are still on their way may not be given away, though others have come. */
static void test_on_its_way(void **state)
{
	const uint64_t line = (uint64_t)AT_HOME << SIM_HOME_BIT;
	struct sim_domain *m;
	struct sim_bank *b;
	struct sim_way *w;

	(void)state;
	open_with("dualopt.fine_l2 = yes");
	m = &fixture.machine->gpu[AT_HOME].domain;
	b = &fixture.machine->gpu[AT_HOME]
	         .l2.bank[sim_bank_of(&fixture.machine->gpu[AT_HOME].l2.bank->map, line)];
	for (uint32_t k = 0; k < 2; k++) {
		struct sim_access *a = sim_access_new(&fixture.machine->gpu[NEAR].domain);

		a->home = AT_HOME;
		a->gpu = NEAR;
		a->line = line;
		a->words = (uint16_t)(1u << k);
		a->fine = true;
		/* nobody waits for it: it ends as a line that was written back */
		fixture.machine->gpu[NEAR].rc.writing++;
		sim_bank_accept(m, b, a);
	}
	w = sim_tags_find(&b->tags, sim_bank_place(&b->map, line), line);
	for (uint32_t left = 2; left > 0; left--) {
		assert_int_equal(b->mshr.used, left);
		assert_true(w->until == SIM_NEVER);
		while (b->mshr.used == left)
			sim_clock_run(&m->clock, m, &m->stop, m->clock.now + 1);
	}
	assert_true(w->until != SIM_NEVER);
	assert_int_equal(w->here, 3);
	assert_int_equal(sim_windows_run(fixture.machine, &fixture.error), 0);
	fixture_close(&fixture);
}

/*
 * Small L2s, so that lines in part leave it and come again, with writes between: real workloads still end,
 * every law holds, and results are those of the reference.
 */
static void test_workloads(void **state)
{
	static const struct {
		const char *name, *size;
	} runs[] = {
	    {"atax", "100"}, {"spmv", "1000,.01"}, {"st", "40x100,2"}, {"bfs", "3000"}, {"aes", "4096"}};

	(void)state;
	for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
		const struct sim_stats *s;

		fixture_config(&fixture, "coalesce", 4);
		fixture.config.fine_l2 = 1;
		fixture.config.l2.bytes = 32 << 10;
		fixture_run(&fixture, runs[k].name, runs[k].size);
		s = &fixture.machine->stats;
		assert_true(s->l2_fetched_words < 16 * s->l2_misses);
		fixture_close(&fixture);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_words),       cmocka_unit_test(test_lines),
	    cmocka_unit_test(test_granularity), cmocka_unit_test(test_without_fine),
	    cmocka_unit_test(test_writes),      cmocka_unit_test(test_at_once),
	    cmocka_unit_test(test_on_its_way),  cmocka_unit_test(test_workloads)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
