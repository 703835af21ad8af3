/* SPDX-License-Identifier: Apache-2.0 */
/* The drawing of a sweep: slowdown over pressure, with a line for each baseline. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scope/output/svg.h"
#include "sweep.h"
#include "tool.h"

enum { NOTE = 96 };

/* A line while it is put together. */
struct line {
	struct scope_plot_point at[SWEEP_PRESSURES];
	char note[SWEEP_PRESSURES][NOTE];
	uint32_t points;
};

static void add(const struct sweep *s, const struct sweep_point *p, double pressure, struct line *line)
{
	struct scope_plot_point *at = &line->at[line->points];
	char *note = line->note[line->points++];

	at->x = pressure;
	at->y = sweep_slowdown(s, p->statistics.median);
	at->low = sweep_slowdown(s, p->statistics.least);
	at->high = sweep_slowdown(s, p->statistics.most);
	at->note = note;
	snprintf(note, NOTE, "pressure %g: %.4g s (%.4g to %.4g), slowdown %.3g", pressure,
	         p->statistics.median, p->statistics.least, p->statistics.most, at->y);
}

static void hold(const struct line *line, struct scope_plot *plot)
{
	for (uint32_t k = 0; k < line->points; k++) {
		scope_axis_hold(&plot->x, line->at[k].x);
		scope_axis_hold(&plot->y, line->at[k].low);
		scope_axis_hold(&plot->y, line->at[k].high);
	}
}

static void make_cache_line(const struct sweep *s, struct line *line)
{
	line->points = 0;
	for (uint32_t k = 0; k < s->points; k++)
		if (!s->point[k].baseline && sweep_is_measured(&s->point[k]))
			add(s, &s->point[k], s->point[k].pressure, line);
}

/*
 * From the least pressure to the most. Managed memory cannot be given less than the machine's memory, so it
 * is measured, and drawn, at pressure 1 alone.
 */
static void make_baseline_line(const struct sweep *s, const struct sweep_point *p, struct line *line)
{
	const struct sweep_request *q = s->request;

	line->points = 0;
	add(s, p, q->pressure[0], line);
	if (strcmp(p->baseline, "managed") != 0 && q->pressures > 1)
		add(s, p, q->pressure[q->pressures - 1], line);
}

static bool is_drawn(const struct sweep_point *p)
{
	return p->baseline && sweep_is_measured(p);
}

static void hold_all(const struct sweep *s, struct line *line, struct scope_plot *plot)
{
	make_cache_line(s, line);
	hold(line, plot);
	for (uint32_t k = 0; k < s->points; k++)
		if (is_drawn(&s->point[k])) {
			make_baseline_line(s, &s->point[k], line);
			hold(line, plot);
		}
}

static void draw_lines(const struct sweep *s, struct line *line, struct scope_plot *plot)
{
	make_cache_line(s, line);
	scope_plot_line(plot, "through the cache", line->at, line->points);
	for (uint32_t k = 0; k < s->points; k++)
		if (is_drawn(&s->point[k])) {
			make_baseline_line(s, &s->point[k], line);
			scope_plot_line(plot, s->point[k].baseline, line->at, line->points);
		}
}

static void draw(const struct sweep *s, struct line *line, FILE *to)
{
	const struct sweep_point *r = sweep_reference(s);
	struct scope_plot plot;
	char title[128];

	memset(&plot, 0, sizeof plot);
	plot.x.name = "pressure (bytes of data / bytes of cache)";
	plot.y.name = r && r->baseline ? "time / time in core" : "time / time with room for all data";
	plot.x.log = plot.y.log = true;
	plot.x.low = plot.y.low = INFINITY;
	plot.x.high = plot.y.high = -INFINITY;
	hold_all(s, line, &plot);
	snprintf(title, sizeof title, "%s: slowdown over pressure, %.1f MiB of data", s->request->job[0],
	         (double)s->data_bytes / (1 << 20));
	scope_svg_file_begin(to, scope_plot_height());
	scope_plot_begin(&plot, to, title);
	draw_lines(s, line, &plot);
	scope_plot_end(&plot);
	scope_svg_file_end(to);
}

int sweep_draw(const struct sweep *s, const char *path, struct gn_error *e)
{
	struct line *line = (struct line *)malloc(sizeof *line);
	char *svg = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&svg, &bytes);
	int rc;

	if (to && line)
		draw(s, line, to);
	rc = !line || !to || fclose(to) ? gn_error_set(e, -GN_ENOMEM, "%s: out of memory", path)
	                                : tool_write_file(path, svg, bytes, e);
	free(svg);
	free(line);
	return rc;
}
