/* SPDX-License-Identifier: Apache-2.0 */
/* nvme.c - nvme: stores: a namespace of a drive, whose controller this process drives through VFIO. */
#include <store/nvme/nvme.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simt/machine.h>
#include <store/controller/pairs.h>
#include <store/nvme/counts.h>
#include <store/nvme/watch.h>
#include <store/store.h>

struct nvme_store {
	struct gn_store base; /* first */
	struct gn_nvme_device device;
	struct gn_block block;
	struct gn_watch watch;
	struct gn_counts *counts;
	struct gn_nvmeq *queues; /* [block.count], and the host's, in device memory */
};

static struct nvme_store *nvme_of(struct gn_store *store)
{
	return (struct nvme_store *)store;
}

/* ---- the device ---- */

int gn_nvme_device_open(struct gn_nvme_device *device, const char *text, struct gn_error *error)
{
	struct simt_options host = {"cpu", 1, 0, SIMT_FAIR, 0};
	struct gn_drive *d = &device->drive;
	char address[GN_PCI_ADDRESS];
	int rc;

	memset(device, 0, sizeof *device);
	rc = gn_pci_parse(address, text, error);
	if (!rc)
		rc = gn_pci_find(&device->pci, address, error);
	if (!rc)
		rc = gn_vfio_open(&device->vfio, &device->pci, error);
	if (rc)
		return rc;
	rc = simt_open(&d->host, &host, error);
	if (!rc) {
		snprintf(d->name, sizeof d->name, "nvme:%s", address);
		d->registers = device->vfio.registers;
		d->register_bytes = device->vfio.register_bytes;
		d->dma = &device->vfio.dma;
		rc = gn_drive_open(d, error);
	}
	if (rc)
		gn_nvme_device_close(device);
	return rc;
}

void gn_nvme_device_close(struct gn_nvme_device *device)
{
	gn_drive_close(&device->drive);
	gn_vfio_close(&device->vfio);
	if (device->drive.host)
		simt_close(device->drive.host);
	device->drive.host = NULL;
}

/* ---- the store ---- */

static int publish(struct nvme_store *n, struct gn_error *error)
{
	struct simt_machine *machine = n->base.machine;
	const uint32_t count = n->block.count + gn_block_host_queues(&n->block);
	int rc = 0;

	n->queues = (struct gn_nvmeq *)simt_alloc(machine, count * sizeof *n->queues, SIMT_DEVICE, error);
	if (!n->queues)
		return gn_error_set(error, -GN_ENOMEM, "%s: out of memory for %u queue pairs",
		                    n->device.drive.name, count);
	for (uint32_t k = 0; k < count && !rc; k++)
		rc = simt_move(machine, &n->queues[k], &n->block.pair[k].q, sizeof *n->queues, error);
	return gn_error_prefix(error, rc, "%s: the machine failed", n->device.drive.name);
}

static void describe(struct nvme_store *n, const struct gn_store_settings *settings)
{
	const struct gn_nvmeq *q = &n->block.pair[0].q;
	struct gn_store_view *view = &n->base.view;

	view->kind = GN_STORE_QUEUES;
	view->block_bytes = q->block_bytes;
	view->transfer_bytes = q->buffer_bytes;
	view->capacity_bytes = n->block.ns.blocks * n->block.ns.block_bytes;
	view->read_only = (uint32_t)settings->options.read_only;
	view->queue_count = n->block.count;
	view->host_queues = gn_block_host_queues(&n->block);
	view->timeout_ns = settings->options.timeout_ns;
	view->queue = n->queues;
	if (*n->device.drive.identity.serial)
		snprintf(n->base.mark, sizeof n->base.mark, "drive %04x %s namespace %u",
		         n->device.drive.identity.vendor, n->device.drive.identity.serial, n->block.nsid);
	snprintf(n->base.path, sizeof n->base.path,
	         "drive %s, serial %s, through VFIO%s, namespace %u with blocks of %u, %u queue%s of %u, "
	         "transfers "
	         "of %u",
	         n->device.drive.identity.model, n->device.drive.identity.serial,
	         n->device.vfio.iommufd >= 0 ? " and iommufd" : "", n->block.nsid, q->block_bytes,
	         n->block.count, n->block.count == 1 ? "" : "s", q->depth, q->buffer_bytes);
}

static int wanted(void *user)
{
	return gn_vfio_wanted((struct gn_vfio *)user);
}

