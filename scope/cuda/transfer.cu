/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/cuda/transfer.h"

#include "scope/cuda/bulk.h"

#include <stdlib.h>
#include <string.h>

namespace {

enum {
	WARM = 1 << 16,            /* bytes behind the slots, for the operation before the timed ones */
	BY_HOST_CLOCK = 256 << 20, /* bytes of a sample, at least: the words at its end are 5 us of it */
};
const uint64_t ROUND = 16u << 20;

bool reads_only(const struct scope_flow *f)
{
	return f->way.method == SCOPE_READ || f->way.method == SCOPE_LOCAL_READ;
}

bool writes_only(const struct scope_flow *f)
{
	return f->way.method == SCOPE_WRITE || f->way.method == SCOPE_LOCAL_WRITE;
}

unsigned long long *sum_of(const struct scope_flow *f)
{
	return (unsigned long long *)f->sum.at;
}

/* ---- one operation ---- */

int copy(const struct scope_flow *f, uint64_t at, uint64_t bytes, cudaStream_t s, struct gn_error *e)
{
	const bool from = scope_memory_host(&f->from), to = scope_memory_host(&f->to);
	const cudaMemcpyKind kind = from ? (to ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice)
	                                 : (to ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice);

	if (f->way.method == SCOPE_COPY_PEER)
		return scope_cuda_check(cudaMemcpyPeerAsync(f->to.at + at, (int)f->to_gpu, f->from.at + at,
		                                            (int)f->from_gpu, bytes, s),
		                        "cudaMemcpyPeerAsync", e);
	return scope_cuda_check(cudaMemcpyAsync(f->to.at + at, f->from.at + at, bytes, kind, s),
	                        "cudaMemcpyAsync", e);
}

/* The word behind the sum takes what is read for nothing. */
int operate(const struct scope_transfer *t, uint32_t k, uint64_t at, uint64_t bytes, bool warm,
            struct gn_error *e)
{
	const struct scope_flow *f = &t->flow[k];
	const cudaStream_t s = t->lanes.lane[k].stream;

