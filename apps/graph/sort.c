/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Most-significant-digit radix sort in place (McIlroy, Bostic, McIlroy: Engineering Radix Sort,
 * 1993, section 4, "American flag sort"), with insertion sort for short runs.
 */
#include <string.h>

#include "build.h"

enum { DIGIT = 8, BUCKETS = 1 << DIGIT, SHORT_RUN = 48 };

struct row {
	uint32_t *neighbours;
	uint32_t *weights;
	uint32_t weight;
};

/* A weight's bits, changed so that they order as unsigned as the weights order themselves. */
static uint32_t weight_rank(uint32_t bits, uint32_t weight)
{
	if (weight == GN_WEIGHT_F32 && bits >> 31)
		return ~bits;
	return bits ^ UINT32_C(0x80000000);
}

static uint64_t key_of(const struct row *r, uint64_t i)
{
	uint64_t key = (uint64_t)r->neighbours[i] << 32;

	return r->weights ? key | weight_rank(r->weights[i], r->weight) : key;
}

static void swap(const struct row *r, uint64_t i, uint64_t j)
{
	uint32_t t = r->neighbours[i];

	r->neighbours[i] = r->neighbours[j];
	r->neighbours[j] = t;
	if (r->weights) {
		t = r->weights[i];
		r->weights[i] = r->weights[j];
		r->weights[j] = t;
	}
}

static void insertion_sort(const struct row *r, uint64_t begin, uint64_t end)
{
	for (uint64_t i = begin + 1; i < end; i++) {
		uint64_t key = key_of(r, i);

		for (uint64_t j = i; j > begin && key_of(r, j - 1) > key; j--)
			swap(r, j, j - 1);
	}
}

/* Bring every element into the bucket of its digit: begin[d] moves up to the bucket's end. */
static void distribute(const struct row *r, unsigned shift, uint64_t *begin, const uint64_t *end)
{
	for (unsigned d = 0; d < BUCKETS; d++) {
		while (begin[d] < end[d]) {
			unsigned home = (key_of(r, begin[d]) >> shift) & (BUCKETS - 1);

			if (home != d)
				swap(r, begin[d], begin[home]);
			begin[home]++;
		}
	}
}

static void radix_sort(const struct row *r, uint64_t begin, uint64_t end, unsigned shift)
{
	uint64_t next[BUCKETS];
	uint64_t ends[BUCKETS];
	unsigned lowest = r->weights ? 0 : 32;
	uint64_t at = begin;

	if (end - begin <= SHORT_RUN) {
		insertion_sort(r, begin, end);
		return;
	}
	memset(ends, 0, sizeof ends);
	for (uint64_t i = begin; i < end; i++)
		ends[(key_of(r, i) >> shift) & (BUCKETS - 1)]++;
	for (unsigned d = 0; d < BUCKETS; d++) {
		next[d] = at;
		at += ends[d];
		ends[d] = at;
	}
	distribute(r, shift, next, ends);
	if (shift == lowest)
		return;
	for (unsigned d = 0; d < BUCKETS; d++) {
		uint64_t first = d ? ends[d - 1] : begin;

		if (ends[d] - first > 1)
			radix_sort(r, first, ends[d], shift - DIGIT);
	}
}

void gn__row_sort(uint32_t *neighbours, uint32_t *weights, uint64_t n, uint32_t weight, uint64_t vertices)
{
	struct row r = {neighbours, weights, weight};
	unsigned shift = 32;

	/* leading digits that are zero in every id need no pass */
	while (shift < 56 && vertices >> (shift - 32 + DIGIT))
		shift += DIGIT;
	radix_sort(&r, 0, n, shift);
}
