/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support.h - what the rows of GPUs share: lanes of work that start together behind a gate, patterns that
 * differ with position, and caches that hold nothing of what is measured.
 *
 * A sample is taken so:
 *
 *   scope_lanes_hold     a kernel on every lane spins until the lanes may go, so that nothing of the host's
 *                        is timed
 *   (untimed work)       if any: an operation that brings the engine and the link up
 *   scope_lanes_begin    an event on every lane
 *   (the operations)     at most SCOPE_MOST_HELD calls a lane: a stream's queue is finite, the gate is shut
 *   scope_lanes_end      an event on every lane, and a word that the host sees
 *   scope_lanes_run      opens the gate and waits; then scope_lanes_seconds, or wall where there is more than
 *                        one GPU
 *
 * Calls that wait for the host's part (pageable memory, staging) cannot stand behind a gate: without hold,
 * begin begins. Nothing here is synchronised between begin and end. Functions return 0 or a negative code
 * with a message in e. One host thread at a time. Pointers are borrowed until return. GPUs are numbered as
 * CUDA does, which is as struct scope_machine does.
 */
#ifndef GN_SCOPE_CUDA_SUPPORT_H
#define GN_SCOPE_CUDA_SUPPORT_H

#include <cuda_runtime.h>

#include "scope/scope.h"

enum {
	SCOPE_MOST_LANES = 256,
	SCOPE_MOST_HELD = 400, /* calls on one lane between hold and run; a queue has about 1000 entries, and
	                          some take two */
	SCOPE_DEADLINE = 60,   /* seconds that a sample may take */
};

/*
 * scope_cuda_check - 0 for cudaSuccess, else a code (-GN_ENOMEM, -GN_ENOTSUP, -GN_ENODEV or -GN_EIO) and
 * "what: CUDA's text". Takes the error from the runtime, so that the next check does not see it again.
 */
int scope_cuda_check(cudaError_t rc, const char *what, struct gn_error *e);

/* scope_cuda_launched - the check behind a launch. */
int scope_cuda_launched(const char *what, struct gn_error *e);

/*
 * scope_cuda_use - make the GPU current; if it has not worked for a second, keep it busy for 0.2 s: clocks
 * are up.
 */
int scope_cuda_use(uint32_t gpu, struct gn_error *e);

/*
 * scope_cuda_load - put kernels on the current GPU. Loading one waits for the GPU, so it must be there
 * before a gate is shut: every row does this in open, for every kernel it times.
 */
template <typename... kernel> int scope_cuda_load(struct gn_error *e, kernel *...of)
{
	cudaFuncAttributes a;
	int rc = 0;

	((rc = rc ? rc : scope_cuda_check(cudaFuncGetAttributes(&a, of), "load a kernel", e)), ...);
	return rc;
}

/* ---- lanes ---- */

/* A stream of one GPU and the events around what is timed on it. */
struct scope_lane {
	uint32_t gpu;
	cudaStream_t stream;
	cudaEvent_t begin, end;
};

/* Lanes that start together. All zero bytes is one that close accepts. */
struct scope_lanes {
	uint32_t count;
	struct scope_lane lane[SCOPE_MOST_LANES];
	uint32_t *
	    word; /* pinned: the turn that may go, the last that gave up, and each lane's last that is over */
	uint32_t turn;
	bool held;    /* behind a gate that is shut */
	double began; /* of lanes without a gate: when they did, on the host's clock */
};

int scope_lanes_open(struct scope_lanes *l, struct gn_error *e);
void scope_lanes_close(struct scope_lanes *l); /* opens the gate, waits for what is under way, and frees */

/* scope_lanes_add - one more, the last; its GPU becomes current. */
int scope_lanes_add(struct scope_lanes *l, uint32_t gpu, struct gn_error *e);

int scope_lanes_hold(struct scope_lanes *l, struct gn_error *e);
int scope_lanes_begin(struct scope_lanes *l, struct gn_error *e);
int scope_lanes_end(struct scope_lanes *l, struct gn_error *e);

/*
 * scope_lanes_run - let go and wait. @wall: seconds of the host's clock from letting go (without a gate: from
 * begin) until the last lane's word was seen, or NULL; about 5 us of it are the words' way. -GN_ETIMEDOUT:
 * the deadline passed, or a gate gave up because more was enqueued behind it than a stream takes.
 */
int scope_lanes_run(struct scope_lanes *l, double *wall, struct gn_error *e);

/* scope_lane_seconds - of lane k, begin to end. */
double scope_lane_seconds(const struct scope_lanes *l, uint32_t k);

/*
 * scope_lanes_seconds - first begin to last end; all lanes are of one GPU, for events of two cannot be
 * compared.
 */
double scope_lanes_seconds(const struct scope_lanes *l);

/* ---- patterns ---- */

/*
 * What scope/pattern.h says, by a kernel of the GPU over whatever it reaches. The pattern from byte `at` on
 * is that of seed + at / 8; seeds are far apart (1 << 40). The poison is the complement: no byte of it is
 * right. Addresses and sizes are multiples of 16. Over when they return.
 */
int scope_gpu_fill(uint32_t gpu, void *to, uint64_t bytes, uint64_t seed, struct gn_error *e);
int scope_gpu_poison(uint32_t gpu, void *to, uint64_t bytes, uint64_t seed, struct gn_error *e);

/* scope_gpu_check - -GN_EIO: how many words are wrong, and which is the first. */
int scope_gpu_check(uint32_t gpu, const void *from, uint64_t bytes, uint64_t seed, struct gn_error *e);

/* ---- caches ---- */

/* Memory that is read to push everything else out of a GPU's L2. All zero bytes is one that close accepts. */
struct scope_flush {
	uint32_t gpu;
	void *memory;
	uint64_t bytes;
};

int scope_flush_open(struct scope_flush *f, const struct scope_machine *m, uint32_t gpu, struct gn_error *e);
void scope_flush_close(struct scope_flush *f);

/* scope_flush_run - afterwards L2 holds clean lines of this memory only. Over when it returns. */
int scope_flush_run(const struct scope_flush *f, struct gn_error *e);

#endif
