/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pci.h - NVMe controllers as Linux shows them in sysfs: which there are, who drives them, who uses them.
 */
#ifndef GN_STORE_NVME_PCI_H
#define GN_STORE_NVME_PCI_H

#include <grapnel/error.h>

enum { GN_PCI_ADDRESS = 16, GN_PCI_MOST = 64 };

/* A function of a PCI device. */
struct gn_pci {
	char address[GN_PCI_ADDRESS]; /* DDDD:BB:DD.F */
	char driver[32];              /* "" for none */
	unsigned vendor, device, class_code;
	int group; /* IOMMU group; -1: the system has no IOMMU for it */
};

/* gn_pci_parse - an address such as 0000:01:00.0 or 01:00.0, in full. Returns 0 or -GN_EINVAL. */
int gn_pci_parse(char address[GN_PCI_ADDRESS], const char *text, struct gn_error *error);

/* gn_pci_find - look an NVMe controller up. Returns 0, -GN_ENODEV (no such device, or it is none). */
int gn_pci_find(struct gn_pci *pci, const char *address, struct gn_error *error);

/* gn_pci_list - the NVMe controllers of this machine. Returns their number, at most GN_PCI_MOST. */
unsigned gn_pci_list(struct gn_pci list[GN_PCI_MOST]);

/*
 * gn_pci_used - is a namespace of this controller mounted, swap, part of another block device, or open in a
 * process that /proc shows? What cannot be found out counts as a use. Returns 0, or -GN_EBUSY: the message
 * says which and by whom.
 */
int gn_pci_used(const struct gn_pci *pci, struct gn_error *error);

/*
 * gn_pci_bind - give a controller that nobody uses to vfio-pci. gn_pci_unbind - give it back to the kernel.
 * Returns 0, -GN_EBUSY (gn_pci_used), -GN_EACCES, -GN_ENOTSUP (no IOMMU, no vfio-pci), -GN_EIO.
 */
int gn_pci_bind(const struct gn_pci *pci, struct gn_error *error);
int gn_pci_unbind(const struct gn_pci *pci, struct gn_error *error);

#endif
