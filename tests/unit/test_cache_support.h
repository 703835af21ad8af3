/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cache_support.h - a machine, a store with known content, a cache and an array for the tests of both;
 * and acts, with which a host test makes kernel threads read, write, hold and let go.
 *
 * The store's 8-byte word k holds word_of(k).
 */
#ifndef GN_TESTS_CACHE_SUPPORT_H
#define GN_TESTS_CACHE_SUPPORT_H

#include <grapnel/array.h>
#include <grapnel/cache.h>
#include <grapnel/store.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

enum { MOST_HELD = 16 };

/* The acquires in the order of enum gn_intent. */
enum act_op { ACT_READ, ACT_WRITE, ACT_ACQUIRE, ACT_ACQUIRE_WRITE, ACT_ACQUIRE_OVERWRITE, ACT_RELEASE };

/* What a thread is to do, and what came of it. */
struct act {
	uint32_t op;
	uint32_t slot; /* for ACT_ACQUIRE and ACT_RELEASE */
	uint64_t index;
	uint64_t value[2];
	int32_t rc;
	uint32_t reserved;
};

struct act_args {
	struct gn_array array;
	struct act *act;
	struct gn_page *held; /* [MOST_HELD] */
	uint32_t each;        /* acts of a thread */
};

SIMT_FN void do_act(const struct act_args *a, struct act *act)
{
	const uint32_t self = 1u << simt_lane();

	switch (act->op) {
	case ACT_READ: act->rc = gn_array_read(&a->array, act->index, act->value); break;
	case ACT_WRITE: act->rc = gn_array_write(&a->array, act->index, act->value); break;
	case ACT_RELEASE: gn_array_release(&a->array, self, &a->held[act->slot]); break;
	default:
		act->rc =
		    gn_array_acquire(&a->array, self, act->index, act->op - ACT_ACQUIRE, &a->held[act->slot]);
	}
}

SIMT_FN void do_acts(const struct act_args *a)
{
	for (uint32_t k = 0; k < a->each; k++)
		do_act(a, &a->act[simt_global_thread() * a->each + k]);
}
SIMT_KERNEL(do_acts, struct act_args)

struct cache_test {
	struct simt_machine *machine;
	struct gn_store *store;
	struct gn_cache *cache;
	struct gn_array array;
	struct gn_error error;
	struct gn_page *held;
	char folder[128];
	char file[160]; /* in the folder; made by tests */
};

SIMT_FN uint64_t word_of(uint64_t k)
{
	return (k + 1) * 0x9e3779b97f4a7c15u;
}

/* ---- set up and tear down ---- */

/* CACHE_MACHINE names another machine than cpu, for tests whose memory the host and the machine both see. */
static inline struct simt_machine *open_machine(unsigned threads, unsigned warp_width)
{
	const char *name = getenv("CACHE_MACHINE");
	static int opened; /* once there is such a machine, one that cannot be opened is a failure */
	struct simt_options options;
	struct simt_machine *machine = NULL;
	struct gn_error error = {0, ""};
	int rc;

	memset(&options, 0, sizeof options);
	options.name = name ? name : "cpu";
	if (!name) {
		options.threads = threads;
		options.warp_width = warp_width;
	}
	rc = simt_open(&machine, &options, &error);
	if (name && rc == -GN_ENODEV && !opened) {
		printf("%s\n", error.text);
		exit(77);
	}
	if (rc)
		fail_msg("%s", error.text);
	opened = 1;
	return machine;
}

static inline int cache_setup(void **state)
{
	struct cache_test *t = (struct cache_test *)calloc(1, sizeof *t);
	const char *parent = getenv("TMPDIR");

	if (!t)
		return -1;
	snprintf(t->folder, sizeof t->folder, "%s/grapnel-cache-XXXXXX",
	         parent && strlen(parent) < 90 ? parent : "/tmp");
	if (!mkdtemp(t->folder))
		return -1;
	snprintf(t->file, sizeof t->file, "%s/file", t->folder);
	t->machine = open_machine(1, 1);
	t->held = (struct gn_page *)simt_alloc(t->machine, MOST_HELD * sizeof *t->held, SIMT_PINNED, NULL);
	*state = t;
	return 0;
}

