/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/array/write.h - writing one element.
 */
#include <grapnel/array.h> /* declares these functions; before the guard, because it includes this file */
#ifndef GRAPNEL_ARRAY_WRITE_H
#define GRAPNEL_ARRAY_WRITE_H

#include <grapnel/detail/array/sample.h>
#include <grapnel/detail/cache/announce.h>

/* Write an element that cannot be written at once: bring its page in, with those that other lanes want. */
SIMT_NOINLINE_FN struct gn_store_status gn__write_slowly(const struct gn_array *a, uint64_t address,
                                                         uint64_t low, uint64_t high, uint32_t size)
{
	const struct gn__request request = {
	    GN__WRITES, 0, gn__page_offset(&a->pages, address), size, {low, high}};

	return gn_cache_access(a->pages.cache, gn__page_number(&a->pages, address), request).status;
}

/* Lanes that write the same page pin it once; each writes its element. */
SIMT_FN struct gn_store_status gn__write_pinned(const struct gn_array *a, uint64_t address,
                                                const uint64_t bits[2], uint32_t size)
{
	const uint64_t page = gn__page_number(&a->pages, address);
	const uint32_t at = gn__page_offset(&a->pages, address);
	const struct gn__group g = gn__group_writers(&a->pages, page, at, size);
	const struct gn__written_page w = gn__group_pin(&a->pages, &g, page, g.reach.covered != 0);
	const struct gn_store_status ok = {0, 0};

	if (w.hold.data) {
		gn__group_touch(a->pages.cache, &g.reach, w.frame, at, size);
		gn__store_element(w.hold.data + at, bits, size);
	}
	gn__group_unpin(&a->pages, &g, &w);
	return w.hold.data ? ok : gn__write_slowly(a, address, bits[0], bits[1], size);
}

SIMT_FN struct gn_store_status gn__write_paged(const struct gn_array *a, uint64_t address,
                                               const uint64_t bits[2], uint32_t size)
{
	const struct gn_store_status ok = {0, 0};
	char *to = gn__announce(&a->pages, gn__page_number(&a->pages, address),
	                        gn__page_offset(&a->pages, address), size);

	if (!to)
		return gn__write_pinned(a, address, bits, size);
	gn__store_element(to, bits, size);
	gn__announce_end(&a->pages);
	return ok;
}

/* A write that gn__write does not serve in line: it is refused, noted, or goes to a page. */
SIMT_NOINLINE_FN int gn__write_otherwise(const struct gn_array *a, uint64_t index, uint64_t low,
                                         uint64_t high, uint32_t size)
{
	const uint64_t bits[2] = {low, high};
	struct gn_store_status status = {0, 0};

	if (simt_unlikely(index >= a->count || 1u << a->element_log2 != size))
		return gn__refused(a, index, size);
	if (simt_unlikely(a->sample != 0))
		SIMT_COLD(gn__sample)(a, index, 1);
	if (a->read_only)
		status.code = -GN_EROFS;
	else if (a->memory)
		gn__put_element(a->memory + index * size, bits, size);
	else
		status = gn__write_paged(a, a->base + index * size, bits, size);
	return status.code ? gn__fail(a, index, status) : 0;
}

/*
 * Write an element. In direct mode it makes no call, because a call saves registers to memory for each store.
 * @low, @high  the element's bits, by value: if the element's address were passed, it would lie in memory
 * @size        a constant
 */
SIMT_INLINE_FN int gn__write(const struct gn_array *a, uint64_t index, uint64_t low, uint64_t high,
                             uint32_t size)
{
	const uint64_t bits[2] = {low, high};

	if (!a->memory || a->read_only || a->sample || simt_unlikely(index >= a->bound[gn__size_log2(size)]))
		return SIMT_COLD(gn__write_otherwise)(a, index, low, high, size);
	gn__put_element(a->memory + index * size, bits, size);
	return 0;
}

SIMT_NOINLINE_FN int gn_array_write(const struct gn_array *a, uint64_t index, const void *from)
{
	uint64_t bits[2] = {0, 0};

	/* by memcpy: the caller's variable need not be aligned */
	switch (a->element_log2) {
	case 0: memcpy(bits, from, 1); return gn__write(a, index, bits[0], 0, 1);
	case 1: memcpy(bits, from, 2); return gn__write(a, index, bits[0], 0, 2);
	case 2: memcpy(bits, from, 4); return gn__write(a, index, bits[0], 0, 4);
	case 3: memcpy(bits, from, 8); return gn__write(a, index, bits[0], 0, 8);
	default: memcpy(bits, from, 16); return gn__write(a, index, bits[0], bits[1], 16);
	}
}

SIMT_FN int gn_write_u8(const struct gn_array *a, uint64_t index, uint8_t value)
{
	return gn__write(a, index, value, 0, sizeof value);
}

SIMT_FN int gn_write_u16(const struct gn_array *a, uint64_t index, uint16_t value)
{
	return gn__write(a, index, value, 0, sizeof value);
}

SIMT_FN int gn_write_u32(const struct gn_array *a, uint64_t index, uint32_t value)
{
	return gn__write(a, index, value, 0, sizeof value);
}

SIMT_FN int gn_write_u64(const struct gn_array *a, uint64_t index, uint64_t value)
{
	return gn__write(a, index, value, 0, sizeof value);
}

SIMT_FN int gn_write_i8(const struct gn_array *a, uint64_t index, int8_t value)
{
	return gn__write(a, index, (uint64_t)value, 0, sizeof value);
}

SIMT_FN int gn_write_i16(const struct gn_array *a, uint64_t index, int16_t value)
{
	return gn__write(a, index, (uint64_t)value, 0, sizeof value);
}

SIMT_FN int gn_write_i32(const struct gn_array *a, uint64_t index, int32_t value)
{
	return gn__write(a, index, (uint64_t)value, 0, sizeof value);
}

SIMT_FN int gn_write_i64(const struct gn_array *a, uint64_t index, int64_t value)
{
	return gn__write(a, index, (uint64_t)value, 0, sizeof value);
}

SIMT_FN int gn_write_f32(const struct gn_array *a, uint64_t index, float value)
{
	uint32_t bits;

	memcpy(&bits, &value, 4);
	return gn__write(a, index, bits, 0, sizeof value);
}

SIMT_FN int gn_write_f64(const struct gn_array *a, uint64_t index, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, 8);
	return gn__write(a, index, bits, 0, sizeof value);
}

#endif
