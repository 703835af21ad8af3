/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words: random words of 4 bytes.
 */
#include <string.h>

#include "baselines/words.h"
#include "bench.h"

static int kernel_row(struct bench *b, const char *name, enum scope_role role,
                      const struct simt_kernel *kernel, struct gn_base_words_args *args,
                      struct gn_cache *cool, struct gn_error *e)
{
	struct bench_kernel k = {kernel, args, cool, &args->seed, {0, 0, 0}};
	const struct bench_way way = {name, role, SCOPE_RATE, (double)args->touches, bench_run_kernel, &k, 0};

	return bench_measure(b, &way, NULL, e);
}

static int direct_row(struct bench *b, struct gn_base_words_args *args, struct gn_error *e)
{
	int rc = bed_array(&b->bed, &args->array, 0, b->bytes / 4, e);

	if (rc)
		return rc;
	rc = kernel_row(b, "direct", SCOPE_OURS, &gn_base_words_array_kernel, args, NULL, e);
	return bed_array_end(&b->bed, &args->array, rc, e);
}

/* Nearly each access is a miss, which moves a page: fewer of them say as much. */
static int paged_row(struct bench *b, struct gn_base_words_args *args, struct gn_error *e)
{
	struct gn_base_words_args few = *args;
	int rc = bench_cache(b, &few.array, 16, 512, 0, e);

	few.touches = few.touches / 4 + 1;
	if (!rc)
		rc = kernel_row(b, "paged-512", SCOPE_OURS, &gn_base_words_array_kernel, &few, b->bed.cache,
		                e);
	return bench_uncache(b, &few.array, rc, e);
}

int bench_words(struct bench *b, struct gn_error *e)
{
	const uint64_t most = 32ull << 20;
	struct gn_base_words_args args;
	int rc;

	memset(&args, 0, sizeof args);
	args.memory = (const uint32_t *)(const void *)b->memory;
	args.words = b->bytes / 4;
	args.touches = args.words / 16 < most ? args.words / 16 : most;
	args.wrong = b->wrong;
	bench_begin(b, "words", b->bed.info.is_cuda ? "zero-copy" : "plain",
	            "random words of 4 bytes of %.3g GB in host memory", (double)b->bytes / 1e9);
	rc = kernel_row(b, b->bed.info.is_cuda ? "zero-copy" : "plain", SCOPE_BOUND,
	                &gn_base_words_pointer_kernel, &args, NULL, e);
#ifdef GN_CUDA
	if (!rc)
		rc = bench_cuda_words(b, args.touches, e);
#endif
	if (!rc)
		rc = direct_row(b, &args, e);
	return rc ? rc : paged_row(b, &args, e);
}
