/* SPDX-License-Identifier: Apache-2.0 */
/* The sample that a launch leaves: made, armed before the launch, and what it shows of it. */
#include <stdlib.h>
#include <string.h>

#include <array/auto.h>
#include <array/auto_kernels.h>

enum { TOUCHES = 20480, STAGES = 16, LEAST_REGIONS = 16, MOST_RENTS = 1 << 22, TRUSTED_PART = 4 };

/* ---- looking ---- */

void gn__auto_forget_sample(struct gn_auto *x)
{
	simt_free(x->machine, x->image.touch);
	simt_free(x->machine, x->image.rents);
	simt_free(x->machine, x->sample);
	free(x->log);
	free(x->seen);
}

static uint32_t rents_size(const struct gn_auto *x)
{
	const uint64_t most = x->config.cache_bytes / 256;
	uint32_t size = 1024;

	while (size < MOST_RENTS && size < most && (uint64_t)size * 512 < x->config.count * x->config.element_bytes)
		size *= 2;
	return size;
}

/* Where the hash of a region must lie at the end: so that a few regions of the array are looked at. */
static uint32_t least_keep(const struct gn_auto *x)
{
	const uint64_t regions = (x->config.count * x->config.element_bytes >> GN_SAMPLE_REGION_LOG2) + 1;

	return regions <= LEAST_REGIONS ? UINT32_MAX : (uint32_t)(4294967295.0 * LEAST_REGIONS / (double)regions);
}

int gn__auto_make_sample(struct gn_auto *x, struct gn_error *error)
{
	const struct gn_store_view *view = gn_store_view_of(x->store);
	struct gn_sample *s = &x->image;

	if (x->config.touches && x->config.touches < STAGES * 8)
		return gn_error_set(error, -GN_EINVAL, "auto: a sample of %u touches is too small; take %d or more",
				    x->config.touches, STAGES * 8);
	s->room = x->config.touches ? x->config.touches : (uint32_t)TOUCHES;
	s->stage = s->room / STAGES + 1;
	s->least = least_keep(x);
	s->base = x->config.offset;
	s->memory = view->kind == GN_STORE_MEMORY ? view->memory + x->config.offset : NULL;
	s->rents_mask = rents_size(x) - 1;
	s->touch = (uint64_t *)simt_alloc(x->machine, s->room * sizeof *s->touch, SIMT_DEVICE);
	s->rents = (uint32_t *)simt_alloc(x->machine, ((size_t)s->rents_mask + 1) * sizeof *s->rents, SIMT_DEVICE);
	x->sample = (struct gn_sample *)simt_alloc(x->machine, sizeof *x->sample, SIMT_DEVICE);
	x->log = (uint64_t *)malloc(s->room * sizeof *x->log);
	return s->touch && s->rents && x->sample && x->log ? 0 : gn_error_set(error, -GN_ENOMEM, "auto: no memory for its sample");
}

static int clear(struct gn_auto *x, void *memory, uint64_t bytes)
{
	const struct gn_auto_clear_args args = {(uint32_t *)memory, bytes / 4};
	const struct simt_grid grid = {64, 256, 0};

	return simt_launch(x->machine, &gn_auto_clear_kernel, grid, &args);
}

/*
 * What a page costs, and what going around the cache costs once: in whole lines of the store's memory, one of which is
 * what lanes that read side by side pay.
 */
static void set_rent(const struct gn_auto *x, struct gn_sample *s)
{
	const double line = x->rates.line + 4 * x->rates.sector;
	const double once = x->rates.line + x->rates.sector + x->rates.lost;
	double price;

	s->rent = s->once = 0;
	if (!x->has_direct || x->choice == GN_AUTO_DIRECT || line <= 0)
		return;
	price = x->rates.together[x->choice] / line + 1.5;
	s->rent = price > 1e6 ? 1000000 : (uint32_t)price;
	s->once = once > line ? (uint32_t)(once / line + 0.5) : 1;
}

/* Pages worth a part of the cache may be fetched on trust, shared out among the processors. */
static void fill_purses(const struct gn_auto *x, struct gn_sample *s)
{
	const uint64_t page = x->choice == GN_AUTO_DIRECT ? 1 : gn_auto_page_bytes[x->choice];
	const uint64_t pages = x->config.cache_bytes / page / TRUSTED_PART;
	struct simt_info machine;
	unsigned stripes;

	simt_describe(x->machine, &machine);
	stripes = machine.processors < GN_SAMPLE_STRIPES ? machine.processors : (unsigned)GN_SAMPLE_STRIPES;
	for (unsigned k = 0; k < GN_SAMPLE_STRIPES; k++)
		s->stripe[k].purse = (pages / stripes + 1) * s->rent;
}

