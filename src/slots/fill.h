/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fill.h - copy the missing items of a batch from the store to their slots. The warps of a grid take pieces
 * in turn, so that one large item and many small ones both keep the link busy.
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

/* ---- stores that loads reach ---- */

/* A warp copies some items at once, one for each lane. */
SIMT_FN void gn__load_items(const struct gn__slots_view *v, uint32_t pending)
{
	const uint32_t all = simt_whole_warp(), lanes = v->fill.lanes;

	for (uint64_t first = (uint64_t)gn__warp() * lanes; first < pending;
	     first += (uint64_t)gn__warps() * lanes) {
		const int wants = simt_lane() < lanes && first + simt_lane() < pending;
		const struct gn__slots_fetch *f = &v->fetch[wants ? first + simt_lane() : first];

		simt_copy_each(all, simt_ballot(all, wants), gn__slot_at(v, f->slot),
		               v->store.memory + gn__item_offset(v, f->key), (uint32_t)v->item_bytes);
	}
}

/* A warp copies a piece of an item. */
SIMT_FN void gn__load_pieces(const struct gn__slots_view *v, uint32_t pending)
{
	const uint64_t pieces = (uint64_t)pending * v->fill.cuts;

	for (uint64_t k = gn__warp(); k < pieces; k += gn__warps()) {
		const struct gn__slots_fetch *f = &v->fetch[k / v->fill.cuts];
		const uint64_t at = k % v->fill.cuts * v->fill.piece, left = v->item_bytes - at;

		simt_copy(simt_whole_warp(), gn__slot_at(v, f->slot) + at,
		          v->store.memory + gn__item_offset(v, f->key) + at,
		          left < v->fill.piece ? left : v->fill.piece);
	}
}

/* ---- stores behind queue pairs ---- */

/* The bytes of an item that lie in one piece of the store. */
struct gn__cut {
	uint32_t fetch; /* place of the item among the missing ones */
	uint64_t begin, end;
};

/* Piece number k of all; the pieces of an item are those of the store that it touches. */
SIMT_FN struct gn__cut gn__cut_of(const struct gn__slots_view *v, uint64_t k)
{
	struct gn__cut c = {(uint32_t)(k / v->fill.cuts), 0, 0};
	const uint64_t first = gn__item_offset(v, v->fetch[c.fetch].key), past = first + v->item_bytes;
	const uint64_t piece = (first / v->fill.piece + k % v->fill.cuts) * v->fill.piece;

	c.begin = piece < first ? first : piece;
	c.end = piece + v->fill.piece < past ? piece + v->fill.piece : past;
	return c;
}

/* A piece could not be read: the first such code of an item counts it. */
SIMT_FN void gn__cut_failed(const struct gn__slots_view *v, struct gn__slots_fetch *f,
                            struct gn_store_status status)
{
	if (simt_cas_relaxed_dev_u32((uint32_t *)&f->code, 0, (uint32_t)status.code))
		return;
	simt_reduce_add_relaxed_dev_u32(&v->shared->failed, 1);
	gn__slots_fail(v->record, f->key, status);
}

/* Read a piece for each lane that wants one, by whole blocks; collective. */
SIMT_FN struct gn_store_status gn__cut_read(const struct gn__slots_view *v, const struct gn__cut *c,
                                            int wants, char *to)
{
	const uint32_t all = simt_whole_warp(), block = v->store.block_bytes;
	char *bounce = v->fill.bounce + simt_global_thread() * v->fill.piece;
	const uint64_t from = c->begin / block * block;
	uint64_t past = (c->end + block - 1) / block * block;
	struct gn_store_status status;

	if (!v->fill.bounce)
		return gn_store_read_warp(&v->store, all, wants, c->begin, to, (uint32_t)(c->end - c->begin));
	past = past < v->store.capacity_bytes ? past : v->store.capacity_bytes;
	status = gn_store_read_warp(&v->store, all, wants, from, bounce, (uint32_t)(past - from));
	simt_copy_each(all, simt_ballot(all, wants && !status.code), to, bounce + (c->begin - from),
	               (uint32_t)(c->end - c->begin));
	return status;
}

/* Lanes of different warps take neighbouring pieces: then few pieces are copied by many warps. */
SIMT_FN void gn__read_pieces(const struct gn__slots_view *v, uint32_t pending)
{
	const uint64_t pieces = (uint64_t)pending * v->fill.cuts, warps = gn__warps();

	for (uint64_t first = gn__warp(); first < pieces; first += warps * simt_warp_width()) {
		const uint64_t k = first + simt_lane() * warps;
		const struct gn__cut c = gn__cut_of(v, k < pieces ? k : first);
		const int wants = k < pieces && c.begin < c.end;
		struct gn__slots_fetch *f = &v->fetch[c.fetch];
		const struct gn_store_status status = gn__cut_read(
		    v, &c, wants, gn__slot_at(v, f->slot) + (c.begin - gn__item_offset(v, f->key)));

		if (wants && status.code)
			gn__cut_failed(v, f, status);
	}
}

/* ---- the end ---- */

/* Items that could not be read are not resident, and their keys have no slot. The last block calls it. */
SIMT_FN void gn__fill_failed(const struct gn__slots_view *v, uint32_t pending)
{
	const struct gn__slots_shared *s = v->shared;

	for (uint32_t k = simt_thread(); k < pending; k += simt_block_threads()) {
		const struct gn__slots_fetch *f = &v->fetch[k];

		if (!f->code)
			continue;
		gn__map_remove(v, f->key, f->slot);
		v->key[f->slot] = -1;
		simt_store_relaxed_dev_u32(&v->use[f->slot], GN__UNUSED);
	}
	simt_block_sync();
	for (uint32_t k = simt_thread(); k < s->count; k += simt_block_threads()) {
		const int32_t slot = s->slot[k];

		if (slot < 0 || v->key[slot] >= 0)
			continue;
		s->slot[k] = -1;
		if (s->hints & GN_SLOTS_PIN)
			simt_reduce_add_relaxed_dev_u32(&v->pins[slot], (uint32_t)-1);
	}
}

SIMT_FN void gn__fill_end(const struct gn__slots_view *v, uint32_t pending)
{
	struct gn__slots_shared *s = v->shared;
	const uint32_t failed = s->failed;

	if (failed)
		gn__fill_failed(v, pending);
	simt_block_sync();
	if (simt_thread())
		return;
	s->statistics.fetched += pending - failed;
	s->statistics.failed += failed;
	s->failed = 0;
	s->pending = 0;
}

#endif
