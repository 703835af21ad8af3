/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fill.h - move items between the store and their slots: what a batch misses, what leaves and was changed,
 * and what is flushed. The warps of a grid take pieces in turn, so that one large item and many small ones
 * both keep the link busy.
 */
#ifndef GN_SLOTS_FILL_H
#define GN_SLOTS_FILL_H

#include <slots/block.h>
#include <slots/map.h>

SIMT_FN uint32_t gn__warps(void)
{
	return simt_blocks() * (simt_block_threads() / simt_warp_width());
}

SIMT_FN uint32_t gn__warp(void)
{
	return (uint32_t)(simt_global_thread() / simt_warp_width());
}

SIMT_FN uint64_t gn__item_offset(const struct gn__slots_view *v, int64_t key)
{
	return v->offset + (uint64_t)key * v->item_bytes;
}

/* Are the missing items read? If not, kernels write them. */
SIMT_FN int gn__fill_reads(const struct gn__slots_view *v)
{
	return !(v->shared->hints & GN_SLOTS_OVERWRITE);
}

/* ---- stores that loads reach ---- */

SIMT_FN char *gn__item_at(const struct gn__slots_view *v, int64_t key)
{
	return v->store.memory + gn__item_offset(v, key);
}

/*
 * A warp copies some items at once, one for each lane. An item that leaves is written first; no key of the
 * batch is its, because it would be a hit.
 */
SIMT_FN void gn__load_items(const struct gn__slots_view *v, uint32_t pending)
{
	const uint32_t all = simt_whole_warp(), lanes = v->fill.lanes, bytes = (uint32_t)v->item_bytes;
	const int reads = gn__fill_reads(v);

	for (uint64_t first = (uint64_t)gn__warp() * lanes; first < pending;
	     first += (uint64_t)gn__warps() * lanes) {
		const int wants = simt_lane() < lanes && first + simt_lane() < pending;
		const struct gn__slots_fetch *f = &v->fetch[wants ? first + simt_lane() : first];
		const uint32_t leaves = simt_ballot(all, wants && f->writes);

		if (leaves)
			simt_copy_each(all, leaves, gn__item_at(v, f->gone), gn__slot_at(v, f->slot), bytes);
		if (reads)
			simt_copy_each(all, simt_ballot(all, wants), gn__slot_at(v, f->slot),
			               gn__item_at(v, f->key), bytes);
	}
}

/* A warp copies a piece of an item. */
SIMT_FN void gn__load_pieces(const struct gn__slots_view *v, uint32_t pending)
{
	const uint64_t pieces = (uint64_t)pending * v->fill.cuts;
	const int reads = gn__fill_reads(v);

	for (uint64_t k = gn__warp(); k < pieces; k += gn__warps()) {
		const struct gn__slots_fetch *f = &v->fetch[k / v->fill.cuts];
		const uint64_t at = k % v->fill.cuts * v->fill.piece, left = v->item_bytes - at;
		const uint64_t bytes = left < v->fill.piece ? left : v->fill.piece;
		char *slot = gn__slot_at(v, f->slot) + at;

		if (f->writes)
			simt_copy(simt_whole_warp(), gn__item_at(v, f->gone) + at, slot, bytes);
		if (reads)
			simt_copy(simt_whole_warp(), slot, gn__item_at(v, f->key) + at, bytes);
	}
}

/* ---- stores behind queue pairs ---- */

/* The bytes of an item that lie in one piece of the store: piece `number` of those that the item touches. */
struct gn__cut {
	uint64_t begin, end; /* in the store; end <= begin: none */
	char *memory;        /* of begin, in the slot */
};

SIMT_FN struct gn__cut gn__cut_of(const struct gn__slots_view *v, int64_t key, uint32_t slot, uint64_t number)
{
	const uint64_t first = gn__item_offset(v, key), past = first + v->item_bytes;
	const uint64_t piece = (first / v->fill.piece + number) * v->fill.piece;
	struct gn__cut c;

	c.begin = piece < first ? first : piece;
	c.end = piece + v->fill.piece < past ? piece + v->fill.piece : past;
	c.memory = gn__slot_at(v, slot) + (c.begin - first);
	return c;
}

SIMT_FN uint32_t gn__cut_bytes(const struct gn__cut *c)
{
	return c->begin < c->end ? (uint32_t)(c->end - c->begin) : 0;
}

/* Read a piece for each lane that wants one, by whole blocks; collective. */
SIMT_FN struct gn_store_status gn__cut_read(const struct gn__slots_view *v, const struct gn__cut *c,
                                            int wants)
{
	const uint32_t all = simt_whole_warp(), block = v->store.block_bytes;
	char *bounce = v->fill.bounce + simt_global_thread() * v->fill.piece;
	const uint64_t from = c->begin / block * block;
	uint64_t past = (c->end + block - 1) / block * block;
	struct gn_store_status status;

	if (!v->fill.bounce)
		return gn_store_read_warp(&v->store, all, wants, c->begin, c->memory, gn__cut_bytes(c));
	past = past < v->store.capacity_bytes ? past : v->store.capacity_bytes;
	status = gn_store_read_warp(&v->store, all, wants, from, bounce, (uint32_t)(past - from));
	simt_copy_each(all, simt_ballot(all, wants && !status.code), c->memory, bounce + (c->begin - from),
	               gn__cut_bytes(c));
	return status;
}

