/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grapnel gather: what a batch of rows costs, beside the same rows read as they come and beside the link.
 *
 * For each size of a row and each draw, one batch of row numbers is read in four ways: as they come by plain
 * loads from the store, each row once in order of addresses (the limit of what order can give), by
 * gn_gather_rows and by gn_gather_grid. A smaller batch is changed by gn_scatter_rows and read back by
 * gn_gather_block. Every word that was gathered is compared; one that is wrong makes the run fail.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "gather/kernels.h"

/* Sizes of rows, and the part of a batch that is scattered. */
enum { SIZES = 16, PART = 64 };

struct request {
	struct bench_request all;
	uint64_t count, out_bytes;
	uint32_t row_bytes[SIZES];
	unsigned sizes, draws; /* draws: 0 both, else one more than enum gn_gb_draw */
	double theta;
};

enum { OPT_ROWS = 256, OPT_COUNT, OPT_OUT, OPT_DRAW, OPT_THETA };

static const struct argp_option options[] = {
    {"rows", OPT_ROWS, "SIZES", 0,
     "bytes of a row, a multiple of 4 up to 1M; several sizes with commas (default 4,64,512,1024)"},
    {"count", OPT_COUNT, "N", 0, "rows of a batch (default one for every 256 bytes of data)"},
    {"out", OPT_OUT, "SIZE", 0,
     "most bytes of the rows of a batch; a batch has fewer rows if they need more (default half of the "
     "data)"},
    {"draw", OPT_DRAW, "NAME", 0, "distribution of the row numbers: uniform, zipf or both (default both)"},
    {"theta", OPT_THETA, "X", 0, "exponent of the zipf distribution, between 0 and 1 (default 0.99)"},
    {0},
};

static void sizes_option(const struct argp_state *state, struct request *q, const char *text)
{
	char *copy = strdup(text), *rest = NULL;

	q->sizes = 0;
	for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		const uint64_t bytes = tool_size(state, "--rows", word, 1);

		if (q->sizes == SIZES || bytes % 4 || bytes > 1 << 20)
			argp_error(state, "--rows %s: give up to %d multiples of 4, each at most 1M", text,
			           SIZES);
		q->row_bytes[q->sizes++] = (uint32_t)bytes;
	}
	free(copy);
}

