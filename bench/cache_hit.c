/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What does a hit cost one thread at warp width 1, by each way to read an element? It is what the optimistic
 * scalar read (against a pin and an unpin for each read) and the direct table (against sets) were chosen by.
 *
 *     bench_cache_hit [RUNS]
 *
 * 4-byte elements, 16 MiB of them, all in the cache; consecutive, and in a random order.
 * Prints one JSON object: nanoseconds a read, the median of RUNS (default 5), for both tables; a plain
 * pointer is the limit. Every run's sum is checked.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grapnel/array.h>

enum { ELEMENTS_LOG2 = 22, ELEMENTS = 1 << ELEMENTS_LOG2, MOST_RUNS = 101 };

enum way { PLAIN, SCALAR, PINNED, CURSOR, PAGE, WAYS };

static const char *const way_names[WAYS] = {"plain pointer", "scalar, optimistic", "scalar, pinned", "cursor",
                                            "page reference"};

struct hit_args {
	struct gn_array array;
	const uint32_t *plain;
	uint64_t *sum;
	uint32_t way, random;
};

/* The element to read k-th: an odd factor and a fold are permutations. */
SIMT_FN uint32_t index_of(const struct hit_args *a, uint32_t k)
{
	const uint32_t mask = ELEMENTS - 1;
	uint32_t mixed = k * 2654435761u & mask;

	return a->random ? (mixed ^ mixed >> 11) * 2246822519u & mask : k;
}

SIMT_FN uint64_t read_plain(const struct hit_args *a)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < ELEMENTS; k++)
		sum += simt_load_relaxed_dev_u32(&a->plain[index_of(a, k)]);
	return sum;
}

SIMT_FN uint64_t read_scalar(const struct hit_args *a)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < ELEMENTS; k++)
		sum += gn_read_u32(&a->array, index_of(a, k));
	return sum;
}

SIMT_FN uint64_t read_cursor(const struct hit_args *a)
{
	struct gn_cursor c = gn_cursor_init(&a->array);
	uint64_t sum = 0;

	for (uint32_t k = 0; k < ELEMENTS; k++)
		sum += gn_cursor_read_u32(&c, index_of(a, k));
	return sum;
}

/* A pin and an unpin for each element. */
SIMT_FN uint64_t read_pinned(const struct hit_args *a)
{
	struct gn_page page;
	uint64_t sum = 0;

	for (uint32_t k = 0; k < ELEMENTS; k++) {
		uint32_t index = index_of(a, k);

		if (gn_array_acquire(&a->array, 1, index, 0, &page))
			return 0;
		sum += ((const uint32_t *)page.data)[index - page.first];
		gn_array_release(&a->array, 1, &page);
	}
	return sum;
}

/* A pin for each page; its elements by plain loads. */
SIMT_FN uint64_t read_pages(const struct hit_args *a)
{
	struct gn_page page;
	uint64_t sum = 0;

	for (uint64_t index = 0; index < ELEMENTS; index += page.count) {
		if (gn_array_acquire(&a->array, 1, index, 0, &page))
			return 0;
		for (uint64_t k = 0; k < page.count; k++)
			sum += ((const uint32_t *)page.data)[k];
		gn_array_release(&a->array, 1, &page);
	}
	return sum;
}

SIMT_FN void read_all(const struct hit_args *a)
{
	switch (a->way) {
	case PLAIN: *a->sum = read_plain(a); break;
	case SCALAR: *a->sum = read_scalar(a); break;
	case PINNED: *a->sum = read_pinned(a); break;
	case CURSOR: *a->sum = read_cursor(a); break;
	default: *a->sum = read_pages(a);
	}
}
SIMT_KERNEL(read_all, struct hit_args)

/* ---- host ---- */

struct bench {
	struct simt_machine *machine;
	struct gn_store *store;
	struct gn_cache *cache;
	struct hit_args args;
	uint64_t sum, expected;
	unsigned runs;
	struct gn_error error;
};

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* One run's nanoseconds a read, or a negative code. */
static double run(struct bench *b)
{
	const struct simt_grid one = {1, 1, 0};
	uint64_t began = simt_clock_ns();
	int rc;

	b->sum = 0;
	rc = simt_launch(b->machine, &read_all_kernel, one, &b->args);
	if (!rc)
		rc = simt_wait(b->machine);
	if (rc)
		return gn_error_set(&b->error, rc, "%s", simt_message(b->machine));
	if (b->sum != b->expected)
		return gn_error_set(&b->error, -GN_EBADMSG, "%s: a wrong sum", way_names[b->args.way]);
	return (double)(simt_clock_ns() - began) / ELEMENTS;
}

