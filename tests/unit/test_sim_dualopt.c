/* SPDX-License-Identifier: Apache-2.0 */
/* DualOpt's mechanisms in the simulated machine, one by one, against the paper's numbers. */
#include "test_sim_support.h"

static struct fixture fixture;

static void open_preset(const char *preset, const char *assignment)
{
	fixture_config(&fixture, preset, 4);
	if (assignment)
		assert_int_equal(sim_config_set(&fixture.config, assignment, NULL), 0);
	fixture_open(&fixture);
}

/* ---- the CoDec by itself: replies as GPU 0 has them from its L2, to GPU 1 ---- */

static void add(uint32_t count, uint8_t to, uint32_t words)
{
	for (uint32_t k = 0; k < count; k++) {
		struct sim_access *a = sim_access_new(&fixture.machine->gpu[to].domain);

		a->home = 0;
		a->gpu = to;
		a->words = words;
		a->fine = true;
		/* nobody waits for it: it ends as a line that was written back */
		fixture.machine->gpu[to].rc.writing++;
		sim_codec_add(&fixture.machine->gpu[0].domain, a);
	}
}

/* Returns the cycle in which the last packet was there. */
static uint64_t run(void)
{
	struct sim_machine *m = fixture.machine;

	assert_int_equal(sim_windows_run(m, &fixture.error), 0);
	for (uint32_t k = 0; k < 4; k++)
		assert_int_equal(m->gpu[k].domain.accesses, 0);
	assert_int_equal(m->stats.remote_replies, m->stats.codec_responses);
	return m->core.clock.now;
}

static void test_ten_a_packet(void **state)
{
	const struct sim_stats *s;

	(void)state;
	open_preset("coalesce", "net.encoding_percent = 0");
	s = &fixture.machine->stats;
	add(10, 1, 1);
	assert_int_equal(run(), 143 + 4 + 1); /* it does not wait; 4 + 10 x 6 bytes are 4 flits */
	assert_int_equal(s->codec_packets, 1);
	assert_int_equal(s->codec_full_packets, 1);
	assert_int_equal(s->net_flits_in, 4);
	assert_int_equal(s->net_bytes, 64);
	fixture_close(&fixture);
}

/* Five wait for the time-out of 30 cycles, and go then. */
static void test_timeout(void **state)
{
	const struct sim_stats *s;

	(void)state;
	open_preset("coalesce", "net.encoding_percent = 0");
	s = &fixture.machine->stats;
	add(5, 1, 1);
	assert_int_equal(run(), 30 + 143 + 3 + 1); /* 4 + 5 x 6 bytes: 3 flits */
	assert_int_equal(s->codec_timeouts, 1);
	assert_int_equal(s->codec_packets, 1);
	fixture_close(&fixture);
	open_preset("coalesce", "codec.timeout = 50");
	add(1, 1, 1);
	assert_int_equal(run(), 50 + 143 + 1 + 1);
	fixture_close(&fixture);
}

static void add_one(struct sim_domain *m, struct sim_event *e)
{
	(void)m;
	(void)e;
	add(1, 1, 1);
}

/* The time-out counts from the oldest, or from the last: one response at 0, one at 20. */
static void test_timeout_from(void **state)
{
	struct sim_event later;

	(void)state;
	for (uint32_t last = 0; last < 2; last++) {
		memset(&later, 0, sizeof later);
		open_preset("coalesce", last ? "codec.timeout_from = last" : NULL);
		add(1, 1, 1);
		sim_clock_at(&fixture.machine->gpu[0].domain.clock, &later, 20, add_one);
		assert_int_equal(run(), (last ? 50 : 30) + 143 + 2 + 1); /* 16 bytes, with encoding 2 flits */
		assert_int_equal(fixture.machine->stats.codec_packets, 1);
		fixture_close(&fixture);
	}
}

