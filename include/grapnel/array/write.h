/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array/write.h - writing one element.
 */
#ifndef GRAPNEL_ARRAY_WRITE_H
#define GRAPNEL_ARRAY_WRITE_H

#include <grapnel/array/element.h>
#include <grapnel/array/look.h>
#include <grapnel/array/read.h>

/* Lanes that write the same page pin it once; each writes its element. */
SIMT_NOINLINE_FN int gn__write(const struct gn_array *a, uint64_t index, const void *from, uint32_t size)
{
	const uint64_t address = a->base + index * size;
	const uint64_t page = address >> a->page_log2;
	const uint32_t at = (uint32_t)address & ((1u << a->page_log2) - 1);
	struct gn_store_status status = {0, 0};
	struct gn_hold hold;
	uint32_t lanes;

	if (index >= a->count)
		return gn__out_of_range(a, index);
	if (a->read_only) {
		status.code = -GN_EROFS;
		return gn__fail(a, index, status);
	}
	if (a->memory) {
		gn__put_element(a->memory + index * size, from, size);
		return 0;
	}
	lanes = simt_match_any_u64(simt_active(), page);
	status = gn__pin(a, lanes, page, 1, &hold);
	if (!status.code) {
		gn__store_element(hold.data + at, from, size);
		gn_cache_unpin(lanes, &hold);
	} else if (status.code == -GN_ENOBUFS) {
		status = gn_cache_write_through(a->cache, page, at, from, size);
	}
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
 * gn_write_T - one element, by value. T is the array's element type: its size must be that of the array. Returns as
 * gn_array_write.
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
