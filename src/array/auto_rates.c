/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this machine does with this store: short kernels, each through the ways that a launch would go. Reads only.
 */
#include <string.h>
#include <time.h>

#include <array/auto.h>
#include <array/auto_kernels.h>

static const double aim_seconds = 0.008; /* of one measurement */

struct meter {
	struct simt_machine *machine;
	struct gn_store *store;
	struct simt_info info;
	uint64_t words; /* of the store */
	uint64_t cache_bytes;
	enum gn_cache_policy policy;
	uint32_t *sink;
	uint64_t seed;
	struct gn_error *error;
};

double gn__auto_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static uint32_t warp_log2(const struct meter *m)
{
	return (uint32_t)__builtin_ctz(m->info.warp_width);
}

/* Threads for so many reads, at most what the machine runs at once. */
static struct simt_grid grid_for(const struct meter *m, uint64_t reads)
{
	struct simt_grid grid = {1, 256, 0};
	const uint64_t most = m->info.resident_threads / 256;
	uint64_t blocks = (reads + 255) / 256;

	blocks = blocks > most ? most : blocks;
	grid.blocks = blocks ? (uint32_t)blocks : 1;
	return grid;
}

static int time_probe(struct meter *m, const struct simt_kernel *kernel, struct gn_auto_probe_args *args, double *each)
{
	const double begun = gn__auto_seconds();
	int rc;

	args->seed = ++m->seed;
	args->sink = m->sink;
	rc = simt_launch(m->machine, kernel, grid_for(m, args->touches << args->share_log2), args);
	if (!rc)
		rc = simt_wait(m->machine);
	if (!rc)
		rc = gn_array_failure(&args->array, m->error);
	else
		gn_error_set(m->error, rc, "auto: measuring: %s", simt_message(m->machine));
	*each = (gn__auto_seconds() - begun) / (double)args->touches;
	return rc;
}

/* More and more touches, until they take about as long as is aimed at; the first launch of all may load the kernel. */
static int measure_kernel(struct meter *m, const struct simt_kernel *kernel, struct gn_auto_probe_args *args, uint64_t few,
			  uint64_t most, double *each)
{
	double took, more;
	int rc;

	args->touches = few < most ? few : most;
	for (;;) {
		rc = time_probe(m, kernel, args, each);
		took = *each * (double)args->touches;
		if (rc || took > aim_seconds / 2 || args->touches == most)
			return rc;
		more = aim_seconds / took;
		more = more < 2 ? 2 : more > 16 ? 16 : more;
		args->touches = more * (double)args->touches < (double)most ? (uint64_t)(more * (double)args->touches) : most;
	}
}

static int measure(struct meter *m, struct gn_auto_probe_args *args, uint64_t few, uint64_t most, double *each)
{
	return measure_kernel(m, &gn_auto_probe_kernel, args, few, most, each);
}

/* ---- the store's own memory ---- */

static int measure_direct(struct meter *m, struct gn_auto_rates *r)
{
	const struct gn_array_config c = {GN_DIRECT, NULL, m->store, 0, m->words, 4};
	const uint64_t near_words = m->words < 16u << 20 ? m->words : 16u << 20;
	struct gn_auto_probe_args args;
	double whole = 0, near = 0, far = 0, walk = 0, beyond;
	int rc;

	memset(&args, 0, sizeof args);
	rc = gn_array_create(&args.array, m->machine, &c, m->error);
	if (rc)
		return rc;
	args.unit_words = 32;
	args.units = m->words / 32 ? m->words / 32 : 1;
	args.share_log2 = m->words < 32 ? 0 : warp_log2(m);
	args.in_order = 1;
	args.walk = 1;
	rc = measure(m, &args, 1 << 14, 4 << 20, &whole);
	if (!rc)
		rc = measure(m, &args, 1 << 18, 4 << 20, &whole);
	args.share_log2 = 0;
	args.in_order = 0;
	args.units = near_words / 32 ? near_words / 32 : 1;
	args.walk = m->words < 32 ? 1 : 32;
	if (!rc)
		rc = measure(m, &args, 1 << 14, 1 << 20, &walk);
	args.walk = 1;
	args.unit_words = 1;
	args.units = near_words;
	if (!rc)
		rc = measure(m, &args, 1 << 16, 8 << 20, &near);
	args.units = m->words;
	if (!rc)
		rc = measure(m, &args, 1 << 16, 8 << 20, &far);
	gn_array_destroy(&args.array, m->machine);
	/* One sector and all four; a warp narrower than a line's words reads less of it. */
	r->sector = whole > near ? (whole - near) / 3 : whole / 8;
	r->line = near > r->sector ? near - r->sector : 0;
	r->again = walk > near ? (walk - near) / 31 : 0;
	r->again = r->again < near ? r->again : near;
	beyond = (double)m->words * 4 > (double)r->reach_bytes ? 1 - (double)r->reach_bytes / (4 * (double)m->words) : 0;
	r->lost = beyond > 0.1 && far > 1.5 * near ? (far - near * (1 - beyond)) / beyond : 0;
	return rc;
}

