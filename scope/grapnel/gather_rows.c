/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of gathers: a batch of random rows by number, sorted on the machine first (gn_gather_rows), and the
 * same rows as they come, by plain loads, which is its limit. The kernels are those of `grapnel gather`.
 */
#include "fixture.h"

#include <string.h>

#include <grapnel/array.h>
#include <grapnel/gather.h>

#include "gather/kernels.h"

enum { LEAST_ROW = 4, MOST_ROWS_GPU = 2 << 20, MOST_ROWS_CPU = 64 << 10 };

struct gather_state {
	struct fixture fixture;
	struct gn_gather *gather;
	struct gn_gb_args args;
	struct simt_grid grid;
	bool plain;
};

/* ---- the plan ---- */

/* A GPU's translations reach over the first span and not over the others; so spans go beyond m->most_bytes.
 */
static int plan_row(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p,
                    uint64_t bytes)
{
	static const uint64_t spans[] = {256ull << 20, 2ull << 30, 8ull << 30};
	const bool quick = m->effort == SCOPE_QUICK;
	int rc = 0;

	for (unsigned k = quick ? 1 : 0; k < (quick ? 2u : 3u) && !rc; k++) {
		const uint64_t want = fixture_is_gpu(row) ? spans[k] : spans[k] / 32;
		const struct scope_arg args[] = {{"bytes", bytes}, {"span", want}, {NULL, 0}};

		rc = want <= m->free_bytes / 4
		         ? scope_plan_add(p, args)
		         : scope_plan_skip(p, args, "larger than a quarter of the free memory");
	}
	return rc;
}

static int plan(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p)
{
	static const uint64_t sizes[] = {4, 128, 16, 64, 256, 512, 1024, 4096};
	int rc;

	if (!fixture_may(row, m, p, &rc))
		return rc;
	for (unsigned k = 0; k < (m->effort == SCOPE_QUICK ? 2u : 8u) && !rc; k++)
		rc = plan_row(row, m, p, sizes[k]);
	return rc;
}

/* ---- a sample ---- */

static int launch(struct gather_state *t, const struct simt_kernel *kernel, uint64_t times, double *seconds,
                  struct gn_error *e)
{
	return fixture_launch(&t->fixture, kernel, t->grid, &t->args, times, seconds, e);
}

/* The rows as they should be, with the words changed by mask; or the comparison with that. */
static int set_or_check(struct gather_state *t, const struct simt_kernel *kernel, uint32_t mask,
                        struct gn_error *e)
{
	double seconds;

	t->args.mask = mask;
	return launch(t, kernel, 1, &seconds, e);
}

static int gather(struct gather_state *t, uint64_t times, double *seconds, struct gn_error *e)
{
	const uint64_t began = simt_clock_ns();
	int rc = 0;

	for (uint64_t k = 0; k < times && !rc; k++)
		rc = gn_gather_rows(t->gather, &t->args.array, &t->args.batch, e);
	if (!rc)
		rc = gn_error_prefix(e, simt_wait(t->fixture.machine, e), "gather");
	*seconds = 1e-9 * (double)(simt_clock_ns() - began);
	return rc;
}

/* Other rows in each sample; an operation is a batch. */
static int sample(void *state, uint64_t operations, struct scope_sample *s, struct gn_error *e)
{
	struct gather_state *t = (struct gather_state *)state;
	const uint64_t batches = operations > t->fixture.least ? operations : t->fixture.least;
	double seconds;
	int rc;

	t->args.seed++;
	rc = launch(t, &gn_gb_draw_kernel, 1, &seconds, e);
	rc = rc ? rc : set_or_check(t, &gn_gb_set_kernel, ~0u, e);
	s->operations = batches;
	s->bytes = batches * t->args.batch.count * t->args.batch.elements * 4;
	if (rc)
		return rc;
	return t->plain ? launch(t, &gn_gb_plain_kernel, batches, &s->seconds, e)
	                : gather(t, batches, &s->seconds, e);
}