/* A piece could not be moved: the first such code of an item counts it. */
SIMT_FN void gn__cut_failed(const struct gn__slots_view *v, struct gn__slots_fetch *f,
                            struct gn_store_status status, int writes)
{
	if (simt_cas_relaxed_dev_u32((uint32_t *)&f->code, 0, (uint32_t)status.code))
		return;
	f->kept = (uint32_t)writes;
	simt_reduce_add_relaxed_dev_u32(&v->shared->failed, 1);
	gn__slots_fail(v->record, writes ? f->gone : f->key, status, (uint32_t)writes);
}

/*
 * The item and the piece of it for a lane whose warp is at `first`. Lanes of different warps take
 * neighbouring pieces: then few pieces are copied by many warps.
 */
SIMT_FN uint64_t gn__lane_piece(uint64_t first)
{
	return first + (uint64_t)simt_lane() * gn__warps();
}

SIMT_FN void gn__read_pieces(const struct gn__slots_view *v, uint32_t pending)
{
	const uint64_t pieces = gn__fill_reads(v) ? (uint64_t)pending * v->fill.cuts : 0;

	for (uint64_t first = gn__warp(); first < pieces;
	     first += (uint64_t)gn__warps() * simt_warp_width()) {
		const uint64_t k = gn__lane_piece(first), there = k < pieces ? k : first;
		struct gn__slots_fetch *f = &v->fetch[there / v->fill.cuts];
		const struct gn__cut c = gn__cut_of(v, f->key, f->slot, there % v->fill.cuts);
		const int wants = k < pieces && gn__cut_bytes(&c) && !f->kept;
		const struct gn_store_status status = gn__cut_read(v, &c, wants);

		if (wants && status.code)
			gn__cut_failed(v, f, status, 0);
	}
}

/* Write the items that leave and were changed. They are whole blocks. */
SIMT_FN void gn__write_pieces(const struct gn__slots_view *v, uint32_t pending)
{
	const uint64_t pieces = (uint64_t)pending * v->fill.cuts;

	for (uint64_t first = gn__warp(); first < pieces;
	     first += (uint64_t)gn__warps() * simt_warp_width()) {
		const uint64_t k = gn__lane_piece(first), there = k < pieces ? k : first;
		struct gn__slots_fetch *f = &v->fetch[there / v->fill.cuts];
		const struct gn__cut c =
		    gn__cut_of(v, f->writes ? f->gone : 0, f->slot, there % v->fill.cuts);
		const int wants = k < pieces && gn__cut_bytes(&c) && f->writes;
		struct gn_store_status status = {0, 0};

		if (!simt_ballot(simt_whole_warp(), wants))
			continue;
		status = gn_store_write_warp(&v->store, simt_whole_warp(), wants, c.begin, c.memory,
		                             gn__cut_bytes(&c));
		if (wants && status.code)
			gn__cut_failed(v, f, status, 1);
	}
}

/* ---- the end of a fill ---- */

/* What leaves is not in the map any more, what comes is. */
SIMT_FN void gn__fetch_done(const struct gn__slots_view *v, const struct gn__slots_fetch *f)
{
	if (f->gone >= 0)
		gn__map_remove(v, f->gone, f->slot);
	gn__map_insert(v, f->key, f->slot);
	v->key[f->slot] = f->key;
	if (!gn__fill_reads(v))
		simt_reduce_or_relaxed_dev_u32(&v->pins[f->slot], GN__DIRTY);
}

/*
 * Change the map. The whole grid does what resolve leaves to it, because resolve has one block for what a
 * batch misses; nothing looks into the map meanwhile.
 */
SIMT_FN void gn__fill_map(const struct gn__slots_view *v, uint32_t pending)
{
	for (uint64_t first = gn__warp(); first < pending; first += (uint64_t)gn__warps() * simt_warp_width())
		if (gn__lane_piece(first) < pending)
			gn__fetch_done(v, &v->fetch[gn__lane_piece(first)]);
}

/*
 * An item that could not be moved is not resident, and its slot is empty; or, if it was the old item that
 * could not be written, that one is there again. The last block calls it, as the next ones.
 */
SIMT_FN void gn__fetch_lost(const struct gn__slots_view *v, const struct gn__slots_fetch *f)
{
	const uint32_t used = simt_load_relaxed_dev_u32(&v->use[f->slot]);

	gn__map_remove(v, f->key, f->slot);
	v->key[f->slot] = f->kept ? f->gone : -1;
	if (f->kept)
		gn__map_insert(v, f->gone, f->slot);
	simt_store_relaxed_dev_u32(&v->use[f->slot], f->kept ? used : GN__UNUSED);
	simt_reduce_or_relaxed_dev_u32(&v->pins[f->slot], f->kept ? GN__LOST | GN__DIRTY : GN__LOST);
}

