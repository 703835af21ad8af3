/* SPDX-License-Identifier: Apache-2.0 */
/* What grapnel query says: in a table, in a JSON object. */
#include "query_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache_report.h"
#include "columns/values.h"

/* ---- values ---- */

static const struct gn_query_slot *slot_of(const struct query_job *j, unsigned ask, uint32_t *place)
{
	const struct gn_query *q = &j->query;

	for (*place = 0; strcmp(q->slot[*place]->expression.text, j->options->ask[ask].text) != 0;)
		++*place;
	return q->slot[*place];
}

static json_t *exact_json(__int128 value, uint32_t scale)
{
	char text[GN_EXACT_TEXT];

	gn_exact_text(text, (int64_t)(value >> 64), (uint64_t)value, scale);
	return json_string(text);
}

/* The quotient of a sum and a count, rounded once more than it need be. */
static double average(const struct gn_query_total *t, const struct gn_node *root)
{
	if (root->type == GN_TYPE_REAL)
		return t->real / (double)t->count;
	return (double)((long double)t->exact / (long double)gn_power_of_ten(root->scale) /
	                (long double)t->count);
}

/* Exact values are strings, doubles are numbers, what no value was there for is null. */
static json_t *result_json(enum gn_aggregate what, const struct gn_query_total *t, const struct gn_node *root)
{
	const int real = root->type == GN_TYPE_REAL;

	if (what == GN_WANT_COUNT)
		return json_integer((json_int_t)t->count);
	if (!t->count)
		return json_null();
	switch (what) {
	case GN_WANT_SUM: return real ? json_real(t->real) : exact_json(t->exact, root->scale);
	case GN_WANT_MIN: return real ? json_real(t->least.real) : exact_json(t->least.exact, root->scale);
	case GN_WANT_MAX: return real ? json_real(t->most.real) : exact_json(t->most.exact, root->scale);
	default: return json_real(average(t, root));
	}
}

/* Every result that was asked for, by the text of its call: {"sum(total)": "12.50"}. */
static json_t *results_json(const struct query_job *j, const struct gn_query_total *totals)
{
	json_t *root = json_object();

	for (unsigned k = 0; root && k < j->options->asks; k++) {
		const char *text = j->options->ask[k].text;
		const enum gn_aggregate what = j->options->ask[k].what;
		const size_t room = strlen(text) + 16;
		char *call = (char *)malloc(room), *key = NULL;
		uint32_t place;
		const struct gn_expression *x = &slot_of(j, k, &place)->expression;

		if (call && snprintf(call, room, "%s(%s)", query_aggregate_name(what), text) > 0)
			key = tool_utf8(call, strlen(call));
		if (!key ||
		    json_object_set_new(root, key, result_json(what, &totals[place], &x->node[x->root]))) {
			json_decref(root);
			root = NULL;
		}
		free(call);
		free(key);
	}
	return root;
}

/* Over all groups. */
static json_t *all_json(const struct query_job *j)
{
	const struct gn_query *q = &j->query;
	struct gn_query_total all[GN_QUERY_SLOTS];

	memset(all, 0, sizeof all);
	for (uint64_t g = 0; g < q->groups; g++)
		for (uint32_t k = 0; k < q->slots; k++) {
			const struct gn_expression *x = &q->slot[k]->expression;

			gn_query_total_add(&all[k], &j->result.totals[g * q->slots + k],
			                   x->node[x->root].type == GN_TYPE_REAL);
		}
	return results_json(j, all);
}

/* ---- groups ---- */

