/* SPDX-License-Identifier: Apache-2.0 */
/* replica_store.h - what a replica: store has; for its own files. */
#ifndef GN_STORE_SET_REPLICA_STORE_H
#define GN_STORE_SET_REPLICA_STORE_H

#include <store/set/replica.h>
#include <store/set/set.h>
#include <store/set/state.h>

struct gn_replica {
	struct gn_set set; /* first */
	int is_cuda;
	struct gn_store_health *health; /* in device memory */
	char *path;                     /* of the state; NULL: none */
	struct gn_replica_state state;  /* as the file has it */
	struct gn_replica_log log;      /* of a replica that is written and has a state */
	uint32_t *maps; /* written and missed in device memory, where kernels do not reach the log; NULL */
	int other[GN_SET_MOST];                    /* 1: not the file or drive that the state speaks of */
	int kind[GN_SET_MOST];                     /* how a member is stale, if it is: enum of state.h */
	struct gn_store_member about[GN_SET_MOST]; /* as it was when the replica was opened */
};

/*
 * gn_replica_open - open the members that are up to date, and make the view.
 * @r  zeroed, but for set.base.ops, set.base.machine and is_cuda
 * A member that is stale, gone or another one than it was is left out; at least one must be there. It changes
 * nothing of the state. Returns 0 or a negative code, as gn_store_open.
 */
int gn_replica_open(struct gn_replica *r, const struct gn_list *list, const struct gn_replica_settings *s,
                    const struct gn_store_options *options, struct gn_error *error);

/* gn_replica_log_fetch - bring what kernels logged in device memory into the log. Returns 0 or -GN_EIO. */
int gn_replica_log_fetch(struct gn_replica *r, struct gn_error *error);

/* gn_replica_open_count - how many members were opened. */
int gn_replica_open_count(const struct gn_replica *r);

/* gn_replica_check_size - refuse member k if it has not the bytes of member first, or fewer than size (0:
 * none). */
int gn_replica_check_size(const struct gn_set *set, unsigned k, unsigned first, uint64_t size,
                          struct gn_error *error);

#endif
