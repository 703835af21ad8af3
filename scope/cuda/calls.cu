/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.cu - what a call costs the thread that makes it, on a stream that has room; and what kernels behind
 * each other cost the GPU.
 */
#include <grapnel/simt.h>

#include <string.h>

#include "scope/cuda/rows.h"
#include "scope/sampling.h"

namespace {

enum { MOST_BYTES = 4064, MOST_COPIED = 1 << 16 };

enum what {
	LAUNCH,
	COPY,
	EVENT,
	SYNCHRONISE,
	LAUNCH_WAIT,
	GRAPH,
	INSTANTIATE,
	KERNELS,    /* on the device: kernels behind each other */
	GRAPH_NODES /* on the device: a graph of kernels behind each other */
};

struct call_row {
	struct scope_row row; /* first */
	enum what call;
};

struct call {
	const struct call_row *row;
	struct scope_lanes lanes;
	uint64_t size;             /* bytes of arguments or of a copy, nodes of a graph */
	unsigned long long *count; /* on the device: kernels that ran */
	unsigned long long expected;
	struct scope_memory host, device; /* of copies: filled and compared */
	cudaGraph_t graph;
	cudaGraphExec_t exec;
};

template <unsigned N> struct arguments {
	unsigned long long *count;
	char rest[N];
};

/* One thread counts, so that a launch that did not take place is noticed. */
template <unsigned N> __global__ void kernel(const struct arguments<N> a)
{
	simt_add_relaxed_dev_u64((uint64_t *)a.count, 1);
}

cudaStream_t stream_of(const struct call *x)
{
	return x->lanes.lane[0].stream;
}

template <unsigned N> void launch_with(const struct call *x)
{
	struct arguments<N> a;

	memset(&a, 0, sizeof a);
	a.count = x->count;
	kernel<N><<<1, 1, 0, stream_of(x)>>>(a);
}

cudaError_t launch(struct call *x)
{
	if (x->size <= 8)
		launch_with<8>(x);
	else if (x->size <= 512)
		launch_with<512>(x);
	else
		launch_with<MOST_BYTES>(x);
	x->expected++;
	return cudaGetLastError();
}

cudaError_t instantiate(struct call *x)
{
	if (x->exec)
		(void)cudaGraphExecDestroy(x->exec);
	x->exec = NULL;
	return cudaGraphInstantiate(&x->exec, x->graph, 0);
}

cudaError_t run_graph(struct call *x)
{
	x->expected += x->size;
	return cudaGraphLaunch(x->exec, stream_of(x));
}

cudaError_t launch_and_wait(struct call *x)
{
	const cudaError_t rc = launch(x);

	return rc == cudaSuccess ? cudaStreamSynchronize(stream_of(x)) : rc;
}

cudaError_t call_once(struct call *x)
{
	switch (x->row->call) {
	case COPY:
		return cudaMemcpyAsync(x->device.at, x->host.at, x->size, cudaMemcpyHostToDevice,
		                       stream_of(x));
	case EVENT: return cudaEventRecord(x->lanes.lane[0].begin, stream_of(x));
	case SYNCHRONISE: return cudaStreamSynchronize(stream_of(x));
	case LAUNCH_WAIT: return launch_and_wait(x);
	case INSTANTIATE: return instantiate(x);
	case GRAPH:
	case GRAPH_NODES: return run_graph(x);
	default: return launch(x);
	}
}

int call_many(struct call *x, uint64_t operations, struct gn_error *e)
{
	cudaError_t c = cudaSuccess;

	for (uint64_t k = 0; k < operations && c == cudaSuccess; k++)
		c = call_once(x);
	return scope_cuda_check(c, x->row->row.name, e);
}

bool on_device(const struct call *x)
{
	return x->row->row.timer == SCOPE_EVENTS;
}

/* A graph's kernels take room in the stream's queue as others do. */
uint64_t most_calls(const struct call *x)
{
	if (x->row->call == GRAPH_NODES || x->row->call == GRAPH)
		return SCOPE_MOST_HELD / 4 > x->size ? SCOPE_MOST_HELD / 4 / x->size : 1;
	return x->row->call == INSTANTIATE ? 16 : (uint64_t)SCOPE_MOST_HELD;
}

int sample_device(struct call *x, uint64_t operations, double *seconds, struct gn_error *e)
{
	int rc = scope_lanes_hold(&x->lanes, e);

	rc = rc ? rc : scope_lanes_begin(&x->lanes, e);
	rc = rc ? rc : call_many(x, operations, e);
	rc = rc ? rc : scope_lanes_end(&x->lanes, e);
	rc = rc ? rc : scope_lanes_run(&x->lanes, NULL, e);
	*seconds = scope_lane_seconds(&x->lanes, 0);
	return rc;
}

int sample_host(struct call *x, uint64_t operations, double *seconds, struct gn_error *e)
{
	int rc = scope_cuda_check(cudaStreamSynchronize(stream_of(x)), "calls before", e);

	if (rc)
		return rc;
	const double begin = scope_clock();

	rc = call_many(x, operations, e);
	*seconds = scope_clock() - begin;
	return rc ? rc : scope_cuda_check(cudaStreamSynchronize(stream_of(x)), "calls", e);
}

int sample(void *state, uint64_t operations, struct scope_sample *s, struct gn_error *e)
{
	struct call *x = (struct call *)state;
	const bool nodes = x->row->call == GRAPH_NODES;
	int rc = scope_cuda_check(cudaSetDevice((int)x->lanes.lane[0].gpu), "GPU", e);

	operations = operations < most_calls(x) ? operations : most_calls(x);
	rc = rc             ? rc
	     : on_device(x) ? sample_device(x, operations, &s->seconds, e)
	                    : sample_host(x, operations, &s->seconds, e);
	s->operations = operations * (nodes ? x->size : 1);
	return rc;
}

int verify(void *state, struct gn_error *e)
{
	struct call *x = (struct call *)state;
	unsigned long long ran = 0;
	int rc;

	if (x->row->call == COPY)
		return scope_memory_check(&x->device, 0, x->size, 0, e);
	if ((rc = scope_cuda_check(cudaMemcpy(&ran, x->count, sizeof ran, cudaMemcpyDeviceToHost), "counter",
	                           e)))
		return rc;
	if (ran != x->expected)
		return gn_error_set(e, -GN_EIO, "only %llu of %llu launched kernels ran", ran, x->expected);
	return 0;
}

/* ---- opening ---- */

int capture(struct call *x, struct gn_error *e)
{
	int rc = scope_cuda_check(cudaStreamBeginCapture(stream_of(x), cudaStreamCaptureModeThreadLocal),
	                          "graph", e);

	for (uint64_t k = 0; k < x->size && !rc; k++) {
		launch_with<8>(x);
		rc = scope_cuda_launched("graph", e);
	}
	rc = rc ? rc : scope_cuda_check(cudaStreamEndCapture(stream_of(x), &x->graph), "graph", e);
	rc = rc ? rc : scope_cuda_check(instantiate(x), "graph", e);
	/* Once before anything is timed: the first launch uploads it. */
	rc = rc ? rc : scope_cuda_check(run_graph(x), "graph", e);
	return rc ? rc : scope_cuda_check(cudaStreamSynchronize(stream_of(x)), "graph", e);
}

int open_copy(struct call *x, uint32_t gpu, struct gn_error *e)
{
	int rc = scope_memory_open(&x->host, SCOPE_PINNED, gpu, SCOPE_ANYWHERE, MOST_COPIED, e);

	rc = rc ? rc : scope_memory_open(&x->device, SCOPE_DEVICE, gpu, SCOPE_ANYWHERE, MOST_COPIED, e);
	rc = rc ? rc : scope_memory_fill(&x->host, 0, MOST_COPIED, 0, e);
	return rc ? rc : scope_memory_poison(&x->device, 0, MOST_COPIED, e);
}

int open_all(struct call *x, uint32_t gpu, struct gn_error *e)
{
	const bool graph =
	    x->row->call == GRAPH || x->row->call == GRAPH_NODES || x->row->call == INSTANTIATE;
	int rc = scope_lanes_open(&x->lanes, e);

	rc = rc ? rc : scope_lanes_add(&x->lanes, gpu, e);
	rc = rc ? rc : scope_cuda_check(cudaMalloc((void **)&x->count, 8), "counter", e);
	rc = rc ? rc : scope_cuda_check(cudaMemset(x->count, 0, 8), "counter", e);
	rc = rc ? rc : scope_cuda_load(e, kernel<8>, kernel<512>, kernel<MOST_BYTES>);
	rc = rc || x->row->call != COPY ? rc : open_copy(x, gpu, e);
	return rc || !graph ? rc : capture(x, e);
}

void close_call(void *state)
{
	struct call *x = (struct call *)state;

	scope_lanes_close(&x->lanes);
	if (x->exec)
		(void)cudaGraphExecDestroy(x->exec);
	if (x->graph)
		(void)cudaGraphDestroy(x->graph);
	(void)cudaFree(x->count);
	scope_memory_close(&x->host);
	scope_memory_close(&x->device);
	(void)cudaGetLastError();
}

int open_call(const struct scope_cell *c, const struct scope_machine *m, void *state, struct gn_error *e)
{
	struct call *x = (struct call *)state;

	(void)m;
	x->row = (const struct call_row *)c->row;
	x->size = scope_cell_arg(c, "bytes", scope_cell_arg(c, "nodes", 1));
	return open_all(x, (uint32_t)scope_cell_arg(c, "gpu", 0), e);
}

/* ---- planning ---- */

int plan_values(struct scope_plan *p, const char *name, const uint64_t value[3])
{
	int rc = 0;

	for (uint32_t k = 0; k < 3 && !rc; k++) {
		const struct scope_arg args[] = {{name, value[k]}, {"gpu", 0}, {NULL, 0}};

		rc = scope_plan_add(p, args);
	}
	return rc;
}

int plan(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p)
{
	static const uint64_t argument_bytes[3] = {8, 512, MOST_BYTES}, copied[3] = {8, 4096, MOST_COPIED},
	                      nodes[3] = {1, 16, 256};
	const struct scope_arg args[] = {{"gpu", 0}, {NULL, 0}};

	if (!m->gpus)
		return scope_plan_skip(p, NULL, "%s", m->no_gpu);
	switch (((const struct call_row *)row)->call) {
	case LAUNCH: return plan_values(p, "bytes", argument_bytes);
	case COPY: return plan_values(p, "bytes", copied);
	case GRAPH:
	case INSTANTIATE:
	case GRAPH_NODES: return plan_values(p, "nodes", nodes);
	default: return scope_plan_add(p, args);
	}
}

const struct scope_functions functions = {sizeof(struct call), plan, open_call, sample, verify, close_call};

constexpr struct call_row make(const char *name, const char *summary, enum what call,
                               enum scope_timer timer = SCOPE_HOST_CLOCK)
{
	return call_row{{name, summary, NULL, "none", NULL, NULL, SCOPE_LATENCY, timer, &functions}, call};
}

const struct call_row rows[] = {
    make("call/launch", "the call that launches a kernel, by bytes of arguments behind a pointer", LAUNCH),
    make("call/copy", "the call of cudaMemcpyAsync from pinned memory", COPY),
    make("call/event-record", "the call of cudaEventRecord", EVENT),
    make("call/synchronise", "cudaStreamSynchronize of a stream that has nothing to do", SYNCHRONISE),
    make("call/launch-and-wait", "a kernel's launch and the synchronisation behind it", LAUNCH_WAIT),
    make("call/graph-launch", "the call that launches a graph of kernels", GRAPH),
    make("call/graph-instantiate",
         "cudaGraphInstantiate of a graph of kernels, and destroying the one before", INSTANTIATE),
    make("call/kernel-to-kernel", "on the GPU: small kernels behind each other", KERNELS, SCOPE_EVENTS),
    make("call/graph-node-to-node", "on the GPU: small kernels behind each other in a graph", GRAPH_NODES,
         SCOPE_EVENTS),
};

} // namespace

const struct scope_row_table scope_calls = {rows, sizeof *rows, sizeof rows / sizeof *rows};
