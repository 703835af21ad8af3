/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel stencil: steps of a five-point stencil over a grid that need not fit the cache. */
#include "stencil/stencil.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "far_job.h"
#include "matrix/matrix.h"

enum { OPT_ROWS = 0x200, OPT_COLUMNS, OPT_STEPS, OPT_OUT, OPT_VERIFY };

struct request {
	struct far_options far;
	uint64_t rows, columns, steps;
	uint64_t bytes; /* of one grid */
};

struct job {
	struct far_job far;
	struct gn_stencil stencil;
	struct gn_tiled tiled[2];
	unsigned arrays; /* that are open */
};

static const struct argp_option options[] = {
    {"rows", OPT_ROWS, "N", 0, "rows of the grid"},
    {"columns", OPT_COLUMNS, "N", 0, "columns of the grid"},
    {"steps", OPT_STEPS, "N", 0, "steps, 1 to 1000000 (default 4)"},
    {"out", OPT_OUT, "FILE", 0, "write the last grid to FILE: little-endian f32, row after row"},
    {"verify", OPT_VERIFY, NULL, 0, "compare every point with plain loops over grids in memory"},
    {0},
};

static void check_together(struct request *q, const struct argp_state *state)
{
	if (!q->rows || !q->columns)
		argp_error(state, "no size given; give --rows and --columns");
	if (q->rows > (1ull << 58) / sizeof(float) / q->columns)
		argp_error(state, "--rows %llu --columns %llu: a grid has at most 2^56 points",
		           (unsigned long long)q->rows, (unsigned long long)q->columns);
	q->bytes = q->rows * q->columns * sizeof(float);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *q = (struct request *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &q->far; return 0;
	case OPT_ROWS: q->rows = tool_number(state, "--rows", arg, 1, 1ull << 48); return 0;
	case OPT_COLUMNS: q->columns = tool_number(state, "--columns", arg, 1, 1ull << 48); return 0;
	case OPT_STEPS: q->steps = tool_number(state, "--steps", arg, 1, 1000000); return 0;
	case OPT_OUT: q->far.out = arg; return 0;
	case OPT_VERIFY: q->far.verify = true; return 0;
	case ARGP_KEY_END: check_together(q, state); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const char about[] =
    "Steps of Jacobi's iteration with five points over a generated grid in a store: each inner point becomes "
    "the mean of its four neighbours. Two grids take turns. The threads of the machine fetch and write their "
    "pages themselves.\vThe time ends when the last grid is in the store.\n\nExit status: 0 success, 1 the "
    "run failed, 2 the command line is wrong.";

static const struct argp argp = {options, parse, NULL, about, far_options_child};

/* ---- the run ---- */

static void make_grid(const void *user, uint64_t at, uint64_t bytes, void *to)
{
	const struct request *q = (const struct request *)user;

	for (uint64_t k = 0; k < bytes / sizeof(float); k++)
		((float *)to)[k] = gn_matrix_value(q->far.seed, at / sizeof(float) + k);
}

/* A tile has a row more on either side. */
static int open_tiles(struct job *j, const struct request *q, struct gn_error *e)
{
	const uint64_t row_bytes = q->columns * sizeof(float), rows = far_job_tile(q->rows, row_bytes);
	int rc = 0;

	j->stencil.tiled = j->tiled;
	j->stencil.tile_rows = rows;
	for (unsigned k = 0; k < 2 && !rc; k++)
		rc = gn_tiled_open(&j->tiled[k], j->far.machine, j->far.store[k], (rows + 2) * row_bytes,
		                   sizeof(float), e);
	return rc;
}

static int open_job(struct far_job *far, struct gn_error *e)
{
	const struct request *q = (const struct request *)far->options;
	struct job *j = (struct job *)far;
	int rc = 0;

	for (unsigned k = 0; k < 2 && !rc; k++)
		rc = far_job_store(&j->far, NULL, q->bytes, true, "a grid", e);
	if (!rc)
		rc = far_job_fill(&j->far, 0, make_grid, q, e);
	if (!rc)
		rc = far_job_ready(&j->far, e);
	for (; j->arrays < 2 && !rc; j->arrays += !rc)
		rc = far_job_array(&j->far, j->arrays, q->rows * q->columns, sizeof(float),
		                   &j->stencil.grid[j->arrays], e);
	j->stencil.rows = q->rows;
	j->stencil.columns = q->columns;
	return rc || q->far.far.baseline != TOOL_TILED ? rc : open_tiles(j, q, e);
}

static void close_job(struct far_job *far)
{
	struct job *j = (struct job *)far;

	for (unsigned k = 0; k < 2; k++)
		gn_tiled_close(&j->tiled[k]);
	while (j->arrays)
		gn_array_destroy(&j->stencil.grid[--j->arrays], far->machine);
}

static int run(struct far_job *far, struct far_report *r, struct gn_error *e)
{
	const struct request *q = (const struct request *)far->options;
	struct job *j = (struct job *)far;
	struct gn_cache_info info = {0};
	double begin;
	int rc;

	if (j->far.cache)
		gn_cache_describe(j->far.cache, &info, NULL);
	j->stencil.cache_bytes = info.frame_bytes;
	r->needed_bytes = 2 * q->bytes * q->steps;
	r->proof = "every point equals the reference's";
	rc = gn_stencil_run(far->machine, &j->stencil, q->steps, &r->seconds, e);
	begin = tool_seconds();
	if (!rc && j->far.cache)
		rc = gn_cache_flush(j->far.cache, e);
	r->seconds += tool_seconds() - begin;
	return rc;
}

/* Compare `bytes` bytes of points. */
static int compare(const struct request *q, const float *got, const float *want, struct gn_error *e)
{
	uint64_t i = 0;

	if (!memcmp(got, want, q->bytes))
		return 0;
	while (!memcmp(&got[i], &want[i], sizeof got[i]))
		i++;
	return gn_error_set(e, -GN_EBADMSG, "point %llu of row %llu is %.9g, but the reference says %.9g",
	                    (unsigned long long)(i % q->columns), (unsigned long long)(i / q->columns),
	                    (double)got[i], (double)want[i]);
}

static int verify(struct far_job *far, struct gn_error *e)
{
	const struct request *q = (const struct request *)far->options;
	float *grid[2] = {(float *)malloc(q->bytes), (float *)malloc(q->bytes)};
	float *want = grid[q->steps % 2], *got = grid[(q->steps + 1) % 2];
	int rc = 0;

	if (!grid[0] || !grid[1]) {
		rc = gn_error_set(e, -GN_ENOMEM, "out of memory for two grids of %llu bytes",
		                  (unsigned long long)q->bytes);
	} else {
		make_grid(q, 0, q->bytes, grid[0]);
		gn_stencil_reference(grid, q->rows, q->columns, q->steps);
		rc = gn_store_read_host(far->store[q->steps % 2], 0, got, q->bytes, e);
	}
	if (!rc)
		rc = compare(q, got, want, e);
	free(grid[0]);
	free(grid[1]);
	return rc;
}

/* ---- what is said ---- */

static int write_out(struct far_job *far, struct gn_error *e)
{
	const struct request *q = (const struct request *)far->options;

	return far_job_write(far, q->steps % 2, q->far.out, e);
}

static json_t *report_json(const struct far_job *far)
{
	const struct request *q = (const struct request *)far->options;

	return json_pack("{s:s, s:{s:I, s:I, s:I}, s:I}", "schema", "grapnel-stencil-1", "grid", "rows",
	                 (json_int_t)q->rows, "columns", (json_int_t)q->columns, "bytes",
	                 (json_int_t)q->bytes, "steps", (json_int_t)q->steps);
}

static void print(const struct far_job *far)
{
	const struct request *q = (const struct request *)far->options;

	printf("  grid                 %llu rows, %llu columns, %.1f MiB, twice\n",
	       (unsigned long long)q->rows, (unsigned long long)q->columns, (double)q->bytes / (1 << 20));
	printf("  steps                %llu\n", (unsigned long long)q->steps);
}

static const struct far_command command = {open_job, run, verify, write_out, report_json, print, close_job};

int tool_stencil(int argc, char **argv)
{
	struct request q = {0};
	struct job job = {0};

	far_options_init(&q.far, "stencil");
	q.steps = 4;
	argp_parse(&argp, argc, argv, 0, NULL, &q);
	return far_command_run(&command, &q.far, &job.far);
}
