/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crew.h - threads that do the same thing at the same time, again and again. Who waits looks for a while, as
 * turns are short, and then sleeps, as there may be fewer processors.
 */
#ifndef SIM_CREW_H
#define SIM_CREW_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sim_crew;

/* What member k does in a turn. */
typedef void sim_crew_work(void *user, uint32_t k);

/* sim_crew_create - of so many members, from 2; the caller is member 0. Returns 0 or -GN_ENOMEM. */
int sim_crew_create(struct sim_crew **crew, uint32_t members, sim_crew_work *work, void *user);
void sim_crew_destroy(struct sim_crew *c);

/*
 * sim_crew_turn - every member does its work once. What the caller did before, they see; what they did, it
 * sees afterwards.
 */
void sim_crew_turn(struct sim_crew *c);

#ifdef __cplusplus
}
#endif

#endif
