/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/output/svg.h"

#include <math.h>
#include <string.h>

#include "scope/output/format.h"

enum { WIDTH = 920, HEIGHT = 340, LEFT = 70, RIGHT = 600, TOP = 34, BOTTOM = 290, COLOURS = 6, LEGEND = 40 };

const char scope_svg_style[] =
    ":root { --ink: #1b1f24; --faint: #667; --page: #fff; --line: #dde; --warn: #a33c00;\n"
    "  --c0: #1f6fb2; --c1: #c8722a; --c2: #2f8f4e; --c3: #a8327d; --c4: #7a5cc0; --c5: #8a7a10 }\n"
    "@media (prefers-color-scheme: dark) { :root { --ink: #e4e7eb; --faint: #9aa3ad; --page: #15181c; "
    "--line: #343a42; --warn: #ffb088;\n"
    "  --c0: #6db3ee; --c1: #f0a567; --c2: #6fce8d; --c3: #ee86c8; --c4: #b39df2; --c5: #d9c95a } }\n"
    "text { font: 12px sans-serif; fill: var(--ink) }\n"
    ".head { font-size: 14px; font-weight: bold } .tick { font-size: 11px } .tick, .name { fill: "
    "var(--faint) }\n"
    ".mid { text-anchor: middle } .end { text-anchor: end } .grid { stroke: var(--line) } .axis { stroke: "
    "var(--faint) }\n"
    ".limit { stroke: var(--ink); stroke-dasharray: 6 4; fill: none } .border { stroke: var(--faint); "
    "stroke-dasharray: 2 3 }\n"
    ".line { stroke-width: 2; fill: none } .bars { stroke-width: 10 } .noise { stroke-width: 4; "
    "stroke-opacity: .35 } .cell, .bar { fill: var(--c0) } .faint { fill: var(--faint) }\n"
    ".c0 { stroke: var(--c0) } .c1 { stroke: var(--c1) } .c2 { stroke: var(--c2) } .c3 { stroke: var(--c3) } "
    ".c4 { stroke: var(--c4) } .c5 { stroke: var(--c5) }\n"
    ".f0 { fill: var(--c0) } .f1 { fill: var(--c1) } .f2 { fill: var(--c2) } .f3 { fill: var(--c3) } .f4 { "
    "fill: var(--c4) } .f5 { fill: var(--c5) } .page { fill: var(--page) }\n";

static void put_text(FILE *to, double x, double y, const char *style, const char *text)
{
	fprintf(to, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, style);
	scope_put(to, "", text, "</text>\n");
}

static void put_line(FILE *to, double x1, double y1, double x2, double y2, const char *style)
{
	fprintf(to, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x1, y1, x2, y2,
	        style);
}

static void begin(FILE *to, const char *title, double width, double height)
{
	fprintf(to,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%.0f\" height=\"%.0f\" "
	        "viewBox=\"0 0 %.0f %.0f\">\n<title>",
	        width, height, width, height);
	scope_put(to, "", title, "</title>\n");
	put_text(to, 8, 18, "head", title);
}

/* What the style sheet says first of a colour: the one in the light. */
static const char *light(const char *name, size_t length)
{
	const char *at = strstr(scope_svg_style, "--");

	while (at && (strncmp(at, name, length) || at[length] != ':'))
		at = strstr(at + 1, "--");
	return at ? at + length + 2 : "";
}

/* The rules with colours instead of their names, for what draws files and knows no variables. */
static void put_plain_style(FILE *to)
{
	for (const char *at = strstr(scope_svg_style, "\ntext"); *at; at++) {
		const size_t length = strncmp(at, "var(", 4) ? 0 : strcspn(at + 4, ")");
		const char *colour = length ? light(at + 4, length) : at;

		fprintf(to, "%.*s", length ? (int)strcspn(colour, "; ") : 1, colour);
		at += length ? length + 4 : 0;
	}
}

/* A rectangle that says its name. */
static void put_box(FILE *to, double x, double y, double width, double height, const char *style,
                    double opacity, const char *note)
{
	fprintf(to,
	        "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"%s\" "
	        "fill-opacity=\"%.2f\"><title>",
	        x, y, width, height, style, opacity);
	scope_put(to, "", note, "</title></rect>\n");
}

/* ---- axes ---- */

void scope_axis_hold(struct scope_axis *a, double value)
{
	if (!isfinite(value))
		return;
	a->low = value < a->low ? value : a->low;
	a->high = value > a->high ? value : a->high;
}