static json_t *group_name(const struct query_job *j, const struct gn_dictionary *d, uint64_t g)
{
	const struct gn_query *q = &j->query;
	const struct gn_column *c = &j->table.columns[q->group];
	json_t *name;
	char *word;

	if (g == q->groups - 1)
		return json_null();
	if (c->type != GN_COLUMN_STRING && c->scale)
		return exact_json(q->group_base + (int64_t)g, c->scale);
	if (c->type != GN_COLUMN_STRING)
		return json_integer((json_int_t)(q->group_base + (int64_t)g));
	g += (uint64_t)q->group_base;
	word = tool_utf8(d->bytes + d->offsets[g], d->offsets[g + 1] - d->offsets[g]);
	name = json_string(word);
	free(word);
	return name;
}

static json_t *groups_json(const struct query_job *j, const struct gn_dictionary *d)
{
	json_t *list = json_array();

	for (uint64_t g = 0; list && g < j->query.groups; g++) {
		json_t *group;

		if (!j->result.group_rows[g])
			continue;
		group = json_pack("{s:o, s:I, s:o}", "value", group_name(j, d, g), "rows_matched",
		                  (json_int_t)j->result.group_rows[g], "results",
		                  results_json(j, &j->result.totals[g * j->query.slots]));
		if (json_array_append_new(list, group)) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static int load_dictionary(const struct query_job *j, struct gn_dictionary *d, struct gn_error *e)
{
	const struct gn_column *c = &j->table.columns[j->query.group];

	memset(d, 0, sizeof *d);
	return j->query.has_group && c->type == GN_COLUMN_STRING ? gn_table_dictionary(&j->table, c, d, e)
	                                                         : 0;
}

/* ---- the run ---- */

static const char *mode_name(const struct query_job *j)
{
	return j->options->far.mode == GN_DIRECT ? "direct" : "paged";
}

static json_t *cache_json(const struct query_job *j)
{
	return j->cache ? tool_cache_json(&j->cache_info, j->options->far.far.policy) : json_null();
}

static json_t *counters_json(const struct query_job *j)
{
	return j->cache ? tool_cache_counters(&j->cache_info) : json_null();
}

/* The bytes that came from the store. Nobody counts those of direct loads. */
static json_t *moved_json(const struct query_job *j)
{
	return j->cache ? json_integer((json_int_t)j->cache_info.statistics.fetched_bytes) : json_null();
}

static json_t *rest_json(const struct query_job *j)
{
	const struct gn_query *q = &j->query;
	json_t *verified = j->verified < 0 ? json_null() : json_boolean(j->verified);

	return json_pack(
	    "{s:f, s:s, s:o, s:o, s:o, s:I, s:I, s:i, s:{s:I, s:I}, s:{s:I, s:I}, s:I, s:{s:I, s:I}, s:s, "
	    "s:o}",
	    "seconds", j->result.seconds, "mode", mode_name(j), "cache", cache_json(j), "counters",
	    counters_json(j), "moved_bytes", moved_json(j), "data_bytes", (json_int_t)j->data_bytes,
	    "needed_bytes", (json_int_t)j->result.needed_bytes, "sector_bytes", (int)GN_QUERY_SECTOR, "zones",
	    "all", (json_int_t)gn_table_zone_count(&j->table), "skipped",
	    (json_int_t)(gn_table_zone_count(&j->table) - q->zone_count), "pages", "all",
	    (json_int_t)q->pages, "skipped", (json_int_t)q->pages_skipped, "zone_map_bytes",
	    (json_int_t)q->map_bytes, "store", "reads", (json_int_t)j->moved.reads, "read_bytes",
	    (json_int_t)j->moved.read_bytes, "path", gn_store_path(j->store), "verified", verified);
}

static json_t *table_json(const struct query_job *j)
{
	return json_pack("{s:o, s:I, s:I, s:I}", "path", tool_json_text(j->options->table), "rows",
	                 (json_int_t)j->table.rows, "columns", (json_int_t)j->table.column_count, "bytes",
	                 (json_int_t)j->table.bytes);
}

json_t *query_report_json(const struct query_job *j, struct gn_error *e)
{
	struct gn_dictionary d;
	json_t *root;

	if (load_dictionary(j, &d, e))
		return NULL;
	root = json_pack("{s:s, s:o, s:o, s:o, s:o, s:I, s:o, s:o}", "schema", "grapnel-query-1", "machine",
	                 tool_json_machine(&j->info), "table", table_json(j), "where",
	                 tool_json_text(j->options->where), "group_by", tool_json_text(j->options->group_by),
	                 "rows_matched", (json_int_t)j->result.rows, "results", all_json(j), "groups",
	                 j->query.has_group ? groups_json(j, &d) : json_null());
	root = tool_json_join(root, rest_json(j));
	root = tool_json_join(root, tool_baseline_json(j->options->far.far.baseline, j->load_seconds));
	free(d.memory);
	if (!root)
		gn_error_set(e, -GN_ENOMEM, "the report cannot be made: out of memory");
	return root;
}

/* ---- the table ---- */

static void print_results(const json_t *results, const char *margin)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)results, key, value)
	{
		char *text = json_is_string(value)
		                 ? strdup(json_string_value(value))
		                 : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));

		printf("%s%-24s %s\n", margin, key, text ? text : "?");
		free(text);
	}
}

