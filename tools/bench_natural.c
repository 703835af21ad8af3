/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the workloads of natural loops share. The plain row is the fastest of its kernels over several grids;
 * ours is one kernel over the grid that the machine advises, as a user would launch it, through a cache with
 * default options.
 */
#include "bench_natural.h"

#include <stdio.h>
#include <string.h>

/* ---- elements ---- */

int bench_natural_open(struct bench_natural *n, struct bench *b, const struct simt_kernel *fill,
                       struct gn_error *e)
{
	double seconds;

	memset(n, 0, sizeof *n);
	n->b = b;
	n->args.memory = b->memory;
	n->args.words = b->bytes / 4;
	n->args.sum = (uint64_t *)simt_alloc(b->fixture.machine, sizeof *n->args.sum, SIMT_DEVICE, e);
	if (!n->args.sum)
		return gn_error_set(e, -GN_ENOMEM, "out of memory for a sum");
	return bench_launch(b, fill, b->grid, &n->args, &seconds, e);
}

int bench_natural_close(struct bench_natural *n, int rc, struct gn_error *e)
{
	simt_free(n->b->fixture.machine, n->args.sum);
	return rc ? rc : bench_fill(n->b, n->b->memory, n->b->bytes, e);
}

/* ---- one run ---- */

struct run {
	struct bench_natural *n;
	const struct simt_kernel *kernel;
	struct simt_grid grid;
	enum bench_natural_cache_state state;
};

/* A kernel, and the sum that it left. */
static int add_up(struct bench_natural *n, const struct simt_kernel *kernel, struct simt_grid grid,
                  uint64_t *sum, double *seconds, struct gn_error *e)
{
	struct simt_machine *m = n->b->fixture.machine;
	int rc;

	*sum = 0;
	rc = simt_move(m, n->args.sum, sum, sizeof *sum, e);
	rc = rc ? rc : bench_launch(n->b, kernel, grid, &n->args, seconds, e);
	rc = rc ? rc : simt_move(m, sum, n->args.sum, sizeof *sum, e);
	return rc;
}

/* The cache as the row wants it. */
static int prepare(struct run *r, struct gn_error *e)
{
	uint64_t sum;
	double seconds;
	int rc = r->n->b->fixture.cache ? gn_cache_invalidate(r->n->b->fixture.cache, e) : 0;

	r->n->args.salt++;
	return !rc && r->state == BENCH_AGAIN ? add_up(r->n, r->kernel, r->grid, &sum, &seconds, e) : rc;
}

/* The way of a row. */
static int run_checked(struct bench *b, void *user, double *seconds, struct gn_error *e)
{
	struct run *r = (struct run *)user;
	struct bench_natural *n = r->n;
	double ignored;
	uint64_t sum;
	int rc = prepare(r, e);

	rc = rc ? rc : add_up(n, r->kernel, r->grid, &sum, seconds, e);
	if (!rc && n->args.array.failure)
		rc = gn_array_failure(&n->args.array, e);
	if (!rc && n->check)
		rc = add_up(n, n->check, b->grid, &sum, &ignored, e);
	if (!rc && sum != n->want)
		rc = gn_error_set(e, -GN_EBADMSG,
		                  "%s: the sum is %llu, but must be %llu; this is a bug, please report it",
		                  r->kernel->name, (unsigned long long)sum, (unsigned long long)n->want);
	return rc;
}

int bench_natural_pattern(struct bench_natural *n, const struct gn_natural_pattern *p, uint64_t touches,
                          struct gn_error *e)
{
	double seconds;

	n->args.touches = touches ? touches : n->args.words >> p->shift;
	n->args.hot_words = n->args.words / 32;
	n->unit = SCOPE_RATE;
	n->amount = (double)n->args.touches;
	return add_up(n, p->known, n->b->grid, &n->want, &seconds, e);
}

/* ---- plain ---- */

