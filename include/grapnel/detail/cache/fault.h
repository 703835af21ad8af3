/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/cache/fault.h - lanes read elements whose sectors are missing: the common case of a miss, in
 * registers.
 *
 * It serves byte-addressable stores in a cache with a direct table. In one turn all lanes take a snapshot.
 * Each page, or sector, that they want has a leader, which pins the page or gives it a frame, and claims the
 * sectors. Then the lanes move all claimed sectors together, and every lane takes its element from the moved
 * bytes. No thread waits while it holds a pin, a page or a sector. If sectors are lines and there are enough
 * lanes to move them, each page has a leader (gn__fault_lines); otherwise each sector has one
 * (gn__fault_in). detail/cache/access.h serves the other cases: a dirty page in the way, or a long wait.
 */
#ifndef GRAPNEL_CACHE_FAULT_H
#define GRAPNEL_CACHE_FAULT_H

#include <grapnel/detail/cache/access.h>
#include <grapnel/detail/cache/element.h>
#include <grapnel/detail/cache/page.h>

/* The result of a turn. */
enum gn__fault {
	GN__FAULT_AGAIN,  /* another thread works on the page or sector, or was faster: take another turn */
	GN__FAULT_THERE,  /* the sector was valid, and the element was read from the frame */
	GN__FAULT_OWNS,   /* the page is pinned; the leader owns the sectors `owned` */
	GN__FAULT_NEW,    /* as OWNS, and the page has a new frame that is not published yet */
	GN__FAULT_BYPASS, /* no frame was found soon: load the element from the store */
	GN__FAULT_SLOW    /* read by detail/cache/access.h */
};

/* A lane's snapshot of its sector, and for a leader the result of its claim. */
struct gn__faulting {
	uint64_t seen; /* the page's word */
	/* of a PARTIAL page the frame's sector word; of an absent one as valid those that it does not have */
	uint64_t sectors;
	uint32_t frame;
	uint32_t owned; /* sectors that the leader has to bring */
	uint32_t what;  /* enum gn__fault */
};

/*
 * The number of turns of gn__fault_lines, and of calls of gn__fault_in for one element. A miss that takes
 * more is served by detail/cache/access.h, which has a deadline.
 */
enum { GN__FAULT_TURNS = 200 };

/*
 * The fewest lanes for which gn__fault_lines is used. Fewer lanes wait less if each has more loads in flight
 * (gn__fault_in). A test model may define a smaller number.
 */
#ifndef GN__FAULT_LANES
#define GN__FAULT_LANES 4
#endif

/*
 * Load an element of a frame or a store; the size is not a constant here. Returns all its bits, combined by
 * |.
 */
SIMT_FN uint64_t gn__load_sized(uint64_t value[2], const char *from, uint32_t size)
{
	value[1] = 0;
	switch (size) {
	case 1: return value[0] = simt_load_once_dev_u8((const uint8_t *)from);
	case 2: return value[0] = simt_load_once_dev_u16((const uint16_t *)(const void *)from);
	case 4: return value[0] = simt_load_once_dev_u32((const uint32_t *)(const void *)from);
	case 8: return value[0] = gn__load_8(from);
	default:
		value[0] = gn__load_8(from);
		value[1] = gn__load_8(from + 8);
		return value[0] | value[1];
	}
}

/*
 * Take a snapshot of the page, and read the element if its sector is valid and the page stays in its frame.
 * The page may be VALID or PARTIAL. This is an optimistic read (docs/memory-model.md), with the sector word
 * loaded between the word and the element.
 */
SIMT_FN struct gn__faulting gn__fault_snapshot(const struct gn__pages *p, uint64_t address, uint32_t size,
                                               uint64_t value[2])
{
	const struct gn_hold h = gn__page_snapshot_direct(p, gn__page_number(p, address), GN__LEADING);
	const uint32_t at = gn__page_offset(p, address);
	struct gn__faulting f = {h.seen, ~0ull, gn__word_payload(h.seen), 0, GN__FAULT_AGAIN};
	const char *element;
	uint64_t now;

	if (!(f.seen & GN__WORD_HELD))
		return f;
	if (!(f.seen & GN__WORD_VALID))
		f.sectors = simt_load_leading_dev_u64(&p->sector[f.frame]);
	if (!(gn__sector_valid(f.sectors) >> (at >> p->sector_log2) & 1))
		return f;
	element = h.data + at + (f.sectors & p->zero); /* behind the sector word */
	now = gn__page_reload(h.word, gn__load_sized(value, element, size), p->zero);
	gn__page_touch(&h, now);
	if (gn__word_validate(f.seen, now))
		f.what = GN__FAULT_THERE;
	return f;
}

