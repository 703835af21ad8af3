/* SPDX-License-Identifier: Apache-2.0 */
/* device.cu - cells by place, and what every row of a GPU's threads is measured with. */
#include <grapnel/simt.h>

#include "scope/device/device.h"

namespace {

bool ends_with(const char *text, const char *end)
{
	const size_t length = strlen(text), wanted = strlen(end);

	return length >= wanted && !strcmp(text + length - wanted, end);
}

/* args with one more, or two. */
void append(struct scope_arg *to, const struct scope_arg *args, uint32_t gpu, bool peer, uint32_t other)
{
	uint32_t k = 0;

	for (; args->name && k < SCOPE_MOST_ARGS - 2; k++)
		to[k] = *args++;
	to[k++] = {"gpu", gpu};
	if (peer)
		to[k++] = {"peer", other};
	to[k] = {NULL, 0};
}

int add_pair(const struct scope_machine *m, struct scope_plan *p, const struct scope_arg *args, uint32_t gpu,
             uint32_t peer)
{
	struct scope_arg all[SCOPE_MOST_ARGS + 1];

	if (gpu == peer)
		return 0;
	append(all, args, gpu, true, peer);
	return m->gpu[gpu].peer[peer]
	           ? scope_plan_add(p, all)
	           : scope_plan_skip(p, all, "GPU %u does not reach the memory of GPU %u", gpu, peer);
}

int add_pairs(const struct scope_machine *m, struct scope_plan *p, const struct scope_arg *args)
{
	int rc = 0;

	if (m->effort == SCOPE_QUICK)
		return add_pair(m, p, args, 0, 1);
	for (uint32_t gpu = 0; gpu < m->gpus && !rc; gpu++)
		for (uint32_t peer = 0; peer < m->gpus && !rc; peer++)
			rc = add_pair(m, p, args, gpu, peer);
	return rc;
}

int allow_peer(struct scope_bench *b, struct gn_error *e)
{
	const cudaError_t rc = cudaDeviceEnablePeerAccess((int)b->peer, 0);

	b->reached = rc == cudaSuccess;
	if (rc == cudaErrorPeerAccessAlreadyEnabled) {
		(void)cudaGetLastError();
		return 0;
	}
	return scope_cuda_check(rc, "peer access", e);
}

int open_memory(struct scope_bench *b, enum scope_place place, uint64_t bytes, struct gn_error *e)
{
	const uint32_t owner = place == SCOPE_AT_PEER ? b->peer : b->gpu;
	int rc;

	if ((rc = scope_memory_open(&b->memory, place == SCOPE_AT_HOST ? SCOPE_PINNED : SCOPE_DEVICE, owner,
	                            SCOPE_ANYWHERE, bytes, e)))
		return rc;
	return scope_cuda_use(b->gpu, e);
}

/* Each node says where the next is; nodes are written in the order of addresses. */
__global__ void link(char *at, uint32_t bits)
{
	const uint64_t step = simt_global_threads(), nodes = 1ull << bits;

	for (uint64_t i = simt_global_thread(); i < nodes; i += step) {
		const uint64_t next = scope_shuffle((scope_unshuffle(i, bits) + 1) & (nodes - 1), bits);

		*(uint64_t *)(at + (i << SCOPE_NODE_LOG2)) = (uint64_t)(at + (next << SCOPE_NODE_LOG2));
	}
}

} // namespace

enum scope_place scope_place_of(const struct scope_row *row)
{
	return ends_with(row->name, "host")   ? SCOPE_AT_HOST
	       : ends_with(row->name, "peer") ? SCOPE_AT_PEER
	                                      : SCOPE_AT_DEVICE;
}

bool scope_device_may(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p,
                      int *rc)
{
	const uint32_t wanted = scope_place_of(row) == SCOPE_AT_PEER ? 2 : 1;

	*rc = 0;
	if (m->gpus >= wanted)
		return true;
	*rc = m->gpus ? scope_plan_skip(p, NULL, "needs 2 GPUs; this machine has 1")
	              : scope_plan_skip(p, NULL, "%s", m->no_gpu ? m->no_gpu : "no GPU");
	return false;
}

int scope_device_add(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p,
                     const struct scope_arg *args)
{
	struct scope_arg all[SCOPE_MOST_ARGS + 1];
	int rc = 0;

	if (scope_place_of(row) == SCOPE_AT_PEER)
		return add_pairs(m, p, args);
	for (uint32_t gpu = 0; gpu < (m->effort == SCOPE_QUICK ? 1 : m->gpus) && !rc; gpu++) {
		append(all, args, gpu, false, 0);
		rc = scope_plan_add(p, all);
	}
	return rc;
}

int scope_device_plan(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p)
{
	const struct scope_arg none[] = {{NULL, 0}};
	int rc;

	return scope_device_may(row, m, p, &rc) ? scope_device_add(row, m, p, none) : rc;
}

