/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/cache/word.h - the 64-bit word that holds the whole state of a page.
 *
 *   63     62    61     60   59      58       57 .. 42   41 .. 28   27 .. 0
 *   VALID  BUSY  DIRTY  REF  FAILED  PARTIAL  version    pins       payload
 *
 *   VALID   the frame holds the page
 *   BUSY    one thread fetches the page, writes it back, or accesses it in the store
 *   DIRTY   the frame may differ from the store
 *   REF     used since the clock's hand passed
 *   FAILED  the last fetch failed; the pins field holds the reason (gn__word_failed)
 *   PARTIAL the page has a frame that holds some of its sectors; the frame's sector word says which
 *           (detail/cache/sector.h). Has no meaning if VALID is set.
 *   version counts fetches, so that a reader detects that the frame was reused
 *   pins    number of references that keep the page in its frame
 *   payload direct table: the frame; set table: the tag (which page of the set)
 *
 * States, and which thread may change them:
 *
 *   absent (no flag)   -> BUSY              any thread, by compare-and-swap; it becomes the loader
 *   BUSY               -> VALID, pins 1     the loader, when the whole page is fetched (edge R4)
 *                      -> PARTIAL, pins 1   the loader, when it has a frame, if the page is fetched by
 *                                           sectors (edge R4)
 *                      -> FAILED | absent   the loader
 *   VALID              -> VALID, pins +- 1  any thread; a pin for writing also sets DIRTY
 *   VALID, pins 0      -> VALID | BUSY      if DIRTY: any thread that needs a frame; it becomes the evictor
 *                      -> absent            if clean: any thread that needs a frame; in a set table the word
 *                                           becomes BUSY for the page that takes the way
 *   VALID | DIRTY      -> VALID | BUSY      a thread that flushes; DIRTY stays if there are pins
 *   VALID | BUSY       -> absent | VALID    the evictor (VALID and clean if the set is locked), the flusher
 *   PARTIAL            -> as VALID; and VALID when its last sector has arrived
 *   FAILED             -> BUSY              any thread that tries the fetch again
 *
 * Any thread may set REF by fetch-and-or in any state.
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
/* A word with none of these flags: its page is absent (direct table), or it has no page (set table). */
static const uint64_t GN__WORD_USED = 3ull << 62 | 3ull << 58;
/* The page has a frame. */
static const uint64_t GN__WORD_HELD = 1ull << 63 | 1ull << 58;
/* gn__word_validate_whole: the bits that must be equal in the two loads of the word. */
static const uint64_t GN__WORD_SAME = 1ull << 63 |
                                      ((1ull << GN__WORD_VERSION_BITS) - 1) << GN__WORD_VERSION_SHIFT |
                                      ((1ull << GN__WORD_PAYLOAD_BITS) - 1);

/*
 * Is a page that was VALID or PARTIAL still in the same frame?
 * @seen  the word when it was loaded first
 * @now   the word when it was loaded again
 */
SIMT_FN int gn__word_validate(uint64_t seen, uint64_t now)
{
	const uint64_t which = GN__WORD_VERSION | GN__WORD_PAYLOAD;

	return now & GN__WORD_HELD && !((seen ^ now) & which);
}

/*
 * gn__word_validate, and also: was the page VALID in both loads, and is REF set? The halves are tested
 * together, because a GPU tests 32 bits at a time.
 * @seen  the word when it was loaded first
 * @now   the word when it was loaded again
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

/* The version field after this word's: one higher, at its place in the word. */
SIMT_FN uint64_t gn__word_next_version(uint64_t word)
{
	return (word + (1ull << GN__WORD_VERSION_SHIFT)) & GN__WORD_VERSION;
}

/*
 * gn__word_failed - a FAILED word with its reason: 3 bits of code and the 11 bits of an NVMe status field.
 * They lie in the pins field, because a FAILED page has no pins.
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
