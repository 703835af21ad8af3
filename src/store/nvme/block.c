/* SPDX-License-Identifier: Apache-2.0 */
#include <store/nvme/block.h>

#include <stdlib.h>
#include <string.h>

#include <queue/attach.h>
#include <store/nvme/admin.h>

/* ---- queue pairs ---- */

/* A queue pair of this id, in memory and in the controller. */
static int make_pair(struct gn_block *b, uint32_t id, struct simt_machine *machine,
                     const struct gn_nvmeq_options *options, struct gn_error *error)
{
	struct gn_drive_queue *queue = &b->pair[id - 1];
	char *registers = machine == b->drive->host ? b->drive->registers : b->reach;
	struct gn_nvmeq_attachment to;
	int rc;

	if (gn_drive_doorbell(b->drive, id, 1) + 4 > b->drive->register_bytes)
		return gn_error_set(
		    error, -GN_ENOTSUP,
		    "%s: the doorbells of queue pair %u lie outside the registers; give fewer "
		    "queues=",
		    b->drive->name, id);
	rc = gn_drive_make_queue(queue, machine, b->drive->dma, options, error);
	if (rc)
		return rc;
	to.sq_doorbell = (uint32_t *)(void *)(registers + gn_drive_doorbell(b->drive, id, 0));
	to.cq_doorbell = (uint32_t *)(void *)(registers + gn_drive_doorbell(b->drive, id, 1));
	to.buffer_bus = queue->buffer_bus;
	to.prp_list_bus = queue->list_bus;
	gn_nvmeq_attach(&queue->q, machine, &to);
	rc = gn_drive_create_pair(b->drive, id, queue, error);
	if (!rc)
		b->created = id;
	return rc;
}

static void fit(struct gn_nvmeq_options *options, const struct gn_drive *d)
{
	while (options->depth > gn_cap_entries(d->cap))
		options->depth /= 2;
	while (d->identity.transfer_bytes && options->buffer_bytes > d->identity.transfer_bytes)
		options->buffer_bytes /= 2;
	options->start &= ~(2 * options->depth - 1);
}

static int make_pairs(struct gn_block *b, struct simt_machine *machine,
                      const struct gn_nvmeq_options *options, struct gn_error *error)
{
	int rc = 0;

	for (uint32_t id = 1; id <= b->count && !rc; id++)
		rc = make_pair(b, id, machine, options, error);
	if (!rc && b->host == &b->pair[b->count])
		rc = make_pair(b, b->count + 1, b->drive->host, options, error);
	return rc;
}

/*
 * The host needs a queue pair whose state lies in its own memory. If the controller grants only one, kernels
 * and host share it, which a GPU's kernels cannot.
 */
static int share_out(struct gn_block *b, struct simt_machine *machine, uint32_t wanted,
                     struct gn_error *error)
{
	uint32_t granted = wanted + 1;
	struct simt_info info;
	int rc = gn_drive_ask_queues(b->drive, &granted, error);

	if (rc)
		return rc;
	simt_describe(machine, &info);
	if (granted == 1 && info.is_cuda)
		return gn_error_set(error, -GN_ENOTSUP,
		                    "%s: the controller grants one I/O queue pair; a GPU needs two",
		                    b->drive->name);
	b->apart = (int)info.is_cuda;
	b->count = granted > 1 ? granted - 1 : 1;
	b->pair = (struct gn_drive_queue *)calloc(b->count + 1, sizeof *b->pair);
	if (!b->pair)
		return gn_error_set(error, -GN_ENOMEM, "%s: out of memory", b->drive->name);
	b->host = &b->pair[granted > 1 ? b->count : 0];
	return 0;
}

int gn_block_open(struct gn_block *b, struct simt_machine *machine, uint32_t count,
                  const struct gn_nvmeq_options *options, struct gn_error *error)
{
	struct gn_nvmeq_options o = *options;
	int rc;

	pthread_mutex_init(&b->lock, NULL);
	b->open = 1;
	fit(&o, b->drive);
	o.nsid = b->nsid;
	rc = share_out(b, machine, count, error);
	if (!rc)
		rc = make_pairs(b, machine, &o, error);
	if (rc)
		gn_block_close(b);
	return rc;
}

