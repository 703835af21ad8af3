/* SPDX-License-Identifier: Apache-2.0 */
/* pingpong.c - a cache line that two processors write in turn: what handing a word over costs. */
#include <grapnel/simt.h>

#include "scope/host/rows.h"

struct pingpong {
	struct scope_team *team;
	uint64_t rounds;   /* over all samples */
	uint64_t other;    /* what the second thread saw last */
	uint64_t line[32]; /* the word in its middle, 64 bytes to either side of it nobody's */
};

enum { WORD = 16, MOST_PAIRS = 120, QUICK_PAIRS = 3 };

static int add_pair(struct scope_plan *p, uint32_t from, uint32_t to)
{
	const struct scope_arg args[] = {{"from", from}, {"to", to}, {NULL, 0}};

	return scope_plan_add(p, args);
}

/*
 * All pairs of a small machine; of a larger one the first processor with all others, as many as there is time
 * for.
 */
static int pingpong_plan(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p)
{
	const uint32_t most = m->effort == SCOPE_QUICK ? QUICK_PAIRS : MOST_PAIRS;
	uint32_t cpu[SCOPE_MOST_CPUS], step;
	const uint32_t cpus = scope_cpus(SCOPE_ANY_NODE, cpu, SCOPE_MOST_CPUS);
	int rc = 0;

	(void)row;
	if (cpus < 2)
		return scope_plan_skip(p, NULL, "needs two processors; this process may use only one");
	if (cpus * (cpus - 1) / 2 <= most) {
		for (uint32_t k = 0; k < cpus; k++)
			for (uint32_t to = k + 1; to < cpus && !rc; to++)
				rc = add_pair(p, cpu[k], cpu[to]);
		return rc;
	}
	step = (cpus - 2) / most + 1;
	for (uint32_t to = 1; to < cpus && !rc; to += step)
		rc = add_pair(p, cpu[0], cpu[to]);
	return rc;
}

/* Round k: the first writes 2k+1, the second 2k+2. Each store releases to the other's acquire. */
static void work(void *user, uint32_t member, uint64_t operations)
{
	struct pingpong *x = (struct pingpong *)user;
	uint64_t *word = &x->line[WORD];
	uint64_t expected = 2 * x->rounds + member;

	for (uint64_t k = 0; k < operations; k++, expected += 2) {
		while (simt_load_acquire_sys_u64(word) != expected)
			;
		simt_store_release_sys_u64(word, expected + 1);
	}
	if (member)
		x->other = expected;
}

static int pingpong_sample(void *state, uint64_t operations, struct scope_sample *out, struct gn_error *e)
{
	struct pingpong *x = (struct pingpong *)state;

	(void)e;
	out->seconds = scope_team_run(x->team, operations);
	out->operations = operations;
	x->rounds += operations;
	return 0;
}

static int pingpong_verify(void *state, struct gn_error *e)
{
	const struct pingpong *x = (const struct pingpong *)state;

	if (x->line[WORD] == 2 * x->rounds && x->other == 2 * x->rounds + 1)
		return 0;
	return gn_error_set(e, -GN_EIO, "wrong data: after %llu rounds the word is %llu",
	                    (unsigned long long)x->rounds, (unsigned long long)x->line[WORD]);
}

static void pingpong_close(void *state)
{
	scope_team_close(((struct pingpong *)state)->team);
}

static int pingpong_open(const struct scope_cell *c, const struct scope_machine *m, void *state,
                         struct gn_error *e)
{
	const uint32_t cpu[] = {(uint32_t)scope_cell_arg(c, "from", 0), (uint32_t)scope_cell_arg(c, "to", 1)};
	struct pingpong *x = (struct pingpong *)state;

	(void)m;
	return scope_team_open(&x->team, 2, cpu, work, x, e);
}

static const struct scope_functions functions = {sizeof(struct pingpong), pingpong_plan,   pingpong_open,
                                                 pingpong_sample,         pingpong_verify, pingpong_close};

static const struct scope_row rows[] = {
    {"cores/ping-pong", "two threads write one line in turn; a round trip, two hand-overs", NULL, "none",
     NULL, NULL, SCOPE_LATENCY, SCOPE_HOST_CLOCK, &functions},
};

const struct scope_row_table scope_pingpong_rows = {rows, sizeof *rows, sizeof rows / sizeof *rows};
