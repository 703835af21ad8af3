/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "scope/gpus.h"
#include "scope/system.h"

#ifdef __cplusplus
extern "C" {
#endif
json_t *scope_environment_gpus(const struct scope_machine *m) __attribute__((weak));
#ifdef __cplusplus
}
#endif

/* A file's first line, or null. */
static json_t *line(const char *path)
{
	char text[512];

	return scope_system_line(text, sizeof text, "%s", path) ? json_string(text) : json_null();
}

static json_t *selected(const char *path)
{
	char text[64];

	scope_system_selected(text, sizeof text, path);
	return text[0] ? json_string(text) : json_null();
}

static json_t *bytes(uint64_t number)
{
	return json_integer((json_int_t)number);
}

static json_t *or_null(json_t *value)
{
	return value ? value : json_null();
}

/* ---- what Google Benchmark says too ---- */

static json_t *date(void)
{
	const time_t now = time(NULL);
	char text[64] = "";
	struct tm local;

	if (localtime_r(&now, &local))
		strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S%z", &local);
	return json_string(text);
}

static json_t *cache(unsigned index)
{
	static const char folder[] = "/sys/devices/system/cpu/cpu0/cache/index";
	char type[32];

	if (!scope_system_line(type, sizeof type, "%s%u/type", folder, index))
		return NULL;
	return json_pack("{s:s, s:o, s:o}", "type", type, "level",
	                 bytes(scope_system_number("%s%u/level", folder, index)), "size",
	                 bytes(scope_system_number("%s%u/size", folder, index)));
}

static json_t *caches(void)
{
	json_t *all = json_array(), *one;

	for (unsigned k = 0; k < 8; k++)
		if ((one = cache(k)))
			json_array_append_new(all, one);
	return all;
}

static json_t *load(void)
{
	double average[3] = {0, 0, 0};

	if (getloadavg(average, 3) != 3)
		return json_array();
	return json_pack("[f, f, f]", average[0], average[1], average[2]);
}

/* The value of "name : value" in /proc/cpuinfo, of the first processor. */
static void cpuinfo(const char *name, char *text, size_t room)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char all[4096];

	text[0] = '\0';
	while (f && fgets(all, sizeof all, f)) {
		const char *at = strchr(all, ':');

		if (strncmp(all, name, strlen(name)) || !at)
			continue;
		snprintf(text, room, "%.*s", (int)strcspn(at + 1 + (at[1] == ' '), "\n"),
		         at + 1 + (at[1] == ' '));
		break;
	}
	if (f)
		fclose(f);
}

static json_t *benchmark_context(const struct scope_machine *m)
{
	char host[256] = "", mhz[64], governor[64];
	const bool scales = scope_system_line(governor, sizeof governor,
	                                      "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") &&
	                    strcmp(governor, "performance");

	gethostname(host, sizeof host - 1);
	cpuinfo("cpu MHz", mhz, sizeof mhz);
	return json_pack("{s:o, s:s, s:s, s:i, s:f, s:b, s:b, s:o, s:o}", "date", date(), "host_name", host,
	                 "executable", "grapnel scope", "num_cpus", (int)m->cpus, "mhz_per_cpu", atof(mhz),
	                 "cpu_scaling_enabled", (int)scales, "aslr_enabled",
	                 (int)(scope_system_number("/proc/sys/kernel/randomize_va_space") > 0), "caches",
	                 caches(), "load_avg", load());
}

/* ---- the host ---- */

static json_t *cpu(void)
{
	static const char folder[] = "/sys/devices/system/cpu/";
	char model[128], path[128];
	json_t *all = json_object();
	static const char *const files[][2] = {{"governor", "cpu0/cpufreq/scaling_governor"},
	                                       {"frequency_driver", "cpu0/cpufreq/scaling_driver"},
	                                       {"turbo_off", "intel_pstate/no_turbo"},
	                                       {"boost", "cpufreq/boost"},
	                                       {"smt", "smt/control"},
	                                       {"idle_driver", "cpuidle/current_driver"}};

	cpuinfo("model name", model, sizeof model);
	json_object_set_new(all, "model", json_string(model));
	for (unsigned k = 0; k < sizeof files / sizeof *files; k++) {
		snprintf(path, sizeof path, "%s%s", folder, files[k][1]);
		json_object_set_new(all, files[k][0], line(path));
	}
	json_object_set_new(all, "clock_source",
	                    line("/sys/devices/system/clocksource/clocksource0/current_clocksource"));
	return all;
}

