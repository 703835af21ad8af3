/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_report.h - what a job says about the cache that it ran through: in a table, in a JSON object.
 */
#ifndef GN_TOOL_CACHE_REPORT_H
#define GN_TOOL_CACHE_REPORT_H

#include <stdio.h>

#include <grapnel/cache.h>

#include "tool.h"

/* Hits, as a part of all accesses; 0 without any. */
double tool_cache_hit_rate(const struct gn_cache_statistics *c);

/* Subtract the counters of an earlier moment: what remains was counted after it. */
void tool_cache_subtract(struct gn_cache_statistics *c, const struct gn_cache_statistics *before);

/* Lines of the table. */
void tool_cache_print(const struct gn_cache_info *f, enum gn_cache_policy policy, FILE *to);

/* The members "cache" and "counters". */
json_t *tool_cache_json(const struct gn_cache_info *f, enum gn_cache_policy policy);
json_t *tool_cache_counters(const struct gn_cache_info *f);

#endif
