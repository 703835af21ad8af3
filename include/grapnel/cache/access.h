/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache/access.h - the operations arrays are built on: pin pages, unpin them, go around the cache.
 *
 * Collective over a mask of lanes. Each lane may want a page of its own: it decides for itself (claim.h), and all lanes
 * together move the bytes, so that as many pages are in flight as lanes want.
 */
#ifndef GRAPNEL_CACHE_ACCESS_H
#define GRAPNEL_CACHE_ACCESS_H

#include <grapnel/cache/ahead.h>
#include <grapnel/cache/change.h>
#include <grapnel/cache/claim.h>
#include <grapnel/cache/flush.h>
#include <grapnel/cache/move.h>
#include <grapnel/cache/view.h>
#include <grapnel/trace.h>

/* ---- claims of many lanes ---- */

SIMT_FN void gn__count_access(const struct gn_cache_view *c, uint32_t lanes, int hit)
{
	struct gn_cache_stripe *stripe = gn__stripe(c);

	gn__count_u64(hit ? &stripe->hits : &stripe->misses, lanes);
}

/*
 * What an access does around the cache where no frame can be had, while the page is held absent: write these bytes, or
 * change the element by an operation on its bits.
 */
struct gn__around {
	const void *from;
	uint32_t at, bytes;
	enum gn_change change; /* GN__SET: write */
	uint64_t old;          /* receives the element before a change */
};

SIMT_FN struct gn_store_status gn__around_store(const struct gn__extent *e, struct gn__around *around)
{
	struct gn_store_status status = {0, 0};
	uint64_t bits = 0, operand[2] = {0, 0};

	if (around->change == GN__SET)
		return gn_store_save(e->store, e->offset + around->at, around->from, around->bytes);
	memcpy(operand, around->from, around->change == GN__CAS ? 16 : 8);
	status = gn_store_load(e->store, e->offset + around->at, &bits, around->bytes);
	if (status.code)
		return status;
	around->old = bits;
	bits = gn__changed(around->change, bits, operand, around->bytes);
	return gn_store_save(e->store, e->offset + around->at, &bits, around->bytes);
}

/* No frame can be had: go around while the page is held absent, then let it go. */
SIMT_FN void gn__claim_around(const struct gn_cache_view *c, struct gn_claim *k, struct gn__around *around)
{
	const struct gn__extent e = gn__extent_of(c, k->page);

	k->status.code = -GN_ENOBUFS;
	if (around) {
		k->status = gn__around_store(&e, around);
		if (c->stripe)
			gn__count_u64(&gn__stripe(c)->bypassed, 1);
	}
	gn_claim_drop(c, k);
}

/* Write back the victims of those lanes that need it. Returns each lane's next step. */
SIMT_FN enum gn_step gn__claim_write(const struct gn_cache_view *c, uint32_t mask, struct gn_claim *k, enum gn_step step)
{
	struct gn__move m = gn__move_none(1);

	if (step == GN_STEP_WRITE_BACK)
		m = gn__move_of(c, k->victim, k->frame, gn__sector_dirty_of(c, k->frame), 1);
	gn__write_all(c, mask, k->victim, &m);
	if (step != GN_STEP_WRITE_BACK)
		return step;
	GN_TRACE(write_back);
	return gn_claim_written(c, k, m.status);
}

/* Fetch for those lanes that need it, and publish. */
SIMT_FN enum gn_step gn__claim_read(const struct gn_cache_view *c, uint32_t mask, struct gn_claim *k, enum gn_step step)
{
	struct gn__move m = gn__move_none(0);

	if (step == GN_STEP_FETCH)
		m = gn__move_of(c, k->page, k->frame, 0xffffffffu, 0);
	else if (step == GN_STEP_FILL)
		m = gn__move_of(c, k->page, k->frame, ~gn__sector_valid_of(c, k->frame), 0);
	gn__fetch_all(c, mask, &m);
	if (step == GN_STEP_FETCH)
		gn_claim_publish(c, k, m.status);
	else if (step == GN_STEP_FILL)
		gn_claim_filled(c, k, m.status);
	else
		return step;
	k->status = m.status;
	return m.status.code ? GN_STEP_ERROR : GN_STEP_HIT;
}

/*
 * Every lane that wants a page decides, all lanes move data, until each page is pinned or cannot be. This is the one
 * loop in which lanes wait for pages, and everything that others wait for is given up in it. Returns to each lane HIT,
 * NO_FRAME (what there was to do around the cache is done, with its status), ERROR, or HIT if it wants nothing.
 */
SIMT_FN enum gn_step gn__claim_run(const struct gn_cache_view *c, uint32_t mask, int wants, struct gn_claim *k,
				   struct gn__around *around)
{
	enum gn_step step = wants ? gn_claim_seek(c, k) : GN_STEP_HIT;
	const uint32_t moves = 1u << GN_STEP_WRITE_BACK | 1u << GN_STEP_FETCH | 1u << GN_STEP_FILL;
	uint32_t steps, missed = 0;
	int ended = 0; /* went around the cache */

