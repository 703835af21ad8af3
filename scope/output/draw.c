/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scope/output/draw.h"
#include "scope/output/format.h"
#include "scope/output/limits.h"
#include "scope/output/svg.h"

enum { NOTE = 400 };

/* ---- the axes of a chart ---- */

static void name_axes(const struct scope_chart *c, struct scope_plot *p, char *x, char *y, size_t room)
{
	snprintf(x, room, "%s", c->kind == SCOPE_LOADED ? c->series[0].row->second : c->x);
	if (c->kind == SCOPE_LOADED && strstr(x, "bytes_per_second"))
		snprintf(x, room, "achieved load (GB/s)");
	snprintf(y, room, "%s (%s)",
	         c->unit == SCOPE_BANDWIDTH ? "bandwidth"
	         : c->unit == SCOPE_LATENCY ? "latency"
	                                    : "rate",
	         c->unit == SCOPE_RATE ? "million/s" : scope_format_unit(c->unit));
	p->x.name = x;
	p->y.name = y;
}

/* The load is drawn in GB/s where it is a bandwidth. */
static double drawn_x(const struct scope_chart *c, const struct scope_read_cell *cell)
{
	const bool rate = c->kind == SCOPE_LOADED && strstr(c->series[0].row->second, "bytes_per_second");

	return scope_chart_x(c, cell) * (rate ? 1e-9 : 1);
}

static void hold_all(const struct scope_chart *c, struct scope_plot *p)
{
	const double scale = scope_format_scale(c->unit);

	p->y.sizes = false;
	p->x.low = p->y.low = INFINITY;
	p->x.high = p->y.high = -INFINITY;
	p->x.log = c->kind == SCOPE_LINES;
	p->x.sizes = c->kind == SCOPE_LINES && scope_arg_is_size(c->x);
	p->y.log = c->unit != SCOPE_BANDWIDTH;
	for (uint32_t s = 0; s < c->count; s++)
		for (uint32_t k = 0; k < c->series[s].points; k++) {
			const struct scope_read_cell *cell = c->series[s].point[k];

			scope_axis_hold(&p->x, drawn_x(c, cell));
			scope_axis_hold(&p->y, cell->s.p5 * scale);
			scope_axis_hold(&p->y, cell->s.p95 * scale);
		}
}

/* ---- limits and borders ---- */

/*
 * The different limits of a chart's series, each once; limits that tower over all that was reached would
 * flatten it.
 */
static uint32_t limits_of(const struct scope_read *r, const struct scope_chart *c, struct scope_limit *limit)
{
	uint32_t count = 0;

	for (uint32_t s = 0; s < c->count && c->kind == SCOPE_LINES; s++) {
		uint32_t at = 0;

		if (!scope_limit_of(r, c->series[s].row, &limit[count]))
			continue;
		while (at < count &&
		       (limit[at].rate != limit[count].rate || strcmp(limit[at].text, limit[count].text)))
			at++;
		count += at == count;
	}
	return count;
}

static void put_limits(struct scope_plot *p, const struct scope_limit *limit, uint32_t count)
{
	char label[200];

	for (uint32_t k = 0; k < count; k++) {
		snprintf(label, sizeof label, "%s: %.4g GB/s", limit[k].text, 1e-9 * limit[k].rate);
		scope_plot_across(p, 1e-9 * limit[k].rate, label);
	}
}

static bool on_gpu(const struct scope_chart *c)
{
	for (uint32_t s = 0; s < c->count; s++)
		if (c->series[s].row->timer != SCOPE_HOST_CLOCK || !strcmp(c->series[s].row->limit, "pcie") ||
		    !strcmp(c->series[s].row->limit, "nvlink"))
			return true;
	return false;
}

