/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port.h - the controller's end of a queue pair: handles entries and doorbells as NVMe hardware does.
 *
 * One thread serves a port. It runs on the host, or as a thread of a checking schedule.
 */
#ifndef GN_QUEUE_PORT_H
#define GN_QUEUE_PORT_H

#include <grapnel/nvmeq.h>

struct gn_nvme_port {
	const struct gn_nvmeq *queue;
	uint32_t sq_head; /* next entry to fetch */
	uint32_t cq_tail; /* next completion to post */
	uint32_t phase;   /* of the next completion: 1 in the first round */
};

SIMT_FN void gn_nvme_port_init(struct gn_nvme_port *port, const struct gn_nvmeq *queue)
{
	port->queue = queue;
	port->sq_head = port->cq_tail = 0;
	port->phase = 1;
}

/* Fetch the next command. Returns 0, or -GN_EAGAIN: the queue has no command before the doorbell. */
SIMT_FN int gn_nvme_port_fetch(struct gn_nvme_port *port, struct gn_nvme_command *command)
{
	const struct gn_nvmeq *q = port->queue;

	/* pairs with R2 of nvmeq.h */
	if (port->sq_head == simt_load_acquire_sys_u32(q->sq_doorbell))
		return -GN_EAGAIN;
	GN_TRACE(fetch);
	*command = q->sq[port->sq_head];
	port->sq_head = (port->sq_head + 1) & (q->depth - 1);
	return 0;
}

/*
 * Post a completion. A failed command is not to be tried again: what can be tried, the engine has tried.
 * Returns 0, or -GN_EAGAIN while the completion queue is full.
 */
SIMT_FN int gn_nvme_port_complete(struct gn_nvme_port *port, uint16_t cid, uint32_t status)
{
	const struct gn_nvmeq *q = port->queue;
	uint32_t next = (port->cq_tail + 1) & (q->depth - 1);
	struct gn_nvme_completion *entry = &q->cq[port->cq_tail];

	if (next == simt_load_acquire_sys_u32(q->cq_doorbell))
		return -GN_EAGAIN;
	if (status)
		status |= GN_NVME_DO_NOT_RETRY;
	entry->result = 0;
	entry->sq_head = (uint16_t)port->sq_head;
	entry->sq_id = 1;
	GN_TRACE(complete);
	/* pairs with A2 of nvmeq.h: the phase bit is last, in one store with id and status */
	simt_store_release_sys_u32((uint32_t *)(void *)&entry->cid, cid | port->phase << 16 | status << 17);
	port->cq_tail = next;
	port->phase ^= !next;
	return 0;
}

#endif
