/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/cache/ahead.h - fetching what is wanted next: when a miss continues a sequence, lanes that have
 * nothing to do claim the pages behind it.
 *
 * A sequence is known by the page it is expected to miss next, kept in a small table by a hash of that page,
 * with the number of pages to fetch ahead: one after the second miss of a sequence, twice as many after every
 * further one. A miss that no sequence expected fetches nothing ahead, so random accesses cost one load and
 * one store for each miss. A sequence that breaks off leaves pages that no thread reads: if these are more
 * than three quarters, fetching ahead backs off for a while.
 *
 * A store of queues moves as many pages at once as it has commands for. From memory the warp itself moves the
 * pages, one after the other, and until they are there its lanes wait; so do threads that want one of these
 * pages and could have moved it themselves. So from memory no more is fetched ahead than takes as long as the
 * miss itself.
 *
 * In a loop over a grid all threads come to the same page, one after the other. One warp moves 1 GB/s, so
 * there the one that misses offers the pages behind it, and those that come to wait for a page fetch them.
 * Many commands are on their way then, and each thread goes through many pages before it waits again. A warp
 * of one lane has no idle lanes, and always offers.
 */
#ifndef GRAPNEL_CACHE_AHEAD_H
#define GRAPNEL_CACHE_AHEAD_H

#include <grapnel/detail/cache/claim.h>
#include <grapnel/detail/cache/pace.h>
#include <grapnel/detail/cache/view.h>

enum {
	GN__AHEAD_LOG2 = 6, /* bits of a stream's word that say how many pages */
	GN__AHEAD_MOST = 63,
	/* bytes that a warp moves ahead from memory, and takes of an offer at once */
	GN__AHEAD_MOVED = 16384,
	/* bytes that a thread without a warp offers: a processor's own cache holds them */
	GN__AHEAD_OFFERED = 1 << 20,
	GN__AHEAD_NEAR = 4,      /* pages: the longest step of a sequence (gn__offer_near) */
	GN__AHEAD_JUDGED = 64,   /* pages after which it is judged, by a few processors */
	GN__AHEAD_BACKOFF = 1024 /* misses of theirs for which it then may back off */
};

SIMT_FN uint64_t *gn__stream_of(const struct gn_cache_view *c, uint64_t page)
{
	return &c->stream[gn__stir((uint32_t)page * 0x9e3779b9u) % GN_CACHE_STREAMS];
}

SIMT_FN int gn__stream_expects(uint64_t seen, uint64_t page)
{
	return seen && seen >> GN__AHEAD_LOG2 == page;
}

/* Judge from time to time whether the pages that were fetched ahead were read. */
SIMT_FN void gn__ahead_judge(struct gn_cache_local *s, uint32_t fetched)
{
	uint32_t all = simt_add_relaxed_dev_u32(&s->ahead, fetched) + fetched;

	if (all < GN__AHEAD_JUDGED || simt_cas_relaxed_dev_u32(&s->ahead, all, 0) != all)
		return;
	/* a sequence begins with windows of 1, 2, 4: the last, half of them all, is not used yet */
	if (4 * simt_load_relaxed_dev_u32(&s->used) < all)
		simt_store_relaxed_dev_u32(&s->ahead_backoff, GN__AHEAD_BACKOFF);
	simt_store_relaxed_dev_u32(&s->used, 0);
}

/*
 * How many pages to fetch behind this missing one. The stream is moved on: it is expected behind what is
 * fetched.
 * @expects  the page at which a stream is expected. If it is this page and there is no stream, one begins
 *           here. If it is another and there is no stream, nothing is fetched.
 *
 * One thread.
 */
SIMT_FN uint32_t gn__ahead_window(const struct gn_cache_view *c, uint64_t expects, uint64_t page,
                                  uint32_t most)
{
	struct gn_cache_local *s = gn__local(c);
	uint64_t *stream = gn__stream_of(c, expects);
	const uint64_t seen = simt_load_relaxed_dev_u64(stream);
	const int expected = gn__stream_expects(seen, expects);
	const uint32_t before = expected ? (uint32_t)seen & ((1u << GN__AHEAD_LOG2) - 1) : 0;
	uint32_t window = 0;

	if (gn__backs_off(&s->ahead_backoff))
		return 0;
	/* another thread goes on with the stream */
	if (expected ? simt_cas_relaxed_dev_u64(stream, seen, 0) != seen : expects != page)
		return 0;
	if (expected) {
		window = before ? 2 * before : 1;
		window = window < most ? window : most;
		if (before)
			simt_reduce_add_relaxed_dev_u32(&s->used, before);
		gn__ahead_judge(s, window);
	}
	stream = gn__stream_of(c, page + window + 1);
	simt_store_relaxed_dev_u64(stream, (page + window + 1) << GN__AHEAD_LOG2 | window);
	return window;
}