static void put_borders(struct scope_plot *p, const struct scope_read *r, const struct scope_chart *c)
{
	const bool gpu = on_gpu(c);
	const double cache = gpu ? scope_read_number(r, "gpus.0.l2_bytes", 0) : scope_host_cache(r);
	double reach = 0;

	if (!p->x.sizes)
		return;
	if (cache > 0)
		scope_plot_upright(p, cache, gpu ? "L2 of the GPU" : "last cache of the host");
	for (uint32_t s = 0; s < c->count && !(reach > 0) && !strcmp(c->x, "span"); s++)
		reach = c->series[s].row->limit[0] ? scope_reach(r, scope_link_of(c->series[s].row)) : 0;
	if (reach > 0)
		scope_plot_upright(p, reach, "reach of address translation");
}

/* ---- lines ---- */

static int put_series(struct scope_plot *p, const struct scope_chart *c, const struct scope_series *s)
{
	const double scale = scope_format_scale(c->unit);
	struct scope_plot_point *at = (struct scope_plot_point *)calloc(s->points + 1, sizeof *at);
	char *note = (char *)calloc(s->points + 1, NOTE);

	for (uint32_t k = 0; at && note && k < s->points; k++) {
		const struct scope_read_cell *cell = s->point[k];

		snprintf(note + NOTE * k, NOTE, "%s: %s %s, 5 %% to 95 %% of %u samples: %s to %s",
		         cell->name, scope_format_median(c->unit, &cell->s).text, scope_format_unit(c->unit),
		         cell->samples, scope_format_value(c->unit, cell->s.p5).text,
		         scope_format_value(c->unit, cell->s.p95).text);
		at[k].note = note + NOTE * k;
		at[k].x = drawn_x(c, cell);
		at[k].y = cell->s.median * scale;
		at[k].low = cell->s.p5 * scale;
		at[k].high = cell->s.p95 * scale;
	}
	if (at && note)
		scope_plot_line(p, s->label, at, s->points);
	free(note);
	free(at);
	return at && note ? 0 : -GN_ENOMEM;
}

static int draw_lines(FILE *to, const struct scope_read *r, const struct scope_chart *c)
{
	struct scope_limit limit[SCOPE_MOST_SERIES + 1];
	const uint32_t limits = limits_of(r, c, limit);
	char x[128], y[128];
	struct scope_plot p;
	int rc = 0;

	memset(&p, 0, sizeof p);
	name_axes(c, &p, x, y, sizeof x);
	hold_all(c, &p);
	for (uint32_t k = 0; k < limits; k++)
		scope_axis_hold(&p.y, 1e-9 * limit[k].rate);
	scope_plot_begin(&p, to, c->title);
	for (uint32_t s = 0; s < c->count && !rc; s++)
		rc = put_series(&p, c, &c->series[s]);
	put_limits(&p, limit, limits);
	put_borders(&p, r, c);
	scope_plot_end(&p);
	return rc;
}

/* ---- pairs and single figures ---- */

/* Devices of a matrix are numbered from 0. */
static uint32_t devices_of(const struct scope_series *s)
{
	uint64_t n = 0;

	for (uint32_t k = 0; k < s->points; k++) {
		const uint64_t from = scope_read_arg(s->point[k], "from", 0),
		               to = scope_read_arg(s->point[k], "to", 0);

		n = from >= n ? from + 1 : n;
		n = to >= n ? to + 1 : n;
	}
	return (uint32_t)n;
}

static int draw_pairs(FILE *to, const struct scope_read *r, const struct scope_chart *c)
{
	const struct scope_series *s = &c->series[0];
	struct scope_field field[SCOPE_MOST_DEVICES * SCOPE_MOST_DEVICES];
	char text[SCOPE_MOST_DEVICES][32], title[400];
	const char *name[SCOPE_MOST_DEVICES];
	const uint32_t n = devices_of(s);

	memset(field, 0, n * n * sizeof *field);
	for (uint32_t k = 0; k < s->points; k++) {
		struct scope_field *at =
		    &field[scope_read_arg(s->point[k], "from", 0) * n + scope_read_arg(s->point[k], "to", 0)];

		at->value = s->point[k]->s.median * scope_format_scale(c->unit);
		at->note = s->point[k]->name;
	}
	for (uint32_t k = 0; k < n; k++) {
		snprintf(text[k], sizeof text[k], "%s%u",
		         scope_read_number(r, "gpus.0.l2_bytes", 0) > 0 && on_gpu(c) ? "GPU " : "", k);
		name[k] = text[k];
	}
	snprintf(title, sizeof title, "%s, %s", c->title, scope_format_unit(c->unit));
	scope_svg_matrix(to, title, name, field, n);
	return 0;
}

