/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array/read.h - reading one element.
 */
#ifndef GRAPNEL_ARRAY_READ_H
#define GRAPNEL_ARRAY_READ_H

#include <grapnel/cache/element.h>
#include <grapnel/array/look.h>
#include <grapnel/array/rent.h>
#include <grapnel/trace.h>

/* The page is not at hand: bring it in, together with what the other lanes want. */
SIMT_NOINLINE_FN struct gn__access gn__read_slowly(const struct gn_array *a, uint64_t index, uint32_t size)
{
	const uint64_t address = a->base + (index << a->element_log2);
	const struct gn__errand errand = {GN__READS, 0, (uint32_t)address & ((1u << a->page_log2) - 1), size, {0, 0}};
	const struct gn__access access = gn_cache_access(a->cache, address >> a->page_log2, errand);

	if (access.status.code)
		gn__fail(a, index, access.status);
	return access;
}

/*
 * The element, if its page is at hand, stays there and is marked as used, where nothing else is to be done (quick): each
 * instruction here is one in fifty of a read. Of a page that is not there frame 0 is read, which the word of a direct table
 * then names; one question at the end serves for that, too. Returns 1 or 0.
 */
SIMT_FN int gn__read_quickly(const struct gn_array *a, uint64_t index, void *to, uint32_t size)
{
	const uint64_t address = a->base + index * size;
	struct gn__glimpse g;
	uint64_t value[2], now; /* may be another page's until the second look */

	g.word = &a->word[address >> a->page_log2];
	g.seen = simt_load_old_u64(g.word);
	g.data = a->frame + ((size_t)gn_word_payload(g.seen) << a->page_log2);
	now = gn__again(a, &g, gn__load_element(value, g.data + ((uint32_t)address & ((1u << a->page_log2) - 1)), size));
	if (simt_unlikely(!gn__is_at_hand(g.seen, now)))
		return 0;
	memcpy(to, value, size);
	GN_TRACE(look);
	GN_TRACE(hit);
	return 1;
}

/* The element, if its page is at hand and stays there. Returns 1 or 0. */
SIMT_FN int gn__read_hit(const struct gn_array *a, uint64_t index, void *to, uint32_t size)
{
	const uint64_t address = a->base + index * size;
	const struct gn__glimpse g = gn__glance(a, address >> a->page_log2);
	uint64_t value[2], now; /* may be another page's until the second look */

	GN_TRACE(look);
	if (simt_unlikely(!(g.seen & GN_WORD_VALID)))
		return 0;
	now = gn__again(a, &g, gn__load_element(value, g.data + ((uint32_t)address & ((1u << a->page_log2) - 1)), size));
	if (simt_unlikely(!gn__still(&g, now)))
		return 0;
	gn__touch(&g, now);
	memcpy(to, value, size);
	GN_TRACE(hit);
	gn__count_hits(a, 1);
	return 1;
}

SIMT_FN int gn__read_missing(const struct gn_array *a, uint64_t index, void *to, uint32_t size)
{
	const struct gn__access read = SIMT_COLD(gn__read_slowly)(a, index, size);

	if (!read.status.code)
		memcpy(to, read.bits, size);
	return read.status.code;
}

SIMT_FN int gn__read(const struct gn_array *a, uint64_t index, void *to, uint32_t size)
{
	enum gn__sampled sampled = GN__SAMPLED_ON;

	if (simt_likely(index < a->quick) && simt_likely(gn__read_quickly(a, index, to, size)))
		return 0;
	if (simt_unlikely(index >= a->count))
		return gn__out_of_range(a, index);
	if (simt_unlikely(a->sample != 0))
		sampled = gn__sampled_read(a, index, to, size);
	if (simt_unlikely(sampled != GN__SAMPLED_ON))
		return sampled == GN__SAMPLED_DONE ? 0 : gn__read_missing(a, index, to, size);
	if (a->memory) {
		gn__take_element(to, a->memory + index * size, size);
		return 0;
	}
	return simt_likely(gn__read_hit(a, index, to, size)) ? 0 : gn__read_missing(a, index, to, size);
}

/*
 * gn_array_read - one element, status form.
 * @index  element
 * @to     element_bytes of the array, aligned to it
 * Any thread, from divergent code; waits while the page is fetched. Returns 0; -GN_ERANGE (index past the end);
 * -GN_EIO, -GN_ETIMEDOUT (the transfer failed). The first failure is also kept in the array. After a failure *to is
 * unchanged.
 */
/* Not inlined: the compiler would see sizes that the array at hand does not have, and warn of them in user code. */
SIMT_NOINLINE_FN int gn_array_read(const struct gn_array *a, uint64_t index, void *to)
{
	switch (a->element_log2) {
	case 0: return gn__read(a, index, to, 1);
	case 1: return gn__read(a, index, to, 2);
	case 2: return gn__read(a, index, to, 4);
	case 3: return gn__read(a, index, to, 8);
	default: return gn__read(a, index, to, 16);
	}
}

/*
 * gn_read_T - one element, value form. T is the array's element type: its size must be that of the array. Returns 0 on
 * failure. Otherwise as gn_array_read.
 */
SIMT_FN uint8_t gn_read_u8(const struct gn_array *a, uint64_t index)
{
	uint8_t value = 0;

	gn__read(a, index, &value, sizeof value);
	return value;
}

SIMT_FN uint16_t gn_read_u16(const struct gn_array *a, uint64_t index)
{
	uint16_t value = 0;

	gn__read(a, index, &value, sizeof value);
	return value;
}

SIMT_FN uint32_t gn_read_u32(const struct gn_array *a, uint64_t index)
{
	uint32_t value = 0;

	gn__read(a, index, &value, sizeof value);
	return value;
}

SIMT_FN uint64_t gn_read_u64(const struct gn_array *a, uint64_t index)
{
	uint64_t value = 0;

	gn__read(a, index, &value, sizeof value);
	return value;
}

SIMT_FN int8_t gn_read_i8(const struct gn_array *a, uint64_t index)
{
	return (int8_t)gn_read_u8(a, index);
}

SIMT_FN int16_t gn_read_i16(const struct gn_array *a, uint64_t index)
{
	return (int16_t)gn_read_u16(a, index);
}

SIMT_FN int32_t gn_read_i32(const struct gn_array *a, uint64_t index)
{
	return (int32_t)gn_read_u32(a, index);
}

SIMT_FN int64_t gn_read_i64(const struct gn_array *a, uint64_t index)
{
	return (int64_t)gn_read_u64(a, index);
}

SIMT_FN float gn_read_f32(const struct gn_array *a, uint64_t index)
{
	float value = 0;

	gn__read(a, index, &value, sizeof value);
	return value;
}

SIMT_FN double gn_read_f64(const struct gn_array *a, uint64_t index)
{
	double value = 0;

	gn__read(a, index, &value, sizeof value);
	return value;
}

#endif
