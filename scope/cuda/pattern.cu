/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.cu - patterns that differ with position, and caches that hold nothing of what is measured. */
#include <grapnel/simt.h>

#include "scope/cuda/support.h"
#include "scope/pattern.h"

namespace {

enum { BLOCKS = 1024, THREADS = 256 };

struct found {
	unsigned long long wrong, first;
};

__device__ found device_found;

__global__ void write_pattern(ulonglong2 *to, uint64_t units, uint64_t seed, uint64_t flip)
{
	const uint64_t step = simt_global_threads();

	for (uint64_t i = simt_global_thread(); i < units; i += step)
		to[i] =
		    make_ulonglong2(scope_pattern(seed, 2 * i) ^ flip, scope_pattern(seed, 2 * i + 1) ^ flip);
}

/* Not through L1: what a copy engine or another GPU wrote meanwhile is what counts. */
__global__ void read_pattern(const ulonglong2 *from, uint64_t units, uint64_t seed)
{
	const uint64_t step = simt_global_threads();

	for (uint64_t i = simt_global_thread(); i < units; i += step) {
		const ulonglong2 got = __ldcv(from + i);
		const uint32_t wrong =
		    (got.x != scope_pattern(seed, 2 * i)) + (got.y != scope_pattern(seed, 2 * i + 1));

		if (wrong) {
			simt_add_relaxed_dev_u64((uint64_t *)&device_found.wrong, wrong);
			atomicMin(&device_found.first, (unsigned long long)i * 16);
		}
	}
}

__global__ void read_all(const uint4 *from, uint64_t units, uint32_t *never)
{
	const uint64_t step = simt_global_threads();
	uint32_t sum = 0;

	for (uint64_t i = simt_global_thread(); i < units; i += step) {
		const uint4 v = __ldcg(from + i);

		sum += v.x ^ v.y ^ v.z ^ v.w;
	}
	/* The memory is zero: never true, and the compiler does not know. */
	if (sum)
		*never = sum;
}

int write_by_gpu(uint32_t gpu, void *to, uint64_t bytes, uint64_t seed, uint64_t flip, struct gn_error *e)
{
	int rc;

	if ((rc = scope_cuda_check(cudaSetDevice((int)gpu), "GPU", e)))
		return rc;
	write_pattern<<<BLOCKS, THREADS>>>((ulonglong2 *)to, bytes / 16, seed, flip);
	if ((rc = scope_cuda_launched("pattern", e)))
		return rc;
	return scope_cuda_check(cudaDeviceSynchronize(), "pattern", e);
}

} // namespace

int scope_gpu_fill(uint32_t gpu, void *to, uint64_t bytes, uint64_t seed, struct gn_error *e)
{
	return write_by_gpu(gpu, to, bytes, seed, 0, e);
}

int scope_gpu_poison(uint32_t gpu, void *to, uint64_t bytes, uint64_t seed, struct gn_error *e)
{
	return write_by_gpu(gpu, to, bytes, seed, UINT64_MAX, e);
}

int scope_gpu_check(uint32_t gpu, const void *from, uint64_t bytes, uint64_t seed, struct gn_error *e)
{
	found f = {0, ~0ull};
	int rc;

	if ((rc = scope_cuda_check(cudaSetDevice((int)gpu), "GPU", e)) ||
	    (rc = scope_cuda_check(cudaMemcpyToSymbol(device_found, &f, sizeof f), "comparison", e)))
		return rc;
	read_pattern<<<BLOCKS, THREADS>>>((const ulonglong2 *)from, bytes / 16, seed);
	if ((rc = scope_cuda_launched("comparison", e)) ||
	    (rc = scope_cuda_check(cudaMemcpyFromSymbol(&f, device_found, sizeof f), "comparison", e)))
		return rc;
	if (!f.wrong)
		return 0;
	return gn_error_set(e, -GN_EIO,
	                    "wrong data read by GPU %u: %llu of %llu words, the first near byte %llu", gpu,
	                    f.wrong, (unsigned long long)(bytes / 8), f.first);
}

int scope_flush_open(struct scope_flush *f, const struct scope_machine *m, uint32_t gpu, struct gn_error *e)
{
	int rc;

	*f = scope_flush{gpu, NULL, (m->gpu[gpu].l2_bytes * 5 / 2 + 4095) / 4096 * 4096};
	if ((rc = scope_cuda_check(cudaSetDevice((int)gpu), "GPU", e)) ||
	    (rc = scope_cuda_check(cudaMalloc(&f->memory, f->bytes + 4096), "memory to flush L2 with", e)) ||
	    (rc = scope_cuda_check(cudaMemset(f->memory, 0, f->bytes + 4096), "memory to flush L2 with", e)))
		return rc;
	return scope_cuda_check(cudaDeviceSynchronize(), "memory to flush L2 with", e);
}

void scope_flush_close(struct scope_flush *f)
{
	(void)cudaSetDevice((int)f->gpu);
	(void)cudaFree(f->memory);
	(void)cudaGetLastError();
	*f = scope_flush{};
}

int scope_flush_run(const struct scope_flush *f, struct gn_error *e)
{
	int rc;

	if ((rc = scope_cuda_check(cudaSetDevice((int)f->gpu), "GPU", e)))
		return rc;
	read_all<<<BLOCKS, THREADS>>>((const uint4 *)f->memory, f->bytes / 16,
	                              (uint32_t *)((char *)f->memory + f->bytes));
	if ((rc = scope_cuda_launched("flush of L2", e)))
		return rc;
	return scope_cuda_check(cudaDeviceSynchronize(), "flush of L2", e);
}
