/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array.h - typed elements of a store, which any thread of a kernel reads and writes.
 *
 *     uint32_t x = gn_read_u32(&array, i);            one element; a failure is kept in the array
 *     int rc = gn_array_read(&array, i, &x);          one element; the code is returned
 *     struct gn_cursor c = gn_cursor_init(&array);    a position that remembers its page
 *     uint32_t y = gn_cursor_read_u32(&c, i);
 *     gn_array_acquire(&array, mask, i, GN_READ, &page);   one page: plain loads, 16 bytes at a time
 *     gn_range_begin(&array, mask, i, j, GN_READ);         the pages of elements i to j - 1, one by one
 *
 * docs/choosing.md says which form suits which loop. This file declares every function; their code is in
 * detail/array/. gather.h moves batches of rows, auto.h has an array that chooses its mode, grapnel.hpp has
 * x[i] for C++.
 *
 * An array is in one of two modes (enum gn_mode):
 *
 *   GN_PAGED   its pages come through a cache
 *   GN_DIRECT  each access loads or stores the store's own memory; for byte-addressable stores only
 *
 * Who may call: functions marked SIMT_FN (or SIMT_NOINLINE_FN, SIMT_INLINE_FN) may be called by any thread of
 * a kernel. Those that take no mask may be called from divergent code. If lanes call one together and need
 * the same page, one of them acts for all. A collective function takes the mask of the lanes that call it
 * (simt.h).
 *
 * Elements have the memory order of ordinary device memory: the program must order its own threads.
 *
 * Failures: nothing returns wrong data silently. Value forms return 0 for an element that cannot be read. The
 * array keeps the first failure (index, code, device status) where host and device can read it:
 * gn_array_failure. An access of another size than the elements' is refused and kept as -GN_EINVAL:
 * gn_read_u32 of an array of bytes reads nothing.
 */
#ifndef GRAPNEL_ARRAY_H
#define GRAPNEL_ARRAY_H

#include <grapnel/cache.h>
#include <grapnel/detail/array/view.h>
#include <grapnel/detail/cache/begun.h>
#include <grapnel/error.h>
#include <grapnel/simt.h>
#include <grapnel/store.h>

#if !defined(__CUDACC_RTC__)
#ifdef __cplusplus
extern "C" {
#endif

/* ---- host: create, destroy, failures ---- */

/* What an array is made of. */
struct gn_array_options {
	enum gn_mode mode;
	struct gn_cache *cache; /* paged; NULL in direct mode */
	struct gn_store *store; /* one of the cache's; direct: any byte-addressable one */
	uint64_t offset;        /* of element 0 in the store, in bytes; a multiple of element_bytes */
	uint64_t count;         /* elements */
	uint32_t element_bytes; /* 1, 2, 4, 8 or 16 */
};

/*
 * gn_array_create - describe elements of a store.
 * @array   receives the handle; end with gn_array_destroy before the cache, the store and the machine
 * Host. Returns 0, -GN_EINVAL (mode, element size or offset; no store; a store that is not the cache's),
 * -GN_ERANGE (the elements reach past the store's end), -GN_ENOTSUP (direct mode on a store that is not
 * byte-addressable; a store of another machine: gn_store_share), -GN_ENOMEM.
 */
int gn_array_create(struct gn_array *array, struct simt_machine *machine,
                    const struct gn_array_options *options, struct gn_error *error);

/* gn_array_destroy - give the handle's memory back. Does NOT flush. Host; no kernel may use it any more. */
void gn_array_destroy(struct gn_array *array, struct simt_machine *machine);

/*
 * gn_array_failure - take the first failure since the last call. Any host thread at any time, also while
 * kernels run; waits for nothing. After a launch has ended, its first failure is there. Returns 0 (none) or
 * the failure's code; the message has index, code and device status.
 */
int gn_array_failure(struct gn_array *array, struct gn_error *error);

#ifdef __cplusplus
}
#endif
#endif

/* ---- one element ---- */

/* gn_count - number of elements. */
SIMT_FN uint64_t gn_count(const struct gn_array *a);

