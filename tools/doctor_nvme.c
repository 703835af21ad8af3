/* SPDX-License-Identifier: Apache-2.0 */
/* Which drives this program could drive itself, and what is missing for that. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <store/nvme/pci.h>

#include "doctor.h"

static void say_drive(struct doctor_try *t, const struct gn_pci *pci)
{
	struct gn_error e = {0, ""};
	char group[64];

	snprintf(group, sizeof group, "/dev/vfio/%d", pci->group);
	if (pci->group < 0)
		snprintf(t->why, sizeof t->why,
		         "no IOMMU is on; switch it on in the firmware (VT-d, AMD-Vi) and boot with "
		         "intel_iommu=on iommu=pt");
	else if (!strcmp(pci->driver, "vfio-pci") && access(group, R_OK | W_OK))
		snprintf(t->why, sizeof t->why,
		         "%s has vfio-pci, but %s is not this user's; as root run chown USER %s",
		         pci->address, group, group);
	else if (!strcmp(pci->driver, "vfio-pci"))
		snprintf(t->why, sizeof t->why, "nvme:%s", pci->address);
	else if (gn_pci_used(pci, &e))
		snprintf(t->why, sizeof t->why, "%.190s", e.text);
	else if (access("/sys/bus/pci/drivers/vfio-pci", F_OK))
		snprintf(t->why, sizeof t->why,
		         "the driver vfio-pci is not loaded; as root run modprobe vfio-pci");
	else
		snprintf(t->why, sizeof t->why,
		         "the kernel has %s, and nobody uses it; as root run grapnel nvme bind %s",
		         pci->address, pci->address);
	t->works = !strncmp(t->why, "nvme:", 5) && !e.code;
}

/* The first drive that works, else what is missing for the last of them. */
void doctor_probe_nvme(struct doctor_try *t)
{
	struct gn_pci list[GN_PCI_MOST];
	unsigned count = gn_pci_list(list);

	snprintf(t->why, sizeof t->why, "there is no NVMe controller on the PCI bus");
	for (unsigned k = 0; k < count && !t->works; k++)
		say_drive(t, &list[k]);
}
