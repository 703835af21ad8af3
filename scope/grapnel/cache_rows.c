/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the cache: a page brought in, by size and by how many warps ask at once, and a hit by each way to
 * read. The kernels are those of `grapnel cache-bench`; they compare every word that they read.
 */
#include "fixture.h"

#include <string.h>

#include <grapnel/array.h>

#include "cache_bench/kernels.h"

/* Least and most pages that are swept; the part of the data that frames hold, and that may be on its way at
 * once. */
enum { LEAST_PAGE = 512, MOST_PAGE = 2 << 20, FRAMES_PART = 8, UNDER_WAY_PART = 32, HIT_PAGE = 4096 };

struct cache_state {
	struct fixture fixture;
	struct gn_cb_args args;
	const struct simt_kernel *kernel;
	struct simt_grid grid;
	enum scope_unit unit;
	bool counts; /* what was fetched is what counts, not what was asked for */
};

static struct cache_state *of(void *state)
{
	return (struct cache_state *)state;
}

/* ---- plans ---- */

/* A few times more than caches on the way hold: of a GPU 60 MB, of a host's core a few. */
static uint64_t data_bytes(const struct scope_row *row, const struct scope_machine *m)
{
	uint64_t bytes = fixture_is_gpu(row) ? 512ull << 20 : 64ull << 20;

	while (bytes > m->free_bytes / 4 && bytes > UNDER_WAY_PART * (uint64_t)MOST_PAGE)
		bytes /= 2;
	return bytes;
}

static int add(struct scope_plan *p, uint64_t bytes, const char *name, uint64_t value)
{
	const struct scope_arg args[] = {{"bytes", bytes}, {name, value}, {NULL, 0}};

	return scope_plan_add(p, args);
}

static int plan_page_in(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p)
{
	const bool quick = m->effort == SCOPE_QUICK, gpu = fixture_is_gpu(row);
	const uint64_t first = quick ? 4096 : LEAST_PAGE, last = quick ? 65536 : MOST_PAGE,
	               most = gpu ? 4096 : 64;
	int rc;

	if (!fixture_may(row, m, p, &rc))
		return rc;
	for (uint64_t page = first; page <= last && !rc; page *= quick ? 16 : 2)
		for (uint64_t warps = quick ? most / 64 : 1; warps <= most && !rc; warps *= quick ? 64 : 8)
			if (page * warps <= data_bytes(row, m) / UNDER_WAY_PART)
				rc = add(p, page, "warps", warps);
	return rc;
}

static int plan_miss(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p)
{
	const bool quick = m->effort == SCOPE_QUICK;
	int rc;

	if (!fixture_may(row, m, p, &rc))
		return rc;
	for (uint64_t page = quick ? 4096 : LEAST_PAGE; page <= (quick ? 4096 : MOST_PAGE) && !rc; page *= 2)
		rc = add(p, page, "warps", 1);
	return rc;
}

static int plan_hit(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p)
{
	const uint64_t data = data_bytes(row, m),
	               bytes = fixture_is_gpu(row) ? data : data / (m->effort == SCOPE_QUICK ? 16 : 4);
	int rc;

	if (!fixture_may(row, m, p, &rc) || (m->effort == SCOPE_QUICK && strstr(row->name, "range")))
		return rc;
	rc = add(p, bytes, "page", HIT_PAGE);
	return !rc && m->effort == SCOPE_FULL ? add(p, bytes, "page", 65536) : rc;
}

/* ---- samples ---- */

/* Random pages of far more than the cache holds, each sample others. An operation is a page that was fetched.
 */
static int sample_touches(struct cache_state *t, uint64_t operations, struct scope_sample *s,
                          struct gn_error *e)
{
	const uint64_t before = fixture_fetched(&t->fixture);
	int rc;

	t->args.seed++;
	t->args.touches = operations > t->fixture.least ? operations : t->fixture.least;
	rc = fixture_launch(&t->fixture, t->kernel, t->grid, &t->args, 1, &s->seconds, e);
	s->bytes = fixture_fetched(&t->fixture) - before;
	s->operations = s->bytes / t->args.page_bytes;
	return rc;
}

/* Passes over all words. An operation is one of them; random words are counted one by one, bytes are those
 * read. */
static int sample_passes(struct cache_state *t, uint64_t operations, struct scope_sample *s,
                         struct gn_error *e)
{
	const uint64_t passes = operations > t->fixture.least ? operations : t->fixture.least;

