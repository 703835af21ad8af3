/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed.cu - pages of managed memory that move, because somebody touches them or because they are asked to:
 * Comm|Scope, section 3.4.
 *
 * A slot is a range of its own 2 MiB blocks, the driver's unit. Before each sample the slots are moved to
 * where they start from; an operation moves one slot. A touch writes the first word of every 4 KiB (the
 * paper: a zero byte): one that differs with position and sample, which says afterwards that this touch took
 * place. Everything else must be as it was.
 */
#include <grapnel/simt.h>

#include <string.h>
#include <unistd.h>

#include "scope/cuda/crew.h"
#include "scope/cuda/rows.h"
#include "scope/host/parts.h"
#include "scope/pattern.h"

namespace {

enum {
	PAGE = 4096,
	PAGE_WORDS = PAGE / 8,
	BLOCK = 1 << 21,
	MOST_SLOTS = 32,
	HOST = -1,
	BLOCKS = 256,
	THREADS = 256
};
const uint64_t ROUND = 64u << 20, SEED = 7ull << 40;

/* Memory that goes from one place to another: a GPU's number, or HOST. */
struct part {
	char *at;
	int from, to;
	uint32_t lane; /* what the GPU that takes part does */
};

struct managed {
	const struct scope_managed_row *row;
	struct part part[2];
	uint32_t parts, threads;
	uint64_t bytes, stride, slots;
	uint64_t count, turn; /* of the last sample: slots, number */
	struct scope_lanes lanes;
	struct scope_crew crew;
	unsigned long long *wrong; /* pinned */
};

/* ---- touching ---- */

__host__ __device__ uint64_t touch(uint64_t turn, uint64_t word)
{
	return scope_pattern(SEED + (turn << 20), word);
}

/* One warp a page. */
__global__ void __launch_bounds__(THREADS) touch_pages(uint64_t *slot, uint64_t pages, uint64_t turn)
{
	const uint64_t warps = simt_global_threads() / 32;

	for (uint64_t p = simt_global_thread() / 32; p < pages; p += warps)
		if (simt_lane() == 0)
			slot[p * PAGE_WORDS] = touch(turn, p);
}

/* Were they? Puts back what was there before, so that a slot is a plain pattern again. */
__global__ void restore_pages(uint64_t *slot, uint64_t pages, uint64_t turn, uint64_t seed,
                              unsigned long long *wrong)
{
	const uint64_t step = simt_global_threads();

	for (uint64_t p = simt_global_thread(); p < pages; p += step) {
		if (slot[p * PAGE_WORDS] != touch(turn, p))
			simt_add_relaxed_sys_u64((uint64_t *)wrong, 1);
		slot[p * PAGE_WORDS] = scope_pattern(seed, p * PAGE_WORDS);
	}
}

uint64_t *slot_of(const struct managed *x, const struct part *p, uint64_t k)
{
	return (uint64_t *)(p->at + k * x->stride);
}

uint64_t pages_of(const struct managed *x)
{
	return x->bytes / PAGE;
}

const struct part *part_to_host(const struct managed *x)
{
	return x->part[0].to == HOST ? &x->part[0] : &x->part[1];
}

/* The thread's equal part of every slot. */
void touch_by_host(void *argument, uint32_t index, uint32_t threads)
{
	const struct managed *x = (const struct managed *)argument;
	const uint64_t pages = pages_of(x), begin = pages * index / threads,
	               end = pages * (index + 1) / threads;

	for (uint64_t k = 0; k < x->count; k++) {
		volatile uint64_t *const slot = slot_of(x, part_to_host(x), k);

		for (uint64_t p = begin; p < end; p++)
			slot[p * PAGE_WORDS] = touch(x->turn, p);
	}
}

/* ---- moving ---- */

struct cudaMemLocation place(int where)
{
	struct cudaMemLocation l = {};

