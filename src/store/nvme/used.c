/* SPDX-License-Identifier: Apache-2.0 */
/* used.c - who uses the block devices of an NVMe controller. */
#include <store/nvme/pci.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 512, NAME = 64 };

/* With multipath the controller's folder has nvme0c0n1, and the block device is nvme0n1. */
static void block_name(char name[NAME], const char *entry)
{
	unsigned subsystem, controller, ns;

	if (sscanf(entry, "nvme%uc%un%u", &subsystem, &controller, &ns) == 3)
		snprintf(name, NAME, "nvme%un%u", subsystem, ns);
	else
		snprintf(name, NAME, "%.60s", entry);
}

static int is_mounted(const char *numbers)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char line[1024], device[32];
	int found = 0;

	while (f && !found && fgets(line, sizeof line, f))
		found = sscanf(line, "%*s %*s %31s", device) == 1 && !strcmp(device, numbers);
	if (f)
		fclose(f);
	return found;
}

static int is_swap(const char *name)
{
	FILE *f = fopen("/proc/swaps", "re");
	char line[1024], path[NAME + 8];
	int found = 0;

	snprintf(path, sizeof path, "/dev/%s ", name);
	while (f && !found && fgets(line, sizeof line, f))
		found = !strncmp(line, path, strlen(path));
	if (f)
		fclose(f);
	return found;
}

static int has_holders(const char *folder)
{
	char path[PATH];
	const struct dirent *entry;
	DIR *d;
	int found = 0;

	snprintf(path, sizeof path, "%.400s/holders", folder);
	d = opendir(path);
	while (d && !found && (entry = readdir(d)))
		found = entry->d_name[0] != '.';
	if (d)
		closedir(d);
	return found;
}

/* An exclusive open is refused while the kernel, or a program that asks as politely, has the device. */
static int is_claimed(const char *name)
{
	char path[NAME + 8];
	int fd;

	snprintf(path, sizeof path, "/dev/%s", name);
	fd = open(path, O_RDONLY | O_EXCL | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd < 0 && errno == EBUSY;
}

static const char *use_of(const char *folder, const char *name)
{
	char path[PATH], numbers[32] = "";
	FILE *f;

	snprintf(path, sizeof path, "%.400s/dev", folder);
	f = fopen(path, "re");
	if (f && fscanf(f, "%31s", numbers) != 1)
		numbers[0] = '\0';
	if (f)
		fclose(f);
	if (numbers[0] && is_mounted(numbers))
		return "mounted; unmount it";
	if (is_swap(name))
		return "used as swap; run swapoff";
	if (has_holders(folder))
		return "part of another block device (LVM, RAID, encryption); close that";
	if (is_claimed(name))
		return "claimed by the kernel or held open exclusively; find out by lsblk and fuser";
	return NULL;
}

static int refuse(const struct gn_pci *pci, const char *name, const char *use, struct gn_error *error)
{
	return gn_error_set(error, -GN_EBUSY,
	                    "nvme:%s: not taken: its block device %s is %s first. Grapnel never takes a "
	                    "drive that is in use",
	                    pci->address, name, use);
}

/* A namespace's block device and its partitions, which are folders in it with its name before theirs. */
static int check_block(const struct gn_pci *pci, const char *name, struct gn_error *error)
{
	char folder[PATH], part[PATH];
	const struct dirent *entry;
	const char *use;
	DIR *d;
	int rc = 0;

	snprintf(folder, sizeof folder, "/sys/class/block/%.60s", name);
	use = use_of(folder, name);
	if (use)
		return refuse(pci, name, use, error);
	d = opendir(folder);
	while (d && !rc && (entry = readdir(d))) {
		if (strncmp(entry->d_name, name, strlen(name)))
			continue;
		snprintf(part, sizeof part, "/sys/class/block/%.60s", entry->d_name);
		use = use_of(part, entry->d_name);
		if (use)
			rc = refuse(pci, entry->d_name, use, error);
	}
	if (d)
		closedir(d);
	return rc;
}

/* The namespaces lie in .../ADDRESS/nvme/nvmeK/. */
static int check_controller(const struct gn_pci *pci, const char *folder, struct gn_error *error)
{
	const struct dirent *entry;
	DIR *d = opendir(folder);
	char name[NAME];
	int rc = 0;

	while (d && !rc && (entry = readdir(d))) {
		const char *number = entry->d_name + 4;

		if (strncmp(entry->d_name, "nvme", 4) || !strchr(number, 'n'))
			continue;
		block_name(name, entry->d_name);
		rc = check_block(pci, name, error);
	}
	if (d)
		closedir(d);
	return rc;
}

int gn_pci_used(const struct gn_pci *pci, struct gn_error *error)
{
	char path[PATH], folder[PATH];
	const struct dirent *entry;
	DIR *d;
	int rc = 0;

	snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/nvme", pci->address);
	d = opendir(path);
	while (d && !rc && (entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(folder, sizeof folder, "%.100s/%.60s", path, entry->d_name);
		rc = check_controller(pci, folder, error);
	}
	if (d)
		closedir(d);
	return rc;
}
