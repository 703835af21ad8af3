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

/* What a turn came to. */
enum gn__fault {
	GN__FAULT_AGAIN,  /* others are at it, or were faster: look again */
	GN__FAULT_THERE,  /* the sector was in the frame after all, and was read */
	GN__FAULT_OWNS,   /* the page is pinned, and those sectors claimed that nobody else brings */
	GN__FAULT_NEW,    /* the same, and the page has a new frame that nobody sees yet */
	GN__FAULT_BYPASS, /* no frame is easily had: load the element from the store */
	GN__FAULT_SLOW    /* by detail/cache/access.h */
};

/* A lane's look at its sector, and for a leader what came of it. */
struct gn__faulting {
	uint64_t seen;    /* the page's word */
	uint64_t sectors; /* the frame's sector word, where the page is PARTIAL */
	uint32_t frame;
	uint32_t owned; /* sectors that the leader is to bring */
	uint32_t what;  /* enum gn__fault */
};

/*
 * So many turns are taken by gn__fault_lines, and so many by gn__fault_in, before a miss goes the slow way,
 * which has a deadline.
 */
enum { GN__FAULT_TURNS = 200 };

/*
 * So many lanes at least move lines together; fewer wait less with more loads in flight a lane. A model may
 * need fewer.
 */
#ifndef GN__FAULT_LANES
#define GN__FAULT_LANES 4
#endif

/* An element of a frame or a store; the size is not a constant here. Returns all its bits together. */
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
 * Look at a sector, and read the element if it is in the frame and stays there, whether or not the page is
 * whole: an optimistic read (docs/memory-model.md), with the sector word between the word and the element.
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

/* The page is absent: hold it, and look for a clean frame, into which the sectors shall come. */
SIMT_FN struct gn__faulting gn__fault_absent(const struct gn_cache_view *c, uint64_t *word,
                                             struct gn__faulting f, uint32_t sectors)
{
	const uint64_t made = f.seen & GN__WORD_VERSION;
	uint32_t scarce = 0, page;

	f.what = GN__FAULT_BYPASS;
	if (gn__backs_off(&gn__local(c)->bypass_backoff))
		return f;
	f.what = GN__FAULT_AGAIN;
	if (simt_cas_fenced_dev_u64(word, f.seen, GN__WORD_BUSY | made) != f.seen)
		return f;
	GN_TRACE(claim);
	for (uint32_t tried = 0; tried < GN__FEW_FRAMES; tried++) {
		const uint32_t place = gn__next_place(c);
		enum gn__taking taking;

		f.frame = (c->policy == GN_RANDOM ? gn__stir(place) : place) % c->frames;
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
	if (c->low_water) /* they may be dirty */
		f.what = GN__FAULT_SLOW;
	else
		simt_store_relaxed_dev_u32(&gn__local(c)->bypass_backoff, GN__BYPASS_BACKOFF);
	return f;
}

/*
 * Claim sectors of a pinned page. Returns the run of them from `sector` on that is the caller's: 0 if others
 * were faster.
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

/* One thread, a leader: get hold of the sector that it looked at, if that can be done at once. */
SIMT_FN struct gn__faulting gn__fault_begin(const struct gn__pages *p, uint64_t address,
                                            struct gn__faulting f)
{
	const uint64_t page = gn__page_number(p, address);
	const uint32_t sector = 1u << (gn__page_offset(p, address) >> p->sector_log2);

