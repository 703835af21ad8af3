/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_completion.c - how a thread learns that its command completed; one JSON object on stdout.
 *
 *   deliver   nvmeq.h: whoever polls takes the next completion and delivers it to its command's slot
 *   own       BaM section 3.3: each thread looks for its own completion in the queue, marks it, and goes
 *             on when the head has passed it; one winner moves the head over consecutive marks
 *
 * The claim: with `own` one thread that is slow to look holds up everybody whose completion lies behind its;
 * with `deliver` it holds up nobody. And delivering costs nothing when all are quick.
 *
 * Both run over the same memory disk (a host thread) on one OS thread of the cpu machine. In the runs called
 * slow, thread 0 looks for its completion only slow_ms after it posted. Waits of the other threads are
 * measured from post to the data being checked; of RUNS runs the medians. `own` stands only here: it has no
 * deadlines and no ids that change.
 */
#include <pthread.h>
#include <string.h>

#include <grapnel/nvmeq.h>
#include <queue/port.h>

#include "support/engine.h"

enum { USERS = 64, EACH = 1000, EACH_SLOW = 200, RUNS = 5, SLOW_NS = 5000000, BLOCK = 512 };

enum variant { DELIVER, OWN };

struct arguments {
	struct gn_nvmeq q;
	uint32_t *own_mark; /* [depth]: position + 1 once its owner has read the completion */
	uint64_t *longest;  /* [USERS] */
	uint32_t *wrong;
	uint32_t *quick_left; /* quick threads that have not finished */
	uint32_t variant, slow, each;
};

/* ---- the alternative ---- */

/* Look through the completions that have come for the one of cid. */
SIMT_FN int own_find(const struct gn_nvmeq *q, uint32_t cid, uint32_t *position)
{
	uint32_t head = simt_load_acquire_dev_u32(&q->state->head);

	for (uint32_t p = head; p - head < q->depth; p++) {
		const struct gn_nvme_completion *entry = &q->cq[p & (q->depth - 1)];
		uint32_t word = simt_load_acquire_sys_u32((const uint32_t *)(const void *)&entry->cid);

		if ((word >> 16 & 1) != (~(p >> q->depth_log2) & 1))
			return 0;
		if ((word & 0xffff) == cid) {
			*position = p;
			return 1;
		}
	}
	return 0;
}

SIMT_FN void own_move_head(const struct arguments *a)
{
	struct gn_nvmeq_state *s = a->q.state;
	uint32_t head, first;

	if (simt_cas_acq_rel_dev_u32(&s->head_lock, 0, 1))
		return;
	first = head = simt_load_relaxed_dev_u32(&s->head);
	while (simt_load_acquire_dev_u32(&a->own_mark[head & (a->q.depth - 1)]) == head + 1)
		head++;
	if (head != first) {
		simt_store_release_dev_u32(&s->head, head);
		simt_store_release_sys_u32(a->q.cq_doorbell, head & (a->q.depth - 1));
	}
	simt_store_release_dev_u32(&s->head_lock, 0);
}

SIMT_FN void own_wait(const struct arguments *a, uint32_t cid)
{
	const struct gn_nvmeq *q = &a->q;
	uint32_t next = q->slot[cid & (q->depth - 1)].ticket + 1, position = 0;

	while (!own_find(q, cid, &position)) {
		if ((int32_t)(simt_load_relaxed_dev_u32(&q->state->tail) - next) < 0)
			gn_nvmeq_ring(q);
		simt_relax();
	}
	simt_store_release_dev_u32(&a->own_mark[position & (q->depth - 1)], position + 1);
	for (;;) {
		own_move_head(a);
		if ((int32_t)(simt_load_acquire_dev_u32(&q->state->head) - (position + 1)) >= 0)
			return;
		simt_relax();
	}
}

SIMT_FN uint32_t own_begin(const struct gn_nvmeq *q)
{
	uint32_t cid;

	while (gn__nvmeq_try_begin(q, &cid))
		simt_relax();
	return cid;
}

/* ---- what both do ---- */

SIMT_FN void doze(uint64_t ns)
{
	uint64_t until = simt_clock_ns() + ns;

	while (simt_clock_ns() < until)
		simt_relax();
}

SIMT_FN uint64_t read_block(const struct arguments *a, uint64_t lba, int slow)
{
	const uint64_t never = ~0ull;
	const struct gn_nvmeq *q = &a->q;
	uint32_t cid = 0, status;
	uint64_t began;

	if (a->variant == DELIVER)
		gn_nvmeq_begin(q, never, &cid);
	else
		cid = own_begin(q);
	began = simt_clock_ns();
	gn_nvmeq_post(q, cid, GN_NVME_READ, lba, 1);
	if (slow)
		doze(SLOW_NS);
	if (a->variant == DELIVER)
		gn_nvmeq_wait(q, cid, never, &status);
	else
		own_wait(a, cid);
	if (*(const uint64_t *)(const void *)gn_nvmeq_buffer(q, cid) != ~lba)
		simt_add_relaxed_dev_u32(a->wrong, 1);
	gn_nvmeq_end(q, cid);
	return simt_clock_ns() - began;
}