/* The page is absent: make it BUSY, and search a clean frame for it, into which the sectors are moved. */
SIMT_FN struct gn__faulting gn__fault_absent(const struct gn_cache_view *c, uint64_t wanted,
                                             struct gn__faulting f, uint32_t sectors)
{
	uint64_t *word = &c->word[wanted];
	const uint64_t made = f.seen & GN__WORD_VERSION;
	uint32_t scarce = 0, page;

	f.what = GN__FAULT_BYPASS;
	if (gn__goes_around(c, wanted) || gn__backs_off(&gn__local(c)->bypass_backoff))
		return f;
	f.what = GN__FAULT_AGAIN;
	if (simt_cas_fenced_dev_u64(word, f.seen, GN__WORD_BUSY | made) != f.seen)
		return f;
	GN_TRACE(claim);
	for (uint32_t tried = 0; tried < GN__FEW_FRAMES; tried++) {
		enum gn__taking taking;

		f.frame = gn__hand_next(c, wanted);
		taking = gn__take_frame(c, f.frame, 1, &page);
		if (taking == GN__TAKEN) {
			GN_TRACE(frame);
			f.owned = sectors;
			f.what = GN__FAULT_NEW;
			return f;
		}
		scarce += taking == GN__PINNED || taking == GN__MOVING;
	}
	simt_store_release_dev_u64(word, made);
	f.what = GN__FAULT_BYPASS;
	if (2 * scarce <= GN__FEW_FRAMES)
		return f;
	if (c->low_water) /* the scarce frames may be dirty, and the slow way writes them back */
		f.what = GN__FAULT_SLOW;
	else
		simt_store_relaxed_dev_u32(&gn__local(c)->bypass_backoff, GN__BYPASS_BACKOFF);
	return f;
}

/*
 * Claim sectors of a pinned page. Returns the run of them from `sector` on that the caller now owns; 0 if
 * another thread was faster.
 */
SIMT_FN uint32_t gn__fault_claim(uint64_t *sectors, uint32_t wanted, uint32_t sector)
{
	const uint64_t before = simt_or_leading_dev_u64(sectors, (uint64_t)wanted << 32);
	const uint32_t owned = wanted & ~((uint32_t)before | (uint32_t)(before >> 32));
	const uint32_t run = owned & sector ? owned & ~(owned + sector) : 0;

	if (wanted != sector && owned & ~run)
		simt_xor_acq_rel_dev_u64(sectors, (uint64_t)(owned & ~run) << 32);
	return run;
}

/* The leader: claim the sector of its snapshot, if that can be done at once. One thread. */
SIMT_FN struct gn__faulting gn__fault_begin(const struct gn__pages *p, uint64_t address,
                                            struct gn__faulting f)
{
	const uint64_t page = gn__page_number(p, address);
	const uint32_t sector = 1u << (gn__page_offset(p, address) >> p->sector_log2);

	if (!(f.seen & GN__WORD_USED)) {
		f.sectors = ~gn__page_sectors(p->cache, page);
		return gn__fault_absent(p->cache, page, f, sector);
	}
	f.what = f.seen & GN__WORD_FAILED ? GN__FAULT_SLOW : GN__FAULT_AGAIN;
	if (f.seen & GN__WORD_VALID || !gn__page_can_pin(f.seen))
		return f;
	/* the sector is valid or in motion: take another turn */
	if (((uint32_t)f.sectors | (uint32_t)(f.sectors >> 32)) & sector)
		return f;
	if (!gn__page_try_pin(&p->word[page], f.seen, GN__WORD_REF, GN__LEADING))
		return f;
	f.owned = gn__fault_claim(&p->sector[f.frame], gn__claim_widened(f.sectors, sector), sector);
	f.what = GN__FAULT_OWNS;
	return f;
}

