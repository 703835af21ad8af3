/* SPDX-License-Identifier: Apache-2.0 */
#define GN_READ_MISSES_CALL /* these loops hit, in few registers */

#include "kernels.h"
#include "spread/mix.h"

/* Sixteen bytes that a lane loads at once. */
struct wide {
	uint32_t word[4];
} __attribute__((aligned(16)));

/* What the word is whose number has these halves. */
SIMT_FN uint32_t word_of(uint32_t high, uint32_t low)
{
	return low * 2654435761u ^ high;
}

/* What word i of the data is. */
SIMT_FN uint32_t word_at(uint64_t i)
{
	return word_of((uint32_t)(i >> 32), (uint32_t)i);
}

/*
 * Bits in which the words whose numbers have this high half, and low ones from low on, differ from what they
 * should be.
 */
SIMT_FN uint32_t differ_wide(const struct wide *w, uint32_t high, uint32_t low)
{
	uint32_t differ = 0;

	for (uint32_t k = 0; k < 4; k++)
		differ |= w->word[k] ^ word_of(high, low + k);
	return differ;
}

SIMT_FN void report(const struct gn_cb_args *a, uint64_t wrong)
{
	if (wrong)
		simt_reduce_add_relaxed_dev_u64(a->wrong, wrong);
}

/* A number below bound that depends on k and the seed alone. */
SIMT_FN uint64_t draw(const struct gn_cb_args *a, uint64_t k, uint64_t bound)
{
	return spread_mix(k * 0x9e3779b97f4a7c15ull + a->seed) % bound;
}

SIMT_FN uint64_t warp_index(void)
{
	return simt_global_thread() / simt_warp_width();
}

SIMT_FN uint64_t warp_count(void)
{
	return simt_global_threads() / simt_warp_width();
}

SIMT_FN void gn_cb_fill(const struct gn_cb_args *a)
{
	for (uint64_t i = simt_global_thread(); i < a->words; i += simt_global_threads()) {
		if (a->store)
			a->store[i] = word_at(i);
		if (i < a->plain_words)
			a->plain[i] = word_at(i);
	}
}
SIMT_KERNEL(gn_cb_fill, struct gn_cb_args)

/*
 * Loads that a lane has under way at once: one at a time leaves the memory idle. RUN_AHEAD: along a run of
 * its warp's own
 */
enum { AHEAD = 8, RUN_AHEAD = 16 };

/* Bits in which words first, first + stride ... differ from what they should be. */
SIMT_FN uint32_t differ_ahead(const uint32_t *v, uint64_t first, uint64_t stride, uint32_t count)
{
	uint32_t differ = 0;

	for (uint32_t k = 0; k < count; k++)
		differ |= v[k] ^ word_at(first + k * stride);
	return differ;
}

SIMT_FN void gn_cb_plain(const struct gn_cb_args *a)
{
	const uint64_t stride = simt_global_threads();
	uint64_t wrong = 0, i = simt_global_thread();

	for (; i + (AHEAD - 1) * stride < a->words; i += AHEAD * stride) {
		uint32_t v[AHEAD];

		for (uint32_t k = 0; k < AHEAD; k++)
			v[k] = a->plain[i + k * stride];
		wrong += differ_ahead(v, i, stride, AHEAD) != 0;
	}
	for (; i < a->words; i += stride)
		wrong += a->plain[i] != word_at(i);
	report(a, wrong);
}
SIMT_KERNEL(gn_cb_plain, struct gn_cb_args)

SIMT_FN void gn_cb_plain_one(const struct gn_cb_args *a)
{
	uint64_t wrong = 0;

	for (uint64_t i = simt_global_thread(); i < a->words; i += simt_global_threads())
		wrong += a->plain[i] != word_at(i);
	report(a, wrong);
}
SIMT_KERNEL_RESIDENT(gn_cb_plain_one, struct gn_cb_args, 2048)

SIMT_FN void scan_wide(const struct gn_cb_args *a, const uint32_t *words)
{
	uint64_t wrong = 0;

	for (uint64_t i = 4 * simt_global_thread(); i < a->words; i += 4 * simt_global_threads()) {
		struct wide w = *(const struct wide *)(const void *)(words + i);

		wrong += differ_wide(&w, (uint32_t)(i >> 32), (uint32_t)i) != 0;
	}
	report(a, wrong);
}

SIMT_FN void gn_cb_plain_wide(const struct gn_cb_args *a)
{
	scan_wide(a, a->plain);
}
SIMT_KERNEL(gn_cb_plain_wide, struct gn_cb_args)

SIMT_FN void gn_cb_stream(const struct gn_cb_args *a)
{
	scan_wide(a, a->store);
}
SIMT_KERNEL(gn_cb_stream, struct gn_cb_args)

