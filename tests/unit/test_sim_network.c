/* SPDX-License-Identifier: Apache-2.0 */
/* Links and switches of the simulated machine against what can be worked out by hand. */
#include <stdio.h>
#include <stdlib.h>

#include "test_sim_support.h"

static struct fixture fixture;
static uint64_t arrived[4096];
static uint32_t arrived_count;
static struct sim_message message[4096];

static void open_with(const char *assignment)
{
	arrived_count = 0;
	memset(message, 0, sizeof message);
	fixture_config(&fixture, "none", 4);
	if (assignment)
		assert_int_equal(sim_config_set(&fixture.config, assignment, NULL), 0);
	fixture_open(&fixture);
}

static void arrive(struct sim_domain *m, struct sim_event *e)
{
	arrived[(struct sim_message *)(void *)e - message] = m->clock.now;
	arrived_count++;
}

static void send(uint32_t k, uint32_t from, uint32_t to, uint32_t bytes, enum sim_channel channel)
{
	struct sim_message *x = &message[k];

	x->from = (uint8_t)from;
	x->to = (uint8_t)to;
	x->bytes = bytes;
	x->channel = (uint8_t)channel;
	x->deliver = arrive;
	sim_network_send(&fixture.machine->gpu[from].domain, x);
}

static void run(void)
{
	struct sim_machine *m = fixture.machine;

	assert_int_equal(sim_windows_run(m, &fixture.error), 0);
	assert_int_equal(m->stats.net_messages, m->stats.net_messages_out);
	assert_int_equal(m->stats.net_flits_in, m->stats.net_flits_out);
	sim_network_settle(&m->network);
	for (uint32_t k = 0; sim_network_link(&m->network, k); k++) {
		const struct sim_link *l = sim_network_link(&m->network, k);

		for (uint32_t c = 0; c < SIM_CHANNELS; c++) {
			assert_null(l->waiting[c].first);
			assert_null(l->buffer[c].first);
			assert_false(l->occupied[c]);
			assert_int_equal(l->credits[c],
			                 m->config.net_buffer *
			                     (m->config.net_scale_latency ? 1 : m->config.net_clock));
		}
	}
}

/* One switch is 145 cycles, three are three times as many less what happens once; the IOMMU is two away. */
static void test_latency(void **state)
{
	(void)state;
	open_with(NULL);
	send(0, 0, 1, 12, SIM_REQUESTS);
	run();
	send(1, 0, 2, 12, SIM_REQUESTS);
	run();
	send(2, 3, 4, 0, SIM_REQUESTS);
	run();
	assert_int_equal(arrived[0], 1 + 140 + 2 + 1 + 1);
	assert_int_equal(arrived[1] - arrived[0], 3 * (1 + 140 + 2) + 1 + 1);
	assert_int_equal(arrived[2] - arrived[1], 2 * (1 + 140 + 2) + 1 + 1);
	fixture_close(&fixture);
}

/* 16-byte flits: as many as the notes' table has, without encoding and with 25 %. */
static void test_flits(void **state)
{
	(void)state;
	open_with("net.encoding_percent = 0");
	assert_int_equal(sim_network_flits(&fixture.machine->network, 0), 1);
	assert_int_equal(sim_network_flits(&fixture.machine->network, 12), 1);
	assert_int_equal(sim_network_flits(&fixture.machine->network, 4 + 64), 5);
	assert_int_equal(sim_network_flits(&fixture.machine->network, 12 + 64), 5);
	assert_int_equal(sim_network_flits(&fixture.machine->network, 4 + 10 * 6), 4);
	assert_int_equal(sim_network_flits(&fixture.machine->network, 4), 1);
	fixture_close(&fixture);
	open_with(NULL);
	assert_int_equal(sim_network_flits(&fixture.machine->network, 12), 1);
	assert_int_equal(sim_network_flits(&fixture.machine->network, 4 + 64), 6);
	assert_int_equal(sim_network_flits(&fixture.machine->network, 12 + 64), 6);
	assert_int_equal(sim_network_flits(&fixture.machine->network, 4 + 10 * 6), 5);
	fixture_close(&fixture);
}

/* A link carries one flit a cycle, not less: 1000 messages of 6 flits, and the gap between them. */
static void test_saturation(void **state)
{
	(void)state;
	for (uint32_t gap = 0; gap < 3; gap++) {
		char set[40];

		snprintf(set, sizeof set, "net.gap_cycles = %u", gap);
		open_with(set);
		for (uint32_t k = 0; k < 1000; k++)
			send(k, 0, 1, 68, SIM_REPLIES);
		run();
		assert_int_equal(arrived[999], 999 * (6 + gap) + 143 + 6 + 1);
		assert_int_equal(fixture.machine->network.up[0].busy, 6000 * SIM_PARTS);
		fixture_close(&fixture);
	}
}

