/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache/access.h - the operations arrays are built on: pin a page, unpin it, write it back, go around the cache.
 *
 * Collective over a mask of lanes that want the same page: the first lane decides (claim.h), all move data.
 */
#ifndef GRAPNEL_CACHE_ACCESS_H
#define GRAPNEL_CACHE_ACCESS_H

#include <grapnel/cache/claim.h>
#include <grapnel/cache/view.h>
#include <grapnel/trace.h>

/* ---- pages and stores ---- */

/* Where a page lies in its store, and how much of it there is. */
struct gn__extent {
	const struct gn_store_view *store;
	uint64_t offset;
	uint32_t bytes;
};

SIMT_FN struct gn__extent gn__extent_of(const struct gn_cache_view *c, uint64_t page)
{
	const struct gn_cache_segment *segment = gn__segment_of(c, page);
	struct gn__extent e;
	uint64_t rest;

	e.store = &segment->store;
	e.offset = (page - segment->first_page) << c->page_log2;
	rest = segment->store.capacity_bytes - e.offset;
	e.bytes = rest < 1u << c->page_log2 ? (uint32_t)rest : 1u << c->page_log2;
	return e;
}

SIMT_FN struct gn_store_status gn__read_page(const struct gn_cache_view *c, uint32_t mask, uint64_t page, uint32_t frame)
{
	struct gn__extent e = gn__extent_of(c, page);
	struct gn_store_status status = gn_store_fetch(e.store, mask, e.offset, gn__frame(c, frame), e.bytes);

	if (c->stripe && !status.code && simt_lane() == simt_first_lane(mask)) {
		gn__count_u64(&gn__stripe(c)->fetched, 1);
		gn__count_u64(&gn__stripe(c)->fetched_bytes, e.bytes);
	}
	return status;
}

/* The first failure since the last flush began is kept with its page; all are counted. */
SIMT_FN void gn__note_write_failure(const struct gn_cache_view *c, uint64_t page, struct gn_store_status status)
{
	struct gn_cache_shared *s = c->shared;

	simt_add_relaxed_dev_u32(&s->write_failures, 1);
	if (simt_add_relaxed_dev_u32(&s->recent_failures, 1))
		return;
	s->write_failure_page = page;
	s->write_failure_device = status.device;
	s->write_failure_code = status.code;
}

SIMT_FN struct gn_store_status gn__write_page(const struct gn_cache_view *c, uint32_t mask, uint64_t page, uint32_t frame)
{
	struct gn__extent e = gn__extent_of(c, page);
	struct gn_store_status status = gn_store_put(e.store, mask, e.offset, gn__frame(c, frame), e.bytes);

	if (simt_lane() != simt_first_lane(mask))
		return status;
	if (status.code) {
		gn__note_write_failure(c, page, status);
	} else if (c->stripe) {
		gn__count_u64(&gn__stripe(c)->written, 1);
		gn__count_u64(&gn__stripe(c)->written_bytes, e.bytes);
	}
	return status;
}

/* ---- pin and unpin ---- */

/* A pinned page. */
struct gn_hold {
	uint64_t *word; /* valid in the first lane of the mask */
	char *data;     /* page size bytes; readable, and writable if pinned for writing */
};

SIMT_FN void gn__count_access(const struct gn_cache_view *c, uint32_t mask, int hit)
{
	struct gn_cache_stripe *stripe = gn__stripe(c);

	gn__count_u64(hit ? &stripe->hits : &stripe->misses, simt_popcount(mask));
}

/* What an access does around the cache where no frame can be had: write these bytes, or nothing. */
struct gn__around {
	const void *from;
	uint32_t at, bytes;
};

/* No frame can be had: go around while the page is held absent, then let it go. The first lane only. */
SIMT_FN void gn__claim_around(const struct gn_cache_view *c, struct gn_claim *k, const struct gn__around *around)
{
	const struct gn__extent e = gn__extent_of(c, k->page);

	k->status.code = -GN_ENOBUFS;
	if (around) {
		k->status = gn_store_save(e.store, e.offset + around->at, around->from, around->bytes);
		if (c->stripe)
			gn__count_u64(&gn__stripe(c)->bypassed, 1);
	}
	gn_claim_drop(c, k);
}

