/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - schedules that look for errors: seeded random and bounded exhaustive.
 *
 * One OS thread. All threads that may be begun are begun first, each as far as its first point; from then on
 * whoever stands at a point, relaxes or is woken is a candidate, and a schedule chooses among the candidates.
 * What a thread does between two points nobody else can see, so a step is what it does from one choice to the
 * next point: a thread that was chosen when it was not at a point passes the first point it comes to.
 */
#ifndef SIMT_CHECK_H
#define SIMT_CHECK_H

#include <simt/engine.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Why the running thread stopped. */
enum simt__stop { SIMT__AT_POINT, SIMT__RELAXED, SIMT__HELD };

struct simt__check_ops {
	/* fiber can go on, cannot: sets fiber->slot, to SIMT__NO_SLOT in the second case. */
	int (*enable)(struct simt__check *check, struct simt__fiber *fiber);
	void (*disable)(struct simt__check *check, struct simt__fiber *fiber);
	/* Who goes on. self stopped; NULL if threads have only just begun. Returns NULL if nobody can. */
	struct simt__fiber *(*choose)(struct simt__check *check, struct simt__fiber *self,
	                              enum simt__stop why);
};

struct simt__check {
	const struct simt__check_ops *ops;
	uint64_t steps, most_steps; /* 0: as many as it takes */
	uint64_t clock_ns;
	int beginning; /* threads are being begun */
};

void simt__check_wake(struct simt__worker *worker, struct simt__fiber *fiber);
struct simt__fiber *simt__check_pick(struct simt__worker *worker);
void simt__check_relax(struct simt__worker *worker, struct simt__fiber *self);
void simt__check_begin(struct simt__worker *worker, struct simt__fiber *self);
void simt__check_end(struct simt__worker *worker, struct simt__fiber *self);
uint64_t simt__check_clock_ns(const struct simt__worker *worker);
/* Points are choices on this OS thread from now on, or no longer. */
void simt__check_switch_on(int on);

/* The clock of a step. */
enum { SIMT__STEP_NS = 1000 };

/* schedule_random.c. Returns NULL if there is no memory. */
struct simt__check *simt__random_new(uint64_t seed);
/* Forget the threads of a launch that was given up. */
void simt__random_reset(struct simt__check *check);
void simt__random_free(struct simt__check *check);

#ifdef __cplusplus
}
#endif

#endif
