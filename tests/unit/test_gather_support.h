/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_gather_support.h - a batch of rows over an array of any kind, every way to move it, and a copy of what
 * the store should hold.
 */
#ifndef GN_TESTS_GATHER_SUPPORT_H
#define GN_TESTS_GATHER_SUPPORT_H

#include <grapnel/gather.h>

#include "test_cache_support.h"

/*
 * FEW: what the host launches for few rows of far data on a GPU. Its scatters are a block's, and so are its
 * gathers from other arrays.
 */
enum way { HOST, BLOCK, GRID, FEW, WAYS };

/* What a trial is made of. */
struct shape {
	const char *store;                 /* URI before its size; a colon follows unless it ends in = */
	uint64_t bytes;                    /* of the store */
	uint32_t page_bytes, frames, ways; /* of the cache; ways 0: direct table; frames 0: a direct array */
	uint32_t element_bytes;
	uint32_t elements; /* of a row */
	uint64_t offset;   /* of the array, in elements */
	uint64_t count;    /* rows of the batch */
	uint64_t most;     /* numbers are drawn below this; 0: the rows that there are */
};

struct fixture {
	struct cache_test *t;
	const struct shape *shape;
	struct gn_array array;
	uint64_t array_rows;
	uint32_t row_bytes;
	char *shadow; /* what the array should hold */
	struct gn_batch batch;
	uint64_t seed;
};

static inline uint64_t draw(struct fixture *b, uint64_t bound)
{
	b->seed = b->seed * 6364136223846793005u + 1442695040888963407u;
	return (b->seed >> 20) % bound;
}

/* ---- the device forms ---- */

struct move_args {
	struct gn_gather_view view;
	struct gn_array array;
	struct gn_batch batch;
	struct gn__job few; /* FEW: if it has rows, else it is a block's */
	int32_t *rc;
	uint32_t way, is_scatter;
};

SIMT_FN int move_rows(const struct move_args *a)
{
	if (a->way == FEW && a->few.count) {
		gn__gather_few(&a->few);
		return 0;
	}
	if (a->way == GRID)
		return a->is_scatter ? gn_scatter_grid(&a->view, &a->array, &a->batch, simt_shared())
		                     : gn_gather_grid(&a->view, &a->array, &a->batch, simt_shared());
	return a->is_scatter ? gn_scatter_block(&a->array, &a->batch, simt_shared())
	                     : gn_gather_block(&a->array, &a->batch, simt_shared());
}

SIMT_FN void move_all(const struct move_args *a)
{
	const int rc = move_rows(a);

	if (rc)
		*a->rc = rc;
}
SIMT_KERNEL(move_all, struct move_args)

static inline void few_of(struct fixture *b, struct move_args *args)
{
	struct simt_info info;

	if (args->is_scatter || !b->batch.count || !(b->array.memory || b->array.pages.backing))
		return;
	simt_describe(b->t->machine, &info);
	gn__few_fill(&args->few, &b->array, &b->batch, info.warp_width);
}

static inline int move_on_device(struct fixture *b, struct gn_gather *g, enum way way, int is_scatter)
{
	struct simt_grid grid = {1, 64, GN_GATHER_SHARED};
	struct move_args args;
	int rc;

	memset(&args, 0, sizeof args);
	args.is_scatter = (uint32_t)is_scatter;
	if (way == FEW)
		few_of(b, &args);
	grid.blocks = way == GRID || args.few.count ? 3 : 1;
	args.view = gn_gather_view_of(g);
	args.array = b->array;
	args.batch = b->batch;
	args.rc = (int32_t *)simt_alloc(b->t->machine, sizeof *args.rc, SIMT_PINNED, NULL);
	args.way = way;
	assert_int_equal(simt_launch(b->t->machine, &move_all_kernel, grid, &args, NULL), 0);
	assert_int_equal(simt_wait(b->t->machine, NULL), 0);
	rc = *args.rc;
	simt_free(b->t->machine, args.rc);
	return rc;
}

static inline int move_batch(struct fixture *b, enum way way, int is_scatter)
{
	struct gn_gather *g;
	int rc;

	assert_int_equal(gn_gather_create(&g, b->t->machine, b->batch.count + 1, &b->t->error), 0);
	if (way == HOST) {
		rc = (is_scatter ? gn_scatter_rows : gn_gather_rows)(g, &b->array, &b->batch, &b->t->error);
		assert_int_equal(simt_wait(b->t->machine, &b->t->error), 0);
	} else {
		rc = move_on_device(b, g, way, is_scatter);
	}
	gn_gather_destroy(g);
	return rc;
}

/* ---- set up ---- */

static inline void open_machine_of(struct cache_test *t, unsigned threads, unsigned width)
{
	simt_free(t->machine, t->held);
	simt_close(t->machine);
	t->machine = open_machine(threads, width);
	t->held = (struct gn_page *)simt_alloc(t->machine, MOST_HELD * sizeof *t->held, SIMT_PINNED, NULL);
}

/*
 * Write a third of the elements through the array, so that frames are dirty and some have been written back.
 */
static inline void make_dirty(struct fixture *b)
{
	const uint32_t size = b->shape->element_bytes;
	const uint64_t writes = b->array.count / 3 < 300 ? b->array.count / 3 : 300;
	struct act *act = (struct act *)calloc(writes + 1, sizeof *act);

	for (uint64_t k = 0; k < writes; k++) {
		act[k].op = ACT_WRITE;
		act[k].index = draw(b, b->array.count);
		act[k].value[0] = draw(b, UINT64_MAX);
		act[k].value[1] = draw(b, UINT64_MAX);
		memcpy(b->shadow + act[k].index * size, act[k].value, size);
	}
	run_acts(b->t, &b->array, act, 1, (uint32_t)writes);
	for (uint64_t k = 0; k < writes; k++)
		assert_int_equal(act[k].rc, 0);
	free(act);
}

