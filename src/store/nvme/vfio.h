/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vfio.h - a PCI device in the hands of this process: its registers, and memory that it reaches, through the
 * kernel's VFIO and an IOMMU.
 */
#ifndef GN_STORE_NVME_VFIO_H
#define GN_STORE_NVME_VFIO_H

#include <store/nvme/drive.h>
#include <store/nvme/pci.h>

enum { GN_VFIO_RANGES = 16 };

/* Bus addresses that the IOMMU translates, both ends included. */
struct gn_vfio_range {
	uint64_t first, last;
};

struct gn_vfio {
	struct gn_dma dma;    /* first */
	int container, group; /* of VFIO; -1 with iommufd */
	int iommufd;          /* -1 with a container */
	uint32_t ioas;        /* of iommufd: the table of the device's addresses */
	int device;
	int request;     /* an eventfd: the system wants the device back; -1: none */
	char *registers; /* BAR 0 */
	size_t register_bytes;
	struct gn_vfio_range range[GN_VFIO_RANGES];
	unsigned ranges;
	unsigned at;   /* the range from which addresses are given out */
	uint64_t next; /* the next address of it */
	char name[24];
};

/*
 * gn_vfio_open - open a device that vfio-pci drives, map its registers and let it master the bus.
 * Returns 0, -GN_EBUSY (the kernel's driver or another process has it), -GN_EACCES, -GN_ENOTSUP (no IOMMU),
 * -GN_EIO; the message says what to do.
 */
int gn_vfio_open(struct gn_vfio *v, const struct gn_pci *pci, struct gn_error *error);
void gn_vfio_close(struct gn_vfio *v);

/* gn_vfio_way - how the kernel gives a device to this process, in words: by iommufd where both are to be had.
 */
const char *gn_vfio_way(const struct gn_pci *pci);

/* gn_vfio_wanted - does the system want the device back, because it is removed or unbound? 1 or 0. */
int gn_vfio_wanted(struct gn_vfio *v);

/*
 * gn_vfio_release - give the device back at once. The registers' place in memory then reads as ones, as those
 * of a device that is gone, and takes what threads still write to it. gn_vfio_close is still to be called.
 * Returns 0 or -GN_ENOMEM; then nothing was given back, and the caller may try again.
 */
int gn_vfio_release(struct gn_vfio *v);

#endif
