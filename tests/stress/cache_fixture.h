/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_fixture.h - a store, a cache before it and what its words must hold.
 *
 * The store's word k, 8 bytes, is a constant of k if k is even; but every 64th is a count, to which all
 * threads add. If k is odd the word belongs to one thread, which alone reads and writes it. Behind these
 * words there are pages that belong to one thread each, which overwrites them as wholes. So threads do not
 * race with each other, and whatever else shows is the cache's fault.
 */
#ifndef GN_TESTS_CACHE_FIXTURE_H
#define GN_TESTS_CACHE_FIXTURE_H

#include "../model/draw.h"
#include "stress.h"

#include <grapnel/array.h>
#include <stdio.h>
#include <stdlib.h>

enum fault_kind { FOREIGN_DATA, LOST_WRITE, FAILED_ACCESS, BAD_REFERENCE, FAULT_KINDS };

/* What kernels get. */
struct fixture_view {
	struct gn_array words;
	struct gn_array part[3]; /* the same words as elements of 1, 2 and 4 bytes */
	struct gn_array own;     /* the pages of one thread each, behind words */
	uint32_t *written;       /* [words]: how often an owned word was written, a count added to */
	uint32_t *overwritten;   /* [own_pages]: how often a page of one thread was */
	uint32_t *fault;         /* [FAULT_KINDS] */
	uint32_t *refused;       /* acquires that found no frame */
	uint64_t seed;
	uint32_t steps;
	uint32_t most_held; /* pages a thread holds at once */
	/* of owned words: this launch's first thread, all; 0 if it is the only one */
	uint32_t first_owner, owners;
	uint32_t own_pages;
	uint32_t *doing; /* [threads], stress_doing; NULL: nobody asks */
};

struct fixture {
	struct gn_store *store;
	struct gn_cache *cache;
	struct fixture_view view;
};

/* What a round is made of. */
struct fixture_shape {
	uint32_t page_bytes, pages, frames;
	uint32_t ways; /* 0: the direct table */
	enum gn_cache_policy policy;
	int queues; /* behind queue pairs, else in host memory */
};

SIMT_FN void fixture_fault(const struct fixture_view *b, enum fault_kind kind)
{
	simt_add_relaxed_dev_u32(&b->fault[kind], 1);
}

/* Word k after so many writes. */
SIMT_FN uint64_t fixture_word(uint64_t k, uint32_t writes)
{
	return draw_mix(k * 2654435761u + writes + 1);
}

SIMT_FN int fixture_is_count(uint64_t k)
{
	return k % 64 == 0;
}

/* The page of an array of words that word k lies in has this many words. */
SIMT_FN uint64_t fixture_page_words(const struct fixture_view *b)
{
	return (uint64_t)1 << (b->words.pages.page_log2 - 3);
}

/* ---- host ---- */

static inline int fixture_fill(struct fixture *b, uint64_t words)
{
	uint64_t *word = (uint64_t *)malloc(words * 8);
	struct gn_error error;
	int bad = !word;

	for (uint64_t k = 0; word && k < words; k++)
		word[k] = fixture_word(k, 0);
	if (bad || gn_store_write_host(b->store, 0, word, words * 8, &error))
		bad = stress_wrong("cannot fill the store");
	free(word);
	return bad;
}

static inline int fixture_open_store(struct stress *s, struct fixture *b, const struct fixture_shape *shape)
{
	struct gn_store_options options;
	struct gn_error error;
	char uri[64];

	memset(&options, 0, sizeof options);
	if (shape->queues)
		options.transfer_bytes = shape->page_bytes < 4096 ? 4096 : shape->page_bytes;
	/* the cache waits for pages and frames four times as long */
	options.timeout_ns = stress_patience_ns(s);
	b->view.own_pages = shape->pages / 4 + 1;
	snprintf(uri, sizeof uri, "%s:%llu", shape->queues ? "memq" : "host",
	         (unsigned long long)(shape->pages + b->view.own_pages) * shape->page_bytes);
	if (gn_store_open(&b->store, s->machine, uri, &options, &error))
		return stress_wrong("%s", error.text);
	return fixture_fill(b, (uint64_t)(shape->pages + b->view.own_pages) * shape->page_bytes / 8);
}

