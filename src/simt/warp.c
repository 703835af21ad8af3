/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warp.c - the collective functions of a warp. The lane that arrives last computes the results of all lanes,
 * wakes the others and continues. A lane that waits here is held: it is in no queue.
 */
#include <simt/engine.h>

#include <dlfcn.h>
#include <stdio.h>

static uint32_t bit_of(const struct simt__fiber *f)
{
	return 1u << f->lane.lane;
}

void simt__warp_begin(struct simt__warp *warp, uint32_t lanes)
{
	warp->live = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
	warp->stopped = warp->meeting = warp->gathering = warp->at_barrier = 0;
	warp->meetings = 0;
}

static void wake_lanes(struct simt__warp *warp, uint32_t lanes)
{
	for (; lanes; lanes &= lanes - 1) {
		struct simt__fiber *f = warp->lanes[__builtin_ctz(lanes)];

		simt__wake(f->worker, f);
	}
}

/*
 * Lanes wait in calls of simt_active: release those of one call, the deepest in the stack, then the one with
 * the lowest address. So lanes inside a branch continue before lanes that already wait behind it, and join
 * them there.
 */
static void release_group(struct simt__warp *warp)
{
	uint32_t first = (uint32_t)__builtin_ctz(warp->gathering), group = 0;

	for (uint32_t left = warp->gathering; left; left &= left - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(left);

		if (warp->depth[lane] > warp->depth[first] ||
		    (warp->depth[lane] == warp->depth[first] && warp->site[lane] < warp->site[first]))
			first = lane;
	}
	for (uint32_t left = warp->gathering; left; left &= left - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(left);

		if (warp->site[lane] == warp->site[first])
			group |= 1u << lane;
	}
	warp->gathering &= ~group;
	warp->stopped &= ~group;
	for (uint32_t left = group; left; left &= left - 1)
		warp->lanes[__builtin_ctz(left)]->result = group;
	/* The calling lane is running, so it is not woken; it may be in the group. */
	wake_lanes(warp, group & ~bit_of(simt__fiber_self()));
}

static const char *collective_name(uint32_t collective)
{
	static const char *const names[] = {"simt_ballot",    "simt_or",        "simt_shfl",
	                                    "simt_match_any", "simt_warp_sync", "simt_copy"};

	return names[collective];
}

/* "binary+0x123", the form that addr2line takes. */
static const char *describe_site(void *site, char *text, size_t bytes)
{
	Dl_info info;

	if (dladdr(site, &info) && info.dli_fname)
		snprintf(text, bytes, "%s+0x%zx", info.dli_fname,
		         (size_t)((char *)site - (char *)info.dli_fbase));
	else
		snprintf(text, bytes, "%p", site);
	return text;
}

static void fail_meeting(const struct simt__warp *warp, const struct simt__block *block,
                         const struct simt__meeting *m, const char *why, uint32_t lanes)
{
	struct simt__fiber *f = warp->lanes[__builtin_ctz(m->arrived)];
	char site[256];

	simt__launch_fail(f->worker->launch, -GN_EDEADLK,
	                  "kernel %s, block %u, warp of thread %u: lanes 0x%x wait in %s with mask 0x%x (at "
	                  "%s), but lanes 0x%x %s; all lanes of a mask must make the same call",
	                  f->worker->launch->kernel->name, block->index, f->lane.thread - f->lane.lane,
	                  m->arrived, collective_name(m->collective), m->mask,
	                  describe_site(warp->site[f->lane.lane], site, sizeof site), lanes, why);
}

/* Fail: every live lane is held by a meeting or the barrier, and none of these can complete. */
static void fail_stuck(const struct simt__warp *warp, const struct simt__block *block)
{
	const struct simt__meeting *m = &warp->open[0];

	fail_meeting(warp, block, m,
	             m->mask & ~m->arrived & warp->at_barrier
	                 ? "wait at the barrier"
	                 : "wait in another collective or with another mask",
	             m->mask & ~m->arrived);
}

void simt__warp_settle(struct simt__warp *warp, struct simt__block *block)
{
	if (warp->live & ~warp->stopped)
		return;
	if (warp->gathering)
		release_group(warp);
	else if (warp->meeting && warp->live == (warp->meeting | warp->at_barrier))
		fail_stuck(warp, block);
}

