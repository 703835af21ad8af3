/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows: measured, kept and written as those of scope are, and set against the limit of their group.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "baselines/read.h"
#include "bench.h"
#include "scope/output/format.h"

void bench_begin(struct bench *b, const char *name, const char *limit, const char *title, ...)
{
	va_list list;

	snprintf(b->group, sizeof b->group, "%s", name);
	snprintf(b->limit, sizeof b->limit, "%s/%s", name, limit);
	va_start(list, title);
	vsnprintf(b->title, sizeof b->title, title, list);
	va_end(list);
}

/* ---- measuring ---- */

static void describe(const struct bench *b, const struct bench_way *way, struct bench_kept *to)
{
	const struct scope_row row = {
	    to->name,  to->title,        NULL, "none",   way->unit == SCOPE_LATENCY ? NULL : to->limit, NULL,
	    way->unit, SCOPE_HOST_CLOCK, NULL, way->role};

	to->row = row;
	snprintf(to->name, sizeof to->name, "%s/%s", b->group, way->name);
	memcpy(to->title, b->title, sizeof to->title);
	memcpy(to->limit, b->limit, sizeof to->limit);
}

void bench_moved(struct scope_result *r, double bytes)
{
	r->bytes = (uint64_t)bytes;
	for (uint32_t k = 0; k < r->samples; k++)
		r->value[k] = bytes / r->seconds[k];
}

/* Of a rate an operation is one access, else a run. */
static void fill(struct scope_result *r, const struct bench_way *way, const double *seconds, unsigned runs)
{
	const double accesses = way->unit == SCOPE_RATE ? way->amount : 1;

	r->operations = (uint64_t)accesses;
	r->samples = r->end[0] = runs;
	r->rounds = 1;
	for (unsigned k = 0; k < runs; k++) {
		r->seconds[k] = seconds[k] / accesses;
		r->value[k] = way->unit == SCOPE_RATE ? 1 / r->seconds[k] : seconds[k];
	}
	if (way->unit == SCOPE_BANDWIDTH)
		bench_moved(r, way->amount);
}

int bench_keep(struct bench *b, const struct bench_way *way, const double *seconds, unsigned runs,
               struct scope_result **result, struct gn_error *e)
{
	struct scope_result *r = &b->result[b->rows];

	r->value = (double *)malloc(runs * sizeof *r->value);
	r->seconds = (double *)malloc(runs * sizeof *r->seconds);
	if (b->rows == BENCH_ROWS - 1 || !r->value || !r->seconds) {
		scope_result_free(r);
		return gn_error_set(e, -GN_ENOMEM, "out of memory for more rows");
	}
	describe(b, way, &b->row[b->rows]);
	r->cell.row = &b->row[b->rows++].row;
	fill(r, way, seconds, runs);
	if (result)
		*result = r;
	return 0;
}

int bench_right(struct bench *b, const char *what, struct gn_error *e)
{
	if (!*b->wrong)
		return 0;
	return gn_error_set(e, -GN_EBADMSG, "%s, %s: %llu words are wrong; this is a bug, please report it",
	                    b->group, what, (unsigned long long)*b->wrong);
}

int bench_measure(struct bench *b, const struct bench_way *way, struct scope_result **result,
                  struct gn_error *e)
{
	const unsigned runs = way->runs ? way->runs : b->q->repeat;
	double seconds[BENCH_RUNS], first;
	int rc = way->runs ? 0 : way->run(b, way->user, &first, e);

	for (unsigned k = 0; k < runs && !rc; k++)
		rc = way->run(b, way->user, &seconds[k], e);
	rc = rc ? rc : bench_right(b, way->name, e);
	return rc ? rc : bench_keep(b, way, seconds, runs, result, e);
}

struct launch {
	const struct bench_work *work;
	const struct simt_kernel *kernel;
};

static int run_kernel(struct bench *b, void *user, double *seconds, struct gn_error *e)
{
	const struct launch *l = (const struct launch *)user;
	int rc = b->fixture.cache ? gn_cache_invalidate(b->fixture.cache, e) : 0;

	if (l->work->seed)
		++*l->work->seed;
	return rc ? rc
	          : bench_launch(b, l->kernel, l->work->grid.blocks ? l->work->grid : b->grid,
	                         l->work->arguments, seconds, e);
}

