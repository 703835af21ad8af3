/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel query: sums and averages over the rows of a table that need not fit the cache. */
#include "query_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_WHERE = 256, OPT_SUM, OPT_AVG, OPT_MIN, OPT_MAX, OPT_COUNT, OPT_GROUP, OPT_VERIFY, OPT_TRUST };

static const struct argp_option options[] = {
    {"where", OPT_WHERE, "CONDITION", 0,
     "the rows that count, for example \"distance >= 30 and vendor != 'CMT'\" (default all)"},
    {"sum", OPT_SUM, "LIST", 0, "sums of expressions, separated by commas; may be given again"},
    {"avg", OPT_AVG, "LIST", 0, "averages, for example 'total / distance'"},
    {"min", OPT_MIN, "LIST", 0, "least values"},
    {"max", OPT_MAX, "LIST", 0, "greatest values"},
    {"count", OPT_COUNT, "LIST", 0, "how many values are not missing"},
    {"group-by", OPT_GROUP, "COLUMN", 0,
     "results for each value of a column too: strings, or exact values that are at most 65535 apart"},
    {"verify", OPT_VERIFY, NULL, 0, "compare every result with an evaluation row by row on the host"},
    {"trust", OPT_TRUST, NULL, 0, "do not read and check the whole file before the run"},
    {0},
};

const char *query_aggregate_name(enum gn_aggregate what)
{
	return what == GN_WANT_SUM   ? "sum"
	       : what == GN_WANT_AVG ? "avg"
	       : what == GN_WANT_MIN ? "min"
	       : what == GN_WANT_MAX ? "max"
	                             : "count";
}

/* Where a list's first expression ends: at a comma outside quotes. */
static size_t first_of(const char *list)
{
	char quote = 0;
	size_t k = 0;

	for (; list[k] && (quote || list[k] != ','); k++) {
		if (quote ? list[k] == quote : list[k] == '\'' || list[k] == '"')
			quote = quote ? 0 : list[k];
	}
	return k;
}

static char *trimmed(const char *text, size_t length)
{
	while (length && strchr(" \t\r\n", text[0])) {
		text++;
		length--;
	}
	while (length && strchr(" \t\r\n", text[length - 1]))
		length--;
	return strndup(text, length);
}

static void ask(struct query_options *o, const struct argp_state *state, enum gn_aggregate what,
                const char *list)
{
	for (;;) {
		const size_t length = first_of(list);

		if (o->asks == QUERY_TEXTS)
			argp_error(state,
			           "--%s %s: more than %d results; ask for the others in a second query",
			           query_aggregate_name(what), list, (int)QUERY_TEXTS);
		o->ask[o->asks].what = what;
		o->ask[o->asks].text = trimmed(list, length);
		if (!o->ask[o->asks++].text)
			argp_failure(state, TOOL_FAILED, 0, "out of memory");
		if (!list[length])
			return;
		list += length + 1;
	}
}

static void check_together(struct query_options *o, const struct argp_state *state)
{
	if (!o->table)
		argp_error(state, "no table given; give TABLE.gnt, see --help");
	tool_own_file(state, "--json", o->far.json, o->table);
	tool_far_refuse_tiles(&o->far.far, state);
}