SIMT_FN void gn_cb_plain_random(const struct gn_cb_args *a)
{
	uint64_t wrong = 0;

	for (uint64_t k = simt_global_thread(); k < a->touches; k += simt_global_threads()) {
		uint64_t i = draw(a, k, a->words);

		wrong += a->plain[i] != word_at(i);
	}
	report(a, wrong);
}
SIMT_KERNEL(gn_cb_plain_random, struct gn_cb_args)

SIMT_FN void gn_cb_copy(const struct gn_cb_args *a)
{
	const uint32_t page_words = a->page_bytes / 4;
	char *to = a->scratch + warp_index() * a->page_bytes;
	uint64_t wrong = 0;

	for (uint64_t k = warp_index(); k < a->touches; k += warp_count()) {
		uint64_t page = draw(a, k, a->pages);

		simt_copy(simt_whole_warp(), to, a->store + page * page_words, a->page_bytes);
		wrong += ((const uint32_t *)(const void *)to)[simt_lane()] !=
		         word_at(page * page_words + simt_lane());
		simt_warp_sync(simt_whole_warp());
	}
	report(a, wrong);
}
SIMT_KERNEL(gn_cb_copy, struct gn_cb_args)

SIMT_FN void gn_cb_warm(const struct gn_cb_args *a)
{
	const uint32_t page_words = a->page_bytes / 4;
	struct gn_page page;

	for (uint64_t k = warp_index(); k * page_words < a->words; k += warp_count())
		if (!gn_array_acquire(&a->paged, simt_whole_warp(), k * page_words, 0, &page))
			gn_array_release(&a->paged, simt_whole_warp(), &page);
}
SIMT_KERNEL(gn_cb_warm, struct gn_cb_args)

SIMT_FN void gn_cb_scalar(const struct gn_cb_args *a)
{
	uint64_t wrong = 0;

	for (uint64_t i = simt_global_thread(); i < a->words; i += simt_global_threads())
		wrong += gn_read_u32(&a->paged, i) != word_at(i);
	report(a, wrong);
}
SIMT_KERNEL_RESIDENT(gn_cb_scalar, struct gn_cb_args, 2048)

SIMT_NOINLINE_FN uint64_t wrong_slowly(const struct gn_cb_args *a, uint64_t i)
{
	return gn_read_u32(&a->paged, i) != word_at(i);
}

/*
 * What no validated read can leave out: three loads of a direct table and its pages. Here they do not fail.
 * @calls  a constant: for those that fail there is a call; a loop that can call is another one to a GPU's
 *         compiler
 */
SIMT_FN void three_loads(const struct gn_cb_args *a, int calls)
{
	const struct gn__pages *p = &a->paged.pages;
	const uint32_t page_log2 = p->page_log2 - 2, page_mask = a->page_bytes / 4 - 1;
	uint64_t wrong = 0;

	for (uint64_t i = simt_global_thread(); i < a->words; i += simt_global_threads()) {
		const uint64_t *word = &p->word[i >> page_log2], seen = simt_load_old_u64(word);
		const char *frame = p->frame + ((size_t)gn__word_payload(seen) << p->page_log2);
		const uint32_t value =
		    simt_load_once_dev_u32((const uint32_t *)(const void *)frame + (i & page_mask));
		const uint64_t changed =
		    (seen ^ simt_load_behind_dev_u64(word, value, p->zero)) & GN__WORD_SAME;

		if (calls && simt_unlikely(changed != 0))
			wrong += SIMT_COLD(wrong_slowly)(a, i);
		else
			wrong += value != word_at(i) || changed;
	}
	report(a, wrong);
}

SIMT_FN void gn_cb_looks(const struct gn_cb_args *a)
{
	three_loads(a, 0);
}
SIMT_KERNEL_RESIDENT(gn_cb_looks, struct gn_cb_args, 2048)

SIMT_FN void gn_cb_looks_or_call(const struct gn_cb_args *a)
{
	three_loads(a, 1);
}
SIMT_KERNEL_RESIDENT(gn_cb_looks_or_call, struct gn_cb_args, 2048)

SIMT_FN void gn_cb_pinned(const struct gn_cb_args *a)
{
	const uint32_t width = simt_warp_width();
	uint64_t wrong = 0;
	struct gn_page page;

	for (uint64_t i = warp_index() * width; i < a->words; i += warp_count() * width) {
		const uint64_t mine = i + simt_lane();

		if (gn_array_acquire(&a->paged, simt_whole_warp(), i, 0, &page))
			continue;
		wrong += ((const uint32_t *)page.data)[mine - page.first] != word_at(mine);
		gn_array_release(&a->paged, simt_whole_warp(), &page);
	}
	report(a, wrong);
}
SIMT_KERNEL(gn_cb_pinned, struct gn_cb_args)

