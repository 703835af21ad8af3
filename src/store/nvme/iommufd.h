/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iommufd.h - a device of vfio-pci by its own file, with memory mapped through /dev/iommu (Linux 6.6 and
 * later, where it is built with CONFIG_VFIO_DEVICE_CDEV and CONFIG_IOMMUFD). Older kernels have VFIO's
 * containers and groups instead.
 */
#ifndef GN_STORE_NVME_IOMMUFD_H
#define GN_STORE_NVME_IOMMUFD_H

#include <stddef.h>

#include <store/nvme/vfio.h>

/*
 * gn_iommufd_device - the file of a device, such as /dev/vfio/devices/vfio0. Returns 0, or -GN_ENOTSUP: the
 * kernel has none for it, or has no /dev/iommu.
 */
int gn_iommufd_device(const struct gn_pci *pci, char *path, size_t size);

/* gn_iommufd_permits - may this process open both files? 1 or 0. */
int gn_iommufd_permits(const struct gn_pci *pci);

/*
 * gn_iommufd_open - open a device this way, and ask which addresses the IOMMU translates.
 * Sets v->device, iommufd, ioas and ranges; on failure the caller closes what was opened. Returns 0,
 * -GN_EBUSY (another store has it), -GN_EIO.
 */
int gn_iommufd_open(struct gn_vfio *v, const struct gn_pci *pci, struct gn_error *error);

/* gn_iommufd_map, gn_iommufd_unmap - memory at a bus address. Returns 0 or a value of errno. */
int gn_iommufd_map(const struct gn_vfio *v, const void *memory, size_t bytes, uint64_t bus);
void gn_iommufd_unmap(const struct gn_vfio *v, size_t bytes, uint64_t bus);

#endif
