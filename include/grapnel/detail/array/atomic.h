/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/array/atomic.h - atomic changes of one element: add, min, max, compare-and-swap.
 */
#include <grapnel/array.h> /* declares these functions; before the guard, because it includes this file */
#ifndef GRAPNEL_ARRAY_ATOMIC_H
#define GRAPNEL_ARRAY_ATOMIC_H

#include <grapnel/detail/array/sample.h>
#include <grapnel/detail/cache/announce.h>

/* Lanes that change elements of the same page pin it once. */
SIMT_FN struct gn__access gn__change_pinned(const struct gn_array *a, uint64_t address,
                                            struct gn__request request)
{
	const uint64_t page = gn__page_number(&a->pages, address);
	const struct gn__group g = gn__group_writers(&a->pages, page, request.at, request.size);
	const struct gn__written_page w = gn__group_pin(&a->pages, &g, page, 0);
	struct gn__access access = {{0, 0}, {0, 0}};

	if (w.hold.data) {
		gn__group_touch(a->pages.cache, &g.reach, w.frame, request.at, request.size);
		gn__request_inside(&request, w.hold.data);
		access.bits[0] = request.bits[0];
	}
	gn__group_unpin(&a->pages, &g, &w);
	return w.hold.data ? access : gn_cache_access(a->pages.cache, page, request);
}

SIMT_FN struct gn__access gn__change_paged(const struct gn_array *a, uint64_t address,
                                           struct gn__request request)
{
	char *to = gn__announce(&a->pages, gn__page_number(&a->pages, address), request.at, request.size);
	struct gn__access access = {{0, 0}, {0, 0}};

	if (!to)
		return gn__change_pinned(a, address, request);
	gn__request_inside(&request, to - request.at);
	access.bits[0] = request.bits[0];
	gn__announce_end(&a->pages);
	return access;
}

SIMT_NOINLINE_FN uint64_t gn__change(const struct gn_array *a, uint64_t index, uint32_t change,
                                     uint64_t first, uint64_t second, uint32_t size)
{
	const uint64_t address = a->base + (index << a->element_log2);
	const struct gn__request request = {
	    GN__CHANGES, change, gn__page_offset(&a->pages, address), size, {first, second}};
	struct gn__access access = {{0, 0}, {0, 0}};

	if (simt_unlikely(index >= a->count || 1u << a->element_log2 != size)) {
		gn__refused(a, index, size);
		return 0;
	}
	if (simt_unlikely(a->sample != 0))
		SIMT_COLD(gn__sample)(a, index, 1);
	if (a->read_only)
		access.status.code = -GN_EROFS;
	else if (a->memory)
		access.bits[0] = gn__change_element_sys(a->memory + index * size, (enum gn_change)change,
		                                        request.bits, size);
	else
		access = gn__change_paged(a, address, request);
	if (!access.status.code)
		return access.bits[0];
	gn__fail(a, index, access.status);
	return 0;
}

SIMT_FN uint32_t gn_add_u32(const struct gn_array *a, uint64_t index, uint32_t by)
{
	return (uint32_t)SIMT_COLD(gn__change)(a, index, GN_ADD, by, 0, 4);
}

SIMT_FN uint64_t gn_add_u64(const struct gn_array *a, uint64_t index, uint64_t by)
{
	return SIMT_COLD(gn__change)(a, index, GN_ADD, by, 0, 8);
}

SIMT_FN float gn_add_f32(const struct gn_array *a, uint64_t index, float by)
{
	uint32_t bits;
	float old;

	memcpy(&bits, &by, 4);
	bits = (uint32_t)SIMT_COLD(gn__change)(a, index, GN_ADD_FLOAT, bits, 0, 4);
	memcpy(&old, &bits, 4);
	return old;
}

SIMT_FN double gn_add_f64(const struct gn_array *a, uint64_t index, double by)
{
	uint64_t bits;
	double old;

	memcpy(&bits, &by, 8);
	bits = SIMT_COLD(gn__change)(a, index, GN_ADD_FLOAT, bits, 0, 8);
	memcpy(&old, &bits, 8);
	return old;
}

SIMT_FN uint32_t gn_min_u32(const struct gn_array *a, uint64_t index, uint32_t value)
{
	return (uint32_t)SIMT_COLD(gn__change)(a, index, GN_MIN, value, 0, 4);
}

SIMT_FN uint64_t gn_min_u64(const struct gn_array *a, uint64_t index, uint64_t value)
{
	return SIMT_COLD(gn__change)(a, index, GN_MIN, value, 0, 8);
}

SIMT_FN uint32_t gn_max_u32(const struct gn_array *a, uint64_t index, uint32_t value)
{
	return (uint32_t)SIMT_COLD(gn__change)(a, index, GN_MAX, value, 0, 4);
}

SIMT_FN uint64_t gn_max_u64(const struct gn_array *a, uint64_t index, uint64_t value)
{
	return SIMT_COLD(gn__change)(a, index, GN_MAX, value, 0, 8);
}

SIMT_FN uint32_t gn_cas_u32(const struct gn_array *a, uint64_t index, uint32_t expected, uint32_t value)
{
	return (uint32_t)SIMT_COLD(gn__change)(a, index, GN_CAS, expected, value, 4);
}

SIMT_FN uint64_t gn_cas_u64(const struct gn_array *a, uint64_t index, uint64_t expected, uint64_t value)
{
	return SIMT_COLD(gn__change)(a, index, GN_CAS, expected, value, 8);
}

#endif