/*
 * Publish the pages that have new frames, if there are any. The fence comes behind the swaps that took the
 * frames, and before the frames' new bytes (R5) and the pages' words (R4).
 *
 * The sector word and the owner come before the fence, so that one fence serves all. A thread that still
 * reads the frame's last page then finds that page's sector absent, and cannot pin the page any more. Of the
 * last page of a store the sectors behind the end are valid: that thread would believe it, so they become
 * valid behind the fence, with a fence of their own. Collective.
 */
SIMT_INLINE_FN void gn__fault_publish(const struct gn__pages *p, uint32_t mask, uint64_t page,
                                      const struct gn__faulting *f)
{
	const struct gn_cache_view *c = p->cache;
	const int is_new = f->what == GN__FAULT_NEW;
	const uint32_t none = ~gn__run_of_sectors(0, 1u << p->page_log2, p->sector_log2);

	if (is_new) {
		gn__sector_reset(c, f->frame, none, f->owned);
		simt_store_relaxed_dev_u32(&c->owner[f->frame], (uint32_t)page);
	}
	simt_warp_sync(mask);
	if (!simt_ballot(mask, is_new))
		return;
	simt_fence_release_dev(); /* on cpu also the acquire of what these leaders have swapped */
	if (!is_new)
		return;
	if (simt_unlikely(gn__sector_valid(f->sectors) != none)) {
		gn__sector_reset(c, f->frame, gn__sector_valid(f->sectors), f->owned);
		simt_fence_release_dev();
	}
	simt_store_after_fence_once_dev_u64(&p->word[page], GN__WORD_PARTIAL | GN__WORD_REF | GN__WORD_PIN |
	                                                        gn__word_next_version(f->seen) | f->frame);
}

/*
 * Make the owned sectors valid and unpin the page. owned is 0 if another thread was faster. The caller has
 * passed a fence since the bytes were stored.
 * @given  lanes that got their element from the owned sectors
 */
SIMT_FN void gn__fault_end(const struct gn__pages *p, uint64_t page, const struct gn__faulting *f,
                           uint32_t given)
{
	if (f->owned) {
		gn__sector_arrive(p->sector, &p->word[page], f->frame, f->owned, 0);
		gn__duel_count(p->cache, page, (uint64_t)simt_popcount(f->owned) << p->sector_log2);
	}
	gn__page_unpin_after_fence(&p->word[page]);
	if (simt_unlikely(p->counting) && f->owned) {
		gn__count_u64(&gn__stripe(p->cache)->misses, simt_popcount(given));
		gn__count_u64(&gn__stripe(p->cache)->fetched, 1);
		gn__count_u64(&gn__stripe(p->cache)->fetched_bytes, (uint64_t)simt_popcount(f->owned)
		                                                        << p->sector_log2);
	}
}

/*
 * Load the element from the store's memory. The leader's snapshot found the page absent, so the store has
 * every write from before this access began. The load is behind that snapshot (R6): its address is made of
 * what the leader found.
 * @what  GN__FAULT_BYPASS, as the leader found it
 * @same  the lanes that want that sector
 */
SIMT_FN void gn__fault_bypass(const struct gn__pages *p, uint64_t address, uint32_t size, uint32_t what,
                              uint32_t same, uint64_t value[2])
{
	const uint64_t bytes = ((uint64_t)simt_popcount(same) * size + 31) & ~31ull;

	gn__load_sized(value, p->backing + address + (what & p->zero), size);
	if (simt_lane() == simt_first_lane(same))
		gn__duel_count(p->cache, gn__page_number(p, address), bytes);
	if (simt_likely(!p->counting))
		return;
	gn__count_u64(&gn__stripe(p->cache)->misses, 1);
	gn__count_u64(&gn__stripe(p->cache)->bypassed, 1);
	if (simt_lane() == simt_first_lane(same))
		gn__count_u64(&gn__stripe(p->cache)->fetched_bytes, bytes);
}

