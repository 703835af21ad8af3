/* SPDX-License-Identifier: Apache-2.0 */
/* job.h - members of a replica held against one another; for verify.c and rebuild.c. */
#ifndef GN_STORE_SET_JOB_H
#define GN_STORE_SET_JOB_H

#include <store/set/replica_store.h>

struct gn_job {
	struct gn_list list;
	struct gn_replica_settings settings;
	struct gn_set set; /* the members, for their stores alone; no view of it is used */
	struct gn_replica_state state;
	struct gn_replica_log log;
	int has_state;
	int trusted; /* the log is open, and has all that a member may have missed */
	int whole;   /* the caller wants all bytes compared */
	char *piece[2];
	struct gn_replica_report *report;
};

/* gn_job_run - do work with members that are not open yet. report->source is set. */
int gn_job_run(int (*work)(struct gn_job *, struct gn_error *), struct simt_machine *machine, const char *uri,
               int whole, struct gn_replica_report *report, struct gn_error *error);

/* gn_job_open_member - open a member's store. */
int gn_job_open_member(struct gn_job *j, unsigned k, int read_only, struct gn_error *error);

/* gn_job_take_state - the state, or that of members of which nothing is known. @others  as
 * gn_replica_state_take */
int gn_job_take_state(struct gn_job *j, int others, struct gn_error *error);

/* gn_job_bytes - that are used of a member. */
uint64_t gn_job_bytes(const struct gn_job *j, unsigned k);

/* gn_job_first_good - the first member that is up to date. */
int gn_job_first_good(const struct gn_job *j, unsigned *source, struct gn_error *error);

/* What is done with a piece that differs. @first  the first byte that does */
typedef int (*gn_job_difference)(struct gn_job *j, unsigned source, unsigned k, uint64_t offset, size_t bytes,
                                 uint64_t first, struct gn_error *error);

/*
 * gn_job_compare - hold a member against another.
 * @logged   1: only what the log says that a member missed
 * @lenient  1: what cannot be read of k differs
 */
int gn_job_compare(struct gn_job *j, unsigned source, unsigned k, int logged, int lenient,
                   gn_job_difference act, struct gn_error *error);

#endif
