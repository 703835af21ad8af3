/* SPDX-License-Identifier: Apache-2.0 */
/* look.h - which members of a replica are in use, as the host sees it. */
#ifndef GN_STORE_SET_LOOK_H
#define GN_STORE_SET_LOOK_H

#include <store/set/replica_store.h>

/* The view with its health where the host reaches it: itself, or on cuda a copy. */
struct gn_replica_look {
	struct gn_store_view view;
	struct gn_store_health copy;
	uint32_t failed;                /* the copy's, as it was first */
	struct gn__replica_round round; /* of what the host changed; zeros if it only read */
};

/* gn_replica_look_begin - look. In the room. Returns 0 or -GN_EIO: the machine failed. */
int gn_replica_look_begin(const struct gn_replica *r, struct gn_replica_look *l, struct gn_error *error);

/*
 * gn_replica_look_end - hand on the members that failed meanwhile. Kernels put members out of use themselves,
 * and cancel what is being put back, at any time: so bits are set on the device, and nothing is written back.
 * In the room. Returns 0, or -GN_EIO: the machine failed, or no member that is read has what was written.
 */
int gn_replica_look_end(const struct gn_replica *r, const struct gn_replica_look *l, struct gn_error *error);

#endif
