/* SPDX-License-Identifier: Apache-2.0 */
/* A query on a machine, in launches over some of its zones each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "query.h"

/* Of one launch: the halves of its exact sums have room for so many rows. */
static const uint64_t most_zones = (UINT64_C(1) << 31) / GN_COLUMN_ZONE_ROWS;

struct job {
	const struct gn_query *q;
	struct simt_machine *machine;
	struct gn_array *arrays;
	struct gn_query_column columns[GN_QUERY_COLUMNS]; /* the host's copy */
	struct gn_query_args args;
	struct gn_query_shared shared; /* the host's copy */
	struct gn_query_cell *cells;   /* the host's copies */
	uint64_t *group_rows;
	struct gn_query_result *result;
	struct gn_error *e;
};

static int machine_failed(const struct job *j, int rc)
{
	return gn_error_prefix(j->e, rc, "query");
}

static int no_memory(const struct job *j)
{
	return gn_error_set(j->e, -GN_ENOMEM, "query: out of memory for %llu groups and %llu zones",
	                    (unsigned long long)j->q->groups, (unsigned long long)j->q->zone_count);
}

/* ---- what the kernel is given ---- */

static uint64_t cell_count(const struct gn_query *q)
{
	return q->groups * (q->slots ? q->slots : 1);
}

static uint64_t sector_words(const struct gn_query *q, uint32_t k)
{
	const uint64_t bytes =
	    q->table->rows * gn_column_width(q->table->columns[q->compiler.column[k]].type);

	return bytes / GN_QUERY_SECTOR / 32 + 1;
}

/* Device memory that holds what host memory has; NULL if there is none. */
static void *on_device(struct job *j, const void *from, size_t bytes)
{
	void *to = simt_alloc(j->machine, bytes ? bytes : 1, SIMT_DEVICE, j->e);

	if (to && bytes && simt_move(j->machine, to, from, bytes, j->e)) {
		simt_free(j->machine, to);
		return NULL;
	}
	return to;
}

static int open_columns(struct job *j)
{
	const struct gn_query *q = j->q;
	uint32_t cursors = 0;

	for (uint32_t k = 0; k < q->compiler.columns; k++) {
		const uint32_t column = q->compiler.column[k];
		struct gn_query_column *c = &j->columns[k];

		c->array = j->arrays[k];
		c->type = q->table->columns[column].type;
		c->cursor = q->in_where[column] && cursors < GN_QUERY_CURSORS ? cursors++
		                                                              : (uint32_t)GN_QUERY_CURSORS;
		c->sectors = (uint32_t *)simt_alloc(j->machine, sector_words(q, k) * 4, SIMT_DEVICE, j->e);
		if (!c->sectors)
			return no_memory(j);
	}
	j->args.columns = (const struct gn_query_column *)on_device(j, j->columns,
	                                                            q->compiler.columns * sizeof *j->columns);
	return j->args.columns ? 0 : no_memory(j);
}

static void describe_slots(struct job *j)
{
	const struct gn_query *q = j->q;

	for (uint32_t k = 0; k < q->slots; k++) {
		const struct gn_expression *x = &q->slot[k]->expression;

		j->args.slot[k] = q->slot_program[k];
		if (x->node[x->root].type == GN_TYPE_REAL)
			j->args.real |= 1u << k;
		if (!(q->slot[k]->aggregates & ~(uint32_t)GN_WANT_COUNT))
			j->args.counts_only |= 1u << k;
	}
}

static void describe(struct job *j)
{
	const struct gn_query *q = j->q;

	j->args.column_count = q->compiler.columns;
	j->args.slots = q->slots;
	j->args.where = q->where_program;
	j->args.has_group = (uint32_t)q->has_group;
	j->args.group_base = q->group_base;
	j->args.groups = q->groups;
	j->args.rows = q->table->rows;
	for (uint32_t k = 0; q->has_group && k < q->compiler.columns; k++)
		if (q->compiler.column[k] == q->group)
			j->args.group_column = k;
	describe_slots(j);
}

