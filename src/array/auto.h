/* SPDX-License-Identifier: Apache-2.0 */
/* auto.h - what the parts of gn_auto share: a launch's log, a cache's model, the analysis, the state. */
#ifndef GN_ARRAY_AUTO_PRIVATE_H
#define GN_ARRAY_AUTO_PRIVATE_H

#include <grapnel/auto.h>
#include <grapnel/detail/array/sample.h>

#ifdef __cplusplus
extern "C" {
#endif

static const uint32_t gn_auto_page_bytes[GN_AUTO_PAGE_SIZES] = {512, 1024, 2048, 4096, 16384, 65536};

/* Choices: a page size each, then direct. */
enum { GN_AUTO_DIRECT = GN_AUTO_PAGE_SIZES, GN_AUTO_CHOICES };

/* ---- the model ---- */

/* A cache, of which pages are fetched by sectors, as detail/cache/sector.h has it. */
struct gn_auto_model {
	uint32_t page_log2, sector_log2;
	uint64_t capacity; /* pages */
	uint32_t covering; /* a write of so many elements of a line fetches nothing */
	int bypasses;      /* reads of rows of batches leave the cache as it is where a page is absent */
};

/* What it did with touches. */
struct gn_auto_moved {
	uint64_t hits;
	uint64_t fetches, sectors;      /* how often something was fetched, and how much */
	uint64_t frames;                /* pages that were given a frame */
	uint64_t dirtied, page_dirtied; /* sectors, and pages, that became dirty: each is written back once */
	uint64_t bypassed;              /* lines read around the cache */
};

/* Touches in the order in which they came. Those before `from` are of an earlier launch, and not counted. */
struct gn_auto_trace {
	const uint64_t *touch;
	uint64_t from, count;
};

/* gn__auto_replay - the touches through an LRU cache that is empty at first. Returns 0 or -GN_ENOMEM. */
int gn__auto_replay(const struct gn_auto_trace *trace, const struct gn_auto_model *model,
                    struct gn_auto_moved *out);

/* ---- the analysis ---- */

/* What is judged by. */
struct gn_auto_setup {
	uint64_t first_byte, bytes; /* of the array in the store */
	uint64_t cache_bytes, near_bytes, reach_bytes;
	uint32_t element_bytes;
	uint32_t block_log2; /* the store's */
	int has_memory;      /* loads reach the store */
	int is_near;         /* and its memory is the machine's own */
	uint32_t can;        /* page sizes that can be, as bits */
	uint32_t warp_width;
};

/* What a launch left, as the device logged it. */
struct gn_auto_log {
	uint64_t *touch;
	uint64_t count;
	uint64_t noted; /* also such as found no room */
	uint64_t keep;  /* regions whose hash is below were looked at to the end */
	double covered; /* as of its analysis; 0: not known yet */
};

/* What was seen of a launch. Touches are those of the regions that were kept. */
struct gn_auto_analysis {
	uint64_t touches,
	    before; /* of this launch, and of the look before that stands for the launch before; 0: none */
	uint64_t elements, writes,
	    batch; /* elements of the touches; touches that write, that are of rows of batches */
	uint64_t regions, regions_kept;
	double covered; /* of the launch and the one before; less than 1 where a log ran full */
	struct gn_auto_moved way[GN_AUTO_CHOICES];
	uint64_t
	    hot; /* touches of lines that are touched more often than their elements could be once each */
	double lines[GN_AUTO_CHOICES]; /* what each moves and costs, in lines; negative: cannot be */
	double batches; /* what the best of them would move in batches, each in order of address */
	uint64_t translated,
	    translated_sorted; /* regions whose translation is lost and needed; the same in batches */
	int best;
};

/*
 * gn__auto_analyse - make sense of a log.
 * @before  the log of the look before, or count 0
 * Returns 0 or -GN_ENOMEM.
 */
int gn__auto_analyse(const struct gn_auto_setup *setup, const struct gn_auto_log *log,
                     const struct gn_auto_log *before, struct gn_auto_analysis *out);

/* gn__auto_batches - why batches would be better than the best choice, in words; NULL: they would not. */
const char *gn__auto_batches(const struct gn_auto_setup *setup, const struct gn_auto_analysis *analysis);

/* ---- the object ---- */

struct gn_auto {
	struct simt_machine *machine;
	struct gn_store *store;
	struct gn_auto_options options;
	struct gn_auto_setup setup;
	struct gn_cache *cache; /* NULL in direct mode */
	struct gn_array array;
	struct gn__samples *sample; /* device */
	struct gn__samples image;   /* what it is armed with */
	struct gn_auto_log log,
	    before; /* of the last look and of that before it; touch: room for image.room */
	struct gn_auto_analysis analysis;
	int choice; /* in force */
	int sampling;
	const char *batches; /* why they are advised; NULL: they are not */
	uint64_t launches, samples, switches;
	uint64_t next_sample, step; /* launches: when to sample again, and how many lie between two samples */
};

/* gn__auto_make_sample - memory for it. Returns 0, -GN_EINVAL (options.touches), -GN_ENOMEM; forget in any
 * case. */
int gn__auto_make_sample(struct gn_auto *x, struct gn_error *error);
void gn__auto_forget_sample(struct gn_auto *x);

/* gn__auto_sample - the next launch is looked at. Returns 0 or what the machine fails with. */
int gn__auto_sample(struct gn_auto *x, struct gn_error *error);

/* gn__auto_collect - fetch what the launch that was looked at left into x->log. Returns 0 or what the machine
 * fails with. */
int gn__auto_collect(struct gn_auto *x);

/* gn__auto_switch - flush, then take another choice. Returns 1, or a code: then the choice before is kept. */
int gn__auto_switch(struct gn_auto *x, int choice, struct gn_error *error);

#ifdef __cplusplus
}
#endif

#endif
