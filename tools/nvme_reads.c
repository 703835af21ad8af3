/* SPDX-License-Identifier: Apache-2.0 */
#include "nvme_reads.h"

#include "spread/mix.h"

SIMT_FN void nvme_read_blocks(const struct nvme_reads *a)
{
	char *to = a->memory + simt_global_thread() * a->block;

	for (uint64_t k = simt_global_thread(); k < a->count; k += simt_global_threads()) {
		struct gn_store_status status = gn_store_read_warp(
		    &a->store, simt_active(), 1, spread_mix(k) % a->blocks * a->block, to, a->block);

		if (status.code)
			simt_reduce_add_relaxed_dev_u64(a->failed, 1);
	}
}
SIMT_KERNEL(nvme_read_blocks, struct nvme_reads)
