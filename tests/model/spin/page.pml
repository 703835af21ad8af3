/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.pml - the states of a page (include/grapnel/detail/cache/word.h) in the direct table: frame.h, claim.h and access.h with
 * every interleaving of their atomic steps.
 *
 * THREADS threads make OPS accesses each to PAGES pages in FRAMES frames: writes, reads with a pin, with two pins, without
 * one, and flushes. Of the transfers, READ_FAILS fetches and WRITE_FAILS write-backs fail; when is up to Spin. The
 * value of a page is the number of writes to it. What must hold (the numbers are those of cache.h):
 *   1  one fetch of a page at a time, and none while its frame is written to the store
 *   2  under a pin, and in a read without one that was validated, the frame holds the page, no older than the access
 *   3  a page that is absent has all its writes in the store; after a flush that returned 0 so has the page flushed
 *   4  everybody ends, though pins are held while another page is missed: Spin reports a state in which nobody can
 *      go on. Polls that would change nothing block; where the code polls for a deadline, it is taken to be far off.
 *   6  an access fails only if the fetch it made or waited for failed
 *
 * A load of the word with the compare-and-swap that looks again is one step. REF, which only says whom to evict, is left
 * to chance.
 *
 * A frame that was taken from a page keeps that page as its owner until the next one is there: owners are hints.
 *
 * Mutants, each of which Spin must refuse: EVICT_PINNED, NO_SECOND_LOOK, SAME_VERSION, NO_WRITE_BACK, FORGET_FAILURE,
 * FLUSH_FORGETS, TWO_LOADERS, WAIT_FOR_PINNED, HIT_WHILE_BUSY, CLEAN_STAYS.
 */
#ifndef THREADS
#define THREADS 2
#endif
#ifndef OPS
#define OPS 2
#endif
#ifndef PAGES
#define PAGES 2
#endif
#ifndef FRAMES
#define FRAMES 1
#endif
#ifndef READ_FAILS
#define READ_FAILS 1
#endif
#ifndef WRITE_FAILS
#define WRITE_FAILS 1
#endif

#define FREE 254
#define CLAIMED 255
#define NOBODY 253
#define VERSIONS 8

/* The word of a page, and the owner of a frame. */
bit valid[PAGES], busy[PAGES], dirty[PAGES], failed[PAGES];
byte pins[PAGES], version[PAGES], frame_of[PAGES];
byte owner[FRAMES];

/* What lies where. */
byte frame_page[FRAMES], frame_value[FRAMES];
byte stored[PAGES];

/* Bounds, and what is only there to be checked. */
byte read_fails = READ_FAILS, write_fails = WRITE_FAILS, finished;
byte latest[PAGES];
bit fetching[PAGES], writing[PAGES];

#ifdef SAME_VERSION
#define NEXT_VERSION(v) (v)
#else
#define NEXT_VERSION(v) (((v) + 1) % VERSIONS)
#endif

/* A frame that somebody is working on. */
#define MOVING(f) (owner[f] == CLAIMED || (owner[f] != FREE && (busy[owner[f]] || !valid[owner[f]] || frame_of[owner[f]] != f)))
#if FRAMES > 1
#define ALL_MOVE (MOVING(0) && MOVING(1))
#else
#define ALL_MOVE MOVING(0)
#endif

/* Write the page in frame f to the store; ok says whether it got there. */
inline write_page(p, f)
{
	atomic { assert(!fetching[p] && !writing[p]); assert(frame_page[f] == p); writing[p] = 1; value = frame_value[f] };
	if
	:: atomic { stored[p] = value; writing[p] = 0; value = 0; ok = 1 }
	:: atomic { write_fails > 0 -> write_fails--; writing[p] = 0; value = 0; ok = 0 }
	fi
}

/* The page has no frame. */
#define LEAVE(o) valid[o] = 0; busy[o] = 0; dirty[o] = 0; pins[o] = 0; frame_of[o] = 0

/*
 * gn__take_frame, gn__take_from: afterwards got says if frame f is ours, moving that it may settle. A clean page goes in one
 * step, a dirty one (victim) is held while it is written.
 */
