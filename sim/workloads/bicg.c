/* SPDX-License-Identifier: Apache-2.0 */
/* bicg - q = A p by rows, then s = transposed A times r by columns (PolyBench). See polybench.h. */
#include <sim/workloads/polybench.h>

struct bicg {
	uint32_t rows, columns;
	uint32_t launches;
	struct sim_buffer a, r, s, p, q;
	struct sim_product by_rows, by_columns;
};

static void set_products(struct bicg *b)
{
	const struct sim_product by_rows = {&b->a, &b->p, &b->q, b->rows, b->columns};
	const struct sim_product by_columns = {&b->a, &b->r, &b->s, b->rows, b->columns};

	b->by_rows = by_rows;
	b->by_columns = by_columns;
}

static int buffers(struct bicg *b, struct sim_memory *memory, struct gn_error *error)
{
	const struct sim_wanted wanted[] = {{&b->a, 4ull * b->rows * b->columns, SIM_INTERLEAVED},
	                                    {&b->r, 4ull * b->rows, SIM_INTERLEAVED},
	                                    {&b->s, 4ull * b->columns, SIM_INTERLEAVED},
	                                    {&b->p, 4ull * b->columns, SIM_INTERLEAVED},
	                                    {&b->q, 4ull * b->rows, SIM_INTERLEAVED}};

	return sim_buffers(memory, "bicg", wanted, 5, error);
}

static int create(void **state, const struct sim_request *request, struct sim_memory *memory,
                  struct gn_error *error)
{
	struct sim_size size[] = {{"rows", 1024, 1, 32768, 1}, {"columns", 0, 1, 32768, 1}};
	uint64_t random = request->seed;
	struct bicg *b;

	if (sim_sizes_read(request->size, "bicg", size, 2, error))
		return -GN_EINVAL;
	b = (struct bicg *)sim_state(sizeof *b, "bicg", error);
	*state = b;
	if (!b)
		return -GN_ENOMEM;
	b->rows = (uint32_t)size[0].value;
	b->columns = (uint32_t)(size[1].value ? size[1].value : size[0].value);
	if (buffers(b, memory, error))
		return -GN_ENOMEM;
	set_products(b);
	sim_random_fill(&random, (float *)b->a.host, (uint64_t)b->rows * b->columns);
	sim_random_fill(&random, (float *)b->r.host, b->rows);
	sim_random_fill(&random, (float *)b->p.host, b->columns);
	return 0;
}

static int next(void *state, struct sim_launch *launch)
{
	struct bicg *b = (struct bicg *)state;

	if (!b->launches)
		sim_launch_row(launch, "bicg rows", sim_product_rows, &b->by_rows, b->rows,
		               SIM_POLYBENCH_GROUP);
	else
		sim_launch_row(launch, "bicg columns", sim_product_columns, &b->by_columns, b->columns,
		               SIM_POLYBENCH_GROUP);
	launch->independent = 1;
	return b->launches++ < 2;
}

static int check(void *state, struct gn_error *error)
{
	const struct bicg *b = (const struct bicg *)state;
	float *q = (float *)sim_state(sizeof *q * b->rows, "bicg", error);
	float *s = (float *)sim_state(sizeof *s * b->columns, "bicg", error);
	int rc = q && s ? 0 : -GN_ENOMEM;

	if (!rc) {
		sim_product_rows_reference(&b->by_rows, (const float *)b->p.host, q);
		sim_product_columns_reference(&b->by_columns, (const float *)b->r.host, s);
		rc = sim_same_f32("bicg: q", (const float *)b->q.host, q, b->rows, 1, error);
	}
	if (!rc)
		rc = sim_same_f32("bicg: s", (const float *)b->s.host, s, b->columns, 1, error);
	free(q);
	free(s);
	return rc;
}

const struct sim_workload sim__bicg = {"bicg",
                                       "the two products of a biconjugate gradient (PolyBench)",
                                       "rows, columns: 1024, as many",
                                       create,
                                       next,
                                       check,
                                       free};