/* Move the bytes a step asks for, with all lanes. Returns the next step, valid in the first lane. */
SIMT_FN enum gn_step gn__claim_move(const struct gn_cache_view *c, uint32_t mask, struct gn_claim *k, enum gn_step step)
{
	const uint32_t leader = simt_first_lane(mask);
	const int leads = simt_lane() == leader;

	if (step == GN_STEP_WRITE_BACK) {
		uint64_t victim = simt_shfl_u64(mask, k->victim, leader);
		struct gn_store_status status = gn__write_page(c, mask, victim, k->frame);

		GN_TRACE(write_back);
		return leads ? gn_claim_written(c, k, status) : step;
	}
	k->status = gn__read_page(c, mask, k->page, k->frame);
	if (leads)
		gn_claim_publish(c, k, k->status);
	return k->status.code ? GN_STEP_ERROR : GN_STEP_HIT;
}

/*
 * The first lane decides and all lanes move data, until the page is pinned or cannot be. Returns HIT, NO_FRAME (what
 * there was to do around the cache is done, with its status) or ERROR, to all lanes; the claim is the first lane's, but
 * for frame and status.
 */
SIMT_FN enum gn_step gn__claim_run(const struct gn_cache_view *c, uint32_t mask, struct gn_claim *k,
				   const struct gn__around *around)
{
	const uint32_t leader = simt_first_lane(mask);
	const int leads = simt_lane() == leader;
	enum gn_step step = leads ? gn_claim_seek(c, k) : GN_STEP_HIT;
	int missed = 0;

	for (;;) {
		step = (enum gn_step)simt_shfl_u32(mask, step, leader);
		k->frame = simt_shfl_u32(mask, k->frame, leader);
		if (step == GN_STEP_WAIT) {
			simt_relax();
			step = leads ? gn_claim_seek(c, k) : step;
		} else if (step == GN_STEP_FETCH || step == GN_STEP_WRITE_BACK) {
			missed = 1;
			step = gn__claim_move(c, mask, k, step);
		} else {
			if (step == GN_STEP_NO_FRAME && leads)
				gn__claim_around(c, k, around);
			break;
		}
	}
	k->status = gn__store_share(mask, leader, k->status);
	if (c->stripe && leads)
		gn__count_access(c, mask, step == GN_STEP_HIT && !missed);
	simt_warp_sync(mask);
	return step;
}

/*
 * gn_cache_pin - collective: bring a page into a frame and keep it there.
 * @mask   the calling lanes; all pass the same page. One pin is taken for all of them together.
 * @page   < c->pages
 * @write  1: the page becomes dirty
 * @hold   receives the page's frame; end with gn_cache_unpin over the same mask
 * Waits for transfers, at most c->wait_ns. Order: behind it the lanes see what was released into the page.
 * Returns to all lanes 0, -GN_ENOBUFS (every frame the page could take is pinned), -GN_EIO (status.device says
 * what the device said), -GN_ETIMEDOUT, -GN_EROFS (write to a read-only store).
 */
SIMT_NOINLINE_FN struct gn_store_status gn_cache_pin(const struct gn_cache_view *c, uint32_t mask, uint64_t page, int write,
					    struct gn_hold *hold)
{
	struct gn_claim k = gn_claim_init(page, write);
	enum gn_step step;

	hold->word = 0;
	hold->data = 0;
	if (write && gn__segment_of(c, page)->store.read_only) {
		k.status.code = -GN_EROFS;
		return k.status;
	}
	step = gn__claim_run(c, mask, &k, 0);
	if (step == GN_STEP_HIT) {
		hold->word = k.word;
		hold->data = gn__frame(c, k.frame);
	}
	return k.status;
}

