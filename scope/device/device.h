/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - what the rows of a GPU's own threads share: memory of the host, of the GPU or of a peer, walked
 * in a shuffled order, and time read where it is spent.
 *
 * A family has a row a place, FAMILY/...host, ...device, ...peer, of the same functions; the place is the end
 * of the row's name. Every cell names its GPU, and its peer if it has one.
 */
#ifndef GN_SCOPE_DEVICE_H
#define GN_SCOPE_DEVICE_H

#include <string.h>

#include "scope/cuda/memory.h"
#include "scope/cuda/support.h"
#include "scope/pattern.h"

enum scope_place { SCOPE_AT_HOST, SCOPE_AT_DEVICE, SCOPE_AT_PEER };

/* Seeds of the pattern (scope/pattern.h) are far apart. */
static const uint64_t scope_device_seed = 7ull << 40;

/* scope_place_of - where the memory of a row lies. */
enum scope_place scope_place_of(const struct scope_row *row);

/* scope_device_may - are there GPUs enough for the row? Otherwise it is skipped in p, whose code is in *rc.
 */
bool scope_device_may(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p,
                      int *rc);

/*
 * scope_device_add - plan a cell on each GPU (SCOPE_QUICK: the first), or on each pair of them where the
 * row's place is a peer; "gpu" and "peer" come behind args, which end with {NULL, 0}. A pair that cannot
 * reach one another is skipped.
 */
int scope_device_add(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p,
                     const struct scope_arg *args);

/* scope_device_plan - of a row that is swept over nothing else. */
int scope_device_plan(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p);

/*
 * scope_device_spans - scope_device_add for every other power of two from least to most as "span"
 * (SCOPE_FULL: each; SCOPE_QUICK: the list `quick`, ended by 0), as far as a quarter of the memory that is
 * free goes. A span may be larger than m->most_bytes: how far translations reach shows only there.
 */
int scope_device_spans(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p,
                       uint64_t least, uint64_t most, const uint64_t *quick, const struct scope_arg *rest);

/* What every row's state begins with. */
struct scope_bench {
	struct scope_lanes lanes; /* one, of the GPU that runs the kernel */
	struct scope_memory memory;
	uint64_t *word;          /* WORDS of them, pinned: what kernels tell the host */
	unsigned long long *sum; /* in the GPU's memory: what kernels add up */
	uint32_t gpu, peer, processors;
	bool reached; /* peer access was not there before */
};

enum { SCOPE_BENCH_WORDS = 1024 };

/* scope_bench_open - the lane and the words; and memory at the row's place, where bytes is not 0, not filled.
 */
int scope_bench_open(struct scope_bench *b, const struct scope_cell *c, const struct scope_machine *m,
                     uint64_t bytes, struct gn_error *e);

/* scope_bench_close - of a state that begins with a bench; the close of rows that open nothing else. */
void scope_bench_close(void *state);

/* scope_bench_wait - for the lane's stream. */
int scope_bench_wait(struct scope_bench *b, const char *what, struct gn_error *e);

/* scope_bench_zero - the sum, on the lane's stream; scope_bench_take waits for the stream and reads it. */
int scope_bench_zero(struct scope_bench *b, struct gn_error *e);
int scope_bench_take(struct scope_bench *b, unsigned long long *sum, struct gn_error *e);

/*
 * Timing by events behind a gate: scope_bench_begin, launches, scope_bench_end. Between hold and begin may
 * stand what is not timed: scope_bench_hold shuts the gate, and begin does if nobody has.
 */
int scope_bench_hold(struct scope_bench *b, struct gn_error *e);
int scope_bench_begin(struct scope_bench *b, struct gn_error *e);
int scope_bench_end(struct scope_bench *b, double *seconds, struct gn_error *e);

static inline cudaStream_t scope_bench_stream(const struct scope_bench *b)
{
	return b->lanes.lane[0].stream;
}

/* Nodes of a shuffled walk, a line each. */
enum { SCOPE_NODE_LOG2 = 7, SCOPE_NODE = 1 << SCOPE_NODE_LOG2 };

/* scope_bench_link - write 1 << bits nodes from `at` on; each has the address of the next. Waits. */
int scope_bench_link(struct scope_bench *b, char *at, uint32_t bits, struct gn_error *e);

/* ---- for kernels ---- */

/* The k-th of 1 << bits places in a shuffled order: each once. Odd factors and folds are one to one. */
static __host__ __device__ __forceinline__ uint64_t scope_shuffle(uint64_t k, uint32_t bits)
{
	const uint64_t mask = (1ull << bits) - 1;
	const uint32_t fold = (bits + 1) / 2;

	k = k * 0x9e3779b97f4a7c15ull & mask;
	k ^= k >> fold;
	k = k * 0xd1342543de82ef95ull & mask;
	return k ^ k >> fold;
}

/* Its inverse: when a place is visited. */
static __host__ __device__ __forceinline__ uint64_t scope_unshuffle(uint64_t place, uint32_t bits)
{
	const uint64_t mask = (1ull << bits) - 1;
	const uint32_t fold = (bits + 1) / 2;

	place ^= place >> fold;
	place = place * 0x572b5ee77a54e3bdull & mask;
	place ^= place >> fold;
	return place * 0xf1de83e19937733dull & mask;
}

/* The address of the k-th node of a walk of 1 << bits, which goes round. */
static inline uint64_t scope_node(const char *at, uint64_t k, uint32_t bits)
{
	return (uint64_t)at + (scope_shuffle(k & ((1ull << bits) - 1), bits) << SCOPE_NODE_LOG2);
}

/* log2 of a power of two. */
static inline uint32_t scope_bits(uint64_t power)
{
	return 63 - (uint32_t)__builtin_clzll(power);
}

/* The rows of each file. */
extern const struct scope_row_table scope_gpu_chase_rows;
extern const struct scope_row_table scope_gpu_loaded_rows;
extern const struct scope_row_table scope_gpu_random_rows;
extern const struct scope_row_table scope_gpu_atomic_rows;
extern const struct scope_row_table scope_gpu_signal_rows;
extern const struct scope_row_table scope_gpu_pingpong_rows;
extern const struct scope_row_table scope_gpu_pieces_rows;

#endif
