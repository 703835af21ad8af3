/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 04_pages_and_cursors.c - which of the three ways to read is the right one for my loop?
 *
 *   gn_read_u32        anywhere, any time; looks the page up for every element
 *   gn_cursor_read_u32 a thread that goes along: remembers the page it saw last, holds nothing
 *   gn_array_acquire   a page by pointer, pinned: plain loads; hold few, and not for long
 *
 * A loop over the pages of a run, which pins several at once, is example 08.
 *
 *     cc -O2 04_pages_and_cursors.c $(pkg-config --cflags --libs grapnel) -o 04 && ./04 [cpu|cuda]
 *
 * Expected output (times differ):
 *     elements: sum 8796090925056, ... ns a number
 *     cursor: sum 8796090925056, ... ns a number
 *     pages: sum 8796090925056, ... ns a number
 */
#include <stdio.h>
#include <stdlib.h>

#include <grapnel/grapnel.h>

enum { COUNT = 4 << 20 };
enum how { ELEMENTS, CURSOR, PAGES, WAYS };

struct sum_args {
	struct gn_array numbers;
	uint64_t *sum;
	uint32_t how;
};

/* Element by element, with a look-up for each, or along with a cursor. */
SIMT_FN uint64_t sum_each(const struct gn_array *numbers, int along, uint64_t begin, uint64_t end)
{
	struct gn_cursor cursor = gn_cursor_init(numbers);
	uint64_t total = 0;

	for (; begin < end; begin++)
		total += along ? gn_cursor_read_u32(&cursor, begin) : gn_read_u32(numbers, begin);
	gn_cursor_end(&cursor);
	return total;
}

/* By page reference. The mask says who takes part: this thread on its own. */
SIMT_FN uint64_t sum_pages(const struct gn_array *numbers, uint64_t begin, uint64_t end)
{
	struct gn_page page;
	uint64_t total = 0;

	while (begin < end && !gn_array_acquire(numbers, 1u << simt_lane(), begin, GN_READ, &page)) {
		for (; begin < page.first + page.count; begin++)
			total += ((const uint32_t *)page.data)[begin - page.first];
		gn_array_release(numbers, 1u << simt_lane(), &page);
	}
	/* too little after -GN_ENOBUFS: every frame is pinned; read element by element instead */
	return total;
}

SIMT_FN void sum(const struct sum_args *a)
{
	const uint64_t threads = simt_global_threads(), t = simt_global_thread();
	const uint64_t begin = COUNT * t / threads, end = COUNT * (t + 1) / threads;

	simt_add_relaxed_dev_u64(&a->sum[a->how], a->how == PAGES    ? sum_pages(&a->numbers, begin, end)
	                                          : a->how == CURSOR ? sum_each(&a->numbers, 1, begin, end)
	                                                             : sum_each(&a->numbers, 0, begin, end));
}
SIMT_KERNEL(sum, struct sum_args)

static struct gn_error error;

static void must(int code)
{
	if (!code)
		return;
	fprintf(stderr, "04_pages_and_cursors: %s: %s\n", gn_error_name(code), error.text);
	exit(1);
}

static void run(struct gn_data *numbers, struct sum_args *args)
{
	static const char *const name[WAYS] = {"elements", "cursor", "pages"};
	struct simt_grid grid = {4, 64, 0};

	for (args->how = 0; args->how < WAYS; args->how++) {
		uint64_t begin = simt_clock_ns();

		must(gn_launch(numbers, &sum_kernel, grid, args, &error));
		printf("%s: sum %llu, %.2f ns a number\n", name[args->how],
		       (unsigned long long)args->sum[args->how], (double)(simt_clock_ns() - begin) / COUNT);
	}
}

int main(int argc, char **argv)
{
	struct gn_options options = {0};
	struct gn_data numbers;
	struct sum_args args;

	options.machine = argc > 1 ? argv[1] : "cpu";
	options.element_bytes = sizeof(uint32_t);
	options.cache.bytes = 32 << 20; /* all of it fits: what a hit costs */
	must(gn_open(&numbers, "host:16M", &options, &error));
	for (uint32_t i = 0; i < COUNT; i++)
		must(gn_store_write_host(numbers.store, i * sizeof i, &i, sizeof i, &error));
	args.numbers = numbers.array;
	args.sum = (uint64_t *)simt_alloc(numbers.machine, WAYS * sizeof *args.sum, SIMT_PINNED, &error);
	must(args.sum ? 0 : error.code);
	run(&numbers, &args);
	simt_free(numbers.machine, args.sum);
	must(gn_close(&numbers, &error));
	return 0;
}
