/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

#include <math.h>

#include "spread/mix.h"

/* Sixteen bytes that a lane loads at once. */
struct wide {
	uint32_t word[4];
} __attribute__((aligned(16)));

/* What word i of the data is. */
SIMT_FN uint32_t word_at(uint64_t i)
{
	return (uint32_t)i * 2654435761u ^ (uint32_t)(i >> 32);
}

SIMT_FN void report(uint64_t *to, uint64_t number)
{
	if (number)
		simt_reduce_add_relaxed_dev_u64(to, number);
}

/* ---- drawing ---- */

SIMT_FN uint64_t bits_at(uint64_t k, uint64_t seed)
{
	return spread_mix(k * 0x9e3779b97f4a7c15ull + seed * 0xd1342543de82ef95ull);
}

/* The rank, 0 for the most frequent. */
SIMT_FN uint64_t zipf_rank(const struct gn_gb_zipf *z, uint64_t n, double u)
{
	const double at = u * z->zeta;
	uint64_t rank;

	if (at < 1)
		return 0;
	if (at < 1 + pow(0.5, z->theta))
		return 1;
	rank = (uint64_t)((double)n * pow(z->eta * u - z->eta + 1, z->alpha));
	return rank < n ? rank : n - 1;
}

/*
 * Ranks lie all over the data: times a prime, which is one to one for up to 2^32 rows that it does not
 * divide.
 */
SIMT_FN uint64_t row_of_rank(uint64_t rank, uint64_t rows)
{
	return rank * 2654435761ull % rows;
}

SIMT_FN uint64_t draw_row(const struct gn_gb_args *a, uint64_t k, uint64_t seed)
{
	const uint64_t bits = bits_at(k, seed);

	if (a->draw == GN_GB_UNIFORM)
		return bits % a->rows;
	return row_of_rank(zipf_rank(&a->zipf, a->rows, (double)(bits >> 11) * 0x1p-53), a->rows);
}

SIMT_FN void gn_gb_draw(const struct gn_gb_args *a)
{
	uint64_t *index = (uint64_t *)(uintptr_t)a->batch.index;

	for (uint64_t k = simt_global_thread(); k < a->batch.count; k += simt_global_threads())
		index[k] = draw_row(a, k, a->seed);
}
SIMT_KERNEL(gn_gb_draw, struct gn_gb_args)

SIMT_FN void gn_gb_warm(const struct gn_gb_args *a)
{
	uint32_t word;

	for (uint64_t k = simt_global_thread(); k < a->touches; k += simt_global_threads())
		if (gn_array_read(&a->array, draw_row(a, k, a->seed + 1) * a->batch.elements, &word))
			report(a->wrong, 1);
}
SIMT_KERNEL(gn_gb_warm, struct gn_gb_args)

/* ---- limits ---- */

SIMT_FN void gn_gb_fill(const struct gn_gb_args *a)
{
	for (uint64_t i = simt_global_thread(); i < a->words; i += simt_global_threads())
		a->store[i] = word_at(i);
}
SIMT_KERNEL(gn_gb_fill, struct gn_gb_args)

SIMT_FN void gn_gb_stream(const struct gn_gb_args *a)
{
	uint64_t wrong = 0;

	for (uint64_t i = 4 * simt_global_thread(); i < a->words; i += 4 * simt_global_threads()) {
		const struct wide w = *(const struct wide *)(const void *)(a->store + i);

		for (uint32_t k = 0; k < 4; k++)
			wrong += w.word[k] != word_at(i + k);
	}
	report(a->wrong, wrong);
}
SIMT_KERNEL(gn_gb_stream, struct gn_gb_args)

/* Lanes that read a row together: 16 bytes each, or 4 where the row is no multiple of that. */
SIMT_FN uint32_t lanes_of(uint32_t pieces)
{
	uint32_t lanes = 1;

	while (lanes < pieces && lanes < simt_warp_width())
		lanes *= 2;
	return lanes;
}

SIMT_FN void copy_row(char *to, const char *from, uint32_t bytes, uint32_t piece, uint32_t lane,
                      uint32_t lanes)
{
	for (uint32_t at = lane * piece; at < bytes; at += lanes * piece) {
		if (piece == 16)
			*(struct wide *)(void *)(to + at) = *(const struct wide *)(const void *)(from + at);
		else
			*(uint32_t *)(void *)(to + at) = *(const uint32_t *)(const void *)(from + at);
	}
}

