/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/store/tier.h - transfers of a tier: memory (the fast level) that keeps lines of a slower store.
 *
 * A line is a power of two of bytes; each transfer lies within one. Lines that may share room are a set of 16
 * ways. A way has a word and room for a line:
 *
 *   word: | line number (40) | pins (12) | ... | REF | DIRTY | BUSY | VALID |
 *
 *   0                   the way is empty
 *   BUSY                the thread that made it so fills the line
 *   VALID               the line is there. Who reads or writes it holds a pin meanwhile
 *   VALID DIRTY         its bytes are newer than those of the slow store
 *   VALID DIRTY BUSY    the thread that made it so writes it to the slow store; nobody gets a pin
 *
 * A line comes into a way only by a thread that holds the set's lock and has seen that no way of the set has
 * it. So a line has one way at most. It leaves when such a thread takes its way for another line; without the
 * lock it leaves when its fetch fails, and by a drop for the host. The lock is held for up to 64 looks at
 * words of the set, never during a transfer; a thread that does not get it tries again. A thread that waits
 * for a line holds none. A way is taken when it has no pin: a dirty one is written first, becomes clean, and
 * is then taken as any other.
 *
 * A line that is fetched is kept here, and stays here when the cache in front takes it: the fast level does
 * not hear of pages that leave that cache clean.
 *
 * A read that finds no way goes around the fast level. The line is not in it, so the slow store has the bytes
 * of the caller's page, and keeps them: a line that comes and leaves meanwhile may be written there with
 * changes of other pages, but nobody changes a page while another reads it (see the cache in front).
 *
 * If a line cannot be written to the slow store it stays dirty, and another way is taken instead. A write of
 * the caller tries each way, and fails when no line of the set can be written. A read takes clean ways alone
 * then; if there is none, it goes around the fast level.
 */
#include <grapnel/store.h> /* before the guard, because it includes this file */
#ifndef GRAPNEL_STORE_TIER_H
#define GRAPNEL_STORE_TIER_H

#include <grapnel/detail/store/plain.h>

#ifndef GN__TIER_WAYS /* tests have fewer */
#define GN__TIER_WAYS 16
#endif

enum {
	GN__TIER_VALID = 1,
	GN__TIER_BUSY = 2,
	GN__TIER_DIRTY = 4,
	GN__TIER_REF = 8, /* used since the hand passed */
	GN__TIER_PIN = 1 << 12,
	GN__TIER_PINS = 0xfff << 12,
	GN__TIER_LINE_SHIFT = 24,
	GN__TIER_LINE_BITS = 40
};

/* What the fast level counts. */
struct gn_tier_counts {
	uint64_t hits, misses; /* transfers that did not have to look for room, or had to */
	uint64_t evictions;    /* lines that left for another, also for one that then could not be fetched */
	uint64_t write_backs;  /* lines that were written to the slow store */
	uint64_t failed;       /* lines that could not be */
};

/* A tier as kernels see it, in device memory. */
struct gn_tier_view {
	struct gn_store_view slow;
	char *fast;     /* [sets * GN__TIER_WAYS] lines */
	uint64_t *word; /* [sets * GN__TIER_WAYS] */
	uint32_t *set;  /* [sets] bit 0: locked; above it: the hand */
	struct gn_tier_counts *counts;
	uint32_t sets; /* 0: there is no fast level */
	uint32_t line_log2;
};

/* ---- places ---- */

SIMT_FN uint64_t gn__tier_line_of(uint64_t word)
{
	return word >> GN__TIER_LINE_SHIFT;
}

/*
 * A line's set. As many lines as there are sets, from a multiple of them on, have one each. The next as many
 * begin elsewhere, so that lines which are as many apart as there are sets do not meet in one.
 */
SIMT_FN uint32_t gn__tier_set(const struct gn_tier_view *t, uint64_t line)
{
	const uint64_t lap = line / t->sets;

	return (uint32_t)((line - lap * t->sets + lap * 40503) % t->sets);
}

SIMT_FN char *gn__tier_room(const struct gn_tier_view *t, uint64_t way)
{
	return t->fast + (way << t->line_log2);
}

