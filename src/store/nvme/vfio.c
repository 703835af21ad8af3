/* SPDX-License-Identifier: Apache-2.0 */
#include <store/nvme/container.h>
#include <store/nvme/iommufd.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { DOORBELLS_BYTES = 8192 };
#define LARGE_PAGE ((uint64_t)2 << 20)

/* ---- memory ---- */

/*
 * Find bus addresses: a process's own addresses do not do, because an IOMMU may translate fewer bits than
 * they have. They are given out once; a drive's queues live as long as the store.
 */
static int find_bus(struct gn_vfio *v, size_t bytes, uint64_t *bus)
{
	uint64_t align = bytes >= LARGE_PAGE ? LARGE_PAGE : (uint64_t)GN_NVME_PAGE;

	for (; v->at < v->ranges; v->at++, v->next = 0) {
		const struct gn_vfio_range *r = &v->range[v->at];
		uint64_t start = v->next > r->first ? v->next : r->first;

		start = (start + align - 1) & ~(align - 1);
		if (start >= r->first && start <= r->last && bytes - 1 <= r->last - start) {
			*bus = start;
			v->next = start + bytes;
			return 0;
		}
	}
	return -GN_ENOMEM;
}

static int map(struct gn_dma *dma, void *memory, size_t bytes, uint64_t *bus, struct gn_error *error)
{
	struct gn_vfio *v = (struct gn_vfio *)(void *)dma;
	uint64_t at = 0;
	int rc;

	*bus = 0;
	if (find_bus(v, bytes, &at))
		return gn_error_set(error, -GN_ENOMEM,
		                    "%s: the IOMMU has no free addresses for %zu bytes; open the store with "
		                    "fewer queues or a smaller depth",
		                    v->name, bytes);
	rc = v->iommufd >= 0 ? gn_iommufd_map(v, memory, bytes, at) : gn_container_map(v, memory, bytes, at);
	if (rc == ENOMEM)
		return gn_error_set(error, -GN_ENOMEM,
		                    "%s: %zu bytes cannot be locked for the device; raise ulimit -l, "
		                    "or give fewer queues= or a smaller depth=",
		                    v->name, bytes);
	if (rc)
		return gn_error_set(error, -GN_EIO,
		                    "%s: the IOMMU refuses %zu bytes at address 0x%llx: %s; see the kernel "
		                    "log",
		                    v->name, bytes, (unsigned long long)at, strerror(rc));
	*bus = at;
	return 0;
}

static void unmap(struct gn_dma *dma, void *memory, size_t bytes, uint64_t bus)
{
	struct gn_vfio *v = (struct gn_vfio *)(void *)dma;

	(void)memory;
	if (v->iommufd >= 0)
		gn_iommufd_unmap(v, bytes, bus);
	else
		gn_container_unmap(v, bytes, bus);
	if (v->next == bus + bytes)
		v->next = bus;
}

/* ---- the device ---- */

static int ask_region(struct gn_vfio *v, unsigned index, struct vfio_region_info *info,
                      struct gn_error *error)
{
	memset(info, 0, sizeof *info);
	info->argsz = sizeof *info;
	info->index = index;
	if (ioctl(v->device, VFIO_DEVICE_GET_REGION_INFO, info) || !info->size)
		return gn_error_set(error, -GN_EIO, "%s: VFIO does not show region %u of the device", v->name,
		                    index);
	return 0;
}

/* All of BAR 0; where the kernel keeps a part of it (an old one the MSI-X table), registers and doorbells. */
static int map_registers(struct gn_vfio *v, struct gn_error *error)
{
	struct vfio_region_info info;
	size_t bytes;
	void *at;
	int rc = ask_region(v, VFIO_PCI_BAR0_REGION_INDEX, &info, error);

	if (rc)
		return rc;
	bytes = info.size;
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, v->device, (off_t)info.offset);
	if (at == MAP_FAILED && bytes > DOORBELLS_BYTES) {
		bytes = DOORBELLS_BYTES;
		at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, v->device, (off_t)info.offset);
	}
	if (at != MAP_FAILED && bytes < DOORBELLS_BYTES) {
		munmap(at, bytes);
		at = MAP_FAILED;
		errno = ENODEV; /* too few for a controller */
	}
	if (at == MAP_FAILED)
		return gn_error_set(error, -GN_EIO, "%s: the registers (%zu bytes) cannot be mapped: %s",
		                    v->name, bytes, strerror(errno));
	v->registers = (char *)at;
	v->register_bytes = bytes;
	return 0;
}

