/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flat.h - Grapnel for languages that call C: numbers and pointers in, numbers out.
 *
 * An object is a handle, a number above 0. A handle that is closed, or that a forked process took with it, is
 * refused with a message; so is one of another kind. Any thread may call any function at any time: calls of
 * one machine follow one another, and an object is not closed while a call uses it (-GN_EBUSY).
 *
 * Functions return 0, a count or a handle, or a negative code (grapnel/error.h). gn_flat_failure has the
 * words of the calling thread's last failure.
 */
#ifndef GN_PYTHON_FLAT_H
#define GN_PYTHON_FLAT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The last failure of a thread. */
struct gn_flat_failure {
	int32_t code;    /* negative */
	uint32_t device; /* what the device said: an NVMe status field, or 0 */
	int64_t row;     /* the first row that could not be moved, or -1: it was something else */
	char text[600];
};

/* gn_flat_failure - that of the calling thread. Borrowed; the thread's next failure changes it. */
const struct gn_flat_failure *gn_flat_failure(void);

/* gn_flat_code_name - the name of a code, such as "GN_EIO". Static. */
const char *gn_flat_code_name(int code);

/* gn_flat_version - that of the library, such as "0.1.0". Static. */
const char *gn_flat_version(void);

/* gn_flat_size - read a size such as "8G" (gn_size_parse). */
int gn_flat_size(const char *text, uint64_t *bytes);

/* gn_flat_device_of - the GPU whose memory is at an address; -1: none. A device's number, no failure. */
int gn_flat_device_of(const void *address);

/* ---- machines ---- */

/*
 * gn_flat_machine - open a machine. Returns its handle.
 * @name     "cpu", "cuda" or "cuda:1"
 * @threads  of cpu: OS threads; 0 for one a core
 * @rows     the largest batch that is moved in one piece; larger ones are moved in several
 * @streams  workspaces to begin with: each stream that moves batches takes one, and each capture of a stream
 * Each workspace has 16 bytes of the machine's memory for each of rows, and 1 MiB. On cpu there is one.
 */
int64_t gn_flat_machine(const char *name, unsigned threads, uint64_t rows, unsigned streams);

/* gn_flat_reserve - have so many workspaces that no stream has taken. Not while any stream is in capture. */
int gn_flat_reserve(int64_t machine, unsigned streams);

/* gn_flat_reserve_stack - as simt_reserve_stack, for kernels of the caller's own. */
int gn_flat_reserve_stack(int64_t machine, uint64_t frame_bytes);

/* value: is_cuda, processors, memory_bytes, resident_threads, device, rows of a piece. @name  64 bytes */
int gn_flat_machine_describe(int64_t machine, char *name, uint64_t value[6]);

/* ---- stores ---- */

/* gn_flat_store - open a store by its URI (grapnel/store.h). Returns its handle. */
int64_t gn_flat_store(int64_t machine, const char *uri);

/*
 * value: capacity_bytes, block_bytes, read_only, is memory, address of the memory if the host reaches it
 * (else 0). @path  192 bytes
 */
int gn_flat_store_describe(int64_t store, char *path, uint64_t value[5]);

/*
 * As gn_store_get_statistics, which asks a drive and waits for it. value: reads, writes, read_bytes,
 * written_bytes, failed, members_out, retries, read_timeouts, write_timeouts, aborts, resets, hits,
 * misses, evictions, write_backs, unwritten.
 */
int gn_flat_store_statistics(int64_t store, uint64_t value[16]);

/* As gn_store_read_host, gn_store_write_host and gn_store_flush. */
int gn_flat_store_read(int64_t store, uint64_t offset, void *to, uint64_t bytes);
int gn_flat_store_write(int64_t store, uint64_t offset, const void *from, uint64_t bytes);
int gn_flat_store_flush(int64_t store);