/* The median behind a run that warms up. */
static double median(struct bench *b)
{
	double ns[MOST_RUNS];

	if (run(b) < 0)
		return -1;
	for (unsigned k = 0; k < b->runs; k++) {
		ns[k] = run(b);
		if (ns[k] < 0)
			return -1;
	}
	qsort(ns, b->runs, sizeof *ns, compare);
	return ns[b->runs / 2];
}

static int measure(struct bench *b, const char *table, json_t *rows)
{
	for (uint32_t way = 0; way < WAYS; way++)
		for (uint32_t random = 0; random < 2; random++) {
			double ns;

			if (way == PAGE && random)
				continue;
			b->args.way = way;
			b->args.random = random;
			ns = median(b);
			if (ns < 0)
				return b->error.code;
			json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:f}", "table", table, "way",
			                                      way_names[way], "order",
			                                      random ? "random" : "consecutive", "ns", ns));
		}
	return 0;
}

static int with_table(struct bench *b, enum gn_cache_table table, json_t *rows)
{
	struct gn_cache_options options;
	struct gn_array_options config;
	int rc;

	memset(&options, 0, sizeof options);
	options.bytes = 2 * ELEMENTS * sizeof(uint32_t);
	options.table = table;
	rc = gn_cache_create(&b->cache, b->machine, &b->store, 1, &options, &b->error);
	if (rc)
		return rc;
	memset(&config, 0, sizeof config);
	config.cache = b->cache;
	config.store = b->store;
	config.count = ELEMENTS;
	config.element_bytes = 4;
	rc = gn_array_create(&b->args.array, b->machine, &config, &b->error);
	if (!rc) {
		rc = measure(b, table == GN_TABLE_DIRECT ? "direct" : "sets", rows);
		gn_array_destroy(&b->args.array, b->machine);
	}
	gn_cache_destroy(b->cache);
	return rc;
}

static int open_store(struct bench *b)
{
	struct simt_options config;
	uint32_t *values;
	char uri[32];
	int rc;

	memset(&config, 0, sizeof config);
	config.name = "cpu";
	config.threads = 1;
	rc = simt_open(&b->machine, &config, &b->error);
	if (rc)
		return rc;
	snprintf(uri, sizeof uri, "host:%zu", ELEMENTS * sizeof(uint32_t));
	rc = gn_store_open(&b->store, b->machine, uri, NULL, &b->error);
	if (rc)
		return rc;
	values = (uint32_t *)(void *)gn_store_view_of(b->store)->memory;
	for (uint32_t k = 0; k < ELEMENTS; k++)
		b->expected += values[k] = k * 2246822519u;
	b->args.plain = values;
	b->args.sum = &b->sum;
	return 0;
}

int main(int argc, char **argv)
{
	struct bench b;
	json_t *rows = json_array();
	int rc;

	memset(&b, 0, sizeof b);
	b.runs = argc > 1 ? (unsigned)atoi(argv[1]) : 5;
	if (b.runs < 1 || b.runs > MOST_RUNS) {
		fprintf(stderr, "usage: %s [RUNS], from 1 to %d\n", argv[0], MOST_RUNS);
		return 2;
	}
	rc = open_store(&b);
	if (!rc)
		rc = with_table(&b, GN_TABLE_DIRECT, rows);
	if (!rc)
		rc = with_table(&b, GN_TABLE_SETS, rows);
	gn_store_close(b.store);
	if (b.machine)
		simt_close(b.machine);
	if (rc) {
		fprintf(stderr, "bench_cache_hit: %s\n", b.error.text);
		return 1;
	}
	rows = json_pack("{s:s, s:i, s:i, s:o}", "schema", "grapnel-bench-cache-hit-1", "element_bytes", 4,
	                 "runs", (int)b.runs, "rows", rows);
	json_dumpf(rows, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(4));
	putchar('\n');
	json_decref(rows);
	return 0;
}
