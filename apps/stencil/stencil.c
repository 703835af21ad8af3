/* SPDX-License-Identifier: Apache-2.0 */
#include "stencil.h"

#include <string.h>

#include "kernels.h"
#include "matrix/tiles.h"

static const uint64_t most_width = 2046, least_rows = 16;

/* Tiles of some rows at least: a tile reads two rows more than it writes. */
static void plan(struct gn_stencil_args *a, uint64_t warps)
{
	uint64_t groups;

	a->width = gn_tiles_least(a->columns, most_width);
	a->tiles = gn_tiles_parts(a->columns, a->width);
	groups = gn_tiles_least(warps / a->tiles, gn_tiles_parts(a->rows, least_rows));
	a->group_rows = gn_tiles_parts(a->rows, groups ? groups : 1);
	a->groups = gn_tiles_parts(a->rows, a->group_rows);
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

static int run_step(struct simt_machine *machine, struct gn_stencil *s, struct gn_stencil_args *a,
                    uint64_t step, struct simt_grid grid, struct gn_error *error)
{
	int rc;

	a->from = s->grid[step % 2];
	a->to = s->grid[(step + 1) % 2];
	rc = simt_launch(machine, &gn_stencil_step_kernel, grid, a);
	rc = rc ? rc : simt_wait(machine);
	if (rc)
		return gn_error_set(error, rc, "stencil: %s", simt_message(machine));
	rc = gn_array_failure(&s->grid[0], error);
	return rc ? rc : gn_array_failure(&s->grid[1], error);
}

int gn_stencil_run(struct simt_machine *machine, struct gn_stencil *s, uint64_t steps, double *seconds,
                   struct gn_error *error)
{
	const uint64_t block_warps = 4;
	struct gn_stencil_args a;
	struct simt_grid grid;
	struct simt_info info;
	uint64_t warps;
	uint64_t begin;
	int rc = check_size(s, error);

	if (rc)
		return rc;
	memset(&a, 0, sizeof a);
	a.rows = s->rows;
	a.columns = s->columns;
	simt_describe(machine, &info);
	warps = gn_tiles_warps(&info, s->cache_bytes);
	plan(&a, warps);
	grid.block_threads = (uint32_t)block_warps * info.warp_width;
	grid.blocks = (uint32_t)gn_tiles_parts(gn_tiles_least(warps, a.tiles * a.groups), block_warps);
	grid.shared_bytes = 0;
	a.lines = (float *)simt_alloc(
	    machine, grid.blocks * block_warps * 3 * (a.width + 2) * sizeof *a.lines, SIMT_DEVICE);
	if (!a.lines)
		return gn_error_set(error, -GN_ENOMEM, "stencil: out of memory on the machine for rows");
	begin = simt_clock_ns();
	for (uint64_t k = 0; k < steps && !rc; k++)
		rc = run_step(machine, s, &a, k, grid, error);
	*seconds = 1e-9 * (double)(simt_clock_ns() - begin);
	simt_free(machine, a.lines);
	return rc;
}