static inline int fixture_open_array(struct stress *s, struct fixture *b, struct gn_array *array,
                                     uint64_t offset, uint64_t bytes, uint32_t element_bytes)
{
	struct gn_array_options options;
	struct gn_error error;

	memset(&options, 0, sizeof options);
	options.cache = b->cache;
	options.store = b->store;
	options.offset = offset;
	options.count = bytes / element_bytes;
	options.element_bytes = element_bytes;
	return gn_array_create(array, s->machine, &options, &error) ? stress_wrong("%s", error.text) : 0;
}

static inline size_t fixture_counts(const struct fixture *b, uint64_t words)
{
	return words + b->view.own_pages + FAULT_KINDS + 1;
}

static inline int fixture_open_counts(struct stress *s, struct fixture *b, uint64_t words)
{
	b->view.written = (uint32_t *)simt_alloc(s->machine, fixture_counts(b, words) * 4, SIMT_DEVICE, NULL);
	b->view.overwritten = b->view.written + words;
	b->view.fault = b->view.overwritten + b->view.own_pages;
	b->view.refused = b->view.fault + FAULT_KINDS;
	return b->view.written ? 0 : stress_wrong("no memory");
}

/*
 * Half of the caches with a clock and a direct table have groups of pages that lead, which otherwise only
 * caches of many more frames have (detail/cache/hand.h).
 */
static inline int fixture_lead(struct stress *s, struct fixture *b, const struct fixture_shape *shape)
{
	struct gn_cache_view *device = (struct gn_cache_view *)(uintptr_t)gn_cache_view_of(b->cache), view;
	struct gn_error error;

	if (shape->ways || shape->policy != GN_CLOCK || shape->frames < 8 || draw_mix(s->seed) % 2)
		return 0;
	if (simt_move(s->machine, &view, device, sizeof view, &error))
		return stress_wrong("%s", error.text);
	view.leaders = view.window = shape->frames / 8;
	view.hands = draw_mix(s->seed + 1) % 2 ? GN_CACHE_HANDS : GN_LEAD_AROUND;
	view.laps = 2;
	view.moved_most = 4096 + 4 * shape->page_bytes / 32; /* else no way could be clearly better */
	return simt_move(s->machine, device, &view, sizeof view, &error) ? stress_wrong("%s", error.text) : 0;
}

static inline int fixture_open_cache(struct stress *s, struct fixture *b, const struct fixture_shape *shape)
{
	const uint64_t bytes = (uint64_t)shape->pages * shape->page_bytes;
	struct gn_cache_options options;
	struct gn_error error;

	memset(&options, 0, sizeof options);
	options.bytes = (uint64_t)shape->frames * shape->page_bytes;
	options.page_bytes = shape->page_bytes;
	options.ways = shape->ways ? shape->ways : 1;
	options.table = shape->ways ? GN_TABLE_SETS : GN_TABLE_DIRECT;
	options.policy = shape->policy;
	/* without, which is the default, hits take a shorter path */
	options.statistics = draw_mix(s->seed ^ shape->pages) % 2;
	if (gn_cache_create(&b->cache, s->machine, &b->store, 1, &options, &error))
		return stress_wrong("%s", error.text);
	if (fixture_lead(s, b, shape))
		return 1;
	for (uint32_t log2 = 0; log2 < 3; log2++)
		if (fixture_open_array(s, b, &b->view.part[log2], 0, bytes, 1u << log2))
			return 1;
	return fixture_open_array(s, b, &b->view.words, 0, bytes, 8) ||
	       fixture_open_array(s, b, &b->view.own, bytes, (uint64_t)b->view.own_pages * shape->page_bytes,
	                          8) ||
	       fixture_open_counts(s, b, bytes / 8);
}

