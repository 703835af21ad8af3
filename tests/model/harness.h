/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness.h - run one lock-free object under many schedules.
 *
 *   PROGRAM random RUNS [FIRST]   RUNS random schedules, from seed FIRST on (default 1)
 *   PROGRAM seed SEED             the schedules of one seed
 *   PROGRAM kept FILE             every "NAME SEED" line of FILE that names this object
 *   PROGRAM exhaustive [CASE [PREEMPTIONS]]
 *                                 all schedules within the bounds of every small case, or of one
 *
 * A seed stands for BATCH schedules that run one after another on one machine. Exit status: 0, 1 (an
 * invariant was broken; the line on stderr says which and how to see it again), 2 (usage).
 */
#ifndef GN_TESTS_HARNESS_H
#define GN_TESTS_HARNESS_H

#include <grapnel/simt.h>
#include <grapnel/explore.h>

/* What is tested. The functions share file-scope state: one trial at a time. */
struct model {
	const char *name;
	const struct simt_kernel *kernel;
	const void *arguments;
	/* Choose the trial of a random seed. */
	void (*draw)(uint64_t seed);
	/* Choose small trial k and its bound; returns its name, or NULL if there is none. */
	const char *(*pick)(unsigned k, struct simt_exploration *bound);
	struct simt_grid (*grid)(void);
	/* Before a run: put the state back. */
	void (*reset)(void *unused);
	/* After a run: 0, or 1 having said what is wrong. */
	int (*check)(void *unused);
	/* Lanes of a warp in the trials of a random seed; NULL: 1. */
	unsigned (*width)(uint64_t seed);
};

int model_main(const struct model *model, int argc, char **argv);

/* Say what is wrong; for check. Returns 1. */
int model_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
