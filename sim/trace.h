/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - what a machine did over time: counters in intervals of equal length, kernels, and when compute
 * units were busy.
 *
 * Memory for the counters is bounded: when the intervals run out, each two become one of double length. No
 * event is lost by that, so the sum over all intervals is what the machine has counted. An event counts in
 * the interval in which its window (window.h) begins.
 */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include <stdbool.h>
#include <stdint.h>

struct sim_machine;
struct sim_trace;
struct sim_cu;

/* Counters of one kind over time. */
struct sim_trace_track {
	const char *name; /* of the link, or of what a GPU counts; borrowed from the machine */
	const char *unit;
	int32_t gpu; /* negative: of the network or the IOMMU */
	bool link;   /* of a link */
	bool level;  /* how many there are at the end of an interval; else how many there were in it */
};

/* A time from the first work-group on a compute unit to the one that left it empty. */
struct sim_trace_busy {
	uint64_t begin, end; /* cycles */
	uint32_t gpu, cu, groups;
};

struct sim_trace_launch {
	const char *name; /* borrowed from the launch */
	uint64_t begin, end;
};

/*
 * sim_trace_begin - watch a machine that has run nothing yet, until it is destroyed.
 * @intervals  at most so many; even
 * Returns 0, -GN_EINVAL or -GN_ENOMEM.
 */
int sim_trace_begin(struct sim_machine *m, uint32_t intervals);

/* ---- once launches are over; all is borrowed from the machine ---- */

/* sim_trace_of - NULL: nobody watches. sim_trace_finish - what was counted since the last interval is added.
 */
const struct sim_trace *sim_trace_of(const struct sim_machine *m);
void sim_trace_finish(struct sim_machine *m);

uint64_t sim_trace_interval(const struct sim_trace *t); /* cycles */
uint32_t sim_trace_intervals(const struct sim_trace *t);

/* These three return NULL behind the last. Times that compute units were busy stand GPU by GPU. */
const struct sim_trace_track *sim_trace_track_at(const struct sim_trace *t, uint32_t k);
const struct sim_trace_launch *sim_trace_launch_at(const struct sim_trace *t, uint32_t k);
const struct sim_trace_busy *sim_trace_busy_at(const struct sim_trace *t, uint32_t k);

/* sim_trace_value - of track k in an interval. */
uint64_t sim_trace_value(const struct sim_trace *t, uint32_t k, uint32_t interval);

/* ---- for the machine: t may be NULL ---- */

void sim_trace_end(struct sim_trace *t);
void sim_trace_window(struct sim_machine *m, uint64_t begin); /* one begins then */
int sim_trace_add_launch(struct sim_trace *t, const char *name, uint64_t begin, uint64_t end);
/* A compute unit is empty: 0 or -GN_ENOMEM. Called by the thread that runs its GPU. */
int sim_trace_add_busy(struct sim_trace *t, const struct sim_cu *cu, uint64_t now);

#endif
