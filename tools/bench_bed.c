/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine, its data and its caches.
 */
#include <stdio.h>
#include <string.h>

#include "baselines/data.h"
#include "bench.h"
#include "tool.h"

static void shape_grids(struct bench *b)
{
	b->resident.block_threads = 256;
	b->resident.blocks = b->info.resident_threads / 256 ? b->info.resident_threads / 256 : 1;
	b->resident.shared_bytes = 0;
	b->grid = b->resident;
	/* Many blocks end at different times, so that a new one always finds room; threads of a cpu are not
	 * so cheap. */
	b->grid.blocks *= b->info.is_cuda ? 8 : 1;
}

static uint64_t default_bytes(const struct bench *b)
{
	if (b->q->quick)
		return 4ull << 20;
	return b->info.is_cuda ? 8ull << 30 : 256ull << 20;
}

int bench_open(struct bench *b, unsigned arrays, struct gn_error *e)
{
	char uri[64];
	int rc = simt_open(&b->machine, &b->q->machine, e);

	if (rc)
		return rc;
	simt_describe(b->machine, &b->info);
	shape_grids(b);
	b->bytes = (b->q->data_bytes ? b->q->data_bytes : default_bytes(b)) & ~0xffffull;
	snprintf(uri, sizeof uri, "host:%llu", (unsigned long long)(b->bytes * arrays));
	rc = gn_store_open(&b->store, b->machine, uri, NULL, e);
	if (rc)
		return rc;
	b->memory = gn_store_view_of(b->store)->memory;
	b->wrong = (uint64_t *)simt_alloc(b->machine, sizeof *b->wrong, SIMT_PINNED);
	return b->wrong ? bench_fill(b, b->memory, b->bytes, e)
	                : gn_error_set(e, -GN_ENOMEM, "no memory for a counter");
}

void bench_close(struct bench *b)
{
	if (!b->machine)
		return;
	simt_free(b->machine, b->wrong);
	if (b->store)
		gn_store_close(b->store);
	simt_close(b->machine);
}

int bench_fill(struct bench *b, void *to, uint64_t bytes, struct gn_error *e)
{
	const struct gn_base_fill_args args = {(uint32_t *)to, bytes / 4, 0};
	double seconds;

	return bench_launch(b, &gn_base_fill_kernel, b->grid, &args, &seconds, e);
}

int bench_launch(struct bench *b, const struct simt_kernel *kernel, struct simt_grid grid,
                 const void *arguments, double *seconds, struct gn_error *e)
{
	return tool_launch(b->machine, kernel, grid, arguments, seconds, e);
}

static int make_array(struct bench *b, struct gn_cache *cache, struct gn_array *array, struct gn_error *e)
{
	struct gn_array_options config;

	memset(&config, 0, sizeof config);
	config.mode = cache ? GN_PAGED : GN_DIRECT;
	config.cache = cache;
	config.store = b->store;
	config.count = b->bytes / 4;
	config.element_bytes = 4;
	return gn_array_create(array, b->machine, &config, e);
}

int bench_direct(struct bench *b, struct gn_array *array, struct gn_error *e)
{
	return make_array(b, NULL, array, e);
}

int bench_cache(struct bench *b, struct gn_cache **cache, struct gn_array *array, unsigned part,
                uint32_t page_bytes, int counters, struct gn_error *e)
{
	struct gn_cache_options options;
	int rc;

	memset(&options, 0, sizeof options);
	memset(array, 0, sizeof *array);
	options.bytes = b->q->cache_bytes ? b->q->cache_bytes : b->bytes / part;
	options.page_bytes = page_bytes;
	options.statistics = counters;
	*cache = NULL;
	rc = gn_cache_create(cache, b->machine, &b->store, 1, &options, e);
	return rc ? rc : make_array(b, *cache, array, e);
}

int bench_uncache(struct bench *b, struct gn_cache *cache, struct gn_array *array, struct gn_error *e)
{
	int rc = array->failure ? gn_array_failure(array, e) : 0;

	if (array->failure)
		gn_array_destroy(array, b->machine);
	if (cache)
		gn_cache_destroy(cache);
	return rc;
}

uint32_t bench_batch(const struct bench *b, struct gn_cache *cache, uint32_t most)
{
	const uint64_t warps = (uint64_t)b->resident.blocks * b->resident.block_threads / b->info.warp_width;
	struct gn_cache_info facts;
	uint64_t batch;

	if (gn_cache_describe(cache, &facts))
		return 1;
	batch = facts.frames / (4 * warps);
	batch = batch < most ? batch : most;
	return batch ? (uint32_t)batch : 1;
}
