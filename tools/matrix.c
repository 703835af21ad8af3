/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel mvt, atax, bicg: products of a matrix that need not fit the cache. */
#include "matrix/matrix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "far_job.h"
#include "graph/io.h"

enum { OPT_ROWS = 0x200, OPT_COLUMNS, OPT_PASSES, OPT_OUT, OPT_VERIFY };

enum kind { MVT, ATAX, BICG };

static const char *const names[] = {"mvt", "atax", "bicg"};

struct request {
	struct far_options far;
	enum kind kind;
	const char *file; /* NULL: generated */
	uint64_t rows, columns;
	unsigned passes; /* 0: the job's default */
};

static const struct argp_option options[] = {
    {"rows", OPT_ROWS, "N", 0, "rows of the matrix"},
    {"columns", OPT_COLUMNS, "N", 0, "columns of the matrix"},
    {"passes", OPT_PASSES, "N", 0,
     "1: one pass over the matrix for both products; 2: a pass for each (default 1; atax: 1 if the cache "
     "holds enough rows)"},
    {"out", OPT_OUT, "FILE", 0, "write the results to FILE: little-endian f32, one vector behind the other"},
    {"verify", OPT_VERIFY, NULL, 0, "compare every element with loops in double precision"},
    {0},
};

static void check_together(struct request *q, const struct argp_state *state)
{
	if (!q->rows || !q->columns)
		argp_error(state, "no size given; give --rows and --columns");
	if (q->rows > (1ull << 60) / sizeof(float) / q->columns)
		argp_error(state, "--rows %llu --columns %llu: a matrix has at most 2^58 elements",
		           (unsigned long long)q->rows, (unsigned long long)q->columns);
	tool_own_file(state, "--json", q->far.json, q->file);
	tool_own_file(state, "--out", q->far.out, q->file);
	if (!q->passes && q->kind != ATAX)
		q->passes = 1;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *q = (struct request *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &q->far; return 0;
	case OPT_ROWS: q->rows = tool_number(state, "--rows", arg, 1, 1ull << 48); return 0;
	case OPT_COLUMNS: q->columns = tool_number(state, "--columns", arg, 1, 1ull << 48); return 0;
	case OPT_PASSES: q->passes = (unsigned)tool_number(state, "--passes", arg, 1, 2); return 0;
	case OPT_OUT: q->far.out = arg; return 0;
	case OPT_VERIFY: q->far.verify = true; return 0;
	case ARGP_KEY_ARG: tool_argument(state, &q->file, "matrix", arg); return 0;
	case ARGP_KEY_END: check_together(q, state); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const char about[] =
    "Products of a matrix in a store with vectors on the machine, in single precision. mvt: x1 += A y1, x2 "
    "+= A^T y2; atax: y = A^T (A x); bicg: q = A p, s = A^T r. The threads of the machine fetch the pages of "
    "the matrix themselves.\vFILE holds the matrix: little-endian f32, row after row. Without FILE it is "
    "generated from --seed. The vectors are always generated.\n\nExit status: 0 success, 1 the run failed, 2 "
    "the command line is wrong.";

static const struct argp argp = {options, parse, "[FILE]", about, far_options_child};

/* ---- the vectors ---- */

/* In the order of struct gn_matrix_vectors. Those that are not used stay NULL. */
enum { X, Y, U, V, VECTORS };

struct job {
	struct far_job far;
	struct gn_matrix matrix;
	bool has_array;
	struct gn_tiled tiled;
	float *vector[VECTORS];
	struct gn_matrix_result result;
	uint64_t unchecked; /* elements of the results that --verify has no bound for */
	char proof[160];
};

static uint64_t length_of(const struct request *q, unsigned vector)
{
	return vector == X || vector == V ? q->columns : q->rows;
}

static bool is_wanted(const struct request *q, unsigned vector)
{
	return q->kind != ATAX || vector == X || vector == V;
}

/* What is added to: of mvt generated numbers, else 0. */
static float start_value(const struct request *q, unsigned vector, uint64_t i)
{
	const bool zero = q->kind != MVT && (vector == Y || vector == V);

	return zero ? 0 : gn_matrix_value(q->far.seed + 1 + vector, i);
}

static int make_vectors(struct job *j, const struct request *q, struct gn_error *e)
{
	for (unsigned k = 0; k < VECTORS; k++) {
		const uint64_t length = length_of(q, k);

		if (!is_wanted(q, k))
			continue;
		j->vector[k] = (float *)malloc(length * sizeof(float));
		if (!j->vector[k])
			return gn_error_set(e, -GN_ENOMEM, "out of memory for vectors of %llu numbers",
			                    (unsigned long long)length);
		for (uint64_t i = 0; i < length; i++)
			j->vector[k][i] = start_value(q, k, i);
	}
	return 0;
}

/* ---- the run ---- */

static void make_matrix(const void *user, uint64_t at, uint64_t bytes, void *to)
{
	const struct request *q = (const struct request *)user;

	for (uint64_t k = 0; k < bytes / sizeof(float); k++)
		((float *)to)[k] = gn_matrix_value(q->far.seed, at / sizeof(float) + k);
}

static int open_tiles(struct job *j, const struct request *q, struct gn_error *e)
{
	const uint64_t row_bytes = q->columns * sizeof(float);

	j->matrix.tiled = &j->tiled;
	j->matrix.tile_rows = far_job_tile(q->rows, row_bytes);
	return gn_tiled_open(&j->tiled, j->far.machine, j->far.store[0], j->matrix.tile_rows * row_bytes,
	                     sizeof(float), e);
}

static int open_job(struct far_job *far, struct gn_error *e)
{
	const struct request *q = (const struct request *)far->options;
	const uint64_t count = q->rows * q->columns;
	struct job *j = (struct job *)far;
	int rc;

	j->matrix.rows = q->rows;
	j->matrix.columns = q->columns;
	rc = far_job_store(far, q->file, count * sizeof(float), false, "a matrix of this size", e);
	if (!rc && !q->file)
		rc = far_job_fill(&j->far, 0, make_matrix, q, e);
	if (!rc)
		rc = far_job_ready(&j->far, e);
	if (!rc)
		rc = far_job_array(&j->far, 0, count, sizeof(float), &j->matrix.a, e);
	j->has_array = !rc;
	if (!rc && q->far.far.baseline == TOOL_TILED)
		rc = open_tiles(j, q, e);
	return rc ? rc : make_vectors(j, q, e);
}

static void close_job(struct far_job *far)
{
	struct job *j = (struct job *)far;

	for (unsigned k = 0; k < VECTORS; k++)
		free(j->vector[k]);
	if (j->has_array)
		gn_array_destroy(&j->matrix.a, far->machine);
	gn_tiled_close(&j->tiled);
}

static int multiply(struct job *j, const struct request *q, struct gn_error *e)
{
	const struct gn_matrix_vectors v = {j->vector[X], j->vector[Y], j->vector[U], j->vector[V]};
	struct gn_cache_info info = {0};

	if (j->far.cache)
		gn_cache_describe(j->far.cache, &info, NULL);
	j->matrix.cache_bytes = info.frame_bytes;
	if (q->kind == ATAX)
		return gn_matrix_atax(j->far.machine, &j->matrix, v.x, v.v, q->passes, &j->result, e);
	return gn_matrix_products(j->far.machine, &j->matrix, &v, q->passes, &j->result, e);
}

/* ---- the reference ---- */

static int exact_open(struct gn_matrix_exact *x, const struct request *q, unsigned vector, struct gn_error *e)
{
	const uint64_t length = length_of(q, vector);

	x->value = (double *)calloc(length, sizeof *x->value);
	x->magnitude = (double *)calloc(length, sizeof *x->magnitude);
	if (!x->value || !x->magnitude)
		return gn_error_set(e, -GN_ENOMEM, "out of memory for vectors of %llu numbers",
		                    (unsigned long long)length);
	for (uint64_t i = 0; i < length && is_wanted(q, vector); i++) {
		x->value[i] = (double)start_value(q, vector, i);
		x->magnitude[i] = fabs(x->value[i]);
	}
	return 0;
}

/* Of V: for A^T (A x) those of both products. */
static uint64_t column_roundings(const struct job *j, const struct request *q)
{
	return j->result.column_roundings + (q->kind == ATAX ? j->result.row_roundings : 0);
}

static int compare(const struct job *j, const struct request *q, const struct gn_matrix_exact *x,
                   struct gn_error *e)
{
	const uint64_t rows = j->result.row_roundings, columns = column_roundings(j, q);
	int rc;

	if (q->kind == ATAX)
		return gn_matrix_verify("y", j->vector[V], &x[V], q->columns, columns, e);
	rc = gn_matrix_verify(q->kind == MVT ? "x1" : "q", j->vector[Y], &x[Y], q->rows, rows, e);
	return rc ? rc
	          : gn_matrix_verify(q->kind == MVT ? "x2" : "s", j->vector[V], &x[V], q->columns, columns,
	                             e);
}

/* The matrix as it was given. */
struct original {
	const struct request *request;
	int fd; /* of a file, else -1 */
};

static int read_original(const void *user, uint64_t first, uint64_t count, float *to, struct gn_error *e)
{
	const struct original *o = (const struct original *)user;
	const uint64_t at = first * sizeof *to, bytes = count * sizeof *to;

	if (o->fd >= 0)
		return gn__input_read(o->fd, o->request->file, at, to, bytes, e);
	make_matrix(o->request, at, bytes, to);
	return 0;
}

static int refer(const struct job *j, const struct request *q, const struct original *o,
                 struct gn_matrix_exact *x, struct gn_error *e)
{
	const struct gn_matrix_source a = {read_original, o};
	int rc;

	if (q->kind != ATAX)
		return gn_matrix_reference(&a, q->rows, q->columns, &x[X], &x[Y], &x[U], &x[V], e);
	rc = gn_matrix_reference(&a, q->rows, q->columns, &x[X], &x[Y], NULL, NULL, e);
	gn_matrix_overflows(&x[Y], q->rows, j->result.row_roundings);
	return rc ? rc : gn_matrix_reference(&a, q->rows, q->columns, NULL, NULL, &x[Y], &x[V], e);
}

static int open_original(struct original *o, const struct request *q, struct gn_error *e)
{
	uint64_t bytes;

	o->request = q;
	o->fd = -1;
	return q->file ? gn__input_open(q->file, &o->fd, &bytes, e) : 0;
}

static void say_proof(struct job *j, const struct request *q, const struct gn_matrix_exact *x)
{
	const uint64_t all = (j->vector[Y] ? q->rows : 0) + q->columns;

	j->unchecked = gn_matrix_overflows(&x[V], q->columns, column_roundings(j, q));
	if (j->vector[Y])
		j->unchecked += gn_matrix_overflows(&x[Y], q->rows, j->result.row_roundings);
	if (j->unchecked)
		snprintf(j->proof, sizeof j->proof,
		         "%llu elements are within the error bound of the reference; %llu may overflow, and "
		         "are not compared",
		         (unsigned long long)(all - j->unchecked), (unsigned long long)j->unchecked);
}

static int verify(struct far_job *far, struct gn_error *e)
{
	const struct request *q = (const struct request *)far->options;
	struct job *j = (struct job *)far;
	struct gn_matrix_exact x[VECTORS] = {{0}};
	struct original o;
	int rc = open_original(&o, q, e);

	for (unsigned k = 0; k < VECTORS && !rc; k++)
		rc = exact_open(&x[k], q, k, e);
	if (!rc)
		rc = refer(j, q, &o, x, e);
	if (!rc)
		rc = compare(j, q, x, e);
	if (!rc)
		say_proof(j, q, x);
	if (o.fd >= 0)
		close(o.fd);
	for (unsigned k = 0; k < VECTORS; k++) {
		free(x[k].value);
		free(x[k].magnitude);
	}
	return rc;
}

static int run(struct far_job *far, struct far_report *r, struct gn_error *e)
{
	struct job *j = (struct job *)far;
	const int rc = multiply(j, (const struct request *)far->options, e);

	r->needed_bytes = far->bytes;
	r->seconds = j->result.seconds;
	strcpy(j->proof, "every element is within the error bound of the reference");
	r->proof = j->proof; /* --verify may have less to say */
	return rc;
}

/* ---- what is said ---- */

static json_t *report_json(const struct far_job *far)
{
	const struct request *q = (const struct request *)far->options;
	const struct job *j = (const struct job *)far;
	char schema[32];

	snprintf(schema, sizeof schema, "grapnel-%s-1", names[q->kind]);
	return json_pack("{s:s, s:{s:o, s:I, s:I, s:I}, s:i, s:o}", "schema", schema, "matrix", "path",
	                 tool_json_text(q->file), "rows", (json_int_t)q->rows, "columns",
	                 (json_int_t)q->columns, "bytes", (json_int_t)far->bytes, "passes",
	                 (int)j->result.passes, "unchecked",
	                 q->far.verify ? json_integer((json_int_t)j->unchecked) : json_null());
}

static void print(const struct far_job *far)
{
	const struct request *q = (const struct request *)far->options;

	printf("  matrix               %s: %llu rows, %llu columns, %.1f MiB\n",
	       q->file ? q->file : "generated", (unsigned long long)q->rows, (unsigned long long)q->columns,
	       (double)far->bytes / (1 << 20));
	printf("  passes               %u\n", ((const struct job *)far)->result.passes);
}

/* The result vectors, one behind the other. */
static int write_out(struct far_job *far, struct gn_error *e)
{
	const struct request *q = (const struct request *)far->options;
	const struct job *j = (const struct job *)far;
	const uint64_t first = j->vector[Y] ? q->rows : 0, bytes = (first + q->columns) * sizeof(float);
	float *all = (float *)malloc(bytes);
	int rc;

	if (!all)
		return gn_error_set(e, -GN_ENOMEM, "%s: out of memory", q->far.out);
	if (first)
		memcpy(all, j->vector[Y], first * sizeof(float));
	memcpy(all + first, j->vector[V], q->columns * sizeof(float));
	rc = tool_write_file(q->far.out, all, bytes, e);
	free(all);
	return rc;
}

static const struct far_command command = {open_job, run, verify, write_out, report_json, print, close_job};

static int tool_matrix(enum kind kind, int argc, char **argv)
{
	struct request q = {0};
	struct job job = {0};

	far_options_init(&q.far, names[kind]);
	q.kind = kind;
	argp_parse(&argp, argc, argv, 0, NULL, &q);
	return far_command_run(&command, &q.far, &job.far);
}

int tool_mvt(int argc, char **argv)
{
	return tool_matrix(MVT, argc, argv);
}

int tool_atax(int argc, char **argv)
{
	return tool_matrix(ATAX, argc, argv);
}

int tool_bicg(int argc, char **argv)
{
	return tool_matrix(BICG, argc, argv);
}
