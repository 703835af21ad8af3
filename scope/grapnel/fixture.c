/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "scope/sampling.h"

/* A launch with its wait takes about ten microseconds on a GPU, and some tens where threads of the host are
 * woken. */
static const double long_enough = 4e-3;

bool fixture_is_gpu(const struct scope_row *row)
{
	return !strncmp(row->name, "grapnel-gpu/", strlen("grapnel-gpu/"));
}

bool fixture_may(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p, int *rc)
{
	*rc = 0;
	if (!fixture_is_gpu(row) || m->gpus)
		return true;
	*rc = scope_plan_skip(p, NULL, "%s", m->no_gpu ? m->no_gpu : "no GPU");
	return false;
}

int fixture_open(struct fixture *b, const struct simt_options *config, struct gn_error *e)
{
	int rc;

	memset(b, 0, sizeof *b);
	rc = simt_open(&b->machine, config, e);
	if (!rc)
		simt_describe(b->machine, &b->info);
	return rc;
}

int fixture_open_row(struct fixture *b, const struct scope_cell *c, struct gn_error *e)
{
	struct simt_options config;
	char name[32];

	memset(&config, 0, sizeof config);
	snprintf(name, sizeof name, "cuda:%u", (unsigned)scope_cell_arg(c, "gpu", 0));
	config.name = fixture_is_gpu(c->row) ? name : "cpu";
	return fixture_open(b, &config, e);
}

void fixture_close(struct fixture *b)
{
	fixture_uncache(b);
	gn_store_close(b->store);
	if (b->machine)
		simt_close(b->machine);
}

int fixture_store(struct fixture *b, struct gn_error *e, const char *uri, ...)
{
	char text[4096];
	va_list args;

	va_start(args, uri);
	vsnprintf(text, sizeof text, uri, args);
	va_end(args);
	return gn_store_open(&b->store, b->machine, text, &b->store_options, e);
}

int fixture_cache(struct fixture *b, uint64_t bytes, uint32_t page_bytes, int counts, struct gn_error *e)
{
	b->cache_options.bytes = bytes;
	b->cache_options.page_bytes = page_bytes;
	b->cache_options.statistics = counts;
	return gn_cache_create(&b->cache, b->machine, &b->store, 1, &b->cache_options, e);
}

int fixture_array(struct fixture *b, struct gn_array *array, uint64_t offset, uint64_t words,
                  struct gn_error *e)
{
	const struct gn_array_options config = {
	    b->cache ? GN_PAGED : GN_DIRECT, b->cache, b->store, offset, words, 4};

	return gn_array_create(array, b->machine, &config, e);
}

int fixture_array_end(struct fixture *b, struct gn_array *array, int rc, struct gn_error *e)
{
	if (!rc && array->failure)
		rc = gn_array_failure(array, e);
	gn_array_destroy(array, b->machine);
	memset(array, 0, sizeof *array);
	return rc;
}

void fixture_uncache(struct fixture *b)
{
	if (b->cache)
		gn_cache_destroy(b->cache);
	b->cache = NULL;
}

uint64_t fixture_fetched(struct fixture *b)
{
	struct gn_cache_info facts;

	return !b->cache || gn_cache_describe(b->cache, &facts, NULL) ? 0 : facts.statistics.fetched_bytes;
}

struct simt_grid fixture_full_grid(const struct fixture *b)
{
	struct simt_grid grid = {b->info.processors, 16 * b->info.warp_width, 0};

	if (b->info.is_cuda)
		grid.blocks = b->info.resident_threads / grid.block_threads;
	return grid;
}

struct simt_grid fixture_grid(const struct fixture *b, uint64_t warps)
{
	struct simt_grid grid = {1, 0, 0};

	while (2 * grid.blocks <= b->info.processors && 2 * grid.blocks <= warps)
		grid.blocks *= 2;
	grid.block_threads = (uint32_t)(warps / grid.blocks) * b->info.warp_width;
	return grid;
}

int fixture_launch(struct fixture *b, const struct simt_kernel *kernel, struct simt_grid grid,
                   const void *args, uint64_t times, double *seconds, struct gn_error *e)
{
	const double began = scope_clock();
	int rc = 0;

	for (uint64_t k = 0; k < times && !rc; k++)
		rc = simt_launch(b->machine, kernel, grid, args, e);
	if (!rc)
		rc = simt_wait(b->machine, e);
	*seconds = scope_clock() - began;
	return gn_error_prefix(e, rc, "%s", kernel->name);
}

/* The shortest of a few samples: what else the machine does makes others longer. */
static int shortest(fixture_once once, void *state, uint64_t operations, double *seconds, struct gn_error *e)
{
	struct scope_sample s = {0, 0, 0, 0};
	int rc = 0;

	*seconds = 1e9;
	for (int k = 0; k < 4 && !rc; k++) {
		rc = once(state, operations, &s, e);
		*seconds = !rc && s.seconds < *seconds ? s.seconds : *seconds;
	}
	return rc;
}

int fixture_settle(struct fixture *b, fixture_once once, void *state, struct gn_error *e)
{
	double seconds;
	int rc;

	b->least = 1;
	rc = shortest(once, state, 1, &seconds, e); /* loads kernels, wakes threads */
	while (!rc && seconds < long_enough && b->least < 1ull << 40) {
		b->least *= seconds < long_enough / 16 ? 8 : 2;
		rc = shortest(once, state, b->least, &seconds, e);
	}
	return rc;
}
