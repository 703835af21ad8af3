/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "sim_paper.h"

enum { LEFT = 56, TOP = 64, HEIGHT = 240, FOOT = 34, BAR = 11, GAP = 16 };

static const char *const colours[PAPER_MOST_SERIES] = {"#1f6fb2", "#c8722a", "#4c9a5b", "#8a5fb0",
                                                       "#b0413e", "#8a8a8a", "#c9a227", "#3aa6a6"};

/* A round number of 1, 2 or 5 times a power of ten, five of which reach the top. */
static double step_of(double most)
{
	const double raw = most > 0 ? most / 5 : 0.2, ten = pow(10, floor(log10(raw)));

	return raw <= ten ? ten : raw <= 2 * ten ? 2 * ten : raw <= 5 * ten ? 5 * ten : 10 * ten;
}

static double most_of(const struct paper_series *s, uint32_t count)
{
	double most = 0;

	for (uint32_t k = 0; k < count; k++)
		for (uint32_t w = 0; w < PAPER_WORKLOADS; w++)
			most = s[k].value[w] > most ? s[k].value[w] : most;
	return most;
}

static void put_axis(FILE *to, double most, double step, double width)
{
	for (double v = 0; v <= most * 1.001; v += step) {
		const double y = TOP + HEIGHT * (1 - v / most);

		fprintf(to, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#dddddd\"/>\n",
		        LEFT, y, width - GAP, y);
		fprintf(to, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", LEFT - 6, y + 4, v);
	}
}

static void put_bars(FILE *to, const struct paper_series *s, uint32_t count, uint32_t w, double x,
                     double most)
{
	for (uint32_t k = 0; k < count; k++) {
		const double height = HEIGHT * s[k].value[w] / most;

		if (!isfinite(height))
			continue;
		fprintf(to,
		        "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" fill=\"%s\"><title>%s %s: "
		        "%.4g</title></rect>\n",
		        x + k * BAR, TOP + HEIGHT - height, BAR - 1, height, colours[k], paper_workloads[w],
		        s[k].name, s[k].value[w]);
	}
	fprintf(to, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x + count * BAR / 2.0,
	        TOP + HEIGHT + 18, paper_workloads[w]);
}

static void draw(FILE *to, const char *title, const struct paper_series *s, uint32_t count)
{
	const double group = count * BAR + GAP < 44 ? 44 : count * BAR + GAP,
	             width = LEFT + PAPER_WORKLOADS * group + GAP;
	const double step = step_of(most_of(s, count)), most = step * ceil(most_of(s, count) / step + 1e-9);

	fprintf(to,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%d\" viewBox=\"0 0 %.0f "
	        "%d\">\n"
	        "<style>text { font: 12px sans-serif; fill: #222222 } .title { font-size: 15px; font-weight: "
	        "bold }</style>\n"
	        "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<text x=\"%d\" y=\"22\" "
	        "class=\"title\">%s</text>\n",
	        width, TOP + HEIGHT + FOOT, width, TOP + HEIGHT + FOOT, LEFT, title);
	for (uint32_t k = 0; k < count; k++)
		fprintf(to,
		        "<rect x=\"%u\" y=\"36\" width=\"11\" height=\"11\" fill=\"%s\"/><text x=\"%u\" "
		        "y=\"46\">%s</text>\n",
		        LEFT + 110 * k, colours[k], LEFT + 16 + 110 * k, s[k].name);
	put_axis(to, most, step, width);
	for (uint32_t w = 0; w < PAPER_WORKLOADS; w++)
		put_bars(to, s, count, w, LEFT + GAP / 2.0 + w * group, most);
	fputs("</svg>\n", to);
}

int paper_plot(const struct paper *p, const char *file, const char *title, const struct paper_series *series,
               uint32_t count, struct gn_error *e)
{
	char path[512], *text = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&text, &bytes);
	int rc;

	if (!to)
		return gn_error_set(e, -GN_ENOMEM, "%s: no memory", file);
	draw(to, title, series, count);
	snprintf(path, sizeof path, "%s/%s", p->folder, file);
	rc = fclose(to) ? gn_error_set(e, -GN_ENOMEM, "%s: no memory", file)
	                : tool_write_file(path, text, bytes, e);
	free(text);
	return rc;
}
