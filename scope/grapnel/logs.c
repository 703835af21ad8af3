/* SPDX-License-Identifier: Apache-2.0 */
#include "logs.h"

#include <stdlib.h>

enum { LINE = 128 };

/* ---- the host's side ---- */

/* Read some groups of messages that have arrived in one log. Returns how many groups. */
static uint64_t read_some(struct scope_log_reader *t, struct gn__log_reader *log)
{
	const uint32_t lanes = t->of->fixture->info.warp_width;
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
	struct scope_log_reader *t = (struct scope_log_reader *)argument;
	const struct scope_logs *l = t->of;
	const uint64_t deadline = simt_clock_ns() + 2 * scope_log_patience_ns;
	uint64_t left = 0;

	for (uint32_t k = t->first; k < l->grid.blocks; k += l->readers)
		left += l->args.each * l->producers;
	while (left && simt_clock_ns() < deadline)
		for (uint32_t k = t->first; k < l->grid.blocks; k += l->readers)
			left -= read_some(t, &l->host[k]);
	return NULL;
}

static int start_readers(struct scope_logs *t, struct gn_error *e)
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

static void join_readers(struct scope_logs *t)
{
	for (uint32_t k = 0; k < t->readers; k++) {
		pthread_join(t->reader[k].thread, NULL);
		t->sum += t->reader[k].sum;
	}
}

static uint64_t expected(const struct scope_logs *t)
{
	const uint64_t warps = (uint64_t)t->grid.block_threads / t->fixture->info.warp_width;
	uint64_t sum = 0;

	for (uint64_t warp = 0; warp < t->grid.blocks * warps; warp++)
		for (uint64_t lane = 0;
		     lane < t->fixture->info.warp_width && !(t->args.by_warps && warp % warps == 0); lane++)
			sum += t->args.each * scope_log_value(t->args.seed, warp, 0, lane) +
			       32 * (t->args.each * (t->args.each - 1) / 2);
	return sum;
}

/* ---- a run ---- */

/* The readers of the host look already when the clock is read; they have ended when it is read again. */
static int run(struct scope_logs *t, double *seconds, struct gn_error *e)
{
	uint64_t began;
	int rc = start_readers(t, e);

	if (rc)
		return rc;
	began = simt_clock_ns();
	rc = fixture_launch(t->fixture, &scope_log_run_kernel, t->grid, &t->args, 1, seconds, e);
	join_readers(t);
	*seconds = 1e-9 * (double)(simt_clock_ns() - began);
	return rc;
}

int scope_logs_run(struct scope_logs *t, uint64_t messages, uint64_t *done, double *seconds,
                   struct gn_error *e)
{
	const uint64_t once = (uint64_t)t->grid.blocks * t->producers * t->fixture->info.warp_width;

	t->args.seed++;
	t->args.each = (messages + once - 1) / once;
	t->expected += expected(t);
	*done = t->args.each * once;
	return run(t, seconds, e);
}

int scope_logs_check(struct scope_logs *t, struct gn_error *e)
{
	uint64_t read = 0;

	const int rc = simt_move(t->fixture->machine, &read, t->args.sum, sizeof read, e);

	if (rc)
		return rc;
	return t->sum + read == t->expected
	           ? 0
	           : gn_error_set(e, -GN_EIO,
	                          "the sum of the messages is wrong: messages were lost or changed");
}

/* ---- opening ---- */

static int allocate(struct scope_logs *t, uint32_t log_words, struct gn_error *e)
{
	const enum simt_memory where = t->args.by_warps ? SIMT_DEVICE : SIMT_PINNED;
	const uint32_t blocks = t->grid.blocks;
	struct simt_machine *m = t->fixture->machine;

	t->host = (struct gn__log_reader *)calloc(blocks, sizeof *t->host);
	t->word = (uint64_t *)simt_alloc(m, (size_t)blocks * log_words * 8, where, e);
	t->released = (uint64_t *)simt_alloc(m, (size_t)blocks * LINE, where, e);
	t->args.log = (struct gn__log *)simt_alloc(m, blocks * sizeof *t->args.log, SIMT_DEVICE, e);
	t->args.reader =
	    (struct gn__log_reader *)simt_alloc(m, blocks * sizeof *t->args.reader, SIMT_DEVICE, e);
	t->args.sum = (uint64_t *)simt_alloc(m, sizeof *t->args.sum, SIMT_DEVICE, e);
	return t->host && t->word && t->released && t->args.log && t->args.reader && t->args.sum
	           ? 0
	           : gn_error_set(e, -GN_ENOMEM, "out of memory for %u logs", blocks);
}

static int fill_logs(struct scope_logs *t, uint32_t log_words, struct gn_error *e)
{
	const uint32_t blocks = t->grid.blocks;
	struct gn__log *log = (struct gn__log *)calloc(blocks, sizeof *log);
	uint64_t unused;
	int rc;

	if (!log)
		return gn_error_set(e, -GN_ENOMEM, "out of memory for %u logs", blocks);
	for (uint32_t k = 0; k < blocks; k++) {
		gn__log_init(&log[k], &t->host[k], t->word + (uint64_t)k * log_words, &unused, log_words, 0);
		log[k].released = t->host[k].released = t->released + (uint64_t)k * LINE / 8;
	}
	rc = simt_move(t->fixture->machine, t->args.log, log, blocks * sizeof *log, e);
	rc = rc ? rc : simt_move(t->fixture->machine, t->args.reader, t->host, blocks * sizeof *t->host, e);
	free(log);
	return rc;
}

int scope_logs_open(struct scope_logs *t, struct fixture *fixture, const struct scope_logs_shape *s,
                    struct gn_error *e)
{
	const uint32_t most = s->blocks < SCOPE_MOST_READERS ? s->blocks : (uint32_t)SCOPE_MOST_READERS;
	int rc;

	t->fixture = fixture;
	t->args.words = s->words;
	t->args.by_warps = s->by_warps;
	t->grid.blocks = s->blocks;
	t->grid.block_threads = s->warps * fixture->info.warp_width;
	t->producers = s->warps - s->by_warps;
	t->readers = s->by_warps ? 0 : s->readers < most ? s->readers : most;
	rc = allocate(t, s->log_words, e);
	return rc ? rc : fill_logs(t, s->log_words, e);
}

void scope_logs_close(struct scope_logs *t)
{
	struct simt_machine *m = t->fixture ? t->fixture->machine : NULL;

	if (m) {
		simt_free(m, t->word);
		simt_free(m, t->released);
		simt_free(m, t->args.log);
		simt_free(m, t->args.reader);
		simt_free(m, t->args.sum);
	}
	free(t->host);
}