	if (c->stream)
		step = gn__read_ahead(c, mask, wants, k, step);
	for (;;) {
		if (step == GN_STEP_NO_FRAME && !ended) {
			gn__claim_around(c, k, around);
			ended = 1;
		}
		k->missed |= (moves >> step) & 1;
		steps = simt_or_u32(mask, 1u << step);
		missed |= steps & moves;
		if (steps & 1u << GN_STEP_WRITE_BACK) {
			step = gn__claim_write(c, mask, k, step);
		} else if (steps & moves) {
			step = gn__claim_read(c, mask, k, step);
		} else if (steps & 1u << GN_STEP_WAIT) {
			if (step == GN_STEP_WAIT) {
				simt_relax();
				step = gn_claim_seek(c, k);
			}
		} else {
			break;
		}
	}
	if (c->low_water && missed)
		gn__clean_ahead(c, mask, k);
	simt_warp_sync(mask);
	return step;
}

/* ---- pin and unpin ---- */

/* A pinned page. */
struct gn_hold {
	uint64_t *word; /* valid in the first lane of the mask */
	char *data;     /* page size bytes; readable, and writable if pinned for writing */
};

/* What pinning gave a lane. */
struct gn_pinned {
	struct gn_hold hold; /* hold.word is the first lane's of a group only */
	struct gn_store_status status;
	uint32_t frame;
	uint32_t partial; /* the page is PARTIAL: only the intent GN__COVER gets such */
};

/*
 * gn_cache_pin_lanes - collective: pin a page for every group of lanes; all pages are in flight together.
 * @mask     the calling lanes; all of them move the bytes of each page
 * @lanes    those that want the same page as the caller, holding it; 0: the caller wants nothing, only helps. One pin is
 *           taken for them together; ended by gn_cache_unpin over the same lanes.
 * @page     < c->pages
 * @intent   enum gn_intent
 * @touches  sectors that will be written; 0 for GN_READ
 * Waits for transfers, at most c->wait_ns. Order: behind it the lanes see what was released into the page.
 * Returns to all lanes of a group a status of 0, -GN_ENOBUFS (every frame the page could take is pinned), -GN_EIO
 * (status.device says what the device said), -GN_ETIMEDOUT, -GN_EROFS (write to a read-only store).
 */
SIMT_NOINLINE_FN struct gn_pinned gn_cache_pin_lanes(const struct gn_cache_view *c, uint32_t mask, uint32_t lanes,
						     uint64_t page, uint32_t intent, uint32_t touches)
{
	const uint32_t leader = lanes ? simt_first_lane(lanes) : 0;
	int leads = lanes && simt_lane() == leader;
	struct gn_claim k = gn_claim_init(page, intent, touches);
	struct gn_pinned pinned = {{0, 0}, {0, 0}, 0, 0};
	enum gn_step step;

	if (leads && intent != GN_READ && gn__segment_of(c, page)->store.read_only) {
		k.status.code = -GN_EROFS;
		leads = 0;
	}
	step = gn__claim_run(c, mask, leads, &k, 0);
	if (!lanes)
		return pinned;
	if (c->stripe && leads)
		gn__count_access(c, simt_popcount(lanes), step == GN_STEP_HIT && !k.missed);
	pinned.status = gn__store_share(lanes, leader, k.status);
	pinned.frame = simt_shfl_u32(lanes, k.frame, leader);
	pinned.partial = simt_shfl_u32(lanes, k.partial, leader);
	if (!pinned.status.code) {
		pinned.hold.word = k.word;
		pinned.hold.data = gn__frame(c, pinned.frame);
	}
	return pinned;
}

/*
 * gn_cache_pin - gn_cache_pin_lanes where all lanes of mask want one page.
 * @intent  GN_READ; GN_WRITE: the page becomes dirty; GN_OVERWRITE: the caller writes every byte of the page before
 *          anybody reads one, so it is not fetched; until then its bytes are undefined for everybody
 * @hold    receives the page's frame; end with gn_cache_unpin over the same mask
 */
SIMT_NOINLINE_FN struct gn_store_status gn_cache_pin(const struct gn_cache_view *c, uint32_t mask, uint64_t page,
						     uint32_t intent, struct gn_hold *hold)
{
	const uint32_t touches = intent == GN_READ ? 0 : 0xffffffffu;
	const struct gn_pinned pinned = gn_cache_pin_lanes(c, mask, mask, page, intent, touches);

	*hold = pinned.hold;
	return pinned.status;
}

/*
 * gn_cache_pin_each - gn_cache_pin_lanes where every lane that wants one has a page of its own. Each ends its hold by
 * gn__unpin_one.
 */
SIMT_NOINLINE_FN struct gn_pinned gn_cache_pin_each(const struct gn_cache_view *c, uint32_t mask, int wants,
						    uint64_t page, uint32_t intent)
{
	const uint32_t touches = intent == GN_READ ? 0 : 0xffffffffu;

	return gn_cache_pin_lanes(c, mask, wants ? 1u << simt_lane() : 0, page, intent, touches);
}

