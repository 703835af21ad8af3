/* SPDX-License-Identifier: Apache-2.0 */
/* What `grapnel gather` says about its trials: a table, a JSON object. */
#include <stdio.h>

#include "gather.h"

static const char *draw_name(const struct gather_trial *t)
{
	return t->draw == GN_GB_ZIPF ? "zipf" : "uniform";
}

static double giga_rows(const struct gather_trial *t, double seconds)
{
	return (double)t->count / seconds / 1e9;
}

/* Million rows a second of a batch of a part of the rows. */
static double part_rate(const struct gather_trial *t, double seconds)
{
	return (double)(t->count / GATHER_PART + 1) / seconds / 1e6;
}

static double stream_rate(const struct gather_bench *b)
{
	return (double)b->args.words * 4 / b->stream / 1e9;
}

void gather_print(const struct gather_bench *b)
{
	tool_print_machine(&b->info, gn_store_path(b->store));
	printf("; stream %.2f GB/s\n", stream_rate(b));
	printf("  %5s %-8s %10s %9s   %-12s %-12s %-19s %s\n", "bytes", "draw", "rows", "reads",
	       "as they come", "each in order", "gather", "whole grid, in GB/s, scatter, by blocks");
	for (unsigned k = 0; k < b->trials; k++) {
		const struct gather_trial *t = &b->trial[k];

		printf("  %5u %-8s %10llu %8.1f %% %8.1f M/s %10.1f M/s %8.1f M/s %5.1f x %8.1f M/s %6.1f "
		       "%7.1f M/s "
		       "%7.1f M/s\n",
		       t->row_bytes, draw_name(t), (unsigned long long)t->count,
		       100.0 * (double)t->reads / (double)t->count, 1e3 * giga_rows(t, t->plain),
		       1e-6 * (double)t->reads / t->ordered, 1e3 * giga_rows(t, t->gather),
		       t->plain / t->gather, 1e3 * giga_rows(t, t->grid),
		       giga_rows(t, t->gather) * t->row_bytes, part_rate(t, t->scatter),
		       part_rate(t, t->block));
	}
}

static json_t *trial_json(const struct gather_trial *t)
{
	return json_pack("{s:i, s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "row_bytes",
	                 (int)t->row_bytes, "draw", draw_name(t), "count", (json_int_t)t->count, "reads",
	                 (json_int_t)t->reads, "plain_seconds", t->plain, "ordered_seconds", t->ordered,
	                 "gather_seconds", t->gather, "grid_seconds", t->grid, "mega_rows_per_second",
	                 1e3 * giga_rows(t, t->gather), "giga_bytes_per_second",
	                 giga_rows(t, t->gather) * t->row_bytes, "of_plain", t->plain / t->gather,
	                 "scatter_mega_rows_per_second", part_rate(t, t->scatter),
	                 "block_mega_rows_per_second", part_rate(t, t->block));
}

int gather_write_json(const struct gather_bench *b, struct gn_error *e)
{
	json_t *list = json_array();

	for (unsigned k = 0; k < b->trials; k++)
		json_array_append_new(list, trial_json(&b->trial[k]));
	return tool_write_json(
	    json_pack("{s:s, s:o, s:s, s:I, s:I, s:i, s:f, s:f, s:b, s:o}", "schema", "grapnel-gather-1",
	              "machine", tool_json_machine(&b->info), "path", gn_store_path(b->store), "data_bytes",
	              (json_int_t)b->q->data_bytes, "cache_bytes", (json_int_t)b->q->cache_bytes,
	              "page_bytes", (int)b->q->page_bytes, "theta", b->q->theta,
	              "stream_giga_bytes_per_second", stream_rate(b), "verified", 1, "trials", list),
	    b->q->json, e);
}
