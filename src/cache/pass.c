/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pass.c - passes over all frames for the host: flush, prefetch, invalidate, count; and the failures that
 * they report.
 */
#include <cache/cache.h>

#include <stdio.h>

/* The range of pages of a pass. */
struct pages {
	uint64_t first, count;
};

static const struct pages all_pages = {0, UINT64_MAX};

/* Launch a pass on a stream (NULL: the machine's own) without waiting for it. */
static int launch_pass(struct gn_cache *cache, struct simt_stream *stream, enum gn_cache_pass pass,
                       struct pages pages, unsigned record, struct gn_error *error)
{
	const struct gn_cache_pass_args args = {cache->device,  cache->result, &cache->record[record],
	                                        (uint32_t)pass, pages.first,   pages.count};
	struct simt_grid grid = {1, 128, 0};
	struct simt_info info;
	uint64_t blocks;

	simt_describe(cache->machine, &info);
	blocks = cache->image.frames / grid.block_threads + 1;
	grid.blocks = (uint32_t)(blocks < 8 * info.processors ? blocks : 8 * info.processors);
	return stream ? simt_launch_on(stream, &gn_cache_pass_all_kernel, grid, &args, error)
	              : simt_launch(cache->machine, &gn_cache_pass_all_kernel, grid, &args, error);
}

int gn__cache_pass(struct gn_cache *cache, enum gn_cache_pass pass, struct gn_cache_pass_result *result,
                   struct gn_error *error)
{
	int rc;

	memset(result, 0, sizeof *result);
	rc = simt_move(cache->machine, cache->result, result, sizeof *result, error);
	if (!rc)
		rc = launch_pass(cache, NULL, pass, all_pages, GN__RECORD_FLUSH, error);
	if (!rc)
		rc = simt_wait(cache->machine, error);
	if (!rc)
		rc = simt_move(cache->machine, result, cache->result, sizeof *result, error);
	return rc;
}

/* ---- failures, read while kernels run ---- */

/* A running thread writes a failure in far less. If its kernel died meanwhile, it never ends. */
enum { WRITES_NS = 100000000 };

/*
 * Take the failures of a record that are newer than told. Returns their number. A failure that came while
 * another was being taken is only counted; the last one in told stands for it.
 */
static uint32_t take_failures(struct gn_cache_failure *f, struct gn_cache_failure *told)
{
	const uint32_t count = simt_load_acquire_sys_u32(&f->count), more = count - told->count;
	const uint64_t until = simt_clock_ns() + WRITES_NS;

	if (!more)
		return 0;
	while (simt_load_acquire_sys_u32(&f->state) == 1 && simt_clock_ns() < until)
		simt_relax();
	if (simt_load_acquire_sys_u32(&f->state) == 2) {
		told->code = f->code;
		told->page = f->page;
		told->device = f->device;
		simt_store_release_sys_u32(&f->state, 0);
	} else if (!told->code) {
		told->code = -GN_EIO; /* its kernel died before it had said more */
	}
	told->count = count;
	return more;
}

/*
 * Report the failures of a record as an error, and forget them. Returns 0 if there were none, else the code
 * of the first.
 */
static int tell_failures(struct gn_cache *cache, unsigned record, struct gn_error *error)
{
	struct gn_cache_failure f;
	char device[80] = "";
	uint32_t count, kept;

	pthread_mutex_lock(&cache->mutex);
	count = take_failures(&cache->record[record], &cache->told[record]);
	kept = simt_load_relaxed_sys_u32(&cache->record[GN__RECORD_WRITES].kept);
	if (kept && kept < count) /* some pages were tried several times */
		count = kept;
	f = cache->told[record];
	pthread_mutex_unlock(&cache->mutex);
	if (!count)
		return 0;
	if (f.device)
		snprintf(device, sizeof device, " (device status: %s, 0x%x)", gn_nvme_status_text(f.device),
		         f.device);
	return gn_error_set(error, f.code,
	                    "cache: %u pages could not be written and stay in the cache; the first failure "
	                    "was %s at page %llu%s; %s, then flush again",
	                    count, gn_error_name(f.code), (unsigned long long)f.page, device,
	                    f.code == -GN_ETIMEDOUT ? "find what pins the page or delays the store"
	                    : f.code == -GN_ENOSPC  ? "free storage"
	                                            : "repair the store");
}

int gn_cache_write_failure(struct gn_cache *cache, struct gn_error *error)
{
	return tell_failures(cache, GN__RECORD_WRITES, error);
}

/* ---- ranges ---- */

