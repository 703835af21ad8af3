/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread splits a team, while another destroys the teams that were made. Each PE does so with a team of
 * its own, so that no PE waits for another.
 */
#include "check.h"

#include <pthread.h>
#include <sched.h>

enum { TIMES = 100000, QUEUED = 32, MOST_TEAMS = 63 };

/* Teams on their way from the thread that splits to the thread that destroys. */
static shmem_team_t queue[QUEUED];
static long made, destroyed;

static long now(const long *count)
{
	return __atomic_load_n(count, __ATOMIC_ACQUIRE);
}

/* Team k was made with k contexts. If it was made again while it is in the queue, it has other ones. */
static void *destroy_all(void *unused)
{
	shmem_team_config_t config = {-1};

	for (long k = 0; k < TIMES; k++) {
		while (now(&made) == k)
			sched_yield();
		check(!shmem_team_get_config(queue[k % QUEUED], SHMEM_TEAM_NUM_CONTEXTS, &config));
		check(config.num_contexts == (int)k);
		shmem_team_destroy(queue[k % QUEUED]);
		__atomic_store_n(&destroyed, k + 1, __ATOMIC_RELEASE);
	}
	return unused;
}

static shmem_team_t split(shmem_team_t parent, int contexts)
{
	const shmem_team_config_t config = {contexts};
	shmem_team_t team = SHMEM_TEAM_INVALID;

	check(!shmem_team_split_strided(parent, 0, 1, 1, &config, SHMEM_TEAM_NUM_CONTEXTS, &team));
	return team;
}

static void split_beside_destroy(shmem_team_t own)
{
	pthread_t thread;

	check(!pthread_create(&thread, NULL, destroy_all, NULL));
	for (long k = 0; k < TIMES; k++) {
		while (k - now(&destroyed) == QUEUED)
			sched_yield();
		queue[k % QUEUED] = split(own, (int)k);
		__atomic_store_n(&made, k + 1, __ATOMIC_RELEASE);
	}
	pthread_join(thread, NULL);
}

/* Beside the team that is split there is room for all others. */
static void no_group_is_lost(shmem_team_t own)
{
	shmem_team_t team[MOST_TEAMS], none = SHMEM_TEAM_WORLD;

	for (int k = 1; k < MOST_TEAMS; k++)
		team[k] = split(own, 0);
	check(shmem_team_split_strided(own, 0, 1, 1, NULL, 0, &none) && none == SHMEM_TEAM_INVALID);
	for (int k = 1; k < MOST_TEAMS; k++)
		shmem_team_destroy(team[k]);
}

int main(void)
{
	int provided = -1;
	shmem_team_t own = SHMEM_TEAM_INVALID, column = SHMEM_TEAM_INVALID;

	check(!shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) && provided == SHMEM_THREAD_MULTIPLE);
	check(!shmem_team_split_2d(SHMEM_TEAM_WORLD, 1, NULL, 0, &own, NULL, 0, &column));
	check(shmem_team_n_pes(own) == 1);
	shmem_team_destroy(column);
	split_beside_destroy(own);
	no_group_is_lost(own);
	shmem_team_destroy(own);
	shmem_finalize();
	return 0;
}
