/* SPDX-License-Identifier: Apache-2.0 */
/*
 * back.h - a stale member of a replica is put back while kernels use the replica: the steps on the device.
 *
 * From gn__back_begins on the member gets every write. Then each window with bytes that it missed is copied
 * to it. A write that a copy may have crossed is done again by its thread (detail/store/replica_write.h), so
 * one pass is enough, and no thread need know how many others write. gn__back_ends lets the member be read.
 * The host calls one step at a time.
 */
#ifndef GN_STORE_SET_BACK_H
#define GN_STORE_SET_BACK_H

#include <grapnel/store.h>

struct gn_back {
	struct gn_store_view view;
	uint32_t member;
	uint32_t whole;      /* 1: all bytes are copied; 0: those of regions that it missed */
	const uint32_t *old; /* regions that it missed before the replica was opened; NULL: none */
	char *buffer;        /* a piece a lane */
};

/* Windows of a replica; the host may not reach its health. */
SIMT_FN uint64_t gn__back_windows(const struct gn_store_view *s, uint32_t window_log2)
{
	return (s->capacity_bytes + (1ull << window_log2) - 1) >> window_log2;
}

/*
 * The member is written from now on. Returns 0, or -GN_EBUSY: it is not stale, or another one is being put
 * back.
 */
SIMT_FN int gn__back_begins(const struct gn_store_view *s, uint32_t member)
{
	uint64_t *word = &s->health->turn, before = simt_load_acquire_dev_u64(word), after, seen;

	for (;; before = seen) {
		if (!(before >> member & 1) || gn__turn_back(before))
			return -GN_EBUSY;
		after = (before >> GN__TURN_COUNT) + 1;
		after = after << GN__TURN_COUNT | (uint64_t)(member + 1) << GN__TURN_BACK | (uint32_t)before;
		simt_store_relaxed_dev_u64(&s->health->at, gn__turn_at(after));
		seen = simt_cas_acq_rel_dev_u64(word, before, after); /* R1: at, and the queue pairs */
		if (seen == before)
			return 0;
	}
}

/*
 * The member is read from now on. Returns 0, or -GN_EIO: it has missed a write, and is stale as it was.
 */
SIMT_FN int gn__back_ends(const struct gn_store_view *s, uint32_t member)
{
	uint64_t *word = &s->health->turn, before = simt_load_acquire_dev_u64(word), seen;

	for (;; before = seen) {
		if (gn__turn_back(before) != 1u << member)
			return -GN_EIO;
		seen = simt_cas_acq_rel_dev_u64(word, before, gn__turn_without(before) & ~(1ull << member));
		if (seen == before)
			return 0;
	}
}

/* It failed no read as far as is known. */
SIMT_FN void gn__back_is_sound(const struct gn_store_view *s, uint32_t member)
{
	uint32_t *word = &s->health->failed, before = simt_load_relaxed_dev_u32(word), seen;

	for (; before >> member & 1; before = seen) {
		seen = simt_cas_acq_rel_dev_u32(word, before, before & ~(1u << member));
		if (seen == before)
			return;
	}
}

/* What the host has found out of members, and tells the device. */
struct gn_back_news {
	uint32_t failed;  /* members that failed a read */
	uint32_t bad, ok; /* those that missed a write, and those that have it; zeros if there was none */
	uint32_t stale;   /* receives the members that are stale then, if some missed it */
	struct gn_store_status why[GN_STORE_MOST_MEMBERS];
};

/* The same swaps as of a thread whose transfers failed. */
SIMT_FN void gn__back_news(const struct gn_store_view *s, struct gn_back_news *news)
{
	for (uint32_t k = 0; k < s->members; k++) {
		if ((news->failed | news->bad) >> k & 1)
			gn__replica_note(s, k, news->why[k]);
		if (news->failed >> k & 1)
			gn__replica_fails(s, k);
	}
	if (news->bad)
		news->stale = gn__replica_misses(s, news->bad, news->ok);
}

/* ---- copying ---- */

SIMT_FN int gn__back_lacks(const struct gn_back *b, uint64_t region)
{
	const uint32_t *missed = b->view.health->missed;
	uint32_t word;

	if (b->whole)
		return 1;
	word = simt_load_relaxed_dev_u32(&missed[region / 32]);
	if (b->old)
		word |= b->old[region / 32];
	return (int)(word >> region % 32 & 1);
}

