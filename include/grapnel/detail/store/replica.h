/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/store/replica.h - which members of a replica are in use, and its reads: every member that is not
 * stale has each byte.
 */
#include <grapnel/store.h> /* before the guard, because it includes this file */
#ifndef GRAPNEL_STORE_REPLICA_H
#define GRAPNEL_STORE_REPLICA_H

/* ---- which members are in use ---- */

SIMT_FN uint32_t gn__replica_all(const struct gn_store_view *s)
{
	return s->members == 32 ? 0xffffffffu : (1u << s->members) - 1;
}

/* Parts of the word `turn` of the health, above the members that are stale. */
enum { GN__TURN_BACK = 32, GN__TURN_COUNT = 38 };

/*
 * The word says which members miss a write. If a write fails at a member, the writing thread sets the
 * member's bit, and then tells other threads of the bytes by a release. A thread that acquires this sees the
 * bit, too, and does not read the old bytes from that member. Once a member has been put back its queue pairs
 * may be others than before: A1 of R1 in gn__replica_back_begins.
 */
SIMT_FN uint64_t gn__replica_turn(const struct gn_store_view *s)
{
	const uint64_t turn = simt_load_relaxed_dev_u64(&s->health->turn);

	return simt_unlikely(turn >> GN__TURN_COUNT) ? simt_load_acquire_dev_u64(&s->health->turn) : turn;
}

SIMT_FN uint32_t gn__replica_stale(const struct gn_store_view *s)
{
	return (uint32_t)gn__replica_turn(s);
}

/* The member that is being put back, as a set of one; or none. */
SIMT_FN uint32_t gn__turn_back(uint64_t turn)
{
	const uint32_t number =
	    (uint32_t)(turn >> GN__TURN_BACK) & ((1u << (GN__TURN_COUNT - GN__TURN_BACK)) - 1);

	return number ? 1u << (number - 1) : 0;
}

/* The same word without that member. */
SIMT_FN uint64_t gn__turn_without(uint64_t turn)
{
	return turn >> GN__TURN_COUNT << GN__TURN_COUNT | (uint32_t)turn;
}

/*
 * The members to read from: those that failed no command, or, if there is none, all that have each byte.
 * @tried  members that are not asked again. 0 if no other is left.
 */
SIMT_FN uint32_t gn__replica_readers(const struct gn_store_view *s, uint32_t tried)
{
	const uint32_t have = gn__replica_all(s) & ~gn__replica_stale(s) & ~tried;
	const uint32_t sound = have & ~simt_load_relaxed_dev_u32(&s->health->failed);

	return sound ? sound : have;
}

/* The members that are out of use: not read as long as others last. */
SIMT_FN uint32_t gn__replica_out(const struct gn_store_view *s)
{
	return gn__replica_all(s) & ~gn__replica_readers(s, 0);
}

/*
 * Add members to a set, but leave one out of it. If all that were left are bad, only the first of these
 * stays. Two bad members may have different bytes, so only one of them is read.
 */
SIMT_FN uint32_t gn__replica_join(const struct gn_store_view *s, uint32_t before, uint32_t bad)
{
	const uint32_t all = gn__replica_all(s);

	return (before | bad) == all ? all & ~(1u << simt_first_lane(all & ~before)) : before | bad;
}

/* A member failed a read. */
SIMT_FN void gn__replica_fails(const struct gn_store_view *s, uint32_t member)
{
	uint32_t *word = &s->health->failed, before = simt_load_relaxed_dev_u32(word), after, seen;

	for (;; before = seen) {
		after = gn__replica_join(s, before, 1u << member);
		if (after == before)
			return;
		seen = simt_cas_acq_rel_dev_u32(word, before, after);
		if (seen == before)
			return;
	}
}

/*
 * Members miss a write, or hold it back: they are stale. Returns those that are stale then.
 * @ok  members that have the bytes
 * A member that is being put back is so no longer if it misses the write. Nor is it if no member has the
 * bytes that is read: it may have them then, and the one that stays may not.
 */