static int open_job(struct job *j)
{
	const struct gn_query *q = j->q;

	describe(j);
	j->cells = (struct gn_query_cell *)calloc(cell_count(q), sizeof *j->cells);
	j->group_rows = (uint64_t *)calloc(q->groups, sizeof *j->group_rows);
	if (!j->cells || !j->group_rows)
		return no_memory(j);
	j->args.code = (const struct gn_instruction *)on_device(j, q->compiler.code, sizeof q->compiler.code);
	j->args.cells = (struct gn_query_cell *)simt_alloc(j->machine, cell_count(q) * sizeof *j->cells,
	                                                   SIMT_DEVICE, j->e);
	j->args.group_rows =
	    (uint64_t *)simt_alloc(j->machine, q->groups * sizeof *j->group_rows, SIMT_DEVICE, j->e);
	j->args.shared =
	    (struct gn_query_shared *)simt_alloc(j->machine, sizeof j->shared, SIMT_DEVICE, j->e);
	if (!j->args.code || !j->args.cells || !j->args.group_rows || !j->args.shared)
		return no_memory(j);
	return open_columns(j);
}

static void close_job(struct job *j)
{
	for (uint32_t k = 0; k < GN_QUERY_COLUMNS; k++)
		simt_free(j->machine, j->columns[k].sectors);
	simt_free(j->machine, (void *)(uintptr_t)j->args.columns);
	simt_free(j->machine, (void *)(uintptr_t)j->args.code);
	simt_free(j->machine, j->args.cells);
	simt_free(j->machine, j->args.group_rows);
	simt_free(j->machine, j->args.shared);
	free(j->cells);
	free(j->group_rows);
}

/* ---- a launch ---- */

static int clear(struct job *j)
{
	const uint64_t cells = cell_count(j->q);
	int rc;

	memset(j->cells, 0, cells * sizeof *j->cells);
	for (uint64_t k = 0; k < cells; k++)
		j->cells[k].least = UINT64_MAX;
	memset(j->group_rows, 0, j->q->groups * sizeof *j->group_rows);
	memset(&j->shared, 0, sizeof j->shared);
	rc = simt_move(j->machine, j->args.cells, j->cells, cells * sizeof *j->cells, j->e);
	if (!rc)
		rc = simt_move(j->machine, j->args.group_rows, j->group_rows,
		               j->q->groups * sizeof *j->group_rows, j->e);
	if (!rc)
		rc = simt_move(j->machine, j->args.shared, &j->shared, sizeof j->shared, j->e);
	return machine_failed(j, rc);
}

/* Enough warps to keep the machine busy, and no more than there are zones. */
static struct simt_grid grid_for(struct job *j)
{
	const uint32_t threads = 128;
	struct simt_grid grid = {0, threads, 0};
	struct simt_info info;
	uint64_t warps;

	simt_describe(j->machine, &info);
	grid.blocks = info.resident_threads / threads ? info.resident_threads / threads : 1;
	if (j->args.zone_count * info.warp_width < info.resident_threads)
		grid.blocks = (uint32_t)(j->args.zone_count * info.warp_width / threads) + 1;
	warps = (uint64_t)grid.blocks * threads / info.warp_width;
	j->args.batch = j->args.zone_count / (warps * 8) > 16 ? 16 : 1;
	return grid;
}

static int launch(struct job *j)
{
	const struct simt_grid grid = grid_for(j);
	int rc = simt_launch(j->machine, &gn_query_rows_kernel, grid, &j->args, j->e);

	if (!rc)
		rc = simt_wait(j->machine, j->e);
	if (!rc)
		rc =
		    simt_move(j->machine, j->cells, j->args.cells, cell_count(j->q) * sizeof *j->cells, j->e);
	if (!rc)
		rc = simt_move(j->machine, j->group_rows, j->args.group_rows,
		               j->q->groups * sizeof *j->group_rows, j->e);
	if (!rc)
		rc = simt_move(j->machine, &j->shared, j->args.shared, sizeof j->shared, j->e);
	return machine_failed(j, rc);
}

/* What went wrong in a launch that ran, if anything: an array, or the table itself. */
static int trouble(struct job *j)
{
	int rc = 0;

	for (uint32_t k = 0; !rc && k < j->q->compiler.columns; k++)
		rc = gn_array_failure(&j->arrays[k], j->e);
	if (rc || j->shared.fault == GN_QUERY_SOUND)
		return rc;
	if (j->shared.fault == GN_QUERY_OVERFLOW)
		return gn_error_set(j->e, -GN_ERANGE,
		                    "query: row %llu: a value is too large for 64 bits, or for a double; "
		                    "make numbers doubles by a factor of 1e0, or smaller",
		                    (unsigned long long)j->shared.fault_row);
	return gn_error_set(
	    j->e, -GN_EBADMSG,
	    "query: row %llu: the zone maps of %s do not have its value; the file is damaged, "
	    "convert the table again",
	    (unsigned long long)j->shared.fault_row, j->q->table->columns[j->q->group].name);
}

