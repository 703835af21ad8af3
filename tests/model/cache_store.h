/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_store.h - a store that lets others run in the middle of every transfer, fails when the trial says,
 * and blames the cache for transfers that must not meet. A trial's store view points to the trial in place of
 * memory.
 */
#ifndef GN_TESTS_CACHE_STORE_H
#define GN_TESTS_CACHE_STORE_H

#include "cache_trial.h"

SIMT_FN struct trial *trial_of(const struct gn_store_view *s)
{
	return (struct trial *)(void *)s->memory;
}

/* What the device says of a failed transfer: the page, so that nobody gets another's status. */
SIMT_FN struct gn_store_status refusal(uint32_t page)
{
	struct gn_store_status status = {-GN_EIO, 0x100 + page};

	return status;
}

SIMT_FN int suffers(struct trial *t, enum call call)
{
	struct fault *fault = &t->fault[call];
	int fails = fault->first ? 1 : draw_chance(&t->random, fault->percent);

	fault->first -= fault->first != 0;
	t->calls[call]++;
	t->failed[call] += fails;
	return fails;
}

/* Somebody else's turn: always, or where the schedule wants it. */
SIMT_FN void let_others(struct trial *t)
{
	if (t->lingers)
		simt_relax();
	else
		simt_load_relaxed_dev_u32(&t->finished);
}

/* Half of it, and the rest. */
SIMT_FN void copy_run(struct trial *t, char *to, const char *from, uint32_t bytes)
{
	const uint32_t half = bytes / 16 * 8;

	memcpy(to, from, half);
	let_others(t);
	memcpy(to + half, from + half, bytes - half);
}

/* Sectors of a page, moved in the middle of everything else. */
struct transfer {
	uint32_t page, frame, bytes;
	uint32_t words; /* a bit each, of the page */
	char *disk, *memory;
};

SIMT_FN struct transfer transfer_of(struct trial *t, uint64_t offset, const void *memory, uint32_t bytes)
{
	const uint32_t at = (uint32_t)offset % (1u << PAGE_LOG2);
	struct transfer r;

	r.page = (uint32_t)(offset >> PAGE_LOG2);
	r.frame = (uint32_t)(((const char *)memory - (const char *)t->frame) >> PAGE_LOG2);
	r.bytes = bytes;
	r.words = ((1u << bytes / 8) - 1) << at / 8;
	r.disk = (char *)t->disk + offset;
	r.memory = (char *)(uintptr_t)memory;
	if (((uintptr_t)((const char *)memory - (const char *)t->frame) ^ offset) % (1u << PAGE_LOG2))
		blame(t, "a sector is moved to another place of the page");
	if (!bytes || at + bytes > words_of(t, r.page) * 8)
		blame(t, "nothing is moved, or what lies behind the end of the page");
	return r;
}

SIMT_FN void fetch_begins(struct trial *t, const struct transfer *r)
{
	if (t->fetching[r->page] & r->words)
		blame(t, "two fetches of one sector are in flight");
	if (t->putting[r->page] & r->words || t->saving[r->page])
		blame(t, "a sector is fetched while it is written");
	if (t->filling[r->frame] && t->filler[r->frame] != r->page)
		blame(t, "two pages are fetched into one frame");
	if (t->held[r->frame])
		blame(t, "a held frame is reused");
	t->fetching[r->page] |= r->words;
	t->filling[r->frame] |= r->words;
	t->filler[r->frame] = r->page;
}

SIMT_FN void fetch_ends(struct trial *t, const struct transfer *r)
{
	t->fetching[r->page] &= ~r->words;
	t->filling[r->frame] &= ~r->words;
}

SIMT_FN struct gn_store_status fetch_run(struct trial *t, uint64_t offset, void *to, uint32_t bytes,
                                         int can_fail)
{
	const struct transfer r = transfer_of(t, offset, to, bytes);
	struct gn_store_status status = {0, 0};

	fetch_begins(t, &r);
	if (can_fail && suffers(t, FETCH)) {
		let_others(t);
		status = refusal(r.page);
	} else {
		copy_run(t, r.memory, r.disk, bytes);
		t->moved[FETCH] += bytes;
	}
	fetch_ends(t, &r);
	return status;
}

SIMT_FN struct gn_store_status put_run(struct trial *t, uint64_t offset, const void *from, uint32_t bytes)
{
	const struct transfer r = transfer_of(t, offset, from, bytes);
	struct gn_store_status status = {0, 0};

	if (t->putting[r.page] || t->fetching[r.page] & r.words || t->saving[r.page])
		blame(t, "a sector is written while it is fetched or written");
	if (t->filling[r.frame] && (t->filling[r.frame] & r.words || t->filler[r.frame] != r.page))
		blame(t, "a sector is written back while its frame is filled");
	t->putting[r.page] = r.words;
	if (suffers(t, PUT)) {
		let_others(t);
		status = refusal(r.page);
	} else {
		copy_run(t, r.disk, r.memory, bytes);
		t->moved[PUT] += bytes;
	}
	t->putting[r.page] = 0;
	return status;
}

SIMT_FN struct gn_store_status trial_read_warp(const struct gn_store_view *s, uint32_t mask, int wants,
                                               uint64_t offset, void *to, uint32_t bytes)
{
	struct gn_store_status status = {0, 0};

	simt_warp_sync(mask);
	if (wants)
		status = fetch_run(trial_of(s), offset, to, bytes, 1);
	simt_warp_sync(mask);
	return status;
}

/* ---- reads that are begun; each is an entry's of the cache ---- */

