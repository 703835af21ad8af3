/* SPDX-License-Identifier: Apache-2.0 */
#include "matrix.h"

#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "spread/mix.h"
#include "parts.h"

enum {
	WIDTH = 8192,           /* columns of a tile: their sums are 32 KiB */
	LEAST_ELEMENTS = 4096,  /* of a tile, so that warps do not read crumbs */
	BATCH_ELEMENTS = 16384, /* read twice: as many rows at a time */
	PARTS_BYTES = 256 << 20 /* the most memory for the sums of columns, with rows that are read twice */
};

struct job {
	struct simt_machine *machine;
	struct simt_info info;
	struct simt_stream *stream; /* of launches; NULL: the machine's own */
	struct gn_matrix *matrix;
	struct gn_matrix_args args;
	float *x, *y, *u, *v; /* on the machine */
	struct gn_matrix_result *result;
};

/* ---- the cut into tiles ---- */

static uint64_t warps(const struct job *j)
{
	return gn_matrix_warps(&j->info, j->matrix->cache_bytes);
}

/* As many groups of rows as there is work for, each of `unit` rows or a multiple. */
static void cut_rows(struct job *j, uint64_t groups, uint64_t unit)
{
	struct gn_matrix_args *a = &j->args;
	const uint64_t units = gn_matrix_parts(a->rows, unit);

	groups = groups ? gn_matrix_least(groups, units) : 1;
	a->group_rows = gn_matrix_parts(units, groups) * unit;
	a->groups = gn_matrix_parts(a->rows, a->group_rows);
}

static void plan_once(struct job *j)
{
	struct gn_matrix_args *a = &j->args;

	a->width = gn_matrix_least(a->columns, WIDTH);
	a->tiles = gn_matrix_parts(a->columns, a->width);
	cut_rows(j, warps(j) / a->tiles, gn_matrix_parts(LEAST_ELEMENTS, a->width));
}

/* The cut of each tile; args.rows stays that of the matrix. */
static void plan_tiles(struct job *j)
{
	j->args.rows = gn_matrix_least(j->matrix->tile_rows, j->matrix->rows);
	plan_once(j);
	j->args.rows = j->matrix->rows;
}

/* Returns 0 if the cache cannot hold the rows of one warp a processor. */
static int plan_twice(struct job *j)
{
	struct gn_matrix_args *a = &j->args;
	const uint64_t row_bytes = a->columns * sizeof(float);
	uint64_t groups, enough;

	a->width = a->columns;
	a->tiles = 1;
	a->batch = gn_matrix_least(gn_matrix_parts(BATCH_ELEMENTS, a->columns), a->rows);
	/* a quarter: sets of frames fill unevenly */
	groups =
	    gn_matrix_least(j->matrix->cache_bytes / 4 / (a->batch * row_bytes), PARTS_BYTES / row_bytes);
	enough = gn_matrix_least(j->info.processors, gn_matrix_parts(a->rows, a->batch));
	cut_rows(j, gn_matrix_least(groups, warps(j)), a->batch);
	return groups >= enough;
}

/* What a term of each product goes through: its product, the sums of a lane, of a warp, of the parts. */
static void count_roundings(struct job *j)
{
	const struct gn_matrix_args *a = &j->args;
	const struct gn_matrix *m = j->matrix;
	const uint64_t tiles = m->tiled ? gn_matrix_parts(m->rows, m->tile_rows) : 1,
	               slots = m->tiled ? (uint64_t)GN_TILES_SLOTS : 1;

	j->result->row_roundings =
	    1 + gn_matrix_parts(a->width, j->info.warp_width) + j->info.warp_width + a->tiles + 1;
	j->result->column_roundings = 1 + tiles * a->group_rows + slots * a->groups + 1;
}

/* ---- memory ---- */

static int machine_failed(int rc, struct gn_error *error)
{
	return gn_error_prefix(error, rc, "matrix");
}

static int vector_alloc(struct job *j, float **to, const float *from, uint64_t length, struct gn_error *error)
{
	*to = (float *)simt_alloc(j->machine, length * sizeof **to, SIMT_DEVICE, error);
	if (!*to)
		return gn_error_set(error, -GN_ENOMEM,
		                    "matrix: out of memory on the machine for %llu numbers; take a smaller "
		                    "matrix",
		                    (unsigned long long)length);
	return from ? machine_failed(simt_move(j->machine, *to, from, length * sizeof **to, error), error)
	            : 0;
}

static void parts_free(struct job *j)
{
	simt_free(j->machine, j->args.row_parts);
	simt_free(j->machine, j->args.column_parts);
	j->args.row_parts = NULL;
	j->args.column_parts = NULL;
}

