/* SPDX-License-Identifier: Apache-2.0 */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "doctor.h"

/* One "Name:  123 kB" line of /proc/meminfo; 0 when it is not there. */
static uint64_t meminfo(const char *name)
{
	FILE *f = fopen("/proc/meminfo", "re");
	size_t n = strlen(name);
	char line[128];
	unsigned long long value = 0;

	while (f && fgets(line, sizeof line, f)) {
		if (!strncmp(line, name, n) && line[n] == ':') {
			sscanf(line + n + 1, "%llu", &value);
			break;
		}
	}
	if (f)
		fclose(f);
	return value;
}

/* The setting in force is the one in brackets: "always [madvise] never". */
static void transparent_huge_pages(char *setting, size_t bytes)
{
	FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
	char line[128];
	char *begin = NULL;

	snprintf(setting, bytes, "unknown");
	if (f && fgets(line, sizeof line, f))
		begin = strchr(line, '[');
	if (begin) {
		begin[1 + strcspn(begin + 1, "]")] = '\0';
		snprintf(setting, bytes, "%.15s", begin + 1);
	}
	if (f)
		fclose(f);
}

static void probe_memory(struct doctor_memory *m)
{
	struct rlimit limit;

	m->total = meminfo("MemTotal") << 10;
	m->available = meminfo("MemAvailable") << 10;
	m->huge_page_bytes = meminfo("Hugepagesize") << 10;
	m->huge_pages = meminfo("HugePages_Total");
	m->huge_pages_free = meminfo("HugePages_Free");
	transparent_huge_pages(m->transparent, sizeof m->transparent);
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
