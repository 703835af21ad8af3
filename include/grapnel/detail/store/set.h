/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/store/set.h - transfers of a stripe or a replica: which member's queue pairs have the bytes.
 */
#include <grapnel/store.h> /* before the guard, because it includes this file */
#ifndef GRAPNEL_STORE_SET_H
#define GRAPNEL_STORE_SET_H

/* The queue pairs of a member, those of the host behind those of kernels. */
SIMT_FN uint32_t gn__set_queues(const struct gn_store_view *s)
{
	return s->queue_count + s->host_queues;
}

SIMT_FN const struct gn_nvmeq *gn__set_member(const struct gn_store_view *s, uint32_t member)
{
	return s->queue + (size_t)member * gn__set_queues(s);
}

SIMT_FN uint32_t gn__set_mine(const struct gn_store_view *s)
{
	return simt_processor() % s->queue_count;
}

/* ---- stripe: each byte lies on one member ---- */

/* Where a transfer goes. */
struct gn__stripe_place {
	const struct gn_nvmeq *q; /* the member's queue pairs */
	uint64_t offset;          /* on the member */
	int32_t code;             /* 0, or -GN_EINVAL: the bytes cross from one unit to the next */
};

/*
 * A row of a stripe is a unit of every member. The lanes of a warp may get queue pairs of different members.
 */
SIMT_FN struct gn__stripe_place gn__stripe_find(const struct gn_store_view *s, uint64_t offset,
                                                uint32_t bytes)
{
	const uint64_t unit = offset >> s->unit_log2, row = unit / s->members;
	const uint64_t inside = offset & ((1ull << s->unit_log2) - 1);
	struct gn__stripe_place p;

	p.q = gn__set_member(s, (uint32_t)(unit - row * s->members));
	p.offset = row << s->unit_log2 | inside;
	p.code = inside + bytes > 1ull << s->unit_log2 ? -GN_EINVAL : 0;
	return p;
}

/* The status of a transfer that had no place, or of one that was made. */
SIMT_FN struct gn_store_status gn__set_status(int32_t refused, struct gn_store_status status)
{
	status.code = refused ? refused : status.code;
	return status;
}

SIMT_FN struct gn_store_status gn__stripe_read(const struct gn_store_view *s, uint32_t mask, int wants,
                                               uint64_t offset, void *to, uint32_t bytes)
{
	struct gn__stripe_place p = gn__stripe_find(s, offset, bytes);

	p.code = wants ? p.code : 0;
	return gn__set_status(p.code,
	                      gn__store_move_blocks(&p.q[gn__set_mine(s)], mask, wants && !p.code,
	                                            GN_NVME_READ, p.offset, to, bytes, s->timeout_ns));
}

SIMT_FN struct gn_store_status gn__stripe_write(const struct gn_store_view *s, uint32_t mask, int wants,
                                                uint64_t offset, const void *from, uint32_t bytes)
{
	struct gn__stripe_place p = gn__stripe_find(s, offset, bytes);

	p.code = wants ? p.code : 0;
	return gn__set_status(p.code,
	                      gn__store_write_blocks(p.q, gn__set_queues(s), gn__set_mine(s), mask,
	                                             wants && !p.code, p.offset, from, bytes, s->timeout_ns));
}

/* ---- replica: every member that is not stale has each byte ---- */

SIMT_FN uint32_t gn__replica_all(const struct gn_store_view *s)
{
	return s->members == 32 ? 0xffffffffu : (1u << s->members) - 1;
}

/*
 * The members that miss a write. If a write fails at a member, the writing thread sets the member's bit, and
 * then tells other threads of the bytes by a release. A thread that acquires this sees the bit, too, and does
 * not read the old bytes from that member.
 */
SIMT_FN uint32_t gn__replica_stale(const struct gn_store_view *s)
{
	return simt_load_relaxed_dev_u32(&s->health->stale);
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
 * Add members to a word of the health, but leave one out of it. Returns the word then. If all that were left
 * are bad, the first of these stays: then no two members are read of which one may have bytes that the other
 * has not.
 */
SIMT_FN uint32_t gn__replica_add(const struct gn_store_view *s, uint32_t *word, uint32_t bad)
{
	const uint32_t all = gn__replica_all(s);
	uint32_t before = simt_load_relaxed_dev_u32(word), after, seen;

	for (;;) {
		after = before | bad;
		if (after == all)
			after = all & ~(1u << simt_first_lane(all & ~before));
		if (after == before)
			return before;
		seen = simt_cas_acq_rel_dev_u32(word, before, after);
		if (seen == before)
			return after;
		before = seen;
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
	gn__replica_add(s, &s->health->failed, 1u << member);
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
	uint32_t stale;                /* when it began */
	uint32_t ok, bad;              /* of the others: have the bytes, have them not */
	struct gn_store_status status; /* the first failure */
};

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
 * a member lacks is logged.
 */
SIMT_FN struct gn_store_status gn__replica_written(const struct gn_store_view *s, struct gn__replica_round *r,
                                                   uint64_t offset, uint64_t bytes)
{
	const uint32_t stale = r->bad ? gn__replica_add(s, &s->health->stale, r->bad) : 0;
	struct gn_store_status ok = {0, 0};

	if ((r->bad || r->stale) && s->health->missed && bytes)
		gn__replica_log(s->health->missed, s->health->region_log2, offset, bytes);
	return r->bad && !(r->ok & ~stale) ? r->status : ok;
}

SIMT_FN struct gn_store_status gn__replica_write(const struct gn_store_view *s, uint32_t mask, int wants,
                                                 uint64_t offset, const void *from, uint32_t bytes)
{
	struct gn__replica_round r = {gn__replica_stale(s), 0, 0, {0, 0}};
	struct gn_store_status refused = {0, 0}, status;

	if (wants && gn__replica_refuses(s, offset, bytes))
		refused.code = -GN_EINVAL;
	wants = wants && !refused.code;
	if (wants)
		gn__replica_begins(s, offset, bytes);
	for (uint32_t k = 0; k < s->members; k++) {
		const int mine = wants && !(r.stale >> k & 1);

		if (!simt_ballot(mask, mine))
			continue;
		status = gn__store_write_blocks(gn__set_member(s, k), gn__set_queues(s), gn__set_mine(s),
		                                mask, mine, offset, from, bytes, gn__replica_timeout(s));
		if (mine)
			gn__replica_wrote(s, &r, k, status);
	}
	return refused.code ? refused : gn__replica_written(s, &r, offset, wants ? bytes : 0);
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

SIMT_FN struct gn_store_status gn__replica_write_few(const struct gn_store_view *s, uint64_t offset,
                                                     const void *from, uint32_t bytes)
{
	struct gn__replica_round r = {gn__replica_stale(s), 0, 0, {0, 0}};
	const struct gn_store_status refused = {-GN_EINVAL, 0};

	if (gn__replica_refuses(s, offset, bytes))
		return refused;
	gn__replica_begins(s, offset, bytes);
	for (uint32_t k = 0; k < s->members; k++)
		if (!(r.stale >> k & 1))
			gn__replica_wrote(s, &r, k,
			                  gn__store_write_few(gn__set_member(s, k), gn__set_queues(s),
			                                      gn__set_mine(s), offset, from, bytes,
			                                      gn__replica_timeout(s)));
	return gn__replica_written(s, &r, offset, bytes);
}

#endif
