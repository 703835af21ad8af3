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

#include "cache_bench/kernels.h"
#include "tool.h"

enum {
	OPT_DATA = 256,
	OPT_CACHE,
	OPT_COLD,
	OPT_PAGE,
	OPT_TABLE,
	OPT_POLICY,
	OPT_REPEAT,
	OPT_TOUCHES,
	OPT_STORE,
	OPT_JSON,
	OPT_BLOCKS,
	OPT_BLOCK_THREADS
};

struct request {
	struct simt_options machine;
	const char *store, *json;
	uint64_t data_bytes, cache_bytes, cold_bytes, touches;
	uint32_t page_bytes;
	enum gn_cache_table table;
	enum gn_cache_policy policy;
	unsigned repeat, blocks, block_threads;
};

static const struct argp_option options[] = {
    {"store", OPT_STORE, "URI", 0,
     "where the data rest, such as file:PATH (default host memory of --data bytes)", 0},
    {"data", OPT_DATA, "SIZE", 0, "how much there is (default 256M)", 0},
    {"cache", OPT_CACHE, "SIZE", 0,
     "bytes of cache, all of them hot, for the hot rows (default one eighth of the data)", 0},
    {"cold-cache", OPT_COLD, "SIZE", 0,
     "bytes of cache for the cold rows (default one sixteenth of the data)", 0},
    {"page", OPT_PAGE, "SIZE", 0, "page size, a power of two from 512 to 2M (default as tuned, else 4K)", 0},
    {"table", OPT_TABLE, "NAME", 0, "auto, direct or sets (default auto)", 0},
    {"policy", OPT_POLICY, "NAME", 0, "clock, fifo or random (default clock)", 0},
    {"touches", OPT_TOUCHES, "N", 0, "random pages to touch (default as many as the data have)", 0},
    {"blocks", OPT_BLOCKS, "N", 0, "blocks of the grid (default eight times what the machine runs at once)",
     0},
    {"block-threads", OPT_BLOCK_THREADS, "N", 0, "threads of a block (default 256)", 0},
    {"repeat", OPT_REPEAT, "N", 0, "runs of each row; the median counts (default 5)", 0},
    {"json", OPT_JSON, "FILE", 0, "write the rows as JSON; - for standard output, without the table", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *q = (struct request *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &q->machine; return 0;
	case OPT_STORE: q->store = arg; return 0;
	case OPT_DATA: q->data_bytes = tool_size(state, "--data", arg, 1); return 0;
	case OPT_CACHE: q->cache_bytes = tool_size(state, "--cache", arg, 1); return 0;
	case OPT_COLD: q->cold_bytes = tool_size(state, "--cold-cache", arg, 1); return 0;
	case OPT_PAGE: q->page_bytes = tool_page(state, "--page", arg); return 0;
	case OPT_TABLE:
		q->table = (enum gn_cache_table)tool_word(state, "--table", arg, tool_tables);
		return 0;
	case OPT_POLICY:
		q->policy = (enum gn_cache_policy)tool_word(state, "--policy", arg, tool_policies);
		return 0;
	case OPT_TOUCHES: q->touches = tool_number(state, "--touches", arg, 1, UINT64_MAX >> 16); return 0;
	case OPT_BLOCKS: q->blocks = (unsigned)tool_number(state, "--blocks", arg, 1, 1 << 20); return 0;
	case OPT_BLOCK_THREADS:
		q->block_threads = (unsigned)tool_number(state, "--block-threads", arg, 1, 1024);
		return 0;
	case OPT_REPEAT: q->repeat = (unsigned)tool_number(state, "--repeat", arg, 1, 99); return 0;
	case OPT_JSON: q->json = arg; return 0;
	case ARGP_KEY_ARG: argp_error(state, "%s: no argument is wanted, only options", arg); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    options,
    parse,
    NULL,
    "Measure hits and misses of the cache beside the machine's limits.\vEvery word read is checked. Exit "
    "status: 0 it "
    "went well, 1 the run failed or a word was wrong, 2 it was called wrongly.",
    tool_machine_child,
    NULL,
    NULL,
};

/* ---- rows ---- */

enum unit { BYTES, ACCESSES, PAGES };

/* One measured loop, and the row that is its limit. */
struct row {
	const char *name;
	const struct simt_kernel *kernel;
	enum unit unit;
	int cold;        /* over all data through the cold cache, or the store itself */
	const char *limit;
	double seconds;  /* median; 0: did not run */
	double amount;   /* bytes or accesses in one run */
	uint32_t blocks; /* of the grid that was the fastest */
};

static struct row rows[] = {
    {"plain", &gn_cb_plain_kernel, BYTES, 0, NULL, 0, 0, 0},
    {"plain-wide", &gn_cb_plain_wide_kernel, BYTES, 0, NULL, 0, 0, 0},
    {"plain-one", &gn_cb_plain_one_kernel, BYTES, 0, "plain", 0, 0, 0},
    {"plain-run", &gn_cb_plain_run_kernel, BYTES, 0, "plain", 0, 0, 0},
    {"plain-page", &gn_cb_plain_page_kernel, BYTES, 0, "plain-wide", 0, 0, 0},
    {"plain-range", &gn_cb_plain_range_kernel, BYTES, 0, "plain-wide", 0, 0, 0},
    {"plain-random", &gn_cb_plain_random_kernel, ACCESSES, 0, NULL, 0, 0, 0},
    {"looks", &gn_cb_looks_kernel, BYTES, 0, "plain", 0, 0, 0},
    {"looks-or-call", &gn_cb_looks_or_call_kernel, BYTES, 0, "plain", 0, 0, 0},
    {"hot-scalar", &gn_cb_scalar_kernel, BYTES, 0, "plain", 0, 0, 0},
    {"hot-pinned", &gn_cb_pinned_kernel, BYTES, 0, "plain", 0, 0, 0},
    {"hot-cursor", &gn_cb_cursor_kernel, BYTES, 0, "plain", 0, 0, 0},
    {"hot-page", &gn_cb_page_kernel, BYTES, 0, "plain-wide", 0, 0, 0},
    {"hot-pages", &gn_cb_pages_kernel, BYTES, 0, "plain-wide", 0, 0, 0},
    {"hot-range", &gn_cb_range_kernel, BYTES, 0, "plain-wide", 0, 0, 0},
    {"hot-random", &gn_cb_random_kernel, ACCESSES, 0, "plain-random", 0, 0, 0},
    {"stream", &gn_cb_stream_kernel, BYTES, 1, NULL, 0, 0, 0},
    {"copy", &gn_cb_copy_kernel, PAGES, 1, "stream", 0, 0, 0},
    {"cold-touch", &gn_cb_touch_kernel, PAGES, 1, "stream", 0, 0, 0},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static const struct row *row_named(const char *name)
{
	for (unsigned k = 0; k < ROWS; k++)
		if (!strcmp(rows[k].name, name))
			return &rows[k];
	return NULL;
}

/* Giga (bytes or accesses) a second. */
static double rate(const struct row *r)
{
	return r->seconds > 0 ? r->amount / r->seconds / 1e9 : 0;
}

static double share(const struct row *r)
{
	const struct row *limit = r->limit ? row_named(r->limit) : NULL;

	return limit && rate(limit) > 0 ? rate(r) / rate(limit) : 0;
}

/* ---- running ---- */

struct bench {
	const struct request *q;
	struct simt_machine *machine;
	struct simt_info info;
	struct gn_store *store;
	struct gn_cache *cache;
	struct gn_cb_args args;
	struct simt_grid grid;
	uint64_t wrong;
};

static int launch(struct bench *b, const struct simt_kernel *kernel, double *seconds, struct gn_error *e)
{
	return tool_launch(b->machine, kernel, b->grid, &b->args, seconds, e);
}

static uint64_t fetched_bytes(struct bench *b)
{
	struct gn_cache_info facts;

	return b->cache && !gn_cache_describe(b->cache, &facts) ? facts.statistics.fetched_bytes : 0;
}

/* What one run of a row moves; a cold row through the cache moves what it fetched, hits do not count. */
static double amount_of(const struct bench *b, const struct row *r, uint64_t fetched, unsigned runs)
{
	switch (r->unit) {
	case BYTES: return 4.0 * (double)b->args.words;
	case ACCESSES: return (double)b->args.touches;
	default:
		return fetched ? (double)fetched / runs : (double)b->args.touches * b->args.page_bytes;
	}
}

/* With the grid at hand. */
static int measure_in(struct bench *b, struct row *r, struct gn_error *e)
{
	double seconds[99], first, median;
	int rc = launch(b, r->kernel, &first, e); /* not counted: it warms what can be warmed */
	const uint64_t before = fetched_bytes(b);

	for (unsigned k = 0; k < b->q->repeat && !rc; k++) {
		b->args.seed++;
		rc = launch(b, r->kernel, &seconds[k], e);
	}
	if (rc)
		return rc;
	median = tool_median(seconds, b->q->repeat);
	if (r->blocks && r->seconds <= median)
		return 0;
	r->seconds = median;
	r->blocks = b->grid.blocks;
	r->amount = amount_of(b, r, fetched_bytes(b) - before, b->q->repeat);
	return 0;
}

/* Every row, a limit too, has its best grid: one wave of blocks, two or eight. */
static int measure(struct bench *b, struct row *r, struct gn_error *e)
{
	static const uint32_t parts[] = {1, 4, 8};
	const uint32_t blocks = b->grid.blocks;
	int rc = 0;

	for (unsigned k = 0; k < (b->info.is_cuda && !b->q->blocks && !r->cold ? 3 : 1) && !rc; k++) {
		b->grid.blocks = blocks / parts[k];
		rc = measure_in(b, r, e);
	}
	b->grid.blocks = blocks;
	return rc;
}

static int make_cache(struct bench *b, uint64_t bytes, int counters, uint64_t words, struct gn_error *e)
{
	struct gn_cache_options c;
	struct gn_array_options a = {GN_PAGED, NULL, b->store, 0, words, 4};
	int rc;

	memset(&c, 0, sizeof c);
	c.bytes = bytes;
	c.page_bytes = b->q->page_bytes;
	c.table = b->q->table;
	c.policy = b->q->policy;
	c.statistics = counters;
	rc = gn_cache_create(&b->cache, b->machine, &b->store, 1, &c, e);
	if (rc)
		return rc;
	a.cache = b->cache;
	return gn_array_create(&b->args.paged, b->machine, &a, e);
}

static void drop_cache(struct bench *b)
{
	gn_array_destroy(&b->args.paged, b->machine);
	if (b->cache)
		gn_cache_destroy(b->cache);
	b->cache = NULL;
}

/* Not without memory of the store, or a direct table, where the row reads those itself. */
static int can_run(const struct bench *b, const struct row *r)
{
	if (r->kernel == &gn_cb_looks_kernel || r->kernel == &gn_cb_looks_or_call_kernel)
		return b->args.paged.pages.word != NULL;
	return !r->cold || b->args.store || r->kernel == &gn_cb_touch_kernel;
}

static int run_rows(struct bench *b, int cold, struct gn_error *e)
{
	int rc = 0;

	for (unsigned k = 0; k < ROWS && !rc; k++)
		if (rows[k].cold == cold && can_run(b, &rows[k]))
			rc = measure(b, &rows[k], e);
	return rc;
}

static int run_hot(struct bench *b, struct gn_error *e)
{
	double seconds;
	int rc = make_cache(b, b->q->cache_bytes, 0, b->args.plain_words, e);

	b->args.words = b->args.plain_words;
	b->args.touches = b->args.plain_words;
	if (!rc)
		rc = launch(b, &gn_cb_warm_kernel, &seconds, e);
	if (!rc)
		rc = run_rows(b, 0, e);
	if (!rc)
		rc = gn_array_failure(&b->args.paged, e);
	drop_cache(b);
	return rc;
}

static int run_cold(struct bench *b, uint64_t words, struct gn_error *e)
{
	int rc = make_cache(b, b->q->cold_bytes, 1, words, e);

	b->args.words = words;
	b->args.pages = words * 4 / b->q->page_bytes;
	b->args.touches = b->q->touches ? b->q->touches : b->args.pages;
	if (!rc)
		rc = run_rows(b, 1, e);
	if (!rc)
		rc = gn_array_failure(&b->args.paged, e);
	drop_cache(b);
	return rc;
}

/* The data: into the store through its memory where it has some, else by the host. */
static int fill(struct bench *b, uint64_t words, struct gn_error *e)
{
	const uint64_t piece = 1 << 20;
	double seconds;
	uint32_t *buffer;
	int rc;

	b->args.words = words;
	rc = launch(b, &gn_cb_fill_kernel, &seconds, e);
	if (rc || b->args.store)
		return rc;
	buffer = (uint32_t *)malloc(piece * 4);
	if (!buffer)
		return gn_error_set(e, -GN_ENOMEM, "no memory to fill the store");
	for (uint64_t at = 0; at < words && !rc; at += piece) {
		uint64_t count = words - at < piece ? words - at : piece;

		for (uint64_t k = 0; k < count; k++)
			buffer[k] = (uint32_t)(at + k) * 2654435761u ^ (uint32_t)((at + k) >> 32);
		rc = gn_store_write_host(b->store, at * 4, buffer, count * 4, e);
	}
	free(buffer);
	return rc;
}

static int open_bench(struct bench *b, uint64_t *words, struct gn_error *e)
{
	struct gn_store_options so;
	const struct gn_store_view *view;
	char uri[64];
	int rc;

	memset(&so, 0, sizeof so);
	so.transfer_bytes = b->q->page_bytes;
	if (b->q->store && strncmp(b->q->store, "host:", 5)) /* what the URI says counts more */
		tool_tuned_defaults("cache-bench", b->q->machine.name, NULL, &so.queue_count,
		                    &so.queue_depth);
	snprintf(uri, sizeof uri, "host:%llu", (unsigned long long)b->q->data_bytes);
	rc = simt_open(&b->machine, &b->q->machine, e);
	if (!rc)
		rc = gn_store_open(&b->store, b->machine, b->q->store ? b->q->store : uri, &so, e);
	if (rc)
		return rc;
	simt_describe(b->machine, &b->info);
	view = gn_store_view_of(b->store);
	*words = (view->capacity_bytes < b->q->data_bytes ? view->capacity_bytes : b->q->data_bytes) /
	         b->q->page_bytes * b->q->page_bytes / 4;
	b->args.store = view->kind == GN_STORE_MEMORY ? (uint32_t *)(void *)view->memory : NULL;
	b->args.page_bytes = b->q->page_bytes;
	b->args.plain_words = b->q->cache_bytes / b->q->page_bytes * b->q->page_bytes / 4;
	b->grid.block_threads = b->q->block_threads;
	b->grid.blocks = b->q->blocks ? b->q->blocks : 8 * b->info.resident_threads / b->grid.block_threads;
	if (!b->grid.blocks)
		b->grid.blocks = 1;
	return 0;
}

static int allocate(struct bench *b, struct gn_error *e)
{
	const uint64_t warps = (uint64_t)b->grid.blocks * b->grid.block_threads / b->info.warp_width;

	b->args.plain = (uint32_t *)simt_alloc(b->machine, b->args.plain_words * 4, SIMT_DEVICE);
	b->args.scratch = (char *)simt_alloc(b->machine, warps * b->q->page_bytes, SIMT_DEVICE);
	b->args.wrong = (uint64_t *)simt_alloc(b->machine, sizeof *b->args.wrong, SIMT_PINNED);
	return b->args.plain && b->args.scratch && b->args.wrong
	           ? 0
	           : gn_error_set(e, -GN_ENOMEM,
	                          "no memory on the machine beside the cache; take a smaller --cache");
}

static int run(struct bench *b, struct gn_error *e)
{
	uint64_t words = 0;
	int rc = open_bench(b, &words, e);

	if (!rc && b->args.plain_words > words)
		rc = gn_error_set(e, -GN_EINVAL,
		                  "--cache is larger than the data; the cold rows need more data");
	if (!rc)
		rc = allocate(b, e);
	if (!rc)
		rc = fill(b, words, e);
	if (!rc)
		rc = run_hot(b, e);
	if (!rc)
		rc = run_cold(b, words, e);
	if (!rc)
		b->wrong = *b->args.wrong;
	if (!rc && b->wrong)
		rc = gn_error_set(
		    e, -GN_EBADMSG,
		    "%llu reads brought words that were not written: this is a bug; please report it",
		    (unsigned long long)b->wrong);
	return rc;
}

static void close_bench(struct bench *b)
{
	if (!b->machine)
		return;
	simt_free(b->machine, b->args.plain);
	simt_free(b->machine, b->args.scratch);
	simt_free(b->machine, b->args.wrong);
	if (b->store)
		gn_store_close(b->store);
	simt_close(b->machine);
}

/* ---- saying it ---- */

static void print_rows(const struct bench *b)
{
	tool_print_machine(&b->info, gn_store_path(b->store));
	printf("\n  %-14s %10s %14s   %s\n", "row", "seconds", "rate", "of its limit");
	for (unsigned k = 0; k < ROWS; k++) {
		const struct row *r = &rows[k];

		if (r->seconds <= 0)
			continue;
		printf("  %-14s %10.6f %9.3f %s", r->name, r->seconds, rate(r),
		       r->unit == ACCESSES ? "G/s " : "GB/s");
		if (r->limit && share(r) > 0)
			printf("   %5.1f %% of %s", 100 * share(r), r->limit);
		putchar('\n');
	}
}

static json_t *row_json(const struct row *r)
{
	return json_pack("{s:s, s:f, s:f, s:s, s:f, s:s?, s:f, s:i}", "row", r->name, "seconds", r->seconds,
	                 "amount", r->amount, "unit", r->unit == ACCESSES ? "accesses" : "bytes",
	                 "giga_per_second", rate(r), "limit", r->limit, "of_limit", share(r), "blocks",
	                 (int)r->blocks);
}

static json_t *report_json(const struct bench *b)
{
	json_t *list = json_array();

	for (unsigned k = 0; k < ROWS; k++)
		if (rows[k].seconds > 0)
			json_array_append_new(list, row_json(&rows[k]));
	return json_pack("{s:s, s:o, s:s, s:I, s:I, s:I, s:i, s:s, s:i, s:i, s:b, s:o}", "schema",
	                 "grapnel-cache-bench-1", "machine", tool_json_machine(&b->info), "path",
	                 gn_store_path(b->store), "data_bytes", (json_int_t)b->q->data_bytes, "cache_bytes",
	                 (json_int_t)b->q->cache_bytes, "cold_cache_bytes", (json_int_t)b->q->cold_bytes,
	                 "page_bytes", (int)b->q->page_bytes, "table", tool_tables[b->q->table], "blocks",
	                 (int)b->grid.blocks, "block_threads", (int)b->grid.block_threads, "verified",
	                 b->wrong == 0, "rows", list);
}

int tool_cache_bench(int argc, char **argv)
{
	struct request q;
	struct bench b;
	struct gn_error e;
	int rc;

	memset(&q, 0, sizeof q);
	memset(&b, 0, sizeof b);
	memset(&e, 0, sizeof e);
	q.machine.name = "cpu";
	q.data_bytes = 256u << 20;
	q.repeat = 5;
	q.block_threads = 256;
	argp_parse(&argp, argc, argv, 0, NULL, &q);
	tool_tuned_defaults("cache-bench", q.machine.name, &q.page_bytes, NULL, NULL);
	if (!q.page_bytes)
		q.page_bytes = 4096;
	if (!q.cache_bytes)
		q.cache_bytes = q.data_bytes / 8;
	if (!q.cold_bytes)
		q.cold_bytes = q.data_bytes / 16;
	b.q = &q;
	rc = run(&b, &e);
	if (!rc && q.json)
		rc = tool_write_json(report_json(&b), q.json, &e);
	if (!rc && !tool_to_stdout(q.json))
		print_rows(&b);
	close_bench(&b);
	return rc ? tool_fail("cache-bench", &e) : TOOL_OK;
}
