/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stress of arrays: every function that a kernel calls on an array, with every type of elements, while pages
 * come and go in a cache of few frames; with the default page size, too. A mirror in device memory has what
 * the store must hold in the end: a thread, a warp or a block alone reads and writes what is its own, and
 * compares what it reads with the mirror.
 */
#include "../model/draw.h"
#include "stress.h"

#include <grapnel/gather.h>
#include <stdio.h>
#include <stdlib.h>

enum type { U8, U16, U32, U64, I8, I16, I32, I64, F32, F64, WIDE, TYPES };
enum kind { READ, CURSOR, STATUS, CHANGE, RANGE, EACH, ROWS, FAILED, KINDS };
enum { EACH_OWNS = 3, RUN = 700, MOST_ROWS = 64, ROW = 8 };

static const uint32_t size_of[TYPES] = {1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 16};

struct wide {
	uint64_t low, high;
};

struct view {
	struct gn_array elements; /* of the round's type: k % threads is whose it is */
	struct gn_array runs;     /* of 4 bytes: RUN in a row are a warp's */
	struct gn_array rows;     /* of 8 bytes: ROW a row, MOST_ROWS rows a block's */
	char *elements_mirror;
	uint32_t *runs_mirror;
	uint64_t *rows_mirror;
	uint64_t *index; /* [blocks][MOST_ROWS] */
	uint64_t *batch; /* [blocks][MOST_ROWS * ROW] */
	uint32_t *wrong; /* [KINDS] */
	uint64_t seed;
	uint32_t type, steps;
};

SIMT_FN void wrong(const struct view *v, enum kind kind, int is)
{
	if (is)
		simt_add_relaxed_dev_u32(&v->wrong[kind], 1);
}

/* ---- one element ---- */

/* An element of this thread's own. */
SIMT_FN uint64_t draw_own(uint64_t *random)
{
	return simt_global_thread() + draw_below(random, EACH_OWNS) * simt_global_threads();
}

/* The value form, a cursor, and the forms that return a status. */
#define USE(name, T, READ_ONE, WRITE_ONE, READ_BY)                                                    \
	SIMT_FN void name(const struct view *v, struct gn_cursor *c, uint64_t *random)                \
	{                                                                                             \
		const uint64_t k = draw_own(random);                                                  \
		const uint32_t way = draw_below(random, 5);                                           \
		const T next = (T)(draw(random) >> 57);                                               \
		T *mirror = (T *)(void *)v->elements_mirror + k, value = 0;                           \
                                                                                                      \
		if (way < 2) {                                                                        \
			value = way ? READ_BY(c, k) : READ_ONE(&v->elements, k);                      \
			wrong(v, way ? CURSOR : READ, value != *mirror);                              \
		} else if (way == 2) {                                                                \
			wrong(v, STATUS, gn_array_read(&v->elements, k, &value) || value != *mirror); \
		} else {                                                                              \
			*mirror = next;                                                               \
			wrong(v, FAILED,                                                              \
			      way == 3 ? WRITE_ONE(&v->elements, k, next)                             \
			               : gn_array_write(&v->elements, k, &next));                     \
		}                                                                                     \
	}

USE(use_u8, uint8_t, gn_read_u8, gn_write_u8, gn_cursor_read_u8)
USE(use_u16, uint16_t, gn_read_u16, gn_write_u16, gn_cursor_read_u16)
USE(use_u32, uint32_t, gn_read_u32, gn_write_u32, gn_cursor_read_u32)
USE(use_u64, uint64_t, gn_read_u64, gn_write_u64, gn_cursor_read_u64)
USE(use_i8, int8_t, gn_read_i8, gn_write_i8, gn_cursor_read_i8)
USE(use_i16, int16_t, gn_read_i16, gn_write_i16, gn_cursor_read_i16)
USE(use_i32, int32_t, gn_read_i32, gn_write_i32, gn_cursor_read_i32)
USE(use_i64, int64_t, gn_read_i64, gn_write_i64, gn_cursor_read_i64)
USE(use_f32, float, gn_read_f32, gn_write_f32, gn_cursor_read_f32)
USE(use_f64, double, gn_read_f64, gn_write_f64, gn_cursor_read_f64)

