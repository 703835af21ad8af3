/* SPDX-License-Identifier: Apache-2.0 */
#include "patterns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "batch.h"

static const struct gn_pattern_list random_list = {&gn_pattern_list_random_kernel, 1, 1};
static const struct gn_pattern_list pages_list = {&gn_pattern_list_pages_kernel, GN_PATTERN_PAGE_WORDS,
                                                  GN_PATTERN_PAGE_WORDS};
static const struct gn_pattern_list hot_list = {&gn_pattern_list_hot_kernel, 1, 1};
static const struct gn_pattern_list zipf_list = {&gn_pattern_list_zipf_kernel, 1, 1};
static const struct gn_pattern_list column_list = {&gn_pattern_list_column_kernel, GN_PATTERN_COLUMNS, 0};
static const struct gn_pattern_list tiles_list = {&gn_pattern_list_tiles_kernel, GN_PATTERN_TILE,
                                                  GN_PATTERN_TILE};
static const struct gn_pattern_list update_list = {&gn_pattern_list_update_kernel, 1, 1};

const struct gn_pattern gn_patterns[GN_PATTERNS] = {
    {"sequential", "every word, threads side by side", &gn_pattern_sequential_kernel, NULL, NULL, 0, 16, 0,
     65536},
    {"strided", "every eighth word", &gn_pattern_strided_kernel, NULL, NULL, 0, 16, 0, 65536},
    {"random", "4-byte words anywhere", &gn_pattern_random_kernel, NULL, &random_list, 0, 16, 0, 4096},
    {"pages", "pages of 4 KiB anywhere", &gn_pattern_pages_kernel, NULL, &pages_list, 0, 2048, 0, 16384},
    {"hot-set", "Zipf pages that fit in the cache", &gn_pattern_hot_kernel, NULL, &hot_list, 0, 1024, 512,
     4096},
    {"zipf", "Zipf words anywhere", &gn_pattern_zipf_kernel, NULL, &zipf_list, 0, 16, 0, 4096},
    {"phases", "sequential, then random words", &gn_pattern_sequential_kernel, &gn_pattern_random_kernel,
     NULL, 0, 16, 0, 4096},
    {"frontier", "lists of 4 to 256 words anywhere", &gn_pattern_frontier_kernel, NULL, NULL, 0, 512, 0,
     4096},
    {"column", "columns of a matrix in rows", &gn_pattern_column_kernel, NULL, &column_list, 0, 16, 0, 4096},
    {"tiles", "tiles of a matrix, each twice", &gn_pattern_tiles_kernel, NULL, &tiles_list, 0, 2048, 0, 4096},
    {"chase", "chains of words that name the next", &gn_pattern_chase_kernel, NULL, NULL, 0, 16, 0, 4096},
    {"update", "words anywhere read and written", &gn_pattern_update_kernel, NULL, &update_list, 1, 8, 0,
     4096},
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the fixture ---- */

static struct simt_grid grid_of(const struct gn_pattern_fixture *fixture)
{
	struct simt_grid grid = {1, 256, 0};

	if (fixture->info.resident_threads > 256)
		grid.blocks = fixture->info.resident_threads / 256;
	return grid;
}

static int launch(struct gn_pattern_fixture *fixture, const struct simt_kernel *kernel,
                  const struct gn_pattern_args *args, struct gn_error *error)
{
	int rc = simt_launch(fixture->machine, kernel, grid_of(fixture), args, error);

	if (!rc)
		rc = simt_wait(fixture->machine, error);
	return gn_error_prefix(error, rc, "%s", kernel->name);
}

static struct gn_pattern_args arguments(const struct gn_pattern_fixture *fixture,
                                        const struct gn_pattern *pattern)
{
	struct gn_pattern_args a;

	memset(&a, 0, sizeof a);
	a.words = fixture->options.data_bytes / 4;
	a.touches = (fixture->options.touches ? fixture->options.touches : a.words / 32) *
	            (pattern ? pattern->share : 16) / 16;
	a.hot_pages = 1;
	while (a.hot_pages * 4 <= fixture->options.cache_bytes / 4096)
		a.hot_pages *= 2;
	a.wrong = fixture->wrong;
	return a;
}

/* Run a kernel over all words as they lie in the store. */
static int directly(struct gn_pattern_fixture *fixture, const struct simt_kernel *kernel,
                    struct gn_pattern_args *args, struct gn_error *error)
{
	const struct gn_array_options c = {GN_DIRECT, NULL, fixture->store, 0, args->words, 4};
	int rc = gn_array_create(&args->array, fixture->machine, &c, error);

	if (!rc)
		rc = launch(fixture, kernel, args, error);
	if (args->array.failure)
		gn_array_destroy(&args->array, fixture->machine);
	return rc;
}

static int fill(struct gn_pattern_fixture *fixture, struct gn_error *error)
{
	struct gn_pattern_args args = arguments(fixture, NULL);

	return directly(fixture, &gn_pattern_fill_kernel, &args, error);
}

static int check_options(const struct gn_pattern_options *o, struct gn_error *error)
{
	if (o->data_bytes < 16u << 20 || o->data_bytes & (o->data_bytes - 1))
		return gn_error_set(
		    error, -GN_EINVAL,
		    "patterns: data of %llu bytes is not possible; give a power of two, at least 16 MiB",
		    (unsigned long long)o->data_bytes);
	if (o->cache_bytes < 1u << 20)
		return gn_error_set(error, -GN_EINVAL,
		                    "patterns: a cache of %llu bytes is too small; give 1 MiB or more",
		                    (unsigned long long)o->cache_bytes);
	if (o->launches < 2 || o->launches > GN_PATTERN_MOST_LAUNCHES)
		return gn_error_set(error, -GN_EINVAL, "patterns: %u launches are not possible; give 2 to %d",
		                    o->launches, (int)GN_PATTERN_MOST_LAUNCHES);
	return 0;
}

int gn_pattern_fixture_open(struct gn_pattern_fixture *fixture, const struct gn_pattern_options *options,
                            struct gn_error *error)
{
	char uri[48];
	int rc;

	memset(fixture, 0, sizeof *fixture);
	fixture->options = *options;
	if (!fixture->options.launches)
		fixture->options.launches = 12;
	snprintf(uri, sizeof uri, "host:%llu", (unsigned long long)options->data_bytes);
	rc = check_options(&fixture->options, error);
	if (!rc)
		rc = simt_open(&fixture->machine, &options->machine, error);
	if (!rc)
		rc = gn_store_open(&fixture->store, fixture->machine, uri, NULL, error);
	if (rc)
		return rc;
	simt_describe(fixture->machine, &fixture->info);
	fixture->wrong = (uint64_t *)simt_alloc(fixture->machine, sizeof *fixture->wrong, SIMT_PINNED, error);
	return fixture->wrong ? fill(fixture, error)
	                      : gn_error_set(error, -GN_ENOMEM, "patterns: cannot allocate pinned memory");
}

void gn_pattern_fixture_close(struct gn_pattern_fixture *fixture)
{
	if (!fixture->machine)
		return;
	simt_free(fixture->machine, fixture->wrong);
	gn_store_close(fixture->store);
	simt_close(fixture->machine);
	memset(fixture, 0, sizeof *fixture);
}

/* ---- one run ---- */

/* The array in a fixed mode, or the object that chooses. */
struct way {
	struct gn_cache *cache;
	struct gn_array array;
	struct gn_auto *choice;
	struct gn_pattern_batch batch;
	int gathers; /* whatever gn_auto advises */
};

static int open_auto(struct gn_pattern_fixture *fixture, struct way *way, uint64_t words,
                     struct gn_error *error)
{
	struct gn_auto_options c;

	memset(&c, 0, sizeof c);
	c.cache_bytes = fixture->options.cache_bytes;
	c.count = words;
	c.element_bytes = 4;
	c.reach_bytes = fixture->reach_bytes;
	return gn_auto_open(&way->choice, fixture->machine, fixture->store, &c, error);
}

static int open_fixed(struct gn_pattern_fixture *fixture, struct way *way, uint32_t page_bytes,
                      uint64_t words, struct gn_error *error)
{
	struct gn_array_options c = {page_bytes ? GN_PAGED : GN_DIRECT, NULL, fixture->store, 0, words, 4};
	struct gn_cache_options o;
	int rc = 0;

	memset(&o, 0, sizeof o);
	o.bytes = fixture->options.cache_bytes;
	o.page_bytes = page_bytes;
	if (page_bytes)
		rc = gn_cache_create(&way->cache, fixture->machine, &fixture->store, 1, &o, error);
	c.cache = way->cache;
	return rc ? rc : gn_array_create(&way->array, fixture->machine, &c, error);
}

static int open_way(struct gn_pattern_fixture *fixture, const struct gn_pattern *pattern, uint32_t mode,
                    const struct gn_pattern_args *args, struct way *way, struct gn_error *error)
{
	int rc;

	way->gathers = mode == GN_PATTERN_GATHER;
	way->batch.machine = fixture->machine;
	if (way->gathers && !pattern->list)
		return gn_error_set(
		    error, -GN_EINVAL,
		    "pattern %s: its accesses are not known in advance, so it cannot run in batches",
		    pattern->name);
	rc = mode == GN_PATTERN_AUTO ? open_auto(fixture, way, args->words, error)
	                             : open_fixed(fixture, way, way->gathers ? 0 : mode, args->words, error);
	if (!rc && pattern->list && (way->gathers || way->choice))
		rc = gn_pattern_batch_open(&way->batch, fixture->machine, pattern->list, args, error);
	return rc;
}

static void close_way(struct gn_pattern_fixture *fixture, struct way *way)
{
	gn_pattern_batch_close(&way->batch);
	gn_auto_close(way->choice);
	if (way->array.failure)
		gn_array_destroy(&way->array, fixture->machine);
	if (way->cache)
		gn_cache_destroy(way->cache);
}

/* Is the next launch one of batches? */
static int gathers(const struct way *way, const struct gn_pattern *pattern)
{
	return way->gathers ||
	       (way->choice && pattern->list && gn_auto_advice(way->choice) == GN_ADVICE_GATHER);
}

static void note_choice(const struct way *way, int as_batches, struct gn_pattern_result *r)
{
	struct gn_auto_state s;

	gn_auto_describe(way->choice, &s);
	if (as_batches)
		snprintf(r->choice[r->launches], sizeof r->choice[0], "gather");
	else if (s.mode == GN_DIRECT)
		snprintf(r->choice[r->launches], sizeof r->choice[0], "direct");
	else
		snprintf(r->choice[r->launches], sizeof r->choice[0], "%u", s.page_bytes);
	r->switches = s.switches;
	r->looks = s.samples;
}

static int run_launch(struct gn_pattern_fixture *fixture, const struct gn_pattern *pattern, struct way *way,
                      struct gn_pattern_args *args, struct gn_pattern_result *r, struct gn_error *error)
{
	const int is_later = pattern->later && args->launch >= fixture->options.launches / 2;
	const int as_batches = gathers(way, pattern);
	const double begun = now();
	int rc;

	if (way->choice)
		note_choice(way, as_batches, r);
	args->array = way->choice ? gn_auto_array(way->choice) : way->array;
	rc = as_batches ? gn_pattern_batch_launch(&way->batch, pattern, grid_of(fixture), args, error)
	                : launch(fixture, is_later ? pattern->later : pattern->kernel, args, error);
	if (!rc && way->choice)
		rc = gn_auto_adapt(way->choice, error);
	r->seconds[r->launches] = now() - begun;
	r->total += r->seconds[r->launches++];
	return rc < 0 ? rc : 0;
}

static int run_launches(struct gn_pattern_fixture *fixture, const struct gn_pattern *pattern, struct way *way,
                        struct gn_pattern_args *args, double limit, struct gn_pattern_result *r,
                        struct gn_error *error)
{
	int rc = 0;

	for (uint32_t k = 0; k < fixture->options.launches && !rc && (limit <= 0 || r->total < limit); k++) {
		args->launch = k;
		rc = run_launch(fixture, pattern, way, args, r, error);
	}
	if (rc)
		return rc;
	return way->choice ? gn_auto_failure(way->choice, error) : gn_array_failure(&way->array, error);
}

/* What was written must be in the store: flush (it counts), verify, and put the words back. */
static int settle_writes(struct gn_pattern_fixture *fixture, struct way *way, struct gn_pattern_args *args,
                         struct gn_pattern_result *r, struct gn_error *error)
{
	const double begun = now();
	int rc = way->choice  ? gn_auto_flush(way->choice, error)
	         : way->cache ? gn_cache_flush(way->cache, error)
	                      : 0;

	r->total += now() - begun;
	args->launches = r->launches;
	if (!rc)
		rc = directly(fixture, &gn_pattern_verify_kernel, args, error);
	return rc ? rc : fill(fixture, error);
}

int gn_pattern_run(struct gn_pattern_fixture *fixture, const struct gn_pattern *pattern, uint32_t mode,
                   double limit, struct gn_pattern_result *result, struct gn_error *error)
{
	struct gn_pattern_args args = arguments(fixture, pattern);
	struct way way;
	int rc;

	memset(&way, 0, sizeof way);
	memset(result, 0, sizeof *result);
	*fixture->wrong = 0;
	rc = open_way(fixture, pattern, mode, &args, &way, error);
	if (!rc)
		rc = run_launches(fixture, pattern, &way, &args, limit, result, error);
	if (!rc && way.choice) {
		gn_auto_explain(way.choice, result->explain, sizeof result->explain);
		result->advice = gn_auto_advice(way.choice);
	}
	if (!rc && pattern->writes)
		rc = settle_writes(fixture, &way, &args, result, error);
	close_way(fixture, &way);
	if (!rc && *fixture->wrong)
		rc = gn_error_set(error, -GN_EBADMSG,
		                  "pattern %s: %llu words differ from the words that were written; this is a "
		                  "bug, please report it",
		                  pattern->name, (unsigned long long)*fixture->wrong);
	return rc;
}
