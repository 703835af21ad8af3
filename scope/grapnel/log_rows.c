/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the queue of messages (detail/net/log.h), by size: a log for each block, which the first warp of
 * the block reads, or threads of the host. What was read is summed, and the sum compared.
 */
#include "fixture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "log_kernel.h"

enum { LEAST_MESSAGE = 16, MOST_MESSAGE = 256, MOST_READERS = 14, LOG_WORDS = 1 << 15, LINE = 128 };

struct reader {
	pthread_t thread;
	struct log_state *of;
	uint32_t first;
	uint64_t sum;
};

struct log_state {
	struct fixture fixture;
	struct scope_log_args args;
	struct simt_grid grid;
	uint32_t producers; /* warps of a block */
	uint64_t *word, *released;
	struct gn__log_reader
	    *host; /* [blocks]: as the host's threads see it, or the first image of the kernel's */
	uint64_t sum, expected;
	uint32_t readers;
	struct reader reader[MOST_READERS];
};

static int plan(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p)
{
	const bool quick = m->effort == SCOPE_QUICK;
	int rc;

	if (!fixture_may(row, m, p, &rc))
		return rc;
	for (uint64_t bytes = quick ? 32 : LEAST_MESSAGE; bytes <= (quick ? 32 : MOST_MESSAGE) && !rc;
	     bytes *= 2) {
		const struct scope_arg args[] = {{"bytes", bytes}, {NULL, 0}};

		rc = scope_plan_add(p, args);
	}
	return rc;
}

/* ---- the host's side ---- */

/* Some groups of what has come in one log. Returns how many. */
static uint64_t read_some(struct reader *t, struct gn__log_reader *log)
{
	const uint32_t lanes = t->of->fixture.info.warp_width;
	uint64_t groups = 0;

	while (groups < 64 && gn__log_peek(log)) {
		for (uint32_t k = 0; k < lanes; k++)
			t->sum += gn__log_word(log, lanes, k, SCOPE_LOG_SUMMED);
		gn__log_empty(log, t->of->args.words * lanes);
		groups++;
	}
	if (groups)
		gn__log_release(log);
	return groups;
}

static void *read_logs(void *argument)
{
	struct reader *t = (struct reader *)argument;
	const struct log_state *l = t->of;
	const uint64_t deadline = simt_clock_ns() + 2 * scope_log_patience_ns;
	uint64_t left = 0;

	for (uint32_t k = t->first; k < l->grid.blocks; k += l->readers)
		left += l->args.each * l->producers;
	while (left && simt_clock_ns() < deadline)
		for (uint32_t k = t->first; k < l->grid.blocks; k += l->readers)
			left -= read_some(t, &l->host[k]);
	return NULL;
}

static int start_readers(struct log_state *t, struct gn_error *e)
{
	for (uint32_t k = 0; k < t->readers; k++) {
		t->reader[k].of = t;
		t->reader[k].first = k;
		t->reader[k].sum = 0;
		if (!pthread_create(&t->reader[k].thread, NULL, read_logs, &t->reader[k]))
			continue;
		while (k) /* they have nothing to read, and give up */
			pthread_join(t->reader[--k].thread, NULL);
		return gn_error_set(e, -GN_ENOMEM,
		                    "the system cannot start the thread that reads the messages");
	}
	return 0;
}

static void join_readers(struct log_state *t)
{
	for (uint32_t k = 0; k < t->readers; k++) {
		pthread_join(t->reader[k].thread, NULL);
		t->sum += t->reader[k].sum;
	}
}

/* ---- a sample ---- */

static uint64_t expected(const struct log_state *t)
{
	const uint64_t warps = (uint64_t)t->grid.block_threads / t->fixture.info.warp_width;
	uint64_t sum = 0;

	for (uint64_t warp = 0; warp < t->grid.blocks * warps; warp++)
		for (uint64_t lane = 0;
		     lane < t->fixture.info.warp_width && !(t->args.by_warps && warp % warps == 0); lane++)
			sum += t->args.each * scope_log_value(t->args.seed, warp, 0, lane) +
			       32 * (t->args.each * (t->args.each - 1) / 2);
	return sum;
}

/* The readers of the host look already when the clock is read; they have ended when it is read again. */
static int run(struct log_state *t, double *seconds, struct gn_error *e)
{
	uint64_t began;
	int rc = start_readers(t, e);

	if (rc)
		return rc;
	began = simt_clock_ns();
	rc = fixture_launch(&t->fixture, &scope_log_run_kernel, t->grid, &t->args, 1, seconds, e);
	join_readers(t);
	*seconds = 1e-9 * (double)(simt_clock_ns() - began);
	return rc;
}

/* An operation is a message. */
static int sample(void *state, uint64_t operations, struct scope_sample *s, struct gn_error *e)
{
	struct log_state *t = (struct log_state *)state;
	const uint64_t messages = operations > t->fixture.least ? operations : t->fixture.least;
	const uint64_t once = (uint64_t)t->grid.blocks * t->producers * t->fixture.info.warp_width;
	int rc;

	t->args.seed++;
	t->args.each = (messages + once - 1) / once;
	t->expected += expected(t);
	rc = run(t, &s->seconds, e);
	s->operations = t->args.each * once;
	s->bytes = s->operations * t->args.words * 8;
	return rc;
}

