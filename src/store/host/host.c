/* SPDX-License-Identifier: Apache-2.0 */
/* host.c - host: stores: memory that kernels load from and store to. The host's, or the machine's own. */
#include <simt/machine.h>
#include <store/host/near.h>
#include <store/host/region.h>
#include <store/regular.h>
#include <store/store.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PIECE_BYTES ((uint64_t)64 << 30) /* for simt_register */

struct host_store {
	struct gn_store base; /* first */
	struct gn_near near;  /* in place of the region, if the memory is the machine's */
	struct gn_region region;
	int mapped; /* 1: the region is a mapping of the file, so a flush must write */
	int locked; /* the descriptor that holds the lock against other writers, or -1 */
};

static struct host_store *host_of(struct gn_store *store)
{
	return (struct host_store *)store;
}

static void describe(struct host_store *h, const char *what)
{
	double bytes = (double)h->base.view.capacity_bytes;
	unsigned unit = 0;
	unsigned long long pieces = (h->region.bytes + PIECE_BYTES - 1) / PIECE_BYTES;
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	int used;

	for (; bytes >= 1024 && unit < 4; unit++)
		bytes /= 1024;
	used = snprintf(h->base.path, sizeof h->base.path, "%s, %.4g %s", what, bytes, units[unit]);
	if (h->region.memory)
		snprintf(h->base.path + used, sizeof h->base.path - (size_t)used,
		         ", %s, registered in %llu piece%s", h->region.pages, pieces, pieces == 1 ? "" : "s");
}

static void show(struct host_store *h, void *device, uint64_t bytes, int read_only)
{
	struct gn_store_view *view = &h->base.view;

	view->kind = GN_STORE_MEMORY;
	view->block_bytes = 16;
	view->capacity_bytes = bytes;
	view->read_only = (uint32_t)read_only;
	view->memory = (char *)device;
}

static int attach(struct host_store *h, uint64_t bytes, int read_only, struct gn_error *error)
{
	void *device;
	int rc = simt_register(h->base.machine, h->region.memory, h->region.bytes, &device, error);

	if (!rc)
		show(h, device, bytes, read_only);
	return rc;
}

/* Memory of the machine's own, unless that is the host's. */
static int is_near(const struct host_store *h, const struct gn_store_settings *settings)
{
	return h->base.machine->ops->managed && settings->memory != GN_MEMORY_PINNED &&
	       settings->memory != GN_MEMORY_UNSAID;
}

static int open_near(struct host_store *h, uint64_t bytes, const struct gn_store_settings *settings,
                     struct gn_error *error)
{
	int rc = gn_near_allocate(&h->near, h->base.machine, bytes, settings->memory, error);

	if (rc)
		return rc;
	show(h, h->near.memory, bytes, settings->options.read_only);
	describe(h, settings->memory == GN_MEMORY_DEVICE ? "device memory" : "managed memory");
	return 0;
}

static int open_memory(struct host_store *h, uint64_t bytes, const struct gn_store_settings *settings,
                       struct gn_error *error)
{
	int rc;

	h->base.forgets = 1;
	if (is_near(h, settings))
		return open_near(h, bytes, settings, error);
	rc = gn_region_allocate(&h->region, bytes, error);
	if (rc)
		return rc;
	rc = attach(h, bytes, settings->options.read_only, error);
	if (rc) {
		gn_region_free(&h->region);
		return rc;
	}
	describe(h, "host memory");
	return 0;
}

/* Copy a read-only file into memory: not every system can pin a file's pages for a device. */
static int open_copy(struct host_store *h, int fd, uint64_t bytes, const struct gn_uri *uri,
                     struct gn_error *error)
{
	int rc = gn_region_allocate(&h->region, bytes, error);

	if (rc)
		return rc;
	rc = gn_regular_read(fd, uri->path, 0, h->region.memory, (size_t)bytes, error);
	if (!rc)
		rc = attach(h, bytes, 1, error);
	if (rc) {
		gn_region_free(&h->region);
		return rc;
	}
	describe(h, "host memory, copy of a file");
	return 0;
}

static int open_mapped(struct host_store *h, int fd, uint64_t bytes, int read_only, struct gn_error *error)
{
	int rc = gn_region_map(&h->region, fd, bytes, !read_only, error);

	if (rc)
		return rc;
	rc = attach(h, bytes, read_only, error);
	if (rc) {
		gn_region_free(&h->region);
		return rc;
	}
	h->mapped = 1;
	describe(h, read_only ? "host memory, file mapped read-only" : "host memory, file mapped shared");
	return 0;
}

/*
 * Refuse device writes to a mapped file. Linux gives a device no lasting right to write to a file's mapped
 * pages, because the file system would not see the changes. A registration that silently allows only reads
 * would fail in the middle of a kernel.
 */
static int refuse_device_writes(const struct host_store *h, const struct gn_uri *uri, struct gn_error *error)
{
	struct simt_info info;

	simt_describe(h->base.machine, &info);
	if (!info.is_cuda)
		return 0;
	return gn_error_set(
	    error, -GN_ENOTSUP,
	    "host:%s: a GPU cannot write to a mapped file; add ?ro for reading only, or open it as file:PATH",
	    uri->path);
}

/* Copy a read-only file into memory of the machine's own. */
static int copy_near(struct host_store *h, int fd, uint64_t bytes, const struct gn_uri *uri,
                     const struct gn_store_settings *settings, struct gn_error *error)
{
	const size_t piece = 4 << 20;
	char *buffer = (char *)malloc(piece);
	int rc = buffer ? open_near(h, bytes, settings, error)
	                : gn_error_set(error, -GN_ENOMEM, "host:%s: out of memory", uri->path);

	for (uint64_t at = 0; at < bytes && !rc; at += piece) {
		const size_t some = bytes - at < piece ? (size_t)(bytes - at) : piece;

		rc = gn_regular_read(fd, uri->path, at, buffer, some, error);
		if (!rc)
			rc = gn_near_write(&h->near, at, buffer, some, error);
	}
	free(buffer);
	if (!rc)
		rc = gn_near_settle(&h->near, error);
	if (rc)
		gn_near_free(&h->near);
	return rc;
}

