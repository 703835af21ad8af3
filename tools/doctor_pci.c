/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <stdio.h>

#include "doctor.h"
#include "scope/system.h"

enum { VENDOR_NVIDIA = 0x10de, CLASS_DISPLAY = 0x03 };

static unsigned number(const char *devices, const char *address, const char *name)
{
	return (unsigned)scope_system_number("%s/%s/%s", devices, address, name);
}

static bool is_gpu(const char *devices, const char *address)
{
	return number(devices, address, "vendor") == VENDOR_NVIDIA &&
	       number(devices, address, "class") >> 16 == CLASS_DISPLAY;
}

static void read_gpu(struct doctor_gpu *g, const char *devices, const char *address)
{
	snprintf(g->address, sizeof g->address, "%.15s", address);
	snprintf(g->name, sizeof g->name, "NVIDIA 10de:%04x", number(devices, address, "device"));
	scope_system_line(g->link_speed, sizeof g->link_speed, "%s/%s/current_link_speed", devices, address);
	scope_system_line(g->link_speed_max, sizeof g->link_speed_max, "%s/%s/max_link_speed", devices,
	                  address);
	g->link_width = number(devices, address, "current_link_width");
	g->link_width_max = number(devices, address, "max_link_width");
}

void doctor_probe_pci(struct doctor *d, const char *devices)
{
	DIR *dir = opendir(devices);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)) && d->gpu_count < DOCTOR_GPUS) {
		if (entry->d_name[0] != '.' && is_gpu(devices, entry->d_name))
			read_gpu(&d->gpus[d->gpu_count++], devices, entry->d_name);
	}
	if (dir)
		closedir(dir);
}