/* The bytes of a line: fewer at the end of the store. */
SIMT_FN uint32_t gn__tier_bytes(const struct gn_tier_view *t, uint64_t line)
{
	const uint64_t left = t->slow.capacity_bytes - (line << t->line_log2);

	return left < 1ull << t->line_log2 ? (uint32_t)left : 1u << t->line_log2;
}

/* The way of a set that has a line, and its word; GN__TIER_WAYS if none has it. */
SIMT_FN uint32_t gn__tier_find(const uint64_t *word, uint64_t line, uint64_t *seen)
{
	uint32_t found = GN__TIER_WAYS;

	SIMT_UNROLL
	for (uint32_t k = 0; k < GN__TIER_WAYS; k++) {
		const uint64_t now = simt_load_relaxed_dev_u64(&word[k]);

		if (now && gn__tier_line_of(now) == line) {
			found = k;
			*seen = now;
		}
	}
	return found;
}

/* ---- one lane's transfer ---- */

enum gn__tier_part {
	GN__TIER_NONE,   /* has ended */
	GN__TIER_LOOKS,  /* for the line, or a way for it */
	GN__TIER_PINNED, /* holds a pin of the line's way */
	GN__TIER_WRITES, /* has made a dirty line busy, to write it */
	GN__TIER_FILLS,  /* has taken a way for the line */
	GN__TIER_AROUND  /* reads from the slow store: no way can be had */
};

struct gn__tier_op {
	uint32_t part; /* enum gn__tier_part */
	uint32_t bytes;
	char *memory; /* the caller's */
	uint64_t line, way;
	uint64_t victim;                          /* the line that is written, in GN__TIER_WRITES */
	uint64_t deadline;                        /* of waiting */
	uint32_t inside;                          /* where in the line the bytes begin */
	uint32_t writes;                          /* 1: the caller's bytes come here */
	uint32_t whole;                           /* 1: they are the whole line */
	uint32_t few;                             /* 1: one thread moves up to 16 bytes */
	uint32_t missed;                          /* 1: the line was not there */
	uint32_t failed;                          /* bit k: way k of the set could not be written */
	struct gn_store_status status, unwritten; /* unwritten: of a dirty line that stays in the way */
};

/*
 * Half of a tier's time is for waiting, and for writing lines to the slow store meanwhile. A fourth is for a
 * write that began at the end of it, and a fourth for the command that the caller wants. Lanes of a warp move
 * on together: each also waits for commands of the others.
 */
enum { GN__TIER_TIMES = 4 };

SIMT_FN void gn__tier_ends(struct gn__tier_op *op, struct gn_store_status status)
{
	op->status = status;
	op->part = GN__TIER_NONE;
}

SIMT_FN struct gn__tier_op gn__tier_begin(const struct gn_store_view *s, int wants, uint64_t offset,
                                          void *memory, uint32_t bytes)
{
	const struct gn_store_status refused = {-GN_EINVAL, 0};
	const uint64_t block = s->block_bytes;
	struct gn__tier_op op;

	memset(&op, 0, sizeof op);
	op.line = offset >> s->unit_log2;
	op.inside = (uint32_t)(offset - (op.line << s->unit_log2));
	op.bytes = bytes;
	op.memory = (char *)memory;
	op.deadline = simt_clock_ns() + s->timeout_ns / 2;
	op.part = wants ? GN__TIER_LOOKS : GN__TIER_NONE;
	if (wants && (op.inside + (uint64_t)bytes > 1ull << s->unit_log2 || offset >= s->capacity_bytes ||
	              bytes > (s->capacity_bytes - offset + block - 1) / block * block))
		gn__tier_ends(&op, refused);
	else if (wants)
		op.whole = !op.inside && bytes >= gn__tier_bytes(s->tier, op.line);
	return op;
}

/* Get a pin of a way that has the line. A writer makes the line dirty by the same swap. */
SIMT_FN void gn__tier_pin(const struct gn_tier_view *t, struct gn__tier_op *op, uint64_t way, uint64_t seen)
{
	uint64_t wanted = (seen | GN__TIER_REF) + GN__TIER_PIN;

	if (!(seen & GN__TIER_VALID) || seen & GN__TIER_BUSY || (seen & GN__TIER_PINS) == GN__TIER_PINS)
		return;
	if (op->writes)
		wanted |= GN__TIER_DIRTY;
	if (simt_cas_acquire_dev_u64(&t->word[way], seen, wanted) != seen) /* A1 */
		return;
	op->way = way;
	op->part = GN__TIER_PINNED;
}

