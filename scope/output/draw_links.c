/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "scope/output/draw.h"
#include "scope/output/format.h"
#include "scope/output/limits.h"
#include "scope/output/svg.h"

enum { SIZES = 64, BARS = 24 };

/* ---- what was reached of a link, by size ---- */

/* The best of a direction at each power of two. */
struct envelope {
	const char *direction;
	struct scope_plot_point point[SIZES];
	uint32_t points;
};

/* Bytes of a transfer of its own: of pages, rows and pieces many go at once. */
static bool is_transfer(const struct scope_read_row *row)
{
	return strncmp(row->name, "grapnel", 7) && !scope_read_family(row, "pieces") &&
	       !scope_read_family(row, "random");
}

/* A transfer one way over the link. */
static bool is_over(const struct scope_read *r, const struct scope_read_cell *c, const char *limit)
{
	return c->row->unit == SCOPE_BANDWIDTH && !strcmp(scope_link_of(c->row), limit) &&
	       !scope_is_duplex(c->row) && is_transfer(c->row) && scope_beyond_caches(r, c);
}

static void fill_envelope(const struct scope_read *r, const char *limit, struct envelope *v)
{
	const struct scope_read_cell *best[SIZES] = {NULL};

	for (const struct scope_read_cell *c = NULL; (c = scope_read_next(r, NULL, c));) {
		const uint64_t bytes = scope_read_arg(c, "bytes", 0);
		const unsigned log2 = bytes ? 63 - (unsigned)__builtin_clzll(bytes) : 0;

		if (bytes && is_over(r, c, limit) && !strcmp(c->row->direction, v->direction) &&
		    (!best[log2] || c->s.median > best[log2]->s.median))
			best[log2] = c;
	}
	for (unsigned k = 0; k < SIZES; k++)
		if (best[k]) {
			const struct scope_plot_point at = {(double)scope_read_arg(best[k], "bytes", 0),
			                                    1e-9 * best[k]->s.median, 0, 0, best[k]->name};

			v->point[v->points++] = at;
		}
}

/* The shortest time of one transfer over the link. */
static double least_seconds(const struct scope_read *r, const char *limit)
{
	double least = 0;

	for (const struct scope_read_cell *c = NULL; (c = scope_read_next(r, NULL, c));) {
		const double bytes = (double)scope_read_arg(c, "bytes", 0);

		if (is_over(r, c, limit) && bytes > 0 && (least <= 0 || bytes / c->s.median < least))
			least = bytes / c->s.median;
	}
	return least;
}

/* The directions of a link's rows, each once. */
static uint32_t directions_of(const struct scope_read *r, const char *limit, struct envelope *v)
{
	uint32_t count = 0;

	for (const struct scope_read_cell *c = NULL;
	     count < SCOPE_MOST_SERIES && (c = scope_read_next(r, NULL, c));) {
		uint32_t at = 0;

		if (!is_over(r, c, limit))
			continue;
		while (at < count && strcmp(v[at].direction, c->row->direction))
			at++;
		if (at < count)
			continue;
		memset(&v[count], 0, sizeof v[count]);
		v[count].direction = c->row->direction;
		fill_envelope(r, limit, &v[count]);
		count += v[count].points > 0;
	}
	return count;
}

static void hold(struct scope_plot *p, const struct envelope *v, uint32_t count)
{
	for (uint32_t s = 0; s < count; s++)
		for (uint32_t k = 0; k < v[s].points; k++) {
			scope_axis_hold(&p->x, v[s].point[k].x);
			scope_axis_hold(&p->y, v[s].point[k].y);
		}
}

static void draw_roof(FILE *to, const struct scope_read *r, const struct scope_read_row *row)
{
	struct scope_plot p = {NULL,
	                       {"bytes of a transfer", true, true, INFINITY, -INFINITY},
	                       {"bandwidth (GB/s)", false, true, INFINITY, -INFINITY},
	                       0,
	                       0};
	struct envelope v[SCOPE_MOST_SERIES];
	uint32_t count = directions_of(r, scope_link_of(row), v), most = 0;
	const double seconds = least_seconds(r, scope_link_of(row));
	struct scope_limit limit;
	char title[160], label[200];

	for (uint32_t k = 0; k < count; k++)
		most = v[k].points > most ? v[k].points : most;
	if (most < 2 || !scope_limit_of(r, row, &limit))
		return; /* a roof over one size says no more than its bar below */
	hold(&p, v, count);
	scope_axis_hold(&p.y, 1e-9 * limit.rate);
	snprintf(title, sizeof title, "Roofline of the link: %.80s", scope_link_of(row));
	scope_plot_begin(&p, to, title);
	for (uint32_t s = 0; s < count; s++)
		scope_plot_line(&p, v[s].direction, v[s].point, v[s].points);
	snprintf(label, sizeof label, "%s: %.4g GB/s", limit.text, 1e-9 * limit.rate);
	if (seconds > 0)
		scope_plot_slope(&p, seconds, 1e-9 * limit.rate, label);
	else
		scope_plot_across(&p, 1e-9 * limit.rate, label);
	scope_plot_end(&p);
}

/* ---- what each row reached ---- */

static const struct scope_read_cell *best_of(const struct scope_read *r, const struct scope_read_row *row)
{
	const struct scope_read_cell *best = NULL;

	for (const struct scope_read_cell *c = NULL; (c = scope_read_next(r, row, c));)
		if (scope_beyond_caches(r, c) && (!best || c->s.median > best->s.median))
			best = c;
	return best;
}

static uint32_t fill_bars(const struct scope_read *r, uint32_t *next, struct scope_bar *bar,
                          char (*text)[200])
{
	uint32_t count = 0;

	for (; *next < r->rows && count < BARS; ++*next) {
		const struct scope_read_cell *best = best_of(r, &r->row[*next]);
		struct scope_limit limit;

		if (!best || !scope_limit_of(r, best->row, &limit))
			continue;
		bar[count].label = best->row->name;
		bar[count].share = best->s.median / limit.rate;
		snprintf(text[count], sizeof text[count], "%s %s, %.0f %% of %.100s",
		         scope_format_median(best->row->unit, &best->s).text,
		         scope_format_unit(best->row->unit), 100 * bar[count].share, limit.text);
		bar[count].text = text[count];
		bar[count].note = best->name;
		bar[count].style = scope_bar_styles[best->row->role];
		count++;
	}
	return count;
}

/* A link's roof is that of one direction. */
static bool has_roof(const struct scope_read_row *row)
{
	return row->limit[0] && row->unit == SCOPE_BANDWIDTH && !scope_is_duplex(row);
}

int scope_draw_links(FILE *to, const struct scope_read *r)
{
	struct scope_bar bar[BARS];
	char text[BARS][200];
	uint32_t next = 0, count;

	for (uint32_t k = 0; k < r->rows; k++) {
		uint32_t before = 0;

		while (before < k && !(has_roof(&r->row[before]) &&
		                       !strcmp(scope_link_of(&r->row[before]), scope_link_of(&r->row[k]))))
			before++;
		if (before == k && has_roof(&r->row[k]))
			draw_roof(to, r, &r->row[k]);
	}
	while ((count = fill_bars(r, &next, bar, text)))
		scope_svg_bars(to, "The most that each row reached of its link", bar, count);
	return 0;
}