/* gn__unpin_one - one lane lets its page go. Order: a release. */
SIMT_FN void gn__unpin_one(const struct gn_hold *hold)
{
	GN_TRACE(unpin);
	simt_add_release_dev_u64(hold->word, 0 - GN_WORD_PIN);
}

/* gn_cache_unpin - collective over the mask of gn_cache_pin: let the page go. Order: a release. */
SIMT_FN void gn_cache_unpin(uint32_t mask, const struct gn_hold *hold)
{
	simt_warp_sync(mask);
	if (simt_lane() == simt_first_lane(mask))
		gn__unpin_one(hold);
}

/*
 * gn_cache_prefetch - collective: bring a page into a frame for every lane that wants one; all are in flight together.
 * Pages that are there, or that others are at, are left alone, and so are pages for which a dirty or pinned frame would
 * have to go: it never waits for others, only for the transfers that it has begun. A failed one is told to whoever
 * reads the page.
 */
SIMT_NOINLINE_FN void gn_cache_prefetch(const struct gn_cache_view *c, uint32_t mask, int wants, uint64_t page)
{
	struct gn_claim k = gn_claim_ahead(page);

	gn__claim_run(c, mask, wants, &k, 0);
}

/*
 * Sectors of a PARTIAL page were overwritten, by lanes that have met since: they are valid, and perhaps the last that
 * were missing. One thread, before the unpin.
 */
SIMT_FN void gn__covered(const struct gn_cache_view *c, const struct gn_pinned *pinned, uint64_t page, uint32_t sectors)
{
	const struct gn__extent e = gn__extent_of(c, page);
	const uint32_t before = (uint32_t)simt_or_acq_rel_dev_u64(&c->sector[pinned->frame], sectors);

	if (!(gn__sectors_of(c, &e) & ~(before | sectors)))
		simt_or_acq_rel_dev_u64(pinned->hold.word, GN_WORD_VALID);
}

/* ---- around the cache ---- */

/*
 * gn_cache_bypass_read - read bytes of one page from its store when no frame could be had.
 * @at  in the page; at + bytes <= page size
 * One thread. The page was absent after this access began, so the store has every write before it.
 */
SIMT_NOINLINE_FN struct gn_store_status gn_cache_bypass_read(const struct gn_cache_view *c, uint64_t page, uint32_t at, void *to,
						    uint32_t bytes)
{
	struct gn__extent e = gn__extent_of(c, page);

	if (c->stripe)
		gn__count_u64(&gn__stripe(c)->bypassed, 1);
	return gn_store_load(e.store, e.offset + at, to, bytes);
}

/*
 * gn_cache_write_through - write an element of one page: into its frame, or into the store when no frame can be had.
 * One thread. While the store is written the page is held, so that nobody fetches it half-way.
 */
SIMT_NOINLINE_FN struct gn_store_status gn_cache_write_through(const struct gn_cache_view *c, uint64_t page, uint32_t at,
							       const void *from, uint32_t bytes)
{
	struct gn__around around = {from, at, bytes, GN__SET, 0};
	struct gn_claim k = gn_claim_init(page, GN_WRITE, gn__sectors(c, at, at + bytes));
	struct gn_hold hold;

	if (gn__claim_run(c, 1u << simt_lane(), 1, &k, &around) == GN_STEP_HIT) {
		hold.word = k.word;
		gn__store_element(gn__frame(c, k.frame) + at, from, bytes);
		gn__unpin_one(&hold);
	}
	return k.status;
}

/* What an element was before it was changed, or why it could not be. */
struct gn_changed {
	uint64_t old;
	struct gn_store_status status;
};

/*
 * gn_cache_change - change an element of one page as one step: in its frame, or in the store when no frame can be had.
 * @operand  for GN__CAS the expected and the new bits, else one
 * @bytes    4 or 8
 * One thread. Indivisible for all who change the element through this cache.
 */
SIMT_NOINLINE_FN struct gn_changed gn_cache_change(const struct gn_cache_view *c, uint64_t page, uint32_t at,
						   enum gn_change change, uint64_t first, uint64_t second, uint32_t bytes)
{
	const uint64_t operand[2] = {first, second};
	struct gn__around around = {operand, at, bytes, change, 0};
	struct gn_claim k = gn_claim_init(page, GN_WRITE, gn__sectors(c, at, at + bytes));
	enum gn_step step = gn__claim_run(c, 1u << simt_lane(), 1, &k, &around);
	struct gn_changed result = {around.old, k.status};
	struct gn_hold hold;

	if (step == GN_STEP_HIT) {
		hold.word = k.word;
		result.old = gn__change_element(gn__frame(c, k.frame) + at, change, operand, bytes);
		gn__unpin_one(&hold);
	}
	return result;
}

#endif
