/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stress.h - one harness; each mode is a small file beside it with a main that calls stress_main.
 *
 *   PROGRAM [--machine cpu|cuda[:i]] [--seconds S] [--threads N] [--warp-width W] [--seed N]
 *
 * A mode's round is run again and again, with new seeds, until the time is over; at least once. Exit status:
 * 0, 1 (something was wrong; stderr says what and the seed), 2 (usage), 77 (there is no such machine here).
 */
#ifndef GN_TESTS_STRESS_H
#define GN_TESTS_STRESS_H

#include <grapnel/simt.h>

#ifdef __cplusplus
extern "C" {
#endif

struct stress {
	struct simt_machine *machine;
	struct simt_info info;
	uint64_t seed;       /* of this round */
	uint64_t operations; /* a round adds what it did */
};

/*
 * The deadline of a wait that is not to run into one. Beside other programs, and under a sanitizer, what
 * takes milliseconds takes minutes: nobody may fail because the machine is slow. It is short enough that a
 * wait for what never comes says so before ctest ends the test. A GPU has no other programs beside it: there
 * it says so within a minute.
 */
static inline uint64_t stress_patience_ns(const struct stress *s)
{
	return s->info.is_cuda ? 10000000000u : 300000000000u;
}

/*
 * The threads of a crowd of this number on another machine. Under the thread sanitizer a crowd that waits for
 * few frames takes minutes, and a smaller one takes the same locks.
 */
static inline uint32_t stress_crowd(uint32_t threads)
{
#ifdef __SANITIZE_THREAD__
	return threads < 1024 ? threads : threads / 8;
#else
	return threads;
#endif
}

/* A round: 0, or 1 having said what was wrong by stress_wrong. */
typedef int stress_round(struct stress *s);

int stress_main(int argc, char **argv, const char *name, stress_round *round);

/*
 * stress_watch - a run that does not end is ended, and says where its threads are.
 * @doing    [threads] of memory that the host sees; each thread writes there what it is doing (stress_doing),
 *           and STRESS_DONE; NULL: nothing is watched any more
 */
enum { STRESS_DONE = -1 };
void stress_watch(const struct stress *s, const uint32_t *doing, uint64_t threads);

SIMT_FN void stress_doing(uint32_t *doing, uint32_t step, uint32_t what)
{
	if (doing)
		simt_store_relaxed_sys_u32(&doing[simt_global_thread()], step << 8 | what);
}

/* Returns 1. */
int stress_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A grid of at most this many threads in blocks of 32 or more, all of which the machine can hold at once. */
struct simt_grid stress_grid(const struct stress *s, uint32_t threads);

/* Launch and wait. Returns 0, or 1 having said what failed. */
int stress_run(struct stress *s, const struct simt_kernel *kernel, struct simt_grid grid,
               const void *arguments);

#ifdef __cplusplus
}
#endif

#endif
