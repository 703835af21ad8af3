/* SPDX-License-Identifier: Apache-2.0 */
#include <store/nvme/pci.h>

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CLASS_NVME = 0x010802, PATH = 512 };
static const char devices[] = "/sys/bus/pci/devices";

/* ---- addresses ---- */

/* Hexadecimal digits, exactly so many. Returns the text behind them, or NULL. */
static const char *digits(char *to, const char *text, unsigned count)
{
	for (unsigned k = 0; k < count; k++) {
		if (!isxdigit((unsigned char)text[k]))
			return NULL;
		to[k] = (char)tolower((unsigned char)text[k]);
	}
	return text + count;
}

int gn_pci_parse(char address[GN_PCI_ADDRESS], const char *text, struct gn_error *error)
{
	const char *short_form = strchr(text, ':');
	const char *at = text;

	memset(address, 0, GN_PCI_ADDRESS);
	memcpy(address, "0000:00:00.0", 12);
	if (short_form && strchr(short_form + 1, ':'))
		at = digits(address, at, 4) ? at + 4 : NULL;
	if (at && at != text)
		at = *at == ':' ? at + 1 : NULL;
	at = at ? digits(address + 5, at, 2) : NULL;
	at = at && *at == ':' ? digits(address + 8, at + 1, 2) : NULL;
	if (at && *at == '.' && at[1] >= '0' && at[1] <= '7' && !at[2]) {
		address[11] = at[1];
		return 0;
	}
	return gn_error_set(error, -GN_EINVAL,
	                    "nvme:%s: this is not the address of a PCI device; give one such as 0000:01:00.0 "
	                    "(grapnel nvme list shows them)",
	                    text);
}

/* ---- looking up ---- */

static unsigned read_hex(const char *address, const char *name)
{
	char path[PATH];
	unsigned value = 0;
	FILE *f;

	snprintf(path, sizeof path, "%s/%s/%s", devices, address, name);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%x", &value) != 1)
		value = 0;
	fclose(f);
	return value;
}

/* The last part of what a link in the device's folder points to; "" without one. */
static void read_link(char *to, size_t size, const char *address, const char *name)
{
	char path[PATH], target[PATH];
	const char *last;
	ssize_t length;

	to[0] = '\0';
	snprintf(path, sizeof path, "%s/%s/%s", devices, address, name);
	length = readlink(path, target, sizeof target - 1);
	if (length <= 0)
		return;
	target[length] = '\0';
	last = strrchr(target, '/');
	snprintf(to, size, "%.*s", (int)size - 1, last ? last + 1 : target);
}

static void look_up(struct gn_pci *pci, const char *address)
{
	char group[16];

	memset(pci, 0, sizeof *pci);
	snprintf(pci->address, sizeof pci->address, "%.12s", address);
	pci->vendor = read_hex(address, "vendor");
	pci->device = read_hex(address, "device");
	pci->class_code = read_hex(address, "class");
	read_link(pci->driver, sizeof pci->driver, address, "driver");
	read_link(group, sizeof group, address, "iommu_group");
	pci->group = group[0] ? atoi(group) : -1;
}

int gn_pci_find(struct gn_pci *pci, const char *address, struct gn_error *error)
{
	char path[PATH];

	snprintf(path, sizeof path, "%s/%s", devices, address);
	if (access(path, F_OK))
		return gn_error_set(error, -GN_ENODEV,
		                    "nvme:%s: there is no PCI device with this address; grapnel nvme list "
		                    "shows the NVMe controllers",
		                    address);
	look_up(pci, address);
	if (pci->class_code != CLASS_NVME)
		return gn_error_set(error, -GN_ENODEV,
		                    "nvme:%s: this device is not an NVMe controller (class %06x, not "
		                    "%06x); grapnel nvme list shows those",
		                    address, pci->class_code, (unsigned)CLASS_NVME);
	return 0;
}

static int by_address(const void *a, const void *b)
{
	return strcmp(((const struct gn_pci *)a)->address, ((const struct gn_pci *)b)->address);
}

