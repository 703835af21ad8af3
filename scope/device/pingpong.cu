/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pingpong.cu - there and back: one thread says a number, another sees it and says it back, the first sees
 * that.
 *
 *   host    a GPU's thread and one of the host; both words lie in pinned host memory, so the GPU polls over
 * the link device  two blocks of one GPU peer    a thread on each of two GPUs; each polls a word of its own
 * memory, which the other writes
 */
#include <grapnel/simt.h>

#include "scope/device/device.h"
#include "scope/sampling.h"

namespace {

enum { LEAST = 512, MOST = 1 << 18, LINE = 16 /* words */ };
const uint64_t patience_ns = 5000000000ull;

struct game {
	struct scope_bench bench; /* its lane 1 is the other side's, where that is a GPU */
	enum scope_place place;
	uint64_t *ours, *theirs; /* the words that we poll, and that they do */
	uint64_t said;
};

/* Says first, first + 1 ... and hears each; or hears and says. out: the last that it heard, nanoseconds. */
__global__ void play(uint64_t *theirs, const uint64_t *ours, uint64_t first, uint64_t count, bool serves,
                     uint64_t *out)
{
	const uint64_t began = simt_clock_ns();
	uint64_t heard = 0;

	for (uint64_t k = first; k < first + count; k++) {
		if (serves)
			simt_store_release_sys_u64(theirs, k);
		while ((heard = simt_load_acquire_sys_u64(ours)) != k)
			if (simt_clock_ns() - began > patience_ns) {
				out[0] = heard;
				return;
			}
		if (!serves)
			simt_store_release_sys_u64(theirs, k);
	}
	out[1] = simt_clock_ns() - began;
	out[0] = heard;
}

/* ---- the row ---- */

/* A word on each side, zeroed. */
int open_words(struct game *t, struct gn_error *e)
{
	const uint32_t other = t->place == SCOPE_AT_PEER ? t->bench.peer : t->bench.gpu;
	int rc;

	if (t->place == SCOPE_AT_HOST) {
		t->ours = t->bench.word + 4 * LINE;
		t->theirs = t->bench.word + 8 * LINE;
		return 0;
	}
	if ((rc = scope_lanes_add(&t->bench.lanes, other, e)) ||
	    (rc = scope_cuda_check(cudaMalloc((void **)&t->theirs, 4096), "words", e)) ||
	    (rc = scope_cuda_check(cudaMemset(t->theirs, 0, 4096), "words", e)) ||
	    (rc = scope_cuda_load(e, play)) || (rc = scope_cuda_check(cudaDeviceSynchronize(), "words", e)))
		return rc;
	if (t->place == SCOPE_AT_PEER &&
	    cudaDeviceEnablePeerAccess((int)t->bench.gpu, 0) == cudaErrorPeerAccessAlreadyEnabled)
		(void)cudaGetLastError();
	if ((rc = scope_cuda_use(t->bench.gpu, e)) ||
	    (rc = scope_cuda_check(cudaMalloc((void **)&t->ours, 4096), "words", e)) ||
	    (rc = scope_cuda_check(cudaMemset(t->ours, 0, 4096), "words", e)))
		return rc;
	return scope_cuda_check(cudaDeviceSynchronize(), "words", e);
}

int open_cell(const struct scope_cell *c, const struct scope_machine *m, void *state, struct gn_error *e)
{
	struct game *t = (struct game *)state;
	int rc;

	t->place = scope_place_of(c->row);
	if ((rc = scope_bench_open(&t->bench, c, m, 0, e)) || (rc = scope_cuda_load(e, play)))
		return rc;
	return open_words(t, e);
}

/* The host's side: hears and says, until all is said or somebody has waited too long. */
void answer(struct game *t, uint64_t first, uint64_t count)
{
	const double late = scope_clock() + 1e-9 * (double)patience_ns;

	for (uint64_t k = first; k < first + count; k++) {
		uint32_t looks = 0;

		while (simt_load_acquire_sys_u64(t->theirs) != k)
			if (++looks % 65536 == 0 && scope_clock() > late)
				return;
		simt_store_release_sys_u64(t->ours, k);
	}
}

int launch_other(struct game *t, uint64_t first, uint64_t count, struct gn_error *e)
{
	const struct scope_lane *lane = &t->bench.lanes.lane[1];
	int rc = scope_cuda_check(cudaSetDevice((int)lane->gpu), "GPU", e);

	if (rc)
		return rc;
	play<<<1, 1, 0, lane->stream>>>(t->ours, t->theirs, first, count, false, t->bench.word + LINE);
	if ((rc = scope_cuda_launched("answers", e)))
		return rc;
	return scope_cuda_check(cudaSetDevice((int)t->bench.gpu), "GPU", e);
}

int sample(void *state, uint64_t operations, struct scope_sample *s, struct gn_error *e)
{
	struct game *t = (struct game *)state;
	const uint64_t least = operations > LEAST ? operations : (uint64_t)LEAST,
	               count = least < MOST ? least : (uint64_t)MOST;
	const uint64_t first = t->said + 1;
	int rc = 0;

	t->bench.word[1] = 0;
	t->said += count;
	if (t->place != SCOPE_AT_HOST && (rc = launch_other(t, first, count, e)))
		return rc;
	play<<<1, 1, 0, scope_bench_stream(&t->bench)>>>(t->theirs, t->ours, first, count, true,
	                                                 t->bench.word);
	if ((rc = scope_cuda_launched("questions", e)))
		return rc;
	if (t->place == SCOPE_AT_HOST)
		answer(t, first, count);
	if ((rc = scope_bench_wait(&t->bench, "questions", e)))
		return rc;
	if (t->place != SCOPE_AT_HOST &&
	    (rc = scope_cuda_check(cudaStreamSynchronize(t->bench.lanes.lane[1].stream), "answers", e)))
		return rc;
	s->operations = count;
	s->seconds = 1e-9 * (double)t->bench.word[1];
	return t->bench.word[1] ? 0 : gn_error_set(e, -GN_ETIMEDOUT, "no answer for 5 s");
}

/* Both sides heard the last number. */
int verify(void *state, struct gn_error *e)
{
	struct game *t = (struct game *)state;
	uint64_t there = 0;
	int rc = scope_cuda_check(cudaMemcpy(&there, t->theirs, sizeof there, cudaMemcpyDefault), "words", e);

	if (!rc && (t->bench.word[0] != t->said || there != t->said))
		rc = gn_error_set(e, -GN_EIO, "the last number did not arrive");
	return rc;
}

void close_cell(void *state)
{
	struct game *t = (struct game *)state;

	if (t->place != SCOPE_AT_HOST) {
		(void)cudaFree(t->theirs);
		(void)cudaFree(t->ours);
		if (t->place == SCOPE_AT_PEER && cudaSetDevice((int)t->bench.peer) == cudaSuccess)
			(void)cudaDeviceDisablePeerAccess((int)t->bench.gpu);
	}
	scope_bench_close(&t->bench);
}

const struct scope_functions functions = {sizeof(struct game), scope_device_plan, open_cell, sample, verify,
                                          close_cell};

const struct scope_row rows[] = {
    {"ping-pong/host", "a GPU's thread and a thread of the host, there and back, through pinned host memory",
     NULL, "both", NULL, NULL, SCOPE_LATENCY, SCOPE_DEVICE_CLOCK, &functions},
    {"ping-pong/device", "two threads of one GPU, there and back, through its memory", NULL, "none", NULL,
     NULL, SCOPE_LATENCY, SCOPE_DEVICE_CLOCK, &functions},
    {"ping-pong/peer", "threads of two GPUs, there and back, each polling its own memory", NULL, "d2d-both",
     NULL, NULL, SCOPE_LATENCY, SCOPE_DEVICE_CLOCK, &functions},
};

} // namespace

const struct scope_row_table scope_gpu_pingpong_rows = {rows, sizeof *rows, sizeof rows / sizeof *rows};