/*
 * Move the sectors that leaders own, and give lanes their elements. Collective.
 * @leader  the lane that acts for the caller's sector
 * @same    the lanes that want that sector
 * @ask     receives the caller's element
 * Returns 1 if the caller got its element, else 0.
 */
SIMT_INLINE_FN int gn__fault_move(const struct gn__pages *p, uint32_t mask, uint64_t address, uint32_t leader,
                                  struct gn__faulting *f, uint32_t same, struct simt__element *ask)
{
	const uint64_t page = gn__page_number(p, address), inside = (1u << p->sector_log2) - 1;
	const uint64_t start = address & ~inside;
	const int leads = f->what == GN__FAULT_OWNS || f->what == GN__FAULT_NEW;
	const uint32_t owners = simt_ballot(mask, f->owned != 0);
	char *to;

	gn__fault_publish(p, mask, page, f);
	ask->lane = owners >> leader & 1 ? leader : SIMT_NO_LANE;
	ask->at = (uint32_t)(address & inside);
	to = p->frame + ((size_t)f->frame << p->page_log2) + (start & ((1ull << p->page_log2) - 1));
	*ask = gn__store_load_asked(mask, owners, to, p->backing + start,
	                            simt_popcount(f->owned) << p->sector_log2, *ask);
	simt_warp_sync(mask); /* any lane may have moved bytes for any other */
	simt_fence_release_dev();
	if (leads)
		gn__fault_end(p, page, f, same);
	return ask->lane != SIMT_NO_LANE;
}

/*
 * gn__fault_in - one turn for an element whose sector was just found missing.
 * @address  of the element, in bytes from the cache's page 0
 * Any thread; lanes that call it together act together. Waits for its own transfers only.
 * Returns the element with a status of 0, or -GN_EAGAIN (take another turn), -GN_EBUSY (read by
 * detail/cache/access.h).
 */
SIMT_FN struct gn__access gn__fault_in(const struct gn__pages *p, uint64_t address, uint32_t size)
{
	struct simt__element ask = {SIMT_NO_LANE, 0, size, {0, 0}};
	struct gn__faulting f = gn__fault_snapshot(p, address, size, ask.bits);
	struct gn__access access = {{0, 0}, {0, 0}};
	uint32_t mask, same, leader, what;

	if (f.what == GN__FAULT_THERE) {
		gn__count_hits(p, 1);
	} else {
		/* the lanes that use the same cache */
		mask = simt_match_any_u64(simt_active(), (uint64_t)(uintptr_t)p->sector);
		same = simt_match_any_u64(mask, address >> p->sector_log2);
		leader = simt_first_lane(same);
		if (simt_lane() == leader)
			f = gn__fault_begin(p, address, f);
		what = simt_shfl_u32(mask, f.what, leader);
		if (simt_ballot(mask, what == GN__FAULT_OWNS || what == GN__FAULT_NEW) &&
		    gn__fault_move(p, mask, address, leader, &f, same, &ask))
			;
		else if (what == GN__FAULT_BYPASS)
			gn__fault_bypass(p, address, size, what, same, ask.bits);
		else
			access.status.code = what == GN__FAULT_SLOW ? -GN_EBUSY : -GN_EAGAIN;
	}
	access.bits[0] = ask.bits[0];
	access.bits[1] = ask.bits[1];
	return access;
}

/* ---- many lanes of a warp together; a sector is one line ---- */

/* The lanes that want sectors of one page. */
struct gn__fault_group {
	uint32_t lanes;  /* the first of them acts for the page; a lane that is done is a group of its own */
	uint32_t wanted; /* sectors */
	uint32_t same;   /* lanes that want the caller's sector; the first of them moves it */
	uint32_t idle;   /* lanes of the group that move no wanted sector: they can move further sectors */
};

/*
 * The caller's group. Collective. The loop takes one turn for each wanted sector of a page that several lanes
 * want: one or two turns if the lanes read adjacent elements, none if each lane is alone on its page.
 */
