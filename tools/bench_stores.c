/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stores: every element written in order, by plain stores and by gn_write_f32 in direct mode; what is in
 * memory is compared.
 */
#include "bench_natural.h"

int bench_stores(struct bench *b, struct gn_error *e)
{
	static const struct simt_kernel *const plain[] = {&gn_natural_store_plain_kernel,
	                                                  &gn_natural_store_wide_kernel};
	struct bench_natural n;
	int rc = bench_natural_open(&n, b, &gn_natural_fill_kernel, e);

	bench_begin(b, "stores", "plain", "%.3g GB of floats written in order to host memory",
	            (double)b->bytes / 1e9);
	n.args.touches = n.args.words;
	n.unit = SCOPE_BANDWIDTH;
	n.amount = (double)b->bytes;
	n.check = &gn_natural_store_check_kernel;
	rc = rc ? rc : bench_natural_limit(&n, "plain", plain, 2, e);
	rc = rc ? rc : fixture_array(&b->fixture, &n.args.array, 0, b->bytes / 4, e);
	rc = rc ? rc : bench_natural_row(&n, "direct-write", &gn_natural_store_write_kernel, BENCH_COLD, e);
	return bench_natural_close(&n, bench_uncache(b, &n.args.array, rc, e), e);
}