/* Of the host's memory, and of every GPU's. */
static uint64_t most_span(const struct scope_machine *m)
{
	uint64_t bytes = m->free_bytes / 4;

	for (uint32_t k = 0; k < m->gpus; k++)
		bytes = m->gpu[k].free_bytes / 4 < bytes ? m->gpu[k].free_bytes / 4 : bytes;
	return bytes;
}

static int add_span(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p,
                    uint64_t bytes, const struct scope_arg *rest)
{
	struct scope_arg args[SCOPE_MOST_ARGS + 1] = {{"span", bytes}};

	for (uint32_t k = 1; rest && rest->name && k < SCOPE_MOST_ARGS; k++)
		args[k] = *rest++;
	if (bytes > most_span(m))
		return scope_plan_skip(p, args, "larger than a quarter of the free memory");
	return scope_device_add(row, m, p, args);
}

int scope_device_spans(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p,
                       uint64_t least, uint64_t most, const uint64_t *quick, const struct scope_arg *rest)
{
	int rc = 0;

	for (; m->effort == SCOPE_QUICK && *quick && !rc; quick++)
		rc = add_span(row, m, p, *quick, rest);
	for (uint64_t bytes = least; m->effort != SCOPE_QUICK && bytes <= most && !rc;
	     bytes *= m->effort == SCOPE_FULL ? 2 : 4)
		rc = add_span(row, m, p, bytes, rest);
	return rc;
}

int scope_bench_open(struct scope_bench *b, const struct scope_cell *c, const struct scope_machine *m,
                     uint64_t bytes, struct gn_error *e)
{
	const enum scope_place place = scope_place_of(c->row);
	int rc;

	b->gpu = (uint32_t)scope_cell_arg(c, "gpu", 0);
	b->peer = (uint32_t)scope_cell_arg(c, "peer", 0);
	b->processors = m->gpu[b->gpu].processors;
	if ((rc = scope_lanes_open(&b->lanes, e)) || (rc = scope_lanes_add(&b->lanes, b->gpu, e)) ||
	    (rc = scope_cuda_check(cudaHostAlloc((void **)&b->word, SCOPE_BENCH_WORDS * sizeof *b->word,
	                                         cudaHostAllocPortable | cudaHostAllocMapped),
	                           "words", e)) ||
	    (rc = scope_cuda_check(cudaMalloc((void **)&b->sum, sizeof *b->sum), "a sum", e)))
		return rc;
	memset(b->word, 0, SCOPE_BENCH_WORDS * sizeof *b->word);
	if (place == SCOPE_AT_PEER && (rc = allow_peer(b, e)))
		return rc;
	return bytes ? open_memory(b, place, bytes, e) : 0;
}

void scope_bench_close(void *state)
{
	struct scope_bench *b = (struct scope_bench *)state;

	scope_lanes_close(&b->lanes);
	scope_memory_close(&b->memory);
	if (b->reached && cudaSetDevice((int)b->gpu) == cudaSuccess)
		(void)cudaDeviceDisablePeerAccess((int)b->peer);
	if (b->word)
		(void)cudaFreeHost(b->word);
	(void)cudaFree(b->sum);
	(void)cudaGetLastError();
}

int scope_bench_wait(struct scope_bench *b, const char *what, struct gn_error *e)
{
	int rc = scope_cuda_launched(what, e);

	return rc ? rc : scope_cuda_check(cudaStreamSynchronize(scope_bench_stream(b)), what, e);
}

int scope_bench_zero(struct scope_bench *b, struct gn_error *e)
{
	return scope_cuda_check(cudaMemsetAsync(b->sum, 0, sizeof *b->sum, scope_bench_stream(b)), "a sum",
	                        e);
}

int scope_bench_take(struct scope_bench *b, unsigned long long *sum, struct gn_error *e)
{
	int rc = scope_bench_wait(b, "checking", e);

	return rc ? rc
	          : scope_cuda_check(cudaMemcpy(sum, b->sum, sizeof *sum, cudaMemcpyDeviceToHost), "a sum",
	                             e);
}

int scope_bench_hold(struct scope_bench *b, struct gn_error *e)
{
	return scope_lanes_hold(&b->lanes, e);
}

int scope_bench_begin(struct scope_bench *b, struct gn_error *e)
{
	int rc = b->lanes.held ? 0 : scope_lanes_hold(&b->lanes, e);

	return rc ? rc : scope_lanes_begin(&b->lanes, e);
}

int scope_bench_end(struct scope_bench *b, double *seconds, struct gn_error *e)
{
	int rc;

	if ((rc = scope_cuda_launched("timed kernel", e)) || (rc = scope_lanes_end(&b->lanes, e)) ||
	    (rc = scope_lanes_run(&b->lanes, NULL, e)))
		return rc;
	*seconds = scope_lane_seconds(&b->lanes, 0);
	return 0;
}

int scope_bench_link(struct scope_bench *b, char *at, uint32_t bits, struct gn_error *e)
{
	link<<<b->processors * 4, 256, 0, scope_bench_stream(b)>>>(at, bits);
	return scope_bench_wait(b, "links", e);
}