/* What a bar says: the figure, its noise, and what it is of the row's limit. */
static void put_figure(char *text, size_t room, const struct scope_read *r,
                       const struct scope_read_cell *cell)
{
	struct scope_limit limit;
	const size_t n = (size_t)snprintf(text, room, "%s %s, noise %.1f %%",
	                                  scope_format_median(cell->row->unit, &cell->s).text,
	                                  scope_format_unit(cell->row->unit), scope_noise_percent(&cell->s));

	if (cell->row->role && scope_limit_of(r, cell->row, &limit))
		snprintf(text + n, room - n, ", %.3g x %.40s", cell->s.median / limit.rate, limit.text);
}

/* Ways to do the same work can lie three powers of ten apart: then their scale is logarithmic. */
static int draw_bars(FILE *to, const struct scope_read *r, const struct scope_chart *c)
{
	struct scope_axis scale = {c->title, false, true, INFINITY, -INFINITY};
	struct scope_bar bar[SCOPE_MOST_BARS];
	char text[SCOPE_MOST_BARS][160], title[sizeof c->title + 32];

	for (uint32_t k = 0; k < c->count; k++)
		scope_axis_hold(&scale, c->series[k].point[0]->s.median);
	scale.log = scale.high > 20 * scale.low;
	scale.low = scale.log ? pow(10, floor(log10(scale.low) - 0.1)) : 0;
	for (uint32_t k = 0; k < c->count; k++) {
		const struct scope_read_cell *cell = c->series[k].point[0];

		put_figure(text[k], sizeof text[k], r, cell);
		bar[k].label = c->series[k].label;
		bar[k].text = text[k];
		bar[k].note = cell->name;
		bar[k].style = scope_bar_styles[cell->row->role];
		bar[k].share = scope_axis_share(&scale, cell->s.median);
	}
	snprintf(title, sizeof title, "%s%s", c->title, scale.log ? " (logarithmic)" : "");
	scope_svg_bars(to, title, bar, c->count);
	return 0;
}

int scope_draw_chart(FILE *to, const struct scope_read *r, const struct scope_chart *c)
{
	if (c->kind == SCOPE_PAIRS)
		return draw_pairs(to, r, c);
	return c->kind == SCOPE_BARS ? draw_bars(to, r, c) : draw_lines(to, r, c);
}

/* ---- a file of all ---- */

static double height_of(const struct scope_chart *c)
{
	return 16 + (c->kind == SCOPE_BARS    ? scope_svg_bars_height(c->count)
	             : c->kind == SCOPE_PAIRS ? scope_svg_matrix_height(devices_of(&c->series[0]))
	                                      : scope_plot_height());
}

static bool put_all(FILE *to, const struct scope_read *r)
{
	struct scope_charts *all;
	double height = 0;
	int rc = scope_charts_make(r, &all);

	for (uint32_t k = 0; !rc && k < all->charts; k++)
		height += height_of(&all->chart[k]);
	scope_svg_file_begin(to, height);
	height = 0;
	for (uint32_t k = 0; !rc && k < all->charts; k++) {
		scope_svg_file_at(to, height);
		rc = scope_draw_chart(to, r, &all->chart[k]);
		height += height_of(&all->chart[k]);
	}
	scope_svg_file_end(to);
	scope_charts_free(all);
	return rc;
}

int scope_write_svg(const json_t *report, FILE *to, struct gn_error *e)
{
	return scope_write_read(report, to, put_all, "the drawings", e);
}
