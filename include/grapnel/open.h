/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open.h - the short form: one call makes an array, with the machine, the store and the cache that it needs.
 *
 *     struct gn_data numbers;
 *     struct gn_options options = {0};
 *     options.element_bytes = 4;
 *     gn_open(&numbers, "file:numbers.bin", &options, &error);
 *     ... kernel arguments take numbers.array by value ...
 *     gn_launch(&numbers, &sum_kernel, grid, &arguments, &error);
 *     gn_close(&numbers, &error);
 *
 * If one of the three fails, error.text says what went wrong, where, and what to do. gn_open makes ordinary
 * objects of the layers below, which may be used with their functions: numbers.machine (simt.h),
 * numbers.store (store.h), numbers.cache (cache.h), numbers.array (array.h).
 */
#ifndef GRAPNEL_OPEN_H
#define GRAPNEL_OPEN_H

#include <grapnel/array.h>
#include <grapnel/cache.h>
#include <grapnel/error.h>
#include <grapnel/simt.h>
#include <grapnel/store.h>

#if !defined(__CUDACC_RTC__)
#ifdef __cplusplus
extern "C" {
#endif

struct gn_data;

/* Zero is a good default for every member but element_bytes. */
struct gn_options {
	const char *machine;    /* "cpu", "cuda" or "cuda:1"; NULL for "cpu" */
	enum gn_mode mode;      /* GN_PAGED; or GN_DIRECT: without a cache, for stores that are memory */
	uint32_t element_bytes; /* 1, 2, 4, 8 or 16 */
	uint64_t offset;        /* of element 0 in the store, in bytes; a multiple of element_bytes */
	uint64_t count;         /* elements; 0 for all that the store holds from offset on */
	/*
	 * cache.bytes 0: the bytes of the array, at most an eighth of the machine's memory, but at least 1
	 * MiB and at least 16 times cache.page_bytes
	 */
	struct gn_cache_options cache;
	struct gn_store_options store;
	struct simt_options machine_options; /* its name is ignored: machine above is the name */
	/*
	 * NULL, or data that is open: use its machine, with a new store and cache. Then machine and
	 * machine_options are ignored
	 */
	struct gn_data *beside;
};

/*
 * An array, with its machine, store and cache. The members may be used; gn_close closes them. Do not move
 * the struct while other data use its machine.
 */
struct gn_data {
	struct gn_array array; /* for kernels: by value in their arguments */
	struct simt_machine *machine;
	struct gn_store *store;
	struct gn_cache *cache; /* NULL in direct mode */
	struct gn_data *owner;  /* the data that opened the machine; NULL: this one did */
	unsigned others;        /* how many other data use the machine that this one opened */
};

/*
 * gn_open - open a store on a machine, and make a cache over it and an array of its elements.
 * @data     receives all of it; end with gn_close. On failure there is nothing to close
 * @uri      of the store, such as "host:8G", "file:PATH?ro", "file:PATH?create=1G" (store.h)
 * @options  borrowed until return
 * Host. Returns 0; -GN_EINVAL (an option is not valid; or count is 0 and the store has no element at offset);
 * or the code of simt_open, gn_store_open, gn_cache_create or gn_array_create, whichever failed.
 */
int gn_open(struct gn_data *data, const char *uri, const struct gn_options *options, struct gn_error *error);

/*
 * gn_launch - run a kernel on the data's machine, and wait for its end.
 * @grid       blocks 0: as many threads as the machine runs at once, in blocks of block_threads, where 0
 *             means 256. On cpu, over a file or drive, not more threads than a page has elements (in
 *             smaller blocks, if it needs), but a block for each OS thread. With blocks, block_threads
 *             must be given, too
 * @arguments  the kernel's argument struct
 * Host, one thread a machine at a time. Returns 0; -GN_EINVAL (the data is not open); the code of simt_launch
 * or simt_wait; or the first failure of an access to data->array that no earlier call has reported
 * (gn_array_failure). If the kernel uses a second array, call gn_array_failure for that array too; otherwise
 * its gn_close reports the failure.
 */
int gn_launch(struct gn_data *data, const struct simt_kernel *kernel, struct simt_grid grid,
              const void *arguments, struct gn_error *error);

/*
 * gn_flush - wait for the machine's own stream, then flush: the cache (gn_cache_flush), or in direct mode the
 * store (gn_store_flush). Call it before gn_store_read_host, which does not see what is still in the cache.
 * Host. Returns 0 (every write before it that did not fail is in the store), -GN_EINVAL (the data is not
 * open), or the code of the first failure.
 * Pages that could not be written stay in the cache.
 */
int gn_flush(struct gn_data *data, struct gn_error *error);

/*
 * gn_close - flush, and give everything back. Kernels on other streams must have ended.
 * Host. Returns 0, also for data that is not open. With any other code nothing was closed, and gn_close may
 * be called again:
 *   - -GN_EBUSY: other data use the machine of this one (options.beside): close them first
 *   - the code of gn_flush: pages that could not be written stay in the cache. Remove the cause and call
 *     gn_close again, or drop the changes by gn_discard. If the system could not make a file durable, every
 *     later gn_close fails, too (gn_store_flush): only gn_discard closes then
 *   - the code of a failed access to data->array that no earlier call has reported. The next gn_close does
 *     not report it again
 */
int gn_close(struct gn_data *data, struct gn_error *error);

/*
 * gn_discard - wait for the machine's own stream, and give everything back without a flush. Changes that were
 * not flushed are lost, except those of pages that were evicted before. In direct mode all changes are in the
 * store. Kernels on other streams must have ended. Host. Returns 0, or -GN_EBUSY as
 * gn_close.
 */
int gn_discard(struct gn_data *data, struct gn_error *error);

#ifdef __cplusplus
}
#endif
#endif

#endif
