/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - the file that says which members of a replica are up to date.
 *
 * A program that writes the members first says so in it (open), and takes that back when it has closed them.
 * If it ended without that, members may differ in what was written since the last flush. A member that missed
 * a write is stale: it is not read until it is rebuilt. It is known of one that missed writes which those may
 * be (log.h), and of another nothing is known.
 */
#ifndef GN_STORE_SET_STATE_H
#define GN_STORE_SET_STATE_H

#include <store/set/list.h>
#include <store/set/log.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	GN_STALE_WHOLE = 1, /* nothing is known of its bytes */
	GN_STALE_LOGGED = 2 /* it differs only in regions of the log */
};
enum { GN_MARK_BYTES = 64 };

struct gn_replica_state {
	unsigned members;
	int open;                              /* a program writes the members, or ended while it did */
	uint64_t log;                          /* number of the log; 0: none */
	char boot[GN_BOOT_BYTES];              /* in which the log's maps are live; empty: in none */
	char *name[GN_SET_MOST];               /* owned; gn_replica_name */
	int stale[GN_SET_MOST];                /* 0: up to date */
	char mark[GN_SET_MOST][GN_MARK_BYTES]; /* of its medium (store.h); empty: not known */
};

/*
 * gn_replica_name - what a member is called in the file: its URI without the options that do not say where
 * the bytes are, with the whole path of a file. Owned by the caller; NULL: no memory.
 */
char *gn_replica_name(const char *uri);

/* gn_replica_state_init - members of these URIs, all up to date. Returns 0 or -GN_ENOMEM. */
int gn_replica_state_init(struct gn_replica_state *s, char *const *uri, unsigned members,
                          struct gn_error *error);
void gn_replica_state_fini(struct gn_replica_state *s);

/*
 * gn_replica_state_load - read a file. Returns 0, -GN_ENOENT (there is none), -GN_EBADMSG (it is damaged, or
 * something else), -GN_ENOMEM, -GN_EIO and other codes of open(2). On failure s holds nothing.
 */
int gn_replica_state_load(struct gn_replica_state *s, const char *path, struct gn_error *error);

/*
 * gn_replica_state_save - replace the file, durably. Where a link leads, the link stays. If it fails the file
 * is as it was, or says the new thing but perhaps not after a crash of the system. Returns 0 or a negative
 * code.
 */
int gn_replica_state_save(const struct gn_replica_state *s, const char *path, struct gn_error *error);

/*
 * gn_replica_state_trust - open the log that a state has, if its maps have all writes that a member may lack.
 * @capacity  bytes of a member
 * Returns 1: it is open; 0: there is none; or -GN_EBUSY, -GN_EINVAL (it is of members of a larger capacity),
 * -GN_ENOMEM.
 */
int gn_replica_state_trust(const struct gn_replica_state *s, struct gn_replica_log *log, const char *path,
                           uint64_t capacity, struct gn_error *error);

/* gn_replica_sync_folder - make the new name of a file durable. Returns 0 or a value of errno. */
int gn_replica_sync_folder(const char *path);

/*
 * gn_replica_state_take - what a file says of these members, in their own order.
 * @s       receives it; gn_replica_state_fini
 * @others  0: the file must have the same members; 1: one that it does not know is stale
 * Returns as gn_replica_state_load, or -GN_EINVAL: the file is of other members.
 */
int gn_replica_state_take(struct gn_replica_state *s, const char *path, char *const *uri, unsigned members,
                          int others, struct gn_error *error);

/*
 * gn_replica_state_same - check that a file still says what was taken from it.
 * For members that are open by now, so that nobody else writes them: a program that wrote them may have
 * ended in between, and have said of one that it is stale. Returns 0, -GN_EBUSY (the file says something
 * else), or as gn_replica_state_take.
 */
int gn_replica_state_same(const struct gn_replica_state *s, const char *path, char *const *uri,
                          struct gn_error *error);

#ifdef __cplusplus
}
#endif

#endif
