/* SPDX-License-Identifier: Apache-2.0 */
/* container.h - a device of vfio-pci by its IOMMU group, with memory mapped through a container of VFIO. */
#ifndef GN_STORE_NVME_CONTAINER_H
#define GN_STORE_NVME_CONTAINER_H

#include <store/nvme/vfio.h>

/*
 * gn_container_open - open a device this way, and ask which addresses the IOMMU translates.
 * Sets v->container, group, device and ranges; on failure the caller closes what was opened. Returns 0,
 * -GN_EBUSY, -GN_EACCES, -GN_ENOTSUP, -GN_EIO, -GN_ENOMEM.
 */
int gn_container_open(struct gn_vfio *v, const struct gn_pci *pci, struct gn_error *error);

/* gn_container_map, gn_container_unmap - memory at a bus address. Returns 0 or a value of errno. */
int gn_container_map(const struct gn_vfio *v, const void *memory, size_t bytes, uint64_t bus);
void gn_container_unmap(const struct gn_vfio *v, size_t bytes, uint64_t bus);

#endif
