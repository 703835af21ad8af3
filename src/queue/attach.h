/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach.h - what a queue pair needs to be served by a controller in hardware.
 */
#ifndef GN_QUEUE_ATTACH_H
#define GN_QUEUE_ATTACH_H

#include <grapnel/nvmeq.h>

/* A queue pair as the controller knows it. */
struct gn_nvmeq_attachment {
	uint32_t *sq_doorbell, *cq_doorbell; /* registers, as the machine's threads reach them */
	uint64_t buffer_bus, prp_list_bus;   /* bus addresses of q->buffer and q->prp_list */
};

/*
 * gn_nvmeq_attach - let a queue pair ring the doorbells of a controller, by the bus addresses that it uses.
 * Before the first command. The doorbells stay the caller's; gn_nvmeq_destroy leaves them alone.
 */
void gn_nvmeq_attach(struct gn_nvmeq *q, struct simt_machine *machine, const struct gn_nvmeq_attachment *to);

/*
 * gn_nvme_status_code - the library's code for a status field: 0, -GN_ENOSPC, -GN_EROFS, -GN_ERANGE,
 * -GN_EACCES, -GN_ENODEV (no such namespace), -GN_ENOTSUP (opcode or field unknown), else -GN_EIO.
 */
int gn_nvme_status_code(uint32_t status);

#endif
