/* SPDX-License-Identifier: Apache-2.0 */
/*
 * used.c - who uses the block devices of an NVMe controller. What cannot be found out counts as a use.
 */
#include <store/nvme/pci.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { PATH = 512, NAME = 64, USE = 400 };

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

/*
 * An exclusive open is refused while the kernel has the device: a file system of any mount namespace, swap,
 * RAID. Returns 0 or an errno value.
 */
static int open_alone(const char *name)
{
	char path[NAME + 8];
	int fd;

	snprintf(path, sizeof path, "/dev/%s", name);
	fd = open(path, O_RDONLY | O_EXCL | O_CLOEXEC);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* Has a process the device open? folder: its /proc/PID/fd. */
static int has_open(const char *folder, dev_t device)
{
	const struct dirent *entry;
	char path[PATH];
	struct stat st;
	DIR *d = opendir(folder);
	int found = 0;

	while (d && !found && (entry = readdir(d))) {
		snprintf(path, sizeof path, "%.100s/%.60s", folder, entry->d_name);
		found = !stat(path, &st) && S_ISBLK(st.st_mode) && st.st_rdev == device;
	}
	if (d)
		closedir(d);
	return found;
}

/* The first process that has the device open, as far as /proc shows; 0: none. */
static long opened_by(dev_t device)
{
	const struct dirent *entry;
	char path[PATH];
	DIR *d = opendir("/proc");
	long found = 0;

	while (d && !found && (entry = readdir(d))) {
		const long pid = strtol(entry->d_name, NULL, 10);

		snprintf(path, sizeof path, "/proc/%.60s/fd", entry->d_name);
		found = pid > 0 && pid != (long)getpid() && has_open(path, device) ? pid : 0;
	}
	if (d)
		closedir(d);
	return found;
}

/* Fills use with what the device is used for and what to do about it. Returns 0: nobody uses it. */
static int use_of(const char *folder, const char *name, char use[USE])
{
	unsigned major_number, minor_number;
	char path[PATH], numbers[32] = "";
	int number;
	long pid;
	FILE *f;

	snprintf(path, sizeof path, "%.400s/dev", folder);
	f = fopen(path, "re");
	if (f && fscanf(f, "%31s", numbers) != 1)
		numbers[0] = '\0';
	if (f)
		fclose(f);
	if (sscanf(numbers, "%u:%u", &major_number, &minor_number) != 2)
		return snprintf(use, USE, "unknown to this system (%.200s); look at the kernel log", path);
	if (is_mounted(numbers))
		return snprintf(use, USE, "mounted; unmount it");
	if (is_swap(name))
		return snprintf(use, USE, "used as swap; run swapoff");
	if (has_holders(folder))
		return snprintf(use, USE, "part of another block device (LVM, RAID, encryption); close that");
	number = open_alone(name);
	if (number == EBUSY)
		return snprintf(
		    use, USE, "claimed by the kernel or held open exclusively; find out by lsblk and fuser");
	if (number)
		return snprintf(
		    use, USE,
		    "not shown to be free: /dev/%.60s cannot be opened (%s); run this as root, and make "
		    "its device file",
		    name, strerror(number));
	pid = opened_by(makedev(major_number, minor_number));
	if (pid)
		return snprintf(use, USE, "open in process %ld; end that", pid);
	return 0;
}

static int refuse(const struct gn_pci *pci, const char *name, const char *use, struct gn_error *error)
{
	return gn_error_set(error, -GN_EBUSY,
	                    "nvme:%s: not taken: its block device %s is %s first. Grapnel never takes a "
	                    "drive that is in use",
	                    pci->address, name, use);
}

static int unknown(const struct gn_pci *pci, const char *folder, struct gn_error *error)
{
	return gn_error_set(
	    error, -GN_EBUSY,
	    "nvme:%s: not taken: %s cannot be read (%s), so nothing shows whether it is in use", pci->address,
	    folder, strerror(errno));
}

/* A namespace's block device and its partitions, which are folders in it with its name before theirs. */
static int check_block(const struct gn_pci *pci, const char *name, struct gn_error *error)
{
	char folder[PATH], part[PATH], use[USE];
	const struct dirent *entry;
	DIR *d;
	int rc = 0;

	snprintf(folder, sizeof folder, "/sys/class/block/%.60s", name);
	if (use_of(folder, name, use))
		return refuse(pci, name, use, error);
	d = opendir(folder);
	if (!d)
		return unknown(pci, folder, error);
	while (!rc && (entry = readdir(d))) {
		if (strncmp(entry->d_name, name, strlen(name)))
			continue;
		snprintf(part, sizeof part, "/sys/class/block/%.60s", entry->d_name);
		if (use_of(part, entry->d_name, use))
			rc = refuse(pci, entry->d_name, use, error);
	}
	closedir(d);
	return rc;
}

/* The namespaces lie in .../ADDRESS/nvme/nvmeK/. */
static int check_controller(const struct gn_pci *pci, const char *folder, struct gn_error *error)
{
	const struct dirent *entry;
	DIR *d = opendir(folder);
	char name[NAME];
	int rc = d ? 0 : unknown(pci, folder, error);

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
	if (!d && !strcmp(pci->driver, "nvme"))
		return unknown(pci, path, error);
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