	switch (f->way.method) {
	case SCOPE_COPY_KERNEL:
		return scope_move_copy(f->to.at + at, f->from.at + at, bytes, t->processors, s, e);
	case SCOPE_COPY_BULK:
		return scope_bulk_copy(f->to.at + at, f->from.at + at, bytes, t->processors, s, e);
	case SCOPE_LOCAL_READ:
		return scope_local_read(f->from.at + at, bytes, t->processors, sum_of(f) + warm, s, e);
	case SCOPE_LOCAL_WRITE:
		return scope_local_write(f->to.at + at, bytes, f->seed + at / 8, t->processors, s, e);
	case SCOPE_READ: return scope_move_read(f->from.at + at, bytes, t->width, sum_of(f) + warm, s, e);
	case SCOPE_WRITE: return scope_move_write(f->to.at + at, bytes, f->seed + at / 8, t->width, s, e);
	default: return copy(f, at, bytes, s, e);
	}
}

/*
 * On every lane: what is behind the slots. Brings engines and links up, and pages' translations of nothing
 * that counts.
 */
int warm_lanes(const struct scope_transfer *t, struct gn_error *e)
{
	const uint64_t bytes = t->bytes < WARM ? t->bytes : (uint64_t)WARM;
	int rc = 0;

	for (uint32_t k = 0; k < t->flows && !rc; k++) {
		rc = scope_cuda_check(cudaSetDevice((int)t->flow[k].by), "GPU", e);
		rc = rc ? rc : operate(t, k, t->slots * t->bytes, bytes, true, e);
	}
	return rc;
}

int copy_batch(const struct scope_transfer *t, uint32_t lane, uint64_t operations, struct gn_error *e)
{
	const struct scope_flow *f = &t->flow[lane];
	void *to[SCOPE_MOST_HELD];
	const void *from[SCOPE_MOST_HELD];
	size_t bytes[SCOPE_MOST_HELD], first = 0;
	struct cudaMemcpyAttributes a = {};

	a.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
	for (uint64_t i = 0; i < operations; i++) {
		const uint64_t at = (f->first + i) % t->slots * t->bytes;

		to[i] = f->to.at + at;
		from[i] = f->from.at + at;
		bytes[i] = t->bytes;
	}
	return scope_cuda_check(
	    cudaMemcpyBatchAsync(to, from, bytes, operations, &a, &first, 1, t->lanes.lane[lane].stream),
	    "cudaMemcpyBatchAsync", e);
}

/* Turn by turn, so that calls that wait for the host's part do not all belong to one direction. */
int operate_all(const struct scope_transfer *t, uint64_t operations, struct gn_error *e)
{
	uint32_t gpu = t->flow[0].by;
	int rc = scope_cuda_check(cudaSetDevice((int)gpu), "GPU", e);

	if (!rc && t->flow[0].way.method == SCOPE_COPY_BATCH)
		return copy_batch(t, 0, operations, e); /* which has one flow */
	for (uint64_t i = 0; i < operations && !rc; i++)
		for (uint32_t k = 0; k < t->flows && !rc; k++) {
			const struct scope_flow *f = &t->flow[k];

			if (f->by != gpu)
				rc = scope_cuda_check(cudaSetDevice((int)(gpu = f->by)), "GPU", e);
			for (uint64_t n = 0; n < f->way.times && !rc; n++)
				rc = operate(t, k, (f->first + i * f->way.times + n) % t->slots * t->bytes,
				             t->bytes, false, e);
		}
	return rc;
}

/* ---- the slots of a sample ---- */

typedef int (*range_function)(const struct scope_transfer *t, const struct scope_flow *f, uint64_t at,
                              uint64_t bytes, struct gn_error *e);

/* The slots of the flow's last sample as one range or two. */
int each_range(const struct scope_transfer *t, const struct scope_flow *f, range_function call,
               struct gn_error *e)
{
	const uint64_t count = f->count < t->slots ? f->count : t->slots;
	const uint64_t here = f->first + count <= t->slots ? count : t->slots - f->first;
	const int rc = call(t, f, f->first * t->bytes, here * t->bytes, e);

	return rc || here == count ? rc : call(t, f, 0, (count - here) * t->bytes, e);
}

int poison_range(const struct scope_transfer *t, const struct scope_flow *f, uint64_t at, uint64_t bytes,
                 struct gn_error *e)
{
	(void)t;
	return scope_memory_poison(&f->to, at, bytes, e);
}

int flush_range(const struct scope_transfer *t, const struct scope_flow *f, uint64_t at, uint64_t bytes,
                struct gn_error *e)
{
	const uint32_t line = t->machine->line_bytes;
	int rc = 0;

