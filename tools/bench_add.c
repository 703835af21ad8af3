/* SPDX-License-Identifier: Apache-2.0 */
/*
 * add: C = A + B, three arrays in host memory, through a cache of half of one of them. What counts ends when
 * the last word of C is in host memory; every word of it is compared after each run.
 */
#include <string.h>

#include "baselines/add.h"
#include "bench.h"
#include "bench_add.h"

int bench_add_check(struct bench *b, struct bench_add *a, struct gn_error *e)
{
	struct gn_base_add_args args = a->args;
	double seconds;

	args.out = (uint32_t *)(void *)(b->memory + 2 * b->bytes);
	args.words = b->bytes / 4;
	return bench_launch(b, &gn_base_add_check_kernel, b->grid, &args, &seconds, e);
}

/* One launch, and the flush of what is still in the cache. */
static int run_launch(struct bench *b, void *user, double *seconds, struct gn_error *e)
{
	struct bench_add *a = (struct bench_add *)user;
	const double begin = scope_clock();
	int rc;

	a->args.salt++;
	rc = bench_launch(b, a->kernel, b->grid, &a->args, seconds, e);
	if (!rc && b->fixture.cache)
		rc = gn_cache_flush(b->fixture.cache, e);
	*seconds = scope_clock() - begin;
	rc = rc ? rc : bench_add_check(b, a, e);
	return !rc && b->fixture.cache ? gn_cache_invalidate(b->fixture.cache, e) : rc;
}

int bench_add_row(struct bench *b, struct bench_add *a, const char *name, enum scope_role role,
                  const struct simt_kernel *kernel, struct gn_error *e)
{
	const struct bench_way way = {name, role, SCOPE_BANDWIDTH, 3.0 * (double)b->bytes, run_launch, a, 0};

	a->kernel = kernel;
	return bench_measure(b, &way, NULL, e);
}

static int paged_rows(struct bench *b, struct bench_add *a, struct gn_error *e)
{
	struct gn_array *const arrays[] = {&a->args.a, &a->args.b, &a->args.c};
	const uint64_t bytes = b->q->cache_bytes ? b->q->cache_bytes : b->bytes / 2;
	struct gn_cache_info facts;
	int rc = fixture_cache(&b->fixture, bytes, b->q->page_bytes, 0, e);

	rc = rc ? rc : gn_cache_describe(b->fixture.cache, &facts, e);
	/* kernels that hold a page write all of it, and nothing behind it */
	a->args.page_words = rc ? 0 : facts.page_bytes / 4;
	for (unsigned k = 0; k < 3 && !rc; k++)
		rc = fixture_array(&b->fixture, arrays[k], k * b->bytes, b->bytes / 4, e);
	rc = rc ? rc : bench_add_row(b, a, "paged-pages", SCOPE_OURS, &gn_base_add_page_kernel, e);
	rc = rc ? rc : bench_add_row(b, a, "paged-range", SCOPE_OURS, &gn_base_add_range_kernel, e);
	rc = rc ? rc : bench_add_row(b, a, "paged-scalar", SCOPE_OURS, &gn_base_add_scalar_kernel, e);
	for (unsigned k = 0; k < 3; k++)
		rc = fixture_array_end(&b->fixture, arrays[k], rc, e);
	fixture_uncache(&b->fixture);
	return rc;
}

int bench_add(struct bench *b, struct gn_error *e)
{
	struct bench_add a;
	double seconds;
	int rc;

	memset(&a, 0, sizeof a);
	for (unsigned k = 0; k < 2; k++)
		a.args.in[k] = (const uint32_t *)(const void *)(b->memory + k * b->bytes);
	a.args.out = (uint32_t *)(void *)(b->memory + 2 * b->bytes);
	a.args.words = b->bytes / 4;
	a.args.wrong = b->wrong;
	bench_begin(b, "add", b->fixture.info.is_cuda ? "tiles" : "plain",
	            "C = A + B, %.3g GB each in host memory", (double)b->bytes / 1e9);
	rc = bench_launch(b, &gn_base_add_fill_kernel, b->grid, &a.args, &seconds, e);
	if (!rc)
		rc = bench_add_row(b, &a, b->fixture.info.is_cuda ? "zero-copy" : "plain", SCOPE_BASELINE,
		                   &gn_base_add_pointer_kernel, e);
#ifdef GN_CUDA
	rc = rc ? rc : bench_cuda_copies(b, e);
	rc = rc ? rc : bench_cuda_add(b, &a, e);
#endif
	return rc ? rc : paged_rows(b, &a, e);
}
