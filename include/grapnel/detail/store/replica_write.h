/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/store/replica_write.h - writes of a replica, also while a member is put back (src/store/set/back.h).
 */
#include <grapnel/store.h> /* before the guard, because it includes this file */
#ifndef GRAPNEL_STORE_REPLICA_WRITE_H
#define GRAPNEL_STORE_REPLICA_WRITE_H

/*
 * The word `at` before the first window. The number of members that were put back is in its upper bits, too:
 * else a thread could find the word as it is for the next member, and miss that a copy of this one has gone
 * by.
 */
SIMT_FN uint64_t gn__turn_at(uint64_t turn)
{
	return turn >> GN__TURN_COUNT << 44;
}

/*
 * Set the bits of some bytes in a map of regions. The bits order nothing: they are looked at when the program
 * has closed the replica, or has ended.
 */
SIMT_FN void gn__replica_log(uint32_t *map, uint32_t region_log2, uint64_t offset, uint64_t bytes)
{
	const uint64_t last = (offset + bytes - 1) >> region_log2;

	for (uint64_t k = offset >> region_log2; k <= last; k++) {
		uint32_t *word = &map[k / 32], bit = 1u << k % 32;
		uint32_t before = simt_load_relaxed_dev_u32(word), seen;

		for (; !(before & bit); before = seen) {
			seen = simt_cas_acq_rel_dev_u32(word, before, before | bit);
			if (seen == before)
				break;
		}
	}
}

/*
 * A write begins: it is logged before a member gets it. A program that is killed after the post has logged
 * it, because the doorbell is a release.
 */
SIMT_FN void gn__replica_begins(const struct gn_store_view *s, uint64_t offset, uint64_t bytes)
{
	if (s->health->written && bytes)
		gn__replica_log(s->health->written, s->health->region_log2, offset, bytes);
}

/* What became of a write, member for member. */
struct gn__replica_round {
	uint64_t turn, at;             /* when it began */
	uint32_t ok, bad;              /* of the members that get it: have the bytes, have them not */
	struct gn_store_status status; /* the first failure */
};

SIMT_FN void gn__replica_round_begins(const struct gn_store_view *s, struct gn__replica_round *r)
{
	memset(r, 0, sizeof *r);
	r->turn = gn__replica_turn(s);
	if (gn__turn_back(r->turn))
		r->at = simt_load_acquire_dev_u64(&s->health->at); /* A3: of R3 */
}

/* Does this member get the write? */
SIMT_FN int gn__replica_gets(const struct gn__replica_round *r, uint32_t member)
{
	return !(((uint32_t)r->turn & ~gn__turn_back(r->turn)) >> member & 1);
}

/*
 * Does this member get a write of a part of a block? The rest of the block is then read from the member
 * itself. A member that is being put back may have an old rest, until the copying has passed the block. Until
 * then the copy brings it these bytes.
 */
SIMT_FN int gn__replica_gets_few(const struct gn_store_view *s, const struct gn__replica_round *r,
                                 uint32_t member, uint64_t offset)
{
	if (!(gn__turn_back(r->turn) >> member & 1))
		return gn__replica_gets(r, member);
	return r->at > gn__turn_at(r->turn) + 2 * (offset >> s->health->window_log2) + 1;
}

SIMT_FN void gn__replica_wrote(const struct gn_store_view *s, struct gn__replica_round *r, uint32_t member,
                               struct gn_store_status status)
{
	if (!status.code) {
		r->ok |= 1u << member;
		return;
	}
	gn__replica_note(s, member, status);
	r->status = r->bad ? r->status : status;
	r->bad |= 1u << member;
}

/*
 * The write is well if a member that is not stale has the bytes: then all that are not stale have them. What
 * a member lacks is logged; so is what one gets that is being put back, as long as it is. It is logged before
 * a member is stale for it, because from then on that member may be put back.
 */
SIMT_FN struct gn_store_status gn__replica_written(const struct gn_store_view *s, struct gn__replica_round *r,
                                                   uint64_t offset, uint64_t bytes)
{
	struct gn_store_status ok = {0, 0};
	uint32_t stale;

	if ((r->bad || (uint32_t)r->turn) && s->health->missed && bytes)
		gn__replica_log(s->health->missed, s->health->region_log2, offset, bytes);
	stale = r->bad ? gn__replica_misses(s, r->bad, r->ok) : 0;
	return r->bad && !(r->ok & ~stale) ? r->status : ok;
}

/* ---- writes beside gn_store_resync ---- */

/*
 * The member that is being put back holds this write up: the copying of its window does not end. Wait for
 * that, and if it lasts too long do without the member.
 */
