/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the queue of messages (detail/net/log.h), by size: a log for each block, which the first warp of
 * the block reads, or threads of the host.
 */
#include "logs.h"

#include <string.h>

enum { LEAST_MESSAGE = 16, MOST_MESSAGE = 256, LOG_WORDS = 1 << 15 };

struct log_state {
	struct fixture fixture;
	struct scope_logs logs;
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

/* An operation is a message. */
static int sample(void *state, uint64_t operations, struct scope_sample *s, struct gn_error *e)
{
	struct log_state *t = (struct log_state *)state;
	const uint64_t messages = operations > t->fixture.least ? operations : t->fixture.least;
	const int rc = scope_logs_run(&t->logs, messages, &s->operations, &s->seconds, e);

	s->bytes = s->operations * t->logs.args.words * 8;
	return rc;
}

static int verify(void *state, struct gn_error *e)
{
	return scope_logs_check(&((struct log_state *)state)->logs, e);
}

/* A GPU: a block of eight warps on each processor. The cpu machine: one of four threads. */
static int open_row(const struct scope_cell *c, const struct scope_machine *m, void *state,
                    struct gn_error *e)
{
	struct log_state *t = (struct log_state *)state;
	struct scope_logs_shape shape = {0, 0, LOG_WORDS, 0, false, m->cpus > 1 ? m->cpus - 1 : 1};
	int rc = fixture_open_row(&t->fixture, c, e);

	shape.blocks = t->fixture.info.processors;
	shape.warps = t->fixture.info.is_cuda ? 8 : 4;
	shape.words = (uint32_t)scope_cell_arg(c, "bytes", LEAST_MESSAGE) / 8;
	shape.by_warps = strstr(c->row->name, "by-host") == NULL;
	rc = rc ? rc : scope_logs_open(&t->logs, &t->fixture, &shape, e);
	return rc ? rc : fixture_settle(&t->fixture, sample, t, e);
}

static void close_row(void *state)
{
	struct log_state *t = (struct log_state *)state;

	scope_logs_close(&t->logs);
	fixture_close(&t->fixture);
}

const struct scope_functions scope_log = {
    sizeof(struct log_state), plan, open_row, sample, verify, close_row};
