/* SPDX-License-Identifier: Apache-2.0 */
/* What a sweep is asked for, which points follow from that, and what their runs come to. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sweep.h"

const char *const sweep_jobs[] = {"bfs", "cc",   "sssp", "pagerank", "bc",   "tc",    "add",
                                  "mvt", "atax", "bicg", "stencil",  "sort", "query", NULL};

const char *const sweep_baselines[] = {"incore", "zerocopy", "managed", "tiled", NULL};

/* ---- the command line ---- */

enum { MOST_PRESSURE = 1000000 };

static int wrong_pressures(const char *text, struct gn_error *e)
{
	return gn_error_set(e, -GN_EINVAL,
	                    "--pressure %s: give at most %d numbers from 1 to %d, each greater than the one "
	                    "before, for example 1,2,4,8",
	                    text, SWEEP_PRESSURES - 1, MOST_PRESSURE);
}

static void add_pressure(struct sweep_request *q, double p)
{
	if (!q->pressures && p > 1)
		q->pressure[q->pressures++] = 1;
	q->pressure[q->pressures++] = p;
}

int sweep_read_pressures(struct sweep_request *q, const char *text, struct gn_error *e)
{
	const char *at = text;
	char *end;

	q->pressures = 0;
	for (;;) {
		const double p = isdigit((unsigned char)*at) ? strtod(at, &end) : NAN;
		const double before = q->pressures ? q->pressure[q->pressures - 1] : 0;

		/* NAN compares as false */
		if (!(p >= 1 && p <= MOST_PRESSURE && p > before) || q->pressures >= SWEEP_PRESSURES ||
		    (*end && *end != ','))
			return wrong_pressures(text, e);
		add_pressure(q, p);
		if (!*end)
			return 0;
		at = end + 1;
	}
}

/* The place of the first `length` bytes of text among the baselines; SWEEP_BASELINES: they are none. */
static unsigned baseline_of(const char *text, size_t length)
{
	unsigned k = 0;

	while (k < SWEEP_BASELINES &&
	       (strlen(sweep_baselines[k]) != length || strncmp(sweep_baselines[k], text, length)))
		k++;
	return k;
}

static bool has_baseline(const struct sweep_request *q, unsigned place)
{
	bool has = false;

	for (uint32_t k = 0; k < q->baselines; k++)
		has = has || q->baseline[k] == place;
	return has;
}

int sweep_read_baselines(struct sweep_request *q, const char *text, struct gn_error *e)
{
	const char *at = text;

	for (q->baselines = 0;; at++) {
		const size_t length = strcspn(at, ",");
		const unsigned place = baseline_of(at, length);

		if (place == SWEEP_BASELINES || has_baseline(q, place))
			return gn_error_set(
			    e, -GN_EINVAL,
			    "--baseline %s: give incore, zerocopy, managed or tiled, or several of "
			    "them with commas between them, each once",
			    text);
		q->baseline[q->baselines++] = place;
		at += length;
		if (!*at)
			return 0;
	}
}

/* Options that every job has, or may have, and why they are not the job's here. */
static const char *const refused[][2] = {
    {"cache", "the sweep chooses the sizes of the cache; give --pressure before the job"},
    {"json", "the sweep reads the reports of the job itself; give --json before the job"},
    {"svg", "the sweep draws all runs; give --svg before the job"},
    {"baseline", "the sweep runs the baselines; give --baseline before the job"},
    {"out", "every run would write this file again; leave it out"},
};

/* Is a word this option, perhaps shortened as getopt_long allows? */
static bool is_option(const char *word, const char *name)
{
	const size_t length = strncmp(word, "--", 2) ? 0 : strcspn(word + 2, "=");

	return length && !strncmp(name, word + 2, length);
}

/* Which of them a word is; NULL: none. */
static const char *const *refused_option(const char *word)
{
	for (size_t k = 0; k < sizeof refused / sizeof *refused; k++)
		if (is_option(word, refused[k][0]))
			return refused[k];
	return NULL;
}