/* After all values are held: a logarithmic axis is kept only where it is needed and possible. */
static void fit(struct scope_axis *a)
{
	if (a->low > a->high)
		a->low = a->high = 1;
	a->log = a->log && a->low > 0 && a->high >= 4 * a->low;
	if (a->log)
		return;
	a->low = a->low < 0 ? a->low : 0;
	a->high = a->high > a->low ? a->high : a->low + 1;
}

double scope_axis_share(const struct scope_axis *a, double v)
{
	const double s = a->log ? log(v > a->low ? v / a->low : 1) / log(a->high / a->low)
	                        : (v - a->low) / (a->high - a->low);

	return s < 0 ? 0 : s > 1 ? 1 : s;
}

static double x_of(const struct scope_plot *p, double x)
{
	return LEFT + 8 + (RIGHT - LEFT - 16) * scope_axis_share(&p->x, x);
}

static double y_of(const struct scope_plot *p, double y)
{
	return BOTTOM - (BOTTOM - TOP - 10) * scope_axis_share(&p->y, y);
}

static void put_tick(const struct scope_plot *p, bool upright, double v, const char *label)
{
	const double x = x_of(p, v), y = y_of(p, v);

	if (upright) {
		put_line(p->to, x, TOP, x, BOTTOM, "grid");
		put_text(p->to, x, BOTTOM + 15, "tick mid", label);
	} else {
		put_line(p->to, LEFT, y, RIGHT, y, "grid");
		put_text(p->to, LEFT - 6, y + 4, "tick end", label);
	}
}

static void put_number_tick(const struct scope_plot *p, const struct scope_axis *a, double v)
{
	char label[32];

	snprintf(label, sizeof label, "%.6g", v);
	put_tick(p, a == &p->x, v, a->sizes ? scope_format_bytes(v).text : label);
}

/* Powers of two (sizes and counts) or of ten, at most about nine of them. */
static void log_ticks(const struct scope_plot *p, const struct scope_axis *a, double base)
{
	const double low = ceil(log(a->low) / log(base) - 1e-9),
	             high = floor(log(a->high) / log(base) + 1e-9);
	const double step = ceil((high - low + 1) / 9);

	for (double k = low; k <= high; k += step > 1 ? step : 1)
		put_number_tick(p, a, pow(base, k));
	if (base == 10 && high - low < 2)
		for (double k = low - 1; k <= high; k++)
			for (double m = 2; m < 6; m += 3)
				if (m * pow(10, k) > a->low && m * pow(10, k) < a->high)
					put_number_tick(p, a, m * pow(10, k));
}

static void linear_ticks(const struct scope_plot *p, const struct scope_axis *a)
{
	const double rough = (a->high - a->low) / 6, ten = pow(10, floor(log10(rough)));
	const double step = rough / ten < 1.5   ? ten
	                    : rough / ten < 3.5 ? 2 * ten
	                    : rough / ten < 7.5 ? 5 * ten
	                                        : 10 * ten;

	for (double k = ceil(a->low / step); k * step <= a->high * 1.0001 && k < a->low / step + 20; k++)
		put_number_tick(p, a, k * step);
}

static void name_ticks(const struct scope_plot *p)
{
	for (int k = 0; k < p->x.high; k++)
		put_text(p->to, x_of(p, k + 0.5), BOTTOM + 15, "tick mid", p->x.names[k]);
}

static void put_axis(const struct scope_plot *p, const struct scope_axis *a, double base)
{
	if (a->names)
		name_ticks(p);
	else if (a->log)
		log_ticks(p, a, base);
	else
		linear_ticks(p, a);
}

/* ---- plots ---- */

void scope_plot_begin(struct scope_plot *p, FILE *to, const char *title)
{
	p->to = to;
	p->lines = p->marks = 0;
	fit(&p->x);
	fit(&p->y);
	begin(to, title, WIDTH, HEIGHT);
	put_axis(p, &p->x, 2);
	put_axis(p, &p->y, 10);
	put_line(to, LEFT, BOTTOM, RIGHT, BOTTOM, "axis");
	put_line(to, LEFT, TOP, LEFT, BOTTOM, "axis");
	put_text(to, (LEFT + RIGHT) / 2, BOTTOM + 36, "name mid", p->x.name);
	fprintf(to, "<text transform=\"translate(14 %d) rotate(-90)\" class=\"name mid\">",
	        (TOP + BOTTOM) / 2);
	scope_put(to, "", p->y.name, "</text>\n");
}

