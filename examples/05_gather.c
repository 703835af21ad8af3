/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 05_gather.c - how do I read many rows of a table at once, by number?
 *
 *     cc -O2 05_gather.c $(pkg-config --cflags --libs grapnel) -o 05 && ./05 [cpu|cuda]
 *
 * A table of rows of 64 numbers lies in host memory. A batch names rows, some of them twice; they come packed
 * into memory of the machine. Then the batch is written back, changed. This batch is small, so its rows are
 * read in its order. A GPU reads the rows of a large batch in the order of their addresses, each once.
 *
 * Expected output:
 *     gathered 1000 rows, the first number of row 77 is 4928
 *     scattered: the first number of row 77 is now 4929
 */
#include <stdio.h>
#include <stdlib.h>

#include <grapnel/grapnel.h>

enum { ROWS = 16384, ROW = 64 /* numbers a row */, BATCH = 1000 };

struct add_args {
	uint32_t *number;
	uint64_t count;
};

SIMT_FN void add_one(const struct add_args *a)
{
	for (uint64_t k = simt_global_thread(); k < a->count; k += simt_global_threads())
		a->number[k]++;
}
SIMT_KERNEL(add_one, struct add_args)

static struct gn_error error;

static void must(int code)
{
	if (!code)
		return;
	fprintf(stderr, "05_gather: %s: %s\n", gn_error_name(code), error.text);
	exit(1);
}

static void fill(struct gn_store *store)
{
	for (uint32_t i = 0; i < ROWS * ROW; i++)
		must(gn_store_write_host(store, i * sizeof i, &i, sizeof i, &error));
}

static uint32_t first_of(const struct gn_data *table, const struct gn_batch *batch)
{
	uint32_t number = 0;

	must(simt_move(table->machine, &number, batch->rows, sizeof number, &error));
	return number;
}

/*
 * Gather rows, change them, scatter them, and gather them again. Each of these is a launch; launches run one
 * after the other.
 */
static void run(struct gn_gather *gather, struct gn_data *table, const struct gn_batch *batch)
{
	struct add_args add = {(uint32_t *)batch->rows, (uint64_t)BATCH * ROW};
	struct simt_grid grid = {4, 64, 0};

	must(gn_gather_rows(gather, &table->array, batch, &error));
	must(simt_wait(table->machine, &error));
	printf("gathered %d rows, the first number of row 77 is %u\n", BATCH, first_of(table, batch));
	must(gn_launch(table, &add_one_kernel, grid, &add, &error));
	must(gn_scatter_rows(gather, &table->array, batch, &error));
	must(gn_gather_rows(gather, &table->array, batch, &error));
	must(simt_wait(table->machine, &error));
	must(gn_array_failure(&table->array, &error));
	printf("scattered: the first number of row 77 is now %u\n", first_of(table, batch));
}

int main(int argc, char **argv)
{
	struct gn_options options = {0};
	struct gn_batch batch = {0};
	struct gn_data table;
	struct gn_gather *gather;
	uint64_t *index;

	options.machine = argc > 1 ? argv[1] : "cpu";
	options.element_bytes = sizeof(uint32_t);
	options.cache.bytes = 1 << 20;
	must(gn_open(&table, "host:4M", &options, &error));
	fill(table.store);
	must(gn_gather_create(&gather, table.machine, BATCH, &error));
	batch.index = index =
	    (uint64_t *)simt_alloc(table.machine, BATCH * sizeof *index, SIMT_PINNED, &error);
	batch.rows = simt_alloc(table.machine, (uint64_t)BATCH * ROW * sizeof(uint32_t), SIMT_DEVICE, &error);
	must(index && batch.rows ? 0 : error.code);
	batch.count = BATCH;
	batch.elements = ROW;
	for (uint64_t k = 0; k < BATCH; k++)
		index[k] = (77 + k * 3331) % (ROWS / 32);
	run(gather, &table, &batch);
	gn_gather_destroy(gather);
	simt_free(table.machine, index);
	simt_free(table.machine, batch.rows);
	must(gn_close(&table, &error)); /* what was scattered is in the store now */
	return 0;
}
