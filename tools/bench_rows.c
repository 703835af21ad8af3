/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows: measured, and set against the limit of their group.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "tool.h"

void bench_begin(struct bench *b, const char *name, const char *limit, const char *title, ...)
{
	struct bench_group *g = &b->group[b->groups++];
	va_list list;

	snprintf(g->name, sizeof g->name, "%s", name);
	va_start(list, title);
	vsnprintf(g->title, sizeof g->title, title, list);
	va_end(list);
	g->limit = limit;
	g->rows = 0;
}

static int run_all(struct bench *b, const struct bench_way *way, double *median, struct gn_error *e)
{
	const unsigned runs = way->runs ? way->runs : b->q->repeat;
	double seconds[BENCH_RUNS], first;
	int rc = way->runs ? 0 : way->run(b, way->user, &first, e);

	for (unsigned k = 0; k < runs && !rc; k++)
		rc = way->run(b, way->user, &seconds[k], e);
	if (rc)
		return rc;
	*median = tool_median(seconds, runs);
	return 0;
}

int bench_measure(struct bench *b, const struct bench_way *way, struct bench_row **row, struct gn_error *e)
{
	struct bench_group *g = &b->group[b->groups - 1];
	struct bench_row *r = &g->row[g->rows];
	int rc = run_all(b, way, &r->seconds, e);

	if (rc)
		return rc;
	if (*b->wrong)
		return gn_error_set(
		    e, -GN_EBADMSG,
		    "%s, %s: %llu words were not what they should be: this is a bug; please report it",
		    g->name, way->name, (unsigned long long)*b->wrong);
	r->name = way->name;
	r->role = way->role;
	r->unit = way->unit;
	r->amount = way->amount;
	r->note[0] = 0;
	g->rows++;
	if (row)
		*row = r;
	return 0;
}

int bench_run_kernel(struct bench *b, void *user, double *seconds, struct gn_error *e)
{
	const struct bench_kernel *k = (const struct bench_kernel *)user;
	int rc = k->cool ? gn_cache_invalidate(k->cool, e) : 0;

	if (k->seed)
		++*k->seed;
	return rc ? rc
	          : bench_launch(b, k->kernel, k->grid.blocks ? k->grid : b->grid, k->arguments, seconds, e);
}

double bench_rate(const struct bench_row *r)
{
	return r->amount / r->seconds / 1e9;
}

double bench_share(const struct bench_group *g, const struct bench_row *r)
{
	for (unsigned k = 0; k < g->rows; k++)
		if (!strcmp(g->row[k].name, g->limit) && g->row[k].unit == r->unit)
			return bench_rate(r) / bench_rate(&g->row[k]);
	return 0;
}
