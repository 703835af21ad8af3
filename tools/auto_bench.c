/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grapnel auto-bench: twelve access patterns in every fixed mode, as batches of rows where they can be, and
 * as gn_auto chooses and advises, which is to come close to the best of them on each. The time of gn_auto
 * holds its looking, deciding and switching.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "patterns/patterns.h"

enum { OPT_DATA = 256, OPT_CACHE, OPT_TOUCHES, OPT_LAUNCHES, OPT_PATTERN, OPT_EXPLAIN, OPT_MODES, OPT_TUNED };

enum { MODES = 7, GATHER = 5, AUTO = 6 };

static const struct mode {
	const char *name;
	uint32_t mode;
} modes[MODES] = {{"direct", GN_PATTERN_DIRECT},
                  {"512", 512},
                  {"4096", 4096},
                  {"16384", 16384},
                  {"65536", 65536},
                  {"gather", GN_PATTERN_GATHER},
                  {"auto", GN_PATTERN_AUTO}};

struct request {
	struct gn_pattern_options fixture;
	struct bench_request all; /* the machine and the files */
	const char *pattern;
	int explain, tuned;
	const char *settings;
	unsigned skip; /* fixed modes, as bits */
};

static const struct argp_option options[] = {
    {"data", OPT_DATA, "SIZE", 0, "bytes of the data, a power of two (default 64M)"},
    {"cache", OPT_CACHE, "SIZE", 0, "bytes of cache (default one eighth of the data)"},
    {"touches", OPT_TOUCHES, "N", 0, "scattered accesses of a launch (default one for every 32 words)"},
    {"launches", OPT_LAUNCHES, "N", 0, "launches of a run, 2 to 64 (default 12)"},
    {"pattern", OPT_PATTERN, "NAME", 0, "run this pattern only; list prints the names"},
    {"explain", OPT_EXPLAIN, NULL, 0, "print what was sampled, what was chosen, and why"},
    {"modes", OPT_MODES, "LIST", 0,
     "fixed modes to run beside the chosen mode, for example direct,4096,gather; or none (default all)"},
    {"tuned", OPT_TUNED, "FILE", OPTION_ARG_OPTIONAL,
     "take the reach of address translation from the settings that grapnel tune wrote (default: the file of "
     "this machine)"},
    {0},
};

static const char *pattern_option(const struct argp_state *state, const char *name)
{
	for (unsigned k = 0; k < GN_PATTERNS; k++)
		if (!strcmp(gn_patterns[k].name, name))
			return name;
	if (strcmp(name, "list"))
		argp_error(state, "--pattern %s: unknown pattern; --pattern list prints the names", name);
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
			argp_error(state, "--modes %s: give direct, 512, 4096, 16384, 65536, gather or none",
			           word);
		skip &= ~(1u << k);
	}
	return skip;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *q = (struct request *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: bench_inputs(state, &q->all); return 0;
	case OPT_DATA: q->fixture.data_bytes = tool_size(state, "--data", arg, 1); return 0;
	case OPT_CACHE: q->fixture.cache_bytes = tool_size(state, "--cache", arg, 1); return 0;
	case OPT_TOUCHES:
		q->fixture.touches = tool_number(state, "--touches", arg, 1, UINT64_MAX >> 16);
		return 0;
	case OPT_LAUNCHES:
		q->fixture.launches =
		    (uint32_t)tool_number(state, "--launches", arg, 2, GN_PATTERN_MOST_LAUNCHES);
		return 0;
	case OPT_PATTERN: q->pattern = pattern_option(state, arg); return 0;
	case OPT_EXPLAIN: q->explain = 1; return 0;
	case OPT_MODES: q->skip = modes_option(state, arg); return 0;
	case OPT_TUNED:
		q->tuned = 1;
		q->settings = arg;
		return 0;
	case ARGP_KEY_END: q->fixture.machine = q->all.machine; return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "%s: unexpected argument; this command takes options only", arg);
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&tool_machine_argp}, {&tool_files_argp}, {0}};

