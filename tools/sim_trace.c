/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a machine did over time: a trace in Chrome's format, which Perfetto and chrome://tracing open, and a
 * heat map of its links. A cycle is a nanosecond; the format counts microseconds.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <sim/trace.h>

#include "scope/output/svg.h"
#include "sim.h"

enum { KERNELS = 1, LINKS = 2, HOST = 3, FIRST_GPU = 10 }; /* processes of the trace */

struct writer {
	FILE *to;
	const struct sim_trace *trace;
	const char *separator;
};

/* ---- the trace ---- */

static void put(struct writer *w, const char *phase, int process, uint64_t cycle)
{
	fprintf(w->to, "%s\n{\"ph\":\"%s\",\"pid\":%d,\"ts\":%" PRIu64 ".%03u", w->separator, phase, process,
	        cycle / 1000, (unsigned)(cycle % 1000));
	w->separator = ",";
}

static void put_process(struct writer *w, int process, const char *name, uint32_t number)
{
	put(w, "M", process, 0);
	fprintf(w->to, ",\"name\":\"process_name\",\"args\":{\"name\":\"%s", name);
	if (process >= FIRST_GPU)
		fprintf(w->to, " %u", number);
	fputs("\"}}", w->to);
}

static void put_thread(struct writer *w, int process, uint32_t thread)
{
	put(w, "M", process, 0);
	fprintf(w->to, ",\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":\"CU %u\"}}", thread + 1,
	        thread);
}

static void put_names(struct writer *w, const struct sim_machine *m)
{
	put_process(w, KERNELS, "kernels", 0);
	put_process(w, LINKS, "links", 0);
	put_process(w, HOST, "IOMMU", 0);
	for (uint32_t gpu = 0; sim_machine_gpu_stats(m, gpu); gpu++) {
		put_process(w, FIRST_GPU + (int)gpu, "GPU", gpu);
		for (uint32_t k = 0; sim_machine_cu_stats(m, gpu, k); k++)
			put_thread(w, FIRST_GPU + (int)gpu, k);
	}
}

static int process_of(const struct sim_trace_track *t)
{
	return t->link ? LINKS : t->gpu < 0 ? HOST : FIRST_GPU + t->gpu;
}

/* Zeroes behind zeroes are left out. */
static void put_counters(struct writer *w, uint32_t interval)
{
	const struct sim_trace_track *t;

	for (uint32_t k = 0; (t = sim_trace_track_at(w->trace, k)); k++) {
		const uint64_t value = sim_trace_value(w->trace, k, interval);

		if (!value && interval && !sim_trace_value(w->trace, k, interval - 1))
			continue;
		put(w, "C", process_of(t), interval * sim_trace_interval(w->trace));
		fprintf(w->to, ",\"name\":\"%s%s%s\",\"args\":{\"%s\":%" PRIu64 "}}", t->name,
		        t->link ? " " : "", t->link ? t->unit : "", t->unit, value);
	}
}

static void put_launch(struct writer *w, const struct sim_trace_launch *l)
{
	put(w, "X", KERNELS, l->begin);
	fprintf(
	    w->to, ",\"tid\":1,\"dur\":%" PRIu64 ".%03u,\"name\":\"%s\",\"args\":{\"cycles\":%" PRIu64 "}}",
	    (l->end - l->begin) / 1000, (unsigned)((l->end - l->begin) % 1000), l->name, l->end - l->begin);
}

static void put_busy(struct writer *w, const struct sim_trace_busy *b)
{
	put(w, "X", FIRST_GPU + (int)b->gpu, b->begin);
	fprintf(w->to,
	        ",\"tid\":%u,\"dur\":%" PRIu64
	        ".%03u,\"name\":\"busy\",\"args\":{\"work_groups\":%u,\"cycles\":%" PRIu64 "}}",
	        b->cu + 1, (b->end - b->begin) / 1000, (unsigned)((b->end - b->begin) % 1000), b->groups,
	        b->end - b->begin);
}

static int by_begin(const void *a, const void *b)
{
	const struct sim_trace_busy *x = *(const struct sim_trace_busy *const *)a,
	                            *y = *(const struct sim_trace_busy *const *)b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->gpu != y->gpu ? (int)x->gpu - (int)y->gpu : (int)x->cu - (int)y->cu;
}

/* All times that compute units were busy, in order, and NULL behind the last. NULL: no memory. */
static const struct sim_trace_busy **sorted(const struct sim_trace *t)
{
	const struct sim_trace_busy **all;
	uint32_t count = 0;

	while (sim_trace_busy_at(t, count))
		count++;
	all = (const struct sim_trace_busy **)calloc(count + 1, sizeof(const struct sim_trace_busy *));
	for (uint32_t k = 0; all && k < count; k++)
		all[k] = sim_trace_busy_at(t, k);
	if (all)
		qsort(all, count, sizeof(const struct sim_trace_busy *), by_begin);
	return all;
}

