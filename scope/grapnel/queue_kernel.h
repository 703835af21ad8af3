/* SPDX-License-Identifier: Apache-2.0 */
/* queue_kernel.h - reads by command through queue pairs: threads take a slot, post, wait, look, and give the
 * slot back. */
#ifndef GN_SCOPE_QUEUE_KERNEL_H
#define GN_SCOPE_QUEUE_KERNEL_H

#include <grapnel/nvmeq.h>
#include <grapnel/simt.h>

struct scope_queue_args {
	const struct gn_nvmeq *queue; /* [queues]; blocks take turns */
	uint32_t queues;
	uint32_t bytes;    /* of a command; a multiple of the block */
	uint64_t commands; /* of data */
	uint64_t each;     /* commands of a thread */
	uint64_t seed;
	uint64_t *wrong; /* commands that failed, or brought something else */
};

/* What word k of the data is. */
SIMT_FN uint64_t scope_queue_word(uint64_t k)
{
	return ~k * 0x9e3779b97f4a7c15ull;
}

SIMT_KERNEL_DECLARE(scope_queue_run);

#endif
