/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The updates of `grapnel gups` by NVSHMEM's atomics, for net_peers.py to run beside it. Not part of the
 * build: NVSHMEM is not packaged. With an installed one, in the project's folder:
 *
 *     nvcc -O3 -arch=sm_90 -rdc=true -Iinclude -Iapps -I NVSHMEM/include bench/rivals/nvshmem_gups.cu \
 *          -L NVSHMEM/lib -lnvshmem_host -lnvshmem_device -lcuda -o nvshmem_gups
 *     NVSHMEM_DISABLE_NVLS=1 ./nvshmem_gups PES WORDS UPDATES xor|inc [plain]
 *
 * A process a PE, begun here, each on a GPU of its own. The same table, random sequence and check as
 * apps/gups. plain: CUDA's own atomics (atomicAdd_system, atomicXor_system) by the pointers that NVSHMEM
 * gives to the memory of the others.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

#include <nvshmem.h>
#include <nvshmemx.h>

#include "gups/sequence.h"

enum { BLOCKS = 1056, THREADS = 256 };

#define MUST(call)                                                                                \
	do {                                                                                      \
		const cudaError_t rc = (call);                                                    \
		if (rc) {                                                                         \
			fprintf(stderr, "nvshmem_gups: %s: %s\n", #call, cudaGetErrorString(rc)); \
			exit(1);                                                                  \
		}                                                                                 \
	} while (0)

struct job {
	uint64_t *table, words, updates, first;
	int pes, log2, xors, plain;
};

__device__ void change(const struct job *j, uint64_t *word, uint64_t random, int pe)
{
	if (j->plain) {
		unsigned long long *there = (unsigned long long *)nvshmem_ptr(word, pe);

		if (j->xors)
			atomicXor_system(there, random);
		else
			atomicAdd_system(there, 1);
	} else if (j->xors) {
		nvshmem_uint64_atomic_xor(word, random, pe);
	} else {
		nvshmem_uint64_atomic_inc(word, pe);
	}
}

__global__ void update(struct job j)
{
	const uint64_t threads = (uint64_t)gridDim.x * blockDim.x,
	               thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
	const uint64_t begin = j.updates * thread / threads, end = j.updates * (thread + 1) / threads;
	uint64_t random = gups_at(j.first + begin);

	for (uint64_t k = begin; k < end; k++) {
		random = gups_next(random);
		uint64_t *word = &j.table[random & (j.words - 1)];
		const int pe = j.pes & (j.pes - 1) ? (int)((random >> 32) * j.pes >> 32)
		                                   : (int)(random >> j.log2 & (j.pes - 1));

		change(&j, word, random, pe);
	}
	nvshmem_quiet();
}

__global__ void fill(struct job j, uint64_t base)
{
	for (uint64_t k = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; k < j.words;
	     k += (uint64_t)gridDim.x * blockDim.x)
		j.table[k] = j.xors ? base + k : 0;
}

/* Words that are wrong, or the sum of all. */
__global__ void count(struct job j, uint64_t base, uint64_t *counted)
{
	unsigned long long mine = 0;

	for (uint64_t k = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; k < j.words;
	     k += (uint64_t)gridDim.x * blockDim.x)
		mine += j.xors ? j.table[k] != base + k : j.table[k];
	atomicAdd((unsigned long long *)counted, mine);
}

static double update_all(const struct job *j)
{
	struct timespec from, to;

	nvshmem_barrier_all();
	clock_gettime(CLOCK_MONOTONIC, &from);
	update<<<BLOCKS, THREADS>>>(*j);
	MUST(cudaDeviceSynchronize());
	nvshmem_barrier_all();
	clock_gettime(CLOCK_MONOTONIC, &to);
	return (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

static int run(int pe, int pes, const nvshmemx_uniqueid_t *id, char **argv)
{
	struct job j = {NULL,
	                strtoull(argv[2], NULL, 0),
	                strtoull(argv[3], NULL, 0),
	                0,
	                pes,
	                0,
	                !strcmp(argv[4], "xor"),
	                argv[5] != NULL};
	nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
	uint64_t *counted, *sum, all;
	double seconds;

	nvshmemx_set_attr_uniqueid_args(pe, pes, id, &attributes);
	MUST(cudaSetDevice(pe));
	if (nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes))
		return 1;
	while (1ull << j.log2 < j.words)
		j.log2++;
	j.first = pe * j.updates;
	j.table = (uint64_t *)nvshmem_malloc(8 * j.words);
	counted = (uint64_t *)nvshmem_calloc(1, 8);
	sum = (uint64_t *)nvshmem_calloc(1, 8);
	if (!j.table || !counted || !sum)
		return 1;
	fill<<<BLOCKS, THREADS>>>(j, pe * j.words);
	MUST(cudaDeviceSynchronize());
	seconds = update_all(&j);
	if (j.xors)
		update_all(&j);
	count<<<BLOCKS, THREADS>>>(j, pe * j.words, counted);
	MUST(cudaDeviceSynchronize());
	nvshmem_uint64_sum_reduce(NVSHMEM_TEAM_WORLD, sum, counted, 1);
	MUST(cudaMemcpy(&all, sum, 8, cudaMemcpyDefault));
	if (!j.xors)
		all = all > j.updates * pes ? all - j.updates * pes : j.updates * pes - all;
	if (!pe)
		printf("{\"nodes\": %d, \"seconds\": %.6f, \"gups\": %.6f, \"wrong\": %llu}\n", pes, seconds,
		       1e-9 * (double)(j.updates * pes) / seconds, (unsigned long long)all);
	fflush(stdout);
	nvshmem_finalize();
	return all != 0;
}

/* Before any process has used a GPU; the first tells the others how to find it. */
int main(int argc, char **argv)
{
	const int pes = argc > 4 ? atoi(argv[1]) : 0;
	nvshmemx_uniqueid_t id;
	int tell[2], bad = 0, status, pe = 0;

	if (pes < 1 || pes > 16 || pipe(tell)) {
		fprintf(stderr, "Usage: nvshmem_gups PES WORDS UPDATES xor|inc [plain]\n");
		return 2;
	}
	for (int k = 1; k < pes && !pe; k++)
		pe = fork() ? 0 : k;
	if (pe) {
		if (read(tell[0], &id, sizeof id) != (ssize_t)sizeof id)
			return 1;
		return run(pe, pes, &id, argv);
	}
	bad = nvshmemx_get_uniqueid(&id);
	for (int k = 1; k < pes; k++)
		bad |= write(tell[1], &id, sizeof id) != (ssize_t)sizeof id;
	bad = bad ? bad : run(0, pes, &id, argv);
	while (wait(&status) > 0)
		bad |= status;
	return bad != 0;
}
