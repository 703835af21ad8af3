/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory do a cache's tables take as the data grow? A sparse file of up to 10 TB behind a cache of
 * 64 MiB, for small and for ordinary pages; and an element at the far end is read, so that the cache is known
 * to work at that size.
 *
 *     bench_metadata [folder=.]
 *
 * Prints one JSON object: for each size and page, the bytes of the tables and their bound.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <grapnel/grapnel.h>

#include "support/engine.h"

struct far_args {
	struct gn_array array;
};

SIMT_FN void read_far(const struct far_args *a)
{
	uint64_t zero = 0;

	/* a read that fails is kept by the array; a hole that is not zero is kept the same way */
	if (!gn_array_read(&a->array, gn_count(&a->array) - 1, &zero) && zero) {
		a->array.failure->code = -GN_EBADMSG;
		a->array.failure->state = 2;
	}
}
SIMT_KERNEL(read_far, struct far_args)

static const uint64_t cache_bytes = 64u << 20;
static char path[400];

static json_t *measure(uint64_t bytes, uint32_t page_bytes)
{
	const struct simt_grid one = {1, 1, 0};
	struct gn_options options = {0};
	struct gn_error e = {0, ""};
	struct gn_cache_info facts;
	struct gn_data data;
	struct far_args args;
	char uri[512];

	snprintf(uri, sizeof uri, "file:%s?ro", path);
	options.element_bytes = 8;
	options.store.transfer_bytes = 4096;
	options.cache.bytes = cache_bytes;
	options.cache.page_bytes = page_bytes;
	bench_must(truncate(path, (off_t)bytes), "the file cannot be a sparse one of so many bytes");
	bench_must(gn_open(&data, uri, &options, &e), e.text);
	args.array = data.array;
	bench_must(gn_launch(&data, &read_far_kernel, one, &args, &e), e.text);
	bench_must(gn_cache_describe(data.cache, &facts, &e), e.text);
	bench_must(gn_close(&data, &e), e.text);
	return json_pack("{s:I, s:i, s:s, s:I, s:I}", "data_bytes", (json_int_t)bytes, "page_bytes",
	                 (int)page_bytes, "table", facts.table == GN_TABLE_DIRECT ? "direct" : "sets",
	                 "metadata_bytes", (json_int_t)facts.metadata_bytes, "bound_bytes",
	                 (json_int_t)facts.budget_bytes);
}

static void drop(void)
{
	unlink(path);
}

int main(int argc, char **argv)
{
	static const uint64_t sizes[] = {1ull << 30, 100ull << 30, 1ull << 40, 10000000000000ull};
	json_t *rows = json_array();
	FILE *file;

	bench_begin(argc, argv, "folder");
	snprintf(path, sizeof path, "%s/bench-metadata.data", bench_text("folder", "."));
	file = fopen(path, "w");
	bench_must(!file || fclose(file) || atexit(drop), path);
	for (unsigned k = 0; k < 8; k++)
		json_array_append_new(rows, measure(sizes[k / 2], k % 2 ? 4096 : 512));
	bench_print(json_pack("{s:s, s:I, s:o}", "schema", "grapnel-bench-metadata-1", "cache_bytes",
	                      (json_int_t)cache_bytes, "rows", rows));
	return 0;
}
