/* SPDX-License-Identifier: Apache-2.0 */
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "doctor.h"
#include "scope/system.h"

static uint64_t meminfo(const char *name)
{
	return scope_system_meminfo("/proc/meminfo", name);
}

static void probe_memory(struct doctor_memory *m)
{
	struct rlimit limit;

	m->total = meminfo("MemTotal");
	m->available = meminfo("MemAvailable");
	m->huge_page_bytes = meminfo("Hugepagesize");
	m->huge_pages = meminfo("HugePages_Total");
	m->huge_pages_free = meminfo("HugePages_Free");
	scope_system_selected(m->transparent, sizeof m->transparent,
	                      "/sys/kernel/mm/transparent_hugepage/enabled");
	if (!m->transparent[0])
		snprintf(m->transparent, sizeof m->transparent, "unknown");
	m->lockable = UINT64_MAX;
	if (!getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur != RLIM_INFINITY)
		m->lockable = limit.rlim_cur;
}

void doctor_probe_machine(struct doctor *d)
{
	struct utsname name;
	cpu_set_t set;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	if (!uname(&name))
		snprintf(d->kernel, sizeof d->kernel, "%.30s %.30s", name.release, name.machine);
	d->cores = cores > 0 ? (unsigned)cores : 1;
	d->cores_usable = d->cores;
	if (!sched_getaffinity(0, sizeof set, &set))
		d->cores_usable = (unsigned)CPU_COUNT(&set);
	probe_memory(&d->memory);
}