/* 25 to one GPU: two packets at once, the rest with the time-out. To three GPUs: a buffer each. */
static void test_packets(void **state)
{
	(void)state;
	open_preset("coalesce", NULL);
	add(25, 1, 1);
	run();
	assert_int_equal(fixture.machine->stats.codec_packets, 3);
	assert_int_equal(fixture.machine->stats.codec_full_packets, 2);
	assert_int_equal(fixture.machine->stats.codec_words, 25);
	fixture_close(&fixture);
	open_preset("coalesce", NULL);
	add(9, 1, 1);
	add(9, 2, 1);
	add(9, 3, 1);
	run();
	assert_int_equal(fixture.machine->stats.codec_packets, 3);
	assert_int_equal(fixture.machine->stats.codec_timeouts, 3);
	fixture_close(&fixture);
}

/* More than a buffer of 64 holds: the others wait behind it, and none is lost. */
static void test_full_buffer(void **state)
{
	(void)state;
	open_preset("coalesce", NULL);
	add(1000, 2, 1);
	assert_int_equal(fixture.machine->gpu[0].codec.buffer[2].held.count, 64);
	run();
	assert_int_equal(fixture.machine->stats.codec_words, 1000);
	assert_int_equal(fixture.machine->stats.codec_packets, 100);
	fixture_close(&fixture);
}

/*
 * What the paper leaves open of packets: six replies of two words are 60 bytes with an ID each; a buffer may
 * count words.
 */
static void test_other_packets(void **state)
{
	(void)state;
	open_preset("coalesce", "codec.id_of = reply");
	add(6, 1, 3);
	run();
	assert_int_equal(fixture.machine->stats.codec_full_packets, 1);
	assert_int_equal(fixture.machine->stats.codec_packets, 1);
	assert_int_equal(fixture.machine->stats.codec_words, 12);
	assert_int_equal(fixture.machine->stats.net_bytes, 64);
	fixture_close(&fixture);
	open_preset("coalesce", "codec.buffer_of = words");
	add(100, 2, 3);
	assert_int_equal(fixture.machine->gpu[0].codec.buffer[2].held.count, 32);
	run();
	assert_int_equal(fixture.machine->stats.codec_words, 200);
	fixture_close(&fixture);
}

/* 4, 8 and 16 bytes: 10, 6 and 3 words a packet. A response of more words than that is a line. */
static void test_granularity(void **state)
{
	static const uint32_t granularity[] = {4, 8, 16}, words[] = {10, 6, 3};

	(void)state;
	for (uint32_t k = 0; k < 3; k++) {
		open_preset("coalesce", NULL);
		fixture.machine->config.granularity = granularity[k];
		sim_codec_init(&fixture.machine->gpu[0].codec, 0, &fixture.machine->config);
		add(words[k] * 2, 1, 1);
		run();
		assert_int_equal(fixture.machine->stats.codec_full_packets, 2);
		assert_int_equal(fixture.machine->stats.codec_timeouts, 0);
		fixture_close(&fixture);
	}
	open_preset("coalesce", NULL);
	add(1, 1, 0x7ff); /* 11 words */
	add(1, 1, 0x3ff);
	run();
	assert_int_equal(fixture.machine->stats.codec_lines, 1);
	assert_int_equal(fixture.machine->stats.codec_packets, 1);
	fixture_close(&fixture);
}

/* ---- flits of a remote read, request and reply (notes, table of 3.2) ---- */

/* One word of each of 640 lines on the other GPU of the pair. */
static struct sim_stats gather(const char *preset, const char *assignment)
{
	struct sim_stats s;
	struct walk a;

	open_preset(preset, assignment);
	a = walk_of(fixture_buffer(&fixture, 640 * 64, SIM_ON_ONE, 1), 1, 10, 64);
	s = fixture_walk(&fixture, &a);
	fixture_close(&fixture);
	s.net_flits_in -= 2 * s.page_walks;
	return s;
}

