/* SPDX-License-Identifier: Apache-2.0 */
#include <store/nvme/iommufd.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define IOMMU_FILE "/dev/iommu"

/*
 * What is used of the kernel's interface (Documentation/userspace-api/iommufd.rst). Headers of older systems
 * do not have it. Each request begins with its size.
 */
enum { REQUEST_ALLOC = 0x81, REQUEST_RANGES = 0x84, REQUEST_MAP = 0x85, REQUEST_UNMAP = 0x86 };
enum { MAP_FIXED_BUS = 1, MAP_WRITES = 2, MAP_READS = 4 };
enum { BIND = 18, ATTACH = 19 };

struct alloc_request {
	uint32_t size, flags, id;
};

struct ranges_request {
	uint32_t size, id, count, reserved;
	uint64_t ranges, alignment;
};

struct map_request {
	uint32_t size, flags, id, reserved;
	uint64_t memory, bytes, bus;
};

struct unmap_request {
	uint32_t size, id;
	uint64_t bus, bytes;
};

struct bind_request {
	uint32_t size, flags;
	int32_t iommufd;
	uint32_t device;
};

struct attach_request {
	uint32_t size, flags, id;
};

/* ---- which file ---- */

int gn_iommufd_device(const struct gn_pci *pci, char *path, size_t size)
{
	char folder[80];
	const struct dirent *entry;
	DIR *dir;
	int rc = -GN_ENOTSUP;

	snprintf(folder, sizeof folder, "/sys/bus/pci/devices/%s/vfio-dev", pci->address);
	dir = opendir(folder);
	if (!dir)
		return -GN_ENOTSUP;
	while (rc && (entry = readdir(dir)) != NULL)
		if (!strncmp(entry->d_name, "vfio", 4))
			rc = snprintf(path, size, "/dev/vfio/devices/%s", entry->d_name) < (int)size
			         ? 0
			         : -GN_ENOTSUP;
	closedir(dir);
	return rc || access(path, F_OK) || access(IOMMU_FILE, F_OK) ? -GN_ENOTSUP : 0;
}

int gn_iommufd_permits(const struct gn_pci *pci)
{
	char path[320];

	return !gn_iommufd_device(pci, path, sizeof path) && !access(path, R_OK | W_OK) &&
	       !access(IOMMU_FILE, R_OK | W_OK);
}

/* ---- opening ---- */

static int refuse(const struct gn_vfio *v, const char *what, struct gn_error *error)
{
	return gn_error_set(error, errno == EACCES || errno == EPERM ? -GN_EACCES : -GN_EIO,
	                    "%s: %s: %s; see the kernel log", v->name, what, strerror(errno));
}

/* The kernel says EINVAL if the device is open by its file already, and EBUSY if it is by its group. */
static int bind_device(struct gn_vfio *v, const char *path, struct gn_error *error)
{
	struct bind_request request = {sizeof request, 0, v->iommufd, 0};

	if (!ioctl(v->device, _IO(VFIO_TYPE, VFIO_BASE + BIND), &request))
		return 0;
	if (errno == EBUSY || errno == EINVAL)
		return gn_error_set(
		    error, -GN_EBUSY,
		    "%s: another program, or another store of this one, has the device (%s), or "
		    "the kernel still drives another one of its IOMMU group; close or unbind "
		    "that first",
		    v->name, path);
	return refuse(v, "iommufd does not take the device", error);
}

/* The device gets a table of addresses of its own. */
static int attach_table(struct gn_vfio *v, struct gn_error *error)
{
	struct alloc_request table = {sizeof table, 0, 0};
	struct attach_request attach = {sizeof attach, 0, 0};

	if (ioctl(v->iommufd, _IO(VFIO_TYPE, REQUEST_ALLOC), &table))
		return refuse(v, "iommufd gives no table of addresses", error);
	v->ioas = attach.id = table.id;
	if (ioctl(v->device, _IO(VFIO_TYPE, VFIO_BASE + ATTACH), &attach))
		return refuse(v,
		              "the IOMMU cannot be set up (one without interrupt remapping needs "
		              "allow_unsafe_interrupts=1 of iommufd)",
		              error);
	return 0;
}

/* If there are more ranges than have room, the kernel says EMSGSIZE and gives the first of them. */
static int take_ranges(struct gn_vfio *v, struct gn_error *error)
{
	struct ranges_request request;

	memset(&request, 0, sizeof request);
	request.size = sizeof request;
	request.id = v->ioas;
	request.count = GN_VFIO_RANGES;
	request.ranges = (uint64_t)(uintptr_t)v->range;
	if (ioctl(v->iommufd, _IO(VFIO_TYPE, REQUEST_RANGES), &request) && errno != EMSGSIZE)
		return refuse(v, "iommufd does not say which addresses the IOMMU translates", error);
	v->ranges = request.count < GN_VFIO_RANGES ? request.count : (unsigned)GN_VFIO_RANGES;
	if (v->ranges && v->range[0].first < GN_NVME_PAGE)
		v->range[0].first = GN_NVME_PAGE;
	return 0;
}

int gn_iommufd_open(struct gn_vfio *v, const struct gn_pci *pci, struct gn_error *error)
{
	char path[320];
	int rc = gn_iommufd_device(pci, path, sizeof path);

	if (rc)
		return gn_error_set(error, rc, "%s: the kernel has no iommufd for it", v->name);
	v->iommufd = open(IOMMU_FILE, O_RDWR | O_CLOEXEC);
	if (v->iommufd < 0)
		return refuse(v, IOMMU_FILE " cannot be opened", error);
	v->device = open(path, O_RDWR | O_CLOEXEC);
	if (v->device < 0)
		return refuse(v, "the device's file in /dev/vfio/devices cannot be opened", error);
	rc = bind_device(v, path, error);
	if (!rc)
		rc = attach_table(v, error);
	return rc ? rc : take_ranges(v, error);
}

/* ---- memory ---- */

int gn_iommufd_map(const struct gn_vfio *v, const void *memory, size_t bytes, uint64_t bus)
{
	struct map_request request;

	memset(&request, 0, sizeof request);
	request.size = sizeof request;
	request.flags = MAP_FIXED_BUS | MAP_WRITES | MAP_READS;
	request.id = v->ioas;
	request.memory = (uint64_t)(uintptr_t)memory;
	request.bytes = bytes;
	request.bus = bus;
	return ioctl(v->iommufd, _IO(VFIO_TYPE, REQUEST_MAP), &request) ? errno : 0;
}

void gn_iommufd_unmap(const struct gn_vfio *v, size_t bytes, uint64_t bus)
{
	struct unmap_request request = {sizeof request, v->ioas, bus, bytes};

	ioctl(v->iommufd, _IO(VFIO_TYPE, REQUEST_UNMAP), &request);
}
