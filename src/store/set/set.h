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
	struct gn_store *member[GN_SET_MOST]; /* owned */
	struct gn_nvmeq *queues;              /* [members][queue_count + host_queues], in device memory */
};

/*
 * gn_set_open - open the members of a list, and give the view their queue pairs.
 * @set        base.machine is set
 * @options    for every member, NULL for the defaults; the fault plan only for the member that it names
 * @read_only  1: open every member read-only
 * Members must have queue pairs, and none may be there twice. It fills the view's kind, queues, timeout,
 * block_bytes (the largest), transfer_bytes (the smallest) and read_only. Returns 0 or a negative code, as
 * gn_store_open; the message names the member. On failure call gn_set_close.
 */
int gn_set_open(struct gn_set *set, const struct gn_list *list, const struct gn_store_options *options,
                int read_only, struct gn_error *error);

/* gn_set_close - close the members; also after gn_set_open failed. */
void gn_set_close(struct gn_set *set);

/* gn_set_statistics - the sums of all members. */
void gn_set_statistics(const struct gn_store *store, struct gn_store_statistics *statistics);

/* gn_set_flush - flush every member, also if one fails. Returns the first failure. */
int gn_set_flush(struct gn_store *store, struct gn_error *error);

#endif
