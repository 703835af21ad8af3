/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/array/cursor.h - a read position that remembers its page.
 */
#include <grapnel/array.h> /* declares these functions; before the guard, because it includes this file */
#ifndef GRAPNEL_ARRAY_CURSOR_H
#define GRAPNEL_ARRAY_CURSOR_H

#include <grapnel/detail/array/read.h>

SIMT_FN struct gn_cursor gn_cursor_init(const struct gn_array *array)
{
	struct gn_cursor c;

	memset(&c, 0, sizeof c);
	c.array = array;
	return c;
}

SIMT_FN void gn_cursor_end(struct gn_cursor *c)
{
	gn__count_hits(&c->array->pages, c->hits);
	c->hits = 0;
}

/* Move the cursor to the page of an element; if the page is not VALID, the cursor has no elements. */
SIMT_FN void gn__cursor_take(struct gn_cursor *c, uint64_t index)
{
	const struct gn_array *a = c->array;
	const uint64_t page_mask = (1ull << a->pages.page_log2) - 1;
	const uint64_t address = a->base + (index << a->element_log2);
	const uint64_t start = address & ~page_mask;
	const uint64_t begin = start > a->base ? start : a->base;
	const uint64_t array_end = a->base + (a->count << a->element_log2);

	c->snapshot = gn__page_snapshot(&a->pages, gn__page_number(&a->pages, address), GN__OLD);
	c->first = (begin - a->base) >> a->element_log2;
	c->count = 0;
	if (c->snapshot.seen & GN__WORD_VALID) {
		uint64_t end = start + page_mask + 1 < array_end ? start + page_mask + 1 : array_end;

		c->count = (uint32_t)((end - begin) >> a->element_log2);
		c->snapshot.data += begin & page_mask;
	}
}

/*
 * Is the cursor's page still in its frame, behind a read of elements? Then count the hits. Returns 1 or 0.
 * @value     all bits that were read, combined by |
 * @elements  number of elements read
 */
SIMT_FN int gn__cursor_stays(struct gn_cursor *c, uint64_t value, uint32_t elements)
{
	const uint64_t now = gn__page_reload(c->snapshot.word, value, c->array->pages.zero);

	if (simt_unlikely(!gn__word_validate_whole(c->snapshot.seen, now))) {
		if (!gn__word_validate(c->snapshot.seen, now))
			return 0;
		gn__page_touch(&c->snapshot, now);
	}
	c->hits += elements;
	return 1;
}

/* Read an element of the cursor's page, if the page stays in its frame. Returns 1 or 0. */
SIMT_FN int gn__cursor_hit(struct gn_cursor *c, uint64_t index, void *to, uint32_t size)
{
	uint64_t value[2]; /* may be another page's until the word is validated */

	if (!gn__cursor_stays(c, gn__load_element(value, c->snapshot.data + (index - c->first) * size, size),
	                      1))
		return 0;
	memcpy(to, value, size);
	return 1;
}

/* Read an element that is not in the cursor's page, or whose page has left: move the cursor, or fetch. */
SIMT_FN int gn__cursor_move(struct gn_cursor *c, uint64_t index, void *to, uint32_t size)
{
	const struct gn_array *a = c->array;
	int rc;

	if (index >= a->bound[gn__size_log2(size)])
		return gn__refused(a, index, size);
	if (simt_unlikely(a->sample != 0)) /* each element is noted, so the cursor remembers no page */
		return gn__read(a, index, to, size);
	if (a->memory) {
		gn__take_element(to, a->memory + index * size, size);
		return 0;
	}
	gn_cursor_end(c);
	gn__cursor_take(c, index);
	if (c->count && gn__cursor_hit(c, index, to, size))
		return 0;
	rc = gn__read_give(gn__read_missing(a, index, size), to, size);
	gn__cursor_take(c, index);
	return rc;
}

/*
 * Does the element lie in the cursor's page, and does it have this size? The compiler can move the second
 * comparison out of a loop.
 */
SIMT_FN int gn__cursor_has(const struct gn_cursor *c, uint64_t index, uint32_t size)
{
	return (index - c->first < c->count) & (c->array->element_log2 == gn__size_log2(size));
}

SIMT_FN int gn__cursor_read(struct gn_cursor *c, uint64_t index, void *to, uint32_t size)
{
	if (simt_likely(gn__cursor_has(c, index, size)) && simt_likely(gn__cursor_hit(c, index, to, size)))
		return 0;
	return gn__cursor_move(c, index, to, size);
}

SIMT_FN uint8_t gn_cursor_read_u8(struct gn_cursor *c, uint64_t index)
{
	uint8_t value = 0;

	gn__cursor_read(c, index, &value, sizeof value);
	return value;
}

SIMT_FN uint16_t gn_cursor_read_u16(struct gn_cursor *c, uint64_t index)
{
	uint16_t value = 0;

	gn__cursor_read(c, index, &value, sizeof value);
	return value;
}

SIMT_FN uint32_t gn_cursor_read_u32(struct gn_cursor *c, uint64_t index)
{
	uint32_t value = 0;

	gn__cursor_read(c, index, &value, sizeof value);
	return value;
}

SIMT_FN uint64_t gn_cursor_read_u64(struct gn_cursor *c, uint64_t index)
{
	uint64_t value = 0;

	gn__cursor_read(c, index, &value, sizeof value);
	return value;
}

SIMT_FN int8_t gn_cursor_read_i8(struct gn_cursor *c, uint64_t index)
{
	return (int8_t)gn_cursor_read_u8(c, index);
}

SIMT_FN int16_t gn_cursor_read_i16(struct gn_cursor *c, uint64_t index)
{
	return (int16_t)gn_cursor_read_u16(c, index);
}

