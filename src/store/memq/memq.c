/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memq.c - memq: stores: memory behind queue pairs. They serve to measure the queues and to test the
 * protocol.
 */
#include <store/controller/pairs.h>
#include <store/host/region.h>
#include <store/store.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 512 };

struct memq_store {
	struct gn_store base; /* first */
	struct gn_medium medium;
	struct gn_region region;
	struct gn_pairs pairs;
};

struct copier {
	struct gn_engine base; /* first */
	char *memory;
};

static struct memq_store *memq_of(struct gn_store *store)
{
	return (struct memq_store *)store;
}

static void copier_start(struct gn_engine *engine, struct gn_request *r)
{
	char *memory = ((struct copier *)engine)->memory + r->offset;

	for (uint32_t k = r->first; k < r->segments; k++) {
		const struct iovec *s = &r->segment[k];

		if (r->opcode == GN_NVME_READ)
			memcpy(s->iov_base, memory, s->iov_len);
		else
			memcpy(memory, s->iov_base, s->iov_len);
		memory += s->iov_len;
	}
	gn_request_push(&engine->finished, r);
}

static void copier_turn(struct gn_engine *engine, uint64_t wait_ns)
{
	(void)engine;
	(void)wait_ns;
}

static void copier_close(struct gn_engine *engine)
{
	free(engine);
}

static const struct gn_engine_ops copier_ops = {copier_start, copier_turn, copier_close};

static int open_engine(struct gn_medium *medium, struct gn_engine **engine, const struct gn_nvmeq *queue,
                       uint32_t count, struct gn_error *error)
{
	struct memq_store *m =
	    (struct memq_store *)(void *)((char *)medium - offsetof(struct memq_store, medium));
	struct copier *copier = (struct copier *)calloc(1, sizeof *copier);

	(void)queue;
	(void)count;
	if (!copier)
		return gn_error_set(error, -GN_ENOMEM, "memq: out of memory");
	copier->base.ops = &copier_ops;
	copier->memory = m->region.memory;
	*engine = &copier->base;
	return 0;
}

static int open_all(struct memq_store *m, uint64_t bytes, const struct gn_store_settings *settings,
                    struct gn_error *error)
{
	int rc = gn_region_allocate(&m->region, bytes, error);
	unsigned threads;

	if (rc)
		return rc;
	m->medium.open = open_engine;
	m->medium.bytes = bytes;
	m->medium.read_only = settings->options.read_only;
	rc = gn_pairs_open(&m->pairs, m->base.machine, settings, &m->medium, BLOCK, error);
	if (rc) {
		gn_region_free(&m->region);
		return rc;
	}
	gn_pairs_view(&m->pairs, settings, &m->medium, &m->base.view);
	threads = gn_controller_threads(m->pairs.controller);
	snprintf(m->base.path, sizeof m->base.path, "memory behind %u queue%s of %u, %u controller thread%s",
	         m->pairs.count, m->pairs.count == 1 ? "" : "s", m->pairs.depth, threads,
	         threads == 1 ? "" : "s");
	return 0;
}

static int memq_open(struct gn_store **store, struct simt_machine *machine, const struct gn_uri *uri,
                     const struct gn_store_settings *settings, struct gn_error *error)
{
	struct memq_store *m;
	uint64_t bytes;
	int rc;

	if (gn_size_parse(uri->path, &bytes))
		return gn_error_set(error, -GN_EINVAL,
		                    "memq:%s: \"%s\" is not a size; give for example memq:64M", uri->path,
		                    uri->path);
	m = (struct memq_store *)calloc(1, sizeof *m);
	if (!m)
		return gn_error_set(error, -GN_ENOMEM, "memq:%s: out of memory", uri->path);
	m->base.ops = &gn_store_memq;
	m->base.machine = machine;
	rc = open_all(m, bytes, settings, error);
	if (rc)
		free(m);
	else
		*store = &m->base;
	return rc;
}

static void memq_close(struct gn_store *store)
{
	struct memq_store *m = memq_of(store);

	gn_pairs_close(&m->pairs);
	gn_region_free(&m->region);
	free(m);
}

static int memq_read(struct gn_store *store, uint64_t offset, void *to, size_t bytes, struct gn_error *error)
{
	(void)error;
	memcpy(to, memq_of(store)->region.memory + offset, bytes);
	return 0;
}

static int memq_write(struct gn_store *store, uint64_t offset, const void *from, size_t bytes,
                      struct gn_error *error)
{
	(void)error;
	memcpy(memq_of(store)->region.memory + offset, from, bytes);
	return 0;
}

static int memq_flush(struct gn_store *store, struct gn_error *error)
{
	(void)store;
	(void)error;
	return 0;
}

static void memq_statistics(const struct gn_store *store, struct gn_store_statistics *statistics)
{
	gn_controller_get_statistics(((const struct memq_store *)store)->pairs.controller, statistics);
}

const struct gn_store_ops gn_store_memq = {"memq",          GN_OPTION_RO | GN_OPTIONS_QUEUES,
                                           memq_open,       NULL,
                                           memq_close,      memq_read,
                                           memq_write,      memq_flush,
                                           memq_statistics, NULL};
