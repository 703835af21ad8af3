/* SPDX-License-Identifier: Apache-2.0 */
/* The trials of `grapnel gather`: a batch drawn, read in every way, compared, changed and put right. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gather.h"

/*
 * As large as the machine holds; in small pieces, started in order, where the order of blocks is that of
 * addresses.
 */
static struct simt_grid grid_of(const struct gather_bench *b, const struct simt_kernel *kernel)
{
	struct simt_grid grid = b->grid;
	const uint32_t elements = b->args.batch.elements, width = b->info.warp_width;
	const uint64_t lanes = elements < width ? elements : width;

	if (kernel == &gn_gb_ordered_kernel)
		grid.blocks =
		    (uint32_t)(b->args.batch.count * lanes / (GN_GB_ROUNDS * grid.block_threads) + 1);
	return grid;
}

/* One launch, or one call of gn_gather_rows if kernel is NULL. */
static int once(struct gather_bench *b, const struct simt_kernel *kernel, double *seconds, struct gn_error *e)
{
	const double begin = tool_seconds();
	int rc;

	if (kernel)
		return tool_launch(b->machine, kernel, grid_of(b, kernel), &b->args, seconds, e);
	rc = gn_gather_rows(b->gather, &b->args.array, &b->args.batch, e);
	if (rc)
		return rc;
	rc = simt_wait(b->machine);
	*seconds = tool_seconds() - begin;
	return rc ? gn_error_set(e, rc, "gather: %s", simt_message(b->machine)) : 0;
}

static int median_of(struct gather_bench *b, const struct simt_kernel *kernel, double *median,
                     struct gn_error *e)
{
	double seconds[GATHER_REPEAT];
	int rc = 0;

	for (unsigned k = 0; k < b->q->repeat && !rc; k++)
		rc = once(b, kernel, &seconds[k], e);
	if (!rc)
		*median = tool_median(seconds, b->q->repeat);
	return rc;
}

static int no_wrong_words(struct gather_bench *b, const char *what, struct gn_error *e)
{
	if (!*b->args.wrong)
		return gn_array_failure(&b->args.array, e);
	return gn_error_set(e, -GN_EBADMSG,
	                    "%s: %llu words were not what was written: this is a bug; please report it", what,
	                    (unsigned long long)*b->args.wrong);
}

/* The rows as they should be, with the words changed by mask. */
static int set_rows(struct gather_bench *b, uint32_t mask, struct gn_error *e)
{
	double seconds;

	b->args.mask = mask;
	return once(b, &gn_gb_set_kernel, &seconds, e);
}

static int check_rows(struct gather_bench *b, uint32_t mask, const char *what, struct gn_error *e)
{
	double seconds;
	int rc;

	b->args.mask = mask;
	rc = once(b, &gn_gb_check_kernel, &seconds, e);
	return rc ? rc : no_wrong_words(b, what, e);
}

/* Measure one way to gather, and compare every word of it. */
static int checked(struct gather_bench *b, const struct simt_kernel *kernel, double *median,
                   struct gn_error *e)
{
	int rc = set_rows(b, ~0u, e);

	if (!rc)
		rc = median_of(b, kernel, median, e);
	return rc ? rc : check_rows(b, 0, kernel ? kernel->name : "gn_gather_rows", e);
}

static int scatter(struct gather_bench *b, double *seconds, struct gn_error *e)
{
	const double begin = tool_seconds();
	int rc = gn_scatter_rows(b->gather, &b->args.array, &b->args.batch, e);

	if (!rc)
		rc = simt_wait(b->machine);
	*seconds = tool_seconds() - begin;
	return rc ? gn_error_set(e, rc, "gn_scatter_rows: %s", simt_message(b->machine)) : 0;
}

