/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loaded.cu - what a load waits while others use the same memory: one thread follows a shuffled walk through
 * the first half of the span, and so many warps stream the second half, 4 KiB a warp at a time. Their rate
 * while the walk is timed is the second figure. Both are one kernel, whose blocks all run at once.
 */
#include <grapnel/simt.h>
#include <grapnel/detail/simt/lookup.h>

#include "scope/device/device.h"

namespace {

enum { CHUNK = 4096, WARPS = 4, APPROACH = 512, LEAST_LOADS = 2048, MOST_LOADS = 1 << 18 };

/* What the blocks tell each other, in the GPU's memory. */
struct board {
	uint32_t phase; /* 0 before the walk is timed, 1 meanwhile, 2 behind it */
	uint32_t pad[31];
	unsigned long long chunks, wrong; /* of the streams, in phase 1 */
};

struct job {
	char *walk, *stream;
	uint32_t bits;   /* log2 of the walk's nodes */
	uint64_t chunks; /* of the stream; a power of two */
	uint64_t from;   /* node's address */
	uint64_t loads;
	struct board *board;
	uint64_t *out; /* where it ended, nanoseconds */
};

struct loaded {
	struct scope_bench bench;
	struct job job;
	uint64_t at, warps;
	unsigned long long wrong;
};

__device__ __forceinline__ uint64_t follow(uint64_t from, uint64_t loads)
{
#pragma unroll 8
	for (uint64_t k = 0; k < loads; k++)
		from = simt_load_relaxed_sys_u64((const uint64_t *)from);
	return from;
}

__device__ void walk(const job &j)
{
	volatile uint32_t *phase = &j.board->phase;
	uint64_t at = follow(j.from, APPROACH), began;

	*phase = at ? 1 : 3;
	began = simt_clock_ns();
	at = follow(at, j.loads);
	*phase = at ? 2 : 3; /* waits for the last load */
	j.out[1] = simt_clock_ns() - began;
	j.out[0] = at;
}

/* A chunk by a warp: eight times 16 bytes a lane. Returns whether the last of them are those of the pattern.
 */
__device__ __forceinline__ bool stream_chunk(const job &j, uint64_t chunk)
{
	const uint64_t at = chunk * CHUNK + simt_thread() % 32 * 16;
	uint64_t v[8][2];
	uint64_t all = 0;

#pragma unroll
	for (int k = 0; k < 8; k++)
		simt_load_two_relaxed_sys_u64((const uint64_t *)(j.stream + at + k * 512), &v[k][0],
		                              &v[k][1]);
#pragma unroll
	for (int k = 0; k < 8; k++)
		all |= v[k][0] | v[k][1]; /* a half that nobody wants would not be loaded */
	return all && v[7][0] == scope_pattern(scope_device_seed, (at + 7 * 512) / 8);
}

__device__ void stream(const job &j)
{
	const uint64_t warps = (uint64_t)(simt_blocks() - 1) * WARPS;
	volatile uint32_t *phase = &j.board->phase;
	uint64_t chunk = (uint64_t)(simt_block() - 1) * WARPS + simt_thread() / 32, done = 0, wrong = 0;

	for (uint32_t now = 0; now < 2; chunk += warps) {
		now = *phase;
		wrong += !stream_chunk(j, chunk & (j.chunks - 1));
		done += now == 1;
	}
	if (simt_lane() == 0)
		simt_add_relaxed_dev_u64((uint64_t *)&j.board->chunks, done);
	if (wrong)
		simt_add_relaxed_dev_u64((uint64_t *)&j.board->wrong, wrong);
}

/* At most 64 registers: as many warps as are asked for run at once. */
__global__ void __launch_bounds__(WARPS * 32, 8) walk_and_stream(const __grid_constant__ job j)
{
	if (simt_block())
		stream(j);
	else if (simt_thread() == 0)
		walk(j);
}

/* ---- the row ---- */

/* In steps up to a little less than what runs at once; a link of the host's is full long before. */
int plan(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p)
{
	const bool quick = m->effort == SCOPE_QUICK, device = scope_place_of(row) == SCOPE_AT_DEVICE;
	const uint64_t bytes = m->most_bytes < 512u << 20 ? m->most_bytes : 512u << 20;
	const uint64_t least = device ? 64 : 4, most = device                                 ? 4096
	                                               : scope_place_of(row) == SCOPE_AT_PEER ? 1024
	                                                                                      : 128;
	struct scope_arg args[] = {{"span", bytes}, {"warps", 0}, {NULL, 0}};
	int rc;

	if (!scope_device_may(row, m, p, &rc))
		return rc;
	rc = scope_device_add(row, m, p, args);
	for (uint64_t warps = quick ? most / 8 : least; warps <= most && !rc; warps *= quick ? 8 : 2) {
		args[1].value = warps;
		rc = scope_device_add(row, m, p, args);
	}
	return rc;
}

int fill(struct loaded *t, uint64_t bytes, struct gn_error *e)
{
	int rc;

	t->job.walk = t->bench.memory.at;
	t->job.stream = t->bench.memory.at + bytes / 2;
	t->job.bits = scope_bits(bytes / 2 / SCOPE_NODE);
	t->job.chunks = bytes / 2 / CHUNK;
	t->job.out = t->bench.word;
	if ((rc = scope_bench_link(&t->bench, t->job.walk, t->job.bits, e)) ||
	    (rc = scope_cuda_load(e, walk_and_stream)))
		return rc;
	return scope_gpu_fill(t->bench.gpu, t->job.stream, bytes / 2, scope_device_seed, e);
}

int open_cell(const struct scope_cell *c, const struct scope_machine *m, void *state, struct gn_error *e)
{
	struct loaded *t = (struct loaded *)state;
	const uint64_t bytes = scope_cell_arg(c, "span", 0);
	int rc;

	t->warps = scope_cell_arg(c, "warps", 0);
	if ((rc = scope_bench_open(&t->bench, c, m, bytes, e)) ||
	    (rc = scope_cuda_check(cudaMalloc((void **)&t->job.board, sizeof *t->job.board), "words", e)))
		return rc;
	if (t->warps > 32ull * t->bench.processors - WARPS)
		return gn_error_set(e, -GN_EINVAL, "this GPU cannot run %llu warps at once",
		                    (unsigned long long)t->warps);
	return fill(t, bytes, e);
}

uint64_t node(const struct loaded *t, uint64_t k)
{
	return scope_node(t->job.walk, k, t->job.bits);
}

/* The rate that the streams had while the walk was timed. */
int read_board(struct loaded *t, struct scope_sample *s, struct gn_error *e)
{
	struct board b;
	int rc = scope_cuda_check(cudaMemcpy(&b, t->job.board, sizeof b, cudaMemcpyDeviceToHost), "words", e);

	if (rc)
		return rc;
	t->wrong += b.wrong;
	s->seconds = 1e-9 * (double)t->job.out[1];
	s->second = s->seconds > 0 ? (double)b.chunks * CHUNK / s->seconds : 0;
	return 0;
}

int sample(void *state, uint64_t operations, struct scope_sample *s, struct gn_error *e)
{
	struct loaded *t = (struct loaded *)state;
	cudaStream_t stream = scope_bench_stream(&t->bench);
	const uint64_t least = operations > LEAST_LOADS ? operations : (uint64_t)LEAST_LOADS;
	int rc;

	t->job.loads = least < MOST_LOADS ? least : (uint64_t)MOST_LOADS;
	t->job.from = node(t, t->at);
	s->operations = t->job.loads;
	if ((rc = scope_cuda_check(cudaMemsetAsync(t->job.board, 0, sizeof *t->job.board, stream), "words",
	                           e)))
		return rc;
	walk_and_stream<<<1 + (uint32_t)(t->warps + WARPS - 1) / WARPS, WARPS * 32, 0, stream>>>(t->job);
	if ((rc = scope_bench_wait(&t->bench, "walk", e)))
		return rc;
	t->at += APPROACH + t->job.loads;
	return read_board(t, s, e);
}

int verify(void *state, struct gn_error *e)
{
	const struct loaded *t = (const struct loaded *)state;

	if (t->bench.word[0] != node(t, t->at))
		return gn_error_set(e, -GN_EIO, "wrong data: the pointer chase ended at a wrong node");
	return !t->wrong ? 0 : gn_error_set(e, -GN_EIO, "the streams read %llu wrong words", t->wrong);
}

void close_cell(void *state)
{
	struct loaded *t = (struct loaded *)state;

	scope_bench_close(&t->bench);
	(void)cudaFree(t->job.board);
}

const struct scope_functions functions = {sizeof(struct loaded), plan, open_cell, sample, verify, close_cell};

const struct scope_row rows[] = {
    {"loaded-latency/device", "a dependent load of the GPU's memory while so many warps stream it", NULL,
     "none", "memory", "load_bytes_per_second", SCOPE_LATENCY, SCOPE_DEVICE_CLOCK, &functions},
    {"loaded-latency/host", "a dependent load of pinned host memory while so many warps stream it", NULL,
     "h2d", "pcie", "load_bytes_per_second", SCOPE_LATENCY, SCOPE_DEVICE_CLOCK, &functions},
    {"loaded-latency/peer", "a dependent load of another GPU's memory while so many warps stream it", NULL,
     "d2d", "nvlink", "load_bytes_per_second", SCOPE_LATENCY, SCOPE_DEVICE_CLOCK, &functions},
};

} // namespace

const struct scope_row_table scope_gpu_loaded_rows = {rows, sizeof *rows, sizeof rows / sizeof *rows};
