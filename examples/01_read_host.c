/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 01_read_host.c - how does a kernel read an array that is larger than the memory it may use?
 *
 * 16 MiB of numbers lie in host memory; the kernel sees them through a cache of 1 MiB and adds them up.
 *
 *     cc -O2 01_read_host.c $(pkg-config --cflags --libs grapnel) -o 01_read_host
 *     ./01_read_host [cpu|cuda]
 *
 * (for a GPU: nvcc -x cu, with a library that was built with it)
 *
 * Expected output:
 *     4194304 numbers, sum 8796090925056
 */
#include <stdio.h>
#include <stdlib.h>

#include <grapnel/grapnel.h>

enum { COUNT = 4 << 20 };

struct sum_args {
	struct gn_array numbers; /* by value: a handle */
	uint64_t *sum;
};

/* Every thread takes its share; a page that is not there is fetched by the threads that want it. */
SIMT_FN void sum(const struct sum_args *a)
{
	uint64_t mine = 0;

	for (uint64_t i = simt_global_thread(); i < gn_count(&a->numbers); i += simt_global_threads())
		mine += gn_read_u32(&a->numbers, i);
	simt_add_relaxed_dev_u64(a->sum, mine);
}
SIMT_KERNEL(sum, struct sum_args)

static struct gn_error error;

static void must(int code)
{
	if (!code)
		return;
	fprintf(stderr, "01_read_host: %s: %s\n", gn_error_name(code), error.text);
	exit(1);
}

static void fill(struct gn_store *store)
{
	uint32_t *numbers = (uint32_t *)malloc(COUNT * sizeof *numbers);

	for (uint32_t i = 0; numbers && i < COUNT; i++)
		numbers[i] = i;
	must(numbers ? gn_store_write_host(store, 0, numbers, COUNT * sizeof *numbers, &error)
	             : gn_error_set(&error, -GN_ENOMEM, "no memory for the numbers"));
	free(numbers);
}

int main(int argc, char **argv)
{
	struct gn_options options = {0};
	struct simt_grid grid = {4, 64, 0};
	struct gn_data numbers;
	struct sum_args args;
	uint64_t total;

	options.machine = argc > 1 ? argv[1] : "cpu";
	options.element_bytes = sizeof(uint32_t);
	options.cache.bytes = 1 << 20;
	must(gn_open(&numbers, "host:16M", &options, &error));
	fill(numbers.store);
	args.numbers = numbers.array;
	args.sum = (uint64_t *)simt_alloc(numbers.machine, sizeof total, SIMT_DEVICE, &error); /* zeroed */
	must(args.sum ? 0 : error.code);

	/* did the kernel end well, and every read succeed? */
	must(gn_launch(&numbers, &sum_kernel, grid, &args, &error));
	must(simt_move(numbers.machine, &total, args.sum, sizeof total, &error));
	printf("%d numbers, sum %llu\n", COUNT, (unsigned long long)total);

	simt_free(numbers.machine, args.sum);
	must(gn_close(&numbers, &error));
	return 0;
}
