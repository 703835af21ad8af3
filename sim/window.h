/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.h - who runs when: time goes in windows, in which GPUs do not hear of each other.
 *
 * A window begins with the next event of any domain and is as long as a message needs through a switch. What
 * a GPU sends in it arrives at the core behind its end, so the core goes first; then all GPUs go, side by
 * side or one after the other. What the core tells GPUs (messages that arrive, room in buffers) it has told
 * them before they run, with the cycle from which it is so. Behind the window the core gets what GPUs have
 * sent, in the order of their numbers. Threads only decide who runs a GPU: nothing that is counted depends on
 * them.
 *
 * Where all GPUs concern each other at once (greedy dispatch, pages that move) windows are one cycle long,
 * and one thread runs all. So it does if work-groups of a launch are not known to be independent: what their
 * kernels read is in memory of the host.
 */
#ifndef SIM_WINDOW_H
#define SIM_WINDOW_H

#include <sim/config.h>
#include <sim/pool.h>
#include <stdbool.h>

struct sim_machine;

struct sim_windows {
	uint64_t length;
	uint64_t end; /* of the one that is now */
	uint32_t threads;
	uint64_t happened;     /* events of GPUs, to the end of the last one */
	uint64_t worth;        /* so many in one, and the next is worth a turn of the pool */
	bool busy;             /* it is */
	struct sim_pool *pool; /* NULL: of one thread */
};

/* sim_windows_init - of so many threads, from 1, the caller's among them. Returns 0 or -GN_ENOMEM. */
int sim_windows_init(struct sim_machine *m, uint32_t threads);
void sim_windows_fini(struct sim_machine *m);

/*
 * sim_windows_run - until nothing waits, or a domain stops. All clocks are then at the cycle of the last
 * event, and stats are added up. Returns 0, or what the first domain of those that stopped ended with.
 */
int sim_windows_run(struct sim_machine *m, struct gn_error *why);

#endif