/* Elements of 16 bytes have no value form. */
SIMT_FN void use_wide(const struct view *v, uint64_t *random)
{
	const uint64_t k = draw_own(random);
	struct wide *mirror = (struct wide *)(void *)v->elements_mirror + k, value = {0, 0};

	if (draw_chance(random, 50)) {
		wrong(v, FAILED, gn_array_read(&v->elements, k, &value));
		wrong(v, STATUS, value.low != mirror->low || value.high != mirror->high);
		return;
	}
	mirror->low = draw(random);
	mirror->high = draw(random);
	wrong(v, FAILED, gn_array_write(&v->elements, k, mirror));
}

/* ---- changes as one step, and several elements by a cursor ---- */

/* All elements of this thread at once. */
#define EVERY(name, T, READ_EVERY)                                                           \
	SIMT_FN void name(const struct view *v, struct gn_cursor *c)                         \
	{                                                                                    \
		const uint64_t first = simt_global_thread(), stride = simt_global_threads(); \
		const T *mirror = (const T *)(const void *)v->elements_mirror;               \
		T value[EACH_OWNS];                                                          \
                                                                                             \
		wrong(v, FAILED, READ_EVERY(c, first, stride, EACH_OWNS, value));            \
		for (uint32_t n = 0; n < EACH_OWNS; n++)                                     \
			wrong(v, CURSOR, value[n] != mirror[first + n * stride]);            \
	}

EVERY(every_u32, uint32_t, gn_cursor_read_every_u32)
EVERY(every_u64, uint64_t, gn_cursor_read_every_u64)
EVERY(every_f32, float, gn_cursor_read_every_f32)
EVERY(every_f64, double, gn_cursor_read_every_f64)

#define CHANGES(name, T, ADD, MIN, MAX, CAS)                                              \
	SIMT_FN void name(const struct view *v, uint64_t *random)                         \
	{                                                                                 \
		const uint64_t k = draw_own(random);                                      \
		const T by = (T)(draw(random) >> 3);                                      \
		T *mirror = (T *)(void *)v->elements_mirror + k;                          \
		const T before = *mirror;                                                 \
                                                                                          \
		switch (draw_below(random, 4)) {                                          \
		case 0:                                                                   \
			*mirror += by;                                                    \
			wrong(v, CHANGE, ADD(&v->elements, k, by) != before);             \
			break;                                                            \
		case 1:                                                                   \
			*mirror = by < before ? by : before;                              \
			wrong(v, CHANGE, MIN(&v->elements, k, by) != before);             \
			break;                                                            \
		case 2:                                                                   \
			*mirror = by > before ? by : before;                              \
			wrong(v, CHANGE, MAX(&v->elements, k, by) != before);             \
			break;                                                            \
		default:                                                                  \
			wrong(v, CHANGE, CAS(&v->elements, k, before + 1, by) != before); \
			*mirror = by;                                                     \
			wrong(v, CHANGE, CAS(&v->elements, k, before, by) != before);     \
		}                                                                         \
	}

CHANGES(change_u32, uint32_t, gn_add_u32, gn_min_u32, gn_max_u32, gn_cas_u32)
CHANGES(change_u64, uint64_t, gn_add_u64, gn_min_u64, gn_max_u64, gn_cas_u64)

/* Whole numbers, whose sums are exact. */
#define ADDS(name, T, ADD)                                             \
	SIMT_FN void name(const struct view *v, uint64_t *random)      \
	{                                                              \
		const uint64_t k = draw_own(random);                   \
		const T by = (T)draw_below(random, 100);               \
		T *mirror = (T *)(void *)v->elements_mirror + k;       \
                                                                       \
		wrong(v, CHANGE, ADD(&v->elements, k, by) != *mirror); \
		*mirror += by;                                         \
	}

ADDS(add_f32, float, gn_add_f32)
ADDS(add_f64, double, gn_add_f64)

SIMT_FN void use_element(const struct view *v, struct gn_cursor *c, uint64_t *random)
{
	switch (v->type) {
	case U8: use_u8(v, c, random); break;
	case U16: use_u16(v, c, random); break;
	case U32: use_u32(v, c, random); break;
	case U64: use_u64(v, c, random); break;
	case I8: use_i8(v, c, random); break;
	case I16: use_i16(v, c, random); break;
	case I32: use_i32(v, c, random); break;
	case I64: use_i64(v, c, random); break;
	case F32: use_f32(v, c, random); break;
	case F64: use_f64(v, c, random); break;
	default: use_wide(v, random);
	}
}

