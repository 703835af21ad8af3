/* SPDX-License-Identifier: Apache-2.0 */
/*
 * charts.h - which cells stand together, for tables and drawings alike.
 *
 *   series   cells of a row that differ in one argument only, in its order
 *   chart    up to so many series of one family and unit over the same argument; or one row over pairs of
 *            devices; or single figures beside each other
 */
#ifndef GN_SCOPE_CHARTS_H
#define GN_SCOPE_CHARTS_H

#include "scope/output/read.h"

enum { SCOPE_MOST_SERIES = 6, SCOPE_MOST_BARS = 24, SCOPE_LABEL = 128, SCOPE_MOST_DEVICES = 64 };

enum scope_chart_kind {
	SCOPE_LINES,  /* value over an argument */
	SCOPE_LOADED, /* value over the second variable, a load: latency under load */
	SCOPE_BARS,   /* a figure each */
	SCOPE_PAIRS,  /* from, to */
};

struct scope_series {
	const struct scope_read_row *row;
	char label[SCOPE_LABEL];
	uint32_t points, room;
	const struct scope_read_cell **point; /* in the order of x; of pairs in any */
};

struct scope_chart {
	enum scope_chart_kind kind;
	char title[SCOPE_LABEL + 64];
	char family[64];
	enum scope_unit unit;
	const char *x; /* the argument, NULL for bars */
	uint32_t count;
	struct scope_series series[SCOPE_MOST_BARS]; /* SCOPE_MOST_SERIES of lines, one of pairs */
};

struct scope_charts {
	uint32_t charts, room;
	struct scope_chart *chart;
};

/* Of all that was measured; r is borrowed until the charts are freed. Returns 0 or -GN_ENOMEM. */
int scope_charts_make(const struct scope_read *r, struct scope_charts **out);
void scope_charts_free(struct scope_charts *c);

/* Where a point lies: the argument's value, or the median of the second variable. */
double scope_chart_x(const struct scope_chart *c, const struct scope_read_cell *cell);

#endif