/* Every word of the last batch; before it each was another. */
static int verify(void *state, struct gn_error *e)
{
	struct gather_state *t = (struct gather_state *)state;
	int rc = set_or_check(t, &gn_gb_check_kernel, 0, e);

	if (!rc && *t->args.wrong)
		return gn_error_set(e, -GN_EIO, "gather: %llu words differ from the words of their rows",
		                    (unsigned long long)*t->args.wrong);
	return rc ? rc : gn_array_failure(&t->args.array, e);
}

/* ---- opening ---- */

static int make_array(struct gather_state *t, uint64_t span, struct gn_error *e)
{
	int rc = fixture_cache(&t->fixture, span / 16, 4096, 0, e);

	rc = rc ? rc : fixture_array(&t->fixture, &t->args.array, 0, t->args.words, e);
	return rc ? rc : gn_gather_create(&t->gather, t->fixture.machine, t->args.batch.count, e);
}

/* A batch reads more than the caches on the way hold: of short rows, lines. */
static int make_batch(struct gather_state *t, uint64_t row_bytes, uint64_t span, struct gn_error *e)
{
	const uint64_t rows = t->fixture.info.is_cuda ? MOST_ROWS_GPU : MOST_ROWS_CPU,
	               most = t->fixture.info.is_cuda ? 128u << 20 : 4u << 20;
	const uint64_t bytes = rows * row_bytes < most ? rows * row_bytes : most;

	t->args.words = span / 4;
	t->args.rows = span / row_bytes;
	t->args.draw = GN_GB_UNIFORM;
	t->args.batch.elements = (uint32_t)(row_bytes / 4);
	t->args.batch.count = bytes / row_bytes;
	t->args.batch.index =
	    (const uint64_t *)simt_alloc(t->fixture.machine, t->args.batch.count * 8, SIMT_DEVICE, e);
	t->args.batch.rows = simt_alloc(t->fixture.machine, bytes, SIMT_DEVICE, e);
	t->args.wrong = (uint64_t *)simt_alloc(t->fixture.machine, sizeof *t->args.wrong, SIMT_PINNED, e);
	t->args.reads = (uint64_t *)simt_alloc(t->fixture.machine, sizeof *t->args.reads, SIMT_DEVICE, e);
	if (!t->args.batch.index || !t->args.batch.rows || !t->args.wrong || !t->args.reads)
		return gn_error_set(e, -GN_ENOMEM, "out of memory for a batch of %llu bytes",
		                    (unsigned long long)bytes);
	return 0;
}

static int open_row(const struct scope_cell *c, const struct scope_machine *m, void *state,
                    struct gn_error *e)
{
	struct gather_state *t = (struct gather_state *)state;
	const uint64_t span = scope_cell_arg(c, "span", 0);
	double seconds;
	int rc = fixture_open_row(&t->fixture, c, e);

	(void)m;
	t->plain = strstr(c->row->name, "plain") != NULL;
	rc = rc ? rc : fixture_store(&t->fixture, e, "host:%llu", (unsigned long long)span);
	rc = rc ? rc : make_batch(t, scope_cell_arg(c, "bytes", LEAST_ROW), span, e);
	if (rc)
		return rc;
	t->args.store = (uint32_t *)(void *)gn_store_view_of(t->fixture.store)->memory;
	t->grid = fixture_full_grid(&t->fixture);
	rc = launch(t, &gn_gb_fill_kernel, 1, &seconds, e);
	rc = rc ? rc : make_array(t, span, e);
	return rc ? rc : fixture_settle(&t->fixture, sample, t, e);
}

static void close_row(void *state)
{
	struct gather_state *t = (struct gather_state *)state;

	if (t->fixture.machine) {
		gn_gather_destroy(t->gather);
		gn_array_destroy(&t->args.array, t->fixture.machine);
		simt_free(t->fixture.machine, (void *)(uintptr_t)t->args.batch.index);
		simt_free(t->fixture.machine, t->args.batch.rows);
		simt_free(t->fixture.machine, t->args.wrong);
		simt_free(t->fixture.machine, t->args.reads);
	}
	fixture_close(&t->fixture);
}

const struct scope_functions scope_gather = {
    sizeof(struct gather_state), plan, open_row, sample, verify, close_row};