	t->args.seed++;
	s->operations = t->unit == SCOPE_RATE ? passes * t->args.touches : passes;
	s->bytes = t->unit == SCOPE_RATE ? 0 : passes * t->args.words * 4;
	return fixture_launch(&t->fixture, t->kernel, t->grid, &t->args, passes, &s->seconds, e);
}

static int sample(void *state, uint64_t operations, struct scope_sample *s, struct gn_error *e)
{
	struct cache_state *t = of(state);
	int rc;

	if (t->counts) {
		rc = sample_touches(t, operations, s, e);
	} else {
		/* Of random words the tool asks for so many words, not passes. */
		const uint64_t each = t->unit == SCOPE_RATE ? t->args.touches : 1;

		rc = sample_passes(t, (operations + each - 1) / each, s, e);
	}
	return rc              ? rc
	       : s->operations ? 0
	                       : gn_error_set(e, -GN_EIO, "%s: no byte was moved", t->kernel->name);
}

/* ---- opening ---- */

static const struct simt_kernel *kernel_of(const struct scope_row *row)
{
	static const struct {
		const char *way;
		const struct simt_kernel *kernel;
	} all[] = {{"page-in", &gn_cb_touch_kernel},
	           {"miss", &gn_cb_touch_kernel},
	           {"plain", &gn_cb_plain_kernel},
	           {"plain-wide", &gn_cb_plain_wide_kernel},
	           {"plain-random", &gn_cb_plain_random_kernel},
	           {"hit-scalar", &gn_cb_scalar_kernel},
	           {"hit-cursor", &gn_cb_cursor_kernel},
	           {"hit-page", &gn_cb_page_kernel},
	           {"hit-range", &gn_cb_range_kernel},
	           {"hit-random", &gn_cb_random_kernel}};
	const char *way = strchr(row->name, '/') + 1;

	for (size_t k = 0; k < sizeof all / sizeof *all; k++)
		if (!strcmp(all[k].way, way))
			return all[k].kernel;
	return NULL;
}

/* Is there a cache in the way? */
static bool is_plain(const struct cache_state *t)
{
	return t->kernel == &gn_cb_plain_kernel || t->kernel == &gn_cb_plain_wide_kernel ||
	       t->kernel == &gn_cb_plain_random_kernel;
}

static int launch_once(struct cache_state *t, const struct simt_kernel *kernel, struct gn_error *e)
{
	double seconds;

	return fixture_launch(&t->fixture, kernel, fixture_full_grid(&t->fixture), &t->args, 1, &seconds, e);
}

static int make_array(struct cache_state *t, uint64_t cache_bytes, struct gn_error *e)
{
	int rc = fixture_cache(&t->fixture, cache_bytes, t->args.page_bytes, t->counts, e);

	return rc ? rc : fixture_array(&t->fixture, &t->args.paged, 0, t->args.words, e);
}

/* The words, where they rest and, for plain reads, beside it. */
static int make_data(struct cache_state *t, uint64_t bytes, struct gn_error *e)
{
	int rc = fixture_store(&t->fixture, e, "host:%llu", (unsigned long long)bytes);

	if (rc)
		return rc;
	t->args.store = (uint32_t *)(void *)gn_store_view_of(t->fixture.store)->memory;
	t->args.words = bytes / 4;
	t->args.pages = bytes / t->args.page_bytes;
	t->args.touches = t->args.words;
	t->args.wrong = (uint64_t *)simt_alloc(t->fixture.machine, sizeof *t->args.wrong, SIMT_PINNED, e);
	if (is_plain(t)) {
		t->args.plain_words = t->args.words;
		t->args.plain = (uint32_t *)simt_alloc(t->fixture.machine, bytes, SIMT_DEVICE, e);
	}
	if (!t->args.wrong || (is_plain(t) && !t->args.plain))
		return gn_error_set(e, -GN_ENOMEM, "out of memory for %llu bytes of words",
		                    (unsigned long long)bytes);
	return launch_once(t, &gn_cb_fill_kernel, e);
}

static int open_pages(struct cache_state *t, const struct scope_cell *c, uint64_t bytes, struct gn_error *e)
{
	int rc;

	t->args.page_bytes = (uint32_t)scope_cell_arg(c, "bytes", 4096);
	t->grid = fixture_grid(&t->fixture, scope_cell_arg(c, "warps", 1));
	rc = make_data(t, bytes, e);
	return rc ? rc : make_array(t, bytes / FRAMES_PART, e);
}

