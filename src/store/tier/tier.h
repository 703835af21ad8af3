/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tier.h - what a tier: store has, for its own files: memory that keeps lines of a slower store
 * (grapnel/detail/store/tier.h).
 */
#ifndef GN_STORE_TIER_TIER_H
#define GN_STORE_TIER_TIER_H

#include <store/set/list.h>
#include <store/store.h>

#include <store/tier/kernels.h>

/* Members of a tier: its levels, and behind them those of the slow store. */
enum { GN_TIER_LEVELS = 2 };

struct gn_tier_settings {
	uint64_t line; /* bytes, a power of two; 0: not given */
	int read_only;
};

struct gn_tier {
	struct gn_store base;         /* first */
	struct gn_store *fast, *slow; /* owned; fast NULL: there was no memory for it */
	char *uri[2];                 /* owned */
	struct gn_store_member about; /* the fast level, if it is not there */
	struct gn_tier_view image;    /* what the device has */
	struct gn_tier_view *device;
	struct gn_tier_failure *failure; /* pinned */
	pthread_mutex_t mutex;           /* of what follows: one sweep at a time */
	struct simt_stream *stream;      /* sweeps may run beside kernels of the program */
};

/*
 * gn_tier_open - open both levels, and make the view.
 * @t  zeroed, but for base.ops and base.machine
 * If there is no memory for the fast level, the store is slower, and says so. Returns 0 or a negative code,
 * as gn_store_open; what is open then is the caller's to close.
 */
int gn_tier_open(struct gn_tier *t, const struct gn_list *list, const struct gn_store_options *options,
                 struct gn_error *error);

#endif
