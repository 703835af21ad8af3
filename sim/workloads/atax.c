/* SPDX-License-Identifier: Apache-2.0 */
/* atax - y = transposed A times (A x) (PolyBench): first by rows, then by columns. See polybench.h. */
#include <sim/workloads/polybench.h>

struct atax {
	uint32_t rows, columns;
	uint32_t launches;
	struct sim_buffer a, x, y, tmp;
	struct sim_product by_rows, by_columns;
};

static void set_products(struct atax *s)
{
	const struct sim_product by_rows = {&s->a, &s->x, &s->tmp, s->rows, s->columns};
	const struct sim_product by_columns = {&s->a, &s->tmp, &s->y, s->rows, s->columns};

	s->by_rows = by_rows;
	s->by_columns = by_columns;
}

static int buffers(struct atax *s, struct sim_memory *memory, struct gn_error *error)
{
	const struct sim_wanted wanted[] = {{&s->a, 4ull * s->rows * s->columns, SIM_INTERLEAVED},
	                                    {&s->x, 4ull * s->columns, SIM_INTERLEAVED},
	                                    {&s->y, 4ull * s->columns, SIM_INTERLEAVED},
	                                    {&s->tmp, 4ull * s->rows, SIM_INTERLEAVED}};

	return sim_buffers(memory, "atax", wanted, 4, error);
}

static int create(void **state, const struct sim_request *request, struct sim_memory *memory,
                  struct gn_error *error)
{
	struct sim_size size[] = {{"rows", 1024, 1, 32768, 1}, {"columns", 0, 1, 32768, 1}};
	uint64_t random = request->seed;
	struct atax *s;

	if (sim_sizes_read(request->size, "atax", size, 2, error))
		return -GN_EINVAL;
	s = (struct atax *)sim_state(sizeof *s, "atax", error);
	*state = s;
	if (!s)
		return -GN_ENOMEM;
	s->rows = (uint32_t)size[0].value;
	s->columns = (uint32_t)(size[1].value ? size[1].value : size[0].value);
	if (buffers(s, memory, error))
		return -GN_ENOMEM;
	set_products(s);
	sim_random_fill(&random, (float *)s->a.host, (uint64_t)s->rows * s->columns);
	sim_random_fill(&random, (float *)s->x.host, s->columns);
	return 0;
}

static int next(void *state, struct sim_launch *launch)
{
	struct atax *s = (struct atax *)state;

	if (!s->launches)
		sim_launch_row(launch, "atax rows", sim_product_rows, &s->by_rows, s->rows,
		               SIM_POLYBENCH_GROUP);
	else
		sim_launch_row(launch, "atax columns", sim_product_columns, &s->by_columns, s->columns,
		               SIM_POLYBENCH_GROUP);
	launch->independent = 1;
	return s->launches++ < 2;
}

static int check(void *state, struct gn_error *error)
{
	const struct atax *s = (const struct atax *)state;
	float *tmp = (float *)sim_state(sizeof *tmp * s->rows, "atax", error);
	float *y = (float *)sim_state(sizeof *y * s->columns, "atax", error);
	int rc = tmp && y ? 0 : -GN_ENOMEM;

	if (!rc) {
		sim_product_rows_reference(&s->by_rows, (const float *)s->x.host, tmp);
		sim_product_columns_reference(&s->by_columns, tmp, y);
		rc = sim_same_f32("atax: tmp", (const float *)s->tmp.host, tmp, s->rows, 1, error);
	}
	if (!rc)
		rc = sim_same_f32("atax: y", (const float *)s->y.host, y, s->columns, 1, error);
	free(tmp);
	free(y);
	return rc;
}

const struct sim_workload sim__atax = {"atax",
                                       "matrix transposed times matrix times vector (PolyBench)",
                                       "rows, columns: 1024, as many",
                                       create,
                                       next,
                                       check,
                                       free};
