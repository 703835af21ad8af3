/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_rate.c - how many commands a second the threads of a machine submit and complete; one JSON object on
 * stdout.
 *
 *     bench_queue_rate [machine=cpu] [each=64] [runs=3]
 *
 *   nothing   a controller that runs on the machine itself, a warp for each queue pair, and completes every
 *             command at once: what the queue's own code can do. Entries and doorbells lie in the machine's
 *             memory
 *   copies    memq: threads of the host copy 512 bytes for each command, in host memory
 *
 * Each with many queue pairs, and with one. A thread takes a slot, posts a read, waits and gives the slot
 * back, `each` times. A command that fails ends the program with exit status 1.
 */
#include <string.h>

#include <grapnel/nvmeq.h>
#include <grapnel/store.h>

#include "support/engine.h"

enum { DEPTH = 1024, BLOCK = 512, WIDTH = 32, BUFFER = 4096, MOST = 128 };

struct users_args {
	const struct gn_nvmeq *queue; /* [queues]; blocks take turns */
	uint32_t queues;
	uint32_t each;    /* commands of a thread */
	uint32_t *left;   /* threads that have not ended */
	uint32_t *failed; /* commands */
};

SIMT_FN int use(const struct gn_nvmeq *q, uint64_t lba)
{
	const uint64_t deadline = simt_clock_ns() + 20000000000ull;
	uint32_t cid, status;
	int rc = gn_nvmeq_begin(q, deadline, &cid);

	if (rc)
		return rc;
	rc = gn_nvmeq_post(q, cid, GN_NVME_READ, lba, 1);
	rc = rc ? rc : gn_nvmeq_wait(q, cid, deadline, &status);
	if (rc != -GN_ETIMEDOUT)
		gn_nvmeq_end(q, cid);
	return rc;
}

SIMT_FN void use_queues(const struct users_args *a)
{
	const struct gn_nvmeq *q = &a->queue[simt_block() % a->queues];
	uint32_t failed = 0;

	for (uint32_t k = 0; k < a->each; k++)
		failed += use(q, (simt_global_thread() + k) & 1023) != 0;
	if (failed)
		simt_add_relaxed_dev_u32(a->failed, failed);
	simt_add_acq_rel_dev_u32(a->left, (uint32_t)-1);
}
SIMT_KERNEL(use_queues, struct users_args)

/* ---- a controller that does nothing ---- */

/* Complete what the doorbell lets it, a command a lane. Returns how many. */
SIMT_FN uint32_t complete_some(const struct gn_nvmeq *q, uint32_t done)
{
	const uint32_t mask = q->depth - 1, lane = simt_lane(), width = simt_warp_width();
	const uint32_t posted = (simt_load_acquire_dev_u32(q->sq_doorbell) - done) & mask;
	const uint32_t unseen = (done - simt_load_acquire_dev_u32(q->cq_doorbell)) & mask;
	const uint32_t room = q->depth - 1 - unseen;
	uint32_t some = posted < room ? posted : room;

	some = simt_shfl_u32(simt_whole_warp(), some < width ? some : width, 0);
	simt_warp_sync(simt_whole_warp()); /* what lane 0 has acquired, all lanes see */
	if (lane < some) {
		const uint32_t at = done + lane, cid = q->sq[at & mask].cid;

		simt_store_release_dev_u32((uint32_t *)(void *)&q->cq[at & mask].cid,
		                           cid | (~(at >> q->depth_log2) & 1) << 16);
	}
	simt_warp_sync(simt_whole_warp());
	return some;
}

SIMT_FN void do_nothing(const struct users_args *a)
{
	const uint32_t warp = (uint32_t)(simt_global_thread() / simt_warp_width());
	const struct gn_nvmeq *q = &a->queue[warp];
	uint32_t done = 0;

	while (warp < a->queues && simt_shfl_u32(simt_whole_warp(), simt_load_acquire_dev_u32(a->left), 0)) {
		const uint32_t some = complete_some(q, done);

		done += some;
		if (!some)
			simt_relax();
	}
}
SIMT_KERNEL(do_nothing, struct users_args)

/* ---- measuring ---- */

struct rate {
	struct simt_machine *m;
	struct simt_grid users;
	struct users_args args;
	struct gn_nvmeq queue[MOST]; /* of the controller that does nothing */
	struct gn_nvmeq near[MOST];  /* the same, with entries and doorbells in the machine's memory */
};

static void start(struct rate *r, uint32_t queues)
{
	const uint32_t left = r->users.blocks * r->users.block_threads, none = 0;

	r->args.queues = queues;
	bench_must_run(simt_move(r->m, r->args.left, &left, sizeof left, &bench_error));
	bench_must_run(simt_move(r->m, r->args.failed, &none, sizeof none, &bench_error));
}

static void check(struct rate *r)
{
	uint32_t failed;

	bench_must_run(simt_move(r->m, &failed, r->args.failed, sizeof failed, &bench_error));
	bench_must(failed ? -GN_EIO : 0, "commands failed");
}

static double commands(const struct rate *r)
{
	return (double)r->users.blocks * r->users.block_threads * r->args.each;
}

/* Millions a second. */
static double run_nothing(struct rate *r, uint32_t queues)
{
	/* a block of cpu runs to its end before the next one, so all stand in one */
	const struct simt_grid controllers = {(queues + 3) / 4, 4 * WIDTH, 0};
	struct simt_stream *stream;
	struct gn_error e;
	double seconds;

	start(r, queues);
	bench_must(simt_stream_create(&stream, r->m, &e), e.text);
	bench_must_run(simt_launch_on(stream, &do_nothing_kernel, controllers, &r->args, &bench_error));
	seconds = bench_launch(r->m, &use_queues_kernel, r->users, &r->args);
	bench_must_run(simt_stream_wait(stream, &bench_error));
	simt_stream_destroy(stream);
	check(r);
	return 1e-6 * commands(r) / seconds;
}

