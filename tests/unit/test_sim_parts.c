/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of the simulated machine by themselves: the clock, sets, MSHRs and their masks, DRAM, the flow chart,
 * the laws.
 */
#include <stdlib.h>

#include "test_sim_support.h"

/* ---- events ---- */

struct happening {
	struct sim_event event;
	uint64_t cycle;
	uint32_t order; /* in which it was put in */
};

static struct happening happenings[3000];
static uint32_t happened[3000], happened_count;
static struct sim_clock clock_of_test;

static void note(struct sim_domain *m, struct sim_event *e)
{
	struct happening *h = (struct happening *)(void *)e;

	(void)m;
	assert_int_equal(h->cycle, clock_of_test.now);
	happened[happened_count++] = (uint32_t)(h - happenings);
}

static int by_cycle(const void *a, const void *b)
{
	const struct happening *x = &happenings[*(const uint32_t *)a], *y = &happenings[*(const uint32_t *)b];

	if (x->cycle != y->cycle)
		return x->cycle < y->cycle ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* Near and far events, many in one cycle: in the order of a sort. */
static void test_order(void **state)
{
	uint32_t sorted[3000], seed = 1;
	int stop = 0;

	(void)state;
	memset(&clock_of_test, 0, sizeof clock_of_test);
	for (uint32_t k = 0; k < 3000; k++) {
		seed = seed * 1664525u + 1013904223u;
		happenings[k].cycle = (seed >> 16) % (k % 3 ? 200 : 30000);
		happenings[k].order = sorted[k] = k;
		sim_clock_at(&clock_of_test, &happenings[k].event, happenings[k].cycle, note);
	}
	sim_clock_run(&clock_of_test, NULL, &stop, UINT64_MAX);
	qsort(sorted, 3000, sizeof *sorted, by_cycle);
	assert_int_equal(happened_count, 3000);
	assert_int_equal(clock_of_test.count, 3000);
	assert_int_equal(clock_of_test.waiting, 0);
	assert_memory_equal(happened, sorted, sizeof sorted);
}

/* ---- memory ---- */

/* Pieces are zeroes and do not meet, also where one is larger than what is left of a block, or than a block.
 */
static void test_arena(void **state)
{
	static const size_t bytes[] = {1, 100, 2 << 20, 64, 1 << 20, 1 << 20, 5 << 20};
	struct sim_arena arena = {NULL};
	unsigned char *piece[7];

	(void)state;
	for (size_t k = 0; k < 7; k++) {
		piece[k] = (unsigned char *)sim_arena_take(&arena, bytes[k], 1);
		assert_non_null(piece[k]);
		assert_int_equal((uintptr_t)piece[k] % 64, 0);
		for (size_t n = 0; n < bytes[k]; n++)
			assert_true(!piece[k][n]);
		memset(piece[k], (int)k + 1, bytes[k]);
	}
	for (size_t k = 0; k < 7; k++)
		assert_true(piece[k][0] == k + 1 && piece[k][bytes[k] - 1] == k + 1);
	sim_arena_free(&arena);
	assert_null(arena.newest);
}

/* ---- sets ---- */

static void test_least_recently_used(void **state)
{
	struct sim_arena arena = {NULL};
	struct sim_tags t;
	uint64_t retry = SIM_NEVER;

	(void)state;
	assert_int_equal(sim_tags_init(&t, &arena, 8 * 64, 4), 0);
	for (uint64_t k = 0; k < 4; k++) {
		struct sim_way *w = sim_tags_victim(&t, 1, 0, &retry);

		sim_tags_put(&t, w, 1000 + k, 10 + k);
	}
	assert_null(sim_tags_find(&t, 0, 1000));
	sim_tags_find(&t, 1, 1000)->used = 20;
	assert_int_equal(sim_tags_line(&t, sim_tags_victim(&t, 1, 0, &retry)), 1001);
	sim_way_fill(sim_tags_find(&t, 1, 1001), SIM_NEVER); /* being filled: the next one */
	assert_int_equal(sim_tags_line(&t, sim_tags_victim(&t, 1, 0, &retry)), 1002);
	sim_way_read(sim_tags_find(&t, 1, 1002), 0, 77); /* being read: nobody, until then */
	retry = SIM_NEVER;
	assert_null(sim_tags_victim(&t, 1, 0, &retry));
	assert_int_equal(retry, 77);
	assert_int_equal(sim_tags_line(&t, sim_tags_victim(&t, 1, 77, &retry)), 1002);
	sim_arena_free(&arena);
}

/* ---- MSHRs: cases A, B and C of section 4.1.2 ---- */

static void test_masks(void **state)
{
	struct sim_arena arena = {NULL};
	struct sim_mshr m;
	struct sim_access a;
	uint16_t first;

	(void)state;
	memset(&a, 0, sizeof a);
	assert_int_equal(sim_mshr_init(&m, &arena, 2), 0);
	first = sim_mshr_take(&m, 0x100, 0x42, &a, NULL);
	assert_ptr_equal(sim_mshr_find(&m, 0x100, 0x42), &m.entry[first]); /* A: the same words */
	assert_ptr_equal(sim_mshr_find(&m, 0x100, 0x40), &m.entry[first]); /* A: some of them */
	assert_null(sim_mshr_find(&m, 0x100, 0x01));                       /* B: others */
	assert_null(sim_mshr_find(&m, 0x100, 0x43));                       /* B: one more */
	assert_null(sim_mshr_find(&m, 0x140, 0x42));                       /* C: another line */
	assert_false(sim_mshr_full(&m));
	sim_mshr_take(&m, 0x100, 0x01, &a, NULL); /* B has an entry of its own */
	assert_true(sim_mshr_full(&m));
	assert_non_null(sim_mshr_find(&m, 0x100, 0x01));
	sim_mshr_release(&m, &m.entry[first]);
	assert_null(sim_mshr_find(&m, 0x100, 0x42));
	assert_false(sim_mshr_full(&m));
	sim_arena_free(&arena);
}

static void test_granules(void **state)
{
	(void)state;
	assert_int_equal(sim_granules(0x0001, 4), 1);
	assert_int_equal(sim_granules(0x0003, 8), 1);
	assert_int_equal(sim_granules(0x0006, 8), 2);
	assert_int_equal(sim_granules(0x8001, 16), 2);
	assert_int_equal(sim_granules(0xffff, 4), 16);
	assert_int_equal(sim_granules(0xffff, 8), 8);
	assert_int_equal(sim_granules(0xffff, 16), 4);
	assert_int_equal(sim_widen(0x0402, 4), 0x0402);
	assert_int_equal(sim_widen(0x0402, 8), 0x0c03);
	assert_int_equal(sim_widen(0x0402, 16), 0x0f0f);
}

/* ---- DRAM ---- */

/* A channel that is kept full: as soon as a line has come the next one is asked for. */
struct traffic {
	struct sim_event done[64]; /* first: of each read under way */
	struct sim_domain m;
	struct sim_dram d;
	uint64_t place, step, left, reads_left, last;
	uint64_t (*place_of)(uint64_t number); /* NULL: step apart */
};

static struct traffic traffic;

static void next_line(struct traffic *t, struct sim_event *done);

static void came(struct sim_domain *m, struct sim_event *e)
{
	traffic.last = m->clock.now;
	traffic.reads_left--;
	next_line(&traffic, e);
}

static void next_line(struct traffic *t, struct sim_event *done)
{
	if (!t->left)
		return;
	t->left--;
	sim_dram_read(&t->m, &t->d, t->place_of ? t->place_of(t->place) : t->place * t->step, done, came);
	t->place++;
}

/* Cycles of some reads, 64 at a time. */
static uint64_t traffic_cycles(const struct sim_config *c, uint64_t lines, uint64_t step,
                               uint64_t (*place_of)(uint64_t number))
{
	struct sim_arena arena = {NULL};
	struct traffic *t = &traffic;
	int stop = 0;

	memset(t, 0, sizeof *t);
	t->m.config = c;
	t->left = t->reads_left = lines;
	t->step = step;
	t->place_of = place_of;
	assert_int_equal(sim_dram_init(&t->d, &arena, c), 0);
	for (uint32_t k = 0; k < 64; k++)
		next_line(t, &t->done[k]);
	while (t->m.clock.waiting)
		sim_clock_run(&t->m.clock, &t->m, &stop, t->m.clock.now + 1000);
	assert_int_equal(t->reads_left, 0);
	assert_null(t->d.oldest);
	sim_arena_free(&arena);
	return t->last;
}

static uint64_t dram_cycles(const struct sim_config *c, uint64_t lines, uint64_t step)
{
	return traffic_cycles(c, lines, step, NULL);
}

static void test_dram_times(void **state)
{
	struct sim_config c;
	uint64_t front, row;

	(void)state;
	sim_config_init(&c);
	front = c.dram_front;
	row = c.dram_row_bytes / 64 * c.dram_banks;
	/* one access: activate, read, data; tRCD + tCL + one clock of 2 cycles */
	assert_int_equal(dram_cycles(&c, 1, 1), front + (7 + 7 + 1) * 2);
	/* another row of the bank: tRAS after the first activate precharge, activate, read */
	assert_int_equal(dram_cycles(&c, 2, row), front + (17 + 7 + 7 + 7 + 1) * 2);
	/* one bank, another row each time: tRAS + tRP between activates */
	assert_int_equal(dram_cycles(&c, 11, row) - dram_cycles(&c, 1, 1), 10 * (17 + 7) * 2);
	c.dram_page = SIM_DRAM_CLOSED;
	assert_int_equal(dram_cycles(&c, 11, 16) - dram_cycles(&c, 1, 1), 10 * (17 + 7) * 2);
}

/* Eight streams in turn, each in other rows of the same bank. */
static uint64_t of_eight(uint64_t number)
{
	return number % 8 * 32 * 16 * 100 + number / 8;
}

static uint64_t drawn(uint64_t number)
{
	return (number * UINT64_C(0x9e3779b97f4a7c15)) >> 40;
}

/*
 * The bus: 64 bytes in 2 cycles are 32 GB/s a channel at 1 GHz, 512 GB/s for 16. With the settings as they
 * are shipped a stream gets all of it. Lines of any rows get half: tRRD, 4 cycles, is between activates.
 */
static void test_dram_peak(void **state)
{
	const uint64_t lines = 100000, bus = 2 * lines, activates = 4 * lines;
	struct sim_config c;

	(void)state;
	sim_config_init(&c);
	assert_int_equal(c.dram_page, SIM_DRAM_OPEN);
	assert_in_range(dram_cycles(&c, lines, 1), bus, bus * 101 / 100);
	assert_in_range(traffic_cycles(&c, lines, 1, drawn), activates, activates * 101 / 100);
	c.dram_page = SIM_DRAM_CLOSED;
	assert_in_range(dram_cycles(&c, lines, 1), activates, activates * 101 / 100);
}

/* Streams that meet in a bank: four lines of each are in the queue of 32, so a row serves four and not one.
 */
static void test_dram_ready_first(void **state)
{
	const uint64_t lines = 100000;
	struct sim_config c;
	uint64_t ready, arrival;

	(void)state;
	sim_config_init(&c);
	ready = traffic_cycles(&c, lines, 1, of_eight);
	c.dram_queue = 1;
	arrival = traffic_cycles(&c, lines, 1, of_eight);
	assert_in_range(arrival, lines * (17 + 7) * 2 * 99 / 100, lines * (17 + 7) * 2 * 101 / 100);
	assert_in_range(ready, arrival / 12, arrival / 4);
}

static void write_left(struct sim_domain *m, struct sim_dram *d)
{
	(void)m;
	++*(uint32_t *)d->owner;
}

/* Nobody waits for writes, but they take room until their lines move. */
static void test_dram_writes(void **state)
{
	struct sim_arena arena = {NULL};
	struct traffic *t = &traffic;
	struct sim_config c;
	uint32_t left = 0;
	int stop = 0;

	(void)state;
	sim_config_init(&c);
	memset(t, 0, sizeof *t);
	t->m.config = &c;
	assert_int_equal(sim_dram_init(&t->d, &arena, &c), 0);
	t->d.owner = &left;
	t->d.write_left = write_left;
	for (uint64_t k = 0; k < c.dram_write_buffer; k++) {
		assert_true(sim_dram_has_room(&t->d, &c));
		sim_dram_write(&t->m, &t->d, k);
	}
	assert_false(sim_dram_has_room(&t->d, &c));
	sim_clock_run(&t->m.clock, &t->m, &stop, 10000);
	assert_int_equal(left, c.dram_write_buffer);
	assert_true(sim_dram_has_room(&t->d, &c));
	/* activate, write, 64 lines */
	assert_int_equal(t->d.bus, c.dram_front + (7 + 2 + 64) * 2);
	sim_arena_free(&arena);
}

/* ---- the decision engine's flow chart (Figure 11) ---- */

static enum sim_verdict decide(uint64_t remote, uint64_t words, uint64_t hits)
{
	struct sim_decision d;

	memset(&d, 0, sizeof d);
	d.accesses = 10000;
	d.remote = d.reads = d.lines = remote;
	d.words = words;
	d.hits = hits;
	return sim_decide_by(&d, 2, 20, 40);
}

static void test_flow_chart(void **state)
{
	(void)state;
	assert_int_equal(decide(199, 199, 0), SIM_LOCAL);
	assert_int_equal(decide(200, 200, 0), SIM_COALESCE);
	assert_int_equal(decide(1000, 3199, 399), SIM_COALESCE); /* 3.2 words of a line are 20 % */
	assert_int_equal(decide(1000, 3200, 399), SIM_CACHE);
	assert_int_equal(decide(1000, 3199, 400), SIM_CACHE);
	assert_int_equal(decide(1000, 16000, 900), SIM_CACHE);
}

/* ---- conservation ---- */

static const char *const watched[] = {
    "vector_done",
    "scalar_done",
    "l1v_read_hits",
    "l1v_read_misses",
    "l1v_read_merges",
    "l1v_writes",
    "l1s_hits",
    "tlb_hits",
    "tlb_lookups",
    "tlb2_hits",
    "page_walks",
    "l2_hits",
    "l2_misses",
    "l2_lookups",
    "dram_reads",
    "dram_transactions",
    "rc_hits",
    "rc_lookups",
    "remote_transactions",
    "remote_served",
    "remote_replies",
    "net_messages_out",
    "net_flits_out",
    "wave_cycles",
    "wave_issue_cycles",
    "vector_latency_cycles",
    "vector_in_flight_cycles",
    "remote_home_cycles",
};

/* A counter that is one too high is found, whichever it is. */
static void test_laws(void **state)
{
	struct gn_error error;
	struct sim_stats s;

	(void)state;
	memset(&s, 0, sizeof s);
	assert_int_equal(sim_stats_check(&s, &error), 0);
	for (size_t k = 0; k < sizeof watched / sizeof *watched; k++) {
		uint32_t at = 0;

		while (strcmp(sim_stat_name(at), watched[k]))
			at++;
		memset(&s, 0, sizeof s);
		((uint64_t *)(void *)&s)[at] = 1;
		assert_int_equal(sim_stats_check(&s, &error), -GN_EBADMSG);
		assert_non_null(strstr(error.text, "does not hold"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_order),
	    cmocka_unit_test(test_arena),
	    cmocka_unit_test(test_least_recently_used),
	    cmocka_unit_test(test_masks),
	    cmocka_unit_test(test_granules),
	    cmocka_unit_test(test_dram_times),
	    cmocka_unit_test(test_dram_peak),
	    cmocka_unit_test(test_dram_ready_first),
	    cmocka_unit_test(test_dram_writes),
	    cmocka_unit_test(test_flow_chart),
	    cmocka_unit_test(test_laws),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