static inline void close_array(struct cache_test *t)
{
	if (t->array.failure)
		gn_array_destroy(&t->array, t->machine);
}

static inline void close_cache(struct cache_test *t)
{
	close_array(t);
	if (t->cache)
		gn_cache_destroy(t->cache);
	t->cache = NULL;
}

static inline void close_store(struct cache_test *t)
{
	close_cache(t);
	gn_store_close(t->store);
	t->store = NULL;
}

static inline int cache_teardown(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	close_store(t);
	simt_free(t->machine, t->held);
	simt_close(t->machine);
	remove(t->file);
	remove(t->folder);
	free(t);
	return 0;
}

/* Every word of a store becomes word_of its place; the tail of a store that is no multiple of 8 stays. */
static inline void fill_store(struct cache_test *t, struct gn_store *store)
{
	enum { CHUNK = 8192 };
	uint64_t words = gn_store_view_of(store)->capacity_bytes / 8, chunk[CHUNK];

	for (uint64_t at = 0; at < words; at += CHUNK) {
		uint64_t count = words - at < CHUNK ? words - at : (uint64_t)CHUNK;

		for (uint64_t k = 0; k < count; k++)
			chunk[k] = word_of(at + k);
		if (gn_store_write_host(store, at * 8, chunk, count * 8, &t->error))
			fail_msg("%s", t->error.text);
	}
}

static inline void open_store(struct cache_test *t, const char *uri, const struct gn_store_options *options)
{
	if (gn_store_open(&t->store, t->machine, uri, options, &t->error))
		fail_msg("%s", t->error.text);
}

static inline void open_cache(struct cache_test *t, const struct gn_cache_options *options)
{
	if (gn_cache_create(&t->cache, t->machine, &t->store, 1, options, &t->error))
		fail_msg("%s", t->error.text);
}

static inline struct gn_array make_array(struct cache_test *t, enum gn_mode mode, struct gn_store *store,
                                         uint64_t offset, uint64_t count, uint32_t element_bytes)
{
	struct gn_array_options options = {
	    mode, mode == GN_PAGED ? t->cache : NULL, store, offset, count, element_bytes};
	struct gn_array array;

	if (gn_array_create(&array, t->machine, &options, &t->error))
		fail_msg("%s", t->error.text);
	return array;
}

/* The whole store as 8-byte words. */
static inline void open_words(struct cache_test *t)
{
	close_array(t);
	t->array = make_array(t, GN_PAGED, t->store, 0, gn_store_view_of(t->store)->capacity_bytes / 8, 8);
}

/* A filled host: store of pages, behind a cache of frames (set table if ways is not 0), as 8-byte words. */
static inline void open_words_at(struct cache_test *t, const char *scheme, uint64_t pages, uint64_t frames,
                                 uint32_t page_bytes, uint32_t ways, enum gn_cache_policy policy)
{
	struct gn_cache_options options;
	char uri[64];

	memset(&options, 0, sizeof options);
	options.bytes = frames * page_bytes;
	options.page_bytes = page_bytes;
	options.ways = ways ? ways : 1;
	options.table = ways ? GN_TABLE_SETS : GN_TABLE_DIRECT;
	options.policy = policy;
	options.statistics = 1;
	snprintf(uri, sizeof uri, "%s:%llu", scheme, (unsigned long long)(pages * page_bytes));
	open_store(t, uri, NULL);
	fill_store(t, t->store);
	open_cache(t, &options);
	open_words(t);
}

static inline void open_words_of(struct cache_test *t, uint64_t pages, uint64_t frames, uint32_t page_bytes,
                                 uint32_t ways, enum gn_cache_policy policy)
{
	open_words_at(t, "host", pages, frames, page_bytes, ways, policy);
}

