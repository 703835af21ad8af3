/* SPDX-License-Identifier: Apache-2.0 */
#include "add.h"

SIMT_FN struct gn_base_wide sum_wide(const struct gn_base_wide *a, const struct gn_base_wide *b, uint32_t salt)
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
			wrong += got.word[k] != gn_base_word(4 * i + k) + gn_base_other_word(4 * i + k) + a->salt;
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

/* Words [first, first + page_words), which are a page of each array, while the three are held. */
SIMT_FN void add_held(const struct gn_base_add_args *a, uint64_t first, const struct gn_page *p, const struct gn_page *q,
		      const struct gn_page *r)
{
	const uint32_t *x = (const uint32_t *)p->data + (first - p->first);
	const uint32_t *y = (const uint32_t *)q->data + (first - q->first);
	uint32_t *z = (uint32_t *)r->data + (first - r->first);

	for (uint32_t i = 4 * simt_lane(); i < a->page_words; i += 4 * simt_warp_width()) {
		const struct gn_base_wide u = *(const struct gn_base_wide *)(const void *)(x + i);
		const struct gn_base_wide v = *(const struct gn_base_wide *)(const void *)(y + i);

		*(struct gn_base_wide *)(void *)(z + i) = sum_wide(&u, &v, a->salt);
	}
}

/* Returns whether the three pages could be held together. All of the page of c is written, so it need not be fetched. */
SIMT_FN int add_page(const struct gn_base_add_args *a, uint64_t first)
{
	const uint32_t warp = gn_base_whole_warp();
	struct gn_page p, q, r;
	int done = 0;

	if (gn_array_acquire(&a->a, warp, first, 0, &p))
		return 0;
	if (!gn_array_acquire(&a->b, warp, first, 0, &q)) {
		if (!gn_array_acquire(&a->c, warp, first, GN_OVERWRITE, &r)) {
			add_held(a, first, &p, &q, &r);
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
		if (!add_page(a, i)) /* frames are held by others: word by word, which goes around the cache */
			for (uint64_t k = simt_lane(); k < a->page_words; k += simt_warp_width())
				add_word(a, i + k);
}
SIMT_KERNEL(gn_base_add_page, struct gn_base_add_args)
