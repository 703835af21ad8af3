/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory do a cache's tables take as the data grow? A sparse file of up to 10 TB behind a cache of
 * 64 MiB, for small and for ordinary pages; and an element at the far end is read, so that the cache is known
 * to work at that size.
 *
 *     bench_metadata FOLDER
 *
 * Prints one JSON object: for each size and page, the bytes of the tables and their bound.
 */
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <grapnel/array.h>

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

static int measure(struct simt_machine *m, const char *path, uint64_t bytes, uint32_t page_bytes,
                   json_t *rows, struct gn_error *e)
{
	struct gn_store_options so;
	struct gn_cache_options co;
	struct gn_cache_info facts;
	struct gn_store *store = NULL;
	struct gn_cache *cache = NULL;
	struct far_args args;
	const struct simt_grid one = {1, 1, 0};
	char uri[512];
	int rc;

	memset(&so, 0, sizeof so);
	memset(&co, 0, sizeof co);
	memset(&args, 0, sizeof args);
	snprintf(uri, sizeof uri, "file:%s?ro", path);
	so.transfer_bytes = 4096;
	co.bytes = cache_bytes;
	co.page_bytes = page_bytes;
	if (truncate(path, (off_t)bytes))
		return gn_error_set(e, -GN_EFBIG, "%s: cannot be a sparse file of %llu bytes", path,
		                    (unsigned long long)bytes);
	rc = gn_store_open(&store, m, uri, &so, e);
	if (!rc)
		rc = gn_cache_create(&cache, m, &store, 1, &co, e);
	if (!rc) {
		struct gn_array_options ac = {GN_PAGED, cache, store, 0, bytes / 8, 8};

		rc = gn_array_create(&args.array, m, &ac, e);
	}
	if (!rc)
		rc = simt_launch(m, &read_far_kernel, one, &args);
	if (!rc)
		rc = simt_wait(m);
	if (!rc)
		rc = gn_array_failure(&args.array, e);
	if (!rc)
		rc = gn_cache_describe(cache, &facts);
	if (!rc)
		json_array_append_new(rows,
		                      json_pack("{s:I, s:i, s:s, s:I, s:I}", "data_bytes", (json_int_t)bytes,
		                                "page_bytes", (int)page_bytes, "table",
		                                facts.table == GN_TABLE_DIRECT ? "direct" : "sets",
		                                "metadata_bytes", (json_int_t)facts.metadata_bytes,
		                                "bound_bytes", (json_int_t)facts.budget_bytes));
	gn_array_destroy(&args.array, m);
	if (cache)
		gn_cache_destroy(cache);
	if (store)
		gn_store_close(store);
	return rc;
}

int main(int argc, char **argv)
{
	static const uint64_t sizes[] = {1ull << 30, 100ull << 30, 1ull << 40, 10000000000000ull};
	static const uint32_t pages[] = {512, 4096};
	struct simt_machine *m = NULL;
	struct simt_options config;
	struct gn_error e = {0, ""};
	json_t *rows = json_array();
	char path[400];
	int rc, fd;

	memset(&config, 0, sizeof config);
	config.name = "cpu";
	snprintf(path, sizeof path, "%s/bench-metadata.data", argc > 1 ? argv[1] : ".");
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	if (fd >= 0)
		close(fd);
	rc = simt_open(&m, &config, &e);
	for (unsigned k = 0; k < 8 && !rc; k++)
		rc = measure(m, path, sizes[k / 2], pages[k % 2], rows, &e);
	unlink(path);
	if (rc) {
		fprintf(stderr, "bench_metadata: %s\n", e.text);
		return 1;
	}
	simt_close(m);
	rows = json_pack("{s:s, s:I, s:o}", "schema", "grapnel-bench-metadata-1", "cache_bytes",
	                 (json_int_t)cache_bytes, "rows", rows);
	json_dumpf(rows, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(rows);
	return 0;
}
