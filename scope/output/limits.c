/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "scope/output/charts.h"
#include "scope/output/limits.h"

bool scope_is_duplex(const struct scope_read_row *row)
{
	return strstr(row->direction, "both") != NULL;
}

double scope_pcie_rate(double generation, double width)
{
	static const double lane[] = {0,
	                              0.25e9,
	                              0.5e9,
	                              8e9 / 8 * 128 / 130,
	                              16e9 / 8 * 128 / 130,
	                              32e9 / 8 * 128 / 130,
	                              64e9 / 8 * 242 / 256};

	const bool known =
	    generation >= 0 && generation < (double)(sizeof lane / sizeof *lane) && width >= 0 && width <= 32;

	return known ? lane[(unsigned)generation] * width : 0;
}

/* The GPU that most is measured with is the first; a row says no other. */
static bool pcie_limit(const struct scope_read *r, struct scope_limit *limit)
{
	const double generation = scope_read_number(r, "gpus.0.pcie_generation", 0);
	const double width = scope_read_number(r, "gpus.0.pcie_width", 0);

	limit->rate = scope_pcie_rate(generation, width);
	limit->physical = limit->rate > 0;
	snprintf(limit->text, sizeof limit->text, "PCIe %.0f x%.0f", generation, width);
	return limit->physical;
}

const char *scope_link_of(const struct scope_read_row *row)
{
	const bool device =
	    row->timer != SCOPE_HOST_CLOCK || strstr(row->name, "gpu") || strstr(row->name, "device");

	if (scope_read_family(row, "many"))
		return "many links";
	if (!strcmp(row->limit, "nvlink"))
		return "peer";
	return strcmp(row->limit, "memory") ? row->limit : device ? "device memory" : "host memory";
}

double scope_host_cache(const struct scope_read *r)
{
	const json_t *list = scope_read_context(r, "caches"), *v;
	double most = 0;

	for (size_t k = 0; k < json_array_size(list); k++) {
		v = json_object_get(json_array_get(list, k), "size");
		if (json_is_number(v) && json_number_value(v) > most)
			most = json_number_value(v);
	}
	return most;
}

bool scope_beyond_caches(const struct scope_read *r, const struct scope_read_cell *c)
{
	const char *link = scope_link_of(c->row);
	const double cache = !strcmp(link, "host memory")     ? scope_host_cache(r)
	                     : !strcmp(link, "device memory") ? scope_read_number(r, "gpus.0.l2_bytes", 0)
	                                                      : 0;

	return (double)scope_read_arg(c, "bytes", 0) >= 2 * cache;
}

/* The best over the same link, one way or both ways. */
static bool best_measured(const struct scope_read *r, const struct scope_read_row *row,
                          struct scope_limit *limit)
{
	const char *link = scope_link_of(row);

	for (const struct scope_read_cell *c = NULL; (c = scope_read_next(r, NULL, c));)
		if (c->row->unit == SCOPE_BANDWIDTH && !strcmp(scope_link_of(c->row), link) &&
		    scope_is_duplex(c->row) == scope_is_duplex(row) && c->s.median > limit->rate &&
		    scope_beyond_caches(r, c))
			limit->rate = c->s.median;
	snprintf(limit->text, sizeof limit->text, "best over %s", link);
	return limit->rate > 0;
}

/* A limit may be another row, which does the same work. */
static bool row_limit(const struct scope_read *r, const struct scope_read_row *row, struct scope_limit *limit)
{
	for (const struct scope_read_cell *c = NULL; (c = scope_read_next(r, NULL, c));)
		if (c->row->unit == row->unit && !strcmp(c->row->name, row->limit))
			limit->rate = c->s.median;
	snprintf(limit->text, sizeof limit->text, "%.100s", strchr(row->limit, '/') + 1);
	return limit->rate > 0;
}

bool scope_limit_of(const struct scope_read *r, const struct scope_read_row *row, struct scope_limit *limit)
{
	memset(limit, 0, sizeof *limit);
	if (strchr(row->limit, '/'))
		return row_limit(r, row, limit);
	if (!row->limit[0] || row->unit != SCOPE_BANDWIDTH)
		return false;
	if (strcmp(scope_link_of(row), "pcie") || !pcie_limit(r, limit))
		return best_measured(r, row, limit);
	if (scope_is_duplex(row)) {
		limit->rate *= 2;
		strncat(limit->text, ", both ways", sizeof limit->text - strlen(limit->text) - 1);
	}
	return true;
}

/* ---- reach ---- */

/* Is b a third worse than a? */
static bool is_worse(const struct scope_read_cell *a, const struct scope_read_cell *b)
{
	return a->row->unit == SCOPE_LATENCY ? b->s.median > a->s.median * 4 / 3
	                                     : b->s.median < a->s.median * 3 / 4;
}

/*
 * The step of one series: all behind it a third worse than what was before, where no cache can explain that.
 */
static double reach_of(const struct scope_series *s, double least_span)
{
	for (uint32_t k = 1; k < s->points; k++) {
		const double span = (double)scope_read_arg(s->point[k - 1], "span", 0);
		bool stays = span >= least_span;

		for (uint32_t more = k; more < s->points; more++)
			stays = stays && is_worse(s->point[k - 1], s->point[more]);
		if (stays)
			return span;
	}
	return 0;
}

static double largest_cache(const struct scope_read *r)
{
	const double host = scope_host_cache(r), device = scope_read_number(r, "gpus.0.l2_bytes", 0);

	return host > device ? host : device;
}

/* Latencies and rates over the span; bandwidths are bound by other things as well. */
static bool shows_reach(const struct scope_chart *c, const struct scope_series *s, const char *link)
{
	return c->unit != SCOPE_BANDWIDTH && c->kind == SCOPE_LINES && !strcmp(c->x, "span") &&
	       !strcmp(scope_link_of(s->row), link);
}

double scope_reach(const struct scope_read *r, const char *link)
{
	const double cache = 2 * largest_cache(r), least_span = cache > 64 << 20 ? cache : 64 << 20;
	struct scope_charts *all;
	double reach = 0;

	if (scope_charts_make(r, &all))
		return 0;
	for (uint32_t k = 0; k < all->charts; k++)
		for (uint32_t s = 0; s < all->chart[k].count; s++) {
			const struct scope_series *one = &all->chart[k].series[s];

			if (!(reach > 0) && shows_reach(&all->chart[k], one, link))
				reach = reach_of(one, least_span);
		}
	scope_charts_free(all);
	return reach;
}
