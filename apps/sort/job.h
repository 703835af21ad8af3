/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.h - a sort in progress, as sort.c and split.c see it.
 */
#ifndef GN_SORT_JOB_H
#define GN_SORT_JOB_H

#include "kernels.h"
#include "sort.h"

struct gn_sort_job {
	struct simt_machine *machine;
	const struct gn_sort *sort;
	struct simt_info info;
	uint64_t count;
	uint32_t key_bytes;
	uint64_t page_keys;          /* of a page; 1 in direct mode */
	uint64_t warps;              /* that move keys side by side */
	void *memory[2];             /* on the machine: [plan.room] keys and spare places, or count of each */
	struct gn_sort_piece *piece; /* on the machine: [plan.runs] */
	uint64_t *samples;           /* on the machine: of all runs, one behind the other */
	struct gn_sort_result *result;

	/* Set by gn_sort_job_split. Of the host. */
	struct gn_sort_splitter *splitter; /* [result->buckets]: the first key of each */
	uint64_t *place; /* [result->buckets + 1][plan.runs]: keys of the run before the bucket */
};

/* gn_sort_job_samples - how many samples a run has. */
uint64_t gn_sort_job_samples(const struct gn_sort_job *j, uint64_t run);

/* gn_sort_job_run_keys - how many keys a run has. */
uint64_t gn_sort_job_run_keys(const struct gn_sort_job *j, uint64_t run);

/*
 * gn_sort_job_launch - a kernel with as many threads as there is work for, to its end.
 * @warps  that find work
 */
int gn_sort_job_launch(struct gn_sort_job *j, const struct simt_kernel *kernel, uint64_t warps,
                       const void *args, struct gn_error *error);

/* gn_sort_job_split - cut the runs, which are sorted and in j->sort->runs, into buckets. */
int gn_sort_job_split(struct gn_sort_job *j, struct gn_error *error);

#endif
