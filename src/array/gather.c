/* SPDX-License-Identifier: Apache-2.0 */
#include <array/gather_there.h>

#include <stdlib.h>
#include <string.h>

/*
 * A sort gains little if two rows of a batch that follow each other lie farther apart than that, and it takes
 * longer than a batch of up to FEW_ROWS rows of 256 bytes (docs/performance.md, "Batches of few rows").
 * Longer rows are moved by whole warps.
 */
enum { FAR_APART_LOG2 = 16, FEW_ROWS = 1 << 16, MOST_ELEMENTS = 1024, MOST_BYTES = 4096 };

/* Small blocks, so that few rows lie on many processors. */
enum { FEW_THREADS = 128 };

struct gn_gather {
	struct simt_machine *machine;
	struct gn_gather_view view;
	struct simt_grid sort; /* each block has a part of the entries */
	struct simt_grid move;
	struct simt_grid few;
	uint32_t warp_width;
	int sorts; /* 1: every batch; 0: only if that saves fetches, or the last of equal rows counts */
	struct gn_there there;
};

/*
 * A block has the warps that sort a tile. The grid has the blocks that a GPU runs at once; on cpu one for
 * each OS thread.
 */
static void choose_grids(struct gn_gather *g)
{
	struct simt_info info;
	uint32_t fit;

	simt_describe(g->machine, &info);
	g->sort.block_threads = g->move.block_threads = GN__TEAMS * info.warp_width;
	fit = info.is_cuda ? info.resident_threads / g->move.block_threads : info.processors;
	g->move.blocks = fit ? fit : 1;
	g->move.shared_bytes = sizeof(struct gn__job);
	g->sorts = info.is_cuda;
	/* The kernels of the sort use half as many registers, so twice as many blocks run at once. */
	g->sort.blocks = info.is_cuda ? 2 * g->move.blocks : g->move.blocks;
	if (g->sort.blocks > GN__PARTS)
		g->sort.blocks = GN__PARTS;
	g->sort.shared_bytes = GN_GATHER_SHARED;
	g->few.block_threads = FEW_THREADS;
	g->few.blocks = info.resident_threads / FEW_THREADS;
	g->warp_width = info.warp_width;
}

static int allocate(struct gn_gather *g, uint64_t most)
{
	struct gn_gather_view *v = &g->view;

	v->most = most;
	for (int k = 0; k < 2; k++)
		v->entry[k] = (uint64_t *)simt_alloc(g->machine, most * sizeof(uint64_t), SIMT_DEVICE, NULL);
	v->counts =
	    (uint32_t *)simt_alloc(g->machine, GN__PARTS * GN__DIGITS * sizeof(uint32_t), SIMT_DEVICE, NULL);
	v->next = (uint64_t *)simt_alloc(g->machine, sizeof(uint64_t), SIMT_DEVICE, NULL);
	v->barrier = (uint32_t *)simt_alloc(g->machine, 2 * sizeof(uint32_t), SIMT_DEVICE, NULL);
	return v->entry[0] && v->entry[1] && v->counts && v->next && v->barrier ? 0 : -GN_ENOMEM;
}

/*
 * Load the kernels now. Otherwise the first batch would load them, and for that cuda may wait for the device,
 * or refuse it in a capture.
 */
static int load_kernels(struct gn_gather *g, struct gn_error *error)
{
	const struct simt_kernel *const kernels[] = {&gn_gather_load_kernel, &gn_gather_count_kernel,
	                                             &gn_gather_sort_kernel, &gn_gather_move_kernel,
	                                             &gn_gather_few_kernel,  &gn_gather_there_kernel};
	int rc = 0;

	for (size_t k = 0; k < sizeof kernels / sizeof kernels[0] && !rc; k++)
		rc = simt_prepare(g->machine, kernels[k], error);
	return rc;
}

int gn_gather_create(struct gn_gather **gather, struct simt_machine *machine, uint64_t most,
                     struct gn_error *error)
{
	struct gn_gather *g;
	int rc;

