/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/cache/begun.h - pages whose fetch was begun, and which no thread waits for yet.
 *
 * A ticket is a wish for a pinned page. Its thread asks from time to time, and does other work between. So it
 * must not keep to itself what others may need: a thread that holds a ticket can wait for a page that another
 * thread has begun, and that one for the first thread's page. Therefore:
 *
 *   - A fetch under way lies in a table of the cache, and any thread may end it: the thread that began it,
 *     and every thread that waits for a page, for a frame, or for a place in the table. A thread that waits
 *     looks at its own page and at the others in turn (gn__begun_help).
 *   - Until its bytes are there, the page is BUSY and its frame is taken, as in any fetch. Whoever ends the
 *     fetch publishes the page with a pin for the ticket, or its failure, which the entry keeps for the
 *     ticket.
 *   - A ticket that got no entry, no frame, or has to wait for another thread, holds nothing. It looks again
 *     when it is asked.
 *   - Fewer than half of the slots of a queue pair are lent to such fetches (detail/store/begin.h).
 *
 * A ticket takes clean frames only: to write a page back would take as long as a fetch.
 *
 * The state of an entry, with the entry's generation above it, which changes when it is FREE again:
 *
 *   FREE   -> LOCKED           a thread that begins a fetch
 *   LOCKED -> COMES            the same thread (edge R1)
 *   COMES  -> LOCKED -> COMES  any thread that looks whether the bytes are there (A1, R1)
 *          -> FREE | FAILED    the same: the page is published (R1, pairs with A1 or the ticket's A2)
 *   FAILED -> FREE             the ticket's thread, which has taken the reason
 *
 * No thread waits for a lock: who finds an entry LOCKED goes on.
 */
#ifndef GRAPNEL_CACHE_BEGUN_H
#define GRAPNEL_CACHE_BEGUN_H

#include <grapnel/detail/cache/claim.h>
#include <grapnel/detail/store/begin.h>

enum { GN__BEGUN_FREE, GN__BEGUN_LOCKED, GN__BEGUN_COMES, GN__BEGUN_FAILED };

/* Entries in which a page may lie, side by side. A model of few pages has fewer. */
#ifndef GN__BEGUN_PLACES
#define GN__BEGUN_PLACES 8u
#endif

/* A fetch that was begun. The holder of its lock uses claim and read. */
struct gn_cache_begun {
	uint64_t page;
	uint32_t state; /* generation << 2 | GN__BEGUN_* */
	uint32_t reserved;
	struct gn__claim claim;
	struct gn__store_read read;
};

enum gn__ticket_state {
	GN__TICKET_LATER, /* holds nothing */
	GN__TICKET_COMES, /* entry `at` is its fetch, as long as its generation is the same */
	GN__TICKET_HELD   /* the page is pinned */
};

/* The lanes of a ticket have the same data, deadline, waits, state and status; the first has all members. */
struct gn__ticket {
	uint64_t page;
	uint64_t *word;
	char *data;        /* the page's frame, once it is HELD */
	uint64_t deadline; /* of a ticket that holds nothing; a fetch has its own */
	uint32_t intent;
	uint32_t state; /* enum gn__ticket_state */
	uint32_t at;
	uint32_t generation;
	uint32_t waits;  /* how often it has looked */
	uint32_t waited; /* 1: it has seen the page BUSY, so a failure of that fetch is its own */
	struct gn_store_status status;
};

SIMT_FN struct gn__ticket gn__ticket_init(const struct gn_cache_view *c, uint64_t page, uint32_t intent)
{
	struct gn__ticket t;

	memset(&t, 0, sizeof t);
	t.page = page;
	t.intent = intent;
	t.deadline = simt_clock_ns() + c->wait_ns;
	return t;
}

/* ---- entries ---- */

SIMT_FN uint32_t gn__begun_entries(const struct gn_cache_view *c)
{
	return c->begun_rows * GN__BEGUN_PLACES;
}

SIMT_FN uint32_t gn__begun_first(const struct gn_cache_view *c, uint64_t page)
{
	return gn__stir((uint32_t)page * 0x9e3779b9u) % c->begun_rows * GN__BEGUN_PLACES;
}

/* R1 */
SIMT_FN void gn__begun_set(struct gn_cache_begun *b, uint32_t generation, uint32_t state)
{
	simt_store_release_dev_u32(&b->state, generation << 2 | state);
}

/* Lock a free entry for a page. Returns 1 or 0. */
SIMT_FN int gn__begun_take(const struct gn_cache_view *c, struct gn__ticket *t)
{
	const uint32_t first = gn__begun_first(c, t->page);

	for (uint32_t k = 0; k < GN__BEGUN_PLACES; k++) {
		uint32_t *state = &c->begun[first + k].state;
		const uint32_t seen = simt_load_relaxed_dev_u32(state);

		if ((seen & 3) == GN__BEGUN_FREE &&
		    simt_cas_acquire_dev_u32(state, seen, seen + GN__BEGUN_LOCKED) == seen) {
			t->at = first + k;
			t->generation = seen >> 2;
			return 1;
		}
	}
	return 0;
}

/* The fetch of an entry has ended: publish the page, or why it failed. The caller has locked the entry. */
SIMT_FN void gn__begun_end(const struct gn_cache_view *c, struct gn_cache_begun *b, uint32_t generation,
                           struct gn_store_status status)
{
	gn__claim_publish(c, &b->claim, status);
	if (c->stripe && !status.code) {
		gn__count_u64(&gn__stripe(c)->fetched, 1);
		gn__count_u64(&gn__stripe(c)->fetched_bytes, b->read.move.bytes);
	}
	simt_reduce_add_relaxed_dev_u32(&c->shared->begun, (uint32_t)-1);
	if (status.code)
		gn__begun_set(b, generation, GN__BEGUN_FAILED);
	else
		gn__begun_set(b, generation + 1, GN__BEGUN_FREE);
}

/*
 * Look at one entry for each lane that names one: if its bytes are there, move them into its frame and
 * publish the page. Collective; waits for nothing.
 */
SIMT_NOINLINE_FN void gn__begun_serve(const struct gn_cache_view *c, uint32_t mask, int wants, uint32_t at)
{
	struct gn_cache_begun *b = &c->begun[wants ? at : 0];
	const uint32_t seen = wants ? simt_load_relaxed_dev_u32(&b->state) : 0;
	struct gn_store_status status = {-GN_EAGAIN, 0};
	char *to = 0; /* only who has locked the entry may look at its claim */

	wants = (seen & 3) == GN__BEGUN_COMES &&
	        simt_cas_acquire_dev_u32(&b->state, seen, seen - GN__BEGUN_COMES + GN__BEGUN_LOCKED) ==
	            seen; /* A1 */
	if (wants) {
		status.code = gn__store_read_poll(&gn__segment_of(c, b->claim.page)->store, &b->read);
		status.device = b->read.move.status.device;
		to = gn__frame(c, b->claim.frame);
	}
	if (simt_ballot(mask, wants && !status.code))
		gn__store_read_take(mask, wants && !status.code, &b->read, to);
	if (wants && status.code == -GN_EAGAIN)
		gn__begun_set(b, seen >> 2, GN__BEGUN_COMES);
	else if (wants)
		gn__begun_end(c, b, seen >> 2, status);
}

/* An entry to look at for a thread that waits: that of its page, and the others in turn. */
SIMT_FN uint32_t gn__begun_choose(const struct gn_cache_view *c, uint64_t page, uint32_t waits)
{
	const uint32_t first = gn__begun_first(c, page);

	for (uint32_t k = 0; k < GN__BEGUN_PLACES && !(waits & 1); k++) {
		const struct gn_cache_begun *b = &c->begun[first + k];

		if ((simt_load_relaxed_dev_u32(&b->state) & 3) == GN__BEGUN_COMES &&
		    simt_load_relaxed_dev_u64(&b->page) == page)
			return first + k;
	}
	return (first + waits / 2 + simt_lane()) % gn__begun_entries(c);
}

/*
 * Lanes wait: look whether a fetch has ended that nobody waits for. Collective; waits for nothing. A function
 * of its own, so that gn__claim_round does not save the registers that it needs.
 */
SIMT_NOINLINE_FN void gn__begun_help(const struct gn_cache_view *c, uint32_t mask, int waits, uint64_t page,
                                     uint32_t round)
{
	waits = waits && simt_load_relaxed_dev_u32(&c->shared->begun);
	if (simt_ballot(mask, waits))
		gn__begun_serve(c, mask, waits, waits ? gn__begun_choose(c, page, round) : 0);
}

#endif
