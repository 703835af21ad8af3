/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include <queue/attach.h>

static int check_options(const struct gn_nvmeq_options *c, struct gn_error *error)
{
	if (c->depth < 2 || c->depth > 32768 || c->depth & (c->depth - 1))
		return gn_error_set(error, -GN_EINVAL,
		                    "queue pair: depth %u is not a power of two from 2 to 32768", c->depth);
	/* A power of two also keeps every slot's PRP list inside one memory page, as NVMe requires. */
	if (c->buffer_bytes < GN_NVME_PAGE || c->buffer_bytes & (c->buffer_bytes - 1) ||
	    c->buffer_bytes > 2u << 20)
		return gn_error_set(error, -GN_EINVAL,
		                    "queue pair: a largest transfer of %u bytes is not a power of two from "
		                    "4096 to 2097152 bytes",
		                    c->buffer_bytes);
	if (c->block_bytes < 512 || c->block_bytes & (c->block_bytes - 1) || c->block_bytes > c->buffer_bytes)
		return gn_error_set(error, -GN_EINVAL,
		                    "queue pair: logical blocks of %u bytes are not possible; give a power "
		                    "of two from 512 to %u",
		                    c->block_bytes, c->buffer_bytes);
	if (c->start % (2 * c->depth))
		return gn_error_set(error, -GN_EINVAL,
		                    "queue pair: first ticket %u is not a multiple of twice the depth, %u",
		                    c->start, 2 * c->depth);
	return 0;
}

static int allocate(struct gn_nvmeq *q, struct simt_machine *m)
{
	size_t depth = q->depth;
	uint32_t *doorbells;

	q->sq = (struct gn_nvme_command *)simt_alloc(m, depth * sizeof *q->sq, SIMT_PINNED, NULL);
	q->cq = (struct gn_nvme_completion *)simt_alloc(m, depth * sizeof *q->cq, SIMT_PINNED, NULL);
	doorbells = (uint32_t *)simt_alloc(m, GN_NVME_PAGE, SIMT_PINNED, NULL);
	q->sq_doorbell = doorbells;
	q->cq_doorbell = doorbells ? doorbells + 64 : NULL;
	q->buffer = (char *)simt_alloc(m, depth * q->buffer_bytes, SIMT_PINNED, NULL);
	q->prp_list =
	    (const uint64_t *)simt_alloc(m, depth * (q->buffer_bytes / GN_NVME_PAGE) * 8, SIMT_PINNED, NULL);
	q->state = (struct gn_nvmeq_state *)simt_alloc(m, sizeof *q->state + depth * 4, SIMT_DEVICE, NULL);
	q->mark = (uint32_t *)simt_alloc(m, depth * sizeof *q->mark, SIMT_DEVICE, NULL);
	q->slot = (struct gn_nvmeq_slot *)simt_alloc(m, depth * sizeof *q->slot, SIMT_DEVICE, NULL);
	q->free_id = (uint32_t *)simt_alloc(m, depth * sizeof *q->free_id, SIMT_DEVICE, NULL);
	return q->sq && q->cq && doorbells && q->buffer && q->prp_list && q->state && q->mark && q->slot &&
	               q->free_id
	           ? 0
	           : -GN_ENOMEM;
}

/*
 * The ring of free slots holds one slot less than there are entries: an NVMe queue is full with one entry
 * unused, and the argument at the top of nvmeq.h relies on that.
 */
static int fill_free_ring(struct gn_nvmeq *q, struct simt_machine *m, uint32_t start, struct gn_error *error)
{
	uint32_t depth = q->depth;
	uint32_t *turns = (uint32_t *)calloc(2 * (size_t)depth, sizeof *turns);
	uint32_t *ids = turns + depth;
	struct gn_nvmeq_state image;
	int rc;

	if (!turns)
		return -GN_ENOMEM;
	memset(&image, 0, sizeof image);
	image.ticket = image.tail = image.head = image.rung = start;
	gn_ring_init(&image.free_ring, turns, (uint32_t *)(q->state + 1), depth, start);
	for (uint32_t k = 0; k + 1 < depth; k++) {
		uint32_t ticket = start + k;

		turns[gn_ring_slot(&image.free_ring, ticket)] = ticket + 1;
		ids[gn_ring_slot(&image.free_ring, ticket)] = k;
	}
	image.free_ring.tail = start + depth - 1;
	rc = simt_move(m, q->state, &image, sizeof image, error);
	if (!rc)
		rc = simt_move(m, q->state + 1, turns, depth * 4, error);
	if (!rc)
		rc = simt_move(m, q->free_id, ids, depth * 4, error);
	free(turns);
	return rc;
}