static void test_flits(void **state)
{
	struct sim_stats s;

	(void)state;
	assert_int_equal(gather("none", "net.encoding_percent = 0").net_flits_in, 640 * (1 + 5));
	assert_int_equal(gather("none", NULL).net_flits_in, 640 * (1 + 6));
	assert_int_equal(gather("bypass", NULL).net_flits_in, 640 * (1 + 6));
	assert_int_equal(gather("fine", "net.encoding_percent = 0").net_flits_in, 640 * (1 + 1));
	assert_int_equal(gather("fine", NULL).net_flits_in, 640 * (1 + 1));
	s = gather("coalesce",
	           "net.encoding_percent = 0"); /* never better than 10 a packet, never worse than none */
	assert_in_range(s.net_flits_in, 640 + 64 * 4, 640 * 2);
	assert_int_equal(s.codec_words, 640);
	s = gather("coalesce", NULL);
	assert_in_range(s.net_flits_in, 640 + 64 * 5, 640 * 2);
	assert_int_equal(gather("none", "net.flit_bytes = 64").net_flits_in, 640 * (1 + 2));
}

/* Bypassed reads look up nothing and leave nothing behind; local reads go on as before. */
static void test_bypass(void **state)
{
	struct sim_buffer b;
	struct sim_stats s;
	struct walk a;

	(void)state;
	open_preset("bypass", NULL);
	b = fixture_buffer(&fixture, 4096, SIM_ON_ONE, 1);
	a = walk_of(b, 1, 1, 8);
	for (uint32_t k = 0; k < 2; k++) {
		s = fixture_walk(&fixture, &a);
		assert_int_equal(s.l1v_bypassed, 8);
		assert_int_equal(s.l1v_read_lookups, 0);
		assert_int_equal(s.remote_reads, 8);
	}
	a = walk_of(b, 2, 1, 8); /* GPU 1: its own */
	fixture_walk(&fixture, &a);
	s = fixture_walk(&fixture, &a);
	assert_int_equal(s.l1v_read_hits, 8);
	assert_int_equal(s.l1v_bypassed, 0);
	fixture_close(&fixture);
}

/* ---- MSHR masks in L1: one line, three loads under way at once ---- */

static void three_loads(struct sim_wave *w, const void *arguments)
{
	const struct sim_buffer *b = (const struct sim_buffer *)arguments;
	uint32_t index[SIM_LANES], value[SIM_LANES];

	for (uint32_t l = 0; l < SIM_LANES; l++)
		index[l] = l;
	sim_load_u32(w, 0x3, b, index, value); /* words 0, 1 */
	sim_load_u32(w, 0x2, b, index, value); /* A: word 1 is on its way */
	sim_load_u32(w, 0x6, b, index, value); /* B: word 2 is not */
	sim_wait(w, 0);
}

static void check_masks(const char *preset, const char *assignment, uint64_t merges, uint64_t requests)
{
	struct sim_buffer b;

	open_preset(preset, assignment);
	b = fixture_buffer(&fixture, 4096, SIM_ON_ONE, 1);
	assert_int_equal(fixture_try(&fixture, three_loads, &b, 1), 0);
	assert_int_equal(fixture.machine->stats.l1v_read_merges, merges);
	assert_int_equal(fixture.machine->stats.remote_reads, requests);
	fixture_close(&fixture);
}

static void test_masks(void **state)
{
	(void)state;
	check_masks("none", NULL, 2, 1);   /* a line serves all */
	check_masks("bypass", NULL, 2, 1); /* so it does when it is not kept */
	check_masks("fine", NULL, 1, 2);
	check_masks("coalesce", NULL, 1, 2);
	check_masks("fine", "dualopt.granularity = 8", 1, 2);
	check_masks("fine", "dualopt.granularity = 16", 2, 1); /* word 2 comes along */
	check_masks("fine", "dualopt.mshr_masks = no", 0, 3);  /* nobody knows what an entry brings */
}

/* ---- the cache of remote data ---- */

/*
 * Two compute units read the same remote lines: one request each line; at the end of the kernel all is
 * forgotten.
 */
