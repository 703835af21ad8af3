/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_drive.h - a drive in memory: registers with a thread behind them that does what the NVM Express base
 * specification says of a controller, and can be told to misbehave. Bus addresses are not pointers.
 */
#ifndef GN_TESTS_FAKE_DRIVE_H
#define GN_TESTS_FAKE_DRIVE_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <store/nvme/drive.h>

#define FAKE_BUS ((uint64_t)1 << 48)

enum { FAKE_KEPT = 64 };
enum { FAKE_QUEUES = 8, FAKE_BYTES = 1 << 20, FAKE_LOST_BLOCK = 77, FAKE_SICK_BLOCK = 99 };

struct fake_queue {
	const struct gn_nvme_command *sq;
	struct gn_nvme_completion *cq;
	uint32_t depth, head, tail, phase;
};

/* A command that was fetched and is not executed yet. */
struct fake_kept {
	uint32_t queue;
	struct gn_nvme_command command;
};

struct fake_drive {
	struct gn_dma dma; /* first */
	char *registers;
	char *medium;
	struct fake_queue queue[FAKE_QUEUES];
	pthread_t thread;
	uint32_t stop;
	uint32_t enabled;
	uint32_t starts, aborts, shutdowns, deletes, flushes, deallocations, transfers; /* what it was told */
	uint32_t reads, writes, has_no_log;
	uint32_t maps;                                                         /* that were not unmapped */
	uint32_t grants;                                                       /* I/O queue pairs */
	uint32_t never_ready, fatal, never_stops, loses, vanishes, sick_times; /* how it misbehaves */
	uint32_t mute, refuses_cut, keeps_log;
	uint32_t logs;    /* how often it was asked for its log */
	uint32_t rung;    /* doorbells that had a value when it was enabled */
	uint32_t cuts;    /* how often it was to be cut off from memory */
	uint32_t is_cut;  /* it is */
	uint32_t recalls; /* so many of the lost commands, ever, are executed after all, the oldest first */
	uint32_t lost, recalled;
	struct fake_kept kept[FAKE_KEPT]; /* from recalled to lost */
};

static int fake_map(struct gn_dma *dma, void *memory, size_t bytes, uint64_t *bus, struct gn_error *error)
{
	(void)error;
	*bus = (uint64_t)(uintptr_t)memory + FAKE_BUS;
	((struct fake_drive *)(void *)dma)->maps++;
	return (uintptr_t)memory % 4096 || bytes % 4096 ? -GN_EINVAL : 0;
}

static void fake_unmap(struct gn_dma *dma, void *memory, size_t bytes, uint64_t bus)
{
	(void)bytes;
	if (bus == (uint64_t)(uintptr_t)memory + FAKE_BUS)
		((struct fake_drive *)(void *)dma)->maps--;
}

static int fake_cut(struct gn_dma *dma)
{
	struct fake_drive *f = (struct fake_drive *)(void *)dma;
	const uint32_t refuses = simt_load_acquire_sys_u32(&f->refuses_cut);

	if (!refuses)
		simt_store_release_sys_u32(&f->is_cut, 1);
	simt_add_acq_rel_dev_u32(&f->cuts, 1);
	return refuses ? -GN_EIO : 0;
}

static void *fake_memory(uint64_t bus)
{
	return (void *)(uintptr_t)(bus - FAKE_BUS);
}

static uint32_t *fake_register(const struct fake_drive *f, unsigned offset)
{
	return (uint32_t *)(void *)(f->registers + offset);
}

static uint32_t fake_get(const struct fake_drive *f, unsigned offset)
{
	return simt_load_acquire_sys_u32(fake_register(f, offset));
}

static void fake_set(const struct fake_drive *f, unsigned offset, uint32_t value)
{
	simt_store_release_sys_u32(fake_register(f, offset), value);
}

static void fake_open_queue(struct fake_queue *q, uint64_t sq, uint64_t cq, uint32_t depth)
{
	q->sq = (const struct gn_nvme_command *)fake_memory(sq);
	q->cq = (struct gn_nvme_completion *)fake_memory(cq);
	q->depth = depth;
	q->head = q->tail = 0;
	q->phase = 1;
}