static int verify(void *state, struct gn_error *e)
{
	struct log_state *t = (struct log_state *)state;
	uint64_t sum = t->sum, read = 0;

	if (simt_move(t->fixture.machine, &read, t->args.sum, sizeof read))
		return gn_error_set(e, -GN_EIO, "%s", simt_message(t->fixture.machine));
	return sum + read == t->expected
	           ? 0
	           : gn_error_set(e, -GN_EIO,
	                          "the sum of the messages is wrong: messages were lost or changed");
}

/* ---- opening ---- */

static int allocate(struct log_state *t, struct gn_error *e)
{
	const enum simt_memory where = t->args.by_warps ? SIMT_DEVICE : SIMT_PINNED;
	const uint32_t blocks = t->grid.blocks;
	struct simt_machine *m = t->fixture.machine;

	t->host = (struct gn__log_reader *)calloc(blocks, sizeof *t->host);
	t->word = (uint64_t *)simt_alloc(m, (size_t)blocks * LOG_WORDS * 8, where);
	t->released = (uint64_t *)simt_alloc(m, (size_t)blocks * LINE, where);
	t->args.log = (struct gn__log *)simt_alloc(m, blocks * sizeof *t->args.log, SIMT_DEVICE);
	t->args.reader = (struct gn__log_reader *)simt_alloc(m, blocks * sizeof *t->args.reader, SIMT_DEVICE);
	t->args.sum = (uint64_t *)simt_alloc(m, sizeof *t->args.sum, SIMT_DEVICE);
	return t->host && t->word && t->released && t->args.log && t->args.reader && t->args.sum
	           ? 0
	           : gn_error_set(e, -GN_ENOMEM, "out of memory for %u logs", blocks);
}

static int fill_logs(struct log_state *t, struct gn_error *e)
{
	const uint32_t blocks = t->grid.blocks;
	struct gn__log *log = (struct gn__log *)calloc(blocks, sizeof *log);
	uint64_t unused;
	int rc;

	if (!log)
		return gn_error_set(e, -GN_ENOMEM, "out of memory for %u logs", blocks);
	for (uint32_t k = 0; k < blocks; k++) {
		gn__log_init(&log[k], &t->host[k], t->word + (uint64_t)k * LOG_WORDS, &unused, LOG_WORDS, 0);
		log[k].released = t->host[k].released = t->released + (uint64_t)k * LINE / 8;
	}
	rc = simt_move(t->fixture.machine, t->args.log, log, blocks * sizeof *log);
	rc = rc ? rc : simt_move(t->fixture.machine, t->args.reader, t->host, blocks * sizeof *t->host);
	free(log);
	return rc ? gn_error_set(e, rc, "%s", simt_message(t->fixture.machine)) : 0;
}

/* A GPU: a block of eight warps on each processor. The cpu machine: one of four threads. */
static void shape(struct log_state *t, const struct scope_machine *m)
{
	const uint32_t warps = t->fixture.info.is_cuda ? 8 : 4, blocks = t->fixture.info.processors,
	               spare = m->cpus > 1 ? m->cpus - 1 : 1;

	t->grid.blocks = blocks;
	t->grid.block_threads = warps * t->fixture.info.warp_width;
	t->producers = warps - t->args.by_warps;
	if (t->args.by_warps)
		return;
	t->readers = spare < MOST_READERS ? spare : (uint32_t)MOST_READERS;
	t->readers = t->readers < blocks ? t->readers : blocks;
}

static int open_row(const struct scope_cell *c, const struct scope_machine *m, void *state,
                    struct gn_error *e)
{
	struct log_state *t = (struct log_state *)state;
	int rc = fixture_open_row(&t->fixture, c, e);

	if (rc)
		return rc;
	t->args.words = (uint32_t)scope_cell_arg(c, "bytes", LEAST_MESSAGE) / 8;
	t->args.by_warps = strstr(c->row->name, "by-host") == NULL;
	shape(t, m);
	rc = allocate(t, e);
	rc = rc ? rc : fill_logs(t, e);
	return rc ? rc : fixture_settle(&t->fixture, sample, t, e);
}

static void close_row(void *state)
{
	struct log_state *t = (struct log_state *)state;

	if (t->fixture.machine) {
		simt_free(t->fixture.machine, t->word);
		simt_free(t->fixture.machine, t->released);
		simt_free(t->fixture.machine, t->args.log);
		simt_free(t->fixture.machine, t->args.reader);
		simt_free(t->fixture.machine, t->args.sum);
	}
	free(t->host);
	fixture_close(&t->fixture);
}

const struct scope_functions scope_log = {
    sizeof(struct log_state), plan, open_row, sample, verify, close_row};
