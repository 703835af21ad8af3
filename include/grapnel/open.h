/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open.h - the short way in: an array by one call, with the machine, the store and the cache that it needs.
 *
 *     struct gn_data numbers;
 *     struct gn_options options = {0};
 *     options.element_bytes = 4;
 *     gn_open(&numbers, "file:numbers.bin", &options, &error);
 *     ... kernel arguments take numbers.array by value ...
 *     gn_launch(&numbers, &sum_kernel, grid, &arguments, &error);
 *     gn_close(&numbers, &error);
 *
 * Each of the three says in error.text what went wrong, where, and what to do. What gn_open makes are ordinary objects of the
 * layers below, and may be used with their functions: numbers.machine (simt.h), numbers.store (store.h), numbers.cache
 * (cache.h), numbers.array (array.h).
 */
#ifndef GRAPNEL_OPEN_H
#define GRAPNEL_OPEN_H

#include <grapnel/array.h>
#include <grapnel/cache.h>
#include <grapnel/error.h>
#include <grapnel/simt.h>
#include <grapnel/store.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zero is a good default for every member but element_bytes. */
struct gn_options {
	const char *machine;    /* "cpu", "cuda" or "cuda:1"; NULL for "cpu" */
	enum gn_mode mode;      /* GN_PAGED, or GN_DIRECT: without a cache, of stores that are memory */
	uint32_t element_bytes; /* 1, 2, 4, 8 or 16 */
	uint64_t offset;        /* of element 0 in the store, in bytes */
	uint64_t count;         /* elements; 0 for all that the store holds from there on */
	struct gn_cache_options cache; /* bytes 0: the array's, at most an eighth of the machine's memory, 1 MiB at least */
	struct gn_store_options store;
	struct simt_config machine_options; /* its name is not looked at: machine says it */
	const struct gn_data *beside;       /* opened before: use its machine, and nothing else of it. It is closed later than this */
};

/* An array, and what it stands on. The members may be used; gn_close gives them back. */
struct gn_data {
	struct gn_array array; /* for kernels: by value in their arguments */
	struct simt_machine *machine;
	struct gn_store *store;
	struct gn_cache *cache; /* NULL in direct mode */
	int owns_machine;
};

/*
 * gn_open - open a store on a machine, and make a cache over it and an array of its elements.
 * @data     receives all of it; end with gn_close. On failure there is nothing to close
 * @uri      of the store, such as "host:8G", "file:PATH?ro", "file:PATH?create=1G" (store.h)
 * @options  borrowed until return
 * Host. Returns 0, or the code of what failed: of simt_open, gn_store_open, gn_cache_create or gn_array_create; -GN_EINVAL also
 * where the store holds no element from offset on.
 */
int gn_open(struct gn_data *data, const char *uri, const struct gn_options *options, struct gn_error *error);

/*
 * gn_launch - run a kernel on the data's machine, and wait for its end.
 * @grid       blocks 0: as many threads as the machine runs at once, in blocks of 256 where block_threads is 0, too
 * @arguments  the kernel's argument struct
 * Host, one thread a machine at a time. Returns 0; the code of simt_launch or simt_wait; or the first failure of an access to
 * data->array, as gn_array_failure. Of other arrays that the kernel uses ask gn_array_failure.
 */
int gn_launch(struct gn_data *data, const struct simt_kernel *kernel, struct simt_grid grid, const void *arguments,
	      struct gn_error *error);

/*
 * gn_flush - write what kernels changed to the store, as gn_cache_flush; in direct mode gn_store_flush.
 * Returns 0: every write before it that did not fail is in the store. Else the code of the first failure; what could not be
 * written stays in the cache.
 */
int gn_flush(struct gn_data *data, struct gn_error *error);

/*
 * gn_close - flush, and give everything back.
 * Returns 0; or the code of gn_flush, and then nothing is closed or lost: make room, or repair what is wrong, and call it
 * again, or give the changes up by gn_discard.
 */
int gn_close(struct gn_data *data, struct gn_error *error);

/* gn_discard - give everything back without a flush: changes that were not flushed are lost. */
void gn_discard(struct gn_data *data);

#ifdef __cplusplus
}
#endif

#endif