/* In the order of time: what begins before the end of an interval, then the next interval. */
static void put_events(struct writer *w, const struct sim_trace_busy *const *busy)
{
	const uint64_t interval = sim_trace_interval(w->trace);
	const struct sim_trace_launch *l = sim_trace_launch_at(w->trace, 0);
	uint32_t launch = 0;

	for (uint32_t k = 0; k <= sim_trace_intervals(w->trace); k++) {
		const uint64_t end = k < sim_trace_intervals(w->trace) ? (k + 1) * interval : UINT64_MAX;

		if (k < sim_trace_intervals(w->trace))
			put_counters(w, k);
		while ((l && l->begin < end) || (*busy && (*busy)->begin < end)) {
			if (l && (!*busy || l->begin <= (*busy)->begin)) {
				put_launch(w, l);
				l = sim_trace_launch_at(w->trace, ++launch);
			} else {
				put_busy(w, *busy++);
			}
		}
	}
}

static void write_trace(FILE *to, const struct sim_machine *m, const struct sim_trace_busy *const *busy)
{
	struct writer w = {to, sim_trace_of(m), ""};

	fprintf(to,
	        "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"cycles_of_an_interval\":%" PRIu64
	        "},\"traceEvents\":[",
	        sim_trace_interval(w.trace));
	put_names(&w, m);
	put_events(&w, busy);
	fputs("\n]}\n", to);
}

/* ---- the heat map ---- */

enum { COLUMNS = 128 };

struct heat {
	const char *name[4 * SIM_MOST_GPUS + 2];
	struct scope_field field[(4 * SIM_MOST_GPUS + 2) * COLUMNS];
	char note[(4 * SIM_MOST_GPUS + 2) * COLUMNS][64];
	uint32_t rows, columns;
};

/* Intervals that a column stands for. */
static uint32_t per_column(const struct sim_trace *t)
{
	return (sim_trace_intervals(t) + COLUMNS - 1) / COLUMNS;
}

static uint64_t flits_of(const struct sim_trace *t, uint32_t track, uint32_t column)
{
	const uint32_t begin = column * per_column(t), end = begin + per_column(t);
	uint64_t flits = 0;

	for (uint32_t k = begin; k < end && k < sim_trace_intervals(t); k++)
		flits += sim_trace_value(t, track, k);
	return flits;
}

/* One link: the share of the flits that it could carry. */
static void heat_row(struct heat *h, const struct sim_trace *t, uint32_t track, double flits_a_cycle)
{
	const double most = flits_a_cycle * (double)sim_trace_interval(t) * per_column(t);

	h->name[h->rows] = sim_trace_track_at(t, track)->name;
	for (uint32_t k = 0; k < h->columns; k++) {
		const uint32_t at = h->rows * h->columns + k;
		const double share = (double)flits_of(t, track, k) / most;

		if (share <= 0)
			continue;
		h->field[at].value = share < 1 ? share : 1;
		snprintf(h->note[at], sizeof h->note[at], "%s: %.0f %% of its flits", h->name[h->rows],
		         100 * share);
		h->field[at].note = h->note[at];
	}
	h->rows++;
}

static void draw_heat(FILE *to, struct heat *h, const struct sim_trace *t, double flits_a_cycle)
{
	char below[96];

	h->columns = (sim_trace_intervals(t) + per_column(t) - 1) / per_column(t);
	for (uint32_t k = 0; sim_trace_track_at(t, k); k++)
		if (sim_trace_track_at(t, k)->link && !sim_trace_track_at(t, k)->level)
			heat_row(h, t, k, flits_a_cycle);
	snprintf(below, sizeof below,
	         "a column is %" PRIu64 " cycles; the darker, the more of a link's flits",
	         sim_trace_interval(t) * per_column(t));
	scope_svg_file_begin(to, scope_svg_heat_height(h->rows));
	scope_svg_heat(to, "links over time", below, h->name, h->rows, h->field, h->columns);
	scope_svg_file_end(to);
}

/* ---- files ---- */

static int write_whole(FILE *to, char **text, const size_t *bytes, const char *path, struct gn_error *e)
{
	const bool failed = ferror(to); /* at a write before; fclose may not say so */
	int rc = 0;

	if (fclose(to) || failed)
		rc = gn_error_set(e, -GN_ENOMEM, "%s: out of memory", path);
	else if (tool_to_stdout(path))
		fwrite(*text, 1, *bytes, stdout); /* the program's end looks whether that went well */
	else
		rc = tool_write_file(path, *text, *bytes, e);
	free(*text);
	return rc;
}

int tool_sim_write_trace(const struct sim_machine *m, const char *path, struct gn_error *e)
{
	const struct sim_trace_busy **busy = sorted(sim_trace_of(m));
	char *text = NULL;
	size_t bytes = 0;
	FILE *to = busy ? open_memstream(&text, &bytes) : NULL;

	if (to)
		write_trace(to, m, busy);
	free(busy);
	return to ? write_whole(to, &text, &bytes, path, e)
	          : gn_error_set(e, -GN_ENOMEM, "%s: out of memory", path);
}

int tool_sim_write_heat(const struct sim_machine *m, const char *path, uint64_t flits_a_cycle,
                        struct gn_error *e)
{
	struct heat *h = (struct heat *)calloc(1, sizeof *h);
	char *text = NULL;
	size_t bytes = 0;
	FILE *to = h ? open_memstream(&text, &bytes) : NULL;

	if (to)
		draw_heat(to, h, sim_trace_of(m), (double)flits_a_cycle);
	free(h);
	return to ? write_whole(to, &text, &bytes, path, e)
	          : gn_error_set(e, -GN_ENOMEM, "%s: out of memory", path);
}
