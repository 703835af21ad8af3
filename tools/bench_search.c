/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search: binary search of sorted keys, each answer compared, through caches of an eighth and a quarter of
 * the keys.
 */
#include "bench_natural.h"

static int cached_row(struct bench_natural *n, const char *name, unsigned part, struct gn_error *e)
{
	int rc = bench_natural_cache(n, n->args.words * 4 / part, 0, e);

	rc = rc ? rc : bench_natural_row(n, name, &gn_natural_search_read_kernel, BENCH_COLD, e);
	return bench_uncache(n->b, &n->args.array, rc, e);
}

/*
 * The lines of 128 bytes that the queries read, each loaded once by a plain load in scattered order, and
 * nothing else. A program that takes the queries as they come, and keeps everything that it has read, loads
 * as many; one that keeps less loads more. (One that sorts the queries would load them in the order of their
 * addresses, which is far faster.)
 */
static int lines_row(struct bench_natural *n, struct gn_error *e)
{
	static const struct simt_kernel *const lines[] = {&gn_natural_search_lines_kernel};
	struct simt_machine *m = n->b->fixture.machine;
	double seconds;
	int rc;

	n->args.line =
	    (uint32_t *)simt_alloc(m, (n->args.words / GN_NATURAL_ROW / 32 + 1) * 4, SIMT_DEVICE, e);
	if (!n->args.line)
		return gn_error_set(e, -GN_ENOMEM, "out of memory for one bit of each line");
	rc = bench_launch(n->b, &gn_natural_search_mark_kernel, n->b->grid, &n->args, &seconds, e);
	rc = rc ? rc : bench_natural_limit(n, "lines-once", lines, 1, e);
	simt_free(m, n->args.line);
	n->args.line = NULL;
	return rc;
}

static int all_rows(struct bench_natural *n, struct gn_error *e)
{
	static const struct simt_kernel *const plain[] = {&gn_natural_search_plain_kernel,
	                                                  &gn_natural_search_four_kernel};
	const uint64_t most = 4ull << 20, words = n->args.words;
	int rc;

	n->args.touches = words / 64 < most ? words / 64 : most;
	n->unit = SCOPE_RATE;
	n->amount = (double)n->args.touches;
	n->want = 0; /* wrong answers */
	bench_begin(n->b, "search", "plain",
	            "%llu queries, binary search of %llu keys of 4 bytes in host memory, cold cache",
	            (unsigned long long)n->args.touches, (unsigned long long)words);
	rc = bench_natural_limit(n, "plain", plain, 2, e);
	rc = rc ? rc : lines_row(n, e);
	rc = rc ? rc : cached_row(n, "paged-1/8", 8, e);
	return rc ? rc : cached_row(n, "paged-1/4", 4, e);
}

int bench_search(struct bench *b, struct gn_error *e)
{
	const uint64_t most = 1ull << 31; /* keys of 4 bytes, of which every other number is one */
	struct bench_natural n;
	int rc = bench_natural_open(&n, b, &gn_natural_keys_kernel, e);

	n.args.words = n.args.words < most ? n.args.words : most;
	rc = rc ? rc : all_rows(&n, e);
	return bench_natural_close(&n, rc, e);
}
