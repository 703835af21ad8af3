/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_kernel.h - messages through a log (detail/net/log.h) for each block: warps append, and the first warp
 * of the block, or threads of the host, read, sum and empty what they wrote.
 *
 * A warp's messages are one group, word w of lane l at w * lanes + l; word 1 of each is what is summed.
 */
#ifndef GN_SCOPE_LOG_KERNEL_H
#define GN_SCOPE_LOG_KERNEL_H

#include <grapnel/net.h>
#include <grapnel/simt.h>

/*
 * Which word of a message is summed; how many words the library appends at once, a number that the kernel
 * knows when it is compiled; and how many groups a reader lets pass before it gives their room back.
 */
enum { SCOPE_LOG_SUMMED = 1, SCOPE_LOG_SHORT = 4, SCOPE_LOG_RELEASE = 8 };

static const uint64_t scope_log_patience_ns = 5000000000ull;

struct scope_log_args {
	struct gn__log *log;           /* [blocks] */
	struct gn__log_reader *reader; /* [blocks]; kept from launch to launch */
	uint64_t *sum;
	uint64_t each;     /* groups that a warp appends */
	uint64_t seed;     /* of the launch */
	uint32_t words;    /* of a message, 2 and more */
	uint32_t by_warps; /* 1: the first warp of a block reads */
};

/* What is summed of a warp's k-th group in one lane. */
SIMT_FN uint64_t scope_log_value(uint64_t seed, uint64_t warp, uint64_t k, uint64_t lane)
{
	return (seed + warp + 1) * 0x9e3779b97f4a7c15ull + k * 32 + lane;
}

SIMT_KERNEL_DECLARE(scope_log_run);

#endif
