/* SPDX-License-Identifier: Apache-2.0 */
#include <store/controller/port.h>

#include <stdlib.h>
#include <string.h>

#include <store/controller/faults.h>

int gn_port_init(struct gn_port *port, uint32_t index, uint32_t place, const struct gn_nvmeq *queue,
                 const struct gn_namespace *ns, const struct gn_fault_plan *faults)
{
	uint32_t segments = gn_command_segments(queue);

	memset(port, 0, sizeof *port);
	gn_nvme_port_init(&port->queue, queue);
	port->index = index;
	port->ns = ns;
	port->faults = faults;
	port->request = (struct gn_request *)calloc(queue->depth, sizeof *port->request);
	port->segment = (struct iovec *)calloc((size_t)queue->depth * segments, sizeof *port->segment);
	if (!port->request || !port->segment)
		return -GN_ENOMEM;
	for (uint32_t k = 0; k < queue->depth; k++) {
		port->request[k].port = place;
		port->request[k].segment = &port->segment[(size_t)k * segments];
		gn_request_push(&port->idle, &port->request[k]);
	}
	return 0;
}

void gn_port_fini(struct gn_port *port)
{
	free(port->request);
	free(port->segment);
}

/* Add to a counter that only this thread writes. */
static void add(uint64_t *counter, uint64_t value)
{
	simt_store_relaxed_dev_u64(counter, *counter + value);
}

static void count(struct gn_port *port, const struct gn_request *r)
{
	struct gn_store_statistics *c = &port->count;

	if (r->status)
		add(&c->failed, 1);
	else if (r->opcode == GN_NVME_READ) {
		add(&c->reads, 1);
		add(&c->read_bytes, r->moved_bytes);
	} else if (r->opcode == GN_NVME_WRITE) {
		add(&c->writes, 1);
		add(&c->written_bytes, r->moved_bytes);
	}
}

static int post(struct gn_port *port, const struct gn_request *r)
{
	int rc = gn_nvme_port_complete(&port->queue, r->cid, r->status);

	if (!rc)
		port->posted++;
	return rc;
}

/* Post a completion. If there is no room, keep it behind the completions that are already kept. */
static void complete(struct gn_port *port, struct gn_request *r)
{
	if (port->unposted.first || post(port, r)) {
		gn_request_push(&port->unposted, r);
		return;
	}
	if (r->fault == GN_FAULT_DUPLICATE)
		post(port, r);
	gn_request_push(&port->idle, r);
}

void gn_port_finish(struct gn_port *port, struct gn_request *r)
{
	if (r->fault == GN_FAULT_TORN && !r->status)
		r->status = GN_NVME_DATA_TRANSFER_ERROR;
	count(port, r);
	if (r->fault == GN_FAULT_DROP)
		gn_request_push(&port->idle, r);
	else if (gn_fault_holds(r))
		gn_fault_hold(&port->shelf, port->faults, r, simt_clock_ns(), port->posted);
	else
		complete(port, r);
}

void gn_port_settle(struct gn_port *port)
{
	struct gn_request *r;

	while (port->unposted.first && !post(port, port->unposted.first))
		gn_request_push(&port->idle, gn_request_pop(&port->unposted));
	if (!port->shelf.first)
		return;
	while ((r = gn_fault_release(&port->shelf, simt_clock_ns(), port->posted)))
		complete(port, r);
}

/* Apply the fault plan to a new request. Returns 1 if the request must be executed. */
static int suffer(struct gn_port *port, struct gn_request *r)
{
	enum gn_fault fault = gn_fault_draw(port->faults, port->index, port->fetched, r->opcode);

	r->fault = (uint8_t)fault;
	if (fault == GN_FAULT_TORN)
		gn_request_trim(r, r->bytes / 2);
	if (fault == GN_FAULT_FAIL)
		r->status = gn_fault_status(port->faults, r->opcode);
	return fault != GN_FAULT_FAIL;
}

/* Start a command. Returns 1 if the engine has its request, 0 if it is already finished. */
static int start(struct gn_port *port, struct gn_engine *engine, const struct gn_nvme_command *command,
                 struct gn_request *r)
{
	r->status = gn_command_decode(port->queue.queue, port->ns, command, r);
	if (r->status || (simt_unlikely(port->faults != NULL) && !suffer(port, r))) {
		gn_port_finish(port, r);
		return 0;
	}
	engine->ops->start(engine, r);
	return 1;
}

uint32_t gn_port_fetch(struct gn_port *port, struct gn_engine *engine, uint32_t *started)
{
	struct gn_nvme_command command;
	uint32_t fetched = 0;

	/* At most one round of the queue: a wrong doorbell must not keep the thread here. */
	for (; fetched < port->queue.queue->depth && port->idle.first; fetched++) {
		if (gn_nvme_port_fetch(&port->queue, &command))
			break;
		*started += (uint32_t)start(port, engine, &command, gn_request_pop(&port->idle));
		port->fetched++;
	}
	return fetched;
}
