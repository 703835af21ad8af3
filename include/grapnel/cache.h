/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.h - pages of one or several stores in frames of fast memory, managed by the threads that use them.
 *
 * What a cache promises:
 *   1. At most one fetch of a page is in flight; everybody else who wants it waits for that one.
 *   2. A frame is never reused while a thread can still read it: it is pinned, or the read is validated behind.
 *   3. A dirty frame's bytes reach the store before the frame is reused; a failed write-back keeps them and is
 *      reported. After gn_cache_flush returned 0, every write before it is in the store.
 *   4. Any number of threads holding any number of pins make progress: where no frame can be had, a scalar access
 *      goes around the cache, and an acquire returns -GN_ENOBUFS.
 *   5. Metadata is at most 2 % of the cache plus options.budget_bytes, whatever the size of the data.
 *   6. A failed fetch gives the waiting threads an error; the next access tries again.
 *
 *   cache/word.h    the state of a page in one word
 *   cache/table.h   from a page to its word: the direct table and the set table
 *   cache/claim.h   how a missing page gets a frame
 *   cache/access.h  the collective operations arrays are built on
 *
 * Sources: BaM section 3.4 (page state, waiting for the one loader), DREAM section 3.3 (pins), design of the
 * two tables: docs/performance.md.
 */
#ifndef GRAPNEL_CACHE_H
#define GRAPNEL_CACHE_H

#include <grapnel/cache/word.h>
#include <grapnel/error.h>
#include <grapnel/simt.h>
#include <grapnel/store.h>

