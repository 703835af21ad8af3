/* SPDX-License-Identifier: Apache-2.0 */
/* nvme_reads.h - the kernel of grapnel nvme bench. */
#ifndef GN_TOOL_NVME_READS_H
#define GN_TOOL_NVME_READS_H

#include <grapnel/store.h>

/* Random blocks of a store, each read by one thread into memory of its own. */
struct nvme_reads {
	struct gn_store_view store;
	char *memory;
	uint64_t *failed;
	uint64_t count, blocks;
	uint32_t block;
	uint32_t reserved;
};

#ifdef __cplusplus
extern "C" {
#endif

SIMT_KERNEL_DECLARE(nvme_read_blocks);

#ifdef __cplusplus
}
#endif

#endif