static void take_once(const struct argp_state *state, const char **to, const char *option, const char *arg)
{
	if (*to)
		argp_error(state, "%s is given twice; give it once", option);
	*to = arg;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct query_options *o = (struct query_options *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &o->far; return 0;
	case OPT_WHERE: take_once(state, &o->where, "--where", arg); return 0;
	case OPT_SUM: ask(o, state, GN_WANT_SUM, arg); return 0;
	case OPT_AVG: ask(o, state, GN_WANT_AVG, arg); return 0;
	case OPT_MIN: ask(o, state, GN_WANT_MIN, arg); return 0;
	case OPT_MAX: ask(o, state, GN_WANT_MAX, arg); return 0;
	case OPT_COUNT: ask(o, state, GN_WANT_COUNT, arg); return 0;
	case OPT_GROUP: take_once(state, &o->group_by, "--group-by", arg); return 0;
	case OPT_VERIFY: o->far.verify = true; return 0;
	case OPT_TRUST: o->trust = true; return 0;
	case ARGP_KEY_ARG: tool_argument(state, &o->table, "table", arg); return 0;
	case ARGP_KEY_END: check_together(o, state); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    options,
    parse,
    "TABLE.gnt",
    "Sums, averages, least and greatest values and counts over the rows of a table that match a condition. "
    "The table is a column file, made by grapnel convert or grapnel gen taxis. The threads of the machine "
    "fetch its pages themselves: the columns of the condition in order, other columns only where a row "
    "matches.\vAn expression has columns, numbers, + - * /, = != < <= > >=, and, or, not, is null, is not "
    "null and parentheses. Strings are in single quotes; a column that is no plain word is in double quotes. "
    "Missing values are as in SQL. Exact numbers stay exact, apart from / and avg, which give "
    "doubles.\n\nExit status: 0 success, 1 the run failed, 2 the command line is wrong.",
    far_read_child,
};

/* ---- the run ---- */

static int prepare(struct query_job *j, struct gn_error *e)
{
	const struct query_options *o = j->options;
	int rc = gn_query_begin(&j->query, &j->table, o->where, e);

	for (unsigned k = 0; !rc && k < o->asks; k++)
		rc = gn_query_aggregate(&j->query, o->ask[k].what, o->ask[k].text, e);
	if (!rc && o->group_by)
		rc = gn_query_group(&j->query, o->group_by, e);
	return rc ? rc : gn_query_ready(&j->query, e);
}

/* Of the columns that the query reads. */
static uint64_t column_bytes(const struct query_job *j)
{
	uint64_t bytes = 0;

	for (uint32_t k = 0; k < j->query.compiler.columns; k++)
		bytes += j->table.columns[j->query.compiler.column[k]].data.bytes;
	return bytes;
}

static int open_cache(struct query_job *j, struct gn_error *e)
{
	const struct tool_far *far = &j->options->far.far;
	const struct gn_cache_options c = tool_far_cache_options(far, column_bytes(j));

	if (j->options->far.mode == GN_DIRECT)
		return 0;
	return gn_cache_create(&j->cache, j->machine, &j->store, 1, &c, e);
}

static int open_arrays(struct query_job *j, struct gn_error *e)
{
	struct gn_array_options a = {j->options->far.mode, j->cache, j->store, 0, j->table.rows, 0};
	int rc = 0;

	while (!rc && j->array_count < j->query.compiler.columns) {
		const struct gn_column *c = &j->table.columns[j->query.compiler.column[j->array_count]];

		/* without rows there is no section to lay an array over */
		a.offset = j->table.rows ? c->data.at : 0;
		a.element_bytes = gn_column_width(c->type);
		rc = gn_array_create(&j->arrays[j->array_count], j->machine, &a, e);
		j->array_count += !rc;
	}
	return rc;
}

static int open_machine(struct query_job *j, struct gn_error *e)
{
	const struct far_options *o = &j->options->far;
	const char *scheme = o->mode == GN_DIRECT ? "host" : o->far.store ? o->far.store : "file";
	int rc = simt_open(&j->machine, &o->machine, e);
	const double begin = tool_seconds();

	if (!rc)
		rc = tool_far_open(&j->store, j->machine, &o->far, o->subcommand, o->machine.name, scheme,
		                   j->options->table, tool_far_file_query(&o->far), o->far.page_bytes, e);
	j->load_seconds = tool_seconds() - begin;
	if (!rc)
		rc = open_cache(j, e);
	return rc ? rc : open_arrays(j, e);
}

static int verify(struct query_job *j, struct gn_error *e)
{
	struct gn_query_result want = {0};
	int rc = gn_query_reference(&j->query, &want, &j->progress, e);

	if (!rc)
		rc = gn_query_verify(&j->query, &j->result, &want, e);
	gn_query_result_free(&want);
	j->verified = !rc;
	return rc;
}

static void describe(struct query_job *j)
{
	simt_describe(j->machine, &j->info);
	j->data_bytes = column_bytes(j);
	if (j->cache)
		gn_cache_describe(j->cache, &j->cache_info, NULL);
	gn_store_get_statistics(j->store, &j->moved);
}

static int run(struct query_job *j, struct gn_error *e)
{
	int rc = tool_can_write(j->options->far.json, e);

	if (!rc)
		rc = gn_table_open(&j->table, j->options->table, e);
	if (!rc && !j->options->trust)
		rc = gn_table_check(&j->table, &j->progress, e);
	if (!rc)
		rc = prepare(j, e);
	if (!rc)
		rc = open_machine(j, e);
	if (!rc)
		rc = gn_query_run(&j->query, j->machine, j->arrays, 0, &j->result, &j->progress, e);
	if (rc)
		return rc;
	describe(j);
	j->verified = -1;
	return j->options->far.verify ? verify(j, e) : 0;
}

static void close_job(struct query_job *j)
{
	for (unsigned k = 0; k < j->array_count; k++)
		gn_array_destroy(&j->arrays[k], j->machine);
	if (j->cache)
		gn_cache_destroy(j->cache);
	if (j->store)
		gn_store_close(j->store);
	simt_close(j->machine);
	gn_query_result_free(&j->result);
	gn_query_end(&j->query);
	gn_table_close(&j->table);
}

/* Results are written only for a run that went well. */
static int finish(const struct query_job *j, struct gn_error *e)
{
	const char *json = j->options->far.json;
	json_t *root;

	if (json) {
		root = query_report_json(j, e);
		if (!root)
			return -GN_ENOMEM;
		if (tool_write_json_digits(root, json, 17, e))
			return e->code;
	}
	return tool_to_stdout(json) ? 0 : query_report_print(j, e);
}

int tool_query(int argc, char **argv)
{
	struct query_options o = {0};
	struct query_job job;
	struct gn_error e = {0};
	struct tool_bar bar;
	int rc;

	memset(&job, 0, sizeof job);
	job.table.fd = -1;
	far_options_init(&o.far, "query");
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	job.options = &o;
	job.progress = tool_bar_begin(&bar);
	rc = run(&job, &e);
	tool_bar_end(&bar);
	if (!rc)
		rc = finish(&job, &e);
	close_job(&job);
	for (unsigned k = 0; k < o.asks; k++)
		free(o.ask[k].text);
	return rc ? tool_fail("query", &e) : TOOL_OK;
}
