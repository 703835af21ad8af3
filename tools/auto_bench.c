/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grapnel auto-bench: twelve access patterns in every fixed mode, as batches of rows where they can be, and
 * as gn_auto chooses and advises, which is to come close to the best of them on each. The time of gn_auto
 * holds its looking, deciding and switching.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "patterns/patterns.h"
#include "tool.h"

enum {
	OPT_DATA = 256,
	OPT_CACHE,
	OPT_TOUCHES,
	OPT_LAUNCHES,
	OPT_PATTERN,
	OPT_EXPLAIN,
	OPT_MODES,
	OPT_TUNED,
	OPT_JSON
};

enum { MODES = 7, GATHER = 5, AUTO = 6 };

static const struct mode {
	const char *name;
	uint32_t mode;
} modes[MODES] = {{"direct", GN_PATTERN_DIRECT}, {"512", 512},     {"4096", 4096},
		  {"16384", 16384},              {"65536", 65536}, {"gather", GN_PATTERN_GATHER},
		  {"auto", GN_PATTERN_AUTO}};

struct request {
	struct gn_pattern_options bed;
	const char *pattern, *json;
	int explain, tuned;
	const char *settings;
	unsigned skip; /* fixed modes, as bits */
};

static const struct argp_option options[] = {
    {"data", OPT_DATA, "SIZE", 0, "how much there is, a power of two (default 64M)", 0},
    {"cache", OPT_CACHE, "SIZE", 0, "bytes of cache (default one eighth of the data)", 0},
    {"touches", OPT_TOUCHES, "N", 0, "scattered accesses of a launch (default one for each 32 words)", 0},
    {"launches", OPT_LAUNCHES, "N", 0, "launches of a run, 2 to 64 (default 12)", 0},
    {"pattern", OPT_PATTERN, "NAME", 0, "only this pattern; list for their names", 0},
    {"explain", OPT_EXPLAIN, NULL, 0, "say what was seen, what was chosen and why", 0},
    {"modes", OPT_MODES, "LIST", 0,
     "fixed modes to run beside it, such as direct,4096,gather; none for none (default all)", 0},
    {"tuned", OPT_TUNED, "FILE", OPTION_ARG_OPTIONAL,
     "take the reach of address translation from what grapnel tune kept (default "
     "this machine's file)",
     0},
    {"json", OPT_JSON, "FILE", 0, "write the runs as JSON; - for standard output, without the table", 0},
    {0},
};

static const char *pattern_option(const struct argp_state *state, const char *name)
{
	for (unsigned k = 0; k < GN_PATTERNS; k++)
		if (!strcmp(gn_patterns[k].name, name))
			return name;
	if (strcmp(name, "list"))
		argp_error(state, "--pattern %s: there is none of that name; --pattern list names them",
		           name);
	for (unsigned k = 0; k < GN_PATTERNS; k++)
		printf("%-12s %s\n", gn_patterns[k].name, gn_patterns[k].summary);
	exit(TOOL_OK);
}