uint32_t gn_block_host_queues(const struct gn_block *b)
{
	return !b->apart && b->host == &b->pair[b->count];
}

void gn_block_close(struct gn_block *b)
{
	int rc = 0;

	if (!b->open)
		return;
	for (; b->created && !rc; b->created--)
		rc = gn_drive_delete_pair(b->drive, b->created, NULL);
	/* A controller that keeps a queue must not write into memory that is given back. */
	if (rc)
		gn_drive_disable(b->drive, NULL);
	for (uint32_t k = 0; b->pair && k <= b->count; k++)
		gn_drive_free_queue(&b->pair[k]);
	free(b->pair);
	b->pair = NULL;
	pthread_mutex_destroy(&b->lock);
	b->open = 0;
}

/* ---- transfers of the host ---- */

static int say(struct gn_block *b, const char *what, uint64_t lba, int rc, uint32_t status,
               struct gn_error *error)
{
	if (rc == -GN_ETIMEDOUT)
		return gn_error_set(error, rc, "%s: %s at block %llu did not complete within %.1f s",
		                    b->drive->name, what, (unsigned long long)lba,
		                    (double)b->timeout_ns / 1e9);
	if (status == GN_NVME_HOST_ABORTED && gn_drive_health(b->drive, error))
		return b->drive->why.code ? b->drive->why.code : -GN_EIO;
	return gn_error_set(error, gn_nvme_status_code(status),
	                    "%s: %s at block %llu failed: %s "
	                    "(status 0x%03x)",
	                    b->drive->name, what, (unsigned long long)lba, gn_nvme_status_text(status),
	                    status);
}

enum { RETRIES = 2 };

/* A command of the host, and the blocks that it is about. */
struct job {
	const char *what;
	uint64_t lba;
	uint32_t opcode, blocks;
	const struct gn_nvme_command *command; /* of a deallocation */
};

/* Post it and wait for it; again if it fails and its status allows that. A retry changes *cid. */
static int run(struct gn_block *b, uint32_t *cid, const struct job *j, uint64_t deadline,
               struct gn_error *error)
{
	const struct gn_nvmeq *q = &b->host->q;
	uint32_t status = 0;
	int rc;

	for (int tries = 0;; tries++) {
		if (j->command)
			gn__nvmeq_post_change(q, *cid, j->command, j->lba, j->blocks);
		else
			gn_nvmeq_post(q, *cid, j->opcode, j->lba, j->blocks);
		rc = gn_nvmeq_wait(q, *cid, deadline, &status);
		if (rc != -GN_EIO || tries == RETRIES || !gn__nvmeq_may_retry(q, *cid)) {
			simt_store_relaxed_dev_u64(&b->failed, b->failed + (rc != 0));
			return rc ? say(b, j->what, j->lba, rc, status, error) : 0;
		}
		simt_store_relaxed_dev_u64(&b->retries, b->retries + 1);
		*cid = gn_nvmeq_renew(q, *cid);
	}
}

static int transfer(struct gn_block *b, uint32_t *cid, uint32_t opcode, uint64_t lba, uint32_t blocks,
                    uint64_t deadline, struct gn_error *error)
{
	struct job j;

	j.what = opcode == GN_NVME_READ ? "a read" : opcode == GN_NVME_WRITE ? "a write" : "a flush";
	j.lba = lba;
	j.opcode = opcode;
	j.blocks = blocks;
	j.command = NULL;
	return run(b, cid, &j, deadline, error);
}

