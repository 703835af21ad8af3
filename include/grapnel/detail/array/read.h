/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/array/read.h - reading one element.
 */
#include <grapnel/array.h> /* declares these functions; before the guard, because it includes this file */
#ifndef GRAPNEL_ARRAY_READ_H
#define GRAPNEL_ARRAY_READ_H

#include <grapnel/detail/array/sample.h>
#include <grapnel/detail/cache/element.h>
#include <grapnel/detail/cache/fault.h>
#include <grapnel/detail/cache/page.h>
#include <grapnel/trace.h>

/*
 * Read an element that cannot be read at once: bring its page in, together with those that the other lanes
 * want.
 * @doing  GN__READS; GN__HELPS: the caller reads nothing and only helps the other lanes
 */
SIMT_NOINLINE_FN struct gn__access gn__read_slowly(const struct gn_array *a, uint64_t index, uint32_t size,
                                                   uint32_t doing)
{
	const uint64_t address = a->base + (index << a->element_log2);
	const struct gn__request request = {doing, 0, gn__page_offset(&a->pages, address), size, {0, 0}};
	const struct gn__access access =
	    gn_cache_access(a->pages.cache, gn__page_number(&a->pages, address), request);
	if (access.status.code)
		gn__fail(a, index, access.status);
	return access;
}

/*
 * Read an element that cannot be read at once and whose page is fetched by sectors: by turns of gn__fault_in,
 * together with the active lanes. If that does not succeed, gn__read_slowly reads it.
 */
SIMT_NOINLINE_FN struct gn__access gn__read_fault(const struct gn_array *a, uint64_t index, uint32_t size)
{
	const uint64_t address = a->base + index * size;

	for (uint32_t turn = 0; turn < GN__FAULT_TURNS; turn++) {
		const struct gn__access access = gn__fault_in(&a->pages, address, size);

		if (simt_likely(!access.status.code))
			return access;
		if (access.status.code != -GN_EAGAIN)
			break;
		simt_backoff(turn, 3);
	}
	return gn__read_slowly(a, index, size, GN__READS);
}

/*
 * Read an element from its frame if the page is VALID, stays there and has REF set. For a direct table, and
 * only if the hit is neither counted nor noted (gn_array.quick): one instruction here is a fiftieth of a
 * read. For an absent page this reads from frame 0, which its word names; the validation at the end refuses
 * that, too. Returns 1 or 0.
 */
SIMT_FN int gn__read_quickly(const struct gn_array *a, uint64_t index, void *to, uint32_t size)
{
	const uint64_t address = a->base + index * size;
	const struct gn_hold g =
	    gn__page_snapshot_direct(&a->pages, gn__page_number(&a->pages, address), GN__OLD);
	uint64_t value[2], now; /* value may be another page's until the word is validated */

	now = gn__page_reload(g.word,
	                      gn__load_element(value, g.data + gn__page_offset(&a->pages, address), size),
	                      a->pages.zero);
	if (simt_unlikely(!gn__word_validate_whole(g.seen, now)))
		return 0;
	memcpy(to, value, size);
	GN_TRACE(lookup);
	GN_TRACE(hit);
	return 1;
}

/* gn__read_quickly for a size that is not a constant. */
SIMT_FN int gn__read_quickly_any(const struct gn_array *a, uint64_t index, void *to)
{
	switch (a->element_log2) {
	case 0: return gn__read_quickly(a, index, to, 1);
	case 1: return gn__read_quickly(a, index, to, 2);
	case 2: return gn__read_quickly(a, index, to, 4);
	case 3: return gn__read_quickly(a, index, to, 8);
	default: return gn__read_quickly(a, index, to, 16);
	}
}

/*
 * Read an element of a page whose snapshot is g, if the page is VALID and stays in its frame. Returns 1; or
 * 0, and then value is undefined.
 */
SIMT_FN int gn__read_value(const struct gn_array *a, const struct gn_hold *g, uint64_t index,
                           uint64_t value[2], uint32_t size)
{
	const uint32_t at = gn__page_offset(&a->pages, a->base + index * size);
	uint64_t now;

	GN_TRACE(lookup);
	if (simt_unlikely(!(g->seen & GN__WORD_VALID)))
		return 0;
	now = gn__page_reload(g->word, gn__load_element(value, g->data + at, size), a->pages.zero);
	if (simt_unlikely(!gn__word_validate(g->seen, now)))
		return 0;
	gn__page_touch(g, now);
	GN_TRACE(hit);
	return 1;
}

/* Read an element without a pin, if its page is VALID. Returns 1; or 0, and then bits is undefined. */
SIMT_FN int gn__read_hit(const struct gn_array *a, uint64_t index, uint64_t bits[2], uint32_t size)
{
	const struct gn_hold g =
	    gn__page_snapshot(&a->pages, gn__page_number(&a->pages, a->base + index * size), GN__OLD);

	if (!gn__read_value(a, &g, index, bits, size))
		return 0;
	gn__count_hits(&a->pages, 1);
	return 1;
}

/*
 * Copy the element that was read to the caller's variable, unless the read failed. Returns the status code.
 */
SIMT_FN int gn__read_give(struct gn__access read, void *to, uint32_t size)
{
	if (read.status.code)
		return read.status.code;
	switch (size) {
	case 1: memcpy(to, read.bits, 1); break;
	case 2: memcpy(to, read.bits, 2); break;
	case 4: memcpy(to, read.bits, 4); break;
	case 8: memcpy(to, read.bits, 8); break;
	default: memcpy(to, read.bits, 16);
	}
	return 0;
}