/*
 * gn_array_read - read one element and return the code.
 * @index  of the element
 * @to     receives element_bytes of the array; aligned to an element
 * Waits while the page is fetched. Returns 0; -GN_ERANGE (the index is past the end); -GN_EIO, -GN_ETIMEDOUT
 * (the transfer failed). The first failure is also kept in the array. After a failure *to is unchanged.
 */
SIMT_NOINLINE_FN int gn_array_read(const struct gn_array *a, uint64_t index, void *to);

/*
 * gn_read_T - read one element and return its value. T is u8 to u64, i8 to i64, f32 or f64, with the size of
 * the array's elements. If it has another size, nothing is read and the array keeps -GN_EINVAL. Waits while
 * the page is fetched. Returns 0 on failure; the array keeps the first failure, with a code as gn_array_read.
 */
SIMT_FN uint8_t gn_read_u8(const struct gn_array *a, uint64_t index);
SIMT_FN uint16_t gn_read_u16(const struct gn_array *a, uint64_t index);
SIMT_FN uint32_t gn_read_u32(const struct gn_array *a, uint64_t index);
SIMT_FN uint64_t gn_read_u64(const struct gn_array *a, uint64_t index);
SIMT_FN int8_t gn_read_i8(const struct gn_array *a, uint64_t index);
SIMT_FN int16_t gn_read_i16(const struct gn_array *a, uint64_t index);
SIMT_FN int32_t gn_read_i32(const struct gn_array *a, uint64_t index);
SIMT_FN int64_t gn_read_i64(const struct gn_array *a, uint64_t index);
SIMT_FN float gn_read_f32(const struct gn_array *a, uint64_t index);
SIMT_FN double gn_read_f64(const struct gn_array *a, uint64_t index);

/*
 * gn_array_write - write one element.
 * @index  of the element
 * @from   element_bytes of the array; need not be aligned
 * Waits while the page is fetched. Returns as gn_array_read, and -GN_EROFS (the store is read-only),
 * -GN_ENOSPC (the store is full), -GN_EBUSY (an earlier write to these blocks timed out and may still land;
 * retry later). The first failure is also kept in the array. After a failure the element is
 * unchanged.
 */
SIMT_NOINLINE_FN int gn_array_write(const struct gn_array *a, uint64_t index, const void *from);

/*
 * gn_write_T - write one element, by value. T is as in gn_read_T. Returns as gn_array_write, and -GN_EINVAL
 * if T has another size than the elements: nothing is written then.
 */
SIMT_FN int gn_write_u8(const struct gn_array *a, uint64_t index, uint8_t value);
SIMT_FN int gn_write_u16(const struct gn_array *a, uint64_t index, uint16_t value);
SIMT_FN int gn_write_u32(const struct gn_array *a, uint64_t index, uint32_t value);
SIMT_FN int gn_write_u64(const struct gn_array *a, uint64_t index, uint64_t value);
SIMT_FN int gn_write_i8(const struct gn_array *a, uint64_t index, int8_t value);
SIMT_FN int gn_write_i16(const struct gn_array *a, uint64_t index, int16_t value);
SIMT_FN int gn_write_i32(const struct gn_array *a, uint64_t index, int32_t value);
SIMT_FN int gn_write_i64(const struct gn_array *a, uint64_t index, int64_t value);
SIMT_FN int gn_write_f32(const struct gn_array *a, uint64_t index, float value);
SIMT_FN int gn_write_f64(const struct gn_array *a, uint64_t index, double value);

/* ---- one element, changed as one step ---- */

/*
 * gn_add_T, gn_min_T, gn_max_T, gn_cas_T - change an element: add to it; set it to the smaller, or to the
 * larger, of itself and a value; set it to value if it equals expected (then expected is returned). Each is
 * indivisible for all threads that use the array in the same mode through the same cache. In direct mode it
 * is also indivisible for the host's atomics on the cpu machine, and on a GPU if its link carries atomics to
 * host memory (cudaDevAttrHostNativeAtomicSupported; not over PCIe). Memory order: relaxed. Waits while the
 * page is fetched. Returns the element before the change. Returns 0 if the element cannot be read or written,
 * or has another size than T; the array keeps that failure.
 */
