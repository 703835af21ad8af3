/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the simulated machine, and the instructions that its wavefronts make. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

#include <sim/wave.h>

#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif
#ifndef RUNNING_ON_VALGRIND
#define RUNNING_ON_VALGRIND 0
#endif

struct fixture {
	struct sim_memory *memory;
	struct sim_waves *waves;
	struct sim_buffer in, out;
};

static void fixture_init(struct fixture *b, uint64_t bytes)
{
	assert_int_equal(sim_memory_create(&b->memory, 4), 0);
	assert_int_equal(sim_waves_create(&b->waves), 0);
	assert_int_equal(sim_memory_alloc(b->memory, bytes, SIM_INTERLEAVED, 0, &b->in), 0);
	assert_int_equal(sim_memory_alloc(b->memory, bytes, SIM_INTERLEAVED, 0, &b->out), 0);
}

static void fixture_fini(struct fixture *b)
{
	sim_waves_destroy(b->waves);
	sim_memory_destroy(b->memory);
}

static struct sim_launch launch_of(sim_kernel_fn *kernel, const void *arguments, uint32_t items,
                                   uint32_t group)
{
	const struct sim_launch l = {"test", kernel, arguments, {items, 1}, {group, 1}, 0, 0, 0, 0};

	return l;
}

static struct sim_op next(struct sim_wave *w)
{
	struct sim_op op;
	struct gn_error e;

	assert_int_equal(sim_wave_next(w, &op, &e), 0);
	return op;
}

/* ---- memory ---- */

/* Buffers of a memory whose placement is given lie so, but for those of one GPU. */
static void test_placed_alike(void **state)
{
	struct sim_memory *m;
	struct sim_buffer b;

	(void)state;
	assert_int_equal(sim_memory_create(&m, 3), 0);
	sim_memory_place(m, SIM_INTERLEAVED);
	assert_int_equal(sim_memory_alloc(m, 6 * SIM_PAGE_BYTES, SIM_DISTRIBUTED, 0, &b), 0);
	assert_int_equal(sim_memory_home(m, b.address + SIM_PAGE_BYTES), 1);
	sim_memory_place(m, SIM_DISTRIBUTED);
	assert_int_equal(sim_memory_alloc(m, 6 * SIM_PAGE_BYTES, SIM_INTERLEAVED, 0, &b), 0);
	assert_int_equal(sim_memory_home(m, b.address + SIM_PAGE_BYTES), 0);
	assert_int_equal(sim_memory_alloc(m, 6 * SIM_PAGE_BYTES, SIM_ON_ONE, 2, &b), 0);
	assert_int_equal(sim_memory_home(m, b.address), 2);
	sim_memory_destroy(m);
}

static void test_placement(void **state)
{
	struct sim_memory *m;
	struct sim_buffer b;

	(void)state;
	assert_int_equal(sim_memory_create(&m, 0), -GN_EINVAL);
	assert_int_equal(sim_memory_create(&m, SIM_MOST_GPUS + 1), -GN_EINVAL);
	assert_int_equal(sim_memory_create(&m, 3), 0);
	assert_int_equal(sim_memory_alloc(m, 0, SIM_INTERLEAVED, 0, &b), -GN_EINVAL);
	assert_int_equal(sim_memory_alloc(m, 1, SIM_ON_ONE, 3, &b), -GN_EINVAL);
	assert_int_equal(sim_memory_home(m, 0), UINT32_MAX);
	assert_int_equal(sim_memory_home(m, SIM_PAGE_BYTES), UINT32_MAX);

	/* Two pages on 0 and 1; the next buffer goes on with 2. */
	assert_int_equal(sim_memory_alloc(m, SIM_PAGE_BYTES + 1, SIM_INTERLEAVED, 0, &b), 0);
	assert_int_equal(b.address % SIM_PAGE_BYTES, 0);
	assert_true(b.address > 0);
	assert_int_equal((uintptr_t)b.host % SIM_PAGE_BYTES, 0);
	assert_int_equal(sim_memory_home(m, b.address), 0);
	assert_int_equal(sim_memory_home(m, b.address + SIM_PAGE_BYTES - 1), 0);
	assert_int_equal(sim_memory_home(m, b.address + SIM_PAGE_BYTES), 1);
	assert_int_equal(sim_memory_alloc(m, 8, SIM_INTERLEAVED, 0, &b), 0);
	assert_int_equal(sim_memory_home(m, b.address), 2);

	/* Eleven pages: three, three, and the other five on the last. */
	assert_int_equal(sim_memory_alloc(m, 11 * SIM_PAGE_BYTES, SIM_DISTRIBUTED, 0, &b), 0);
	for (uint32_t k = 0; k < 11; k++) {
		const uint64_t page = b.address + k * SIM_PAGE_BYTES;

		assert_int_equal(sim_memory_home(m, page), k < 6 ? k / 3 : 2);
		assert_int_equal(sim_memory_frame(m, page), (k < 6 ? k % 3 : k - 6) + 1);
	}
	/* Fewer pages than GPUs: a part is none. */
	assert_int_equal(sim_memory_alloc(m, 2 * SIM_PAGE_BYTES, SIM_DISTRIBUTED, 0, &b), 0);
	assert_int_equal(sim_memory_home(m, b.address), 2);

	assert_int_equal(sim_memory_alloc(m, 2 * SIM_PAGE_BYTES, SIM_ON_ONE, 1, &b), 0);
	assert_int_equal(sim_memory_home(m, b.address + SIM_PAGE_BYTES), 1);
	memset(b.host, 7, b.bytes);
	assert_int_equal(sim_memory_move(m, b.address + 5, 0), 0);
	assert_int_equal(sim_memory_home(m, b.address), 0);
	assert_int_equal(sim_memory_frame(m, b.address), 4);
	assert_int_equal(sim_memory_home(m, b.address + SIM_PAGE_BYTES), 1);
	assert_int_equal(sim_memory_move(m, b.address, 3), -GN_EINVAL);
	assert_int_equal(sim_memory_move(m, b.address + 2 * SIM_PAGE_BYTES, 0), -GN_EINVAL);
	sim_memory_destroy(m);
}

