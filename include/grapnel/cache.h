/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.h - pages of one or several stores in frames of fast memory, managed by the threads that use them.
 *
 * What a cache promises:
 *   1. At most one fetch of a page, or of a sector of it, is in flight. Another thread that wants the same
 *      bytes waits for that fetch, or loads the element from the store.
 *   2. A read never returns the bytes of another page. The reader pins the page, so that its frame is not
 *      reused; or it checks the page's word after the read, and reads again if the frame was reused.
 *   3. A dirty frame's bytes reach the store before the frame is reused. If the write fails, the frame keeps
 *      them, and the failure is reported. After gn_cache_flush returned 0, every write before it that did not
 *      fail is in the store. gn_array_failure reports writes that failed, for example on a read-only store.
 *   4. Threads make progress with any number of pins. If no frame is free, an access to one element
 *      bypasses the cache, and an acquire returns -GN_ENOBUFS.
 *   5. Metadata is at most 2 % of the cache plus options.budget_bytes, whatever the size of the data.
 *   6. A failed fetch gives the waiting threads an error; the next access tries again.
 *
 *   detail/cache/word.h    the state of a page in one word
 *   detail/cache/view.h    what kernels see of a cache
 *   detail/cache/table.h   from a page to its word: the direct table and the set table
 *   detail/cache/sector.h  the parts of a page that are there, and those that are dirty
 *   detail/cache/page.h    the page protocol: look up, read without a pin, pin and unpin
 *   detail/cache/group.h   lanes that need one page, and act on it once
 *   detail/cache/fault.h   a missing sector, in registers
 *   detail/cache/hand.h    which frame a search tries next, and which reads go around the cache
 *   detail/cache/frame.h   the search for a frame
 *   detail/cache/claim.h   the request for a page: how a missing one gets a frame and its bytes
 *   detail/cache/move.h    pages between frames and stores
 *   detail/cache/flush.h   writing back, and the cleaner
 *   detail/cache/ahead.h   fetching pages before they are read
 *   detail/cache/element.h one element, moved
 *   detail/cache/round.h   the claims of many lanes, whose bytes they move together
 *   detail/cache/begun.h   fetches that were begun, and for which no thread waits yet
 *   detail/cache/ticket.h  a ticket for such a page: try, ask, give up
 *   detail/cache/access.h  the collective operations that arrays use: pins, and one element
 *
 * Sources: BaM section 3.4 (page state, waiting for the one loader), DREAM section 3.3 (pins), design of the
 * two tables: docs/performance.md.
 */
#ifndef GRAPNEL_CACHE_H
#define GRAPNEL_CACHE_H

#include <grapnel/detail/cache/view.h>
#include <grapnel/error.h>
#include <grapnel/simt.h>
#include <grapnel/store.h>

