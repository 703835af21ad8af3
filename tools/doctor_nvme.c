/* SPDX-License-Identifier: Apache-2.0 */
/* Which drives this program could drive itself, and what is missing for that. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <store/nvme/iommufd.h>

#include "doctor.h"

static void judge(struct doctor_try *t, const struct gn_pci *pci)
{
	const char *address = pci->address;
	struct gn_error e = {0, ""};
	char group[64];

	snprintf(group, sizeof group, "/dev/vfio/%d", pci->group);
	if (pci->group < 0)
		doctor_say(t, false,
		           "no IOMMU is on; switch it on in the firmware (VT-d, AMD-Vi) and boot with "
		           "intel_iommu=on "
		           "iommu=pt");
	else if (!strcmp(pci->driver, "vfio-pci") && access(group, R_OK | W_OK) && !gn_iommufd_permits(pci))
		doctor_say(t, false, "%s has vfio-pci, but %s is not this user's; as root run chown USER %s",
		           address, group, group);
	else if (!strcmp(pci->driver, "vfio-pci"))
		doctor_say(t, true, "nvme:%s, through %s", address, gn_vfio_way(pci));
	else if (gn_pci_used(pci, &e))
		doctor_say(t, false, "%s", e.text);
	else if (access("/sys/bus/pci/drivers/vfio-pci", F_OK))
		doctor_say(t, false, "the driver vfio-pci is not loaded; as root run modprobe vfio-pci");
	else
		doctor_say(t, false,
		           "the kernel has %s, and nobody uses it; as root run grapnel nvme bind %s", address,
		           address);
}

/* The first drive that works, else what is missing for the last of them. */
void doctor_probe_nvme(struct doctor_try *t)
{
	struct gn_pci list[GN_PCI_MOST];
	unsigned count = gn_pci_list(list);

	doctor_say(t, false, "there is no NVMe controller on the PCI bus");
	for (unsigned k = 0; k < count && !t->works; k++)
		judge(t, &list[k]);
}