SIMT_FN uint32_t gn_add_u32(const struct gn_array *a, uint64_t index, uint32_t by);
SIMT_FN uint64_t gn_add_u64(const struct gn_array *a, uint64_t index, uint64_t by);
SIMT_FN float gn_add_f32(const struct gn_array *a, uint64_t index, float by);
SIMT_FN double gn_add_f64(const struct gn_array *a, uint64_t index, double by);
SIMT_FN uint32_t gn_min_u32(const struct gn_array *a, uint64_t index, uint32_t value);
SIMT_FN uint64_t gn_min_u64(const struct gn_array *a, uint64_t index, uint64_t value);
SIMT_FN uint32_t gn_max_u32(const struct gn_array *a, uint64_t index, uint32_t value);
SIMT_FN uint64_t gn_max_u64(const struct gn_array *a, uint64_t index, uint64_t value);
SIMT_FN uint32_t gn_cas_u32(const struct gn_array *a, uint64_t index, uint32_t expected, uint32_t value);
SIMT_FN uint64_t gn_cas_u64(const struct gn_array *a, uint64_t index, uint64_t expected, uint64_t value);

/* ---- a cursor: a position that remembers its page ---- */

/*
 * A read position of one thread. While the thread stays in the page that it read last, a read costs the load
 * of the data and one load of the page's word (its state, detail/cache/word.h). A cursor does not pin its
 * page: another page may take the frame at any time, and nothing has to be released. A cursor remembers a
 * page only if all sectors (the parts that are fetched one by one) are in its frame; any other page is looked
 * up at each read. It lives in registers. Do not share one between threads.
 */
struct gn_cursor {
	const struct gn_array *array;
	struct gn_hold snapshot; /* the page that was read last; its data begins at element first */
	uint64_t first;          /* elements first to first + count - 1 lie in that page */
	uint32_t count;          /* 0: no page yet */
	/* Reads that the cache's statistics do not have yet. It wraps: after 2^32 the count is wrong. */
	uint32_t hits;
};

/* gn_cursor_init - a cursor at no page yet. @array  borrowed as long as the cursor is used. */
SIMT_FN struct gn_cursor gn_cursor_init(const struct gn_array *array);

/* gn_cursor_end - add the cursor's hits to the cache's statistics. Needed only where these are read. */
SIMT_FN void gn_cursor_end(struct gn_cursor *c);

/* gn_cursor_read_T - gn_read_T through a cursor. */
SIMT_FN uint8_t gn_cursor_read_u8(struct gn_cursor *c, uint64_t index);
SIMT_FN uint16_t gn_cursor_read_u16(struct gn_cursor *c, uint64_t index);
SIMT_FN uint32_t gn_cursor_read_u32(struct gn_cursor *c, uint64_t index);
SIMT_FN uint64_t gn_cursor_read_u64(struct gn_cursor *c, uint64_t index);
SIMT_FN int8_t gn_cursor_read_i8(struct gn_cursor *c, uint64_t index);
SIMT_FN int16_t gn_cursor_read_i16(struct gn_cursor *c, uint64_t index);
SIMT_FN int32_t gn_cursor_read_i32(struct gn_cursor *c, uint64_t index);
SIMT_FN int64_t gn_cursor_read_i64(struct gn_cursor *c, uint64_t index);
SIMT_FN float gn_cursor_read_f32(struct gn_cursor *c, uint64_t index);
SIMT_FN double gn_cursor_read_f64(struct gn_cursor *c, uint64_t index);

/*
 * gn_cursor_read_every_T - read count elements: index, index + stride, index + 2 * stride and so on. T is
 * u32, u64, f32 or f64. In direct mode, and if all of them lie in one page that is in its frame, the function
 * starts all loads and waits once; otherwise it reads one element after the other. A stretch of count *
 * stride elements lies in one page if element 0 begins a page, the stretch is a power of two not longer than
 * a page, and index is a multiple of it. Make count a constant: then the values stay in registers.
 * @value  receives count elements; 0 for each that cannot be read
 * Returns 0, or the first failure's code as gn_array_read.
 */