SIMT_FN int32_t gn_cursor_read_i32(struct gn_cursor *c, uint64_t index)
{
	return (int32_t)gn_cursor_read_u32(c, index);
}

SIMT_FN int64_t gn_cursor_read_i64(struct gn_cursor *c, uint64_t index)
{
	return (int64_t)gn_cursor_read_u64(c, index);
}

SIMT_FN float gn_cursor_read_f32(struct gn_cursor *c, uint64_t index)
{
	float value = 0;

	gn__cursor_read(c, index, &value, sizeof value);
	return value;
}

SIMT_FN double gn_cursor_read_f64(struct gn_cursor *c, uint64_t index)
{
	double value = 0;

	gn__cursor_read(c, index, &value, sizeof value);
	return value;
}

/* Do all `count` elements lie in the cursor's page? With stride < c->count the product does not overflow. */
SIMT_FN int gn__cursor_spans(const struct gn_cursor *c, uint64_t index, uint64_t stride, uint32_t count,
                             uint32_t size)
{
	return count && gn__cursor_has(c, index, size) && stride < c->count &&
	       index + (count - 1) * stride - c->first < c->count;
}

/* Are all `count` elements in the array, and do they have this size? Nothing overflows. */
SIMT_FN int gn__cursor_within(const struct gn_array *a, uint64_t index, uint64_t stride, uint32_t count,
                              uint32_t size)
{
	const uint64_t bound = a->bound[gn__size_log2(size)], steps = count > 1 ? count - 1 : 1;

	return count && index < bound && stride <= (bound - 1 - index) / steps;
}

/* gn_cursor_read_every reads this many elements by one call if it cannot read all at once. */
enum { GN__CURSOR_STEP = 16 };

struct gn__cursor_step {
	struct gn_cursor cursor;
	uint64_t bits[GN__CURSOR_STEP];
	int rc;
};

/*
 * Read elements one by one. The cursor is passed by value: if its address were passed, it would lie in
 * memory, on the common path too.
 * @count  at most GN__CURSOR_STEP
 */
SIMT_NOINLINE_FN struct gn__cursor_step gn__cursor_some(struct gn_cursor c, uint64_t index, uint64_t stride,
                                                        uint32_t count, uint32_t size)
{
	struct gn__cursor_step s;

	s.rc = 0;
	for (uint32_t k = 0; k < count; k++) {
		const uint64_t i = index + k * stride;
		int rc;

		s.bits[k] = 0;
		rc =
		    size == 4 ? gn__cursor_read(&c, i, &s.bits[k], 4) : gn__cursor_read(&c, i, &s.bits[k], 8);
		s.rc = s.rc ? s.rc : rc;
	}
	s.cursor = c;
	return s;
}

/*
 * Read several elements of 4 or 8 bytes. If they lie in one page, all loads are in flight together, and the
 * word is validated once. Inlined: if the caller's count is a constant, the values stay in registers.
 */
SIMT_INLINE_FN int gn__cursor_read_every(struct gn_cursor *c, uint64_t index, uint64_t stride, uint32_t count,
                                         void *to, uint32_t size)
{
	const struct gn_array *a = c->array;
	char *value = (char *)to;
	int in_page = gn__cursor_spans(c, index, stride, count, size), rc = 0;
	uint64_t all = 0;

	if (simt_unlikely(!in_page) && index < a->bound[gn__size_log2(size)] && !a->sample && !a->memory) {
		gn__cursor_take(c, index);
		in_page = gn__cursor_spans(c, index, stride, count, size);
	}
	if (simt_likely(in_page)) {
		SIMT_UNROLL
		for (uint32_t k = 0; k < count; k++)
			all |=
			    gn__load_element(value + k * size,
			                     c->snapshot.data + (index + k * stride - c->first) * size, size);
		if (simt_likely(gn__cursor_stays(c, all, count)))
			return 0;
	}
	if (a->memory && !a->sample && gn__cursor_within(a, index, stride, count, size)) {
		SIMT_UNROLL
		for (uint32_t k = 0; k < count; k++)
			gn__take_element(value + k * size, a->memory + (index + k * stride) * size, size);
		return 0;
	}
	SIMT_UNROLL
	for (uint32_t k = 0; k < count; k += GN__CURSOR_STEP) {
		const uint32_t most = GN__CURSOR_STEP, some = count - k < most ? count - k : most;
		const struct gn__cursor_step s =
		    SIMT_COLD(gn__cursor_some)(*c, index + k * stride, stride, some, size);

		*c = s.cursor;
		c->array = a;
		SIMT_UNROLL
		for (uint32_t n = 0; n < some; n++)
			memcpy(value + (k + n) * size, &s.bits[n], size);
		rc = rc ? rc : s.rc;
	}
	return rc;
}

SIMT_INLINE_FN int gn_cursor_read_every_u32(struct gn_cursor *c, uint64_t index, uint64_t stride,
                                            uint32_t count, uint32_t *value)
{
	return gn__cursor_read_every(c, index, stride, count, value, sizeof *value);
}

SIMT_INLINE_FN int gn_cursor_read_every_u64(struct gn_cursor *c, uint64_t index, uint64_t stride,
                                            uint32_t count, uint64_t *value)
{
	return gn__cursor_read_every(c, index, stride, count, value, sizeof *value);
}

SIMT_INLINE_FN int gn_cursor_read_every_f32(struct gn_cursor *c, uint64_t index, uint64_t stride,
                                            uint32_t count, float *value)
{
	return gn__cursor_read_every(c, index, stride, count, value, sizeof *value);
}

SIMT_INLINE_FN int gn_cursor_read_every_f64(struct gn_cursor *c, uint64_t index, uint64_t stride,
                                            uint32_t count, double *value)
{
	return gn__cursor_read_every(c, index, stride, count, value, sizeof *value);
}

#endif
