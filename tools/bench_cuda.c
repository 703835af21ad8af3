/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of what a program has without Grapnel: the runtime's copies, tiles by hand, managed memory. Compiled
 * only into a build with the cuda machine.
 */
#include <stdio.h>
#include <string.h>

#include "baselines/host.h"
#include "baselines/pages.h"
#include "baselines/read.h"
#include "baselines/runtime.h"
#include "baselines/words.h"
#include "bench_add.h"

/* ---- copies ---- */

static int copies_row(struct bench *b, const char *name, double rate, double bytes, struct gn_error *e)
{
	const struct bench_way way = {name, SCOPE_BOUND, SCOPE_BANDWIDTH, bytes, NULL, NULL, 1};
	const double seconds = bytes / rate;

	return bench_keep(b, &way, &seconds, 1, NULL, e);
}

int bench_cuda_copies(struct bench *b, struct gn_error *e)
{
	const uint64_t bytes = b->bytes < 4ull << 30 ? b->bytes / 2 : 2ull << 30;
	double rates[3];
	char *device;
	int rc;

	if (!b->fixture.info.is_cuda)
		return 0;
	device = (char *)simt_alloc(b->fixture.machine, 2 * bytes, SIMT_DEVICE, e);
	if (!device)
		return gn_error_set(e, -GN_ENOMEM, "not enough GPU memory to measure copies");
	/* What is copied back is what was copied in. */
	rc = simt_move(b->fixture.machine, device + bytes, b->memory + bytes, bytes, e);
	rc = rc ? rc : gn_base_copies(b->memory, device, bytes, rates, e);
	simt_free(b->fixture.machine, device);
	rc = rc ? rc : copies_row(b, "memcpy-in", rates[0], (double)bytes, e);
	rc = rc ? rc : copies_row(b, "memcpy-out", rates[1], (double)bytes, e);
	return rc ? rc : copies_row(b, "memcpy-both", rates[2], 2.0 * (double)bytes, e);
}

/* ---- tiles ---- */

struct tile_run {
	struct gn_base_tiling tiling;
	struct gn_base_read_args read;
	struct bench_add *add; /* NULL: sequential */
};

static void read_arguments(void *user, void *arguments, uint64_t at, uint64_t bytes, char *const in[2],
                           char *out)
{
	struct gn_base_read_args args = ((const struct tile_run *)user)->read;

	(void)out;
	args.memory = (const uint32_t *)(const void *)in[0];
	args.first = at / 4;
	args.words = bytes / 4;
	memcpy(arguments, &args, sizeof args);
}

static void add_arguments(void *user, void *arguments, uint64_t at, uint64_t bytes, char *const in[2],
                          char *out)
{
	struct gn_base_add_args args = ((const struct tile_run *)user)->add->args;

	(void)at;
	for (int k = 0; k < 2; k++)
		args.in[k] = (const uint32_t *)(const void *)in[k];
	args.out = (uint32_t *)(void *)out;
	args.words = bytes / 4;
	memcpy(arguments, &args, sizeof args);
}

static int run_tiles(struct bench *b, void *user, double *seconds, struct gn_error *e)
{
	struct tile_run *t = (struct tile_run *)user;
	int rc;

	if (t->add)
		t->add->args.salt++;
	rc = gn_base_tile(&t->tiling, seconds, e);
	return !rc && t->add ? bench_add_check(b, t->add, e) : rc;
}

/* The shape that is fastest in one trial each is the one that is measured. */
static int best_shape(struct bench *b, struct tile_run *t, struct gn_error *e)
{
	static const uint64_t sizes[] = {4ull << 20, 16ull << 20, 64ull << 20};
	double best = 1e9, seconds;
	uint64_t bytes = 0;
	unsigned streams = 0;

	for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; k++)
		for (unsigned s = 2; s <= 3; s++) {
			int rc;

			t->tiling.tile_bytes = sizes[k];
			t->tiling.streams = s;
			rc = run_tiles(b, t, &seconds, e);
			if (rc)
				return rc;
			if (seconds < best) {
				best = seconds;
				bytes = sizes[k];
				streams = s;
			}
		}
	t->tiling.tile_bytes = bytes;
	t->tiling.streams = streams;
	return 0;
}

