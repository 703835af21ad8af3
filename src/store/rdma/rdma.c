/* SPDX-License-Identifier: Apache-2.0 */
/* rdma.c - rdma: stores: memory of another machine behind queue pairs. */
#include <store/controller/pairs.h>
#include <store/rdma/control.h>
#include <store/rdma/keeper.h>
#include <store/store.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rdma_store {
	struct gn_store base; /* first */
	struct gn_medium medium;
	struct gn_peer peer;
	struct gn_control control;
	struct gn_pairs pairs;
	struct gn_keeper keeper;
	uint16_t links; /* numbers that were given to links; 0 is the control's */
	int apart;      /* the host does not reach what kernels keep of their queue pairs */
};

static struct rdma_store *rdma_of(struct gn_store *store)
{
	return (struct rdma_store *)store;
}

static int open_engine(struct gn_medium *medium, struct gn_engine **engine, const struct gn_nvmeq *queue,
                       uint32_t count, struct gn_error *error)
{
	struct rdma_store *s =
	    (struct rdma_store *)(void *)((char *)medium - offsetof(struct rdma_store, medium));
	struct gn_lane_memory *memory = (struct gn_lane_memory *)calloc(count, sizeof *memory);
	struct gn_rdma_engine *e;
	int rc;

	if (!memory || s->keeper.engines == GN_KEEPER_ENGINES) {
		free(memory);
		return gn_error_set(error, -GN_ENOMEM, "%s: out of memory", s->peer.label);
	}
	for (uint32_t k = 0; k < count; k++) {
		memory[k].base = queue[k].buffer;
		memory[k].bytes = (size_t)queue[k].depth * queue[k].buffer_bytes;
	}
	rc = gn_rdma_engine_create(&e, &s->peer, count, (uint16_t)(s->links + 1), queue[0].depth, error);
	if (!rc) {
		s->links = (uint16_t)(s->links + count);
		*engine = &e->base; /* the controller closes it */
		s->keeper.engine[s->keeper.engines++] = e;
		rc = gn_rdma_engine_connect(e, memory, error);
	}
	free(memory);
	return rc;
}

static void describe(struct rdma_store *s)
{
	unsigned threads = gn_controller_threads(s->pairs.controller);

	snprintf(s->base.path, sizeof s->base.path,
	         "%s of a server, through %s, %u queue pair%s of %u, %u controller thread%s",
	         s->peer.region.flags & GN_HELLO_FILE ? "file" : "memory",
	         ibv_get_device_name(s->peer.verbs->device), s->pairs.count, s->pairs.count == 1 ? "" : "s",
	         s->pairs.depth, threads, threads == 1 ? "" : "s");
}

static int check_rights(struct rdma_store *s, const struct gn_store_settings *settings,
                        struct gn_error *error)
{
	if (!(s->peer.region.flags & GN_HELLO_READ_ONLY) || settings->options.read_only)
		return 0;
	return gn_error_set(error, -GN_EROFS,
	                    "%s: the server exports this region read-only; open it with ?ro, or start the "
	                    "server without --read-only",
	                    s->peer.label);
}

static int open_all(struct rdma_store *s, const struct gn_store_settings *settings, struct gn_error *error)
{
	struct simt_info machine;
	int rc = gn_control_open(&s->control, &s->peer, error);

	rc = rc ? rc : check_rights(s, settings, error);
	if (rc)
		return rc;
	s->medium.open = open_engine;
	s->medium.bytes = s->peer.region.bytes;
	s->medium.read_only = settings->options.read_only;
	rc = gn_pairs_open(&s->pairs, s->base.machine, settings, &s->medium, s->peer.region.block, error);
	if (rc)
		return rc;
	s->keeper.peer = &s->peer;
	s->keeper.engine[s->keeper.engines++] = s->control.engine;
	rc = gn_keeper_start(&s->keeper, error);
	if (rc)
		return rc;
	gn_pairs_view(&s->pairs, settings, &s->medium, &s->base.view);
	simt_describe(s->base.machine, &machine);
	s->apart = (int)machine.is_cuda;
	s->base.identity = s->peer.region.instance;
	s->base.forgets = !(s->peer.region.flags & GN_HELLO_FILE);
	describe(s);
	return 0;
}

