/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.cu - patterns that differ with position, and caches that hold nothing of what is measured. */
#include "scope/cuda/support.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace
{

enum { BLOCKS = 1024, THREADS = 256, LINE = 64, MOST_THREADS = 16 };

struct found {
	unsigned long long wrong, first;
};

__device__ found device_found;

__device__ uint4 words_at(uint32_t seed, uint64_t word, uint32_t flip)
{
	return make_uint4(scope_pattern(seed, word) ^ flip, scope_pattern(seed, word + 1) ^ flip,
	                  scope_pattern(seed, word + 2) ^ flip, scope_pattern(seed, word + 3) ^ flip);
}

__global__ void write_pattern(uint4 *to, uint64_t units, uint64_t word, uint32_t seed, uint32_t flip)
{
	const uint64_t step = (uint64_t)gridDim.x * blockDim.x;

	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < units; i += step)
		to[i] = words_at(seed, word + i * 4, flip);
}

/* Volatile: what a copy engine or another GPU wrote meanwhile is what counts, not a line in L1. */
__global__ void read_pattern(const uint4 *from, uint64_t units, uint64_t word, uint32_t seed)
{
	const uint64_t step = (uint64_t)gridDim.x * blockDim.x;

	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < units; i += step) {
		const uint4 want = words_at(seed, word + i * 4, 0), got = __ldcv(from + i);
		const uint32_t wrong =
		    (want.x != got.x) + (want.y != got.y) + (want.z != got.z) + (want.w != got.w);

		if (wrong) {
			atomicAdd(&device_found.wrong, (unsigned long long)wrong);
			atomicMin(&device_found.first, (unsigned long long)i * 16);
		}
	}
}

__global__ void read_all(const uint4 *from, uint64_t units, uint32_t *never)
{
	const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
	uint32_t sum = 0;

	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < units; i += step) {
		const uint4 v = __ldcg(from + i);

		sum += v.x ^ v.y ^ v.z ^ v.w;
	}
	/* The memory is zero: never true, and the compiler does not know. */
	if (sum)
		*never = sum;
}

int write_by_gpu(uint32_t gpu, void *to, uint64_t bytes, uint64_t at, uint32_t seed, uint32_t flip, struct gn_error *e)
{
	int rc;

	if ((rc = scope_cuda_check(cudaSetDevice((int)gpu), "GPU", e)))
		return rc;
	write_pattern<<<BLOCKS, THREADS>>>((uint4 *)to, bytes / 16, at / 4, seed, flip);
	if ((rc = scope_cuda_launched("pattern", e)))
		return rc;
	return scope_cuda_check(cudaDeviceSynchronize(), "pattern", e);
}

int say_wrong(const found *f, uint64_t bytes, const char *by, struct gn_error *e)
{
	if (!f->wrong)
		return 0;
	return gn_error_set(e, -GN_EIO, "wrong data: %llu of %llu words, the first at byte %llu, as the %s sees it",
	                    f->wrong, (unsigned long long)(bytes / 4), f->first, by);
}

/* ---- threads of the host, each over an equal part ---- */

struct part {
	uint32_t *word;
	uint64_t words, at; /* at: the first word's place in the pattern */
	uint64_t offset;    /* bytes from the begin of the whole */
	uint32_t seed, flip;
	found f;
	pthread_t thread;
	bool started;
};

void *write_part(void *argument)
{
	part *p = (part *)argument;

	for (uint64_t i = 0; i < p->words; i++)
		p->word[i] = scope_pattern(p->seed, p->at + i) ^ p->flip;
	return NULL;
}

/* By pieces: the count is one that compilers turn into vector instructions. */
void *read_part(void *argument)
{
	part *p = (part *)argument;

	for (uint64_t at = 0; at < p->words; at += 4096) {
		const uint64_t end = at + 4096 < p->words ? at + 4096 : p->words;
		uint32_t wrong = 0;

		for (uint64_t i = at; i < end; i++)
			wrong += p->word[i] != scope_pattern(p->seed, p->at + i);
		for (uint64_t i = at; wrong && !p->f.wrong && i < end; i++)
			if (p->word[i] != scope_pattern(p->seed, p->at + i)) {
				p->f.first = p->offset + i * 4;
				break;
			}
		p->f.wrong += wrong;
	}
	return NULL;
}

uint32_t threads_for(uint64_t bytes)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	const uint64_t most = bytes >> 20;

	if (!most || cpus < 2)
		return 1;
	const uint32_t n = cpus < MOST_THREADS ? (uint32_t)cpus : (uint32_t)MOST_THREADS;

	return most < n ? (uint32_t)most : n;
}

