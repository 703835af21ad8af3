/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_copy.cu - two ways to move pages between pinned host memory and frames in device memory, on one
 * device; one JSON object on stdout, exit status 77 without a device that has bulk copies (sm_90).
 *
 *   warp    a warp a page, 16 bytes a lane: simt_copy, which the cache uses
 *   batch   a warp takes 4 KiB of smaller pages at once: every load before the first store
 *   bulk    cp.async.bulk into shared memory and out of it again, a few pieces in flight for each block
 *
 * Random pages, each once: "in" from host memory to consecutive frames, "out" from frames to random host
 * pages. For each way the best of several grids counts, and the smallest within 2 % of it is named too. A
 * figure is the median of RUNS, and every word moved is compared.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#include <grapnel/simt.h>

#include "baselines/data.h"
#include "simt/bulk.h"

namespace {

enum { RUNS = 3, LEAST_PAGE = 512, MOST_PAGE = 65536, MOST_PIECE = 8192, BATCH = 4096 };

/* What a kernel moves. */
struct job {
	char *host, *device;
	uint64_t *wrong;
	struct gn_base_order order; /* of the pages of the host memory */
	uint64_t touches;           /* pages moved, and frames */
	uint32_t page_bytes;
	uint32_t out;    /* 1: from frames to host memory */
	uint32_t stages; /* bulk: pieces in flight for a block */
	uint32_t piece;  /* bulk: bytes */
};

void check(cudaError_t rc, const char *what)
{
	if (rc == cudaSuccess)
		return;
	fprintf(stderr, "page_copy: %s: %s\n", what, cudaGetErrorString(rc));
	exit(1);
}

/* The page of touch k: no two touches meet. */
__device__ uint64_t page_of(const job &j, uint64_t k)
{
	return gn_base_touch(&j.order, k);
}

__device__ const char *source_of(const job &j, uint64_t k)
{
	return j.out ? j.device + k * j.page_bytes : j.host + page_of(j, k) * j.page_bytes;
}

__device__ char *target_of(const job &j, uint64_t k)
{
	return j.out ? j.host + page_of(j, k) * j.page_bytes : j.device + k * j.page_bytes;
}

/* Sixteen bytes of a page say which page, and where in it; the seed tells one run's from another's. */
__device__ uint4 pattern(const job &j, uint64_t page, uint32_t at)
{
	const uint32_t mark = j.out ? j.order.seed : 0;

	return make_uint4((uint32_t)page, at, mark, (uint32_t)page * 2654435761u ^ at);
}

/* ---- before and behind a run ---- */

__global__ void fill(job j)
{
	const uint64_t units = (j.out ? j.touches : j.order.count) * (j.page_bytes / 16),
	               step = (uint64_t)gridDim.x * blockDim.x;
	uint4 *to = (uint4 *)(j.out ? j.device : j.host);

	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < units; i += step) {
		const uint64_t unit = i * 16, k = unit / j.page_bytes;

		if (!j.out)
			to[i] = pattern(j, k, (uint32_t)(unit % j.page_bytes));
		else
			to[i] = pattern(j, page_of(j, k), (uint32_t)(unit % j.page_bytes));
	}
}

__global__ void verify(job j)
{
	const uint64_t units = j.touches * (j.page_bytes / 16), step = (uint64_t)gridDim.x * blockDim.x;
	uint64_t wrong = 0;

	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < units; i += step) {
		const uint64_t k = i * 16 / j.page_bytes;
		const uint32_t at = (uint32_t)(i * 16 % j.page_bytes);
		const uint4 want = pattern(j, page_of(j, k), at),
		            got = *(const uint4 *)(target_of(j, k) + at);

		wrong += want.x != got.x || want.y != got.y || want.z != got.z || want.w != got.w;
	}
	if (wrong)
		simt_add_relaxed_dev_u64(j.wrong, wrong);
}

/* ---- the ways ---- */