SIMT_FN void change_element(const struct view *v, struct gn_cursor *c, uint64_t *random)
{
	const int changes = draw_chance(random, 70);

	switch (v->type) {
	case U32: changes ? change_u32(v, random) : every_u32(v, c); break;
	case U64: changes ? change_u64(v, random) : every_u64(v, c); break;
	case F32: changes ? add_f32(v, random) : every_f32(v, c); break;
	case F64: changes ? add_f64(v, random) : every_f64(v, c); break;
	default: use_element(v, c, random);
	}
}

/* ---- a warp's run ---- */

SIMT_FN uint64_t first_of_run(void)
{
	return simt_global_thread() / simt_warp_width() * RUN;
}

/* A page that was handed out: read it, and write all of it. A reader of before the page came may still look
 * here. */
SIMT_FN void use_page(const struct view *v, const struct gn_page *page, uint32_t intent, uint32_t next)
{
	for (uint64_t k = simt_lane(); k < page->count; k += simt_warp_width()) {
		uint32_t *element = (uint32_t *)page->data + k, *mirror = v->runs_mirror + page->first + k;

		if (intent != GN_OVERWRITE)
			wrong(v, RANGE, simt_load_relaxed_dev_u32(element) != *mirror);
		if (intent == GN_READ)
			continue;
		*mirror = next + (uint32_t)k;
		simt_store_relaxed_dev_u32(element, *mirror);
	}
}

/* A part of the run, by all lanes; the loop is left early now and then. @random  the same in all lanes */
SIMT_FN void use_run(const struct view *v, uint64_t *random)
{
	const uint32_t from = draw_below(random, RUN), many = 1 + draw_below(random, RUN - from),
	               intent = draw_below(random, 3);
	const uint64_t begin = first_of_run() + from;
	struct gn_range r = gn_range_begin(&v->runs, simt_whole_warp(), begin, begin + many, intent);
	struct gn_page page;
	int rc;

	while (gn_range_next(&r, &page)) {
		use_page(v, &page, intent, (uint32_t)draw(random));
		if (draw_chance(random, 20))
			break;
	}
	rc = gn_range_end(&r);
	wrong(v, FAILED, rc && rc != -GN_ENOBUFS);
}

/* Lanes of a warp look at a page each; no frame is no fault. */
SIMT_FN void look_at_pages(const struct view *v, uint64_t *random)
{
	const uint64_t k = first_of_run() + draw_below(random, RUN / 32) * 32 + simt_lane();
	struct gn_page page;
	const int rc = gn_array_acquire_each(&v->runs, simt_whole_warp(), k, GN_READ, &page);

	wrong(v, FAILED, rc && rc != -GN_ENOBUFS);
	if (rc)
		return;
	wrong(v, EACH,
	      simt_load_relaxed_dev_u32((const uint32_t *)page.data + (k - page.first)) != v->runs_mirror[k]);
	gn_array_release_each(&v->runs, &page);
}

/* The first lane of a warp looks at a page for all, or writes its element. */
SIMT_FN void hold_a_page(const struct view *v, uint64_t *random)
{
	const uint64_t k = first_of_run() + draw_below(random, RUN);
	const uint32_t write = draw_below(random, 2), next = (uint32_t)draw(random);
	struct gn_page page;
	uint32_t *element;
	const int rc = gn_array_acquire(&v->runs, simt_whole_warp(), k, write ? GN_WRITE : GN_READ, &page);

	wrong(v, FAILED, rc && rc != -GN_ENOBUFS);
	if (rc)
		return;
	element = (uint32_t *)page.data + (k - page.first);
	wrong(v, EACH, simt_load_relaxed_dev_u32(element) != v->runs_mirror[k]);
	simt_warp_sync(simt_whole_warp());
	if (write && simt_lane() == 0) {
		v->runs_mirror[k] = next;
		simt_store_relaxed_dev_u32(element, next);
	}
	gn_array_release(&v->runs, simt_whole_warp(), &page);
}