/* The pages that hold a range of a store's bytes. Returns 0, or a code with the message set. */
static int pages_of(const struct gn_cache *cache, const struct gn_store *store, uint64_t offset,
                    uint64_t bytes, struct pages *pages, struct gn_error *error)
{
	const int k = gn__cache_segment(cache, store);
	const struct gn_cache_segment *s = &cache->image.segment[k < 0 ? 0 : k];
	const uint32_t log2 = cache->image.page_log2;

	if (k < 0)
		return gn_error_set(error, -GN_EINVAL,
		                    "cache: the range lies in a store that the cache was not made for; give "
		                    "a store of this cache");
	if (offset > s->store.capacity_bytes || bytes > s->store.capacity_bytes - offset)
		return gn_error_set(
		    error, -GN_ERANGE,
		    "cache: %llu bytes from byte %llu reach past the end of the store (%llu bytes)",
		    (unsigned long long)bytes, (unsigned long long)offset,
		    (unsigned long long)s->store.capacity_bytes);
	pages->first = s->first_page + (offset >> log2);
	pages->count = bytes ? ((offset + bytes - 1) >> log2) - (offset >> log2) + 1 : 0;
	return 0;
}

/* Report that the launch of a pass, or the wait for it, has failed with rc. */
static int pass_failed(const char *what, int rc, struct gn_error *error)
{
	return gn_error_prefix(error, rc, "cache: %s", what);
}

/* The host's functions launch a pass on the machine's own stream and then call this. */
static int wait_for(struct gn_cache *cache, const char *what, struct gn_error *error)
{
	return pass_failed(what, simt_wait(cache->machine, error), error);
}

/* ---- flush ---- */

static int flush_stores(struct gn_cache *cache, struct gn_error *error)
{
	int rc = 0, failed;

	for (unsigned k = 0; k < cache->image.segments; k++) {
		if (cache->image.segment[k].store.read_only)
			continue;
		failed = gn_store_flush(cache->store[k], rc ? NULL : error);
		rc = rc ? rc : failed;
	}
	return rc;
}

/* Pages failed with rc, or did not: the stores have others, and a tier may get room for those that failed. */
static int then_flush_stores(struct gn_cache *cache, int rc, struct gn_error *error)
{
	const int failed = flush_stores(cache, rc ? NULL : error);

	return rc ? rc : failed;
}

/*
 * The place of a stream in cache->flusher; if it has none, an unused place, or one whose stream has been
 * destroyed; GN_CACHE_FLUSH_STREAMS if there is none.
 */
static unsigned place_of(const struct gn_cache *cache, const struct simt__life *life)
{
	unsigned ended = GN_CACHE_FLUSH_STREAMS;

	for (unsigned k = 0; k < GN_CACHE_FLUSH_STREAMS; k++) {
		if (cache->flusher[k] == life || !cache->flusher[k])
			return k;
		if (ended == GN_CACHE_FLUSH_STREAMS && simt__life_ended(cache->flusher[k]))
			ended = k;
	}
	return ended;
}

/* The record of a stream's flushes; GN__RECORDS if there are too many streams. */
static unsigned record_of(struct gn_cache *cache, struct simt_stream *stream)
{
	struct simt__life *life;
	unsigned k;

	if (!stream)
		return GN__RECORD_FLUSH;
	life = simt__life_hold(stream);
	pthread_mutex_lock(&cache->mutex);
	k = place_of(cache, life);
	if (k < GN_CACHE_FLUSH_STREAMS && cache->flusher[k] != life) {
		simt__life_drop(cache->flusher[k]);
		cache->flusher[k] = simt__life_hold(stream);
		/* drop failures of the place's earlier stream that nobody has asked for */
		take_failures(&cache->record[GN__RECORD_STREAMS + k], &cache->told[GN__RECORD_STREAMS + k]);
	}
	pthread_mutex_unlock(&cache->mutex);
	simt__life_drop(life);
	return GN__RECORD_STREAMS + k;
}

/* Launch a flush of these pages. */
static int launch_flush(struct gn_cache *cache, struct simt_stream *stream, struct pages pages,
                        struct gn_error *error)
{
	const unsigned record = record_of(cache, stream);

	if (record == GN__RECORDS)
		return gn_error_set(error, -GN_ENOBUFS,
		                    "cache: more than %d existing streams have flushed this cache; use fewer "
		                    "streams, or destroy some",
		                    (int)GN_CACHE_FLUSH_STREAMS);
	if (!pages.count)
		return 0;
	return pass_failed("flush", launch_pass(cache, stream, GN_PASS_FLUSH, pages, record, error), error);
}

static int launch_flush_range(struct gn_cache *cache, struct simt_stream *stream,
                              const struct gn_store *store, uint64_t offset, uint64_t bytes,
                              struct gn_error *error)
{
	struct pages pages;
	const int rc = pages_of(cache, store, offset, bytes, &pages, error);

