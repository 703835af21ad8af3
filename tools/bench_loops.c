/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sum, rows, random, hot-rows, few-frames: natural loops through a cache of an eighth of the data; and
 * patterns, the same for every pattern that there is.
 */
#include <stdio.h>
#include <string.h>

#include "bench_natural.h"

enum { PART = 8, FEW_FRAMES = 512 };

/* The plain row and ours, cold and again. @frames  0: a cache of an eighth of the data */
static int cached_rows(struct bench_natural *n, const struct gn_natural_pattern *p, uint64_t frames,
                       struct gn_error *e)
{
	int rc = bench_natural_limit(n, "plain", p->plain, GN_NATURAL_PLAIN, e);

	if (rc)
		return rc;
	rc = bench_natural_cache(n, frames ? 0 : n->b->bytes / PART, frames, e);
	rc = rc ? rc : bench_natural_row(n, "paged-cold", p->read, BENCH_COLD, e);
	if (!rc && !frames)
		rc = bench_natural_row(n, "paged-again", p->read, BENCH_AGAIN, e);
	return bench_uncache(n->b, &n->args.array, rc, e);
}

/*
 * A group: a pattern with its own loop beside plain loads.
 * @touches  0: as the pattern says;
 * @lanes  of an access
 */
static int one_pattern(struct bench_natural *n, const char *name, const struct gn_natural_pattern *p,
                       unsigned lanes, uint64_t frames, struct gn_error *e)
{
	int rc;

	bench_begin(n->b, name, "plain", "%s of %.3g GB in host memory", p->summary,
	            (double)n->b->bytes / 1e9);
	rc = bench_natural_pattern(n, p, 0, e);
	n->amount /= lanes;
	return rc ? rc : cached_rows(n, p, frames, e);
}

static int alone(struct bench *b, const char *name, unsigned which, unsigned lanes, uint64_t frames,
                 struct gn_error *e)
{
	struct bench_natural n;
	int rc = bench_natural_open(&n, b, &gn_natural_fill_kernel, e);

	rc = rc ? rc : one_pattern(&n, name, &gn_natural_patterns[which], lanes, frames, e);
	return bench_natural_close(&n, rc, e);
}

int bench_scattered_rows(struct bench *b, struct gn_error *e)
{
	return alone(b, "rows", GN_NATURAL_ROWS, GN_NATURAL_ROW, 0, e);
}

int bench_random(struct bench *b, struct gn_error *e)
{
	return alone(b, "random", GN_NATURAL_RANDOM, 1, 0, e);
}

int bench_hot_rows(struct bench *b, struct gn_error *e)
{
	return alone(b, "hot-rows", GN_NATURAL_HOT_ROWS, GN_NATURAL_ROW, 0, e);
}

int bench_few_frames(struct bench *b, struct gn_error *e)
{
	return alone(b, "few-frames", GN_NATURAL_RANDOM, 1, FEW_FRAMES, e);
}

int bench_patterns(struct bench *b, struct gn_error *e)
{
	struct bench_natural n;
	int rc = bench_natural_open(&n, b, &gn_natural_fill_kernel, e);

	for (unsigned k = 0; k < GN_NATURAL_PATTERNS && !rc; k++) {
		char name[32];

		snprintf(name, sizeof name, "pattern-%s", gn_natural_patterns[k].name);
		rc = one_pattern(&n, name, &gn_natural_patterns[k], 1, 0, e);
	}
	return bench_natural_close(&n, rc, e);
}

/* ---- sum ---- */

static int sum_rows(struct bench_natural *n, struct gn_error *e)
{
	const struct gn_natural_pattern *p = &gn_natural_patterns[GN_NATURAL_IN_ORDER];
	const struct simt_kernel *plain[] = {p->plain[0], p->plain[1], &gn_natural_sum_wide_kernel};
	int rc = bench_natural_pattern(n, p, n->args.words, e);

	n->unit = SCOPE_BANDWIDTH;
	n->amount = (double)n->b->bytes;
	rc = rc ? rc : bench_natural_limit(n, "plain", plain, 3, e);
	if (rc)
		return rc;
	rc = bench_natural_cache(n, n->b->bytes / PART, 0, e);
	rc = rc ? rc : bench_natural_row(n, "paged-read", p->read, BENCH_COLD, e);
	rc = rc ? rc : bench_natural_row(n, "paged-view", &gn_natural_sum_view_kernel, BENCH_COLD, e);
	rc = rc ? rc : bench_natural_row(n, "paged-cursor", &gn_natural_sum_cursor_kernel, BENCH_COLD, e);
	return bench_uncache(n->b, &n->args.array, rc, e);
}

int bench_sum(struct bench *b, struct gn_error *e)
{
	struct bench_natural n;
	int rc = bench_natural_open(&n, b, &gn_natural_fill_kernel, e);

	bench_begin(b, "sum", "plain",
	            "sum of %.3g GB of floats in host memory, in order, cold cache of an eighth",
	            (double)b->bytes / 1e9);
#ifdef GN_CUDA
	rc = rc ? rc : bench_cuda_copies(b, e);
#endif
	rc = rc ? rc : sum_rows(&n, e);
	return bench_natural_close(&n, rc, e);
}
