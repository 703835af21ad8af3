/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is asked for, the machine, its data and its caches.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "baselines/data.h"
#include "bench.h"
#include "far.h"

/* ---- options ---- */

enum { OPT_DATA = 0x2000, OPT_STORE, OPT_CACHE, OPT_PAGE, OPT_TABLE, OPT_REPEAT };

static const struct argp_option options[] = {
    {"data", OPT_DATA, "SIZE", 0,
     "bytes of each array in host memory (default 256M; 'grapnel bench' on a GPU 8G)"},
    {"store", OPT_STORE, "URI", 0,
     "store that has the data, such as peer:1 or, for cache-bench, file:PATH (default host memory of --data "
     "bytes); peer: needs no size"},
    {"cache", OPT_CACHE, "SIZE", 0, "bytes of cache (default a part of the data)"},
    {"page", OPT_PAGE, "SIZE", 0,
     "bytes of a page, a power of two from 512 to 2M (default as tuned, else 4K; 'grapnel bench': the "
     "library's default)"},
    {"table", OPT_TABLE, "NAME", 0, "table of the cache: auto, direct or sets (default auto)"},
    {"repeat", OPT_REPEAT, "N", 0,
     "runs of each row, 1 to 99; the report shows the median (default 3, cache-bench 5)"},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct bench_request *q = (struct bench_request *)state->input;

	switch (key) {
	case OPT_DATA: q->data_bytes = tool_size(state, "--data", arg, 1); return 0;
	case OPT_STORE: q->store = arg; return 0;
	case OPT_CACHE: q->cache_bytes = tool_size(state, "--cache", arg, 1); return 0;
	case OPT_PAGE: q->page_bytes = tool_page(state, "--page", arg); return 0;
	case OPT_TABLE:
		q->table = (enum gn_cache_table)tool_word(state, "--table", arg, tool_tables);
		return 0;
	case OPT_REPEAT: q->repeat = (unsigned)tool_number(state, "--repeat", arg, 1, BENCH_RUNS); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {options, parse};

const struct argp_child bench_children[] = {{&tool_machine_argp}, {&tool_files_argp}, {&argp}, {0}};

void bench_inputs(const struct argp_state *state, struct bench_request *q)
{
	state->child_inputs[0] = &q->machine;
	state->child_inputs[1] = &q->files;
	state->child_inputs[2] = q;
}

void bench_standard(struct bench_request *q, uint64_t data_bytes, unsigned repeat)
{
	q->machine.name = "cpu";
	q->data_bytes = data_bytes;
	q->repeat = repeat;
}

void bench_complete(struct bench_request *q, const char *command, unsigned cache_part)
{
	tool_tuned_defaults(command, q->machine.name, &q->page_bytes, NULL, NULL);
	if (!q->page_bytes)
		q->page_bytes = 4096;
	if (!q->cache_bytes)
		q->cache_bytes = q->data_bytes / cache_part;
}

/* ---- the fixture ---- */

static void shape_grids(struct bench *b)
{
	b->resident.block_threads = 256;
	b->resident.blocks =
	    b->fixture.info.resident_threads / 256 ? b->fixture.info.resident_threads / 256 : 1;
	b->resident.shared_bytes = 0;
	b->grid = b->resident;
	/* Many blocks end at different times, so that a new one always finds room; threads of a cpu are not
	 * so cheap. */
	b->grid.blocks *= b->fixture.info.is_cuda ? 8 : 1;
}

int bench_open(struct bench *b, struct gn_error *e)
{
	int rc = tool_files_check(&b->q->files, e);

	rc = rc ? rc : fixture_open(&b->fixture, &b->q->machine, e);
	if (rc)
		return rc;
	shape_grids(b);
	b->fixture.cache_options.table = b->q->table;
	b->wrong = (uint64_t *)simt_alloc(b->fixture.machine, sizeof *b->wrong, SIMT_PINNED, e);
	return b->wrong ? 0 : gn_error_set(e, -GN_ENOMEM, "out of memory for a counter");
}

int bench_store(struct bench *b, uint64_t bytes, struct gn_error *e)
{
	char *uri = b->q->store ? tool_store_uri(b->q->store, bytes) : NULL;
	const int rc = uri ? fixture_store(&b->fixture, e, "%s", uri)
	                   : fixture_store(&b->fixture, e, "host:%llu", (unsigned long long)bytes);

	free(uri);

	if (!rc)
		b->memory = gn_store_view_of(b->fixture.store)->memory;
	return rc;
}

int bench_memory_store(struct bench *b, uint64_t bytes, struct gn_error *e)
{
	const int rc = bench_store(b, bytes, e);

	if (rc || (b->memory && gn_store_view_of(b->fixture.store)->capacity_bytes >= bytes))
		return rc;
	return gn_error_set(
	    e, -GN_EINVAL,
	    "--store %s: this command needs a store whose memory the machine loads from, of %llu "
	    "bytes or more; give host: or peer:",
	    b->q->store, (unsigned long long)bytes);
}

void bench_close(struct bench *b)
{
	if (b->fixture.machine)
		simt_free(b->fixture.machine, b->wrong);
	fixture_close(&b->fixture);
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
	return fixture_launch(&b->fixture, kernel, grid, arguments, 1, seconds, e);
}

int bench_cache(struct bench *b, struct gn_array *array, unsigned part, uint32_t page_bytes, int counters,
                struct gn_error *e)
{
	const uint64_t bytes = b->q->cache_bytes ? b->q->cache_bytes : b->bytes / part;
	int rc;

	memset(array, 0, sizeof *array);
	rc = fixture_cache(&b->fixture, bytes, page_bytes, counters, e);
	return rc ? rc : fixture_array(&b->fixture, array, 0, b->bytes / 4, e);
}

int bench_uncache(struct bench *b, struct gn_array *array, int rc, struct gn_error *e)
{
	rc = fixture_array_end(&b->fixture, array, rc, e);
	fixture_uncache(&b->fixture);
	return rc;
}

uint32_t bench_batch(const struct bench *b, uint32_t most)
{
	const uint64_t warps =
	    (uint64_t)b->resident.blocks * b->resident.block_threads / b->fixture.info.warp_width;
	struct gn_cache_info facts;
	uint64_t batch;

	if (gn_cache_describe(b->fixture.cache, &facts, NULL))
		return 1;
	batch = facts.frames / (4 * warps);
	batch = batch < most ? batch : most;
	return batch ? (uint32_t)batch : 1;
}