/* ---- what a kernel says is what comes out ---- */

struct add_args {
	struct sim_buffer in, out;
	uint32_t count;
};

static void add_one(struct sim_wave *w, const void *arguments)
{
	const struct add_args *a = (const struct add_args *)arguments;
	uint32_t index[SIM_LANES], value[SIM_LANES] = {0};
	uint64_t lanes = 0;

	for (uint32_t l = 0; l < SIM_LANES; l++) {
		index[l] = (uint32_t)sim_wave_item(w, l);
		lanes |= (uint64_t)(index[l] < a->count) << l;
	}
	sim_load_u32(w, lanes, &a->in, index, value);
	sim_wait(w, 0);
	for (uint32_t l = 0; l < SIM_LANES; l++)
		value[l]++;
	sim_valu(w, 3);
	sim_salu(w, 0);
	sim_store_u32(w, lanes, &a->out, index, value);
}

static void test_stream(void **state)
{
	struct fixture b;
	struct add_args a;
	struct sim_launch l;
	struct sim_group *g;
	struct sim_op op;

	(void)state;
	fixture_init(&b, 400);
	a.in = b.in;
	a.out = b.out;
	a.count = 100;
	for (uint32_t k = 0; k < 100; k++)
		((uint32_t *)b.in.host)[k] = 5 * k;
	l = launch_of(add_one, &a, 100, 128);
	assert_int_equal(sim_launch_groups(&l), 1);
	g = sim_group_begin(b.waves, &l, 0, 2);
	assert_int_equal(sim_group_waves(g), 2);
	assert_int_equal(sim_wave_gpu(sim_group_wave(g, 0)), 2);
	assert_int_equal(sim_wave_lanes(sim_group_wave(g, 0)), UINT64_MAX);
	assert_int_equal(sim_wave_lanes(sim_group_wave(g, 1)), (UINT64_C(1) << 36) - 1);
	for (uint32_t k = 0; k < 2; k++) {
		op = next(sim_group_wave(g, k));
		assert_int_equal(op.kind, SIM_OP_LOAD);
		assert_int_equal(op.count, k ? 3 : 4); /* 36 values of 4 bytes: 144 */
		assert_int_equal(op.line[0].address, b.in.address + k * 256);
		assert_int_equal(op.line[0].bytes, UINT64_MAX);
		assert_int_equal(op.line[2].bytes, k ? 0xffff : UINT64_MAX);
		assert_int_equal(sim_line_words(&op.line[2]), k ? 15 : 0xffff);
		assert_int_equal(sim_op_instructions(&op), 1);
		op = next(sim_group_wave(g, k));
		assert_int_equal(op.kind, SIM_OP_WAIT);
		assert_int_equal(op.count, 0);
		op = next(sim_group_wave(g, k));
		assert_int_equal(op.kind, SIM_OP_VALU);
		assert_int_equal(sim_op_instructions(&op), 3);
		op = next(sim_group_wave(g, k));
		assert_int_equal(op.kind, SIM_OP_STORE);
		assert_int_equal(op.line[0].address, b.out.address + k * 256);
		assert_int_equal(next(sim_group_wave(g, k)).kind, SIM_OP_END);
	}
	for (uint32_t k = 0; k < 100; k++)
		assert_int_equal(((uint32_t *)b.out.host)[k], 5 * k + 1);
	sim_group_end(g);
	fixture_fini(&b);
}

