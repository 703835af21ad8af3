/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/cache/view.h - a cache as its kernels see it: plain data in device memory, made by gn_cache_create.
 */
#ifndef GRAPNEL_CACHE_VIEW_H
#define GRAPNEL_CACHE_VIEW_H

#include <grapnel/detail/cache/word.h>
#include <grapnel/simt.h>
#include <grapnel/store.h>

/* Which page gives its frame to another. */
enum gn_cache_policy { GN_CLOCK, GN_FIFO, GN_RANDOM };

/* How the word of a page is found (detail/cache/table.h). */
enum gn_cache_table {
	GN_TABLE_AUTO,   /* direct while it fits the budget, else sets */
	GN_TABLE_DIRECT, /* one word a page of the stores; any frame may hold any page */
	GN_TABLE_SETS    /* one word a frame; a page may lie in the frames of one set */
};

enum {
	GN_CACHE_STORES = 8,
	GN_CACHE_MOST_WAYS = 16,
	GN_CACHE_STRIPES = 64,
	GN_CACHE_STREAMS = 256,
	GN_CACHE_LOCALS = 64,
	GN_CACHE_ABSENT = 64
};

/*
 * Groups of pages: two or three lead, each by a way of its own, and the others follow (detail/cache/hand.h).
 * A model of few pages has fewer groups.
 */
#ifndef GN__CACHE_GROUPS
#define GN__CACHE_GROUPS 128
#endif

/* The clock's hands: one for each leading group, and one for the groups that follow. */
enum gn_cache_hands { GN_FOLLOWERS, GN_LEAD_ROUND, GN_LEAD_WINDOW, GN_LEAD_AROUND, GN_CACHE_HANDS };

struct gn_cache_begun;

/* Pages of one store in the cache's page numbering. */
struct gn_cache_segment {
	uint64_t first_page;
	uint64_t pages;
	struct gn_store_view store;
};

/* What was done; only counted when options.statistics is set. One stripe a group of processors. */
struct gn_cache_statistics {
	uint64_t hits;   /* accesses that found their page */
	uint64_t misses; /* accesses that did not */
	/* reads from a store: of a page, or of the sectors that one thread claimed of it at once */
	uint64_t fetched;
	uint64_t written;  /* pages written to a store, or their dirty sectors */
	uint64_t evicted;  /* pages whose frame was given to another */
	uint64_t bypassed; /* accesses that went around the cache */
	/* of these pages and sectors; fetched also by reads around the cache, in units of 32 bytes */
	uint64_t fetched_bytes, written_bytes;
	uint64_t pad[8];
};

/*
 * The first write that failed since the host last read it; in pinned memory, so that the host can read it
 * while kernels run.
 */
struct gn_cache_failure {
	uint32_t state; /* 0 none, 1 being written, 2 there */
	int32_t code;   /* negative */
	uint64_t page;
	uint32_t device; /* what the device said: an NVMe status field, or 0 */
	uint32_t count;  /* writes that failed, ever */
	uint32_t kept;   /* of write-backs: pages that could not be written and are in their frames now */
	uint32_t reserved;
};

/*
 * Words that a few processors share, one line for each such group. If all processors shared one word, every
 * miss would wait for it, and three times as long if its place in the device's memory is a busy one.
 */
struct gn_cache_local {
	/* direct table: a lot of the hand's frames: first << 32 | GN__LOT_BEGUN + how many are taken */
	uint64_t lot;
	/* cpu: address of the page's word that a thread writes an element of, or 0 (detail/cache/announce.h)
	 */
	uint64_t writes;
	/* pages fetched ahead since gn__ahead_judge last judged */
	uint32_t ahead;
	uint32_t used;           /* of those, how many a stream came to */
	uint32_t ahead_backoff;  /* misses until fetching ahead is tried again */
	uint32_t clean_backoff;  /* misses until the cleaner looks again */
	uint32_t bypass_backoff; /* reads that miss and do not look for a frame */
	/* 1: a thread has waited for a page that another fetched, since it was last asked */
	uint32_t awaited;
	uint32_t vain;   /* cpu: the round + 1 for which a miss has waited in vain (detail/cache/pace.h) */
	uint32_t missed; /* cpu: the page of the last miss that looked for a stream (detail/cache/ahead.h) */
	uint32_t way;    /* of the followers: that of a leading group; 0 for GN_LEAD_ROUND */
	uint32_t
	    around[2]; /* followers', leading group's misses that go around the cache before one does not */
	uint32_t pad[17];
};

/* Added to what is taken of a lot; below, there has been none yet. */
static const uint32_t GN__LOT_BEGUN = 0x80000000u;

/* Where a hand is, in places. That of GN_LEAD_WINDOW begins again from time to time (gn__duel_halve). */
struct gn_cache_hand {
	uint32_t at; /* places given out: their frames were looked at for eviction */
	uint32_t pad_at[31];
	uint32_t clean; /* places that the cleaner has looked at */
	uint32_t pad_clean[31];
};