static int tiles_row(struct bench *b, struct tile_run *t, unsigned arrays, struct gn_error *e)
{
	const struct bench_way way = {
	    "tiles", SCOPE_BASELINE, SCOPE_BANDWIDTH, (double)arrays * (double)b->bytes, run_tiles, t, 0};
	struct scope_result *row;
	int rc;

	t->tiling.bytes = b->bytes;
	t->tiling.grid = b->resident;
	t->tiling.user = t;
	t->tiling.buffer = (char *)simt_alloc(b->fixture.machine, arrays * 3 * (64ull << 20), SIMT_DEVICE, e);
	if (!t->tiling.buffer)
		return gn_error_set(e, -GN_ENOMEM, "not enough GPU memory for tiles");
	rc = best_shape(b, t, e);
	rc = rc ? rc : bench_measure(b, &way, &row, e);
	if (!rc)
		snprintf(row->why, sizeof row->why, "tiles of %llu MiB, %u streams",
		         (unsigned long long)(t->tiling.tile_bytes >> 20), t->tiling.streams);
	simt_free(b->fixture.machine, t->tiling.buffer);
	return rc;
}

int bench_cuda_add(struct bench *b, struct bench_add *a, struct gn_error *e)
{
	struct tile_run t;

	if (!b->fixture.info.is_cuda)
		return 0;
	memset(&t, 0, sizeof t);
	t.tiling.in[0] = b->memory;
	t.tiling.in[1] = b->memory + b->bytes;
	t.tiling.out = b->memory + 2 * b->bytes;
	t.tiling.kernel = &gn_base_add_pointer_kernel;
	t.tiling.arguments = add_arguments;
	t.add = a;
	return tiles_row(b, &t, 3, e);
}

/* ---- managed memory ---- */

struct managed {
	void *memory;
	uint64_t bytes;
	enum gn_base_hint hint;
	int fetch; /* a prefetch before the kernel, which counts */
	int fresh; /* new memory each run, which the host has written */
	const struct simt_kernel *kernel;
	const void *arguments;
	struct gn_base_read_args read; /* the arguments of a kernel that reads the memory in order */
};

/* In host memory again, as the runtime put it there or as the host wrote it. */
static int cool(struct managed *m, struct gn_error *e)
{
	int rc;

	if (!m->fresh)
		return gn_base_managed_cool(m->memory, m->bytes, m->hint, e);
	gn_base_managed_free(m->memory);
	rc = gn_base_managed_alloc(&m->memory, m->bytes, e);
	if (!rc)
		gn_base_host_fill((uint32_t *)m->memory, m->bytes / 4);
	m->read.memory = (const uint32_t *)m->memory;
	return rc;
}

static int run_managed(struct bench *b, void *user, double *seconds, struct gn_error *e)
{
	struct managed *m = (struct managed *)user;
	int rc = cool(m, e);
	const double begin = scope_clock();
	double ignored;

	if (!rc && m->fetch)
		rc = gn_base_managed_fetch(m->memory, m->bytes, e);
	rc = rc ? rc : bench_launch(b, m->kernel, b->grid, m->arguments, &ignored, e);
	*seconds = scope_clock() - begin;
	return rc;
}

static int managed_row(struct bench *b, const char *name, struct managed *m, enum scope_unit unit,
                       double amount, struct gn_error *e)
{
	const struct bench_way way = {
	    name, SCOPE_BASELINE, unit, amount, run_managed, m, b->q->repeat < 3 ? 1u : 3u};

	return bench_measure(b, &way, NULL, e);
}

static int open_managed(struct bench *b, struct managed *m, uint64_t bytes, struct gn_error *e)
{
	int rc;

	memset(m, 0, sizeof *m);
	m->bytes = bytes;
	rc = gn_base_managed_alloc(&m->memory, bytes, e);
	return rc ? rc : bench_fill(b, m->memory, bytes, e);
}