int bench_row(struct bench *b, const struct bench_work *work, const char *name, enum scope_role role,
              const struct simt_kernel *kernel, struct scope_result **result, struct gn_error *e)
{
	struct launch l = {work, kernel};
	const struct bench_way way = {name, role, work->unit, work->amount, run_kernel, &l, 0};

	return bench_measure(b, &way, result, e);
}

int bench_stream(struct bench *b, struct gn_error *e)
{
	struct gn_base_read_args args;
	const struct bench_work work = {&args, NULL, {0, 0, 0}, SCOPE_BANDWIDTH, (double)b->bytes};

	memset(&args, 0, sizeof args);
	args.memory = (const uint32_t *)(const void *)b->memory;
	args.words = b->bytes / 4;
	args.wrong = b->wrong;
	return bench_row(b, &work, "stream", SCOPE_BOUND, &gn_base_read_wide_kernel, NULL, e);
}

/* ---- asking ---- */

double bench_seconds(const struct scope_result *r)
{
	const enum scope_unit unit = r->cell.row->unit;
	struct scope_statistics s;

	if (scope_result_statistics(r, &s))
		return 0;
	return unit == SCOPE_LATENCY ? s.median
	                             : (double)(unit == SCOPE_RATE ? r->operations : r->bytes) / s.median;
}

/* The row that is this row's limit, if it does the same work. */
static const struct scope_result *limit_of(const struct bench *b, const struct scope_row *row)
{
	for (uint32_t k = 0; row->limit && k < b->rows; k++)
		if (b->row[k].row.unit == row->unit && !strcmp(b->row[k].name, row->limit))
			return &b->result[k];
	return NULL;
}

/* ---- saying it ---- */

static void print_row(const struct bench *b, const struct scope_result *r)
{
	static const char *const roles[] = {"", "limit", "baseline", "ours"};
	const struct scope_row *row = r->cell.row;
	const struct scope_result *limit = limit_of(b, row);
	struct scope_statistics s, of;

	if (scope_result_statistics(r, &s))
		return;
	printf("  %-8s  %-22s %10.6f s +-%5.1f %%", roles[row->role], strchr(row->name, '/') + 1,
	       bench_seconds(r), scope_noise_percent(&s));
	if (row->unit != SCOPE_LATENCY)
		printf(" %10s %-4s", scope_format_value(row->unit, s.median).text,
		       scope_format_unit(row->unit));
	if (limit && !scope_result_statistics(limit, &of))
		printf("  %7.3f of %s", s.median / of.median, strchr(row->limit, '/') + 1);
	printf("%s%s\n", r->why[0] ? "; " : "", r->why);
}

void bench_print(struct bench *b)
{
	if (tool_files_to_stdout(&b->q->files))
		return;
	if (!b->printed)
		printf("%s, %u processors, warps of %u; %s\n", b->fixture.info.name,
		       b->fixture.info.processors, b->fixture.info.warp_width,
		       gn_store_path(b->fixture.store));
	for (; b->printed < b->rows; b->printed++) {
		const struct bench_kept *row = &b->row[b->printed];
		const size_t group = strcspn(row->name, "/") + 1;

		if (!b->printed || strncmp(row->name, row[-1].name, group))
			printf("\n%.*s: %s\n", (int)group - 1, row->name, row->title);
		print_row(b, &b->result[b->printed]);
	}
	fflush(stdout);
}

/* The host as scope describes it, and what was measured on it. */
static json_t *context(const struct bench *b, json_t *settings)
{
	json_t *all = tool_json_context(b->command);

	json_object_update_new(settings, json_pack("{s:s, s:o, s:s, s:i, s:b}", "command", b->command,
	                                           "machine", tool_json_machine(&b->fixture.info), "path",
	                                           gn_store_path(b->fixture.store), "repeat",
	                                           (int)b->q->repeat, "verified", 1));
	json_object_set_new(all, "bench", settings);
	return all;
}

static int write_all(struct bench *b, json_t *settings)
{
	struct scope_report report = {context(b, settings), b->rows, b->result};
	const int status = tool_files_write(&b->q->files, b->command, &report);

	json_decref(report.context);
	return status;
}

int bench_end(struct bench *b, int rc, json_t *settings, struct gn_error *e)
{
	int status = TOOL_OK;

	if (!rc) {
		bench_print(b);
		status = write_all(b, settings);
	} else {
		json_decref(settings);
	}
	for (uint32_t k = 0; k < b->rows; k++)
		scope_result_free(&b->result[k]);
	bench_close(b);
	return rc ? tool_fail(b->command, e) : status;
}