static void rdma_close(struct gn_store *store)
{
	struct rdma_store *s = rdma_of(store);

	gn_keeper_stop(&s->keeper);
	if (s->pairs.machine)
		gn_pairs_close(&s->pairs);
	if (s->control.peer)
		gn_control_close(&s->control);
	gn_peer_fini(&s->peer);
	free(s);
}

static int open_store(struct rdma_store *s, const struct gn_uri *uri,
                      const struct gn_store_settings *settings, struct gn_error *error)
{
	struct gn_rdma_address address;
	int rc = gn_rdma_address_parse(&address, uri->path, error);

	if (!rc)
		rc =
		    gn_peer_init(&s->peer, &address, settings->options.timeout_ns, settings->flush_ns, error);
	if (rc) {
		free(s);
		return rc;
	}
	rc = open_all(s, settings, error);
	if (rc)
		rdma_close(&s->base);
	return rc;
}

static int rdma_open(struct gn_store **store, struct simt_machine *machine, const struct gn_uri *uri,
                     const struct gn_store_settings *settings, struct gn_error *error)
{
	struct rdma_store *s = (struct rdma_store *)calloc(1, sizeof *s);
	int rc;

	if (!s)
		return gn_error_set(error, -GN_ENOMEM, "rdma:%s: out of memory", uri->path);
	s->base.ops = &gn_store_rdma;
	s->base.machine = machine;
	s->base.flushes_again = 1; /* the server remembers what its file may lack */
	rc = open_store(s, uri, settings, error);
	if (!rc)
		*store = &s->base;
	return rc;
}

static int rdma_read(struct gn_store *store, uint64_t offset, void *to, size_t bytes, struct gn_error *error)
{
	return gn_control_read(&rdma_of(store)->control, offset, to, bytes, error);
}

/* A kernel's write that has only timed out is still under way, and over another connection. */
static int check_hazard(struct rdma_store *s, uint64_t offset, size_t bytes, struct gn_error *error)
{
	const uint64_t first = offset / s->base.view.block_bytes,
	               blocks = bytes / s->base.view.block_bytes + 2;

	for (uint32_t k = 0; k < s->pairs.count && !s->apart; k++)
		if (gn_nvmeq_write_hazard(&s->pairs.queue[k], first,
		                          blocks < UINT32_MAX ? (uint32_t)blocks : UINT32_MAX))
			return gn_error_set(error, -GN_EBUSY,
			                    "%s: a write of a kernel to these blocks has timed out and may "
			                    "still land; try again when it has ended",
			                    s->peer.label);
	return 0;
}

static int rdma_write(struct gn_store *store, uint64_t offset, const void *from, size_t bytes,
                      struct gn_error *error)
{
	struct rdma_store *s = rdma_of(store);
	int rc = check_hazard(s, offset, bytes, error);

	return rc ? rc : gn_control_write(&s->control, offset, from, bytes, error);
}

static int rdma_flush(struct gn_store *store, struct gn_error *error)
{
	return store->view.read_only ? 0 : gn_control_flush(&rdma_of(store)->control, error);
}

static void rdma_statistics(const struct gn_store *store, struct gn_store_statistics *statistics)
{
	gn_controller_get_statistics(((const struct rdma_store *)store)->pairs.controller, statistics);
}

const struct gn_store_ops gn_store_rdma = {
    "rdma",          GN_OPTION_RO | GN_OPTIONS_QUEUES | GN_OPTION_FLUSH,
    rdma_open,       NULL,
    rdma_close,      rdma_read,
    rdma_write,      rdma_flush,
    rdma_statistics, NULL};