static void put_legend(struct scope_plot *p, const char *style, const char *label)
{
	const double y = TOP + 12 + 20 * p->lines++;
	char text[LEGEND + 4];

	snprintf(text, sizeof text, "%.*s%s", LEGEND, label, strlen(label) > LEGEND ? "..." : "");
	scope_put(p->to, "<g><title>", label, "</title>");
	put_line(p->to, RIGHT + 16, y, RIGHT + 38, y, style);
	put_text(p->to, RIGHT + 44, y + 4, "key", text);
	fprintf(p->to, "</g>\n");
}

static void put_point(const struct scope_plot *p, const struct scope_plot_point *at, unsigned colour)
{
	const double x = x_of(p, at->x);

	if (at->high > at->low) {
		fprintf(p->to,
		        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"noise c%u\"/>\n", x,
		        y_of(p, at->low), x, y_of(p, at->high), colour);
	}
	fprintf(p->to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" class=\"f%u\"><title>", x, y_of(p, at->y),
	        colour);
	scope_put(p->to, "", at->note ? at->note : "", "</title></circle>\n");
}

void scope_plot_line(struct scope_plot *p, const char *label, const struct scope_plot_point *point,
                     uint32_t points)
{
	const unsigned colour = p->lines % COLOURS;
	char style[24];

	snprintf(style, sizeof style, "line c%u", colour);
	fprintf(p->to, "<polyline class=\"%s\" points=\"", style);
	for (uint32_t k = 0; k < points; k++)
		fprintf(p->to, "%s%.1f,%.1f", k ? " " : "", x_of(p, point[k].x), y_of(p, point[k].y));
	fputs("\"/>\n", p->to);
	for (uint32_t k = 0; k < points; k++)
		put_point(p, &point[k], colour);
	put_legend(p, style, label);
}

void scope_plot_bars(struct scope_plot *p, const char *label, const double *value, uint32_t series)
{
	const double group = 0.8 * (x_of(p, 1) - x_of(p, 0)), width = group / series;
	const unsigned colour = p->lines % COLOURS;
	char style[16], note[128];

	snprintf(style, sizeof style, "f%u", colour);
	for (int k = 0; k < p->x.high; k++) {
		if (!isfinite(value[k]))
			continue;
		snprintf(note, sizeof note, "%s %s: %.4g", p->x.names[k], label, value[k]);
		put_box(p->to, x_of(p, k + 0.5) - group / 2 + width * p->lines, y_of(p, value[k]),
		        0.9 * width, BOTTOM - y_of(p, value[k]), style, 1, note);
	}
	snprintf(style, sizeof style, "bars c%u", colour);
	put_legend(p, style, label);
}

void scope_plot_across(struct scope_plot *p, double y, const char *label)
{
	put_line(p->to, LEFT, y_of(p, y), RIGHT, y_of(p, y), "limit");
	put_legend(p, "limit", label);
}

void scope_plot_upright(struct scope_plot *p, double x, const char *label)
{
	if (x < p->x.low || x > p->x.high)
		return;
	put_line(p->to, x_of(p, x), TOP, x_of(p, x), BOTTOM, "border");
	put_text(p->to, x_of(p, x) + 4, BOTTOM - 8 - 12 * p->marks++, "tick", label);
}

void scope_plot_slope(struct scope_plot *p, double seconds, double rate, const char *label)
{
	const double low = p->x.low, bend = rate * seconds * 1e9;

	fprintf(p->to, "<polyline class=\"limit\" points=\"%.1f,%.1f %.1f,%.1f %.1f,%.1f\"/>\n", x_of(p, low),
	        y_of(p, 1e-9 * low / seconds), x_of(p, bend), y_of(p, rate), x_of(p, p->x.high),
	        y_of(p, rate));
	put_legend(p, "limit", label);
}

void scope_plot_end(struct scope_plot *p)
{
	fputs("</svg>\n", p->to);
}

double scope_plot_height(void)
{
	return HEIGHT;
}

/* ---- matrices and bars ---- */

enum { CELL_X = 64, CELL_Y = 30, NAMES = 150, HEAD = 60 };

double scope_svg_matrix_height(uint32_t n)
{
	return HEAD + CELL_Y * n + 16;
}

static double most_of(const struct scope_field *field, uint32_t count)
{
	double most = 0;

	for (uint32_t k = 0; k < count; k++)
		most = field[k].note && field[k].value > most ? field[k].value : most;
	return most;
}

