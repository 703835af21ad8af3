/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array/write.h - writing one element.
 */
#ifndef GRAPNEL_ARRAY_WRITE_H
#define GRAPNEL_ARRAY_WRITE_H

#include <grapnel/array/sample.h>
#include <grapnel/cache/element.h>

/* The page is not at hand: bring it in, together with what the other lanes write. */
SIMT_NOINLINE_FN struct gn_store_status gn__write_slowly(const struct gn_array *a, uint64_t address, const void *from,
							 uint32_t size)
{
	struct gn__errand errand = {GN__WRITES, 0, gn__page_offset(&a->pages, address), size, {0, 0}};

	memcpy(errand.bits, from, size);
	return gn_cache_access(a->pages.cache, gn__page_number(&a->pages, address), errand).status;
}

/* Lanes that write the same page pin it once; each writes its element. */
SIMT_FN struct gn_store_status gn__write_paged(const struct gn_array *a, uint64_t address, const void *from,
					       uint32_t size)
{
	const uint64_t page = gn__page_number(&a->pages, address);
	const uint32_t at = gn__page_offset(&a->pages, address);
	const struct gn__group g = gn__group_writers(&a->pages, page, at, size);
	const struct gn__written_page w = gn__group_pin(&a->pages, &g, page, g.reach.covered != 0);
	const struct gn_store_status ok = {0, 0};

	if (w.hold.data) {
		gn__group_touch(a->pages.cache, &g.reach, w.frame, at, size);
		gn__store_element(w.hold.data + at, from, size);
	}
	gn__group_unpin(&a->pages, &g, &w);
	return w.hold.data ? ok : gn__write_slowly(a, address, from, size);
}

SIMT_NOINLINE_FN int gn__write(const struct gn_array *a, uint64_t index, const void *from, uint32_t size)
{
	struct gn_store_status status = {0, 0};

	if (simt_unlikely(index >= a->count || 1u << a->element_log2 != size))
		return gn__refused(a, index, size);
	if (simt_unlikely(a->sample != 0))
		SIMT_COLD(gn__sample)(a, index, 1);
	if (a->read_only)
		status.code = -GN_EROFS;
	else if (a->memory)
		gn__put_element(a->memory + index * size, from, size);
	else
		status = gn__write_paged(a, a->base + index * size, from, size);
	return status.code ? gn__fail(a, index, status) : 0;
}

/*
 * gn_array_write - one element, status form.
 * @index  element
 * @from   element_bytes of the array, aligned to it
 * Any thread, from divergent code; waits while the page is fetched. Returns as gn_array_read, and -GN_EROFS. The first
 * failure is also kept in the array. After a failure the element is unchanged.
 */
SIMT_FN int gn_array_write(const struct gn_array *a, uint64_t index, const void *from)
{
	return SIMT_COLD(gn__write)(a, index, from, 1u << a->element_log2);
}

/*
 * gn_write_T - one element, by value. T is the array's element type: where its size is not that of the array's elements,
 * nothing is written. Returns as gn_array_write, and -GN_EINVAL for another size.
 */
SIMT_FN int gn_write_u8(const struct gn_array *a, uint64_t index, uint8_t value)
{
	return SIMT_COLD(gn__write)(a, index, &value, sizeof value);
}

SIMT_FN int gn_write_u16(const struct gn_array *a, uint64_t index, uint16_t value)
{
	return SIMT_COLD(gn__write)(a, index, &value, sizeof value);
}

SIMT_FN int gn_write_u32(const struct gn_array *a, uint64_t index, uint32_t value)
{
	return SIMT_COLD(gn__write)(a, index, &value, sizeof value);
}

SIMT_FN int gn_write_u64(const struct gn_array *a, uint64_t index, uint64_t value)
{
	return SIMT_COLD(gn__write)(a, index, &value, sizeof value);
}

SIMT_FN int gn_write_i8(const struct gn_array *a, uint64_t index, int8_t value)
{
	return SIMT_COLD(gn__write)(a, index, &value, sizeof value);
}

SIMT_FN int gn_write_i16(const struct gn_array *a, uint64_t index, int16_t value)
{
	return SIMT_COLD(gn__write)(a, index, &value, sizeof value);
}

SIMT_FN int gn_write_i32(const struct gn_array *a, uint64_t index, int32_t value)
{
	return SIMT_COLD(gn__write)(a, index, &value, sizeof value);
}

SIMT_FN int gn_write_i64(const struct gn_array *a, uint64_t index, int64_t value)
{
	return SIMT_COLD(gn__write)(a, index, &value, sizeof value);
}

SIMT_FN int gn_write_f32(const struct gn_array *a, uint64_t index, float value)
{
	return SIMT_COLD(gn__write)(a, index, &value, sizeof value);
}

SIMT_FN int gn_write_f64(const struct gn_array *a, uint64_t index, double value)
{
	return SIMT_COLD(gn__write)(a, index, &value, sizeof value);
}

#endif
