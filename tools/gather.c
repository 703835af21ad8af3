/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grapnel gather: what a batch of rows costs, beside the same rows read as they come and beside the link.
 *
 * For each size of a row and each draw, one batch of row numbers is read in four ways: as they come by plain loads from
 * the store, each row once in order of addresses (the limit of what order can give), by gn_gather_rows and by
 * gn_gather_grid. A smaller batch is changed by gn_scatter_rows and read back by gn_gather_block. Every word that was
 * gathered is compared; one that is wrong makes the run fail.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gather/kernels.h"
#include "tool.h"

enum { OPT_MACHINE = 256, OPT_DATA, OPT_CACHE, OPT_PAGE, OPT_TABLE, OPT_ROWS, OPT_COUNT, OPT_OUT, OPT_DRAW, OPT_THETA,
       OPT_WARP, OPT_THREADS, OPT_REPEAT, OPT_JSON };

enum { MOST_SIZES = 16, MOST_REPEAT = 99, PART = 64 };

struct request {
	const char *machine, *json;
	uint64_t data_bytes, cache_bytes, count, out_bytes;
	uint32_t page_bytes, row_bytes[MOST_SIZES];
	enum gn_cache_table table;
	unsigned sizes, draws, warp_width, threads, repeat;
	double theta;
};

static const struct argp_option options[] = {
    {"machine", OPT_MACHINE, "NAME", 0, "cpu, cuda or cuda:INDEX (default cpu)", 0},
    {"data", OPT_DATA, "SIZE", 0, "how much there is, in host memory (default 256M)", 0},
    {"cache", OPT_CACHE, "SIZE", 0, "bytes of cache (default one tenth of the data)", 0},
    {"page", OPT_PAGE, "SIZE", 0, "page size, a power of two from 512 to 2M (default 4K)", 0},
    {"table", OPT_TABLE, "NAME", 0, "auto, direct or sets (default auto)", 0},
    {"rows", OPT_ROWS, "SIZES", 0, "bytes of a row, a multiple of 4; several with commas (default 4,64,512,1024)", 0},
    {"count", OPT_COUNT, "N", 0, "rows of a batch (default one for every 256 bytes of the data)", 0},
    {"out", OPT_OUT, "SIZE", 0, "most bytes of a batch's rows; fewer rows if need be (default half of the data)", 0},
    {"draw", OPT_DRAW, "NAME", 0, "uniform, zipf or both (default both)", 0},
    {"theta", OPT_THETA, "X", 0, "exponent of zipf, below 1 (default 0.99)", 0},
    {"warp-width", OPT_WARP, "W", 0, "lanes of a warp on cpu: 1, 2, 4, 8, 16 or 32 (default 1)", 0},
    {"threads", OPT_THREADS, "N", 0, "OS threads on cpu (default one a core)", 0},
    {"repeat", OPT_REPEAT, "N", 0, "runs of each; the median counts (default 3)", 0},
    {"json", OPT_JSON, "FILE", 0, "write the result as JSON; - for standard output, without the table", 0},
    {0},
};

/* ---- the command line ---- */

static uint64_t size_option(const struct argp_state *state, const char *option, const char *text)
{
	uint64_t bytes = 0;

	if (gn_size_parse(text, &bytes) || !bytes)
		argp_error(state, "%s %s: not a size; give bytes such as 4096, 64K or 8G", option, text);
	return bytes;
}

static unsigned word_option(const struct argp_state *state, const char *option, const char *text,
			    const char *const *words)
{
	for (unsigned k = 0; k < 3; k++)
		if (!strcmp(words[k], text))
			return k;
	argp_error(state, "%s %s: use %s, %s or %s", option, text, words[0], words[1], words[2]);
	return 0;
}

static void sizes_option(const struct argp_state *state, struct request *q, const char *text)
{
	char *copy = strdup(text), *rest = NULL;

	q->sizes = 0;
	for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		const uint64_t bytes = size_option(state, "--rows", word);

		if (q->sizes == MOST_SIZES || bytes % 4 || bytes > 1 << 20)
			argp_error(state, "--rows %s: up to %d multiples of 4, each 1M at most", text, MOST_SIZES);
		q->row_bytes[q->sizes++] = (uint32_t)bytes;
	}
	free(copy);
}

