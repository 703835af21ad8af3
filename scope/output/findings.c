/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/output/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "scope/output/format.h"
#include "scope/output/limits.h"

void scope_find(struct scope_finding *f, const char *format, ...)
{
	char text[1400];
	json_t *made;
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof text, format, list);
	va_end(list);
	made = json_string(text);
	/* a name that was cut within a character is no UTF-8 any more */
	json_array_append_new(f->texts, made ? made : json_string("a finding whose names cannot be written"));
}

void scope_names_add(struct scope_names *n, const char *name)
{
	const size_t length = strlen(n->text);

	if (n->count++ < 3)
		snprintf(n->text + length, sizeof n->text - length, "%s%.100s", n->count > 1 ? ", " : "",
		         name);
}

const char *scope_names_end(struct scope_names *n)
{
	const size_t length = strlen(n->text);

	if (n->count > 3)
		snprintf(n->text + length, sizeof n->text - length, " and %u more", n->count - 3);
	return n->text;
}

/* ---- what the figures say ---- */

static void find_failed(struct scope_finding *f)
{
	struct scope_names names = {"", 0};
	const char *why = "";

	for (uint32_t k = 0; k < f->r->cells; k++)
		if (f->r->cell[k].status == SCOPE_FAILED) {
			why = names.count ? why : f->r->cell[k].why;
			scope_names_add(&names, f->r->cell[k].name);
		}
	if (names.count)
		scope_find(f,
		           "%u failed: %s. The first said: %.240s. Figures of the same kind beside them "
		           "deserve no trust until this is understood; run one alone with --filter.",
		           names.count, scope_names_end(&names), why);
}

/* The cell of a row with the best median, NULL where nothing was measured. */
static const struct scope_read_cell *best_of(const struct scope_read *r, const struct scope_read_row *row)
{
	const struct scope_read_cell *best = NULL;

	for (const struct scope_read_cell *c = NULL; (c = scope_read_next(r, row, c));)
		if (!best || c->s.median > best->s.median)
			best = c;
	return best;
}

/* More than a link can carry was not carried by it: such a figure is wrong, and no other is judged by it. */
static bool is_beyond(const struct scope_read *r, const struct scope_read_cell *c, struct scope_limit *limit)
{
	return c && scope_limit_of(r, c->row, limit) && limit->physical && c->s.median > 1.02 * limit->rate;
}

static void find_beyond(struct scope_finding *f)
{
	struct scope_names names = {"", 0};
	struct scope_limit limit, last;

	for (uint32_t k = 0; k < f->r->rows; k++) {
		const struct scope_read_cell *best = best_of(f->r, &f->r->row[k]);

		if (is_beyond(f->r, best, &limit)) {
			scope_names_add(&names, best->name);
			last = limit;
		}
	}
	if (names.count)
		scope_find(f,
		           "Faster than the link can be (%s: %.4g GB/s): %s. A cache served it, or what was "
		           "timed was over before the data had moved: take a size beyond the caches, and do "
		           "not use these figures.",
		           last.text, 1e-9 * last.rate, scope_names_end(&names));
}

/* The best that any row reached over a link in one direction, of what the link can carry. */
static double reached(const struct scope_read *r, const struct scope_read_row *row)
{
	double most = 0;

	for (const struct scope_read_cell *c = NULL; (c = scope_read_next(r, NULL, c));) {
		struct scope_limit limit;

		if (c->row->unit == SCOPE_BANDWIDTH && !strcmp(scope_link_of(c->row), scope_link_of(row)) &&
		    !strcmp(c->row->direction, row->direction) && c->s.median > most &&
		    !is_beyond(r, c, &limit))
			most = c->s.median;
	}
	return most;
}

/* A link of which no row got what it should give: the cause lies below all of them. */
static void find_slow_link(struct scope_finding *f)
{
	for (uint32_t k = 0; k < f->r->rows; k++) {
		const struct scope_read_row *row = &f->r->row[k];
		const double most = reached(f->r, row);
		struct scope_limit limit;
		uint32_t before = 0;

		while (before < k && (strcmp(scope_link_of(&f->r->row[before]), scope_link_of(row)) ||
		                      strcmp(f->r->row[before].direction, row->direction)))
			before++;
		if (before < k || !scope_limit_of(f->r, row, &limit) || !limit.physical || most <= 0 ||
		    most > 0.75 * limit.rate)
			continue;
		scope_find(f,
		           "No row got more than %.4g of %.4g GB/s (%.0f %%) over %s, direction %s. A good "
		           "link gives 85 to 95 %%. Causes in their order: the link trained down (compare "
		           "its speed and width under load), the device sits behind a shared switch, the "
		           "IOMMU translates every access, or all host memory is on the far node.",
		           1e-9 * most, 1e-9 * limit.rate, 100 * most / limit.rate, limit.text,
		           row->direction);
	}
}

/* What a row's name says about why it is slow. */
static const char *reason_of(const char *name)
{
	if (strstr(name, "pageable"))
		return "pageable memory is copied twice, through a pinned buffer of the driver: allocate "
		       "with cudaMallocHost or register it";
	if (strstr(name, "demand") || strstr(name, "managed"))
		return "managed pages come by faults: prefetch them, or read them through Grapnel's cache";
	if (strstr(name, "no-peer") || strstr(name, "staged"))
		return "without peer access the bytes go through the host";
	return NULL;
}

/*
 * Memory is no link: what reaches it by one thread, or from a cache, is measured to differ. Nor is another
 * row.
 */
