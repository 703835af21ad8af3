/* SPDX-License-Identifier: Apache-2.0 */
/* query_job.h - what `grapnel query` holds while it runs, and what it says of it. */
#ifndef GN_TOOL_QUERY_JOB_H
#define GN_TOOL_QUERY_JOB_H

#include "far_job.h"
#include "query/query.h"

enum { QUERY_AGGREGATES = 5, QUERY_TEXTS = 64 };

struct query_options {
	struct far_options far;
	const char *table;
	const char *where;
	const char *group_by;
	bool trust;
	/* as they were given */
	struct {
		enum gn_aggregate what;
		char *text; /* owned */
	} ask[QUERY_TEXTS];
	unsigned asks;
};

struct query_job {
	const struct query_options *options;
	struct gn_progress progress;
	struct gn_table_file table;
	struct gn_query query;
	struct simt_machine *machine;
	struct gn_store *store;
	struct gn_cache *cache; /* paged */
	struct gn_array arrays[GN_QUERY_COLUMNS];
	unsigned array_count;
	struct gn_query_result result;
	double load_seconds; /* for opening the store */
	/* for the report */
	struct simt_info info;
	struct gn_cache_info cache_info;
	uint64_t data_bytes; /* of the columns that the query reads */
	struct gn_store_statistics moved;
	int verified; /* 1, or -1: was not asked */
};

/* query_aggregate_name - "sum" and so on. */
const char *query_aggregate_name(enum gn_aggregate what);

/* query_report_json, query_report_print - all there is to say; NULL where there is no memory. */
json_t *query_report_json(const struct query_job *j, struct gn_error *e);
int query_report_print(const struct query_job *j, struct gn_error *e);

#endif