SIMT_FN void gn__fill_failed(const struct gn__slots_view *v, uint32_t pending)
{
	const struct gn__slots_shared *s = v->shared;

	for (uint32_t k = simt_thread(); k < pending; k += simt_block_threads())
		if (v->fetch[k].code)
			gn__fetch_lost(v, &v->fetch[k]);
	simt_block_sync();
	for (uint32_t k = simt_thread(); k < s->count; k += simt_block_threads()) {
		const int32_t slot = s->slot[k];

		if (slot < 0 || !(simt_load_relaxed_dev_u32(&v->pins[slot]) & GN__LOST))
			continue;
		s->slot[k] = -1;
		if (s->hints & GN_SLOTS_PIN)
			simt_reduce_add_relaxed_dev_u32(&v->pins[slot], (uint32_t)-1);
	}
	simt_block_sync();
	for (uint32_t k = simt_thread(); k < pending; k += simt_block_threads())
		if (v->fetch[k].code)
			simt_reduce_and_relaxed_dev_u32(&v->pins[v->fetch[k].slot], ~GN__LOST);
}

/* Count the items of a fill that left and were written, and those that stayed. */
SIMT_FN void gn__count_written(const struct gn__slots_view *v, uint32_t pending)
{
	for (uint32_t k = simt_thread(); k < pending; k += simt_block_threads()) {
		if (v->fetch[k].writes && !v->fetch[k].kept)
			simt_reduce_add_relaxed_dev_u64(&v->shared->statistics.written, 1);
		if (v->fetch[k].kept) /* it was counted as one that left */
			simt_reduce_add_relaxed_dev_u64(&v->shared->statistics.evicted, (uint64_t)-1);
	}
}

SIMT_FN void gn__fill_end(const struct gn__slots_view *v, uint32_t pending)
{
	struct gn__slots_shared *s = v->shared;
	const uint32_t failed = s->failed;

	if (failed)
		gn__fill_failed(v, pending);
	if (!v->store.read_only)
		gn__count_written(v, pending);
	simt_block_sync();
	if (simt_thread())
		return;
	s->statistics.fetched += gn__fill_reads(v) ? pending - failed : 0;
	s->statistics.failed += failed;
	s->failed = 0;
	s->pending = 0;
}

/* ---- flush ---- */

SIMT_FN int gn__is_marked(const struct gn__slots_view *v, uint32_t slot)
{
	return v->key[slot] >= 0 && simt_load_relaxed_dev_u32(&v->pins[slot]) & GN__DIRTY;
}

/* Write piece `number` of a slot that is marked; collective. */
SIMT_FN void gn__flush_piece(const struct gn__slots_view *v, uint32_t slot, uint64_t number, int wants)
{
	const struct gn__cut c = gn__cut_of(v, wants ? v->key[slot] : 0, slot, number);
	struct gn_store_status status = {0, 0};

	wants = wants && gn__cut_bytes(&c);
	if (!simt_ballot(simt_whole_warp(), wants))
		return;
	status =
	    gn_store_write_warp(&v->store, simt_whole_warp(), wants, c.begin, c.memory, gn__cut_bytes(&c));
	if (!wants || !status.code)
		return;
	simt_reduce_or_relaxed_dev_u32(&v->pins[slot], GN__LOST);
	gn__slots_fail(v->record, v->key[slot], status, 1);
}

SIMT_FN void gn__flush_pieces(const struct gn__slots_view *v)
{
	const uint64_t pieces = (uint64_t)v->slots * v->fill.flush_cuts;

	for (uint64_t first = gn__warp(); first < pieces;
	     first += (uint64_t)gn__warps() * simt_warp_width()) {
		const uint64_t k = gn__lane_piece(first), there = k < pieces ? k : first;
		const uint32_t slot = (uint32_t)(there / v->fill.flush_cuts);

		gn__flush_piece(v, slot, there % v->fill.flush_cuts, k < pieces && gn__is_marked(v, slot));
	}
}

/* Slots that were written are marked no more. The last block calls it. */
SIMT_FN void gn__flush_end(const struct gn__slots_view *v)
{
	struct gn_slots_statistics *s = &v->shared->statistics;

	for (uint32_t slot = simt_thread(); slot < v->slots; slot += simt_block_threads()) {
		const uint32_t bits = simt_load_relaxed_dev_u32(&v->pins[slot]);

		if (!gn__is_marked(v, slot))
			continue;
		simt_reduce_and_relaxed_dev_u32(&v->pins[slot], bits & GN__LOST ? ~GN__LOST : ~GN__DIRTY);
		simt_reduce_add_relaxed_dev_u64(bits & GN__LOST ? &s->failed : &s->written, 1);
	}
}

#endif
