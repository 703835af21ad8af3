/* SPDX-License-Identifier: Apache-2.0 */
#include <sim/record.h>

#include <sim/lanes.h>
#include <simt/check.h>
#include <simt/machine.h>
#include <simt/machine_cpu.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Memory that is observed. */
struct area {
	uint64_t host, bytes; /* no bytes: it was given back */
	uint64_t address;     /* in the stream */
};

struct recorder {
	struct simt_machine base; /* first */
	struct simt__observer observer;
	struct simt_stream own;
	struct simt__worker worker;
	struct simt__launch launch;
	const struct simt_kernel *kernel; /* that runs */
	struct sim_lanes *warp;           /* of the launch */
	uint32_t warps;                   /* of a block */
	struct area *area;
	uint32_t areas, room, last; /* last: where the last access was */
	uint64_t pages;
	struct sim_stream_writer writer;
	struct gn_error failure; /* of recording */
};

static struct recorder *recorder_of(const struct simt_machine *machine)
{
	return (struct recorder *)(uintptr_t)machine;
}

/* ---- memory ---- */

static int add_area(struct recorder *r, const void *host, uint64_t bytes)
{
	struct area *a;

	if (r->areas == r->room) {
		a = (struct area *)realloc(r->area, (2 * r->room + 8) * sizeof *a);
		if (!a)
			return -GN_ENOMEM;
		r->area = a;
		r->room = 2 * r->room + 8;
	}
	a = &r->area[r->areas++];
	a->host = (uint64_t)(uintptr_t)host;
	a->bytes = bytes;
	a->address = r->pages * SIM_PAGE_BYTES;
	r->pages += (bytes + SIM_PAGE_BYTES - 1) / SIM_PAGE_BYTES;
	return 0;
}

static void remove_area(struct recorder *r, const void *host)
{
	for (uint32_t k = 0; k < r->areas; k++)
		if (r->area[k].host == (uint64_t)(uintptr_t)host)
			r->area[k].bytes = 0;
}

static int inside(const struct area *a, uint64_t host)
{
	return host - a->host < a->bytes;
}

/* The address in the stream; 0: it is a lane's own memory, a block's or the arguments. */
static int find(struct recorder *r, uint64_t *address)
{
	if (!r->areas)
		return 0;
	for (uint32_t k = 0; !inside(&r->area[r->last], *address); k++) {
		if (k == r->areas)
			return 0;
		r->last = k;
	}
	*address += r->area[r->last].address - r->area[r->last].host;
	return 1;
}

static void *rec_alloc(struct simt_machine *machine, size_t bytes, enum simt_memory where,
                       struct gn_error *error)
{
	void *memory = simt__cpu_alloc(machine, bytes, where, error);

	if (memory && add_area(recorder_of(machine), memory, bytes)) {
		simt__cpu_free(machine, memory);
		gn_error_set(error, -GN_ENOMEM, "no memory to record %zu bytes", bytes);
		return NULL;
	}
	return memory;
}

static void rec_free(struct simt_machine *machine, void *memory)
{
	remove_area(recorder_of(machine), memory);
	simt__cpu_free(machine, memory);
}

static int rec_pin(struct simt_machine *machine, void *memory, size_t bytes, void **device,
                   struct gn_error *error)
{
	*device = memory;
	return add_area(recorder_of(machine), memory, bytes)
	           ? gn_error_set(error, -GN_ENOMEM, "out of memory")
	           : 0;
}

static void rec_unpin(struct simt_machine *machine, void *memory, size_t bytes)
{
	(void)bytes;
	remove_area(recorder_of(machine), memory);
}

/* ---- lanes ---- */

static struct sim_lanes *warp_of(const struct recorder *r, const struct simt__lane *lane)
{
	return &r->warp[(uint64_t)lane->block * r->warps + lane->thread / SIM_STREAM_LANES];
}

static void see(struct simt__observer *observer, const struct simt__fiber *f, const struct simt__seen *seen)
{
	struct recorder *r = (struct recorder *)((char *)observer - offsetof(struct recorder, observer));
	struct simt__seen s = *seen;

	if (s.kind == SIMT__SEEN_BLOCK || s.kind == SIMT__SEEN_BARRIER || find(r, &s.address))
		sim_lanes_see(warp_of(r, &f->lane), f->lane.lane, &s);
}

