/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/cuda/link.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

namespace {

/* The management library, loaded if it is there: not linked, for a program must start without a driver. */
struct library {
	bool tried, there;
	int (*handle)(const char *address, void **device);
	int (*ask[4])(void *device, unsigned *value);
};

struct library nvml;

void load(void)
{
	static const char *const names[4] = {
	    "nvmlDeviceGetCurrPcieLinkGeneration", "nvmlDeviceGetCurrPcieLinkWidth",
	    "nvmlDeviceGetMaxPcieLinkGeneration", "nvmlDeviceGetMaxPcieLinkWidth"};
	void *const file = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);

	nvml.tried = true;
	if (!file)
		return;
	int (*const init)(void) = (int (*)(void))dlsym(file, "nvmlInit_v2");

	nvml.handle = (int (*)(const char *, void **))dlsym(file, "nvmlDeviceGetHandleByPciBusId_v2");
	nvml.there = init && nvml.handle && !init();
	for (int k = 0; k < 4; k++) {
		nvml.ask[k] = (int (*)(void *, unsigned *))dlsym(file, names[k]);
		nvml.there = nvml.there && nvml.ask[k];
	}
}

bool ask(const char *address, unsigned value[4])
{
	void *device;

	if (!nvml.tried)
		load();
	if (!nvml.there || nvml.handle(address, &device))
		return false;
	for (int k = 0; k < 4; k++)
		if (nvml.ask[k](device, &value[k]))
			return false;
	return true;
}

bool read_line(const char *address, const char *file, char *line, int room)
{
	char path[160];

	snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/%s", address, file);
	FILE *const f = fopen(path, "r");
	const bool there = f && fgets(line, room, f);

	if (f)
		fclose(f);
	return there;
}

/* "32.0 GT/s PCIe": the generations double it, but for 5 to 8. */
unsigned generation(const char *address, const char *file)
{
	static const double rate[] = {2.5, 5, 8, 16, 32, 64, 128};
	char line[64];

	if (!read_line(address, file, line, sizeof line))
		return 0;
	for (unsigned k = 0; k < sizeof rate / sizeof *rate; k++)
		if (fabs(strtod(line, NULL) - rate[k]) < 0.1)
			return k + 1;
	return 0;
}

unsigned width(const char *address, const char *file)
{
	char line[64];

	return read_line(address, file, line, sizeof line) ? (unsigned)strtoul(line, NULL, 10) : 0;
}

} // namespace

struct scope_pcie scope_pcie_of(const char *address)
{
	unsigned v[4];

	if (ask(address, v))
		return scope_pcie{v[0], v[1], v[2], v[3], "nvml"};
	const struct scope_pcie l = {
	    generation(address, "current_link_speed"), width(address, "current_link_width"),
	    generation(address, "max_link_speed"), width(address, "max_link_width"), "sysfs"};

	return l.generation && l.width ? l : scope_pcie{};
}
