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

/* A page of each array, by the whole warp. */
SIMT_FN void add_words(const uint32_t *x, const uint32_t *y, uint32_t *z, uint32_t words, uint32_t salt)
{
	for (uint32_t i = 4 * simt_lane(); i < words; i += 4 * simt_warp_width()) {
		const struct gn_base_wide u = *(const struct gn_base_wide *)(const void *)(x + i);
		const struct gn_base_wide v = *(const struct gn_base_wide *)(const void *)(y + i);

		*(struct gn_base_wide *)(void *)(z + i) = sum_wide(&u, &v, salt);
	}
}

/* Words [first, first + page_words) one by one, which goes around the cache where no frame can be had. */
SIMT_FN void add_alone(const struct gn_base_add_args *a, uint64_t first)
{
	for (uint64_t k = simt_lane(); k < a->page_words; k += simt_warp_width())
		add_word(a, first + k);
}

/* Returns whether the three pages could be held together. All of the page of c is written, so it need not be
 * fetched. */
SIMT_FN int add_page(const struct gn_base_add_args *a, uint64_t first)
{
	const uint32_t warp = gn_base_whole_warp();
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
			add_alone(a, i);
}
SIMT_KERNEL(gn_base_add_page, struct gn_base_add_args)

/* The page that a lane brings in for its warp: those of a first, then those of b, then those of c, `count` of
 * each. */
SIMT_FN struct gn_pinned pin_mine(const struct gn_base_add_args *a, uint64_t first, uint32_t count)
{
	const uint32_t which = simt_lane() / count, k = simt_lane() % count;
	const struct gn_array *array = which == 0 ? &a->a : which == 1 ? &a->b : &a->c;
	const uint64_t page = (array->base + 4 * (first + (uint64_t)k * a->page_words)) >> array->page_log2;

	return SIMT_COLD(gn_cache_pin_each)(array->cache, gn_base_whole_warp(), which < 3, page,
	                                    which == 2 ? GN_OVERWRITE : GN_READ);
}

SIMT_FN uint32_t *data_of(const struct gn_pinned *mine, uint32_t lane)
{
	return (uint32_t *)(uintptr_t)simt_shfl_u64(gn_base_whole_warp(),
	                                            (uint64_t)(uintptr_t)mine->hold.data, lane);
}

/* Returns which of `count` pages could not be held in all three arrays: bit k for page k. */
SIMT_FN uint32_t add_pinned(const struct gn_base_add_args *a, uint64_t first, uint32_t count)
{
	const struct gn_pinned mine = pin_mine(a, first, count);
	uint32_t missed = 0;

	for (uint32_t k = 0; k < count; k++) {
		const uint32_t *x = data_of(&mine, k), *y = data_of(&mine, count + k);
		uint32_t *z = data_of(&mine, 2 * count + k);

		if (x && y && z)
			add_words(x, y, z, a->page_words, a->salt);
		else
			missed |= 1u << k;
	}
	simt_warp_sync(gn_base_whole_warp());
	if (mine.hold.data)
		gn_cache_unpin(1u << simt_lane(), &mine.hold);
	return missed;
}

/* A warp too narrow for three lanes takes page references instead. */
SIMT_FN void gn_base_add_batch(const struct gn_base_add_args *a)
{
	const uint32_t most = simt_warp_width() / 3, batch = a->batch < most ? a->batch : most;
	const uint64_t step = (uint64_t)(batch ? batch : 1) * a->page_words;

	for (uint64_t i = gn_base_warp() * step; i < a->words; i += gn_base_warps() * step) {
		const uint64_t left = (a->words - i) / a->page_words;
		const uint32_t count = left < batch ? (uint32_t)left : batch;
		const uint32_t missed = count ? add_pinned(a, i, count) : 1;

		/* Where frames are short, one page of each array alone; at last word by word. */
		for (uint32_t k = 0; missed >> k; k++)
			if (missed >> k & 1 && !add_page(a, i + (uint64_t)k * a->page_words))
				add_alone(a, i + (uint64_t)k * a->page_words);
	}
}
SIMT_KERNEL(gn_base_add_batch, struct gn_base_add_args)