/* A lane, from its beginning to its end. */
static void body(const void *arguments)
{
	struct recorder *r =
	    (struct recorder *)((char *)simt__observer - offsetof(struct recorder, observer));

	r->kernel->cpu(arguments);
	sim_lanes_end(warp_of(r, simt__self), simt__self->lane);
}

/* ---- launches ---- */

static int begin(struct recorder *r, struct simt_grid grid)
{
	r->warps = (grid.block_threads + SIM_STREAM_LANES - 1) / SIM_STREAM_LANES;
	if (r->warps > SIM_STREAM_MOST_WARPS || grid.blocks > SIM_STREAM_MOST_BLOCKS)
		return gn_error_set(&r->failure, -GN_EFBIG,
		                    "a grid of %u blocks of %u threads is too large; the machine sim runs at "
		                    "most %d blocks of %d threads",
		                    grid.blocks, grid.block_threads, SIM_STREAM_MOST_BLOCKS,
		                    SIM_STREAM_MOST_WARPS * SIM_STREAM_LANES);
	r->warp = (struct sim_lanes *)calloc((size_t)grid.blocks * r->warps, sizeof *r->warp);
	if (!r->warp)
		return gn_error_set(&r->failure, -GN_ENOMEM, "out of memory for %u blocks", grid.blocks);
	for (uint64_t k = 0; k < (uint64_t)grid.blocks * r->warps; k++) {
		sim_lanes_begin(&r->warp[k],
		                grid.block_threads - (uint32_t)(k % r->warps) * SIM_STREAM_LANES);
	}
	return 0;
}

/* Kernels that are not observed leave nothing: then there is no launch in the stream. */
static int write_launch(struct recorder *r, struct simt_grid grid)
{
	const uint64_t count = (uint64_t)grid.blocks * r->warps;
	struct sim_code *codes = (struct sim_code *)calloc(count, sizeof *codes);
	struct sim_stream_head head;
	uint64_t seen = 0;
	int rc = 0;

	if (!codes)
		return gn_error_set(&r->failure, -GN_ENOMEM, "out of memory for %u blocks", grid.blocks);
	for (uint64_t k = 0; k < count; k++) {
		codes[k] = r->warp[k].code;
		seen |= codes[k].used > 1 || codes[k].failed;
	}
	memset(&head, 0, sizeof head);
	head.kind = 1;
	head.pages = r->pages;
	head.blocks = grid.blocks;
	head.warps = r->warps;
	strncpy(head.name, r->kernel->name, SIM_STREAM_NAME - 1);
	if (seen)
		rc = sim_stream_put_launch(&r->writer, &head, codes, &r->failure);
	free(codes);
	return rc;
}

static int run(struct recorder *r, struct simt_grid grid, const void *arguments, struct gn_error *error)
{
	const struct simt_kernel observed = {r->kernel->name, r->kernel->argument_bytes, body, NULL};

	simt__launch_init(&r->launch, &observed, grid, arguments);
	simt__observer = &r->observer;
	simt__worker_run(&r->worker, &r->launch);
	simt__observer = NULL;
	if (!r->launch.error.code)
		return 0;
	simt__random_reset(r->worker.check);
	return gn_error_set(error, r->launch.error.code, "%s", r->launch.error.text);
}

static int rec_launch(struct simt_stream *stream, const struct simt_kernel *kernel, struct simt_grid grid,
                      const void *arguments, struct gn_error *error)
{
	struct recorder *r = recorder_of(stream->machine);
	int rc = r->failure.code;

	r->kernel = kernel;
	if (!rc)
		rc = begin(r, grid);
	if (!rc)
		rc = run(r, grid, arguments, error);
	if (!rc)
		rc = write_launch(r, grid);
	if (r->failure.code)
		gn_error_set(error, r->failure.code, "%s", r->failure.text);
	for (uint64_t k = 0; r->warp && k < (uint64_t)grid.blocks * r->warps; k++)
		sim_lanes_fini(&r->warp[k]);
	free(r->warp);
	r->warp = NULL;
	return rc;
}

