/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 02_read_file.c - how does a kernel read a file, and how do I see what that moved?
 *
 * The file is a store like any other: only its URI differs. Threads that miss post NVMe commands to queue
 * pairs that a controller in software serves; the kernel does not know. One record of 8 bytes in 128 is read.
 *
 *     cc -O2 02_read_file.c $(pkg-config --cflags --libs grapnel) -o 02_read_file
 *     ./02_read_file [cpu|cuda] [FILE]
 *
 * A page is a 256th of the cache here, 16 KiB. One that is evicted before all that want it have read it is
 * fetched again, so there may be more than 2048 pages, which are 33554432 bytes.
 *
 * Expected output (the second line says how this system reads files):
 *     32768 records checked, 0 wrong
 *     path: ...
 *     fetched ... pages, ... bytes
 */
#include <stdio.h>
#include <stdlib.h>

#include <grapnel/grapnel.h>

enum { COUNT = 4 << 20, STEP = 128, CHECKED = COUNT / STEP };

struct check_args {
	struct gn_array records;
	uint32_t *wrong;
};

/*
 * Neighbouring threads take neighbouring records: those of one page find it fetched, or wait for it together.
 */
SIMT_FN void check(const struct check_args *a)
{
	for (uint64_t i = simt_global_thread(); i < CHECKED; i += simt_global_threads()) {
		uint64_t record = 0;
		int code = gn_array_read(&a->records, i * STEP, &record);

		if (code || record != i * STEP * 3)
			simt_add_relaxed_dev_u32(a->wrong, 1);
	}
}
SIMT_KERNEL(check, struct check_args)

static struct gn_error error;

static void must(int code)
{
	if (!code)
		return;
	fprintf(stderr, "02_read_file: %s: %s\n", gn_error_name(code), error.text);
	exit(1);
}

static void fill(struct gn_store *store)
{
	uint64_t *records = (uint64_t *)malloc(COUNT * sizeof *records);

	for (uint64_t i = 0; records && i < COUNT; i++)
		records[i] = i * 3;
	must(records ? gn_store_write_host(store, 0, records, COUNT * sizeof *records, &error)
	             : gn_error_set(&error, -GN_ENOMEM, "no memory for %d records", COUNT));
	free(records);
}

int main(int argc, char **argv)
{
	struct gn_options options = {0};
	struct simt_grid grid = {4, 256, 0};
	struct gn_cache_info info;
	struct gn_data records;
	struct check_args args;
	char uri[4096];

	snprintf(uri, sizeof uri, "file:%s?create=32M", argc > 2 ? argv[2] : "records.bin");
	options.machine = argc > 1 ? argv[1] : "cpu";
	options.element_bytes = sizeof(uint64_t);
	options.cache.bytes = 4 << 20;
	options.cache.statistics = 1;
	must(gn_open(&records, uri, &options, &error));
	fill(records.store);
	args.records = records.array;
	args.wrong = (uint32_t *)simt_alloc(records.machine, sizeof *args.wrong, SIMT_PINNED, &error);
	must(args.wrong ? 0 : error.code);

	must(gn_launch(&records, &check_kernel, grid, &args, &error));
	must(gn_cache_describe(records.cache, &info, &error));
	printf("%d records checked, %u wrong\n", CHECKED, *args.wrong);
	printf("path: %s\n", gn_store_path(records.store));
	printf("fetched %llu pages, %llu bytes\n", (unsigned long long)info.statistics.fetched,
	       (unsigned long long)info.statistics.fetched_bytes);

	simt_free(records.machine, args.wrong);
	must(gn_close(&records, &error));
	return 0;
}