SIMT_FN uint32_t gn__replica_misses(const struct gn_store_view *s, uint32_t bad, uint32_t ok)
{
	uint64_t before = simt_load_relaxed_dev_u64(&s->health->turn), after, seen;
	uint32_t stale;

	for (;; before = seen) {
		stale = gn__replica_join(s, (uint32_t)before, bad);
		after = before >> GN__TURN_BACK << GN__TURN_BACK | stale;
		if (bad & gn__turn_back(before) || !(ok & ~stale))
			after = gn__turn_without(after);
		if (after == before)
			return stale;
		seen = simt_cas_acq_rel_dev_u64(&s->health->turn, before, after);
		if (seen == before)
			return stale;
	}
}

/* Keep why a member fails; for the report only. */
SIMT_FN void gn__replica_note(const struct gn_store_view *s, uint32_t member, struct gn_store_status why)
{
	simt_store_relaxed_dev_u32((uint32_t *)&s->health->why[member].code, (uint32_t)why.code);
	simt_store_relaxed_dev_u32(&s->health->why[member].device, why.device);
}

/* A number below most from the bits of an offset, as a hash table would have it, whatever the stride. */
SIMT_FN uint32_t gn__replica_mix(uint64_t offset, uint32_t most)
{
	uint32_t z = (uint32_t)(offset >> 9 ^ offset >> 41);

	z *= 0x9e3779b1u;
	z ^= z >> 15;
	z *= 0x85ebca77u;
	z ^= z >> 13;
	return (uint32_t)((uint64_t)z * most >> 32);
}

/* One of these members. It is the same one for the same bytes as long as all members last. */
SIMT_FN uint32_t gn__replica_choose(uint32_t members, uint64_t offset)
{
	for (uint32_t skip = gn__replica_mix(offset, simt_popcount(members)); skip; skip--)
		members &= members - 1;
	return members ? simt_first_lane(members) : 0;
}

/* The deadline of one transfer to one member: the store's is for as many as it has. */
SIMT_FN uint64_t gn__replica_timeout(const struct gn_store_view *s)
{
	return s->timeout_ns / s->members;
}

/*
 * No member could do this transfer, so it must not count against one. The last block may reach past the
 * capacity.
 */
SIMT_FN int gn__replica_refuses(const struct gn_store_view *s, uint64_t offset, uint32_t bytes)
{
	const uint64_t mask = s->block_bytes - 1;

	return bytes > s->transfer_bytes || offset >= s->capacity_bytes ||
	       bytes > ((s->capacity_bytes + mask) & ~mask) - offset;
}

/*
 * A read of a member ended with this status. Returns 1 if another is to be asked. A member that fails a read
 * has every write all the same: it is written as before, and read if no other is left.
 */
SIMT_FN int gn__replica_again(const struct gn_store_view *s, uint32_t member, struct gn_store_status status)
{
	if (!status.code)
		return 0;
	gn__replica_note(s, member, status);
	gn__replica_fails(s, member);
	return 1;
}

SIMT_FN struct gn_store_status gn__replica_read(const struct gn_store_view *s, uint32_t mask, int wants,
                                                uint64_t offset, void *to, uint32_t bytes)
{
	struct gn_store_status result = {0, 0}, status;
	uint32_t tried = 0;

	if (wants && gn__replica_refuses(s, offset, bytes))
		result.code = -GN_EINVAL;
	wants = wants && !result.code;
	while (simt_ballot(mask, wants)) {
		const uint32_t left = gn__replica_readers(s, tried);
		const uint32_t member = gn__replica_choose(left, offset);
		const struct gn_nvmeq *q = gn__set_member(s, member) + gn__set_mine(s);

		wants = wants && left;
		status = gn__store_move_blocks(q, mask, wants, GN_NVME_READ, offset, to, bytes,
		                               gn__replica_timeout(s));
		result = wants ? status : result;
		wants = wants && gn__replica_again(s, member, status);
		tried |= 1u << member;
	}
	return result;
}

SIMT_FN struct gn_store_status gn__replica_read_few(const struct gn_store_view *s, uint64_t offset, void *to,
                                                    uint32_t bytes)
{
	struct gn_store_status status = {-GN_EINVAL, 0};
	uint32_t left, member, tried = 0;

	if (gn__replica_refuses(s, offset, bytes))
		return status;
	while ((left = gn__replica_readers(s, tried)) != 0) {
		member = gn__replica_choose(left, offset);
		status = gn__store_read_few(gn__set_member(s, member) + gn__set_mine(s), offset, to, bytes,
		                            gn__replica_timeout(s));
		if (!gn__replica_again(s, member, status))
			break;
		tried |= 1u << member;
	}
	return status;
}

#endif
