/* SPDX-License-Identifier: Apache-2.0 */
/* The sum of all elements in other ways than the patterns' own, and making the elements. */
#include "natural/access.h"

/* Sixteen bytes that a lane loads or stores at once. */
struct wide {
	float x[4];
} __attribute__((aligned(16)));

SIMT_FN void gn_natural_fill(const struct gn_natural_args *a)
{
	for (uint64_t i = simt_global_thread(); i < a->words; i += simt_global_threads())
		((float *)a->memory)[i] = gn_natural_value(i);
}
SIMT_KERNEL(gn_natural_fill, struct gn_natural_args)

SIMT_FN double sum_of(const struct wide *w)
{
	return (double)(w->x[0] + w->x[1]) + (double)(w->x[2] + w->x[3]);
}

SIMT_FN void gn_natural_sum_wide(const struct gn_natural_args *a)
{
	const struct wide *memory = (const struct wide *)a->memory;
	const uint64_t step = simt_global_threads(), count = a->touches / 4;
	uint64_t i = simt_global_thread();
	double mine = 0;

	for (; i + 3 * step < count; i += 4 * step) {
		const struct wide w = memory[i], x = memory[i + step], y = memory[i + 2 * step],
		                  z = memory[i + 3 * step];

		mine += sum_of(&w) + sum_of(&x) + sum_of(&y) + sum_of(&z);
	}
	for (; i < count; i += step)
		mine += sum_of(&memory[i]);
	gn_natural_add(a, mine);
}
SIMT_KERNEL(gn_natural_sum_wide, struct gn_natural_args)

SIMT_FN void gn_natural_sum_cursor(const struct gn_natural_args *a)
{
	struct gn_cursor c = gn_cursor_init(&a->array);
	double mine = 0;

	for (uint64_t i = simt_global_thread(); i < a->touches; i += simt_global_threads())
		mine += gn_cursor_read_f32(&c, i);
	gn_cursor_end(&c);
	gn_natural_add(a, mine);
}
SIMT_KERNEL(gn_natural_sum_cursor, struct gn_natural_args)

/* ---- stores ---- */

SIMT_FN float stored(const struct gn_natural_args *a, uint64_t i)
{
	return gn_natural_value(i + a->salt);
}

SIMT_FN void gn_natural_store_plain(const struct gn_natural_args *a)
{
	for (uint64_t i = simt_global_thread(); i < a->touches; i += simt_global_threads())
		((float *)a->memory)[i] = stored(a, i);
}
SIMT_KERNEL_RESIDENT(gn_natural_store_plain, struct gn_natural_args, 2048)

SIMT_FN void gn_natural_store_wide(const struct gn_natural_args *a)
{
	for (uint64_t i = simt_global_thread(); i < a->touches / 4; i += simt_global_threads()) {
		struct wide w;

		for (uint32_t k = 0; k < 4; k++)
			w.x[k] = stored(a, 4 * i + k);
		((struct wide *)a->memory)[i] = w;
	}
}
SIMT_KERNEL(gn_natural_store_wide, struct gn_natural_args)

SIMT_FN void gn_natural_store_write(const struct gn_natural_args *a)
{
	for (uint64_t i = simt_global_thread(); i < a->touches; i += simt_global_threads())
		gn_write_f32(&a->array, i, stored(a, i));
}
SIMT_KERNEL(gn_natural_store_write, struct gn_natural_args)

SIMT_FN void gn_natural_store_check(const struct gn_natural_args *a)
{
	uint64_t wrong = 0;

	for (uint64_t i = simt_global_thread(); i < a->touches; i += simt_global_threads())
		wrong += gn_natural_plain(a, i) != stored(a, i);
	simt_reduce_add_relaxed_dev_u64(a->sum, wrong);
}
SIMT_KERNEL(gn_natural_store_check, struct gn_natural_args)
