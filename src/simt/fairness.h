/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fairness.h - which threads an exhaustive schedule may choose, so that a loop that polls does not make
 * endless runs.
 *
 * Musuvathi and Qadeer, "Fair Stateless Model Checking", PLDI 2008, algorithm 1: a thread that relaxes gives
 * way to the threads that were enabled but did not run, or that it blocked, since it last relaxed. In
 * addition, the thread that relaxed last is not chosen before another thread has made a step, because nothing
 * can have changed for it.
 */
#ifndef SIMT_FAIRNESS_H
#define SIMT_FAIRNESS_H

#include <stdint.h>

enum { SIMT__FAIR_THREADS = 64 };

/* Sets of threads, thread k as bit k. */
struct simt__fairness {
	unsigned threads; /* there are so many: the first of each array */
	uint64_t enabled;
	uint64_t before;                       /* enabled before the step that runs */
	uint64_t relaxed;                      /* the thread that relaxed in the last step */
	uint64_t give_way[SIMT__FAIR_THREADS]; /* the threads to which a thread gives way */
	/*
	 * Since a thread last relaxed: threads enabled all the time, threads that it blocked, threads that
	 * ran.
	 */
	uint64_t could[SIMT__FAIR_THREADS], blocked[SIMT__FAIR_THREADS], ran[SIMT__FAIR_THREADS];
};

static inline void simt__fairness_init(struct simt__fairness *f, unsigned threads)
{
	f->threads = threads;
	f->enabled = f->before = f->relaxed = 0;
	for (unsigned u = 0; u < threads; u++) {
		f->give_way[u] = f->could[u] = f->blocked[u] = 0;
		f->ran[u] = UINT64_MAX;
	}
}

/* The thread has made a step. @relaxed  1: the step ended in simt_relax */
static inline void simt__fairness_step(struct simt__fairness *f, unsigned thread, int relaxed)
{
	uint64_t bit = (uint64_t)1 << thread;

	for (unsigned u = 0; u < f->threads; u++) {
		f->give_way[u] &= ~bit;
		f->could[u] &= f->enabled;
		f->ran[u] |= bit;
	}
	f->blocked[thread] |= f->before & ~f->enabled;
	f->relaxed = relaxed ? bit : 0;
	if (relaxed) {
		f->give_way[thread] |= (f->could[thread] | f->blocked[thread]) & ~f->ran[thread];
		f->could[thread] = f->enabled;
		f->blocked[thread] = f->ran[thread] = 0;
	}
}

/* The threads that may be chosen; empty only if no thread is enabled. */
static inline uint64_t simt__fairness_options(struct simt__fairness *f)
{
	uint64_t options = 0;

	f->before = f->enabled;
	for (uint64_t left = f->enabled & ~f->relaxed; left; left &= left - 1) {
		if (!(f->give_way[__builtin_ctzll(left)] & f->enabled))
			options |= left & -left;
	}
	if (!options)
		options = f->enabled & ~f->relaxed;
	return options ? options : f->enabled;
}

#endif
