/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.pml - a page in parts (PARTIAL in include/grapnel/cache/word.h, sectors in cache/sector.h): what page.pml leaves out.
 * One page of two sectors in one frame, with every interleaving of the atomic steps of claim.h, access.h and flush.h.
 *
 * THREADS threads take OPS steps each: cover a sector, write in a part of one, read one, evict the page, flush it as a
 * flush does or as the cleaner does. READ_FAILS fills and WRITE_FAILS write-backs fail; when is up to Spin. The value of a
 * sector is the number of writes to it. What must hold:
 *   - who has the page pinned, and does not just cover, finds in its frame what was written last, in every sector
 *   - when the page goes, and in the end, the store has every write that the frame does not keep as dirty
 *   - everybody ends
 *
 * Mutants, each of which Spin must refuse: VALID_BEFORE_BYTES, PARTIAL_IS_VALID, FILL_PINNED, FILL_OVER, FLUSH_CLEANS_PINNED,
 * FLUSH_FORGETS, NO_DIRTY_SECTOR, NO_RESET, VALID_TOO_EARLY, ONE_SECTOR_WRITTEN, FAILED_FILL_COUNTS, FORGET_FAILURE.
 */
#ifndef THREADS
#define THREADS 2
#endif
#ifndef OPS
#define OPS 2
#endif
#ifndef READ_FAILS
#define READ_FAILS 1
#endif
#ifndef WRITE_FAILS
#define WRITE_FAILS 1
#endif

#define GARBAGE 255

/* The page's word; the frame's sector word; what lies where. */
bit valid, partial, busy, dirty;
byte pins;
bit is_valid[2], is_dirty[2];
byte in_frame[2] = GARBAGE, stored[2], latest[2];

byte read_fails = READ_FAILS, write_fails = WRITE_FAILS, finished;

#define HELD (valid || partial)
#define STORE_HAS_ALL (stored[0] == latest[0] && stored[1] == latest[1])
#define HOLDS_ALL (in_frame[0] == latest[0] && in_frame[1] == latest[1])

/* gn__claim_fetch for who covers sector s: nothing is fetched. The frame holds what another page left. */
inline claim_to_cover(s)
{
	assert(STORE_HAS_ALL);
	atomic {
		in_frame[0] = GARBAGE; in_frame[1] = GARBAGE;
#ifndef NO_RESET
		is_valid[0] = 0; is_valid[1] = 0;
#endif
		is_dirty[s] = 1; is_dirty[1 - s] = 0
	};
	atomic { partial = 1; dirty = 1; pins = 1; busy = 0; was_partial = 1; got = 1 }
}

/* gn__claim_fetch, gn_claim_publish */
inline claim_to_fetch(s, writes)
{
	assert(STORE_HAS_ALL);
	in_frame[0] = stored[0];
	in_frame[1] = stored[1];
	atomic {
		is_valid[0] = 0; is_valid[1] = 0;
		is_dirty[0] = writes && s == 0; is_dirty[1] = writes && s == 1
	};
	atomic { valid = 1; dirty = writes; pins = 1; busy = 0; was_partial = 0; got = 1 }
}

#ifdef FILL_OVER
#define MISSING(k) true
#else
#define MISSING(k) !is_valid[k]
#endif

/* gn__claim_fill has the page BUSY; gn_claim_filled */
inline fill(s, writes)
{
	if
	:: MISSING(0) -> in_frame[0] = stored[0]
	:: else
	fi;
	if
	:: MISSING(1) ->
		if
		:: in_frame[1] = stored[1]
		:: atomic { read_fails > 0 -> read_fails--; failed = 1 }
		fi
	:: else
	fi;
#ifdef FAILED_FILL_COUNTS
	failed = 0;
#endif
	if
	:: failed -> atomic { busy = 0; failed = 0 }
	:: else ->
		is_dirty[s] = is_dirty[s] | writes;
		atomic { valid = 1; dirty = dirty | writes; pins++; busy = 0; was_partial = 0; got = 1 }
	fi
}

#ifdef PARTIAL_IS_VALID
#define FITS(covers) HELD
#else
#define FITS(covers) (valid || (partial && covers))
#endif
#ifdef FILL_PINNED
#define MAY_FILL true
#else
#define MAY_FILL (pins == 0)
#endif

/* gn_claim_seek: afterwards got says if the page is pinned, was_partial how. */
inline pin(s, covers, writes)
{
	atomic { got = 0; was_partial = 0 };
	if
	:: atomic { !busy && FITS(covers) -> pins++; dirty = dirty | writes; was_partial = !valid; got = 1 };
#ifndef NO_DIRTY_SECTOR
		is_dirty[s] = is_dirty[s] | writes
#endif
	:: atomic { !busy && HELD && !FITS(covers) && MAY_FILL -> busy = 1 };
		fill(s, writes)
	:: atomic { !busy && !HELD -> busy = 1 };
		if
		:: covers -> claim_to_cover(s)
		:: else -> claim_to_fetch(s, writes)
		fi
	fi
}

