/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequential: every word once, in order, of data in host memory; cold.
 */
#include <string.h>

#include "baselines/read.h"
#include "bench.h"

/* The same kernel on a copy in the machine's own memory; on cpu that is where the data are anyway. */
static int plain_row(struct bench *b, const struct gn_base_read_args *args, struct gn_error *e)
{
	struct gn_base_read_args plain = *args;
	const struct bench_work work = {&plain, NULL, {0, 0, 0}, SCOPE_BANDWIDTH, (double)b->bytes};
	uint32_t *copy = b->fixture.info.is_cuda
	                     ? (uint32_t *)simt_alloc(b->fixture.machine, b->bytes, SIMT_DEVICE, e)
	                     : NULL;
	int rc = 0;

	if (b->fixture.info.is_cuda && !copy)
		return gn_error_set(
		    e, -GN_ENOMEM,
		    "not enough memory on the machine for a copy of the data; give a smaller --data");
	if (copy) {
		plain.memory = copy;
		rc = bench_fill(b, copy, b->bytes, e);
	}
	rc = rc ? rc : bench_row(b, &work, "plain", SCOPE_BOUND, &gn_base_read_wide_kernel, NULL, e);
	simt_free(b->fixture.machine, copy);
	return rc;
}

struct way {
	const char *name;
	enum scope_role role;
	const struct simt_kernel *kernel;
};

static int rows(struct bench *b, const struct bench_work *work, const struct way *way, unsigned count,
                struct gn_error *e)
{
	int rc = 0;

	for (unsigned k = 0; k < count && !rc; k++)
		rc = bench_row(b, work, way[k].name, way[k].role, way[k].kernel, NULL, e);
	return rc;
}

static int array_rows(struct bench *b, struct gn_base_read_args *args, const struct bench_work *work,
                      struct gn_error *e)
{
	static const struct way direct = {"direct", SCOPE_OURS, &gn_base_read_scalar_kernel},
	                        paged[] = {{"paged-pages", SCOPE_OURS, &gn_base_read_page_kernel},
	                                   {"paged-range", SCOPE_OURS, &gn_base_read_range_kernel},
	                                   {"paged-cursor", SCOPE_OURS, &gn_base_read_cursor_kernel},
	                                   {"paged-scalar", SCOPE_OURS, &gn_base_read_scalar_kernel}};
	int rc = fixture_array(&b->fixture, &args->array, 0, b->bytes / 4, e);

	rc = rc ? rc : rows(b, work, &direct, 1, e);
	rc = bench_uncache(b, &args->array, rc, e);
	rc = rc ? rc : bench_cache(b, &args->array, 16, 4096, 0, e);
	rc = rc ? rc : rows(b, work, paged, 4, e);
	return bench_uncache(b, &args->array, rc, e);
}

int bench_sequential(struct bench *b, struct gn_error *e)
{
	static const struct way zero_copy[] = {{"zero-copy", SCOPE_BOUND, &gn_base_read_wide_kernel},
	                                       {"zero-copy-4B", SCOPE_BASELINE, &gn_base_read_narrow_kernel}};
	struct gn_base_read_args args;
	const struct bench_work work = {&args, NULL, {0, 0, 0}, SCOPE_BANDWIDTH, (double)b->bytes};
	int rc;

	memset(&args, 0, sizeof args);
	args.memory = (const uint32_t *)(const void *)b->memory;
	args.words = b->bytes / 4;
	args.wrong = b->wrong;
	args.page_words = 1024;
	bench_begin(b, "sequential", b->fixture.info.is_cuda ? "zero-copy" : "plain",
	            "every word of %.3g GB in host memory, in order", (double)b->bytes / 1e9);
	rc = plain_row(b, &args, e);
	if (!rc && b->fixture.info.is_cuda)
		rc = rows(b, &work, zero_copy, 2, e);
#ifdef GN_CUDA
	rc = rc ? rc : bench_cuda_copies(b, e);
	rc = rc ? rc : bench_cuda_sequential(b, e);
#endif
	return rc ? rc : array_rows(b, &args, &work, e);
}