/* ---- coalescing, against a reference that looks at bytes ---- */

struct trial {
	struct sim_buffer buffer;
	uint64_t lanes;
	uint32_t width; /* 1, 4 or 16 bytes a lane */
	uint32_t index[SIM_LANES];
	unsigned char got[SIM_LANES * 16];
};

static void one_load(struct sim_wave *w, const void *arguments)
{
	struct trial *t = (struct trial *)(uintptr_t)arguments;

	if (t->width == 1)
		sim_load_u8(w, t->lanes, &t->buffer, t->index, (uint8_t *)t->got);
	else if (t->width == 4)
		sim_load_u32(w, t->lanes, &t->buffer, t->index, (uint32_t *)(void *)t->got);
	else
		sim_load_f32x4(w, t->lanes, &t->buffer, t->index, (float(*)[4])(void *)t->got);
}

static void compare(const struct trial *t, const struct sim_op *op)
{
	struct sim_line want[SIM_MOST_LINES];
	uint32_t count = 0;

	for (uint32_t l = 0; l < SIM_LANES; l++) {
		const uint64_t first = t->buffer.address + (uint64_t)t->index[l] * (t->width == 1 ? 1 : 4);

		for (uint64_t at = first; at < first + t->width && t->lanes >> l & 1; at++) {
			uint32_t k = 0;

			while (k < count && want[k].address != at / 64 * 64)
				k++;
			if (k == count) {
				want[count].bytes = 0;
				want[count++].address = at / 64 * 64;
			}
			want[k].bytes |= UINT64_C(1) << at % 64;
		}
		if (t->lanes >> l & 1)
			assert_memory_equal(t->got + l * t->width,
			                    (char *)t->buffer.host + (first - t->buffer.address), t->width);
	}
	assert_int_equal(op->count, count);
	assert_memory_equal(op->line, want, count * sizeof *want);
}

static void test_coalescer(void **state)
{
	static const uint32_t widths[] = {1, 4, 16};
	struct trial t;
	struct fixture b;
	struct sim_launch l;
	struct gn_error e;

	(void)state;
	memset(&t, 0, sizeof t);
	fixture_init(&b, 3 * SIM_PAGE_BYTES);
	for (uint64_t k = 0; k < b.in.bytes; k++)
		((unsigned char *)b.in.host)[k] = (unsigned char)(k * 7 + k / 256);
	t.buffer = b.in;
	l = launch_of(one_load, &t, SIM_LANES, SIM_LANES);
	srand(1);
	for (uint32_t k = 0; k < 600; k++) {
		struct sim_group *g = sim_group_begin(b.waves, &l, 0, 0);
		const uint32_t shape = k / 3 % 5, first = (uint32_t)rand() % 64;
		struct sim_op op;

		t.width = widths[k % 3];
		t.lanes = k / 15 % 2 ? UINT64_MAX : (uint64_t)rand() << 33 ^ (uint64_t)rand();
		for (uint32_t n = 0; n < SIM_LANES; n++) {
			const uint32_t row = first + n * (t.width == 16 ? 4 : 1), any = (uint32_t)rand();

			t.index[n] = shape == 0   ? row
			             : shape == 1 ? first
			             : shape == 2 ? any % 3000
			             : shape == 3 ? first + n * 40
			                          : any % 90;
		}
		assert_int_equal(sim_wave_next(sim_group_wave(g, 0), &op, &e), 0);
		compare(&t, &op);
		sim_group_end(g); /* before its end: it is left in the middle */
	}
	fixture_fini(&b);
}

/* ---- many instructions, many wavefronts ---- */

enum { STEPS = 3000 };

static void long_loop(struct sim_wave *w, const void *arguments)
{
	const struct sim_buffer *b = (const struct sim_buffer *)arguments;
	uint32_t index[SIM_LANES], value[SIM_LANES] = {0};

	for (uint32_t k = 0; k < STEPS; k++) {
		for (uint32_t l = 0; l < SIM_LANES; l++)
			index[l] = (l * 16 + k) % 1024;
		sim_valu(w, k + 1);
		sim_load_u32(w, UINT64_MAX, b, index, value);
		if (sim_scalar_u32(w, b, k % 1024) != k % 1024 || value[1] != (16 + k) % 1024)
			sim_lds(w, 1); /* which nobody expects */
	}
}