	return rc ? rc : launch_flush(cache, stream, pages, error);
}

int gn_cache_flush_on(struct gn_cache *cache, struct simt_stream *stream, struct gn_error *error)
{
	return launch_flush(cache, stream, all_pages, error);
}

int gn_cache_flush_range_on(struct gn_cache *cache, struct simt_stream *stream, struct gn_store *store,
                            uint64_t offset, uint64_t bytes, struct gn_error *error)
{
	return launch_flush_range(cache, stream, store, offset, bytes, error);
}

int gn_cache_flush_result(struct gn_cache *cache, struct simt_stream *stream, struct gn_error *error)
{
	unsigned record = record_of(cache, stream);
	int rc = record == GN__RECORDS ? 0 : tell_failures(cache, record, error);

	return then_flush_stores(cache, rc, error);
}

/* Wait for a flush on the machine's own stream, and return its result. */
static int flushed(struct gn_cache *cache, struct gn_error *error)
{
	const int rc = wait_for(cache, "flush", error);

	return rc ? rc : tell_failures(cache, GN__RECORD_FLUSH, error);
}

int gn_cache_flush(struct gn_cache *cache, struct gn_error *error)
{
	int rc = launch_flush(cache, NULL, all_pages, error);

	if (!rc)
		rc = flushed(cache, error);
	return then_flush_stores(cache, rc, error);
}

int gn_cache_flush_range(struct gn_cache *cache, struct gn_store *store, uint64_t offset, uint64_t bytes,
                         struct gn_error *error)
{
	int rc = launch_flush_range(cache, NULL, store, offset, bytes, error), failed = 0;

	if (rc)
		return rc;
	rc = flushed(cache, error);
	if (!gn_store_view_of(store)->read_only)
		failed = gn_store_flush(store, rc ? NULL : error);
	return rc ? rc : failed;
}

/* ---- prefetch ---- */

static int launch_prefetch(struct gn_cache *cache, struct simt_stream *stream, const struct gn_store *store,
                           uint64_t offset, uint64_t bytes, struct gn_error *error)
{
	struct pages pages;
	const int rc = pages_of(cache, store, offset, bytes, &pages, error);

	if (rc || !pages.count)
		return rc;
	return pass_failed(
	    "prefetch", launch_pass(cache, stream, GN_PASS_PREFETCH, pages, GN__RECORD_FLUSH, error), error);
}

int gn_cache_prefetch_range_on(struct gn_cache *cache, struct simt_stream *stream, struct gn_store *store,
                               uint64_t offset, uint64_t bytes, struct gn_error *error)
{
	return launch_prefetch(cache, stream, store, offset, bytes, error);
}

int gn_cache_prefetch_range(struct gn_cache *cache, struct gn_store *store, uint64_t offset, uint64_t bytes,
                            struct gn_error *error)
{
	const int rc = launch_prefetch(cache, NULL, store, offset, bytes, error);

	return rc ? rc : wait_for(cache, "prefetch", error);
}

/* ---- invalidate ---- */

/*
 * Reset the hands and the duel: all frames are free, and each is given out once before any is taken from a
 * page. The cleaner works ahead of a hand: from its old place it would wait until the hand got there.
 */
static int begin_anew(struct gn_cache *cache, struct gn_error *error)
{
	struct gn_cache_shared *shared = cache->image.shared;
	const struct gn_cache_local none[GN_CACHE_LOCALS] = {{0}};
	const struct gn_cache_hand first[GN_CACHE_HANDS] = {{0}};
	const uint32_t none_moved[GN_CACHE_HANDS + 1] = {0}; /* and no halvings */
	int rc = simt_move(cache->machine, shared->hand, first, sizeof first, error);

	if (!rc)
		rc = simt_move(cache->machine, shared->moved, none_moved, sizeof none_moved, error);
	return rc ? rc : simt_move(cache->machine, shared->local, none, sizeof none, error);
}

int gn_cache_invalidate(struct gn_cache *cache, struct gn_error *error)
{
	struct gn_cache_pass_result result;
	int rc = gn__cache_pass(cache, GN_PASS_INVALIDATE, &result, error);

	if (!rc && !result.dirty && !result.pinned)
		rc = begin_anew(cache, error);
	if (rc)
		return gn_error_prefix(error, rc, "cache: invalidate");
	if (result.dirty || result.pinned)
		return gn_error_set(error, -GN_EBUSY,
		                    "cache: cannot invalidate the cache while pages are in use (%llu dirty, "
		                    "%llu pinned); flush the cache and release the pages first",
		                    (unsigned long long)result.dirty, (unsigned long long)result.pinned);
	return 0;
}