	if (!(f.seen & GN__WORD_USED))
		return gn__fault_absent(p->cache, &p->word[page], f, sector);
	f.what = f.seen & GN__WORD_FAILED ? GN__FAULT_SLOW : GN__FAULT_AGAIN;
	if (f.seen & GN__WORD_VALID || !gn__page_can_pin(f.seen))
		return f;
	/* it is there, or comes: look again */
	if (((uint32_t)f.sectors | (uint32_t)(f.sectors >> 32)) & sector)
		return f;
	if (!gn__page_try_pin(&p->word[page], f.seen, GN__WORD_REF, GN__LEADING))
		return f;
	f.owned = gn__fault_claim(&p->sector[f.frame], gn__claim_widened(f.sectors, sector), sector);
	f.what = GN__FAULT_OWNS;
	return f;
}

/*
 * Show the page of a new frame to everybody (R4); behind a fence since the frame was taken (R5). One thread.
 */
SIMT_FN void gn__fault_publish(const struct gn__pages *p, uint64_t page, const struct gn__faulting *f)
{
	const struct gn_cache_view *c = p->cache;

	gn__sector_reset(c, f->frame, ~gn__page_sectors(c, page), f->owned);
	simt_store_relaxed_dev_u32(&c->owner[f->frame], (uint32_t)page);
	simt_store_release_once_dev_u64(&p->word[page], GN__WORD_PARTIAL | GN__WORD_REF | GN__WORD_PIN |
	                                                    gn__word_next_version(f->seen) | f->frame);
}

/*
 * The owned sectors are in the frame, or (owned is 0) others were faster: let the page go. Behind a fence
 * since the bytes.
 * @given  lanes that got their element by it
 */
SIMT_FN void gn__fault_end(const struct gn__pages *p, uint64_t page, const struct gn__faulting *f,
                           uint32_t given)
{
	if (f->owned)
		gn__sector_arrive(p->sector, &p->word[page], f->frame, f->owned, 0);
	gn__page_unpin_after_fence(&p->word[page]);
	if (simt_unlikely(p->counting) && f->owned) {
		gn__count_u64(&gn__stripe(p->cache)->misses, simt_popcount(given));
		gn__count_u64(&gn__stripe(p->cache)->fetched, 1);
		gn__count_u64(&gn__stripe(p->cache)->fetched_bytes, (uint64_t)simt_popcount(f->owned)
		                                                        << p->sector_log2);
	}
}

/*
 * The element of a page that was just seen absent and got no frame, from the store's memory: it has every
 * write from before this access began.
 */
SIMT_FN void gn__fault_bypass(const struct gn__pages *p, uint64_t address, uint32_t size, uint64_t value[2])
{
	simt_fence_acq_rel_dev(); /* makes the look that found the page absent an acquire (R6) */
	gn__load_sized(value, p->backing + address, size);
	if (simt_unlikely(p->counting)) {
		gn__count_u64(&gn__stripe(p->cache)->misses, 1);
		gn__count_u64(&gn__stripe(p->cache)->bypassed, 1);
	}
}

/*
 * The sectors that leaders hold are moved, and lanes are given their elements. Collective.
 * @leader  the lane that acts for the caller's sector
 * @same    the lanes that want that sector
 * Returns 1 with the value, or 0.
 */
SIMT_INLINE_FN int gn__fault_move(const struct gn__pages *p, uint32_t mask, uint64_t address, uint32_t leader,
                                  struct gn__faulting *f, uint32_t same, struct simt__element *ask)
{
	const uint64_t page = gn__page_number(p, address), inside = (1u << p->sector_log2) - 1;
	const uint64_t start = address & ~inside;
	const int leads = f->what == GN__FAULT_OWNS || f->what == GN__FAULT_NEW;
	const uint32_t owners = simt_ballot(mask, f->owned != 0);
	char *to;

	simt_warp_sync(mask);
	if (simt_ballot(mask, f->what == GN__FAULT_NEW))
		simt_fence_release_dev(); /* R5; on cpu also the acquire of what these leaders have swapped */
	if (f->what == GN__FAULT_NEW)
		gn__fault_publish(p, page, f);
	ask->lane = owners >> leader & 1 ? leader : SIMT_NO_LANE;
	ask->at = (uint32_t)(address & inside);
	to = p->frame + ((size_t)f->frame << p->page_log2) + (start & ((1ull << p->page_log2) - 1));
	*ask = gn__store_load_asked(mask, owners, to, p->backing + start,
	                            simt_popcount(f->owned) << p->sector_log2, *ask);
	simt_warp_sync(mask); /* any lane has moved bytes for any other */
	simt_fence_release_dev();
	if (leads)
		gn__fault_end(p, page, f, same);
	return ask->lane != SIMT_NO_LANE;
}

/*
 * gn__fault_in - one turn for an element whose sector was not at hand a moment ago.
 * @address  of the element, in bytes of the cache's pages
 * Any thread; lanes that are together act together.
 * Waits for its own transfers only. Returns the element with a status of 0, or -GN_EAGAIN (it is not settled:
 * take another turn), -GN_EBUSY (take the slow way).
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
		/* those of one cache */
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
			gn__fault_bypass(p, address, size, ask.bits);
		else
			access.status.code = what == GN__FAULT_SLOW ? -GN_EBUSY : -GN_EAGAIN;
	}
	access.bits[0] = ask.bits[0];
	access.bits[1] = ask.bits[1];
	return access;
}