/* ---- through a cache ---- */

enum { MIDDLE = 3 };

static int make_cache(struct meter *m, uint32_t page_bytes, struct gn_cache **cache, struct gn_array *array)
{
	struct gn_cache_options o;
	struct gn_array_config c = {GN_PAGED, NULL, m->store, 0, m->words, 4};
	int rc;

	memset(&o, 0, sizeof o);
	o.bytes = m->cache_bytes;
	o.page_bytes = page_bytes;
	o.policy = m->policy;
	rc = gn_cache_create(cache, m->machine, &m->store, 1, &o, m->error);
	c.cache = *cache;
	return rc ? rc : gn_array_create(array, m->machine, &c, m->error);
}

enum { NEAR_PAGES = 64 }; /* few enough to be there */

/* Pages by reference that are there: a line of each, then all of each. What is more is what a line takes. */
static int measure_held(struct meter *m, struct gn_auto_probe_args *args, uint64_t page_words, struct gn_auto_rates *r)
{
	const uint64_t pages = m->words / page_words, lines = page_words / 32;
	double line = 0, page = 0;
	int rc;

	if (!pages)
		return 0;
	args->unit_words = page_words;
	args->units = pages < NEAR_PAGES ? pages : (uint64_t)NEAR_PAGES;
	args->share_log2 = warp_log2(m);
	args->walk = (uint32_t)page_words;
	rc = measure_kernel(m, &gn_auto_walk_kernel, args, 1 << 12, 1 << 20, &page);
	args->walk = 32;
	if (!rc)
		rc = measure_kernel(m, &gn_auto_walk_kernel, args, 1 << 12, 4 << 20, &line);
	r->held = page > line ? (page - line) / (double)(lines - 1) : 0;
	r->pin = line > r->held ? line - r->held : 0;
	return rc;
}

/* Misses of pages of one size, by warps and by lanes, and then hits. Pages that the store cannot move keep 0. */
static int measure_pages(struct meter *m, unsigned p, int by_lanes, struct gn_auto_rates *r)
{
	const uint64_t page_words = gn_auto_page_bytes[p] / 4, threads = m->info.resident_threads;
	struct gn_cache *cache = NULL;
	struct gn_auto_probe_args args;
	double begun = gn__auto_seconds(), making;
	int rc;

	memset(&args, 0, sizeof args);
	rc = make_cache(m, gn_auto_page_bytes[p], &cache, &args.array);
	making = gn__auto_seconds() - begun;
	args.walk = 1;
	args.unit_words = page_words;
	args.units = m->words / page_words ? m->words / page_words : 1;
	args.share_log2 = m->words < page_words ? 0 : warp_log2(m);
	if (!rc)
		rc = measure(m, &args, threads / 32 + 1, (256u << 20) / gn_auto_page_bytes[p], &r->together[p]);
	if (!rc)
		rc = gn_cache_invalidate(cache, m->error);
	args.share_log2 = 0;
	if (!rc && by_lanes)
		rc = measure(m, &args, threads / 16 + 1, threads, &r->alone[p]);
	if (!rc && by_lanes) {
		args.unit_words = 1;
		args.units = m->words < NEAR_PAGES ? m->words : (uint64_t)NEAR_PAGES;
		rc = measure(m, &args, 1 << 16, 16 << 20, &r->hit);
		if (!rc)
			rc = measure_held(m, &args, page_words, r);
	}
	begun = gn__auto_seconds();
	if (args.array.failure)
		gn_array_destroy(&args.array, m->machine);
	if (cache)
		gn_cache_destroy(cache);
	making += gn__auto_seconds() - begun;
	r->change = r->change <= 0 || making < r->change ? making : r->change; /* what disturbs it only adds */
	return rc;
}

