/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set.h - the members of a store over other stores, and their queue pairs.
 */
#ifndef GN_STORE_SET_SET_H
#define GN_STORE_SET_SET_H

#include <store/set/list.h>
#include <store/store.h>

/* First member of the store's own struct. Zeroed memory is a set without members. */
struct gn_set {
	struct gn_store base; /* first */
	unsigned members;
	struct gn_store *member[GN_SET_MOST]; /* owned; NULL: not open */
	char *uri[GN_SET_MOST];               /* owned */
	struct gn_nvmeq *queues;              /* [members][queue_count + host_queues], in device memory */
};

/* gn_set_init - copy the list's URIs, of which none may name a file twice. Returns 0, -GN_EINVAL, -GN_ENOMEM.
 */
int gn_set_init(struct gn_set *set, const struct gn_list *list, struct gn_error *error);

/*
 * gn_set_open_member - open a member and let the view know it.
 * @set        base.machine is set, gn_set_init was called
 * @options    for every member, NULL for the defaults; a fault plan only for the members that it names
 * @read_only  1: whatever the options say
 * A member must have queue pairs and no members itself. Returns 0 or a negative code, as gn_store_open; the
 * message names the member, which then is not open.
 */
int gn_set_open_member(struct gn_set *set, unsigned k, const struct gn_store_options *options, int read_only,
                       struct gn_error *error);

/*
 * gn_set_open_later - open a member of a set that has been joined, which does not have it.
 * @member  receives it; the caller's to close; NULL on failure
 * The view stays as it is. Returns as gn_set_open_member, or -GN_ENOTSUP: it has not what the view says.
 */
int gn_set_open_later(const struct gn_set *set, unsigned k, const struct gn_store_options *options,
                      struct gn_store **member, struct gn_error *error);

/*
 * gn_set_join - give the view the queue pairs of the open members; others get those of an open one, which
 * nobody uses. The view has then kind, queues, members, block_bytes (the largest), transfer_bytes (the
 * smallest), the longest timeout and read_only (if one is). Returns 0, -GN_ENOMEM, -GN_EIO.
 */
int gn_set_join(struct gn_set *set, struct gn_error *error);

/* gn_set_close - close the members; also after a function above failed. */
void gn_set_close(struct gn_set *set);

/* gn_set_statistics - the sums of all members. */
void gn_set_statistics(const struct gn_store *store, struct gn_store_statistics *statistics);

/* gn_set_member - a member that is in use. */
int gn_set_member(const struct gn_store *store, unsigned k, struct gn_store_member *member);

/* gn_set_flush - flush every member, also if one fails. Returns the first failure. */
int gn_set_flush(struct gn_store *store, struct gn_error *error);

#endif
