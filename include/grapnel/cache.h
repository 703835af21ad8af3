/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.h - pages of one or several stores in frames of fast memory, managed by the threads that use them.
 *
 * What a cache promises:
 *   1. At most one fetch of a page, or of a sector of it, is in flight. Another thread that wants the same
 *      bytes waits for that fetch, or loads the element from the store.
 *   2. A read never returns the bytes of another page. The reader pins the page, and its frame is not reused.
 *      Or it checks the page's word after the read, and reads again if the frame was reused.
 *   3. A dirty frame's bytes reach the store before the frame is reused. If the write fails, the frame keeps
 *      them, and the failure is reported. After gn_cache_flush returned 0, every write before it that did not
 *      fail is in the store. gn_array_failure reports writes that failed, for example on a read-only store.
 *   4. Threads make progress with any number of pins. If no frame can be had, an access to one element goes
 *      around the cache, and an acquire returns -GN_ENOBUFS.
 *   5. Metadata is at most 2 % of the cache plus options.budget_bytes, whatever the size of the data.
 *   6. A failed fetch gives the waiting threads an error; the next access tries again.
 *
 *   detail/cache/word.h    the state of a page in one word
 *   detail/cache/view.h    what kernels see of a cache
 *   detail/cache/table.h   from a page to its word: the direct table and the set table
 *   detail/cache/sector.h  the parts of a page that are there, and those that are dirty
 *   detail/cache/page.h    the page protocol: look up, read without a pin, pin and unpin
 *   detail/cache/group.h   lanes that want one page, and act on it once
 *   detail/cache/fault.h   a missing sector, in registers
 *   detail/cache/hand.h    which frame a search tries next, and which reads go around the cache
 *   detail/cache/frame.h   the search for a frame
 *   detail/cache/claim.h   the request for a page: how a missing one gets a frame and its bytes
 *   detail/cache/move.h    pages between frames and stores
 *   detail/cache/flush.h   writing back, and the cleaner
 *   detail/cache/ahead.h   fetching what is wanted next
 *   detail/cache/element.h one element, moved
 *   detail/cache/round.h   the claims of many lanes, whose bytes they move together
 *   detail/cache/begun.h   fetches that were begun and that nobody waits for yet
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
	uint64_t bytes; /* of all frames together */
	/*
	 * A power of two, 512 to 2 MiB. 0 chooses: for files the largest power of two up to a 256th of
	 * bytes, at least 4096, at most 65536 and the store's largest transfer; for host memory on a GPU's
	 * machine 512, or up to 4096 if the budget has no room for the table of so many pages; else 4096.
	 */
	uint32_t page_bytes;
	/*
	 * GN_CLOCK keeps what was used lately; where a part of the data is better kept all the time, or reads
	 * are better not cached, it does that (detail/cache/hand.h). GN_FIFO and GN_RANDOM do not adapt
	 */
	enum gn_cache_policy policy;
	enum gn_cache_table table;
	uint32_t ways; /* set table: frames a set, 1 to 16; 0 for 8 to 15 as fits best */
	/* for metadata beyond 2 % of bytes, 32 KiB at least; 0 for 1/64 of the device's memory */
	uint64_t budget_bytes;
	int statistics; /* 1: collect them */
	/*
	 * GPUs whose memory has the frames: "1", or in turn every 32 MiB of "0+1"; NULL: the machine's own.
	 * So a cache may be larger than one GPU's memory. They must reach each other as for a peer: store, by
	 * NVLink. On the cpu machine it has no effect
	 */
	const char *peers;
};

struct gn_cache;

/*
 * gn_cache_create - make an empty cache in front of stores.
 * @cache    receives it; owned, gn_cache_destroy before its stores are closed
 * @stores, @count  1 to GN_CACHE_STORES; borrowed until destroy
 * A page of a block store must be a multiple of its block size, and its transfers must be able to carry a
 * page. Host. Returns 0, -GN_EINVAL (which option, in words; a cache smaller than one set; a table that was
 * asked for but is larger than the budget), -GN_ENOMEM, -GN_EFBIG (the stores have more pages than the table
 * can name: take larger pages or a larger cache), -GN_ENODEV, -GN_ENOTSUP (options.peers: there is no such
 * GPU, or the machine does not reach it).
 */
int gn_cache_create(struct gn_cache **cache, struct simt_machine *machine, struct gn_store *const *stores,
                    unsigned count, const struct gn_cache_options *options, struct gn_error *error);