SIMT_FN int trial_can_begin(const struct gn_store_view *s)
{
	return s->kind == GN_STORE_QUEUES;
}

SIMT_FN struct gn_cache_begun *entry_of(struct gn__store_read *r)
{
	return (struct gn_cache_begun *)(void *)((char *)r - offsetof(struct gn_cache_begun, read));
}

SIMT_FN struct transfer begun_transfer(struct trial *t, struct gn__store_read *r)
{
	return transfer_of(t, r->move.offset, t->frame[entry_of(r)->claim.frame], r->move.bytes);
}

SIMT_FN void trial_read_begin(const struct gn_store_view *s, struct gn__store_read *r, uint64_t offset,
                              uint32_t bytes)
{
	(void)s;
	memset(r, 0, sizeof *r);
	r->move.part = GN__STORE_WANTS;
	r->move.offset = offset;
	r->move.bytes = bytes;
}

/* A read waits for its slot, is under way, lands or fails; how often it is asked for each is drawn. */
SIMT_FN int trial_read_poll(const struct gn_store_view *s, struct gn__store_read *r)
{
	struct trial *t = trial_of(s);
	const struct transfer m = begun_transfer(t, r);

	let_others(t);
	if (r->move.part == GN__STORE_WANTS) {
		if (draw_chance(&t->random, 70)) {
			fetch_begins(t, &m);
			r->move.part = GN__STORE_POSTED;
		}
		return -GN_EAGAIN;
	}
	if (r->move.part != GN__STORE_POSTED)
		blame(t, "a read that has ended is asked for");
	if (draw_chance(&t->random, 50))
		return -GN_EAGAIN;
	if (suffers(t, FETCH)) {
		fetch_ends(t, &m);
		r->move.part = GN__STORE_NONE;
		r->move.status = refusal(m.page);
		return r->move.status.code;
	}
	memcpy(t->landed[entry_of(r) - t->begun], m.disk, m.bytes);
	r->move.part = GN__STORE_LANDED;
	return 0;
}

SIMT_FN void trial_read_take(uint32_t mask, int wants, struct gn__store_read *r, void *to)
{
	struct trial *t = &the_trial;
	struct transfer m;

	simt_warp_sync(mask);
	if (wants) {
		m = begun_transfer(t, r);
		if (r->move.part != GN__STORE_LANDED || m.memory != (char *)to)
			blame(t, "a read is taken that has not landed, or by another frame");
		copy_run(t, (char *)to, (const char *)t->landed[entry_of(r) - t->begun], m.bytes);
		fetch_ends(t, &m);
		t->moved[FETCH] += m.bytes;
		r->move.part = GN__STORE_NONE;
	}
	simt_warp_sync(mask);
}

/* Memory does not fail. The runs lead into the trial's disk. */
SIMT_FN struct simt__element trial_load_asked(uint32_t mask, uint32_t wants, void *to, const char *from,
                                              uint32_t bytes, struct simt__element ask)
{
	struct trial *t = &the_trial;
	const char *asked;

	simt_warp_sync(mask);
	if (wants >> simt_lane() & 1)
		fetch_run(t, (uint64_t)(from - (const char *)t->disk), to, bytes, 0);
	simt_warp_sync(mask);
	asked = (const char *)(uintptr_t)simt_shfl_u64(mask, (uint64_t)(uintptr_t)to,
	                                               ask.lane < 32 ? ask.lane : simt_first_lane(mask));
	if (ask.lane < 32)
		simt__take(&ask, asked + ask.at);
	return ask;
}

SIMT_FN struct simt__element trial_load_lines(uint32_t mask, uint32_t wants, void *to, const char *from,
                                              struct simt__element ask)
{
	return trial_load_asked(mask, wants, to, from, TRIAL_LINE, ask);
}

SIMT_FN struct gn_store_status trial_write_warp(const struct gn_store_view *s, uint32_t mask, int wants,
                                                uint64_t offset, const void *from, uint32_t bytes)
{
	struct gn_store_status status = {0, 0};

	simt_warp_sync(mask);
	if (wants)
		status = put_run(trial_of(s), offset, from, bytes);
	simt_warp_sync(mask);
	return status;
}

SIMT_FN struct gn_store_status trial_read_thread(const struct gn_store_view *s, uint64_t offset, void *to,
                                                 uint32_t bytes)
{
	struct trial *t = trial_of(s);
	struct gn_store_status status = {0, 0};

	let_others(t);
	if (suffers(t, LOAD))
		return refusal((uint32_t)(offset >> PAGE_LOG2));
	memcpy(to, (const char *)t->disk + offset, bytes);
	return status;
}

/* A block is read, changed and written. */
SIMT_FN struct gn_store_status trial_write_thread(const struct gn_store_view *s, uint64_t offset,
                                                  const void *from, uint32_t bytes)
{
	struct trial *t = trial_of(s);
	uint32_t page = (uint32_t)(offset >> PAGE_LOG2);
	struct gn_store_status status = {0, 0};
	uint64_t block[PAGE_WORDS];

	if (t->saving[page]++ || t->fetching[page] || t->putting[page])
		blame(t, "a page is changed in the store while it is fetched or written");
	memcpy(block, t->disk[page], sizeof block);
	let_others(t);
	if (suffers(t, SAVE)) {
		status = refusal(page);
	} else {
		memcpy((char *)block + offset % sizeof block, from, bytes);
		memcpy(t->disk[page], block, sizeof block);
	}
	t->saving[page]--;
	return status;
}

#endif