/* A thread that cannot be had is no matter: its part is done here. */
void in_parts(void *(*work)(void *), part *p, uint32_t n, const part *whole)
{
	const uint64_t each = whole->words / n / 4 * 4;

	for (uint32_t k = 0; k < n; k++) {
		p[k] = *whole;
		p[k].word += k * each;
		p[k].at += k * each;
		p[k].offset = k * each * 4;
		p[k].words = k + 1 < n ? each : whole->words - k * each;
		p[k].started = k + 1 < n && !pthread_create(&p[k].thread, NULL, work, &p[k]);
		if (!p[k].started)
			work(&p[k]);
	}
	for (uint32_t k = 0; k < n; k++)
		if (p[k].started)
			pthread_join(p[k].thread, NULL);
}

void write_by_host(void *to, uint64_t bytes, uint64_t at, uint32_t seed, uint32_t flip)
{
	const part whole = {(uint32_t *)to, bytes / 4, at / 4, 0, seed, flip};
	part p[MOST_THREADS];

	in_parts(write_part, p, threads_for(bytes), &whole);
}

double read_seconds(const char *memory, uint64_t bytes)
{
	const double begin = scope_now();
	uint64_t at = 0;

	/* Each load waits for the one before: what the line says (0) is part of the next address. */
	for (uint64_t k = 0; k < bytes / LINE; k++)
		at = (at * 5 + 4097) % (bytes / LINE) + (uint64_t)((const volatile char *)memory)[at * LINE];
	return scope_now() - begin + (at == UINT64_MAX);
}

} // namespace

int scope_fill(uint32_t gpu, void *to, uint64_t bytes, uint64_t at, uint32_t seed, struct gn_error *e)
{
	return write_by_gpu(gpu, to, bytes, at, seed, 0, e);
}

int scope_poison(uint32_t gpu, void *to, uint64_t bytes, uint64_t at, uint32_t seed, struct gn_error *e)
{
	return write_by_gpu(gpu, to, bytes, at, seed, 0xffffffffu, e);
}

int scope_compare(uint32_t gpu, const void *from, uint64_t bytes, uint64_t at, uint32_t seed, struct gn_error *e)
{
	found f = {0, ~0ull};
	int rc;

	if ((rc = scope_cuda_check(cudaSetDevice((int)gpu), "GPU", e)) ||
	    (rc = scope_cuda_check(cudaMemcpyToSymbol(device_found, &f, sizeof f), "comparison", e)))
		return rc;
	read_pattern<<<BLOCKS, THREADS>>>((const uint4 *)from, bytes / 16, at / 4, seed);
	if ((rc = scope_cuda_launched("comparison", e)) ||
	    (rc = scope_cuda_check(cudaMemcpyFromSymbol(&f, device_found, sizeof f), "comparison", e)))
		return rc;
	return say_wrong(&f, bytes, "GPU", e);
}

void scope_fill_host(void *to, uint64_t bytes, uint64_t at, uint32_t seed)
{
	write_by_host(to, bytes, at, seed, 0);
}

void scope_poison_host(void *to, uint64_t bytes, uint64_t at, uint32_t seed)
{
	write_by_host(to, bytes, at, seed, 0xffffffffu);
}

int scope_compare_host(const void *from, uint64_t bytes, uint64_t at, uint32_t seed, struct gn_error *e)
{
	const part whole = {(uint32_t *)from, bytes / 4, at / 4, 0, seed, 0};
	const uint32_t n = threads_for(bytes);
	part p[MOST_THREADS];
	found f = {0, 0};

	in_parts(read_part, p, n, &whole);
	for (uint32_t k = 0; k < n; k++) {
		if (!f.wrong)
			f.first = p[k].f.first;
		f.wrong += p[k].f.wrong;
	}
	return say_wrong(&f, bytes, "host", e);
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
	return gn_error_set(e, -GN_ENOTSUP, "this processor's caches cannot be flushed by a program; use rows that do not");
#endif
}

int scope_flush_host_works(struct gn_error *e)
{
	const uint64_t bytes = 1 << 20;
	double warm = 1, cold = 1;
	char *memory = (char *)malloc(bytes + LINE);
	int rc = memory ? 0 : gn_error_set(e, -GN_ENOMEM, "no memory to try the flush with");

	/* Written by the byte: pages that were never written are all one page, which stays in the nearest cache. */
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
		rc = gn_error_set(e, -GN_EIO, "flushing the host's caches had no effect: %.1f us with it, %.1f us without",
		                  cold * 1e6, warm * 1e6);
	return rc;
}
