/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array.h - what users touch: typed elements of a store, read and written by any thread.
 *
 *     uint32_t x = gn_read_u32(&array, i);            the value; a failure is kept in the array
 *     int rc = gn_array_read(&array, i, &x);          the code
 *     struct gn_cursor c = gn_cursor_init(&array);    repeated touches of one page cost a look, not a look-up
 *     uint32_t y = gn_cursor_read_u32(&c, i);
 *     gn_array_acquire(&array, mask, i, GN_READ, &page);   a page by reference: plain loads, 16 bytes at a time
 *     gn_range_begin(&array, mask, i, j, GN_READ);         all pages of a run, one after the other: the fastest
 *
 * The intent of the last two is GN_READ, GN_WRITE (change parts of a page) or GN_OVERWRITE (write every byte of it before anybody
 * reads one, so that it is not fetched).
 *
 * Reads and writes may be called from divergent code by any lanes; lanes that are together and touch one page act
 * once. Memory order is that of ordinary device memory: races between user threads are the user's. An array is in
 * one mode at a time:
 *
 *   GN_PAGED   through a cache
 *   GN_DIRECT  fine-grained loads and stores on the store's own memory (byte-addressable stores only)
 *
 *   detail/array/read.h, write.h   one element
 *   detail/array/atomic.h          one element, changed as one step
 *   detail/array/cursor.h          elements one after the other
 *   detail/array/recent.h          the cursor of gn::array, which is in grapnel.hpp
 *   detail/array/page.h, range.h   pages by reference: one, one a lane, all of a run
 *   detail/array/prefetch.h        what will be read soon
 *   gather.h          batches of rows by number, in the order of their addresses
 *   auto.h            an array that chooses its mode
 *
 * An access of another size than the elements' is refused and kept as -GN_EINVAL: gn_read_u32 of an array of bytes
 * reads nothing.
 *
 * Value forms return 0 for what cannot be read; nothing ever returns wrong data silently: the array keeps the first
 * failure (index, code, device status) where host and device can read it (gn_array_failure).
 */
#ifndef GRAPNEL_ARRAY_H
#define GRAPNEL_ARRAY_H

#include <grapnel/detail/array/view.h>
#include <grapnel/cache.h>
#include <grapnel/error.h>
#include <grapnel/simt.h>
#include <grapnel/store.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What an array is made of. */
struct gn_array_config {
	enum gn_mode mode;
	struct gn_cache *cache; /* paged; NULL in direct mode */
	struct gn_store *store; /* one of the cache's; direct: any byte-addressable one */
	uint64_t offset;        /* of element 0 in the store, in bytes; a multiple of element_bytes */
	uint64_t count;         /* elements */
	uint32_t element_bytes; /* 1, 2, 4, 8 or 16 */
};

/*
 * gn_array_create - describe elements of a store.
 * @array   receives the handle; end with gn_array_destroy. Cache, store and machine outlive it.
 * Host. Returns 0, -GN_EINVAL (element size, offset; a store that is not the cache's), -GN_ERANGE (reaches past the
 * store), -GN_ENOTSUP (direct mode on a store that is not byte-addressable), -GN_ENOMEM.
 */
int gn_array_create(struct gn_array *array, struct simt_machine *machine, const struct gn_array_config *config,
		    struct gn_error *error);

/* gn_array_destroy - give the handle's memory back. Does NOT flush. Host. */
void gn_array_destroy(struct gn_array *array, struct simt_machine *machine);

/*
 * gn_array_failure - the first failure since the last call, if any, and forget it.
 * Any host thread at any time: after the launch's end it is complete, and while kernels run it can be polled, since the
 * record is in pinned memory. Waits for nothing.
 * Returns 0 (none yet) or its code with index, code and device status in the message.
 */
int gn_array_failure(struct gn_array *array, struct gn_error *error);

#ifdef __cplusplus
}
#endif

#include <grapnel/detail/array/atomic.h>
#include <grapnel/detail/array/cursor.h>
#include <grapnel/detail/array/page.h>
#include <grapnel/detail/array/prefetch.h>
#include <grapnel/detail/array/range.h>
#include <grapnel/detail/array/read.h>
#include <grapnel/detail/array/write.h>

#endif