static inline void open_array(struct fixture *b)
{
	const struct shape *s = b->shape;
	struct gn_cache_options o;
	char uri[96];

	memset(&o, 0, sizeof o);
	o.bytes = (uint64_t)s->frames * s->page_bytes;
	o.page_bytes = s->page_bytes;
	o.ways = s->ways ? s->ways : 1;
	o.table = s->ways ? GN_TABLE_SETS : GN_TABLE_DIRECT;
	o.statistics = 1;
	snprintf(uri, sizeof uri, "%s%s%llu", s->store, strchr(s->store, '=') ? "" : ":",
	         (unsigned long long)s->bytes);
	open_store(b->t, uri, NULL);
	fill_store(b->t, b->t->store);
	if (s->frames)
		open_cache(b->t, &o);
	b->array =
	    make_array(b->t, s->frames ? GN_PAGED : GN_DIRECT, b->t->store, s->offset * s->element_bytes,
	               s->bytes / s->element_bytes - s->offset, s->element_bytes);
	b->row_bytes = s->elements * s->element_bytes;
	b->array_rows = b->array.count / s->elements;
	b->shadow = (char *)calloc(1, s->bytes + 8);
	assert_int_equal(gn_store_read_host(b->t->store, s->offset * s->element_bytes, b->shadow,
	                                    b->array.count * s->element_bytes, &b->t->error),
	                 0);
}

static inline void open_batch(struct fixture *b)
{
	const uint64_t bytes = b->shape->count * b->row_bytes;
	uint64_t *index =
	    (uint64_t *)simt_alloc(b->t->machine, (b->shape->count + 1) * sizeof *index, SIMT_PINNED, NULL);

	for (uint64_t k = 0; k < b->shape->count; k++)
		index[k] = draw(b, b->shape->most ? b->shape->most : b->array_rows);
	b->batch.index = index;
	b->batch.rows = simt_alloc(b->t->machine, bytes + 16, SIMT_PINNED, NULL);
	b->batch.count = b->shape->count;
	b->batch.elements = b->shape->elements;
	memset(b->batch.rows, 0xee, bytes);
}

static inline struct fixture open_fixture(struct cache_test *t, const struct shape *shape, uint64_t seed)
{
	struct fixture b;

	memset(&b, 0, sizeof b);
	b.t = t;
	b.shape = shape;
	b.seed = seed;
	open_array(&b);
	make_dirty(&b);
	open_batch(&b);
	return b;
}

static inline void close_fixture(struct fixture *b)
{
	simt_free(b->t->machine, (void *)(uintptr_t)b->batch.index);
	simt_free(b->t->machine, b->batch.rows);
	gn_array_destroy(&b->array, b->t->machine);
	free(b->shadow);
	close_store(b->t);
}

/* ---- what should have come of it ---- */

static inline void check_failure(struct fixture *b)
{
	int beyond = 0;

	for (uint64_t k = 0; k < b->batch.count; k++)
		beyond |= b->batch.index[k] >= b->array_rows;
	assert_int_equal(gn_array_failure(&b->array, &b->t->error), beyond ? -GN_ERANGE : 0);
}

static inline void check_gathered(struct fixture *b)
{
	char *zero = (char *)calloc(1, b->row_bytes);

	for (uint64_t k = 0; k < b->batch.count; k++) {
		const uint64_t row = b->batch.index[k];
		const char *want = row < b->array_rows ? b->shadow + row * b->row_bytes : zero;

		if (memcmp((char *)b->batch.rows + k * b->row_bytes, want, b->row_bytes))
			fail_msg("place %llu of %llu, row %llu: not its bytes", (unsigned long long)k,
			         (unsigned long long)b->batch.count, (unsigned long long)row);
	}
	free(zero);
}

/* Every element as a scalar read sees it. */
static inline void check_array(struct fixture *b)
{
	const uint32_t size = b->shape->element_bytes;
	struct act *act = (struct act *)calloc(b->array.count, sizeof *act);

	for (uint64_t k = 0; k < b->array.count; k++) {
		act[k].op = ACT_READ;
		act[k].index = k;
	}
	run_acts(b->t, &b->array, act, 1, (uint32_t)b->array.count);
	for (uint64_t k = 0; k < b->array.count; k++)
		if (act[k].rc || memcmp(act[k].value, b->shadow + k * size, size))
			fail_msg("element %llu: not what was written (%d)", (unsigned long long)k, act[k].rc);
	free(act);
}

static inline void fill_rows(struct fixture *b)
{
	char *rows = (char *)b->batch.rows;

	for (uint64_t k = 0; k < b->batch.count * b->row_bytes; k++)
		rows[k] = (char)draw(b, 256);
	for (uint64_t k = 0; k < b->batch.count; k++)
		if (b->batch.index[k] < b->array_rows)
			memcpy(b->shadow + b->batch.index[k] * b->row_bytes, rows + k * b->row_bytes,
			       b->row_bytes);
}

static inline void gather_and_scatter(struct cache_test *t, const struct shape *shape, enum way way,
                                      uint64_t seed)
{
	struct fixture b = open_fixture(t, shape, seed);

	assert_int_equal(move_batch(&b, way, 0), 0);
	check_gathered(&b);
	check_failure(&b);
	fill_rows(&b);
	assert_int_equal(move_batch(&b, way, 1), 0);
	check_failure(&b);
	check_array(&b);
	close_fixture(&b);
}

#endif