/* Change bits of the PCI command register. */
static int command_bits(struct gn_vfio *v, uint16_t clear, uint16_t set, struct gn_error *error)
{
	struct vfio_region_info info;
	uint16_t command = 0;
	int rc = ask_region(v, VFIO_PCI_CONFIG_REGION_INDEX, &info, error);
	off_t at = (off_t)info.offset + PCI_COMMAND;

	if (rc)
		return rc;
	if (pread(v->device, &command, 2, at) != 2)
		return gn_error_set(error, -GN_EIO, "%s: the PCI command register cannot be read", v->name);
	command = (uint16_t)((command & ~clear) | set);
	if (pwrite(v->device, &command, 2, at) != 2)
		return gn_error_set(error, -GN_EIO, "%s: the PCI command register cannot be written",
		                    v->name);
	return 0;
}

/* Memory accesses of the device are off until its bus master bit is set. */
static int set_master(struct gn_vfio *v, struct gn_error *error)
{
	return command_bits(v, 0, PCI_COMMAND_MASTER | PCI_COMMAND_MEMORY, error);
}

/* A device that is no master of the bus any more moves no data; where that fails, reset it. */
static int cut(struct gn_dma *dma)
{
	struct gn_vfio *v = (struct gn_vfio *)(void *)dma;

	if (v->device < 0 || !command_bits(v, PCI_COMMAND_MASTER, 0, NULL))
		return 0;
	return ioctl(v->device, VFIO_DEVICE_RESET) ? -GN_EIO : 0;
}

/* The event by which the system asks for the device. Without it a removal waits until the store is closed. */
static void ask_request(struct gn_vfio *v)
{
	char room[sizeof(struct vfio_irq_set) + sizeof(int32_t)];
	struct vfio_irq_set *set = (struct vfio_irq_set *)(void *)room;
	int32_t event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (event < 0)
		return;
	memset(room, 0, sizeof room);
	set->argsz = sizeof room;
	set->flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;
	set->index = VFIO_PCI_REQ_IRQ_INDEX;
	set->count = 1;
	memcpy(room + sizeof *set, &event, sizeof event);
	if (ioctl(v->device, VFIO_DEVICE_SET_IRQS, set))
		close(event);
	else
		v->request = event;
}

static int check_driver(const struct gn_pci *pci, struct gn_error *error)
{
	if (pci->group < 0)
		return gn_error_set(error, -GN_ENOTSUP,
		                    "nvme:%s: the system has no IOMMU for this device; switch it on in the "
		                    "firmware (VT-d, AMD-Vi) and boot with intel_iommu=on iommu=pt",
		                    pci->address);
	if (strcmp(pci->driver, "vfio-pci"))
		return gn_error_set(error, -GN_EBUSY,
		                    "nvme:%s: %s%s drives this device; make sure that nothing on it is "
		                    "needed, then let root run: grapnel nvme bind %s",
		                    pci->address, pci->driver[0] ? "the kernel's driver " : "no driver",
		                    pci->driver, pci->address);
	return 0;
}

const char *gn_vfio_way(const struct gn_pci *pci)
{
	return gn_iommufd_permits(pci) ? "iommufd" : "VFIO's container";
}

int gn_vfio_open(struct gn_vfio *v, const struct gn_pci *pci, struct gn_error *error)
{
	int rc = check_driver(pci, error);

	memset(v, 0, sizeof *v);
	v->container = v->group = v->iommufd = v->device = v->request = -1;
	v->dma.map = map;
	v->dma.unmap = unmap;
	v->dma.cut = cut;
	snprintf(v->name, sizeof v->name, "nvme:%s", pci->address);
	if (!rc)
		rc = gn_iommufd_permits(pci) ? gn_iommufd_open(v, pci, error)
		                             : gn_container_open(v, pci, error);
	if (!rc)
		rc = map_registers(v, error);
	if (!rc)
		rc = set_master(v, error);
	if (rc)
		gn_vfio_close(v);
	else
		ask_request(v);
	return rc;
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void give_back(struct gn_vfio *v)
{
	close_one(&v->request);
	close_one(&v->device);
	close_one(&v->group);
	close_one(&v->container);
	close_one(&v->iommufd);
}

void gn_vfio_close(struct gn_vfio *v)
{
	if (v->registers)
		munmap(v->registers, v->register_bytes);
	v->registers = NULL;
	give_back(v);
}

int gn_vfio_wanted(struct gn_vfio *v)
{
	uint64_t events;

	return v->request >= 0 && read(v->request, &events, sizeof events) == sizeof events;
}

int gn_vfio_release(struct gn_vfio *v)
{
	void *ones =
	    mmap(NULL, v->register_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (ones == MAP_FAILED)
		return -GN_ENOMEM;
	memset(ones, 0xff, v->register_bytes);
	/* At every moment there is one of both mappings. */
	if (mremap(ones, v->register_bytes, v->register_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, v->registers) ==
	    MAP_FAILED) {
		munmap(ones, v->register_bytes);
		return -GN_ENOMEM;
	}
	give_back(v);
	return 0;
}
