/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/store/plain.h - transfers of every store but a tier: memory, queue pairs, a stripe or a replica. A
 * tier calls them for its slow store.
 */
#include <grapnel/store.h> /* before the guard, because it includes this file */
#ifndef GRAPNEL_STORE_PLAIN_H
#define GRAPNEL_STORE_PLAIN_H

SIMT_NOINLINE_FN struct gn_store_status gn__plain_read(const struct gn_store_view *s, uint32_t mask,
                                                       int wants, uint64_t offset, void *to, uint32_t bytes)
{
	struct gn_store_status ok = {0, 0};

	if (s->kind == GN_STORE_MEMORY) {
		simt_copy_each(mask, simt_ballot(mask, wants), to, s->memory + offset, (bytes + 15) & ~15u);
		return ok;
	}
	if (!s->members)
		return gn__store_move_blocks(gn__store_queue(s), mask, wants, GN_NVME_READ, offset, to, bytes,
		                             s->timeout_ns);
	return s->health ? gn__replica_read(s, mask, wants, offset, to, bytes)
	                 : gn__stripe_read(s, mask, wants, offset, to, bytes);
}

SIMT_NOINLINE_FN struct gn_store_status gn__plain_write(const struct gn_store_view *s, uint32_t mask,
                                                        int wants, uint64_t offset, const void *from,
                                                        uint32_t bytes)
{
	struct gn_store_status ok = {0, 0};

	if (s->kind == GN_STORE_MEMORY) {
		simt_copy_each(mask, simt_ballot(mask, wants), s->memory + offset, from, (bytes + 15) & ~15u);
		return ok;
	}
	if (!s->members)
		return gn__store_write_blocks(s->queue, gn__set_queues(s), gn__set_mine(s), mask, wants,
		                              offset, from, bytes, s->timeout_ns);
	return s->health ? gn__replica_write(s, mask, wants, offset, from, bytes)
	                 : gn__stripe_write(s, mask, wants, offset, from, bytes);
}

SIMT_NOINLINE_FN struct gn_store_status gn__plain_read_few(const struct gn_store_view *s, uint64_t offset,
                                                           void *to, uint32_t bytes)
{
	struct gn_store_status ok = {0, 0};
	struct gn__stripe_place p;

	if (s->kind == GN_STORE_MEMORY) {
		gn__store_take(to, s->memory + offset, bytes);
		return ok;
	}
	if (!s->members)
		return gn__store_read_few(gn__store_queue(s), offset, to, bytes, s->timeout_ns);
	if (s->health)
		return gn__replica_read_few(s, offset, to, bytes);
	p = gn__stripe_find(s, offset, bytes);
	return gn__store_read_few(&p.q[gn__set_mine(s)], p.offset, to, bytes, s->timeout_ns);
}

SIMT_NOINLINE_FN struct gn_store_status gn__plain_write_few(const struct gn_store_view *s, uint64_t offset,
                                                            const void *from, uint32_t bytes)
{
	struct gn_store_status ok = {0, 0};
	struct gn__stripe_place p;

	if (s->kind == GN_STORE_MEMORY) {
		gn__store_give(s->memory + offset, from, bytes);
		return ok;
	}
	if (!s->members)
		return gn__store_write_few(s->queue, gn__set_queues(s), gn__set_mine(s), offset, from, bytes,
		                           s->timeout_ns);
	if (s->health)
		return gn__replica_write_few(s, offset, from, bytes);
	p = gn__stripe_find(s, offset, bytes);
	return gn__store_write_few(p.q, gn__set_queues(s), gn__set_mine(s), p.offset, from, bytes,
	                           s->timeout_ns);
}

#endif