/* Is this dirty way worth a write? A write of the caller tries each way of the set, a read only one. */
SIMT_FN int gn__tier_may_write(const struct gn__tier_op *op, uint64_t way)
{
	if (simt_clock_ns() > op->deadline)
		return 0;
	return !op->unwritten.code || (op->writes && !(op->failed >> way % GN__TIER_WAYS & 1));
}

/* Try to take this way for the line, or to make it clean. Returns 1 if it did one of them. */
SIMT_FN int gn__tier_take(const struct gn_tier_view *t, struct gn__tier_op *op, uint64_t way, int again)
{
	const uint64_t seen = simt_load_relaxed_dev_u64(&t->word[way]);
	const int dirty = (seen & GN__TIER_DIRTY) != 0;
	uint64_t wanted = op->line << GN__TIER_LINE_SHIFT | GN__TIER_BUSY;

	if (seen & (GN__TIER_BUSY | GN__TIER_PINS) || (dirty && !gn__tier_may_write(op, way)))
		return 0;
	if (seen & GN__TIER_REF && !again) {
		simt_reduce_and_relaxed_dev_u64(&t->word[way], ~(uint64_t)GN__TIER_REF);
		return 0;
	}
	if (dirty)
		wanted = seen | GN__TIER_BUSY;
	if (simt_cas_acquire_dev_u64(&t->word[way], seen, wanted) != seen) /* A3 */
		return 0;
	op->way = way;
	op->victim = gn__tier_line_of(seen);
	op->part = dirty ? GN__TIER_WRITES : GN__TIER_FILLS;
	if (seen && !dirty)
		simt_reduce_add_relaxed_dev_u64(&t->counts->evictions, 1);
	return 1;
}

/* Could this write of the caller not get rid of any line of the set? */
SIMT_FN int gn__tier_is_stuck(const struct gn_tier_view *t, const struct gn__tier_op *op, uint64_t first)
{
	for (uint32_t k = 0; k < GN__TIER_WAYS; k++) {
		const uint64_t seen = simt_load_relaxed_dev_u64(&t->word[first + k]);

		if ((seen & (GN__TIER_DIRTY | GN__TIER_BUSY | GN__TIER_PINS)) != GN__TIER_DIRTY ||
		    !(op->failed >> k & 1))
			return 0;
	}
	return 1;
}

/*
 * The set is locked, and no way has the line: find one for it, from the hand on. Returns where the next
 * search begins: behind a line that could not be written.
 */
SIMT_FN uint32_t gn__tier_search(const struct gn_tier_view *t, struct gn__tier_op *op, uint64_t first,
                                 uint32_t hand)
{
	for (uint32_t k = 0; k < 2 * GN__TIER_WAYS; k++) {
		const uint32_t at = (hand + k) % GN__TIER_WAYS;

		if (gn__tier_take(t, op, first + at, k >= GN__TIER_WAYS))
			return at + (op->part == GN__TIER_FILLS);
	}
	if (!op->writes)
		op->part = GN__TIER_AROUND;
	else if (gn__tier_is_stuck(t, op, first))
		gn__tier_ends(op, op->unwritten);
	return hand + (op->unwritten.code != 0);
}

/* No way seemed to have the line: look again under the set's lock. */
SIMT_FN void gn__tier_claim(const struct gn_tier_view *t, struct gn__tier_op *op, uint32_t set)
{
	const uint64_t first = (uint64_t)set * GN__TIER_WAYS;
	uint32_t locked = simt_load_relaxed_dev_u32(&t->set[set]), hand = locked >> 1;
	uint64_t seen;

	if (locked & 1 || simt_cas_acquire_dev_u32(&t->set[set], locked, locked | 1) != locked) /* A5 */
		return;
	if (gn__tier_find(&t->word[first], op->line, &seen) == GN__TIER_WAYS) {
		simt_fence_acq_rel_dev(); /* A4, if the line left without the lock */
		op->missed = 1;
		hand = gn__tier_search(t, op, first, hand) % GN__TIER_WAYS;
	}
	simt_store_release_dev_u32(&t->set[set], hand << 1); /* R5 */
}