void scope_svg_matrix(FILE *to, const char *title, const char *const *name, const struct scope_field *field,
                      uint32_t n)
{
	const double most = most_of(field, n * n);
	char text[32];

	begin(to, title, NAMES + CELL_X * n + 16 > 420 ? NAMES + CELL_X * n + 16 : 420,
	      scope_svg_matrix_height(n));
	put_text(to, NAMES - 8, HEAD - 8, "tick end", "from \\ to");
	for (uint32_t from = 0; from < n; from++) {
		const double y = HEAD + CELL_Y * from;

		put_text(to, NAMES - 8, y + 20, "tick end", name[from]);
		put_text(to, NAMES + CELL_X * (from + 0.5), HEAD - 8, "tick mid", name[from]);
		for (uint32_t k = 0; k < n; k++) {
			const struct scope_field *at = &field[from * n + k];
			const double x = NAMES + CELL_X * k;

			if (at->note)
				put_box(to, x, y, CELL_X - 2, CELL_Y - 2, "cell",
				        0.08 + 0.62 * at->value / most, at->note);
			snprintf(text, sizeof text, at->value >= 100 ? "%.0f" : "%.3g", at->value);
			put_text(to, x + CELL_X / 2 - 1, y + 19, "tick mid", at->note ? text : "-");
		}
	}
	fputs("</svg>\n", to);
}

enum { HEAT_ROW = 16, HEAT_WIDTH = 720, HEAT_HEAD = 34, HEAT_NAMES = 120 };

double scope_svg_heat_height(uint32_t rows)
{
	return HEAT_HEAD + HEAT_ROW * rows + 30;
}

void scope_svg_heat(FILE *to, const char *title, const char *below, const char *const *name, uint32_t rows,
                    const struct scope_field *field, uint32_t columns)
{
	const double wide = (double)HEAT_WIDTH / columns;

	begin(to, title, HEAT_NAMES + HEAT_WIDTH + 16, scope_svg_heat_height(rows));
	for (uint32_t row = 0; row < rows; row++) {
		const double y = HEAT_HEAD + HEAT_ROW * row;

		put_text(to, HEAT_NAMES - 8, y + 12, "tick end", name[row]);
		for (uint32_t k = 0; k < columns; k++) {
			const struct scope_field *at = &field[row * columns + k];

			if (at->note)
				put_box(to, HEAT_NAMES + wide * k, y, wide, HEAT_ROW - 2, "cell", at->value,
				        at->note);
		}
	}
	put_text(to, HEAT_NAMES, scope_svg_heat_height(rows) - 12, "tick", below);
	fputs("</svg>\n", to);
}

enum { BAR_ROW = 22, BAR_NAMES = 300, BAR_FULL = 360, BAR_HEAD = 34 };

const char *const scope_bar_styles[] = {"bar", "faint", "f1", "bar"};

double scope_svg_bars_height(uint32_t bars)
{
	return BAR_HEAD + BAR_ROW * bars + 10;
}

void scope_svg_bars(FILE *to, const char *title, const struct scope_bar *bar, uint32_t bars)
{
	begin(to, title, WIDTH, scope_svg_bars_height(bars));
	for (uint32_t k = 0; k < bars; k++) {
		const double y = BAR_HEAD + BAR_ROW * k, share = bar[k].share > 1 ? 1 : bar[k].share;

		put_text(to, BAR_NAMES - 8, y + 14, "tick end", bar[k].label);
		put_box(to, BAR_NAMES, y + 3, BAR_FULL * share, BAR_ROW - 6, bar[k].style, 1, bar[k].note);
		put_text(to, BAR_NAMES + BAR_FULL * share + 6, y + 14, "tick", bar[k].text);
	}
	fputs("</svg>\n", to);
}

void scope_svg_file_begin(FILE *to, double height)
{
	fprintf(to,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d "
	        "%.0f\">\n<style>",
	        WIDTH, height, WIDTH, height);
	put_plain_style(to);
	fprintf(to,
	        "%s</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\" class=\"page\"/>\n<g>\n",
	        scope_svg_style);
}

void scope_svg_file_at(FILE *to, double y)
{
	fprintf(to, "</g>\n<g transform=\"translate(0 %.0f)\">\n", y);
}

void scope_svg_file_end(FILE *to)
{
	fputs("</g>\n</svg>\n", to);
}
