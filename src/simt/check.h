/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - schedules that look for errors: seeded random and bounded exhaustive.
 *
 * One OS thread runs everything. First all threads that may begin are begun and run to their first point.
 * From then on a thread that is at a point, relaxes or is woken is a candidate, and the schedule chooses
 * among the candidates. No other thread can see what a thread does between two points. So a step goes from
 * one choice to the next point, and a thread that was chosen when it was not at a point passes the first
 * point it reaches.
 */
#ifndef SIMT_CHECK_H
#define SIMT_CHECK_H

#include <simt/engine.h>

/* Why the running thread stopped. */
enum simt__stop { SIMT__AT_POINT, SIMT__RELAXED, SIMT__HELD };

struct simt__check_ops {
	/*
	 * The fiber can run (enable) or cannot (disable). Both set fiber->slot; disable sets SIMT__NO_SLOT.
	 */
	int (*enable)(struct simt__check *check, struct simt__fiber *fiber);
	void (*disable)(struct simt__check *check, struct simt__fiber *fiber);
	/*
	 * Choose the fiber to run. self has stopped; NULL: threads have just begun. Returns NULL if none
	 * can.
	 */
	struct simt__fiber *(*choose)(struct simt__check *check, struct simt__fiber *self,
	                              enum simt__stop why);
};

struct simt__check {
	const struct simt__check_ops *ops;
	uint64_t steps, most_steps; /* most_steps 0: no limit */
	uint64_t clock_ns;
	int beginning; /* 1: threads are being begun */
};

void simt__check_wake(struct simt__worker *worker, struct simt__fiber *fiber);
struct simt__fiber *simt__check_pick(struct simt__worker *worker);
void simt__check_relax(struct simt__worker *worker, struct simt__fiber *self);
void simt__check_begin(struct simt__worker *worker, struct simt__fiber *self);
void simt__check_end(struct simt__worker *worker, struct simt__fiber *self);
uint64_t simt__check_clock_ns(const struct simt__worker *worker);
/* Make points choices on this OS thread (1), or stop that (0). */
void simt__check_switch_on(int on);

/* Each step advances the clock by this time. */
enum { SIMT__STEP_NS = 1000 };

/* schedule_random.c. Returns NULL if there is no memory. */
struct simt__check *simt__random_new(uint64_t seed);
/* Forget the threads of an abandoned launch. */
void simt__random_reset(struct simt__check *check);
void simt__random_free(struct simt__check *check);

#endif
