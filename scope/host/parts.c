/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/host/parts.h"

#include <pthread.h>
#include <string.h>

#include "scope/host/memory.h"
#include "scope/host/team.h"
#include "scope/pattern.h"

enum { LINE = 64, MOST_THREADS = 16 };

enum work { FILL, POISON, CHECK };

struct part {
	char *memory;
	uint64_t bytes, seed;
	enum work work;
	pthread_t thread;
	bool started;
	int rc;
	struct gn_error e;
};

static void *do_part(void *argument)
{
	struct part *p = (struct part *)argument;

	if (p->work == FILL)
		scope_fill(p->memory, p->bytes, p->seed);
	else if (p->work == POISON)
		memset(p->memory, 0xa5, p->bytes);
	else
		p->rc = scope_check(p->memory, p->bytes, p->seed, "as the host sees it", &p->e);
	return NULL;
}

static uint32_t threads_for(uint64_t bytes)
{
	const uint64_t most = bytes >> 20;
	uint32_t cpu[MOST_THREADS], cpus;

	if (most < 2)
		return 1;
	cpus = scope_cpus(SCOPE_ANY_NODE, cpu, MOST_THREADS);
	cpus = cpus ? cpus : 1;
	return most < cpus ? (uint32_t)most : cpus;
}

/* A thread that cannot be had is no matter: its part is done here. */
static int in_parts(char *memory, uint64_t bytes, uint64_t seed, enum work work, struct gn_error *e)
{
	const uint32_t n = threads_for(bytes);
	const uint64_t each = bytes / n / LINE * LINE;
	struct part p[MOST_THREADS];
	int rc = 0;

	memset(p, 0, sizeof p);
	for (uint32_t k = 0; k < n; k++) {
		p[k].memory = memory + k * each;
		p[k].bytes = k + 1 < n ? each : bytes - k * each;
		p[k].seed = seed + k * each / 8;
		p[k].work = work;
		p[k].started = k + 1 < n && !pthread_create(&p[k].thread, NULL, do_part, &p[k]);
		if (!p[k].started)
			do_part(&p[k]);
	}
	for (uint32_t k = 0; k < n; k++) {
		if (p[k].started)
			pthread_join(p[k].thread, NULL);
		if (p[k].rc && !rc)
			rc = gn_error_set(e, p[k].rc, "wrong data (byte numbers relative to byte %llu): %s",
			                  (unsigned long long)(k * each), p[k].e.text);
	}
	return rc;
}

void scope_host_fill(void *to, uint64_t bytes, uint64_t seed)
{
	(void)in_parts((char *)to, bytes, seed, FILL, NULL);
}

void scope_host_poison(void *to, uint64_t bytes)
{
	(void)in_parts((char *)to, bytes, 0, POISON, NULL);
}

int scope_host_check(const void *from, uint64_t bytes, uint64_t seed, struct gn_error *e)
{
	return in_parts((char *)(uintptr_t)from, bytes, seed, CHECK, e);
}