/* The next launch is looked at. */
int gn__auto_look(struct gn_auto *x, struct gn_error *error)
{
	struct gn_sample *s = &x->image;
	int rc;

	s->next = 0;
	s->keep = s->least < UINT32_MAX / 16 ? UINT32_MAX / 16 : s->least;
	set_rent(x, s);
	fill_purses(x, s);
	rc = clear(x, s->touch, s->room * sizeof *s->touch);
	if (!rc)
		rc = clear(x, s->rents, ((uint64_t)s->rents_mask + 1) * sizeof *s->rents);
	if (!rc)
		rc = simt_move(x->machine, x->sample, s, sizeof *s);
	x->looking = !rc;
	return rc ? gn_error_set(error, rc, "auto: %s", simt_message(x->machine)) : 0;
}

/* ---- what was seen ---- */

enum { BLOCK_LOG2 = 9 }; /* the smallest page */

/* The distinct blocks of 512 B of the log, which has been put in order. Returns their number. */
static uint64_t blocks_of(const uint64_t *touch, uint64_t count, uint64_t *to)
{
	uint64_t n = 0;

	for (uint64_t k = 0; k < count; k++) {
		const uint64_t block = touch[k] >> GN_TOUCH_LINE_SHIFT >> (BLOCK_LOG2 - GN_SAMPLE_LINE_LOG2);

		if (!n || block != to[n - 1])
			to[n++] = block;
	}
	return n;
}

static int looked_at(uint64_t block, uint32_t keep)
{
	return gn_sample_hash(block >> (GN_SAMPLE_REGION_LOG2 - BLOCK_LOG2)) < keep;
}

/* Of the pages of this launch, in regions that both looks kept, how many did the look before see too? */
static double common(const struct gn_auto *x, const uint64_t *block, uint64_t count, uint32_t keep, uint32_t shift)
{
	uint64_t both = 0, all = 0, at = 0, last = UINT64_MAX;

	for (uint64_t k = 0; k < count; k++) {
		const uint64_t page = block[k] >> shift;

		if (page == last || !looked_at(block[k], x->seen_keep) || !looked_at(block[k], keep))
			continue;
		last = page;
		all++;
		while (at < x->seen_count && x->seen[at] >> shift < page)
			at++;
		both += at < x->seen_count && x->seen[at] >> shift == page;
	}
	return all < 16 ? -1 : (double)both / (double)all;
}

static int compare_looks(struct gn_auto *x, uint32_t keep, struct gn_auto_study *study)
{
	uint64_t *block = (uint64_t *)malloc((study->touches + 1) * sizeof *block);
	uint64_t count;

	if (!block)
		return -GN_ENOMEM;
	count = blocks_of(x->log, study->touches, block);
	for (unsigned p = 0; p < GN_AUTO_PAGE_SIZES && x->seen && study->covered >= 0.9; p++)
		study->again[p] = common(x, block, count, keep, (uint32_t)__builtin_ctz(gn_auto_page_bytes[p]) - BLOCK_LOG2);
	free(x->seen);
	x->seen = block;
	x->seen_count = count;
	x->seen_keep = keep;
	return 0;
}

int gn__auto_see(struct gn_auto *x, struct gn_auto_study *out)
{
	struct gn_auto_study_input in;
	struct gn_sample s;
	int rc = simt_move(x->machine, &s, x->sample, sizeof s);

	memset(&in, 0, sizeof in);
	in.touch = x->log;
	in.noted = s.next;
	in.count = s.next < s.room ? s.next : s.room;
	in.keep = (uint32_t)s.keep;
	in.element_bytes = x->config.element_bytes;
	in.has_memory = x->has_direct;
	in.first_byte = x->config.offset;
	in.bytes = x->config.count * x->config.element_bytes;
	in.cache_bytes = x->config.cache_bytes;
	in.near_bytes = x->rates.near_bytes;
	in.reach_bytes = x->rates.reach_bytes;
	for (unsigned k = 0; k < GN_SAMPLE_STRIPES; k++)
		in.accesses += s.stripe[k].accesses;
	if (!rc)
		rc = simt_move(x->machine, x->log, x->image.touch, in.count * sizeof *x->log);
	if (!rc)
		rc = gn__auto_study(&in, out);
	return rc ? rc : compare_looks(x, in.keep, out);
}