/* One lane's next step while it has nothing. */
SIMT_FN void gn__tier_look(const struct gn_tier_view *t, struct gn__tier_op *op)
{
	const struct gn_store_status late = {-GN_ETIMEDOUT, 0};
	const uint32_t set = gn__tier_set(t, op->line);
	const uint64_t first = (uint64_t)set * GN__TIER_WAYS;
	uint64_t seen = 0;
	const uint32_t found = gn__tier_find(&t->word[first], op->line, &seen);

	if (found < GN__TIER_WAYS)
		gn__tier_pin(t, op, first + found, seen);
	else
		gn__tier_claim(t, op, set);
	if (op->part == GN__TIER_LOOKS && simt_clock_ns() > op->deadline)
		gn__tier_ends(op, op->unwritten.code ? op->unwritten : late);
}

/* ---- what the lanes do together ---- */

/* Move the bytes of lanes that hold pins, and let these go. */
SIMT_FN void gn__tier_move(const struct gn_tier_view *t, uint32_t mask, struct gn__tier_op *op)
{
	const int mine = op->part == GN__TIER_PINNED;
	const struct gn_store_status ok = {0, 0};
	char *room = gn__tier_room(t, op->way) + op->inside;
	const uint32_t bytes = (op->bytes + 15) & ~15u;

	if (op->few && op->writes)
		gn__store_give(room, op->memory, op->bytes);
	else if (op->few)
		gn__store_take(op->memory, room, op->bytes);
	else
		simt_copy_each(mask, simt_ballot(mask, mine), op->writes ? room : op->memory,
		               op->writes ? op->memory : room, bytes);
	if (!mine)
		return;
	simt_add_release_dev_u64(&t->word[op->way], (uint64_t)0 - GN__TIER_PIN); /* R2 */
	gn__tier_ends(op, ok);
}

/* Write the dirty lines that lanes have made busy. What cannot be written stays dirty. */
SIMT_FN void gn__tier_write_back(const struct gn_tier_view *t, uint32_t mask, struct gn__tier_op *op)
{
	const int mine = op->part == GN__TIER_WRITES;
	const struct gn_store_status status =
	    gn__plain_write(&t->slow, mask, mine, op->victim << t->line_log2, gn__tier_room(t, op->way),
	                    mine ? gn__tier_bytes(t, op->victim) : 0);

	if (!mine)
		return;
	simt_reduce_add_relaxed_dev_u64(status.code ? &t->counts->failed : &t->counts->write_backs, 1);
	simt_and_acq_rel_dev_u64(
	    &t->word[op->way],
	    ~(uint64_t)(status.code ? GN__TIER_BUSY : GN__TIER_BUSY | GN__TIER_DIRTY)); /* R4 */
	if (status.code) {
		op->unwritten = status;
		op->failed |= 1u << op->way % GN__TIER_WAYS;
	}
	op->part = GN__TIER_LOOKS;
}

/* The line is in its way, or could not be fetched. */
SIMT_FN void gn__tier_publish(const struct gn_tier_view *t, struct gn__tier_op *op,
                              struct gn_store_status status)
{
	uint64_t word = op->line << GN__TIER_LINE_SHIFT | GN__TIER_VALID;

	if (op->writes)
		word |= GN__TIER_DIRTY;
	if (!op->whole)
		word += GN__TIER_PIN;
	simt_store_release_dev_u64(&t->word[op->way], status.code ? 0 : word); /* R1 */
	if (status.code || op->whole)
		gn__tier_ends(op, status);
	else
		op->part = GN__TIER_PINNED;
}

/*
 * Fill the ways that lanes have taken. A caller that wants the whole line gets it before the fast level does:
 * the bytes pass the link to the fast level once, not twice. A caller that writes the whole line needs
 * nothing of the slow store.
 */
