/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages: whole pages in a random order, each once, through a cold cache of a sixteenth of the data.
 */
#include <stdio.h>
#include <string.h>

#include "baselines/pages.h"
#include "bench.h"

enum {
	BATCH_BYTES = 16384, /* of the pages that a warp holds at once, where there is room */
	FRAMES_OF = 16       /* the cache has room for one in so many pages */
};

static int kernel_row(struct bench *b, const char *name, enum scope_role role,
                      const struct simt_kernel *kernel, struct gn_base_pages_args *args, struct gn_error *e)
{
	/* The scratch pages are one wave's. */
	const struct bench_work work = {args, &args->order.seed, args->scratch ? b->resident : b->grid,
	                                SCOPE_BANDWIDTH, (double)args->touches * args->page_bytes};

	return bench_row(b, &work, name, role, kernel, NULL, e);
}

static int copy_row(struct bench *b, struct gn_base_pages_args *args, struct gn_error *e)
{
	const uint64_t warps =
	    (uint64_t)b->resident.blocks * b->resident.block_threads / b->fixture.info.warp_width;
	int rc;

	args->warp_frames = 1;
	args->scratch = (char *)simt_alloc(b->fixture.machine, warps * args->page_bytes, SIMT_DEVICE, e);
	if (!args->scratch)
		return gn_error_set(e, -GN_ENOMEM, "out of memory for one page of each warp");
	rc = kernel_row(b, "copy", SCOPE_BOUND, &gn_base_pages_copy_kernel, args, e);
	simt_free(b->fixture.machine, args->scratch);
	args->scratch = NULL;
	return rc;
}

/* The same in as many frames as the cache of the paged rows has, with a table of where each page is. */
static int noted_row(struct bench *b, struct gn_base_pages_args *args, struct gn_error *e)
{
	const uint64_t warps =
	    (uint64_t)b->resident.blocks * b->resident.block_threads / b->fixture.info.warp_width;
	const uint64_t pages = b->bytes / args->page_bytes, share = pages / FRAMES_OF / warps;
	int rc;

	args->batch = BATCH_BYTES / args->page_bytes;
	args->warp_frames = share > args->batch ? share : args->batch;
	args->scratch = (char *)simt_alloc(b->fixture.machine, warps * args->warp_frames * args->page_bytes,
	                                   SIMT_DEVICE, e);
	args->owner =
	    (uint64_t *)simt_alloc(b->fixture.machine, warps * args->warp_frames * 8, SIMT_DEVICE, e);
	args->table = (uint64_t *)simt_alloc(b->fixture.machine, pages * 8, SIMT_DEVICE, e);
	rc = args->scratch && args->owner && args->table
	         ? 0
	         : gn_error_set(e, -GN_ENOMEM, "out of memory for the frames and the table");
	rc = rc ? rc : kernel_row(b, "copy-noted", SCOPE_BOUND, &gn_base_pages_noted_kernel, args, e);
	simt_free(b->fixture.machine, args->scratch);
	simt_free(b->fixture.machine, args->owner);
	simt_free(b->fixture.machine, args->table);
	args->scratch = NULL;
	return rc;
}

static int paged_rows(struct bench *b, struct gn_base_pages_args *args, struct gn_error *e)
{
	int rc = bench_cache(b, &args->array, FRAMES_OF, args->page_bytes, 0, e);

	rc = rc ? rc : kernel_row(b, "paged-pages", SCOPE_OURS, &gn_base_pages_cached_kernel, args, e);
	if (!rc)
		args->batch = bench_batch(b, BATCH_BYTES / args->page_bytes);
	rc = rc ? rc : kernel_row(b, "paged-batch", SCOPE_OURS, &gn_base_pages_batch_kernel, args, e);
	return bench_uncache(b, &args->array, rc, e);
}

static int one_size(struct bench *b, uint32_t page_bytes, struct gn_error *e)
{
	struct gn_base_pages_args args;
	char name[32], size[16];
	int rc;

	memset(&args, 0, sizeof args);
	args.memory = (const uint32_t *)(const void *)b->memory;
	args.touches = b->bytes / page_bytes;
	args.order = gn_base_order_init(args.touches, 1);
	args.wrong = b->wrong;
	args.page_bytes = page_bytes;
	snprintf(size, sizeof size, page_bytes < 1024 ? "%u bytes" : "%u KiB",
	         page_bytes < 1024 ? page_bytes : page_bytes / 1024);
	snprintf(name, sizeof name, page_bytes < 1024 ? "pages-%u" : "pages-%uK",
	         page_bytes < 1024 ? page_bytes : page_bytes / 1024);
	bench_begin(b, name, "stream", "random pages of %s of %.3g GB in host memory, each once, cold cache",
	            size, (double)b->bytes / 1e9);
	rc = bench_stream(b, e);
	rc = rc ? rc : copy_row(b, &args, e);
	rc = rc ? rc : noted_row(b, &args, e);
	if (!rc)
		rc = kernel_row(b, b->fixture.info.is_cuda ? "zero-copy" : "plain", SCOPE_BASELINE,
		                &gn_base_pages_pointer_kernel, &args, e);
#ifdef GN_CUDA
	rc = rc ? rc : bench_cuda_pages(b, page_bytes, e);
#endif
	return rc ? rc : paged_rows(b, &args, e);
}

int bench_pages(struct bench *b, struct gn_error *e)
{
	static const uint32_t sizes[] = {512, 4096, 16384};
	int rc = 0;

	for (unsigned k = 0; k < sizeof sizes / sizeof *sizes && !rc; k++)
		rc = one_size(b, sizes[k], e);
	return rc;
}
