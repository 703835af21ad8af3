/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 03_write_back.c - how do a kernel's writes reach the file, and how do I know that they did?
 *
 * The kernel squares numbers in place; pages it has changed are written when their frame is needed, the rest
 * by gn_cache_flush. Only its return of 0, and no failure of the array, say that everything is in the store.
 * Then the file is opened anew.
 *
 * Neighbouring threads write neighbouring elements here, as suits a GPU. On the cpu machine they contend for
 * one page; there a loop over a range for each thread takes a tenth of the time and less (example 08).
 *
 *     cc -O2 03_write_back.c $(pkg-config --cflags --libs grapnel) -o 03_write_back
 *     ./03_write_back [cpu|cuda] [FILE]
 *
 * Expected output:
 *     flushed, 0 pages dirty
 *     in the file: 0 1 4 9 ... 1099509530625
 */
#include <stdio.h>
#include <stdlib.h>

#include <grapnel/grapnel.h>

enum { COUNT = 1 << 20 };

struct square_args {
	struct gn_array numbers;
	int start; /* 1: write i, 0: square what is there */
};

SIMT_FN void square(const struct square_args *a)
{
	for (uint64_t i = simt_global_thread(); i < gn_count(&a->numbers); i += simt_global_threads()) {
		uint64_t x = a->start ? i : gn_read_u64(&a->numbers, i);

		gn_write_u64(&a->numbers, i, a->start ? x : x * x);
	}
}
SIMT_KERNEL(square, struct square_args)

static struct gn_error error;

static void must(int code)
{
	if (!code)
		return;
	fprintf(stderr, "03_write_back: %s: %s\n", gn_error_name(code), error.text);
	exit(1);
}

static void run(const char *uri, const struct gn_options *options)
{
	struct simt_grid grid = {4, 256, 0};
	struct gn_cache_info info;
	struct gn_data numbers;
	struct square_args args;

	must(gn_open(&numbers, uri, options, &error));
	args.numbers = numbers.array;
	for (args.start = 1; args.start >= 0; args.start--)
		/* did every access succeed? */
		must(gn_launch(&numbers, &square_kernel, grid, &args, &error));
	must(gn_flush(&numbers, &error)); /* is every write in the store? */
	must(gn_cache_describe(numbers.cache, &info, &error));
	printf("flushed, %llu pages dirty\n", (unsigned long long)info.dirty_pages);
	must(gn_close(&numbers, &error)); /* which would have flushed, too */
}

/* What a later program would see. */
static void show(const char *uri, const struct gn_options *options)
{
	struct gn_data numbers;
	uint64_t first[4], last;

	must(gn_open(&numbers, uri, options, &error));
	must(gn_store_read_host(numbers.store, 0, first, sizeof first, &error));
	must(gn_store_read_host(numbers.store, (COUNT - 1) * sizeof last, &last, sizeof last, &error));
	printf("in the file: %llu %llu %llu %llu ... %llu\n", (unsigned long long)first[0],
	       (unsigned long long)first[1], (unsigned long long)first[2], (unsigned long long)first[3],
	       (unsigned long long)last);
	must(gn_close(&numbers, &error));
}

int main(int argc, char **argv)
{
	struct gn_options options = {0};
	char uri[4096];

	snprintf(uri, sizeof uri, "file:%s?create=8M", argc > 2 ? argv[2] : "squares.bin");
	options.machine = argc > 1 ? argv[1] : "cpu";
	options.element_bytes = sizeof(uint64_t);
	options.cache.bytes = 1 << 20; /* an eighth of the numbers */
	run(uri, &options);
	show(uri, &options);
	return 0;
}
