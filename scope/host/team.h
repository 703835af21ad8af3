/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team.h - threads that do the same at the same time, each on a processor of its own. The thread that runs
 * the team is its member 0: nobody else takes a processor from those who work.
 */
#ifndef GN_SCOPE_HOST_TEAM_H
#define GN_SCOPE_HOST_TEAM_H

#include "scope/scope.h"

#ifdef __cplusplus
extern "C" {
#endif

struct scope_team;

/* One member's part of so many operations. */
typedef void scope_work(void *user, uint32_t member, uint64_t operations);

/*
 * scope_cpus - the processors of a node (SCOPE_ANY_NODE: of all) that this process may use; how many, at most
 * room.
 */
uint32_t scope_cpus(uint32_t node, uint32_t *cpu, uint32_t room);

/*
 * scope_team_open - as many threads as asked for, the caller among them, bound to these processors in order.
 * @cpu  borrowed until return; @user: until the team is closed
 * Returns 0, -GN_ENOMEM, -GN_ENOTSUP: they cannot be bound.
 */
int scope_team_open(struct scope_team **team, uint32_t members, const uint32_t *cpu, scope_work *work,
                    void *user, struct gn_error *e);

/*
 * scope_team_run - work once, from when all are ready to when the last is through. Seconds. By the thread
 * that opened it. Waits for members without a deadline of its own: a cell has one.
 */
double scope_team_run(struct scope_team *team, uint64_t operations);

void scope_team_close(struct scope_team *team);

#ifdef __cplusplus
}
#endif

#endif
