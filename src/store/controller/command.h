/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - from a command as it stood in the queue to a request that can be executed.
 */
#ifndef GN_CONTROLLER_COMMAND_H
#define GN_CONTROLLER_COMMAND_H

#include <grapnel/nvmeq.h>
#include <store/controller/request.h>

/* Base Specification 2.0, figure 92: a status that only controllers name. */
enum { GN_NVME_INVALID_NAMESPACE = 0x00b };

/* The namespace behind a queue pair. */
struct gn_namespace {
	uint64_t bytes; /* of the medium; the last block may reach past it */
	int read_only;
};

/* gn_command_segments - how many segments a request of this queue pair needs at most. */
uint32_t gn_command_segments(const struct gn_nvmeq *q);

/*
 * gn_command_decode - check a command and fill the request that executes it.
 * @r  segment points to gn_command_segments entries; the rest is set here
 * Believes nothing: opcode, namespace, block range, transfer size and every address are checked; memory
 * outside the queue pair's own buffers and PRP lists is not touched (an IOMMU would see to that for
 * hardware). Zeroes the part of a read that lies past the end of the medium. Returns GN_NVME_OK or the status
 * the command completes with.
 */
uint32_t gn_command_decode(const struct gn_nvmeq *q, const struct gn_namespace *ns,
                           const struct gn_nvme_command *c, struct gn_request *r);

#endif
