/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scope/output/charts.h"
#include "scope/output/format.h"

/* More pairs than this are not drawn over the size as well. */
enum { PAIRS_AS_LINES = 4 };

struct making {
	const struct scope_read *r;
	struct scope_charts *to;
	const struct scope_read_row *row;
	const char *x;
	int rc;
};

static bool is_device(const char *name)
{
	return !strcmp(name, "from") || !strcmp(name, "to") || !strcmp(name, "gpu") || !strcmp(name, "node");
}

/* The row's measured cell behind c; NULL: the first. */
static const struct scope_read_cell *next(const struct making *m, const struct scope_read_cell *c)
{
	return scope_read_next(m->r, m->row, c);
}

/* Different values of an argument over the row's cells, counted up to 2. */
static unsigned spread_of(const struct making *m, const char *name)
{
	uint64_t first = UINT64_MAX;
	unsigned values = 0;

	for (const struct scope_read_cell *c = NULL; values < 2 && (c = next(m, c));) {
		const uint64_t v = scope_read_arg(c, name, UINT64_MAX);

		if (v != UINT64_MAX && v != first) {
			first = v;
			values++;
		}
	}
	return values;
}

/*
 * The argument that the row is drawn over: bytes or span where they vary, else the first that does and is no
 * device.
 */
static const char *choose_x(const struct making *m)
{
	if (spread_of(m, "span") > 1)
		return "span";
	if (spread_of(m, "bytes") > 1)
		return "bytes";
	for (const struct scope_read_cell *c = NULL; (c = next(m, c));)
		for (uint32_t a = 0; a < c->args; a++)
			if (!is_device(c->arg[a].name) && spread_of(m, c->arg[a].name) > 1)
				return c->arg[a].name;
	return NULL;
}

static bool is_left_out(const char *name, const char *const *but)
{
	for (; *but; but++)
		if (!strcmp(name, *but))
			return true;
	return false;
}

/* Are all arguments equal but some? */
static bool alike(const struct scope_read_cell *a, const struct scope_read_cell *b, const char *const *but)
{
	for (uint32_t k = 0; k < a->args; k++)
		if (!is_left_out(a->arg[k].name, but) &&
		    scope_read_arg(b, a->arg[k].name, UINT64_MAX) != a->arg[k].value)
			return false;
	return a->args == b->args;
}

/* Is what stands before the slash the same? */
static bool same_family(const char *a, const char *b)
{
	const size_t n = strcspn(a, "/");

	return n == strcspn(b, "/") && !strncmp(a, b, n);
}

/* ---- charts and series ---- */

static struct scope_chart *add_chart(struct making *m, enum scope_chart_kind kind)
{
	struct scope_charts *to = m->to;
	struct scope_chart *c;

	if (to->charts == to->room) {
		const uint32_t room = to->room ? 2 * to->room : 16;

		c = (struct scope_chart *)realloc(to->chart, room * sizeof *c);
		if (!c) {
			m->rc = -GN_ENOMEM;
			return NULL;
		}
		to->chart = c;
		to->room = room;
	}
	c = &to->chart[to->charts++];
	memset(c, 0, sizeof *c);
	c->kind = kind;
	c->unit = m->row->unit;
	c->x = m->x;
	snprintf(c->family, sizeof c->family, "%.*s", (int)strcspn(m->row->name, "/"), m->row->name);
	return c;
}

static bool fits(const struct making *m, const struct scope_chart *c, enum scope_chart_kind kind)
{
	return c->kind == kind && c->unit == m->row->unit &&
	       c->count < (kind == SCOPE_BARS ? SCOPE_MOST_BARS : SCOPE_MOST_SERIES) &&
	       same_family(c->family, m->row->name) && !c->x == !m->x && (!m->x || !strcmp(c->x, m->x));
}

/* A chart of the family where one more series fits. */
static struct scope_chart *chart_for(struct making *m, enum scope_chart_kind kind)
{
	for (uint32_t k = m->to->charts; k--;)
		if (fits(m, &m->to->chart[k], kind))
			return &m->to->chart[k];
	return add_chart(m, kind);
}

