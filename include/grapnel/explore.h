/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explore.h - prove a kernel: run it under every schedule within a bound.
 *
 * The kernel runs on the cpu machine's fibers, on the calling OS thread. In sources compiled with
 * SIMT_PREEMPT every atomic is a point where another thread may run. A schedule is the list of choices at
 * these points. simt_explore runs the kernel once for every list with at most `preemptions` switches away
 * from a thread that could have continued (context bounding: Musuvathi and Qadeer, PLDI 2007). A thread in
 * simt_relax is not chosen again before another thread has made a step (fairness: a loop that polls cannot
 * starve the thread that it waits for).
 */
#ifndef GRAPNEL_SIMT_EXPLORE_H
#define GRAPNEL_SIMT_EXPLORE_H

#include <grapnel/simt.h>

#if !defined(__CUDACC_RTC__)
#ifdef __cplusplus
extern "C" {
#endif

/* Which schedules simt_explore runs, and what it calls beside the kernel. */
struct simt_exploration {
	unsigned preemptions;      /* bound on unforced switches */
	unsigned warp_width;       /* 0 for 1 */
	uint64_t most_runs;        /* stop after so many; 0 for no limit */
	uint64_t most_steps;       /* a run longer than this has hung (-GN_EDEADLK); 0 for 1000000 */
	void (*reset)(void *user); /* before each run: put the shared state back; may be NULL */
	int (*check)(void *user);  /* after each run: 0, or what simt_explore returns; may be NULL */
	void *user;
};

/* What was done; valid after every return. */
struct simt_explored {
	uint64_t runs;      /* schedules that ran */
	uint64_t steps;     /* points passed in all of them */
	int complete;       /* 1 if every schedule within the bound ran */
	char schedule[512]; /* after a failure: the choices that led to it, for simt_replay */
};

/*
 * simt_explore - run kernel over grid under all schedules within the bound.
 * @grid       64 threads at most, all blocks together
 * @arguments  borrowed until return; copied for each run
 * Returns 0, what check returned, or -GN_EDEADLK for a run in which no thread could go on or that did not
 * end; -GN_EINVAL (no thread, too many threads or too wide a warp; or the kernel does other steps when it
 * runs again, so reset lacks something), -GN_ENOMEM. Host thread that is not inside a kernel; one at a time a
 * process.
 */
int simt_explore(const struct simt_kernel *kernel, struct simt_grid grid, const void *arguments,
                 const struct simt_exploration *exploration, struct simt_explored *explored);

/*
 * simt_replay - run one schedule as printed by simt_explore.
 * Returns as simt_explore; -GN_EINVAL if schedule is not one.
 */
int simt_replay(const struct simt_kernel *kernel, struct simt_grid grid, const void *arguments,
                const struct simt_exploration *exploration, const char *schedule);

#ifdef __cplusplus
}
#endif
#endif

#endif