static int begin(struct gn_block *b, uint64_t *deadline, uint32_t *cid, struct gn_error *error)
{
	int rc = gn_drive_health(b->drive, error);

	*deadline = simt_clock_ns() + b->timeout_ns;
	if (rc)
		return rc;
	rc = gn_nvmeq_begin(&b->host->q, *deadline, cid);
	return rc ? gn_error_set(error, rc, "%s: no slot for a command came free within %.1f s",
	                         b->drive->name, (double)b->timeout_ns / 1e9)
	          : 0;
}

/* May a write or deallocation that timed out still change these blocks? */
static int check_hazard(struct gn_block *b, uint64_t lba, uint32_t blocks, struct gn_error *error)
{
	for (uint32_t k = 0; k < b->created; k++) {
		const struct gn_drive_queue *pair = &b->pair[k];

		if ((!b->apart || pair == b->host) && gn_nvmeq_write_hazard(&pair->q, lba, blocks))
			return gn_error_set(
			    error, -GN_EBUSY,
			    "%s: an earlier write to some of %u blocks from %llu timed out and may still "
			    "land; try again when the controller has completed it, or was reset",
			    b->drive->name, blocks, (unsigned long long)lba);
	}
	return 0;
}

/* As begin, for a command that changes blocks. */
static int begin_change(struct gn_block *b, uint64_t lba, uint32_t blocks, uint64_t *deadline, uint32_t *cid,
                        struct gn_error *error)
{
	int rc = gn_drive_health(b->drive, error);

	if (!rc)
		rc = check_hazard(b, lba, blocks, error);
	return rc ? rc : begin(b, deadline, cid, error);
}

/* All blocks of a write, before its first span, so that a refusal has changed nothing. */
static int check_write(struct gn_block *b, uint64_t offset, size_t bytes, struct gn_error *error)
{
	const uint64_t first = offset / b->ns.block_bytes;
	const uint64_t blocks = (offset + bytes + b->ns.block_bytes - 1) / b->ns.block_bytes - first;
	int rc = gn_drive_health(b->drive, error);

	return rc ? rc : check_hazard(b, first, blocks < UINT32_MAX ? (uint32_t)blocks : UINT32_MAX, error);
}

/* Blocks that a run of bytes touches, and where it begins in them. */
struct span {
	uint64_t lba;
	uint32_t blocks, skip, bytes;
};

static struct span span_of(const struct gn_block *b, uint64_t offset, size_t bytes)
{
	const uint32_t block = b->ns.block_bytes;
	struct span s;

	s.lba = offset / block;
	s.skip = (uint32_t)(offset % block);
	s.bytes = b->host->q.buffer_bytes - s.skip;
	if (s.bytes > bytes)
		s.bytes = (uint32_t)bytes;
	s.blocks = (s.skip + s.bytes + block - 1) / block;
	return s;
}

static int read_span(struct gn_block *b, const struct span *s, char *to, struct gn_error *error)
{
	uint64_t deadline;
	uint32_t cid;
	int rc = begin(b, &deadline, &cid, error);

	if (rc)
		return rc;
	rc = transfer(b, &cid, GN_NVME_READ, s->lba, s->blocks, deadline, error);
	if (!rc)
		memcpy(to, gn_nvmeq_buffer(&b->host->q, cid) + s->skip, s->bytes);
	if (rc != -GN_ETIMEDOUT)
		gn_nvmeq_end(&b->host->q, cid);
	return rc;
}

/* Write a span through the buffer of a slot. If it covers only a part of a block, read its blocks first. */
static int write_span(struct gn_block *b, const struct span *s, const char *from, struct gn_error *error)
{
	const struct gn_nvmeq *q = &b->host->q;
	uint64_t deadline;
	uint32_t cid;
	int rc = begin_change(b, s->lba, s->blocks, &deadline, &cid, error);

	if (rc)
		return rc;
	if ((s->skip | s->bytes) % b->ns.block_bytes) {
		rc = transfer(b, &cid, GN_NVME_READ, s->lba, s->blocks, deadline, error);
		if (!rc)
			cid = gn_nvmeq_renew(q, cid);
	}
	if (!rc) {
		memcpy(gn_nvmeq_buffer(q, cid) + s->skip, from, s->bytes);
		rc = transfer(b, &cid, GN_NVME_WRITE, s->lba, s->blocks, deadline, error);
	}
	if (rc != -GN_ETIMEDOUT)
		gn_nvmeq_end(q, cid);
	return rc;
}

