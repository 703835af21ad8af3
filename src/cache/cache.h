/* SPDX-License-Identifier: Apache-2.0 */
/* cache.h - a cache as the host sees it. */
#ifndef GN_CACHE_CACHE_H
#define GN_CACHE_CACHE_H

#include <cache/kernels.h>
#include <grapnel/cache.h>
#include <simt/spread.h>

#include <pthread.h>

/*
 * Records of failures, in pinned memory, which the host reads while kernels run: of all write-backs, of
 * gn_cache_flush, and of gn_cache_flush_on for each stream.
 */
enum {
	GN__RECORD_WRITES,
	GN__RECORD_FLUSH,
	GN__RECORD_STREAMS,
	GN__RECORDS = GN__RECORD_STREAMS + GN_CACHE_FLUSH_STREAMS
};

struct gn_cache {
	struct simt_machine *machine;
	struct gn_cache_view image;   /* the host's copy */
	struct gn_cache_view *device; /* the device's */
	struct gn_store *store[GN_CACHE_STORES];
	struct gn_cache_pass_result *result;
	struct gn_cache_failure *record;           /* [GN__RECORDS] */
	pthread_mutex_t mutex;                     /* guards told and flusher */
	struct gn_cache_failure told[GN__RECORDS]; /* the failures that the host has taken last */
	/* the streams to which the records from GN__RECORD_STREAMS on belong; NULL: unused */
	struct simt__life *flusher[GN_CACHE_FLUSH_STREAMS];
	int is_direct; /* 1: direct table, 0: set table */
	uint64_t budget_bytes;
	uint64_t metadata_bytes;
	struct simt_spread peers; /* has the frames, if its memory is set */
};

/*
 * Run a pass over all pages on the machine's own stream, and wait for its end. Returns 0 or the code of the
 * launch, the wait or a move.
 */
int gn__cache_pass(struct gn_cache *cache, enum gn_cache_pass pass, struct gn_cache_pass_result *result,
                   struct gn_error *error);

/* The segment of a store in this cache, or -1. */
int gn__cache_segment(const struct gn_cache *cache, const struct gn_store *store);

#endif