static void add_point(struct making *m, struct scope_series *s, const struct scope_read_cell *cell)
{
	if (s->points == s->room) {
		const uint32_t room = s->room ? 2 * s->room : 16;
		const struct scope_read_cell **more =
		    (const struct scope_read_cell **)realloc((void *)s->point, room * sizeof *more);

		if (!more) {
			m->rc = -GN_ENOMEM;
			return;
		}
		s->point = more;
		s->room = room;
	}
	s->point[s->points++] = cell;
}

/* "pinned-to-device, gpu 1": the row without its family, and what distinguishes its series. */
static void put_label(const struct making *m, char *label, const struct scope_read_cell *c,
                      const char *const *but)
{
	const char *slash = strchr(m->row->name, '/');
	int n = snprintf(label, SCOPE_LABEL, "%s", slash ? slash + 1 : m->row->name);

	for (uint32_t k = 0; k < c->args && n < SCOPE_LABEL; k++)
		if (!is_left_out(c->arg[k].name, but) && spread_of(m, c->arg[k].name) > 1) {
			const struct scope_word w = scope_format_arg(&c->arg[k]);

			n +=
			    snprintf(label + n, (size_t)(SCOPE_LABEL - n), ", %s %s", c->arg[k].name, w.text);
		}
}

/* A series of the cells that are like the first of them but for x. */
static void add_series(struct making *m, struct scope_chart *c, const struct scope_read_cell *first,
                       const char *const *but)
{
	struct scope_series *s = &c->series[c->count++];

	s->row = m->row;
	put_label(m, s->label, first, but);
	for (const struct scope_read_cell *k = NULL; (k = next(m, k));)
		if (alike(first, k, but))
			add_point(m, s, k);
}

/* Is it the first of its series? */
static bool leads(const struct making *m, const struct scope_read_cell *c, const char *const *but)
{
	for (const struct scope_read_cell *k = NULL; (k = next(m, k)) && k < c;)
		if (alike(k, c, but))
			return false;
	return true;
}

static void sort_points(const struct scope_chart *c, struct scope_series *s)
{
	for (uint32_t k = 1; k < s->points; k++)
		for (uint32_t at = k;
		     at && scope_chart_x(c, s->point[at - 1]) > scope_chart_x(c, s->point[at]); at--) {
			const struct scope_read_cell *swap = s->point[at];

			s->point[at] = s->point[at - 1];
			s->point[at - 1] = swap;
		}
}

/*
 * Its second variable is a load, over which the first is drawn; others, such as the share of a direction, are
 * not.
 */
static bool is_loaded(const struct scope_read_row *row)
{
	return row->second && !strncmp(row->second, "load", 4);
}

static void row_lines(struct making *m)
{
	const enum scope_chart_kind kind = !m->x               ? SCOPE_BARS
	                                   : is_loaded(m->row) ? SCOPE_LOADED
	                                                       : SCOPE_LINES;
	const char *const but[] = {m->x ? m->x : "", NULL};

	for (const struct scope_read_cell *k = NULL; !m->rc && (k = next(m, k));)
		if (leads(m, k, but)) {
			struct scope_chart *c = chart_for(m, kind);

			if (!c)
				return;
			add_series(m, c, k, but);
			sort_points(c, &c->series[c->count - 1]);
		}
}

/* ---- pairs ---- */

static bool is_pair(const struct scope_read_cell *c)
{
	return scope_read_arg(c, "from", UINT64_MAX) < SCOPE_MOST_DEVICES &&
	       scope_read_arg(c, "to", UINT64_MAX) < SCOPE_MOST_DEVICES;
}

/* Of each pair the cell of the largest size is kept. */
static void keep_largest(struct scope_series *s)
{
	const char *const but[] = {"bytes", NULL};
	uint32_t kept = 0;

	for (uint32_t k = 0; k < s->points; k++) {
		uint32_t at = 0;

		if (!is_pair(s->point[k]))
			continue;
		while (at < kept && !alike(s->point[at], s->point[k], but))
			at++;
		if (at == kept)
			s->point[kept++] = s->point[k];
		else if (scope_read_arg(s->point[k], "bytes", 0) > scope_read_arg(s->point[at], "bytes", 0))
			s->point[at] = s->point[k];
	}
	s->points = kept;
}

