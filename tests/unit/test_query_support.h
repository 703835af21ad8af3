/* SPDX-License-Identifier: Apache-2.0 */
/* test_query_support.h - a table with drawn values in a file, and queries over it behind a store. */
#ifndef GN_TESTS_QUERY_SUPPORT_H
#define GN_TESTS_QUERY_SUPPORT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <grapnel/cache.h>
#include <grapnel/store.h>

#include "columns/values.h"
#include "columns/write.h"
#include "query/query.h"
#include "unit.h"

static struct gn_error error;
static char path[64];

static inline void must(int rc)
{
	if (rc)
		fail_msg("%s: %s", gn_error_name(rc), error.text);
}

/* ---- a table ---- */

enum { I, U, M, L, F, D, W, Q, COLUMNS };

static const struct gn_column shape[COLUMNS] = {
    {"i", GN_COLUMN_I32}, {"u", GN_COLUMN_U32}, {"m", GN_COLUMN_DECIMAL, 2}, {"l", GN_COLUMN_DECIMAL},
    {"f", GN_COLUMN_F32}, {"d", GN_COLUMN_F64}, {"w", GN_COLUMN_STRING},     {"q q", GN_COLUMN_I32},
};

static uint64_t state_of_draws = 88172645463325252u;

static inline uint64_t draw(uint64_t bound)
{
	state_of_draws ^= state_of_draws << 13;
	state_of_draws ^= state_of_draws >> 7;
	state_of_draws ^= state_of_draws << 17;
	return (state_of_draws >> 11) % bound;
}

static inline void draw_row(struct gn_table_writer *w, struct gn_cell *cells, uint64_t row)
{
	static const char *const words[] = {"a", "b''b", "", "long word"};
	const char *word = words[draw(4)];

	for (int k = 0; k < COLUMNS; k++)
		cells[k].missing = !draw(12);
	cells[I].value.exact = (int64_t)draw(2001) - 1000;
	cells[U].value.exact = (int64_t)(row / 3); /* ascends: zones can be skipped */
	cells[M].value.exact = (int64_t)draw(200001) - 100000;
	cells[L].value.exact = (int64_t)draw(2000000000) - 1000000000;
	cells[F].value.real = ((double)draw(4001) - 2000) / 8;
	cells[D].value.real = draw(9) ? ((double)draw(2000001) - 1000000) / 7 : 0;
	cells[Q].value.exact = (int64_t)draw(5);
	must(gn_table_word(w, W, word, strlen(word), &cells[W].value, &error));
}

static inline void make_table(struct gn_table_file *f, uint64_t rows)
{
	struct gn_table_writer *w;
	struct gn_cell cells[COLUMNS];

	must(gn_table_writer_begin(&w, path, shape, COLUMNS, rows, &error));
	for (uint64_t row = 0; row < rows; row++) {
		draw_row(w, cells, row);
		must(gn_table_writer_row(w, cells, &error));
	}
	must(gn_table_writer_end(w, &error));
	must(gn_table_open(f, path, &error));
}

static inline int open_path(void **state)
{
	int fd;

	(void)state;
	strcpy(path, "/tmp/grapnel-query-XXXXXX");
	fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static inline int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

/* ---- the table behind a store ---- */

struct how {
	unsigned width;
	uint32_t page; /* 0: direct */
	const char *scheme;
	uint64_t at_once;
};

static const struct how ways[] = {{1, 512, "host", 0},
                                  {32, 512, "host", 0},
                                  {32, 4096, "file", 2},
                                  {1, 4096, "file", 0},
                                  {8, 0, "host", 3}};

/* A file's queues take long to open and to close: of the runs over files one in eight is done. */
static inline int is_left_out(const struct how *how)
{
	static unsigned files;

	return !strcmp(how->scheme, "file") && files++ % 8;
}

struct far {
	struct simt_machine *machine;
	struct gn_store *store;
	struct gn_cache *cache;
	struct gn_array arrays[GN_QUERY_COLUMNS];
};

static inline void open_arrays(struct far *x, const struct gn_query *q, int direct)
{
	struct gn_array_options a = {direct ? GN_DIRECT : GN_PAGED, x->cache, x->store, 0, q->table->rows, 0};

	for (uint32_t k = 0; k < q->compiler.columns; k++) {
		const struct gn_column *c = &q->table->columns[q->compiler.column[k]];

		a.offset = q->table->rows ? c->data.at : 0;
		a.element_bytes = gn_column_width(c->type);
		must(gn_array_create(&x->arrays[k], x->machine, &a, &error));
	}
}

static inline void open_far(struct far *x, const struct gn_query *q, const struct how *how)
{
	struct gn_cache_options c = {0};
	struct simt_options m = {0};
	char uri[128];

	memset(x, 0, sizeof *x);
	m.name = "cpu";
	m.threads = 2;
	m.warp_width = how->width;
	must(simt_open(&x->machine, &m, &error));
	snprintf(uri, sizeof uri, "%s:%s?ro", how->scheme, path);
	must(gn_store_open(&x->store, x->machine, uri, NULL, &error));
	c.page_bytes = how->page;
	c.bytes = 16 * how->page;
	if (how->page)
		must(gn_cache_create(&x->cache, x->machine, &x->store, 1, &c, &error));
	open_arrays(x, q, !how->page);
}

static inline void close_far(struct far *x, const struct gn_query *q)
{
	for (uint32_t k = 0; k < q->compiler.columns; k++)
		gn_array_destroy(&x->arrays[k], x->machine);
	if (x->cache)
		gn_cache_destroy(x->cache);
	gn_store_close(x->store);
	simt_close(x->machine);
}

static inline int run(const struct gn_query *q, const struct how *how, struct gn_query_result *result)
{
	struct far x;
	int rc;

	open_far(&x, q, how);
	rc = gn_query_run(q, x.machine, x.arrays, how->at_once, result, NULL, &error);
	close_far(&x, q);
	return rc;
}

#endif
