/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/cache/flush.h - writes dirty pages to their stores; the pages stay in their frames.
 */
#ifndef GRAPNEL_CACHE_FLUSH_H
#define GRAPNEL_CACHE_FLUSH_H

#include <grapnel/detail/cache/announce.h>
#include <grapnel/detail/cache/claim.h>
#include <grapnel/detail/cache/move.h>
#include <grapnel/detail/cache/view.h>

/* The word of the page in a frame, and that page's number in *page; NULL if no page is in the frame. */
SIMT_FN uint64_t *gn__word_of_frame(const struct gn_cache_view *c, uint32_t frame, uint64_t *page)
{
	uint64_t *word = &c->word[frame];

	if (c->owner) {
		*page = simt_load_acquire_dev_u32(&c->owner[frame]);
		return *page >= GN__OWNER_CLAIMED ? 0 : &c->word[*page];
	}
	*page = gn__page_of(c, frame / c->ways, gn__word_payload(simt_load_acquire_dev_u64(word)));
	return word;
}

/* A page that a lane has made BUSY in order to write it. */
struct gn__flush {
	uint64_t *word; /* BUSY */
	uint64_t page;
	uint32_t frame;
	uint32_t pinned; /* 1: another thread may be writing to the page, so it stays dirty */
};

/*
 * Make the page of a frame BUSY if it is dirty. Returns 1 (the word is BUSY), 0 (nothing to write) or
 * -GN_EAGAIN (another thread works on the page).
 */
SIMT_FN int gn__flush_try(const struct gn_cache_view *c, struct gn__flush *f)
{
	uint64_t seen;

	f->word = gn__word_of_frame(c, f->frame, &f->page);
	if (!f->word)
		return 0;
	seen = simt_load_acquire_dev_u64(f->word);
	/*
	 * BUSY but not DIRTY: another flush or the cleaner may be writing the page. This flush must not end
	 * before those bytes are in the store.
	 */
	if ((c->owner && gn__word_payload(seen) != f->frame) || !(seen & GN__WORD_HELD) ||
	    !(seen & (GN__WORD_DIRTY | GN__WORD_BUSY)))
		return 0;
	if (seen & GN__WORD_BUSY)
		return -GN_EAGAIN;
	f->pinned = (seen & GN__WORD_PINS) != 0;
	/* A pinned page may still be written: it stays dirty for the next flush. */
	if (simt_cas_acq_rel_dev_u64(f->word, seen,
	                             (f->pinned ? seen : seen & ~GN__WORD_DIRTY) | GN__WORD_BUSY) != seen)
		return -GN_EAGAIN;
	gn__await_announced(c, f->word);
	/* Only now the frame stays with its page: it may be another page than in the first look. */
	f->word = gn__word_of_frame(c, f->frame, &f->page);
	return 1;
}

/* Write the pages that lanes have made BUSY, and clear BUSY. Collective. Returns each lane's status. */
SIMT_FN struct gn_store_status gn__flush_write(const struct gn_cache_view *c, uint32_t mask, int begun,
                                               const struct gn__flush *f)
{
	struct gn__move m = gn__move_none(1);

	if (begun)
		m = gn__move_of(c, f->page, f->frame, gn__sector_dirty_of(c, f->frame), 1);
	gn__move_all(c, mask, f->page, &m);
	if (!begun)
		return m.status;
	if (m.status.code)
		simt_or_acq_rel_dev_u64(f->word, GN__WORD_DIRTY);
	else if (!f->pinned)
		gn__sector_cleaned(c, f->frame);
	simt_and_acq_rel_dev_u64(f->word, ~GN__WORD_BUSY);
	return m.status;
}

/*
 * gn_cache_flush_frame - collective: write the dirty pages of many frames to their stores.
 * @mask   the calling lanes
 * @wants  1: this lane names a frame
 * Other accesses may run at the same time, also those that give the frame to another page: the flush writes
 * the page that the frame has when the flush makes it BUSY. Waits for other threads' work on the page, at
 * most c->wait_ns, and for announced writes.
 * Returns each lane's own status: 0 (written, or nothing to write), -GN_ETIMEDOUT, or why the write failed.
 * After a failed write the page is still dirty.
 */
SIMT_FN struct gn_store_status gn_cache_flush_frame(const struct gn_cache_view *c, uint32_t mask, int wants,
                                                    uint32_t frame)
{
	const uint64_t deadline = simt_clock_ns() + c->wait_ns;
	struct gn_store_status status = {0, 0}, written;
	struct gn__flush f = {0, 0, frame, 0};
	int begun;

	while (simt_ballot(mask, wants)) {
		begun = wants ? gn__flush_try(c, &f) : 0;
		if (begun == 0) {
			wants = 0;
		} else if (begun < 0 && simt_clock_ns() > deadline) {
			status.code = -GN_ETIMEDOUT;
			wants = 0;
		}
		if (simt_ballot(mask, begun == 1)) {
			written = gn__flush_write(c, mask, begun == 1, &f);
			if (begun == 1) {
				status = written;
				wants = 0;
			}
		} else {
			simt_relax();
		}
	}
	return status;
}

/* ---- the cleaner ---- */

/* How far ahead of a hand frames are kept clean: not beyond half the window in which the hand works. */
SIMT_FN uint32_t gn__clean_reach(const struct gn_cache_view *c, uint32_t hand)
{
	const uint32_t window = gn__hand_window(c, hand), half = window > 1 ? window / 2 : 1;

	return c->low_water < half || !c->leaders ? c->low_water : half;
}