/* @random  the same in all lanes */
SIMT_FN void use_as_warp(const struct view *v, uint64_t *random)
{
	switch (draw_below(random, 5)) {
	case 0: gn_array_prefetch(&v->runs, simt_whole_warp(), first_of_run(), RUN); break;
	case 1:
		gn_array_prefetch_each(&v->runs, simt_whole_warp(), simt_lane() & 1,
		                       first_of_run() + 20 * simt_lane());
		break;
	case 2: look_at_pages(v, random); break;
	case 3: hold_a_page(v, random); break;
	default: use_run(v, random);
	}
}

/* ---- a block's rows ---- */

/* By all threads of the block. @random  the same in all of them */
SIMT_FN void use_rows(const struct view *v, uint64_t *random)
{
	const uint32_t shift = draw_below(random, MOST_ROWS),
	               step = 2 * draw_below(random, MOST_ROWS / 2) + 1;
	const uint32_t count = 1 + draw_below(random, MOST_ROWS);
	const int scatters = draw_chance(random, 50);
	uint64_t *index = v->index + simt_block() * MOST_ROWS,
	         *row = v->batch + simt_block() * MOST_ROWS * ROW;
	const struct gn_batch batch = {index, row, count, ROW, 0};

	for (uint32_t k = simt_thread(); k < count; k += simt_block_threads()) {
		index[k] = simt_block() * MOST_ROWS + (k * step + shift) % MOST_ROWS;
		for (uint32_t n = 0; n < ROW && scatters; n++)
			v->rows_mirror[index[k] * ROW + n] = row[k * ROW + n] =
			    draw_mix(*random + k * ROW + n);
	}
	simt_block_sync();
	wrong(v, FAILED,
	      scatters ? gn_scatter_block(&v->rows, &batch, simt_shared())
	               : gn_gather_block(&v->rows, &batch, simt_shared()));
	for (uint32_t k = simt_thread(); k < count; k += simt_block_threads())
		for (uint32_t n = 0; n < ROW; n++)
			wrong(v, ROWS, row[k * ROW + n] != v->rows_mirror[index[k] * ROW + n]);
	simt_block_sync();
}

/* ---- a thread ---- */

SIMT_FN void crowd(const struct view *v)
{
	const uint64_t warp = simt_global_thread() / simt_warp_width();
	uint64_t own = draw_mix(v->seed + simt_global_thread() + 1);
	uint64_t shared = draw_mix(v->seed ^ (warp + 1) << 32),
	         blocks = draw_mix(v->seed ^ (uint64_t)(simt_block() + 1) << 48);
	struct gn_cursor c = gn_cursor_init(&v->elements);

	for (uint32_t step = 0; step < v->steps; step++) {
		if (draw_chance(&own, 70))
			use_element(v, &c, &own);
		else
			change_element(v, &c, &own);
		if (step % 4 == 3)
			use_as_warp(v, &shared);
		if (step % 16 == 15)
			use_rows(v, &blocks);
	}
	gn_cursor_end(&c);
	wrong(v, STATUS, gn_count(&v->elements) != EACH_OWNS * simt_global_threads());
}
SIMT_KERNEL(crowd, struct view)

/* ---- host ---- */

/* What lies in the store: the elements, the runs, the rows, each from a multiple of 16 bytes on. */
struct plan {
	uint64_t elements, runs, rows, bytes;
	uint64_t threads, warps;
	struct simt_grid grid;
};

struct fixture {
	struct gn_store *store;
	struct gn_cache *cache;
	char *mirror;
	struct plan plan;
	struct view view;
};

static uint64_t aligned(uint64_t bytes)
{
	return (bytes + 15) / 16 * 16;
}

static void make_plan(struct stress *s, uint64_t *random, struct fixture *b)
{
	struct plan *p = &b->plan;

	b->view.type = draw_below(random, TYPES);
	p->grid = stress_grid(s, 32u << draw_below(random, s->info.is_cuda ? 7 : 3));
	p->grid.shared_bytes = GN_GATHER_SHARED;
	p->threads = (uint64_t)p->grid.blocks * p->grid.block_threads;
	p->warps = p->threads / s->info.warp_width;
	p->elements = 0;
	p->runs = aligned(p->threads * EACH_OWNS * size_of[b->view.type]);
	p->rows = p->runs + aligned(p->warps * RUN * 4);
	p->bytes = p->rows + (uint64_t)p->grid.blocks * MOST_ROWS * ROW * 8;
	p->bytes = (p->bytes + 65535) / 65536 * 65536;
}