/* A name as JSON has it, but with one backslash before a foreign byte: \xHH. @name  NULL: no memory */
static void print_name(const char *name)
{
	printf("  ");
	for (; name && *name; name++) {
		if (name[0] == '\\' && name[1] == '\\')
			name++;
		putchar(*name);
	}
	fputs(name ? "" : "?", stdout);
}

static void print_groups(const json_t *groups)
{
	size_t k;
	json_t *group;

	json_array_foreach((json_t *)(uintptr_t)groups, k, group)
	{
		const json_t *value = json_object_get(group, "value");
		char *name = json_dumps(value, JSON_ENCODE_ANY);

		print_name(name);
		printf(": %lld rows\n",
		       (long long)json_integer_value(json_object_get(group, "rows_matched")));
		print_results(json_object_get(group, "results"), "    ");
		free(name);
	}
}

static void print_traffic(const struct query_job *j)
{
	const struct gn_query *q = &j->query;
	const double mib = 1 << 20;

	printf("  zones skipped        %llu of %llu by their maps; %llu of %llu pages of the condition's "
	       "columns\n",
	       (unsigned long long)(gn_table_zone_count(&j->table) - q->zone_count),
	       (unsigned long long)gn_table_zone_count(&j->table), (unsigned long long)q->pages_skipped,
	       (unsigned long long)q->pages);
	printf("  needed               %.2f MiB in sectors of %d bytes\n",
	       (double)j->result.needed_bytes / mib, (int)GN_QUERY_SECTOR);
	if (j->cache)
		printf("  moved                %.2f MiB in pages of %u bytes, through %.1f MiB of cache\n",
		       (double)j->cache_info.statistics.fetched_bytes / mib, j->cache_info.page_bytes,
		       (double)j->cache_info.frame_bytes / mib);
	printf("  path                 %s (%u processors, warps of %u), %s, %s\n", j->info.name,
	       j->info.processors, j->info.warp_width, mode_name(j), gn_store_path(j->store));
	tool_baseline_print(j->options->far.far.baseline, j->load_seconds, stdout);
	if (j->verified >= 0)
		printf("  verified             every result is that of the rows one by one on the host\n");
}

int query_report_print(const struct query_job *j, struct gn_error *e)
{
	json_t *root = query_report_json(j, e);

	if (!root)
		return -GN_ENOMEM;
	printf("  table                %s: %llu rows, %u columns\n", j->options->table,
	       (unsigned long long)j->table.rows, j->table.column_count);
	printf("  rows matched         %llu\n  time                 %.3f s\n",
	       (unsigned long long)j->result.rows, j->result.seconds);
	print_results(json_object_get(root, "results"), "  ");
	print_groups(json_object_get(root, "groups"));
	print_traffic(j);
	json_decref(root);
	return 0;
}
