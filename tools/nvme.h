/* SPDX-License-Identifier: Apache-2.0 */
/* nvme.h - what the subcommands of grapnel nvme share. */
#ifndef GN_TOOL_NVME_H
#define GN_TOOL_NVME_H

#include "tool.h"

/* What read and write are asked. */
struct nvme_request {
	const char *address;
	uint32_t nsid;
	uint64_t offset, bytes;
	const char *file; /* NULL: standard input or output */
	bool writes, overwrite;
};

int tool_nvme_list(int argc, char **argv);
int tool_nvme_identify(int argc, char **argv);
int tool_nvme_bind(int argc, char **argv);
int tool_nvme_unbind(int argc, char **argv);
int tool_nvme_read(int argc, char **argv);
int tool_nvme_write(int argc, char **argv);
int tool_nvme_bench(int argc, char **argv);

/* nvme_need_address - a usage error where no address was given. */
void nvme_need_address(const struct argp_state *state, const char *address);

#endif
