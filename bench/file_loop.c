/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_loop.c - one run of a loop over a file, by a machine or without one. bench/file_loop.py runs it and
 * says what for.
 *
 *     bench_file_loop MACHINE FILE count|sum|add mmap|read|scalar|range [BLOCKS THREADS CACHE_MIB PAGE_BYTES]
 *
 * count: the sum of all bytes. sum: of all 4-byte words. add: 1 is added to each 4-byte word. BLOCKS 0: as
 * many as the machine runs at once. The file's page cache is dropped before. Prints JSON.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <grapnel/grapnel.h>

enum { CHUNK = 1 << 20 };

struct loop_args {
	struct gn_array array;
	uint64_t *sum;
};

SIMT_FN void count_scalar(const struct loop_args *a)
{
	uint64_t sum = 0;

	for (uint64_t i = simt_global_thread(); i < gn_count(&a->array); i += simt_global_threads())
		sum += gn_read_u8(&a->array, i);
	simt_add_relaxed_dev_u64(a->sum, sum);
}
SIMT_KERNEL(count_scalar, struct loop_args)

SIMT_FN void sum_scalar(const struct loop_args *a)
{
	uint64_t sum = 0;

	for (uint64_t i = simt_global_thread(); i < gn_count(&a->array); i += simt_global_threads())
		sum += gn_read_u32(&a->array, i);
	simt_add_relaxed_dev_u64(a->sum, sum);
}
SIMT_KERNEL(sum_scalar, struct loop_args)

SIMT_FN void add_scalar(const struct loop_args *a)
{
	for (uint64_t i = simt_global_thread(); i < gn_count(&a->array); i += simt_global_threads())
		gn_write_u32(&a->array, i, gn_read_u32(&a->array, i) + 1);
}
SIMT_KERNEL(add_scalar, struct loop_args)

/* A run for each thread. */
SIMT_FN struct gn_range own_run(const struct loop_args *a, uint32_t intent)
{
	const uint64_t threads = simt_global_threads(), each = (gn_count(&a->array) + threads - 1) / threads;
	const uint64_t all = gn_count(&a->array), first = simt_global_thread() * each,
	               begin = first < all ? first : all;

	return gn_range_begin(&a->array, 1u << simt_lane(), begin, all - begin < each ? all : begin + each,
	                      intent);
}

SIMT_FN void count_range(const struct loop_args *a)
{
	struct gn_range range = own_run(a, GN_READ);
	struct gn_page page;
	uint64_t sum = 0;

	while (gn_range_next(&range, &page))
		for (uint64_t k = 0; k < page.count; k++)
			sum += ((const uint8_t *)page.data)[k];
	gn_range_end(&range);
	simt_add_relaxed_dev_u64(a->sum, sum);
}
SIMT_KERNEL(count_range, struct loop_args)

SIMT_FN void sum_range(const struct loop_args *a)
{
	struct gn_range range = own_run(a, GN_READ);
	struct gn_page page;
	uint64_t sum = 0;

	while (gn_range_next(&range, &page))
		for (uint64_t k = 0; k < page.count; k++)
			sum += ((const uint32_t *)page.data)[k];
	gn_range_end(&range);
	simt_add_relaxed_dev_u64(a->sum, sum);
}
SIMT_KERNEL(sum_range, struct loop_args)

SIMT_FN void add_range(const struct loop_args *a)
{
	struct gn_range range = own_run(a, GN_WRITE);
	struct gn_page page;

	while (gn_range_next(&range, &page))
		for (uint64_t k = 0; k < page.count; k++)
			((uint32_t *)page.data)[k]++;
	gn_range_end(&range);
}
SIMT_KERNEL(add_range, struct loop_args)

enum work { COUNT, SUM, ADD };

static const struct simt_kernel *const kernels[][2] = {{&count_range_kernel, &count_scalar_kernel},
							{&sum_range_kernel, &sum_scalar_kernel},
							{&add_range_kernel, &add_scalar_kernel}};

static struct gn_error error;

static void must(int code, const char *what)
{
	if (!code)
		return;
	fprintf(stderr, "bench_file_loop: %s: %s\n", what,
	        error.text[0] ? error.text : strerror(code < 0 ? -code : code));
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t drop(const char *path)
{
	const int fd = open(path, O_RDONLY);
	const off_t bytes = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);

	must(bytes < 0 || fdatasync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), path);
	close(fd);
	return (uint64_t)bytes;
}

static uint64_t do_plainly(void *memory, uint64_t bytes, enum work work)
{
	uint32_t *word = (uint32_t *)memory;
	uint64_t sum = 0;

	for (uint64_t k = 0; work == COUNT && k < bytes; k++)
		sum += ((const uint8_t *)memory)[k];
	for (uint64_t k = 0; work == SUM && k < bytes / 4; k++)
		sum += word[k];
	for (uint64_t k = 0; work == ADD && k < bytes / 4; k++)
		word[k]++;
	return sum;
}