SIMT_INLINE_FN int gn_cursor_read_every_u32(struct gn_cursor *c, uint64_t index, uint64_t stride,
                                            uint32_t count, uint32_t *value);
SIMT_INLINE_FN int gn_cursor_read_every_u64(struct gn_cursor *c, uint64_t index, uint64_t stride,
                                            uint32_t count, uint64_t *value);
SIMT_INLINE_FN int gn_cursor_read_every_f32(struct gn_cursor *c, uint64_t index, uint64_t stride,
                                            uint32_t count, float *value);
SIMT_INLINE_FN int gn_cursor_read_every_f64(struct gn_cursor *c, uint64_t index, uint64_t stride,
                                            uint32_t count, double *value);

/* ---- pages by reference ---- */

/* Elements that lie together in one page. A value; the lanes that acquired it release it once. */
struct gn_page {
	void *data;          /* element first; in a paged array 16-byte aligned if first starts a page */
	uint64_t first;      /* index of the first element */
	uint64_t count;      /* elements, all inside the array */
	struct gn_hold hold; /* the library's own */
};

/*
 * gn_array_acquire - collective: pin the page that holds an element.
 * @mask    the calling lanes. All pass the same index, or one of the same page. One pin serves all: a warp
 *          passes its mask, a thread on its own 1u << simt_lane()
 * @intent  GN_READ; GN_WRITE: elements will be written; GN_OVERWRITE: the caller writes every element of the
 *          page before anybody reads one. If the whole page lies in the array it is not fetched, and its
 *          elements are undefined until they are written
 * @page    receives the elements; end with gn_array_release over the same mask
 * A pinned page keeps its frame. Pin few pages, and do not wait for other threads while you hold one. In
 * direct mode the elements are the whole array, or a block of 4 KiB in a launch that gn_auto samples. Waits
 * while the page is fetched. Returns to all lanes 0; -GN_ENOBUFS (every frame that the page could take is
 * pinned, or the page itself is pinned 16383 times: release something, or read element by element);
 * -GN_ENOSPC (see gn_cache_flush); -GN_ERANGE, -GN_EIO, -GN_ETIMEDOUT, -GN_EROFS. The array keeps failures
 * other than -GN_ENOBUFS.
 */
SIMT_FN int gn_array_acquire(const struct gn_array *a, uint32_t mask, uint64_t index, uint32_t intent,
                             struct gn_page *page);

/* gn_array_release - collective over the mask of gn_array_acquire: unpin the page. */
SIMT_FN void gn_array_release(const struct gn_array *a, uint32_t mask, const struct gn_page *page);

/*
 * gn_array_acquire_each - collective: each lane pins the page of an element of its own.
 * @mask  the calling lanes; index, intent and page are each lane's own
 * Pages that are in frames are pinned in one round trip; the others are fetched together. Otherwise as
 * gn_array_acquire. The code is each lane's own: a lane whose code is 0 calls gn_array_release_each.
 */
SIMT_FN int gn_array_acquire_each(const struct gn_array *a, uint32_t mask, uint64_t index, uint32_t intent,
                                  struct gn_page *page);

/* gn_array_release_each - unpin the lane's page of gn_array_acquire_each. Any lane by itself. */
SIMT_FN void gn_array_release_each(const struct gn_array *a, const struct gn_page *page);

/* ---- pages by reference, begun before they are needed ---- */

/* A page whose fetch was begun. A value; it lives in registers of the lanes that began it. */
struct gn_page_ticket {
	struct gn_page page; /* this and the other members are the library's own */
	uint64_t index;
	uint32_t intent;
	uint32_t reserved;
	struct gn__ticket wait;
};