static int parts_alloc(struct job *j, int dots, int sums, struct gn_error *error)
{
	struct gn_matrix_args *a = &j->args;
	int rc = 0;

	if (dots)
		rc = vector_alloc(j, &a->row_parts, NULL, a->tiles * a->rows, error);
	if (!rc && sums)
		rc = vector_alloc(j, &a->column_parts, NULL, a->groups * a->columns, error);
	return rc;
}

static void job_close(struct job *j)
{
	parts_free(j);
	simt_free(j->machine, j->x);
	simt_free(j->machine, j->y);
	simt_free(j->machine, j->u);
	simt_free(j->machine, j->v);
}

static int job_open(struct job *j, struct simt_machine *machine, struct gn_matrix *m,
                    struct gn_matrix_result *result, struct gn_error *error)
{
	memset(j, 0, sizeof *j);
	memset(result, 0, sizeof *result);
	j->machine = machine;
	j->matrix = m;
	j->result = result;
	j->args.a = m->a;
	j->args.rows = m->rows;
	j->args.columns = m->columns;
	simt_describe(machine, &j->info);
	if (!m->rows || !m->columns)
		return gn_error_set(error, -GN_EINVAL,
		                    "matrix: %llu rows of %llu columns: give at least 1 of each",
		                    (unsigned long long)m->rows, (unsigned long long)m->columns);
	if (gn_count(&m->a) % m->columns || gn_count(&m->a) / m->columns != m->rows)
		return gn_error_set(error, -GN_EINVAL,
		                    "matrix: the array has %llu elements, not %llu rows of %llu",
		                    (unsigned long long)gn_count(&m->a), (unsigned long long)m->rows,
		                    (unsigned long long)m->columns);
	return 0;
}

/* ---- launches ---- */

static int launch(struct job *j, const struct simt_kernel *kernel, uint64_t threads, const void *args,
                  struct gn_error *error)
{
	const uint32_t block = 4 * j->info.warp_width; /* small, so that few warps meet many processors */
	struct simt_grid grid = {j->info.resident_threads / block, block, 0};
	int rc;

	if (threads < j->info.resident_threads || !grid.blocks)
		grid.blocks = (uint32_t)(gn_matrix_least(threads, j->info.resident_threads) / block) + 1;
	if (j->stream)
		return gn_tiles_launch(j->stream, kernel, grid, args, error);
	rc = simt_launch(j->machine, kernel, grid, args, error);
	return machine_failed(rc ? rc : simt_wait(j->machine, error), error);
}

/*
 * A vector is much shorter than a GPU has threads, and has a part of each warp that read side by side. So
 * that no thread goes through all of them, threads that have no element of their own first add up some each.
 */
static uint64_t some_parts(const struct job *j, uint64_t count, uint64_t length)
{
	uint64_t slices = 1;

	while ((slices + 1) * length <= j->info.resident_threads && (slices + 1) * (slices + 1) <= count)
		slices++;
	return slices > 1 ? gn_matrix_parts(count, slices) : 1;
}

/* The parts are of no use afterwards. */
static int add_up(struct job *j, float *parts, uint64_t count, uint64_t length, float *to,
                  struct gn_error *error)
{
	const struct gn_matrix_sum_args sum = {parts, count, length, some_parts(j, count, length), to};
	int rc = 0;

	if (sum.some > 1)
		rc =
		    launch(j, &gn_matrix_fold_kernel, gn_matrix_parts(count, sum.some) * length, &sum, error);
	return rc ? rc : launch(j, &gn_matrix_sum_kernel, length, &sum, error);
}

/* One launch over the matrix, and the sums of its parts. */
static int pass(struct job *j, const struct simt_kernel *kernel, float *y, float *v, struct gn_error *error)
{
	struct gn_matrix_args *a = &j->args;
	int rc = launch(j, kernel, a->tiles * a->groups * j->info.warp_width, a, error);

	j->result->passes++;
	if (!rc)
		rc = gn_array_failure(&j->matrix->a, error);
	if (!rc && y)
		rc = add_up(j, a->row_parts, a->tiles, a->rows, y, error);
	if (!rc && v)
		rc = add_up(j, a->column_parts, a->groups, a->columns, v, error);
	return rc;
}

/* ---- tiles of rows ---- */

/* A pass over all tiles. */
struct tile_pass {
	struct job *whole;
	struct job slot[GN_TILES_SLOTS]; /* with sums of their own */
	int dots, sums;                  /* which products are wanted */
	int chained;                     /* the dots are what the sums are of: A^T (A x) */
};

static int tile_kernel(struct job *j, const float *by_columns, const float *by_rows, struct gn_error *error)
{
	struct gn_matrix_args *a = &j->args;

	a->by_columns = by_columns;
	a->by_rows = by_rows;
	return launch(j, &gn_matrix_once_kernel, a->tiles * a->groups * j->info.warp_width, a, error);
}