static void test_remote_cache(void **state)
{
	struct sim_buffer b;
	struct sim_stats s;
	struct walk a;

	(void)state;
	open_preset("cache", "dispatch.gpus = greedy");
	b = fixture_buffer(&fixture, 4096, SIM_ON_ONE, 1);
	a = walk_of(b, 1, 1, 16);
	for (uint32_t k = 0; k < 2; k++) {
		s = fixture_walk(&fixture, &a);
		assert_int_equal(s.rc_lookups, s.l1v_remote_reads - s.l1v_remote_hits);
		assert_int_equal(s.rc_write_backs, 0);
	}
	fixture_close(&fixture);

	open_preset("cache", "gpus = 2");
	b = fixture_buffer(&fixture, 4096, SIM_ON_ONE, 1);
	a = walk_of(b, 1, 1, 16);
	assert_int_equal(fixture_try(&fixture, walk_kernel, &a, 8),
	                 0); /* four on GPU 0, on four compute units */
	assert_int_equal(fixture.machine->stats.vector_reads, 64);
	assert_int_equal(fixture.machine->stats.rc_lookups, 64);
	assert_int_equal(fixture.machine->stats.remote_reads, 16);
	assert_int_equal(fixture.machine->stats.rc_misses, 16);
	assert_int_equal(fixture.machine->stats.rc_hits + fixture.machine->stats.rc_merges, 48);
	for (uint32_t k = 0; k < 4; k++)
		sim_tags_clear(&fixture.machine->gpu[0].l1[k].tags);
	assert_int_equal(fixture_try(&fixture, walk_kernel, &a, 8), 0);
	assert_int_equal(fixture.machine->stats.remote_reads, 32);
	fixture_close(&fixture);
}

/*
 * Writes of whole lines stay until the kernel ends, and are then at their home; writes of some bytes go
 * there.
 */
static void whole_lines(struct sim_wave *w, const void *arguments)
{
	const struct sim_buffer *b = (const struct sim_buffer *)arguments;
	uint32_t index[SIM_LANES], value[SIM_LANES];

	memset(value, 0, sizeof value);
	for (uint32_t turn = 0; turn < 3; turn++) {
		for (uint32_t l = 0; l < SIM_LANES; l++)
			index[l] = l;
		sim_store_u32(w, ~0ull, b, index, value);
		sim_wait(w, 0);
	}
}

static void test_remote_writes(void **state)
{
	const struct sim_stats *s;
	struct sim_buffer b;
	struct walk a;

	(void)state;
	open_preset("cache", NULL);
	b = fixture_buffer(&fixture, 4096, SIM_ON_ONE, 1);
	s = &fixture.machine->stats;
	assert_int_equal(fixture_try(&fixture, whole_lines, &b, 1), 0);
	assert_int_equal(s->vector_writes, 12);
	assert_int_equal(s->rc_write_fills, 4);
	assert_int_equal(s->rc_hits, 8);
	assert_int_equal(s->rc_write_backs, 4);
	assert_int_equal(s->remote_writes, 4);
	a = walk_of(b, 1, 1, 8);
	a.write = 1;
	assert_int_equal(fixture_walk(&fixture, &a).rc_write_arounds, 8);
	fixture_close(&fixture);
	open_preset("cache", "rdma_cache.write_allocate = no");
	b = fixture_buffer(&fixture, 4096, SIM_ON_ONE, 1);
	assert_int_equal(fixture_try(&fixture, whole_lines, &b, 1), 0);
	assert_int_equal(fixture.machine->stats.remote_writes, 12);
	assert_int_equal(fixture.machine->stats.rc_write_backs, 0);
	fixture_close(&fixture);
}

/* ---- the decision engine ---- */

static struct sim_stats decided(uint32_t lanes, uint32_t turns, uint32_t home, uint32_t words, bool again)
{
	struct sim_stats s;
	struct walk a;

	fixture_config(&fixture, "dualopt", 2);
	fixture.config.decide_warmup = 10;
	fixture.config.decide_window = 100;
	fixture_open(&fixture);
	a = walk_of(fixture_buffer(&fixture, 1 << 20, SIM_ON_ONE, home), 1, turns, lanes);
	a.words = words;
	a.wait = 1;
	s = fixture_walk(&fixture, &a);
	if (again)
		s = fixture_walk(&fixture, &a);
	fixture_close(&fixture);
	return s;
}