SIMT_FN struct gn__fault_group gn__fault_group_of(const struct gn__pages *p, uint32_t mask, uint64_t address,
                                                  int done)
{
	const uint32_t self = 1u << simt_lane(),
	               mine = done ? 0 : 1u << (gn__page_offset(p, address) >> p->sector_log2);
	const uint64_t page = gn__page_number(p, address);
	struct gn__fault_group c = {simt_match_any_u64(mask, done ? ~(uint64_t)simt_lane() : page), mine,
	                            self, 0};
	const uint32_t shared = c.lanes == self ? 0 : mine;

	for (uint32_t rest = simt_ballot(mask, shared != 0), with; rest; rest &= ~with) {
		const uint32_t sector = simt_shfl_u32(mask, shared, simt_first_lane(rest));

		with = simt_ballot(mask, shared == sector);
		c.wanted |= with & c.lanes ? sector : 0;
		c.same = shared == sector ? with & c.lanes : c.same;
	}
	c.idle = c.lanes & ~simt_ballot(mask, !done && simt_first_lane(c.same) == simt_lane());
	return c;
}

/* The lowest `many` bits of a set. */
SIMT_FN uint32_t gn__lowest(uint32_t set, uint32_t many)
{
	uint32_t left = set;

	for (; left && many; many--)
		left &= left - 1;
	return set & ~left;
}

/* The wanted sectors, and further ones to fetch with them: at most one for each idle lane. */
SIMT_FN uint32_t gn__fault_widened(const struct gn__fault_group *c, uint64_t seen, uint32_t wanted)
{
	return wanted | gn__lowest(gn__claim_widened(seen, wanted) & ~wanted, simt_popcount(c->idle));
}

/*
 * The first lane of a group: pin the page or give it a frame, and claim the wanted sectors that are absent,
 * if that can be done at once. One thread.
 */
SIMT_FN struct gn__faulting gn__fault_lead(const struct gn__pages *p, uint64_t address, struct gn__faulting f,
                                           const struct gn__fault_group *c)
{
	const uint64_t page = gn__page_number(p, address);
	const uint32_t absent = c->wanted & ~((uint32_t)f.sectors | (uint32_t)(f.sectors >> 32));
	uint32_t claimed;
	uint64_t before;

	if (!(f.seen & GN__WORD_USED)) {
		f.sectors = ~gn__page_sectors(p->cache, page);
		claimed = gn__fault_widened(c, f.sectors, c->wanted);
		return gn__fault_absent(p->cache, page, f, claimed);
	}
	f.what = f.seen & GN__WORD_FAILED ? GN__FAULT_SLOW : GN__FAULT_AGAIN;
	if (f.seen & GN__WORD_VALID || !gn__page_can_pin(f.seen) || !absent)
		return f;
	if (!gn__page_try_pin(&p->word[page], f.seen, GN__WORD_REF, GN__LEADING))
		return f;
	claimed = gn__fault_widened(c, f.sectors, absent);
	before = simt_or_leading_dev_u64(&p->sector[f.frame], (uint64_t)claimed << 32);
	f.owned = claimed & ~((uint32_t)before | (uint32_t)(before >> 32));
	f.what = GN__FAULT_OWNS;
	return f;
}

/* The sector that a lane moves, as a bit: its own, or for an idle lane a further one; 0: none. */
SIMT_FN uint32_t gn__fault_share(const struct gn__fault_group *c, uint32_t mine, uint32_t owned, int done)
{
	const uint32_t rank = simt_popcount(c->idle & ((1u << simt_lane()) - 1)), more = owned & ~c->wanted;

	if (done)
		return 0;
	if (c->idle >> simt_lane() & 1)
		return gn__lowest(more, rank + 1) & ~gn__lowest(more, rank);
	return owned & 1u << mine;
}

/*
 * Move the sectors that leaders own, one line by each lane, and give lanes their elements. Collective.
 * @ask  receives the caller's element
 * Returns 1 if the caller got its element, else 0.
 */
SIMT_INLINE_FN int gn__fault_move_lines(const struct gn__pages *p, uint32_t mask, uint64_t address,
                                        const struct gn__fault_group *c, struct gn__faulting *f, int done,
                                        struct simt__element *ask)
{
	const uint32_t leader = simt_first_lane(c->lanes);
	const uint64_t page = gn__page_number(p, address), inside = (1u << p->sector_log2) - 1;
	const uint32_t mine = gn__page_offset(p, address) >> p->sector_log2;
	const uint32_t owned = simt_shfl_u32(mask, f->owned, leader),
	               frame = simt_shfl_u32(mask, f->frame, leader);
	const uint32_t share = gn__fault_share(c, mine, owned, done), owners = simt_ballot(mask, share != 0);
	const size_t at = (size_t)(share ? simt_first_lane(share) : 0) << p->sector_log2;
	uint32_t given;

