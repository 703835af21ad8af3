/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_jobs.h - many simulations: in processes side by side, each with a file of its own, so that what is
 * there already is not simulated again.
 */
#ifndef GN_TOOLS_SIM_JOBS_H
#define GN_TOOLS_SIM_JOBS_H

#include "sim.h"

struct sim_job {
	struct tool_sim sim;
	const struct sim_workload *workload;
	/* workload, size, what its file holds and every key of the machine: what the counts follow from */
	char *key;
	char path[512]; /* of its file */
	bool first;     /* no job before it is the same */
	json_t *result; /* as tool_sim_report, with the key; NULL: it failed */
};

/* Zero is empty. */
struct sim_jobs {
	struct sim_job *job;
	uint32_t count, room;
	char **text; /* what jobs borrow */
	uint32_t texts;
};

/* sim_jobs_add - another one, by these options; returns its number, or -GN_ENOMEM. */
int sim_jobs_add(struct sim_jobs *jobs, const struct sim_workload *workload, const struct tool_sim *sim);

/*
 * sim_jobs_vary - another value for job k: of "opt", "size", "seed" or a key of the machine. Returns 0,
 * -GN_ENOMEM, or -GN_EINVAL: too many values, or a seed that is no number.
 */
int sim_jobs_vary(struct sim_jobs *jobs, uint32_t k, const char *name, const char *value);

/*
 * sim_jobs_run - all of them, `parallel` at a time; results are in the folder, which is made, and in the
 * jobs. A bar shows how far it is. Returns 0; a code with a message if a job cannot be, or one or more
 * failed.
 */
int sim_jobs_run(struct sim_jobs *jobs, const char *folder, uint32_t parallel, struct gn_error *e);

/* sim_job_counter - a counter of a job that did not fail. */
double sim_job_counter(const struct sim_job *job, const char *name);

void sim_jobs_fini(struct sim_jobs *jobs);

#endif