static void test_decision(void **state)
{
	struct sim_stats s;

	(void)state;
	s = decided(32, 10, 1, 1, false); /* one word of each remote line */
	assert_int_equal(s.decided_coalesce, 2);
	/* the first turn warms up, the fifth has the 100th of the window */
	assert_int_equal(s.decide_remote, 4 * 32);
	assert_int_equal(s.l1v_read_misses + s.l1v_read_merges, 320);
	assert_int_equal(s.l1v_bypassed, 5 * 32);
	s = decided(32, 10, 1, 4, false); /* four: a fourth of a line is more than 20 % */
	assert_int_equal(s.decided_cache, 2);
	assert_in_range(s.rc_lookups, 5 * 32, 320 - 64); /* and those that were still in L1 then */
	assert_int_equal(s.l1v_bypassed, 0);
	s = decided(32, 10, 0, 1, false); /* local: never asked */
	assert_int_equal(s.decided_local + s.decided_coalesce + s.decided_cache, 0);
	s = decided(32, 10, 1, 1, true); /* once decided, in every later kernel */
	assert_int_equal(s.l1v_bypassed, 320);
}

/*
 * Words count of each read, or once while a line is in L1: 32 reads of one word each, twice. Before a warm-up
 * nothing counts.
 */
static void test_what_is_counted(void **state)
{
	static const char *const keys[] = {"decide.block_of = read", "decide.block_of = line",
	                                   "decide.warmup_cycles = 1000000"};
	static const uint64_t reads[] = {64, 64, 0}, lines[] = {64, 32, 0};

	(void)state;
	for (size_t k = 0; k < 3; k++) {
		struct sim_stats first, second;
		struct walk a;

		fixture_config(&fixture, "dualopt", 2);
		fixture.config.decide_warmup = 0;
		assert_int_equal(sim_config_set(&fixture.config, keys[k], NULL), 0);
		fixture_open(&fixture);
		a = walk_of(fixture_buffer(&fixture, 1 << 20, SIM_ON_ONE, 1), 1, 1, 32);
		first = fixture_walk(&fixture, &a);
		second = fixture_walk(&fixture, &a);
		assert_int_equal(second.l1v_read_hits, 32);
		assert_int_equal(first.decide_reads + second.decide_reads, reads[k]);
		assert_int_equal(first.decide_lines + second.decide_lines, lines[k]);
		assert_int_equal(first.decide_words + second.decide_words, lines[k]);
		fixture_close(&fixture);
	}
}

/*
 * Turns of 32: one warms up, two are looked at, two go by until it looks again; and so on, to the end of a
 * window of time.
 */
static void test_decides_again(void **state)
{
	struct sim_stats s;
	struct walk a;

	(void)state;
	fixture_config(&fixture, "dualopt", 2);
	fixture.config.decide_warmup = 10;
	fixture.config.decide_window = 60;
	fixture.config.decide_interval = 50;
	fixture_open(&fixture);
	a = walk_of(fixture_buffer(&fixture, 1 << 20, SIM_ON_ONE, 1), 1, 10, 32);
	a.wait = 1;
	s = fixture_walk(&fixture, &a);
	assert_int_equal(s.decided_coalesce, 2 * 2);
	assert_in_range(s.decide_remote, 2 * 60, 2 * (60 + 31));
	assert_in_range(s.l1v_bypassed, 2 * 50, 2 * (50 + 31));
	a.words = 4; /* the program changes */
	a.first = 1024;
	s = fixture_walk(&fixture, &a);
	assert_int_equal(s.decided_coalesce, 0);
	assert_int_equal(s.decided_cache, 2 * 2);
	assert_int_equal(s.l1v_bypassed, 0);
	assert_true(s.rc_lookups > 100); /* the cache stays in use while it looks */
	a.words = 1;
	a.first = 2048;
	s = fixture_walk(&fixture, &a);
	assert_true(s.decided_coalesce > 0);
	assert_true(s.l1v_bypassed > 0);
	fixture_close(&fixture);
}