/* The sums of a launch, from their halves. */
static void add_launch(struct job *j)
{
	struct gn_query_result *r = j->result;

	for (uint64_t g = 0; g < j->q->groups; g++) {
		r->group_rows[g] += j->group_rows[g];
		r->rows += j->group_rows[g];
		for (uint32_t k = 0; k < j->q->slots; k++) {
			const struct gn_query_cell *c = &j->cells[g * j->q->slots + k];
			const int real = (int)(j->args.real >> k & 1);
			struct gn_query_total part = {c->count};

			part.least = gn_query_of_key(c->least, real);
			part.most = gn_query_of_key(c->most, real);
			if (real)
				part.real = c->low.real;
			else
				part.exact = (__int128)(int64_t)c->high * ((int64_t)1 << 32) + c->low.exact;
			gn_query_total_add(&r->totals[g * j->q->slots + k], &part, real);
		}
	}
}

static int run_zones(struct job *j, uint64_t first, uint64_t count)
{
	int rc;

	j->args.zones = (const uint64_t *)on_device(j, j->q->zones + first, count * sizeof *j->q->zones);
	if (!j->args.zones)
		return no_memory(j);
	j->args.zone_count = count;
	rc = clear(j);
	if (!rc)
		rc = launch(j);
	if (!rc)
		rc = trouble(j);
	if (!rc)
		add_launch(j);
	simt_free(j->machine, (void *)(uintptr_t)j->args.zones);
	return rc;
}

/* ---- all of it ---- */

static int count_sectors(struct job *j)
{
	int rc = 0;

	for (uint32_t k = 0; !rc && k < j->q->compiler.columns; k++) {
		const uint64_t words = sector_words(j->q, k);
		uint32_t *sectors = (uint32_t *)malloc(words * sizeof *sectors);

		if (!sectors)
			return no_memory(j);
		rc = machine_failed(
		    j, simt_move(j->machine, sectors, j->columns[k].sectors, words * sizeof *sectors, j->e));
		for (uint64_t w = 0; !rc && w < words; w++)
			j->result->needed_bytes += (uint64_t)__builtin_popcount(sectors[w]) * GN_QUERY_SECTOR;
		free(sectors);
	}
	return rc;
}

/* The sum of all groups; not finite if one of them is not. */
static double sum_of(const struct job *j, uint32_t slot)
{
	double all = 0;

	for (uint64_t g = 0; g < j->q->groups && isfinite(all); g++)
		all += j->result->totals[g * j->q->slots + slot].real;
	return all;
}

static int check_sums(const struct job *j)
{
	for (uint32_t k = 0; k < j->q->slots; k++)
		if (gn_query_slot_sums(j->q->slot[k]) && !isfinite(sum_of(j, k)))
			return gn_error_set(j->e, -GN_ERANGE,
			                    "query: a sum of \"%.200s\" is too large for a double; sum a "
			                    "part of it",
			                    j->q->slot[k]->expression.text);
	return 0;
}

static int run(struct job *j, uint64_t at_once, const struct gn_progress *progress)
{
	const uint64_t all = j->q->zone_count;
	const uint64_t begin = simt_clock_ns();
	int rc = 0;

	for (uint64_t first = 0; !rc && first < all; first += at_once) {
		gn_progress_step(progress, "querying", first, all);
		rc = run_zones(j, first, all - first < at_once ? all - first : at_once);
	}
	j->result->seconds = 1e-9 * (double)(simt_clock_ns() - begin);
	if (!rc)
		rc = check_sums(j);
	return rc ? rc : count_sectors(j);
}

int gn_query_run(const struct gn_query *q, struct simt_machine *machine, struct gn_array *arrays,
                 uint64_t at_once, struct gn_query_result *result, const struct gn_progress *progress,
                 struct gn_error *e)
{
	struct job j;
	int rc = gn_query_result_init(result, q, e);

	if (rc)
		return rc;
	memset(&j, 0, sizeof j);
	j.q = q;
	j.machine = machine;
	j.arrays = arrays;
	j.result = result;
	j.e = e;
	rc = open_job(&j);
	if (!rc)
		rc = run(&j, at_once && at_once < most_zones ? at_once : most_zones, progress);
	close_job(&j);
	return rc;
}