__global__ void __launch_bounds__(256) copy_warp(job j)
{
	const uint64_t warps = simt_global_threads() / 32;

	for (uint64_t k = simt_global_thread() / 32; k < j.touches; k += warps)
		simt_copy(0xffffffffu, target_of(j, k), source_of(j, k), j.page_bytes);
}

__global__ void __launch_bounds__(256) copy_batch(job j)
{
	const uint64_t warps = simt_global_threads() / 32, groups = j.touches * j.page_bytes / BATCH;
	const uint32_t lane = threadIdx.x % 32;

	for (uint64_t g = simt_global_thread() / 32; g < groups; g += warps) {
		uint4 v[8];

#pragma unroll
		for (uint32_t k = 0; k < 8; k++) {
			const uint64_t at = g * BATCH + k * 512 + lane * 16;
			const char *from = source_of(j, at / j.page_bytes) + at % j.page_bytes;

			asm volatile("ld.relaxed.sys.v4.u32 {%0,%1,%2,%3}, [%4];"
			             : "=r"(v[k].x), "=r"(v[k].y), "=r"(v[k].z), "=r"(v[k].w)
			             : "l"(from));
		}
#pragma unroll
		for (uint32_t k = 0; k < 8; k++) {
			const uint64_t at = g * BATCH + k * 512 + lane * 16;

			*(uint4 *)(target_of(j, at / j.page_bytes) + at % j.page_bytes) = v[k];
		}
	}
}

/* The block's i-th piece into its stage. */
__device__ void stage_load(const job &j, uint64_t i, uint32_t stages, uint32_t buffers, uint32_t barriers)
{
	const uint64_t at = (blockIdx.x + i * gridDim.x) * j.piece;
	const uint32_t stage = (uint32_t)(i % stages);

	bulk_load(buffers + stage * j.piece, source_of(j, at / j.page_bytes) + at % j.page_bytes, j.piece,
	          barriers + 8 * stage);
}

/* One thread a block; it only gives orders. A stage is filled again when the store behind has read it. */
__global__ void __launch_bounds__(32) copy_bulk(job j)
{
	extern __shared__ __align__(128) char buffer[];
	const uint32_t buffers = (uint32_t)__cvta_generic_to_shared(buffer);
	const uint32_t barriers = buffers + j.stages * j.piece;
	const uint64_t all = j.touches * (j.page_bytes / j.piece);
	const uint64_t mine = blockIdx.x < all ? (all - blockIdx.x + gridDim.x - 1) / gridDim.x : 0;

	if (threadIdx.x)
		return;
	for (uint32_t s = 0; s < j.stages; s++)
		bulk_barrier_init(barriers + 8 * s);
	bulk_barriers_ready();
	for (uint64_t i = 0; i < j.stages && i < mine; i++)
		stage_load(j, i, j.stages, buffers, barriers);
	for (uint64_t i = 0; i < mine; i++) {
		const uint64_t at = (blockIdx.x + i * gridDim.x) * j.piece;
		const uint32_t stage = (uint32_t)(i % j.stages);

		bulk_wait(barriers + 8 * stage, (uint32_t)(i / j.stages & 1));
		bulk_store(target_of(j, at / j.page_bytes) + at % j.page_bytes, buffers + stage * j.piece,
		           j.piece);
		bulk_stores_read();
		if (i && i - 1 + j.stages < mine)
			stage_load(j, i - 1 + j.stages, j.stages, buffers, barriers);
	}
	bulk_stores_done();
}

/* The limit: consecutive bytes of host memory, 16 a lane. */
__global__ void __launch_bounds__(256) stream(job j)
{
	const uint64_t units = j.touches * (j.page_bytes / 16), step = (uint64_t)gridDim.x * blockDim.x;
	const uint4 *from = (const uint4 *)j.host;
	uint64_t wrong = 0;

	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < units; i += step) {
		const uint4 got = __ldcs(from + i);

		wrong += got.w != ((uint32_t)(i * 16 / j.page_bytes) * 2654435761u ^
		                   (uint32_t)(i * 16 % j.page_bytes));
	}
	if (wrong)
		simt_add_relaxed_dev_u64(j.wrong, wrong);
}

