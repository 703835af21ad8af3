/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/host/team.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <grapnel/simt.h>

#include "scope/host/memory.h"
#include "scope/sampling.h"

enum { QUIT = 0xffffffff };

struct member {
	struct scope_team *team;
	uint32_t number;
	pthread_t thread;
};

struct scope_team {
	scope_work *work;
	void *user;
	uint64_t operations;
	uint32_t members, turn;
	cpu_set_t before; /* where the caller was allowed */
	struct member *member;
	/* a line each, so that waiting for one does not disturb another */
	uint32_t call[32], ready[32], go[32], done[32];
};

/* ---- processors ---- */

static bool of_node(uint32_t node, uint32_t cpu)
{
	char path[96];

	snprintf(path, sizeof path, "/sys/devices/system/node/node%u/cpu%u", node, cpu);
	return !access(path, F_OK);
}

uint32_t scope_cpus(uint32_t node, uint32_t *cpu, uint32_t room)
{
	uint32_t count = 0;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set))
		return 0;
	for (uint32_t k = 0; k < CPU_SETSIZE && count < room; k++)
		if (CPU_ISSET(k, &set) && (node == SCOPE_ANY_NODE || of_node(node, k)))
			cpu[count++] = k;
	return count;
}

static int bind(pthread_t thread, uint32_t cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return pthread_setaffinity_np(thread, sizeof set, &set);
}

/* ---- a turn ---- */

/* Work that takes long is waited for without keeping a processor that somebody else could use. */
static void wait_for(const uint32_t *word, uint32_t value)
{
	for (uint32_t looks = 0; simt_load_acquire_sys_u32(word) != value; looks++)
		if (looks > 20000)
			sched_yield();
}

static void *member_run(void *argument)
{
	const struct member *me = (const struct member *)argument;
	struct scope_team *t = me->team;

	for (uint32_t turn = 1;; turn++) {
		uint32_t called;

		/* acquires what the caller set up; pairs with its release of call */
		for (uint32_t looks = 0; (called = simt_load_acquire_sys_u32(t->call)) == turn - 1; looks++)
			if (looks > 20000)
				sched_yield();
		if (called == QUIT)
			return NULL;
		simt_add_relaxed_sys_u32(t->ready, 1);
		wait_for(t->go, turn);
		t->work(t->user, me->number, t->operations);
		/* releases what the work did; pairs with the caller's acquire of done */
		simt_add_acq_rel_dev_u32(t->done, 1);
	}
}

double scope_team_run(struct scope_team *t, uint64_t operations)
{
	const uint32_t others = t->members - 1;
	double began;

	t->operations = operations;
	simt_store_relaxed_sys_u32(t->ready, 0);
	simt_store_relaxed_sys_u32(t->done, 0);
	simt_store_release_sys_u32(t->call, ++t->turn);
	wait_for(t->ready, others);
	began = scope_clock();
	simt_store_release_sys_u32(t->go, t->turn);
	t->work(t->user, 0, operations);
	wait_for(t->done, others);
	return scope_clock() - began;
}

/* ---- the team ---- */

static int start(struct scope_team *t, uint32_t number, uint32_t cpu, struct gn_error *e)
{
	struct member *m = &t->member[number];
	int rc;

	m->team = t;
	m->number = number;
	if (!number)
		rc = bind(pthread_self(), cpu);
	else {
		rc = pthread_create(&m->thread, NULL, member_run, m);
		if (rc)
			return gn_error_set(e, -GN_ENOMEM, "the system cannot start a thread: %s",
			                    strerror(rc));
		t->members++;
		rc = bind(m->thread, cpu);
	}
	return rc ? gn_error_set(e, -GN_ENOTSUP, "a thread cannot be bound to processor %u: %s", cpu,
	                         strerror(rc))
	          : 0;
}

int scope_team_open(struct scope_team **team, uint32_t members, const uint32_t *cpu, scope_work *work,
                    void *user, struct gn_error *e)
{
	struct scope_team *t = (struct scope_team *)calloc(1, sizeof *t);
	int rc = 0;

	*team = NULL;
	if (t)
		t->member = (struct member *)calloc(members, sizeof *t->member);
	if (!t || !t->member) {
		free(t);
		return gn_error_set(e, -GN_ENOMEM, "out of memory for %u threads", members);
	}
	t->work = work;
	t->user = user;
	t->members = 1;
	pthread_getaffinity_np(pthread_self(), sizeof t->before, &t->before);
	for (uint32_t k = 0; k < members && !rc; k++)
		rc = start(t, k, cpu[k], e);
	if (rc)
		scope_team_close(t);
	else
		*team = t;
	return rc;
}

void scope_team_close(struct scope_team *t)
{
	if (!t)
		return;
	simt_store_release_sys_u32(t->call, QUIT);
	for (uint32_t k = 1; k < t->members; k++)
		pthread_join(t->member[k].thread, NULL);
	pthread_setaffinity_np(pthread_self(), sizeof t->before, &t->before);
	free(t->member);
	free(t);
}