/* ---- a warp, or much of it, whose sectors are lines ---- */

/* Lanes that want something of one page. */
struct gn__fault_group {
	uint32_t lanes;  /* the first of them acts for the page; those that are done are alone */
	uint32_t wanted; /* sectors */
	uint32_t same;   /* lanes that want the caller's sector; the first of them moves it */
	uint32_t idle;   /* of lanes, those that move none: room for sectors that nobody wants yet */
};

/*
 * Collective. The loop takes a turn for each sector of pages that several lanes want: one or two where lanes
 * are side by side, none where each is alone on its page.
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

/* Wanted sectors and those that are fetched with them: as many as there are lanes to move them. */
SIMT_FN uint32_t gn__fault_widened(const struct gn__fault_group *c, uint64_t seen, uint32_t wanted)
{
	return wanted | gn__lowest(gn__claim_widened(seen, wanted) & ~wanted, simt_popcount(c->idle));
}

/*
 * One thread, the first of a group: get hold of the page, and of the sectors that are wanted and absent, if
 * that can be done at once.
 */
SIMT_FN struct gn__faulting gn__fault_lead(const struct gn__pages *p, uint64_t address, struct gn__faulting f,
                                           const struct gn__fault_group *c)
{
	const uint64_t page = gn__page_number(p, address);
	const uint32_t absent = c->wanted & ~((uint32_t)f.sectors | (uint32_t)(f.sectors >> 32));
	uint32_t claimed;
	uint64_t before;

	if (!(f.seen & GN__WORD_USED)) {
		claimed = gn__fault_widened(c, ~gn__page_sectors(p->cache, page), c->wanted);
		return gn__fault_absent(p->cache, &p->word[page], f, claimed);
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

/* The sector that a lane moves, as a bit: its own, or one of those that nobody wants yet; 0: none. */
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
 * The sectors that leaders hold are moved, a line a lane, and lanes are given their elements. Collective.
 * Returns 1 with the value, or 0.
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

	simt_warp_sync(mask);
	if (simt_ballot(mask, f->what == GN__FAULT_NEW))
		simt_fence_release_dev(); /* R5; on cpu also the acquire of what these leaders have swapped */
	if (f->what == GN__FAULT_NEW)
		gn__fault_publish(p, page, f);
	ask->lane = !done && owned >> mine & 1 ? simt_first_lane(c->same) : SIMT_NO_LANE;
	ask->at = (uint32_t)(address & inside);
	*ask = gn__store_load_lines(mask, owners, p->frame + ((size_t)frame << p->page_log2) + at,
	                            p->backing + ((size_t)page << p->page_log2) + at, *ask);
	given = simt_ballot(mask, ask->lane != SIMT_NO_LANE);
	simt_warp_sync(mask); /* any lane has moved bytes for any other */
	simt_fence_release_dev();
	if (f->what == GN__FAULT_OWNS || f->what == GN__FAULT_NEW)
		gn__fault_end(p, page, f, given & c->lanes);
	return ask->lane != SIMT_NO_LANE;
}

/*
 * gn__fault_lines - gn__fault_in by lanes that stay together, GN__FAULT_LANES or more, whose sectors are
 * lines: turns until every lane has its element. In line and without a call: the registers that a function
 * saves for its caller are written through to the device's memory, which costs more than the miss. Lanes that
 * are done stay and help.
 * @mask  the calling lanes, all of one cache
 * Returns the caller's element with a status of 0; or, to all that are left together, -GN_EAGAIN (go on by
 * gn__fault_in) or -GN_EBUSY (take the slow way).
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
			gn__fault_bypass(p, address, size, ask.bits);
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

/* gn__fault_lines by a call, for kernels that are held to few registers (detail/array/read.h). */
SIMT_NOINLINE_FN struct gn__access gn__fault_lines_called(const struct gn__pages *p, uint32_t mask,
                                                          uint64_t address, uint32_t size)
{
	return gn__fault_lines(p, mask, address, size);
}

#endif
