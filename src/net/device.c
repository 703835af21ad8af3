/* SPDX-License-Identifier: Apache-2.0 */
/* device.c - starts and ends the kernel that applies messages, and asks it for tails. */
#include <net/device.h>
#include <net/node.h>
#include <simt/machine.h>

#include <stdlib.h>
#include <string.h>

/* ---- the kernel ---- */

uint32_t gn__device_half(const struct gn_net *net, const struct simt_info *info)
{
	const uint32_t blocks = info->processors / (GN_DEVICE_SHARE * net->sharing);
	const uint32_t half = blocks > 2 ? (blocks - 1) / 2 : 1;

	if (!info->is_cuda)
		return GN_DEVICE_CPU_TEAMS;
	return half < GN_DEVICE_TEAMS ? half : (uint32_t)GN_DEVICE_TEAMS;
}

uint32_t gn__device_blocks(const struct gn_net *net, const struct simt_info *info, int sorts)
{
	return (sorts ? 2 : 1) * gn__device_half(net, info) + 1;
}

int gn__device_fits(const struct gn_net *net, const struct simt_info *info, int sorts)
{
	return !info->is_cuda || gn__device_blocks(net, info, sorts) * net->sharing < info->processors;
}

static int device_memory(struct gn_net *net, struct gn_error *error)
{
	struct gn_device *d = net->device;
	const size_t bytes = sizeof(struct gn_device_job) * (d->teams + 1) * GN_DEVICE_DEPTH;
	const size_t near = sizeof(uint64_t) * GN_PACKET_WORDS * d->teams;

	d->job = (struct gn_device_job *)simt_alloc(d->kernel.machine, bytes, SIMT_PINNED, error);
	if (!d->job)
		return gn_error_set(
		    error, -GN_ENOMEM,
		    "cannot allocate %zu MiB of pinned host memory for node %u; start fewer nodes",
		    bytes >> 20, net->route.node);
	d->near = (uint64_t *)simt_alloc(d->kernel.machine, near, SIMT_DEVICE, error);
	if (!d->near)
		return gn_error_set(error, -GN_ENOMEM,
		                    "cannot allocate %zu KiB of device memory for node %u; start fewer nodes",
		                    near >> 10, net->route.node);
	return 0;
}

int gn__device_create(struct gn_net *net, struct gn_error *error)
{
	struct gn_device *d = (struct gn_device *)calloc(1, sizeof *d);
	struct simt_info info;
	int rc;

	net->device = d;
	if (d)
		d->under_way = (uint32_t *)calloc(net->route.nodes, sizeof *d->under_way);
	if (!d || !d->under_way)
		return gn_error_set(error, -GN_ENOMEM, "node %u: out of host memory", net->route.node);
	rc = gn__resident_open(&d->kernel, net, error);
	if (rc)
		return rc;
	simt_describe(d->kernel.machine, &info);
	if (!gn__device_fits(net, &info, net->each != 0))
		return gn_error_set(error, -GN_EINVAL,
		                    "the network kernels of %u nodes do not fit on a GPU with %u "
		                    "multiprocessors; start fewer nodes per GPU",
		                    net->sharing, info.processors);
	d->teams = gn__device_half(net, &info);
	if (info.is_cuda)
		simt__take_processors(net->machine,
		                      gn__device_blocks(net, &info, net->each != 0) * net->sharing);
	return device_memory(net, error);
}

void gn__device_destroy(struct gn_net *net)
{
	struct gn_device *d = net->device;

	if (!d)
		return;
	if (d->kernel.machine) {
		simt_free(d->kernel.machine, d->job);
		simt_free(d->kernel.machine, d->near);
	}
	gn__resident_close(&d->kernel);
	free(d->under_way);
	free(d);
}

/* Has the kernel answered the first question, its sorters too? @tails  keeps the answer */
static int has_answered(struct gn_net *net, const uint64_t **tails)
{
	if (!*tails)
		*tails = gn__device_tails(net);
	return *tails && (!net->sort || gn__sort_is_flushed(net, gn__device_flush(net)));
}

/* Wait until the kernel answers, so that it is there before the program's kernels. */
static int await_kernel(struct gn_net *net)
{
	const uint64_t deadline = simt_clock_ns() + net->options.timeout_ns;
	const uint64_t *tails = NULL;
	struct gn_error error;

	gn__device_ask_tails(net);
	while (!has_answered(net, &tails)) {
		if (simt_clock_ns() > deadline) {
			gn_error_set(
			    &error, -GN_ETIMEDOUT,
			    "the network kernel of node %u did not begin within %llu ms; the machine "
			    "has no room for it, so let no other kernels stay there",
			    net->route.node, (unsigned long long)(net->options.timeout_ns / 1000000));
			return gn__network_fail(net, net->route.node, &error);
		}
		simt_relax();
	}
	return 0;
}

int gn__device_start(struct gn_net *net)
{
	struct gn_device *d = net->device;
	struct gn_device_args a;
	struct simt_grid grid = {d->teams + 1, 0, gn__device_shared_bytes(net->sort ? net->route.nodes : 0)};
	struct simt_info info;
	uint32_t warps;
	int rc;

	memset(&a, 0, sizeof a);
	a.net = net->view;
	a.job = d->job;
	a.near = d->near;
	a.teams = d->teams;
	if (net->sort)
		a.sort = net->sort->args;
	grid.blocks += a.sort.streams;
	simt_describe(d->kernel.machine, &info);
	warps = info.is_cuda ? GN_DEVICE_MOST_WARPS : info.warp_width > 8 ? 1 : GN_DEVICE_CPU_WARPS;
	grid.block_threads = info.warp_width * warps;
	rc = gn__resident_start(&d->kernel, net, &gn_device_work_kernel, grid, &a);
	return rc ? rc : await_kernel(net);
}

/*
 * Wait for the jobs of a ring at the end. They belong to a run that failed, so their replies are dropped. A
 * job never waits. So if one is not done by the deadline, its kernel has failed, and the wait for its stream
 * reports that.
 */
static void end_ring(struct gn_device *d, uint32_t ring, uint64_t deadline)
{
	while (gn__device_is_full(&d->ring[ring])) {
		while (!gn__device_oldest_is_done(d, ring)) {
			if (simt_clock_ns() > deadline)
				return;
			simt_relax();
		}
		d->ring[ring].oldest++;
	}
	gn__device_submit(d, ring, GN_DEVICE_END, 0);
}

void gn__device_stop(struct gn_net *net)
{
	const uint64_t deadline = simt_clock_ns() + net->options.timeout_ns;
	struct gn_device *d = net->device;

	if (!d->kernel.started)
		return;
	for (uint32_t k = 0; k < d->teams + 1; k++)
		end_ring(d, k, deadline);
	gn__resident_wait(&d->kernel, net);
}

uint32_t gn__device_flush(const struct gn_net *net)
{
	return net->device->ring[net->device->teams].next;
}

int gn__device_ask_tails(struct gn_net *net)
{
	struct gn_device_ring *r = &net->device->ring[net->device->teams];

	if (r->next != r->oldest)
		return -GN_EAGAIN;
	gn__device_submit(net->device, net->device->teams, GN_DEVICE_TAILS, 0);
	return 0;
}

const uint64_t *gn__device_tails(struct gn_net *net)
{
	struct gn_device *d = net->device;
	const struct gn_device_job *job = gn__device_job(d, d->teams, d->ring[d->teams].oldest);

	if (!gn__device_oldest_is_done(d, d->teams))
		return NULL;
	d->ring[d->teams].oldest++;
	return job->result;
}