static uint64_t plain_mmap(int fd, uint64_t bytes, enum work work)
{
	void *map = mmap(NULL, bytes, work == ADD ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
	uint64_t sum;

	must(map == MAP_FAILED, "mmap");
	sum = do_plainly(map, bytes, work);
	must(work == ADD && msync(map, bytes, MS_SYNC), "msync");
	munmap(map, bytes);
	return sum;
}

static uint64_t plain_read(int fd, enum work work)
{
	static uint32_t words[CHUNK / 4];
	uint64_t sum = 0;
	ssize_t n;

	for (off_t at = 0; (n = pread(fd, words, CHUNK, at)) > 0; at += n) {
		sum += do_plainly(words, (uint64_t)n, work);
		must(work == ADD && pwrite(fd, words, (size_t)n, at) != n, "pwrite");
	}
	must(n < 0 || (work == ADD && fdatasync(fd)), "pread");
	return sum;
}

static void plain(const char *path, enum work work, int maps, uint64_t bytes)
{
	const int fd = open(path, work == ADD ? O_RDWR : O_RDONLY);
	const double begin = now();
	uint64_t sum;

	must(fd < 0, path);
	sum = maps ? plain_mmap(fd, bytes, work) : plain_read(fd, work);
	printf("{\"seconds\": %.4f, \"sum\": %llu}\n", now() - begin, (unsigned long long)sum);
	close(fd);
}

/* BLOCKS THREADS CACHE_MIB PAGE_BYTES */
static void paged(const char *name, const char *path, enum work work, int scalar, uint64_t bytes,
                  const uint32_t number[4])
{
	const uint32_t element_bytes = work == COUNT ? 1 : 4;
	struct gn_array_options shape = {GN_PAGED, 0, 0, 0, bytes / element_bytes, element_bytes};
	struct simt_grid grid = {number[0], number[1], 0};
	struct simt_info info;
	uint64_t sum = 0;
	struct simt_options config = {0};
	struct gn_cache_options options = {0};
	struct gn_cache_info facts;
	struct simt_machine *machine;
	struct gn_store *store;
	struct gn_cache *cache;
	struct loop_args args;
	char uri[4200];
	double begin;

	config.name = name;
	snprintf(uri, sizeof uri, "file:%s%s", path, work == ADD ? "" : "?ro");
	options.bytes = (uint64_t)number[2] << 20;
	options.page_bytes = number[3];
	must(simt_open(&machine, &config, &error), "machine");
	must(gn_store_open(&store, machine, uri, NULL, &error), "store");
	must(gn_cache_create(&cache, machine, &store, 1, &options, &error), "cache");
	shape.cache = cache;
	shape.store = store;
	must(gn_array_create(&args.array, machine, &shape, &error), "array");
	args.sum = (uint64_t *)simt_alloc(machine, sizeof *args.sum, SIMT_DEVICE);
	must(!args.sum, "memory");
	must(simt_move(machine, args.sum, &sum, sizeof sum), "sum");
	simt_describe(machine, &info);
	if (!grid.blocks)
		grid.blocks = info.resident_threads / grid.block_threads;
	begin = now();
	must(simt_launch(machine, kernels[work][scalar], grid, &args), "launch");
	must(simt_wait(machine), "kernel");
	must(gn_array_failure(&args.array, &error), "array");
	if (work == ADD)
		must(gn_cache_flush(cache, &error), "flush");
	begin = now() - begin;
	must(simt_move(machine, &sum, args.sum, sizeof sum), "sum");
	must(gn_cache_describe(cache, &facts), "cache");
	printf("{\"seconds\": %.4f, \"sum\": %llu, \"page_bytes\": %u, \"path\": \"%s\"}\n", begin,
	       (unsigned long long)sum, facts.page_bytes, gn_store_path(store));
	simt_free(machine, args.sum);
	gn_array_destroy(&args.array, machine);
	gn_cache_destroy(cache);
	gn_store_close(store);
	simt_close(machine);
}

int main(int argc, char **argv)
{
	static const char *const works[] = {"count", "sum", "add"};
	uint32_t number[4] = {4, 256, 64, 0}, work = 0;
	uint64_t bytes;

	while (argc > 4 && work < 3 && strcmp(argv[3], works[work]))
		work++;
	if (argc < 5 || argc > 9 || work == 3) {
		fprintf(stderr, "usage: bench_file_loop MACHINE FILE count|sum|add mmap|read|scalar|range "
				"[BLOCKS THREADS CACHE_MIB PAGE_BYTES]\n");
		return 2;
	}
	for (int k = 5; k < argc; k++)
		number[k - 5] = (uint32_t)strtoul(argv[k], NULL, 10);
	bytes = drop(argv[2]);
	if (!strcmp(argv[4], "mmap") || !strcmp(argv[4], "read"))
		plain(argv[2], (enum work)work, !strcmp(argv[4], "mmap"), bytes);
	else
		paged(argv[1], argv[2], (enum work)work, !strcmp(argv[4], "scalar"), bytes, number);
	return 0;
}