/* A matrix for each set of the other arguments. Returns how many pairs there are. */
static uint32_t row_pairs(struct making *m)
{
	const char *const but[] = {"from", "to", "bytes", NULL};
	uint32_t pairs = 0;

	m->x = "to";
	for (const struct scope_read_cell *k = NULL; !m->rc && (k = next(m, k));) {
		struct scope_chart *c;

		if (!is_pair(k) || !leads(m, k, but))
			continue;
		c = add_chart(m, SCOPE_PAIRS);
		if (!c)
			return 0;
		add_series(m, c, k, but);
		keep_largest(&c->series[0]);
		pairs = c->series[0].points > pairs ? c->series[0].points : pairs;
	}
	return pairs;
}

/* ---- the whole ---- */

static void make_row(struct making *m)
{
	uint32_t pairs = 0;

	if (spread_of(m, "from") > 1 || spread_of(m, "to") > 1)
		pairs = row_pairs(m);
	if (pairs > PAIRS_AS_LINES)
		return;
	m->x = choose_x(m);
	if (m->x || !pairs)
		row_lines(m);
}

static void put_title(struct scope_chart *c, uint32_t which)
{
	static const char *const what[] = {"bandwidth", "latency", "rate"};

	if (c->kind == SCOPE_PAIRS)
		snprintf(c->title, sizeof c->title, "%s: %s of pairs", c->series[0].label, what[c->unit]);
	else if (c->kind == SCOPE_BARS && c->series[0].row->role) /* rows that do the same work */
		snprintf(c->title, sizeof c->title, "%s: %s", c->family, c->series[0].row->summary);
	else if (c->kind == SCOPE_LOADED)
		snprintf(c->title, sizeof c->title, "%s: %s over %s", c->family, what[c->unit],
		         c->series[0].row->second);
	else
		snprintf(c->title, sizeof c->title, "%s: %s%s%s", c->family, what[c->unit],
		         c->x ? " over " : "", c->x ? c->x : "");
	if (which)
		snprintf(c->title + strlen(c->title), sizeof c->title - strlen(c->title), " (%" PRIu32 ")",
		         which + 1);
}

/* Charts of the same name are numbered. */
static void put_titles(struct scope_charts *all)
{
	for (uint32_t k = 0; k < all->charts; k++) {
		struct scope_chart *c = &all->chart[k];
		uint32_t which = 0;

		for (uint32_t b = 0; b < k; b++) {
			const struct scope_chart *o = &all->chart[b];

			which += c->kind != SCOPE_PAIRS && o->kind == c->kind && o->unit == c->unit &&
			         !strcmp(o->family, c->family) && !o->x == !c->x &&
			         (!c->x || !strcmp(o->x, c->x));
		}
		put_title(c, which);
	}
}

int scope_charts_make(const struct scope_read *r, struct scope_charts **out)
{
	struct making m = {r, (struct scope_charts *)calloc(1, sizeof **out), NULL, NULL, 0};

	*out = m.to;
	if (!m.to)
		return -GN_ENOMEM;
	for (uint32_t k = 0; k < r->rows; k++) {
		uint32_t first = 0;

		while (!same_family(r->row[first].name, r->row[k].name))
			first++;
		for (uint32_t of = k; first == k && of < r->rows && !m.rc; of++) {
			m.row = &r->row[of];
			if (same_family(m.row->name, r->row[k].name))
				make_row(&m);
		}
	}
	put_titles(m.to);
	if (m.rc) {
		scope_charts_free(m.to);
		*out = NULL;
	}
	return m.rc;
}

void scope_charts_free(struct scope_charts *c)
{
	for (uint32_t k = 0; c && k < c->charts; k++)
		for (uint32_t s = 0; s < c->chart[k].count; s++)
			free((void *)c->chart[k].series[s].point);
	if (c)
		free(c->chart);
	free(c);
}

double scope_chart_x(const struct scope_chart *c, const struct scope_read_cell *cell)
{
	struct scope_statistics s;

	if (c->kind != SCOPE_LOADED)
		return c->x ? (double)scope_read_arg(cell, c->x, 0) : 0;
	if (!cell->second || scope_statistics_of(cell->second, cell->samples, &s))
		return 0;
	return s.median;
}
