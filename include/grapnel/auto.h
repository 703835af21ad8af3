/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auto.h - an array that chooses its mode by itself: DualOpt's decision engine, in software.
 *
 *     gn_auto_open(&choice, machine, store, &options, &error);
 *     for (each launch) {
 *             args.array = gn_auto_array(choice);      by value, for this launch
 *             simt_launch(machine, &kernel, grid, &args);
 *             simt_wait(machine);
 *             gn_auto_adapt(choice, &error);           looks, decides, switches
 *     }
 *     gn_auto_flush(choice, &error);                   if it was written
 *     gn_auto_close(choice);
 *
 * The first launch reads through a cache and notes a sample of its accesses (detail/array/sample.h).
 * gn_auto_adapt works out from the sample how many lines of 128 bytes each choice would move: loads from the
 * store's own memory, and a cache of each page size. It takes the choice that moves the fewest. Nothing is
 * timed. The second launch is sampled, too, and then fewer and fewer launches, as long as the choice stays.
 * docs/auto.md says more.
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

/* Page sizes that are judged and chosen from: 512, 1 K, 2 K, 4 K, 16 K and 64 KiB. */
enum { GN_AUTO_PAGE_SIZES = 6 };

/* Zero is a good default for every member but cache_bytes, count and element_bytes. */
struct gn_auto_options {
	uint64_t cache_bytes;   /* of all frames together, whatever the page size */
	uint64_t offset;        /* of element 0 in the store, a multiple of element_bytes */
	uint64_t count;         /* elements */
	uint32_t element_bytes; /* 1, 2, 4, 8 or 16 */
	uint32_t touches;       /* room of the sample; 0 for 12288 */
	enum gn_cache_policy policy;
	/* of the processors' own caches, through which direct loads go; 0 for a guess */
	uint64_t near_bytes;
	uint64_t reach_bytes; /* memory that address translation covers at full speed; 0 for 1 GiB */
};

/* What the accesses are best made with. */
enum gn_auto_advice {
	GN_ADVICE_PAGED,
	GN_ADVICE_DIRECT,
	/* read in batches, in order of address: that would move less, or have fewer addresses translated */
	GN_ADVICE_GATHER
};

/* What is chosen now. */
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
 * Host. Returns 0 or what gn_cache_create and gn_array_create return; -GN_EINVAL (cache_bytes are less than
 * sixteen pages, touches too few).
 */
int gn_auto_open(struct gn_auto **choice, struct simt_machine *machine, struct gn_store *store,
                 const struct gn_auto_options *options, struct gn_error *error);

/* gn_auto_close - give everything back; NULL is nothing. Does NOT flush. Host, no kernel running. */
void gn_auto_close(struct gn_auto *choice);

/* gn_auto_array - the array for the next launch. Host. Valid until the next gn_auto_adapt. */
struct gn_array gn_auto_array(const struct gn_auto *choice);

/*
 * gn_auto_adapt - analyse the launches since gn_auto_array, and set the mode for the next. A change of mode
 * flushes, so that nothing that was written is lost. Host, no kernel running (after simt_wait). Returns 1 if
 * mode or page size changed, 0 if not; -GN_EIO and others of gn_cache_flush (mode and cache are kept),
 * -GN_ENOMEM.
 */
int gn_auto_adapt(struct gn_auto *choice, struct gn_error *error);

/* gn_auto_flush - every write before it is in the store. As gn_cache_flush. */
int gn_auto_flush(struct gn_auto *choice, struct gn_error *error);

/* gn_auto_failure - as gn_array_failure. */
int gn_auto_failure(struct gn_auto *choice, struct gn_error *error);

/* gn_auto_advice - what the accesses are best made with, as far as was seen. Host. */
enum gn_auto_advice gn_auto_advice(const struct gn_auto *choice);

/* gn_auto_describe - what is chosen now. Host. */
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
