/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chase.cu - latency: one thread loads where to load next, through a span in a shuffled order, so that
 * neither a prefetcher nor the order of addresses helps. The time is read in the kernel. In rows of bulk
 * cp.async.bulk brings a node to shared memory, where the thread reads which is next.
 *
 * warm   the walk goes on where the last sample ended; a span that GPU's caches hold is read once before
 * cold   lines that were never in L2 since it was flushed: the flush reads other memory, and takes
 * translations as well
 */
#include <grapnel/simt.h>
#include <grapnel/detail/simt/lookup.h>

#include "simt/bulk.h"
#include "scope/device/device.h"

namespace {

enum { LEAST_WARM = 4096, LEAST_COLD = 1024, MOST = 1 << 20 };

struct chase {
	struct scope_bench bench;
	struct scope_flush flush;
	uint32_t bits;   /* log2 of the nodes */
	uint64_t at;     /* nodes walked so far */
	bool cold, near; /* near: GPU's L2 holds it */
	bool local, bulk;
};

template <bool local> __device__ __forceinline__ uint64_t follow(uint64_t from)
{
	const uint64_t *at = (const uint64_t *)from;

	return local ? simt_load_relaxed_dev_u64(at) : simt_load_relaxed_sys_u64(at);
}

template <bool local> __global__ void walk(uint64_t from, uint64_t loads, uint64_t *out)
{
	const uint64_t began = simt_clock_ns();

#pragma unroll 8
	for (uint64_t k = 0; k < loads; k++)
		from = follow<local>(from);
	out[0] = from;
	__threadfence_system(); /* the store waits for the last load, and the clock for the store */
	out[1] = simt_clock_ns() - began;
}

__global__ void walk_bulk(uint64_t from, uint64_t loads, uint64_t *out)
{
	__shared__ __align__(128) char node[SCOPE_NODE];
	__shared__ uint64_t barrier;
	const uint32_t to = (uint32_t)__cvta_generic_to_shared(node),
	               done = (uint32_t)__cvta_generic_to_shared(&barrier);

	bulk_barrier_init(done);
	bulk_barriers_ready();

	const uint64_t began = simt_clock_ns();

	for (uint64_t k = 0; k < loads; k++) {
		bulk_load(to, (const char *)from, SCOPE_NODE, done);
		bulk_wait(done, (uint32_t)(k & 1));
		from = *(volatile uint64_t *)(void *)node;
	}
	out[0] = from;
	__threadfence_system();
	out[1] = simt_clock_ns() - began;
}

/* Reads every node once. */
__global__ void touch(const char *at, uint64_t nodes, uint64_t *never)
{
	const uint64_t step = simt_global_threads();
	uint64_t all = 0;

	for (uint64_t i = simt_global_thread(); i < nodes; i += step)
		all |= follow<false>((uint64_t)at + (i << SCOPE_NODE_LOG2));
	if (all == 1)
		*never = all;
}

/* ---- the row ---- */

int plan(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p)
{
	static const uint64_t quick[] = {1 << 20, 2ull << 30, 0};
	static const uint64_t quick_cold[] = {256 << 20, 0};
	const struct scope_arg warm[] = {{"cold", 0}, {NULL, 0}}, cold[] = {{"cold", 1}, {NULL, 0}};
	const bool bulk = strstr(row->name, "bulk") != NULL;
	int rc;

	if (!scope_device_may(row, m, p, &rc))
		return rc;
	for (uint32_t g = 0; bulk && g < m->gpus; g++)
		if (m->gpu[g].compute < 90)
			return scope_plan_skip(p, NULL, "cp.async.bulk needs compute capability 9.0");
	rc = scope_device_spans(row, m, p, 64 << 10, 8ull << 30, quick, warm);
	return rc || bulk ? rc : scope_device_spans(row, m, p, 1 << 20, 8ull << 30, quick_cold, cold);
}

int fill(struct chase *t, struct gn_error *e)
{
	const int rc = scope_bench_link(&t->bench, t->bench.memory.at, t->bits, e);

	return rc ? rc : scope_cuda_load(e, walk<true>, walk<false>, walk_bulk);
}

int open_cell(const struct scope_cell *c, const struct scope_machine *m, void *state, struct gn_error *e)
{
	struct chase *t = (struct chase *)state;
	const uint64_t bytes = scope_cell_arg(c, "span", 0);
	int rc;

	if ((rc = scope_bench_open(&t->bench, c, m, bytes, e)))
		return rc;
	t->bits = scope_bits(bytes / SCOPE_NODE);
	t->cold = scope_cell_arg(c, "cold", 0) != 0;
	t->near = bytes <= 2 * m->gpu[t->bench.gpu].l2_bytes;
	t->local = scope_place_of(c->row) == SCOPE_AT_DEVICE;
	t->bulk = strstr(c->row->name, "bulk") != NULL;
	if (t->cold && (rc = scope_flush_open(&t->flush, m, t->bench.gpu, e)))
		return rc;
	return fill(t, e);
}

uint64_t node(const struct chase *t, uint64_t k)
{
	return scope_node(t->bench.memory.at, k, t->bits);
}

/* Before the walk: what should be near is, or nothing is. */
int prepare(struct chase *t, struct gn_error *e)
{
	if (t->cold)
		return scope_flush_run(&t->flush, e);
	if (!t->near)
		return 0;
	touch<<<t->bench.processors, 256, 0, scope_bench_stream(&t->bench)>>>(
	    t->bench.memory.at, 1ull << t->bits, t->bench.word + 8);
	return scope_bench_wait(&t->bench, "warming", e);
}

/* How many loads: so many that the clock's steps do not matter, and cold ones each of another line. */
uint64_t loads_of(const struct chase *t, uint64_t operations)
{
	const uint64_t least = t->cold ? LEAST_COLD : LEAST_WARM,
	               most = t->cold ? 1ull << t->bits : (uint64_t)MOST;
	const uint64_t loads = operations > least ? operations : least;

	return loads < most ? loads : most;
}

int sample(void *state, uint64_t operations, struct scope_sample *s, struct gn_error *e)
{
	struct chase *t = (struct chase *)state;
	cudaStream_t stream = scope_bench_stream(&t->bench);
	uint64_t *out = t->bench.word;
	int rc = prepare(t, e);

	if (rc)
		return rc;
	s->operations = loads_of(t, operations);
	out[0] = out[1] = 0;
	if (t->bulk)
		walk_bulk<<<1, 1, 0, stream>>>(node(t, t->at), s->operations, out);
	else if (t->local)
		walk<true><<<1, 1, 0, stream>>>(node(t, t->at), s->operations, out);
	else
		walk<false><<<1, 1, 0, stream>>>(node(t, t->at), s->operations, out);
	rc = scope_bench_wait(&t->bench, "walk", e);
	t->at += s->operations;
	s->seconds = 1e-9 * (double)out[1];
	return rc;
}

/* The walk ended where so many steps lead. */
int verify(void *state, struct gn_error *e)
{
	const struct chase *t = (const struct chase *)state;

	return t->bench.word[0] == node(t, t->at)
	           ? 0
	           : gn_error_set(e, -GN_EIO, "wrong data: the pointer chase ended at a wrong node");
}

void close_cell(void *state)
{
	struct chase *t = (struct chase *)state;

	scope_flush_close(&t->flush);
	scope_bench_close(&t->bench);
}

const struct scope_functions functions = {sizeof(struct chase), plan, open_cell, sample, verify, close_cell};

const struct scope_row rows[] = {
    {"latency/device", "dependent loads of one thread, shuffled over a span of the GPU's memory", NULL,
     "none", "memory", NULL, SCOPE_LATENCY, SCOPE_DEVICE_CLOCK, &functions},
    {"latency/host", "dependent loads of one GPU thread, shuffled over a span of pinned host memory", NULL,
     "h2d", "pcie", NULL, SCOPE_LATENCY, SCOPE_DEVICE_CLOCK, &functions},
    {"latency/peer", "dependent loads of one GPU thread, shuffled over a span of another GPU's memory", NULL,
     "d2d", "nvlink", NULL, SCOPE_LATENCY, SCOPE_DEVICE_CLOCK, &functions},
    {"latency/bulk-device", "a shuffled chase through the GPU's memory by cp.async.bulk to shared memory",
     NULL, "none", "memory", NULL, SCOPE_LATENCY, SCOPE_DEVICE_CLOCK, &functions},
    {"latency/bulk-host", "a shuffled chase through pinned host memory by cp.async.bulk to shared memory",
     NULL, "h2d", "pcie", NULL, SCOPE_LATENCY, SCOPE_DEVICE_CLOCK, &functions},
    {"latency/bulk-peer", "a shuffled chase through another GPU's memory by cp.async.bulk to shared memory",
     NULL, "d2d", "nvlink", NULL, SCOPE_LATENCY, SCOPE_DEVICE_CLOCK, &functions},
};

} // namespace

const struct scope_row_table scope_gpu_chase_rows = {rows, sizeof *rows, sizeof rows / sizeof *rows};
