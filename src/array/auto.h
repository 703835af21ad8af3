/* SPDX-License-Identifier: Apache-2.0 */
/* auto.h - the internal types of gn_auto: a launch's log, a cache's model, the analysis, the state. */
#ifndef GN_ARRAY_AUTO_PRIVATE_H
#define GN_ARRAY_AUTO_PRIVATE_H

#include <grapnel/auto.h>
#include <grapnel/detail/array/sample.h>

#ifdef __cplusplus
extern "C" {
#endif

static const uint32_t gn_auto_page_bytes[GN_AUTO_PAGE_SIZES] = {512, 1024, 2048, 4096, 16384, 65536};

/* Choices: one for each page size, then direct mode. */
enum { GN_AUTO_DIRECT = GN_AUTO_PAGE_SIZES, GN_AUTO_CHOICES };

/* ---- the model ---- */

/* The model of a cache whose pages are fetched by sectors (detail/cache/sector.h). */
struct gn_auto_model {
	uint32_t page_log2, sector_log2;
	uint64_t capacity; /* pages */
	uint32_t covering; /* a write of at least this number of elements of a line fetches nothing */
	int bypasses;      /* 1: reads of rows of batches go around the cache if the page is absent */
};

/* The traffic of the model. */
struct gn_auto_moved {
	uint64_t hits;
	uint64_t fetches, sectors;      /* number of fetches, and of sectors fetched */
	uint64_t frames;                /* pages that were given a frame */
	uint64_t dirtied, page_dirtied; /* sectors, and pages, that became dirty: each is written back once */
	uint64_t bypassed;              /* lines read around the cache */
};

/* Touches in order. Those before `from` are of an earlier launch and not counted. */
struct gn_auto_trace {
	const uint64_t *touch;
	uint64_t from, count;
};

/* gn__auto_replay - run the touches through an LRU cache that is empty at first. Returns 0 or -GN_ENOMEM. */
int gn__auto_replay(const struct gn_auto_trace *trace, const struct gn_auto_model *model,
                    struct gn_auto_moved *out);

/* ---- the analysis ---- */

/* The fixed inputs of the analysis. */
struct gn_auto_setup {
	uint64_t first_byte, bytes; /* of the array in the store */
	uint64_t cache_bytes, near_bytes, reach_bytes;
	uint32_t element_bytes;
	uint32_t block_log2; /* of the store */
	int has_memory;      /* 1: loads reach the store */
	int is_near;         /* 1: loads reach the store, and its memory is the machine's own */
	uint32_t can;        /* possible page sizes, as bits */
	uint32_t warp_width;
};

/* The log of a launch, as the device wrote it. */
struct gn_auto_log {
	uint64_t *touch;
	uint64_t count;
	uint64_t noted; /* touches noted, also those for which there was no room */
	uint64_t keep;  /* regions whose hash is below were in the sample to the end */
	double covered; /* result of its analysis; 0: not known yet */
};

/* The analysis of a launch. Only touches of regions that were in the sample to the end count. */
struct gn_auto_analysis {
	uint64_t touches,
	    before; /* of this launch; of the sample before, which stands for the launch before; 0: none */
	uint64_t elements, writes,
	    batch; /* elements of the touches; touches that write; touches of rows of batches */
	uint64_t regions, regions_kept;
	double covered; /* part of both launches that the logs hold; less than 1 if a log ran full */
	struct gn_auto_moved way[GN_AUTO_CHOICES];
	uint64_t lasting; /* touches of lines that are wanted during more than half of the launch */
	double lines[GN_AUTO_CHOICES]; /* cost of each choice, in lines; negative: not possible */
	double batches; /* cost of the best choice if rows were moved in batches, in order of address */
	uint64_t translated,
	    translated_sorted; /* misses of address translation, by regions; the same in batches */
	int best;
};

/*
 * gn__auto_analyse - analyse a log.
 * @before  the log of the sample before; its count is 0 if there is none
 * Returns 0 or -GN_ENOMEM.
 */
int gn__auto_analyse(const struct gn_auto_setup *setup, const struct gn_auto_log *log,
                     const struct gn_auto_log *before, struct gn_auto_analysis *out);

/* gn__auto_batches - the reason why batches would be better than the best choice; NULL: they would not. */
const char *gn__auto_batches(const struct gn_auto_setup *setup, const struct gn_auto_analysis *analysis);

/* ---- the object ---- */

struct gn_auto {
	struct simt_machine *machine;
	struct gn_store *store;
	struct gn_auto_options options;
	struct gn_auto_setup setup;
	struct gn_cache *cache; /* NULL in direct mode */
	struct gn_array array;
	struct gn__samples *sample; /* in device memory */
	struct gn__samples image;   /* the host's copy, which arms the sample */
	struct gn_auto_log log,
	    before; /* of the last sample and of the sample before it; touch: [image.room] */
	struct gn_auto_analysis analysis;
	int choice; /* the current one */
	int sampling;
	const char *batches; /* the reason why batches are advised; NULL: they are not */
	uint64_t launches, samples, switches;
	uint64_t next_sample, step; /* launch of the next sample, and launches between two samples */
};

/*
 * gn__auto_make_sample - allocate the sample. Returns 0, -GN_EINVAL (options.touches), -GN_ENOMEM. To be
 * ended by gn__auto_forget_sample in any case.
 */
int gn__auto_make_sample(struct gn_auto *x, struct gn_error *error);
void gn__auto_forget_sample(struct gn_auto *x);

/* gn__auto_sample - take a sample of the next launch. Returns 0 or a code of the machine. */
int gn__auto_sample(struct gn_auto *x, struct gn_error *error);

/* gn__auto_collect - fetch the sample of the last launch into x->log. Returns 0 or a code of the machine. */
int gn__auto_collect(struct gn_auto *x, struct gn_error *error);

/* gn__auto_switch - flush, then take another choice. Returns 1, or a code: then the old choice stays. */
int gn__auto_switch(struct gn_auto *x, int choice, struct gn_error *error);

#ifdef __cplusplus
}
#endif

#endif
