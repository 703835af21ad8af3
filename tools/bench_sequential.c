/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequential: every word once, in order, of data in host memory; cold.
 */
#include <string.h>

#include "baselines/read.h"
#include "bench.h"

static int kernel_row(struct bench *b, const char *name, enum scope_role role,
                      const struct simt_kernel *kernel, const struct gn_base_read_args *args,
                      struct gn_cache *cool, struct gn_error *e)
{
	struct bench_kernel k = {kernel, args, cool, NULL, {0, 0, 0}};
	const struct bench_way way = {
	    name, role, SCOPE_BANDWIDTH, 4.0 * (double)args->words, bench_run_kernel, &k, 0};

	return bench_measure(b, &way, NULL, e);
}

/* The same kernel on a copy in the machine's own memory; on cpu that is where the data are anyway. */
static int plain_rows(struct bench *b, const struct gn_base_read_args *args, struct gn_error *e)
{
	struct gn_base_read_args plain = *args;
	uint32_t *copy;
	int rc;

	if (!b->bed.info.is_cuda)
		return kernel_row(b, "plain", SCOPE_BOUND, &gn_base_read_wide_kernel, args, NULL, e);
	copy = (uint32_t *)simt_alloc(b->bed.machine, b->bytes, SIMT_DEVICE);
	if (!copy)
		return gn_error_set(e, -GN_ENOMEM,
		                    "no room for a copy of the data on the device; take a smaller --data");
	plain.memory = copy;
	rc = bench_fill(b, copy, b->bytes, e);
	if (!rc)
		rc = kernel_row(b, "plain", SCOPE_BOUND, &gn_base_read_wide_kernel, &plain, NULL, e);
	simt_free(b->bed.machine, copy);
	if (!rc)
		rc = kernel_row(b, "zero-copy", SCOPE_BOUND, &gn_base_read_wide_kernel, args, NULL, e);
	if (!rc)
		rc =
		    kernel_row(b, "zero-copy-4B", SCOPE_BASELINE, &gn_base_read_narrow_kernel, args, NULL, e);
	return rc;
}

static int paged_rows(struct bench *b, struct gn_base_read_args *args, struct gn_error *e)
{
	int rc = bench_cache(b, &args->array, 16, 4096, 0, e);

	if (!rc)
		rc = kernel_row(b, "paged-pages", SCOPE_OURS, &gn_base_read_page_kernel, args, b->bed.cache,
		                e);
	if (!rc)
		rc = kernel_row(b, "paged-range", SCOPE_OURS, &gn_base_read_range_kernel, args, b->bed.cache,
		                e);
	if (!rc)
		rc = kernel_row(b, "paged-cursor", SCOPE_OURS, &gn_base_read_cursor_kernel, args,
		                b->bed.cache, e);
	if (!rc)
		rc = kernel_row(b, "paged-scalar", SCOPE_OURS, &gn_base_read_scalar_kernel, args,
		                b->bed.cache, e);
	return bench_uncache(b, &args->array, rc, e);
}

static int direct_row(struct bench *b, struct gn_base_read_args *args, struct gn_error *e)
{
	int rc = bed_array(&b->bed, &args->array, 0, b->bytes / 4, e);

	if (rc)
		return rc;
	rc = kernel_row(b, "direct", SCOPE_OURS, &gn_base_read_scalar_kernel, args, NULL, e);
	return bed_array_end(&b->bed, &args->array, rc, e);
}

int bench_sequential(struct bench *b, struct gn_error *e)
{
	struct gn_base_read_args args;
	int rc;

	memset(&args, 0, sizeof args);
	args.memory = (const uint32_t *)(const void *)b->memory;
	args.words = b->bytes / 4;
	args.wrong = b->wrong;
	args.page_words = 1024;
	bench_begin(b, "sequential", b->bed.info.is_cuda ? "zero-copy" : "plain",
	            "every word of %.3g GB in host memory, in order", (double)b->bytes / 1e9);
	rc = plain_rows(b, &args, e);
#ifdef GN_CUDA
	if (!rc)
		rc = bench_cuda_copies(b, e);
	if (!rc)
		rc = bench_cuda_sequential(b, e);
#endif
	if (!rc)
		rc = direct_row(b, &args, e);
	return rc ? rc : paged_rows(b, &args, e);
}
