/* SPDX-License-Identifier: Apache-2.0 */
/* search: binary search of sorted keys, each answer compared, through caches of an eighth and a quarter of the keys. */
#include "bench_natural.h"

static int cached_row(struct bench_natural *n, const char *name, unsigned part, struct gn_error *e)
{
	int rc = bench_natural_cache(n, n->args.words * 4 / part, 0, e);

	if (!rc)
		rc = bench_natural_row(n, name, &gn_natural_search_read_kernel, BENCH_COLD, e);
	return bench_natural_uncache(n, rc, e);
}

static int all_rows(struct bench_natural *n, struct gn_error *e)
{
	static const struct simt_kernel *const plain[] = {&gn_natural_search_plain_kernel, &gn_natural_search_four_kernel};
	const uint64_t most = 4ull << 20, words = n->args.words;
	int rc;

	n->args.touches = words / 64 < most ? words / 64 : most;
	n->unit = BENCH_ACCESSES;
	n->amount = (double)n->args.touches;
	n->want = 0; /* wrong answers */
	bench_begin(n->b, "search", "plain", "%llu queries, binary search of %llu keys of 4 bytes in host memory, cold cache",
		    (unsigned long long)n->args.touches, (unsigned long long)words);
	rc = bench_natural_plain(n, plain, 2, e);
	if (!rc)
		rc = cached_row(n, "paged-1/8", 8, e);
	return rc ? rc : cached_row(n, "paged-1/4", 4, e);
}

int bench_search(struct bench *b, struct gn_error *e)
{
	const uint64_t most = 1ull << 31; /* keys of 4 bytes, of which every other number is one */
	struct bench_natural n;
	int rc = bench_natural_open(&n, b, &gn_natural_keys_kernel, e);

	n.args.words = n.args.words < most ? n.args.words : most;
	if (!rc)
		rc = all_rows(&n, e);
	return bench_natural_close(&n, rc, e);
}