	*gather = NULL;
	if (!most || most > UINT32_MAX)
		return gn_error_set(error, -GN_EINVAL,
		                    "gather: batches of up to %llu rows are not possible; give 1 to %u",
		                    (unsigned long long)most, UINT32_MAX);
	g = (struct gn_gather *)calloc(1, sizeof *g);
	if (!g)
		return gn_error_set(error, -GN_ENOMEM, "gather: out of host memory");
	g->machine = machine;
	choose_grids(g);
	if (allocate(g, most)) {
		gn_gather_destroy(g);
		return gn_error_set(error, -GN_ENOMEM,
		                    "gather: cannot allocate %llu bytes on the machine for batches of up to "
		                    "%llu rows; give fewer rows",
		                    (unsigned long long)most * 16, (unsigned long long)most);
	}
	rc = load_kernels(g, error);
	if (rc) {
		gn_gather_destroy(g);
		return gn_error_prefix(error, rc, "gather: its kernels cannot be loaded");
	}
	*gather = g;
	return 0;
}

void gn_gather_destroy(struct gn_gather *gather)
{
	if (!gather)
		return;
	for (int k = 0; k < 2; k++)
		simt_free(gather->machine, gather->view.entry[k]);
	simt_free(gather->machine, gather->view.counts);
	simt_free(gather->machine, gather->view.next);
	simt_free(gather->machine, gather->view.barrier);
	gn_there_close(&gather->there);
	free(gather);
}

struct gn_gather_view gn_gather_view_of(const struct gn_gather *gather)
{
	return gather->view;
}

static int check(const struct gn_gather *g, const struct gn_array *a, const struct gn_batch *batch,
                 int is_scatter, struct gn_error *e)
{
	const int rc = gn__batch_check(a, batch, is_scatter);

	if (rc == -GN_EROFS)
		return gn_error_set(e, rc,
		                    "scatter: the array's store is opened read-only; open it without ?ro");
	if (rc)
		return gn_error_set(e, rc,
		                    "gather: rows of %u elements at address %p are not possible; give rows "
		                    "of 1 element to 1 GiB, aligned to an element",
		                    batch->elements, batch->rows);
	if (batch->count > g->view.most)
		return gn_error_set(e, -GN_EFBIG,
		                    "gather: a batch of %llu rows is larger than the workspace (%llu rows); "
		                    "split the batch, or create a larger workspace",
		                    (unsigned long long)batch->count, (unsigned long long)g->view.most);
	if (!gn__batch_fits(a, batch))
		return gn_error_set(
		    e, -GN_EFBIG,
		    "gather: a batch of %llu rows is too large for an array of %llu rows: the bits of both "
		    "numbers together are more than 63; give smaller batches",
		    (unsigned long long)batch->count, (unsigned long long)(a->count / batch->elements));
	return 0;
}

/* A batch that is launched on a stream (NULL: the machine's own). */
struct course {
	struct gn_gather *gather;
	struct simt_stream *stream;
	struct gn_gather_args args;
};

static int launch(const struct course *c, const struct simt_kernel *kernel, struct gn_error *error)
{
	const int sorts = kernel != &gn_gather_move_kernel && kernel != &gn_gather_as_they_come_kernel;
	const struct simt_grid grid = sorts ? c->gather->sort : c->gather->move;

	return c->stream ? simt_launch_on(c->stream, kernel, grid, &c->args, error)
	                 : simt_launch(c->gather->machine, kernel, grid, &c->args, error);
}

static int launch_all(struct course *c, struct gn_error *error)
{
	struct gn_gather_args *args = &c->args;
	const uint32_t passes = gn__passes(&args->array, &args->batch, (int)args->is_scatter);
	int rc = launch(c, &gn_gather_load_kernel, error);

	for (args->pass = 0; args->pass < passes && !rc; args->pass++) {
		if (args->pass)
			rc = launch(c, &gn_gather_count_kernel, error);
		if (!rc)
			rc = launch(c, &gn_gather_sort_kernel, error);
	}
	return rc ? rc : launch(c, &gn_gather_move_kernel, error);
}