/* ---- measuring ---- */

struct grid {
	uint32_t blocks, threads, shared;
};

typedef void (*kernel)(job);

cudaEvent_t begin_event, end_event;
uint64_t wrong_seen;

int ascending(const void *a, const void *b)
{
	const float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

float milliseconds(kernel k, const job &j, grid g)
{
	float ms;

	check(cudaEventRecord(begin_event), "event");
	k<<<g.blocks, g.threads, g.shared>>>(j);
	check(cudaEventRecord(end_event), "event");
	check(cudaEventSynchronize(end_event), "kernel");
	check(cudaEventElapsedTime(&ms, begin_event, end_event), "event");
	return ms;
}

/* GB/s of a way with one grid; every run is compared. */
double measure(kernel k, job j, grid g, bool compare)
{
	float ms[RUNS];

	milliseconds(k, j, g);
	for (int r = 0; r < RUNS; r++) {
		j.order.seed++;
		if (compare && j.out)
			fill<<<1024, 256>>>(j);
		if (compare && !j.out)
			check(cudaMemsetAsync(j.device, 0xff, j.touches * j.page_bytes), "clear");
		ms[r] = milliseconds(k, j, g);
		if (compare)
			verify<<<1024, 256>>>(j);
	}
	check(cudaDeviceSynchronize(), "verification");
	wrong_seen += *j.wrong;
	qsort(ms, RUNS, sizeof *ms, ascending);
	return (double)j.touches * j.page_bytes / ms[RUNS / 2] / 1e6;
}

double memcpy_rate(const job &j, cudaMemcpyKind kind)
{
	const size_t bytes = j.touches * j.page_bytes;
	float ms;

	for (int run = 0; run < 2; run++) {
		check(cudaEventRecord(begin_event), "event");
		check(cudaMemcpyAsync(kind == cudaMemcpyHostToDevice ? j.device : j.host,
		                      kind == cudaMemcpyHostToDevice ? j.host : j.device, bytes, kind, 0),
		      "memcpy");
		check(cudaEventRecord(end_event), "event");
		check(cudaEventSynchronize(end_event), "memcpy");
	}
	check(cudaEventElapsedTime(&ms, begin_event, end_event), "event");
	return (double)bytes / ms / 1e6;
}

/* The best of several grids, and the smallest that comes within 2 % of it. */
struct best {
	double rate[16];
	uint32_t per_processor[16]; /* warps, or blocks of one thread */
	uint32_t stages[16];
	int tried;
};

void keep(best *b, double rate, uint32_t per_processor, uint32_t stages)
{
	b->rate[b->tried] = rate;
	b->per_processor[b->tried] = per_processor;
	b->stages[b->tried++] = stages;
}

best one(double rate)
{
	best b = {};

	keep(&b, rate, 0, 0);
	return b;
}

best try_warps(kernel k, const job &j, uint32_t processors)
{
	static const uint32_t warps[] = {1, 2, 4, 8, 16, 32, 64};
	best b = {};

	for (uint32_t n : warps)
		keep(&b,
		     measure(k, j, n < 8 ? grid{processors, n * 32, 0} : grid{n / 8 * processors, 256, 0},
		             true),
		     n, 0);
	return b;
}

best try_bulk(job j, uint32_t processors)
{
	static const uint32_t blocks[] = {1, 2, 4, 8}, stages[] = {2, 4, 8};
	best b = {};

	j.piece = j.page_bytes < (uint32_t)MOST_PIECE ? j.page_bytes : (uint32_t)MOST_PIECE;
	for (uint32_t n : blocks)
		for (uint32_t s : stages) {
			const uint32_t shared = s * (j.piece + 8);

			if (n * (shared + 1024) > 220 * 1024)
				continue;
			j.stages = s;
			keep(&b, measure(copy_bulk, j, grid{n * processors, 32, shared}, true), n, s);
		}
	return b;
}

void say(const char *way, const job &j, const best &b, bool *first)
{
	int top = 0, enough = 0;

	for (int k = 1; k < b.tried; k++)
		top = b.rate[k] > b.rate[top] ? k : top;
	while (b.rate[enough] < 0.98 * b.rate[top])
		enough++;
	printf("%s\n  {\"way\": \"%s\", \"direction\": \"%s\", \"page_bytes\": %u, \"gb_per_second\": %.3f, "
	       "\"per_processor\": %u, \"stages\": %u, \"enough_per_processor\": %u, \"enough_stages\": %u}",
	       *first ? "" : ",", way, j.out ? "out" : "in", j.page_bytes, b.rate[top], b.per_processor[top],
	       b.stages[top], b.per_processor[enough], b.stages[enough]);
	*first = false;
}

job shape(job j, uint64_t data, uint64_t moved, uint32_t page_bytes, uint32_t out)
{
	j.page_bytes = page_bytes;
	j.order = gn_base_order_init(data / page_bytes, 1);
	j.touches = moved / page_bytes;
	j.out = out;
	return j;
}

} // namespace

