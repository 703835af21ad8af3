/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h (private) - the members that every store has, and the table of functions that implements a scheme.
 * A new store is one struct gn_store_ops and a line in store.c.
 */
#ifndef GN_STORE_STORE_H
#define GN_STORE_STORE_H

#include <pthread.h>

#include <grapnel/store.h>
#include <store/settings.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gn_store_ops;
struct gn_list;

/* A caller that keeps its other host threads from the machine while it is in the library. */
struct gn_store_others {
	void (*let)(void *user, int go_on); /* 1: they may use the machine from now on; 0: no longer */
	void *user;
};

/* First member of every store's own struct; open fills all of it. */
struct gn_store {
	const struct gn_store_ops *ops;
	struct simt_machine *machine;
	struct gn_store_view view;
	char path[192]; /* gn_store_path */
	char *name;     /* the URI as messages quote it; used by store.c only */
	/* Used by store.c only: one flush at a time; unsure is the code of a failed flush, or 0. */
	pthread_mutex_t flushing;
	int unsure;
	/* Set by open. 1: a flush covers all that was written, also what a flush that failed has left behind.
	 */
	int flushes_again;
	uint64_t identity; /* set by open: stores over the same bytes have the same; 0: not known */
	char mark[64];     /* set by open: the medium, from one opening to the next; empty: not known */
	int forgets;       /* set by open. 1: the bytes may be gone before the store is opened again */
};

/*
 * A scheme. The functions are called on the host, one at a time. The caller has checked ranges and refused
 * writes to a read-only store. On failure a function returns a negative code and sets the message.
 */
struct gn_store_ops {
	const char *scheme;
	unsigned options; /* mask of enum gn_store_option */
	/* Sets *store to a store with ops, view and path set and returns 0; or returns a negative code. */
	int (*open)(struct gn_store **store, struct simt_machine *machine, const struct gn_uri *uri,
	            const struct gn_store_settings *settings, struct gn_error *error);
	/* Of a store over other stores, instead of open: the same, with timeout_ns of the view set too. */
	int (*join)(struct gn_store **store, struct simt_machine *machine, struct gn_list *list,
	            const struct gn_store_options *options, struct gn_error *error);
	void (*close)(struct gn_store *store);
	int (*read)(struct gn_store *store, uint64_t offset, void *to, size_t bytes, struct gn_error *error);
	int (*write)(struct gn_store *store, uint64_t offset, const void *from, size_t bytes,
	             struct gn_error *error);
	int (*flush)(struct gn_store *store, struct gn_error *error);
	void (*statistics)(const struct gn_store *store, struct gn_store_statistics *statistics);
	/* Of a store over other stores; k is less than view.members. All members are set. */
	int (*member)(const struct gn_store *store, unsigned k, struct gn_store_member *member);
	/* Let another machine's kernels use the store; NULL: they cannot. */
	int (*share)(struct gn_store *store, struct simt_machine *machine, struct gn_error *error);
	/* May kernels of a machine use the store? NULL: those of any machine that reaches its memory. */
	int (*is_open)(const struct gn_store *store, struct simt_machine *machine);
	/* Of a store over other stores: 1 if the second member is the rest of the URI, commas and all. */
	int takes_rest;
	/* As gn_store_resync_beside; NULL: the store has no such members. */
	int (*resync)(struct gn_store *store, unsigned k, const struct gn_store_others *others,
	              struct gn_error *error);
};

extern const struct gn_store_ops gn_store_host, gn_store_file, gn_store_memq, gn_store_nvme, gn_store_rdma,
    gn_store_peer, gn_store_stripe, gn_store_replica, gn_store_tier;

/*
 * gn_store_check_machine - 0, or -GN_ENOTSUP: kernels of this machine cannot use the store before
 * gn_store_share.
 */
int gn_store_check_machine(const struct gn_store *store, struct simt_machine *machine,
                           struct gn_error *error);

/*
 * gn_store_resync_beside - gn_store_resync, which lets the caller's other host threads go on, also on the
 * machine's own stream, as long as it copies: then it leaves that stream alone, and holds no lock of the
 * library when it calls.
 * @others  NULL: nobody is kept
 */
int gn_store_resync_beside(struct gn_store *store, uint32_t k, const struct gn_store_others *others,
                           struct gn_error *error);

/*
 * gn_store_code - the library's code for a positive errno value; -GN_EIO for one without a code of its own.
 */
int gn_store_code(int error_number);

#ifdef __cplusplus
}
#endif

#endif
