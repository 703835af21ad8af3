/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port.h - a controller's end of one queue pair with the requests in work: fetch, decode, execute, complete.
 */
#ifndef GN_CONTROLLER_PORT_H
#define GN_CONTROLLER_PORT_H

#include <grapnel/store.h>
#include <queue/port.h>
#include <store/controller/command.h>
#include <store/controller/engine.h>

/* Owned by one controller thread; others read the statistics. */
struct gn_port {
	struct gn_nvme_port queue;
	uint32_t index; /* in the controller */
	const struct gn_namespace *ns;
	const struct gn_fault_plan *faults; /* NULL: none */
	struct gn_request_list idle;        /* requests not in use */
	struct gn_request_list unposted;    /* finished while the completion queue was full */
	struct gn_request_list shelf;       /* held back by the fault plan */
	uint64_t fetched, posted;
	struct gn_store_statistics count; /* written relaxed by the thread */
	struct gn_request *request;       /* [depth] */
	struct iovec *segment;            /* [depth][gn_command_segments] */
};

/*
 * gn_port_init - make the requests of a port.
 * @index, @place  of the port in the controller, and among those of its thread
 * Returns 0 or -GN_ENOMEM.
 */
int gn_port_init(struct gn_port *port, uint32_t index, uint32_t place, const struct gn_nvmeq *queue,
                 const struct gn_namespace *ns, const struct gn_fault_plan *faults);
void gn_port_fini(struct gn_port *port);

/*
 * gn_port_fetch - fetch what the doorbell shows and start it; commands that are refused complete at once.
 * Returns how many commands were fetched; *started grows by those that the engine has.
 */
uint32_t gn_port_fetch(struct gn_port *port, struct gn_engine *engine, uint32_t *started);

/* gn_port_finish - a request came back from the engine: complete it, or do to it what the fault plan says. */
void gn_port_finish(struct gn_port *port, struct gn_request *r);

/* gn_port_settle - post what waits for room in the completion queue, or for its time on the shelf. */
void gn_port_settle(struct gn_port *port);

#endif
