/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.pml - a page in parts (PARTIAL in include/grapnel/detail/cache/word.h, sectors in detail/cache/sector.h): what page.pml leaves out.
 * One page of two sectors in one frame, with every interleaving of the atomic steps of frame.h, claim.h, access.h, flush.h
 * and of detail/cache/fault.h.
 *
 * THREADS threads take OPS steps each: overwrite a sector, write in a part of one, read one with a pin only where it has to be
 * fetched, hold the page, evict it, flush it as a flush does or as the cleaner does. READ_FAILS fetches and WRITE_FAILS
 * write-backs fail; when is up to Spin. The value of a sector is the number of writes to it. While the page is absent its
 * frame has another page, which is whole. What must hold:
 *   - one fetch of a sector at a time, and none beside a write-back of it; it brings what was written last, and goes where
 *     nothing was written
 *   - who writes a part of a sector finds there what was written last, and who holds the page finds that in both
 *   - what is read is not older than what was known when the read began
 *   - when the page goes, and in the end, the store has every write that the frame does not keep as dirty
 *   - everybody ends
 *
 * A set's page that was written back for another may stay, clean (gn__claim_way_written); so may this one.
 *
 * Mutants, each of which Spin must refuse: the names behind #ifdef and #ifndef below.
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
#define VERSIONS 8

/* The page's word; the frame's sector word; what lies where. */
bit valid, partial, busy, dirty;
byte pins, version;
bit is_valid[2] = 1, is_dirty[2];
byte in_frame[2] = GARBAGE, stored[2], latest[2];

/* Only there to be checked, and bounds. */
bit fetching[2], putting[2];
byte read_fails = READ_FAILS, write_fails = WRITE_FAILS, finished;

#define HELD (valid || partial)
#define STORE_HAS_ALL (stored[0] == latest[0] && stored[1] == latest[1])
#define HOLDS_ALL (in_frame[0] == latest[0] && in_frame[1] == latest[1])
#define MOVING(s) (is_dirty[s] && !is_valid[s])

#ifdef SAME_VERSION
#define NEXT_VERSION version
#else
#define NEXT_VERSION (version + 1) % VERSIONS
#endif

/* Fetch one sector of the page; failed says if it is not there. */
inline fetch(s)
{
	atomic { assert(!fetching[s] && !putting[s]); fetching[s] = 1; in_frame[s] = GARBAGE };
	if
	:: atomic { in_frame[s] = stored[s]; assert(stored[s] == latest[s]); fetching[s] = 0 }
	:: atomic { read_fails > 0 -> read_fails--; fetching[s] = 0; failed = 1 }
	fi
}

