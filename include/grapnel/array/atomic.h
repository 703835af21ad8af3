/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array/atomic.h - elements changed as one step: add, min, max, compare-and-swap.
 *
 * Indivisible for all threads that use the array in the same mode through the same cache; relaxed: they order nothing
 * else. In direct mode they are indivisible for the host as well. Any thread, from divergent code; they wait while the
 * page is fetched. All return the element before, or 0 where it could not be had: the failure is kept in the array, as
 * for gn_read_T. Elements have 4 or 8 bytes; a change of another size than the array's is -GN_EINVAL.
 */
#ifndef GRAPNEL_ARRAY_ATOMIC_H
#define GRAPNEL_ARRAY_ATOMIC_H

#include <grapnel/array/look.h>

/* The page is pinned for writing: every lane changes its element, then the page is let go. */
SIMT_FN struct gn_changed gn__change_pinned(uint32_t lanes, const struct gn_pinned *pinned, uint32_t at,
					    enum gn_change change, const uint64_t *operand, uint32_t size)
{
	struct gn_changed result = {0, {0, 0}};

	result.old = gn__change_element(pinned->hold.data + at, change, operand, size);
	gn_cache_unpin(lanes, &pinned->hold);
	return result;
}

SIMT_FN struct gn_changed gn__change_paged(const struct gn_array *a, uint64_t address, enum gn_change change,
					   const uint64_t *operand, uint32_t size)
{
	const uint64_t page = address >> a->page_log2;
	const uint32_t at = (uint32_t)address & ((1u << a->page_log2) - 1);
	const uint32_t mask = simt_active(), lanes = simt_match_any_u64(mask, page);
	const struct gn__reach reach = gn__sector_reach(a->cache, lanes, at, size);
	struct gn_pinned pinned = gn__write_pin(a, lanes, page, reach.touched, 0);
	struct gn_changed failed = {0, {0, 0}};

	if (simt_unlikely(!simt_ballot(lanes, pinned.hold.data != 0)))
		pinned = gn_cache_pin_lanes(a->cache, lanes, lanes, page, GN_WRITE, reach.touched);
	if (pinned.hold.data)
		return gn__change_pinned(lanes, &pinned, at, change, operand, size);
	if (pinned.status.code == -GN_ENOBUFS)
		return gn_cache_change(a->cache, page, at, change, operand[0], operand[1], size);
	failed.status = pinned.status;
	return failed;
}

SIMT_NOINLINE_FN uint64_t gn__change(const struct gn_array *a, uint64_t index, enum gn_change change, uint64_t first,
				     uint64_t second, uint32_t size)
{
	const uint64_t operand[2] = {first, second};
	struct gn_changed result = {0, {0, 0}};

	if (index >= a->count)
		result.status.code = -GN_ERANGE;
	else if (1u << a->element_log2 != size)
		result.status.code = -GN_EINVAL;
	else if (a->read_only)
		result.status.code = -GN_EROFS;
	else if (a->memory)
		result.old = gn__change_element_sys(a->memory + index * size, change, operand, size);
	else
		result = gn__change_paged(a, a->base + index * size, change, operand, size);
	if (!result.status.code)
		return result.old;
	gn__fail(a, index, result.status);
	return 0;
}

/* gn_add_T - add to an element. */
SIMT_FN uint32_t gn_add_u32(const struct gn_array *a, uint64_t index, uint32_t by)
{
	return (uint32_t)SIMT_COLD(gn__change)(a, index, GN__ADD, by, 0, 4);
}

SIMT_FN uint64_t gn_add_u64(const struct gn_array *a, uint64_t index, uint64_t by)
{
	return SIMT_COLD(gn__change)(a, index, GN__ADD, by, 0, 8);
}

SIMT_FN float gn_add_f32(const struct gn_array *a, uint64_t index, float by)
{
	uint32_t bits;
	float old;

	memcpy(&bits, &by, 4);
	bits = (uint32_t)SIMT_COLD(gn__change)(a, index, GN__ADD_FLOAT, bits, 0, 4);
	memcpy(&old, &bits, 4);
	return old;
}

SIMT_FN double gn_add_f64(const struct gn_array *a, uint64_t index, double by)
{
	uint64_t bits;
	double old;

	memcpy(&bits, &by, 8);
	bits = SIMT_COLD(gn__change)(a, index, GN__ADD_FLOAT, bits, 0, 8);
	memcpy(&old, &bits, 8);
	return old;
}

/* gn_min_T, gn_max_T - make an element as small, as large as a value. */
SIMT_FN uint32_t gn_min_u32(const struct gn_array *a, uint64_t index, uint32_t value)
{
	return (uint32_t)SIMT_COLD(gn__change)(a, index, GN__MIN, value, 0, 4);
}

SIMT_FN uint64_t gn_min_u64(const struct gn_array *a, uint64_t index, uint64_t value)
{
	return SIMT_COLD(gn__change)(a, index, GN__MIN, value, 0, 8);
}

SIMT_FN uint32_t gn_max_u32(const struct gn_array *a, uint64_t index, uint32_t value)
{
	return (uint32_t)SIMT_COLD(gn__change)(a, index, GN__MAX, value, 0, 4);
}

SIMT_FN uint64_t gn_max_u64(const struct gn_array *a, uint64_t index, uint64_t value)
{
	return SIMT_COLD(gn__change)(a, index, GN__MAX, value, 0, 8);
}

/* gn_cas_T - set an element to value if it is expected; it was set if expected is returned. */
SIMT_FN uint32_t gn_cas_u32(const struct gn_array *a, uint64_t index, uint32_t expected, uint32_t value)
{
	return (uint32_t)SIMT_COLD(gn__change)(a, index, GN__CAS, expected, value, 4);
}

SIMT_FN uint64_t gn_cas_u64(const struct gn_array *a, uint64_t index, uint64_t expected, uint64_t value)
{
	return SIMT_COLD(gn__change)(a, index, GN__CAS, expected, value, 8);
}

#endif
