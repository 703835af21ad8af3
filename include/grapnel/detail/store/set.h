/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/store/set.h - the queue pairs of a stripe's or replica's members, and a stripe's transfers.
 */
#include <grapnel/store.h> /* before the guard, because it includes this file */
#ifndef GRAPNEL_STORE_SET_H
#define GRAPNEL_STORE_SET_H

/* The queue pairs of a member, those of the host behind those of kernels. */
SIMT_FN uint32_t gn__set_queues(const struct gn_store_view *s)
{
	return s->queue_count + s->host_queues;
}

SIMT_FN const struct gn_nvmeq *gn__set_member(const struct gn_store_view *s, uint32_t member)
{
	return s->queue + (size_t)member * gn__set_queues(s);
}

SIMT_FN uint32_t gn__set_mine(const struct gn_store_view *s)
{
	return simt_processor() % s->queue_count;
}

/* ---- stripe: each byte lies on one member ---- */

/* Where a transfer goes. */
struct gn__stripe_place {
	const struct gn_nvmeq *q; /* the member's queue pairs */
	uint64_t offset;          /* on the member */
	int32_t code;             /* 0, or -GN_EINVAL: the bytes cross from one unit to the next */
};

/*
 * A row of a stripe is a unit of every member. The lanes of a warp may get queue pairs of different members.
 */
SIMT_FN struct gn__stripe_place gn__stripe_find(const struct gn_store_view *s, uint64_t offset,
                                                uint32_t bytes)
{
	const uint64_t unit = offset >> s->unit_log2, row = unit / s->members;
	const uint64_t inside = offset & ((1ull << s->unit_log2) - 1);
	struct gn__stripe_place p;

	p.q = gn__set_member(s, (uint32_t)(unit - row * s->members));
	p.offset = row << s->unit_log2 | inside;
	p.code = inside + bytes > 1ull << s->unit_log2 ? -GN_EINVAL : 0;
	return p;
}

/* The status of a transfer that had no place, or of one that was made. */
SIMT_FN struct gn_store_status gn__set_status(int32_t refused, struct gn_store_status status)
{
	status.code = refused ? refused : status.code;
	return status;
}

SIMT_FN struct gn_store_status gn__stripe_read(const struct gn_store_view *s, uint32_t mask, int wants,
                                               uint64_t offset, void *to, uint32_t bytes)
{
	struct gn__stripe_place p = gn__stripe_find(s, offset, bytes);

	p.code = wants ? p.code : 0;
	return gn__set_status(p.code,
	                      gn__store_move_blocks(&p.q[gn__set_mine(s)], mask, wants && !p.code,
	                                            GN_NVME_READ, p.offset, to, bytes, s->timeout_ns));
}

SIMT_FN struct gn_store_status gn__stripe_write(const struct gn_store_view *s, uint32_t mask, int wants,
                                                uint64_t offset, const void *from, uint32_t bytes)
{
	struct gn__stripe_place p = gn__stripe_find(s, offset, bytes);

	p.code = wants ? p.code : 0;
	return gn__set_status(p.code,
	                      gn__store_write_blocks(p.q, gn__set_queues(s), gn__set_mine(s), mask,
	                                             wants && !p.code, p.offset, from, bytes, s->timeout_ns));
}

#endif