void simt__warp_stop(struct simt__fiber *f)
{
	f->warp->stopped |= bit_of(f);
	simt__warp_settle(f->warp, f->block);
}

void simt__warp_end_lane(struct simt__warp *warp, struct simt__fiber *f)
{
	warp->live &= ~bit_of(f);
	for (uint32_t k = 0; k < warp->meetings; k++) {
		if (warp->open[k].mask & bit_of(f)) {
			fail_meeting(warp, f->block, &warp->open[k], "ended", bit_of(f));
			return;
		}
	}
	simt__warp_settle(warp, f->block);
}

__attribute__((noinline)) uint32_t simt__active(void)
{
	struct simt__fiber *f = simt__fiber_self();
	struct simt__warp *warp = f->warp;
	uint32_t bit = bit_of(f);

	if (warp->live == bit)
		return bit;
	warp->site[f->lane.lane] = __builtin_return_address(0);
	warp->depth[f->lane.lane] = (size_t)((char *)f - (char *)__builtin_frame_address(0));
	warp->gathering |= bit;
	warp->stopped |= bit;
	simt__warp_settle(warp, f->block);
	if (warp->gathering & bit)
		simt__hold(f->worker, f);
	return (uint32_t)f->result;
}

/* The open meeting of this collective and mask; a new one if there is none. */
static struct simt__meeting *meeting_of(struct simt__warp *warp, uint32_t mask, uint32_t collective)
{
	struct simt__meeting *m = warp->open;

	for (; m < warp->open + warp->meetings; m++) {
		if (m->mask == mask && m->collective == collective)
			return m;
	}
	warp->meetings++;
	m->mask = mask;
	m->collective = collective;
	m->arrived = 0;
	return m;
}

static void check_mask(struct simt__fiber *f, const struct simt__meeting *m)
{
	uint32_t absent = m->mask & ~f->warp->live;

	if (absent)
		fail_meeting(f->warp, f->block, m, "have ended or do not exist", absent);
	else if (!(m->mask & bit_of(f)))
		fail_meeting(f->warp, f->block, m, "called it without being in the mask", bit_of(f));
}

/*
 * Join the other lanes of mask. Returns 1 to the lane that arrives last: it must set the results of all lanes
 * and call part(). Returns 0 to the other lanes after that.
 */
static int meet(struct simt__fiber *f, uint32_t mask, uint32_t collective, void *site)
{
	struct simt__warp *warp = f->warp;
	struct simt__meeting *m = meeting_of(warp, mask, collective);

	warp->site[f->lane.lane] = site;
	m->arrived |= bit_of(f);
	if (m->arrived == mask) {
		*m = warp->open[--warp->meetings];
		return 1;
	}
	warp->stopped |= bit_of(f);
	warp->meeting |= bit_of(f);
	if (simt_unlikely(mask & ~warp->live || !(mask & bit_of(f))))
		check_mask(f, m);
	else
		simt__warp_settle(warp, f->block);
	simt__hold(f->worker, f);
	return 0;
}

/* Called by the last lane: wake the others. */
static void part(struct simt__fiber *f, uint32_t mask)
{
	uint32_t others = mask & ~bit_of(f);

	f->warp->stopped &= ~others;
	f->warp->meeting &= ~others;
	wake_lanes(f->warp, others);
}

static void give_all(struct simt__warp *warp, uint32_t mask, uint64_t result)
{
	for (uint32_t left = mask; left; left &= left - 1)
		warp->lanes[__builtin_ctz(left)]->result = result;
}

__attribute__((noinline)) void simt__warp_sync(uint32_t mask)
{
	struct simt__fiber *f = simt__fiber_self();

	SIMT__RELEASE(f->warp);
	if (meet(f, mask, SIMT__SYNC, __builtin_return_address(0)))
		part(f, mask);
	SIMT__ACQUIRE(f->warp);
}