/* Change a part of the batch's rows in the array, read them back, and put right what was changed. */
static int there_and_back(struct gather_bench *b, struct gather_trial *t, struct gn_error *e)
{
	double seconds;
	int rc;

	b->args.batch.count = t->count / GATHER_PART + 1;
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
static int open_cache(struct gather_bench *b, struct gn_error *e)
{
	struct gn_cache_options c;
	struct gn_array_options a = {GN_PAGED, NULL, b->store, 0, b->args.words, 4};
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

static void close_cache(struct gather_bench *b)
{
	gn_array_destroy(&b->args.array, b->machine);
	if (b->cache)
		gn_cache_destroy(b->cache);
	b->cache = NULL;
}

static int measure_ordered(struct gather_bench *b, struct gather_trial *t, struct gn_error *e)
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

static int measure(struct gather_bench *b, struct gather_trial *t, struct gn_error *e)
{
	double seconds;
	int rc = once(b, &gn_gb_draw_kernel, &seconds, e);

	if (!rc)
		rc = open_cache(b, e);
	if (!rc)
		/* long, and the same every time */
		rc = b->info.is_cuda ? once(b, &gn_gb_plain_kernel, &t->plain, e)
				     : median_of(b, &gn_gb_plain_kernel, &t->plain, e);
	if (!rc)
		rc = checked(b, NULL, &t->gather, e);
	if (!rc)
		rc = checked(b, &gn_gb_grid_kernel, &t->grid, e);
	if (!rc)
		rc = measure_ordered(b, t, e); /* the entries that the grid has sorted */
	if (!rc)
		rc = there_and_back(b, t, e);
	close_cache(b);
	return rc;
}

static int run_trial(struct gather_bench *b, uint32_t row_bytes, uint32_t draw, struct gn_error *e)
{
	struct gather_trial *t = &b->trial[b->trials];
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

static int run_trials(struct gather_bench *b, struct gn_error *e)
{
	int rc = 0;

	for (unsigned k = 0; k < b->q->sizes && !rc; k++)
		for (uint32_t draw = 0; draw < 2 && !rc; draw++)
			if (!b->q->draws || b->q->draws == draw + 1)
				rc = run_trial(b, b->q->row_bytes[k], draw, e);
	return rc;
}

static int open_bench(struct gather_bench *b, struct gn_error *e)
{
	const struct gn_store_view *view;
	char uri[64];
	int rc;

	snprintf(uri, sizeof uri, "host:%llu", (unsigned long long)b->q->data_bytes);
	rc = simt_open(&b->machine, &b->q->machine, e);
	if (!rc)
		rc = gn_store_open(&b->store, b->machine, uri, NULL, e);
	if (rc)
		return rc;
	simt_describe(b->machine, &b->info);
	view = gn_store_view_of(b->store);
	b->args.store = (uint32_t *)(void *)view->memory;
	b->args.words = view->capacity_bytes / 16 * 4;
	b->grid.block_threads = 16 * b->info.warp_width;
	b->grid.blocks =
	    b->info.is_cuda ? b->info.resident_threads / b->grid.block_threads : b->info.processors;
	b->grid.shared_bytes = GN_GATHER_SHARED;
	return 0;
}

static int allocate(struct gather_bench *b, struct gn_error *e)
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
	b->args.batch.index =
	    (const uint64_t *)simt_alloc(b->machine, b->q->count * sizeof(uint64_t), SIMT_DEVICE);
	b->args.batch.rows = simt_alloc(b->machine, bytes, SIMT_DEVICE);
	b->args.wrong = (uint64_t *)simt_alloc(b->machine, sizeof *b->args.wrong, SIMT_PINNED);
	b->args.reads = (uint64_t *)simt_alloc(b->machine, sizeof *b->args.reads, SIMT_DEVICE);
	return b->args.batch.index && b->args.batch.rows && b->args.wrong && b->args.reads
	           ? 0
	           : gn_error_set(e, -GN_ENOMEM, "no memory for the batch; take a smaller --count or --out");
}

int gather_run(struct gather_bench *b, struct gn_error *e)
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

void gather_close(struct gather_bench *b)
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
