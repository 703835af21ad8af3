/* SPDX-License-Identifier: Apache-2.0 */
/* replica_store.h - what a replica: store has; for its own files. */
#ifndef GN_STORE_SET_REPLICA_STORE_H
#define GN_STORE_SET_REPLICA_STORE_H

#include <store/set/kernels.h>
#include <store/set/replica.h>
#include <store/set/set.h>
#include <store/set/state.h>

/* A member that is put back while the replica is in use (resync.c). */
struct gn_replica_back {
	int busy; /* a host thread does it */
	unsigned member;
	uint64_t done; /* bytes of the replica that it has come past */
	/* Made when they are first needed, and kept: freeing may wait for the whole device. */
	struct simt_stream *stream; /* on cuda */
	struct gn_back_shared *shared;
	uint64_t launches;
	char *buffer;
	uint32_t *old; /* the log's regions, where kernels do not reach the log; pinned */
};

struct gn_replica {
	struct gn_set set; /* first */
	int is_cuda;
	struct gn_store_health *health; /* in device memory */
	struct gn_back_shared *news;    /* by which the host tells the device what failed */
	char *path;                     /* of the state; NULL: none */
	struct gn_replica_state state;  /* as the file has it */
	struct gn_replica_log log;      /* of a replica that is written and has a state */
	uint32_t *maps; /* written and missed in device memory, where kernels do not reach the log; NULL */
	int other[GN_SET_MOST];                    /* 1: not the file or drive that the state speaks of */
	int kind[GN_SET_MOST];                     /* how a member is stale, if it is: enum of state.h */
	struct gn_store_member about[GN_SET_MOST]; /* as it was when the replica was opened */
	uint32_t window_log2;                      /* as in the health */
	uint32_t lanes;                            /* of a warp */
	uint64_t size;                             /* that is used of each member by size=; 0: all */
	struct gn_store_options options;           /* of members that are opened later */
	/* The host's calls beside a resync come one at a time, in turn: who holds the door is next. */
	pthread_mutex_t door, room;
	struct gn_replica_back back;
};

/* gn_replica_enter, gn_replica_leave - around what the host does with the members. */
void gn_replica_enter(const struct gn_replica *r);
void gn_replica_leave(const struct gn_replica *r);

/* gn_replica_enter_soon - the same, or give up after a tenth of a second. Returns 0 or -GN_EBUSY. */
int gn_replica_enter_soon(const struct gn_replica *r);

/* gn_replica_resync - gn_store_resync_beside. */
int gn_replica_resync(struct gn_store *store, unsigned k, const struct gn_store_others *others,
                      struct gn_error *error);

/* gn_replica_back_free - give back what a resync has made. */
void gn_replica_back_free(struct gn_replica *r);

/* gn_replica_flush_all - flush, and write the state. In the room. */
int gn_replica_flush_all(struct gn_replica *r, struct gn_error *error);

/*
 * gn_replica_turn - the members that miss writes, and which of them is being put back
 * (detail/store/replica.h). In the room. Returns 0 or -GN_EIO: the machine failed.
 */
int gn_replica_turn(const struct gn_replica *r, uint64_t *turn, struct gn_error *error);

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