/*
 * May a batch be gathered in its own order? Only if loads reach the store: for other stores pages are
 * fetched, and with sorted rows each page is fetched once. A batch of an array with a sample is sorted, too,
 * so that a row that is wanted twice is noted once.
 */
static int needs_no_sort(const struct gn_gather *g, const struct gn_array *array,
                         const struct gn_batch *batch, int is_scatter)
{
	if (is_scatter || array->sample)
		return 0;
	if (!g->sorts) /* then the host may look at the cache, which is in its memory */
		return gn__memory_of(array) != NULL;
	return (array->memory || array->pages.backing) && batch->elements <= MOST_ELEMENTS &&
	       batch->elements << array->element_log2 <= MOST_BYTES &&
	       (batch->count <= FEW_ROWS ||
	        batch->count < array->count << array->element_log2 >> FAR_APART_LOG2);
}

static int launch_few(const struct course *c, struct gn_error *error)
{
	const struct gn_gather *g = c->gather;
	struct simt_grid grid = g->few;
	struct gn__job few;
	uint64_t blocks;

	gn__few_fill(&few, &c->args.array, &c->args.batch, g->warp_width);
	blocks = (few.count * few.lanes + FEW_THREADS - 1) / FEW_THREADS;
	if (blocks < grid.blocks)
		grid.blocks = (uint32_t)blocks;
	return c->stream ? simt_launch_on(c->stream, &gn_gather_few_kernel, grid, &few, error)
	                 : simt_launch(g->machine, &gn_gather_few_kernel, grid, &few, error);
}

static int launch_batch(struct course *c, struct gn_error *error)
{
	const int is_scatter = (int)c->args.is_scatter;

	if (!needs_no_sort(c->gather, &c->args.array, &c->args.batch, is_scatter))
		return launch_all(c, error);
	return c->gather->sorts ? launch_few(c, error) : launch(c, &gn_gather_as_they_come_kernel, error);
}

static int move(struct gn_gather *g, struct simt_stream *stream, const struct gn_array *array,
                const struct gn_batch *batch, int is_scatter, struct gn_error *error)
{
	struct simt_spread spread;
	struct course c;
	int rc = check(g, array, batch, is_scatter, error);

	if (rc || !batch->count)
		return rc;
	if (!is_scatter && gn_there_find(array, &spread))
		return gn_there_gather(&g->there, &spread, stream ? stream : g->machine->own, array, batch,
		                       error);
	memset(&c, 0, sizeof c);
	c.gather = g;
	c.stream = stream;
	c.args.array = *array;
	c.args.batch = *batch;
	c.args.view = g->view;
	c.args.is_scatter = (uint32_t)is_scatter;
	rc = launch_batch(&c, error);
	return gn_error_prefix(error, rc, "gather");
}

static int move_on(struct gn_gather *g, struct simt_stream *stream, const struct gn_array *array,
                   const struct gn_batch *batch, int is_scatter, struct gn_error *error)
{
	if (simt_stream_machine(stream) != g->machine)
		return gn_error_set(error, -GN_EINVAL,
		                    "gather: the stream belongs to another machine than the workspace; give "
		                    "a stream of the same machine");
	return move(g, stream, array, batch, is_scatter, error);
}

int gn_gather_rows(struct gn_gather *gather, const struct gn_array *array, const struct gn_batch *batch,
                   struct gn_error *error)
{
	return move(gather, NULL, array, batch, 0, error);
}

int gn_scatter_rows(struct gn_gather *gather, const struct gn_array *array, const struct gn_batch *batch,
                    struct gn_error *error)
{
	return move(gather, NULL, array, batch, 1, error);
}

int gn_gather_rows_on(struct gn_gather *gather, struct simt_stream *stream, const struct gn_array *array,
                      const struct gn_batch *batch, struct gn_error *error)
{
	return move_on(gather, stream, array, batch, 0, error);
}

int gn_scatter_rows_on(struct gn_gather *gather, struct simt_stream *stream, const struct gn_array *array,
                       const struct gn_batch *batch, struct gn_error *error)
{
	return move_on(gather, stream, array, batch, 1, error);
}