/* What is copied of a lane's piece: from its first region that the member lacks to its last one. */
SIMT_FN uint32_t gn__back_span(const struct gn_back *b, uint64_t *offset, uint64_t end)
{
	const uint32_t log2 = b->view.health->region_log2;
	uint64_t from = end, to = *offset;

	if (b->whole)
		return *offset < end ? (uint32_t)(end - *offset) : 0;
	for (uint64_t at = *offset; at < end; at = ((at >> log2) + 1) << log2) {
		if (!gn__back_lacks(b, at >> log2))
			continue;
		from = from < at ? from : at;
		to = ((at >> log2) + 1) << log2;
	}
	*offset = from;
	to = to < end ? to : end;
	return from < to ? (uint32_t)(to - from) : 0;
}

SIMT_FN void gn__back_moves_to(const struct gn_store_view *s, uint64_t at)
{
	at += gn__turn_at(simt_load_relaxed_dev_u64(&s->health->turn));
	simt_add_acq_rel_dev_u64(&s->health->at, at - simt_load_relaxed_dev_u64(&s->health->at));
}

/* What became of a lane's copy. */
enum gn_back_end { GN_BACK_COPIED, GN_BACK_CANCELLED, GN_BACK_NOT_READ, GN_BACK_NOT_WRITTEN };

struct gn_back_copy {
	uint32_t bytes;
	enum gn_back_end end;
	struct gn_store_status status;
};

/*
 * Read a lane's bytes from the members that have them, and write them to the one that has not. Cancelled: it
 * is not put back any longer.
 */
SIMT_FN void gn__back_copies(const struct gn_back *b, uint32_t mask, uint64_t offset, struct gn_back_copy *c)
{
	const struct gn_store_view *s = &b->view;
	char *buffer = b->buffer + ((size_t)simt_lane() << s->health->piece_log2);
	struct gn_store_status read, written;
	int wants = c->bytes != 0;

	if (simt_ballot(mask,
	                gn__turn_back(simt_load_relaxed_dev_u64(&s->health->turn)) != 1u << b->member)) {
		c->end = GN_BACK_CANCELLED;
		return;
	}
	read = gn__replica_read(s, mask, wants, offset, buffer, c->bytes);
	wants = wants && !read.code;
	written = gn__store_write_blocks(gn__set_member(s, b->member), gn__set_queues(s), gn__set_mine(s),
	                                 mask, wants, offset, buffer, c->bytes, gn__replica_timeout(s));
	c->status = wants ? written : read;
	if (c->status.code)
		c->end = wants ? GN_BACK_NOT_WRITTEN : GN_BACK_NOT_READ;
}

/* The member is written no more. If it failed itself, why is kept; who could not be read has its own. */
SIMT_FN void gn__back_fails(const struct gn_store_view *s, uint32_t member, const struct gn_back_copy *c)
{
	if (c->end == GN_BACK_NOT_WRITTEN)
		gn__replica_note(s, member, c->status);
	gn__replica_misses(s, 1u << member, ~0u);
}

/*
 * Collective over a whole warp: copy what the member lacks of a window. Each lane learns of its own piece in
 * *c. The window's `at` lets threads see that a copy is under way, before it looks what the member lacks: R2;
 * and that it has ended, after it has written: R3.
 */
SIMT_FN void gn__back_window(const struct gn_back *b, uint64_t window, struct gn_back_copy *c)
{
	const struct gn_store_view *s = &b->view;
	const uint32_t mask = simt_whole_warp(), piece = s->health->piece_log2;
	uint64_t offset = (window << s->health->window_log2) + ((uint64_t)simt_lane() << piece);
	const uint64_t next = offset + (1ull << piece);

	memset(c, 0, sizeof *c);
	if (!simt_lane())
		gn__back_moves_to(s, 2 * window + 1); /* R2 */
	simt_warp_sync(mask);
	c->bytes = gn__back_span(b, &offset, next < s->capacity_bytes ? next : s->capacity_bytes);
	if (simt_ballot(mask, c->bytes != 0))
		gn__back_copies(b, mask, offset, c);
	if (c->status.code)
		gn__back_fails(s, b->member, c);
	simt_warp_sync(mask);
	if (!simt_lane())
		gn__back_moves_to(s, 2 * window + 2); /* R3 */
}

#endif