/* The trunk between pairs of GPUs carries one flit a cycle for both of them, and serves both alike. */
static void test_trunk(void **state)
{
	uint64_t last = 0, other = 0;

	(void)state;
	open_with("net.gap_cycles = 0");
	for (uint32_t k = 0; k < 2000; k++)
		send(k, k % 2, 2 + k % 2, 68, SIM_REPLIES);
	run();
	for (uint32_t k = 0; k < 2000; k++) {
		last = arrived[k] > last ? arrived[k] : last;
		other = k % 2 && arrived[k] > other ? arrived[k] : other;
	}
	assert_in_range(last, 12000, 12000 * 101 / 100 + 435);
	assert_in_range(other, last - 12, last);
	assert_int_equal(fixture.machine->network.rise[0].flits, 12000);
	fixture_close(&fixture);
}

/* A link clock of two halves the time of what a link bounds, and latency does not rise. */
static void test_clock(void **state)
{
	uint64_t before = UINT64_MAX;

	(void)state;
	for (uint32_t clock = 1; clock <= 16; clock *= 2) {
		char set[40];
		uint64_t end;

		snprintf(set, sizeof set, "net.clock = %u", clock);
		open_with(set);
		for (uint32_t k = 0; k < 1600; k++)
			send(k, 0, 3, 68, SIM_REPLIES);
		run();
		end = arrived[1599];
		assert_true(end < before);
		assert_in_range(end, 1600 * 7 / clock, 1600 * 7 / clock + 450);
		before = end;
		fixture_close(&fixture);
	}
}

/* A buffer of 6 flits before a pipeline of 143 cycles: a message of 6 flits in each round, and no more. */
static void test_credits(void **state)
{
	(void)state;
	open_with("net.buffer_flits = 6");
	for (uint32_t k = 0; k < 100; k++)
		send(k, 0, 1, 68, SIM_REPLIES);
	run();
	assert_in_range(arrived[99] - arrived[0], 99 * 149, 99 * 150);
	for (uint32_t k = 1; k < 100; k++)
		assert_true(arrived[k] > arrived[k - 1]);
	fixture_close(&fixture);
}

static void send_reply(struct sim_domain *m, struct sim_event *e)
{
	(void)m;
	(void)e;
	send(0, 0, 2, 4, SIM_REPLIES);
}

/*
 * Requests of two GPUs fill the buffers before the trunk: with channels of their own replies pass them, with
 * one they stand behind.
 */
static void test_channels(void **state)
{
	uint64_t reply[2];

	(void)state;
	for (uint32_t channels = 1; channels <= 2; channels++) {
		struct sim_event later;
		char set[40];

		snprintf(set, sizeof set, "net.channels = %u", channels);
		open_with(set);
		memset(&later, 0, sizeof later);
		for (uint32_t k = 1; k < 1000; k++)
			send(k, k % 2, 2, 76, SIM_REQUESTS);
		sim_clock_at(&fixture.machine->gpu[0].domain.clock, &later, 2000, send_reply);
		run();
		reply[channels - 1] = arrived[0] - 2000;
		fixture_close(&fixture);
	}
	assert_in_range(reply[1], 431, 431 + 40);
	/*
	 * a buffer of 156 flits at half the rate of the trunk takes 312 cycles, of which 143 are the
	 * pipeline's
	 */
	assert_in_range(reply[0], 431 + 312 - 143 - 20, 431 + 312 - 143 + 20);
}

/* Everybody to everybody, through small buffers: everything arrives. */
static void test_storm(void **state)
{
	uint32_t seed = 7;

	(void)state;
	for (uint32_t channels = 1; channels <= 2; channels++) {
		open_with("net.buffer_flits = 7");
		fixture.machine->config.net_channels = channels;
		for (uint32_t k = 0; k < 4096; k++) {
			uint32_t from, to;

			seed = seed * 1664525u + 1013904223u;
			from = seed >> 16 & 3;
			to = seed >> 20 & 3;
			to = from == to ? 4 : to;
			send(k, from, to, seed >> 24 & 1 ? 76 : 4,
			     seed >> 25 & 1 ? SIM_REQUESTS : SIM_REPLIES);
		}
		run();
		assert_int_equal(arrived_count, 4096);
		fixture_close(&fixture);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_latency),  cmocka_unit_test(test_flits), cmocka_unit_test(test_saturation),
	    cmocka_unit_test(test_trunk),    cmocka_unit_test(test_clock), cmocka_unit_test(test_credits),
	    cmocka_unit_test(test_channels), cmocka_unit_test(test_storm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