/* The data of a command: one page, two, or a list. */
static char *fake_page(const struct gn_nvme_command *c, uint32_t page, uint32_t pages)
{
	if (!page)
		return (char *)fake_memory(c->prp1);
	if (pages == 2)
		return (char *)fake_memory(c->prp2);
	return (char *)fake_memory(((const uint64_t *)fake_memory(c->prp2))[page - 1]);
}

static uint32_t fake_io(struct fake_drive *f, const struct gn_nvme_command *c)
{
	uint32_t bytes = ((c->cdw12 & 0xffff) + 1) * 512, pages = (bytes + 4095) / 4096;

	f->flushes += c->opcode == GN_NVME_FLUSH;
	f->deallocations += c->opcode == GN_NVME_DATASET_MANAGEMENT;
	if (c->opcode == GN_NVME_FLUSH || c->opcode == GN_NVME_DATASET_MANAGEMENT)
		return 0;
	f->transfers++;
	f->reads += c->opcode == GN_NVME_READ;
	f->writes += c->opcode == GN_NVME_WRITE;
	if (c->nsid != 1)
		return GN_NVME_INVALID_NAMESPACE | GN_NVME_DO_NOT_RETRY;
	if (c->lba == FAKE_SICK_BLOCK && f->sick_times) {
		f->sick_times--;
		return GN_NVME_UNRECOVERED_READ;
	}
	if (c->lba * 512 + bytes > FAKE_BYTES)
		return GN_NVME_LBA_OUT_OF_RANGE | GN_NVME_DO_NOT_RETRY;
	for (uint32_t k = 0; k < pages; k++) {
		char *at = f->medium + c->lba * 512 + (size_t)k * 4096;
		uint32_t part = bytes - k * 4096 < 4096 ? bytes - k * 4096 : 4096;

		if (c->opcode == GN_NVME_READ)
			memcpy(fake_page(c, k, pages), at, part);
		else
			memcpy(at, fake_page(c, k, pages), part);
	}
	return 0;
}

static void fake_identify(const struct gn_nvme_command *c)
{
	unsigned char *data = (unsigned char *)fake_memory(c->prp1);

	memset(data, 0, 4096);
	if (c->lba == GN_IDENTIFY_CONTROLLER) {
		memcpy(data + 4, "serial 12           ", 20);
		memcpy(data + 24, "a fake                                  ", 40);
		data[77] = 2; /* MDTS: four pages */
		data[516] = 5;
		data[520] = 4;
		data[525] = 1;
	} else if (c->lba == GN_IDENTIFY_NAMESPACE && c->nsid == 1) {
		data[1] = FAKE_BYTES / 512 >> 8;
		data[26] = 1; /* the second format */
		data[128 + 4 + 2] = 9;
	} else if (c->lba == GN_IDENTIFY_NAMESPACE && c->nsid == 2) {
		data[0] = 8;
		data[128] = 8; /* metadata */
		data[128 + 2] = 9;
	} else if (c->lba == GN_IDENTIFY_ACTIVE) {
		data[0] = 1;
		data[4] = 2;
	}
}

/* SMART / Health Information, as the specification places it: numbers of 16 bytes. */
static void fake_log(struct fake_drive *f, const struct gn_nvme_command *c)
{
	const uint64_t units = f->transfers, reads = UINT64_MAX - 4 + f->reads, writes = 7 + f->writes;
	unsigned char *data = (unsigned char *)fake_memory(c->prp1);

	memset(data, 0, 512);
	memcpy(data + 32, &units, 8);
	memcpy(data + 48, &writes, 8);
	memcpy(data + 64, &reads, 8);
	memcpy(data + 80, &writes, 8);
}

static uint64_t fake_cq[FAKE_QUEUES];

