/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_loop.c - one run of a loop over a file, by a machine or without one. bench/file_loop.py runs it and
 * says what for.
 *
 *     bench_file_loop file=FILE work=count|sum|add way=mmap|read|scalar|range [machine=cpu] [blocks=4]
 *                     [threads=256] [cache=64] [page=0]
 *
 * count: the sum of all bytes. sum: of all 4-byte words. add: 1 is added to each 4-byte word. blocks=0: as
 * many as the machine runs at once. cache: MiB. The file's page cache is dropped before. Prints JSON.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <grapnel/grapnel.h>

#include "support/engine.h"

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

static uint64_t drop(const char *path)
{
	const int fd = open(path, O_RDONLY);
	const off_t bytes = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);

	bench_must(bytes < 0 || fdatasync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), path);
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

	bench_must(map == MAP_FAILED, "mmap");
	sum = do_plainly(map, bytes, work);
	bench_must(work == ADD && msync(map, bytes, MS_SYNC), "msync");
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
		bench_must(work == ADD && pwrite(fd, words, (size_t)n, at) != n, "pwrite");
	}
	bench_must(n < 0 || (work == ADD && fdatasync(fd)), "pread");
	return sum;
}

static void plain(const char *path, enum work work, int maps, uint64_t bytes)
{
	const int fd = open(path, work == ADD ? O_RDWR : O_RDONLY);
	const double begin = scope_clock();
	double seconds;
	uint64_t sum;

	bench_must(fd < 0, path);
	sum = maps ? plain_mmap(fd, bytes, work) : plain_read(fd, work);
	seconds = scope_clock() - begin;
	close(fd);
	bench_print(json_pack("{s:f, s:I}", "seconds", seconds, "sum", (json_int_t)sum));
}

static void paged(const char *path, enum work work, int scalar)
{
	const struct simt_grid grid = {(uint32_t)bench_number("blocks", 4),
	                               (uint32_t)bench_number("threads", 256), 0};
	struct gn_options options = {0};
	struct gn_error e = {0, ""};
	struct gn_cache_info facts;
	struct loop_args args;
	struct gn_data data;
	char uri[4200];
	double seconds;
	uint64_t sum = 0;

	snprintf(uri, sizeof uri, "file:%s%s", path, work == ADD ? "" : "?ro");
	options.machine = bench_text("machine", "cpu");
	options.element_bytes = work == COUNT ? 1 : 4;
	options.cache.bytes = bench_number("cache", 64) << 20;
	options.cache.page_bytes = (uint32_t)bench_number("page", 0);
	bench_must(gn_open(&data, uri, &options, &e), e.text);
	args.array = data.array;
	args.sum = (uint64_t *)bench_alloc(data.machine, sizeof *args.sum, SIMT_DEVICE);
	seconds = scope_clock();
	bench_must(gn_launch(&data, kernels[work][scalar], grid, &args, &e), e.text);
	if (work == ADD)
		bench_must(gn_flush(&data, &e), e.text);
	seconds = scope_clock() - seconds;
	bench_must_run(simt_move(data.machine, &sum, args.sum, sizeof sum, &bench_error));
	bench_must(gn_cache_describe(data.cache, &facts, &e), e.text);
	bench_print(json_pack("{s:f, s:I, s:i, s:s}", "seconds", seconds, "sum", (json_int_t)sum,
	                      "page_bytes", (int)facts.page_bytes, "path", gn_store_path(data.store)));
	simt_free(data.machine, args.sum);
	bench_must(gn_close(&data, &e), e.text);
}

int main(int argc, char **argv)
{
	static const char *const works[] = {"count", "sum", "add", NULL};
	static const char *const ways[] = {"mmap", "read", "scalar", "range", NULL};
	const char *file;
	enum work work;
	uint64_t bytes;
	int way;

	bench_begin(argc, argv, "file work way machine blocks threads cache page");
	file = bench_text("file", "");
	work = (enum work)bench_word("work", works);
	way = bench_word("way", ways);
	bytes = drop(file);
	if (way < 2)
		plain(file, work, way == 0, bytes);
	else
		paged(file, work, way == 2);
	return 0;
}