static double theta_option(const struct argp_state *state, const char *text)
{
	char *end;
	const double theta = strtod(text, &end);

	if (*end || !(theta > 0 && theta < 1))
		argp_error(state, "--theta %s: give a number between 0 and 1", text);
	return theta;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const draws[] = {"both", "uniform", "zipf", NULL};
	struct request *q = (struct request *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: bench_inputs(state, &q->all); return 0;
	case OPT_ROWS: sizes_option(state, q, arg); return 0;
	case OPT_COUNT: q->count = tool_number(state, "--count", arg, 1, UINT32_MAX); return 0;
	case OPT_OUT: q->out_bytes = tool_size(state, "--out", arg, 1); return 0;
	case OPT_DRAW: q->draws = tool_word(state, "--draw", arg, draws); return 0;
	case OPT_THETA: q->theta = theta_option(state, arg); return 0;
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
    "Measure gathers and scatters of rows in batches, beside reading the rows one by one.\vEvery word "
    "gathered is checked. Exit status: 0 success, 1 the run failed or a word was wrong, 2 the command line "
    "is wrong.",
    bench_children,
};

/* ---- one run ---- */

struct gather_bench {
	struct bench b;
	const struct request *q;
	struct gn_gather *gather;
	struct gn_gb_args args;
	struct simt_grid grid; /* as large as the machine holds, with the memory that gn_gather_grid needs */
};

/*
 * As large as the machine holds; in small pieces, started in order, where the order of blocks is that of
 * addresses.
 */
static struct simt_grid grid_of(const struct gather_bench *g, const struct simt_kernel *kernel)
{
	struct simt_grid grid = g->grid;
	const uint32_t elements = g->args.batch.elements, width = g->b.fixture.info.warp_width;
	const uint64_t lanes = elements < width ? elements : width;

	if (kernel == &gn_gb_ordered_kernel)
		grid.blocks =
		    (uint32_t)(g->args.batch.count * lanes / (GN_GB_ROUNDS * grid.block_threads) + 1);
	return grid;
}

static int launch(struct gather_bench *g, const struct simt_kernel *kernel, double *seconds,
                  struct gn_error *e)
{
	return bench_launch(&g->b, kernel, grid_of(g, kernel), &g->args, seconds, e);
}

/* gn_gather_rows or gn_scatter_rows, to its end. */
static int call(struct gather_bench *g,
                int (*rows)(struct gn_gather *, const struct gn_array *, const struct gn_batch *,
                            struct gn_error *),
                double *seconds, struct gn_error *e)
{
	const double begin = scope_clock();
	int rc = rows(g->gather, &g->args.array, &g->args.batch, e);

	if (!rc)
		rc = gn_error_prefix(e, simt_wait(g->b.fixture.machine, e), "gather, scatter");
	*seconds = scope_clock() - begin;
	return rc;
}

/* Ways of a row; user is the kernel. */
static int run_kernel(struct bench *b, void *user, double *seconds, struct gn_error *e)
{
	return launch((struct gather_bench *)b, *(const struct simt_kernel **)user, seconds, e);
}

static int run_gather(struct bench *b, void *user, double *seconds, struct gn_error *e)
{
	(void)user;
	return call((struct gather_bench *)b, gn_gather_rows, seconds, e);
}

/* ---- rows ---- */

/* @kernel  NULL: gn_gather_rows;  @rows  that a run reads */
static int row(struct gather_bench *g, const char *name, enum scope_role role,
               const struct simt_kernel *kernel, uint64_t rows, struct scope_result **result,
               struct gn_error *e)
{
	/* plain loads are long on a GPU, and take the same time every time */
	const unsigned runs = g->b.fixture.info.is_cuda && kernel == &gn_gb_plain_kernel ? 1 : g->b.q->repeat;
	const struct bench_way way = {
	    name, role, SCOPE_RATE, (double)rows, kernel ? run_kernel : run_gather, &kernel, runs};

	return bench_measure(&g->b, &way, result, e);
}

/* The rows as they should be, with the words changed by mask, or compared with that. */
static int with_mask(struct gather_bench *g, const struct simt_kernel *kernel, uint32_t mask,
                     struct gn_error *e)
{
	double seconds;

	g->args.mask = mask;
	return launch(g, kernel, &seconds, e);
}

static int check_rows(struct gather_bench *g, uint32_t mask, const char *what, struct gn_error *e)
{
	int rc = with_mask(g, &gn_gb_check_kernel, mask, e);

	rc = rc ? rc : bench_right(&g->b, what, e);
	return rc ? rc : gn_array_failure(&g->args.array, e);
}

/* Measure one way to gather, and compare every word of it. */
static int checked_row(struct gather_bench *g, const char *name, const struct simt_kernel *kernel,
                       struct gn_error *e)
{
	struct scope_result *r;
	int rc = with_mask(g, &gn_gb_set_kernel, ~0u, e);

	rc = rc ? rc : row(g, name, SCOPE_OURS, kernel, g->args.batch.count, &r, e);
	if (rc)
		return rc;
	snprintf(r->why, sizeof r->why, "%.4g GB/s",
	         4e-9 * g->args.batch.elements * (double)g->args.batch.count / bench_seconds(r));
	return check_rows(g, 0, name, e);
}

/* Of a batch each row that is read counts once: how many that are one run says. */
static int ordered_row(struct gather_bench *g, struct gn_error *e)
{
	struct simt_machine *m = g->b.fixture.machine;
	struct scope_result *r;
	uint64_t reads = 0;
	double seconds;
	int rc = simt_move(m, g->args.reads, &reads, sizeof reads, e);

	rc = rc ? rc : launch(g, &gn_gb_ordered_kernel, &seconds, e);
	rc = rc ? rc : simt_move(m, &reads, g->args.reads, sizeof reads, e);
	rc = rc ? rc : row(g, "ordered", SCOPE_BOUND, &gn_gb_ordered_kernel, reads, &r, e);
	if (!rc)
		snprintf(r->why, sizeof r->why, "%llu reads are %.1f %% of the rows",
		         (unsigned long long)reads, 100.0 * (double)reads / (double)g->args.batch.count);
	return rc;
}

/* Change a part of the batch's rows in the array, read them back, and put right what was changed. */
static int there_and_back(struct gather_bench *g, struct gn_error *e)
{
	const double count = (double)(g->args.batch.count / PART + 1);
	const struct bench_way scattered = {"scatter", SCOPE_OURS, SCOPE_RATE, count, NULL, NULL, 1},
	                       by_blocks = {"block", SCOPE_OURS, SCOPE_RATE, count, NULL, NULL, 1};
	double scatter, block, again;
	int rc;

	g->args.batch.count = (uint64_t)count;
	rc = with_mask(g, &gn_gb_set_kernel, ~0u, e);
	rc = rc ? rc : call(g, gn_scatter_rows, &scatter, e);
	rc = rc ? rc : with_mask(g, &gn_gb_set_kernel, 0, e);
	rc = rc ? rc : launch(g, &gn_gb_block_kernel, &block, e);
	rc = rc ? rc : check_rows(g, ~0u, "gn_scatter_rows and gn_gather_block", e);
	rc = rc ? rc : with_mask(g, &gn_gb_set_kernel, 0, e);
	rc = rc ? rc : call(g, gn_scatter_rows, &again, e);
	rc = rc ? rc : gn_cache_flush(g->b.fixture.cache, e);
	rc = rc ? rc : bench_keep(&g->b, &scattered, &scatter, 1, NULL, e);
	return rc ? rc : bench_keep(&g->b, &by_blocks, &block, 1, NULL, e);
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

/* ---- trials: a size of row under a draw ---- */

/* The same by gn_gather_rows without a cache. */
static int direct_row(struct gather_bench *g, struct gn_error *e)
{
	int rc = fixture_array(&g->b.fixture, &g->args.array, 0, g->args.words, e);

	rc = rc ? rc : checked_row(g, "direct", NULL, e);
	return fixture_array_end(&g->b.fixture, &g->args.array, rc, e);
}

/* A fresh array through a cache; warm under zipf, with what was drawn before. */
static int measure(struct gather_bench *g, struct gn_error *e)
{
	double seconds;
	int rc = launch(g, &gn_gb_draw_kernel, &seconds, e);

	rc = rc ? rc : direct_row(g, e);
	rc = rc ? rc : fixture_cache(&g->b.fixture, g->q->all.cache_bytes, g->q->all.page_bytes, 0, e);
	rc = rc ? rc : fixture_array(&g->b.fixture, &g->args.array, 0, g->args.words, e);
	if (!rc && g->args.draw == GN_GB_ZIPF)
		rc = launch(g, &gn_gb_warm_kernel, &seconds, e);
	rc = rc ? rc : row(g, "plain", SCOPE_BASELINE, &gn_gb_plain_kernel, g->args.batch.count, NULL, e);
	rc = rc ? rc : checked_row(g, "gather", NULL, e);
	rc = rc ? rc : checked_row(g, "grid", &gn_gb_grid_kernel, e);
	rc = rc ? rc : ordered_row(g, e); /* the entries that the grid has sorted */
	rc = rc ? rc : there_and_back(g, e);
	return bench_uncache(&g->b, &g->args.array, rc, e);
}

static int trial(struct gather_bench *g, uint32_t row_bytes, uint32_t draw, struct gn_error *e)
{
	const uint64_t room = g->q->out_bytes / row_bytes, count = room < g->q->count ? room : g->q->count;
	char name[32];

	snprintf(name, sizeof name, "%s-%u", draw == GN_GB_ZIPF ? "zipf" : "uniform", row_bytes);
	bench_begin(&g->b, name, "plain", "%llu rows of %u bytes, drawn %s", (unsigned long long)count,
	            row_bytes, draw == GN_GB_ZIPF ? "by Zipf's law" : "uniformly");
	g->args.rows = g->args.words * 4 / row_bytes;
	g->args.draw = draw;
	g->args.seed++;
	g->args.touches = 8 * (g->q->all.cache_bytes / g->q->all.page_bytes);
	g->args.batch.elements = row_bytes / 4;
	g->args.batch.count = count;
	if (draw == GN_GB_ZIPF)
		g->args.zipf = zipf_of(g->args.rows, g->q->theta);
	return measure(g, e);
}

static int trials(struct gather_bench *g, struct gn_error *e)
{
	int rc = 0;

	for (unsigned k = 0; k < g->q->sizes && !rc; k++)
		for (uint32_t draw = 0; draw < 2 && !rc; draw++)
			if (!g->q->draws || g->q->draws == draw + 1) {
				rc = trial(g, g->q->row_bytes[k], draw, e);
				bench_print(&g->b);
			}
	return rc;
}

/* ---- the whole ---- */

static int open_data(struct gather_bench *g, struct gn_error *e)
{
	const struct simt_info *info = &g->b.fixture.info;
	int rc = bench_open(&g->b, e);

	rc = rc ? rc : bench_memory_store(&g->b, g->q->all.data_bytes, e);
	if (rc)
		return rc;
	g->args.store = (uint32_t *)(void *)g->b.memory;
	g->args.words = gn_store_view_of(g->b.fixture.store)->capacity_bytes / 16 * 4;
	g->grid.block_threads = 16 * info->warp_width;
	g->grid.blocks = info->is_cuda ? info->resident_threads / g->grid.block_threads : info->processors;
	g->grid.shared_bytes = GN_GATHER_SHARED;
	return gn_gather_create(&g->gather, g->b.fixture.machine, g->q->count, e);
}

static int allocate(struct gather_bench *g, struct gn_error *e)
{
	struct simt_machine *m = g->b.fixture.machine;
	uint64_t bytes = 0;

	for (unsigned k = 0; k < g->q->sizes; k++)
		if (bytes < g->q->count * g->q->row_bytes[k])
			bytes = g->q->count * g->q->row_bytes[k];
	bytes = bytes < g->q->out_bytes ? bytes : g->q->out_bytes;
	g->args.view = gn_gather_view_of(g->gather);
	g->args.batch.index = (const uint64_t *)simt_alloc(m, g->q->count * sizeof(uint64_t), SIMT_DEVICE, e);
	g->args.batch.rows = simt_alloc(m, bytes, SIMT_DEVICE, e);
	g->args.reads = (uint64_t *)simt_alloc(m, sizeof *g->args.reads, SIMT_DEVICE, e);
	g->args.wrong = g->b.wrong;
	return g->args.batch.index && g->args.batch.rows && g->args.reads
	           ? 0
	           : gn_error_set(e, -GN_ENOMEM,
	                          "out of memory for the batch; give a smaller --count or --out");
}

static int run(struct gather_bench *g, struct gn_error *e)
{
	const struct simt_kernel *stream = &gn_gb_stream_kernel;
	struct bench_way way = {"stream",   SCOPE_BOUND, SCOPE_BANDWIDTH, 0,
	                        run_kernel, &stream,     g->b.q->repeat};
	double seconds;
	int rc = open_data(g, e);

	rc = rc ? rc : allocate(g, e);
	rc = rc ? rc : launch(g, &gn_gb_fill_kernel, &seconds, e);
	way.amount = 4 * (double)g->args.words;
	bench_begin(&g->b, "stream", "stream", "all data in order, by plain loads");
	rc = rc ? rc : bench_measure(&g->b, &way, NULL, e);
	rc = rc ? rc : trials(g, e);
	if (!g->b.fixture.machine)
		return rc;
	gn_gather_destroy(g->gather);
	simt_free(g->b.fixture.machine, (void *)(uintptr_t)g->args.batch.index);
	simt_free(g->b.fixture.machine, g->args.batch.rows);
	simt_free(g->b.fixture.machine, g->args.reads);
	return rc;
}

/* Sizes as they are before options are read; what these left open depends on the data. */
static void standard(struct request *q)
{
	static const uint32_t row_bytes[] = {4, 64, 512, 1024};

	memset(q, 0, sizeof *q);
	bench_standard(&q->all, 256u << 20, 3);
	q->sizes = sizeof row_bytes / sizeof row_bytes[0];
	memcpy(q->row_bytes, row_bytes, sizeof row_bytes);
	q->theta = 0.99;
}

static void complete(struct request *q)
{
	bench_complete(&q->all, "gather", 10);
	if (!q->count)
		q->count = q->all.data_bytes / 256 ? q->all.data_bytes / 256 : 1;
	if (!q->out_bytes)
		q->out_bytes = q->all.data_bytes / 2;
}

int tool_gather(int argc, char **argv)
{
	static struct gather_bench g; /* its rows are large for a stack */
	struct request q;
	struct gn_error e;
	int rc;

	memset(&g, 0, sizeof g);
	memset(&e, 0, sizeof e);
	standard(&q);
	argp_parse(&argp, argc, argv, 0, NULL, &q);
	complete(&q);
	g.q = &q;
	g.b.q = &q.all;
	g.b.command = "gather";
	rc = run(&g, &e);
	return bench_end(&g.b, rc,
	                 json_pack("{s:I, s:I, s:i, s:f}", "data_bytes", (json_int_t)q.all.data_bytes,
	                           "cache_bytes", (json_int_t)q.all.cache_bytes, "page_bytes",
	                           (int)q.all.page_bytes, "theta", q.theta),
	                 &e);
}