static uint32_t fake_admin(struct fake_drive *f, const struct gn_nvme_command *c, uint32_t *result)
{
	uint32_t id = (uint32_t)c->lba & 0xffff, depth = ((uint32_t)c->lba >> 16) + 1;

	switch (c->opcode) {
	case GN_ADMIN_IDENTIFY: fake_identify(c); return 0;
	case GN_ADMIN_GET_LOG_PAGE:
		simt_add_acq_rel_dev_u32(&f->logs, 1);
		if (f->has_no_log || c->nsid != UINT32_MAX || c->lba != (2 | 127u << 16))
			return GN_NVME_INVALID_OPCODE | GN_NVME_DO_NOT_RETRY;
		fake_log(f, c);
		return 0;
	case GN_ADMIN_SET_FEATURES: *result = (f->grants - 1) * 0x10001; return 0;
	case GN_ADMIN_CREATE_CQ:
		fake_cq[id] = c->prp1;
		return id && id <= f->grants ? 0 : GN_NVME_INVALID_QUEUE | GN_NVME_DO_NOT_RETRY;
	case GN_ADMIN_CREATE_SQ: fake_open_queue(&f->queue[id], c->prp1, fake_cq[id], depth); return 0;
	case GN_ADMIN_DELETE_SQ: f->queue[id].depth = 0; return 0;
	case GN_ADMIN_DELETE_CQ: f->deletes++; return 0;
	case GN_ADMIN_ABORT:
		simt_add_acq_rel_dev_u32(&f->aborts, 1);
		*result = 1; /* not aborted */
		return 0;
	default: return GN_NVME_INVALID_OPCODE | GN_NVME_DO_NOT_RETRY;
	}
}

/* Abort and what is sent when the store is closed; not what a reset needs. Or the log. */
static int fake_is_mute(struct fake_drive *f, uint32_t opcode)
{
	if (opcode == GN_ADMIN_GET_LOG_PAGE)
		return simt_load_acquire_sys_u32(&f->keeps_log) != 0;
	return simt_load_acquire_sys_u32(&f->mute) &&
	       (opcode == GN_ADMIN_ABORT || opcode == GN_ADMIN_DELETE_SQ || opcode == GN_ADMIN_DELETE_CQ);
}

static void fake_execute(struct fake_drive *f, uint32_t id, const struct gn_nvme_command *c)
{
	struct fake_queue *q = &f->queue[id];
	struct gn_nvme_completion *to = &q->cq[q->tail];
	uint32_t status;

	to->result = 0;
	status = id ? fake_io(f, c) : fake_admin(f, c, &to->result);
	if (!id && fake_is_mute(f, c->opcode))
		return;
	to->sq_head = (uint16_t)q->head;
	to->sq_id = (uint16_t)id;
	simt_store_release_sys_u32((uint32_t *)(void *)&to->cid, c->cid | q->phase << 16 | status << 17);
	q->tail = (q->tail + 1) % q->depth;
	q->phase ^= !q->tail;
}

static int fake_loses(struct fake_drive *f, uint32_t id, const struct gn_nvme_command *c)
{
	struct fake_kept *to = &f->kept[f->lost % FAKE_KEPT];
	uint64_t lba = c->lba;

	if (!id || !simt_load_acquire_sys_u32(&f->loses))
		return 0;
	if (c->opcode == GN_NVME_DATASET_MANAGEMENT)
		lba = ((const uint32_t *)fake_memory(c->prp1))[2];
	if (lba != FAKE_LOST_BLOCK)
		return 0;
	to->queue = id;
	to->command = *c;
	simt_store_release_sys_u32(&f->lost, f->lost + 1);
	return 1;
}

static void fake_recall(struct fake_drive *f)
{
	uint32_t until = simt_load_acquire_sys_u32(&f->recalls);

	for (; f->recalled != f->lost && f->recalled < until; f->recalled++)
		fake_execute(f, f->kept[f->recalled % FAKE_KEPT].queue,
		             &f->kept[f->recalled % FAKE_KEPT].command);
}

static void fake_serve(struct fake_drive *f, uint32_t id)
{
	struct fake_queue *q = &f->queue[id];
	uint32_t doorbell = fake_get(f, GN_REG_DOORBELLS + id * 8);

	while (q->depth && q->head != doorbell) {
		struct gn_nvme_command c = q->sq[q->head];

		q->head = (q->head + 1) % q->depth;
		if (!fake_loses(f, id, &c))
			fake_execute(f, id, &c);
	}
}

