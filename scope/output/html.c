/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as one page: what looks wrong, the links, every chart with its figures under it, what was not
 * measured, and the environment. Nothing is fetched and no script runs; the policy in its head makes a
 * browser hold it to that.
 */
#include <stdlib.h>
#include <string.h>

#include "scope/output/draw.h"
#include "scope/output/findings.h"
#include "scope/output/flat.h"
#include "scope/output/format.h"
#include "scope/output/svg.h"

static const char head[] = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                           "style-src 'unsafe-inline'\">\n"
                           "<meta name=\"viewport\" content=\"width=device-width\">\n<meta "
                           "name=\"color-scheme\" content=\"light dark\">\n"
                           "<title>grapnel scope</title>\n<style>\n";

static const char style[] = "body { font: 15px/1.5 sans-serif; color: var(--ink); background: var(--page); "
                            "max-width: 960px; margin: 24px auto; padding: 0 16px }\n"
                            "svg { display: block; max-width: 100%; height: auto; margin: 20px 0 4px }\n"
                            "table { border-collapse: collapse; font-size: 13px } td, th { border-bottom: "
                            "1px solid var(--line); padding: 2px 8px; text-align: left }\n"
                            "td.n { text-align: right; font-variant-numeric: tabular-nums } details { "
                            "margin: 0 0 16px } .finding { color: var(--warn) }\n"
                            "summary { cursor: pointer; color: var(--faint) } .wide { overflow-x: auto }\n"
                            "</style>\n</head>\n<body>\n";

static void put_head(FILE *to, const struct scope_read *r)
{
	fputs(head, to);
	fputs(scope_svg_style, to);
	fputs(style, to);
	scope_put(to, "<h1>Scope of ", scope_read_text(r, "host_name", "a machine"), "</h1>\n<p>");
	scope_put_escaped(to, scope_read_text(r, "date", ""));
	for (size_t k = 0; k < json_array_size(scope_read_context(r, "gpus")); k++) {
		char path[40];

		snprintf(path, sizeof path, "gpus.%zu.name", k);
		fprintf(to, "%s GPU %zu: ", k ? "," : "", k);
		scope_put_escaped(to, scope_read_text(r, path, "?"));
	}
	fputs("</p>\n<p>Points are medians, bars behind them the samples from 5 % to 95 %. GB is 1e9 bytes; "
	      "a bandwidth counts the bytes that were to be moved, every direction once. Dashed: the limit "
	      "of the link. Every figure has its name and its noise under the pointer.</p>\n",
	      to);
}

static void put_findings(FILE *to, const json_t *findings)
{
	fputs("<h2>What looks wrong</h2>\n", to);
	if (!json_array_size(findings)) {
		fputs("<p>Nothing.</p>\n", to);
		return;
	}
	fputs("<ul>\n", to);
	for (size_t k = 0; k < json_array_size(findings); k++)
		scope_put(to, "<li class=\"finding\">", json_string_value(json_array_get(findings, k)),
		          "</li>\n");
	fputs("</ul>\n", to);
}

/* ---- figures ---- */

static void put_figure(FILE *to, const struct scope_read_cell *c)
{
	scope_put(to, "<tr><td>", c->name, "</td>");
	fprintf(to, "<td class=\"n\">%s</td><td class=\"n\">%.1f %%</td>",
	        scope_format_median(c->row->unit, &c->s).text, scope_noise_percent(&c->s));
	fprintf(to, "<td class=\"n\">%s</td><td class=\"n\">%s</td>",
	        scope_format_value(c->row->unit, c->s.p5).text,
	        scope_format_value(c->row->unit, c->s.p95).text);
	fprintf(to, "<td class=\"n\">%u</td>", c->samples);
	scope_put(to, "<td>", scope_format_second(c).text, "</td>");
	scope_put(to, "<td>", c->why, "</td></tr>\n");
}

static void put_figures(FILE *to, const struct scope_chart *c)
{
	fprintf(to,
	        "<details><summary>figures</summary><div "
	        "class=\"wide\"><table>\n<tr><th>what</th><th>median, %s</th><th>&#177;</th>"
	        "<th>5 %%</th><th>95 %%</th><th>samples</th><th>also</th><th>note</th></tr>\n",
	        scope_format_unit(c->unit));
	for (uint32_t s = 0; s < c->count; s++)
		for (uint32_t k = 0; k < c->series[s].points; k++)
			put_figure(to, c->series[s].point[k]);
	fputs("</table></div></details>\n", to);
}

static int put_charts(FILE *to, const struct scope_read *r)
{
	struct scope_charts *all;
	int rc = scope_charts_make(r, &all);

	for (uint32_t k = 0; !rc && k < all->charts; k++) {
		const struct scope_chart *c = &all->chart[k];

		if (!k || strcmp(c->family, all->chart[k - 1].family))
			scope_put(to, "<h2>", c->family, "</h2>\n");
		rc = scope_draw_chart(to, r, c);
		put_figures(to, c);
	}
	scope_charts_free(all);
	return rc;
}

/* ---- the rest ---- */

static void put_not_measured(FILE *to, const struct scope_read *r)
{
	uint32_t count = 0;

	for (uint32_t k = 0; k < r->cells; k++)
		count += r->cell[k].status != SCOPE_MEASURED;
	if (!count)
		return;
	fprintf(to, "<h2>Not measured</h2>\n<details><summary>%u rows or sizes</summary><table>\n", count);
	for (uint32_t k = 0; k < r->cells; k++) {
		const struct scope_read_cell *c = &r->cell[k];

		if (c->status == SCOPE_MEASURED)
			continue;
		scope_put(to, "<tr><td>", c->name, "</td>");
		scope_put(to, "<td>", scope_status_words[c->status], "</td>");
		scope_put(to, "<td>", c->why, "</td></tr>\n");
	}
	fputs("</table></details>\n", to);
}

static void put_environment(FILE *to, const json_t *flat)
{
	const char *key;
	json_t *v;

	fputs(
	    "<h2>Environment</h2>\n<details><summary>everything a figure could depend on</summary><table>\n",
	    to);
	json_object_foreach((json_t *)flat, key, v)
	{
		scope_put(to, "<tr><td>", key, "</td>");
		scope_put(to, "<td>", json_string_value(v), "</td></tr>\n");
	}
	fputs("</table></details>\n</body>\n</html>\n", to);
}

static bool put_all(FILE *to, const struct scope_read *r)
{
	json_t *findings = scope_findings_in(r), *flat = scope_flat(r->context);
	bool bad = true;

	if (findings && flat) {
		put_head(to, r);
		put_findings(to, findings);
		fputs("<h2>Links</h2>\n", to);
		bad = scope_draw_links(to, r) || put_charts(to, r);
		put_not_measured(to, r);
		put_environment(to, flat);
	}
	json_decref(flat);
	json_decref(findings);
	return bad;
}

int scope_write_html(const json_t *report, FILE *to, struct gn_error *e)
{
	return scope_write_read(report, to, put_all, "the page", e);
}
