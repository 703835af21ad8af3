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
#include <stdio.h>
#include <stdlib.h>

#include <grapnel/nvmeq.h>

#include "../src/queue/port.h"

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

/* Returns 0, or 1 if something was wrong. */
static int run(struct simt_machine *machine, uint32_t depth, enum variant variant, int slow,
               struct outcome *outcome)
{
	struct gn_nvmeq_options config = {depth, GN_NVME_PAGE, BLOCK, 1, 0};
	struct simt_grid grid = {1, USERS, 0};
	struct arguments a;
	struct disk disk;
	pthread_t thread;
	uint32_t left = slow ? USERS - 1 : USERS;
	uint64_t began, longest[USERS], most = 0;
	int bad;

	memset(&a, 0, sizeof a);
	disk.stop = 0;
	if (gn_nvmeq_create(&a.q, machine, &config, NULL))
		return 1;
	a.own_mark = (uint32_t *)simt_alloc(machine, depth * sizeof *a.own_mark, SIMT_DEVICE);
	a.longest = (uint64_t *)simt_alloc(machine, sizeof longest, SIMT_DEVICE);
	a.wrong = (uint32_t *)simt_alloc(machine, 8, SIMT_DEVICE);
	a.quick_left = a.wrong + 1;
	a.variant = variant;
	a.slow = (uint32_t)slow;
	a.each = slow ? (uint32_t)EACH_SLOW : (uint32_t)EACH;
	simt_move(machine, a.quick_left, &left, sizeof left);
	gn_nvme_port_init(&disk.port, &a.q);
	if (pthread_create(&thread, NULL, serve, &disk))
		return 1;
	began = simt_clock_ns();
	bad = simt_launch(machine, &measure_kernel, grid, &a) || simt_wait(machine);
	outcome->per_second = (double)left * a.each * 1e9 / (double)(simt_clock_ns() - began);
	simt_store_release_dev_u32(&disk.stop, 1);
	pthread_join(thread, NULL);
	simt_move(machine, longest, a.longest, sizeof longest);
	for (int k = 0; k < USERS; k++)
		most = longest[k] > most ? longest[k] : most;
	outcome->longest_us = (double)most * 1e-3;
	simt_move(machine, &left, a.wrong, sizeof left);
	gn_nvmeq_destroy(&a.q, machine);
	simt_free(machine, a.own_mark);
	simt_free(machine, a.longest);
	simt_free(machine, a.wrong);
	return bad || left;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *value)
{
	qsort(value, RUNS, sizeof *value, ascending);
	return value[RUNS / 2];
}

/* Both variants in turn, so that what else the machine does meets both. */
static int compare(struct simt_machine *machine, uint32_t depth, int slow, int last)
{
	static const char *const name[] = {"deliver", "own"};
	double per_second[2][RUNS], longest[2][RUNS];
	struct outcome outcome;

	for (int k = 0; k < RUNS; k++)
		for (int v = 0; v < 2; v++) {
			if (run(machine, depth, (enum variant)v, slow, &outcome))
				return 1;
			per_second[v][k] = outcome.per_second;
			longest[v][k] = outcome.longest_us;
		}
	printf("    {\"depth\": %u, \"slow\": %s", depth, slow ? "true" : "false");
	for (int v = 0; v < 2; v++)
		printf(", \"%s\": {\"commands_per_second\": %.0f, \"longest_wait_us\": %.0f}", name[v],
		       median(per_second[v]), median(longest[v]));
	printf("}%s\n", last ? "" : ",");
	fflush(stdout);
	return 0;
}

int main(void)
{
	struct simt_options config = {"cpu", 1, 1, SIMT_FAIR, 0};
	struct simt_machine *machine;
	struct gn_error error;
	int bad;

	if (simt_open(&machine, &config, &error)) {
		fprintf(stderr, "queue_completion: %s\n", error.text);
		return 1;
	}
	printf("{\n  \"schema\": \"grapnel.bench.queue_completion/1\",\n  \"machine\": \"cpu, 1 thread, and "
	       "the disk's\",\n"
	       "  \"users\": %d, \"runs\": %d, \"slow_ms\": %.1f,\n  \"results\": [\n",
	       USERS, RUNS, SLOW_NS * 1e-6);
	bad = compare(machine, 64, 0, 0) || compare(machine, 256, 0, 0) || compare(machine, 64, 1, 0) ||
	      compare(machine, 256, 1, 1);
	printf("  ]\n}\n");
	simt_close(machine);
	if (bad)
		fprintf(stderr, "queue_completion: a run failed or read wrong data\n");
	return bad;
}
