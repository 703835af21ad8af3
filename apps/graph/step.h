/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step.h - how a job over a graph tells what it did, step by step.
 *
 * A step is what the job repeats, such as a level of a search, a pass over the lists or an iteration. The
 * job's own header says what it is. scan.h has the functions by which a job tells.
 */
#ifndef GN_GRAPH_STEP_H
#define GN_GRAPH_STEP_H

#include <grapnel/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A step that has ended. */
struct gn_graph_step {
	uint32_t number;       /* from 0; of a search the level */
	const char *direction; /* NULL: all steps of the job go the same way */
	uint64_t frontier;     /* vertices that it was over */
	uint64_t edges;        /* read in this step */
	uint64_t count;        /* these two: what the job's header says, or 0 */
	double measure;
	double seconds; /* since the last step was told, or since the first launch */
};

/* A function that receives each step of a job, when the step has ended. */
struct gn_graph_listener {
	/*
	 * Called by the thread that called the job, between two launches. Returns 0, or a code with a
	 * message, which ends the job. NULL: the steps are not measured, which costs nothing.
	 */
	int (*step)(void *user, const struct gn_graph_step *step, struct gn_error *error);
	void *user; /* handed to step as it is */
};

#ifdef __cplusplus
}
#endif

#endif
