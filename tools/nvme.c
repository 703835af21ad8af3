/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel nvme: drives that this program drives itself; its subcommands, and those that only look or bind. */
#include <stdio.h>
#include <string.h>

#include <store/nvme/nvme.h>

#include "nvme.h"

static const struct tool tools[] = {
    {"list", "list the NVMe controllers of this machine, and who drives them", tool_nvme_list},
    {"bind", "give a controller that nobody uses to vfio-pci, so that Grapnel can drive it", tool_nvme_bind},
    {"unbind", "give a controller back to the kernel", tool_nvme_unbind},
    {"identify", "reset a controller and print what it and its namespaces are", tool_nvme_identify},
    {"read", "read bytes of a namespace", tool_nvme_read},
    {"write", "write bytes to a namespace, over those that it has", tool_nvme_write},
    {"bench", "measure transfers of a namespace by the threads of a kernel", tool_nvme_bench},
};

static const struct tool_group subcommands = {
    "nvme", "Drive an NVMe drive from user space, through VFIO and an IOMMU.", tools,
    sizeof tools / sizeof *tools};

int tool_nvme(int argc, char **argv)
{
	return tool_group_run(&subcommands, argc, argv);
}

void nvme_need_address(const struct argp_state *state, const char *address)
{
	if (!address)
		argp_error(state, "no address given; 'grapnel nvme list' shows them");
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	const char **address = (const char **)state->input;

	switch (key) {
	case ARGP_KEY_ARG: tool_argument(state, address, "address", text); return 0;
	case ARGP_KEY_END: nvme_need_address(state, *address); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

/* ---- list ---- */

static error_t parse_nothing(int key, char *text, struct argp_state *state)
{
	if (key == ARGP_KEY_ARG)
		argp_error(state, "%s: unexpected argument; this command takes none", text);
	return ARGP_ERR_UNKNOWN;
}

static const struct argp list_argp = {
    NULL, parse_nothing, NULL,
    "List the NVMe controllers of this machine: address, vendor and device, IOMMU group, driver, and whether "
    "Grapnel can take them."};

static void print_one(const struct gn_pci *pci)
{
	struct gn_error e = {0, ""};
	const char *state = "free: grapnel nvme bind gives it to vfio-pci";
	char group[16] = "none";

	if (pci->group >= 0)
		snprintf(group, sizeof group, "%d", pci->group);
	if (!strcmp(pci->driver, "vfio-pci"))
		state = "ready for nvme:";
	else if (gn_pci_used(pci, &e))
		state = e.text;
	else if (pci->group < 0)
		state = "no IOMMU: switch it on in the firmware and boot with intel_iommu=on iommu=pt";
	printf("%s  %04x:%04x  group %-4s  driver %-8s  %s\n", pci->address, pci->vendor, pci->device, group,
	       pci->driver[0] ? pci->driver : "none", state);
}

int tool_nvme_list(int argc, char **argv)
{
	struct gn_pci list[GN_PCI_MOST];
	unsigned count;

	argp_parse(&list_argp, argc, argv, 0, NULL, NULL);
	count = gn_pci_list(list);
	for (unsigned k = 0; k < count; k++)
		print_one(&list[k]);
	if (!count)
		printf("no NVMe controller on the PCI bus\n");
	return TOOL_OK;
}

/* ---- bind, unbind ---- */

static int rebind(const char *subcommand, const char *text,
                  int (*hand)(const struct gn_pci *, struct gn_error *), const char *done)
{
	struct gn_error e = {0, ""};
	char address[GN_PCI_ADDRESS];
	struct gn_pci pci;
	int rc = gn_pci_parse(address, text, &e);

	rc = rc ? rc : gn_pci_find(&pci, address, &e);
	rc = rc ? rc : hand(&pci, &e);
	if (rc)
		return tool_fail(subcommand, &e);
	gn_pci_find(&pci, address, NULL);
	printf("%s: %s %s\n", address, done, pci.driver[0] ? pci.driver : "no driver");
	return TOOL_OK;
}

static const struct argp bind_argp = {
    NULL, parse, "ADDRESS",
    "Take an NVMe controller from the kernel and give it to vfio-pci, until it is unbound or the machine "
    "restarts. A controller of which a namespace is mounted, swap, open in a process or otherwise in use, "
    "as far as this system shows, is never taken. Needs root; to let another user use it, change the owner "
    "of /dev/vfio/GROUP."};

int tool_nvme_bind(int argc, char **argv)
{
	const char *address = NULL;

	argp_parse(&bind_argp, argc, argv, 0, NULL, &address);
	return rebind("nvme bind", address, gn_pci_bind, "driven by");
}

static const struct argp unbind_argp = {
    NULL, parse, "ADDRESS",
    "Give an NVMe controller that vfio-pci has back to the kernel's driver. Needs root."};

int tool_nvme_unbind(int argc, char **argv)
{
	const char *address = NULL;

	argp_parse(&unbind_argp, argc, argv, 0, NULL, &address);
	return rebind("nvme unbind", address, gn_pci_unbind, "given back to");
}

/* ---- identify ---- */

static const struct argp identify_argp = {
    NULL, parse, "ADDRESS",
    "Reset an NVMe controller that vfio-pci has, bring it up, and print what it is and which namespaces it "
    "has."};

static void print_controller(struct gn_nvme_device *device)
{
	const struct gn_drive_identity *i = &device->drive.identity;

	printf("model       %s\nserial      %s\nfirmware    %s\nversion     %u.%u.%u\n", i->model, i->serial,
	       i->firmware, i->version >> 16, i->version >> 8 & 255, i->version & 255);
	printf("controller  %u\nentries     %u in a queue at most\n", i->id,
	       gn_cap_entries(device->drive.cap));
	if (i->transfer_bytes)
		printf("transfer    %llu bytes at most\n", (unsigned long long)i->transfer_bytes);
	else
		printf("transfer    without a limit\n");
	printf("cache       %s\ndeallocate  %s\nthrough     %s\n",
	       i->has_cache ? "volatile: flush matters" : "none", i->has_deallocate ? "yes" : "no",
	       device->vfio.iommufd >= 0 ? "iommufd" : "VFIO's container");
}

static int print_namespaces(struct gn_nvme_device *device, struct gn_error *e)
{
	uint32_t ids[1024], count = 0;
	int rc = gn_drive_list(&device->drive, ids, &count, e);

	for (uint32_t k = 0; k < count && !rc; k++) {
		struct gn_drive_namespace ns;

		if (gn_drive_namespace_of(&device->drive, ids[k], &ns, e))
			printf("namespace   %u: %s\n", ids[k], e->text);
		else
			printf("namespace   %u: %llu blocks of %u bytes\n", ids[k],
			       (unsigned long long)ns.blocks, ns.block_bytes);
	}
	return rc;
}

int tool_nvme_identify(int argc, char **argv)
{
	struct gn_nvme_device *device = (struct gn_nvme_device *)malloc(sizeof *device);
	const char *address = NULL;
	struct gn_error e = {0, ""};
	int rc;

	argp_parse(&identify_argp, argc, argv, 0, NULL, &address);
	rc =
	    device ? gn_nvme_device_open(device, address, &e) : gn_error_set(&e, -GN_ENOMEM, "out of memory");
	if (!rc) {
		print_controller(device);
		rc = print_namespaces(device, &e);
		gn_nvme_device_close(device);
	}
	free(device);
	return rc ? tool_fail("nvme identify", &e) : TOOL_OK;
}