static int release(void *user)
{
	return gn_vfio_release((struct gn_vfio *)user);
}

/* A GPU that has the registers in its page table cannot have them taken away. */
static int look_after(struct nvme_store *n, struct gn_error *error)
{
	struct simt_info info;

	simt_describe(n->base.machine, &info);
	n->watch.block = &n->block;
	n->watch.user = &n->device.vfio;
	n->watch.wanted = info.is_cuda ? NULL : wanted;
	n->watch.release = release;
	return gn_watch_start(&n->watch, n->base.machine, error);
}

static int open_block(struct nvme_store *n, const struct gn_store_settings *settings, struct gn_error *error)
{
	struct gn_block *b = &n->block;
	struct gn_nvmeq_options options;
	uint32_t count;
	void *reach;
	int rc;

	b->drive = &n->device.drive;
	b->nsid = settings->nsid;
	b->timeout_ns = settings->options.timeout_ns;
	n->counts = (struct gn_counts *)calloc(1, sizeof *n->counts);
	if (!n->counts)
		return gn_error_set(error, -GN_ENOMEM, "%s: out of memory", b->drive->name);
	gn_counts_begin(n->counts, b->drive);
	rc = simt__register_registers(n->base.machine, b->drive->registers, b->drive->register_bytes, &reach,
	                              error);
	if (rc)
		return rc;
	b->reach = (char *)reach;
	rc = gn_drive_namespace_of(b->drive, b->nsid, &b->ns, error);
	if (!rc)
		rc = gn_pairs_plan(&options, &count, n->base.machine, settings, b->ns.block_bytes, error);
	if (!rc)
		rc = gn_block_open(b, n->base.machine, count, &options, error);
	if (!rc)
		rc = publish(n, error);
	return rc ? rc : look_after(n, error);
}

static void nvme_close(struct gn_store *store)
{
	struct nvme_store *n = nvme_of(store);

	gn_watch_stop(&n->watch);
	gn_block_close(&n->block);
	simt_free(n->base.machine, n->queues);
	free(n->counts);
	if (n->block.reach)
		simt_unregister(n->base.machine, n->device.drive.registers, n->device.drive.register_bytes);
	gn_nvme_device_close(&n->device);
	free(n);
}

static int nvme_open(struct gn_store **store, struct simt_machine *machine, const struct gn_uri *uri,
                     const struct gn_store_settings *settings, struct gn_error *error)
{
	struct nvme_store *n = (struct nvme_store *)calloc(1, sizeof *n);
	int rc;

	if (!n)
		return gn_error_set(error, -GN_ENOMEM, "nvme:%s: out of memory", uri->path);
	n->base.ops = &gn_store_nvme;
	n->base.machine = machine;
	rc = gn_nvme_device_open(&n->device, uri->path, error);
	if (rc) {
		free(n);
		return rc;
	}
	rc = open_block(n, settings, error);
	if (rc) {
		nvme_close(&n->base);
		return rc;
	}
	describe(n, settings);
	*store = &n->base;
	return 0;
}

static int nvme_read(struct gn_store *store, uint64_t offset, void *to, size_t bytes, struct gn_error *error)
{
	return gn_block_read(&nvme_of(store)->block, offset, to, bytes, error);
}

static int nvme_write(struct gn_store *store, uint64_t offset, const void *from, size_t bytes,
                      struct gn_error *error)
{
	return gn_block_write(&nvme_of(store)->block, offset, from, bytes, error);
}

static int nvme_flush(struct gn_store *store, struct gn_error *error)
{
	return gn_block_flush(&nvme_of(store)->block, error);
}

static void nvme_statistics(const struct gn_store *store, struct gn_store_statistics *statistics)
{
	const struct nvme_store *n = (const struct nvme_store *)store;

	gn_counts_get(n->counts, &n->block, &n->watch, statistics);
}

const struct gn_store_ops gn_store_nvme = {"nvme",
                                           GN_OPTION_RO | GN_OPTION_QUEUES | GN_OPTION_DEPTH |
                                               GN_OPTION_TIMEOUT | GN_OPTION_TRANSFER | GN_OPTION_NAMESPACE,
                                           nvme_open,
                                           NULL,
                                           nvme_close,
                                           nvme_read,
                                           nvme_write,
                                           nvme_flush,
                                           nvme_statistics,
                                           NULL};
