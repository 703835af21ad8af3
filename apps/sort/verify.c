/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "sort.h"
#include "spread/mix.h"

static uint64_t bits_of(enum gn_sort_type type, const void *keys, uint64_t i)
{
	const uint32_t bytes = gn_sort_key_bytes(type);
	uint32_t narrow;
	uint64_t wide;

	memcpy(bytes == 8 ? (void *)&wide : (void *)&narrow, (const char *)keys + i * bytes, bytes);
	return bytes == 8 ? wide : narrow;
}

void gn_sort_sum_add(struct gn_sort_sum *sum, enum gn_sort_type type, const void *keys, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		const uint64_t key = bits_of(type, keys, i);

		sum->sum += key;
		sum->mixed += spread_mix(key);
	}
	sum->keys += count;
}

static int compare_u32(const void *a, const void *b)
{
	const uint64_t x = bits_of(GN_SORT_U32, a, 0), y = bits_of(GN_SORT_U32, b, 0);

	return x < y ? -1 : x > y;
}

static int compare_u64(const void *a, const void *b)
{
	const uint64_t x = bits_of(GN_SORT_U64, a, 0), y = bits_of(GN_SORT_U64, b, 0);

	return x < y ? -1 : x > y;
}

static int compare_i32(const void *a, const void *b)
{
	const int32_t x = (int32_t)bits_of(GN_SORT_I32, a, 0), y = (int32_t)bits_of(GN_SORT_I32, b, 0);

	return x < y ? -1 : x > y;
}

static int compare_i64(const void *a, const void *b)
{
	const int64_t x = (int64_t)bits_of(GN_SORT_I64, a, 0), y = (int64_t)bits_of(GN_SORT_I64, b, 0);

	return x < y ? -1 : x > y;
}

/* Signs and magnitudes: of two numbers below zero the one with the smaller magnitude is the larger. */
static int compare_signed(uint64_t x, uint64_t y, uint64_t sign)
{
	const int below_x = (x & sign) != 0, below_y = (y & sign) != 0;

	if (below_x != below_y)
		return below_x ? -1 : 1;
	return below_x ? (x < y) - (x > y) : (x > y) - (x < y);
}

static int compare_f32(const void *a, const void *b)
{
	return compare_signed(bits_of(GN_SORT_F32, a, 0), bits_of(GN_SORT_F32, b, 0), 1ull << 31);
}

static int compare_f64(const void *a, const void *b)
{
	return compare_signed(bits_of(GN_SORT_F64, a, 0), bits_of(GN_SORT_F64, b, 0), 1ull << 63);
}

int (*gn_sort_compare(enum gn_sort_type type))(const void *, const void *)
{
	switch (type) {
	case GN_SORT_U32: return compare_u32;
	case GN_SORT_U64: return compare_u64;
	case GN_SORT_I32: return compare_i32;
	case GN_SORT_I64: return compare_i64;
	case GN_SORT_F32: return compare_f32;
	default: return compare_f64;
	}
}

uint64_t gn_sort_first_below(enum gn_sort_type type, const void *keys, uint64_t count)
{
	const uint32_t bytes = gn_sort_key_bytes(type);
	int (*const compare)(const void *, const void *) = gn_sort_compare(type);

	for (uint64_t i = 1; i < count; i++)
		if (compare((const char *)keys + (i - 1) * bytes, (const char *)keys + i * bytes) > 0)
			return i;
	return count;
}