	gn__fault_publish(p, mask, page, f);
	ask->lane = !done && owned >> mine & 1 ? simt_first_lane(c->same) : SIMT_NO_LANE;
	ask->at = (uint32_t)(address & inside);
	*ask = gn__store_load_lines(mask, owners, p->frame + ((size_t)frame << p->page_log2) + at,
	                            p->backing + ((size_t)page << p->page_log2) + at, *ask);
	given = simt_ballot(mask, ask->lane != SIMT_NO_LANE);
	simt_warp_sync(mask); /* any lane may have moved bytes for any other */
	simt_fence_release_dev();
	if (f->what == GN__FAULT_OWNS || f->what == GN__FAULT_NEW)
		gn__fault_end(p, page, f, given & c->lanes);
	return ask->lane != SIMT_NO_LANE;
}

/*
 * gn__fault_lines - gn__fault_in for GN__FAULT_LANES or more lanes that stay together, in a cache whose
 * sectors are lines. It takes turns until every lane has its element; lanes that are done stay and help to
 * move. In line and without a call: the registers that a function saves for its caller are written through to
 * the device's memory, which costs more than the miss.
 * @mask  the calling lanes, all of one cache
 * Returns the caller's element with a status of 0. To all lanes that have no element yet it returns
 * -GN_EAGAIN (continue with gn__fault_in) or -GN_EBUSY (read by detail/cache/access.h).
 */
SIMT_INLINE_FN struct gn__access gn__fault_lines(const struct gn__pages *p, uint32_t mask, uint64_t address,
                                                 uint32_t size)
{
	struct simt__element ask = {SIMT_NO_LANE, 0, size, {0, 0}};
	struct gn__access access = {{0, 0}, {-GN_EAGAIN, 0}};
	struct gn__faulting f = {0, 0, 0, 0, GN__FAULT_AGAIN};
	uint32_t what;
	int done = 0;

	for (uint32_t turn = 0; turn < GN__FAULT_TURNS; turn++) {
		struct gn__fault_group c;

		if (!done) {
			f = gn__fault_snapshot(p, address, size, ask.bits);
			done = f.what == GN__FAULT_THERE;
			gn__count_hits(p, (uint64_t)done);
		}
		if (!simt_ballot(mask, !done))
			break;
		c = gn__fault_group_of(p, mask, address, done);
		if (!done && simt_lane() == simt_first_lane(c.lanes))
			f = gn__fault_lead(p, address, f, &c);
		what = simt_shfl_u32(mask, f.what, simt_first_lane(c.lanes));
		if (simt_ballot(mask, !done && (what == GN__FAULT_OWNS || what == GN__FAULT_NEW)))
			done |= gn__fault_move_lines(p, mask, address, &c, &f, done, &ask);
		else if (turn)
			simt_backoff(turn, 3);
		if (!done && what == GN__FAULT_BYPASS) {
			gn__fault_bypass(p, address, size, what, c.same, ask.bits);
			done = 1;
		}
		f.owned = 0;
		f.what = done ? (uint32_t)GN__FAULT_THERE : (uint32_t)GN__FAULT_AGAIN;
		if (simt_ballot(mask, !done && what == GN__FAULT_SLOW)) {
			access.status.code = -GN_EBUSY;
			break;
		}
	}
	if (done)
		access.status.code = 0;
	access.bits[0] = ask.bits[0];
	access.bits[1] = ask.bits[1];
	return access;
}

/* gn__fault_lines as a call, for kernels that may use few registers (detail/array/read.h). */
SIMT_NOINLINE_FN struct gn__access gn__fault_lines_called(const struct gn__pages *p, uint32_t mask,
                                                          uint64_t address, uint32_t size)
{
	return gn__fault_lines(p, mask, address, size);
}

#endif