/* Words that the threads of a cache share, each on a line of its own but for kept_absent. */
struct gn_cache_shared {
	struct gn_cache_hand hand[GN_CACHE_HANDS]; /* direct table */
	/* for the pages of each leading group, in units of 32 bytes; all are halved from time to time */
	uint32_t moved[GN_CACHE_HANDS];
	uint32_t halvings; /* of these */
	uint32_t pad_moved[31 - GN_CACHE_HANDS];
	uint32_t write_failures; /* write-backs that failed, ever */
	uint32_t begun;          /* fetches that were begun and have not ended (detail/cache/begun.h) */
	struct gn_cache_failure *write_failure; /* the first of them, for gn_cache_write_failure; or NULL */
	uint64_t full; /* bit k: a write to the store of segment k found no room, and none was made since */
	uint32_t pad[26];
	/*
	 * pages for threads that wait to fetch: next << GN__AHEAD_LOG2 | how many; see detail/cache/ahead.h
	 */
	uint64_t offer;
	uint32_t pad_offer[30];
	uint64_t pace; /* cpu: round << 32 | pages fetched in it; see detail/cache/pace.h */
	uint32_t pad_pace[30];
	uint64_t kept_absent[GN_CACHE_ABSENT]; /* sets: see gn__kept_absent */
	struct gn_cache_local local[GN_CACHE_LOCALS];
};

/* A cache as kernels see it. Plain data in device memory; the same on every machine. */
struct gn_cache_view {
	uint64_t *word; /* direct: [pages]; sets: [frames], a set's words side by side */
	/* direct: [frames], the page in each frame, or that left it last, or GN__OWNER_*; else NULL */
	uint32_t *owner;
	uint32_t *lock;   /* sets: [sets], lock in bit 0, hand above; else NULL */
	char *frame;      /* [frames][page size] */
	uint64_t *sector; /* [frames], see detail/cache/sector.h; NULL: pages are written as wholes */
	/*
	 * [frames / 64], bits: the last write-back of the page in this frame failed; NULL: they are not
	 * counted
	 */
	uint64_t *kept;
	/* [GN_CACHE_STREAMS], see detail/cache/ahead.h; NULL: nothing is fetched ahead unasked */
	uint64_t *stream;
	/* [begun_rows][GN__BEGUN_PLACES], see detail/cache/begun.h; NULL: no fetch can be begun */
	struct gn_cache_begun *begun;
	uint64_t pages; /* of all segments */
	uint32_t frames;
	uint32_t page_log2;
	uint32_t sets_log2;
	uint32_t ways;
	uint32_t ways_inverse; /* for gn__preferred_way */
	uint32_t policy;       /* enum gn_cache_policy */
	uint32_t segments;
	uint32_t sector_log2; /* page_log2 where there are no sectors */
	uint32_t resident;    /* threads that the machine runs at once; 0: not known */
	/* frames that processors take from the hand at once; 0 or 1: each from the hand itself */
	uint32_t lot;
	uint32_t leaders;   /* direct table: frames of each group of pages that leads; 0: no group does */
	uint32_t hands;     /* if groups lead: GN_CACHE_HANDS, or GN_LEAD_AROUND if no read can go around */
	uint32_t window;    /* frames of a window of the followers' hand */
	uint32_t laps;      /* of a hand over a window before it goes on */
	uint32_t low_water; /* how far ahead of the hand frames are kept clean; 0: no cleaner */
	uint32_t begun_rows;
	uint32_t
	    announcers; /* cpu: entries of shared->local in use; 0: writes pin (detail/cache/announce.h) */
	uint32_t pace;  /* pages that threads fetch in a round (detail/cache/pace.h); 0: any number */
	uint32_t
	    moved_most;   /* units that pages of the leading group by rounds moved, at which all are halved */
	uint64_t zero;    /* is 0, which no compiler knows: see simt_load_behind_dev_u64 */
	uint64_t wait_ns; /* how long a thread waits for another's work on a page */
	struct gn_cache_shared *shared;
	struct gn_cache_statistics *stripe; /* [GN_CACHE_STRIPES], or NULL: not counted */
	struct gn_cache_segment segment[GN_CACHE_STORES];
};

/* Keep the first failure; later ones are only counted. Any thread. Who counts has kept before. */
SIMT_FN void gn__cache_fail(struct gn_cache_failure *f, uint64_t page, struct gn_store_status status)
{
	if (!simt_load_relaxed_dev_u32(&f->state) && !simt_cas_acq_rel_dev_u32(&f->state, 0, 1)) {
		f->code = status.code;
		f->page = page;
		f->device = status.device;
		simt_store_release_sys_u32(&f->state, 2);
	}
	simt_fence_acq_rel_sys();
	simt_reduce_add_relaxed_dev_u32(&f->count, 1);
}

/* What gn_cache_view.owner says of a frame without a page. */
static const uint32_t GN__OWNER_FREE = 0xffffffffu;
static const uint32_t GN__OWNER_CLAIMED = 0xfffffffeu;

#endif
