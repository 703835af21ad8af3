/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The figures: what is computed from the counters, and the statement of the paper beside it. Numbers are
 * those of its text; bars of single workloads cannot be read off it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scope/output/svg.h"
#include "sim_paper.h"

double paper_counter(const struct paper *p, uint32_t w, enum paper_variant v, const char *name)
{
	return sim_job_counter(paper_job(p, w, v), name);
}

double paper_share(double part, double all)
{
	return all > 0 ? part / all : NAN;
}

/* How much less of a counter there is with a variant. */
static double gain(const struct paper *p, uint32_t w, enum paper_variant base, enum paper_variant v,
                   const char *name)
{
	return paper_share(paper_counter(p, w, base, name), paper_counter(p, w, v, name));
}

struct paper_series paper_gains(const struct paper *p, const char *series, enum paper_variant base,
                                enum paper_variant v, const char *name)
{
	struct paper_series s;

	s.name = series;
	for (uint32_t w = 0; w < PAPER_WORKLOADS; w++)
		s.value[w] = gain(p, w, base, v, name);
	return s;
}

struct paper_series paper_speedups(const struct paper *p, const char *series, enum paper_variant base,
                                   enum paper_variant v)
{
	return paper_gains(p, series, base, v, "kernel_cycles");
}

/* Of workloads first to last - 1 that have a value. */
double paper_mean(const struct paper_series *s, uint32_t first, uint32_t last)
{
	double sum = 0, count = 0;

	for (uint32_t w = first; w < last; w++)
		if (isfinite(s->value[w])) {
			sum += s->value[w];
			count++;
		}
	return count ? sum / count : NAN;
}

double paper_mean_remote(const struct paper_series *s)
{
	return paper_mean(s, 0, PAPER_REMOTE);
}

/* ---- statements ---- */

void paper_claim(struct paper *p, const char *figure, const char *statement, const char *format, double paper,
                 double here, enum paper_verdict verdict)
{
	static const char *const words[] = {"reproduced", "direction only", "not reproduced"};

	fprintf(p->claims, "| %s | %s | ", figure, statement);
	fprintf(p->claims, format, paper);
	fputs(" | ", p->claims);
	fprintf(p->claims, format, here);
	fprintf(p->claims, " | %s |\n", words[verdict]);
	p->verdicts[verdict]++;
}

/* A factor: on the same side of 1, and how near. */
void paper_claim_factor(struct paper *p, const char *figure, const char *statement, double paper, double here)
{
	const bool same = fabs(paper - 1) < 0.05 ? fabs(here - 1) < 0.1
	                                         : (paper > 1) == (here > 1) && fabs(here - 1) > 0.01;
	const bool near = fabs(here / paper - 1) <= 0.15 && same;

	paper_claim(p, figure, statement, "%.2fx", paper, here,
	            near   ? PAPER_REPRODUCED
	            : same ? PAPER_DIRECTION
	                   : PAPER_NOT);
}

/* A share, as near as a factor must be. */
void paper_claim_share(struct paper *p, const char *figure, const char *statement, double paper, double here)
{
	paper_claim(p, figure, statement, "%.0f %%", 100 * paper, 100 * here,
	            fabs(here / paper - 1) <= 0.15 ? PAPER_REPRODUCED : PAPER_NOT);
}

/* ---- a figure: its drawing and its numbers ---- */

static void draw(FILE *to, const char *title, const struct paper_series *s, uint32_t count)
{
	struct scope_plot plot;

	memset(&plot, 0, sizeof plot);
	plot.x.name = plot.y.name = "";
	plot.x.names = paper_workloads;
	plot.x.high = PAPER_WORKLOADS;
	for (uint32_t k = 0; k < count * PAPER_WORKLOADS; k++)
		scope_axis_hold(&plot.y, s[k / PAPER_WORKLOADS].value[k % PAPER_WORKLOADS]);
	scope_svg_file_begin(to, scope_plot_height());
	scope_plot_begin(&plot, to, title);
	for (uint32_t k = 0; k < count; k++)
		scope_plot_bars(&plot, s[k].name, s[k].value, count);
	scope_plot_end(&plot);
	scope_svg_file_end(to);
}

/* A file of the folder: bars of each workload, beside each other. */
static int write_drawing(const struct paper *p, const char *file, const char *title,
                         const struct paper_series *s, uint32_t count, struct gn_error *e)
{
	char path[512], *text = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&text, &bytes);
	int rc;

	if (!to)
		return gn_error_set(e, -GN_ENOMEM, "%s: out of memory", file);
	draw(to, title, s, count);
	snprintf(path, sizeof path, "%s/%s", p->folder, file);
	rc = fclose(to) ? gn_error_set(e, -GN_ENOMEM, "%s: out of memory", file)
	                : tool_write_file(path, text, bytes, e);
	free(text);
	return rc;
}

int paper_figure(struct paper *p, const char *number, const char *title, const struct paper_series *s,
                 uint32_t count, struct gn_error *e)
{
	char file[64];
	int rc;

	snprintf(file, sizeof file, "figure-%s.svg", number);
	rc = write_drawing(p, file, title, s, count, e);
	fprintf(p->report, "## Figure %s: %s\n\n![Figure %s](%s)\n\n| workload |", number, title, number,
	        file);
	for (uint32_t k = 0; k < count; k++)
		fprintf(p->report, " %s |", s[k].name);
	fputs("\n|---|", p->report);
	for (uint32_t k = 0; k < count; k++)
		fputs("---|", p->report);
	for (uint32_t w = 0; w < PAPER_WORKLOADS; w++) {
		fprintf(p->report, "\n| %s |", paper_workloads[w]);
		for (uint32_t k = 0; k < count; k++)
			fprintf(p->report, isfinite(s[k].value[w]) ? " %.3f |" : " - |", s[k].value[w]);
	}
	fputs("\n| **mean of 11** |", p->report);
	for (uint32_t k = 0; k < count; k++)
		fprintf(p->report, " %.3f |", paper_mean_remote(&s[k]));
	fputs("\n\n", p->report);
	return rc;
}

/* ---- all of it ---- */

static void sizes(struct paper *p)
{
	fputs("## What was simulated\n\n| workload | --size | cycles without DualOpt | with it "
	      "|\n|---|---|---|---|\n",
	      p->report);
	for (uint32_t w = 0; w < PAPER_WORKLOADS; w++)
		fprintf(p->report, "| %s | %s | %.0f | %.0f |\n", paper_workloads[w], p->size[w],
		        paper_counter(p, w, PAPER_BASE, "kernel_cycles"),
		        paper_counter(p, w, PAPER_DUALOPT, "kernel_cycles"));
	fputs(
	    "\nThe machine is Table 1's, and MGPUSim's where that says nothing (`grapnel sim list --keys`). "
	    "Each result lies beside this report with all counters and keys. What it costs to move a page "
	    "is a guess (docs/sim.md), so figures 13 and 19 say little where pages move.\n\n",
	    p->report);
}

int paper_write(struct paper *p, struct gn_error *e)
{
	int rc;

	sizes(p);
	rc = paper_write_sizes(p, e);
	rc = rc ? rc : paper_section_3(p, e);
	rc = rc ? rc : paper_section_6(p, e);
	paper_write_answers(p);
	return rc;
}
