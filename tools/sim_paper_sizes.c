/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizes by a rule (paper_sizes), not by choice: what DualOpt gains at each, its median and range, and the
 * curves of it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scope/output/svg.h"
#include "sim_paper.h"

static const char *const parts[PAPER_SIZES] = {"1/16", "1/4", "1", "4"};

int paper_add_sizes(struct paper *p, const struct tool_sim *base)
{
	const char *ours[PAPER_WORKLOADS];
	int rc = 0;

	memcpy(ours, p->size, sizeof ours);
	p->sized = p->jobs.count;
	for (uint32_t w = 0; w < PAPER_WORKLOADS; w++)
		for (uint32_t s = 0; s < PAPER_SIZES && !rc; s++) {
			p->size[w] = p->given[w] ? p->given[w] : paper_sizes[w][s];
			rc = paper_add(p, base, w, "none", NULL);
			rc = rc ? rc : paper_add(p, base, w, "dualopt", NULL);
		}
	memcpy(p->size, ours, sizeof ours);
	return rc;
}

static const struct sim_job *job_of(const struct paper *p, uint32_t w, uint32_t s, bool dualopt)
{
	return &p->jobs.job[p->sized + 2 * (w * PAPER_SIZES + s) + dualopt];
}

static double speedup(const struct paper *p, uint32_t w, uint32_t s)
{
	return sim_job_counter(job_of(p, w, s, false), "kernel_cycles") /
	       sim_job_counter(job_of(p, w, s, true), "kernel_cycles");
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* In order; returns the median. */
static double sorted(const struct paper *p, uint32_t w, double *value)
{
	for (uint32_t s = 0; s < PAPER_SIZES; s++)
		value[s] = speedup(p, w, s);
	qsort(value, PAPER_SIZES, sizeof *value, by_value);
	return (value[PAPER_SIZES / 2] + value[(PAPER_SIZES - 1) / 2]) / 2;
}

static char class_of(const struct sim_job *job)
{
	return sim_job_counter(job, "decided_coalesce") > 0 ? 'c'
	       : sim_job_counter(job, "decided_cache") > 0  ? 'R'
	       : sim_job_counter(job, "decided_local") > 0  ? 'l'
	                                                    : '-';
}

static void put_workload(const struct paper *p, uint32_t w)
{
	double value[PAPER_SIZES], median = sorted(p, w, value);

	fprintf(p->report, "| %s | ", paper_workloads[w]);
	for (uint32_t s = 0; s < PAPER_SIZES; s++)
		fprintf(p->report, "%s%s", s ? "; " : "", job_of(p, w, s, false)->sim.request.size);
	for (uint32_t s = 0; s < PAPER_SIZES; s++)
		fprintf(p->report, " | %.2f %c", speedup(p, w, s), class_of(job_of(p, w, s, true)));
	fprintf(p->report, " | %.2f | %.2f to %.2f |\n", median, value[0], value[PAPER_SIZES - 1]);
}

/* The mean of some workloads: at each size, of their medians. */
static void put_mean(const struct paper *p, const char *name, uint32_t first, uint32_t last)
{
	double mean[PAPER_SIZES] = {0}, order[PAPER_SIZES], medians = 0;
	const double count = last - first;

	for (uint32_t w = first; w < last; w++) {
		double value[PAPER_SIZES];

		medians += sorted(p, w, value) / count;
		for (uint32_t s = 0; s < PAPER_SIZES; s++)
			mean[s] += speedup(p, w, s) / count;
	}
	memcpy(order, mean, sizeof order);
	qsort(order, PAPER_SIZES, sizeof *order, by_value);
	fprintf(p->report, "| **%s** | mean", name);
	for (uint32_t s = 0; s < PAPER_SIZES; s++)
		fprintf(p->report, " | %.2f", mean[s]);
	fprintf(p->report, " | %.2f | %.2f to %.2f |\n", medians, order[0], order[PAPER_SIZES - 1]);
}

static void put_classes(const struct paper *p)
{
	fputs("| | of the paper's class, of 13", p->report);
	for (uint32_t s = 0; s < PAPER_SIZES; s++) {
		uint32_t right = 0;

		for (uint32_t w = 0; w < PAPER_WORKLOADS; w++)
			right += paper_classed(job_of(p, w, s, true), w);
		fprintf(p->report, " | %u", right);
	}
	fputs(" | | |\n\n", p->report);
}

static void draw(const struct paper *p, FILE *to, const char *title, uint32_t first, uint32_t last)
{
	struct scope_plot plot;
	struct scope_plot_point point[PAPER_SIZES];

	memset(&plot, 0, sizeof plot);
	plot.x.name = "data";
	plot.y.name = "times as fast";
	plot.x.sizes = plot.x.log = plot.y.log = true;
	for (uint32_t s = 0; s < PAPER_SIZES; s++) {
		scope_axis_hold(&plot.x, (double)(UINT64_C(1) << (19 + 2 * s)));
		for (uint32_t w = 0; w < PAPER_REMOTE; w++)
			scope_axis_hold(&plot.y, speedup(p, w, s));
	}
	scope_plot_begin(&plot, to, title);
	memset(point, 0, sizeof point);
	for (uint32_t w = first; w < last; w++) {
		for (uint32_t s = 0; s < PAPER_SIZES; s++) {
			point[s].x = (double)(UINT64_C(1) << (19 + 2 * s));
			point[s].y = speedup(p, w, s);
			point[s].note = job_of(p, w, s, false)->sim.request.size;
		}
		scope_plot_line(&plot, paper_workloads[w], point, PAPER_SIZES);
	}
	scope_plot_end(&plot);
}

static int write_drawing(const struct paper *p, struct gn_error *e)
{
	char path[512], *text = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&text, &bytes);
	int rc;

	if (!to)
		return gn_error_set(e, -GN_ENOMEM, "sizes.svg: out of memory");
	scope_svg_file_begin(to, 2 * scope_plot_height());
	draw(p, to, "DualOpt by the size of data, cache-insensitive workloads", 0, PAPER_INSENSITIVE);
	scope_svg_file_at(to, scope_plot_height());
	draw(p, to, "cache-friendly workloads", PAPER_INSENSITIVE, PAPER_REMOTE);
	scope_svg_file_end(to);
	snprintf(path, sizeof path, "%s/sizes.svg", p->folder);
	rc = fclose(to) ? gn_error_set(e, -GN_ENOMEM, "sizes.svg: out of memory")
	                : tool_write_file(path, text, bytes, e);
	free(text);
	return rc;
}

int paper_write_sizes(const struct paper *p, struct gn_error *e)
{
	if (!p->sized)
		return 0;
	fputs("## Sizes\n\n![speedup by size](sizes.svg)\n\nHow many times as fast DualOpt makes each "
	      "workload whose data are at most so many times the 8 MB of L2 of four GPUs (bs: 1/32 of that, "
	      "aes: 1/8). Declared for: c coalescing, R caching, l local; - nothing, because the window was "
	      "never full.\n\n| workload | --size |",
	      p->report);
	for (uint32_t s = 0; s < PAPER_SIZES; s++)
		fprintf(p->report, " %s |", parts[s]);
	fputs(" median | range |\n|---|---|---|---|---|---|---|---|\n", p->report);
	for (uint32_t w = 0; w < PAPER_WORKLOADS; w++)
		put_workload(p, w);
	put_mean(p, "cache-insensitive", 0, PAPER_INSENSITIVE);
	put_mean(p, "cache-friendly", PAPER_INSENSITIVE, PAPER_REMOTE);
	put_mean(p, "both", 0, PAPER_REMOTE);
	put_classes(p);
	return write_drawing(p, e);
}
