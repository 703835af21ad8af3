/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows as a table, and as JSON.
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "tool.h"

static const char *role_name(enum bench_role role)
{
	return role == BENCH_LIMIT ? "limit" : role == BENCH_OURS ? "ours" : "baseline";
}

void bench_print(const struct bench *b, const struct bench_group *g)
{
	if (g == b->group) {
		tool_print_machine(&b->info, gn_store_path(b->store));
		putchar('\n');
	}
	printf("\n%s: %s\n", g->name, g->title);
	for (unsigned k = 0; k < g->rows; k++) {
		const struct bench_row *r = &g->row[k];

		printf("  %-8s  %-22s %10.6f s %10.4g %-4s", role_name(r->role), r->name, r->seconds,
		       bench_rate(r), r->unit == BENCH_BYTES ? "GB/s" : "G/s");
		if (bench_share(g, r) > 0)
			printf("  %7.3f of %s", bench_share(g, r), g->limit);
		printf("%s%s\n", r->note[0] ? "; " : "", r->note);
	}
	fflush(stdout);
}

static json_t *row_json(const struct bench_group *g, const struct bench_row *r)
{
	return json_pack("{s:s, s:s, s:f, s:f, s:s, s:f, s:f, s:s}", "row", r->name, "role",
	                 role_name(r->role), "seconds", r->seconds, "amount", r->amount, "unit",
	                 r->unit == BENCH_BYTES ? "bytes" : "accesses", "giga_per_second", bench_rate(r),
	                 "of_limit", bench_share(g, r), "note", r->note);
}

static json_t *group_json(const struct bench_group *g)
{
	json_t *rows = json_array();

	for (unsigned k = 0; k < g->rows; k++)
		json_array_append_new(rows, row_json(g, &g->row[k]));
	return json_pack("{s:s, s:s, s:s, s:o}", "group", g->name, "title", g->title, "limit", g->limit,
	                 "rows", rows);
}

int bench_write_json(const struct bench *b, struct gn_error *e)
{
	json_t *groups = json_array();

	for (unsigned k = 0; k < b->groups; k++)
		json_array_append_new(groups, group_json(&b->group[k]));
	return tool_write_json(json_pack("{s:s, s:o, s:s, s:I, s:i, s:b, s:o}", "schema", "grapnel-bench-1",
	                                 "machine", tool_json_machine(&b->info), "path",
	                                 gn_store_path(b->store), "data_bytes", (json_int_t)b->bytes,
	                                 "repeat", (int)b->q->repeat, "verified", *b->wrong == 0, "groups",
	                                 groups),
	                       b->q->json, e);
}