/* A machine with warps of so many lanes instead, before anything is opened on it. */
static inline void widen(struct cache_test *t, unsigned warp_width)
{
	close_store(t);
	simt_free(t->machine, t->held);
	simt_close(t->machine);
	t->machine = open_machine(1, warp_width);
	t->held =
	    (struct gn_page *)simt_alloc(t->machine, MOST_HELD * sizeof *t->held, SIMT_PINNED, &t->error);
}

/* Run a kernel of one block. */
static inline void run_block(struct cache_test *t, const struct simt_kernel *kernel, uint32_t threads,
                             const void *args)
{
	struct simt_grid grid = {1, threads, 0};

	assert_int_equal(simt_launch(t->machine, kernel, grid, args, &t->error), 0);
	if (simt_wait(t->machine, &t->error))
		fail_msg("%s", t->error.text);
}

/* ---- acts ---- */

static inline void run_acts(struct cache_test *t, const struct gn_array *array, struct act *act,
                            uint32_t threads, uint32_t each)
{
	const size_t bytes = (size_t)threads * each * sizeof *act;
	struct simt_grid grid = {1, threads, 0};
	struct act_args args;

	memset(&args, 0, sizeof args);
	args.array = *array;
	args.act = (struct act *)simt_alloc(t->machine, bytes, SIMT_PINNED, &t->error);
	args.held = t->held;
	args.each = each;
	memcpy(args.act, act, bytes);
	assert_int_equal(simt_launch(t->machine, &do_acts_kernel, grid, &args, &t->error), 0);
	assert_int_equal(simt_wait(t->machine, &t->error), 0);
	memcpy(act, args.act, bytes);
	simt_free(t->machine, args.act);
}

static inline struct act act_one(struct cache_test *t, const struct gn_array *array, uint32_t op,
                                 uint32_t slot, uint64_t index, uint64_t value)
{
	struct act act = {op, slot, index, {value, 0}, 0, 0};

	run_acts(t, array, &act, 1, 1);
	return act;
}

static inline int get_code(struct cache_test *t, uint64_t index, uint64_t *value)
{
	struct act act = act_one(t, &t->array, ACT_READ, 0, index, 0xdead);

	*value = act.value[0];
	return act.rc;
}

static inline uint64_t get(struct cache_test *t, uint64_t index)
{
	struct act act = act_one(t, &t->array, ACT_READ, 0, index, 0xdead);

	assert_int_equal(act.rc, 0);
	return act.value[0];
}

static inline int set_code(struct cache_test *t, uint64_t index, uint64_t value)
{
	return act_one(t, &t->array, ACT_WRITE, 0, index, value).rc;
}

static inline void set(struct cache_test *t, uint64_t index, uint64_t value)
{
	assert_int_equal(set_code(t, index, value), 0);
}

/* @intent  enum gn_intent, up to GN_OVERWRITE */
static inline int hold(struct cache_test *t, uint32_t slot, uint64_t index, uint32_t intent)
{
	return act_one(t, &t->array, ACT_ACQUIRE + intent, slot, index, 0).rc;
}

static inline void let_go(struct cache_test *t, uint32_t slot)
{
	act_one(t, &t->array, ACT_RELEASE, slot, 0, 0);
}

/* ---- looking ---- */

static inline struct gn_cache_info info_of(struct cache_test *t)
{
	struct gn_cache_info info;

	assert_int_equal(gn_cache_describe(t->cache, &info, &t->error), 0);
	return info;
}

static inline uint64_t stored(struct cache_test *t, uint64_t index)
{
	uint64_t word = 0;

	if (gn_store_read_host(t->store, index * 8, &word, 8, &t->error))
		fail_msg("%s", t->error.text);
	return word;
}

static inline void flush(struct cache_test *t)
{
	if (gn_cache_flush(t->cache, &t->error))
		fail_msg("%s", t->error.text);
}

static inline void assert_says(const struct gn_error *error, const char *words)
{
	if (!strstr(error->text, words))
		fail_msg("the message \"%s\" does not say \"%s\"", error->text, words);
}

#endif
