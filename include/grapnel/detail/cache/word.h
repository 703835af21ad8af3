/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/cache/word.h - the one word that decides everything about a page.
 *
 *   63     62    61     60   59      58       57 .. 42   41 .. 28   27 .. 0
 *   VALID  BUSY  DIRTY  REF  FAILED  PARTIAL  version    pins       payload
 *
 *   VALID   the frame holds the page
 *   BUSY    one thread works on the page: fetches it, writes it back, or goes around the cache
 *   DIRTY   the frame may differ from the store
 *   REF     used since the clock's hand passed
 *   FAILED  the last fetch failed; pins then hold why
 *   PARTIAL the page has its frame, which holds some sectors of it; which, says the frame's sector word
 *           (detail/cache/sector.h). Means nothing once the page is VALID.
 *   version counts fetches, so that a reader notices when the frame was reused under it
 *   pins    references that keep the frame
 *   payload direct table: the frame; set table: the tag (which page of the set's)
 *
 * States, and who may leave them:
 *
 *   absent (no flag)   -> BUSY              anyone, by compare-and-swap: the loader
 *   BUSY               -> VALID, pins 1     the loader, when the whole page is fetched (edge R4)
 *                      -> PARTIAL, pins 1   the loader, when it has a frame, if the page comes by sectors
 *                                           (edge R4)
 *                      -> FAILED | absent   the loader
 *   VALID              -> VALID, pins +- 1  anyone; adding a pin for writing sets DIRTY
 *   VALID, pins 0      -> VALID | BUSY      anyone who needs a frame, if DIRTY: the evictor
 *                      -> absent            the same, if clean; in a set table BUSY, for the page that takes
 *                                           its way
 *   VALID | DIRTY      -> VALID | BUSY      anyone who flushes; DIRTY stays if there are pins
 *   VALID | BUSY       -> absent | VALID    the evictor (in a set that is locked: VALID, clean) or flusher
 *   PARTIAL            -> as VALID; and VALID when its last sector has come
 *   FAILED             -> BUSY              anyone: the next try
 *
 * Setting REF by fetch-and-or is allowed in any state.
 */
#ifndef GRAPNEL_CACHE_WORD_H
#define GRAPNEL_CACHE_WORD_H

#include <grapnel/error.h>
#include <grapnel/simt.h>

enum {
	GN__WORD_PAYLOAD_BITS = 28,
	GN__WORD_PIN_BITS = 14,
	GN__WORD_VERSION_BITS = 16,
	GN__WORD_PIN_SHIFT = GN__WORD_PAYLOAD_BITS,
	GN__WORD_VERSION_SHIFT = GN__WORD_PIN_SHIFT + GN__WORD_PIN_BITS
};

static const uint64_t GN__WORD_VALID = 1ull << 63;
static const uint64_t GN__WORD_BUSY = 1ull << 62;
static const uint64_t GN__WORD_DIRTY = 1ull << 61;
static const uint64_t GN__WORD_REF = 1ull << 60;
static const uint64_t GN__WORD_FAILED = 1ull << 59;
static const uint64_t GN__WORD_PARTIAL = 1ull << 58;
static const uint64_t GN__WORD_PIN = 1ull << GN__WORD_PIN_SHIFT;
static const uint64_t GN__WORD_PINS = ((1ull << GN__WORD_PIN_BITS) - 1) << GN__WORD_PIN_SHIFT;
static const uint64_t GN__WORD_VERSION = ((1ull << GN__WORD_VERSION_BITS) - 1) << GN__WORD_VERSION_SHIFT;
static const uint64_t GN__WORD_PAYLOAD = (1ull << GN__WORD_PAYLOAD_BITS) - 1;
/* A word in use belongs to a page; a reader's two looks must agree in GN__WORD_SAME. */
static const uint64_t GN__WORD_USED = 3ull << 62 | 3ull << 58;
/* The page has a frame. */
static const uint64_t GN__WORD_HELD = 1ull << 63 | 1ull << 58;
static const uint64_t GN__WORD_SAME = 1ull << 63 |
                                      ((1ull << GN__WORD_VERSION_BITS) - 1) << GN__WORD_VERSION_SHIFT |
                                      ((1ull << GN__WORD_PAYLOAD_BITS) - 1);

/*
 * Is a page that was in its frame, whole or in parts, still the same and there?
 * @now  the word, looked at again
 */
SIMT_FN int gn__word_validate(uint64_t seen, uint64_t now)
{
	const uint64_t which = GN__WORD_VERSION | GN__WORD_PAYLOAD;

	return now & GN__WORD_HELD && !((seen ^ now) & which);
}

/*
 * Was a page there as a whole, marked as used, and in the same frame all the time? What gn__word_validate
 * asks and two flags
 * more, in one test of a processor that tests 32 bits at a time. @now  the word, looked at again
 */
SIMT_FN int gn__word_validate_whole(uint64_t seen, uint64_t now)
{
	const uint64_t wanted = GN__WORD_VALID | GN__WORD_REF;
	const uint32_t low = (uint32_t)(seen ^ now) & (uint32_t)GN__WORD_SAME;
	const uint32_t high = (uint32_t)(seen >> 32 ^ now >> 32) & (uint32_t)(GN__WORD_SAME >> 32);

	return !(low | high | (~(uint32_t)(now >> 32) & (uint32_t)(wanted >> 32)));
}

SIMT_FN uint32_t gn__word_payload(uint64_t word)
{
	return (uint32_t)(word & GN__WORD_PAYLOAD);
}

SIMT_FN uint32_t gn__word_pins(uint64_t word)
{
	return (uint32_t)((word & GN__WORD_PINS) >> GN__WORD_PIN_SHIFT);
}

/* The version after this word's, in place. */
SIMT_FN uint64_t gn__word_next_version(uint64_t word)
{
	return (word + (1ull << GN__WORD_VERSION_SHIFT)) & GN__WORD_VERSION;
}

/*
 * gn__word_failed - a FAILED word with its reason: 3 bits of code and the 11 bits of an NVMe status field, in
 * the place of the pins, which such a word has none of.
 */
SIMT_FN uint64_t gn__word_failed(uint64_t version, uint32_t payload, int code, uint32_t device)
{
	uint64_t kind = code == -GN_ETIMEDOUT ? 1 : code == -GN_EBUSY ? 2 : 0;

	return GN__WORD_FAILED | (version & GN__WORD_VERSION) |
	       (kind | (uint64_t)(device & 0x7ff) << 3) << GN__WORD_PIN_SHIFT | payload;
}

SIMT_FN int gn__word_failed_code(uint64_t word)
{
	uint32_t kind = gn__word_pins(word) & 7;

	return kind == 1 ? -GN_ETIMEDOUT : kind == 2 ? -GN_EBUSY : -GN_EIO;
}

SIMT_FN uint32_t gn__word_failed_device(uint64_t word)
{
	return gn__word_pins(word) >> 3;
}

#endif