/* Of the grids worth trying the k-th; none has 0 blocks. */
static struct simt_grid plain_grid(const struct bench *b, unsigned k)
{
	static const unsigned quarters[] = {4, 2, 1, 8, 32};
	struct simt_grid grid = b->resident;

	grid.blocks = k < sizeof quarters / sizeof *quarters && (b->fixture.info.is_cuda || !k)
	                  ? grid.blocks * quarters[k] / 4
	                  : 0;
	return grid;
}

/*
 * The kernel and the grid that are fastest in one trial each, behind a run of the first that touches all
 * memory.
 */
static int choose_plain(struct run *best, const struct simt_kernel *const *kernels, unsigned count,
                        struct gn_error *e)
{
	struct run trial = *best;
	double seconds, shortest = 1e9;
	int rc;

	trial.kernel = kernels[0];
	trial.grid = plain_grid(best->n->b, 0);
	rc = run_checked(best->n->b, &trial, &seconds, e);
	for (unsigned k = 0; k < count && !rc; k++)
		for (unsigned g = 0; kernels[k] && !rc && plain_grid(best->n->b, g).blocks; g++) {
			trial.kernel = kernels[k];
			trial.grid = plain_grid(best->n->b, g);
			rc = run_checked(best->n->b, &trial, &seconds, e);
			if (!rc && seconds < shortest) {
				shortest = seconds;
				*best = trial;
			}
		}
	return rc;
}

int bench_natural_limit(struct bench_natural *n, const char *name, const struct simt_kernel *const *kernels,
                        unsigned count, struct gn_error *e)
{
	struct run best = {n, NULL, {0, 0, 0}, BENCH_COLD};
	const struct bench_way way = {name, SCOPE_BOUND, n->unit, n->amount, run_checked, &best, 0};
	struct scope_result *row;
	int rc = choose_plain(&best, kernels, count, e);

	rc = rc ? rc : bench_measure(n->b, &way, &row, e);
	if (!rc)
		snprintf(row->why, sizeof row->why, "%s, %u blocks of %u", best.kernel->name,
		         best.grid.blocks, best.grid.block_threads);
	return rc;
}

/* ---- ours ---- */

/* How large the pages of a cache are depends on what the library chooses. */
static int make_cache_of(struct bench_natural *n, uint64_t frames, struct gn_error *e)
{
	struct fixture *fixture = &n->b->fixture;
	struct gn_cache_info facts;
	int rc = fixture_cache(fixture, n->b->bytes / 8, n->b->q->page_bytes, 0, e);

	rc = rc ? rc : gn_cache_describe(fixture->cache, &facts, e);
	if (rc)
		return rc;
	fixture_uncache(fixture);
	return fixture_cache(fixture, frames * facts.page_bytes, n->b->q->page_bytes, 0, e);
}

int bench_natural_cache(struct bench_natural *n, uint64_t bytes, uint64_t frames, struct gn_error *e)
{
	const struct bench_request *q = n->b->q;
	int rc = bytes ? fixture_cache(&n->b->fixture, q->cache_bytes ? q->cache_bytes : bytes, q->page_bytes,
	                               0, e)
	               : make_cache_of(n, frames, e);

	return rc ? rc : fixture_array(&n->b->fixture, &n->args.array, 0, n->args.words, e);
}

int bench_natural_row(struct bench_natural *n, const char *name, const struct simt_kernel *kernel,
                      enum bench_natural_cache_state state, struct gn_error *e)
{
	struct run run = {n, kernel, n->b->resident, state};
	const struct bench_way way = {name, SCOPE_OURS, n->unit, n->amount, run_checked, &run, 0};
	struct gn_cache_info facts;
	struct scope_result *row;
	int rc = bench_measure(n->b, &way, &row, e);

	if (!rc && n->b->fixture.cache && !gn_cache_describe(n->b->fixture.cache, &facts, NULL))
		snprintf(row->why, sizeof row->why, "%llu pages of %u bytes",
		         (unsigned long long)facts.frames, facts.page_bytes);
	return rc;
}