#ifdef __cplusplus
extern "C" {
#endif

enum gn_cache_policy { GN_CLOCK, GN_FIFO, GN_RANDOM };

enum gn_cache_table {
	GN_TABLE_AUTO,   /* direct while it fits the budget, else sets */
	GN_TABLE_DIRECT, /* one word a page of the stores; any frame may hold any page */
	GN_TABLE_SETS    /* one word a frame; a page may lie in the frames of one set */
};

enum { GN_CACHE_STORES = 8, GN_CACHE_MOST_WAYS = 16, GN_CACHE_STRIPES = 64 };

/* Pages of one store in the cache's page numbering. */
struct gn_cache_segment {
	uint64_t first_page;
	uint64_t pages;
	struct gn_store_view store;
};

/* What was done; only counted when options.counters is set. One stripe a group of processors. */
struct gn_cache_stripe {
	uint64_t hits;     /* accesses that found their page */
	uint64_t misses;   /* accesses that did not */
	uint64_t fetched;  /* pages read from a store */
	uint64_t written;  /* pages written to a store */
	uint64_t evicted;  /* pages whose frame was given to another */
	uint64_t bypassed; /* accesses that went around the cache */
	uint64_t fetched_bytes, written_bytes;
	uint64_t pad[8];
};

/* Words that the threads of a cache share, each on a line of its own. */
struct gn_cache_shared {
	uint32_t hand;
	uint32_t pad_hand[31];
	uint32_t write_failures;      /* write-backs that failed, ever */
	int32_t write_failure_code;   /* of the first */
	uint32_t write_failure_device;
	uint32_t flush_failures;      /* of the running flush */
	uint64_t write_failure_page;
	uint32_t pad[26];
};

/* A cache as kernels see it. Plain data in device memory; the same on every machine. */
struct gn_cache_view {
	uint64_t *word;    /* direct: [pages]; sets: [frames], a set's words side by side */
	uint32_t *owner;   /* direct: [frames], the page in each frame, or GN__OWNER_*; else NULL */
	uint32_t *lock;    /* sets: [sets], lock in bit 0, hand above; else NULL */
	char *frame;       /* [frames][page size] */
	uint64_t pages;    /* of all segments */
	uint32_t frames;
	uint32_t page_log2;
	uint32_t sets_log2;
	uint32_t ways;
	uint32_t policy;   /* enum gn_cache_policy */
	uint32_t segments;
	uint64_t wait_ns;  /* how long a thread waits for another's work on a page */
	struct gn_cache_shared *shared;
	struct gn_cache_stripe *stripe; /* [GN_CACHE_STRIPES], or NULL: not counted */
	struct gn_cache_segment segment[GN_CACHE_STORES];
};

enum { GN__OWNER_FREE = 0xffffffffu, GN__OWNER_CLAIMED = 0xfffffffeu };

/* Zero is a good default for every member but bytes. */
struct gn_cache_options {
	uint64_t bytes;             /* of all frames together */
	uint32_t page_bytes;        /* a power of two, 512 to 2 MiB; 0 for 4096 */
	enum gn_cache_policy policy;
	enum gn_cache_table table;
	uint32_t ways;              /* set table: frames a set, 1 to 16; 0 for 8 to 15 as fits best */
	uint64_t budget_bytes;      /* for metadata beyond 2 % of bytes; 0 for 1/64 of the device's memory */
	int counters;               /* 1: count */
};

struct gn_cache;

/*
 * gn_cache_create - make an empty cache in front of stores.
 * @cache    receives it; owned, gn_cache_destroy before its stores are closed
 * @stores, @count  1 to GN_CACHE_STORES; borrowed until destroy
 * A page of a block store must be a multiple of its block size, and its transfers must be able to carry a page.
 * Host. Returns 0, -GN_EINVAL (which option, in words; a cache smaller than one set), -GN_ENOMEM, -GN_EFBIG
 * (the stores have more pages than the table can name: take larger pages or a larger cache).
 */
int gn_cache_create(struct gn_cache **cache, struct simt_machine *machine, struct gn_store *const *stores,
		    unsigned count, const struct gn_cache_options *options, struct gn_error *error);

/*
 * gn_cache_destroy - free the cache. Does NOT flush: dirty pages that were not flushed are lost; whoever
 * writes calls gn_cache_flush first and looks at what it returns.
 */
void gn_cache_destroy(struct gn_cache *cache);

/*
 * gn_cache_flush - write every dirty page to its store and make the stores durable (gn_store_flush).
 * Launches a kernel and waits for it. Pages that could not be written stay in the cache, dirty.
 * Host, no kernel running that uses the cache. Returns 0 (every write before it is in the store), or the code of
 * the first failure with how many pages are still dirty in the message.
 */
int gn_cache_flush(struct gn_cache *cache, struct gn_error *error);

/*
 * gn_cache_invalidate - forget all clean pages, so that the next access fetches them again.
 * Host, no kernel running. Returns 0, -GN_EBUSY (pages are dirty or pinned: flush, release; they were kept).
 */
int gn_cache_invalidate(struct gn_cache *cache, struct gn_error *error);

/* What a cache is and did. */
struct gn_cache_facts {
	uint64_t frames, pages;
	uint64_t frame_bytes;
	uint64_t metadata_bytes; /* table, owners, locks, counters: everything beside the frames */
	uint64_t budget_bytes;   /* the bound of invariant 5 */
	uint32_t page_bytes;
	uint32_t ways;           /* 0 with a direct table */
	enum gn_cache_table table;
	uint64_t dirty_pages;    /* at this moment */
	uint64_t write_failures;
	struct gn_cache_stripe count; /* zero unless options.counters */
};

/* gn_cache_describe - fill facts. Host, no kernel running. Returns 0 or -GN_EIO. */
int gn_cache_describe(struct gn_cache *cache, struct gn_cache_facts *facts);

/* gn_cache_view_of - the device's view, in device memory. Borrowed. */
const struct gn_cache_view *gn_cache_view_of(const struct gn_cache *cache);

/* gn_cache_machine - the machine it lives on. Borrowed. */
struct simt_machine *gn_cache_machine(const struct gn_cache *cache);

#ifdef __cplusplus
}
#endif

#include <grapnel/cache/access.h>

#endif
