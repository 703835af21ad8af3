/* SPDX-License-Identifier: Apache-2.0 */
/* nvme.h - an NVMe device by its address, open or refused with advice. */
#ifndef GN_STORE_NVME_NVME_H
#define GN_STORE_NVME_NVME_H

#include <store/nvme/admin.h>
#include <store/nvme/vfio.h>

struct gn_nvme_device {
	struct gn_pci pci;
	struct gn_vfio vfio;
	struct gn_drive drive;
};

/*
 * gn_nvme_device_open - take the controller of this address, which vfio-pci drives, and bring it up.
 * It is not moved while it is open. Returns 0 or a negative code with the message set.
 */
int gn_nvme_device_open(struct gn_nvme_device *device, const char *address, struct gn_error *error);
void gn_nvme_device_close(struct gn_nvme_device *device);

#endif
