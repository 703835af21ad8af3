/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line a cell, RFC 4180: numbers in base units (bytes, seconds, operations) and without thousands marks,
 * an empty field for what is missing. Arguments that are not common have no column of their own; they stand
 * in `others`.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "scope/output/read.h"

static const char *const columns[] = {"bytes", "span", "stride", "threads", "gpu",
                                      "from",  "to",   "node",   NULL};

static void put_text(FILE *to, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, to);
		return;
	}
	fputc('"', to);
	for (; *text; text++)
		fprintf(to, *text == '"' ? "\"\"" : "%c", *text);
	fputc('"', to);
}

static void put_number(FILE *to, bool there, double v)
{
	fputc(',', to);
	if (there && isfinite(v))
		fprintf(to, "%.9g", v);
}

static bool is_column(const char *name)
{
	for (unsigned k = 0; columns[k]; k++)
		if (!strcmp(columns[k], name))
			return true;
	return false;
}

static void put_args(FILE *to, const struct scope_read_cell *c)
{
	char others[512] = "";
	size_t n = 0;

	for (unsigned k = 0; columns[k]; k++) {
		const uint64_t v = scope_read_arg(c, columns[k], UINT64_MAX);

		fputc(',', to);
		if (v != UINT64_MAX)
			fprintf(to, "%" PRIu64, v);
	}
	fputc(',', to);
	for (uint32_t k = 0; k < c->args && n < sizeof others; k++)
		if (!is_column(c->arg[k].name))
			n += (size_t)snprintf(others + n, sizeof others - n, "%s%s:%" PRIu64, n ? "/" : "",
			                      c->arg[k].name, c->arg[k].value);
	put_text(to, others);
}

static void put_header(FILE *to)
{
	fputs("name,row,paper,direction,limit,timer,status,why", to);
	for (unsigned k = 0; columns[k]; k++)
		fprintf(to, ",%s", columns[k]);
	fputs(",others,unit,samples,operations,bytes_moved,median,low,high,least,p5,quarter,three_quarters,"
	      "p95,most,mean,variation,second,second_median,rounds,least_round,most_round\n",
	      to);
}

static void put_statistics(FILE *to, const struct scope_read_cell *c)
{
	const struct scope_statistics *s = &c->s;
	const double each[] = {s->median,         s->low, s->high, s->least, s->p5,       s->quarter,
	                       s->three_quarters, s->p95, s->most, s->mean,  s->variation};
	struct scope_statistics second;
	const bool measured = c->status == SCOPE_MEASURED;
	const bool two = measured && c->second && !scope_statistics_of(c->second, c->samples, &second);

	fprintf(to, ",%s,", scope_unit_words[c->row->unit]);
	if (measured)
		fprintf(to, "%" PRIu32 ",%" PRIu64 ",%" PRIu64, c->samples, c->operations, c->bytes);
	else
		fputs(",,", to);
	for (unsigned k = 0; k < sizeof each / sizeof *each; k++)
		put_number(to, measured, each[k]);
	fputc(',', to);
	put_text(to, c->row->second ? c->row->second : "");
	put_number(to, two, two ? second.median : 0);
	put_number(to, measured, s->rounds);
	put_number(to, measured, s->least_round);
	put_number(to, measured, s->most_round);
}

static void put_cell(FILE *to, const struct scope_read_cell *c)
{
	const struct scope_read_row *r = c->row;
	const char *const words[] = {r->name,
	                             r->paper,
	                             r->direction,
	                             r->limit,
	                             scope_timer_words[r->timer],
	                             scope_status_words[c->status],
	                             c->why};

	put_text(to, c->name);
	for (unsigned k = 0; k < sizeof words / sizeof *words; k++) {
		fputc(',', to);
		put_text(to, words[k]);
	}
	put_args(to, c);
	put_statistics(to, c);
	fputc('\n', to);
}

static bool put_all(FILE *to, const struct scope_read *r)
{
	put_header(to);
	for (uint32_t k = 0; k < r->cells; k++)
		put_cell(to, &r->cell[k]);
	return false;
}

int scope_write_csv(const json_t *report, FILE *to, struct gn_error *e)
{
	return scope_write_read(report, to, put_all, "the CSV", e);
}
