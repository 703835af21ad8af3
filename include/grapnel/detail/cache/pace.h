/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/cache/pace.h - on cpu, how many pages the threads fetch in a round of their turns.
 *
 * There a thread that waits for a page reads it at its next turn, and until then all other threads of its OS
 * thread have theirs. If these fetch as many pages as the cache has frames, the page has left again, and the
 * thread fetches it a second time. Then other pages leave for it. Threads that read one array together come
 * to be far apart, and in the end each of them reads all of the array from the store. It is enough that the
 * system does not run an OS thread for some milliseconds, while the others go on.
 *
 * So accesses to elements, and threads that fetch offered pages, fetch at most a quarter of the frames in a
 * round, in which every thread that waits has a turn. A miss beyond that waits for the next round. A thread
 * that computes for long holds a round up: so a miss waits for GN__PACE_NS at most, and no miss of its OS
 * thread waits for that round again. A claim that keeps its pin is not paced, because its page cannot leave
 * before it is read. A cache of less than four frames paces nothing, nor does a GPU, whose threads run at the
 * same time.
 */
#ifndef GRAPNEL_CACHE_PACE_H
#define GRAPNEL_CACHE_PACE_H

#include <grapnel/detail/cache/frame.h>
#include <grapnel/detail/cache/table.h>
#include <grapnel/detail/cache/view.h>

/* A test waits for another time. */
#ifndef GN__PACE_NS
#define GN__PACE_NS 50000000u
#endif

SIMT_FN uint32_t gn__pace_round(void)
{
#if SIMT_ON_CUDA
	return 0;
#else
	return simt__round();
#endif
}

/* Take as many fetches as this round has left, and `many` at most. Returns how many. */
SIMT_FN uint32_t gn__pace_take(const struct gn_cache_view *c, uint32_t many)
{
	uint64_t *word = &c->shared->pace, seen, now;
	uint32_t round, taken, left;

	if (SIMT_ON_CUDA || !c->pace)
		return many;
	round = gn__pace_round();
	seen = simt_load_relaxed_dev_u64(word);
	do {
		now = seen;
		taken = now >> 32 == round ? (uint32_t)now : 0;
		left = taken < c->pace ? c->pace - taken : 0;
		many = many < left ? many : left;
		if (!many)
			return 0;
		seen = simt_cas_relaxed_dev_u64(word, now, (uint64_t)round << 32 | (taken + many));
	} while (seen != now);
	return many;
}

/* How long a miss waits for its round: not so long that its wait for the page would end in an error. */
SIMT_FN uint64_t gn__pace_most(const struct gn_cache_view *c)
{
	return GN__PACE_NS < c->wait_ns / 2 ? GN__PACE_NS : c->wait_ns / 2;
}

/* Must this claim of an absent page wait for the next round? */
SIMT_FN int gn__pace_holds(const struct gn_cache_view *c, struct gn__claim *k)
{
	if (SIMT_ON_CUDA || !c->pace || k->paced || k->ahead || k->holds ||
	    gn__segment_of(c, k->page)->store.kind != GN_STORE_QUEUES)
		return 0;
	k->paced =
	    gn__pace_take(c, 1) || simt_load_relaxed_dev_u32(&gn__local(c)->vain) == gn__pace_round() + 1;
	if (!k->paced && k->deadline && simt_clock_ns() + c->wait_ns > k->deadline + gn__pace_most(c)) {
		simt_store_relaxed_dev_u32(&gn__local(c)->vain, gn__pace_round() + 1);
		k->paced = 1;
	}
	if (k->paced) /* it has not waited for the page or a frame yet */
		k->deadline = k->waits = 0;
	return !k->paced;
}

#endif
