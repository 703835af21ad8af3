/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Row of the queues: commands submitted and completed, behind them a copy in memory by threads of the host.
 * What it shows is what a command costs, not a disk.
 */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#include "queue_kernel.h"

/* Data that are read round and round; a slot for each thread must be there at once (gn_nvmeq_begin). */
enum { DATA = 16 << 20, DEPTH = 1024, QUEUES = 4 };

struct queue_state {
	struct fixture fixture;
	struct scope_queue_args args;
	struct simt_grid grid;
	uint64_t threads;
};

static int plan(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p)
{
	static const uint64_t sizes[] = {4096, 512, 16384};
	const bool quick = m->effort == SCOPE_QUICK, gpu = fixture_is_gpu(row);
	const uint64_t most = gpu ? 512 : 64;
	int rc;

	if (!fixture_may(row, m, p, &rc))
		return rc;
	for (unsigned k = 0; k < (quick ? 1u : 3u) && !rc; k++)
		for (uint64_t threads = 1; threads <= most && !rc; threads *= quick ? most : 8) {
			const struct scope_arg args[] = {
			    {"bytes", sizes[k]}, {"threads", threads}, {NULL, 0}};

			rc = scope_plan_add(p, args);
		}
	return rc;
}

/* An operation is a command; the second figure is how long a thread waits for one. */
static int sample(void *state, uint64_t operations, struct scope_sample *s, struct gn_error *e)
{
	struct queue_state *t = (struct queue_state *)state;
	const uint64_t commands = operations > t->fixture.least ? operations : t->fixture.least;
	int rc;

	t->args.seed += DATA / t->args.bytes / 3;
	t->args.each = (commands + t->threads - 1) / t->threads;
	rc = fixture_launch(&t->fixture, &scope_queue_run_kernel, t->grid, &t->args, 1, &s->seconds, e);
	s->operations = t->args.each * t->threads;
	s->second = s->seconds / (double)t->args.each;
	return rc;
}

static int verify(void *state, struct gn_error *e)
{
	struct queue_state *t = (struct queue_state *)state;

	return !*t->args.wrong
	           ? 0
	           : gn_error_set(e, -GN_EIO, "queue: %llu commands failed or returned wrong data",
	                          (unsigned long long)*t->args.wrong);
}

static int make_data(struct queue_state *t, struct gn_error *e)
{
	uint64_t *words = (uint64_t *)malloc(DATA);
	int rc;

	if (!words)
		return gn_error_set(e, -GN_ENOMEM, "out of memory for %d bytes", DATA);
	for (uint64_t k = 0; k < DATA / 8; k++)
		words[k] = scope_queue_word(k);
	rc = gn_store_write_host(t->fixture.store, 0, words, DATA, e);
	free(words);
	return rc;
}

/* Threads of a block share a queue, so there are as many blocks as queues, or a multiple. */
static void shape(struct queue_state *t, const struct scope_cell *c)
{
	t->threads = scope_cell_arg(c, "threads", 1);
	t->grid.blocks = (uint32_t)(t->threads < 4 * QUEUES ? 1 : 4 * QUEUES);
	t->grid.block_threads = (uint32_t)(t->threads / t->grid.blocks);
}

static int open_row(const struct scope_cell *c, const struct scope_machine *m, void *state,
                    struct gn_error *e)
{
	struct queue_state *t = (struct queue_state *)state;
	const uint64_t bytes = scope_cell_arg(c, "bytes", 4096);
	int rc = fixture_open_row(&t->fixture, c, e);

	(void)m;
	t->fixture.store_options.transfer_bytes = (uint32_t)bytes;
	shape(t, c);
	rc = rc ? rc : fixture_store(&t->fixture, e, "memq:%d?queues=%d&depth=%d", DATA, QUEUES, DEPTH);
	rc = rc ? rc : make_data(t, e);
	if (rc)
		return rc;
	t->args.queue = gn_store_view_of(t->fixture.store)->queue;
	t->args.queues = gn_store_view_of(t->fixture.store)->queue_count;
	t->args.bytes = (uint32_t)bytes;
	t->args.commands = DATA / bytes;
	t->args.wrong = (uint64_t *)simt_alloc(t->fixture.machine, sizeof *t->args.wrong, SIMT_PINNED, e);
	if (!t->args.wrong)
		return gn_error_set(e, -GN_ENOMEM, "out of memory for a counter");
	return fixture_settle(&t->fixture, sample, t, e);
}

static void close_row(void *state)
{
	struct queue_state *t = (struct queue_state *)state;

	if (t->fixture.machine)
		simt_free(t->fixture.machine, t->args.wrong);
	fixture_close(&t->fixture);
}

const struct scope_functions scope_queue = {
    sizeof(struct queue_state), plan, open_row, sample, verify, close_row};