int sweep_check_job(char *const *job, struct gn_error *e)
{
	for (job++; *job && strcmp(*job, "--"); job++) {
		const char *const *option = refused_option(*job);

		if (option)
			return gn_error_set(e, -GN_EINVAL, "%s is not for the job of a sweep: %s", *job,
			                    option[1]);
	}
	return 0;
}

/* A word of the job that a baseline contradicts: where the data is, and how a cache is. */
static bool is_of_cache(const char *word)
{
	return is_option(word, "store") || is_option(word, "page") || is_option(word, "policy") ||
	       is_option(word, "mode");
}

size_t sweep_baseline_words(char **to, char *const *job)
{
	size_t n = 0;

	for (; *job && strcmp(*job, "--") != 0; job++) {
		if (!is_of_cache(*job))
			to[n++] = *job;
		else if (!strchr(*job, '=') && job[1])
			job++;
	}
	while (*job)
		to[n++] = *job++;
	to[n] = NULL;
	return n;
}

/* ---- points ---- */

static int leave_out(struct sweep_point *p, uint32_t page_bytes)
{
	char why[96];

	snprintf(why, sizeof why, "the cache would have less than %d pages of %u bytes", SWEEP_LEAST_FRAMES,
	         page_bytes);
	p->state = SWEEP_LEFT_OUT;
	p->why = strdup(why);
	return p->why ? 0 : -GN_ENOMEM;
}

static int add_cache(struct sweep *s, double pressure)
{
	struct sweep_point *p = &s->point[s->points++];
	const uint64_t pages = (uint64_t)ceil((double)s->data_bytes / pressure / s->page_bytes);

	p->pressure = pressure;
	p->cache_bytes = (pages + (pressure == 1 ? SWEEP_MORE_FRAMES : 0)) * s->page_bytes;
	return pages < SWEEP_LEAST_FRAMES ? leave_out(p, s->page_bytes) : 0;
}

/* Every other cache is smaller than that of pressure 1. */
static int check_largest(const struct sweep *s, struct gn_error *e)
{
	if (s->point[s->request->baselines].state == SWEEP_OPEN)
		return 0;
	return gn_error_set(e, -GN_EINVAL,
	                    "the data has %llu bytes, less than %d pages of %u bytes; give larger data or a "
	                    "smaller --page",
	                    (unsigned long long)s->data_bytes, SWEEP_LEAST_FRAMES, s->page_bytes);
}

int sweep_plan(struct sweep *s, struct gn_error *e)
{
	const struct sweep_request *q = s->request;
	int rc = 0;

	for (uint32_t k = 0; k < q->baselines; k++)
		s->point[s->points++].baseline = sweep_baselines[q->baseline[k]];
	for (uint32_t k = 0; k < q->pressures && !rc; k++)
		rc = add_cache(s, q->pressure[k]);
	return rc ? gn_error_set(e, rc, "out of memory for the points") : check_largest(s, e);
}

int sweep_sum_up(struct sweep *s)
{
	int rc = 0;

	for (uint32_t k = 0; k < s->points && !rc; k++)
		rc = scope_statistics_of(s->point[k].seconds, s->point[k].runs, &s->point[k].statistics);
	return rc;
}

bool sweep_is_measured(const struct sweep_point *p)
{
	return p->state == SWEEP_OPEN && p->runs;
}

const struct sweep_point *sweep_reference(const struct sweep *s)
{
	const struct sweep_point *found = NULL;

	for (uint32_t k = 0; k < s->points; k++) {
		const struct sweep_point *p = &s->point[k];
		const bool incore = p->baseline && !strcmp(p->baseline, "incore");

		if (sweep_is_measured(p) && (incore || (!found && p->pressure == 1)))
			found = p;
	}
	return found;
}

double sweep_slowdown(const struct sweep *s, double seconds)
{
	const struct sweep_point *reference = sweep_reference(s);

	return reference && reference->statistics.median > 0 ? seconds / reference->statistics.median : NAN;
}

void sweep_free(struct sweep *s)
{
	for (uint32_t k = 0; k < s->points; k++) {
		free(s->point[k].why);
		json_decref(s->point[k].report);
	}
	json_decref(s->machine);
}