static bool is_memory(const struct scope_read_row *row)
{
	return !strcmp(row->limit, "memory") || strchr(row->limit, '/');
}

/* Rows far below what others get over the same link in the same direction. */
static void find_slow_rows(struct scope_finding *f)
{
	struct scope_names names = {"", 0};

	for (uint32_t k = 0; k < f->r->rows; k++) {
		const struct scope_read_row *row = &f->r->row[k];
		const bool is_link = row->unit == SCOPE_BANDWIDTH && row->limit[0] && !is_memory(row);
		const struct scope_read_cell *best = is_link ? best_of(f->r, row) : NULL;
		const double most = best ? reached(f->r, row) : 0;
		const char *reason = reason_of(row->name);

		if (!best || best->s.median > 0.5 * most)
			continue;
		if (reason)
			scope_find(
			    f, "%s gets %.4g GB/s at best, %.0f %% of what its link gives others (%.4g): %s.",
			    row->name, 1e-9 * best->s.median, 100 * best->s.median / most, 1e-9 * most,
			    reason);
		else
			scope_names_add(&names, row->name);
	}
	if (names.count)
		scope_find(f,
		           "Less than half of what others get over the same link in the same direction: %s. "
		           "Small pieces, few requests in flight or work of the processor bound them, not "
		           "the link; see their sizes in the roofline.",
		           scope_names_end(&names));
}

/* ---- rows that differ in one thing ---- */

/* Are all arguments equal, but perhaps one? */
static bool like(const struct scope_read_cell *a, const struct scope_read_cell *b, const char *but)
{
	for (uint32_t k = 0; k < a->args; k++)
		if (strcmp(a->arg[k].name, but) &&
		    scope_read_arg(b, a->arg[k].name, UINT64_MAX) != a->arg[k].value)
			return false;
	return a->args == b->args;
}

/* What was measured of a row with the arguments of another's cell. */
static const struct scope_read_cell *counterpart(const struct scope_read *r, const char *row,
                                                 const struct scope_read_cell *like_this)
{
	for (const struct scope_read_cell *c = NULL; (c = scope_read_next(r, NULL, c));)
		if (!strcmp(c->row->name, row) && like(c, like_this, ""))
			return c;
	return NULL;
}

/* As good as another, within a twentieth? */
static bool as_good(const struct scope_read_cell *a, const struct scope_read_cell *b)
{
	return scope_more_is_better(a->row->unit) ? a->s.median > 0.95 * b->s.median
	                                          : a->s.median < 1.05 * b->s.median;
}

/*
 * A flushed row of small data must be slower than the one whose data are in the cache: where all are alike,
 * nothing was flushed, or nothing cached. Rows are named NAME-flushed and NAME.
 */
static void find_no_flush(struct scope_finding *f)
{
	const double cache = scope_host_cache(f->r);
	struct scope_names names = {"", 0};

	for (const struct scope_read_cell *c = NULL; (c = scope_read_next(f->r, NULL, c));) {
		const struct scope_read_cell *warm;
		const char *suffix = strstr(c->row->name, "-flushed");
		char name[SCOPE_NAME];

		if (!suffix || suffix[8] || (double)scope_read_arg(c, "bytes", 0) * 4 > cache)
			continue;
		snprintf(name, sizeof name, "%.*s", (int)(suffix - c->row->name), c->row->name);
		warm = counterpart(f->r, name, c);
		if (warm && !strcmp(scope_link_of(c->row), "host memory") && as_good(c, warm))
			scope_names_add(&names, c->name);
	}
	if (names.count)
		scope_find(
		    f,
		    "The flush of the host's caches changed nothing: %s are as fast as without it, although "
		    "the data fit a quarter of the cache. The processor may prefetch, or the instruction "
		    "does nothing here (a virtual machine): read flushed rows as warm ones.",
		    scope_names_end(&names));
}

/* The pair of nodes with the largest difference. */
static void find_nodes(struct scope_finding *f)
{
	const struct scope_read_cell *near = NULL, *far = NULL;
	double most = 1.15;

	for (const struct scope_read_cell *a = NULL; (a = scope_read_next(f->r, NULL, a));)
		for (const struct scope_read_cell *b = NULL; (b = scope_read_next(f->r, a->row, b));) {
			const double ratio = !like(a, b, "node")                  ? 0
			                     : scope_more_is_better(a->row->unit) ? a->s.median / b->s.median
			                                                          : b->s.median / a->s.median;

			if (ratio > most) {
				most = ratio;
				near = a;
				far = b;
			}
		}
	if (near)
		scope_find(f,
		           "The node of host memory matters: %s is %.2f times as good as %s. A process on "
		           "the wrong node loses that: bind it and its memory to the near node (numactl "
		           "--cpunodebind --membind).",
		           near->name, most, far->name);
}

/* What is wrong first, then what is slow and why, then what makes figures unsure. */
static void find_all(struct scope_finding *f)
{
	find_failed(f);
	find_beyond(f);
	scope_find_in_links(f);
	find_slow_link(f);
	find_nodes(f);
	find_no_flush(f);
	find_slow_rows(f);
	scope_find_in_samples(f);
	scope_find_in_environment(f);
}

json_t *scope_findings_in(const struct scope_read *r)
{
	struct scope_finding f = {r, json_array()};

	if (f.texts)
		find_all(&f);
	return f.texts;
}

json_t *scope_findings(const json_t *report)
{
	json_t *texts = NULL;
	struct scope_read *r;

	if (!scope_read_make(report, &r, NULL)) {
		texts = scope_findings_in(r);
		scope_read_free(r);
	}
	return texts;
}