	l.type = where == HOST ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
	l.id = where == HOST ? 0 : where;
	return l;
}

int prefetch(const struct managed *x, const struct part *p, uint64_t k, int where, struct gn_error *e)
{
	return scope_cuda_check(
	    cudaMemPrefetchAsync(slot_of(x, p, k), x->bytes, place(where), 0, x->lanes.lane[p->lane].stream),
	    "cudaMemPrefetchAsync", e);
}

int prefetch_batch(struct managed *x, const struct part *p, struct gn_error *e)
{
	void *at[MOST_SLOTS];
	size_t bytes[MOST_SLOTS], first = 0;
	struct cudaMemLocation to = place(p->to);
	const cudaStream_t s = x->lanes.lane[p->lane].stream;

	for (uint64_t k = 0; k < x->count; k++) {
		at[k] = slot_of(x, p, k);
		bytes[k] = x->bytes;
	}
	if (x->row->how == SCOPE_DISCARD_BATCH)
		return scope_cuda_check(
		    cudaMemDiscardAndPrefetchBatchAsync(at, bytes, x->count, &to, &first, 1, 0, s),
		    "cudaMemDiscardAndPrefetchBatchAsync", e);
	return scope_cuda_check(cudaMemPrefetchBatchAsync(at, bytes, x->count, &to, &first, 1, 0, s),
	                        "cudaMemPrefetchBatchAsync", e);
}

int settle(const struct managed *x, struct gn_error *e)
{
	int rc = 0;

	for (uint32_t k = 0; k < x->lanes.count && !rc; k++)
		rc = scope_cuda_check(cudaStreamSynchronize(x->lanes.lane[k].stream), "moving pages", e);
	return rc;
}

int to_begin(const struct managed *x, struct gn_error *e)
{
	int rc = 0;

	for (uint32_t i = 0; i < x->parts && !rc; i++) {
		rc = scope_cuda_check(cudaSetDevice((int)x->lanes.lane[x->part[i].lane].gpu), "GPU", e);
		for (uint64_t k = 0; k < x->count && !rc; k++)
			rc = prefetch(x, &x->part[i], k, x->part[i].from, e);
	}
	return rc ? rc : settle(x, e);
}

bool demand(const struct managed *x)
{
	return x->row->how == SCOPE_DEMAND;
}

bool by_threads(const struct managed *x)
{
	return demand(x) && (x->part[0].to == HOST || (x->parts == 2 && x->part[1].to == HOST));
}

int launch_part(const struct managed *x, const struct part *p, uint64_t k, struct gn_error *e)
{
	const uint64_t all = (pages_of(x) * 32 + THREADS - 1) / THREADS;
	const uint32_t blocks = (uint32_t)(all < BLOCKS ? all : (uint64_t)BLOCKS);

	touch_pages<<<blocks, THREADS, 0, x->lanes.lane[p->lane].stream>>>(slot_of(x, p, k), pages_of(x),
	                                                                   x->turn);
	return scope_cuda_launched("touching pages", e);
}

/* What the host enqueues in the timed part; what threads of the host do is theirs. */
int enqueue(struct managed *x, struct gn_error *e)
{
	int rc = 0;

	for (uint32_t i = 0; i < x->parts && !rc; i++) {
		const struct part *p = &x->part[i];

		if (demand(x) && p->to == HOST)
			continue;
		rc = scope_cuda_check(cudaSetDevice((int)x->lanes.lane[p->lane].gpu), "GPU", e);
		if (!rc && x->row->how >= SCOPE_PREFETCH_BATCH)
			rc = prefetch_batch(x, p, e);
		for (uint64_t k = 0; k < x->count && !rc && x->row->how < SCOPE_PREFETCH_BATCH; k++)
			rc = demand(x) ? launch_part(x, p, k, e) : prefetch(x, p, k, p->to, e);
	}
	return rc;
}

/*
 * Kernels stand behind a gate; prefetches do not: on a stream that has work the driver leaves them to a
 * thread of its own.
 */
int run_lanes(struct managed *x, double *wall, struct gn_error *e)
{
	int rc = demand(x) ? scope_lanes_hold(&x->lanes, e) : 0;

	rc = rc ? rc : scope_lanes_begin(&x->lanes, e);
	rc = rc ? rc : enqueue(x, e);
	rc = rc ? rc : scope_lanes_end(&x->lanes, e);
	if (rc)
		return rc;
	if (by_threads(x))
		scope_crew_go(&x->crew);
	return scope_lanes_run(&x->lanes, wall, e);
}

int timed(struct managed *x, double *seconds, struct gn_error *e)
{
	double wall = 0, first, last;
	int rc = 0;

	if (!by_threads(x)) {
		rc = run_lanes(x, &wall, e);
		*seconds = x->row->row.timer == SCOPE_HOST_CLOCK ? wall : scope_lanes_seconds(&x->lanes);
		return rc;
	}
	if ((rc = scope_crew_start(&x->crew, x->threads, touch_by_host, x, e)))
		return rc;
	if (x->parts == 2)
		rc = run_lanes(x, &wall, e);
	/* Also after a failure: the threads wait for it. */
	scope_crew_go(&x->crew);
	scope_crew_join(&x->crew, &first, &last);
	*seconds = wall > last - first ? wall : last - first;
	return rc;
}

/* ---- checking and opening ---- */

int restore_by_host(const struct managed *x, const struct part *p, uint64_t k, uint64_t seed)
{
	uint64_t *const slot = slot_of(x, p, k);
	int wrong = 0;

	for (uint64_t n = 0; n < pages_of(x); n++) {
		wrong += slot[n * PAGE_WORDS] != touch(x->turn, n);
		slot[n * PAGE_WORDS] = scope_pattern(seed, n * PAGE_WORDS);
	}
	return wrong;
}

int restore(const struct managed *x, const struct part *p, uint64_t k, uint64_t seed, struct gn_error *e)
{
	int rc = 0;

	*x->wrong = 0;
	if (p->to == HOST) {
		*x->wrong = (unsigned long long)restore_by_host(x, p, k, seed);
	} else {
		restore_pages<<<BLOCKS, THREADS>>>(slot_of(x, p, k), pages_of(x), x->turn, seed, x->wrong);
		rc = scope_cuda_launched("touched pages", e);
		rc = rc ? rc : scope_cuda_check(cudaDeviceSynchronize(), "touched pages", e);
	}
	if (!rc && *x->wrong)
		rc = gn_error_set(e, -GN_EIO, "wrong data: %llu of %llu pages were not accessed", *x->wrong,
		                  (unsigned long long)pages_of(x));
	return rc;
}

int add_part(struct managed *x, int from, int to, struct gn_error *e)
{
	struct part *p = &x->part[x->parts];
	const uint64_t bytes = x->slots * x->stride;
	int rc;

	p->from = from;
	p->to = to;
	p->lane = x->lanes.count;
	if ((rc = scope_lanes_add(&x->lanes, (uint32_t)(to == HOST ? from : to), e)) ||
	    (rc = scope_cuda_check(cudaMallocManaged((void **)&p->at, bytes), "managed memory", e)))
		return rc;
	x->parts++;
	scope_host_fill(p->at, bytes, SEED * (x->parts + 1));
	return 0;
}

int open_parts(struct managed *x, const struct scope_cell *c, struct gn_error *e)
{
	const int a = (int)scope_cell_arg(c, "from", scope_cell_arg(c, "gpu", 0)),
	          b = (int)scope_cell_arg(c, "to", 0);
	const int from = x->row->from == SCOPE_AT_HOST ? HOST : a;
	const int to = x->row->to == SCOPE_AT_HOST ? HOST : x->row->from == SCOPE_AT_HOST ? a : b;
	int rc = scope_lanes_open(&x->lanes, e);

	rc = rc ? rc
	        : scope_cuda_check(
	              cudaHostAlloc((void **)&x->wrong, 8, cudaHostAllocPortable | cudaHostAllocMapped),
	              "pinned memory", e);
	rc = rc ? rc : add_part(x, from, to, e);
	rc = rc || !x->row->both ? rc : add_part(x, to, from, e);
	for (uint32_t k = 0; k < x->lanes.count && !rc; k++) {
		rc = scope_cuda_use(x->lanes.lane[k].gpu, e);
		rc = rc ? rc : scope_cuda_load(e, touch_pages, restore_pages);
	}
	return rc;
}

/* ---- a row's functions ---- */

int sample_managed(void *state, uint64_t operations, struct scope_sample *s, struct gn_error *e)
{
	struct managed *x = (struct managed *)state;
	int rc;

	x->count = operations < x->slots ? operations : x->slots;
	x->turn++;
	rc = to_begin(x, e);
	rc = rc ? rc : timed(x, &s->seconds, e);
	s->operations = x->count;
	s->bytes = x->count * x->bytes * x->parts;
	return rc;
}

int verify_managed(void *state, struct gn_error *e)
{
	const struct managed *x = (const struct managed *)state;
	int rc = 0;

	for (uint32_t i = 0; i < x->parts && !rc; i++) {
		const struct part *p = &x->part[i];

		rc = scope_cuda_check(cudaSetDevice((int)x->lanes.lane[p->lane].gpu), "GPU", e);
		for (uint64_t k = 0; k < x->count && !rc; k++) {
			const uint64_t seed = SEED * (i + 2) + k * x->stride / 8;

			if (demand(x))
				rc = restore(x, p, k, seed, e);
			/* What was discarded has moved nothing: its bytes are whatever they are. */
			if (rc || x->row->how == SCOPE_DISCARD_BATCH)
				continue;
			rc = p->to == HOST
			         ? scope_host_check(slot_of(x, p, k), x->bytes, seed, e)
			         : scope_gpu_check((uint32_t)p->to, slot_of(x, p, k), x->bytes, seed, e);
		}
	}
	return rc;
}

void close_managed(void *state)
{
	struct managed *x = (struct managed *)state;

	scope_lanes_close(&x->lanes);
	for (struct part &p : x->part)
		(void)cudaFree(p.at);
	if (x->wrong)
		(void)cudaFreeHost(x->wrong);
	(void)cudaGetLastError();
}

int open_managed(const struct scope_cell *c, const struct scope_machine *m, void *state, struct gn_error *e)
{
	struct managed *x = (struct managed *)state;

	(void)m;
	x->row = (const struct scope_managed_row *)c->row;
	x->threads = (uint32_t)scope_cell_arg(c, "threads", 1);
	x->bytes = scope_cell_arg(c, "bytes", 0);
	x->stride = (x->bytes + BLOCK - 1) / BLOCK * BLOCK;
	x->slots = x->stride < ROUND ? ROUND / x->stride : 1;
	return open_parts(x, c, e);
}

} // namespace

const struct scope_functions scope_managed = {sizeof(struct managed), scope_managed_plan, open_managed,
                                              sample_managed,         verify_managed,     close_managed};