/* gn_cache_unpin - collective over the mask of gn_cache_pin: let the page go. Order: a release. */
SIMT_FN void gn_cache_unpin(uint32_t mask, const struct gn_hold *hold)
{
	simt_warp_sync(mask);
	GN_TRACE(unpin);
	if (simt_lane() == simt_first_lane(mask))
		simt_add_release_dev_u64(hold->word, 0 - GN_WORD_PIN);
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
 * An element into a frame: indivisibly, since a reader that looked before the page came may still look here (its second
 * look tells it).
 */
SIMT_FN void gn__store_8(void *to, const void *from)
{
	uint64_t value;

	memcpy(&value, from, 8);
	simt_store_relaxed_dev_u64((uint64_t *)to, value);
}

SIMT_FN void gn__store_element(void *to, const void *from, uint32_t size)
{
	if (size == 1) {
		simt_store_relaxed_dev_u8((uint8_t *)to, *(const uint8_t *)from);
	} else if (size == 2) {
		uint16_t value;

		memcpy(&value, from, 2);
		simt_store_relaxed_dev_u16((uint16_t *)to, value);
	} else if (size == 4) {
		uint32_t value;

		memcpy(&value, from, 4);
		simt_store_relaxed_dev_u32((uint32_t *)to, value);
	} else {
		gn__store_8(to, from);
		if (size == 16)
			gn__store_8((char *)to + 8, (const char *)from + 8);
	}
}

/*
 * gn_cache_write_through - write an element of one page: into its frame, or into the store when no frame can be had.
 * One thread. While the store is written the page is held, so that nobody fetches it half-way.
 */
SIMT_NOINLINE_FN struct gn_store_status gn_cache_write_through(const struct gn_cache_view *c, uint64_t page, uint32_t at,
						      const void *from, uint32_t bytes)
{
	const uint32_t self = 1u << simt_lane();
	const struct gn__around around = {from, at, bytes};
	struct gn_claim k = gn_claim_init(page, 1);
	struct gn_hold hold;

	if (gn__claim_run(c, self, &k, &around) == GN_STEP_HIT) {
		hold.word = k.word;
		gn__store_element(gn__frame(c, k.frame) + at, from, bytes);
		gn_cache_unpin(self, &hold);
	}
	return k.status;
}

/* ---- write back ---- */

/*
 * Get hold of a dirty page for writing it. Returns 1 with the word BUSY, 0 if there is nothing to write,
 * -GN_ETIMEDOUT if somebody else holds it for longer than wait_ns.
 */
SIMT_FN int gn__flush_begin(const struct gn_cache_view *c, uint64_t *word, uint32_t frame)
{
	uint64_t deadline = simt_clock_ns() + c->wait_ns;

	for (;;) {
		uint64_t seen = simt_load_acquire_dev_u64(word), busy;

		if (c->owner && gn_word_payload(seen) != frame)
			return 0;
		if (!(seen & GN_WORD_VALID) || !(seen & GN_WORD_DIRTY))
			return 0;
		if (seen & GN_WORD_BUSY) {
			if (simt_clock_ns() > deadline)
				return -GN_ETIMEDOUT;
			simt_relax();
			continue;
		}
		/* A pinned page may still be written: it stays dirty for the next flush. */
		busy = (seen & GN_WORD_PINS ? seen : seen & ~GN_WORD_DIRTY) | GN_WORD_BUSY;
		if (simt_cas_acq_rel_dev_u64(word, seen, busy) == seen)
			return 1;
	}
}

/* The word that decides about a frame, and its page; NULL if no page is in it. */
SIMT_FN uint64_t *gn__word_of_frame(const struct gn_cache_view *c, uint32_t frame, uint64_t *page)
{
	uint64_t *word = &c->word[frame];

	if (c->owner) {
		*page = simt_load_acquire_dev_u32(&c->owner[frame]);
		return *page >= GN__OWNER_CLAIMED ? 0 : &c->word[*page];
	}
	*page = gn__page_of(c, frame / c->ways, gn_word_payload(simt_load_acquire_dev_u64(word)));
	return word;
}

/*
 * gn_cache_flush_frame - collective: if the page in a frame is dirty, write it to its store.
 * @mask  the calling lanes; all pass the same frame
 * Other accesses may go on, also such as give the frame to another page: what is written is the page that it has
 * when the flush gets hold of it.
 * Returns to all lanes 0 (written, or nothing to write) or the failure; then the page is still dirty.
 */
SIMT_FN struct gn_store_status gn_cache_flush_frame(const struct gn_cache_view *c, uint32_t mask, uint32_t frame)
{
	const uint32_t leader = simt_first_lane(mask);
	struct gn_store_status status = {0, 0};
	uint64_t *word = 0;
	uint64_t page = 0;
	int begun = 0;

	if (simt_lane() == leader) {
		word = gn__word_of_frame(c, frame, &page);
		begun = word ? gn__flush_begin(c, word, frame) : 0;
		/* Only now the frame stays with its page: it may have come since the first look. */
		if (begun == 1)
			word = gn__word_of_frame(c, frame, &page);
	}
	begun = (int)simt_shfl_u32(mask, (uint32_t)begun, leader);
	page = simt_shfl_u64(mask, page, leader);
	if (begun != 1) {
		status.code = begun;
		return status;
	}
	status = gn__write_page(c, mask, page, frame);
	if (simt_lane() == leader) {
		if (status.code)
			simt_or_acq_rel_dev_u64(word, GN_WORD_DIRTY);
		simt_and_acq_rel_dev_u64(word, ~GN_WORD_BUSY);
	}
	return status;
}

#endif