/*
 * Read an element of a missing sector by GN__FAULT_LANES or more lanes together. Returns -GN_EAGAIN or
 * -GN_EBUSY if the element must be read by gn__read_by_call.
 *
 * A miss is served in line. A source that defines GN_READ_MISSES_CALL before its first #include of Grapnel
 * gets a call instead. That is for kernels that SIMT_KERNEL_RESIDENT limits to 32 registers and whose reads
 * mostly hit: there the code of a miss in line takes registers from the hits, which then reach 0.86 instead
 * of 1.26 TB/s on an H200. With the call a miss costs 2 to 4 % more, and a hit in a PARTIAL page 50 % more
 * (docs/performance.md).
 */
SIMT_INLINE_FN struct gn__access gn__read_in_line(const struct gn_array *a, uint64_t index, uint32_t size)
{
	const struct gn__access none = {{0, 0}, {-GN_EAGAIN, 0}};
	uint32_t mask;

	if (!a->pages.backing || 1u << a->pages.sector_log2 != SIMT_LINE)
		return none;
	/* the lanes that use the same cache */
	mask = simt_match_any_u64(simt_active(), (uint64_t)(uintptr_t)a->pages.sector);
	if (simt_popcount(mask) < GN__FAULT_LANES)
		return none;
#ifdef GN_READ_MISSES_CALL
	return SIMT_COLD(gn__fault_lines_called)(&a->pages, mask, a->base + index * size, size);
#else
	return gn__fault_lines(&a->pages, mask, a->base + index * size, size);
#endif
}

/* Read by a call an element that gn__read_in_line could not read. @code  what gn__read_in_line returned */
SIMT_FN struct gn__access gn__read_by_call(const struct gn_array *a, uint64_t index, uint32_t size, int code)
{
	if (!a->pages.backing || code == -GN_EBUSY)
		return SIMT_COLD(gn__read_slowly)(a, index, size, GN__READS);
	return SIMT_COLD(gn__read_fault)(a, index, size);
}

/* Read an element that a read without a pin could not read. */
SIMT_INLINE_FN struct gn__access gn__read_missing(const struct gn_array *a, uint64_t index, uint32_t size)
{
	const struct gn__access access = gn__read_in_line(a, index, size);

	return access.status.code ? gn__read_by_call(a, index, size, access.status.code) : access;
}

/* A read of an array with a sample: note it if its region is in the sample, and read as always. */
SIMT_NOINLINE_FN struct gn__access gn__read_noted(const struct gn_array *a, uint64_t index, uint32_t size)
{
	struct gn__access read = {{0, 0}, {0, 0}};

	gn__sample(a, index, 0);
	if (a->memory)
		gn__take_element(read.bits, a->memory + index * size, size);
	else if (!gn__read_hit(a, index, read.bits, size))
		read = gn__read_missing(a, index, size);
	return read;
}

/*
 * gn__read_noted for most reads: the region is not in the sample, and the element is read at
 * once. Else it returns -GN_EAGAIN. This function makes no call, so it saves hardly a register to memory; one
 * function for all reads would save the registers of a miss for each read. The lanes of one page are in one
 * region, so they stay together.
 */
SIMT_NOINLINE_FN struct gn__access gn__read_unnoted(const struct gn_array *a, uint64_t index, uint32_t size)
{
	struct gn__access read = {{0, 0}, {0, 0}};

	if (gn__sample_notes(a, index))
		read.status.code = -GN_EAGAIN;
	else if (a->memory)
		gn__take_element(read.bits, a->memory + index * size, size);
	else if (!a->pages.word || a->pages.counting || !gn__read_quickly_any(a, index, read.bits))
		read.status.code = -GN_EAGAIN;
	return read;
}

/*
 * A read that gn__read_quickly does not serve. On cpu it is not inlined: otherwise the compiler makes the
 * quick read a call, too, which costs more than the read.
 */
SIMT_NOINLINE_ON_CPU_FN struct gn__access gn__read_otherwise(const struct gn_array *a, uint64_t index,
                                                             uint32_t size)
{
	struct gn__access read = {{0, 0}, {0, 0}};

	if (simt_unlikely(index >= a->bound[gn__size_log2(size)])) {
		read.status.code = gn__refused(a, index, size);
	} else if (simt_unlikely(a->sample != 0)) {
		read = SIMT_COLD(gn__read_unnoted)(a, index, size);
		if (read.status.code)
			read = SIMT_COLD(gn__read_noted)(a, index, size);
	} else if (a->memory) {
		gn__take_element(read.bits, a->memory + index * size, size);
	} else if ((a->pages.backing && !a->pages.counting) ||
	           simt_unlikely(!gn__read_hit(a, index, read.bits, size))) {
		read = gn__read_missing(a, index, size);
	}
	return read;
}

SIMT_INLINE_FN int gn__read(const struct gn_array *a, uint64_t index, void *to, uint32_t size)
{
	if (simt_likely(index < a->quick[gn__size_log2(size)]) &&
	    simt_likely(gn__read_quickly(a, index, to, size)))
		return 0;
	return gn__read_give(gn__read_otherwise(a, index, size), to, size);
}

/* gn__read_otherwise for a size that is not a constant. */
SIMT_NOINLINE_FN struct gn__access gn__read_any(const struct gn_array *a, uint64_t index)
{
	return gn__read_otherwise(a, index, 1u << a->element_log2);
}

/*
 * Not inlined: in user code the compiler would warn about sizes that the user's array does not have.
 * gn__read_any is a call, because it takes all registers that a kernel may have: in line, the kernel would
 * keep its variables in memory for each read.
 */
SIMT_NOINLINE_FN int gn_array_read(const struct gn_array *a, uint64_t index, void *to)
{
	if (simt_likely(index < a->quick[a->element_log2]) && simt_likely(gn__read_quickly_any(a, index, to)))
		return 0;
	return gn__read_give(SIMT_COLD(gn__read_any)(a, index), to, 1u << a->element_log2);
}

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