static void make_near(struct gn_nvmeq *q, struct simt_machine *m)
{
	const size_t lists = (size_t)DEPTH * (BUFFER / GN_NVME_PAGE) * 8;
	uint64_t *list = (uint64_t *)bench_alloc(m, lists, SIMT_DEVICE);

	q->sq = (struct gn_nvme_command *)bench_alloc(m, DEPTH * sizeof *q->sq, SIMT_DEVICE);
	q->cq = (struct gn_nvme_completion *)bench_alloc(m, DEPTH * sizeof *q->cq, SIMT_DEVICE);
	q->sq_doorbell = (uint32_t *)bench_alloc(m, 256, SIMT_DEVICE);
	q->cq_doorbell = (uint32_t *)bench_alloc(m, 256, SIMT_DEVICE);
	bench_must_run(simt_move(m, list, q->prp_list, lists, &bench_error));
	q->prp_list = list;
}

static void free_near(const struct gn_nvmeq *q, struct simt_machine *m)
{
	simt_free(m, q->sq);
	simt_free(m, q->cq);
	simt_free(m, q->sq_doorbell);
	simt_free(m, q->cq_doorbell);
	simt_free(m, (void *)(uintptr_t)q->prp_list);
}

/* Fresh queue pairs, because the controller begins with their first entries. */
static double nothing(struct rate *r, uint32_t queues)
{
	const struct gn_nvmeq_options options = {DEPTH, BUFFER, BLOCK, 1, 0};
	struct gn_nvmeq *there = (struct gn_nvmeq *)bench_alloc(r->m, queues * sizeof *there, SIMT_DEVICE);
	struct gn_error e;
	double rate;

	for (uint32_t k = 0; k < queues; k++) {
		bench_must(gn_nvmeq_create(&r->queue[k], r->m, &options, &e), e.text);
		r->near[k] = r->queue[k];
		make_near(&r->near[k], r->m);
	}
	bench_must_run(simt_move(r->m, there, r->near, queues * sizeof *there, &bench_error));
	r->args.queue = there;
	rate = run_nothing(r, queues);
	for (uint32_t k = 0; k < queues; k++) {
		free_near(&r->near[k], r->m);
		gn_nvmeq_destroy(&r->queue[k], r->m);
	}
	simt_free(r->m, there);
	return rate;
}

static double copies(struct rate *r, uint32_t queues)
{
	struct gn_store *store;
	struct gn_error e;
	char uri[96];
	double seconds;

	snprintf(uri, sizeof uri, "memq:16M?queues=%u&depth=%d&transfer=4K", queues, (int)DEPTH);
	bench_must(gn_store_open(&store, r->m, uri, NULL, &e), e.text);
	r->args.queue = gn_store_view_of(store)->queue;
	start(r, gn_store_view_of(store)->queue_count);
	seconds = bench_launch(r->m, &use_queues_kernel, r->users, &r->args);
	check(r);
	gn_store_close(store);
	return 1e-6 * commands(r) / seconds;
}

static json_t *row(struct rate *r, const char *name, double (*measure)(struct rate *, uint32_t),
                   uint32_t queues, uint32_t runs)
{
	double rate[99];

	measure(r, queues); /* loads the kernels */
	for (uint32_t k = 0; k < runs; k++)
		rate[k] = measure(r, queues);
	return json_pack("{s:s, s:i, s:f}", "controller", name, "queues", (int)queues, "mega_per_second",
	                 bench_median(rate, runs));
}

int main(int argc, char **argv)
{
	static struct rate r;
	json_t *rows = json_array();
	struct simt_info info;
	uint32_t many, runs, each;

	bench_begin(argc, argv, "machine each runs");
	r.m = bench_machine(bench_text("machine", "cpu"), 0, WIDTH);
	simt_describe(r.m, &info);
	/* loaded now: while a controller runs, CUDA would wait for its end */
	bench_must_run(simt_prepare(r.m, &use_queues_kernel, &bench_error));
	bench_must_run(simt_prepare(r.m, &do_nothing_kernel, &bench_error));
	each = (uint32_t)bench_number("each", info.is_cuda ? 256 : 64);
	runs = (uint32_t)bench_number("runs", 3);
	runs = runs < 1 ? 1 : runs > 99 ? 99 : runs;
	many = info.is_cuda ? MOST : 4;
	r.args.left = (uint32_t *)bench_alloc(r.m, sizeof *r.args.left, SIMT_DEVICE);
	r.args.failed = (uint32_t *)bench_alloc(r.m, sizeof *r.args.failed, SIMT_DEVICE);
	/* fewer threads than slots, so that each finds one */
	r.users.blocks = many;
	r.users.block_threads = info.is_cuda ? 512 : 64;
	r.args.each = each;
	json_array_append_new(rows, row(&r, "nothing", nothing, many, runs));
	json_array_append_new(rows, row(&r, "copies", copies, many, runs));
	r.users.blocks = info.is_cuda ? 8 : 1;
	r.users.block_threads = 64;
	json_array_append_new(rows, row(&r, "nothing", nothing, 1, runs));
	json_array_append_new(rows, row(&r, "copies", copies, 1, runs));
	bench_print(json_pack("{s:s, s:s, s:i, s:o}", "schema", "grapnel.bench.queue_rate/1", "machine",
	                      info.name, "command_bytes", (int)BLOCK, "rows", rows));
	return 0;
}