SIMT_FN void gn_gb_plain(const struct gn_gb_args *a)
{
	const uint32_t bytes = a->batch.elements * 4, piece = bytes % 16 ? 4 : 16,
	               lanes = lanes_of(bytes / piece);
	const uint64_t groups = simt_global_threads() / lanes;

	for (uint64_t k = simt_global_thread() / lanes; k < a->batch.count; k += groups)
		copy_row((char *)a->batch.rows + k * bytes,
		         (const char *)a->store + a->batch.index[k] * bytes, bytes, piece,
		         (uint32_t)simt_global_thread() % lanes, lanes);
}
SIMT_KERNEL(gn_gb_plain, struct gn_gb_args)

/* A block's rows as one addition. */
SIMT_FN void count_reads(const struct gn_gb_args *a, struct gn__gather_shared *s, uint64_t reads)
{
	if (reads)
		simt_add_relaxed_any_u64(&s->next, reads);
	simt_block_sync();
	if (simt_thread() == 0)
		report(a->reads, s->next);
}

/*
 * Every row of the sorted batch once, with the loads that a gather uses, to where the row first stands. Each
 * block has a few rows, so that the machine starts them in order.
 */
SIMT_FN void gn_gb_ordered(const struct gn_gb_args *a)
{
	const uint32_t bytes = a->batch.elements * 4;
	struct gn__gather_shared *s = (struct gn__gather_shared *)simt_shared();
	const uint64_t *entry;
	uint64_t reads = 0, groups, first;

	s->next = 0;
	gn__job_begin(s, &a->array, &a->batch, 0);
	groups = simt_block_threads() / s->job.lanes;
	entry = a->view.entry[s->job.passes % 2];
	first = (uint64_t)simt_block() * groups * GN_GB_ROUNDS + simt_thread() / s->job.lanes;
	for (uint64_t k = first; k < first + groups * GN_GB_ROUNDS && k < a->batch.count; k += groups) {
		const uint64_t row = gn__entry_row(&s->job, entry[k]);

		if (k && gn__entry_row(&s->job, entry[k - 1]) == row)
			continue;
		gn__chunk_out(&s->job, entry + k, 1, (const char *)a->store + row * bytes, 0, bytes);
		reads += simt_lane() % s->job.lanes == 0;
	}
	count_reads(a, s, reads);
}
SIMT_KERNEL(gn_gb_ordered, struct gn_gb_args)

/* ---- the batch ---- */

SIMT_FN void gn_gb_grid(const struct gn_gb_args *a)
{
	if (gn_gather_grid(&a->view, &a->array, &a->batch, simt_shared()))
		report(a->wrong, 1);
}
SIMT_KERNEL(gn_gb_grid, struct gn_gb_args)

SIMT_FN void gn_gb_block(const struct gn_gb_args *a)
{
	const uint64_t part = (a->batch.count + simt_blocks() - 1) / simt_blocks(),
	               begin = simt_block() * part;
	struct gn_batch mine = a->batch;

	if (begin >= a->batch.count)
		return;
	mine.index += begin;
	mine.rows = (uint32_t *)a->batch.rows + begin * a->batch.elements;
	mine.count = a->batch.count - begin < part ? a->batch.count - begin : part;
	if (gn_gather_block(&a->array, &mine, simt_shared()))
		report(a->wrong, 1);
}
SIMT_KERNEL(gn_gb_block, struct gn_gb_args)

/* Word i of the batch's rows. */
SIMT_FN uint32_t row_word_at(const struct gn_gb_args *a, uint64_t i)
{
	const uint32_t elements = a->batch.elements;

	return word_at(a->batch.index[i / elements] * elements + i % elements) ^ a->mask;
}

SIMT_FN void gn_gb_set(const struct gn_gb_args *a)
{
	uint32_t *word = (uint32_t *)a->batch.rows;

	for (uint64_t i = simt_global_thread(); i < a->batch.count * a->batch.elements;
	     i += simt_global_threads())
		word[i] = row_word_at(a, i);
}
SIMT_KERNEL(gn_gb_set, struct gn_gb_args)

SIMT_FN void gn_gb_check(const struct gn_gb_args *a)
{
	const uint32_t *word = (const uint32_t *)a->batch.rows;
	uint64_t wrong = 0;

	for (uint64_t i = simt_global_thread(); i < a->batch.count * a->batch.elements;
	     i += simt_global_threads())
		wrong += word[i] != row_word_at(a, i);
	report(a->wrong, wrong);
}
SIMT_KERNEL(gn_gb_check, struct gn_gb_args)