/* How many pages at most are worth fetching behind this one, from where they lie. */
SIMT_FN uint32_t gn__ahead_most(const struct gn_cache_view *c, uint64_t page)
{
	const uint32_t most = GN__AHEAD_MOST, moved = (uint32_t)GN__AHEAD_MOVED >> c->page_log2;

	return gn__segment_of(c, page)->store.kind == GN_STORE_QUEUES || moved > most ? most : moved;
}

/*
 * How many pages at most are offered: few of a small cache, where the threads that are behind still want what
 * is there.
 */
SIMT_FN uint32_t gn__offer_most(const struct gn_cache_view *c)
{
	const uint32_t held =
	    simt_warp_width() == 1 ? (uint32_t)GN__AHEAD_OFFERED >> c->page_log2 : (uint32_t)GN__AHEAD_MOST;
	const uint32_t most = held < GN__AHEAD_MOST ? held : (uint32_t)GN__AHEAD_MOST, few = c->frames / 8;

	return few < most ? few : most;
}

/*
 * On cpu the threads of one OS thread may want only every second page of a sequence, or fewer, and those of
 * other OS threads the pages between. A miss that comes soon behind the last one of the same OS thread
 * continues such a sequence: so a stream is expected at this page.
 */
SIMT_FN void gn__offer_near(const struct gn_cache_view *c, uint64_t page)
{
	uint32_t *missed = &gn__local(c)->missed;
	const uint32_t step = (uint32_t)page - simt_load_relaxed_dev_u32(missed);
	uint64_t *stream = gn__stream_of(c, page);

	simt_store_relaxed_dev_u32(missed, (uint32_t)page);
	if (step > 1 && step <= GN__AHEAD_NEAR &&
	    !gn__stream_expects(simt_load_relaxed_dev_u64(stream), page))
		simt_store_relaxed_dev_u64(stream, page << GN__AHEAD_LOG2);
}

/*
 * Offer the pages behind one that is missing. A cache has one offer at a time: the next page, and how many
 * are left. The threads of a grid come to the pages behind the end of the last offer in any order; each of
 * them continues it.
 */
SIMT_FN void gn__offer(const struct gn_cache_view *c, uint64_t page)
{
	const struct gn_cache_segment *segment = gn__segment_of(c, page);
	const uint64_t behind = segment->first_page + segment->pages - page - 1;
	const uint32_t most = gn__offer_most(c);
	uint64_t expects = page, last, left, end;
	uint32_t window;
	int goes_on;

	if (segment->store.kind != GN_STORE_QUEUES || !most)
		return;
	last = simt_load_relaxed_dev_u64(&c->shared->offer);
	left = last & ((1u << GN__AHEAD_LOG2) - 1);
	end = (last >> GN__AHEAD_LOG2) + left;
	goes_on = gn__stream_expects(simt_load_relaxed_dev_u64(gn__stream_of(c, end)), end);
	/* the last offer begins behind this page, or reaches beyond it, and is not used up */
	if (end - page - 1 < 2 * GN__AHEAD_MOST && (left || (goes_on && end - page <= behind)))
		return;
	if (page - end < GN__AHEAD_MOST && goes_on)
		expects = end;
	else if (simt_warp_width() == 1)
		gn__offer_near(c, page);
	window = gn__ahead_window(c, expects, page, most);
	window = window < behind ? window : (uint32_t)behind;
	if (window)
		simt_store_relaxed_dev_u64(&c->shared->offer, (page + 1) << GN__AHEAD_LOG2 | window);
}

/*
 * All pages of an offer are taken, and the caller waits for one of the last: offer the pages behind them.
 * Without this, nothing would be in flight while the last pages arrive, until a thread misses behind the end.
 * @end  the page behind the offer; of the threads that call, one gets the stream that is expected there
 *
 * One thread.
 */