static int open_words(struct cache_state *t, const struct scope_cell *c, struct gn_error *e)
{
	const uint64_t bytes = scope_cell_arg(c, "bytes", 0);
	int rc;

	t->args.page_bytes = (uint32_t)scope_cell_arg(c, "page", HIT_PAGE);
	t->grid = fixture_full_grid(&t->fixture);
	if (t->fixture.info
	        .is_cuda) { /* more than runs at once: the next block takes over where one has waited */
		t->grid.blocks = t->fixture.info.resident_threads / 32;
		t->grid.block_threads = 256;
	}
	rc = make_data(t, bytes, e);
	if (rc || is_plain(t))
		return rc;
	rc = make_array(t, bytes, e);
	return rc ? rc : launch_once(t, &gn_cb_warm_kernel, e);
}

static int open_row(const struct scope_cell *c, const struct scope_machine *m, void *state,
                    struct gn_error *e)
{
	struct cache_state *t = of(state);
	int rc = fixture_open_row(&t->fixture, c, e);

	if (rc)
		return rc;
	t->kernel = kernel_of(c->row);
	t->unit = c->row->unit;
	t->counts = t->kernel == &gn_cb_touch_kernel;
	rc = t->counts ? open_pages(t, c, data_bytes(c->row, m), e) : open_words(t, c, e);
	return rc ? rc : fixture_settle(&t->fixture, sample, t, e);
}

/* ---- checking ---- */

/* Change the last word where it rests, and where plain reads take it from. */
static int change_word(struct cache_state *t, uint32_t by, struct gn_error *e)
{
	const uint64_t last = t->args.words - 1;
	uint32_t word;
	int rc = gn_store_read_host(t->fixture.store, 4 * last, &word, sizeof word, e);

	word ^= by;
	rc = rc ? rc : gn_store_write_host(t->fixture.store, 4 * last, &word, sizeof word, e);
	if (!rc && is_plain(t))
		rc = simt_move(t->fixture.machine, &t->args.plain[last], &word, sizeof word, e);
	if (rc || is_plain(t))
		return rc;
	rc = gn_cache_invalidate(t->fixture.cache, e);
	return rc ? rc : launch_once(t, &gn_cb_warm_kernel, e);
}

/* A kernel that finds nothing wrong may have looked at nothing: it must find one wrong word, once a pass. */
static int finds_a_wrong_word(struct cache_state *t, struct gn_error *e)
{
	const uint64_t before = *t->args.wrong;
	uint64_t found;
	double seconds;
	int rc = change_word(t, 1, e);

	rc = rc ? rc : fixture_launch(&t->fixture, t->kernel, t->grid, &t->args, 1, &seconds, e);
	found = *t->args.wrong - before;
	*t->args.wrong = before;
	rc = rc ? rc : change_word(t, 1, e);
	if (!rc && found != 1)
		rc = gn_error_set(e, -GN_EIO,
		                  "%s: the check found %llu wrong words, but exactly 1 word is wrong",
		                  t->kernel->name, (unsigned long long)found);
	return rc;
}

static int verify(void *state, struct gn_error *e)
{
	struct cache_state *t = of(state);
	int rc = is_plain(t) ? 0 : gn_array_failure(&t->args.paged, e);

	if (!rc && *t->args.wrong)
		rc = gn_error_set(e, -GN_EIO, "%s: %llu words differ from the words that were written",
		                  t->kernel->name, (unsigned long long)*t->args.wrong);
	/* Of pages the cache has counted what came; random words need not include the one. */
	return rc || t->counts || t->unit == SCOPE_RATE ? rc : finds_a_wrong_word(t, e);
}

static void close_row(void *state)
{
	struct cache_state *t = of(state);

	if (t->fixture.machine) {
		gn_array_destroy(&t->args.paged, t->fixture.machine);
		simt_free(t->fixture.machine, t->args.plain);
		simt_free(t->fixture.machine, t->args.wrong);
	}
	fixture_close(&t->fixture);
}

const struct scope_functions scope_page_in = {
    sizeof(struct cache_state), plan_page_in, open_row, sample, verify, close_row};
const struct scope_functions scope_miss = {
    sizeof(struct cache_state), plan_miss, open_row, sample, verify, close_row};
const struct scope_functions scope_hit = {
    sizeof(struct cache_state), plan_hit, open_row, sample, verify, close_row};
