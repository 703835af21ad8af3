/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auto.h - an array that chooses its mode by itself: DualOpt's decision engine, in software.
 *
 *     gn_auto_open(&choice, machine, store, &options, &error);
 *     for (each launch) {
 *             args.array = gn_auto_array(choice);      by value, for this launch
 *             simt_launch(machine, &kernel, grid, &args, &error);
 *             simt_wait(machine, &error);
 *             gn_auto_adapt(choice, &error);           looks at the launch, decides, switches
 *     }
 *     gn_auto_flush(choice, &error);                   if it was written
 *     gn_auto_close(choice);
 *
 * The first launch reads through a cache (on the cpu machine directly, if the store is memory) and notes a
 * sample of its accesses (detail/array/sample.h). gn_auto_adapt computes from the sample how many lines of
 * 128 bytes each choice would move: loads from the store's own memory, and a cache of each page size. It
 * takes the choice that moves the fewest. Nothing is timed. The second launch is sampled, too, and then fewer
 * and fewer launches, as long as the choice stays. docs/auto.md says more.
 *
 * The idea to sample a launch, and to choose the mode of the next one from it, is DualOpt's (section 4.3).
 */
#ifndef GRAPNEL_ARRAY_AUTO_H
#define GRAPNEL_ARRAY_AUTO_H

#include <grapnel/array.h>
#include <grapnel/cache.h>
#include <grapnel/error.h>
#include <grapnel/simt.h>
#include <grapnel/store.h>

#if !defined(__CUDACC_RTC__)
#ifdef __cplusplus
extern "C" {
#endif

/* The page sizes to choose from: 512, 1 K, 2 K, 4 K, 16 K and 64 KiB; up to 4 KiB if the store is memory. */
enum { GN_AUTO_PAGE_SIZES = 6 };

/* Zero is a good default for every member but cache_bytes, count and element_bytes. */
struct gn_auto_options {
	uint64_t cache_bytes;   /* of all frames together, whatever the page size */
	uint64_t offset;        /* of element 0 in the store, a multiple of element_bytes */
	uint64_t count;         /* elements */
	uint32_t element_bytes; /* 1, 2, 4, 8 or 16 */
	uint32_t touches;       /* accesses that a sample has room for, 128 or more; 0 for 12288 */
	enum gn_cache_policy policy;
	uint64_t near_bytes;  /* of the processors' own caches, through which direct loads go; 0: estimated */
	uint64_t reach_bytes; /* memory that address translation covers at full speed; 0 for 1 GiB */
};

/* The best way to make these accesses. */
enum gn_auto_advice {
	GN_ADVICE_PAGED,
	GN_ADVICE_DIRECT,
	/* batches of rows (gather.h), read in order of address: fewer bytes or fewer address translations */
	GN_ADVICE_GATHER
};

/* The current choice. */
struct gn_auto_state {
	enum gn_mode mode;
	uint32_t page_bytes; /* 0 in direct mode */
	enum gn_auto_advice advice;
	uint64_t launches, samples, switches;
};

struct gn_auto;

/*
 * gn_auto_open - an array of a store, with a cache of its own.
 * @choice  receives it; owned, gn_auto_close before the store and the machine
 * @store   borrowed until close
 * Host. Returns 0 or what gn_cache_create and gn_array_create return; -GN_EINVAL (count, element_bytes or
 * cache_bytes is 0; cache_bytes hold fewer than sixteen pages of every size that is possible here; touches
 * are fewer than 128).
 */
int gn_auto_open(struct gn_auto **choice, struct simt_machine *machine, struct gn_store *store,
                 const struct gn_auto_options *options, struct gn_error *error);

/* gn_auto_close - give everything back; NULL does nothing. Does NOT flush. Host, no kernel running. */
void gn_auto_close(struct gn_auto *choice);

/* gn_auto_array - the array for the next launch. Host. Valid until the next gn_auto_adapt. */
struct gn_array gn_auto_array(const struct gn_auto *choice);

/*
 * gn_auto_adapt - analyse the launch since gn_auto_array, and choose mode and page size for the next one.
 * Call it once after each launch. A change flushes first, so that no write is lost. Host, no kernel running
 * (after simt_wait). Returns 1 if mode or page size changed, 0 if not; a code of gn_cache_flush, such as
 * -GN_EIO (mode and cache are kept); -GN_ENOMEM.
 */
int gn_auto_adapt(struct gn_auto *choice, struct gn_error *error);

/* gn_auto_flush - as gn_cache_flush; in direct mode as gn_store_flush. */
int gn_auto_flush(struct gn_auto *choice, struct gn_error *error);

/* gn_auto_failure - as gn_array_failure. */
int gn_auto_failure(struct gn_auto *choice, struct gn_error *error);

/* gn_auto_advice - the best way to make these accesses, by the samples so far. Host. */
enum gn_auto_advice gn_auto_advice(const struct gn_auto *choice);

/* gn_auto_describe - fill state with the current choice. Host. */
void gn_auto_describe(const struct gn_auto *choice, struct gn_auto_state *state);

/*
 * gn_auto_explain - describe the last sample, the choice and its reasons, in words and numbers.
 * @to, @bytes  receives text that ends in a NUL, cut where it does not fit
 * Host. Returns the length of the whole text, as snprintf.
 */
int gn_auto_explain(const struct gn_auto *choice, char *to, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif

#endif
