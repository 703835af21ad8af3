/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words: random words of 4 bytes.
 */
#include <string.h>

#include "baselines/words.h"
#include "bench.h"

/* Through a cache nearly each access is a miss, which moves a page: fewer of them say as much. */
static int array_rows(struct bench *b, struct gn_base_words_args *args, struct bench_work *work,
                      struct gn_error *e)
{
	int rc = fixture_array(&b->fixture, &args->array, 0, b->bytes / 4, e);

	rc = rc ? rc : bench_row(b, work, "direct", SCOPE_OURS, &gn_base_words_array_kernel, NULL, e);
	rc = bench_uncache(b, &args->array, rc, e);
	args->touches = args->touches / 4 + 1;
	work->amount = (double)args->touches;
	rc = rc ? rc : bench_cache(b, &args->array, 16, 512, 0, e);
	rc = rc ? rc : bench_row(b, work, "paged-512", SCOPE_OURS, &gn_base_words_array_kernel, NULL, e);
	return bench_uncache(b, &args->array, rc, e);
}

int bench_words(struct bench *b, struct gn_error *e)
{
	const char *plain = b->fixture.info.is_cuda ? "zero-copy" : "plain";
	const uint64_t most = 32ull << 20;
	struct gn_base_words_args args;
	struct bench_work work = {&args, &args.seed, {0, 0, 0}, SCOPE_RATE, 0};
	int rc;

	memset(&args, 0, sizeof args);
	args.memory = (const uint32_t *)(const void *)b->memory;
	args.words = b->bytes / 4;
	args.touches = args.words / 16 < most ? args.words / 16 : most;
	args.wrong = b->wrong;
	work.amount = (double)args.touches;
	bench_begin(b, "words", plain, "random words of 4 bytes of %.3g GB in host memory",
	            (double)b->bytes / 1e9);
	rc = bench_row(b, &work, plain, SCOPE_BOUND, &gn_base_words_pointer_kernel, NULL, e);
#ifdef GN_CUDA
	rc = rc ? rc : bench_cuda_words(b, args.touches, e);
#endif
	return rc ? rc : array_rows(b, &args, &work, e);
}