static double theta_option(const struct argp_state *state, const char *text)
{
	char *end;
	const double theta = strtod(text, &end);

	if (*end || !(theta > 0 && theta < 1))
		argp_error(state, "--theta %s: not a number between 0 and 1", text);
	return theta;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const tables[] = {"auto", "direct", "sets"};
	static const char *const draws[] = {"both", "uniform", "zipf"};
	struct request *q = (struct request *)state->input;

	switch (key) {
	case OPT_MACHINE: q->machine = arg; return 0;
	case OPT_DATA: q->data_bytes = size_option(state, "--data", arg); return 0;
	case OPT_CACHE: q->cache_bytes = size_option(state, "--cache", arg); return 0;
	case OPT_PAGE: q->page_bytes = (uint32_t)size_option(state, "--page", arg); return 0;
	case OPT_TABLE: q->table = (enum gn_cache_table)word_option(state, "--table", arg, tables); return 0;
	case OPT_ROWS: sizes_option(state, q, arg); return 0;
	case OPT_COUNT: q->count = tool_number(state, "--count", arg, 1, UINT32_MAX); return 0;
	case OPT_OUT: q->out_bytes = size_option(state, "--out", arg); return 0;
	case OPT_DRAW: q->draws = word_option(state, "--draw", arg, draws); return 0;
	case OPT_THETA: q->theta = theta_option(state, arg); return 0;
	case OPT_WARP: q->warp_width = (unsigned)tool_number(state, "--warp-width", arg, 1, 32); return 0;
	case OPT_THREADS: q->threads = (unsigned)tool_number(state, "--threads", arg, 1, 1024); return 0;
	case OPT_REPEAT: q->repeat = (unsigned)tool_number(state, "--repeat", arg, 1, MOST_REPEAT); return 0;
	case OPT_JSON: q->json = arg; return 0;
	case ARGP_KEY_ARG: argp_error(state, "%s: no argument is wanted, only options", arg); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    options,
    parse,
    NULL,
    "Measure batches of rows beside reading them as they come.\vEvery word gathered is checked. Exit status: 0 it went "
    "well, 1 the run failed or a word was wrong, 2 it was called wrongly.",
    NULL,
    NULL,
    NULL,
};

/* ---- what came of it ---- */

/* One size of row under one draw. */
struct trial {
	uint32_t row_bytes, draw;
	uint64_t count, reads; /* reads: rows without repeats, as far as the order of the batch shows them */
	double plain, ordered, gather, grid; /* seconds, medians */
	double scatter, block;               /* seconds for a batch of 1 / PART of the rows */
};

struct bench {
	const struct request *q;
	struct simt_machine *machine;
	struct simt_info info;
	struct gn_store *store;
	struct gn_cache *cache;
	struct gn_gather *gather;
	struct gn_gb_args args;
	struct simt_grid grid; /* as large as the machine holds, with the memory that gn_gather_grid needs */
	struct trial trial[2 * MOST_SIZES];
	unsigned trials;
	double stream; /* seconds for all data */
};

/* ---- running ---- */

/* As large as the machine holds; in small pieces, started in order, where the order of blocks is that of addresses. */
static struct simt_grid grid_of(const struct bench *b, const struct simt_kernel *kernel)
{
	struct simt_grid grid = b->grid;
	const uint32_t elements = b->args.batch.elements, width = b->info.warp_width;
	const uint64_t lanes = elements < width ? elements : width;

	if (kernel == &gn_gb_ordered_kernel)
		grid.blocks = (uint32_t)(b->args.batch.count * lanes / (GN_GB_ROUNDS * grid.block_threads) + 1);
	return grid;
}

/* One launch, or one call of gn_gather_rows if kernel is NULL. */
static int once(struct bench *b, const struct simt_kernel *kernel, double *seconds, struct gn_error *e)
{
	const double begin = tool_seconds();
	int rc = kernel ? simt_launch(b->machine, kernel, grid_of(b, kernel), &b->args)
			: gn_gather_rows(b->gather, &b->args.array, &b->args.batch, e);

	if (!rc)
		rc = simt_wait(b->machine);
	*seconds = tool_seconds() - begin;
	return rc ? gn_error_set(e, rc, "%s: %s", kernel ? kernel->name : "gather", simt_message(b->machine)) : 0;
}

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int median_of(struct bench *b, const struct simt_kernel *kernel, double *median, struct gn_error *e)
{
	double seconds[MOST_REPEAT];
	int rc = 0;

	for (unsigned k = 0; k < b->q->repeat && !rc; k++)
		rc = once(b, kernel, &seconds[k], e);
	qsort(seconds, b->q->repeat, sizeof *seconds, ascending);
	*median = seconds[b->q->repeat / 2];
	return rc;
}

static int no_wrong_words(struct bench *b, const char *what, struct gn_error *e)
{
	if (!*b->args.wrong)
		return gn_array_failure(&b->args.array, e);
	return gn_error_set(e, -GN_EBADMSG, "%s: %llu words were not what was written: this is a bug; please report it",
			    what, (unsigned long long)*b->args.wrong);
}

/* The rows as they should be, with the words changed by mask. */
static int set_rows(struct bench *b, uint32_t mask, struct gn_error *e)
{
	double seconds;

	b->args.mask = mask;
	return once(b, &gn_gb_set_kernel, &seconds, e);
}

static int check_rows(struct bench *b, uint32_t mask, const char *what, struct gn_error *e)
{
	double seconds;
	int rc;

	b->args.mask = mask;
	rc = once(b, &gn_gb_check_kernel, &seconds, e);
	return rc ? rc : no_wrong_words(b, what, e);
}

/* Measure one way to gather, and compare every word of it. */
static int checked(struct bench *b, const struct simt_kernel *kernel, double *median, struct gn_error *e)
{
	int rc = set_rows(b, ~0u, e);

	if (!rc)
		rc = median_of(b, kernel, median, e);
	return rc ? rc : check_rows(b, 0, kernel ? kernel->name : "gn_gather_rows", e);
}

static int scatter(struct bench *b, double *seconds, struct gn_error *e)
{
	const double begin = tool_seconds();
	int rc = gn_scatter_rows(b->gather, &b->args.array, &b->args.batch, e);

	if (!rc)
		rc = simt_wait(b->machine);
	*seconds = tool_seconds() - begin;
	return rc ? gn_error_set(e, rc, "gn_scatter_rows: %s", simt_message(b->machine)) : 0;
}

/* Change a part of the batch's rows in the array, read them back, and put right what was changed. */
static int there_and_back(struct bench *b, struct trial *t, struct gn_error *e)
{
	double seconds;
	int rc;

	b->args.batch.count = t->count / PART + 1;
	rc = set_rows(b, ~0u, e);
	if (!rc)
		rc = scatter(b, &t->scatter, e);
	if (!rc)
		rc = set_rows(b, 0, e);
	if (!rc)
		rc = once(b, &gn_gb_block_kernel, &t->block, e);
	if (!rc)
		rc = check_rows(b, ~0u, "gn_scatter_rows and gn_gather_block", e);
	if (!rc)
		rc = set_rows(b, 0, e);
	if (!rc)
		rc = scatter(b, &seconds, e);
	return rc ? rc : gn_cache_flush(b->cache, e);
}

/* The sum of 1 / k^theta for k from 1 to n; the far end as an integral. */
static double zeta(uint64_t n, double theta)
{
	const uint64_t near = n < 1000000 ? n : 1000000;
	double sum = 0;

	for (uint64_t k = 1; k <= near; k++)
		sum += pow((double)k, -theta);
	return sum + (pow((double)n + 0.5, 1 - theta) - pow((double)near + 0.5, 1 - theta)) / (1 - theta);
}

static struct gn_gb_zipf zipf_of(uint64_t n, double theta)
{
	struct gn_gb_zipf z;

	z.theta = theta;
	z.zeta = zeta(n, theta);
	z.alpha = 1 / (1 - theta);
	z.eta = (1 - pow(2 / (double)n, 1 - theta)) / (1 - zeta(2, theta) / z.zeta);
	return z;
}

/* A fresh array through a cache; warm under zipf, with what was drawn before. */
static int open_cache(struct bench *b, struct gn_error *e)
{
	struct gn_cache_options c;
	struct gn_array_config a = {GN_PAGED, NULL, b->store, 0, b->args.words, 4};
	double seconds;
	int rc;

	memset(&c, 0, sizeof c);
	c.bytes = b->q->cache_bytes;
	c.page_bytes = b->q->page_bytes;
	c.table = b->q->table;
	rc = gn_cache_create(&b->cache, b->machine, &b->store, 1, &c, e);
	if (rc)
		return rc;
	a.cache = b->cache;
	rc = gn_array_create(&b->args.array, b->machine, &a, e);
	return rc || b->args.draw == GN_GB_UNIFORM ? rc : once(b, &gn_gb_warm_kernel, &seconds, e);
}

static void close_cache(struct bench *b)
{
	gn_array_destroy(&b->args.array, b->machine);
	if (b->cache)
		gn_cache_destroy(b->cache);
	b->cache = NULL;
}

static int measure_ordered(struct bench *b, struct trial *t, struct gn_error *e)
{
	uint64_t reads = 0;
	int rc = simt_move(b->machine, b->args.reads, &reads, sizeof reads);

	if (!rc)
		rc = median_of(b, &gn_gb_ordered_kernel, &t->ordered, e);
	if (!rc)
		rc = simt_move(b->machine, &reads, b->args.reads, sizeof reads);
	t->reads = reads / b->q->repeat;
	return rc;
}

static int measure(struct bench *b, struct trial *t, struct gn_error *e)
{
	double seconds;
	int rc = once(b, &gn_gb_draw_kernel, &seconds, e);

	if (!rc)
		rc = open_cache(b, e);
	if (!rc)
		rc = once(b, &gn_gb_plain_kernel, &t->plain, e); /* long, and the same every time */
	if (!rc)
		rc = checked(b, NULL, &t->gather, e);
	if (!rc)
		rc = measure_ordered(b, t, e);
	if (!rc)
		rc = checked(b, &gn_gb_grid_kernel, &t->grid, e);
	if (!rc)
		rc = there_and_back(b, t, e);
	close_cache(b);
	return rc;
}

static int run_trial(struct bench *b, uint32_t row_bytes, uint32_t draw, struct gn_error *e)
{
	struct trial *t = &b->trial[b->trials];
	int rc;

	t->row_bytes = row_bytes;
	t->draw = draw;
	t->count = b->q->out_bytes / row_bytes < b->q->count ? b->q->out_bytes / row_bytes : b->q->count;
	b->args.rows = b->args.words * 4 / row_bytes;
	b->args.draw = draw;
	b->args.seed++;
	b->args.touches = 8 * (b->q->cache_bytes / b->q->page_bytes);
	b->args.batch.elements = row_bytes / 4;
	b->args.batch.count = t->count;
	if (draw == GN_GB_ZIPF)
		b->args.zipf = zipf_of(b->args.rows, b->q->theta);
	rc = measure(b, t, e);
	b->trials += !rc;
	return rc;
}

static int run_trials(struct bench *b, struct gn_error *e)
{
	int rc = 0;

	for (unsigned k = 0; k < b->q->sizes && !rc; k++)
		for (uint32_t draw = 0; draw < 2 && !rc; draw++)
			if (!b->q->draws || b->q->draws == draw + 1)
				rc = run_trial(b, b->q->row_bytes[k], draw, e);
	return rc;
}

static int open_bench(struct bench *b, struct gn_error *e)
{
	struct simt_config config;
	const struct gn_store_view *view;
	char uri[64];
	int rc;

	memset(&config, 0, sizeof config);
	config.name = b->q->machine;
	config.threads = b->q->threads;
	config.warp_width = b->q->warp_width;
	snprintf(uri, sizeof uri, "host:%llu", (unsigned long long)b->q->data_bytes);
	rc = simt_open(&b->machine, &config, e);
	if (!rc)
		rc = gn_store_open(&b->store, b->machine, uri, NULL, e);
	if (rc)
		return rc;
	simt_describe(b->machine, &b->info);
	view = gn_store_view_of(b->store);
	b->args.store = (uint32_t *)(void *)view->memory;
	b->args.words = view->capacity_bytes / 16 * 4;
	b->grid.block_threads = 16 * b->info.warp_width;
	b->grid.blocks = b->info.is_cuda ? b->info.resident_threads / b->grid.block_threads : b->info.processors;
	b->grid.shared_bytes = GN_GATHER_SHARED;
	return 0;
}

static int allocate(struct bench *b, struct gn_error *e)
{
	uint64_t bytes = 0;
	int rc = gn_gather_create(&b->gather, b->machine, b->q->count, e);

	if (rc)
		return rc;
	for (unsigned k = 0; k < b->q->sizes; k++)
		if (bytes < b->q->count * b->q->row_bytes[k])
			bytes = b->q->count * b->q->row_bytes[k];
	bytes = bytes < b->q->out_bytes ? bytes : b->q->out_bytes;
	b->args.view = gn_gather_view_of(b->gather);
	b->args.batch.index = (const uint64_t *)simt_alloc(b->machine, b->q->count * sizeof(uint64_t), SIMT_DEVICE);
	b->args.batch.rows = simt_alloc(b->machine, bytes, SIMT_DEVICE);
	b->args.wrong = (uint64_t *)simt_alloc(b->machine, sizeof *b->args.wrong, SIMT_SHARED);
	b->args.reads = (uint64_t *)simt_alloc(b->machine, sizeof *b->args.reads, SIMT_DEVICE);
	return b->args.batch.index && b->args.batch.rows && b->args.wrong && b->args.reads
		       ? 0
		       : gn_error_set(e, -GN_ENOMEM, "no memory for the batch; take a smaller --count or --out");
}

static int run(struct bench *b, struct gn_error *e)
{
	double seconds;
	int rc = open_bench(b, e);

	if (!rc)
		rc = allocate(b, e);
	if (!rc)
		rc = once(b, &gn_gb_fill_kernel, &seconds, e);
	if (!rc)
		rc = median_of(b, &gn_gb_stream_kernel, &b->stream, e);
	return rc ? rc : run_trials(b, e);
}

static void close_bench(struct bench *b)
{
	if (!b->machine)
		return;
	gn_gather_destroy(b->gather);
	simt_free(b->machine, (void *)(uintptr_t)b->args.batch.index);
	simt_free(b->machine, b->args.batch.rows);
	simt_free(b->machine, b->args.wrong);
	simt_free(b->machine, b->args.reads);
	if (b->store)
		gn_store_close(b->store);
	simt_close(b->machine);
}

/* ---- saying it ---- */

static const char *draw_name(const struct trial *t)
{
	return t->draw == GN_GB_ZIPF ? "zipf" : "uniform";
}

static double giga_rows(const struct trial *t, double seconds)
{
	return (double)t->count / seconds / 1e9;
}

/* Million rows a second of a batch of a part of the rows. */
static double part_rate(const struct trial *t, double seconds)
{
	return (double)(t->count / PART + 1) / seconds / 1e6;
}

static double stream_rate(const struct bench *b)
{
	return (double)b->args.words * 4 / b->stream / 1e9;
}

static void print_trials(const struct bench *b)
{
	printf("%s, %u processors, warps of %u; %s; stream %.2f GB/s\n", b->info.name, b->info.processors,
	       b->info.warp_width, gn_store_path(b->store), stream_rate(b));
	printf("  %5s %-8s %10s %9s   %-12s %-12s %-19s %s\n", "bytes", "draw", "rows", "reads", "as they come",
	       "each in order", "gather", "whole grid, in GB/s, scatter, by blocks");
	for (unsigned k = 0; k < b->trials; k++) {
		const struct trial *t = &b->trial[k];

		printf("  %5u %-8s %10llu %8.1f %% %8.1f M/s %10.1f M/s %8.1f M/s %5.1f x %8.1f M/s %6.1f %7.1f M/s "
		       "%7.1f M/s\n",
		       t->row_bytes, draw_name(t), (unsigned long long)t->count,
		       100.0 * (double)t->reads / (double)t->count, 1e3 * giga_rows(t, t->plain),
		       1e-6 * (double)t->reads / t->ordered, 1e3 * giga_rows(t, t->gather), t->plain / t->gather,
		       1e3 * giga_rows(t, t->grid), giga_rows(t, t->gather) * t->row_bytes,
		       part_rate(t, t->scatter), part_rate(t, t->block));
	}
}

static json_t *trial_json(const struct trial *t)
{
	return json_pack("{s:i, s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "row_bytes",
			 (int)t->row_bytes, "draw", draw_name(t), "count", (json_int_t)t->count, "reads",
			 (json_int_t)t->reads, "plain_seconds", t->plain, "ordered_seconds", t->ordered,
			 "gather_seconds", t->gather, "grid_seconds", t->grid, "mega_rows_per_second",
			 1e3 * giga_rows(t, t->gather), "giga_bytes_per_second", giga_rows(t, t->gather) * t->row_bytes,
			 "of_plain", t->plain / t->gather, "scatter_mega_rows_per_second", part_rate(t, t->scatter),
			 "block_mega_rows_per_second", part_rate(t, t->block));
}

static int write_json(const struct bench *b, struct gn_error *e)
{
	json_t *list = json_array(), *root;
	int rc;

	for (unsigned k = 0; k < b->trials; k++)
		json_array_append_new(list, trial_json(&b->trial[k]));
	root = json_pack("{s:s, s:{s:s, s:i, s:i}, s:s, s:I, s:I, s:i, s:f, s:f, s:b, s:o}", "schema",
			 "grapnel-gather-1", "machine", "name", b->info.name, "processors", (int)b->info.processors,
			 "warp_width", (int)b->info.warp_width, "path", gn_store_path(b->store), "data_bytes",
			 (json_int_t)b->q->data_bytes, "cache_bytes", (json_int_t)b->q->cache_bytes, "page_bytes",
			 (int)b->q->page_bytes, "theta", b->q->theta, "stream_giga_bytes_per_second", stream_rate(b),
			 "verified", 1, "trials", list);
	if (!root)
		return gn_error_set(e, -GN_ENOMEM, "the report cannot be made as JSON");
	rc = strcmp(b->q->json, "-") ? json_dump_file(root, b->q->json, JSON_INDENT(2))
				     : json_dumpf(root, stdout, JSON_INDENT(2));
	json_decref(root);
	return rc ? gn_error_set(e, -GN_EIO, "%s: cannot be written; see its folder and free space", b->q->json) : 0;
}

static void complete(struct request *q)
{
	if (!q->cache_bytes)
		q->cache_bytes = q->data_bytes / 10;
	if (!q->count)
		q->count = q->data_bytes / 256 ? q->data_bytes / 256 : 1;
	if (!q->out_bytes)
		q->out_bytes = q->data_bytes / 2;
}

int tool_gather(int argc, char **argv)
{
	static const struct request standard = {
	    "cpu", NULL, 256u << 20, 0, 0, 0, 4096, {4, 64, 512, 1024}, GN_TABLE_AUTO, 4, 0, 0, 0, 3, 0.99};
	struct request q = standard;
	struct bench b;
	struct gn_error e;
	int rc;

	memset(&b, 0, sizeof b);
	memset(&e, 0, sizeof e);
	argp_parse(&argp, argc, argv, 0, NULL, &q);
	complete(&q);
	b.q = &q;
	rc = run(&b, &e);
	if (!rc && q.json)
		rc = write_json(&b, &e);
	if (!rc && !(q.json && !strcmp(q.json, "-")))
		print_trials(&b);
	close_bench(&b);
	return rc ? tool_fail("gather", &e) : TOOL_OK;
}
