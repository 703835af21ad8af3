/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team.h - an active set is a team of net, and its pSync array holds the team's group. If the array is static
 * data, which PEs of a host do not change directly, memory of the heap holds the group instead. Both are 0
 * before and after a function.
 */
#ifndef GN_SHMEM_TEAM_H
#define GN_SHMEM_TEAM_H

#include <shmem/pe.h>

GN__STATIC_ASSERT(SHMEM_SYNC_SIZE * sizeof(long) == sizeof(struct gn_net_group), "pSync holds a group");
GN__STATIC_ASSERT(SHMEM_BARRIER_SYNC_SIZE * sizeof(long) == offsetof(struct gn_net_group, down_word),
                  "a short pSync holds its counts");

static inline char *gn_shmem_meeting(char *sync)
{
	const uint64_t at = (uint64_t)(sync - gn_shmem.view->data);

	return gn_shmem.meetings && at < gn_shmem.view->data_bytes ? gn_shmem.meetings + at : sync;
}

static inline struct gn_net_team gn_shmem_team(int start, int log_stride, int size, long *sync)
{
	struct gn_net_team team;

	team.first = (uint32_t)start;
	team.stride = 1u << log_stride;
	team.nodes = (uint32_t)size;
	team.group = (struct gn_net_group *)(void *)gn_shmem_meeting((char *)sync);
	return team;
}

#endif