SIMT_FN void measure(const struct arguments *a)
{
	uint32_t me = (uint32_t)simt_global_thread();

	if (a->slow && me == 0) {
		while (simt_load_relaxed_dev_u32(a->quick_left))
			read_block(a, me, 1);
		return;
	}
	for (uint32_t k = 0; k < a->each; k++) {
		uint64_t waited = read_block(a, (uint64_t)me << 32 | k, 0);

		if (waited > a->longest[me])
			a->longest[me] = waited;
	}
	simt_add_relaxed_dev_u32(a->quick_left, (uint32_t)-1);
}
SIMT_KERNEL(measure, struct arguments)

/* ---- the host's side ---- */

struct disk {
	struct gn_nvme_port port;
	uint32_t stop;
};

static void *serve(void *user)
{
	struct disk *d = (struct disk *)user;
	struct gn_nvme_command command;

	while (!simt_load_acquire_dev_u32(&d->stop)) {
		if (gn_nvme_port_fetch(&d->port, &command)) {
			simt_relax();
			continue;
		}
		*(uint64_t *)(uintptr_t)command.prp1 = ~command.lba;
		while (gn_nvme_port_complete(&d->port, command.cid, 0) &&
		       !simt_load_acquire_dev_u32(&d->stop))
			simt_relax();
	}
	return NULL;
}

struct outcome {
	double per_second, longest_us;
};

static struct outcome run(struct simt_machine *m, uint32_t depth, enum variant variant, int slow)
{
	struct gn_nvmeq_options config = {depth, GN_NVME_PAGE, BLOCK, 1, 0};
	const struct simt_grid grid = {1, USERS, 0};
	struct outcome outcome = {0, 0};
	struct arguments a;
	struct disk disk;
	pthread_t thread;
	uint32_t left = slow ? USERS - 1 : USERS, wrong = 0;
	const double all = left * (slow ? (double)EACH_SLOW : (double)EACH);
	uint64_t longest[USERS];

	memset(&a, 0, sizeof a);
	disk.stop = 0;
	bench_must(gn_nvmeq_create(&a.q, m, &config, NULL), "the queue cannot be made");
	a.own_mark = (uint32_t *)bench_alloc(m, depth * sizeof *a.own_mark, SIMT_DEVICE);
	a.longest = (uint64_t *)bench_alloc(m, sizeof longest, SIMT_DEVICE);
	a.wrong = (uint32_t *)bench_alloc(m, 8, SIMT_DEVICE);
	a.quick_left = a.wrong + 1;
	a.variant = variant;
	a.slow = (uint32_t)slow;
	a.each = slow ? (uint32_t)EACH_SLOW : (uint32_t)EACH;
	bench_must_run(simt_move(m, a.quick_left, &left, sizeof left, &bench_error));
	gn_nvme_port_init(&disk.port, &a.q);
	bench_must(pthread_create(&thread, NULL, serve, &disk), "no thread for the disk");
	outcome.per_second = all / bench_launch(m, &measure_kernel, grid, &a);
	simt_store_release_dev_u32(&disk.stop, 1);
	pthread_join(thread, NULL);
	bench_must_run(simt_move(m, longest, a.longest, sizeof longest, &bench_error));
	for (int k = 0; k < USERS; k++)
		outcome.longest_us = 1e-3 * (double)longest[k] > outcome.longest_us
		                         ? 1e-3 * (double)longest[k]
		                         : outcome.longest_us;
	bench_must_run(simt_move(m, &wrong, a.wrong, sizeof wrong, &bench_error));
	bench_must(wrong != 0, "wrong data were read");
	gn_nvmeq_destroy(&a.q, m);
	simt_free(m, a.own_mark);
	simt_free(m, a.longest);
	simt_free(m, a.wrong);
	return outcome;
}

/* Both variants in turn, so that what else the machine does meets both. */
static json_t *compare(struct simt_machine *m, uint32_t depth, int slow)
{
	static const char *const name[] = {"deliver", "own"};
	double per_second[2][RUNS], longest[2][RUNS];
	json_t *row = json_pack("{s:i, s:b}", "depth", (int)depth, "slow", slow);

	for (int k = 0; k < RUNS; k++)
		for (int v = 0; v < 2; v++) {
			const struct outcome o = run(m, depth, (enum variant)v, slow);

			per_second[v][k] = o.per_second;
			longest[v][k] = o.longest_us;
		}
	for (int v = 0; v < 2; v++)
		json_object_set_new(row, name[v],
		                    json_pack("{s:f, s:f}", "commands_per_second",
		                              bench_median(per_second[v], RUNS), "longest_wait_us",
		                              bench_median(longest[v], RUNS)));
	return row;
}

int main(int argc, char **argv)
{
	json_t *rows = json_array();
	struct simt_machine *m;

	bench_begin(argc, argv, "");
	m = bench_machine("cpu", 1, 1);
	for (int k = 0; k < 4; k++)
		json_array_append_new(rows, compare(m, k % 2 ? 256 : 64, k / 2));
	simt_close(m);
	bench_print(json_pack("{s:s, s:s, s:i, s:i, s:f, s:o}", "schema", "grapnel.bench.queue_completion/1",
	                      "machine", "cpu, 1 thread, and the disk's", "users", USERS, "runs", RUNS,
	                      "slow_ms", SLOW_NS * 1e-6, "results", rows));
	return 0;
}