/*
 * As gn_store_get_member. Returns 1, or 0: there are no more members.
 * @uri  valid until the store is closed; @use  enum gn_store_member_use; @text  256 bytes
 */
int gn_flat_store_member(int64_t store, uint32_t k, const char **uri, int *use, char *text);

/* As gn_store_resync. Other calls on the machine go on while it copies. */
int gn_flat_store_resync(int64_t store, uint32_t k);

/* ---- caches ---- */

/*
 * gn_flat_cache - make a cache in front of stores. Returns its handle.
 * @bytes, @page_bytes, @policy, @table, @ways, @budget_bytes, @statistics, @peers
 *         as in struct gn_cache_options (grapnel/cache.h); peers may be NULL
 */
int64_t gn_flat_cache(int64_t machine, const int64_t *stores, unsigned count, uint64_t bytes,
                      uint32_t page_bytes, int policy, int table, uint32_t ways, uint64_t budget_bytes,
                      int statistics, const char *peers);

/*
 * value: frames, pages, frame_bytes, metadata_bytes, page_bytes, ways, dirty_pages, write_failures, hits,
 * misses, fetched, written, evicted, bypassed, fetched_bytes, written_bytes
 */
int gn_flat_cache_describe(int64_t cache, uint64_t value[16]);

/* As gn_cache_flush and gn_cache_invalidate; on cuda after all that the device has been given to do. */
int gn_flat_cache_flush(int64_t cache);
int gn_flat_cache_invalidate(int64_t cache);

/* ---- arrays ---- */

/*
 * gn_flat_array - rows of a store. Returns the handle.
 * @cache          0: direct, each access reaches the store's own memory
 * @offset         of row 0 in the store, in bytes
 * @element_bytes  1, 2, 4, 8 or 16; @elements  of a row
 */
int64_t gn_flat_array(int64_t machine, int64_t cache, int64_t store, uint64_t offset, uint64_t rows,
                      uint32_t element_bytes, uint32_t elements);

/*
 * gn_flat_gather, gn_flat_scatter - read or write rows by number.
 * @stream  of cuda: a cudaStream_t, which may be in capture. The call launches kernels there and does not
 *          wait; index and rows stay until these have ended. On cpu it is ignored, and the call waits
 * @index   [count] numbers of rows; @rows  [count] packed rows, aligned to an element. Memory of the machine:
 *          on cuda the device's, or pinned
 * Allocates nothing, unless it is the first call for a stream and no workspace is left; in a capture that is
 * -GN_ENOBUFS. If an earlier batch of this array failed after its call had returned, the call returns that
 * failure and launches nothing. Rows that could not be read are 0.
 */
int gn_flat_gather(int64_t array, uint64_t stream, const uint64_t *index, uint64_t count, void *rows);
int gn_flat_scatter(int64_t array, uint64_t stream, const uint64_t *index, uint64_t count, const void *rows);

/*
 * gn_flat_gather_host, gn_flat_scatter_host - the same with any memory of the host, and wait. On cuda after
 * all that the device has been given to do.
 * @index  NULL: row k of the batch is row first + k * step
 */
int gn_flat_gather_host(int64_t array, const uint64_t *index, int64_t first, int64_t step, uint64_t count,
                        void *rows);
int gn_flat_scatter_host(int64_t array, const uint64_t *index, int64_t first, int64_t step, uint64_t count,
                         const void *rows);

/* gn_flat_prefetch - fetch the pages of some rows, as far as there is room. A hint; on cuda does not wait. */
int gn_flat_prefetch(int64_t array, uint64_t stream, uint64_t first, uint64_t count);

/* gn_flat_hold - keep an array open until gn_flat_let_go: meanwhile gn_flat_close returns -GN_EBUSY. */
int gn_flat_hold(int64_t array);

/* gn_flat_let_go - undo one gn_flat_hold. */
int gn_flat_let_go(int64_t array);