/*
 * gn_cache_destroy - free the cache. Does NOT flush: dirty pages that were not flushed are lost. If kernels
 * wrote, call gn_cache_flush before, and check its code.
 */
void gn_cache_destroy(struct gn_cache *cache);

/*
 * gn_cache_flush - write every dirty page to its store and make the stores durable (gn_store_flush). Launches
 * a kernel on the machine's own stream and waits for that stream. Other streams' kernels may use the cache
 * meanwhile; what they write then may or may not be written. A page that cannot be written stays in the
 * cache, dirty. A page that is pinned for writing is written and stays dirty, because its holder may change
 * it again. The stores are flushed even if a page failed. If a store is full (-GN_ENOSPC), the cache writes
 * to it again only at the next flush. Until then a write to a page of that store that is not in the cache
 * fails with -GN_ENOSPC at once. Make room, and flush again: nothing was lost. Host. Returns 0 (every write
 * before it that did not fail is in the store; gn_array_failure tells of those), or the code of the first
 * failure with how many pages are still dirty in the message.
 */
int gn_cache_flush(struct gn_cache *cache, struct gn_error *error);

/* How many streams a cache may be flushed on, of those that are not destroyed. */
enum { GN_CACHE_FLUSH_STREAMS = 62 };

/*
 * gn_cache_flush_on - launch a flush after all work that is already on a stream, and return. Does not wait.
 * @stream  of the cache's machine; may be in capture: the flush becomes a node of the graph, and runs at
 *          every launch of the graph. gn_cache_flush_result needs the stream: keep it as long as the graph
 *          is launched
 * Kernels of any stream may use the cache meanwhile, as in gn_cache_flush. For the outcome call
 * gn_cache_flush_result. Any host thread, one a stream at a time. Returns 0, -GN_ENOBUFS (more than
 * GN_CACHE_FLUSH_STREAMS streams), or the code of simt_launch_on.
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
 * gn_cache_flush_result - the outcome of all flushes on this stream since the last call: of whole caches and
 * of ranges, launched or replayed by a graph. It also makes the stores durable (gn_store_flush), whatever
 * could not be written. Call it when the flushes have ended (simt_stream_wait, an event, a callback). Waits
 * for the stores only. Launches nothing, except over a `tier:` store: there it launches a kernel on a stream
 * of the store's own, and waits for it. So over a tier do not call it from a callback of a stream. Any host
 * thread. Returns 0 (every write before those flushes is in the store), or the code of the first failure.
 */
int gn_cache_flush_result(struct gn_cache *cache, struct simt_stream *stream, struct gn_error *error);

/*
 * gn_cache_write_failure - the first write-back that failed since the last call, for a flush or to free a
 * frame. The call clears it. The cache has kept the page. Any host thread at any time, also while kernels
 * run. Waits for nothing. Returns 0 (none) or its code; the message has the number of failed write-backs.
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
 * A hint: a page that cannot be had is left out, and no failure is kept. It launches one kernel and waits for
 * nothing; an empty range launches none. Kernels of any stream may use the cache meanwhile. A thread that
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
 * running that uses the cache; waits for the machine's own stream. Returns 0, -GN_EBUSY (pages are dirty or
 * pinned: flush, release; they were kept).
 */
int gn_cache_invalidate(struct gn_cache *cache, struct gn_error *error);

/* What a cache is and did. */
struct gn_cache_info {
	uint64_t frames, pages;
	uint64_t frame_bytes;
	uint64_t metadata_bytes; /* table, owners, locks, counters: everything beside the frames */
	uint64_t budget_bytes;   /* the bound of invariant 5 */
	uint32_t page_bytes;
	uint32_t ways; /* 0 with a direct table */
	enum gn_cache_table table;
	uint64_t dirty_pages; /* at this moment */
	uint64_t write_failures;
	struct gn_cache_statistics statistics; /* zero unless options.statistics */
};

/*
 * gn_cache_describe - fill info.
 * Host; waits for the machine's own stream. While kernels of other streams run, each value is that of some
 * moment. Returns 0 or -GN_EIO.
 */
int gn_cache_describe(struct gn_cache *cache, struct gn_cache_info *info);

/* gn_cache_view_of - the device's view, in device memory. Borrowed. */
const struct gn_cache_view *gn_cache_view_of(const struct gn_cache *cache);

#ifdef __cplusplus
}
#endif
#endif

#include <grapnel/detail/cache/access.h>

#endif
