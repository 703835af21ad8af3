/* SPDX-License-Identifier: Apache-2.0 */
/* chase.c - latency of host memory: each load's address is what the load before it brought. */
#include "scope/host/ring.h"
#include "scope/host/rows.h"

struct chase_row {
	struct scope_row row; /* first */
	enum scope_pages pages;
	bool nodes; /* swept over pairs of nodes */
};

struct chase {
	struct scope_team *team; /* one thread, which stays on its processor */
	struct scope_ring ring;
};

static int chase_plan(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p)
{
	const struct chase_row *r = (const struct chase_row *)row;
	const char *missing = scope_pages_missing(m, r->pages);

	if (missing)
		return scope_plan_skip(p, NULL, "%s", missing);
	if (r->nodes)
		return scope_plan_nodes(p, m, 64 << 20, 1 << 30);
	return scope_plan_sizes(p, r->pages == SCOPE_PAGES_SMALL ? 4096 : 2 << 20, 1ull << 32, NULL);
}

static void work(void *user, uint32_t member, uint64_t operations)
{
	(void)member;
	scope_ring_chase((struct scope_ring *)user, operations);
}

static int chase_sample(void *state, uint64_t operations, struct scope_sample *out, struct gn_error *e)
{
	const struct chase *c = (const struct chase *)state;

	(void)e;
	out->seconds = scope_team_run(c->team, operations);
	out->operations = operations;
	return 0;
}

static int chase_verify(void *state, struct gn_error *e)
{
	return scope_ring_check(&((const struct chase *)state)->ring, e);
}

static void chase_close(void *state)
{
	struct chase *c = (struct chase *)state;

	scope_team_close(c->team);
	scope_ring_close(&c->ring);
}

/* Memory of node "from", a processor of node "to". */
static int chase_open(const struct scope_cell *cell, const struct scope_machine *m, void *state,
                      struct gn_error *e)
{
	const struct chase_row *row = (const struct chase_row *)cell->row;
	struct chase *c = (struct chase *)state;
	uint32_t cpu;
	int rc;

	(void)m;
	if (!scope_cpus((uint32_t)scope_cell_arg(cell, "to", SCOPE_ANY_NODE), &cpu, 1))
		return gn_error_set(e, -GN_ENOTSUP,
		                    "the NUMA node has no processor that this process may use");
	rc = scope_team_open(&c->team, 1, &cpu, work, &c->ring, e);
	return rc ? rc
	          : scope_ring_open(&c->ring, scope_cell_arg(cell, "bytes", 0), row->pages,
	                            (uint32_t)scope_cell_arg(cell, "from", SCOPE_ANY_NODE), e);
}

static const struct scope_functions functions = {sizeof(struct chase), chase_plan,   chase_open,
                                                 chase_sample,         chase_verify, chase_close};

#define ROW(name, summary, pages, nodes)                                                                \
	{                                                                                               \
		{name, summary, NULL, "none", NULL, NULL, SCOPE_LATENCY, SCOPE_HOST_CLOCK, &functions}, \
		    SCOPE_PAGES_##pages, nodes                                                          \
	}

static const struct chase_row rows[] = {
    ROW("memory/latency", "a load that depends on the one before, lines in shuffled order", SMALL, false),
    ROW("memory/latency-transparent-huge", "the same in transparent huge pages", TRANSPARENT, false),
    ROW("memory/latency-huge", "the same in reserved huge pages", HUGE, false),
    ROW("memory/latency-nodes", "the same on a NUMA node, by a thread of another", SMALL, true),
};

const struct scope_row_table scope_chase_rows = {rows, sizeof *rows, sizeof rows / sizeof *rows};
