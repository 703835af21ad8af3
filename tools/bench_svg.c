/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows as a drawing: a panel a group, a line a row, on a logarithmic scale, since the ways of a group can
 * lie three powers of ten apart. The group's limit is a dashed line through its panel.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"

enum { WIDTH = 960, LEFT = 190, RIGHT = 640, ROW = 22, HEAD = 62, FOOT = 30, TOP = 70 };

static const char *colour_of(enum bench_role role)
{
	return role == BENCH_LIMIT ? "#8a8a8a" : role == BENCH_OURS ? "#1f6fb2" : "#c8722a";
}

/* A scale of whole decades that holds every rate of a group. */
struct scale {
	double low, high; /* logarithms */
};

static struct scale scale_of(const struct bench_group *g)
{
	struct scale s = {1e9, -1e9};

	for (unsigned k = 0; k < g->rows; k++) {
		const double at = log10(bench_rate(&g->row[k]));

		s.low = at < s.low ? at : s.low;
		s.high = at > s.high ? at : s.high;
	}
	s.low = floor(s.low);
	s.high = ceil(s.high);
	if (s.high <= s.low)
		s.high = s.low + 1;
	return s;
}

static double x_of(const struct scale *s, double rate)
{
	return LEFT + (RIGHT - LEFT) * (log10(rate) - s->low) / (s->high - s->low);
}

static void put_text(FILE *to, double x, double y, const char *style, const char *text)
{
	fprintf(to, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, style);
	for (; *text; text++) {
		switch (*text) {
		case '<': fputs("&lt;", to); break;
		case '>': fputs("&gt;", to); break;
		case '&': fputs("&amp;", to); break;
		default: fputc(*text, to);
		}
	}
	fputs("</text>\n", to);
}

static void put_grid(FILE *to, const struct scale *s, double top, double bottom)
{
	char label[32];

	for (double decade = s->low; decade <= s->high + 0.5; decade++) {
		const double x = x_of(s, pow(10, decade));

		fprintf(to, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#dddddd\"/>\n", x,
		        top, x, bottom);
		snprintf(label, sizeof label, "%g", pow(10, decade));
		put_text(to, x, bottom + 14, "class=\"tick\"", label);
	}
}

static void put_limit(FILE *to, const struct bench_group *g, const struct scale *s, double top, double bottom)
{
	for (unsigned k = 0; k < g->rows; k++)
		if (!strcmp(g->row[k].name, g->limit)) {
			const double x = x_of(s, bench_rate(&g->row[k]));

			fprintf(to,
			        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#444444\" "
			        "stroke-dasharray=\"5 4\"/>\n",
			        x, top, x, bottom);
		}
}

static void put_row(FILE *to, const struct bench_group *g, const struct bench_row *r, const struct scale *s,
                    double y)
{
	const double x = x_of(s, bench_rate(r)), share = bench_share(g, r);
	char label[96];

	put_text(to, LEFT - 10, y + 4, r->role == BENCH_OURS ? "class=\"ours\"" : "class=\"name\"", r->name);
	fprintf(to,
	        "<line x1=\"%d\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"3\" "
	        "stroke-opacity=\"0.45\"/>\n<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"%s\"/>\n",
	        LEFT, y, x, y, colour_of(r->role), x, y, colour_of(r->role));
	if (share > 0)
		snprintf(label, sizeof label, "%.4g %s  (%.3g x %s)", bench_rate(r),
		         r->unit == BENCH_BYTES ? "GB/s" : "G/s", share, g->limit);
	else
		snprintf(label, sizeof label, "%.4g %s", bench_rate(r),
		         r->unit == BENCH_BYTES ? "GB/s" : "G/s");
	put_text(to, RIGHT + 16, y + 4, "class=\"value\"", label);
}

/* Returns where the next panel begins. */
static double put_group(FILE *to, const struct bench_group *g, double y)
{
	const struct scale s = scale_of(g);
	const double top = y + HEAD - 26, bottom = top + ROW * (double)g->rows + 4;

	put_text(to, 24, y + 22, "class=\"group\"", g->title);
	put_grid(to, &s, top, bottom);
	put_limit(to, g, &s, top, bottom);
	for (unsigned k = 0; k < g->rows; k++)
		put_row(to, g, &g->row[k], &s, top + ROW * (k + 0.5) + 2);
	return bottom + FOOT;
}

static void put_head(FILE *to, const struct bench *b, double height)
{
	static const char *const names[] = {"limit", "without Grapnel", "Grapnel"};
	char title[160];

	fprintf(to,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d "
	        "%.0f\">\n"
	        "<style>text { font: 13px sans-serif; fill: #222222 } .title { font-size: 18px; font-weight: "
	        "bold } "
	        ".group { font-weight: bold } .name { text-anchor: end } .ours { text-anchor: end; "
	        "font-weight: bold; fill: #1f6fb2 } "
	        ".tick { text-anchor: middle; font-size: 11px; fill: #666666 } .value { font-size: 12px "
	        "}</style>\n"
	        "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
	        WIDTH, height, WIDTH, height);
	snprintf(title, sizeof title, "grapnel bench on %s: every word read was compared", b->info.name);
	put_text(to, 24, 32, "class=\"title\"", title);
	for (int k = 0; k < 3; k++) {
		fprintf(to, "<circle cx=\"%d\" cy=\"52\" r=\"5\" fill=\"%s\"/>\n", 32 + 150 * k,
		        colour_of((enum bench_role)k));
		put_text(to, 42 + 150 * k, 56, "", names[k]);
	}
	put_text(to, 492, 56, "", "giga bytes or accesses a second, logarithmic; dashed: the group's 1.0");
}

int bench_write_svg(const struct bench *b, struct gn_error *e)
{
	double height = TOP, y = TOP;
	FILE *to = fopen(b->q->svg, "w");
	int bad;

	if (!to)
		return gn_error_set(e, -GN_EIO, "%s: cannot be written; see the folder", b->q->svg);
	for (unsigned k = 0; k < b->groups; k++)
		height += HEAD - 26 + ROW * (double)b->group[k].rows + 4 + FOOT;
	put_head(to, b, height);
	for (unsigned k = 0; k < b->groups; k++)
		y = put_group(to, &b->group[k], y);
	fputs("</svg>\n", to);
	bad = ferror(to);
	bad |= fclose(to);
	return bad ? gn_error_set(e, -GN_EIO, "%s: cannot be written; see its free space", b->q->svg) : 0;
}
