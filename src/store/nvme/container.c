/* SPDX-License-Identifier: Apache-2.0 */
#include <store/nvme/container.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { INFO_BYTES = 4096 };

static void take_ranges(struct gn_vfio *v, const struct vfio_iommu_type1_info_cap_iova_range *cap)
{
	for (uint32_t k = 0; k < cap->nr_iovas && v->ranges < GN_VFIO_RANGES; k++) {
		struct gn_vfio_range *r = &v->range[v->ranges++];

		r->first = cap->iova_ranges[k].start ? cap->iova_ranges[k].start : (uint64_t)GN_NVME_PAGE;
		r->last = cap->iova_ranges[k].end;
	}
}

/* Which addresses the IOMMU translates. A kernel before 5.4 does not say; then below the usual hole. */
static int ask_ranges(struct gn_vfio *v, struct gn_error *error)
{
	struct vfio_iommu_type1_info *info = (struct vfio_iommu_type1_info *)calloc(1, INFO_BYTES);
	uint32_t at;

	if (!info)
		return gn_error_set(error, -GN_ENOMEM, "%s: out of memory", v->name);
	info->argsz = INFO_BYTES;
	if (!ioctl(v->container, VFIO_IOMMU_GET_INFO, info) && info->flags & VFIO_IOMMU_INFO_CAPS)
		for (at = info->cap_offset; at && at < INFO_BYTES - 64;) {
			const struct vfio_info_cap_header *cap =
			    (const struct vfio_info_cap_header *)(const void *)((char *)info + at);

			if (cap->id == VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE)
				take_ranges(
				    v,
				    (const struct vfio_iommu_type1_info_cap_iova_range *)(const void *)cap);
			at = cap->next;
		}
	free(info);
	if (!v->ranges) {
		v->range[0].first = GN_NVME_PAGE;
		v->range[0].last = 0xfedfffff;
		v->ranges = 1;
	}
	return 0;
}

static int open_container(struct gn_vfio *v, struct gn_error *error)
{
	v->container = open("/dev/vfio/vfio", O_RDWR | O_CLOEXEC);
	if (v->container < 0)
		return gn_error_set(
		    error, errno == EACCES ? -GN_EACCES : -GN_ENOTSUP,
		    "%s: /dev/vfio/vfio cannot be opened: %s; run modprobe vfio-pci, and give "
		    "this user the right to open it",
		    v->name, strerror(errno));
	if (ioctl(v->container, VFIO_GET_API_VERSION) != VFIO_API_VERSION ||
	    ioctl(v->container, VFIO_CHECK_EXTENSION, VFIO_TYPE1v2_IOMMU) != 1)
		return gn_error_set(error, -GN_ENOTSUP,
		                    "%s: this kernel's VFIO has no type 1 IOMMU; run modprobe "
		                    "vfio_iommu_type1, and boot with intel_iommu=on iommu=pt",
		                    v->name);
	return 0;
}

static int open_group(struct gn_vfio *v, const struct gn_pci *pci, struct gn_error *error)
{
	struct vfio_group_status status;
	char path[64];

	snprintf(path, sizeof path, "/dev/vfio/%d", pci->group);
	v->group = open(path, O_RDWR | O_CLOEXEC);
	if (v->group < 0 && errno == EBUSY)
		return gn_error_set(error, -GN_EBUSY,
		                    "%s: another program, or another store of this one, has the device (%s); "
		                    "close that first",
		                    v->name, path);
	if (v->group < 0)
		return gn_error_set(error, errno == EACCES || errno == EPERM ? -GN_EACCES : -GN_ENOTSUP,
		                    "%s: %s cannot be opened: %s; let root run chown on it for this user",
		                    v->name, path, strerror(errno));
	memset(&status, 0, sizeof status);
	status.argsz = sizeof status;
	if (ioctl(v->group, VFIO_GROUP_GET_STATUS, &status) || !(status.flags & VFIO_GROUP_FLAGS_VIABLE))
		return gn_error_set(
		    error, -GN_EBUSY,
		    "%s: other devices of IOMMU group %d are still driven by the kernel; give "
		    "them to vfio-pci too (ls /sys/kernel/iommu_groups/%d/devices)",
		    v->name, pci->group, pci->group);
	return 0;
}

static int join(struct gn_vfio *v, const struct gn_pci *pci, struct gn_error *error)
{
	if (ioctl(v->group, VFIO_GROUP_SET_CONTAINER, &v->container) ||
	    ioctl(v->container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU))
		return gn_error_set(
		    error, errno == EPERM ? -GN_EACCES : -GN_EIO,
		    "%s: the IOMMU cannot be set up: %s; see the kernel log (an IOMMU without "
		    "interrupt remapping needs allow_unsafe_interrupts=1 of "
		    "vfio_iommu_type1)",
		    v->name, strerror(errno));
	v->device = ioctl(v->group, VFIO_GROUP_GET_DEVICE_FD, pci->address);
	if (v->device < 0)
		return gn_error_set(error, -GN_EIO,
		                    "%s: VFIO does not give the device: %s; see the kernel "
		                    "log",
		                    v->name, strerror(errno));
	return ask_ranges(v, error);
}

int gn_container_open(struct gn_vfio *v, const struct gn_pci *pci, struct gn_error *error)
{
	int rc = open_container(v, error);

	if (!rc)
		rc = open_group(v, pci, error);
	return rc ? rc : join(v, pci, error);
}

/* ---- memory ---- */

int gn_container_map(const struct gn_vfio *v, const void *memory, size_t bytes, uint64_t bus)
{
	struct vfio_iommu_type1_dma_map request;

	memset(&request, 0, sizeof request);
	request.argsz = sizeof request;
	request.iova = bus;
	request.flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE;
	request.vaddr = (uint64_t)(uintptr_t)memory;
	request.size = bytes;
	return ioctl(v->container, VFIO_IOMMU_MAP_DMA, &request) ? errno : 0;
}

void gn_container_unmap(const struct gn_vfio *v, size_t bytes, uint64_t bus)
{
	struct vfio_iommu_type1_dma_unmap request;

	memset(&request, 0, sizeof request);
	request.argsz = sizeof request;
	request.iova = bus;
	request.size = bytes;
	ioctl(v->container, VFIO_IOMMU_UNMAP_DMA, &request);
}
