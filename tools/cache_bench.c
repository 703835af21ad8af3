/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grapnel cache-bench: what a hit and a miss cost, beside the limits of the same machine in the same run.
 *
 * Hot rows read words that are all in the cache, and are set against the same loop on a plain pointer. Cold
 * rows touch random pages of far more data than the cache holds, and are set against streaming the store.
 * Every word is compared with what it should be; one that is not makes the run fail.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "baselines/data.h"
#include "bench.h"
#include "cache_bench/kernels.h"

enum { OPT_COLD = 256, OPT_POLICY, OPT_TOUCHES, OPT_BLOCKS, OPT_BLOCK_THREADS };

struct request {
	struct bench_request all;
	uint64_t cold_bytes, touches;
	enum gn_cache_policy policy;
	unsigned blocks, block_threads;
};

static const struct argp_option options[] = {
    {"cold-cache", OPT_COLD, "SIZE", 0,
     "bytes of cache for the cold rows (default one sixteenth of the data); the option --cache is for the "
     "hot rows"},
    {"policy", OPT_POLICY, "NAME", 0,
     "how the cache chooses the page to evict: clock, fifo or random (default clock)"},
    {"touches", OPT_TOUCHES, "N", 0, "random pages to access (default as many as the data has pages)"},
    {"blocks", OPT_BLOCKS, "N", 0,
     "blocks of the grid, 1 to 1048576 (default eight times as many as the machine runs at once)"},
    {"block-threads", OPT_BLOCK_THREADS, "N", 0, "threads of a block, 1 to 1024 (default 256)"},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *q = (struct request *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: bench_inputs(state, &q->all); return 0;
	case OPT_COLD: q->cold_bytes = tool_size(state, "--cold-cache", arg, 1); return 0;
	case OPT_POLICY:
		q->policy = (enum gn_cache_policy)tool_word(state, "--policy", arg, tool_policies);
		return 0;
	case OPT_TOUCHES: q->touches = tool_number(state, "--touches", arg, 1, UINT64_MAX >> 16); return 0;
	case OPT_BLOCKS: q->blocks = (unsigned)tool_number(state, "--blocks", arg, 1, 1 << 20); return 0;
	case OPT_BLOCK_THREADS:
		q->block_threads = (unsigned)tool_number(state, "--block-threads", arg, 1, 1024);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "%s: unexpected argument; this command takes options only", arg);
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    options,
    parse,
    NULL,
    "Measure the speed of cache hits and misses, beside the machine's limits.\vEvery word read is checked. "
    "Exit status: 0 success, 1 the run failed or a word was wrong, 2 the command line is wrong.",
    bench_children,
};

/* ---- rows ---- */

enum unit { BYTES, ACCESSES, PAGES };