/*
 * gn_page_begin - collective: begin to fetch the page that holds an element, and do other work meanwhile.
 * @mask, @index, @intent  as for gn_array_acquire
 * @ticket  receives the ticket; ask gn_page_ready until the page is there, or end it with gn_page_cancel,
 *          each over the same mask
 *
 *     gn_page_begin(&a, mask, next, GN_READ, &ticket);
 *     ... other work ...
 *     while ((rc = gn_page_ready(&a, mask, &ticket, &page)) == -GN_EAGAIN)
 *             ... more of it ...
 *     if (!rc) { ... page.data ...; gn_array_release(&a, mask, &page); }
 *
 * A page that is in its frame is pinned at once. Over a store behind queue pairs (file, memq, nvme, rdma, and
 * stripes and replicas of them) gn_page_begin posts the command and returns: it waits for no device and no
 * other thread. If another thread already fetches the page, or no entry or frame is free, it posts nothing,
 * and gn_page_ready tries again.
 *
 * In these cases the lanes move the page themselves before the call returns. They wait, and write pages back
 * to make room, as in gn_array_acquire:
 *   - the store is memory (host, peer) or a tier
 *   - the store's queues have a depth of 2, or the cache's budget has no room for entries (below)
 *   - some sectors of the page were written, and its other sectors were never fetched
 *
 * A thread that holds tickets may wait for pages, also for pages that other threads have begun: every thread
 * that waits for a page also completes the fetches of others. Each ticket may hold a frame and an entry in a
 * table of the cache, which has about as many entries as frames, 256 at most. Apart from the cases above no
 * page is written back to make room for a ticket. Ask for every ticket: its entry stays taken until then. Ask
 * within the store's timeout, which runs from gn_page_begin: later the fetch may end in -GN_ETIMEDOUT. With
 * GN_OVERWRITE the bytes of the page are undefined when the call returns: take the page with gn_page_ready
 * and write it. Do not cancel such a ticket: the array would keep undefined bytes. Returns to all lanes 0
 * (there is a ticket), or an error as gn_array_acquire (there is none).
 */
SIMT_FN int gn_page_begin(const struct gn_array *a, uint32_t mask, uint64_t index, uint32_t intent,
                          struct gn_page_ticket *ticket);

/*
 * gn_page_ready - collective over the mask of gn_page_begin: is the page there? It rings doorbells and takes
 * completions for all threads, so a thread that asks gets its page even if no other thread runs. Waits only
 * where gn_page_begin does.
 * @page  receives the elements if the result is 0; end with gn_array_release over the same mask
 * Returns to all lanes -GN_EAGAIN (ask again); 0; or an error as gn_array_acquire. -GN_ENOBUFS: every frame
 * that the page could take is pinned or dirty. -GN_EIO, -GN_ETIMEDOUT: this fetch failed, or the fetch of
 * another thread that the ticket waited for. Every result but -GN_EAGAIN ends the ticket. The array keeps
 * failures other than -GN_ENOBUFS.
 */
SIMT_FN int gn_page_ready(const struct gn_array *a, uint32_t mask, struct gn_page_ticket *ticket,
                          struct gn_page *page);

/*
 * gn_page_cancel - collective over the mask of gn_page_begin: end a ticket that gn_page_ready has not ended.
 * Waits for the fetch that the ticket has begun, because a command cannot be taken back. Not for
 * GN_OVERWRITE.
 */
SIMT_FN void gn_page_cancel(const struct gn_array *a, uint32_t mask, struct gn_page_ticket *ticket);

/* ---- a range: a loop over the pages of a run of elements ---- */

/*
 * A loop under way. It lives in registers of the lanes that began it. With a run for each thread, elements i
 * to j - 1:
 *
 *     struct gn_range r = gn_range_begin(&a, 1u << simt_lane(), i, j, GN_READ);
 *     struct gn_page page;
 *     int rc;
 *
 *     while (gn_range_next(&r, &page))
 *             for (uint64_t k = 0; k < page.count; k++)
 *                     sum += ((const uint32_t *)page.data)[k];
 *     rc = gn_range_end(&r);
 *
 * If the loop ended early, rc is not 0, and elements from r.next on were not handed out. -GN_ENOBUFS (no
 * frame was free) is only in rc; the array keeps other failures. A warp with one run passes
 * simt_active() as the mask, and its lanes share each page: k from simt_lane() in steps of
 * simt_warp_width().
 *
 * Each lane looks up and pins one page, all in one round trip. The lanes fetch missing pages together. Then
 * the loop hands out the pages one after the other. Pages that are overwritten are not fetched; each is
 * pinned when it is handed out.
 */
