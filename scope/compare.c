/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What changed from one report to another. A cell counts as changed only if all three say so: the intervals
 * of both medians, the ranks of all samples, and a threshold below which nobody would care.
 */
#include <string.h>

#include "scope/output/flat.h"
#include "scope/output/format.h"
#include "scope/output/utest.h"

static const double certain = 0.05;

/* ---- cells ---- */

static const struct scope_read_cell *find(const struct scope_read *r, const char *name)
{
	for (const struct scope_read_cell *c = NULL; (c = scope_read_next(r, NULL, c));)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

/* Do both intervals leave out the other's median? */
static bool apart(const struct scope_statistics *a, const struct scope_statistics *b)
{
	return (b->median < a->low || b->median > a->high) && (a->median < b->low || a->median > b->high);
}

static const char *verdict(const struct scope_read_cell *a, const struct scope_read_cell *b, double p,
                           double threshold)
{
	const double ratio = b->s.median / a->s.median;
	const bool more = ratio > 1, beyond = ratio > 1 + threshold || ratio < 1 / (1 + threshold);

	if (!beyond || p >= certain || !apart(&a->s, &b->s))
		return "same";
	return more == scope_more_is_better(a->row->unit) ? "faster" : "slower";
}

static json_t *median(const struct scope_read_cell *c)
{
	return c ? json_real(c->s.median) : json_null();
}

static json_t *cell_json(const struct scope_read_cell *a, const struct scope_read_cell *b, const char *word,
                         double p)
{
	const struct scope_read_cell *c = a ? a : b;

	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:s}", "name", c->name, "unit",
	                 scope_unit_words[c->row->unit], "before", median(a), "after", median(b), "ratio",
	                 a && b ? json_real(b->s.median / a->s.median) : json_null(), "p_value",
	                 a && b ? json_real(p) : json_null(), "verdict", word);
}

static int compare_cells(json_t *list, const struct scope_read *before, const struct scope_read *after,
                         double threshold, struct gn_error *e)
{
	int bad = 0;

	for (uint32_t k = 0; k < before->cells && !bad; k++) {
		const struct scope_read_cell *a = &before->cell[k], *b = find(after, a->name);
		double p = 1;

		if (a->status != SCOPE_MEASURED)
			continue;
		if (b && b->row->unit != a->row->unit)
			return gn_error_set(e, -GN_EINVAL,
			                    "%s: the unit is %s in one report and %s in the other; compare "
			                    "reports of the same row",
			                    a->name, scope_unit_words[a->row->unit],
			                    scope_unit_words[b->row->unit]);
		p = b ? scope_utest(a->value, a->samples, b->value, b->samples) : 1;
		bad = p < 0 || json_array_append_new(
		                   list, cell_json(a, b, b ? verdict(a, b, p, threshold) : "only-before", p));
	}
	for (uint32_t k = 0; k < after->cells && !bad; k++)
		if (after->cell[k].status == SCOPE_MEASURED && !find(before, after->cell[k].name))
			bad = json_array_append_new(list, cell_json(NULL, &after->cell[k], "only-after", 1));
	return bad ? gn_error_set(e, -GN_ENOMEM, "out of memory for the comparison") : 0;
}

/* ---- environments ---- */

/* What differs between any two runs, and says nothing. */
static bool passes(const char *key)
{
	static const char *const names[] = {"date",
	                                    "free_bytes",
	                                    "mhz_per_cpu",
	                                    "load_avg.",
	                                    "others_share",
	                                    "huge_page_bytes_free",
	                                    "scope_version",
	                                    "json_schema_version",
	                                    "executable",
	                                    "_tick_seconds",
	                                    "gpu_links.",
	                                    "bench.patterns.",
	                                    NULL};

	for (unsigned k = 0; names[k]; k++)
		if (strstr(key, names[k]))
			return true;
	return false;
}

/* Another machine: figures of it say nothing about a change. */
static bool is_machine(const char *key)
{
	static const char *const keys[] = {"cpu.model",
	                                   "num_cpus",
	                                   "memory.total_bytes",
	                                   "virtual_machine.guest",
	                                   "virtual_machine.product",
	                                   "run.ranks",
	                                   "bench.machine.name",
	                                   NULL};
	const size_t n = strlen(key);

	for (unsigned k = 0; keys[k]; k++)
		if (!strcmp(key, keys[k]))
			return true;
	return (!strncmp(key, "gpus.", 5) && n > 5 && !strcmp(key + n - 5, ".name")) ||
	       (!strncmp(key, "nodes.", 6) && n > 7 && !strcmp(key + n - 7, ".number"));
}

static int add_difference(json_t *list, const char *key, const json_t *a, const json_t *b)
{
	return json_array_append_new(list, json_pack("{s:s, s:O?, s:O?, s:b}", "key", key, "before", a,
	                                             "after", b, "machine", (int)is_machine(key)));
}

static int compare_environments(json_t *list, const struct scope_read *before, const struct scope_read *after)
{
	json_t *a = scope_flat(before->context), *b = scope_flat(after->context), *v;
	const char *key;
	int bad = !a || !b;

	if (!bad) {
		json_object_foreach(a, key, v) if (!passes(key) && !json_equal(v, json_object_get(b, key)))
		    bad |= add_difference(list, key, v, json_object_get(b, key));
		json_object_foreach(b, key, v) if (!passes(key) && !json_object_get(a, key)) bad |=
		    add_difference(list, key, NULL, v);
	}
	json_decref(a);
	json_decref(b);
	return bad;
}

/* ---- the whole ---- */

int scope_compare(const json_t *before, const json_t *after, double threshold, json_t **out,
                  struct gn_error *e)
{
	struct scope_read *a = NULL, *b = NULL;
	json_t *root = json_pack("{s:f, s:[], s:[]}", "threshold", threshold, "environment", "cells");
	int rc = root ? scope_read_make(before, &a, e)
	              : gn_error_set(e, -GN_ENOMEM, "out of memory for the comparison");

	rc = rc ? rc : scope_read_make(after, &b, e);
	if (!rc && compare_environments(json_object_get(root, "environment"), a, b))
		rc = gn_error_set(e, -GN_ENOMEM, "out of memory for the comparison");
	rc = rc ? rc : compare_cells(json_object_get(root, "cells"), a, b, threshold, e);
	scope_read_free(a);
	scope_read_free(b);
	*out = rc ? NULL : root;
	if (rc)
		json_decref(root);
	return rc;
}
