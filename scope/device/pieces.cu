/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pieces.cu - pieces of one size from random places of a span, each once, to consecutive places of the GPU's
 * memory.
 *
 *   warp   a warp a piece, 16 bytes a lane: simt_copy, as the cache fetches pages
 *   bulk   cp.async.bulk into shared memory and out of it again, a few pieces under way for each block
 *
 * What arrives is poisoned before, and every word of it is compared.
 */
#include <grapnel/simt.h>

#include "simt/bulk.h"
#include "scope/device/device.h"

namespace {

enum {
	LEAST_PIECE = 128,
	MOST_PIECE = 64 << 10,
	MOST_LOAD = 8192,
	STAGES = 4,
	SHARED = 200 << 10,
	WARPS = 16,
	MOST_LAUNCHES = 64
};

struct job {
	const char *from;
	char *to;
	uint64_t first;       /* of the order of pieces */
	uint64_t pieces;      /* to be moved */
	uint64_t frames;      /* places for them; a power of two */
	uint32_t bits;        /* log2 of the pieces there are */
	uint32_t piece, load; /* bytes: of a piece, of a load of it */
};

struct pieces {
	struct scope_bench bench;
	struct job job;
	struct scope_memory frames;
	bool bulk;
	uint32_t blocks, shared;
};

__device__ __forceinline__ uint64_t place_of(const job &j, uint64_t k)
{
	return scope_shuffle((j.first + k) & ((1ull << j.bits) - 1), j.bits);
}

__device__ __forceinline__ const char *source_of(const job &j, uint64_t k)
{
	return j.from + place_of(j, k) * j.piece;
}

__device__ __forceinline__ char *target_of(const job &j, uint64_t k)
{
	return j.to + (k & (j.frames - 1)) * j.piece;
}

__global__ void __launch_bounds__(WARPS * 32) copy_warp(const __grid_constant__ job j)
{
	const uint64_t warps = simt_global_threads() / 32;

	for (uint64_t k = simt_global_thread() / 32; k < j.pieces; k += warps)
		simt_copy(0xffffffffu, target_of(j, k), source_of(j, k), j.piece);
}

/* The block's i-th load: of which piece, and from where in it. */
__device__ __forceinline__ void stage_load(const job &j, uint64_t i, uint32_t buffers, uint32_t barriers)
{
	const uint64_t at = (simt_block() + i * simt_blocks()) * j.load;
	const uint32_t stage = (uint32_t)(i % STAGES);

	bulk_load(buffers + stage * j.load, source_of(j, at / j.piece) + at % j.piece, j.load,
	          barriers + 8 * stage);
}

/* One thread a block; it only gives orders. A stage is filled again when the store behind has read it. */
__global__ void __launch_bounds__(32) copy_bulk(const __grid_constant__ job j)
{
	extern __shared__ __align__(128) char buffer[];
	const uint32_t buffers = (uint32_t)__cvta_generic_to_shared(buffer),
	               barriers = buffers + STAGES * j.load;
	const uint64_t all = j.pieces * (j.piece / j.load);
	const uint64_t mine =
	    simt_block() < all ? (all - simt_block() + simt_blocks() - 1) / simt_blocks() : 0;

	if (simt_thread())
		return;
	for (uint32_t s = 0; s < STAGES; s++)
		bulk_barrier_init(barriers + 8 * s);
	bulk_barriers_ready();
	for (uint64_t i = 0; i < STAGES && i < mine; i++)
		stage_load(j, i, buffers, barriers);
	for (uint64_t i = 0; i < mine; i++) {
		const uint64_t at = (simt_block() + i * simt_blocks()) * j.load;
		const uint32_t stage = (uint32_t)(i % STAGES);

		bulk_wait(barriers + 8 * stage, (uint32_t)(i / STAGES & 1));
		bulk_store(target_of(j, at / j.piece) + at % j.piece, buffers + stage * j.load, j.load);
		bulk_stores_read();
		if (i && i - 1 + STAGES < mine)
			stage_load(j, i - 1 + STAGES, buffers, barriers);
	}
	bulk_stores_done();
}

/* Words of the pieces that are not in their frames. */
__global__ void compare(const __grid_constant__ job j, unsigned long long *wrong)
{
	const uint64_t words = j.piece / 8, all = j.pieces * words, step = simt_global_threads();
	uint64_t bad = 0;

	for (uint64_t i = simt_global_thread(); i < all; i += step) {
		const uint64_t k = i / words, w = i % words;

		bad += ((const uint64_t *)(const void *)target_of(j, k))[w] !=
		       scope_pattern(scope_device_seed, place_of(j, k) * words + w);
	}
	if (bad)
		simt_add_relaxed_dev_u64((uint64_t *)wrong, bad);
}

/* ---- the row ---- */

/* Beyond what translations reach, but in a quick run, where getting so much pinned memory would take longer
 * than the rest. */
uint64_t span_of(const struct scope_machine *m)
{
	return m->effort == SCOPE_QUICK || 2ull << 30 > m->free_bytes / 4 ? m->most_bytes : 2ull << 30;
}

int plan(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p)
{
	const bool quick = m->effort == SCOPE_QUICK;
	struct scope_arg args[] = {{"bytes", 0}, {"span", span_of(m)}, {NULL, 0}};
	int rc;

	if (!scope_device_may(row, m, p, &rc))
		return rc;
	for (uint64_t piece = quick ? 512 : LEAST_PIECE; piece <= (quick ? 4096 : MOST_PIECE) && !rc;
	     piece *= quick ? 8 : 2) {
		args[0].value = piece;
		rc = scope_device_add(row, m, p, args);
	}
	return rc;
}

/* As many blocks a processor as its shared memory has room for; each order of bulk needs some under way. */
int shape(struct pieces *t, struct gn_error *e)
{
	uint32_t blocks = 2;

	t->job.load = t->job.piece < MOST_LOAD ? t->job.piece : (uint32_t)MOST_LOAD;
	t->shared = STAGES * (t->job.load + 8);
	if (t->bulk)
		blocks = SHARED / (t->shared + 1024) < 16 ? SHARED / (t->shared + 1024) : 16;
	t->blocks = blocks * t->bench.processors;
	if (!t->bulk)
		return scope_cuda_load(e, copy_warp);
	return scope_cuda_check(
	    cudaFuncSetAttribute(copy_bulk, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)t->shared),
	    "shared memory", e);
}