/* Where a warp's run of words begins: each has one of its own, so that it stays on a page. */
SIMT_FN uint64_t run_begin(const struct gn_cb_args *a, uint64_t warp)
{
	const uint64_t piece = RUN_AHEAD * simt_warp_width(),
	               begin = warp * (a->words / piece / warp_count() + 1) * piece;

	return begin < a->words ? begin : a->words;
}

SIMT_FN void gn_cb_plain_run(const struct gn_cb_args *a)
{
	const uint32_t width = simt_warp_width();
	const uint64_t end = run_begin(a, warp_index() + 1);
	uint64_t i = run_begin(a, warp_index()) + simt_lane();
	uint64_t wrong = 0;

	for (; i + (RUN_AHEAD - 1) * width < end; i += RUN_AHEAD * width) {
		uint32_t v[RUN_AHEAD];

		for (uint32_t k = 0; k < RUN_AHEAD; k++)
			v[k] = a->plain[i + k * width];
		wrong += differ_ahead(v, i, width, RUN_AHEAD) != 0;
	}
	for (; i < end; i += width)
		wrong += a->plain[i] != word_at(i);
	report(a, wrong);
}
SIMT_KERNEL(gn_cb_plain_run, struct gn_cb_args)

SIMT_FN void gn_cb_cursor(const struct gn_cb_args *a)
{
	struct gn_cursor c = gn_cursor_init(&a->paged);
	const uint32_t width = simt_warp_width();
	const uint64_t end = run_begin(a, warp_index() + 1);
	uint64_t i = run_begin(a, warp_index()) + simt_lane();
	uint64_t wrong = 0;

	for (; i + (RUN_AHEAD - 1) * width < end; i += RUN_AHEAD * width) {
		uint32_t v[RUN_AHEAD];

		wrong += gn_cursor_read_every_u32(&c, i, width, RUN_AHEAD, v) != 0;
		wrong += differ_ahead(v, i, width, RUN_AHEAD) != 0;
	}
	for (; i < end; i += width)
		wrong += gn_cursor_read_u32(&c, i) != word_at(i);
	gn_cursor_end(&c);
	report(a, wrong);
}
SIMT_KERNEL(gn_cb_cursor, struct gn_cb_args)

/*
 * How many of the lane's parts of a page are not what they should be. The numbers of its words have one high
 * half.
 */
SIMT_FN uint32_t wrong_page(const struct gn_page *page)
{
	const uint32_t *data = (const uint32_t *)simt_global(page->data);
	const uint32_t high = (uint32_t)(page->first >> 32), first = (uint32_t)page->first,
	               count = (uint32_t)page->count;
	const uint32_t step = 4 * simt_warp_width();
	uint32_t wrong = 0, i = 4 * simt_lane();

	for (; i + (AHEAD - 1) * step < count; i += AHEAD * step) {
		struct wide w[AHEAD];
		uint32_t differ = 0;

		for (uint32_t k = 0; k < AHEAD; k++)
			w[k] = *(const struct wide *)(const void *)(data + i + k * step);
		for (uint32_t k = 0; k < AHEAD; k++)
			differ |= differ_wide(&w[k], high, first + i + k * step);
		wrong += differ != 0;
	}
	for (; i < count; i += step)
		wrong += differ_wide((const struct wide *)(const void *)(data + i), high, first + i) != 0;
	return wrong;
}

SIMT_FN uint32_t wrong_plain_page(const struct gn_cb_args *a, uint64_t k)
{
	const uint64_t page_words = a->page_bytes / 4;
	struct gn_page page;

	page.data = a->plain + k * page_words;
	page.first = k * page_words;
	page.count = page_words;
	return wrong_page(&page);
}

SIMT_FN void gn_cb_plain_page(const struct gn_cb_args *a)
{
	uint64_t wrong = 0;

	for (uint64_t k = warp_index(); k * (a->page_bytes / 4) < a->words; k += warp_count())
		wrong += wrong_plain_page(a, k);
	report(a, wrong);
}
SIMT_KERNEL(gn_cb_plain_page, struct gn_cb_args)

/* Pages of a warp: a run of its own. */
SIMT_FN uint64_t pages_begin(const struct gn_cb_args *a, uint64_t warp)
{
	const uint64_t pages = a->words / (a->page_bytes / 4),
	               begin = warp * ((pages + warp_count() - 1) / warp_count());

	return begin < pages ? begin : pages;
}

