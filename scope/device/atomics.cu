/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atomics.cu - additions of 1 to words of 8 bytes: how many a second a whole GPU does at random places of a
 * span, 8 bytes being one word for all, and how long one thread waits for the result of one. Those to memory
 * of others are of system scope.
 *
 * Everything starts at 0, and in the end the words' sum is the number of additions.
 */
#include <grapnel/simt.h>

#include "scope/device/device.h"

namespace {

enum { BLOCK = 512, BLOCKS_A_PROCESSOR = 2, LEAST_WAITS = 2048 };

struct counters {
	struct scope_bench bench; /* first */
	uint64_t bytes, seed, done;
	bool waits, local;
};

template <bool local>
__global__ void __launch_bounds__(BLOCK)
    add(unsigned long long *at, uint64_t words, uint64_t seed, uint64_t each)
{
	uint64_t x = scope_pattern(seed << 32, simt_global_thread());

	for (uint64_t k = 0; k < each; k++) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		if (local)
			atomicAdd(at + (x >> 20 & (words - 1)), 1ull);
		else
			atomicAdd_system(at + (x >> 20 & (words - 1)), 1ull);
	}
}

/* Where to add next depends on what came back: always the same word, but that only the program knows. */
template <bool local> __global__ void add_and_wait(unsigned long long *at, uint64_t each, uint64_t *out)
{
	const uint64_t began = simt_clock_ns();
	uint64_t old = 0;

#pragma unroll 4
	for (uint64_t k = 0; k < each; k++)
		old = local ? atomicAdd(at + (old >> 63), 1ull) : atomicAdd_system(at + (old >> 63), 1ull);
	out[0] = old;
	__threadfence_system();
	out[1] = simt_clock_ns() - began;
}

__global__ void zero(uint64_t *at, uint64_t words)
{
	const uint64_t step = simt_global_threads();

	for (uint64_t k = simt_global_thread(); k < words; k += step)
		at[k] = 0;
}

__global__ void add_up(const uint64_t *at, uint64_t words, unsigned long long *sum)
{
	const uint64_t step = simt_global_threads();
	uint64_t mine = 0;

	for (uint64_t k = simt_global_thread(); k < words; k += step)
		mine += *(const volatile uint64_t *)(at + k);
	if (mine)
		simt_add_relaxed_dev_u64((uint64_t *)sum, mine);
}

/* ---- the row ---- */

int plan(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p)
{
	static const uint64_t quick[] = {8, 4 << 20, 0};
	const struct scope_arg one[] = {{"span", 8}, {NULL, 0}};
	int rc;

	if (!scope_device_may(row, m, p, &rc))
		return rc;
	if (strstr(row->name, "latency"))
		return scope_device_add(row, m, p, one);
	rc = m->effort == SCOPE_QUICK ? 0 : scope_device_add(row, m, p, one);
	return rc ? rc : scope_device_spans(row, m, p, 4 << 20, 4ull << 30, quick, NULL);
}

int open_cell(const struct scope_cell *c, const struct scope_machine *m, void *state, struct gn_error *e)
{
	struct counters *t = (struct counters *)state;
	int rc;

	t->bytes = scope_cell_arg(c, "span", 8);
	t->waits = strstr(c->row->name, "latency") != NULL;
	t->local = scope_place_of(c->row) == SCOPE_AT_DEVICE;
	if ((rc = scope_bench_open(&t->bench, c, m, t->bytes < 4096 ? 4096 : t->bytes, e)) ||
	    (rc = scope_cuda_load(e, add<true>, add<false>, add_and_wait<true>, add_and_wait<false>)))
		return rc;
	zero<<<t->bench.processors, 256, 0, scope_bench_stream(&t->bench)>>>(
	    (uint64_t *)(void *)t->bench.memory.at, t->bytes / 8);
	return scope_bench_wait(&t->bench, "zeros", e);
}

