/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.cu - patterns that differ with position, and caches that hold nothing of what is measured. */
#include <grapnel/simt.h>

#include "scope/cuda/support.h"
#include "scope/pattern.h"
#include "scope/sampling.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace {

enum { BLOCKS = 1024, THREADS = 256, LINE = 64, MOST_THREADS = 16 };

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

/* ---- threads of the host, each over an equal part ---- */

enum work { FILL, POISON, CHECK };

struct part {
	char *memory;
	uint64_t bytes, seed;
	enum work work;
	pthread_t thread;
	bool started;
	int rc;
	struct gn_error e;
};

void *do_part(void *argument)
{
	part *p = (part *)argument;

	if (p->work == FILL)
		scope_fill(p->memory, p->bytes, p->seed);
	else if (p->work == POISON)
		memset(p->memory, 0xa5, p->bytes);
	else
		p->rc = scope_check(p->memory, p->bytes, p->seed, "as the host sees it", &p->e);
	return NULL;
}

uint32_t threads_for(uint64_t bytes)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	const uint64_t most = bytes >> 20;

	if (most < 2 || cpus < 2)
		return 1;
	const uint32_t n = cpus < MOST_THREADS ? (uint32_t)cpus : (uint32_t)MOST_THREADS;

	return most < n ? (uint32_t)most : n;
}

/* A thread that cannot be had is no matter: its part is done here. */
int in_parts(char *memory, uint64_t bytes, uint64_t seed, enum work work, struct gn_error *e)
{
	const uint32_t n = threads_for(bytes);
	const uint64_t each = bytes / n / LINE * LINE;
	part p[MOST_THREADS] = {};
	int rc = 0;

	for (uint32_t k = 0; k < n; k++) {
		p[k].memory = memory + k * each;
		p[k].bytes = k + 1 < n ? each : bytes - k * each;
		p[k].seed = seed + k * each / 8;
		p[k].work = work;
		p[k].started = k + 1 < n && !pthread_create(&p[k].thread, NULL, do_part, &p[k]);
		if (!p[k].started)
			do_part(&p[k]);
	}
	for (uint32_t k = 0; k < n; k++) {
		if (p[k].started)
			pthread_join(p[k].thread, NULL);
		if (p[k].rc && !rc)
			rc = gn_error_set(e, p[k].rc, "wrong data (byte numbers relative to byte %llu): %s",
			                  (unsigned long long)(k * each), p[k].e.text);
	}
	return rc;
}

double read_seconds(const char *memory, uint64_t bytes)
{
	const double begin = scope_clock();
	uint64_t at = 0;

	/* Each load waits for the one before: what the line says (0) is part of the next address. */
	for (uint64_t k = 0; k < bytes / LINE; k++)
		at = (at * 5 + 4097) % (bytes / LINE) + (uint64_t)((const volatile char *)memory)[at * LINE];
	return scope_clock() - begin + (at == UINT64_MAX);
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

void scope_host_fill(void *to, uint64_t bytes, uint64_t seed)
{
	(void)in_parts((char *)to, bytes, seed, FILL, NULL);
}

void scope_host_poison(void *to, uint64_t bytes)
{
	(void)in_parts((char *)to, bytes, 0, POISON, NULL);
}

int scope_host_check(const void *from, uint64_t bytes, uint64_t seed, struct gn_error *e)
{
	return in_parts((char *)from, bytes, seed, CHECK, e);
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

int scope_flush_host(const void *memory, uint64_t bytes, struct gn_error *e)
{
#if defined(__x86_64__)
	(void)e;
	for (uint64_t k = 0; k < bytes; k += LINE)
		_mm_clflush((const char *)memory + k);
	_mm_mfence();
	return 0;
#else
	(void)memory;
	(void)bytes;
	return gn_error_set(
	    e, -GN_ENOTSUP,
	    "a program cannot flush the caches of this processor; use rows that do not flush them");
#endif
}

int scope_flush_host_works(struct gn_error *e)
{
	const uint64_t bytes = 1 << 20;
	double warm = 1, cold = 1;
	char *memory = (char *)malloc(bytes + LINE);
	int rc = memory ? 0 : gn_error_set(e, -GN_ENOMEM, "out of memory to test the flush");

	/*
	 * Written by the byte: pages that were never written are all one page, which stays in the nearest
	 * cache.
	 */
	for (uint64_t k = 0; !rc && k < bytes + LINE; k++)
		((volatile char *)memory)[k] = 0;
	for (int run = 0; run < 5 && !rc; run++) {
		const double once = read_seconds(memory, bytes), again = read_seconds(memory, bytes);

		warm = again < warm ? again : warm;
		rc = scope_flush_host(memory, bytes, e);
		const double after = read_seconds(memory, bytes);

		cold = after < cold ? after : cold;
		(void)once;
	}
	free(memory);
	if (!rc && cold < 1.5 * warm)
		rc = gn_error_set(
		    e, -GN_EIO,
		    "flushing the host's caches had no effect: %.1f us with the flush, %.1f us without",
		    cold * 1e6, warm * 1e6);
	return rc;
}