/* page_copy [MiB of host memory [MiB moved a run]], both powers of two; 8192 and 512 without. */
int main(int argc, char **argv)
{
	const uint64_t data = (argc > 1 ? strtoull(argv[1], NULL, 10) : 8192) << 20;
	const uint64_t moved = (argc > 2 ? strtoull(argv[2], NULL, 10) : 512) << 20;
	cudaDeviceProp properties;
	bool first = true;
	job j = {};

	if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess || properties.major < 9 ||
	    properties.sharedMemPerBlockOptin < 200 * 1024)
		return 77;
	if (!data || data & (data - 1) || !moved || moved & (moved - 1) || moved > data)
		return fprintf(stderr, "page_copy: give MiB of data and MiB moved in one run: powers of two, "
		                       "the second not above the first\n"),
		       2;
	check(cudaHostAlloc((void **)&j.host, data, cudaHostAllocMapped | cudaHostAllocPortable),
	      "pinned memory");
	check(cudaMalloc((void **)&j.device, moved), "device memory");
	check(cudaHostAlloc((void **)&j.wrong, 8, cudaHostAllocMapped), "pinned memory");
	check(cudaEventCreate(&begin_event), "event");
	check(cudaEventCreate(&end_event), "event");
	check(cudaFuncSetAttribute(copy_bulk, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024),
	      "shared memory");
	*j.wrong = 0;
	printf("{\"device\": \"%s\", \"data_bytes\": %llu, \"moved_bytes\": %llu, \"rows\": [",
	       properties.name, (unsigned long long)data, (unsigned long long)moved);
	for (uint32_t bytes = LEAST_PAGE; bytes <= MOST_PAGE; bytes *= 2) {
		for (uint32_t out = 0; out < 2; out++) {
			const uint32_t processors = (uint32_t)properties.multiProcessorCount;

			j = shape(j, data, moved, bytes, out);
			if (!out)
				fill<<<1024, 256>>>(j);
			if (!out && bytes == 4096)
				say("stream", j, one(measure(stream, j, grid{processors * 4, 256, 0}, false)),
				    &first);
			say("warp", j, try_warps(copy_warp, j, processors), &first);
			if (bytes < BATCH)
				say("batch", j, try_warps(copy_batch, j, processors), &first);
			say("bulk", j, try_bulk(j, processors), &first);
		}
	}
	j = shape(j, data, moved, 4096, 0);
	say("memcpy", j, one(memcpy_rate(j, cudaMemcpyHostToDevice)), &first);
	j.out = 1;
	say("memcpy", j, one(memcpy_rate(j, cudaMemcpyDeviceToHost)), &first);
	printf("\n], \"wrong\": %llu}\n", (unsigned long long)wrong_seen);
	return wrong_seen != 0;
}
