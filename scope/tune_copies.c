/* SPDX-License-Identifier: Apache-2.0 */
/* The fastest way to copy by size, and so where one way crosses over to another. */
#include <stdio.h>
#include <string.h>

#include "scope/output/format.h"
#include "scope/tune.h"

/*
 * Ways of copying between the same two places, by copy engines and by kernels, among which there is a choice.
 */
struct road {
	const char *name;
	const char *rows[6];
};

static const struct road roads[] = {
    {"to-device", {"copy/pinned-to-device", "copy/batch-to-device", "kernel/pinned-to-device", NULL}},
    {"from-device", {"copy/device-to-pinned", "copy/batch-to-pinned", "kernel/device-to-pinned", NULL}},
    {"within-device", {"copy/device-local", "kernel/device-local", NULL}},
    {"between-devices",
     {"peer/copy", "peer/copy-pulled", "peer/copy-peer-async", "kernel/peer-read", "kernel/peer-write",
      NULL}},
};

static bool is_copy(const struct scope_read_cell *c, const struct road *road)
{
	if (c->status != SCOPE_MEASURED || c->row->unit != SCOPE_BANDWIDTH || !scope_read_arg(c, "bytes", 0))
		return false;
	for (unsigned k = 0; road->rows[k]; k++)
		if (!strcmp(c->row->name, road->rows[k]))
			return true;
	return false;
}

static const struct scope_read_cell *best_copy(const struct scope_read *r, const struct road *road,
                                               uint64_t bytes, const char *not_row)
{
	const struct scope_read_cell *best = NULL;

	for (uint32_t k = 0; k < r->cells; k++) {
		const struct scope_read_cell *c = &r->cell[k];

		if (is_copy(c, road) && scope_read_arg(c, "bytes", 0) == bytes &&
		    (!not_row || strcmp(c->row->name, not_row)) && (!best || c->s.median > best->s.median))
			best = c;
	}
	return best;
}

/* The next size above that anything was copied with; 0: none. */
static uint64_t next_size(const struct scope_read *r, const struct road *road, uint64_t after)
{
	uint64_t next = 0;

	for (uint32_t k = 0; k < r->cells; k++) {
		const uint64_t bytes =
		    is_copy(&r->cell[k], road) ? scope_read_arg(&r->cell[k], "bytes", 0) : 0;

		if (bytes > after && (!next || bytes < next))
			next = bytes;
	}
	return next;
}

static json_t *range_json(const struct scope_read *r, const struct road *road,
                          const struct scope_read_cell *first, uint64_t last)
{
	const uint64_t bytes = scope_read_arg(first, "bytes", 0);
	const struct scope_read_cell *second = best_copy(r, road, bytes, first->row->name);
	char why[400];

	if (second)
		snprintf(why, sizeof why, "at %s %.4g GB/s, the next best %.4g (%.80s)",
		         scope_format_bytes((double)bytes).text, 1e-9 * first->s.median,
		         1e-9 * second->s.median, second->row->name);
	else
		snprintf(why, sizeof why, "at %s %.4g GB/s, and nothing else was measured",
		         scope_format_bytes((double)bytes).text, 1e-9 * first->s.median);
	return json_pack("{s:I, s:I, s:s, s:o}", "from_bytes", (json_int_t)bytes, "to_bytes",
	                 (json_int_t)last, "method", first->row->name, "why", json_string(why));
}

/* The row that was best so far stays where another is no more than 3 % better: that may be noise. */
static const struct scope_read_cell *choose(const struct scope_read *r, const struct road *road,
                                            uint64_t bytes, const struct scope_read_row *so_far)
{
	const struct scope_read_cell *best = best_copy(r, road, bytes, NULL);

	for (uint32_t k = 0; k < r->cells; k++)
		if (is_copy(&r->cell[k], road) && r->cell[k].row == so_far &&
		    scope_read_arg(&r->cell[k], "bytes", 0) == bytes &&
		    r->cell[k].s.median > best->s.median / 1.03)
			return &r->cell[k];
	return best;
}

/* Ranges of sizes with the same best row; the border between two is the crossover. */
static json_t *tune_road(const struct scope_read *r, const struct road *road)
{
	json_t *ranges = json_array();
	const struct scope_read_cell *first = NULL;
	uint64_t last = 0;

	for (uint64_t bytes = next_size(r, road, 0); bytes; bytes = next_size(r, road, bytes)) {
		const struct scope_read_cell *best = choose(r, road, bytes, first ? first->row : NULL);

		if (first && best->row != first->row) {
			json_array_append_new(ranges, range_json(r, road, first, last));
			first = NULL;
		}
		first = first ? first : best;
		last = bytes;
	}
	if (first)
		json_array_append_new(ranges, range_json(r, road, first, last));
	return ranges;
}

void scope_tune_copies(struct scope_tuning *t)
{
	json_t *copies = json_object();

	for (unsigned k = 0; k < sizeof roads / sizeof *roads; k++) {
		json_t *ranges = tune_road(t->r, &roads[k]);

		if (json_array_size(ranges))
			json_object_set(copies, roads[k].name, ranges);
		json_decref(ranges);
	}
	json_object_set_new(t->to, "copy", copies);
}