static int open_array(struct stress *s, struct fixture *b, struct gn_array *array, uint64_t offset,
                      uint64_t count, uint32_t bytes)
{
	struct gn_array_options options;
	struct gn_error error;

	memset(&options, 0, sizeof options);
	options.cache = b->cache;
	options.store = b->store;
	options.offset = offset;
	options.count = count;
	options.element_bytes = bytes;
	return gn_array_create(array, s->machine, &options, &error) ? stress_wrong("%s", error.text) : 0;
}

static int open_arrays(struct stress *s, struct fixture *b)
{
	const struct plan *p = &b->plan;

	return open_array(s, b, &b->view.elements, p->elements, p->threads * EACH_OWNS,
	                  size_of[b->view.type]) ||
	       open_array(s, b, &b->view.runs, p->runs, p->warps * RUN, 4) ||
	       open_array(s, b, &b->view.rows, p->rows, (uint64_t)p->grid.blocks * MOST_ROWS * ROW, 8);
}

/* Every second cache has the default page; of few frames, or of a few more. */
static int open_cache(struct stress *s, struct fixture *b, uint64_t *random)
{
	struct gn_cache_options options;
	struct gn_error error;
	uint32_t page = 512u << draw_below(random, 6);

	memset(&options, 0, sizeof options);
	options.page_bytes = draw_chance(random, 50) ? 0 : page;
	options.bytes = (uint64_t)(options.page_bytes ? page : 65536) * (8u << draw_below(random, 3));
	options.table = (enum gn_cache_table)draw_below(random, 3);
	options.policy = (enum gn_cache_policy)draw_below(random, 3);
	options.statistics = draw_chance(random, 25);
	return gn_cache_create(&b->cache, s->machine, &b->store, 1, &options, &error)
	           ? stress_wrong("%s", error.text)
	           : 0;
}

/* Small whole numbers, also as floats. */
static void fill(struct fixture *b, char *bytes)
{
	for (uint64_t k = 0; k < b->plan.threads * EACH_OWNS; k++) {
		const uint64_t number = draw_mix(k) >> 58;
		const float single = (float)number;
		const double twice = (double)number;

		memcpy(bytes + k * size_of[b->view.type],
		       b->view.type == F32   ? (const void *)&single
		       : b->view.type == F64 ? (const void *)&twice
		                             : (const void *)&number,
		       size_of[b->view.type] < 8 ? size_of[b->view.type] : 8);
	}
	for (uint64_t k = b->plan.runs / 8; k < b->plan.bytes / 8; k++)
		((uint64_t *)(void *)bytes)[k] = draw_mix(k);
}

static int open_store(struct stress *s, struct fixture *b, uint64_t *random)
{
	const int queues = draw_chance(random, 40);
	struct gn_store_options options;
	struct gn_error error;
	char uri[64], *bytes;
	int bad;

	memset(&options, 0, sizeof options);
	options.timeout_ns = stress_patience_ns(s);
	if (queues)
		options.transfer_bytes = 65536;
	snprintf(uri, sizeof uri, "%s:%llu", queues ? "memq" : "host", (unsigned long long)b->plan.bytes);
	if (gn_store_open(&b->store, s->machine, uri, &options, &error))
		return stress_wrong("%s", error.text);
	b->mirror = (char *)simt_alloc(s->machine, b->plan.bytes, SIMT_DEVICE, &error);
	bytes = (char *)calloc(1, b->plan.bytes);
	if (!b->mirror || !bytes) {
		free(bytes);
		return stress_wrong("no memory");
	}
	fill(b, bytes);
	bad = gn_store_write_host(b->store, 0, bytes, b->plan.bytes, &error) ? stress_wrong("%s", error.text)
	                                                                     : 0;
	if (!bad && simt_move(s->machine, b->mirror, bytes, b->plan.bytes, &error))
		bad = stress_wrong("cannot fill the mirror");
	free(bytes);
	return bad;
}

