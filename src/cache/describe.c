/* SPDX-License-Identifier: Apache-2.0 */
/* describe.c - what a cache says of itself: its sizes, and what it counted. */
#include <string.h>

#include <cache/cache.h>

static void add_stripe(struct gn_cache_statistics *sum, const struct gn_cache_statistics *s)
{
	sum->hits += s->hits;
	sum->misses += s->misses;
	sum->fetched += s->fetched;
	sum->written += s->written;
	sum->evicted += s->evicted;
	sum->bypassed += s->bypassed;
	sum->fetched_bytes += s->fetched_bytes;
	sum->written_bytes += s->written_bytes;
}

static int sum_stripes(struct gn_cache *cache, struct gn_cache_statistics *sum, struct gn_error *error)
{
	struct gn_cache_statistics stripes[GN_CACHE_STRIPES];

	if (!cache->image.stripe)
		return 0;
	if (simt_move(cache->machine, stripes, cache->image.stripe, sizeof stripes, error))
		return gn_error_prefix(error, -GN_EIO, "cache: describe");
	for (unsigned k = 0; k < GN_CACHE_STRIPES; k++)
		add_stripe(sum, &stripes[k]);
	return 0;
}

int gn_cache_describe(struct gn_cache *cache, struct gn_cache_info *info, struct gn_error *error)
{
	const struct gn_cache_view *v = &cache->image;
	struct gn_cache_pass_result result;
	struct gn_cache_shared shared;

	memset(info, 0, sizeof *info);
	info->frames = v->frames;
	info->pages = v->pages;
	info->page_bytes = 1u << v->page_log2;
	info->frame_bytes = (uint64_t)v->frames << v->page_log2;
	info->metadata_bytes = cache->metadata_bytes;
	info->budget_bytes = cache->budget_bytes + info->frame_bytes / 50;
	info->ways = v->owner ? 0 : v->ways;
	info->table = v->owner ? GN_TABLE_DIRECT : GN_TABLE_SETS;
	if (gn__cache_pass(cache, GN_PASS_COUNT, &result, error) ||
	    simt_move(cache->machine, &shared, v->shared, sizeof shared, error))
		return gn_error_prefix(error, -GN_EIO, "cache: describe");
	info->dirty_pages = result.dirty;
	info->write_failures = shared.write_failures;
	return sum_stripes(cache, &info->statistics, error);
}

const struct gn_cache_view *gn_cache_view_of(const struct gn_cache *cache)
{
	return cache->device;
}

int gn__cache_segment(const struct gn_cache *cache, const struct gn_store *store)
{
	for (unsigned k = 0; k < cache->image.segments; k++)
		if (cache->store[k] == store)
			return (int)k;
	return -1;
}