#if !defined(__CUDACC_RTC__)
#ifdef __cplusplus
extern "C" {
#endif

/* Zero is a good default for every member but bytes. */
struct gn_cache_options {
	uint64_t bytes; /* of all frames together: at least so many pages as ways says, or 4 if that is 0 */
	/*
	 * A power of two, 512 to 2 MiB. 0 chooses:
	 *   behind queue pairs  the largest power of two that is at most 65536, a 256th of bytes and the
	 *                       stores' largest transfer; but at least 4096
	 *   memory, on a GPU    512; up to 4096 if the budget has no room for the table of so many pages
	 *   else                4096
	 */
	uint32_t page_bytes;
	/*
	 * GN_CLOCK keeps pages that were used lately. With a direct table and 8192 frames or more it adapts:
	 * if that moves fewer bytes, it keeps one part of the data all the time, or does not cache reads
	 * (detail/cache/hand.h). GN_FIFO and GN_RANDOM never adapt
	 */
	enum gn_cache_policy policy;
	/*
	 * How a page's frame is found. GN_TABLE_DIRECT: a word for each page of the stores; any frame may
	 * hold any page. GN_TABLE_SETS: a word for each frame; a page may lie in the frames of one set.
	 * GN_TABLE_AUTO, which is 0: direct if its words fit the budget, else sets
	 */
	enum gn_cache_table table;
	uint32_t ways; /* set table: frames a set, 1 to 16; 0: 8 to 15 as fits best, or all of fewer frames */
	/* of metadata beyond 2 % of bytes; 0: 1/64 of the device's memory. Values below 32 KiB become that */
	uint64_t budget_bytes;
	int statistics; /* 1: collect them, which slows down accesses to pages that are in the cache */
	/*
	 * GPUs whose memory holds the frames: "1"; or "0+1", each 32 MiB on the next of them in turn, so that
	 * a cache may be larger than one GPU's memory. NULL: the machine's own. They must reach each other as
	 * for a peer: store (store.h). On the cpu machine it has no effect
	 */
	const char *peers;
};

struct gn_cache;

/*
 * gn_cache_create - make an empty cache in front of stores.
 * @cache    receives it; owned, gn_cache_destroy before its stores are closed
 * @stores, @count  1 to GN_CACHE_STORES; borrowed until destroy
 * A page must be a multiple of each store's block, and fit into one transfer of it. Host. Returns 0,
 * -GN_EINVAL (an option is not valid; the cache is smaller than one set; or the requested table is larger
 * than the budget: the message says which), -GN_ENOMEM, -GN_EIO (the device failed), -GN_EFBIG (the stores
 * have more pages than the table can number, or the cache has 2^28 frames or more: take larger pages),
 * -GN_ENODEV (the library was not built for this GPU; options.peers names a GPU that does not exist),
 * -GN_ENOTSUP (a store of another machine; options.peers names a GPU that the machine does not reach).
 */
int gn_cache_create(struct gn_cache **cache, struct simt_machine *machine, struct gn_store *const *stores,
                    unsigned count, const struct gn_cache_options *options, struct gn_error *error);

/*
 * gn_cache_destroy - free the cache. Does NOT flush: dirty pages that were not flushed are lost. If kernels
 * wrote, call gn_cache_flush before, and check its code. Host; no kernel may use the cache any more.
 */
void gn_cache_destroy(struct gn_cache *cache);

/*
 * gn_cache_flush - write every dirty page to its store and make the stores durable (gn_store_flush). Launches
 * a kernel on the machine's own stream and waits for that stream. Other streams' kernels may use the cache
 * meanwhile; the flush may or may not include what they write then. A page that cannot be written stays in
 * the cache, dirty. A page that is pinned for writing is written and stays dirty, because its holder may
 * change it again. The stores are flushed even if a page failed. If a store is full (-GN_ENOSPC), the cache
 * writes to it again only at the next flush. Until then a write to a page of that store that is not in the
 * cache fails with -GN_ENOSPC at once. Make room, and flush again: no page was lost. If gn_store_flush
 * fails, most stores fail it from then on (store.h). Host. Returns 0 (every write before it is in the store,
 * except those that gn_array_failure reports), or the code of the first failure; the message has the number
 * of pages that stay dirty.
 */
int gn_cache_flush(struct gn_cache *cache, struct gn_error *error);

/* A cache can be flushed on at most so many streams that exist at the same time. */
enum { GN_CACHE_FLUSH_STREAMS = 62 };

/*
 * gn_cache_flush_on - launch a flush after all work that is already on a stream, and return. Does not wait.
 * @stream  of the cache's machine; may be in capture: the flush becomes a node of the graph, and runs at
 *          every launch of the graph. gn_cache_flush_result needs the stream: keep it as long as the graph
 *          is launched
 * Kernels of any stream may use the cache meanwhile, as in gn_cache_flush. For the outcome call
 * gn_cache_flush_result. Any host thread, one a stream at a time. Returns 0, -GN_ENOBUFS (the cache
 * was flushed on GN_CACHE_FLUSH_STREAMS other streams that still exist), or the code of simt_launch_on.
 */
int gn_cache_flush_on(struct gn_cache *cache, struct simt_stream *stream, struct gn_error *error);

/*
 * gn_cache_flush_range_on - gn_cache_flush_on for the pages that hold these bytes of a store; other pages
 * stay as they are. An empty range launches nothing. gn_cache_flush_result returns the outcome, together with
 * that of the stream's other flushes.
 * Returns also -GN_EINVAL (not a store of this cache), -GN_ERANGE (past its end).
 */
int gn_cache_flush_range_on(struct gn_cache *cache, struct simt_stream *stream, struct gn_store *store,
                            uint64_t offset, uint64_t bytes, struct gn_error *error);

/*
 * gn_cache_flush_result - the outcome of all flushes on this stream since the last call: of the whole cache
 * and of ranges, launched or replayed by a graph. It also makes the stores durable (gn_store_flush), even if
 * a page could not be written. Call it when the flushes have ended (simt_stream_wait, an event, a callback).
 * Waits for the stores only, with these exceptions. Over a `tier:` store it launches a kernel on a stream of
 * the store's own, and waits for it. Over a `replica:` and over managed memory it waits for the machine's own
 * stream, on which a replica launches a kernel after a member failed. Over these stores do not call it from a
 * callback of a stream. Any host thread; over these stores one at a time with others on that stream. Returns
 * 0 (every write before those flushes is in the store), or the code of the first failure.
 */
int gn_cache_flush_result(struct gn_cache *cache, struct simt_stream *stream, struct gn_error *error);

/*
 * gn_cache_write_failure - take the first failure of a write-back since the last call, whether a flush wrote
 * or a thread that needed the frame. The cache has kept the page. Any host thread at any time, also while
 * kernels run; waits for nothing. Returns 0 (none) or its code; the message has the number of failed
 * write-backs.
 */
int gn_cache_write_failure(struct gn_cache *cache, struct gn_error *error);

/*
 * gn_cache_flush_range - gn_cache_flush for the pages that hold these bytes of a store; other pages stay as
 * they are.
 * Returns also -GN_EINVAL (not a store of this cache), -GN_ERANGE (past its end).
 */
int gn_cache_flush_range(struct gn_cache *cache, struct gn_store *store, uint64_t offset, uint64_t bytes,
                         struct gn_error *error);

/*
 * gn_cache_prefetch_range_on - after all work that is already on a stream, fetch the pages that hold these
 * bytes of a store, as far as there are free or clean frames.
 * @stream  as in gn_cache_flush_on; may be in capture: the prefetch becomes a node of the graph
 * A hint: a page that cannot be fetched is left out, and no failure is kept. It launches one kernel and waits
 * for nothing; an empty range launches none. Kernels of any stream may use the cache meanwhile. A thread that
 * reads a page that is being fetched waits for it. Any host thread, one a stream at a time. Returns 0,
 * -GN_EINVAL (not a store of this cache), -GN_ERANGE (past its end), or the code of simt_launch_on.
 */
int gn_cache_prefetch_range_on(struct gn_cache *cache, struct simt_stream *stream, struct gn_store *store,
                               uint64_t offset, uint64_t bytes, struct gn_error *error);

/*
 * gn_cache_prefetch_range - gn_cache_prefetch_range_on on the machine's own stream, and wait for the
 * transfers. Host. Returns as that, or the code of simt_wait.
 */
int gn_cache_prefetch_range(struct gn_cache *cache, struct gn_store *store, uint64_t offset, uint64_t bytes,
                            struct gn_error *error);

/*
 * gn_cache_invalidate - drop all clean pages, so that the next access fetches them again. Host, no kernel
 * running that uses the cache; waits for the machine's own stream. Returns 0, -GN_EBUSY (some pages are dirty
 * or pinned and were kept, all others were dropped: flush or release them), -GN_EIO.
 */
int gn_cache_invalidate(struct gn_cache *cache, struct gn_error *error);

/* The sizes of a cache, and what it counted. */
struct gn_cache_info {
	uint64_t frames, pages;
	uint64_t frame_bytes;
	uint64_t metadata_bytes; /* table, owners, locks, counters: everything beside the frames */
	uint64_t budget_bytes;   /* the bound of promise 5 */
	uint32_t page_bytes;
	uint32_t ways; /* 0 with a direct table */
	enum gn_cache_table table;
	uint64_t dirty_pages; /* at this moment */
	uint64_t write_failures;
	struct gn_cache_statistics statistics; /* zero unless options.statistics */
};

/*
 * gn_cache_describe - fill info.
 * Host; waits for the machine's own stream. While kernels of other streams run, the values need not be of the
 * same moment. Returns 0 or -GN_EIO.
 */
int gn_cache_describe(struct gn_cache *cache, struct gn_cache_info *info, struct gn_error *error);

/* gn_cache_view_of - the device's view, in device memory. Borrowed. */
const struct gn_cache_view *gn_cache_view_of(const struct gn_cache *cache);

#ifdef __cplusplus
}
#endif
#endif

#include <grapnel/detail/cache/access.h>

#endif
