/* SPDX-License-Identifier: Apache-2.0 */
#include "scope.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "scope/output/format.h"

/* ---- numbers ---- */

static struct scope_word with_unit(enum scope_unit unit, double value)
{
	struct scope_word w;

	snprintf(w.text, sizeof w.text, "%.32s %s", scope_format_value(unit, value).text,
	         scope_format_unit(unit));
	return w;
}

/* "64 KiB, threads 2" */
static void print_args(char *text, size_t room, const struct scope_cell *c)
{
	size_t length = 0;

	text[0] = '\0';
	for (uint32_t k = 0; k < c->args && length < room; k++) {
		const bool bytes = !strcmp(c->arg[k].name, "bytes");

		length += (size_t)snprintf(text + length, room - length, "%s%s%s%s", k ? ", " : "",
		                           bytes ? "" : c->arg[k].name, bytes ? "" : " ",
		                           scope_format_arg(&c->arg[k]).text);
	}
}

/* ---- the table ---- */

static void print_measured(const struct scope_result *r)
{
	const struct scope_row *row = r->cell.row;
	struct scope_statistics s, second;

	if (scope_result_statistics(r, &s))
		return;
	printf("%8s %-4s +-%5.1f %%  p5 %12s  p95 %12s  n %4u in %u", scope_format_median(row->unit, &s).text,
	       scope_format_unit(row->unit), 100 * fmax(s.high - s.median, s.median - s.low) / s.median,
	       with_unit(row->unit, s.p5).text, with_unit(row->unit, s.p95).text, r->samples, r->rounds);
	if (r->second && !scope_statistics_of(r->second, r->samples, &second))
		printf("  %s %.4g", row->second, second.median);
	printf("%s%s\n", r->why[0] ? "  " : "", r->why);
}

static void print_row(struct scope_table *t, const struct scope_row *row)
{
	if (t->row == row)
		return;
	t->row = row;
	printf("%s: %s%s%s%s\n", row->name, row->summary, row->paper ? " (Comm|Scope " : "",
	       row->paper ? row->paper : "", row->paper ? ")" : "");
}

static void print_result(struct scope_table *t, const struct scope_result *r)
{
	char args[128];

	print_row(t, r->cell.row);
	print_args(args, sizeof args, &r->cell);
	printf("  %-34s", args);
	if (r->status == SCOPE_MEASURED)
		print_measured(r);
	else
		printf("%s: %s\n", r->status == SCOPE_FAILED ? "FAILED" : "skipped", r->why);
	fflush(stdout);
}

/* "copy/pinned-to-device/bytes:4096 12.3 GB/s" */
static void print_last(const struct scope_result *r)
{
	struct scope_statistics s;
	char name[SCOPE_NAME];

	if (!r || r->status != SCOPE_MEASURED || scope_result_statistics(r, &s))
		return;
	scope_cell_name(&r->cell, name, sizeof name);
	fprintf(stderr, ": %.60s %s %s", name, scope_format_median(r->cell.row->unit, &s).text,
	        scope_format_unit(r->cell.row->unit));
}

static void print_progress(const struct scope_progress *p)
{
	char left[32] = "";

	if (p->seconds_left >= 0)
		snprintf(left, sizeof left, ", %u:%02u left", (unsigned)p->seconds_left / 60,
		         (unsigned)p->seconds_left % 60);
	fprintf(stderr, "\r\033[Kround %u, %u of %u%s", p->round, p->cell + 1, p->cells, left);
	print_last(p->last);
	fflush(stderr);
}

bool scope_table_step(void *table, const struct scope_progress *p)
{
	struct scope_table *t = (struct scope_table *)table;

	if (t->terminal)
		fputs("\r\033[K", stderr);
	if (t->on && p->result)
		print_result(t, p->result);
	if (t->terminal && p->next)
		print_progress(p);
	return !scope_interrupted();
}

/* ---- before and after ---- */

static uint32_t count_to_measure(const struct scope_plan *p)
{
	uint32_t count = 0;

	for (uint32_t k = 0; k < scope_plan_count(p); k++) {
		const char *why;

		scope_plan_cell(p, k, &why);
		count += !why;
	}
	return count;
}