	if (!writes_only(f) && scope_memory_host(&f->from))
		rc = scope_lines_flush(f->from.at + at, bytes, line, e);
	if (!rc && !reads_only(f) && scope_memory_host(&f->to))
		rc = scope_lines_flush(f->to.at + at, bytes, line, e);
	return rc;
}

int check_range(const struct scope_transfer *t, const struct scope_flow *f, uint64_t at, uint64_t bytes,
                struct gn_error *e)
{
	(void)t;
	return scope_memory_check(&f->to, at, bytes, f->seed, e);
}

/* Before the clock: nothing of what will be written is right, no cache has any of it. */
int prepare(struct scope_transfer *t, uint64_t operations, struct gn_error *e)
{
	int rc = 0;

	for (uint32_t k = 0; k < t->flows && !rc; k++) {
		struct scope_flow *f = &t->flow[k];

		f->first = f->next;
		f->count = operations * f->way.times;
		f->next = (f->next + f->count) % t->slots;
		if (reads_only(f)) {
			rc = scope_cuda_check(cudaSetDevice((int)f->by), "GPU", e);
			rc = rc ? rc : scope_cuda_check(cudaMemset(f->sum.at, 0, 16), "sum", e);
			rc = rc ? rc : scope_cuda_check(cudaDeviceSynchronize(), "sum", e);
		} else {
			rc = each_range(t, f, poison_range, e);
		}
		if (!rc && t->row->flags & SCOPE_FLUSHED)
			rc = each_range(t, f, flush_range, e);
	}
	for (uint32_t g = 0; g < SCOPE_MOST_GPUS && !rc; g++)
		if (t->flush[g].memory)
			rc = scope_flush_run(&t->flush[g], e);
	return rc;
}

/* ---- opening ---- */

int open_flow(struct scope_transfer *t, struct scope_flow *f, uint32_t k, struct gn_error *e)
{
	const uint64_t bytes = t->slots * t->bytes + WARM;
	int rc = 0;

	f->seed = (uint64_t)(k + 1) << 40;
	if (!writes_only(f) &&
	    !(rc = scope_memory_open(&f->from, f->way.from, f->from_gpu, t->node, bytes, e)))
		rc = scope_memory_fill(&f->from, 0, bytes, f->seed, e);
	if (!rc && !reads_only(f) &&
	    !(rc = scope_memory_open(&f->to, f->way.to, f->to_gpu, t->node, bytes, e)))
		rc = scope_memory_poison(&f->to, 0, bytes, e);
	if (!rc && reads_only(f))
		rc = scope_memory_open(&f->sum, SCOPE_DEVICE, f->by, SCOPE_ANYWHERE, 4096, e);
	return rc;
}

int open_gpu(struct scope_transfer *t, uint32_t gpu, struct gn_error *e)
{
	const bool cold = (t->row->flags & SCOPE_COLD) && !t->flush[gpu].memory;
	int rc = scope_cuda_use(gpu, e);

	rc = rc ? rc : scope_move_load(e);
	rc = rc ? rc : scope_bulk_load(e);
	return rc || !cold ? rc : scope_flush_open(&t->flush[gpu], t->machine, gpu, e);
}

/* Peer access comes first: memory that is there already becomes reachable with it. */
int open_gpus(struct scope_transfer *t, const struct scope_flow *f, struct gn_error *e)
{
	const bool on = t->row->flags & SCOPE_PEERS, off = t->row->flags & SCOPE_NO_PEERS;
	int rc = open_gpu(t, f->from_gpu, e);

	rc = rc ? rc : open_gpu(t, f->to_gpu, e);
	return rc || !(on || off) ? rc : scope_peer(f->from_gpu, f->to_gpu, on, e);
}

int build_ways(struct scope_transfer *t, const struct scope_cell *c, struct gn_error *e)
{
	const uint32_t gpu[2] = {(uint32_t)scope_cell_arg(c, "from", scope_cell_arg(c, "gpu", 0)),
	                         (uint32_t)scope_cell_arg(c, "to", 0)};
	int rc = 0;

	for (uint32_t k = 0; k < t->row->ways && !rc; k++) {
		const struct scope_way *w = &t->row->way[k];

		rc = scope_transfer_add(t, w, gpu[w->from_gpu], gpu[w->to_gpu], gpu[w->by], e);
	}
	return rc;
}

/* No flow is alone on the machine: an operation goes round over more than any cache has. */
uint64_t slots_of(const struct scope_transfer *t)
{
	uint64_t round = ROUND;

	for (uint32_t g = 0; t->row->flags & SCOPE_COLD && g < t->machine->gpus; g++)
		round =
		    t->machine->gpu[g].l2_bytes * 5 / 2 > round ? t->machine->gpu[g].l2_bytes * 5 / 2 : round;
	return t->bytes < round ? round / t->bytes : 1;
}

int open_all(struct scope_transfer *t, const struct scope_cell *c, struct gn_error *e)
{
	int rc = scope_node_enter(&t->visit, t->node, e);

	rc = rc ? rc : scope_lanes_open(&t->lanes, e);
	rc = rc ? rc : (t->row->build ? t->row->build : build_ways)(t, c, e);
	for (uint32_t k = 0; k < t->flows && !rc; k++)
		rc = open_gpus(t, &t->flow[k], e);
	for (uint32_t k = 0; k < t->flows && !rc; k++)
		rc = open_flow(t, &t->flow[k], k, e);
	if (!rc && t->row->flags & SCOPE_FLUSHED)
		rc = scope_lines_check(t->machine->line_bytes, e);
	/* Once without a gate: what CUDA loads or maps at the first use is there. */
	rc = rc ? rc : operate_all(t, 1, e);
	for (uint32_t k = 0; k < t->flows && !rc; k++)
		rc = scope_cuda_check(cudaStreamSynchronize(t->lanes.lane[k].stream), "first operation", e);
	return rc;
}

uint64_t least_by_host(const struct scope_transfer *t)
{
	const uint64_t operations = BY_HOST_CLOCK / t->bytes;

	return operations < SCOPE_MOST_HELD ? operations : (uint64_t)SCOPE_MOST_HELD;
}

double seconds_of(const struct scope_transfer *t, double wall)
{
	double most = 0;
	bool all = true;

	for (uint32_t k = 0; k < t->flows; k++)
		all = all && t->flow[k].way.counted;
	if (t->row->flags & SCOPE_WALL && all)
		return wall;
	if (all)
		return scope_lanes_seconds(&t->lanes);
	for (uint32_t k = 0; k < t->flows; k++)
		if (t->flow[k].way.counted && scope_lane_seconds(&t->lanes, k) > most)
			most = scope_lane_seconds(&t->lanes, k);
	return most;
}

} // namespace