static inline int fixture_open(struct stress *s, struct fixture *b, const struct fixture_shape *shape)
{
	memset(b, 0, sizeof *b);
	b->view.seed = s->seed;
	return fixture_open_store(s, b, shape) || fixture_open_cache(s, b, shape);
}

static inline void fixture_close(struct stress *s, struct fixture *b)
{
	simt_free(s->machine, b->view.written);
	if (b->view.words.failure)
		gn_array_destroy(&b->view.words, s->machine);
	for (uint32_t log2 = 0; log2 < 3; log2++)
		if (b->view.part[log2].failure)
			gn_array_destroy(&b->view.part[log2], s->machine);
	if (b->view.own.failure)
		gn_array_destroy(&b->view.own, s->machine);
	if (b->cache)
		gn_cache_destroy(b->cache);
	gn_store_close(b->store);
}

static inline int fixture_check_faults(struct fixture *b, const uint32_t *fault)
{
	struct gn_error error;

	if (fault[FAILED_ACCESS] &&
	    (gn_array_failure(&b->view.words, &error) || gn_array_failure(&b->view.own, &error)))
		return stress_wrong("%u accesses failed: %s", fault[FAILED_ACCESS], error.text);
	if (fault[FOREIGN_DATA] || fault[LOST_WRITE] || fault[BAD_REFERENCE] || fault[FAILED_ACCESS])
		return stress_wrong(
		    "%u constants were foreign, %u writes lost, %u references wrong, %u accesses failed",
		    fault[FOREIGN_DATA], fault[LOST_WRITE], fault[BAD_REFERENCE], fault[FAILED_ACCESS]);
	return 0;
}

/* What word k of the store must be; of the words, or of the pages behind them. */
static inline uint64_t fixture_expected(const struct fixture *b, const uint32_t *written, uint64_t words,
                                        uint64_t k)
{
	if (k >= words)
		return fixture_word(k, written[words + (k - words) / fixture_page_words(&b->view)]);
	return fixture_is_count(k) ? fixture_word(k, 0) + written[k] : fixture_word(k, written[k]);
}

static inline int fixture_check_words(struct fixture *b, const uint32_t *written, uint64_t words)
{
	const uint64_t all = words + b->view.own.count;
	uint64_t *word = (uint64_t *)malloc(all * 8);
	struct gn_error error;
	int bad = 0;

	if (!word || gn_store_read_host(b->store, 0, word, all * 8, &error))
		bad = stress_wrong("cannot read the store");
	for (uint64_t k = 0; !bad && k < all; k++)
		if (word[k] != fixture_expected(b, written, words, k))
			bad =
			    stress_wrong("word %llu of %llu has another value in the store than was written",
			                 (unsigned long long)k, (unsigned long long)words);
	free(word);
	return bad;
}

/*
 * After a kernel: nothing went wrong, no page failed to be written, nothing stays pinned, and after a flush
 * the store has every write.
 */
static inline int fixture_check(struct stress *s, struct fixture *b)
{
	const uint64_t words = b->view.words.count;
	uint32_t *written = (uint32_t *)malloc(fixture_counts(b, words) * 4);
	struct gn_error error;
	int bad = 0;

	if (!written || simt_move(s->machine, written, b->view.written, fixture_counts(b, words) * 4, &error))
		bad = stress_wrong("cannot look at the result");
	bad = bad || fixture_check_faults(b, written + words + b->view.own_pages);
	if (!bad && gn_cache_flush(b->cache, &error))
		bad = stress_wrong("%s", error.text);
	if (!bad && gn_cache_write_failure(b->cache, &error))
		bad = stress_wrong("%s", error.text);
	bad = bad || fixture_check_words(b, written, words);
	if (!bad && gn_cache_invalidate(b->cache, &error)) /* refused while pages are dirty or pinned */
		bad = stress_wrong("%s", error.text);
	free(written);
	return bad;
}

#endif
