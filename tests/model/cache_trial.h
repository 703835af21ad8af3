/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_trial.h - what the threads of a cache trial share: a cache of a few frames, a store that checks what
 * it is asked for, and what every element may hold.
 *
 * Pages have four words. A word is an element that one thread writes with increasing numbers, or one that all
 * threads count up as one step. A value says its page, its place and its number; a read must return a number
 * that was not too old when it began, and never another place's. Some pages are one thread's as a whole: it
 * may overwrite them, and what others read in them meanwhile is anybody's guess.
 */
#ifndef GN_TESTS_CACHE_TRIAL_H
#define GN_TESTS_CACHE_TRIAL_H

#include "draw.h"

#include <grapnel/detail/store/begin.h>
#include <grapnel/store.h>

#include <stdalign.h>

enum {
	PAGE_LOG2 = 5,
	PAGE_WORDS = 4,
	MOST_PAGES = 6,
	MOST_FRAMES = 4,
	MOST_WRITERS = 6,
	WIDE = 32, /* lanes of a whole warp */
	MOST_THREADS = WIDE + MOST_WRITERS,
	MOST_STEPS = 8,
	PROCESSORS = 3,                               /* if not all threads are of one */
	MOST_NUMBERS = MOST_WRITERS * MOST_STEPS + 2, /* that one element may be written with */
	ELEMENTS = MOST_PAGES * PAGE_WORDS,
	FOREVER_NS = 400000000, /* 400 000 steps: nobody healthy waits so long */
};

/* One wait for pinned frames: with 16, the few steps of a schedule would hardly lead around the cache. */
#define GN__PIN_WAITS 1u
#define GN__CACHE_GROUPS 4
#define GN__BEGUN_PLACES 2u

/* The cache's calls of a store go to the trial's: the functions of cache_store.h. */
#define gn_store_read_warp trial_read_warp
#define gn_store_write_warp trial_write_warp
#define gn_store_read_thread trial_read_thread
#define gn_store_write_thread trial_write_thread
#define gn__store_load_asked trial_load_asked
#define gn__store_load_lines trial_load_lines
#define gn__store_can_begin trial_can_begin
#define gn__store_read_begin trial_read_begin
#define gn__store_read_poll trial_read_poll
#define gn__store_read_take trial_read_take

/* What a warp moves by one line here, and how many lanes do: so that their fast way is taken, too. */
enum { TRIAL_LINE = 8 };
#define SIMT_LINE TRIAL_LINE
#define GN__FAULT_LANES 2

struct gn_store_view;
struct gn__store_read;
SIMT_FN int trial_can_begin(const struct gn_store_view *s);
SIMT_FN void trial_read_begin(const struct gn_store_view *s, struct gn__store_read *r, uint64_t offset,
                              uint32_t bytes);
SIMT_FN int trial_read_poll(const struct gn_store_view *s, struct gn__store_read *r);
SIMT_FN void trial_read_take(uint32_t mask, int wants, struct gn__store_read *r, void *to);
SIMT_FN struct gn_store_status trial_read_warp(const struct gn_store_view *s, uint32_t mask, int wants,
                                               uint64_t offset, void *to, uint32_t bytes);
SIMT_FN struct gn_store_status trial_write_warp(const struct gn_store_view *s, uint32_t mask, int wants,
                                                uint64_t offset, const void *from, uint32_t bytes);
SIMT_FN struct gn_store_status trial_read_thread(const struct gn_store_view *s, uint64_t offset, void *to,
                                                 uint32_t bytes);
SIMT_FN struct gn_store_status trial_write_thread(const struct gn_store_view *s, uint64_t offset,
                                                  const void *from, uint32_t bytes);
SIMT_FN struct simt__element trial_load_asked(uint32_t mask, uint32_t wants, void *to, const char *from,
                                              uint32_t bytes, struct simt__element ask);
SIMT_FN struct simt__element trial_load_lines(uint32_t mask, uint32_t wants, void *to, const char *from,
                                              struct simt__element ask);

#include <grapnel/array.h>
#include <grapnel/detail/array/gather_few.h>
#include <grapnel/detail/array/recent.h>

enum op {
	OP_READ,
	OP_WRITE,
	OP_CURSOR,
	OP_HALVES,
	OP_LOW, /* write half of a word */
	OP_ADD,
	OP_CAS,
	OP_PREFETCH,
	OP_HOLD,
	OP_HOLD_WRITE,
	OP_HOLD_TWO,
	OP_FLUSH,
	OP_OVERWRITE,
	OP_BEGIN,     /* begin a page, read another, ask */
	OP_BEGIN_TWO, /* begin two, ask for both in turn */
	OP_CANCEL,    /* begin a page, read another, give it up */
	OP_FEW,       /* gather a row of two words as batches of few rows are */
	OPS,
	OP_RECENT = OPS /* in scripts only */
};