int scope_transfer_add(struct scope_transfer *t, const struct scope_way *way, uint32_t from_gpu,
                       uint32_t to_gpu, uint32_t by, struct gn_error *e)
{
	if (t->flows == t->room) {
		const uint32_t room = t->room ? 2 * t->room : 2;
		void *larger = realloc(t->flow, room * sizeof *t->flow);

		if (!larger)
			return gn_error_set(e, -GN_ENOMEM, "out of memory for %u flows", room);
		t->flow = (struct scope_flow *)larger;
		t->room = room;
	}
	struct scope_flow *f = &t->flow[t->flows];

	*f = scope_flow{};
	f->way = *way;
	f->from_gpu = from_gpu;
	f->to_gpu = to_gpu;
	f->by = by;
	const int rc = scope_lanes_add(&t->lanes, by, e);

	t->flows += !rc;
	return rc;
}

int scope_transfer_open(const struct scope_cell *c, const struct scope_machine *m, void *state,
                        struct gn_error *e)
{
	struct scope_transfer *t = (struct scope_transfer *)state;

	t->row = (const struct scope_transfer_row *)c->row;
	t->machine = m;
	t->bytes = scope_cell_arg(c, "bytes", 0);
	t->width = (uint32_t)scope_cell_arg(c, "width", 16);
	t->processors = m->gpu[0].processors;
	/* Where there is one node only, all memory is there, and no permission is needed to have it so. */
	t->node = t->row->flags & SCOPE_NODES && m->nodes > 1 ? (int32_t)scope_cell_arg(c, "node", 0)
	                                                      : SCOPE_ANYWHERE;
	t->slots = slots_of(t);
	return open_all(t, c, e);
}