/* ---- each mechanism by itself ---- */

static struct sim_stats with(bool bypass, bool fine, bool coalesce, const char *assignment)
{
	struct sim_stats s;

	fixture_config(&fixture, "none", 4);
	fixture.config.bypass = bypass;
	fixture.config.fine = fine;
	fixture.config.mshr_masks = fine;
	fixture.config.coalesce = coalesce;
	if (assignment)
		assert_int_equal(sim_config_set(&fixture.config, assignment, NULL), 0);
	fixture_run(&fixture, "spmv", "1024,.01");
	s = fixture.machine->stats;
	fixture_close(&fixture);
	return s;
}

/* Every set of them runs, with right results; each does what is its own, whatever the others are. */
static void test_one_by_one(void **state)
{
	(void)state;
	for (uint32_t set = 0; set < 8; set++) {
		const bool bypass = set & 1, fine = set >> 1 & 1, coalesce = set >> 2 & 1;
		const struct sim_stats s = with(bypass, fine, coalesce, NULL);

		assert_int_equal(bypass, s.l1v_bypassed > 0);
		assert_int_equal(bypass, s.l1v_remote_hits == 0);
		assert_int_equal(fine, s.net_bytes < s.net_messages / 2 * 60); /* a line: 12 and 68 */
		assert_int_equal(coalesce, s.codec_responses > 0);
		assert_int_equal(coalesce && fine, s.codec_packets > 0); /* a line fills a packet alone */
	}
}

/* Without bypass a fine read leaves its words in L1: the next hits, other words are fetched to them. */
static void test_fine_in_l1(void **state)
{
	struct sim_stats s;
	struct walk a;

	(void)state;
	fixture_config(&fixture, "none", 4);
	fixture.config.fine = fixture.config.mshr_masks = 1;
	fixture_open(&fixture);
	a = walk_of(fixture_buffer(&fixture, 4096, SIM_ON_ONE, 1), 1, 1, 8);
	s = fixture_walk(&fixture, &a); /* a word of each line */
	assert_int_equal(s.l1v_read_misses, 8);
	s = fixture_walk(&fixture, &a);
	assert_int_equal(s.l1v_read_hits, 8);
	a.words = 4; /* three more */
	s = fixture_walk(&fixture, &a);
	assert_int_equal(s.l1v_read_misses, 8);
	assert_int_equal(s.remote_words[3], 8);
	s = fixture_walk(&fixture, &a);
	assert_int_equal(s.l1v_read_hits, 8);
	a.words = 1;
	s = fixture_walk(&fixture, &a);
	assert_int_equal(s.l1v_read_hits, 8);
	fixture_close(&fixture);
}

/* Whole lines share packets that are large enough: three and their IDs in 204 bytes. */
static void test_coalesced_lines(void **state)
{
	const struct sim_stats alone = with(false, false, true, NULL),
	                       shared = with(false, false, true, "codec.packet_bytes = 204");

	(void)state;
	assert_int_equal(alone.codec_lines, alone.codec_responses);
	assert_int_equal(shared.codec_lines, 0);
	assert_true(shared.net_messages < alone.net_messages);
	assert_true(shared.codec_packets * 3 >= shared.codec_responses);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_ten_a_packet),  cmocka_unit_test(test_timeout),
	    cmocka_unit_test(test_timeout_from),  cmocka_unit_test(test_packets),
	    cmocka_unit_test(test_other_packets), cmocka_unit_test(test_what_is_counted),
	    cmocka_unit_test(test_full_buffer),   cmocka_unit_test(test_granularity),
	    cmocka_unit_test(test_flits),         cmocka_unit_test(test_bypass),
	    cmocka_unit_test(test_masks),         cmocka_unit_test(test_remote_cache),
	    cmocka_unit_test(test_remote_writes), cmocka_unit_test(test_decision),
	    cmocka_unit_test(test_decides_again), cmocka_unit_test(test_one_by_one),
	    cmocka_unit_test(test_fine_in_l1),    cmocka_unit_test(test_coalesced_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
