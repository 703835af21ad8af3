/* SPDX-License-Identifier: Apache-2.0 */
#include "add.h"

SIMT_FN struct gn_base_wide sum_wide(const struct gn_base_wide *a, const struct gn_base_wide *b,
                                     uint32_t salt)
{
	struct gn_base_wide c;

	for (uint32_t k = 0; k < 4; k++)
		c.word[k] = a->word[k] + b->word[k] + salt;
	return c;
}

SIMT_FN void gn_base_add_fill(const struct gn_base_add_args *a)
{
	uint32_t *first = (uint32_t *)(uintptr_t)a->in[0], *second = (uint32_t *)(uintptr_t)a->in[1];

	for (uint64_t i = simt_global_thread(); i < a->words; i += simt_global_threads()) {
		first[i] = gn_base_word(i);
		second[i] = gn_base_other_word(i);
	}
}
SIMT_KERNEL(gn_base_add_fill, struct gn_base_add_args)

SIMT_FN void gn_base_add_check(const struct gn_base_add_args *a)
{
	const struct gn_base_wide *out = (const struct gn_base_wide *)(const void *)a->out;
	uint64_t wrong = 0;

	for (uint64_t i = simt_global_thread(); i < a->words / 4; i += simt_global_threads()) {
		const struct gn_base_wide got = out[i];

		for (uint64_t k = 0; k < 4; k++)
			wrong +=
			    got.word[k] != gn_base_word(4 * i + k) + gn_base_other_word(4 * i + k) + a->salt;
	}
	gn_base_report(a->wrong, wrong);
}
SIMT_KERNEL(gn_base_add_check, struct gn_base_add_args)

SIMT_FN void gn_base_add_pointer(const struct gn_base_add_args *a)
{
	const struct gn_base_wide *x = (const struct gn_base_wide *)(const void *)a->in[0];
	const struct gn_base_wide *y = (const struct gn_base_wide *)(const void *)a->in[1];
	struct gn_base_wide *z = (struct gn_base_wide *)(void *)a->out;

	for (uint64_t i = simt_global_thread(); i < a->words / 4; i += simt_global_threads()) {
		const struct gn_base_wide p = x[i], q = y[i];

		z[i] = sum_wide(&p, &q, a->salt);
	}
}
SIMT_KERNEL(gn_base_add_pointer, struct gn_base_add_args)

SIMT_FN void add_word(const struct gn_base_add_args *a, uint64_t i)
{
	gn_write_u32(&a->c, i, gn_read_u32(&a->a, i) + gn_read_u32(&a->b, i) + a->salt);
}

SIMT_FN void gn_base_add_scalar(const struct gn_base_add_args *a)
{
	for (uint64_t i = simt_global_thread(); i < a->words; i += simt_global_threads())
		add_word(a, i);
}
SIMT_KERNEL(gn_base_add_scalar, struct gn_base_add_args)

/* Words of one page of each array, by the whole warp. */
SIMT_FN void add_words(const uint32_t *x, const uint32_t *y, uint32_t *z, uint64_t words, uint32_t salt)
{
	for (uint64_t i = 4 * simt_lane(); i < words; i += 4 * simt_warp_width()) {
		const struct gn_base_wide u = *(const struct gn_base_wide *)(const void *)(x + i);
		const struct gn_base_wide v = *(const struct gn_base_wide *)(const void *)(y + i);

		*(struct gn_base_wide *)(void *)(z + i) = sum_wide(&u, &v, salt);
	}
}

/* Words [first, end) one by one, which goes around the cache where no frame can be had. */
SIMT_FN void add_alone(const struct gn_base_add_args *a, uint64_t first, uint64_t end)
{
	for (uint64_t i = first + simt_lane(); i < end; i += simt_warp_width())
		add_word(a, i);
}

/* Returns whether the three pages could be held together. All of the page of c is written, so it need not be
 * fetched. */
SIMT_FN int add_page(const struct gn_base_add_args *a, uint64_t first)
{
	const uint32_t warp = simt_whole_warp();
	struct gn_page p, q, r;
	int done = 0;

	if (gn_array_acquire(&a->a, warp, first, 0, &p))
		return 0;
	if (!gn_array_acquire(&a->b, warp, first, 0, &q)) {
		if (!gn_array_acquire(&a->c, warp, first, GN_OVERWRITE, &r)) {
			add_words((const uint32_t *)p.data + (first - p.first),
			          (const uint32_t *)q.data + (first - q.first),
			          (uint32_t *)r.data + (first - r.first), a->page_words, a->salt);
			gn_array_release(&a->c, warp, &r);
			done = 1;
		}
		gn_array_release(&a->b, warp, &q);
	}
	gn_array_release(&a->a, warp, &p);
	return done;
}

SIMT_FN void gn_base_add_page(const struct gn_base_add_args *a)
{
	for (uint64_t i = gn_base_warp() * a->page_words; i < a->words; i += gn_base_warps() * a->page_words)
		if (!add_page(a, i))
			add_alone(a, i, i + a->page_words);
}
SIMT_KERNEL(gn_base_add_page, struct gn_base_add_args)

/*
 * Words [first, end) by three loops over pages side by side: each array begins with a page, so the runs that
 * they give are the same. Returns up to where they could be held.
 */
SIMT_FN uint64_t add_pages(const struct gn_base_add_args *a, uint64_t first, uint64_t end)
{
	const uint32_t warp = simt_whole_warp();
	struct gn_range x = gn_range_begin(&a->a, warp, first, end, GN_READ);
	struct gn_range y = gn_range_begin(&a->b, warp, first, end, GN_READ);
	struct gn_range z = gn_range_begin(&a->c, warp, first, end, GN_OVERWRITE);
	struct gn_page p, q, r;

	while (gn_range_next(&x, &p) && gn_range_next(&y, &q) && gn_range_next(&z, &r)) {
		add_words((const uint32_t *)p.data, (const uint32_t *)q.data, (uint32_t *)r.data, r.count,
		          a->salt);
		first = r.first + r.count;
	}
	gn_range_end(&x);
	gn_range_end(&y);
	gn_range_end(&z);
	return first;
}

/* Where frames are short: one page of each array alone; at last word by word. Returns where it ends. */
SIMT_NOINLINE_FN uint64_t add_short(const struct gn_base_add_args *a, uint64_t first)
{
	const uint64_t end = first + a->page_words;

	if (!add_page(a, first))
		add_alone(a, first, end);
	return end;
}

/* As many pages at a time as a warp has lanes. */
SIMT_FN void gn_base_add_range(const struct gn_base_add_args *a)
{
	const uint64_t step = (uint64_t)simt_warp_width() * a->page_words;

	for (uint64_t i = gn_base_warp() * step; i < a->words; i += gn_base_warps() * step) {
		const uint64_t end = i + step < a->words ? i + step : a->words;
		uint64_t at = i;

		while (at < end) {
			at = add_pages(a, at, end);
			if (simt_unlikely(at < end))
				at = SIMT_COLD(add_short)(a, at);
		}
	}
}
SIMT_KERNEL(gn_base_add_range, struct gn_base_add_args)