static int open_view(struct stress *s, struct fixture *b)
{
	const uint64_t rows = (uint64_t)b->plan.grid.blocks * MOST_ROWS;
	struct view *v = &b->view;

	v->elements_mirror = b->mirror + b->plan.elements;
	v->runs_mirror = (uint32_t *)(void *)(b->mirror + b->plan.runs);
	v->rows_mirror = (uint64_t *)(void *)(b->mirror + b->plan.rows);
	v->index = (uint64_t *)simt_alloc(s->machine, rows * 8, SIMT_DEVICE, NULL);
	v->batch = (uint64_t *)simt_alloc(s->machine, rows * ROW * 8, SIMT_DEVICE, NULL);
	v->wrong = (uint32_t *)simt_alloc(s->machine, KINDS * 4, SIMT_DEVICE, NULL);
	v->seed = s->seed;
	v->steps = s->info.is_cuda ? 64 : 32;
	return v->index && v->batch && v->wrong ? 0 : stress_wrong("no memory");
}

static void close_fixture(struct stress *s, struct fixture *b)
{
	struct gn_array *const array[] = {&b->view.elements, &b->view.runs, &b->view.rows};

	for (int k = 0; k < 3; k++)
		if (array[k]->failure)
			gn_array_destroy(array[k], s->machine);
	simt_free(s->machine, b->view.index);
	simt_free(s->machine, b->view.batch);
	simt_free(s->machine, b->view.wrong);
	simt_free(s->machine, b->mirror);
	if (b->cache)
		gn_cache_destroy(b->cache);
	gn_store_close(b->store);
}

static int check_counts(struct stress *s, struct fixture *b)
{
	static const char *const name[KINDS] = {
	    "reads by value",  "reads by a cursor", "reads with a status", "changes",
	    "pages of ranges", "pages held",        "rows of batches",     "calls"};
	struct gn_array *const array[] = {&b->view.elements, &b->view.runs, &b->view.rows};
	struct gn_error error;
	uint32_t many[KINDS];

	if (simt_move(s->machine, many, b->view.wrong, sizeof many, &error))
		return stress_wrong("cannot look at the result");
	for (int k = 0; k < 3; k++)
		if (gn_array_failure(array[k], &error))
			return stress_wrong("%s", error.text);
	for (int k = 0; k < KINDS; k++)
		if (many[k])
			return stress_wrong("elements of type %u: %s: %u wrong", b->view.type, name[k],
			                    many[k]);
	return 0;
}

/* After a flush the store has what the mirror has. */
static int check_store(struct stress *s, struct fixture *b)
{
	char *store = (char *)malloc(b->plan.bytes), *mirror = (char *)malloc(b->plan.bytes);
	struct gn_error error;
	int bad = 0;

	if (!store || !mirror || simt_move(s->machine, mirror, b->mirror, b->plan.bytes, &error))
		bad = stress_wrong("cannot look at the mirror");
	if (!bad && (gn_cache_flush(b->cache, &error) ||
	             gn_store_read_host(b->store, 0, store, b->plan.bytes, &error)))
		bad = stress_wrong("%s", error.text);
	for (uint64_t k = 0; !bad && k < b->plan.bytes; k++)
		if (store[k] != mirror[k])
			bad = stress_wrong(
			    "elements of type %u: byte %llu of the store is %02x, %02x was written",
			    b->view.type, (unsigned long long)k, store[k] & 0xff, mirror[k] & 0xff);
	free(store);
	free(mirror);
	return bad;
}

static int array_round(struct stress *s)
{
	uint64_t random = s->seed;
	struct fixture b;
	int bad;

	memset(&b, 0, sizeof b);
	make_plan(s, &random, &b);
	bad = open_store(s, &b, &random) || open_cache(s, &b, &random) || open_arrays(s, &b) ||
	      open_view(s, &b) || stress_run(s, &crowd_kernel, b.plan.grid, &b.view) || check_counts(s, &b) ||
	      check_store(s, &b);
	s->operations += b.plan.threads * b.view.steps;
	close_fixture(s, &b);
	return bad;
}

int main(int argc, char **argv)
{
	return stress_main(argc, argv, "array", array_round);
}
