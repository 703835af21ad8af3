/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort.h - a sort of keys that may be larger than the machine's memory.
 */
#ifndef GN_SORT_SORT_H
#define GN_SORT_SORT_H

#include <grapnel/array.h>
#include <grapnel/cache.h>
#include <grapnel/error.h>
#include <grapnel/simt.h>

/*
 * What keys are. Floating-point numbers are in the order of their signs and magnitudes, IEEE 754's
 * totalOrder: -0 before 0, numbers that are none behind infinity, or with a sign before -infinity.
 */
enum gn_sort_type { GN_SORT_U32, GN_SORT_U64, GN_SORT_I32, GN_SORT_I64, GN_SORT_F32, GN_SORT_F64 };

/* gn_sort_key_bytes - bytes of a key: 4 or 8. */
uint32_t gn_sort_key_bytes(enum gn_sort_type type);

/* How the keys are cut. Plain data. */
struct gn_sort_plan {
	uint64_t room;     /* keys that the machine's memory holds, with as many spare places */
	uint64_t run_keys; /* of each run but the last, which has the rest: whole pages */
	uint64_t runs;     /* 1: all keys are sorted at once */
	/* With more than one run. Every interval-th key of a run is a sample. */
	uint64_t interval;
	uint64_t bucket_samples; /* from a bucket's first key to the next one's. Never more keys than room */
};

/*
 * gn_sort_plan_make - find out how so many keys are sorted in so much memory.
 * @memory_bytes  of the machine: half for keys, half for spare places
 * @page_bytes    of the cache; 0: direct mode
 * Returns 0; -GN_EINVAL: no keys; -GN_ENOBUFS: the memory is too small. It holds a page, 1 of 1024 keys, and
 * four keys for each run. The message says how much is enough.
 */
int gn_sort_plan_make(struct gn_sort_plan *plan, uint64_t count, uint32_t key_bytes, uint64_t memory_bytes,
                      uint32_t page_bytes, struct gn_error *error);

struct gn_sort {
	struct gn_array from; /* the keys */
	/* As many keys, all in the same mode, and each begins with a page of its store. */
	struct gn_array runs;   /* for what lies between; not used with one run; not one of the others */
	struct gn_array to;     /* receives the sorted keys; may be from */
	struct gn_cache *cache; /* in front of all three; NULL in direct mode */
	enum gn_sort_type type;
	struct gn_sort_plan plan; /* for this count, and the cache's pages */
};

struct gn_sort_result {
	uint64_t buckets;
	double seconds;      /* of all; what is in the cache is not flushed */
	double sort_seconds; /* of these, in the machine's own memory */
};

/*
 * gn_sort_run - sort.
 * Runs are fetched, sorted, and written. Buckets are found: a bucket's keys are in no order below those of
 * the next, and lie together in each run. Each bucket is fetched, sorted, and written. So each key is read
 * and written twice; with one run, once.
 * Host. Runs on the machine's own stream. Returns 0; -GN_EINVAL (arrays of other sizes); -GN_ENOMEM; what an
 * array could not read or write; what the machine failed with. Then the keys of `to` are undefined.
 * Source: Shi and Schaeffer, "Parallel sorting by regular sampling", 1992: the samples bound the buckets,
 * whatever the keys.
 */
int gn_sort_run(struct simt_machine *machine, const struct gn_sort *sort, struct gn_sort_result *result,
                struct gn_error *error);

/* ---- the verifier: shares nothing with the sort ---- */

/* What a set of keys adds up to, in any order. Zero before the first key. */
struct gn_sort_sum {
	uint64_t keys, sum, mixed;
};

/* gn_sort_sum_add - add keys. */
void gn_sort_sum_add(struct gn_sort_sum *sum, enum gn_sort_type type, const void *keys, uint64_t count);

/* gn_sort_compare - for qsort: the function that compares two keys of a type. */
int (*gn_sort_compare(enum gn_sort_type type))(const void *, const void *);

/* gn_sort_first_below - the first key that is below the one before it, or count. */
uint64_t gn_sort_first_below(enum gn_sort_type type, const void *keys, uint64_t count);

#endif