SIMT_FN void gn_cb_plain_range(const struct gn_cb_args *a)
{
	const uint64_t end = pages_begin(a, warp_index() + 1);
	uint64_t wrong = 0;

	for (uint64_t k = pages_begin(a, warp_index()); k < end; k++)
		wrong += wrong_plain_page(a, k);
	report(a, wrong);
}
SIMT_KERNEL(gn_cb_plain_range, struct gn_cb_args)

SIMT_FN void gn_cb_range(const struct gn_cb_args *a)
{
	const uint64_t page_words = a->page_bytes / 4, begin = pages_begin(a, warp_index()),
	               end = pages_begin(a, warp_index() + 1);
	struct gn_range r;
	struct gn_page page;
	uint64_t wrong = 0;

	if (begin >= end)
		return;
	r = gn_range_begin(&a->paged, simt_whole_warp(), begin * page_words, end * page_words, 0);
	while (gn_range_next(&r, &page))
		wrong += wrong_page(&page);
	report(a, wrong + (gn_range_end(&r) != 0));
}
SIMT_KERNEL(gn_cb_range, struct gn_cb_args)

SIMT_FN void gn_cb_page(const struct gn_cb_args *a)
{
	const uint32_t page_words = a->page_bytes / 4;
	uint64_t wrong = 0;
	struct gn_page page;

	for (uint64_t k = warp_index(); k * page_words < a->words; k += warp_count()) {
		if (gn_array_acquire(&a->paged, simt_whole_warp(), k * page_words, 0, &page)) {
			wrong++;
			continue;
		}
		wrong += wrong_page(&page);
		gn_array_release(&a->paged, simt_whole_warp(), &page);
	}
	report(a, wrong);
}
SIMT_KERNEL(gn_cb_page, struct gn_cb_args)

/*
 * Page k and those behind it, of the warp's own run, a lane each: pinned together, read one after the other.
 * At the end of the run some lanes have none.
 */
SIMT_FN uint32_t wrong_pages(const struct gn_cb_args *a, uint64_t k, uint64_t end)
{
	const uint64_t page_words = a->page_bytes / 4;
	const uint32_t lanes = end - k < simt_warp_width() ? (uint32_t)(end - k) : simt_warp_width();
	const int has_one = simt_lane() < lanes;
	const uint32_t mask = simt_ballot(simt_whole_warp(), has_one);
	struct gn_page page = {0, 0, 0, {0, 0}};
	uint32_t failed, wrong;
	int rc = 0;

	if (has_one)
		rc = gn_array_acquire_each(&a->paged, mask, (k + simt_lane()) * page_words, GN_READ, &page);
	failed = simt_ballot(simt_whole_warp(), rc != 0);
	wrong = failed != 0;
	for (uint32_t lane = 0; lane < lanes && !failed; lane++) {
		struct gn_page one = {0, (k + lane) * page_words, page_words, {0, 0}};

		one.data =
		    (void *)(uintptr_t)simt_shfl_u64(simt_whole_warp(), (uint64_t)(uintptr_t)page.data, lane);
		wrong += wrong_page(&one);
	}
	if (has_one && !rc)
		gn_array_release_each(&a->paged, &page);
	return wrong;
}

SIMT_FN void gn_cb_pages(const struct gn_cb_args *a)
{
	const uint64_t end = pages_begin(a, warp_index() + 1);
	uint64_t wrong = 0;

	for (uint64_t k = pages_begin(a, warp_index()); k < end; k += simt_warp_width())
		wrong += wrong_pages(a, k, end);
	report(a, wrong);
}
SIMT_KERNEL(gn_cb_pages, struct gn_cb_args)

SIMT_FN void gn_cb_random(const struct gn_cb_args *a)
{
	uint64_t wrong = 0;

	for (uint64_t k = simt_global_thread(); k < a->touches; k += simt_global_threads()) {
		uint64_t i = draw(a, k, a->words);

		wrong += gn_read_u32(&a->paged, i) != word_at(i);
	}
	report(a, wrong);
}
SIMT_KERNEL_RESIDENT(gn_cb_random, struct gn_cb_args, 2048)

SIMT_FN void gn_cb_touch(const struct gn_cb_args *a)
{
	const uint32_t page_words = a->page_bytes / 4;
	uint64_t wrong = 0;
	struct gn_page page;

	for (uint64_t k = warp_index(); k < a->touches; k += warp_count()) {
		uint64_t first = draw(a, k, a->pages) * page_words;

		if (gn_array_acquire(&a->paged, simt_whole_warp(), first, 0, &page)) {
			wrong++;
			continue;
		}
		wrong += ((const uint32_t *)page.data)[simt_lane()] != word_at(first + simt_lane());
		gn_array_release(&a->paged, simt_whole_warp(), &page);
	}
	report(a, wrong);
}
SIMT_KERNEL(gn_cb_touch, struct gn_cb_args)