/* gn__sector_arrive: of who overwrote it, the sector stays dirty. */
inline arrive(s, covers)
{
	atomic {
		is_valid[s] = 1;
		is_dirty[s] = covers;
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

inline unpin()
{
	atomic { assert(pins > 0); pins-- }
}

/* gn__claim_give: the frame, which was another page's, is this page's, in parts; the sector is in motion. */
inline reset(s)
{
#ifdef NO_RESET
	is_dirty[s] = 1
#else
	atomic { is_valid[0] = 0; is_valid[1] = 0; is_dirty[s] = 1; is_dirty[1 - s] = 0 }
#endif
}

#define PUBLISH_SECTORS(writes) atomic { partial = 1; dirty = writes; pins = 1; busy = 0; version = NEXT_VERSION; got = 1; owned = 1 }

inline show_page(s, writes)
{
#ifdef SHOWN_EARLY
	PUBLISH_SECTORS(writes);
	reset(s)
#else
	reset(s);
	PUBLISH_SECTORS(writes)
#endif
}

/* Claim sector s of the page, which is pinned: afterwards owned says if it is to be brought. Who may not wait lets the page go. */
inline claim(s, covers, waits)
{
	do
	:: atomic { is_valid[s] -> owned = 0 }; break
#ifdef CLAIM_NOT_LOOKED_AT
	:: atomic { !is_valid[s] -> is_dirty[s] = 1; owned = 1 }; break
#else
	:: atomic { !is_valid[s] && !is_dirty[s] -> is_dirty[s] = 1; owned = 1 }; break
#ifdef COVER_IGNORES_MOTION
	:: atomic { MOVING(s) && covers -> owned = 1 }; break
#endif
	:: atomic { MOVING(s) && waits -> skip }; !MOVING(s)
	:: atomic { MOVING(s) && !waits -> got = 0 }; unpin(); break
#endif
	od
}

/* Bring an owned sector of the pinned page; a fetch that fails gives sector and page back. */
inline fill(s)
{
#ifdef FILL_VALID_BEFORE_BYTES
	arrive(s, 0);
#endif
	fetch(s);
#ifdef FAILED_FILL_COUNTS
	failed = 0;
#endif
	if
	:: failed ->
#ifndef FAILED_FILL_STAYS
		is_dirty[s] = 0;
#endif
		atomic { failed = 0; got = 0 };
		unpin()
	:: else ->
#ifndef FILL_VALID_BEFORE_BYTES
		arrive(s, 0)
#endif
	fi;
	owned = 0
}

#ifdef TWO_LOADERS
#define ABSENT (!HELD)
#else
#define ABSENT (!busy && !HELD)
#endif
#ifdef PIN_BUSY
#define THERE HELD
#else
#define THERE (!busy && HELD)
#endif

/* Afterwards got says if the page is pinned, and has sector s or is owned to bring it. What is BUSY is left alone. */
inline pin(s, covers, writes, waits)
{
	if
	:: atomic { THERE -> pins++; dirty = dirty | writes; got = 1; whole = valid };
		if
		:: whole -> whole = 0
		:: else -> claim(s, covers, waits)
		fi
	:: atomic { ABSENT -> busy = 1; };
		show_page(s, writes)
	:: atomic { !(THERE) && !(ABSENT) -> skip }
	fi
}

/* gn__sector_dirty, before the bytes */
inline make_dirty(s)
{
#ifndef NO_DIRTY_SECTOR
	is_dirty[s] = 1
#else
	skip
#endif
}

inline store_sector(s)
{
	atomic { latest[s]++; in_frame[s] = latest[s] }
}

/* The quick way (detail/cache/group.h) does not wait, the slow one (claim.h) does. */
inline cover(s, waits)
{
	pin(s, 1, 1, waits);
	if
	:: got && owned ->
#ifdef VALID_BEFORE_BYTES
		arrive(s, 1);
#endif
		atomic { in_frame[s] = GARBAGE };
		store_sector(s);
#ifdef UNPIN_EARLY
		unpin();
#endif
#ifndef VALID_BEFORE_BYTES
#ifdef COVER_CLEAN
		arrive(s, 0);
#else
		arrive(s, 1);
#endif
#endif
#ifndef UNPIN_EARLY
		unpin()
#endif
	:: got && !owned ->
		make_dirty(s);
		store_sector(s);
		unpin()
	:: !got
	fi
}

inline write_part(s)
{
	pin(s, 0, 1, 1);
	if
	:: got && owned -> fill(s)
	:: else
	fi;
	if
	:: got ->
		make_dirty(s);
		atomic { assert(in_frame[s] == latest[s]); latest[s]++; in_frame[s] = latest[s] };
		unpin()
	:: else
	fi
}

/* detail/cache/fault.h, and the snapshot of claim.h: word, sector word, bytes, word again; else a pin and a fetch. */
inline read(s)
{
	if
	:: atomic { HELD -> since = latest[s]; seen = version; whole = valid };
#ifndef SECTOR_NOT_LOOKED_AT
		atomic { whole = whole || is_valid[s] };
#else
		whole = 1;
#endif
		if
		:: whole ->
			value = in_frame[s];
			atomic {
				if
#ifdef NO_SECOND_LOOK
				:: true ->
#else
				:: HELD && version == seen ->
#endif
					assert(value >= since && value <= latest[s])
				:: else
				fi;
				value = 0; whole = 0; seen = 0; since = 0
			}
		:: else -> atomic { since = 0; seen = 0 }
		fi
	:: else ->
		since = latest[s];
		pin(s, 0, 0, 0);
		if
		:: got && owned -> fill(s)
		:: else
		fi;
		if
		:: got ->
			atomic { assert(in_frame[s] >= since && in_frame[s] <= latest[s]); since = 0 };
			unpin()
		:: else -> since = 0
		fi
	fi
}

/* A page reference: of a page that is not there the whole is fetched. */
inline hold()
{
	if
	:: atomic { ABSENT -> busy = 1 };
		fetch(0);
		if
		:: !failed -> fetch(1)
		:: else
		fi;
		if
		:: failed -> atomic { busy = 0; failed = 0 }
		:: else ->
			atomic { is_valid[0] = 1; is_valid[1] = 1; is_dirty[0] = 0; is_dirty[1] = 0 };
			atomic { valid = 1; dirty = 0; pins = 1; busy = 0; version = NEXT_VERSION; got = 1 }
		fi
	:: atomic { THERE -> pins++; got = 1; whole = valid };
		if
		:: whole -> whole = 0
		:: else ->
			claim(0, 0, 1);
			if
			:: owned -> fill(0)
			:: else
			fi;
			if
			:: got -> claim(1, 0, 1)
			:: else
			fi;
			if
			:: got && owned -> fill(1)
			:: else
			fi
		fi
	:: atomic { !(THERE) && !(ABSENT) -> skip }
	fi;
	if
	:: got ->
		assert(HOLDS_ALL);
		unpin()
	:: else
	fi
}

/* One sector of the mask that gn__sector_dirty_of found; failed says if not all got there. */
inline put(s)
{
	atomic { assert(!fetching[s] && !putting[s]); putting[s] = 1; value = in_frame[s] };
	if
	:: atomic { stored[s] = value; putting[s] = 0; value = 0 }
	:: atomic { write_fails > 0 -> write_fails--; putting[s] = 0; value = 0; failed = 1 }
	fi
}

#ifdef MOTION_WRITTEN
#define WRITES(s) is_dirty[s]
#else
#define WRITES(s) is_dirty[s] && is_valid[s]
#endif

/* gn__move_of and gn__move_all */
inline write_back()
{
#ifdef ONE_SECTOR_WRITTEN
	atomic { first = WRITES(0); second = WRITES(1) && !(WRITES(0)) };
#else
	atomic { first = WRITES(0); second = WRITES(1) };
#endif
	if
	:: first -> put(0)
	:: else
	fi;
	if
	:: second && !failed -> put(1)
	:: else
	fi;
#ifdef FORGET_FAILURE
	failed = 0;
#endif
	atomic { first = 0; second = 0 }
}

/* The page leaves its frame, and another page comes there. */
#define LEAVE valid = 0; partial = 0; dirty = 0; busy = 0; assert(STORE_HAS_ALL && pins == 0); \
	in_frame[0] = GARBAGE; in_frame[1] = GARBAGE; is_valid[0] = 1; is_valid[1] = 1; is_dirty[0] = 0; is_dirty[1] = 0

#ifdef EVICT_PINNED
#define MAY_GO (!busy && HELD)
#else
#define MAY_GO (!busy && HELD && pins == 0)
#endif

/* gn__take_from, gn__claim_written, gn__detach, gn__claim_way_written */
inline evict()
{
	if
	:: atomic { MAY_GO && !dirty -> LEAVE }
	:: atomic { MAY_GO && dirty -> busy = 1 };
		write_back();
		if
		:: failed -> atomic { busy = 0; failed = 0 }
		:: !failed -> atomic { LEAVE }
		:: !failed -> atomic { is_dirty[0] = 0; is_dirty[1] = 0 };
			atomic { busy = 0; dirty = 0 }
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
	byte k, s, value, since, seen;
	bit got, owned, whole, failed, pinned, first, second;

	do
	:: k < OPS ->
		if
		:: s = 0
		:: s = 1
		fi;
		if
		:: skip; cover(s, 1)
		:: skip; cover(s, 0)
		:: skip; write_part(s)
		:: skip; read(s)
		:: s == 0; hold()
		:: s == 0; evict()
		:: s == 0; flush(0)
		:: s == 0; flush(1)
		fi;
		atomic { k++; s = 0; got = 0; owned = 0; whole = 0 }
	:: else -> break
	od;
	finished++
}

/* In the end nothing is held or in motion, and no write is lost. */
proctype judge()
{
	byte s;

	finished == THREADS;
	assert(!busy && pins == 0);
	assert(!valid || (is_valid[0] && is_valid[1]));
	for (s : 0 .. 1) {
		assert(!HELD || !MOVING(s));
		assert((HELD && is_valid[s] && in_frame[s] == latest[s] && ((dirty && is_dirty[s]) || stored[s] == latest[s])) ||
		       ((!HELD || !is_valid[s]) && stored[s] == latest[s]))
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