SIMT_FN void gn__tier_fill(const struct gn_tier_view *t, uint32_t mask, struct gn__tier_op *op)
{
	const int mine = op->part == GN__TIER_FILLS, fetches = mine && !(op->whole && op->writes);
	char *room = gn__tier_room(t, op->way);
	struct gn_store_status status = {0, 0};
	uint32_t bytes = op->bytes, keeps;

	if (mine && !op->whole)
		bytes = gn__tier_bytes(t, op->line);
	if (simt_ballot(mask, fetches))
		status = gn__plain_read(&t->slow, mask, fetches, op->line << t->line_log2,
		                        op->whole ? op->memory : room, bytes);
	keeps = simt_ballot(mask, mine && op->whole && !status.code);
	if (keeps)
		simt_copy_each(mask, keeps, room, op->memory, (bytes + 15) & ~15u);
	if (mine)
		gn__tier_publish(t, op, status);
}

SIMT_FN void gn__tier_pass(const struct gn_tier_view *t, uint32_t mask, struct gn__tier_op *op)
{
	const uint64_t offset = (op->line << t->line_log2) + op->inside;
	struct gn_store_status status;

	if (op->few)
		status = gn__plain_read_few(&t->slow, offset, op->memory, op->bytes);
	else
		status = gn__plain_read(&t->slow, mask, op->part == GN__TIER_AROUND, offset, op->memory,
		                        op->bytes);
	if (op->part == GN__TIER_AROUND)
		gn__tier_ends(op, status);
}

SIMT_FN void gn__tier_count(const struct gn_tier_view *t, uint32_t mask, int wants,
                            const struct gn__tier_op *op)
{
	const uint32_t hits = simt_ballot(mask, wants && !op->missed);
	const uint32_t misses = simt_ballot(mask, wants && op->missed);

	if (simt_lane() != simt_first_lane(mask))
		return;
	if (hits)
		simt_reduce_add_relaxed_dev_u64(&t->counts->hits, simt_popcount(hits));
	if (misses)
		simt_reduce_add_relaxed_dev_u64(&t->counts->misses, simt_popcount(misses));
}

/* The transfers of many lanes, to their ends. */
SIMT_NOINLINE_FN struct gn_store_status gn__tier_do(const struct gn_tier_view *t, uint32_t mask,
                                                    struct gn__tier_op *op)
{
	const int wants = op->part != GN__TIER_NONE;
	uint32_t parts;

	for (;;) {
		if (op->part == GN__TIER_LOOKS)
			gn__tier_look(t, op);
		parts = simt_or_u32(mask, 1u << op->part);
		if (parts == 1u << GN__TIER_NONE)
			break;
		if (!(parts >> GN__TIER_PINNED))
			simt_relax();
		if (parts & 1u << GN__TIER_PINNED)
			gn__tier_move(t, mask, op);
		if (parts & 1u << GN__TIER_WRITES)
			gn__tier_write_back(t, mask, op);
		if (parts & 1u << GN__TIER_FILLS)
			gn__tier_fill(t, mask, op);
		if (parts & 1u << GN__TIER_AROUND)
			gn__tier_pass(t, mask, op);
	}
	gn__tier_count(t, mask, wants, op);
	return op->status;
}

/* One lane's next step of gn__tier_clean, which finds this word. */
SIMT_FN void gn__tier_clean_look(const struct gn_tier_view *t, struct gn__tier_op *op, uint64_t seen,
                                 uint64_t first, uint64_t lines, int drops)
{
	const struct gn_store_status late = {-GN_EAGAIN, 0};
	const int dirty = (seen & GN__TIER_DIRTY) != 0;

	op->victim = gn__tier_line_of(seen);
	if (op->unwritten.code || !(seen & GN__TIER_VALID) || op->victim - first >= lines ||
	    !(dirty || drops))
		gn__tier_ends(op, op->unwritten);
	else if (simt_clock_ns() > op->deadline)
		gn__tier_ends(op, late);
	else if (seen & (GN__TIER_BUSY | GN__TIER_PINS))
		return;
	else if (!dirty)
		simt_cas_acquire_dev_u64(&t->word[op->way], seen, 0);
	else if (simt_cas_acquire_dev_u64(&t->word[op->way], seen, seen | GN__TIER_BUSY) == seen) /* A3 */
		op->part = GN__TIER_WRITES;
}

/*
 * gn__tier_clean - collective: write dirty lines to the slow store, and forget them if the caller wants. For
 * a flush.
 * @wants    1: the lane has a way
 * @way      its way
 * @first, @lines  only if it has a line of these
 * @drops    1: forget the line, too; nobody may use it meanwhile
 * Waits for pins and transfers of other threads, at most half of the tier's time. Returns each lane's status:
 * that of the slow store, or -GN_EAGAIN: others used the line all that time.
 */
