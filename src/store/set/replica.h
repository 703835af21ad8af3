/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replica.h - the settings of a replica, and its members brought up to date.
 */
#ifndef GN_STORE_SET_REPLICA_H
#define GN_STORE_SET_REPLICA_H

#include <grapnel/store.h>
#include <store/set/list.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gn_replica_settings {
	char *state;   /* path of the state; points into the list, decoded; NULL: none */
	uint64_t size; /* bytes that are used of each member; 0: all */
	int read_only;
};

/*
 * gn_replica_settings_make - the settings that a list says. No member may be one that opening makes new.
 * Returns 0, -GN_EINVAL or -GN_ENOMEM.
 */
int gn_replica_settings_make(struct gn_replica_settings *s, struct gn_list *list, struct gn_error *error);

/* What was done to the members of a replica. */
struct gn_replica_report {
	unsigned source;       /* number of the member that others were held against, from 1 */
	unsigned members;      /* that were held against it */
	unsigned logged;       /* of these, only where they missed writes by the log */
	uint64_t bytes;        /* of each */
	uint64_t copied_bytes; /* that were different, in pieces of at most a MiB */
};

/*
 * gn_replica_verify - compare the members that are up to date, byte for byte.
 * Returns 0, -GN_EBADMSG (two differ; the message says where), or as gn_store_open.
 */
int gn_replica_verify(struct simt_machine *machine, const char *uri, struct gn_replica_report *report,
                      struct gn_error *error);

/*
 * gn_replica_rebuild - make all members equal, and the state new.
 * @from   number of the member that is right, from 1; 0: the first that is up to date
 * @whole  1, or if from is given: all other members are compared, all bytes of each. 0: those that are stale,
 *         and of one that missed writes only the regions of the log
 * They are written where they differ, flushed, read again and compared. A member that differs is stale in the
 * state from its first byte that is written until then. Returns 0, -GN_EBADMSG (a member has other bytes than
 * were written to it), -GN_EINVAL (from is out of date, or size is less than what the log is of), -GN_EROFS,
 * or as gn_store_open.
 */
int gn_replica_rebuild(struct simt_machine *machine, const char *uri, unsigned from, int whole,
                       struct gn_replica_report *report, struct gn_error *error);

#ifdef __cplusplus
}
#endif

#endif
