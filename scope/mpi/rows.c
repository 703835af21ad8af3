/* SPDX-License-Identifier: Apache-2.0 */
/* mpi/rows.c - messages from rank 0 to each of the others. */
#include "scope/mpi/ranks.h"

#include "scope/sampling.h"

struct mpi_row {
	struct scope_row row; /* first */
	enum scope_rank_part part;
};

struct mpi_cell {
	const struct mpi_row *row;
	struct scope_rank_fixture fixture;
	uint64_t operations; /* of the last sample */
};

static int mpi_plan(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p)
{
	const char *missing = scope_ranks_missing();
	int rc = 0;

	(void)row;
	if (missing)
		return scope_plan_skip(p, NULL, "%s", missing);
	for (uint64_t to = 1; to < m->ranks && !rc; to++) {
		const struct scope_arg rest[] = {{"to", to}, {NULL, 0}};

		rc = scope_plan_sizes(p, 8, 64 << 20, rest);
	}
	return rc;
}

static int ask(const struct mpi_cell *x, enum scope_rank_word word, uint64_t operations, struct gn_error *e)
{
	const struct scope_rank_command c = {(uint64_t)word, (uint64_t)x->row->part, x->fixture.bytes,
	                                     operations};

	return scope_rank_ask(x->fixture.peer, &c, e);
}

static int mpi_sample(void *state, uint64_t operations, struct scope_sample *out, struct gn_error *e)
{
	struct mpi_cell *x = (struct mpi_cell *)state;
	double began;
	int rc;

	scope_fixture_spoil(&x->fixture);
	x->operations = operations;
	rc = ask(x, SCOPE_RANK_PART, operations, e);
	if (rc)
		return rc;
	began = scope_clock();
	rc = scope_part_run(&x->fixture, x->row->part, operations, e);
	out->seconds = scope_clock() - began;
	out->operations = x->row->part == SCOPE_TURNS ? 2 * operations : operations;
	out->bytes = operations * x->fixture.bytes * (x->row->part == SCOPE_ONE_WAY ? 1 : 2);
	return rc;
}

static int mpi_verify(void *state, struct gn_error *e)
{
	const struct mpi_cell *x = (const struct mpi_cell *)state;
	const int rc = scope_fixture_check(&x->fixture, x->operations, e);

	return rc ? rc : ask(x, SCOPE_RANK_CHECK, x->operations, e);
}

static void mpi_close(void *state)
{
	struct mpi_cell *x = (struct mpi_cell *)state;

	if (!x->fixture.out)
		return;
	ask(x, SCOPE_RANK_CLOSE, 0, NULL);
	scope_fixture_close(&x->fixture);
}

static int mpi_open(const struct scope_cell *c, const struct scope_machine *m, void *state,
                    struct gn_error *e)
{
	struct mpi_cell *x = (struct mpi_cell *)state;
	int rc;

	(void)m;
	x->row = (const struct mpi_row *)c->row;
	x->fixture.peer = (int)scope_cell_arg(c, "to", 1);
	rc = scope_fixture_open(&x->fixture, x->row->part, scope_cell_arg(c, "bytes", 8), e);
	return rc ? rc : ask(x, SCOPE_RANK_OPEN, 0, e);
}

static const struct scope_functions functions = {
    sizeof(struct mpi_cell), mpi_plan, mpi_open, mpi_sample, mpi_verify, mpi_close};

static const struct mpi_row rows[] = {
    {{"mpi/latency", "half of a message's way there and back", NULL, "none", NULL, NULL, SCOPE_LATENCY,
      SCOPE_HOST_CLOCK, &functions},
     SCOPE_TURNS},
    {{"mpi/one-way", "messages in windows, until the receiver has all", NULL, "h2h", "network", NULL,
      SCOPE_BANDWIDTH, SCOPE_HOST_CLOCK, &functions},
     SCOPE_ONE_WAY},
    {{"mpi/both-ways", "the same in both directions at once, the sum of both", NULL, "both", "network", NULL,
      SCOPE_BANDWIDTH, SCOPE_HOST_CLOCK, &functions},
     SCOPE_BOTH_WAYS},
};

static const struct scope_row_table table = {rows, sizeof *rows, sizeof rows / sizeof *rows};

const struct scope_row_table *const scope_mpi_rows[] = {&table, NULL};