/* The sums of columns stay: tiles of a slot add to them one after the other. */
static int work_tile(struct tile_pass *p, struct job *j, uint64_t first, struct gn_error *error)
{
	const struct job *whole = p->whole;
	const float *rows = p->chained ? whole->y : whole->u, *by_rows = rows ? rows + first : NULL;
	const int together = p->dots && p->sums && !p->chained;
	int rc = 0;

	if (p->dots)
		rc = tile_kernel(j, whole->x, together ? by_rows : NULL, error);
	if (!rc && p->dots)
		rc = add_up(j, j->args.row_parts, j->args.tiles, j->args.rows, whole->y + first, error);
	if (!rc && p->sums && !together)
		rc = tile_kernel(j, NULL, by_rows, error);
	return rc;
}

static int do_tile(void *user, struct simt_stream *stream, unsigned slot, uint64_t tile,
                   struct gn_error *error)
{
	struct tile_pass *p = (struct tile_pass *)user;
	const struct gn_matrix *m = p->whole->matrix;
	const uint64_t first = tile * m->tile_rows, row_bytes = m->columns * sizeof(float);
	struct job *j = &p->slot[slot];
	int rc;

	j->stream = stream;
	j->args.rows = gn_matrix_least(m->tile_rows, m->rows - first);
	j->args.groups = gn_matrix_parts(j->args.rows, j->args.group_rows);
	rc = gn_tiled_in(m->tiled, stream, slot, first * row_bytes, 0, j->args.rows * row_bytes, error);
	return rc ? rc : work_tile(p, j, first, error);
}

/* The sums of columns of both slots. */
static int add_slots(struct tile_pass *p, struct gn_error *error)
{
	int rc = 0;

	for (unsigned k = 0; k < GN_TILES_SLOTS && !rc && p->sums; k++) {
		const struct gn_matrix_args *a = &p->slot[k].args;

		rc = add_up(p->whole, a->column_parts, p->whole->args.groups, a->columns, p->whole->v, error);
	}
	return rc;
}

static int slots_open(struct tile_pass *p, struct gn_error *error)
{
	int rc = 0;

	for (unsigned k = 0; k < GN_TILES_SLOTS && !rc; k++) {
		p->slot[k] = *p->whole;
		p->slot[k].args.a = p->whole->matrix->tiled->array[k];
		p->slot[k].args.rows = p->whole->matrix->tile_rows;
		rc = parts_alloc(&p->slot[k], p->dots, p->sums, error);
	}
	return rc;
}

/* @j  planned by plan_tiles, without parts */
static int pass_tiles(struct job *j, int dots, int sums, int chained, struct gn_error *error)
{
	const struct gn_matrix *m = j->matrix;
	struct tile_pass p;
	int rc;

	memset(&p, 0, sizeof p);
	p.whole = j;
	p.dots = dots;
	p.sums = sums;
	p.chained = chained;
	rc = slots_open(&p, error);
	if (!rc)
		rc = gn_tiles_run(j->machine, gn_matrix_parts(m->rows, m->tile_rows), do_tile, &p, error);
	if (!rc)
		rc = gn_tiled_failure(m->tiled, error);
	if (!rc)
		rc = add_slots(&p, error);
	j->result->passes++;
	for (unsigned k = 0; k < GN_TILES_SLOTS; k++)
		parts_free(&p.slot[k]);
	return rc;
}

/* ---- products ---- */

static int run_products(struct job *j, unsigned passes, struct gn_error *error)
{
	const int both = passes == 1 && j->y && j->v;
	int rc = 0;

	if (j->matrix->tiled) {
		if (j->y)
			rc = pass_tiles(j, 1, both, 0, error);
		return rc || !j->v || both ? rc : pass_tiles(j, 0, 1, 0, error);
	}
	if (j->y) {
		j->args.by_columns = j->x;
		j->args.by_rows = both ? j->u : NULL;
		rc = pass(j, &gn_matrix_once_kernel, j->y, both ? j->v : NULL, error);
	}
	if (!rc && j->v && !both) {
		j->args.by_columns = NULL;
		j->args.by_rows = j->u;
		rc = pass(j, &gn_matrix_once_kernel, NULL, j->v, error);
	}
	return rc;
}

static int vectors_open(struct job *j, const struct gn_matrix_vectors *v, struct gn_error *error)
{
	const uint64_t rows = j->args.rows, columns = j->args.columns;
	int rc = 0;

	if (v->y)
		rc = vector_alloc(j, &j->x, v->x, columns, error);
	if (!rc && v->y)
		rc = vector_alloc(j, &j->y, v->y, rows, error);
	if (!rc && v->v)
		rc = vector_alloc(j, &j->u, v->u, rows, error);
	if (!rc && v->v)
		rc = vector_alloc(j, &j->v, v->v, columns, error);
	return rc;
}

