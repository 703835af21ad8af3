/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - threads that do the same thing at the same time, again and again. Who waits looks for a while, as
 * turns are short, and then sleeps, as there may be fewer processors.
 */
#ifndef SIM_POOL_H
#define SIM_POOL_H

#include <stdint.h>

struct sim_pool;

/* What member k does in a turn. */
typedef void sim_pool_work(void *user, uint32_t k);

/* sim_pool_create - of so many members, from 2; the caller is member 0. Returns 0 or -GN_ENOMEM. */
int sim_pool_create(struct sim_pool **pool, uint32_t members, sim_pool_work *work, void *user);
void sim_pool_destroy(struct sim_pool *c);

/*
 * sim_pool_turn - every member does its work once. What the caller did before, they see; what they did, it
 * sees afterwards.
 */
void sim_pool_turn(struct sim_pool *c);

#endif