static json_t *memory(const struct scope_machine *m)
{
	static const char pages[] = "/sys/kernel/mm/transparent_hugepage/";
	char path[128];
	json_t *all = json_object();
	static const char *const kinds[] = {"enabled", "shmem_enabled", "defrag"};

	json_object_set_new(all, "total_bytes", bytes(scope_system_meminfo("/proc/meminfo", "MemTotal")));
	json_object_set_new(all, "free_bytes", bytes(m->free_bytes));
	json_object_set_new(all, "swap_bytes", bytes(scope_system_meminfo("/proc/meminfo", "SwapTotal")));
	json_object_set_new(all, "huge_page_bytes_free", bytes(m->huge_page_bytes));
	for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		char name[64];

		snprintf(path, sizeof path, "%s%s", pages, kinds[k]);
		snprintf(name, sizeof name, "transparent_huge_pages_%s", kinds[k]);
		json_object_set_new(all, name, selected(path));
	}
	json_object_set_new(all, "numa_balancing", line("/proc/sys/kernel/numa_balancing"));
	return all;
}

static json_t *node(const struct scope_node *n)
{
	char path[96];

	snprintf(path, sizeof path, "/sys/devices/system/node/node%u/distance", n->number);
	return json_pack("{s:i, s:i, s:o, s:o}", "number", (int)n->number, "cpus", (int)n->cpus, "free_bytes",
	                 bytes(n->free_bytes), "distances", line(path));
}

static json_t *nodes(const struct scope_machine *m)
{
	json_t *all = json_array();

	for (uint32_t k = 0; k < m->nodes; k++)
		json_array_append_new(all, node(&m->node[k]));
	return all;
}

/* Is this a guest, and whose? */
static json_t *virtual_machine(void)
{
	char flags[4096];

	cpuinfo("flags", flags, sizeof flags);
	return json_pack("{s:b, s:o, s:o, s:o}", "guest", (int)(strstr(flags, " hypervisor") != NULL),
	                 "hypervisor", line("/sys/hypervisor/type"), "vendor",
	                 line("/sys/class/dmi/id/sys_vendor"), "product",
	                 line("/sys/class/dmi/id/product_name"));
}

/* Of the kernel's command line, what transfers depend on; the rest is nobody's business. */
static json_t *kernel_options(void)
{
	static const char *const begins[] = {"iommu",
	                                     "intel_iommu",
	                                     "amd_iommu",
	                                     "hugepage",
	                                     "default_hugepagesz",
	                                     "transparent_hugepage",
	                                     "isolcpus",
	                                     "nohz_full",
	                                     "intel_pstate",
	                                     "amd_pstate",
	                                     "pcie_aspm",
	                                     "pci=",
	                                     "numa",
	                                     "mitigations",
	                                     "swiotlb",
	                                     "idle=",
	                                     "processor.max_cstate",
	                                     "intel_idle"};
	char text[4096], *rest = text, *word;
	json_t *all = json_array();

	scope_system_line(text, sizeof text, "/proc/cmdline");
	while ((word = strsep(&rest, " ")))
		for (unsigned k = 0; k < sizeof begins / sizeof *begins; k++)
			if (!strncmp(word, begins[k], strlen(begins[k])))
				json_array_append_new(all, json_string(word));
	return all;
}

static int count_entries(const char *path)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;
	int count = 0;

	while (folder && (entry = readdir(folder)))
		count += entry->d_name[0] != '.';
	if (folder)
		closedir(folder);
	return count;
}

static json_t *iommu(void)
{
	return json_pack("{s:i, s:i}", "units", count_entries("/sys/class/iommu"), "groups",
	                 count_entries("/sys/kernel/iommu_groups"));
}

static json_t *kernel(void)
{
	struct utsname name;

	return uname(&name) ? json_null()
	                    : json_sprintf("%s %s %s", name.sysname, name.release, name.machine);
}

/* ---- links of GPUs ---- */

enum { VENDOR_NVIDIA = 0x10de, CLASS_DISPLAY = 0x03 };

