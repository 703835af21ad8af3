/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port.h - a controller's end of one queue pair, with its requests: fetch, decode, execute, complete.
 */
#ifndef GN_CONTROLLER_PORT_H
#define GN_CONTROLLER_PORT_H

#include <grapnel/store.h>
#include <queue/port.h>
#include <store/controller/command.h>
#include <store/controller/engine.h>

/* Owned by one controller thread; other threads read only the statistics. */
struct gn_port {
	struct gn_nvme_port queue;
	uint32_t index; /* in the controller */
	const struct gn_namespace *ns;
	const struct gn_fault_plan *faults; /* NULL: none */
	struct gn_request_list idle;        /* requests not in use */
	struct gn_request_list unposted;    /* finished while the completion queue was full */
	struct gn_request_list shelf;       /* held back by the fault plan */
	uint64_t fetched, posted;
	struct gn_store_statistics count; /* written by the owner with relaxed stores */
	struct gn_request *request;       /* [depth] */
	struct iovec *segment;            /* [depth][gn_command_segments] */
};

/*
 * gn_port_init - make the requests of a port.
 * @index  of the port in the controller
 * @place  of the port among the ports of its thread
 * Returns 0 or -GN_ENOMEM.
 */
int gn_port_init(struct gn_port *port, uint32_t index, uint32_t place, const struct gn_nvmeq *queue,
                 const struct gn_namespace *ns, const struct gn_fault_plan *faults);
void gn_port_fini(struct gn_port *port);

/*
 * gn_port_fetch - fetch the commands up to the doorbell and start them. Refused commands complete at once.
 * Returns the number of commands fetched; *started grows by the number that the engine got.
 */
uint32_t gn_port_fetch(struct gn_port *port, struct gn_engine *engine, uint32_t *started);

/* gn_port_finish - complete a request that came back from the engine, or do what the fault plan says. */
void gn_port_finish(struct gn_port *port, struct gn_request *r);

/* gn_port_settle - post completions that waited for room in the completion queue, or on the shelf. */
void gn_port_settle(struct gn_port *port);

#endif
