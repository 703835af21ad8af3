/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random.cu - how many words of 4 bytes a second a whole GPU reads from, or writes to, random places of a
 * span: beyond what its translations reach the rate drops, whatever the link could carry.
 *
 * Words are those of the pattern. What was read is summed, and the sum compared; what was written is read
 * again.
 */
#include <grapnel/simt.h>
#include <grapnel/detail/simt/lookup.h>

#include "scope/device/device.h"

namespace {

enum { AHEAD = 8, BLOCK = 512, BLOCKS_A_PROCESSOR = 2 };

struct places {
	struct scope_bench bench; /* first */
	uint32_t bits;            /* log2 of the words */
	uint64_t seed, each;
	bool writes, local;
};

/* A thread's own sequence of places: the high bits of a linear generator of 64. */
struct sequence {
	uint64_t x;
	uint32_t shift;
};

__device__ __forceinline__ struct sequence sequence_of(uint64_t seed, uint32_t bits)
{
	const uint64_t thread = simt_global_thread();

	return {scope_pattern(seed << 32, thread), 64 - bits};
}

__device__ __forceinline__ uint64_t next(struct sequence &s)
{
	s.x = s.x * 6364136223846793005ull + 1442695040888963407ull;
	return s.x >> s.shift;
}

/* Word i of the pattern, of 4 bytes. */
__device__ __forceinline__ uint32_t word_at(uint64_t i)
{
	return (uint32_t)(scope_pattern(scope_device_seed, i / 2) >> (i & 1) * 32);
}

template <bool local> __device__ __forceinline__ uint32_t load(const uint32_t *at)
{
	return local ? simt_load_relaxed_dev_u32(at) : simt_load_relaxed_sys_u32(at);
}

__device__ void add_up(uint64_t sum, unsigned long long *total)
{
	for (int step = 16; step; step /= 2)
		sum += simt_shfl_u64(0xffffffffu, sum, (simt_lane() + step) % 32);
	if (simt_lane() == 0)
		simt_add_relaxed_dev_u64((uint64_t *)total, sum);
}

template <bool local>
__global__ void __launch_bounds__(BLOCK)
    read_words(const uint32_t *at, uint32_t bits, uint64_t seed, uint64_t each, unsigned long long *total)
{
	struct sequence s = sequence_of(seed, bits);
	uint64_t sum = 0;

	for (uint64_t k = 0; k < each; k += AHEAD) {
		uint32_t v[AHEAD];

#pragma unroll
		for (int j = 0; j < AHEAD; j++)
			v[j] = load<local>(at + next(s));
#pragma unroll
		for (int j = 0; j < AHEAD; j++)
			sum += v[j];
	}
	add_up(sum, total);
}

/* What read_words should find. */
__global__ void __launch_bounds__(BLOCK)
    expect_words(uint32_t bits, uint64_t seed, uint64_t each, unsigned long long *total)
{
	struct sequence s = sequence_of(seed, bits);
	uint64_t sum = 0;

	for (uint64_t k = 0; k < each; k++)
		sum += word_at(next(s));
	add_up(sum, total);
}

/* Whoever writes a word writes the same, marked with the sample it is of. */
__device__ __forceinline__ uint32_t mark_at(uint64_t i, uint64_t seed)
{
	return (uint32_t)i * 2654435761u ^ (uint32_t)seed;
}

__global__ void __launch_bounds__(BLOCK)
    write_words(uint32_t *at, uint32_t bits, uint64_t seed, uint64_t each)
{
	struct sequence s = sequence_of(seed, bits);

	for (uint64_t k = 0; k < each; k++) {
		const uint64_t i = next(s);

		*(volatile uint32_t *)(at + i) = mark_at(i, seed);
	}
}

/* Words that were to be written and are not. */
__global__ void __launch_bounds__(BLOCK)
    look_for_words(const uint32_t *at, uint32_t bits, uint64_t seed, uint64_t each, unsigned long long *wrong)
{
	struct sequence s = sequence_of(seed, bits);
	uint64_t missing = 0;

	for (uint64_t k = 0; k < each; k++) {
		const uint64_t i = next(s);

		missing += load<false>(at + i) != mark_at(i, seed);
	}
	add_up(missing, wrong);
}

/* ---- the row ---- */

bool is_write(const struct scope_row *row)
{
	return strstr(row->name, "write") != NULL;
}

int plan(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p)
{
	static const uint64_t near_and_far[] = {256 << 20, 2ull << 30, 0}, near[] = {256 << 20, 0};
	int rc;

	if (!scope_device_may(row, m, p, &rc))
		return rc;
	return scope_device_spans(row, m, p, 1 << 20, 8ull << 30, is_write(row) ? near : near_and_far, NULL);
}

uint32_t blocks_of(const struct places *t)
{
	return t->bench.processors * BLOCKS_A_PROCESSOR;
}

int open_cell(const struct scope_cell *c, const struct scope_machine *m, void *state, struct gn_error *e)
{
	struct places *t = (struct places *)state;
	const uint64_t bytes = scope_cell_arg(c, "span", 0);
	int rc;

	t->writes = is_write(c->row);
	t->local = scope_place_of(c->row) == SCOPE_AT_DEVICE;
	t->bits = scope_bits(bytes / 4);
	if ((rc = scope_bench_open(&t->bench, c, m, bytes, e)) ||
	    (rc = scope_cuda_load(e, read_words<true>, read_words<false>, write_words)))
		return rc;
	return scope_gpu_fill(t->bench.gpu, t->bench.memory.at, bytes, scope_device_seed, e);
}

void launch(const struct places *t)
{
	uint32_t *at = (uint32_t *)(void *)t->bench.memory.at;
	cudaStream_t stream = scope_bench_stream(&t->bench);

	if (t->writes)
		write_words<<<blocks_of(t), BLOCK, 0, stream>>>(at, t->bits, t->seed, t->each);
	else if (t->local)
		read_words<true>
		    <<<blocks_of(t), BLOCK, 0, stream>>>(at, t->bits, t->seed, t->each, t->bench.sum);
	else
		read_words<false>
		    <<<blocks_of(t), BLOCK, 0, stream>>>(at, t->bits, t->seed, t->each, t->bench.sum);
}

/* Other places in each sample. */
int sample(void *state, uint64_t operations, struct scope_sample *s, struct gn_error *e)
{
	struct places *t = (struct places *)state;
	const uint64_t threads = (uint64_t)blocks_of(t) * BLOCK, each = (operations + threads - 1) / threads;
	int rc;

	t->seed++;
	t->each = (each + AHEAD - 1) / AHEAD * AHEAD;
	s->operations = threads * t->each;
	if ((rc = scope_bench_hold(&t->bench, e)) || (rc = scope_bench_zero(&t->bench, e)) ||
	    (rc = scope_bench_begin(&t->bench, e)))
		return rc;
	launch(t);
	return scope_bench_end(&t->bench, &s->seconds, e);
}

int verify(void *state, struct gn_error *e)
{
	struct places *t = (struct places *)state;
	cudaStream_t stream = scope_bench_stream(&t->bench);
	unsigned long long found = 0, wanted = 0;
	int rc;

	if ((rc = scope_bench_take(&t->bench, &found, e)) || (rc = scope_bench_zero(&t->bench, e)))
		return rc;
	if (t->writes)
		look_for_words<<<blocks_of(t), BLOCK, 0, stream>>>(
		    (const uint32_t *)(const void *)t->bench.memory.at, t->bits, t->seed, t->each,
		    t->bench.sum);
	else
		expect_words<<<blocks_of(t), BLOCK, 0, stream>>>(t->bits, t->seed, t->each, t->bench.sum);
	if ((rc = scope_bench_take(&t->bench, &wanted, e)))
		return rc;
	if (t->writes)
		return !wanted ? 0 : gn_error_set(e, -GN_EIO, "%llu words were not written", wanted);
	return found == wanted
	           ? 0
	           : gn_error_set(e, -GN_EIO, "the sum of the words read is %llx, but must be %llx", found,
	                          wanted);
}

const struct scope_functions functions = {sizeof(struct places), plan, open_cell, sample, verify,
                                          scope_bench_close};

const struct scope_row rows[] = {
    {"random/read-device",
     "reads of 4 bytes at random places of a span of the GPU's memory, by the whole GPU", NULL, "none",
     "memory", NULL, SCOPE_RATE, SCOPE_EVENTS, &functions},
    {"random/read-host", "reads of 4 bytes at random places of a span of pinned host memory, by a whole GPU",
     NULL, "h2d", "pcie", NULL, SCOPE_RATE, SCOPE_EVENTS, &functions},
    {"random/read-peer",
     "reads of 4 bytes at random places of a span of another GPU's memory, by a whole GPU", NULL, "d2d",
     "nvlink", NULL, SCOPE_RATE, SCOPE_EVENTS, &functions},
    {"random/write-device",
     "writes of 4 bytes to random places of a span of the GPU's memory, by the whole GPU", NULL, "none",
     "memory", NULL, SCOPE_RATE, SCOPE_EVENTS, &functions},
    {"random/write-host",
     "writes of 4 bytes to random places of a span of pinned host memory, by a whole GPU", NULL, "d2h",
     "pcie", NULL, SCOPE_RATE, SCOPE_EVENTS, &functions},
    {"random/write-peer",
     "writes of 4 bytes to random places of a span of another GPU's memory, by a whole GPU", NULL, "d2d",
     "nvlink", NULL, SCOPE_RATE, SCOPE_EVENTS, &functions},
};

} // namespace

const struct scope_row_table scope_gpu_random_rows = {rows, sizeof *rows, sizeof rows / sizeof *rows};
