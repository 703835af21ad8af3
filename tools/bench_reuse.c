/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reuse: pages of 4 KiB, some far more often than others (Zipf, 0.99), as the cache shrinks.
 *
 * The amount of a row of ours is what it fetched: with the link busy all the time and no other cost, the row
 * would be as fast as the stream.
 */
#include <stdio.h>
#include <string.h>

#include "baselines/reuse.h"
#include "bench.h"

enum { PAGE_BYTES = 4096, TOUCHES_OF_A_PAGE = 4 };

/* The counters are of all runs since the cache was made, each of which began cold. */
static void note_misses(struct bench *b, const struct gn_base_reuse_args *args, unsigned runs,
                        struct scope_result *r)
{
	const double touched = (double)args->touches * PAGE_BYTES;

	bench_moved(r, (double)fixture_fetched(&b->fixture) / runs);
	snprintf(r->why, sizeof r->why, "%.1f %% of %.3g GB fetched: %.1f GB/s to the reader",
	         100 * (double)r->bytes / touched, touched / 1e9, touched / bench_seconds(r) / 1e9);
}

static int cached_row(struct bench *b, struct gn_base_reuse_args *args, unsigned part, struct gn_error *e)
{
	static const char *const names[] = {"cache-1/1", "cache-1/2", "cache-1/4", "cache-1/8"};
	const char *name = names[part == 1 ? 0 : part == 2 ? 1 : part == 4 ? 2 : 3];
	const struct bench_work work = {args, NULL, {0, 0, 0}, SCOPE_BANDWIDTH, 0};
	struct scope_result *row;
	int rc = bench_cache(b, &args->array, part, PAGE_BYTES, 1, e);

	rc = rc ? rc : bench_row(b, &work, name, SCOPE_OURS, &gn_base_reuse_cached_kernel, &row, e);
	if (!rc)
		note_misses(b, args, b->q->repeat + 1, row);
	return bench_uncache(b, &args->array, rc, e);
}

static int with_trace(struct bench *b, struct gn_base_reuse_args *args, struct gn_error *e)
{
	const struct bench_work work = {
	    args, NULL, {0, 0, 0}, SCOPE_BANDWIDTH, (double)args->touches * PAGE_BYTES};
	double seconds;
	int rc = bench_launch(b, &gn_base_reuse_draw_kernel, b->grid, args, &seconds, e);

	rc = rc ? rc : bench_stream(b, e);
	if (!rc)
		rc = bench_row(b, &work, b->fixture.info.is_cuda ? "zero-copy" : "plain", SCOPE_BASELINE,
		               &gn_base_reuse_pointer_kernel, NULL, e);
	for (unsigned part = 1; part <= 8 && !rc; part *= 2)
		rc = cached_row(b, args, part, e);
	return rc;
}

int bench_reuse(struct bench *b, struct gn_error *e)
{
	struct gn_base_reuse_args args;
	int rc;

	memset(&args, 0, sizeof args);
	args.memory = (const uint32_t *)(const void *)b->memory;
	args.order = gn_base_order_init(b->bytes / PAGE_BYTES, 1);
	args.touches = TOUCHES_OF_A_PAGE * args.order.count;
	args.wrong = b->wrong;
	args.page_bytes = PAGE_BYTES;
	gn_base_zipf(&args, 0.99);
	bench_begin(b, "reuse", "stream",
	            "pages of 4 KiB of %.3g GB in host memory by Zipf's law (0.99), as the cache shrinks",
	            (double)b->bytes / 1e9);
	args.trace =
	    (uint32_t *)simt_alloc(b->fixture.machine, args.touches * sizeof *args.trace, SIMT_DEVICE, e);
	if (!args.trace)
		return gn_error_set(e, -GN_ENOMEM, "out of memory for the trace; give a smaller --data");
	rc = with_trace(b, &args, e);
	simt_free(b->fixture.machine, args.trace);
	return rc;
}
