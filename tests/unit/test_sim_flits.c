/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages as intervals against a network of the same shape that moves flit by flit: pipelines, credits and
 * crossbars that serve their inputs in turn, a flit a cycle. Interleaved flits of two messages end both
 * later, so single messages may differ by their lengths; what a link carries, and when all is over, may not.
 */
#include <stdlib.h>

#include "test_sim_support.h"

enum { GPUS = 4, MESSAGES = 3000, DEPTH = 32768, PIPELINE = 143, LINKS = 12 };

/* Links: up of each GPU, down to each GPU, rise and fall of the two pairs. */
enum { UP = 0, DOWN = 4, RISE = 8, FALL = 10 };

struct flit {
	uint32_t message;
	uint64_t ready; /* cycle from which it may go on */
};

/* Flits at the end of a link; of a source: all it has. */
struct queue {
	struct flit flit[DEPTH];
	uint32_t first, last;
};

struct message_plan {
	uint32_t from, to, flits;
};

static struct message_plan plan[MESSAGES];
static struct queue source[GPUS], buffer[LINKS];
static uint64_t ended[MESSAGES], model_ended[MESSAGES];
static uint32_t left[MESSAGES];
static struct sim_message message[MESSAGES];
static struct fixture fixture;

static void make_plan(uint32_t seed, uint32_t targets)
{
	for (uint32_t k = 0; k < MESSAGES; k++) {
		seed = seed * 1664525u + 1013904223u;
		plan[k].from = seed >> 16 & 3;
		plan[k].to = (plan[k].from + 1 + (seed >> 20) % targets) & 3;
		plan[k].flits = seed >> 28 & 1 ? 1 : 6;
	}
}

/* ---- flit by flit ---- */

static uint32_t route(uint32_t at, uint32_t to)
{
	uint32_t pair = at < DOWN ? at / 2 : at - FALL; /* the switch at the end of an up or a fall */

	if (at >= RISE && at < FALL)
		return FALL + to / 2;
	return to / 2 == pair ? DOWN + to : RISE + pair;
}

static void put(struct queue *q, uint32_t m, uint64_t ready)
{
	q->flit[q->last % DEPTH].message = m;
	q->flit[q->last++ % DEPTH].ready = ready;
}

static bool waits(const struct queue *q, uint64_t now)
{
	return q->first != q->last && q->flit[q->first % DEPTH].ready <= now;
}

static void move(struct queue *q, uint32_t link, uint64_t now)
{
	uint32_t m = q->flit[q->first++ % DEPTH].message;

	if (link < DOWN || link >= RISE)
		put(&buffer[link], m, now + PIPELINE);
	else if (!--left[m])
		ended[m] = now + 1 + 1;
}

static bool has_room(uint32_t link)
{
	return (link >= DOWN && link < RISE) || buffer[link].last - buffer[link].first < 156;
}

/* One cycle of a switch's output: the next input in turn that has a flit for it. */
static void output(uint32_t link, uint64_t now, bool *used, uint32_t *turn)
{
	for (uint32_t k = 0; k < LINKS; k++) {
		uint32_t in = (*turn + k) % LINKS;

		if ((in >= DOWN && in < RISE) || used[in] || !waits(&buffer[in], now))
			continue;
		if (route(in, plan[buffer[in].flit[buffer[in].first % DEPTH].message].to) != link)
			continue;
		used[in] = true;
		*turn = in + 1;
		move(&buffer[in], link, now);
		return;
	}
}

static void run_flits(void)
{
	uint32_t turn[LINKS] = {0};
	uint64_t now;

	memset(source, 0, sizeof source);
	memset(buffer, 0, sizeof buffer);
	for (uint32_t k = 0; k < MESSAGES; k++)
		for (uint32_t f = left[k] = plan[k].flits; f; f--)
			put(&source[plan[k].from], k, 0);
	for (now = 0; now < 20000; now++) {
		bool used[LINKS] = {false};

		for (uint32_t link = 0; link < LINKS; link++)
			if (link >= DOWN && has_room(link))
				output(link, now, used, &turn[link]);
		for (uint32_t g = 0; g < GPUS; g++)
			if (waits(&source[g], now) && has_room(g))
				move(&source[g], g, now);
	}
	for (uint32_t k = 0; k < MESSAGES; k++)
		assert_int_equal(left[k], 0);
}

/* ---- as the machine has it ---- */

static void arrive(struct sim_domain *m, struct sim_event *e)
{
	model_ended[(struct sim_message *)(void *)e - message] = m->clock.now;
}

static void run_model(void)
{
	fixture_config(&fixture, "none", GPUS);
	fixture.config.net_gap_cycles = 0;
	fixture.config.net_encoding = 0;
	fixture_open(&fixture);
	memset(message, 0, sizeof message);
	for (uint32_t k = 0; k < MESSAGES; k++) {
		message[k].from = (uint8_t)plan[k].from;
		message[k].to = (uint8_t)plan[k].to;
		message[k].bytes = plan[k].flits * 16;
		message[k].channel = SIM_REPLIES;
		message[k].deliver = arrive;
		sim_network_send(&fixture.machine->gpu[plan[k].from].domain, &message[k]);
	}
	assert_int_equal(sim_windows_run(fixture.machine, &fixture.error), 0);
	fixture_close(&fixture);
}

static double mean(const uint64_t *cycles)
{
	double sum = 0;

	for (uint32_t k = 0; k < MESSAGES; k++)
		sum += (double)cycles[k];
	return sum / MESSAGES;
}

static uint64_t latest(const uint64_t *cycles)
{
	uint64_t last = 0;

	for (uint32_t k = 0; k < MESSAGES; k++)
		last = cycles[k] > last ? cycles[k] : last;
	return last;
}

/* To neighbours only, to two others, to all: ends within 3 %, and so does the middle of all messages. */
static void test_against_flits(void **state)
{
	(void)state;
	for (uint32_t targets = 1; targets <= 3; targets++)
		for (uint32_t seed = 1; seed <= 3; seed++) {
			uint64_t exact, end;
			double ratio;

			make_plan(seed, targets);
			run_flits();
			run_model();
			exact = latest(ended);
			end = latest(model_ended);
			ratio = mean(model_ended) / mean(ended);
			assert_in_range(end, exact * 97 / 100, exact * 103 / 100);
			assert_true(ratio > 0.97 && ratio < 1.03);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_flits)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