static const struct argp argp = {
    options,
    parse,
    NULL,
    "Run twelve access patterns in every fixed mode, as batches of rows where possible, and in the mode that "
    "the library chooses. Where the library advises batches, its launches gather in batches.\vEvery word "
    "read is checked. Exit status: 0 success, 1 a run failed or a word was wrong, 2 the command line is "
    "wrong.",
    children,
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

static int run_pattern(struct gn_pattern_fixture *fixture, const struct request *q,
                       const struct gn_pattern *p, struct runs *r, struct gn_error *e)
{
	int rc = gn_pattern_run(fixture, p, modes[AUTO].mode, 0, &r->of[AUTO], e);

	for (unsigned k = 0; k < AUTO && !rc; k++)
		if (suits(p, q, k))
			rc = gn_pattern_run(fixture, p, modes[k].mode, limit_of(r), &r->of[k], e);
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

/* ---- rows ---- */

/* "direct 3, 4096 9": what launches ran with, in their order. */
static void put_choices(char *text, size_t room, const struct gn_pattern_result *r)
{
	size_t n = 0;

	for (uint32_t k = 0, end; k < r->launches && n < room; k = end) {
		for (end = k + 1; end < r->launches && !strcmp(r->choice[end], r->choice[k]); end++)
			continue;
		n += (size_t)snprintf(text + n, room - n, "%s%s %u", k ? ", " : "", r->choice[k], end - k);
	}
}

/* What the launches of a row came to. */
static void put_note(char *text, size_t room, const struct runs *r, unsigned mode, uint32_t launches)
{
	const struct gn_pattern_result *one = &r->of[mode];
	const int best = best_of(r, launches, AUTO);
	char choices[160];

	if (mode != AUTO) {
		snprintf(text, room, "%s%.1f ms in all",
		         one->launches < launches ? "cut short, more than " : "", 1e3 * one->total);
		return;
	}
	put_choices(choices, sizeof choices, one);
	snprintf(text, room, "%.1f ms in all", 1e3 * one->total);
	if (best >= 0)
		snprintf(text + strlen(text), room - strlen(text), ", %.2f of %s",
		         one->total / r->of[best].total, modes[best].name);
	snprintf(text + strlen(text), room - strlen(text), " (%s)%s", choices,
	         one->advice == GN_ADVICE_GATHER ? ", advice: gather" : "");
}

/* A launch is a run of its row; those that were chosen come last. */
static int keep_rows(struct bench *b, const struct gn_pattern *p, const struct runs *r, uint32_t launches,
                     struct gn_error *e)
{
	int rc = 0;

	bench_begin(b, p->name, "auto", "%s", p->summary);
	for (unsigned k = 0; k < MODES && !rc; k++) {
		const struct bench_way way = {
		    modes[k].name, k == AUTO ? SCOPE_OURS : SCOPE_BASELINE, SCOPE_LATENCY, 0, NULL, NULL, 0};
		struct scope_result *row;

		if (!r->of[k].launches)
			continue;
		rc = bench_keep(b, &way, r->of[k].seconds, r->of[k].launches, &row, e);
		if (!rc)
			put_note(row->why, sizeof row->why, r, k, launches);
	}
	return rc;
}

/* What gn_auto says of itself, beside its row. */
static json_t *chosen(const struct gn_pattern_result *r)
{
	static const char *const advices[] = {"paged", "direct", "gather"};
	json_t *choices = json_array();

	for (uint32_t k = 0; k < r->launches; k++)
		json_array_append_new(choices, json_string(r->choice[k]));
	return json_pack("{s:s, s:o, s:I, s:I, s:s}", "advice", advices[r->advice], "choices", choices,
	                 "switches", (json_int_t)r->switches, "looks", (json_int_t)r->looks, "explain",
	                 r->explain);
}

static int run(struct bench *b, struct gn_pattern_fixture *fixture, const struct request *q, struct runs *r,
               json_t *patterns, struct gn_error *e)
{
	int rc = 0;

	for (unsigned k = 0; k < GN_PATTERNS && !rc; k++) {
		const struct gn_pattern *p = &gn_patterns[k];

		if (q->pattern && strcmp(q->pattern, p->name))
			continue;
		memset(r, 0, sizeof *r);
		rc = run_pattern(fixture, q, p, r, e);
		rc = rc ? rc : keep_rows(b, p, r, fixture->options.launches, e);
		json_object_set_new(patterns, p->name, chosen(&r->of[AUTO]));
		if (rc)
			break;
		bench_print(b);
		if (q->explain && !tool_files_to_stdout(&q->all.files))
			printf("%s\n", r->of[AUTO].explain);
	}
	return rc;
}

/* Where the settings leave it open the library's own guess stays. */
static int take_settings(struct gn_pattern_fixture *fixture, const struct request *q, struct gn_error *e)
{
	json_t *settings = NULL;
	const int rc = q->tuned ? tool_tuned(q->settings, &settings, e) : 0;

	if (settings)
		fixture->reach_bytes = (uint64_t)tool_tuned_number(settings, "reach_bytes", 0);
	json_decref(settings);
	return rc;
}

/* What the patterns' fixture holds is the bench's from then on. */
static int open_fixture(struct bench *b, struct gn_pattern_fixture *fixture, const struct request *q,
                        struct gn_error *e)
{
	int rc = tool_files_check(&q->all.files, e);

	if (rc)
		return rc;
	rc = gn_pattern_fixture_open(fixture, &q->fixture, e);
	b->fixture.machine = fixture->machine;
	b->fixture.info = fixture->info;
	b->fixture.store = fixture->store;
	b->wrong = fixture->wrong;
	return rc ? rc : take_settings(fixture, q, e);
}

int tool_auto_bench(int argc, char **argv)
{
	static struct bench b; /* these are large for a stack */
	static struct runs runs;
	json_t *patterns = json_object();
	struct gn_pattern_fixture fixture;
	struct request q;
	struct gn_error e;
	int rc;

	memset(&b, 0, sizeof b);
	memset(&q, 0, sizeof q);
	memset(&e, 0, sizeof e);
	bench_standard(&q.all, 0, 1);
	q.fixture.data_bytes = 64u << 20;
	argp_parse(&argp, argc, argv, 0, NULL, &q);
	if (!q.fixture.cache_bytes)
		q.fixture.cache_bytes = q.fixture.data_bytes / 8;
	b.q = &q.all;
	b.command = "auto-bench";
	rc = open_fixture(&b, &fixture, &q, &e);
	rc = rc ? rc : run(&b, &fixture, &q, &runs, patterns, &e);
	return bench_end(&b, rc,
	                 json_pack("{s:I, s:I, s:i, s:o}", "data_bytes", (json_int_t)q.fixture.data_bytes,
	                           "cache_bytes", (json_int_t)q.fixture.cache_bytes, "launches",
	                           (int)(q.fixture.launches ? q.fixture.launches : 12), "patterns", patterns),
	                 &e);
}
