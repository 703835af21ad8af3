/* SPDX-License-Identifier: Apache-2.0 */
/* auto.h - what the parts of gn_auto share: study (what was seen), forecast (what it would cost), state. */
#ifndef GN_ARRAY_AUTO_PRIVATE_H
#define GN_ARRAY_AUTO_PRIVATE_H

#include <grapnel/array/auto.h>
#include <grapnel/array/sample.h>

#ifdef __cplusplus
extern "C" {
#endif

static const uint32_t gn_auto_page_bytes[GN_AUTO_PAGE_SIZES] = {512, 1024, 2048, 4096, 16384, 65536};

/* What a cache would have done with the touches of the sample; second: when the launch is repeated at once. */
struct gn_auto_paged {
	double first, second;             /* pages fetched */
	double first_alone, second_alone; /* how many of them for one lane: the sum of 1 / lanes */
	double first_around, second_around; /* lines of rows of batches that are read around the cache */
	double written;                   /* pages written back, of the second */
	double pins;                      /* page references: where a run begins, and at each page in it */
	double used;                      /* bytes touched of those of the touched pages, in sectors */
};

/* What was seen of a launch. Touches are those that the last bound of the hash kept. */
struct gn_auto_study {
	uint64_t noted;      /* touches before the log was sifted */
	uint64_t touches;
	uint64_t accesses;   /* of the launch, all of them */
	uint64_t regions, regions_kept;
	double share;        /* regions kept of all: what a touch stands for */
	double lanes;        /* elements of all touches */
	double one_by_one;   /* of them, those that are looked up one by one */
	double held;         /* touches by reference */
	double batch;        /* touches of rows of batches, which are held too */
	double sectors;
	double writes;       /* touches */
	double covered;      /* of the launch; less than 1 where the log ran full */
	double line_use;     /* of the bytes of a line, those that the lanes together there want */
	double line_first, line_second; /* touches of lines that the processors' own caches do not have */
	double lost_first, lost_second; /* of these, out of the reach of address translation; those of batches not among them */
	double batch_lost_first, batch_lost_second; /* the same of batches, in order of address */
	double again[GN_AUTO_PAGE_SIZES]; /* of the pages touched, those that the look before saw too; -1: not known */
	struct gn_auto_paged paged[GN_AUTO_PAGE_SIZES];
};

struct gn_auto_study_input {
	uint64_t *touch; /* as logged; sifted in place, in order of address in the end */
	uint64_t count;
	uint64_t noted;
	uint64_t accesses;
	uint32_t keep;
	uint32_t element_bytes;
	int has_memory;  /* loads reach the store: rows of a batch are read there, and their pages are not fetched */
	uint64_t first_byte, bytes; /* of the array in the store */
	uint64_t cache_bytes, near_bytes, reach_bytes;
};

/* gn__auto_study - make sense of a log. Returns 0 or -GN_ENOMEM. */
int gn__auto_study(const struct gn_auto_study_input *in, struct gn_auto_study *out);

/*
 * gn__auto_replay - the touches through an LRU cache, twice.
 * @unit_log2  page size; @capacity pages
 * @around     kinds of reads (GN_TOUCH_BATCH or 0) that leave the cache as it is where a page is absent
 * Returns 0 or -GN_ENOMEM.
 */
int gn__auto_replay(const uint64_t *touch, uint64_t count, uint32_t unit_log2, uint64_t capacity, uint64_t around,
		    struct gn_auto_paged *out);

/*
 * gn__auto_missed - the touches that such a cache fetches for, in the first pass and in the second.
 * @missed  [2][count]; @counts how many each holds afterwards. Returns 0 or -GN_ENOMEM.
 */
int gn__auto_missed(const uint64_t *touch, uint64_t count, uint32_t unit_log2, uint64_t capacity, uint64_t *const missed[2],
		    uint64_t counts[2]);

/* Choices: a page size each, then direct. */
enum { GN_AUTO_DIRECT = GN_AUTO_PAGE_SIZES, GN_AUTO_CHOICES };

struct gn_auto_forecast {
	double seconds[GN_AUTO_CHOICES];     /* of a launch; negative: cannot be */
	double best_if_new[GN_AUTO_CHOICES]; /* the same if every launch touches other pages */
	double best_if_same[GN_AUTO_CHOICES];
	double stream_seconds, lost_seconds; /* the two parts of direct */
	double scattered_seconds; /* what translation would lose if no access were in a batch */
	double hits;     /* share of touches that pages of 4 KiB would serve from the cache */
	enum gn_auto_class class_seen;
	int best, unsure;
};

/* gn__auto_forecast - how long each choice would take. @again  for each page size, the share of pages that launches have in
 * common; NULL: one half */
void gn__auto_forecast(const struct gn_auto_study *study, const struct gn_auto_rates *rates,
		       const struct gn_auto_config *config, int has_direct, const double *again,
		       struct gn_auto_forecast *out);

/*
 * gn__auto_walks - whether lanes walk lines by themselves, element by element: each line is wanted again and again, by one lane
 * at a time. A launch then waits for one load after the other, where batches of such lines wait for many.
 */
int gn__auto_walks(const struct gn_auto_study *study);

struct gn_auto {
	struct simt_machine *machine;
	struct gn_store *store;
	struct gn_auto_config config;
	struct gn_auto_rates rates;
	struct gn_cache *cache;  /* NULL in direct mode */
	struct gn_array array;
	struct gn_sample *sample; /* device */
	struct gn_sample image;   /* what it is armed with */
	uint64_t *log;            /* the host's copy */
	int has_direct;
	int choice;               /* in force */
	int looking;
	double again[GN_AUTO_PAGE_SIZES]; /* share of pages that launches have in common, as far as known */
	uint64_t *seen;           /* blocks of 512 B of the look before, in order */
	uint64_t seen_count;
	uint32_t seen_keep;
	struct gn_auto_study study;
	struct gn_auto_forecast forecast;
	double begun;
	int fresh;                /* the choice has had no launch yet */
	int steady;               /* measured[choice] is of a launch that filled nothing */
	double measured[GN_AUTO_CHOICES]; /* least of each choice, of launches like the last; 0: none */
	double spent, tried;      /* seconds of such launches, and what trials among them were expected to cost */
	int trial, before;        /* the choice in force is tried for a launch, in the place of that one */
	uint64_t launches, looks, switches, next_look;
	uint32_t width;           /* lanes of a warp */
	int walks;                /* lanes walk lines, as of the last look that saw no batches: those were the advice */
	int routine;              /* next_look is only a look now and then */
	uint64_t quiet_until;     /* launches: until then another time alone is no reason to look */
	uint64_t patience;
};

/* gn__auto_measure - fill rates. Returns 0 or a code. */
int gn__auto_measure(struct simt_machine *machine, struct gn_store *store, const struct gn_auto_config *config,
		     struct gn_auto_rates *rates, struct gn_error *error);

/* gn__auto_can_page - whether a cache of such pages can be. */
int gn__auto_can_page(const struct gn_store *store, const struct gn_auto_config *config, unsigned p);

/* gn__auto_take - make a choice's cache and array, in the place of those there are; what is dirty is lost. */
int gn__auto_take(struct gn_auto *x, int choice, struct gn_error *error);

/* gn__auto_switch - flush, then take another choice. Returns 1, or a code: then the choice before is kept. */
int gn__auto_switch(struct gn_auto *x, int choice, struct gn_error *error);

/* gn__auto_make_sample - memory for it. Returns 0, -GN_EINVAL (config.touches), -GN_ENOMEM; forget in any case. */
int gn__auto_make_sample(struct gn_auto *x, struct gn_error *error);
void gn__auto_forget_sample(struct gn_auto *x);

/* gn__auto_look - the next launch is looked at. Returns 0 or what the machine fails with. */
int gn__auto_look(struct gn_auto *x, struct gn_error *error);

/* gn__auto_see - what the launch that was looked at left. Returns 0, -GN_ENOMEM or what the machine fails with. */
int gn__auto_see(struct gn_auto *x, struct gn_auto_study *out);

/* gn__auto_decide - after a launch that was looked at: *choice for the next. Returns as gn__auto_see. */
int gn__auto_decide(struct gn_auto *x, int *choice);

/* gn__auto_weigh - after a launch that was only timed. Returns the choice for the next. */
int gn__auto_weigh(struct gn_auto *x, double seconds);

/* gn__auto_is_due - whether the launch to come is to be looked at. */
int gn__auto_is_due(struct gn_auto *x);

double gn__auto_seconds(void);

/* gn__auto_name - of a choice, such as "pages of 4 KiB". */
const char *gn__auto_name(int choice);

#ifdef __cplusplus
}
#endif

#endif