int open_frames(struct pieces *t, uint64_t span, struct gn_error *e)
{
	const uint64_t room = span < 256u << 20 ? span : 256u << 20;
	int rc;

	t->job.frames = room / t->job.piece;
	t->job.bits = scope_bits(span / t->job.piece);
	t->job.from = t->bench.memory.at;
	if ((rc = scope_memory_open(&t->frames, SCOPE_DEVICE, t->bench.gpu, SCOPE_ANYWHERE, room, e)) ||
	    (rc = shape(t, e)))
		return rc;
	t->job.to = t->frames.at;
	return scope_gpu_fill(t->bench.gpu, t->bench.memory.at, span, scope_device_seed, e);
}

int open_cell(const struct scope_cell *c, const struct scope_machine *m, void *state, struct gn_error *e)
{
	struct pieces *t = (struct pieces *)state;
	const uint64_t span = scope_cell_arg(c, "span", 0);
	int rc;

	t->bulk = strstr(c->row->name, "bulk") != NULL;
	t->job.piece = (uint32_t)scope_cell_arg(c, "bytes", 4096);
	if (m->gpu[scope_cell_arg(c, "gpu", 0)].compute < 90 && t->bulk)
		return gn_error_set(e, -GN_ENOTSUP, "cp.async.bulk needs compute capability 9.0");
	rc = scope_bench_open(&t->bench, c, m, span, e);
	return rc ? rc : open_frames(t, span, e);
}

