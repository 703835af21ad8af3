/* SPDX-License-Identifier: Apache-2.0 */
/*
 * far_base.h - for unit tests of jobs over arrays that are far away: a machine, a store and a cache of a few
 * small pages; and frames that are short.
 */
#ifndef GN_TEST_FAR_BASE_H
#define GN_TEST_FAR_BASE_H

#include "unit.h"

#include <string.h>

#include <grapnel/array.h>
#include <grapnel/cache.h>
#include <grapnel/store.h>

static struct gn_error error;

static inline void must(int rc)
{
	if (rc)
		fail_msg("%s: %s", gn_error_name(rc), error.text);
}

/* How an array is read. */
struct way {
	unsigned warp_width;
	uint32_t page_bytes; /* 0: direct */
	uint64_t cache_bytes;
	uint64_t told_bytes; /* what the job hears of it: more than it is makes frames short */
};

static const struct way ways[] = {
    {1, 512, 16 * 512, 1 << 20},
    {32, 512, 16 * 512, 1 << 20},
    {32, 512, 16 * 512, 16 * 512},
    {32, 4096, 1 << 20, 1 << 20},
    {1, 4096, 1 << 20, 1 << 20},
    {4, 0, 0, 0},
    {32, 0, 0, 0},
};

struct far_base {
	struct simt_machine *machine;
	struct gn_store *store;
	struct gn_cache *cache; /* NULL: read directly */
};

/* page_bytes 0: without a cache. */
static inline void open_base(struct far_base *f, unsigned warp_width, const char *uri, uint32_t page_bytes,
                             uint64_t cache_bytes)
{
	struct simt_options machine;
	struct gn_cache_options c;

	memset(&machine, 0, sizeof machine);
	memset(&c, 0, sizeof c);
	machine.name = "cpu";
	machine.threads = 2;
	machine.warp_width = warp_width;
	must(simt_open(&f->machine, &machine, &error));
	must(gn_store_open(&f->store, f->machine, uri, NULL, &error));
	c.page_bytes = page_bytes;
	c.bytes = cache_bytes;
	c.statistics = 1;
	f->cache = NULL;
	if (page_bytes)
		must(gn_cache_create(&f->cache, f->machine, &f->store, 1, &c, &error));
}

static inline void close_base(struct far_base *f)
{
	if (f->cache)
		gn_cache_destroy(f->cache);
	gn_store_close(f->store);
	simt_close(f->machine);
}

/* A thread that pins pages and keeps them: for those who come later, frames are short. */
struct hold_args {
	struct gn_array a;
	uint64_t step;
};

SIMT_FN void hold_pages(const struct hold_args *h)
{
	struct gn_page page;

	for (uint64_t i = 0; i < gn_count(&h->a); i += h->step)
		gn_array_acquire(&h->a, 1u << simt_lane(), i, GN_READ, &page);
}
SIMT_KERNEL(hold_pages, struct hold_args)

static inline void hold_all(struct far_base *f, const struct gn_array *a, uint64_t step)
{
	const struct hold_args h = {*a, step};
	const struct simt_grid one = {1, 1, 0};

	must(simt_launch(f->machine, &hold_pages_kernel, one, &h, NULL));
	must(simt_wait(f->machine, NULL));
}

#endif
