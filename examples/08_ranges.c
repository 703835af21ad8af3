/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 08_ranges.c - how does a loop change a file as fast as the file can be read and written?
 *
 * Each thread has a run of elements of its own, and loops over the pages of that run. The library pins
 * several pages at a time, and fetches those that are missing. It writes changed pages back. The loop over
 * the elements of a page is plain C.
 *
 *     cc -O2 08_ranges.c $(pkg-config --cflags --libs grapnel) -o 08 && ./08 [cpu|cuda] [FILE]
 *
 * Expected output (the second line says how this system reads files):
 *     4194304 numbers, each one more than it was: 0 wrong
 *     path: ...
 */
#include <stdio.h>
#include <stdlib.h>

#include <grapnel/grapnel.h>

enum { COUNT = 4 << 20, PIECE = 4096 };

struct add_args {
	struct gn_array numbers;
};

SIMT_FN void add_one(const struct add_args *a)
{
	const uint64_t threads = simt_global_threads(), t = simt_global_thread();
	const uint64_t begin = COUNT * t / threads, end = COUNT * (t + 1) / threads;
	/* The mask says who goes over this run: this thread alone. */
	struct gn_range range = gn_range_begin(&a->numbers, 1u << simt_lane(), begin, end, GN_WRITE);
	struct gn_page page;

	while (gn_range_next(&range, &page))
		for (uint64_t k = 0; k < page.count; k++)
			((uint32_t *)page.data)[k]++;
	/*
	 * Where not one frame was to be had the loop ends early. What it did not reach is done element by
	 * element.
	 */
	if (gn_range_end(&range) == -GN_ENOBUFS)
		for (uint64_t i = range.next; i < end; i++)
			gn_write_u32(&a->numbers, i, gn_read_u32(&a->numbers, i) + 1);
}
SIMT_KERNEL(add_one, struct add_args)

static struct gn_error error;

static void must(int code)
{
	if (!code)
		return;
	fprintf(stderr, "08_ranges: %s: %s\n", gn_error_name(code), error.text);
	exit(1);
}

/* Write i times 3 to element i, or look whether it is one more. Returns how many are not. */
static unsigned fill_or_check(struct gn_store *store, int check)
{
	static uint32_t piece[PIECE];
	unsigned wrong = 0;

	for (uint32_t i = 0; i < COUNT; i += PIECE) {
		if (check)
			must(gn_store_read_host(store, i * sizeof *piece, piece, sizeof piece, &error));
		for (uint32_t k = 0; k < PIECE; k++) {
			wrong += check && piece[k] != (i + k) * 3 + 1;
			piece[k] = (i + k) * 3;
		}
		if (!check)
			must(gn_store_write_host(store, i * sizeof *piece, piece, sizeof piece, &error));
	}
	return wrong;
}

int main(int argc, char **argv)
{
	struct gn_options options = {0};
	struct simt_grid grid = {4, 64, 0};
	struct gn_data numbers;
	struct add_args args;
	char uri[4096];

	snprintf(uri, sizeof uri, "file:%s?create=16M", argc > 2 ? argv[2] : "numbers.bin");
	options.machine = argc > 1 ? argv[1] : "cpu";
	options.element_bytes = sizeof(uint32_t);
	options.cache.bytes = 2 << 20; /* an eighth of the file */
	must(gn_open(&numbers, uri, &options, &error));
	fill_or_check(numbers.store, 0);
	args.numbers = numbers.array;
	must(gn_launch(&numbers, &add_one_kernel, grid, &args, &error));
	must(gn_flush(&numbers, &error)); /* 0: what did not fail is in the file */
	printf("%d numbers, each one more than it was: %u wrong\n", COUNT, fill_or_check(numbers.store, 1));
	printf("path: %s\n", gn_store_path(numbers.store));
	must(gn_close(&numbers, &error));
	return 0;
}