struct gn_range {
	const struct gn_array *array;
	uint64_t next, end; /* elements not yet handed out */
	uint32_t mask;
	uint32_t batch;                /* pages to pin at once */
	uint32_t held;                 /* pages pinned now, one a lane */
	uint32_t given;                /* how many of those were handed out */
	uint32_t intent;               /* enum gn_intent */
	struct gn_hold hold;           /* this lane's pinned page; word is NULL if it has none */
	struct gn_store_status status; /* why the loop ended early; code 0 if it did not */
};

/*
 * gn_range_begin - collective: begin a loop over the pages of elements begin to end - 1.
 * @mask    the lanes that call every function of this loop, at least one; all pass the same arguments
 * @intent  GN_READ; GN_WRITE: elements will be written; GN_OVERWRITE: the caller writes all elements of every
 *          page that is handed out, so pages that lie wholly in the run are not fetched. If the loop is left
 *          early, the other elements are unchanged
 * Does not wait. If the run reaches past the array, or begin is above end, the loop ends at once with
 * status.code -GN_ERANGE; if it writes to a read-only array, with -GN_EROFS.
 */
SIMT_FN struct gn_range gn_range_begin(const struct gn_array *a, uint32_t mask, uint64_t begin, uint64_t end,
                                       uint32_t intent);

/*
 * gn_range_next - collective over the mask of the loop: the elements of the next page.
 * @page  receives those that lie in the run. The loop pins the page until the next call; do not release it
 * Waits while pages are fetched. Returns 1; or 0 at the end. After a 0, r->status.code says why: 0 (the whole
 * run was handed out), -GN_ENOBUFS (every frame that the page could take is pinned), -GN_ENOSPC (every such
 * frame is pinned or dirty, and dirty ones cannot be written), -GN_EIO, -GN_ETIMEDOUT, or -GN_ERANGE or
 * -GN_EROFS of gn_range_begin. If it is not 0, elements from r->next on were not handed out. In direct mode
 * the first call hands out the whole run, or blocks of 4 KiB in a launch that gn_auto samples.
 */
SIMT_FN int gn_range_next(struct gn_range *r, struct gn_page *page);

/*
 * gn_range_end - collective over the mask of the loop, also when it is left early: unpin its pages. Returns
 * status.code.
 */
SIMT_FN int gn_range_end(struct gn_range *r);

/* ---- prefetch ---- */

/*
 * gn_array_prefetch_each - collective: fetch the page of one element for every lane that names one.
 * @mask   the calling lanes; all of them move the bytes
 * @wants  1: this lane names an element
 * A hint: a page that cannot be fetched is left out, and no failure is kept. In direct mode it does nothing.
 * Use it if one warp fetches for others, or fetches many pages at once that it would otherwise miss one after
 * another. Waits for the transfers that it begins, not for those of others. From the host:
 * gn_cache_prefetch_range.
 */
SIMT_FN void gn_array_prefetch_each(const struct gn_array *a, uint32_t mask, int wants, uint64_t index);

/*
 * gn_array_prefetch - collective: fetch the pages of elements first to first + count - 1, as many at once as
 * there are lanes. All lanes pass the same arguments. Otherwise as gn_array_prefetch_each.
 */
SIMT_FN void gn_array_prefetch(const struct gn_array *a, uint32_t mask, uint64_t first, uint64_t count);

#include <grapnel/detail/array/atomic.h>
#include <grapnel/detail/array/begin.h>
#include <grapnel/detail/array/cursor.h>
#include <grapnel/detail/array/page.h>
#include <grapnel/detail/array/prefetch.h>
#include <grapnel/detail/array/range.h>
#include <grapnel/detail/array/read.h>
#include <grapnel/detail/array/write.h>

#endif