/* An instruction of each in turn; and their buffers are full many times. */
static void test_interleaved(void **state)
{
	struct fixture b;
	struct sim_launch l;
	struct sim_group *g;

	(void)state;
	fixture_init(&b, 4096);
	for (uint32_t k = 0; k < 1024; k++)
		((uint32_t *)b.in.host)[k] = k;
	l = launch_of(long_loop, &b.in, 1024, 1024);
	g = sim_group_begin(b.waves, &l, 0, 0);
	assert_int_equal(sim_group_waves(g), 16);
	for (uint32_t k = 0; k < STEPS; k++)
		for (uint32_t n = 0; n < 16; n++) {
			struct sim_wave *w = sim_group_wave(g, n);
			struct sim_op op = next(w);

			assert_int_equal(op.kind, SIM_OP_VALU);
			assert_int_equal(op.count, k + 1);
			op = next(w);
			assert_int_equal(op.kind, SIM_OP_LOAD);
			assert_int_equal(op.count, SIM_LANES);
			assert_int_equal(op.line[63].address, b.in.address + (63 * 16 + k) % 1024 / 16 * 64);
			op = next(w);
			assert_int_equal(op.kind, SIM_OP_SCALAR);
			assert_int_equal(op.line[0].address, b.in.address + k % 1024 / 16 * 64);
			assert_int_equal(op.line[0].bytes, UINT64_C(15) << 4 * (k % 16));
		}
	for (uint32_t n = 0; n < 16; n++)
		assert_int_equal(next(sim_group_wave(g, n)).kind, SIM_OP_END);
	sim_group_end(g);
	fixture_fini(&b);
}

