/* SPDX-License-Identifier: Apache-2.0 */
/* warp.c - the warp that puts a member of a replica back. */
#include <store/set/warp.h>

/*
 * On cuda a warp does the steps, and the host is in the room only while one runs. On the cpu machine this
 * thread does them, because the workers may all be busy as long as the program's kernels run.
 */
static int machine_failed(struct gn_error *error)
{
	return gn_error_prefix(error, -GN_EIO, "replica: the machine failed");
}

/* The last launch does nothing any more, if it did nothing yet. */
static void call_off(const struct gn_replica *r)
{
	simt_store_release_sys_u64(&r->back.shared->go, 2 * r->back.launches + 2);
}

/* Launch a warp and wait until it runs. */
static int start_warp(struct gn_replica *r, struct gn_error *error)
{
	const struct gn_back_launch launch = {r->back.shared, ++r->back.launches};
	const struct simt_grid grid = {1, r->lanes, 0};
	const uint64_t deadline = simt_clock_ns() + r->set.base.view.timeout_ns;

	simt_store_release_sys_u64(&launch.shared->go, 2 * launch.number);
	if (simt_launch_on(r->back.stream, &gn_back_do_kernel, grid, &launch, error))
		return machine_failed(error);
	while (simt_load_acquire_sys_u64(&launch.shared->started) != launch.number) {
		if (simt_clock_ns() > deadline) {
			call_off(r);
			return gn_error_set(error, -GN_EBUSY,
			                    "replica: the program's kernels leave no room for a warp; launch "
			                    "fewer blocks, or try again when a kernel has ended");
		}
		simt_relax();
	}
	return 0;
}

/*
 * Enter with a warp that runs. Who is in the room may wait for kernels, and they for the warp's place: so the
 * warp does not wait for the room for long.
 */
int gn_replica_warp_enter(struct gn_replica *r, struct gn_error *error)
{
	int rc;

	if (!r->is_cuda) {
		gn_replica_enter(r);
		return 0;
	}
	for (;;) {
		rc = start_warp(r, error);
		if (rc || !gn_replica_enter_soon(r))
			return rc;
		call_off(r);
	}
}

/* The member is written by now, so wait for room as long as it takes; nobody else waits for this. */
int gn_replica_warp_reenter(struct gn_replica *r, struct gn_error *error)
{
	struct gn_error last;
	int rc;

	while ((rc = gn_replica_warp_enter(r, &last)) == -GN_EBUSY)
		if (simt_stream_wait(r->back.stream, error))
			return machine_failed(error);
	return rc ? gn_error_set(error, rc, "%s", last.text) : 0;
}

void gn_replica_warp_leave(struct gn_replica *r)
{
	if (r->is_cuda)
		call_off(r);
	gn_replica_leave(r);
}

/* In the room, once. */
int gn_replica_step(struct gn_replica *r, enum gn_back_step step, struct gn_error *error)
{
	struct gn_back_args *args = &r->back.shared->args;

	args->step = step;
	memset(&args->result, 0, sizeof args->result);
	if (!r->is_cuda) {
		gn_back_do_on_host(args);
		return 0;
	}
	simt_store_release_sys_u64(&r->back.shared->go, 2 * r->back.launches + 1);
	return simt_stream_wait(r->back.stream, error) ? machine_failed(error) : 0;
}

void gn_replica_back_free(struct gn_replica *r)
{
	struct simt_machine *machine = r->set.base.machine;

	simt_stream_destroy(r->back.stream);
	simt_free(machine, r->back.shared);
	simt_free(machine, r->back.buffer);
	simt_free(machine, r->back.old);
}

int gn_replica_back_make(struct gn_replica *r, struct gn_error *error)
{
	struct simt_machine *machine = r->set.base.machine;
	struct gn_replica_back *b = &r->back;
	const size_t bytes = (size_t)(r->is_cuda ? r->lanes : 1) << GN_BACK_PIECE_MOST_LOG2;

	if (!b->buffer)
		b->buffer = (char *)simt_alloc(machine, bytes, SIMT_DEVICE, error);
	if (!b->shared) {
		b->shared =
		    (struct gn_back_shared *)simt_alloc(machine, sizeof *b->shared, SIMT_PINNED, error);
		if (b->shared)
			memset(b->shared, 0, sizeof *b->shared);
	}
	if (r->maps && !b->old)
		b->old = (uint32_t *)simt_alloc(machine, r->log.map_bytes, SIMT_PINNED, error);
	if (!b->buffer || !b->shared || (r->maps && !b->old))
		return gn_error_set(error, -GN_ENOMEM, "replica: out of memory");
	return r->is_cuda && !b->stream ? simt_stream_create(&b->stream, machine, error) : 0;
}

/* Before the member is touched: is there room for a warp? */
int gn_replica_warp_try(struct gn_replica *r, struct gn_error *error)
{
	const int rc = r->is_cuda ? start_warp(r, error) : 0;

	if (r->is_cuda)
		call_off(r);
	return rc;
}
