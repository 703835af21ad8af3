/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixture.h - what the library itself is measured on, by rows of scope and by the commands: a machine, a
 * store, a cache.
 *
 * Each way has two rows, grapnel-cpu/WAY and grapnel-gpu/WAY, of the same functions: which machine it is the
 * row's name says. Time is that of the host around launch and wait; a sample has so many operations that the
 * launch is a small part.
 */
#ifndef GN_SCOPE_FIXTURE_H
#define GN_SCOPE_FIXTURE_H

#include <grapnel/array.h>
#include <grapnel/cache.h>
#include <grapnel/simt.h>
#include <grapnel/store.h>

#include "scope/scope.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fixture {
	struct simt_machine *machine;
	struct simt_info info;
	struct gn_store *store;
	struct gn_cache *cache;
	/* zero, unless who opens the fixture wants something else of all stores or caches */
	struct gn_store_options store_options;
	struct gn_cache_options cache_options;
	uint64_t least; /* operations of a sample, so that the launch does not count */
};

/* fixture_is_gpu - is it a row of the cuda machine? */
bool fixture_is_gpu(const struct scope_row *row);

/* fixture_may - can the row be measured at all? Otherwise it is skipped in p, whose code is in *rc. */
bool fixture_may(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p, int *rc);

/* fixture_open - a machine, and zero in all else of b. Returns 0 or a code; fixture_close in any case. */
int fixture_open(struct fixture *b, const struct simt_options *config, struct gn_error *e);
void fixture_close(struct fixture *b);

/* fixture_open_row - the machine of the cell's row. */
int fixture_open_row(struct fixture *b, const struct scope_cell *c, struct gn_error *e);

/* fixture_store - open a store; @uri is printf's. */
int fixture_store(struct fixture *b, struct gn_error *e, const char *uri, ...)
    __attribute__((format(printf, 3, 4)));

/* fixture_cache - a cache of so many bytes before the store; counts what it fetches if `counts`. */
int fixture_cache(struct fixture *b, uint64_t bytes, uint32_t page_bytes, int counts, struct gn_error *e);

/* fixture_array - an array of u32 of the store from a byte on, through the cache if there is one. */
int fixture_array(struct fixture *b, struct gn_array *array, uint64_t offset, uint64_t words,
                  struct gn_error *e);

/* fixture_array_end - end an array, also one that was never made. Returns rc, or what it failed with. */
int fixture_array_end(struct fixture *b, struct gn_array *array, int rc, struct gn_error *e);

/* fixture_uncache - end the cache, if there is one. */
void fixture_uncache(struct fixture *b);

/* fixture_fetched - bytes that the cache has fetched. */
uint64_t fixture_fetched(struct fixture *b);

/* fixture_full_grid - as many as the machine runs at once. */
struct simt_grid fixture_full_grid(const struct fixture *b);

/* fixture_grid - so many warps, a power of two, over as many processors as there are. */
struct simt_grid fixture_grid(const struct fixture *b, uint64_t warps);

/* fixture_launch - a kernel `times` over, one behind the other, to their end. */
int fixture_launch(struct fixture *b, const struct simt_kernel *kernel, struct simt_grid grid,
                   const void *args, uint64_t times, double *seconds, struct gn_error *e);

/* One sample of a row whose state this is. */
typedef int (*fixture_once)(void *state, uint64_t operations, struct scope_sample *s, struct gn_error *e);

/* fixture_settle - from how many operations on a sample takes long enough: b->least, by doubling. Warms what
 * can be warmed. */
int fixture_settle(struct fixture *b, fixture_once once, void *state, struct gn_error *e);

/* ---- what rows are made of ---- */

extern const struct scope_functions scope_page_in, scope_miss, scope_hit; /* cache_rows.c */
extern const struct scope_functions scope_gather;                         /* gather_rows.c */
extern const struct scope_functions scope_queue;                          /* queue_rows.c */
extern const struct scope_functions scope_log;                            /* log_rows.c */

#ifdef __cplusplus
}
#endif

#endif
