/* SPDX-License-Identifier: Apache-2.0 */
#include "nvme_reads.h"

/* Steele, Lea and Flood's SplitMix64. */
SIMT_FN uint64_t nvme_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

SIMT_FN void nvme_read_blocks(const struct nvme_reads *a)
{
	char *to = a->memory + simt_global_thread() * a->block;

	for (uint64_t k = simt_global_thread(); k < a->count; k += simt_global_threads()) {
		struct gn_store_status status = gn_store_read_warp(
		    &a->store, simt_active(), 1, nvme_mix(k) % a->blocks * a->block, to, a->block);

		if (status.code)
			simt_reduce_add_relaxed_dev_u64(a->failed, 1);
	}
}
SIMT_KERNEL(nvme_read_blocks, struct nvme_reads)