/* Between two page sizes that were measured, in proportion to the bytes. */
static double between(const double *each, unsigned p, unsigned from, unsigned to)
{
	const double b = gn_auto_page_bytes[p], b0 = gn_auto_page_bytes[from], b1 = gn_auto_page_bytes[to];

	return each[from] + (each[to] - each[from]) * (b - b0) / (b1 - b0);
}

static void fill_between(struct gn_auto_rates *r, unsigned from, unsigned to)
{
	/* A lane on its own moves a large page as it moves a middle one, piece by piece. */
	if (r->alone[to] <= 0)
		r->alone[to] = r->alone[from] * gn_auto_page_bytes[to] / gn_auto_page_bytes[from];
	for (unsigned p = from + 1; p < to; p++) {
		r->together[p] = between(r->together, p, from, to);
		r->alone[p] = between(r->alone, p, from, to);
	}
	for (unsigned p = from; p <= to; p++)
		if (r->alone[p] < r->together[p])
			r->alone[p] = r->together[p];
}

int gn__auto_can_page(const struct gn_store *store, const struct gn_auto_config *config, unsigned p)
{
	const struct gn_store_view *s = gn_store_view_of(store);
	const uint32_t bytes = gn_auto_page_bytes[p];

	return bytes % s->block_bytes == 0 && (s->kind != GN_STORE_QUEUES || s->transfer_bytes >= bytes) &&
	       config->cache_bytes / bytes >= 16;
}

/* The smallest, the middle and the largest page that can be; the others lie between. */
static int measure_sizes(struct meter *m, const struct gn_auto_config *config, struct gn_auto_rates *r)
{
	int last = -1, rc = 0;
	unsigned most = GN_AUTO_PAGE_SIZES;

	while (most && !gn__auto_can_page(m->store, config, most - 1))
		most--;
	if (!most)
		return gn_error_set(m->error, -GN_EINVAL,
				    "auto: a cache of %llu bytes is less than sixteen pages that %s can move; make it larger",
				    (unsigned long long)config->cache_bytes, gn_store_path(m->store));
	for (unsigned p = 0; p < most && !rc; p++) {
		if (!gn__auto_can_page(m->store, config, p) || (last >= 0 && p != MIDDLE && p != most - 1))
			continue;
		rc = measure_pages(m, p, p <= MIDDLE || last < 0, r);
		if (!rc && last >= 0)
			fill_between(r, (unsigned)last, p);
		last = (int)p;
	}
	return rc;
}

int gn__auto_measure(struct simt_machine *machine, struct gn_store *store, const struct gn_auto_config *config,
		     struct gn_auto_rates *r, struct gn_error *error)
{
	const struct gn_store_view *view = gn_store_view_of(store);
	const double begun = gn__auto_seconds();
	struct meter m;
	int rc;

	memset(&m, 0, sizeof m);
	m.machine = machine;
	m.store = store;
	m.words = view->capacity_bytes / 4;
	m.cache_bytes = config->cache_bytes;
	m.policy = config->policy;
	m.error = error;
	simt_describe(machine, &m.info);
	m.sink = (uint32_t *)simt_alloc(machine, sizeof *m.sink, SIMT_DEVICE);
	rc = m.sink ? 0 : gn_error_set(error, -GN_ENOMEM, "auto: no memory on the machine");
	if (!r->reach_bytes)
		r->reach_bytes = 1ull << 30;
	if (!r->near_bytes)
		r->near_bytes = m.info.processors * (m.info.is_cuda ? 192ull << 10 : 1ull << 20);
	if (!rc && view->kind == GN_STORE_MEMORY)
		rc = measure_direct(&m, r);
	if (!rc)
		rc = measure_sizes(&m, config, r);
	simt_free(machine, m.sink);
	r->seconds = gn__auto_seconds() - begun;
	r->measured = !rc;
	return rc;
}