inline unpin()
{
	atomic { assert(pins > 0); pins--; got = 0; was_partial = 0 }
}

inline store_sector(s)
{
	atomic { latest[s]++; in_frame[s] = latest[s] }
}

/* gn__covered */
inline covered(s)
{
	atomic {
		is_valid[s] = 1;
#ifdef VALID_TOO_EARLY
		whole = 1
#else
		whole = is_valid[0] && is_valid[1]
#endif
	};
	if
	:: whole -> atomic { valid = 1; whole = 0 }
	:: else
	fi
}

inline cover(s)
{
	pin(s, 1, 1);
	if
	:: got && was_partial ->
#ifdef VALID_BEFORE_BYTES
		covered(s);
		store_sector(s);
#else
		store_sector(s);
		covered(s);
#endif
		unpin()
	:: got && !was_partial ->
		store_sector(s);
		unpin()
	:: else
	fi
}

inline write_part(s)
{
	pin(s, 0, 1);
	if
	:: got ->
		atomic { assert(in_frame[s] == latest[s]); latest[s]++; in_frame[s] = latest[s] };
		unpin()
	:: else
	fi
}

inline read(s)
{
	pin(s, 0, 0);
	if
	:: got ->
		assert(HOLDS_ALL);
		unpin()
	:: else
	fi
}

/* gn__move_of and gn__write_all: dirty sectors, one after the other; failed says if not all got there. */
inline write_back()
{
	if
	:: is_dirty[0] -> stored[0] = in_frame[0]
	:: else
	fi;
	if
#ifdef ONE_SECTOR_WRITTEN
	:: is_dirty[1] && !is_dirty[0] ->
#else
	:: is_dirty[1] ->
#endif
		if
		:: stored[1] = in_frame[1]
		:: atomic { write_fails > 0 -> write_fails--; failed = 1 }
		fi
	:: else
	fi;
#ifdef FORGET_FAILURE
	failed = 0
#endif
}

/* gn__take_from, gn_claim_written, gn__detach */
inline evict()
{
	if
	:: atomic { !busy && HELD && !dirty && pins == 0 -> valid = 0; partial = 0; assert(STORE_HAS_ALL) }
	:: atomic { !busy && HELD && dirty && pins == 0 -> busy = 1 };
		write_back();
		if
		:: failed -> atomic { busy = 0; failed = 0 }
		:: else -> atomic { valid = 0; partial = 0; dirty = 0; busy = 0; assert(STORE_HAS_ALL) }
		fi
	:: else
	fi
}

/* gn__flush_try, gn__flush_write; the cleaner does not want what is pinned */
inline flush(cleaner)
{
	if
	:: atomic { !busy && HELD && dirty && !(cleaner && pins) ->
		busy = 1; pinned = (pins > 0);
#ifdef FLUSH_FORGETS
		dirty = 0
#else
		dirty = pinned
#endif
	   };
		write_back();
		if
		:: failed -> dirty = 1
#ifdef FLUSH_CLEANS_PINNED
		:: !failed -> atomic { is_dirty[0] = 0; is_dirty[1] = 0 }
#else
		:: !failed && !pinned -> atomic { assert(STORE_HAS_ALL); is_dirty[0] = 0; is_dirty[1] = 0 }
		:: !failed && pinned
#endif
		fi;
		atomic { busy = 0; failed = 0; pinned = 0 }
	:: else
	fi
}

proctype thread()
{
	byte k, s;
	bit got, was_partial, whole, failed, pinned;

	do
	:: k < OPS ->
		if
		:: s = 0
		:: s = 1
		fi;
		if
		:: skip; cover(s)
		:: skip; write_part(s)
		:: skip; read(s)
		:: skip; evict()
		:: skip; flush(0)
		:: skip; flush(1)
		fi;
		atomic { k++; s = 0 }
	:: else -> break
	od;
	finished++
}

/* In the end nothing is held, and no write is lost. */
proctype judge()
{
	byte s;

	finished == THREADS;
	assert(!busy && pins == 0);
	for (s : 0 .. 1) {
		assert((HELD && (valid || is_valid[s]) && in_frame[s] == latest[s] &&
			((dirty && is_dirty[s]) || stored[s] == latest[s])) ||
		       ((!HELD || (!valid && !is_valid[s])) && stored[s] == latest[s]))
	}
	finished++
}

init {
	byte i;

	atomic {
		for (i : 1 .. THREADS) {
			run thread()
		}
		run judge();
		i = 0
	}
}

ltl everybody_ends { <> (finished == THREADS + 1) }
