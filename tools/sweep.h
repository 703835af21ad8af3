/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.h - the parts of grapnel sweep, which runs one job with smaller and smaller caches, and draws how
 * much slower it becomes. Words: pressure is the data's bytes over the cache's; a point is a cache's size, or
 * a way without a cache (a baseline), with the runs that were made of it; the reference is the point whose
 * slowdown is 1. Source: DREAM, figure 14.
 */
#ifndef GN_TOOL_SWEEP_H
#define GN_TOOL_SWEEP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include <grapnel/error.h>

#include "scope/scope.h"

enum {
	SWEEP_PRESSURES = 32,
	SWEEP_BASELINES = 4,
	SWEEP_POINTS = SWEEP_PRESSURES + SWEEP_BASELINES,
	SWEEP_RUNS = 99,         /* of a point */
	SWEEP_LEAST_FRAMES = 16, /* a smaller cache is left out */
	/* Arrays begin and end inside pages: so many more make sure that pressure 1 has room for all of them.
	 */
	SWEEP_MORE_FRAMES = 64
};

/* ---- what is asked for ---- */

struct sweep_request {
	double pressure[SWEEP_PRESSURES]; /* ascending, the first is 1 */
	uint32_t pressures;
	unsigned baseline[SWEEP_BASELINES]; /* places among sweep_baselines, in the order they were given */
	uint32_t baselines;
	unsigned repeat;
	bool verify;
	const char *json, *svg;
	char **job; /* its name and arguments, ended by NULL; borrowed from the command line */
};

/* The jobs that can be swept, and the baselines; both end with NULL. */
extern const char *const sweep_jobs[];
extern const char *const sweep_baselines[];

/* sweep_read_pressures - of --pressure; 1 is added. Returns 0, or -GN_EINVAL with a message. */
int sweep_read_pressures(struct sweep_request *q, const char *text, struct gn_error *e);

/* sweep_read_baselines - of --baseline. Returns 0, or -GN_EINVAL with a message. */
int sweep_read_baselines(struct sweep_request *q, const char *text, struct gn_error *e);

/* sweep_check_job - refuse arguments of the job that the sweep gives itself. Returns as the former. */
int sweep_check_job(char *const *job, struct gn_error *e);

/*
 * sweep_baseline_words - the words of a job that ran without what a baseline contradicts: --store, --page,
 * --policy and --mode with their values. Since the job understood them, a shortened one is no other option.
 * @to  room for as many words, and the NULL behind them
 * Returns how many are left.
 */
size_t sweep_baseline_words(char **to, char *const *job);

/* ---- what is measured ---- */

enum sweep_state { SWEEP_OPEN, SWEEP_LEFT_OUT, SWEEP_FAILED };

struct sweep_point {
	const char *baseline; /* NULL: through a cache */
	double pressure;      /* of a baseline 0 */
	uint64_t cache_bytes; /* of a baseline 0 */
	enum sweep_state state;
	char *why;  /* left out or failed: what is to be said of it; owned */
	int status; /* of a run that failed, as a shell has it */
	double seconds[SWEEP_RUNS];
	uint32_t runs;
	json_t *report; /* of its first run; owned */
	struct scope_statistics statistics;
};

struct sweep {
	const struct sweep_request *request;
	uint64_t data_bytes;
	uint32_t page_bytes;
	json_t *machine; /* of the job; owned */
	struct sweep_point point[SWEEP_POINTS];
	uint32_t points;
};

/*
 * sweep_plan - the points, baselines first, by the request, the data's bytes and the page's. The cache of
 * pressure p has the pages that 1/p of the data takes, that of pressure 1 some more; one of too few is left
 * out. Returns 0, -GN_EINVAL with a message if none is left, or -GN_ENOMEM.
 */
int sweep_plan(struct sweep *s, struct gn_error *e);

/* sweep_sum_up - the statistics of every point, when all runs are over. Returns 0 or -GN_ENOMEM. */
int sweep_sum_up(struct sweep *s);

/* sweep_reference - the baseline incore, else the cache of pressure 1; NULL: neither was measured. */
const struct sweep_point *sweep_reference(const struct sweep *s);

/* sweep_is_measured - have all of its runs succeeded? */
bool sweep_is_measured(const struct sweep_point *p);

/* sweep_slowdown - so many seconds over the reference's; NAN: there is none. */
double sweep_slowdown(const struct sweep *s, double seconds);

void sweep_free(struct sweep *s);

/* ---- runs ---- */

/* One run of the job, in a process of its own. */
struct sweep_run {
	int status;     /* 0, what the process ended with, or 128 and the signal that ended it */
	json_t *report; /* NULL unless the status is 0 and it is an object; owned */
	char *said;     /* on stderr; owned */
};

/*
 * sweep_run_job - run the job once and wait for its end.
 * @p       the point; NULL: as the job does it by itself
 * @verify  pass --verify on
 * Returns 0, whatever became of the run, or a code with a message: it could not be started.
 */
int sweep_run_job(const struct sweep_request *q, const struct sweep_point *p, bool verify,
                  struct sweep_run *r, struct gn_error *e);
void sweep_run_free(struct sweep_run *r);

/* ---- the report ---- */

/* sweep_number - a member of a point's report, as "counters.fetched_bytes"; NAN: it has none. */
double sweep_number(const struct sweep_point *p, const char *object, const char *member);

/* sweep_moved_over_needed - bytes between cache and store over those that any such job needs; NAN: unknown.
 */
double sweep_moved_over_needed(const struct sweep_point *p);

void sweep_print(const struct sweep *s, FILE *to);

/* sweep_json - owned by the caller; NULL: no memory. */
json_t *sweep_json(const struct sweep *s);

/* sweep_draw - write the drawing to a file. Returns 0 or a code with a message. */
int sweep_draw(const struct sweep *s, const char *path, struct gn_error *e);

#endif
