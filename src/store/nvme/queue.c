/* SPDX-License-Identifier: Apache-2.0 */
/* queue.c - queue pairs in memory that the controller reaches. */
#include <store/nvme/drive.h>

#include <string.h>

static size_t list_bytes(const struct gn_nvmeq *q)
{
	return (size_t)q->depth * (q->buffer_bytes / GN_NVME_PAGE) * 8;
}

static size_t whole_pages(size_t bytes)
{
	return (bytes + GN_NVME_PAGE - 1) & ~(size_t)(GN_NVME_PAGE - 1);
}

static int map(struct gn_drive_queue *queue, const void *memory, size_t bytes, uint64_t *bus,
               struct gn_error *error)
{
	return queue->dma->map(queue->dma, (void *)(uintptr_t)memory, whole_pages(bytes), bus, error);
}

static void unmap(struct gn_drive_queue *queue, const void *memory, size_t bytes, uint64_t bus)
{
	if (bus)
		queue->dma->unmap(queue->dma, (void *)(uintptr_t)memory, whole_pages(bytes), bus);
}

int gn_drive_make_queue(struct gn_drive_queue *queue, struct simt_machine *machine, struct gn_dma *dma,
                        const struct gn_nvmeq_options *options, struct gn_error *error)
{
	struct gn_nvmeq *q = &queue->q;
	int rc;

	memset(queue, 0, sizeof *queue);
	rc = gn_nvmeq_create(q, machine, options, error);
	if (rc)
		return rc;
	queue->machine = machine;
	queue->dma = dma;
	rc = map(queue, q->sq, q->depth * sizeof *q->sq, &queue->sq_bus, error);
	if (!rc)
		rc = map(queue, q->cq, q->depth * sizeof *q->cq, &queue->cq_bus, error);
	if (!rc)
		rc = map(queue, q->buffer, (size_t)q->depth * q->buffer_bytes, &queue->buffer_bus, error);
	if (!rc)
		rc = map(queue, q->prp_list, list_bytes(q), &queue->list_bus, error);
	if (rc)
		gn_drive_free_queue(queue);
	return rc;
}

void gn_drive_free_queue(struct gn_drive_queue *queue)
{
	struct gn_nvmeq *q = &queue->q;

	if (!queue->machine)
		return;
	unmap(queue, q->prp_list, list_bytes(q), queue->list_bus);
	unmap(queue, q->buffer, (size_t)q->depth * q->buffer_bytes, queue->buffer_bus);
	unmap(queue, q->cq, q->depth * sizeof *q->cq, queue->cq_bus);
	unmap(queue, q->sq, q->depth * sizeof *q->sq, queue->sq_bus);
	gn_nvmeq_destroy(q, queue->machine);
	memset(queue, 0, sizeof *queue);
}