/* gn_flat_check - the first failure of a batch that no call has returned yet; waits for nothing. */
int gn_flat_check(int64_t array);

/* gn_flat_settle - wait for all that the array's device has been given to do, then gn_flat_check. */
int gn_flat_settle(int64_t array);

/*
 * gn_flat_view - copy the struct gn_array that kernels of the caller's own take by value (grapnel/array.h).
 * @to  room bytes; NULL copies nothing
 * Returns the bytes of the struct. What it points to is there until the array is closed.
 */
int64_t gn_flat_view(int64_t array, void *to, uint64_t room);

/* gn_flat_flush - write what was changed to the store, as gn_flat_cache_flush; direct: gn_flat_store_flush.
 */
int gn_flat_flush(int64_t array);

/* ---- slots ---- */

/*
 * gn_flat_slots - slots for items of a store. Returns the handle.
 * @item_bytes, @items, @offset, @slots, @most_keys, @policy, @keep, @fill_blocks, @slab
 *         as in struct gn_slots_options (grapnel/slots.h); slab may be NULL
 */
int64_t gn_flat_slots(int64_t store, uint64_t item_bytes, uint64_t items, uint64_t offset, uint64_t slots,
                      uint64_t most_keys, int policy, uint64_t keep, uint64_t fill_blocks, void *slab);

/* value: address of the slab, item_bytes, items, slots, most_keys, metadata_bytes */
int gn_flat_slots_describe(int64_t slots, uint64_t value[6]);

/*
 * gn_flat_slots_resolve, gn_flat_slots_fill - as gn_slots_resolve and gn_slots_fill.
 * @stream  of cuda: a cudaStream_t, which may be in capture. The call launches a kernel or two there, does
 * not wait and takes no memory of the device. On cpu it is ignored; the call waits, and returns what failed
 *          on the machine, when all else is done: a resolve that failed so wants its fill, too
 * If an earlier call on these slots failed on the device after it had returned, resolve returns that failure
 * and launches nothing.
 */
int gn_flat_slots_resolve(int64_t slots, uint64_t stream, const int64_t *key, int32_t *slot, uint8_t *missed,
                          uint64_t count, uint32_t hints, uint32_t priority);
int gn_flat_slots_fill(int64_t slots, uint64_t stream);

/* The same for gn_slots_pin, gn_slots_unpin, gn_slots_mark, gn_slots_flush and gn_slots_clear. */
int gn_flat_slots_pin(int64_t slots, uint64_t stream, const int32_t *slot, uint64_t count);
int gn_flat_slots_unpin(int64_t slots, uint64_t stream, const int32_t *slot, uint64_t count);
int gn_flat_slots_mark(int64_t slots, uint64_t stream, const int32_t *slot, uint64_t count);
int gn_flat_slots_flush(int64_t slots, uint64_t stream);
int gn_flat_slots_clear(int64_t slots, uint64_t stream);

/* gn_flat_slots_check - the first failure on the device that no call has returned yet; waits for nothing. */
int gn_flat_slots_check(int64_t slots);

/* gn_flat_slots_settle - wait for all that the slots' device has been given to do, then check. */
int gn_flat_slots_settle(int64_t slots);

/*
 * value: batches, hits, misses, fetched, evicted, no_slot, refused, failed, written, examined, after all that
 * the stream was given, for which it waits
 */
int gn_flat_slots_statistics(int64_t slots, uint64_t stream, uint64_t value[10]);

/* ---- all ---- */

/*
 * gn_flat_close - give an object back. A cache is flushed first, an array checked, and slots both.
 * @discard  1: do neither; what was not flushed may be lost
 * Returns 0, -GN_EINVAL (no open object), -GN_EBUSY (close first what was opened on it; or another thread's
 * call uses it), or the failure of the flush or check. After a failure the object is still open.
 */
int gn_flat_close(int64_t handle, int discard);

#ifdef __cplusplus
}
#endif

#endif
