/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replica_store.h - the library's replica, and with TIER its tier over it, whose members have queue pairs of
 * the trial's own (gn__store_move_blocks in replica.c).
 */
#ifndef GN_MODEL_REPLICA_STORE_H
#define GN_MODEL_REPLICA_STORE_H

#define GRAPNEL_STORE_MOVE_H /* its functions are here */
#include <grapnel/nvmeq.h>
#include <grapnel/store.h>

SIMT_FN struct gn_store_status gn__store_move_blocks(const struct gn_nvmeq *q, uint32_t mask, int wants,
                                                     uint32_t opcode, uint64_t offset, void *memory,
                                                     uint32_t bytes, uint64_t timeout_ns);

SIMT_FN struct gn_store_status gn__store_write_blocks(const struct gn_nvmeq *q, uint32_t queues,
                                                      uint32_t mine, uint32_t mask, int wants,
                                                      uint64_t offset, const void *from, uint32_t bytes,
                                                      uint64_t timeout_ns)
{
	(void)queues;
	return gn__store_move_blocks(q + mine, mask, wants, GN_NVME_WRITE, offset, (void *)(uintptr_t)from,
	                             bytes, timeout_ns);
}

SIMT_FN struct gn_store_status gn__store_read_few(const struct gn_nvmeq *q, uint64_t offset, void *to,
                                                  uint32_t bytes, uint64_t timeout_ns)
{
	return gn__store_move_blocks(q, 1, 1, GN_NVME_READ, offset, to, bytes, timeout_ns);
}

/* The first word of a block, which has two: the other is read and written as it is. */
SIMT_FN struct gn_store_status gn__store_write_few(const struct gn_nvmeq *q, uint32_t queues, uint32_t mine,
                                                   uint64_t offset, const void *from, uint32_t bytes,
                                                   uint64_t timeout_ns)
{
	uint64_t block[2];
	struct gn_store_status status = gn__store_read_few(q, offset, block, sizeof block, timeout_ns);

	memcpy(block, from, bytes);
	return status.code
	           ? status
	           : gn__store_write_blocks(q, queues, mine, 1, 1, offset, block, sizeof block, timeout_ns);
}

#include <grapnel/detail/store/set.h>
#include <grapnel/detail/store/replica.h>
#include <grapnel/detail/store/replica_write.h>
#include <store/set/back.h>

#if TIER
#define gn__plain_read gn__replica_read
#define gn__plain_write gn__replica_write
#define gn__plain_read_few gn__replica_read_few
#define gn__plain_write_few gn__replica_write_few
#define GRAPNEL_STORE_PLAIN_H

SIMT_FN void gn__store_give(void *to, const void *from, uint32_t bytes)
{
	memcpy(to, from, bytes);
}

SIMT_FN void gn__store_take(void *to, const void *from, uint32_t bytes)
{
	memcpy(to, from, bytes);
}
#include <grapnel/detail/store/tier.h>
#else
#define gn__set_read gn__replica_read
#define gn__set_write gn__replica_write
#define gn__set_read_few gn__replica_read_few
#define gn__set_write_few gn__replica_write_few
#endif

SIMT_FN struct gn_store_status gn_store_read_warp(const struct gn_store_view *s, uint32_t mask, int wants,
                                                  uint64_t offset, void *to, uint32_t bytes)
{
	return gn__set_read(s, mask, wants, offset, to, bytes);
}

SIMT_FN struct gn_store_status gn_store_write_warp(const struct gn_store_view *s, uint32_t mask, int wants,
                                                   uint64_t offset, const void *from, uint32_t bytes)
{
	return gn__set_write(s, mask, wants, offset, from, bytes);
}

SIMT_FN struct gn_store_status gn_store_read_thread(const struct gn_store_view *s, uint64_t offset, void *to,
                                                    uint32_t bytes)
{
	return gn__set_read_few(s, offset, to, bytes);
}

SIMT_FN struct gn_store_status gn_store_write_thread(const struct gn_store_view *s, uint64_t offset,
                                                     const void *from, uint32_t bytes)
{
	return gn__set_write_few(s, offset, from, bytes);
}

#endif
