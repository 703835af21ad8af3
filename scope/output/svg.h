/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svg.h - drawing: axes, lines with their noise, marks; matrices; bars. What is drawn takes its colours from
 * a style sheet (scope_svg_style), so that it can be read in the dark too. Every text is escaped here.
 */
#ifndef GN_SCOPE_SVG_H
#define GN_SCOPE_SVG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct scope_axis {
	const char *name; /* with its unit */
	bool sizes;       /* ticks are bytes */
	bool log;
	double low, high;         /* of what is drawn; put right by scope_plot_begin */
	const char *const *names; /* of scope_plot_bars, `high` of them from 0 on; NULL: numbers */
};

struct scope_plot {
	FILE *to;
	struct scope_axis x, y;
	uint32_t lines, marks; /* drawn so far */
};

struct scope_plot_point {
	double x, y, low, high; /* low and high: of the noise, 0 for none */
	const char *note;       /* shown under the pointer */
};

/* scope_axis_hold - widen an axis so that a value lies on it. */
void scope_axis_hold(struct scope_axis *a, double value);

/* 0 at the low end, 1 at the high one; what lies beyond is at the end. */
double scope_axis_share(const struct scope_axis *a, double value);

/* The drawing's beginning with title, frame and ticks; its axes hold all that will be drawn. */
void scope_plot_begin(struct scope_plot *p, FILE *to, const char *title);
void scope_plot_line(struct scope_plot *p, const char *label, const struct scope_plot_point *point,
                     uint32_t points);
/*
 * Upright bars over the names of the x axis, beside those of the other series, of which there are so many; a
 * value that is no number is left out.
 */
void scope_plot_bars(struct scope_plot *p, const char *label, const double *value, uint32_t series);
void scope_plot_across(struct scope_plot *p, double y, const char *label);  /* dashed: a limit */
void scope_plot_upright(struct scope_plot *p, double x, const char *label); /* dotted: where something ends */
/* bytes/seconds up to rate */
void scope_plot_slope(struct scope_plot *p, double seconds, double rate, const char *label);
void scope_plot_end(struct scope_plot *p);

struct scope_field {
	double value;     /* in the unit that the title names */
	const char *note; /* shown under the pointer; NULL: there is no value */
};

/* A matrix of field[from * n + to]. */
void scope_svg_matrix(FILE *to, const char *title, const char *const *name, const struct scope_field *field,
                      uint32_t n);

/*
 * A heat map of rows with names over time: field[row * columns + column], whose values are shares, 0 to 1.
 * below: what a column is.
 */
void scope_svg_heat(FILE *to, const char *title, const char *below, const char *const *name, uint32_t rows,
                    const struct scope_field *field, uint32_t columns);

struct scope_bar {
	const char *label, *text; /* what, and its figure */
	const char *note;         /* shown under the pointer */
	const char *style;        /* its class, of scope_bar_styles */
	double share;             /* of the whole width, 0 to 1 */
};

/* How bars of each scope_role look. */
extern const char *const scope_bar_styles[];

void scope_svg_bars(FILE *to, const char *title, const struct scope_bar *bar, uint32_t bars);

/* How high that and a plot are. */
double scope_svg_bars_height(uint32_t bars);
double scope_plot_height(void);
double scope_svg_matrix_height(uint32_t n);
double scope_svg_heat_height(uint32_t rows);

/* A file of drawings, which brings their colours; what follows scope_svg_file_at stands so far down. */
void scope_svg_file_begin(FILE *to, double height);
void scope_svg_file_at(FILE *to, double y);
void scope_svg_file_end(FILE *to);

/* The style sheet of all drawings: what a page holds that has some in it. */
extern const char scope_svg_style[];

#endif