static json_t *attribute(const char *address, const char *name)
{
	char path[512];

	snprintf(path, sizeof path, "/sys/bus/pci/devices/%.64s/%s", address, name);
	return line(path);
}

static json_t *link_of(const char *address)
{
	static const char *const names[] = {"current_link_speed", "current_link_width", "max_link_speed",
	                                    "max_link_width",     "numa_node",          "device"};
	json_t *one = json_pack("{s:s}", "address", address);

	for (unsigned k = 0; k < sizeof names / sizeof *names; k++)
		json_object_set_new(one, names[k], attribute(address, names[k]));
	return one;
}

json_t *scope_environment_links(void)
{
	static const char devices[] = "/sys/bus/pci/devices";
	DIR *folder = opendir(devices);
	const struct dirent *entry;
	json_t *all = json_array();

	while (folder && (entry = readdir(folder))) {
		if (entry->d_name[0] != '.' &&
		    scope_system_number("%s/%s/vendor", devices, entry->d_name) == VENDOR_NVIDIA &&
		    scope_system_number("%s/%s/class", devices, entry->d_name) >> 16 == CLASS_DISPLAY)
			json_array_append_new(all, link_of(entry->d_name));
	}
	if (folder)
		closedir(folder);
	return all;
}

/* ---- GPUs ---- */

static json_t *peers(const struct scope_machine *m, const struct scope_gpu *g)
{
	json_t *all = json_array();

	for (uint32_t k = 0; k < m->gpus; k++)
		json_array_append_new(all, json_boolean(g->peer[k]));
	return all;
}

static json_t *gpu(const struct scope_machine *m, const struct scope_gpu *g)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:i, s:i, s:i, s:i, s:b, s:o}", "name", g->name,
	                 "memory_bytes", bytes(g->memory_bytes), "free_bytes", bytes(g->free_bytes),
	                 "l2_bytes", bytes(g->l2_bytes), "processors", (int)g->processors, "compute",
	                 (int)g->compute, "pcie_generation", (int)g->pcie_generation, "pcie_width",
	                 (int)g->pcie_width, "managed", (int)g->managed, "peer", peers(m, g));
}

static json_t *gpus(const struct scope_machine *m)
{
	json_t *all = json_array();

	for (uint32_t k = 0; k < m->gpus; k++)
		json_array_append_new(all, gpu(m, &m->gpu[k]));
	return all;
}

/* ---- all of it ---- */

static const char *const efforts[] = {"quick", "normal", "full"};

static json_t *run(const struct scope_machine *m)
{
	return json_pack("{s:s, s:f, s:f, s:o, s:f, s:i, s:i, s:i, s:f, s:i, s:i}", "effort",
	                 efforts[m->effort], "host_tick_seconds", m->host_tick, "event_tick_seconds",
	                 m->event_tick, "most_bytes", bytes(m->most_bytes), "most_seconds", m->most_seconds,
	                 "most_samples", (int)m->most_samples, "least_rounds", (int)m->least_rounds,
	                 "most_rounds", (int)m->most_rounds, "spread", m->spread, "rank", (int)m->rank,
	                 "ranks", (int)m->ranks);
}

json_t *scope_environment(const struct scope_machine *m)
{
	json_t *all = benchmark_context(m);

	if (!all)
		return NULL;
	json_object_set_new(all, "run", run(m));
	json_object_set_new(all, "kernel", kernel());
	json_object_set_new(all, "kernel_options", kernel_options());
	json_object_set_new(all, "cpu", cpu());
	json_object_set_new(all, "memory", memory(m));
	json_object_set_new(all, "nodes", nodes(m));
	json_object_set_new(all, "virtual_machine", virtual_machine());
	json_object_set_new(all, "iommu", iommu());
	json_object_set_new(all, "nvidia_driver", line("/proc/driver/nvidia/version"));
	json_object_set_new(all, "uvm_parameters",
	                    or_null(scope_system_folder("/sys/module/nvidia_uvm/parameters")));
	json_object_set_new(all, "gpu_links", scope_environment_links());
	json_object_set_new(all, "gpus", gpus(m));
	json_object_set_new(all, "no_gpu", m->no_gpu ? json_string(m->no_gpu) : json_null());
	json_object_set_new(all, "gpu_environment",
	                    scope_environment_gpus ? or_null(scope_environment_gpus(m)) : json_null());
	return all;
}