enum { SHARED = MOST_THREADS }; /* a page that is nobody's as a whole */

/* What a thread does next; `other` is the page it touches meanwhile, for the OP_HOLDs and OP_BEGINs. */
struct step {
	uint8_t op, page, word, other;
};

/* How often the store fails: the first so many, then so many in a hundred. */
struct fault {
	uint32_t first, percent;
};

enum call { FETCH, PUT, LOAD, SAVE, CALLS };

/*
 * How pages come: those of a store of bytes by sectors, those of a store of blocks as wholes; and reads of
 * the first may go by detail/cache/fault.h.
 */
enum way { BY_SECTORS, BY_BLOCKS, BY_FAULTS };

enum number_state { NEVER, BEGUN, WRITTEN, REFUSED };

struct trial {
	/* the cache */
	struct gn_cache_view cache;
	struct gn_array array;
	struct gn_array halves; /* the same store as 4-byte elements */
	struct gn_failure failure;
	struct gn_cache_shared shared;
	struct gn_cache_statistics stripe[GN_CACHE_STRIPES];
	uint64_t word[MOST_PAGES];
	uint32_t owner[MOST_FRAMES], lock[MOST_FRAMES];
	uint64_t sector[MOST_FRAMES], stream[GN_CACHE_STREAMS];
	struct gn_cache_begun begun[GN__BEGUN_PLACES];
	alignas(16) uint64_t frame[MOST_FRAMES][PAGE_WORDS];

	/* what is tried */
	uint32_t threads;
	uint32_t readers; /* threads that only read: the first so many */
	uint32_t steps[MOST_THREADS];
	struct step step[MOST_THREADS][MOST_STEPS];
	struct fault planned[CALLS];
	uint64_t patience_ns;
	int lingers;          /* transfers wait for others; else these may interrupt them */
	uint32_t sector_log2; /* 0: none */
	enum way way;
	int reads_ahead;
	uint32_t counts;           /* 1: word 0 of the shared pages is counted up by all */
	uint8_t whole[MOST_PAGES]; /* whose page it is, or SHARED */
	uint32_t lot;              /* frames of the hand that are taken at once */
	uint32_t leaders;          /* frames of each group of pages that leads; 0: the clock has one hand */
	/* a thread that writes to a dirty page does not pin it: 1, threads of one processor; 2, one of each
	 */
	uint32_t announces;
	uint32_t hands_began; /* 1: all frames have been given out, and groups have their own */
	uint32_t low_water;
	uint32_t version; /* of all words in the beginning */
	uint64_t seed;

	/* the store, and who uses it */
	alignas(16) uint64_t disk[MOST_PAGES][PAGE_WORDS];
	uint64_t random;
	struct fault fault[CALLS];
	/* a bit for each word that is moved at this moment */
	uint32_t fetching[MOST_PAGES], putting[MOST_PAGES];
	uint32_t saving[MOST_PAGES];
	uint32_t filling[MOST_FRAMES]; /* words, too; and the page that they are of */
	uint32_t filler[MOST_FRAMES];
	uint32_t held[MOST_FRAMES];
	uint64_t landed[GN__BEGUN_PLACES][PAGE_WORDS]; /* in the buffers of reads that were begun */
	uint32_t calls[CALLS], failed[CALLS];
	uint64_t moved[CALLS]; /* bytes, by calls that went well */

	/* what is known of the elements */
	uint8_t number[ELEMENTS][MOST_NUMBERS]; /* enum number_state */
	uint32_t last[ELEMENTS];                /* highest number that was begun */
	uint32_t floor[ELEMENTS];               /* every read that begins now returns at least this number */
	uint32_t overwriting[MOST_PAGES], overwrites[MOST_PAGES]; /* at this moment; ever begun */
	uint32_t errors, finished;
	uint32_t kept_out; /* a hold was refused with the status of other pages' write-backs */
	const char *wrong;
};

#include "trial.h"

SIMT_FN uint64_t trial_value(uint32_t element, uint32_t number)
{
	return (uint64_t)(element + 1) << 32 | number;
}

/* The words of a page that are inside the store: the last page is half a page. */
SIMT_FN uint32_t words_of(const struct trial *t, uint64_t page)
{
	return page + 1 == t->cache.pages ? PAGE_WORDS / 2 : PAGE_WORDS;
}

#endif
