/* SPDX-License-Identifier: Apache-2.0 */
/* The searches of a run: their options, one after the other, and what is said of them. */
#include "graph_search.h"

#include <stdio.h>
#include <stdlib.h>

#include "cache_report.h"

enum { OPT_SOURCES = 0x400, OPT_SEED };

static const struct argp_option options[] = {
    {"sources", OPT_SOURCES, "N", 0,
     "search from N vertices, 1 to 1024, one after the other, and keep the cache between them; they are "
     "drawn from those with more than 2 edges. The time reported is their mean"},
    {"seed", OPT_SEED, "N", 0, "which vertices --sources draws (default 1)"},
    {0},
};

void graph_search_options_init(struct graph_search_options *o, const char *subcommand)
{
	graph_options_init(&o->graph, subcommand);
	o->source = UINT64_MAX;
	o->seed = 1;
}

static uint32_t search_count(const struct graph_search_options *o)
{
	return o->sources ? o->sources : 1;
}

static void check_together(const struct graph_search_options *o, const struct argp_state *state)
{
	if (o->sources && o->source != UINT64_MAX)
		argp_error(state, "--sources draws vertices, but --source gives one; leave either out");
	if (o->seeded && !o->sources)
		argp_error(state, "--seed says which vertices --sources draws; give --sources N too");
	if (o->sources > 1 && o->graph.out)
		argp_error(
		    state,
		    "--out takes the result of one search, but --sources %u makes several; leave --out "
		    "out",
		    o->sources);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct graph_search_options *o = (struct graph_search_options *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &o->graph; return 0;
	case OPT_SOURCES:
		o->sources = (uint32_t)tool_number(state, "--sources", arg, 1, GRAPH_MOST_SOURCES);
		return 0;
	case OPT_SEED:
		o->seed = tool_number(state, "--seed", arg, 0, INT64_MAX);
		o->seeded = true;
		return 0;
	case ARGP_KEY_END: check_together(o, state); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {options, parse, NULL, NULL, graph_layout_child};

const struct argp_child graph_search_child[] = {{&argp}, {0}};

/* ---- the searches ---- */

static int given_source(const struct graph_search_options *o, const struct graph_input *in, uint32_t *source,
                        struct gn_error *e)
{
	*source = o->source == UINT64_MAX ? 0 : (uint32_t)o->source;
	if (*source < in->vertices)
		return 0;
	if (!in->vertices)
		return gn_error_set(e, -GN_ERANGE, "%s has no vertex to begin at", o->graph.graph);
	return gn_error_set(e, -GN_ERANGE,
	                    "--source %u: %s has %llu vertices, numbered from 0; give a smaller number",
	                    *source, o->graph.graph, (unsigned long long)in->vertices);
}

static int find_sources(struct graph_searches *all, const struct graph_input *in, struct gn_error *e)
{
	const struct graph_search_options *o = all->options;
	uint32_t source[GRAPH_MOST_SOURCES];
	int rc = o->sources ? graph_sources_draw(in, o, source, e) : given_source(o, in, source, e);

	if (rc)
		return rc;
	all->search = (struct graph_search *)calloc(search_count(o), sizeof *all->search);
	all->results = calloc(search_count(o), all->kind->result_bytes);
	if (!all->search || !all->results)
		return gn_error_set(e, -GN_ENOMEM, "out of memory for %u searches", search_count(o));
	all->count = search_count(o);
	for (uint32_t k = 0; k < all->count; k++) {
		all->search[k].number = k;
		all->search[k].source = source[k];
		all->search[k].result = (char *)all->results + k * all->kind->result_bytes;
	}
	return 0;
}

static int count_traffic(const struct graph_job *j, struct graph_search *s, struct gn_error *e)
{
	gn_store_get_statistics(j->input.store, &s->store);
	if (j->options->mode != GRAPH_PAGED || !j->arrays.cache)
		return 0;
	return gn_cache_describe(j->arrays.cache, &s->cache, e);
}

/* Which of several searches a message is about. */
static int name_search(const struct graph_searches *all, const struct graph_search *s, struct gn_error *e)
{
	return !all->options->sources ? e->code
	                              : gn_error_prefix(e, e->code, "search %u of %u, from vertex %u",
	                                                s->number + 1, all->count, s->source);
}

static int run_one(const struct graph_searches *all, struct graph_job *j, struct graph_search *s,
                   struct gn_error *e)
{
	int rc;

	/* the steps begin where the cache's counters were when the search before had ended */
	s->steps = graph_job_steps(j, all->kind->steps, s->number ? &s[-1].cache.statistics : NULL);
	rc = all->kind->run(all->user, j, s, e);
	if (!rc)
		rc = count_traffic(j, s, e);
	if (!rc && j->options->verify)
		rc = all->kind->verify(all->user, j, s->source, e);
	return rc ? name_search(all, s, e) : 0;
}

static void sum_up(const struct graph_searches *all, struct graph_report *r)
{
	r->needed_bytes = 0;
	for (uint32_t k = 0; k < all->count; k++) {
		r->edges += all->search[k].edges;
		r->needed_bytes += all->search[k].needed_bytes;
	}
	r->seconds = graph_searches_seconds(all) / all->count;
	r->searches = all->options->sources ? all : NULL;
}

int graph_searches_run(void *user, struct graph_job *j, struct graph_report *r, struct gn_error *e)
{
	struct graph_searches *all = (struct graph_searches *)user;
	int rc = find_sources(all, &j->input, e);

	for (uint32_t k = 0; k < all->count && !rc; k++)
		rc = run_one(all, j, &all->search[k], e);
	if (rc)
		return rc;
	sum_up(all, r);
	return 0;
}

int graph_searches_command(const struct graph_command *c, struct graph_searches *all)
{
	const int status = graph_command_run(c, &all->options->graph, all);

	for (uint32_t k = 0; k < all->count; k++)
		graph_steps_free(&all->search[k].steps);
	free(all->search);
	free(all->results);
	return status;
}

/* ---- numbers ---- */

double graph_searches_seconds(const struct graph_searches *all)
{
	double sum = 0;

	for (uint32_t k = 0; k < all->count; k++)
		sum += all->search[k].seconds;
	return sum;
}

struct times {
	double mean, least, most, first;
	double others; /* their mean; 0: there are none */
};

static struct times times_of(const struct graph_searches *all)
{
	const double sum = graph_searches_seconds(all), first = all->search[0].seconds;
	struct times t = {sum / all->count, first, first, first, 0};

	for (uint32_t k = 1; k < all->count; k++) {
		const double s = all->search[k].seconds;

		t.least = s < t.least ? s : t.least;
		t.most = s > t.most ? s : t.most;
	}
	if (all->count > 1)
		t.others = (sum - first) / (all->count - 1);
	return t;
}

/* What the cache counted in this search alone. */
static struct gn_cache_info own_cache(const struct graph_search *s)
{
	struct gn_cache_info own = s->cache;

	if (s->number)
		tool_cache_subtract(&own.statistics, &s[-1].cache.statistics);
	return own;
}

/* ---- what is said ---- */

static void print_search(const struct graph_searches *all, const struct graph_search *s, FILE *to)
{
	const struct gn_cache_statistics c = own_cache(s).statistics;

	fprintf(to, "  %6u  %10u  %12llu  %14llu", s->number + 1, s->source, (unsigned long long)s->reached,
	        (unsigned long long)s->edges);
	if (all->options->graph.mode == GRAPH_PAGED)
		fprintf(to, "  %10llu  %10.2f", (unsigned long long)c.fetched,
		        (double)c.fetched_bytes / (1 << 20));
	else
		fprintf(to, "  %10s  %10s", "-", "-");
	fprintf(to, "  %10.6f\n", s->seconds);
}

void graph_searches_print(const struct graph_searches *all, FILE *to)
{
	const struct times t = times_of(all);

	fprintf(to, "  searches             %u: %.6f s to %.6f s; the first %.6f s", all->count, t.least,
	        t.most, t.first);
	if (all->count > 1)
		fprintf(to, ", the mean of the others %.6f s", t.others);
	fprintf(to, "\n  %6s  %10s  %12s  %14s  %10s  %10s  %10s\n", "search", "source", "reached",
	        "edges read", "pages", "MiB moved", "seconds");
	for (uint32_t k = 0; k < all->count; k++)
		print_search(all, &all->search[k], to);
}

static json_t *times_json(const struct graph_searches *all)
{
	const struct times t = times_of(all);

	return json_pack("{s:f, s:f, s:f, s:f, s:o}", "mean", t.mean, "least", t.least, "most", t.most,
	                 "first", t.first, "others", all->count > 1 ? json_real(t.others) : json_null());
}

static json_t *search_json(const struct graph_searches *all, const struct graph_search *s)
{
	const int paged = all->options->graph.mode == GRAPH_PAGED;
	const struct gn_cache_info cache = own_cache(s);
	const uint64_t reads = s->number ? s[-1].store.reads : 0,
	               read_bytes = s->number ? s[-1].store.read_bytes : 0;

	return json_pack("{s:f, s:I, s:f, s:o, s:{s:I, s:I}, s:I}", "seconds", s->seconds, "edges_traversed",
	                 (json_int_t)s->edges, "teps", s->seconds > 0 ? (double)s->edges / s->seconds : 0.0,
	                 "counters", paged ? tool_cache_counters(&cache) : json_null(), "store", "reads",
	                 (json_int_t)(s->store.reads - reads), "read_bytes",
	                 (json_int_t)(s->store.read_bytes - read_bytes), "needed_bytes",
	                 (json_int_t)s->needed_bytes);
}

/* What a report says of one search before its numbers. */
static json_t *own_json(const struct graph_searches *all, const struct graph_search *s)
{
	return tool_json_join(all->kind->members(all->user, s),
	                      json_pack("{s:o}", "steps", graph_steps_rows(&s->steps)));
}

static json_t *all_json(const struct graph_searches *all)
{
	json_t *sources = json_array(), *searches = json_array();
	int bad = 0;

	for (uint32_t k = 0; k < all->count; k++) {
		const struct graph_search *s = &all->search[k];

		bad |= json_array_append_new(sources, json_integer(s->source));
		bad |= json_array_append_new(searches, tool_json_join(own_json(all, s), search_json(all, s)));
	}
	if (!bad)
		return json_pack("{s:o, s:I, s:o, s:o}", "sources", sources, "seed",
		                 (json_int_t)all->options->seed, "times", times_json(all), "searches",
		                 searches);
	json_decref(sources);
	json_decref(searches);
	return NULL;
}

json_t *graph_searches_join(json_t *root, const struct graph_searches *all, const struct graph_report *r)
{
	json_t *times = json_pack("{s:f, s:I, s:f}", "seconds", r->seconds, "edges_traversed",
	                          (json_int_t)r->edges, "teps", graph_report_teps(r));

	root = tool_json_join(root, r->searches ? all_json(all) : own_json(all, all->search));
	return graph_report_join(tool_json_join(root, times), r);
}