/* A loop, and the row that is its limit. */
static const struct row {
	const char *name;
	const struct simt_kernel *kernel;
	enum unit unit;
	int cold;          /* over all data through the cold cache, or the store itself */
	const char *limit; /* NULL: it is one */
} rows[] = {
    {"plain", &gn_cb_plain_kernel, BYTES, 0, NULL},
    {"plain-wide", &gn_cb_plain_wide_kernel, BYTES, 0, NULL},
    {"plain-one", &gn_cb_plain_one_kernel, BYTES, 0, "plain"},
    {"plain-run", &gn_cb_plain_run_kernel, BYTES, 0, "plain"},
    {"plain-page", &gn_cb_plain_page_kernel, BYTES, 0, "plain-wide"},
    {"plain-range", &gn_cb_plain_range_kernel, BYTES, 0, "plain-wide"},
    {"plain-random", &gn_cb_plain_random_kernel, ACCESSES, 0, NULL},
    {"looks", &gn_cb_looks_kernel, BYTES, 0, "plain"},
    {"looks-or-call", &gn_cb_looks_or_call_kernel, BYTES, 0, "plain"},
    {"hot-scalar", &gn_cb_scalar_kernel, BYTES, 0, "plain"},
    {"hot-pinned", &gn_cb_pinned_kernel, BYTES, 0, "plain"},
    {"hot-cursor", &gn_cb_cursor_kernel, BYTES, 0, "plain"},
    {"hot-page", &gn_cb_page_kernel, BYTES, 0, "plain-wide"},
    {"hot-pages", &gn_cb_pages_kernel, BYTES, 0, "plain-wide"},
    {"hot-range", &gn_cb_range_kernel, BYTES, 0, "plain-wide"},
    {"hot-random", &gn_cb_random_kernel, ACCESSES, 0, "plain-random"},
    {"stream", &gn_cb_stream_kernel, BYTES, 1, NULL},
    {"copy", &gn_cb_copy_kernel, PAGES, 1, "stream"},
    {"cold-touch", &gn_cb_touch_kernel, PAGES, 1, "stream"},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static enum scope_role role_of(const struct row *r)
{
	return !strncmp(r->name, "hot", 3) || !strncmp(r->name, "cold", 4) ? SCOPE_OURS
	       : r->limit                                                  ? SCOPE_BASELINE
	                                                                   : SCOPE_BOUND;
}

/* ---- running ---- */

struct cache_bench {
	struct bench b;
	const struct request *q;
	struct gn_cb_args args;
};

static int launch(struct cache_bench *c, const struct simt_kernel *kernel, double *seconds,
                  struct gn_error *e)
{
	return bench_launch(&c->b, kernel, c->b.grid, &c->args, seconds, e);
}

/* What one run of a row moves; a cold row through the cache moves what it fetched, hits do not count. */
static double amount_of(const struct cache_bench *c, const struct row *r, uint64_t fetched, unsigned runs)
{
	switch (r->unit) {
	case BYTES: return 4.0 * (double)c->args.words;
	case ACCESSES: return (double)c->args.touches;
	default: return fetched ? (double)fetched / runs : (double)c->args.touches * c->args.page_bytes;
	}
}

/* Times over the grid at hand, which came to *amount each. */
static int times_of(struct cache_bench *c, const struct row *r, double *seconds, double *amount,
                    struct gn_error *e)
{
	const unsigned runs = c->q->all.repeat;
	int rc = launch(c, r->kernel, seconds, e); /* not counted: it warms what can be warmed */
	const uint64_t before = fixture_fetched(&c->b.fixture);

	for (unsigned k = 0; k < runs && !rc; k++) {
		c->args.seed++;
		rc = launch(c, r->kernel, &seconds[k], e);
	}
	*amount = amount_of(c, r, fixture_fetched(&c->b.fixture) - before, runs);
	return rc;
}

/* Every row, a limit too, has its best grid: one wave of blocks, two or eight. */
static int measure(struct cache_bench *c, const struct row *r, struct gn_error *e)
{
	static const uint32_t parts[] = {1, 4, 8};
	const unsigned runs = c->q->all.repeat,
	               grids = c->b.fixture.info.is_cuda && !c->q->blocks && !r->cold ? 3 : 1;
	const uint32_t blocks = c->b.grid.blocks;
	double seconds[BENCH_RUNS], best[BENCH_RUNS], shortest = 0;
	struct bench_way way = {
	    r->name, role_of(r), r->unit == ACCESSES ? SCOPE_RATE : SCOPE_BANDWIDTH, 0, NULL, NULL, 0};
	struct scope_result *result;
	struct scope_statistics s;
	uint32_t chosen = 0;
	int rc = 0;

	for (unsigned k = 0; k < grids && !rc; k++) {
		c->b.grid.blocks = blocks / parts[k];
		rc = times_of(c, r, seconds, &way.amount, e);
		if (rc || scope_statistics_of(seconds, runs, &s) || (chosen && s.median >= shortest))
			continue;
		memcpy(best, seconds, sizeof best);
		shortest = s.median;
		chosen = c->b.grid.blocks;
	}
	c->b.grid.blocks = blocks;
	if (rc)
		return rc;
	if (r->cold)
		bench_begin(&c->b, "cold", r->limit ? r->limit : r->name,
		            "random pages of %u bytes of %.3g GB, and all of it in order", c->args.page_bytes,
		            4e-9 * (double)c->args.words);
	else
		bench_begin(&c->b, "hot", r->limit ? r->limit : r->name,
		            "words of %.3g GB, all of which is in the cache", 4e-9 * (double)c->args.words);
	rc = bench_keep(&c->b, &way, best, runs, &result, e);
	if (!rc)
		snprintf(result->why, sizeof result->why, "%u blocks of %u", chosen, c->b.grid.block_threads);
	return rc;
}

/* Not without memory of the store, or a direct table, where the row reads those itself. */
static int can_run(const struct cache_bench *c, const struct row *r)
{
	if (r->kernel == &gn_cb_looks_kernel || r->kernel == &gn_cb_looks_or_call_kernel)
		return c->args.paged.pages.word != NULL;
	return !r->cold || c->args.store || r->kernel == &gn_cb_touch_kernel;
}

/* The rows over so many words, through a cache of so many bytes. */
static int run_rows(struct cache_bench *c, int cold, uint64_t bytes, uint64_t words, struct gn_error *e)
{
	double seconds;
	int rc = fixture_cache(&c->b.fixture, bytes, c->args.page_bytes, cold, e);

	c->args.words = words;
	c->args.pages = words * 4 / c->args.page_bytes;
	c->args.touches = !cold ? words : c->q->touches ? c->q->touches : c->args.pages;
	rc = rc ? rc : fixture_array(&c->b.fixture, &c->args.paged, 0, words, e);
	if (!rc && !cold)
		rc = launch(c, &gn_cb_warm_kernel, &seconds, e);
	for (unsigned k = 0; k < ROWS && !rc; k++)
		if (rows[k].cold == cold && can_run(c, &rows[k]))
			rc = measure(c, &rows[k], e);
	return bench_uncache(&c->b, &c->args.paged, rc, e);
}

/* The data: into the store through its memory where it has some, else by the host. */
static int fill(struct cache_bench *c, uint64_t words, struct gn_error *e)
{
	const uint64_t piece = 1 << 20;
	double seconds;
	uint32_t *buffer;
	int rc;

	c->args.words = words;
	rc = launch(c, &gn_cb_fill_kernel, &seconds, e);
	if (rc || c->args.store)
		return rc;
	buffer = (uint32_t *)malloc(piece * 4);
	if (!buffer)
		return gn_error_set(e, -GN_ENOMEM, "out of memory to fill the store");
	for (uint64_t at = 0; at < words && !rc; at += piece) {
		uint64_t count = words - at < piece ? words - at : piece;

		for (uint64_t k = 0; k < count; k++)
			buffer[k] = gn_base_word(at + k);
		rc = gn_store_write_host(c->b.fixture.store, at * 4, buffer, count * 4, e);
	}
	free(buffer);
	return rc;
}

static int open_data(struct cache_bench *c, uint64_t *words, struct gn_error *e)
{
	const struct request *q = c->q;
	const struct gn_store_view *view;
	struct fixture *fixture = &c->b.fixture;
	int rc = bench_open(&c->b, e);

	if (rc)
		return rc;
	fixture->cache_options.policy = q->policy;
	fixture->store_options.transfer_bytes = q->all.page_bytes;
	if (q->all.store && strncmp(q->all.store, "host:", 5)) /* what the URI says counts more */
		tool_tuned_defaults("cache-bench", q->all.machine.name, NULL,
		                    &fixture->store_options.queue_count, &fixture->store_options.queue_depth);
	rc = bench_store(&c->b, q->all.data_bytes, e);
	if (rc)
		return rc;
	view = gn_store_view_of(fixture->store);
	*words = view->capacity_bytes < q->all.data_bytes ? view->capacity_bytes : q->all.data_bytes;
	*words = *words / q->all.page_bytes * q->all.page_bytes / 4;
	c->args.store = view->kind == GN_STORE_MEMORY ? (uint32_t *)(void *)view->memory : NULL;
	c->args.page_bytes = q->all.page_bytes;
	c->args.plain_words = q->all.cache_bytes / q->all.page_bytes * q->all.page_bytes / 4;
	c->b.grid.block_threads = q->block_threads;
	c->b.grid.blocks = q->blocks ? q->blocks : 8 * fixture->info.resident_threads / q->block_threads;
	c->b.grid.blocks += !c->b.grid.blocks;
	return c->args.plain_words > *words
	           ? gn_error_set(e, -GN_EINVAL,
	                          "--cache (%llu bytes) is larger than the data (%llu bytes); give a smaller "
	                          "--cache or more data",
	                          (unsigned long long)(c->args.plain_words * 4),
	                          (unsigned long long)(*words * 4))
	           : 0;
}

static int allocate(struct cache_bench *c, struct gn_error *e)
{
	const uint64_t warps =
	    (uint64_t)c->b.grid.blocks * c->b.grid.block_threads / c->b.fixture.info.warp_width;

	c->args.plain = (uint32_t *)simt_alloc(c->b.fixture.machine, c->args.plain_words * 4, SIMT_DEVICE, e);
	c->args.scratch =
	    (char *)simt_alloc(c->b.fixture.machine, warps * c->args.page_bytes, SIMT_DEVICE, e);
	c->args.wrong = c->b.wrong;
	return c->args.plain && c->args.scratch
	           ? 0
	           : gn_error_set(e, -GN_ENOMEM,
	                          "not enough memory on the machine for the cache and the plain array beside "
	                          "it; give a smaller --cache");
}

static int run(struct cache_bench *c, struct gn_error *e)
{
	uint64_t words = 0;
	int rc = open_data(c, &words, e);

	rc = rc ? rc : allocate(c, e);
	rc = rc ? rc : fill(c, words, e);
	rc = rc ? rc : run_rows(c, 0, c->q->all.cache_bytes, c->args.plain_words, e);
	rc = rc ? rc : run_rows(c, 1, c->q->cold_bytes, words, e);
	if (c->b.fixture.machine) {
		simt_free(c->b.fixture.machine, c->args.plain);
		simt_free(c->b.fixture.machine, c->args.scratch);
	}
	return rc ? rc : bench_right(&c->b, "cache-bench", e);
}

static json_t *settings(const struct cache_bench *c)
{
	const struct request *q = c->q;

	return json_pack("{s:I, s:I, s:I, s:i, s:s, s:s, s:i, s:i}", "data_bytes",
	                 (json_int_t)q->all.data_bytes, "cache_bytes", (json_int_t)q->all.cache_bytes,
	                 "cold_cache_bytes", (json_int_t)q->cold_bytes, "page_bytes", (int)q->all.page_bytes,
	                 "table", tool_tables[q->all.table], "policy", tool_policies[q->policy], "blocks",
	                 (int)c->b.grid.blocks, "block_threads", (int)c->b.grid.block_threads);
}

int tool_cache_bench(int argc, char **argv)
{
	static struct cache_bench c; /* its rows are large for a stack */
	struct request q;
	struct gn_error e;
	int rc;

	memset(&q, 0, sizeof q);
	memset(&c, 0, sizeof c);
	memset(&e, 0, sizeof e);
	bench_standard(&q.all, 256u << 20, 5);
	q.block_threads = 256;
	argp_parse(&argp, argc, argv, 0, NULL, &q);
	bench_complete(&q.all, "cache-bench", 8);
	if (!q.cold_bytes)
		q.cold_bytes = q.all.data_bytes / 16;
	c.q = &q;
	c.b.q = &q.all;
	c.b.command = "cache-bench";
	rc = run(&c, &e);
	return bench_end(&c.b, rc, settings(&c), &e);
}
