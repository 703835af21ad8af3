/* SPDX-License-Identifier: Apache-2.0 */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "scope/gpus.h"
#include "scope/ranks.h"
#include "scope/sampling.h"
#include "scope/system.h"

#ifdef __cplusplus
extern "C" {
#endif
void scope_machine_find_gpus(struct scope_machine *m) __attribute__((weak));
void scope_machine_find_ranks(struct scope_machine *m) __attribute__((weak));
#ifdef __cplusplus
}
#endif

/* ---- the host ---- */

static uint32_t usable_cpus(void)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	if (!sched_getaffinity(0, sizeof set, &set))
		return (uint32_t)CPU_COUNT(&set);
	return cpus > 0 ? (uint32_t)cpus : 1;
}

/* What the system has, or what this process's control group leaves of it. */
static uint64_t free_memory(void)
{
	const uint64_t free_bytes = scope_system_meminfo("/proc/meminfo", "MemAvailable");
	const uint64_t most = scope_system_number("/sys/fs/cgroup/memory.max"); /* "max" reads as 0 */
	const uint64_t used = scope_system_number("/sys/fs/cgroup/memory.current");
	const uint64_t allowed = most > used ? most - used : 0;

	return most && allowed < free_bytes ? allowed : free_bytes;
}

static void find_caches(struct scope_machine *m)
{
	static const char folder[] = "/sys/devices/system/cpu/cpu0/cache/index";

	for (unsigned k = 0; k < 8; k++) {
		const uint64_t bytes = scope_system_number("%s%u/size", folder, k);

		if (bytes > m->cache_bytes)
			m->cache_bytes = bytes;
		if (!m->line_bytes)
			m->line_bytes = (uint32_t)scope_system_number("%s%u/coherency_line_size", folder, k);
	}
	if (!m->line_bytes)
		m->line_bytes = 64;
}

static uint32_t count_cpus(const char *bits) /* "ffff,00000001" */
{
	uint32_t count = 0;

	for (; *bits; bits++) {
		const char *digits = "0123456789abcdef", *at = strchr(digits, *bits);

		count += at ? (uint32_t)__builtin_popcount((unsigned)(at - digits)) : 0;
	}
	return count;
}

static void find_node(struct scope_machine *m, uint32_t number)
{
	struct scope_node *n = &m->node[m->nodes];
	char bits[512], path[96];

	if (!scope_system_line(bits, sizeof bits, "/sys/devices/system/node/node%u/cpumap", number))
		return;
	snprintf(path, sizeof path, "/sys/devices/system/node/node%u/meminfo", number);
	n->number = number;
	n->cpus = count_cpus(bits);
	n->free_bytes = scope_system_meminfo(path, "MemFree");
	m->nodes++;
}

/* A system that shows no nodes is one node. */
static void find_nodes(struct scope_machine *m)
{
	for (uint32_t number = 0; number < 1024 && m->nodes < SCOPE_MOST_NODES; number++)
		find_node(m, number);
	if (m->nodes)
		return;
	m->nodes = 1;
	m->node[0].cpus = m->cpus;
	m->node[0].free_bytes = m->free_bytes;
}

/*
 * A region cannot be told from one that is longer by a step of the clock, nor from an empty one: the larger
 * of the two counts. The median of some, for a step may have an interrupt in it.
 */
static double find_tick(void)
{
	enum { TRIES = 101 };
	struct scope_statistics s;
	double step[TRIES], empty[TRIES];

	for (unsigned k = 0; k < TRIES; k++) {
		const double began = scope_clock();
		double now = scope_clock();

		empty[k] = now - began;
		while (now <= began)
			now = scope_clock();
		step[k] = now - began;
	}
	if (scope_statistics_of(step, TRIES, &s))
		return 1e-7;
	step[0] = s.median;
	return scope_statistics_of(empty, TRIES, &s) || s.median < step[0] ? step[0] : s.median;
}

/* ---- limits ---- */

struct limits {
	uint64_t bytes;
	double seconds, spread, deadline;
	uint32_t samples, least_rounds, most_rounds;
};

static const struct limits limits_of[] = {
    {256ull << 20, 0.15, 0.01, 20, 60, 2, 8},  /* quick: its budget says how many rounds there are */
    {1ull << 30, 0.4, 0.005, 60, 120, 3, 6},   /* normal */
    {4ull << 30, 1.0, 0.0025, 180, 250, 3, 8}, /* full */
};

static uint64_t power_below(uint64_t bytes)
{
	uint64_t power = 1ull << 20;

	while (2 * power <= bytes)
		power *= 2;
	return power;
}

/* Two buffers of the most must leave half of every memory to others. */
static uint64_t most_bytes(const struct scope_machine *m, uint64_t bytes)
{
	if (bytes > m->free_bytes / 4)
		bytes = m->free_bytes / 4;
	for (uint32_t k = 0; k < m->gpus; k++)
		if (bytes > m->gpu[k].free_bytes / 4)
			bytes = m->gpu[k].free_bytes / 4;
	return power_below(bytes);
}

static void set_limits(struct scope_machine *m)
{
	const struct limits *l = &limits_of[m->effort];

	m->most_bytes = most_bytes(m, l->bytes);
	m->most_seconds = l->seconds;
	m->most_samples = l->samples;
	m->least_rounds = l->least_rounds;
	m->most_rounds = l->most_rounds;
	m->spread = l->spread;
	m->deadline = l->deadline;
}

void scope_machine_find_host(struct scope_machine *m, enum scope_effort effort, const char *directory)
{
	memset(m, 0, sizeof *m);
	m->effort = effort;
	m->directory = directory;
	m->cpus = usable_cpus();
	m->free_bytes = free_memory();
	m->huge_page_bytes = scope_system_meminfo("/proc/meminfo", "HugePages_Free") *
	                     scope_system_meminfo("/proc/meminfo", "Hugepagesize");
	find_caches(m);
	find_nodes(m);
	m->host_tick = find_tick();
	m->ranks = 1;
	set_limits(m);
}

void scope_machine_find(struct scope_machine *m, enum scope_effort effort, const char *directory)
{
	scope_machine_find_host(m, effort, directory);
	if (scope_machine_find_ranks)
		scope_machine_find_ranks(m);
	m->no_gpu = "this grapnel was built without CUDA";
	if (scope_machine_find_gpus && !m->rank)
		scope_machine_find_gpus(m);
	set_limits(m);
}
