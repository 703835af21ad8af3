/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload.h - a program for the simulated machine: buffers, launches one behind the other, and what must
 * come out.
 */
#ifndef SIM_WORKLOAD_H
#define SIM_WORKLOAD_H

#include <sim/wave.h>

/* What the user asks for. */
struct sim_request {
	const char *size; /* as --size says it; NULL: the workload's own */
	/* a file, for those that read one: a graph, which else is generated; a recorded stream */
	const char *input;
	uint64_t seed;
	/* a file that receives the stream, for those that record one; NULL: it is not kept */
	const char *record;
};

/* One program. All functions are called by one thread. */
struct sim_workload {
	const char *name, *summary;
	const char *sizes; /* what --size means: "N: the matrix has N rows and columns; 512" */

	/*
	 * Buffers in memory, filled. Returns 0, or a code: error says what is wrong with the request. Then
	 * too *state is for destroy; the caller has set it to NULL before.
	 */
	int (*create)(void **state, const struct sim_request *request, struct sim_memory *memory,
	              struct gn_error *error);

	/* The next launch, when the one before is over. Returns 1, or 0: there is none. */
	int (*next)(void *state, struct sim_launch *launch);

	/*
	 * Are the results those of a reference on the host? Returns 0, or -GN_EBADMSG: error says which
	 * element is wrong.
	 */
	int (*check)(void *state, struct gn_error *error);
	void (*destroy)(void *state); /* also of NULL */

	int reads_input; /* request.input is of use */
	int needs_input; /* and without it there is nothing to do */
	int records;     /* request.record is of use */
};

/* sim_workload_find - by name; NULL: there is none. sim_workload_at - all of them; NULL behind the last. */
const struct sim_workload *sim_workload_find(const char *name);
const struct sim_workload *sim_workload_at(uint32_t k);

#endif