static void fake_start(struct fake_drive *f)
{
	uint64_t sq, cq;

	simt_add_acq_rel_dev_u32(&f->starts, 1);
	f->enabled = 1;
	f->recalled = f->lost;
	for (unsigned k = 0; k < 2 * FAKE_QUEUES; k++)
		f->rung += fake_get(f, GN_REG_DOORBELLS + 4 * k) != 0;
	memset(f->registers + GN_REG_DOORBELLS, 0, 4096);
	memset(f->queue, 0, sizeof f->queue);
	memcpy(&sq, f->registers + GN_REG_ASQ, 8);
	memcpy(&cq, f->registers + GN_REG_ACQ, 8);
	fake_open_queue(&f->queue[0], sq, cq, (fake_get(f, GN_REG_AQA) & 0xfff) + 1);
	fake_set(f, GN_REG_CSTS, f->fatal ? GN_CSTS_CFS : f->never_ready ? 0 : GN_CSTS_RDY);
}

static void fake_round(struct fake_drive *f)
{
	uint32_t config = fake_get(f, GN_REG_CC);

	if (simt_load_acquire_sys_u32(&f->vanishes)) { /* reads and writes nothing from here on */
		fake_set(f, GN_REG_CSTS, GN_CSTS_GONE);
		return;
	}
	if (!f->enabled && config & GN_CC_EN)
		fake_start(f);
	if (f->enabled && !(config & GN_CC_EN) && !simt_load_acquire_sys_u32(&f->never_stops)) {
		f->enabled = 0;
		for (unsigned k = 0; k < 2 * FAKE_QUEUES; k++)
			fake_set(f, GN_REG_DOORBELLS + 4 * k, 0);
		fake_set(f, GN_REG_CSTS, 0);
	}
	if (f->enabled && config & GN_CC_SHN_MASK && !(fake_get(f, GN_REG_CSTS) & GN_CSTS_SHST_MASK)) {
		f->shutdowns++;
		fake_set(f, GN_REG_CSTS, GN_CSTS_RDY | GN_CSTS_SHST_DONE);
	}
	for (uint32_t id = 0; f->enabled && config & GN_CC_EN && id < FAKE_QUEUES; id++)
		fake_serve(f, id);
	if (f->enabled && config & GN_CC_EN)
		fake_recall(f);
}

static void *fake_run(void *user)
{
	struct fake_drive *f = (struct fake_drive *)user;

	while (!simt_load_acquire_sys_u32(&f->stop)) {
		fake_round(f);
		simt_relax();
	}
	return NULL;
}

static void fake_open(struct fake_drive *f, struct gn_drive *d)
{
	struct simt_options cpu = {"cpu", 1, 0, SIMT_FAIR, 0};
	/* 64 entries, CAP.TO half a second, the NVM command set, pages from 4 KiB. */
	uint64_t cap = 63 | 1u << 24 | (uint64_t)1 << 37;

	memset(f, 0, sizeof *f);
	memset(d, 0, sizeof *d);
	f->dma.map = fake_map;
	f->dma.unmap = fake_unmap;
	f->dma.cut = fake_cut;
	f->grants = 3;
	f->registers = (char *)aligned_alloc(4096, 8192);
	f->medium = (char *)calloc(1, FAKE_BYTES);
	memset(f->registers, 0, 8192);
	memcpy(f->registers, &cap, sizeof cap);
	strcpy(d->name, "fake");
	d->registers = f->registers;
	d->register_bytes = 8192;
	d->dma = &f->dma;
	d->timeout_ns = 20000000000u;
	simt_open(&d->host, &cpu, NULL);
	pthread_create(&f->thread, NULL, fake_run, f);
}

static void fake_close(struct fake_drive *f, struct gn_drive *d)
{
	gn_drive_close(d);
	simt_store_release_sys_u32(&f->stop, 1);
	pthread_join(f->thread, NULL);
	simt_close(d->host);
	free(f->registers);
	free(f->medium);
}

#endif
