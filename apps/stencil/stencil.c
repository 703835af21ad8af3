/* SPDX-License-Identifier: Apache-2.0 */
#include "stencil.h"

#include <string.h>

#include "kernels.h"
#include "matrix/parts.h"

static const uint64_t most_width = 2046, least_rows = 16;

/* Tiles of some rows at least: a tile reads two rows more than it writes. */
static void plan(struct gn_stencil_args *a, uint64_t warps)
{
	uint64_t groups;

	a->width = gn_matrix_least(a->columns, most_width);
	a->tiles = gn_matrix_parts(a->columns, a->width);
	groups = gn_matrix_least(warps / a->tiles, gn_matrix_parts(a->rows, least_rows));
	a->group_rows = gn_matrix_parts(a->rows, groups ? groups : 1);
	a->groups = gn_matrix_parts(a->rows, a->group_rows);
}

static int check_size(const struct gn_stencil *s, struct gn_error *error)
{
	if (!s->rows || !s->columns)
		return gn_error_set(error, -GN_EINVAL,
		                    "stencil: %llu rows of %llu columns: give at least 1 of each",
		                    (unsigned long long)s->rows, (unsigned long long)s->columns);
	for (unsigned k = 0; k < 2; k++)
		if (gn_count(&s->grid[k]) % s->columns || gn_count(&s->grid[k]) / s->columns != s->rows)
			return gn_error_set(error, -GN_EINVAL,
			                    "stencil: a grid has %llu points, not %llu rows of %llu",
			                    (unsigned long long)gn_count(&s->grid[k]),
			                    (unsigned long long)s->rows, (unsigned long long)s->columns);
	return 0;
}

/* ---- a step ---- */

struct job {
	struct simt_machine *machine;
	struct gn_stencil *stencil;
	struct gn_stencil_args args;
	struct simt_grid grid;
	uint64_t step;
	struct gn_stencil_args slot[GN_TILES_SLOTS]; /* of tiles */
};

static int run_whole(struct job *j, struct gn_error *error)
{
	struct gn_stencil *s = j->stencil;
	int rc;

	j->args.from = s->grid[j->step % 2];
	j->args.to = s->grid[(j->step + 1) % 2];
	rc = simt_launch(j->machine, &gn_stencil_step_kernel, j->grid, &j->args, error);
	rc = rc ? rc : simt_wait(j->machine, error);
	if (rc)
		return gn_error_prefix(error, rc, "stencil");
	rc = gn_array_failure(&s->grid[0], error);
	return rc ? rc : gn_array_failure(&s->grid[1], error);
}

/*
 * Rows [begin, end) of the new grid. A tile is a grid of its own: its rim, which stays as it is, are the rows
 * around them, or rows of the grid's rim.
 */
static int do_tile(void *user, struct simt_stream *stream, unsigned slot, uint64_t tile,
                   struct gn_error *error)
{
	struct job *j = (struct job *)user;
	const struct gn_stencil *s = j->stencil;
	struct gn_tiled *from = &s->tiled[j->step % 2], *to = &s->tiled[(j->step + 1) % 2];
	const uint64_t row_bytes = s->columns * sizeof(float), begin = tile * s->tile_rows,
	               end = gn_matrix_least(begin + s->tile_rows, s->rows), first = begin ? begin - 1 : 0,
	               after = gn_matrix_least(end + 1, s->rows);
	struct gn_stencil_args *a = &j->slot[slot];
	int rc = gn_tiled_in(from, stream, slot, first * row_bytes, 0, (after - first) * row_bytes, error);

	a->from = from->array[slot];
	a->to = to->array[slot];
	a->rows = after - first;
	a->groups = gn_matrix_parts(a->rows, a->group_rows);
	if (!rc)
		rc = gn_tiles_launch(stream, &gn_stencil_step_kernel, j->grid, a, error);
	return rc ? rc
	          : gn_tiled_out(to, stream, slot, begin * row_bytes, (begin - first) * row_bytes,
	                         (end - begin) * row_bytes, error);
}

static int run_tiles(struct job *j, struct gn_error *error)
{
	struct gn_stencil *s = j->stencil;
	int rc = gn_tiles_run(j->machine, gn_matrix_parts(s->rows, s->tile_rows), do_tile, j, error);

	if (!rc)
		rc = gn_tiled_failure(&s->tiled[0], error);
	return rc ? rc : gn_tiled_failure(&s->tiled[1], error);
}

/* ---- the run ---- */

static void job_plan(struct job *j)
{
	const uint64_t block_warps = 4;
	const struct gn_stencil *s = j->stencil;
	struct simt_info info;
	uint64_t warps;

	simt_describe(j->machine, &info);
	warps = gn_matrix_warps(&info, s->cache_bytes);
	j->args.rows = s->tiled ? gn_matrix_least(s->tile_rows + 2, s->rows) : s->rows;
	j->args.columns = s->columns;
	plan(&j->args, warps);
	j->grid.block_threads = (uint32_t)block_warps * info.warp_width;
	j->grid.blocks =
	    (uint32_t)gn_matrix_parts(gn_matrix_least(warps, j->args.tiles * j->args.groups), block_warps);
}

/* Room for the rows that a kernel reads: each of two tiles has its own. */
static int lines_alloc(struct job *j, struct gn_error *error)
{
	struct simt_info info;
	uint64_t warps, count;

	simt_describe(j->machine, &info);
	warps = (uint64_t)j->grid.blocks * j->grid.block_threads / info.warp_width;
	count = warps * 3 * (j->args.width + 2);
	j->args.lines = (float *)simt_alloc(
	    j->machine, (j->stencil->tiled ? GN_TILES_SLOTS : 1) * count * sizeof *j->args.lines, SIMT_DEVICE,
	    error);
	if (!j->args.lines)
		return gn_error_set(error, -GN_ENOMEM, "stencil: out of memory on the machine for rows");
	for (unsigned k = 0; k < GN_TILES_SLOTS && j->stencil->tiled; k++) {
		j->slot[k] = j->args;
		j->slot[k].lines += k * count;
	}
	return 0;
}

int gn_stencil_run(struct simt_machine *machine, struct gn_stencil *s, uint64_t steps, double *seconds,
                   struct gn_error *error)
{
	struct job j;
	uint64_t begin;
	int rc = check_size(s, error);

	if (rc)
		return rc;
	memset(&j, 0, sizeof j);
	j.machine = machine;
	j.stencil = s;
	job_plan(&j);
	rc = lines_alloc(&j, error);
	begin = simt_clock_ns();
	for (; j.step < steps && !rc; j.step++)
		rc = s->tiled ? run_tiles(&j, error) : run_whole(&j, error);
	*seconds = 1e-9 * (double)(simt_clock_ns() - begin);
	simt_free(machine, j.args.lines);
	return rc;
}