SIMT_FN void gn__replica_wait(const struct gn_store_view *s, uint64_t turn, uint64_t at)
{
	const uint64_t deadline = simt_clock_ns() + s->timeout_ns;
	const struct gn_store_status late = {-GN_ETIMEDOUT, 0};
	const uint32_t back = gn__turn_back(turn);

	while (simt_load_acquire_dev_u64(&s->health->at) == at &&
	       gn__turn_back(simt_load_relaxed_dev_u64(&s->health->turn)) == back) {
		if (simt_clock_ns() > deadline) {
			gn__replica_note(s, simt_first_lane(back), late);
			gn__replica_misses(s, back, ~0u);
			return;
		}
		simt_relax();
	}
}

/*
 * May a copy have read these bytes before the write, and write the old ones after it? The copying goes from
 * the first window to the last, so that is known from where it was when the write began and where it is now:
 * it was in the windows whose odd numbers lie between. Add instead of load, so that this thread sees R2 of a
 * window, or that window's copy sees what this thread has written.
 */
SIMT_FN int gn__replica_crossed(const struct gn_store_view *s, const struct gn__replica_round *r,
                                uint64_t offset, uint64_t bytes)
{
	const uint32_t log2 = s->health->window_log2;
	const uint64_t first = gn__turn_at(r->turn) + 2 * (offset >> log2) + 1;
	const uint64_t last = gn__turn_at(r->turn) + 2 * ((offset + bytes - 1) >> log2) + 1;
	const uint64_t from = (r->at | 1) > first ? r->at | 1 : first;
	const uint64_t at = simt_add_acq_rel_dev_u64(&s->health->at, 0); /* A2: of R2 */

	if (from > last || from > at)
		return 0;
	if (at & 1 && at <= last)
		gn__replica_wait(s, r->turn, at);
	return 1;
}

/*
 * Must a write that is well be done again? So it must if a member began to be put back since the write began:
 * that member may lack the bytes, or get old ones over them. A thread that knew of a stale member, or whose
 * write failed at one, has logged the write and adds instead of loads: then the copying begins after this,
 * and sees what this thread has logged, or this thread sees R1.
 */
SIMT_FN int gn__replica_repeats(const struct gn_store_view *s, const struct gn__replica_round *r,
                                uint64_t offset, uint64_t bytes)
{
	const uint64_t now = simt_unlikely((uint32_t)r->turn | r->bad)
	                         ? simt_add_acq_rel_dev_u64(&s->health->turn, 0)
	                         : simt_load_relaxed_dev_u64(&s->health->turn);

	if (simt_unlikely((now ^ r->turn) >> GN__TURN_COUNT))
		return 1;
	return simt_unlikely(gn__turn_back(r->turn)) && gn__replica_crossed(s, r, offset, bytes);
}

SIMT_FN struct gn_store_status gn__replica_write(const struct gn_store_view *s, uint32_t mask, int wants,
                                                 uint64_t offset, const void *from, uint32_t bytes)
{
	struct gn_store_status result = {0, 0}, status;
	struct gn__replica_round r;

	if (wants && gn__replica_refuses(s, offset, bytes))
		result.code = -GN_EINVAL;
	wants = wants && !result.code;
	if (wants)
		gn__replica_begins(s, offset, bytes);
	while (simt_ballot(mask, wants)) {
		gn__replica_round_begins(s, &r);
		for (uint32_t k = 0; k < s->members; k++) {
			const int mine = wants && gn__replica_gets(&r, k);

			if (!simt_ballot(mask, mine))
				continue;
			status =
			    gn__store_write_blocks(gn__set_member(s, k), gn__set_queues(s), gn__set_mine(s),
			                           mask, mine, offset, from, bytes, gn__replica_timeout(s));
			if (mine)
				gn__replica_wrote(s, &r, k, status);
		}
		if (wants) {
			result = gn__replica_written(s, &r, offset, bytes);
			wants = !result.code && gn__replica_repeats(s, &r, offset, bytes);
		}
	}
	return result;
}

SIMT_FN struct gn_store_status gn__replica_write_few(const struct gn_store_view *s, uint64_t offset,
                                                     const void *from, uint32_t bytes)
{
	struct gn_store_status result = {-GN_EINVAL, 0};
	struct gn__replica_round r;

	if (gn__replica_refuses(s, offset, bytes))
		return result;
	gn__replica_begins(s, offset, bytes);
	do {
		gn__replica_round_begins(s, &r);
		for (uint32_t k = 0; k < s->members; k++)
			if (gn__replica_gets_few(s, &r, k, offset))
				gn__replica_wrote(s, &r, k,
				                  gn__store_write_few(gn__set_member(s, k), gn__set_queues(s),
				                                      gn__set_mine(s), offset, from, bytes,
				                                      gn__replica_timeout(s)));
		result = gn__replica_written(s, &r, offset, bytes);
	} while (!result.code && gn__replica_repeats(s, &r, offset, bytes));
	return result;
}

#endif