/* Resident kilobytes of this process. */
static long resident(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long all, pages = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%ld %ld", &all, &pages), 2);
	fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

enum { GROUPS = 640, A_GROUP = 16 };

static void begin_all(struct fixture *b, const struct sim_launch *l, struct sim_group **groups)
{
	for (uint32_t k = 0; k < GROUPS; k++) {
		groups[k] = sim_group_begin(b->waves, l, 0, 0);
		assert_non_null(groups[k]);
		for (uint32_t n = 0; n < A_GROUP; n++)
			next(sim_group_wave(groups[k], n));
	}
}

/* Fibers are larger under sanitizers, and tsan has no room for so many. */
static int is_watched(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return 1;
#else
	return RUNNING_ON_VALGRIND;
#endif
}

/* As many as four GPUs hold. */
static void test_memory(void **state)
{
	static struct sim_group *groups[2 * GROUPS];
	struct sim_launch l;
	struct fixture b;
	long before, once;

	(void)state;
	if (is_watched())
		skip();
	fixture_init(&b, 4096);
	for (uint32_t k = 0; k < 1024; k++)
		((uint32_t *)b.in.host)[k] = k;
	l = launch_of(long_loop, &b.in, 1024, 1024);
	before = resident();
	begin_all(&b, &l, groups);
	once = resident();
	assert_in_range((uintmax_t)(once - before), 1, 120 * 1024);
	for (uint32_t k = 0; k < GROUPS; k++)
		sim_group_end(groups[k]);
	begin_all(&b, &l, groups + GROUPS);
	assert_true(resident() - once < 1024); /* the same ones */
	fixture_fini(&b);
}

/* ---- barriers and local memory ---- */

static void turn(struct sim_wave *w, const void *arguments)
{
	const struct sim_buffer *out = (const struct sim_buffer *)arguments;
	uint32_t *shared = (uint32_t *)sim_wave_lds(w);
	uint32_t index[SIM_LANES], value[SIM_LANES];

	for (uint32_t l = 0; l < SIM_LANES; l++) {
		const uint32_t here = sim_wave_local(w, l, 1) * 32 + sim_wave_local(w, l, 0);

		shared[here] += 10 + here; /* it is 0 at first */
	}
	sim_barrier(w);
	for (uint32_t l = 0; l < SIM_LANES; l++) {
		const uint32_t here = sim_wave_local(w, l, 1) * 32 + sim_wave_local(w, l, 0);

		index[l] = ((uint32_t)sim_wave_item_y(w, l) * 64 + (uint32_t)sim_wave_item(w, l));
		value[l] = shared[255 - here] + 1000 * sim_wave_group(w, 0) + 10000 * sim_wave_group(w, 1);
	}
	sim_store_u32(w, sim_wave_lanes(w), out, index, value);
}

static void test_barrier(void **state)
{
	struct fixture b;
	struct sim_launch l = {"turn", turn, NULL, {64, 16}, {32, 8}, 1024, 0, 0, 0};

	(void)state;
	fixture_init(&b, 4096);
	l.arguments = &b.out;
	assert_int_equal(sim_launch_groups(&l), 4);
	for (uint32_t number = 0; number < 4; number++) {
		struct sim_group *g = sim_group_begin(b.waves, &l, number, 0);

		assert_int_equal(sim_group_waves(g), 4);
		for (uint32_t k = 0; k < 4; k++)
			assert_int_equal(next(sim_group_wave(g, k)).kind, SIM_OP_BARRIER);
		for (uint32_t k = 4; k-- > 0;) {
			assert_int_equal(next(sim_group_wave(g, k)).kind, SIM_OP_STORE);
			assert_int_equal(next(sim_group_wave(g, k)).kind, SIM_OP_END);
		}
		sim_group_end(g);
	}
	for (uint32_t y = 0; y < 16; y++)
		for (uint32_t x = 0; x < 64; x++)
			assert_int_equal(((uint32_t *)b.out.host)[y * 64 + x],
			                 10 + 255 - (y % 8 * 32 + x % 32) + 1000 * (x / 32) +
			                     10000 * (y / 8));
	fixture_fini(&b);
}

static void nothing(struct sim_wave *w, const void *arguments)
{
	(void)w;
	(void)arguments;
}

/* Work-groups at the edge of the grid: only wavefronts with lanes inside it run. */
static void test_edges(void **state)
{
	struct fixture b;
	struct sim_launch l = {"edge", nothing, NULL, {20, 17}, {16, 16}, 0, 0, 0, 0};
	struct sim_group *g;

	(void)state;
	fixture_init(&b, 64);
	assert_int_equal(sim_launch_groups(&l), 4);
	g = sim_group_begin(b.waves, &l, 1, 0); /* 4 columns, 16 rows */
	assert_int_equal(sim_group_waves(g), 4);
	assert_int_equal(sim_wave_lanes(sim_group_wave(g, 3)), UINT64_C(0x000f000f000f000f));
	sim_group_end(g);
	g = sim_group_begin(b.waves, &l, 2, 0); /* one row */
	assert_int_equal(sim_group_waves(g), 1);
	assert_int_equal(sim_wave_lanes(sim_group_wave(g, 0)), 0xffff);
	assert_int_equal(next(sim_group_wave(g, 0)).kind, SIM_OP_END);
	sim_group_end(g);
	fixture_fini(&b);
}

/* ---- a kernel that goes astray ---- */

static void astray(struct sim_wave *w, const void *arguments)
{
	const struct sim_buffer *b = (const struct sim_buffer *)arguments;
	uint32_t index[SIM_LANES], value[SIM_LANES] = {0};

	for (uint32_t l = 0; l < SIM_LANES; l++)
		index[l] = l == 40 ? 16 : l == 41 ? 999 : 15;
	sim_valu(w, 1);
	sim_load_u32(w, ~(UINT64_C(1) << 40), b, index, value);
}

static void test_fault(void **state)
{
	struct fixture b;
	struct sim_launch l;
	struct sim_op op;
	struct gn_error e;

	(void)state;
	fixture_init(&b, 64); /* 16 elements */
	l = launch_of(astray, &b.in, 256, 128);
	for (uint32_t k = 0; k < 3; k++) { /* what was left of one serves the next */
		struct sim_group *g = sim_group_begin(b.waves, &l, 1, 0);

		assert_int_equal(next(sim_group_wave(g, 1)).kind, SIM_OP_VALU);
		assert_int_equal(sim_wave_next(sim_group_wave(g, 1), &op, &e), -GN_EINVAL);
		assert_non_null(strstr(e.text, "kernel test, work-group (1, 0), wavefront 1, lane 41: "
		                               "element 999 is outside a buffer of 16"));
		sim_group_end(g);
	}
	fixture_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_placed_alike), cmocka_unit_test(test_placement),
	    cmocka_unit_test(test_stream),       cmocka_unit_test(test_coalescer),
	    cmocka_unit_test(test_interleaved),  cmocka_unit_test(test_memory),
	    cmocka_unit_test(test_barrier),      cmocka_unit_test(test_edges),
	    cmocka_unit_test(test_fault),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