/* With each hint the same work as the other rows of the group. */
static int managed_rows(struct bench *b, struct managed *m, enum scope_unit unit, double amount,
                        struct gn_error *e)
{
	static const struct {
		const char *name;
		enum gn_base_hint hint;
		int fetch;
	} way[] = {{"managed", GN_BASE_NO_HINT, 0},
	           {"managed-read-mostly", GN_BASE_READ_MOSTLY, 0},
	           {"managed-prefer-device", GN_BASE_PREFER_DEVICE, 0},
	           {"managed-mapped", GN_BASE_MAP_HOST, 0},
	           {"managed-prefetch", GN_BASE_PREFER_DEVICE, 1}};
	int rc = 0;

	for (unsigned k = 0; k < sizeof way / sizeof *way && !rc; k++) {
		m->hint = way[k].hint;
		m->fetch = way[k].fetch;
		rc = managed_row(b, way[k].name, m, unit, amount, e);
	}
	return rc;
}

static int managed_sequential(struct bench *b, struct managed *m, struct gn_error *e)
{
	const double bytes = (double)m->bytes;
	int rc;

	m->read.memory = (const uint32_t *)m->memory;
	m->read.words = m->bytes / 4;
	m->read.wrong = b->wrong;
	m->kernel = &gn_base_read_wide_kernel;
	m->arguments = &m->read;
	rc = managed_rows(b, m, SCOPE_BANDWIDTH, bytes, e);
	m->hint = GN_BASE_NO_HINT;
	m->fetch = 0;
	m->fresh = 1;
	return rc ? rc : managed_row(b, "managed-host-written", m, SCOPE_BANDWIDTH, bytes, e);
}

int bench_cuda_sequential(struct bench *b, struct gn_error *e)
{
	struct tile_run t;
	struct managed m;
	int rc;

	if (!b->fixture.info.is_cuda)
		return 0;
	memset(&t, 0, sizeof t);
	t.tiling.in[0] = b->memory;
	t.tiling.kernel = &gn_base_read_wide_kernel;
	t.tiling.arguments = read_arguments;
	t.read.wrong = b->wrong;
	rc = tiles_row(b, &t, 1, e);
	if (rc)
		return rc;
	rc = open_managed(b, &m, b->bytes, e);
	rc = rc ? rc : managed_sequential(b, &m, e);
	gn_base_managed_free(m.memory);
	return rc;
}

int bench_cuda_pages(struct bench *b, uint32_t page_bytes, struct gn_error *e)
{
	struct gn_base_pages_args args;
	struct managed m;
	int rc;

	if (!b->fixture.info.is_cuda)
		return 0;
	memset(&args, 0, sizeof args);
	rc = open_managed(b, &m, b->bytes, e);
	args.memory = (const uint32_t *)m.memory;
	args.order = gn_base_order_init(b->bytes / page_bytes, 1);
	args.touches = args.order.count;
	args.page_bytes = page_bytes;
	args.wrong = b->wrong;
	m.kernel = &gn_base_pages_pointer_kernel;
	m.arguments = &args;
	rc = rc ? rc : managed_rows(b, &m, SCOPE_BANDWIDTH, (double)args.touches * page_bytes, e);
	gn_base_managed_free(m.memory);
	return rc;
}

int bench_cuda_words(struct bench *b, uint64_t touches, struct gn_error *e)
{
	struct gn_base_words_args args;
	struct managed m;
	int rc;

	if (!b->fixture.info.is_cuda)
		return 0;
	memset(&args, 0, sizeof args);
	rc = open_managed(b, &m, b->bytes, e);
	args.memory = (const uint32_t *)m.memory;
	args.words = m.bytes / 4;
	args.touches = touches;
	args.wrong = b->wrong;
	m.kernel = &gn_base_words_pointer_kernel;
	m.arguments = &args;
	rc = rc ? rc : managed_rows(b, &m, SCOPE_RATE, (double)args.touches, e);
	gn_base_managed_free(m.memory);
	return rc;
}