void scope_table_plan(const struct scope_plan *p, const struct scope_machine *m, double budget)
{
	const double seconds = scope_run_seconds(p, m, budget);
	const uint32_t cells = count_to_measure(p);

	printf("%u cells to measure", cells);
	if (m->least_rounds < m->most_rounds)
		printf(" in %u to %u rounds", m->least_rounds, m->most_rounds);
	else
		printf(", %u %s of each", m->most_rounds, m->most_rounds == 1 ? "round" : "rounds");
	if (budget > 0)
		printf(": up to %.0f s, the least of it %.0f s; those that are not sure get what is left",
		       budget, seconds);
	else
		printf(": about %.0f s, more where figures scatter", seconds);
	puts(cells && budget > 0 && budget < 0.1 * cells ? "; that is little, and some may be left out" : "");
}

void scope_table_machine(const struct scope_machine *m)
{
	printf("%u processors, %u NUMA node%s, %.1f GiB of memory free, last cache %.1f MiB; %u GPU%s%s%s\n",
	       m->cpus, m->nodes, m->nodes == 1 ? "" : "s", (double)m->free_bytes / 0x1p30,
	       (double)m->cache_bytes / 0x1p20, m->gpus, m->gpus == 1 ? "" : "s", m->gpus ? "" : ": ",
	       m->gpus || !m->no_gpu ? "" : m->no_gpu);
	for (uint32_t k = 0; k < m->gpus; k++)
		printf("GPU %u: %s, %.1f of %.1f GiB free\n", k, m->gpu[k].name,
		       (double)m->gpu[k].free_bytes / 0x1p30, (double)m->gpu[k].memory_bytes / 0x1p30);
	printf("the host's clock resolves %.0f ns", 1e9 * m->host_tick);
	if (m->event_tick > 0)
		printf(", a device's %.0f ns", 1e9 * m->event_tick);
	puts("; medians with the half-width of their 95 % interval");
}

uint32_t scope_table_end(const struct scope_table *t, const struct scope_report *r, double seconds)
{
	uint32_t count[3] = {0, 0, 0};

	for (uint32_t k = 0; k < r->results; k++)
		count[r->result[k].status]++;
	if (t->on)
		printf("%u measured, %u skipped, %u failed, in %.0f s\n", count[SCOPE_MEASURED],
		       count[SCOPE_SKIPPED], count[SCOPE_FAILED], seconds);
	if (count[SCOPE_FAILED])
		fprintf(stderr,
		        "grapnel scope: %u cells failed; the report marks them, do not use their figures\n",
		        count[SCOPE_FAILED]);
	return count[SCOPE_FAILED];
}

/* ---- the list ---- */

/* From cell k on, those that are of its row: how many will be measured; *end behind the last. */
static uint32_t cells_of_row(const struct scope_plan *p, uint32_t k, uint32_t *end)
{
	const char *why;
	const struct scope_row *row = scope_plan_cell(p, k, &why)->row;
	uint32_t measured = 0;

	for (; k < scope_plan_count(p) && scope_plan_cell(p, k, &why)->row == row; k++)
		measured += !why;
	*end = k;
	return measured;
}

static void print_skipped(const struct scope_plan *p, uint32_t k, uint32_t end)
{
	for (; k < end; k++) {
		const char *why;
		const struct scope_cell *c = scope_plan_cell(p, k, &why);
		char args[128];

		print_args(args, sizeof args, c);
		if (why)
			printf("%35s%s%s: %s\n", "", args, args[0] ? " skipped" : "skipped", why);
	}
}

void scope_print_list(const struct scope_plan *p, const struct scope_machine *m)
{
	uint32_t end;

	printf("%-30s %-3s %s\n", "row", "n", "what is timed");
	for (uint32_t k = 0; k < scope_plan_count(p); k = end) {
		const char *why;
		const struct scope_row *row = scope_plan_cell(p, k, &why)->row;
		const uint32_t measured = cells_of_row(p, k, &end);

		printf("%-30s %-3u %s%s%s%s\n", row->name, measured, row->summary,
		       row->paper ? " (Comm|Scope " : "", row->paper ? row->paper : "",
		       row->paper ? ")" : "");
		print_skipped(p, k, end);
	}
	if (!m->gpus)
		printf("rows of GPUs: %s\n", m->no_gpu);
}

void scope_print_findings(const struct scope_report *report)
{
	json_t *json = scope_report_json(report), *findings = json ? scope_findings(json) : NULL;
	const json_t *text;
	size_t k;

	if (json_array_size(findings))
		puts("What looks wrong");
	json_array_foreach(findings, k, text) printf("  %s\n", json_string_value(text));
	json_decref(findings);
	json_decref(json);
}