int sample_waits(struct counters *t, uint64_t operations, struct scope_sample *s, struct gn_error *e)
{
	unsigned long long *at = (unsigned long long *)(void *)t->bench.memory.at;
	cudaStream_t stream = scope_bench_stream(&t->bench);
	const uint64_t each = operations > LEAST_WAITS ? operations : (uint64_t)LEAST_WAITS;
	int rc;

	if (t->local)
		add_and_wait<true><<<1, 1, 0, stream>>>(at, each, t->bench.word);
	else
		add_and_wait<false><<<1, 1, 0, stream>>>(at, each, t->bench.word);
	rc = scope_bench_wait(&t->bench, "additions", e);
	t->done += each;
	s->operations = each;
	s->seconds = 1e-9 * (double)t->bench.word[1];
	return rc;
}

int sample_rate(struct counters *t, uint64_t operations, struct scope_sample *s, struct gn_error *e)
{
	const uint32_t blocks = t->bench.processors * BLOCKS_A_PROCESSOR;
	const uint64_t threads = (uint64_t)blocks * BLOCK, each = (operations + threads - 1) / threads;
	unsigned long long *at = (unsigned long long *)(void *)t->bench.memory.at;
	cudaStream_t stream = scope_bench_stream(&t->bench);
	int rc = scope_bench_begin(&t->bench, e);

	if (rc)
		return rc;
	if (t->local)
		add<true><<<blocks, BLOCK, 0, stream>>>(at, t->bytes / 8, ++t->seed, each);
	else
		add<false><<<blocks, BLOCK, 0, stream>>>(at, t->bytes / 8, ++t->seed, each);
	s->operations = threads * each;
	t->done += s->operations;
	return scope_bench_end(&t->bench, &s->seconds, e);
}

int sample(void *state, uint64_t operations, struct scope_sample *s, struct gn_error *e)
{
	struct counters *t = (struct counters *)state;

	return t->waits ? sample_waits(t, operations, s, e) : sample_rate(t, operations, s, e);
}

int verify(void *state, struct gn_error *e)
{
	struct counters *t = (struct counters *)state;
	unsigned long long sum = 0;
	int rc;

	if ((rc = scope_bench_zero(&t->bench, e)))
		return rc;
	add_up<<<t->bench.processors * 4, 256, 0, scope_bench_stream(&t->bench)>>>(
	    (const uint64_t *)(const void *)t->bench.memory.at, t->bytes / 8, t->bench.sum);
	if ((rc = scope_bench_take(&t->bench, &sum, e)))
		return rc;
	return sum == t->done ? 0
	                      : gn_error_set(e, -GN_EIO, "the sum of the words is %llu, but must be %llu",
	                                     sum, (unsigned long long)t->done);
}

const struct scope_functions functions = {sizeof(struct counters), plan, open_cell, sample, verify,
                                          scope_bench_close};

const struct scope_row rows[] = {
    {"atomic/rate-device", "additions to random words of 8 bytes of the GPU's memory, by the whole GPU", NULL,
     "none", "memory", NULL, SCOPE_RATE, SCOPE_EVENTS, &functions},
    {"atomic/rate-host", "additions to random words of 8 bytes of pinned host memory, by a whole GPU", NULL,
     "d2h", "pcie", NULL, SCOPE_RATE, SCOPE_EVENTS, &functions},
    {"atomic/rate-peer", "additions to random words of 8 bytes of another GPU's memory, by a whole GPU", NULL,
     "d2d", "nvlink", NULL, SCOPE_RATE, SCOPE_EVENTS, &functions},
    {"atomic/latency-device", "one thread adds to a word of the GPU's memory and waits for what was there",
     NULL, "none", "memory", NULL, SCOPE_LATENCY, SCOPE_DEVICE_CLOCK, &functions},
    {"atomic/latency-host",
     "one GPU thread adds to a word of pinned host memory and waits for what was there", NULL, "both", "pcie",
     NULL, SCOPE_LATENCY, SCOPE_DEVICE_CLOCK, &functions},
    {"atomic/latency-peer",
     "one GPU thread adds to a word of another GPU's memory and waits for what was there", NULL, "d2d-both",
     "nvlink", NULL, SCOPE_LATENCY, SCOPE_DEVICE_CLOCK, &functions},
};

} // namespace

const struct scope_row_table scope_gpu_atomic_rows = {rows, sizeof *rows, sizeof rows / sizeof *rows};
