/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

enum { VENDOR_NVIDIA = 0x10de, CLASS_DISPLAY = 0x03 };

/* First line of a device's attribute; empty when it has none. */
static void attribute(const char *devices, const char *address, const char *name, char *value, size_t bytes)
{
	char path[512];
	FILE *f;

	value[0] = '\0';
	snprintf(path, sizeof path, "%.300s/%.32s/%.32s", devices, address, name);
	f = fopen(path, "re");
	if (!f)
		return;
	if (fgets(value, (int)bytes, f))
		value[strcspn(value, "\n")] = '\0';
	else
		value[0] = '\0';
	fclose(f);
}

static unsigned number(const char *devices, const char *address, const char *name)
{
	char value[32];

	attribute(devices, address, name, value, sizeof value);
	return (unsigned)strtoul(value, NULL, 0);
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
	attribute(devices, address, "current_link_speed", g->link_speed, sizeof g->link_speed);
	attribute(devices, address, "max_link_speed", g->link_speed_max, sizeof g->link_speed_max);
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