static int vectors_fetch(struct job *j, const struct gn_matrix_vectors *v, struct gn_error *error)
{
	int rc = 0;

	if (v->y)
		rc = simt_move(j->machine, v->y, j->y, j->args.rows * sizeof *v->y, error);
	if (!rc && v->v)
		rc = simt_move(j->machine, v->v, j->v, j->args.columns * sizeof *v->v, error);
	return machine_failed(rc, error);
}

int gn_matrix_products(struct simt_machine *machine, struct gn_matrix *m, const struct gn_matrix_vectors *v,
                       unsigned passes, struct gn_matrix_result *result, struct gn_error *error)
{
	struct job j;
	uint64_t begin;
	int rc = job_open(&j, machine, m, result, error);

	if (rc)
		return rc;
	if (m->tiled)
		plan_tiles(&j);
	else
		plan_once(&j);
	count_roundings(&j);
	rc = vectors_open(&j, v, error);
	if (!rc && !m->tiled)
		rc = parts_alloc(&j, v->y != NULL, v->v != NULL, error);
	begin = simt_clock_ns();
	if (!rc)
		rc = run_products(&j, passes, error);
	result->seconds = 1e-9 * (double)(simt_clock_ns() - begin);
	if (!rc)
		rc = vectors_fetch(&j, v, error);
	job_close(&j);
	return rc;
}

/* ---- A^T (A x) ---- */

static int run_atax(struct job *j, int twice, struct gn_error *error)
{
	int rc;

	if (j->matrix->tiled)
		return pass_tiles(j, 1, 1, 1, error);
	j->args.by_columns = j->x;
	if (twice) {
		j->args.by_rows = j->args.row_parts;
		return pass(j, &gn_matrix_twice_kernel, NULL, j->v, error);
	}
	rc = pass(j, &gn_matrix_once_kernel, j->y, NULL, error);
	j->args.by_columns = NULL;
	j->args.by_rows = j->y;
	return rc ? rc : pass(j, &gn_matrix_once_kernel, NULL, j->v, error);
}

static int choose_atax(struct job *j, unsigned passes, int *twice, struct gn_error *error)
{
	if (j->matrix->tiled) {
		*twice = 0;
		plan_tiles(j);
		count_roundings(j);
		return 0;
	}
	if (passes == 1 && !j->matrix->cache_bytes)
		return gn_error_set(
		    error, -GN_ENOBUFS,
		    "matrix: in one pass rows are read again while they are in the cache, but "
		    "there is none; take two passes");
	*twice = passes != 2 && plan_twice(j);
	if (passes == 1 && !*twice)
		return gn_error_set(
		    error, -GN_ENOBUFS,
		    "matrix: in one pass rows of %llu bytes are read again while they are in "
		    "the cache, but a quarter of it, or %d MiB of sums of columns, does not hold "
		    "those of all processors that have rows; take a larger cache, or two passes",
		    (unsigned long long)(j->args.columns * sizeof(float)), PARTS_BYTES >> 20);
	if (!*twice)
		plan_once(j);
	count_roundings(j);
	return 0;
}

int gn_matrix_atax(struct simt_machine *machine, struct gn_matrix *m, const float *x, float *v,
                   unsigned passes, struct gn_matrix_result *result, struct gn_error *error)
{
	struct job j;
	uint64_t begin;
	int twice, rc = job_open(&j, machine, m, result, error);

	if (!rc)
		rc = choose_atax(&j, passes, &twice, error);
	if (rc)
		return rc;
	rc = vector_alloc(&j, &j.x, x, m->columns, error);
	if (!rc && !twice)
		rc = vector_alloc(&j, &j.y, NULL, m->rows, error);
	if (!rc)
		rc = vector_alloc(&j, &j.v, NULL, m->columns, error);
	if (!rc && !m->tiled)
		rc = parts_alloc(&j, 1, 1, error);
	begin = simt_clock_ns();
	if (!rc)
		rc = run_atax(&j, twice, error);
	result->seconds = 1e-9 * (double)(simt_clock_ns() - begin);
	if (!rc)
		rc = machine_failed(simt_move(machine, v, j.v, m->columns * sizeof *v, error), error);
	job_close(&j);
	return rc;
}

float gn_matrix_value(uint64_t seed, uint64_t i)
{
	const uint64_t bits = spread_mix(spread_mix(seed) + i) >> 40;

	return ((float)bits - 8388608.0f) * 0x1p-23f;
}