int scope_transfer_sample(void *state, uint64_t operations, struct scope_sample *s, struct gn_error *e)
{
	struct scope_transfer *t = (struct scope_transfer *)state;
	const bool gated = !(t->row->flags & SCOPE_UNGATED);
	double wall = 0;
	int rc;

	if (t->row->flags & SCOPE_WALL && operations < least_by_host(t))
		operations = least_by_host(t);
	for (uint32_t k = 0; k < t->flows; k++)
		if (gated && operations * t->flow[k].way.times > SCOPE_MOST_HELD)
			operations = SCOPE_MOST_HELD / t->flow[k].way.times;
	rc = prepare(t, operations, e);
	rc = rc || !gated ? rc : scope_lanes_hold(&t->lanes, e);
	/* The host's clock begins with the gate. */
	rc = rc || !gated || t->row->flags & SCOPE_WALL ? rc : warm_lanes(t, e);
	rc = rc ? rc : scope_lanes_begin(&t->lanes, e);
	rc = rc ? rc : operate_all(t, operations, e);
	rc = rc ? rc : scope_lanes_end(&t->lanes, e);
	rc = rc ? rc : scope_lanes_run(&t->lanes, &wall, e);
	if (rc)
		return rc;
	s->seconds = seconds_of(t, wall);
	s->operations = operations;
	s->bytes = 0;
	for (uint32_t k = 0; k < t->flows; k++)
		s->bytes += t->flow[k].way.counted ? t->flow[k].count * t->bytes : 0;
	s->second = t->row->row.second
	                ? (double)t->flow[0].count * (double)t->bytes / scope_lane_seconds(&t->lanes, 0)
	                : 0;
	return 0;
}

/* What a reading kernel summed up, against the sum of the pattern itself. */
static int verify_sum(const struct scope_transfer *t, const struct scope_flow *f, uint32_t k,
                      struct gn_error *e)
{
	unsigned long long sum[2] = {0, 0};
	int rc = scope_cuda_check(cudaSetDevice((int)f->by), "GPU", e);

	rc = rc ? rc : scope_cuda_check(cudaMemset(sum_of(f) + 1, 0, 8), "expected sum", e);
	rc = rc ? rc : scope_cuda_check(cudaDeviceSynchronize(), "expected sum", e);
	for (uint64_t i = 0; i < f->count && !rc; i++)
		rc = scope_move_expected(t->bytes, f->seed + (f->first + i) % t->slots * t->bytes / 8,
		                         sum_of(f) + 1, t->lanes.lane[k].stream, e);
	rc = rc ? rc : scope_cuda_check(cudaStreamSynchronize(t->lanes.lane[k].stream), "expected sum", e);
	rc = rc ? rc
	        : scope_cuda_check(cudaMemcpy(sum, f->sum.at, sizeof sum, cudaMemcpyDeviceToHost), "sum", e);
	if (!rc && sum[0] != sum[1])
		rc = gn_error_set(
		    e, -GN_EIO, "wrong data: the sum of the words that GPU %u read is %llx, but must be %llx",
		    f->by, sum[0], sum[1]);
	return rc;
}

int scope_transfer_verify(void *state, struct gn_error *e)
{
	const struct scope_transfer *t = (const struct scope_transfer *)state;
	int rc = 0;

	for (uint32_t k = 0; k < t->flows && !rc; k++)
		rc = reads_only(&t->flow[k]) ? verify_sum(t, &t->flow[k], k, e)
		                             : each_range(t, &t->flow[k], check_range, e);
	return rc;
}

void scope_transfer_close(void *state)
{
	struct scope_transfer *t = (struct scope_transfer *)state;

	scope_lanes_close(&t->lanes);
	for (uint32_t k = 0; k < t->flows; k++) {
		struct scope_flow *f = &t->flow[k];

		scope_memory_close(&f->from);
		scope_memory_close(&f->to);
		scope_memory_close(&f->sum);
		if (t->row->flags & SCOPE_PEERS)
			(void)scope_peer(f->from_gpu, f->to_gpu, false, NULL);
	}
	for (uint32_t g = 0; g < SCOPE_MOST_GPUS; g++)
		if (t->flush[g].memory)
			scope_flush_close(&t->flush[g]);
	scope_node_leave(&t->visit);
	free(t->flow);
}

const struct scope_functions scope_transfers = {sizeof(struct scope_transfer), scope_transfer_plan,
                                                scope_transfer_open,           scope_transfer_sample,
                                                scope_transfer_verify,         scope_transfer_close};