/* A mark equal to ticket + 1 means ready. The marks start with the values of the round before. */
static int fill_marks(struct gn_nvmeq *q, struct simt_machine *m, uint32_t start, struct gn_error *error)
{
	uint32_t *marks = (uint32_t *)malloc(q->depth * sizeof *marks);
	int rc;

	if (!marks)
		return -GN_ENOMEM;
	for (uint32_t k = 0; k < q->depth; k++)
		marks[k] = start + k + 1 - q->depth;
	rc = simt_move(m, q->mark, marks, q->depth * sizeof *marks, error);
	free(marks);
	return rc;
}

/* The low bits of a command id are its slot; the generation above them may start with any value. */
static int fill_slots(struct gn_nvmeq *q, struct simt_machine *m, struct gn_error *error)
{
	struct gn_nvmeq_slot *slots = (struct gn_nvmeq_slot *)calloc(q->depth, sizeof *slots);
	int rc;

	if (!slots)
		return -GN_ENOMEM;
	for (uint32_t k = 0; k < q->depth; k++)
		slots[k].word = gn__nvmeq_word(k, GN__NVMEQ_IDLE, 0);
	rc = simt_move(m, q->slot, slots, q->depth * sizeof *slots, error);
	free(slots);
	return rc;
}

/* The controller reaches the buffers at buffer_bus, and the lists at list_bus. */
static void fill_prp_lists(struct gn_nvmeq *q, uint64_t buffer_bus, uint64_t list_bus)
{
	size_t pages = (size_t)q->depth * (q->buffer_bytes / GN_NVME_PAGE);
	uint64_t *list = (uint64_t *)(uintptr_t)q->prp_list;

	for (size_t k = 0; k < pages; k++)
		list[k] = buffer_bus + k * GN_NVME_PAGE;
	q->prp_list_bus = list_bus;
}

static int refuse(const struct gn_nvmeq_options *options, int rc, struct gn_error *error)
{
	if (rc == -GN_ENOMEM)
		return gn_error_set(error, rc,
		                    "queue pair: out of memory for %u commands of %u bytes; give a smaller "
		                    "depth or smaller transfers",
		                    options->depth, options->buffer_bytes);
	return gn_error_prefix(error, rc, "queue pair: its first state cannot be copied to the machine");
}

int gn_nvmeq_create(struct gn_nvmeq *q, struct simt_machine *machine, const struct gn_nvmeq_options *options,
                    struct gn_error *error)
{
	int rc = check_options(options, error);

	memset(q, 0, sizeof *q);
	if (rc)
		return rc;
	q->depth = options->depth;
	q->depth_log2 = (uint32_t)__builtin_ctz(options->depth);
	q->buffer_bytes = options->buffer_bytes;
	q->block_bytes = options->block_bytes;
	q->nsid = options->nsid ? options->nsid : 1;
	rc = allocate(q, machine);
	if (!rc)
		rc = fill_free_ring(q, machine, options->start, error);
	if (!rc)
		rc = fill_marks(q, machine, options->start, error);
	if (!rc)
		rc = fill_slots(q, machine, error);
	if (rc) {
		gn_nvmeq_destroy(q, machine);
		return refuse(options, rc, error);
	}
	fill_prp_lists(q, (uint64_t)(uintptr_t)q->buffer, (uint64_t)(uintptr_t)q->prp_list);
	return 0;
}

void gn_nvmeq_attach(struct gn_nvmeq *q, struct simt_machine *machine, const struct gn_nvmeq_attachment *to)
{
	if (!q->attached)
		simt_free(machine, q->sq_doorbell);
	q->attached = 1;
	q->sq_doorbell = to->sq_doorbell;
	q->cq_doorbell = to->cq_doorbell;
	fill_prp_lists(q, to->buffer_bus, to->prp_list_bus);
}

void gn_nvmeq_destroy(struct gn_nvmeq *q, struct simt_machine *machine)
{
	simt_free(machine, q->sq);
	simt_free(machine, q->cq);
	if (!q->attached)
		simt_free(machine, q->sq_doorbell);
	simt_free(machine, q->buffer);
	simt_free(machine, (void *)(uintptr_t)q->prp_list);
	simt_free(machine, q->state);
	simt_free(machine, q->mark);
	simt_free(machine, q->slot);
	simt_free(machine, q->free_id);
	memset(q, 0, sizeof *q);
}