SIMT_FN struct gn_store_status gn__tier_clean(const struct gn_store_view *s, uint32_t mask, int wants,
                                              uint64_t way, uint64_t first, uint64_t lines, int drops)
{
	const struct gn_tier_view *t = s->tier;
	struct gn__tier_op op;
	uint32_t parts;

	memset(&op, 0, sizeof op);
	op.way = way;
	op.part = wants ? GN__TIER_LOOKS : GN__TIER_NONE;
	op.deadline = simt_clock_ns() + s->timeout_ns / 2;
	for (;;) {
		const uint64_t seen =
		    op.part == GN__TIER_LOOKS ? simt_load_acquire_dev_u64(&t->word[op.way]) : 0; /* A4 */

		if (op.part == GN__TIER_LOOKS)
			gn__tier_clean_look(t, &op, seen, first, lines, drops);
		parts = simt_or_u32(mask, 1u << op.part);
		if (parts == 1u << GN__TIER_NONE)
			return op.status;
		if (!(parts & 1u << GN__TIER_WRITES)) {
			simt_relax();
			continue;
		}
		parts = op.part;
		gn__tier_write_back(t, mask, &op);
		if (parts == GN__TIER_WRITES &&
		    !drops) /* what is written from now on is not for this flush */
			gn__tier_ends(&op, op.unwritten);
	}
}

/* ---- the four functions of store.h for a store over other stores ---- */

SIMT_NOINLINE_FN struct gn_store_status gn__set_read(const struct gn_store_view *s, uint32_t mask, int wants,
                                                     uint64_t offset, void *to, uint32_t bytes)
{
	struct gn__tier_op op;

	if (!s->tier)
		return gn__plain_read(s, mask, wants, offset, to, bytes);
	if (!s->tier->sets)
		return gn__plain_read(&s->tier->slow, mask, wants, offset, to, bytes);
	op = gn__tier_begin(s, wants, offset, to, bytes);
	return gn__tier_do(s->tier, mask, &op);
}

SIMT_NOINLINE_FN struct gn_store_status gn__set_write(const struct gn_store_view *s, uint32_t mask, int wants,
                                                      uint64_t offset, const void *from, uint32_t bytes)
{
	struct gn__tier_op op;

	if (!s->tier)
		return gn__plain_write(s, mask, wants, offset, from, bytes);
	if (!s->tier->sets)
		return gn__plain_write(&s->tier->slow, mask, wants, offset, from, bytes);
	op = gn__tier_begin(s, wants, offset, (void *)(uintptr_t)from, bytes);
	op.writes = 1;
	return gn__tier_do(s->tier, mask, &op);
}

SIMT_FN struct gn_store_status gn__tier_few(const struct gn_store_view *s, uint64_t offset, void *memory,
                                            uint32_t bytes, uint32_t writes)
{
	struct gn__tier_op op = gn__tier_begin(s, 1, offset, memory, bytes);

	op.writes = writes;
	op.few = 1;
	op.whole = 0;
	return gn__tier_do(s->tier, 1u << simt_lane(), &op);
}

SIMT_NOINLINE_FN struct gn_store_status gn__set_read_few(const struct gn_store_view *s, uint64_t offset,
                                                         void *to, uint32_t bytes)
{
	if (!s->tier)
		return gn__plain_read_few(s, offset, to, bytes);
	if (!s->tier->sets)
		return gn__plain_read_few(&s->tier->slow, offset, to, bytes);
	return gn__tier_few(s, offset, to, bytes, 0);
}

SIMT_NOINLINE_FN struct gn_store_status gn__set_write_few(const struct gn_store_view *s, uint64_t offset,
                                                          const void *from, uint32_t bytes)
{
	const struct gn_store_status read_only = {-GN_EROFS, 0};

	if (s->read_only)
		return read_only;
	if (!s->tier)
		return gn__plain_write_few(s, offset, from, bytes);
	if (!s->tier->sets)
		return gn__plain_write_few(&s->tier->slow, offset, from, bytes);
	return gn__tier_few(s, offset, (void *)(uintptr_t)from, bytes, 1);
}

#endif
