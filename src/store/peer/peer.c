/* SPDX-License-Identifier: Apache-2.0 */
/* peer.c - peer: stores: memory of other GPUs of this machine, which kernels load from and store to. */
#include <simt/spread.h>
#include <store/store.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct peer_store {
	struct gn_store base; /* first */
	struct simt_spread spread;
};

static struct peer_store *peer_of(struct gn_store *store)
{
	return (struct peer_store *)store;
}

static void describe(struct peer_store *p, const char *devices)
{
	struct simt_info info;
	const struct simt_spread *s = &p->spread;
	int used;

	simt_describe(s->machine, &info);
	used = snprintf(p->base.path, sizeof p->base.path, "memory of %s %.40s, %.4g GiB",
	                !info.is_cuda     ? "the host in place of GPU"
	                : s->devices == 1 ? "GPU"
	                                  : "GPUs",
	                devices, (double)p->base.view.capacity_bytes / 0x1p30);
	if (s->devices > 1)
		snprintf(p->base.path + used, sizeof p->base.path - (size_t)used, ", in turn every %.4g MiB",
		         (double)s->piece_bytes / 0x1p20);
}

static void show(struct peer_store *p, const struct gn_store_settings *settings)
{
	struct gn_store_view *view = &p->base.view;

	view->kind = GN_STORE_MEMORY;
	view->block_bytes = 16;
	view->capacity_bytes = settings->size_bytes;
	view->read_only = (uint32_t)settings->options.read_only;
	view->memory = p->spread.memory;
}

static int start(struct peer_store *p, const struct gn_uri *uri, const struct gn_store_settings *settings,
                 struct gn_error *error)
{
	struct gn_error why = {0, ""};
	int rc;

	if (!settings->size_bytes)
		return gn_error_set(error, -GN_EINVAL,
		                    "peer:%s: how much memory is not said; add ?size=, for example ?size=16G",
		                    uri->path);
	rc = simt__spread_init(&p->spread, p->base.machine, uri->path, settings->unit_bytes, &why);
	if (!rc)
		rc = simt__spread_create(&p->spread, settings->size_bytes, &why);
	return rc ? gn_error_set(error, rc, "peer:%s: %.400s", uri->path, why.text) : 0;
}

static int peer_open(struct gn_store **store, struct simt_machine *machine, const struct gn_uri *uri,
                     const struct gn_store_settings *settings, struct gn_error *error)
{
	struct peer_store *p = (struct peer_store *)calloc(1, sizeof *p);
	int rc;

	if (!p)
		return gn_error_set(error, -GN_ENOMEM, "peer:%s: out of memory", uri->path);
	p->base.ops = &gn_store_peer;
	p->base.machine = machine;
	p->base.forgets = 1;
	rc = start(p, uri, settings, error);
	if (rc) {
		free(p);
		return rc;
	}
	show(p, settings);
	describe(p, uri->path);
	*store = &p->base;
	return 0;
}

static void peer_close(struct gn_store *store)
{
	simt__spread_destroy(&peer_of(store)->spread);
	free(peer_of(store));
}

/* A copy of the driver must not pass from one device's piece to another's. */
static int move(struct peer_store *p, uint64_t offset, char *host, size_t bytes, int is_read,
                struct gn_error *error)
{
	const uint64_t piece = p->spread.piece_bytes;
	int rc = 0;

	while (bytes && !rc) {
		const uint64_t left = piece - (offset & (piece - 1));
		const size_t some = bytes < left ? bytes : (size_t)left;
		char *there = p->spread.memory + offset;

		rc = simt_move(p->base.machine, is_read ? host : there, is_read ? there : host, some, error);
		host += some;
		offset += some;
		bytes -= some;
	}
	return gn_error_prefix(error, rc, "%s", p->base.name);
}

static int peer_read(struct gn_store *store, uint64_t offset, void *to, size_t bytes, struct gn_error *error)
{
	return move(peer_of(store), offset, (char *)to, bytes, 1, error);
}

static int peer_write(struct gn_store *store, uint64_t offset, const void *from, size_t bytes,
                      struct gn_error *error)
{
	return move(peer_of(store), offset, (char *)(uintptr_t)from, bytes, 0, error);
}

static int peer_flush(struct gn_store *store, struct gn_error *error)
{
	(void)store;
	(void)error;
	return 0;
}

static int peer_share(struct gn_store *store, struct simt_machine *machine, struct gn_error *error)
{
	return simt__spread_share(&peer_of(store)->spread, machine, error);
}

static int peer_is_open(const struct gn_store *store, struct simt_machine *machine)
{
	return simt__spread_is_open(&((const struct peer_store *)store)->spread, machine);
}

const struct gn_store_ops gn_store_peer = {"peer",     GN_OPTION_RO | GN_OPTION_SIZE | GN_OPTION_UNIT,
                                           peer_open,  NULL,
                                           peer_close, peer_read,
                                           peer_write, peer_flush,
                                           NULL,       NULL,
                                           peer_share, peer_is_open};