static int rec_wait(struct simt_stream *stream, struct gn_error *error)
{
	(void)error;
	(void)stream;
	return 0; /* launches are over when they return */
}

static int rec_move(struct simt_stream *stream, void *to, const void *from, size_t bytes,
                    struct gn_error *error)
{
	(void)error;
	(void)stream;
	if (bytes)
		memmove(to, from, bytes);
	return 0;
}

/* ---- the machine ---- */

static int rec_prepare(struct simt_machine *machine, const struct simt_kernel *kernel, struct gn_error *error)
{
	(void)error;
	(void)machine;
	(void)kernel;
	return 0;
}

static void rec_info(const struct simt_machine *machine, struct simt_info *info)
{
	(void)machine;
	strcpy(info->name, "sim");
	info->processors = 1;
	info->warp_width = SIM_STREAM_LANES;
	info->memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGE_SIZE);
	info->resident_threads = SIM_RECORD_THREADS;
}

static void rec_close(struct simt_machine *machine)
{
	struct recorder *r = recorder_of(machine);

	simt__worker_fini(&r->worker);
	simt__random_free(r->worker.check);
	free(r->area);
	free(r);
}

static int no_stream(struct simt_stream **stream, struct simt_machine *machine, struct gn_error *error)
{
	(void)stream;
	(void)machine;
	return gn_error_set(error, -GN_ENOTSUP, "the machine sim has no streams besides its own");
}

static int no_adoption(struct simt_stream **stream, struct simt_machine *machine, void *foreign,
                       struct gn_error *error)
{
	(void)foreign;
	return no_stream(stream, machine, error);
}

static void no_end(struct simt_stream *stream)
{
	(void)stream;
}

static void *no_handle(const struct simt_stream *stream)
{
	(void)stream;
	return NULL;
}

static int no_reach(struct simt_machine *machine, struct simt_machine *other)
{
	return machine == other ? 0 : -GN_ENOTSUP;
}

static int no_export(struct simt_machine *machine, void *memory, struct simt_exported *exported)
{
	(void)machine;
	(void)memory;
	(void)exported;
	return -GN_ENOTSUP;
}

static int no_import(struct simt_machine *machine, const struct simt_exported *exported, void **memory)
{
	(void)exported;
	(void)memory;
	return no_reach(machine, NULL);
}

static void no_unimport(struct simt_machine *machine, const struct simt_exported *exported, void *memory)
{
	(void)machine;
	(void)exported;
	(void)memory;
}

static void rec_reside(struct simt_machine *machine, int more)
{
	(void)machine;
	(void)more;
}

static const struct simt_machine_ops ops = {rec_alloc, rec_free,   rec_pin,     rec_unpin,   rec_prepare,
                                            rec_info,  rec_close,  no_stream,   no_adoption, no_end,
                                            no_handle, rec_launch, rec_wait,    rec_move,    no_reach,
                                            no_export, no_import,  no_unimport, rec_reside,  NULL};

int sim_record_open(struct simt_machine **machine, FILE *to, uint64_t seed, struct gn_error *error)
{
	struct recorder *r = (struct recorder *)calloc(1, sizeof *r);
	struct simt__check *turns = simt__random_new(seed);
	int rc = r && turns ? 0 : gn_error_set(error, -GN_ENOMEM, "out of memory for a machine");

	if (!rc)
		rc = sim_stream_begin(&r->writer, to, error);
	if (rc) {
		simt__random_free(turns);
		free(r);
		return rc;
	}
	r->base.ops = &ops;
	r->base.own = &r->own;
	r->own.machine = &r->base;
	r->observer.see = see;
	simt__worker_init(&r->worker, 0, SIM_STREAM_LANES, SIM_RECORD_THREADS);
	r->worker.check = turns;
	*machine = &r->base;
	return 0;
}

int sim_record_end(struct simt_machine *machine, struct gn_error *error)
{
	struct recorder *r = recorder_of(machine);

	if (r->failure.code)
		return gn_error_set(error, r->failure.code, "%s", r->failure.text);
	return sim_stream_end(&r->writer, error);
}