/* Each launch goes on in the order where the last ended, so that no cache has its pieces. */
void launch(struct pieces *t)
{
	cudaStream_t stream = scope_bench_stream(&t->bench);

	t->job.first += t->job.pieces;
	if (t->bulk)
		copy_bulk<<<t->blocks, 32, t->shared, stream>>>(t->job);
	else
		copy_warp<<<t->blocks, WARPS * 32, 0, stream>>>(t->job);
}

/* An operation is a piece. A launch moves no more than there are frames: no two of its pieces meet. */
int sample(void *state, uint64_t operations, struct scope_sample *s, struct gn_error *e)
{
	struct pieces *t = (struct pieces *)state;
	const uint64_t least = t->job.frames / 8, wanted = operations > least ? operations : least;
	const uint64_t launches = (wanted + t->job.frames - 1) / t->job.frames;
	const uint32_t times = launches < MOST_LAUNCHES ? (uint32_t)launches : (uint32_t)MOST_LAUNCHES;
	int rc;

	t->job.pieces = times > 1 ? t->job.frames : wanted;
	if ((rc = scope_bench_hold(&t->bench, e)) ||
	    (rc = scope_cuda_check(cudaMemsetAsync(t->job.to, 0xa5, t->job.frames * t->job.piece,
	                                           scope_bench_stream(&t->bench)),
	                           "poison", e)) ||
	    (rc = scope_bench_begin(&t->bench, e)))
		return rc;
	for (uint32_t k = 0; k < times; k++)
		launch(t);
	s->operations = times * t->job.pieces;
	s->bytes = s->operations * t->job.piece;
	return scope_bench_end(&t->bench, &s->seconds, e);
}

/* All pieces of the last launch. */
int verify(void *state, struct gn_error *e)
{
	struct pieces *t = (struct pieces *)state;
	unsigned long long wrong = 0;
	int rc;

	if ((rc = scope_bench_zero(&t->bench, e)))
		return rc;
	compare<<<t->bench.processors * 4, 256, 0, scope_bench_stream(&t->bench)>>>(t->job, t->bench.sum);
	if ((rc = scope_bench_take(&t->bench, &wrong, e)))
		return rc;
	return !wrong ? 0 : gn_error_set(e, -GN_EIO, "%llu words of the pieces are wrong", wrong);
}

void close_cell(void *state)
{
	struct pieces *t = (struct pieces *)state;

	scope_bench_close(&t->bench);
	scope_memory_close(&t->frames);
}

const struct scope_functions functions = {sizeof(struct pieces), plan, open_cell, sample, verify, close_cell};

const struct scope_row rows[] = {
    {"pieces/warp-host", "pieces from random places of pinned host memory, copied by a warp each", NULL,
     "h2d", "pcie", NULL, SCOPE_BANDWIDTH, SCOPE_EVENTS, &functions},
    {"pieces/bulk-host", "pieces from random places of pinned host memory, by cp.async.bulk", NULL, "h2d",
     "pcie", NULL, SCOPE_BANDWIDTH, SCOPE_EVENTS, &functions},
    {"pieces/warp-peer", "pieces from random places of another GPU's memory, copied by a warp each", NULL,
     "d2d", "nvlink", NULL, SCOPE_BANDWIDTH, SCOPE_EVENTS, &functions},
    {"pieces/bulk-peer", "pieces from random places of another GPU's memory, by cp.async.bulk", NULL, "d2d",
     "nvlink", NULL, SCOPE_BANDWIDTH, SCOPE_EVENTS, &functions},
    {"pieces/warp-device", "pieces from random places of the GPU's memory, copied by a warp each", NULL,
     "none", "memory", NULL, SCOPE_BANDWIDTH, SCOPE_EVENTS, &functions},
};

} // namespace

const struct scope_row_table scope_gpu_pieces_rows = {rows, sizeof *rows, sizeof rows / sizeof *rows};