/* The lane that arrives last copies all bytes. */
__attribute__((noinline)) void simt__warp_copy(uint32_t mask, void *to, const void *from, size_t bytes)
{
	struct simt__fiber *f = simt__fiber_self();

	SIMT__RELEASE(f->warp);
	if (meet(f, mask, SIMT__COPY, __builtin_return_address(0))) {
		simt__copy(to, from, bytes);
		part(f, mask);
	}
	SIMT__ACQUIRE(f->warp);
}

__attribute__((noinline)) uint32_t simt__ballot(uint32_t mask, int predicate)
{
	struct simt__fiber *f = simt__fiber_self();
	uint32_t votes = 0;

	f->warp->value[f->lane.lane] = !!predicate;
	if (meet(f, mask, SIMT__BALLOT, __builtin_return_address(0))) {
		for (uint32_t left = mask; left; left &= left - 1) {
			uint32_t lane = (uint32_t)__builtin_ctz(left);

			votes |= (uint32_t)f->warp->value[lane] << lane;
		}
		give_all(f->warp, mask, votes);
		part(f, mask);
	}
	return (uint32_t)f->result;
}

__attribute__((noinline)) uint32_t simt__or(uint32_t mask, uint32_t value)
{
	struct simt__fiber *f = simt__fiber_self();
	uint64_t all = 0;

	f->warp->value[f->lane.lane] = value;
	if (meet(f, mask, SIMT__OR, __builtin_return_address(0))) {
		for (uint32_t left = mask; left; left &= left - 1)
			all |= f->warp->value[(uint32_t)__builtin_ctz(left)];
		give_all(f->warp, mask, all);
		part(f, mask);
	}
	return (uint32_t)f->result;
}

static void fail_source(struct simt__fiber *f, uint32_t mask, uint32_t source, void *site)
{
	char text[256];

	simt__launch_fail(f->worker->launch, -GN_EINVAL,
	                  "kernel %s, block %u, thread %u: simt_shfl (at %s) reads lane %u, which is not in "
	                  "mask 0x%x; name "
	                  "a lane of the mask",
	                  f->worker->launch->kernel->name, f->block->index, f->lane.thread,
	                  describe_site(site, text, sizeof text), source, mask);
	simt__hold(f->worker, f);
}

__attribute__((noinline)) uint64_t simt__shfl(uint32_t mask, uint64_t value, uint32_t source)
{
	struct simt__fiber *f = simt__fiber_self();
	struct simt__warp *warp = f->warp;

	if (simt_unlikely(source > 31 || !(mask >> source & 1)))
		fail_source(f, mask, source, __builtin_return_address(0));
	warp->value[f->lane.lane] = value;
	warp->source[f->lane.lane] = (uint8_t)source;
	if (meet(f, mask, SIMT__SHFL, __builtin_return_address(0))) {
		for (uint32_t left = mask; left; left &= left - 1) {
			uint32_t lane = (uint32_t)__builtin_ctz(left);

			warp->lanes[lane]->result = warp->value[warp->source[lane]];
		}
		part(f, mask);
	}
	return f->result;
}

/* Find lanes with equal values: they share a slot of a small open hash table. */
static void match(struct simt__warp *warp, uint32_t mask)
{
	uint32_t group[64] = {0};
	uint8_t slot_of[32];

	for (uint32_t left = mask; left; left &= left - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(left);
		uint64_t value = warp->value[lane];
		uint32_t slot = (uint32_t)((value * 0x9e3779b97f4a7c15u) >> 58);

		while (group[slot] && warp->value[__builtin_ctz(group[slot])] != value)
			slot = (slot + 1) % 64;
		group[slot] |= 1u << lane;
		slot_of[lane] = (uint8_t)slot;
	}
	for (uint32_t left = mask; left; left &= left - 1)
		warp->lanes[__builtin_ctz(left)]->result = group[slot_of[__builtin_ctz(left)]];
}

__attribute__((noinline)) uint32_t simt__equals(uint32_t mask, uint64_t value)
{
	struct simt__fiber *f = simt__fiber_self();

	f->warp->value[f->lane.lane] = value;
	if (meet(f, mask, SIMT__MATCH, __builtin_return_address(0))) {
		match(f->warp, mask);
		part(f, mask);
	}
	return (uint32_t)f->result;
}
