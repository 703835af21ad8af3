/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scope/output/charts.h"
#include "scope/output/findings.h"
#include "scope/output/format.h"

/* In a table a bar would end the field; a line's end, the row. */
static void put_text(FILE *to, const char *text)
{
	for (; *text; text++) {
		if (strchr("|\\`*_<>[]", *text))
			fputc('\\', to);
		fputc(*text == '\n' || *text == '\r' ? ' ' : *text, to);
	}
}

/* The same between two texts as they are. */
static void put(FILE *to, const char *before, const char *text, const char *after)
{
	fputs(before, to);
	put_text(to, text);
	fputs(after, to);
}

static void put_value(FILE *to, const struct scope_read_cell *c)
{
	if (c) {
		fprintf(to, " %s \302\261 %.1f %%%s", scope_format_median(c->row->unit, &c->s).text,
		        scope_noise_percent(&c->s), *scope_format_second(c).text ? "; " : "");
		put_text(to, scope_format_second(c).text);
	}
	fputs(" |", to);
}

static void put_rule(FILE *to, uint32_t columns)
{
	fputs("\n|---|", to);
	for (uint32_t k = 0; k < columns; k++)
		fputs("---:|", to);
	fputc('\n', to);
}

/* ---- a table over an argument ---- */

static const struct scope_read_cell *at_x(const struct scope_series *s, const struct scope_chart *c, double x)
{
	for (uint32_t k = 0; k < s->points; k++)
		if (scope_chart_x(c, s->point[k]) == x)
			return s->point[k];
	return NULL;
}

/* The least x above `after` of any series; infinite when there is none. */
static double next_x(const struct scope_chart *c, double after)
{
	double least = INFINITY;

	for (uint32_t s = 0; s < c->count; s++)
		for (uint32_t k = 0; k < c->series[s].points; k++) {
			const double x = scope_chart_x(c, c->series[s].point[k]);

			least = x > after && x < least ? x : least;
		}
	return least;
}

static void put_lines(FILE *to, const struct scope_chart *c)
{
	fprintf(to, "| %s |", c->kind == SCOPE_LOADED ? "load" : c->x);
	for (uint32_t s = 0; s < c->count; s++) {
		put(to, " ", c->series[s].label, "");
		fprintf(to, " (%s) |", scope_format_unit(c->unit));
	}
	put_rule(to, c->count);
	for (double x = next_x(c, -INFINITY); x < INFINITY; x = next_x(c, x)) {
		const struct scope_arg arg = {c->x, (uint64_t)x};

		if (c->kind == SCOPE_LOADED)
			fprintf(to, "| %.4g |", x);
		else
			fprintf(to, "| %s |", scope_format_arg(&arg).text);
		for (uint32_t s = 0; s < c->count; s++)
			put_value(to, at_x(&c->series[s], c, x));
		fputc('\n', to);
	}
}

static void put_bars(FILE *to, const struct scope_chart *c)
{
	fprintf(to, "| what | %s |", scope_format_unit(c->unit));
	put_rule(to, 1);
	for (uint32_t s = 0; s < c->count; s++) {
		put(to, "| ", c->series[s].label, " |");
		put_value(to, c->series[s].point[0]);
		fputc('\n', to);
	}
}

/* ---- a matrix ---- */

static bool has_device(const struct scope_series *s, const char *name, uint64_t device)
{
	for (uint32_t k = 0; k < s->points; k++)
		if (scope_read_arg(s->point[k], name, UINT64_MAX) == device)
			return true;
	return false;
}

static const struct scope_read_cell *pair(const struct scope_series *s, uint64_t from, uint64_t to)
{
	for (uint32_t k = 0; k < s->points; k++)
		if (scope_read_arg(s->point[k], "from", UINT64_MAX) == from &&
		    scope_read_arg(s->point[k], "to", UINT64_MAX) == to)
			return s->point[k];
	return NULL;
}

static void put_pairs(FILE *to, const struct scope_chart *c)
{
	const struct scope_series *s = &c->series[0];
	uint32_t columns = 0;

	fprintf(to, "| from \\\\ to (%s) |", scope_format_unit(c->unit));
	for (uint32_t k = 0; k < SCOPE_MOST_DEVICES; k++)
		if (has_device(s, "to", k)) {
			fprintf(to, " %u |", k);
			columns++;
		}
	put_rule(to, columns);
	for (uint32_t from = 0; from < SCOPE_MOST_DEVICES; from++) {
		if (!has_device(s, "from", from))
			continue;
		fprintf(to, "| %u |", from);
		for (uint32_t k = 0; k < SCOPE_MOST_DEVICES; k++)
			if (has_device(s, "to", k))
				put_value(to, pair(s, from, k));
		fputc('\n', to);
	}
}

/* ---- the whole ---- */

static void put_head(FILE *to, const struct scope_read *r)
{
	put(to, "# Scope of ", scope_read_text(r, "host_name", "a machine"), "\n\n");
	put_text(to, scope_read_text(r, "date", ""));
	fputs("\n\nMedians \302\261 half their 95 % interval; ~ stands at those of one round, whose spread "
	      "is not known. GB is 1e9 bytes; a bandwidth counts the bytes "
	      "that were to be moved, every direction once.\n",
	      to);
}

static void put_findings(FILE *to, const json_t *findings)
{
	fputs("\n## What looks wrong\n\n", to);
	if (!json_array_size(findings))
		fputs("Nothing.\n", to);
	for (size_t k = 0; k < json_array_size(findings); k++)
		put(to, "* ", json_string_value(json_array_get(findings, k)), "\n");
}

static void put_rest(FILE *to, const struct scope_read *r)
{
	bool any = false;

	for (uint32_t k = 0; k < r->cells; k++) {
		const struct scope_read_cell *c = &r->cell[k];

		if (c->status == SCOPE_MEASURED)
			continue;
		fputs(any ? "" : "\n## Not measured\n\n| what | | why |\n|---|---|---|\n", to);
		any = true;
		put(to, "| ", c->name, "");
		fprintf(to, " | %s", scope_status_words[c->status]);
		put(to, " | ", c->why, " |\n");
	}
}

static bool put_all(FILE *to, const struct scope_read *r)
{
	static void (*const put_kind[])(FILE *, const struct scope_chart *) = {put_lines, put_lines, put_bars,
	                                                                       put_pairs};
	json_t *findings = scope_findings_in(r);
	struct scope_charts *all = NULL;
	const bool bad = !findings || scope_charts_make(r, &all);

	put_head(to, r);
	put_findings(to, findings);
	for (uint32_t k = 0; !bad && k < all->charts; k++) {
		put(to, "\n## ", all->chart[k].title, "\n\n");
		put_kind[all->chart[k].kind](to, &all->chart[k]);
	}
	put_rest(to, r);
	scope_charts_free(all);
	json_decref(findings);
	return bad;
}

int scope_write_markdown(const json_t *report, FILE *to, struct gn_error *e)
{
	return scope_write_read(report, to, put_all, "the tables", e);
}
