/* SPDX-License-Identifier: Apache-2.0 */
/* Binary search: for each query the number of keys that are less. */
#include "natural/access.h"

/* Key i: all differ, in order. */
SIMT_FN uint32_t key_at(uint64_t i)
{
	return (uint32_t)(2 * i + (gn_natural_draw(i) & 1));
}

/* A query that has keys on both sides, but for the last of all. */
SIMT_FN uint32_t query_of(const struct gn_natural_args *a, uint64_t k)
{
	return (uint32_t)(gn_natural_draw(k) % (2 * a->words));
}

/* How many keys are less than the query, without reading any. */
SIMT_FN uint64_t answer_of(uint32_t query)
{
	return query / 2 + (key_at(query / 2) < query);
}

SIMT_FN void gn_natural_keys(const struct gn_natural_args *a)
{
	for (uint64_t i = simt_global_thread(); i < a->words; i += simt_global_threads())
		((uint32_t *)a->memory)[i] = key_at(i);
}
SIMT_KERNEL(gn_natural_keys, struct gn_natural_args)

typedef uint32_t (*key_reader)(const struct gn_natural_args *a, uint64_t i);

SIMT_FN uint32_t plain_key(const struct gn_natural_args *a, uint64_t i)
{
	return ((const uint32_t *)a->memory)[i];
}

SIMT_FN uint32_t read_key(const struct gn_natural_args *a, uint64_t i)
{
	return gn_read_u32(&a->array, i);
}

SIMT_INLINE_FN void search(const struct gn_natural_args *a, key_reader at)
{
	uint64_t wrong = 0;

	for (uint64_t k = simt_global_thread(); k < a->touches; k += simt_global_threads()) {
		const uint32_t query = query_of(a, k);
		uint64_t low = 0, high = a->words;

		while (low < high) {
			const uint64_t middle = (low + high) / 2;

			if (at(a, middle) < query)
				low = middle + 1;
			else
				high = middle;
		}
		wrong += low != answer_of(query);
	}
	simt_reduce_add_relaxed_dev_u64(a->sum, wrong);
}

SIMT_FN void gn_natural_search_plain(const struct gn_natural_args *a)
{
	search(a, plain_key);
}
SIMT_KERNEL_RESIDENT(gn_natural_search_plain, struct gn_natural_args, 2048)

SIMT_FN void gn_natural_search_read(const struct gn_natural_args *a)
{
	search(a, read_key);
}
SIMT_KERNEL(gn_natural_search_read, struct gn_natural_args)

/* What a query finds at a key, without reading it; the key's line is marked. */
SIMT_FN uint32_t marked_key(const struct gn_natural_args *a, uint64_t i)
{
	const uint64_t line = i / GN_NATURAL_ROW;
	uint32_t *word = &a->line[line / 32];
	uint32_t seen = simt_load_relaxed_dev_u32(word), was;

	while (!(seen >> line % 32 & 1)) {
		was = simt_cas_relaxed_dev_u32(word, seen, seen | 1u << line % 32);
		if (was == seen)
			break;
		seen = was;
	}
	return key_at(i);
}

SIMT_FN void gn_natural_search_mark(const struct gn_natural_args *a)
{
	search(a, marked_key);
}
SIMT_KERNEL(gn_natural_search_mark, struct gn_natural_args)

enum { LINES = 8 }; /* of a thread under way */

/* The k-th line in an order that scatters them: the multiplier is a prime. */
SIMT_FN uint64_t scattered(uint64_t k, uint64_t lines)
{
	return k * 2654435761u % lines;
}

/* The marked ones of some lines, `step` places apart. Returns how many keys are wrong. */
SIMT_FN uint64_t load_lines(const struct gn_natural_args *a, uint64_t first, uint64_t step)
{
	const uint64_t lines = a->words / GN_NATURAL_ROW;
	uint64_t line[LINES];
	uint32_t found[LINES];
	uint64_t wrong = 0;

	SIMT_UNROLL
	for (uint32_t j = 0; j < LINES; j++) {
		const uint64_t k = first + j * step;
		int marked;

		line[j] = scattered(k < lines ? k : first, lines);
		marked = k < lines && (a->line[line[j] / 32] >> line[j] % 32 & 1);
		found[j] = marked ? plain_key(a, line[j] * GN_NATURAL_ROW) : key_at(line[j] * GN_NATURAL_ROW);
	}
	SIMT_UNROLL
	for (uint32_t j = 0; j < LINES; j++)
		wrong += found[j] != key_at(line[j] * GN_NATURAL_ROW);
	return wrong;
}

SIMT_FN void gn_natural_search_lines(const struct gn_natural_args *a)
{
	const uint64_t step = simt_global_threads();
	uint64_t wrong = 0;

	for (uint64_t k = simt_global_thread(); k < a->words / GN_NATURAL_ROW; k += LINES * step)
		wrong += load_lines(a, k, step);
	simt_reduce_add_relaxed_dev_u64(a->sum, wrong);
}
SIMT_KERNEL(gn_natural_search_lines, struct gn_natural_args)

enum { TOGETHER = 4 };

/*
 * Queries k, k + step, ... in step with each other; those at and behind touches are the last one again, and
 * not counted.
 */
SIMT_FN uint64_t search_together(const struct gn_natural_args *a, uint64_t k, uint64_t step)
{
	uint64_t low[TOGETHER], wrong = 0;
	uint32_t query[TOGETHER];

	SIMT_UNROLL
	for (uint32_t j = 0; j < TOGETHER; j++) {
		query[j] = query_of(a, k + j * step < a->touches ? k + j * step : k);
		low[j] = 0;
	}
	for (uint64_t left = a->words; left; left /= 2) {
		SIMT_UNROLL
		for (uint32_t j = 0; j < TOGETHER; j++) {
			/* The answer lies in low to low + left. */
			const uint64_t middle = low[j] + left / 2;

			if (middle < a->words && plain_key(a, middle) < query[j])
				low[j] = middle + 1;
		}
	}
	SIMT_UNROLL
	for (uint32_t j = 0; j < TOGETHER; j++)
		wrong += k + j * step < a->touches && low[j] != answer_of(query[j]);
	return wrong;
}

SIMT_FN void gn_natural_search_four(const struct gn_natural_args *a)
{
	const uint64_t step = simt_global_threads();
	uint64_t wrong = 0;

	for (uint64_t k = simt_global_thread(); k < a->touches; k += TOGETHER * step)
		wrong += search_together(a, k, step);
	simt_reduce_add_relaxed_dev_u64(a->sum, wrong);
}
SIMT_KERNEL(gn_natural_search_four, struct gn_natural_args)
