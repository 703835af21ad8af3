/* SPDX-License-Identifier: Apache-2.0 */
/* What every job over a graph says about its run: in a table, in a JSON object, in a drawing. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache_report.h"
#include "graph_search.h"
#include "scope/output/svg.h"

double graph_report_teps(const struct graph_report *r)
{
	const double seconds = r->searches ? graph_searches_seconds(r->searches) : r->seconds;

	return seconds > 0 ? (double)r->edges / seconds : 0;
}

static const char *advice_name(enum gn_auto_advice advice)
{
	return advice == GN_ADVICE_PAGED ? "paged" : advice == GN_ADVICE_DIRECT ? "direct" : "gather";
}

static void print_choice(const struct graph_report *r, FILE *to)
{
	const struct gn_auto_state *s = &r->choice;

	fprintf(to, "  edges                %s", s->mode == GN_DIRECT ? "direct" : "paged");
	if (s->mode == GN_PAGED)
		fprintf(to, " in pages of %u bytes", s->page_bytes);
	fprintf(to, " at the end; %llu of %llu launches looked at, %llu changes, advice: %s\n",
	        (unsigned long long)s->samples, (unsigned long long)s->launches,
	        (unsigned long long)s->switches, advice_name(s->advice));
	if (r->options->explain)
		fputs(r->explain, to);
}

void graph_report_begin(const struct graph_report *r, FILE *to)
{
	fprintf(to, "  graph                %s: %llu vertices, %llu edges, %.1f MiB\n", r->options->graph,
	        (unsigned long long)r->input->vertices, (unsigned long long)r->input->edges,
	        (double)r->input->bytes / (1 << 20));
	fprintf(to, "  time                 %.3f s%s\n", r->seconds,
	        r->searches ? " (mean of the searches)" : "");
	fprintf(to, "  traversed            %llu edges, %.2f million a second\n",
	        (unsigned long long)r->edges, graph_report_teps(r) / 1e6);
	if (r->searches)
		graph_searches_print(r->searches, to);
}

void graph_report_end(const struct graph_report *r, const char *verified, FILE *to)
{
	if (r->steps)
		graph_steps_print(r->steps, to);
	if (r->options->mode == GRAPH_PAGED) {
		tool_cache_print(&r->cache, r->options->far.policy, to);
		fprintf(to, "  bytes moved/needed   %.2f\n",
		        (double)r->cache.statistics.fetched_bytes / (double)r->needed_bytes);
	}
	if (r->explain[0])
		print_choice(r, to);
	graph_state_print(r, to);
	graph_layout_print(r, to);
	tool_baseline_print(r->options->far.baseline, r->input->load_seconds, to);
	fprintf(to, "  path                 %s\n", r->path);
	if (r->verified >= 0)
		fprintf(to, "  verified             %s\n", r->verified ? verified : "NO");
}

static json_t *choice_json(const struct graph_report *r)
{
	const struct gn_auto_state *s = &r->choice;

	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:s, s:s}", "mode",
	                 s->mode == GN_DIRECT ? "direct" : "paged", "page_bytes", (json_int_t)s->page_bytes,
	                 "launches", (json_int_t)s->launches, "looks", (json_int_t)s->samples, "switches",
	                 (json_int_t)s->switches, "advice", advice_name(s->advice), "explain", r->explain);
}

json_t *graph_report_graph(const struct graph_report *r)
{
	return json_pack("{s:o, s:I, s:I, s:i, s:I}", "path", tool_json_text(r->options->graph), "vertices",
	                 (json_int_t)r->input->vertices, "edges", (json_int_t)r->input->edges, "id_bits",
	                 (int)(8 * r->input->id_bytes), "bytes", (json_int_t)r->input->bytes);
}

static json_t *rest_json(const struct graph_report *r)
{
	const int paged = r->options->mode == GRAPH_PAGED;
	json_t *verified = r->verified < 0 ? json_null() : json_boolean(r->verified);

	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:{s:I, s:I}, s:I, s:I, s:s, s:o}", "mode",
	                 graph_mode_name(r->options->mode), "cache",
	                 paged ? tool_cache_json(&r->cache, r->options->far.policy) : json_null(), "counters",
	                 paged ? tool_cache_counters(&r->cache) : json_null(), "auto",
	                 r->explain[0] ? choice_json(r) : json_null(), "state", graph_state_json(r), "layout",
	                 graph_layout_json(r), "store", "reads", (json_int_t)r->store.reads, "read_bytes",
	                 (json_int_t)r->store.read_bytes, "data_bytes", (json_int_t)r->input->bytes,
	                 "needed_bytes", (json_int_t)r->needed_bytes, "path", r->path, "verified", verified);
}

json_t *graph_report_join(json_t *root, const struct graph_report *r)
{
	json_t *baseline = tool_baseline_json(r->options->far.baseline, r->input->load_seconds);

	if (r->steps)
		root = tool_json_join(root, json_pack("{s:o}", "steps", graph_steps_rows(r->steps)));
	return tool_json_join(root, tool_json_join(rest_json(r), baseline));
}

/* ---- drawing ---- */

static void write_title(char *title, size_t bytes, const struct graph_report *r,
                        const struct graph_command *c)
{
	char searches[32] = "";

	if (r->searches)
		snprintf(searches, sizeof searches, ", %u searches", r->searches->count);
	snprintf(title, bytes, "%s%s: %llu edges, %.1f million a second, hit rate %.2f %%, %s", c->title,
	         searches, (unsigned long long)r->edges, graph_report_teps(r) / 1e6,
	         100 * tool_cache_hit_rate(&r->cache.statistics),
	         r->verified > 0 ? c->title_verified : "not verified");
}

static void draw(FILE *to, const struct graph_report *r, const struct graph_command *c)
{
	const struct {
		const char *label, *note;
		uint64_t bytes;
	} part[] = {
	    {"graph", "the arrays of the graph, in the store", r->input->bytes},
	    {"cache", "room for pages", r->cache.frame_bytes},
	    {"needed", c->needed, r->needed_bytes},
	    {"fetched", "pages from the store", r->cache.statistics.fetched_bytes},
	};
	enum { PARTS = sizeof part / sizeof *part };
	struct scope_bar bar[PARTS];
	char text[PARTS][32], title[160];
	uint64_t most = 1;

	for (int k = 0; k < PARTS; k++)
		most = part[k].bytes > most ? part[k].bytes : most;
	for (int k = 0; k < PARTS; k++) {
		snprintf(text[k], sizeof text[k], "%.1f MiB", (double)part[k].bytes / (1 << 20));
		bar[k].label = part[k].label;
		bar[k].text = text[k];
		bar[k].note = part[k].note;
		bar[k].style = scope_bar_styles[SCOPE_OURS];
		bar[k].share = (double)part[k].bytes / (double)most;
	}
	write_title(title, sizeof title, r, c);
	scope_svg_file_begin(to, scope_svg_bars_height(PARTS));
	scope_svg_bars(to, title, bar, PARTS);
	scope_svg_file_end(to);
}

int graph_report_svg(const struct graph_report *r, const struct graph_command *c, struct gn_error *e)
{
	const char *path = r->options->svg;
	char *text = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&text, &bytes);
	int rc;

	if (!to)
		return gn_error_set(e, -GN_ENOMEM, "%s: out of memory", path);
	draw(to, r, c);
	rc = fclose(to) ? gn_error_set(e, -GN_ENOMEM, "%s: out of memory", path)
	                : tool_write_file(path, text, bytes, e);
	free(text);
	return rc;
}
