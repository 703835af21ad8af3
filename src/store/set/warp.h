/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warp.h - the steps by which a member of a replica is put back, on the machine.
 *
 * On cuda a warp does them, and the host is in the room only while one runs: so nobody waits in front of the
 * room for a warp that has no place yet. On the cpu machine the calling thread does them.
 */
#ifndef GN_STORE_SET_WARP_H
#define GN_STORE_SET_WARP_H

#include <store/set/replica_store.h>

/* gn_replica_back_make - make what is needed, once. Returns 0, -GN_ENOMEM, -GN_EIO. */
int gn_replica_back_make(struct gn_replica *r, struct gn_error *error);

/* gn_replica_warp_try - is there room for a warp? Returns 0, -GN_EBUSY, -GN_EIO. */
int gn_replica_warp_try(struct gn_replica *r, struct gn_error *error);

/* gn_replica_warp_enter - enter the room for one step. Returns as gn_replica_warp_try. */
int gn_replica_warp_enter(struct gn_replica *r, struct gn_error *error);

/* gn_replica_warp_reenter - the same, and wait as long as there is no place. Returns 0 or -GN_EIO. */
int gn_replica_warp_reenter(struct gn_replica *r, struct gn_error *error);

/* gn_replica_warp_leave - leave the room, also without having done the step. */
void gn_replica_warp_leave(struct gn_replica *r);

/* gn_replica_step - do the step of back.shared->args. In the room, once. Returns 0 or -GN_EIO. */
int gn_replica_step(struct gn_replica *r, enum gn_back_step step, struct gn_error *error);

#endif
