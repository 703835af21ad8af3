/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array/auto.h - an array that finds out by itself how it is best read: DualOpt's decision engine, in software.
 *
 *     gn_auto_open(&choice, machine, store, &config, &error);
 *     for (each launch) {
 *             args.array = gn_auto_array(choice);      by value, for this launch
 *             simt_launch(machine, &kernel, grid, &args);
 *             simt_wait(machine);
 *             gn_auto_adapt(choice, &error);           looks, decides, switches
 *     }
 *     gn_auto_flush(choice, &error);                   if it was written
 *     gn_auto_close(choice);
 *
 * The first launch is looked at (array/sample.h) while it runs through a cache that fetches reluctantly. From what was
 * seen, and from what this machine was measured to do (gn_auto_rates), follows how long the launch would have taken with
 * loads from the store's own memory and with caches of each page size; the shortest is taken. Later launches are only
 * timed: when the time changes by a fifth, and after 16, 256, ... launches, one is looked at again. Where a choice takes
 * longer than was forecast, the clock counts, and the forecasts of its kind are corrected by it. docs/auto.md says more.
 *
 * Source: DualOpt, section 4.3 (sampling, the three classes and their thresholds).
 */
#ifndef GRAPNEL_ARRAY_AUTO_H
#define GRAPNEL_ARRAY_AUTO_H

#include <grapnel/array.h>
#include <grapnel/cache.h>
#include <grapnel/error.h>
#include <grapnel/simt.h>
#include <grapnel/store.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Page sizes that are judged and chosen from: 512, 1 K, 2 K, 4 K, 16 K and 64 KiB. */
enum { GN_AUTO_PAGE_SIZES = 6 };

/* What a machine does with a store. Seconds each, with all its threads at work. */
struct gn_auto_rates {
	int measured;             /* 0: not yet; gn_auto_open measures and fills it */
	double line, sector;      /* a load of s sectors of a line from the store's memory takes line + s * sector */
	double again;             /* a load of a line that was loaded just before: what the processors' own caches are for */
	double lost;              /* what it takes longer where the data are beyond the reach of address translation */
	uint64_t near_bytes;      /* of those caches, a guess; set it before if better is known */
	uint64_t reach_bytes;     /* that reach; set it before if another is known, 0 for 1 GiB */
	double together[GN_AUTO_PAGE_SIZES]; /* a missing page that a whole warp wants */
	double alone[GN_AUTO_PAGE_SIZES];    /* a missing page that one lane wants */
	double hit;               /* an element that is in the cache */
	double pin;               /* a page by reference that is in the cache */
	double held;              /* a line read through such a reference */
	double change;            /* making one cache and giving back another */
	double seconds;           /* that measuring took */
};

/* Zero is a good default for every member but cache_bytes, count and element_bytes. */
struct gn_auto_config {
	uint64_t cache_bytes;        /* of all frames together, whatever the page size */
	uint64_t offset;             /* of element 0 in the store, a multiple of element_bytes */
	uint64_t count;              /* elements */
	uint32_t element_bytes;      /* 1, 2, 4, 8 or 16 */
	uint32_t touches;            /* room of the sample; 0 for 20480 */
	enum gn_cache_policy policy;
	struct gn_auto_rates *rates; /* kept for the next open of this machine and kind of store; borrowed until return */
	double remote_share;         /* DualOpt's thresholds: below, all is local; 0 for 0.02 */
	double line_use;             /* below, and */
	double hit_share;            /* below: cache-insensitive; 0 for 0.2 and 0.4 */
};

/* What the accesses are best made with. */
enum gn_auto_advice {
	GN_ADVICE_PAGED,
	GN_ADVICE_DIRECT,
	GN_ADVICE_GATHER /* scattered over more than address translation reaches, or lanes walk lines each by itself: read in
			    batches, in order of address */
};

/* DualOpt's classes. */
enum gn_auto_class { GN_CLASS_UNKNOWN, GN_CLASS_LOCAL, GN_CLASS_FRIENDLY, GN_CLASS_INSENSITIVE };

/* What is chosen now. */
struct gn_auto_state {
	enum gn_mode mode;
	uint32_t page_bytes;        /* 0 in direct mode */
	enum gn_auto_advice advice;
	enum gn_auto_class class_seen;
	uint64_t launches, looks, switches;
	double forecast_seconds;    /* of a launch like the last that was looked at; 0 before the first */
};

struct gn_auto;

/*
 * gn_auto_open - an array of a store, with a cache of its own.
 * @choice  receives it; owned, gn_auto_close before the store and the machine
 * @store   borrowed until close
 * Measures the machine for about a fifth of a second, reading the store, unless config.rates is measured.
 * Host. Returns 0 or what gn_cache_create and gn_array_create return; -GN_EIO if measuring failed.
 */
int gn_auto_open(struct gn_auto **choice, struct simt_machine *machine, struct gn_store *store,
		 const struct gn_auto_config *config, struct gn_error *error);

/* gn_auto_close - give everything back; NULL is nothing. Does NOT flush. Host, no kernel running. */
void gn_auto_close(struct gn_auto *choice);

/*
 * gn_auto_array - the array for the next launch. Host. Valid until the next gn_auto_adapt; the time from here to there
 * counts as the launch's, so call it just before.
 */
struct gn_array gn_auto_array(struct gn_auto *choice);

/*
 * gn_auto_adapt - look back at the launches since gn_auto_array, and set the mode for the next.
 * A change of mode flushes, so that nothing that was written is lost.
 * Host, no kernel running (after simt_wait). Returns 1 if mode or page size changed, 0 if not; -GN_EIO and others of
 * gn_cache_flush (mode and cache are kept), -GN_ENOMEM.
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
 * gn_auto_explain - what was seen at the last look, what was chosen and why, in words and numbers.
 * @to, @bytes  receives text that ends in a NUL, cut where it does not fit
 * Host. Returns the length of the whole text, as snprintf.
 */
int gn_auto_explain(const struct gn_auto *choice, char *to, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
