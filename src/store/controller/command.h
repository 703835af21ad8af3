/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - turns a command from a submission queue into a request that can be executed.
 */
#ifndef GN_CONTROLLER_COMMAND_H
#define GN_CONTROLLER_COMMAND_H

#include <grapnel/nvmeq.h>
#include <store/controller/request.h>

/* The namespace behind a queue pair. */
struct gn_namespace {
	uint64_t bytes; /* of the medium; the last block may reach past it */
	int read_only;
};

/* gn_command_segments - the most segments that a request of this queue pair needs. */
uint32_t gn_command_segments(const struct gn_nvmeq *q);

/*
 * gn_command_decode - check a command and fill the request that executes it.
 * @r  segment points to gn_command_segments entries; all other members are set here
 * It checks opcode, namespace, block range, transfer size and every address. Memory outside the queue pair's
 * own buffers and PRP lists is not accessed (for hardware an IOMMU would ensure that). It zeroes the part of
 * a read past the end of the medium. Returns GN_NVME_OK or the status with which the command must complete.
 */
uint32_t gn_command_decode(const struct gn_nvmeq *q, const struct gn_namespace *ns,
                           const struct gn_nvme_command *c, struct gn_request *r);

#endif