inline take(f)
{
	o = owner[f];
	if
	:: o == CLAIMED -> moving = 1
	:: o == FREE ->
		atomic {
			if
			:: owner[f] == FREE -> owner[f] = CLAIMED; got = 1
			:: else -> moving = 1
			fi
		}
	:: else ->
		atomic {
			if
			:: !valid[o] || busy[o] || frame_of[o] != f -> moving = 1; o = 0
#ifndef EVICT_PINNED
			:: !(!valid[o] || busy[o] || frame_of[o] != f) && (pins[o] || (dirty[o] && clean_only)) -> o = 0
			:: !(!valid[o] || busy[o] || frame_of[o] != f || pins[o] || (dirty[o] && clean_only)) ->
#else
			:: !(!valid[o] || busy[o] || frame_of[o] != f || (dirty[o] && clean_only)) ->
#endif
				got = 1;
				if
				:: dirty[o] -> busy[o] = 1; victim = 1
#ifdef CLEAN_STAYS
				:: !dirty[o] -> o = 0
#else
				:: !dirty[o] -> LEAVE(o); o = 0
#endif
				fi
			fi
		};
		if
		:: victim ->
#ifdef NO_WRITE_BACK
			ok = 1;
#else
			write_page(o, f);
#endif
#ifdef FORGET_FAILURE
			ok = 1;
#endif
			if
			:: !ok -> atomic { busy[o] = 0; clean_only = 1; got = 0; victim = 0; o = 0 }
			:: else -> atomic { LEAVE(o); ok = 0; victim = 0; o = 0 } /* gn__detach */
			fi
		:: else
		fi
	fi
}

/* gn__claim_seek and what it asks for. result: 0 pinned, 1 no frame (the page is held), 2 failed */
inline pin(p, write)
{
	atomic { waited = 0; result = 3 };
	do
	:: atomic { valid[p] && (!busy[p]
#ifdef HIT_WHILE_BUSY
		|| 1
#endif
		) -> pins[p]++; dirty[p] = dirty[p] | write; result = 0 };
		break
	:: atomic { busy[p] && !waited -> waited = 1 }; !busy[p]
	:: atomic { busy[p] && waited -> skip }; !busy[p]
	:: atomic { failed[p] && !busy[p] && waited -> result = 2 };
		break
#ifdef TWO_LOADERS
	:: atomic { !valid[p] && !(failed[p] && waited) -> busy[p] = 1; failed[p] = 0 };
#else
	:: atomic { !valid[p] && !busy[p] && !(failed[p] && waited) -> busy[p] = 1; failed[p] = 0 };
#endif
		load(p, write);
		break
	od;
	waited = 0
}

/* Find a frame for a page that is held, and fetch it. */
inline load(p, write)
{
	do
	:: atomic { true -> moving = 0; got = 0; f = 0 };
		do
		:: f < FRAMES ->
			take(f);
			if
			:: got -> break
			:: else -> f++
			fi
		:: else -> break
		od;
		if
		:: got -> break
		:: !got && moving -> !ALL_MOVE /* and look again */
#ifdef WAIT_FOR_PINNED
		:: !got && !moving -> skip
#else
		:: !got && !moving -> result = 1; break
#endif
		fi
	od;
	if
	:: got -> fetch(p, write)
	:: else
	fi;
	atomic { got = 0; moving = 0; f = 0; clean_only = 0 }
}

/* gn__read_page, in two steps so that a half-written frame can be seen; gn__claim_publish */
inline fetch(p, write)
{
	atomic { assert(!fetching[p] && !writing[p]); fetching[p] = 1; frame_page[f] = NOBODY };
	atomic { frame_page[f] = p; frame_value[f] = stored[p]; fetching[p] = 0 };
	if
	:: owner[f] = p;
		atomic {
			valid[p] = 1; busy[p] = 0; failed[p] = 0; dirty[p] = write; pins[p] = 1; frame_of[p] = f;
			version[p] = NEXT_VERSION(version[p]);
			result = 0
		}
	:: atomic { read_fails > 0 -> read_fails--; owner[f] = FREE };
		atomic { busy[p] = 0; failed[p] = 1; version[p] = NEXT_VERSION(version[p]); result = 2 }
	fi
}

inline unpin(p)
{
	atomic { assert(pins[p] > 0); pins[p]-- }
}

#define DROP(p) busy[p] = 0