SIMT_FN void gn__offer_on(const struct gn_cache_view *c, uint64_t waits_for, uint64_t end)
{
	const struct gn_cache_segment *segment = gn__segment_of(c, waits_for);
	const uint64_t behind = segment->first_page + segment->pages - end;
	const uint32_t most = gn__offer_most(c);
	uint32_t window;

	if (end - waits_for - 1 > most / 2 || !behind || behind > segment->pages)
		return;
	/* it counts misses, and a thread that waits comes here again and again */
	if (simt_load_relaxed_dev_u32(&gn__local(c)->ahead_backoff))
		return;
	window = gn__ahead_window(c, end, end - 1, most);
	window = window < behind ? window : (uint32_t)behind;
	if (window)
		simt_store_relaxed_dev_u64(&c->shared->offer, end << GN__AHEAD_LOG2 | window);
}

/*
 * Take pages of the offer, if they are behind the page that the caller waits for: one, or some small ones, as
 * many as there are lanes at most. Returns how many.
 * @page  receives the first
 */
SIMT_FN uint32_t gn__offer_take(const struct gn_cache_view *c, uint32_t lanes, uint64_t waits_for,
                                uint64_t *page)
{
	uint64_t *offer = &c->shared->offer;
	const uint64_t seen = simt_load_relaxed_dev_u64(offer), next = seen >> GN__AHEAD_LOG2;
	const uint32_t left = (uint32_t)seen & ((1u << GN__AHEAD_LOG2) - 1),
	               small = (uint32_t)GN__AHEAD_MOVED >> c->page_log2;
	const uint32_t most = small > 1 ? small : 1, chunk = most < lanes ? most : lanes;
	uint32_t many = left < chunk ? left : chunk;

	*page = next;
	if (next <= waits_for || next - waits_for > 2 * GN__AHEAD_MOST)
		return 0;
	if (!left) {
		gn__offer_on(c, waits_for, next);
		return 0;
	}
	many = gn__pace_take(c, many);
	return many && simt_cas_relaxed_dev_u64(offer, seen,
	                                        (next + many) << GN__AHEAD_LOG2 | (left - many)) == seen
	           ? many
	           : 0;
}

/*
 * Has a thread waited for a page that another fetched, since the last call? One thread.
 */
SIMT_FN int gn__ahead_awaited(const struct gn_cache_view *c)
{
	uint32_t *awaited = &gn__local(c)->awaited;

	if (!simt_load_relaxed_dev_u32(awaited))
		return 0;
	simt_store_relaxed_dev_u32(awaited, 0);
	return 1;
}

/*
 * Fetch pages behind the first missing one. If other threads wait for pages and may take some, the pages are
 * offered; else lanes of this warp claim them: lanes that want no page and whose claim was not refused.
 * Threads that write do so only in warps of one lane: wider ones were not measured.
 * Collective.
 */
SIMT_FN void gn__read_ahead(const struct gn_cache_view *c, uint32_t mask, int wants, struct gn__claim *k)
{
	const int may = k->intent == GN_READ || simt_warp_width() == 1;
	const uint32_t missing = simt_ballot(mask, k->step == GN__STEP_FETCH && may && !k->ahead);
	/* the claim of a lane that was refused keeps its status */
	const int idles = !wants && !k->status.code;
	const uint32_t idle = simt_ballot(mask, idles);
	uint32_t window = 0, leader;
	uint64_t page, end;

	if (!missing)
		return;
	leader = simt_first_lane(missing);
	if (simt_lane() == leader) {
		const uint32_t lanes = simt_popcount(idle), most = gn__ahead_most(c, k->page);

		if (simt_warp_width() == 1 ||
		    (gn__segment_of(c, k->page)->store.kind == GN_STORE_QUEUES && gn__ahead_awaited(c)))
			gn__offer(c, k->page);
		else if (most && lanes)
			window = gn__ahead_window(c, k->page, k->page, most < lanes ? most : lanes);
	}
	window = simt_shfl_u32(mask, window, leader);
	page = simt_shfl_u64(mask, k->page, leader);
	end = gn__segment_of(c, page)->first_page + gn__segment_of(c, page)->pages;
	page += 1 + simt_rank(idle);
	if (!idles || simt_rank(idle) >= window || page >= end)
		return;
	*k = gn__claim_ahead(page);
	k->step = gn__claim_seek(c, k);
}

#endif
