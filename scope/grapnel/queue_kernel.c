/* SPDX-License-Identifier: Apache-2.0 */
#include "queue_kernel.h"

static const uint64_t patience_ns = 5000000000ull;

/* Did command `which` bring what it should: the first word of it, and the last? */
SIMT_FN int brought(const struct scope_queue_args *a, const struct gn_nvmeq *q, uint32_t cid, uint64_t which)
{
	const uint64_t *word = (const uint64_t *)(const void *)gn_nvmeq_buffer(q, cid);
	const uint32_t words = a->bytes / 8;

	return simt_load_relaxed_dev_u64(&word[0]) == scope_queue_word(which * words) &&
	       simt_load_relaxed_dev_u64(&word[words - 1]) == scope_queue_word(which * words + words - 1);
}

SIMT_FN int read_one(const struct scope_queue_args *a, const struct gn_nvmeq *q, uint64_t which)
{
	const uint64_t deadline = simt_clock_ns() + patience_ns;
	const uint32_t blocks = a->bytes / q->block_bytes;
	uint32_t cid, status;
	int rc = gn_nvmeq_begin(q, deadline, &cid);

	if (rc)
		return rc;
	rc = gn_nvmeq_post(q, cid, GN_NVME_READ, which * blocks, blocks);
	if (!rc)
		rc = gn_nvmeq_wait(q, cid, deadline, &status);
	if (rc == -GN_ETIMEDOUT)
		return rc;
	if (!rc && !brought(a, q, cid, which))
		rc = -GN_EBADMSG;
	gn_nvmeq_end(q, cid);
	return rc;
}

SIMT_FN void scope_queue_run(const struct scope_queue_args *a)
{
	const struct gn_nvmeq *q = &a->queue[simt_block() % a->queues];
	const uint64_t first = a->seed + simt_global_thread() * a->each;
	uint64_t wrong = 0;

	for (uint64_t k = 0; k < a->each; k++)
		wrong += read_one(a, q, (first + k) % a->commands) != 0;
	if (wrong)
		simt_add_relaxed_dev_u64(a->wrong, wrong);
}
SIMT_KERNEL(scope_queue_run, struct scope_queue_args)