/* Invariant 2 for a page that is pinned. */
#define HOLDS(p) (valid[p] && frame_page[frame_of[p]] == p && frame_value[frame_of[p]] == latest[p])

/* gn__access_alone: around the cache when there is no frame, with the page held. */
inline access_write(p)
{
	pin(p, 1);
	if
	:: result == 0 ->
		atomic { assert(HOLDS(p)); frame_value[frame_of[p]]++; latest[p]++ };
		unpin(p)
	:: result == 1 ->
		value = stored[p];
		atomic { assert(!fetching[p] && !writing[p]); assert(stored[p] == value && value == latest[p]);
			 stored[p] = value + 1; latest[p]++; value = 0 };
		DROP(p)
	:: result == 2
	fi
}

inline access_read(p)
{
	since = latest[p];
	pin(p, 0);
	if
	:: result == 0 ->
		assert(HOLDS(p));
		unpin(p)
	:: result == 1 ->
		DROP(p);
		assert(stored[p] >= since) /* gn__request_bypass */
	:: result == 2 -> assert(read_fails < READ_FAILS)
	fi
}

/* A pin held while the other page is wanted. */
inline access_two(p)
{
	pin(p, 0);
	if
	:: result == 0 ->
		other = 1 - p;
		access_write(other);
		other = 0;
		assert(HOLDS(p));
		unpin(p)
	:: result == 1 -> DROP(p)
	:: result == 2
	fi
}

/* Word, data, word again; anything else than the same word goes the pinned way, which is not this access's matter. */
inline access_optimistic(p)
{
	if
	:: atomic { valid[p] && !busy[p] -> since = latest[p]; seen_version = version[p]; f = frame_of[p] };
		o = frame_page[f];
		value = frame_value[f];
		atomic {
			if
#ifdef NO_SECOND_LOOK
			:: true
#else
			:: valid[p] && version[p] == seen_version && frame_of[p] == f
#endif
				-> assert(o == p); assert(value >= since && value <= latest[p])
			:: else
			fi;
			o = 0; f = 0; value = 0; seen_version = 0
		}
	:: else
	fi
}

/* gn_cache_flush_frame */
inline access_flush(x)
{
	o = owner[x];
	if
	:: o >= CLAIMED || o == FREE
	:: else ->
		do
		:: atomic { !valid[o] || !dirty[o] || frame_of[o] != x -> o = 0 }; break
		:: atomic { valid[o] && dirty[o] && frame_of[o] == x && busy[o] -> skip }; !busy[o]
		:: atomic { valid[o] && dirty[o] && frame_of[o] == x && !busy[o] ->
			busy[o] = 1;
#ifdef FLUSH_FORGETS
			dirty[o] = 0;
#else
			dirty[o] = (pins[o] > 0);
#endif
			since = latest[o]
		   };
			write_page(o, x);
			if
			:: ok -> assert(stored[o] >= since)
			:: else -> dirty[o] = 1
			fi;
			atomic { busy[o] = 0; ok = 0; o = 0 };
			break
		od
	fi
}

proctype thread()
{
	byte k, p, other, result;
	byte f, o, value, since, seen_version;
	bit waited, moving, got, ok, clean_only, victim;

	do
	:: k < OPS ->
		if
		:: p = 0
		:: p = 1
		fi;
		if
		:: access_write(p)
		:: access_read(p)
		:: access_two(p)
		:: access_optimistic(p)
		:: access_flush(0)
		fi;
		atomic { k++; p = 0; result = 0; since = 0 }
	:: else -> break
	od;
	finished++
}

/* In the end no write is lost, and nothing is held. */
proctype judge()
{
	byte p;

	finished == THREADS;
	for (p : 0 .. PAGES - 1) {
		assert(!busy[p] && (failed[p] || pins[p] == 0));
		assert((valid[p] && HOLDS(p) && (dirty[p] || stored[p] == latest[p])) ||
		       (!valid[p] && stored[p] == latest[p]))
	}
	finished++
}

init {
	byte i;

	atomic {
		for (i : 0 .. FRAMES - 1) {
			owner[i] = FREE;
			frame_page[i] = NOBODY
		}
		for (i : 1 .. THREADS) {
			run thread()
		}
		run judge();
		i = 0
	}
}

ltl everybody_ends { <> (finished == THREADS + 1) }
