/* SPDX-License-Identifier: Apache-2.0 */
/* support.cu - errors, clocks, and lanes that start together behind a gate. */
#include <grapnel/simt.h>

#include "scope/cuda/support.h"

#include <string.h>

#include "scope/sampling.h"

/* Words of struct scope_lanes, each on a line of its own. */
enum { WORD_GO = 0, WORD_LATE = 32, WORD_OVER = 64, WORD_STRIDE = 32 };

namespace {

/* Spins until the turn may go. Gives up, so that a mistake ends in a message and not in a GPU that hangs. */
__global__ void gate(volatile uint32_t *word, uint32_t turn, uint64_t patience_ns)
{
	const uint64_t begin = simt_clock_ns();

	while ((int32_t)(word[WORD_GO] - turn) < 0)
		if (simt_clock_ns() - begin > patience_ns) {
			word[WORD_LATE] = turn;
			return;
		}
}

__global__ void over(volatile uint32_t *word, uint32_t turn)
{
	__threadfence_system();
	*word = turn;
}

__global__ void busy(uint64_t ns, uint32_t *never)
{
	const uint64_t begin = simt_clock_ns();
	uint32_t x = simt_thread();

	while (simt_clock_ns() - begin < ns)
		for (int k = 0; k < 256; k++)
			x = x * 1664525u + 1013904223u;
	if (x == 1 && never)
		*never = x;
}

double last_busy[SCOPE_MOST_GPUS];

int code_of(cudaError_t rc)
{
	switch (rc) {
	case cudaErrorMemoryAllocation: return -GN_ENOMEM;
	case cudaErrorNotSupported: return -GN_ENOTSUP;
	case cudaErrorNoDevice:
	case cudaErrorInvalidDevice: return -GN_ENODEV;
	default: return -GN_EIO;
	}
}

int warm(uint32_t gpu, struct gn_error *e)
{
	int processors = 0, rc;

	if ((rc = scope_cuda_check(
	         cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, (int)gpu), "processors",
	         e)))
		return rc;
	busy<<<processors, 256>>>(200000000u, NULL);
	if ((rc = scope_cuda_launched("warm up", e)))
		return rc;
	return scope_cuda_check(cudaDeviceSynchronize(), "warm up", e);
}

/* Waits for every lane's word; looks for errors now and then, for a lane that failed never writes it. */
int wait_all(const struct scope_lanes *l, struct gn_error *e)
{
	const double begin = scope_clock();
	double look = begin + 0.01;
	int rc;

	for (uint32_t k = 0; k < l->count; k++) {
		const volatile uint32_t *word = l->word + WORD_OVER + k * WORD_STRIDE;

		while (*word != l->turn) {
			const double now = scope_clock();

			if (now < look)
				continue;
			look = now + 0.01;
			if (now - begin > SCOPE_DEADLINE)
				return gn_error_set(e, -GN_ETIMEDOUT,
				                    "GPU %u has not finished its work within %d s",
				                    l->lane[k].gpu, SCOPE_DEADLINE);
			const cudaError_t state = cudaStreamQuery(l->lane[k].stream);

			if (state != cudaErrorNotReady && (rc = scope_cuda_check(state, "timed work", e)))
				return rc;
		}
	}
	return 0;
}

int each_event(const struct scope_lanes *l, bool end, struct gn_error *e)
{
	int rc;

	for (uint32_t k = 0; k < l->count; k++) {
		const struct scope_lane *lane = &l->lane[k];

		if ((rc = scope_cuda_check(cudaSetDevice((int)lane->gpu), "GPU", e)) ||
		    (rc = scope_cuda_check(cudaEventRecord(end ? lane->end : lane->begin, lane->stream),
		                           "event", e)))
			return rc;
		if (!end)
			continue;
		over<<<1, 1, 0, lane->stream>>>(l->word + WORD_OVER + k * WORD_STRIDE, l->turn);
		if ((rc = scope_cuda_launched("end of a lane", e)))
			return rc;
	}
	return 0;
}

} // namespace

int scope_cuda_check(cudaError_t rc, const char *what, struct gn_error *e)
{
	if (rc == cudaSuccess)
		return 0;
	(void)cudaGetLastError();
	return gn_error_set(e, code_of(rc), "%s: %s", what, cudaGetErrorString(rc));
}

int scope_cuda_launched(const char *what, struct gn_error *e)
{
	return scope_cuda_check(cudaGetLastError(), what, e);
}

int scope_cuda_use(uint32_t gpu, struct gn_error *e)
{
	int rc;

	if (gpu >= SCOPE_MOST_GPUS)
		return gn_error_set(e, -GN_ENODEV, "GPU %u: the number is too large; the largest is %d", gpu,
		                    SCOPE_MOST_GPUS - 1);
	if ((rc = scope_cuda_check(cudaSetDevice((int)gpu), "GPU", e)))
		return rc;
	if (!(scope_clock() - last_busy[gpu] < 1) && (rc = warm(gpu, e)))
		return rc;
	last_busy[gpu] = scope_clock();
	return 0;
}