/*
 * Take places ahead of a hand that no cleaner has looked at yet. Returns 1, or 0: the cleaner is far enough
 * ahead. One thread.
 * @many  how many are wanted; receives how many were taken, at most as many as the cleaner reaches
 */
SIMT_FN int gn__clean_take(const struct gn_cache_view *c, uint32_t hand, uint32_t *many, uint32_t *place)
{
	struct gn_cache_hand *h = &c->shared->hand[hand];
	const uint32_t reach = gn__clean_reach(c, hand);
	const uint32_t at = simt_load_relaxed_dev_u32(&h->at), clean = simt_load_relaxed_dev_u32(&h->clean);

	/* a cleaner that the hand has passed starts again at the hand */
	*place = (int32_t)(clean - at) < 0 ? at : clean;
	*many = *many < reach ? *many : reach;
	return (int32_t)(clean - at) < (int32_t)reach &&
	       simt_cas_relaxed_dev_u32(&h->clean, clean, *place + *many) == clean;
}

/*
 * The next frames for the cleaner, one for each lane of mask. In a direct table these are frames ahead of the
 * hand of the first lane's own claim. In a set table it is the way that will be tried next in the set of the
 * lane's own claim. A lane for which there is no frame gets c->frames: a cache with few frames has fewer than
 * a warp ahead of the hand that are soon wanted.
 * Returns 0, or -GN_EAGAIN: the cleaner is far enough ahead.
 */
SIMT_FN int gn__clean_next(const struct gn_cache_view *c, uint32_t mask, const struct gn__claim *k,
                           uint32_t *frame)
{
	const uint32_t leader = simt_first_lane(mask);
	uint32_t many = simt_popcount(mask), place = 0, hand, set;
	int due = 0;

	if (!c->owner) {
		set = gn__set_of(c, k->page);
		*frame = set * c->ways + (simt_load_relaxed_dev_u32(&c->lock[set]) >> 1) % c->ways;
		return 0;
	}
	hand = gn__has_new_frames(c) ? (uint32_t)GN_FOLLOWERS : gn__hand_of(c, k->page);
	hand = simt_shfl_u32(mask, hand, leader);
	if (simt_lane() == leader)
		due = gn__clean_take(c, hand, &many, &place);
	if (!simt_shfl_u32(mask, (uint32_t)due, leader))
		return -GN_EAGAIN;
	many = simt_shfl_u32(mask, many, leader);
	place = simt_shfl_u32(mask, place, leader) + simt_rank(mask);
	*frame = simt_rank(mask) < many ? gn__frame_at(c, hand, place) % c->frames : c->frames;
	return 0;
}

/* Is the page of this frame dirty, and may it be evicted soon? A hint; gn__flush_try decides. */
SIMT_FN int gn__clean_wants(const struct gn_cache_view *c, uint32_t frame)
{
	const uint64_t keeps = GN__WORD_BUSY | GN__WORD_PINS | (c->policy == GN_CLOCK ? GN__WORD_REF : 0);
	uint32_t at = frame;
	uint64_t seen;

	if (frame < c->frames && c->owner)
		at = simt_load_relaxed_dev_u32(&c->owner[frame]);
	if (frame >= c->frames || at >= GN__OWNER_CLAIMED)
		return 0;
	seen = simt_load_relaxed_dev_u64(&c->word[at]);
	return seen & GN__WORD_HELD && seen & GN__WORD_DIRTY && !(seen & keeps);
}

/*
 * The number of misses for which the cleaner backs off after it found nothing to do. A miss that meets a
 * dirty victim ends the backoff. The number is small in a small cache, where the hand soon passes the
 * cleaner.
 */
SIMT_FN uint32_t gn__clean_backoff(const struct gn_cache_view *c)
{
	return c->low_water / 8 < 64 ? c->low_water / 8 : 64;
}

/* Does the cleaner back off at this miss? It always does while a store is full. Collective. */
SIMT_FN int gn__clean_backs_off(const struct gn_cache_view *c, uint32_t mask)
{
	const uint32_t leader = simt_first_lane(mask);
	int backs_off = 0;

	if (simt_lane() == leader)
		backs_off = simt_load_relaxed_dev_u64(&c->shared->full) ||
		            gn__backs_off(&gn__local(c)->clean_backoff);
	return simt_shfl_u32(mask, (uint32_t)backs_off, leader) != 0;
}

/*
 * A warp of one lane cleans so many frames at a miss. One would do if the cleaner never backed off. It does
 * when it meets a frame that it must leave, and then victims are dirty, and each miss writes before it reads.
 */
enum { GN__CLEANED_ALONE = 4 };

/*
 * The cleaner: keep frames clean ahead of the hand, so that a miss need not write before it reads. Lanes that
 * have missed call it after their accesses, when no other thread waits for them. Collective; waits only for
 * the transfers that it begins and for announced writes. Returns whether it wrote a page.
 */
SIMT_NOINLINE_FN int gn__clean_ahead(const struct gn_cache_view *c, uint32_t mask, const struct gn__claim *k)
{
	struct gn__flush f = {0, 0, 0, 0};
	int wants, begun;

	if (gn__clean_backs_off(c, mask) || gn__clean_next(c, mask, k, &f.frame))
		return 0;
	wants = gn__clean_wants(c, f.frame);
	begun = wants && gn__flush_try(c, &f) == 1;
	if (simt_ballot(mask, begun)) {
		gn__flush_write(c, mask, begun, &f);
		return 1;
	}
	if (!simt_ballot(mask, wants) && simt_lane() == simt_first_lane(mask))
		simt_store_relaxed_dev_u32(&gn__local(c)->clean_backoff, gn__clean_backoff(c));
	return 0;
}

#endif