int gn_block_read(struct gn_block *b, uint64_t offset, void *to, size_t bytes, struct gn_error *error)
{
	char *at = (char *)to;
	int rc = 0;

	pthread_mutex_lock(&b->lock);
	while (bytes && !rc) {
		struct span s = span_of(b, offset, bytes);

		rc = read_span(b, &s, at, error);
		offset += s.bytes;
		at += s.bytes;
		bytes -= s.bytes;
	}
	pthread_mutex_unlock(&b->lock);
	return rc;
}

int gn_block_write(struct gn_block *b, uint64_t offset, const void *from, size_t bytes,
                   struct gn_error *error)
{
	const char *at = (const char *)from;
	int rc;

	pthread_mutex_lock(&b->lock);
	rc = check_write(b, offset, bytes, error);
	while (bytes && !rc) {
		struct span s = span_of(b, offset, bytes);

		rc = write_span(b, &s, at, error);
		offset += s.bytes;
		at += s.bytes;
		bytes -= s.bytes;
	}
	pthread_mutex_unlock(&b->lock);
	return rc;
}

int gn_block_flush(struct gn_block *b, struct gn_error *error)
{
	uint64_t deadline;
	uint32_t cid;
	int rc;

	pthread_mutex_lock(&b->lock);
	rc = begin(b, &deadline, &cid, error);
	if (!rc) {
		rc = transfer(b, &cid, GN_NVME_FLUSH, 0, 0, deadline, error);
		if (rc != -GN_ETIMEDOUT)
			gn_nvmeq_end(&b->host->q, cid);
	}
	pthread_mutex_unlock(&b->lock);
	return rc;
}

/* One range of at most 2^32 - 1 blocks (NVM Command Set Specification 1.0, 3.2.3). */
static int deallocate(struct gn_block *b, uint64_t lba, uint32_t blocks, struct gn_error *error)
{
	const struct gn_nvmeq *q = &b->host->q;
	struct gn_nvme_command c;
	const struct job j = {"a deallocation", lba, GN_NVME_DATASET_MANAGEMENT, blocks, &c};
	uint32_t range[4] = {0, blocks, (uint32_t)lba, (uint32_t)(lba >> 32)};
	uint64_t deadline;
	uint32_t cid;
	int rc = begin_change(b, lba, blocks, &deadline, &cid, error);

	if (rc)
		return rc;
	memset(&c, 0, sizeof c);
	memcpy(gn_nvmeq_buffer(q, cid), range, sizeof range);
	c.opcode = GN_NVME_DATASET_MANAGEMENT;
	c.nsid = b->nsid;
	c.prp1 = q->prp_list[(size_t)(cid & (q->depth - 1)) * (q->buffer_bytes / GN_NVME_PAGE)];
	c.lba = (uint64_t)4 << 32; /* one range; dword 11: deallocate */
	rc = run(b, &cid, &j, deadline, error);
	if (rc != -GN_ETIMEDOUT)
		gn_nvmeq_end(q, cid);
	return rc;
}

int gn_block_deallocate(struct gn_block *b, uint64_t lba, uint64_t blocks, struct gn_error *error)
{
	int rc = 0;

	if (!b->drive->identity.has_deallocate)
		return gn_error_set(error, -GN_ENOTSUP, "%s: the controller has no deallocation",
		                    b->drive->name);
	pthread_mutex_lock(&b->lock);
	while (blocks && !rc) {
		uint32_t part = blocks < UINT32_MAX ? (uint32_t)blocks : UINT32_MAX;

		rc = deallocate(b, lba, part, error);
		lba += part;
		blocks -= part;
	}
	pthread_mutex_unlock(&b->lock);
	return rc;
}