int scope_lanes_open(struct scope_lanes *l, struct gn_error *e)
{
	const size_t bytes = (WORD_OVER + SCOPE_MOST_LANES * WORD_STRIDE) * sizeof(uint32_t);
	int rc;

	memset(l, 0, sizeof *l);
	if ((rc = scope_cuda_check(
	         cudaHostAlloc((void **)&l->word, bytes, cudaHostAllocPortable | cudaHostAllocMapped),
	         "words of the lanes", e)))
		return rc;
	memset(l->word, 0, bytes);
	return 0;
}

int scope_lanes_add(struct scope_lanes *l, uint32_t gpu, struct gn_error *e)
{
	struct scope_lane *lane = &l->lane[l->count];
	int rc;

	if (l->count == SCOPE_MOST_LANES)
		return gn_error_set(e, -GN_EINVAL, "more than %d lanes are not possible", SCOPE_MOST_LANES);
	if ((rc = scope_cuda_use(gpu, e)) || (rc = scope_cuda_load(e, gate, over)) ||
	    (rc = scope_cuda_check(cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking), "stream",
	                           e)))
		return rc;
	lane->gpu = gpu;
	l->count++;
	if ((rc = scope_cuda_check(cudaEventCreate(&lane->begin), "event", e)))
		return rc;
	return scope_cuda_check(cudaEventCreate(&lane->end), "event", e);
}

void scope_lanes_close(struct scope_lanes *l)
{
	if (!l->word)
		return;
	*(volatile uint32_t *)(l->word + WORD_GO) = l->turn;
	for (uint32_t k = 0; k < l->count; k++) {
		(void)cudaSetDevice((int)l->lane[k].gpu);
		(void)cudaStreamSynchronize(l->lane[k].stream);
		if (l->lane[k].begin)
			(void)cudaEventDestroy(l->lane[k].begin);
		if (l->lane[k].end)
			(void)cudaEventDestroy(l->lane[k].end);
		(void)cudaStreamDestroy(l->lane[k].stream);
		last_busy[l->lane[k].gpu] = scope_clock();
	}
	(void)cudaFreeHost(l->word);
	(void)cudaGetLastError();
	memset(l, 0, sizeof *l);
}

int scope_lanes_hold(struct scope_lanes *l, struct gn_error *e)
{
	int rc;

	if (!l->held)
		l->turn++;
	l->held = true;
	for (uint32_t k = 0; k < l->count; k++) {
		if ((rc = scope_cuda_check(cudaSetDevice((int)l->lane[k].gpu), "GPU", e)))
			return rc;
		gate<<<1, 1, 0, l->lane[k].stream>>>(l->word, l->turn, 3000000000ull);
		if ((rc = scope_cuda_launched("gate", e)))
			return rc;
	}
	return 0;
}

int scope_lanes_begin(struct scope_lanes *l, struct gn_error *e)
{
	if (!l->held) {
		l->turn++;
		l->began = scope_clock();
	}
	return each_event(l, false, e);
}

int scope_lanes_end(struct scope_lanes *l, struct gn_error *e)
{
	return each_event(l, true, e);
}

int scope_lanes_run(struct scope_lanes *l, double *wall, struct gn_error *e)
{
	const double begin = l->held ? scope_clock() : l->began;
	int rc;

	*(volatile uint32_t *)(l->word + WORD_GO) = l->turn;
	l->held = false;
	if ((rc = wait_all(l, e)))
		return rc;
	if (wall)
		*wall = scope_clock() - begin;
	for (uint32_t k = 0; k < l->count; k++)
		if ((rc = scope_cuda_check(cudaStreamSynchronize(l->lane[k].stream), "timed work", e)))
			return rc;
	if (l->word[WORD_LATE] == l->turn)
		return gn_error_set(
		    e, -GN_ETIMEDOUT,
		    "the gate timed out after 3 s: more work was enqueued than a stream can hold");
	return 0;
}

double scope_lane_seconds(const struct scope_lanes *l, uint32_t k)
{
	float ms = 0;

	if (cudaEventElapsedTime(&ms, l->lane[k].begin, l->lane[k].end) != cudaSuccess)
		(void)cudaGetLastError();
	return (double)ms * 1e-3;
}

double scope_lanes_seconds(const struct scope_lanes *l)
{
	double most = 0;

	for (uint32_t b = 0; b < l->count; b++)
		for (uint32_t k = 0; k < l->count; k++) {
			float ms = 0;

			if (cudaEventElapsedTime(&ms, l->lane[b].begin, l->lane[k].end) != cudaSuccess)
				(void)cudaGetLastError();
			most = (double)ms * 1e-3 > most ? (double)ms * 1e-3 : most;
		}
	return most;
}