/* Where the system fetches what is read, a program that knows its accesses says that they are scattered. */
static int map_scattered(struct host_store *h, int fd, uint64_t bytes, struct gn_error *error)
{
	int rc = open_mapped(h, fd, bytes, 1, error);

	if (!rc)
		madvise(h->region.memory, h->region.bytes, MADV_RANDOM);
	return rc;
}

/* A read-only file in memory of a kind. */
static int open_kind(struct host_store *h, const struct gn_uri *uri, const struct gn_store_settings *settings,
                     struct gn_error *error)
{
	uint64_t bytes;
	int fd, rc;

	if (!settings->options.read_only)
		return gn_error_set(
		    error, -GN_EINVAL,
		    "host:%s: with memory= a file is only read, because changes would not reach "
		    "it; add ro, or leave memory= out",
		    uri->path);
	rc = gn_regular_open(uri, settings, 0, &fd, &bytes, error);
	if (rc)
		return rc;
	if (is_near(h, settings))
		rc = copy_near(h, fd, bytes, uri, settings, error);
	else if (settings->memory == GN_MEMORY_PINNED || settings->memory == GN_MEMORY_DEVICE)
		rc = open_copy(h, fd, bytes, uri, error);
	else
		rc = map_scattered(h, fd, bytes, error);
	gn_regular_close(fd);
	return rc;
}

static int open_path(struct host_store *h, const struct gn_uri *uri, const struct gn_store_settings *settings,
                     struct gn_error *error)
{
	int read_only = settings->options.read_only;
	struct gn_error why = {0, ""};
	uint64_t bytes;
	int fd, rc = read_only ? 0 : refuse_device_writes(h, uri, error);

	if (!rc)
		rc = gn_regular_open(uri, settings, !read_only, &fd, &bytes, error);
	if (rc)
		return rc;
	rc = open_mapped(h, fd, bytes, read_only, &why);
	if (rc && read_only)
		rc = open_copy(h, fd, bytes, uri, error);
	else if (rc)
		gn_error_set(error, rc, "host:%s: %.300s; to avoid the mapping, open it as file:PATH",
		             uri->path, why.text);
	if (rc || read_only)
		gn_regular_close(fd);
	else
		h->locked = fd;
	return rc;
}

static int host_open(struct gn_store **store, struct simt_machine *machine, const struct gn_uri *uri,
                     const struct gn_store_settings *settings, struct gn_error *error)
{
	struct host_store *h = (struct host_store *)calloc(1, sizeof *h);
	uint64_t bytes;
	int rc;

	if (!h)
		return gn_error_set(error, -GN_ENOMEM, "host:%s: out of memory", uri->path);
	h->base.ops = &gn_store_host;
	h->base.machine = machine;
	h->locked = -1;
	if (!gn_size_parse(uri->path, &bytes))
		rc = open_memory(h, bytes, settings, error);
	else if (settings->memory == GN_MEMORY_UNSAID)
		rc = open_path(h, uri, settings, error);
	else
		rc = open_kind(h, uri, settings, error);
	if (rc) {
		free(h);
		return rc;
	}
	*store = &h->base;
	return 0;
}

static void host_close(struct gn_store *store)
{
	struct host_store *h = host_of(store);

	if (h->region.memory)
		simt_unregister(store->machine, h->region.memory, h->region.bytes);
	gn_region_free(&h->region);
	gn_near_free(&h->near);
	if (h->locked >= 0)
		gn_regular_close(h->locked);
	free(h);
}

static int host_read(struct gn_store *store, uint64_t offset, void *to, size_t bytes, struct gn_error *error)
{
	struct host_store *h = host_of(store);

	if (h->near.memory)
		return gn_near_read(&h->near, offset, to, bytes, error);
	memcpy(to, h->region.memory + offset, bytes);
	return 0;
}

static int host_write(struct gn_store *store, uint64_t offset, const void *from, size_t bytes,
                      struct gn_error *error)
{
	struct host_store *h = host_of(store);

	if (h->near.memory)
		return gn_near_write(&h->near, offset, from, bytes, error);
	memcpy(h->region.memory + offset, from, bytes);
	return 0;
}

static int host_flush(struct gn_store *store, struct gn_error *error)
{
	struct host_store *h = host_of(store);

	if (h->near.memory)
		return gn_near_settle(&h->near, error);
	if (!h->mapped || store->view.read_only || !store->view.capacity_bytes ||
	    !msync(h->region.memory, h->region.bytes, MS_SYNC))
		return 0;
	return gn_error_set(error, gn_store_code(errno), "%s: the written data cannot be made durable: %s",
	                    store->name, strerror(errno));
}

/* Pinned memory has the same address on every GPU. */
static int host_share(struct gn_store *store, struct simt_machine *machine, struct gn_error *error)
{
	if (machine->ops != store->machine->ops || host_of(store)->near.memory)
		return gn_error_set(
		    error, -GN_ENOTSUP,
		    "several machines of one kind can use host memory, but not with memory=device, "
		    "managed or read-mostly");
	return 0;
}

const struct gn_store_ops gn_store_host = {"host",     GN_OPTION_RO | GN_OPTION_CREATE | GN_OPTION_MEMORY,
                                           host_open,  NULL,
                                           host_close, host_read,
                                           host_write, host_flush,
                                           NULL,       NULL,
                                           host_share};