unsigned gn_pci_list(struct gn_pci list[GN_PCI_MOST])
{
	DIR *folder = opendir(devices);
	const struct dirent *entry;
	unsigned count = 0;

	while (folder && count < GN_PCI_MOST && (entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		look_up(&list[count], entry->d_name);
		count += list[count].class_code == CLASS_NVME;
	}
	if (folder)
		closedir(folder);
	qsort(list, count, sizeof *list, by_address);
	return count;
}

/* ---- binding ---- */

/* Write a word to a file of sysfs. Returns 0 or an errno value. */
static int put(const char *path, const char *word)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t written;
	int rc = 0;

	if (fd < 0)
		return errno;
	written = write(fd, word, strlen(word));
	if (written < 0)
		rc = errno;
	close(fd);
	return rc;
}

static int refused(const struct gn_pci *pci, const char *path, int number, struct gn_error *error)
{
	if (number == EACCES || number == EPERM || number == EROFS)
		return gn_error_set(error, -GN_EACCES,
		                    "nvme:%s: writing %s is not permitted; run grapnel nvme bind or unbind "
		                    "as root",
		                    pci->address, path);
	return gn_error_set(error, -GN_EIO, "nvme:%s: writing %s failed: %s; see the kernel log",
	                    pci->address, path, strerror(number));
}

/* Take the device from its driver, and let the driver named take it; "" is whichever the kernel chooses. */
static int hand_over(const struct gn_pci *pci, const char *driver, struct gn_error *error)
{
	char path[PATH];
	int number;

	snprintf(path, sizeof path, "%s/%s/driver_override", devices, pci->address);
	number = put(path, driver[0] ? driver : "\n");
	if (number)
		return refused(pci, path, number, error);
	if (pci->driver[0]) {
		snprintf(path, sizeof path, "%s/%s/driver/unbind", devices, pci->address);
		number = put(path, pci->address);
		if (number)
			return refused(pci, path, number, error);
	}
	snprintf(path, sizeof path, "/sys/bus/pci/drivers_probe");
	number = put(path, pci->address);
	return number ? refused(pci, path, number, error) : 0;
}

int gn_pci_bind(const struct gn_pci *pci, struct gn_error *error)
{
	struct gn_pci after;
	int rc;

	if (!strcmp(pci->driver, "vfio-pci"))
		return 0;
	if (pci->group < 0)
		return gn_error_set(error, -GN_ENOTSUP,
		                    "nvme:%s: the system has no IOMMU for this device; switch it on in the "
		                    "firmware (VT-d, AMD-Vi) and boot with intel_iommu=on iommu=pt",
		                    pci->address);
	if (access("/sys/bus/pci/drivers/vfio-pci", F_OK))
		return gn_error_set(error, -GN_ENOTSUP,
		                    "nvme:%s: the driver vfio-pci is not loaded; run modprobe vfio-pci",
		                    pci->address);
	if (pci->driver[0] && strcmp(pci->driver, "nvme"))
		return gn_error_set(
		    error, -GN_EBUSY,
		    "nvme:%s: the driver %s has it, which does not say who uses it; take it from there first",
		    pci->address, pci->driver);
	rc = gn_pci_used(pci, error);
	if (rc)
		return rc;
	rc = hand_over(pci, "vfio-pci", error);
	look_up(&after, pci->address);
	if (!rc && !strcmp(after.driver, "vfio-pci"))
		return 0;
	hand_over(&after, "", NULL);
	return rc ? rc
	          : gn_error_set(
	                error, -GN_EIO,
	                "nvme:%s: vfio-pci did not take it, so the kernel has it again; see the kernel log",
	                pci->address);
}

int gn_pci_unbind(const struct gn_pci *pci, struct gn_error *error)
{
	if (pci->driver[0] && strcmp(pci->driver, "vfio-pci"))
		return 0;
	return hand_over(pci, "", error);
}