/* The fixed modes that are not in the list. */
static unsigned modes_option(const struct argp_state *state, char *list)
{
	unsigned skip = (1u << AUTO) - 1;
	char *rest = NULL;

	for (char *word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		unsigned k = 0;

		while (k < AUTO && strcmp(modes[k].name, word))
			k++;
		if (k == AUTO && strcmp(word, "none"))
			argp_error(state, "--modes %s: use direct, 512, 4096, 16384, 65536, gather or none",
			           word);
		skip &= ~(1u << k);
	}
	return skip;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *q = (struct request *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &q->bed.machine; return 0;
	case OPT_DATA: q->bed.data_bytes = tool_size(state, "--data", arg, 1); return 0;
	case OPT_CACHE: q->bed.cache_bytes = tool_size(state, "--cache", arg, 1); return 0;
	case OPT_TOUCHES:
		q->bed.touches = tool_number(state, "--touches", arg, 1, UINT64_MAX >> 16);
		return 0;
	case OPT_LAUNCHES:
		q->bed.launches =
		    (uint32_t)tool_number(state, "--launches", arg, 2, GN_PATTERN_MOST_LAUNCHES);
		return 0;
	case OPT_PATTERN: q->pattern = pattern_option(state, arg); return 0;
	case OPT_EXPLAIN: q->explain = 1; return 0;
	case OPT_MODES: q->skip = modes_option(state, arg); return 0;
	case OPT_TUNED:
		q->tuned = 1;
		q->settings = arg;
		return 0;
	case OPT_JSON: q->json = arg; return 0;
	case ARGP_KEY_ARG: argp_error(state, "%s: no argument is wanted, only options", arg); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    options,
    parse,
    NULL,
    "Run twelve access patterns in every fixed mode, as batches of rows where they can be, and in the mode "
    "that the library "
    "chooses; where it advises to gather, its launches are made of batches.\vEvery word read is checked. "
    "Exit status: 0 it went well, 1 a run failed or a word was wrong, 2 it was called wrongly.",
    tool_machine_child,
    NULL,
    NULL,
};

/* ---- running ---- */

struct runs {
	struct gn_pattern_result of[MODES];
};

/* A run that is half as long again as the best needs not be finished. */
static double limit_of(const struct runs *r)
{
	double best = 0;

	for (unsigned k = 0; k < MODES; k++)
		if (r->of[k].launches && (best <= 0 || r->of[k].total < best))
			best = r->of[k].total;
	return 1.5 * best;
}

/* Is a fixed mode worth running? */
static int suits(const struct gn_pattern *p, const struct request *q, unsigned k)
{
	if (q->skip >> k & 1)
		return 0;
	return k == GATHER ? p->list != NULL : modes[k].mode >= p->least && modes[k].mode <= p->most;
}

static int run_pattern(struct gn_pattern_fixture *bed, const struct request *q, const struct gn_pattern *p,
                       struct runs *r, struct gn_error *e)
{
	int rc = gn_pattern_run(bed, p, modes[AUTO].mode, 0, &r->of[AUTO], e);

	for (unsigned k = 0; k < AUTO && !rc; k++)
		if (suits(p, q, k))
			rc = gn_pattern_run(bed, p, modes[k].mode, limit_of(r), &r->of[k], e);
	return rc;
}

/*
 * Of the first so many fixed modes that of the shortest finished run; -1 if none ran. Batches are the last of
 * them.
 */
static int best_of(const struct runs *r, uint32_t launches, int count)
{
	int best = -1;

	for (int k = 0; k < count; k++)
		if (r->of[k].launches == launches && (best < 0 || r->of[k].total < r->of[best].total))
			best = k;
	return best;
}

/* ---- saying it ---- */

static double over(const struct runs *r, int mode)
{
	return mode < 0 ? 0 : r->of[AUTO].total / r->of[mode].total;
}

static const char *mode_name(int mode)
{
	return mode < 0 ? NULL : modes[mode].name;
}

static void print_runs(const struct gn_pattern *p, const struct runs *r, uint32_t launches, int explain)
{
	const int best = best_of(r, launches, AUTO);

	printf("%-11s", p->name);
	for (int k = 0; k < AUTO; k++)
		printf(" %c%8.1f ",
		       !r->of[k].launches             ? '-'
		       : r->of[k].launches < launches ? '>'
		                                      : ' ',
		       1e3 * r->of[k].total);
	printf(" %9.1f", 1e3 * r->of[AUTO].total);
	if (best >= 0)
		printf("  %5.2f of %s", over(r, best), modes[best].name);
	printf("  (");
	for (uint32_t k = 0; k < launches; k++)
		printf("%s%s", k ? " " : "", r->of[AUTO].choice[k]);
	printf(")%s\n", r->of[AUTO].advice == GN_ADVICE_GATHER ? "  advice: gather" : "");
	if (explain)
		printf("%s\n", r->of[AUTO].explain);
	fflush(stdout);
}

static json_t *json_run(const struct gn_pattern_result *r, const char *name)
{
	json_t *seconds = json_array(), *choices = json_array();

	for (uint32_t k = 0; k < r->launches; k++) {
		json_array_append_new(seconds, json_real(r->seconds[k]));
		if (r->choice[k][0])
			json_array_append_new(choices, json_string(r->choice[k]));
	}
	return json_pack("{s:s, s:i, s:f, s:o, s:o, s:I, s:I, s:s}", "mode", name, "launches",
	                 (int)r->launches, "total_seconds", r->total, "seconds", seconds, "choices", choices,
	                 "switches", (json_int_t)r->switches, "looks", (json_int_t)r->looks, "explain",
	                 r->explain);
}

/* The best of all fixed modes, and the best of those in which the pattern's own kernel runs. */
static json_t *json_pattern(const struct gn_pattern *p, const struct runs *r, uint32_t launches)
{
	static const char *const advices[] = {"paged", "direct", "gather"};
	const int best = best_of(r, launches, AUTO), own = best_of(r, launches, GATHER);
	json_t *list = json_array();

	for (unsigned k = 0; k < MODES; k++)
		if (r->of[k].launches)
			json_array_append_new(list, json_run(&r->of[k], modes[k].name));
	return json_pack("{s:s, s:s?, s:f, s:s?, s:f, s:s, s:o}", "pattern", p->name, "best", mode_name(best),
	                 "auto_over_best", over(r, best), "best_own", mode_name(own), "auto_over_best_own",
	                 over(r, own), "advice", advices[r->of[AUTO].advice], "runs", list);
}

static json_t *report_json(const struct gn_pattern_fixture *bed, json_t *patterns)
{
	return json_pack("{s:s, s:o, s:s, s:I, s:I, s:i, s:b, s:O}", "schema", "grapnel-auto-bench-3",
	                 "machine", tool_json_machine(&bed->info), "path", gn_store_path(bed->store),
	                 "data_bytes", (json_int_t)bed->options.data_bytes, "cache_bytes",
	                 (json_int_t)bed->options.cache_bytes, "launches", (int)bed->options.launches,
	                 "verified", 1, "patterns", patterns);
}

static void print_head(const struct gn_pattern_fixture *bed)
{
	tool_print_machine(&bed->info, gn_store_path(bed->store));
	printf("; %u launches; milliseconds in all\n", bed->options.launches);
	printf("%-11s", "pattern");
	for (unsigned k = 0; k < MODES; k++)
		printf(" %9s%s", modes[k].name, k < AUTO ? " " : "");
	printf("  auto of the best\n");
}

static int run(struct gn_pattern_fixture *bed, const struct request *q, struct runs *r, struct gn_error *e)
{
	const int quiet = tool_to_stdout(q->json);
	json_t *list = json_array();
	int rc = 0;

	if (!quiet)
		print_head(bed);
	for (unsigned k = 0; k < GN_PATTERNS && !rc; k++) {
		const struct gn_pattern *p = &gn_patterns[k];

		if (q->pattern && strcmp(q->pattern, p->name))
			continue;
		memset(r, 0, sizeof *r);
		rc = run_pattern(bed, q, p, r, e);
		if (!rc && !quiet)
			print_runs(p, r, bed->options.launches, q->explain);
		if (!rc && q->json)
			json_array_append_new(list, json_pattern(p, r, bed->options.launches));
	}
	if (!rc && q->json)
		rc = tool_write_json(report_json(bed, list), q->json, e);
	json_decref(list);
	return rc;
}

/* Where the settings leave it open the library's own guess stays. */
static int take_settings(struct gn_pattern_fixture *bed, const struct request *q, struct gn_error *e)
{
	json_t *settings = NULL;
	const int rc = q->tuned ? tool_tuned(q->settings, &settings, e) : 0;

	if (settings)
		bed->reach_bytes = (uint64_t)tool_tuned_number(settings, "reach_bytes", 0);
	json_decref(settings);
	return rc;
}

int tool_auto_bench(int argc, char **argv)
{
	struct runs *runs = (struct runs *)malloc(sizeof *runs);
	struct gn_pattern_fixture bed;
	struct request q;
	struct gn_error e;
	int rc;

	memset(&q, 0, sizeof q);
	memset(&e, 0, sizeof e);
	q.bed.machine.name = "cpu";
	q.bed.data_bytes = 64u << 20;
	argp_parse(&argp, argc, argv, 0, NULL, &q);
	if (!q.bed.cache_bytes)
		q.bed.cache_bytes = q.bed.data_bytes / 8;
	rc = gn_pattern_fixture_open(&bed, &q.bed, &e);
	rc = rc ? rc : take_settings(&bed, &q, &e);
	if (!rc)
		rc = runs ? run(&bed, &q, runs, &e)
		          : gn_error_set(&e, -GN_ENOMEM, "no memory for the results");
	gn_pattern_fixture_close(&bed);
	free(runs);
	return rc ? tool_fail("auto-bench", &e) : TOOL_OK;
}
