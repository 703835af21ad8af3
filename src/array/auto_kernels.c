/* SPDX-License-Identifier: Apache-2.0 */
#include <array/auto_kernels.h>

SIMT_FN uint64_t drawn(uint64_t k, uint64_t seed)
{
	uint64_t x = (k + 1) * 0x9e3779b97f4a7c15ull + seed;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

SIMT_FN void gn_auto_probe(const struct gn_auto_probe_args *a)
{
	const uint64_t reads = a->touches << a->share_log2;
	uint32_t sum = 0;

	for (uint64_t k = simt_global_thread(); k < reads; k += simt_global_threads()) {
		const uint64_t touch = k >> a->share_log2;
		const uint64_t unit = (a->in_order ? touch : drawn(touch, a->seed)) % a->units;

		for (uint32_t word = 0; word < a->walk; word++)
			sum += gn_read_u32(&a->array, unit * a->unit_words + (k & ((1u << a->share_log2) - 1)) + word);
	}
	if (sum == 0x9e3779b9u) /* hardly ever: it only keeps the reads */
		simt_store_relaxed_dev_u32(a->sink, sum);
}
SIMT_KERNEL_RESIDENT(gn_auto_probe, struct gn_auto_probe_args, 2048)

/* The words of a warp's run, through its pages. */
SIMT_FN uint32_t walk(const struct gn_array *a, uint32_t warp, uint64_t first, uint64_t count)
{
	struct gn_range r = gn_range_begin(a, warp, first, first + count, GN_READ);
	struct gn_page page;
	uint32_t sum = 0;

	while (gn_range_next(&r, &page))
		for (uint64_t k = simt_lane(); k < page.count; k += simt_warp_width())
			sum += ((const uint32_t *)page.data)[k];
	gn_range_end(&r);
	return sum;
}

SIMT_FN void gn_auto_walk(const struct gn_auto_probe_args *a)
{
	const uint32_t width = simt_warp_width(), warp = width == 32 ? 0xffffffffu : (1u << width) - 1;
	uint32_t sum = 0;

	for (uint64_t k = simt_global_thread() / width; k < a->touches; k += simt_global_threads() / width)
		sum += walk(&a->array, warp, k % a->units * a->unit_words, a->walk);
	if (sum == 0x9e3779b9u)
		simt_store_relaxed_dev_u32(a->sink, sum);
}
SIMT_KERNEL(gn_auto_walk, struct gn_auto_probe_args)

SIMT_FN void gn_auto_clear(const struct gn_auto_clear_args *a)
{
	for (uint64_t k = simt_global_thread(); k < a->count; k += simt_global_threads())
		a->words[k] = 0;
}
SIMT_KERNEL(gn_auto_clear, struct gn_auto_clear_args)
