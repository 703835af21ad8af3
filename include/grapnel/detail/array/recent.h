/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/array/recent.h - reads one element by a thread that remembers the page it read last: operator [] of
 * gn::array.
 *
 * struct gn__recent is a cursor without the array; a gn::array holds one beside its struct gn_array. A read
 * in the remembered page needs no look-up. If each read is in another page, a read costs one comparison more
 * than gn_read_T; struct gn_cursor would also compute which elements each page has.
 */
#ifndef GRAPNEL_ARRAY_RECENT_H
#define GRAPNEL_ARRAY_RECENT_H

#include <grapnel/detail/array/read.h>

static const uint64_t GN__NO_PAGE = ~0ull;

/*
 * The page that was read last. It is a hint: a read loads the page's word again behind the element, as every
 * optimistic read does, and uses the element only if the word still agrees. So the hint may be old, and may
 * be copied together with its array, also to other threads. With another array it must be forgotten first
 * (gn__recent_forget). If hits are counted or noted, nothing is remembered, so no hits remain to be counted
 * at the end.
 */
struct gn__recent {
	uint64_t page; /* GN__NO_PAGE: none */
	uint64_t seen; /* the value of the page's word at the snapshot */
	char *data;
	uint64_t *word; /* set table: the page's word */
};

SIMT_FN void gn__recent_forget(struct gn__recent *r)
{
	memset(r, 0, sizeof *r);
	r->page = GN__NO_PAGE;
}

/*
 * Read an element of a page whose snapshot is g, if the page is VALID, stays in its frame and has REF set.
 * Returns 1; or 0, and then no page is remembered.
 */
SIMT_FN int gn__recent_take(const struct gn_array *a, struct gn__recent *r, struct gn_hold g,
                            uint64_t address, void *to, uint32_t size)
{
	const uint32_t at = gn__page_offset(&a->pages, address);
	uint64_t value[2]; /* may be another page's until the word is validated */
	const uint64_t now =
	    gn__page_reload(g.word, gn__load_element(value, g.data + at, size), a->pages.zero);

	if (simt_unlikely(!gn__word_validate_whole(g.seen, now))) {
		r->page = GN__NO_PAGE;
		return 0;
	}
	memcpy(to, value, size);
	return 1;
}

/* gn__read_quickly through the page that was read last. Returns 1 or 0. */
SIMT_FN int gn__recent_quickly(const struct gn_array *a, struct gn__recent *r, uint64_t index, void *to,
                               uint32_t size)
{
	const uint64_t address = a->base + index * size, page = gn__page_number(&a->pages, address);
	struct gn_hold g;

	if (page == r->page) {
		g.word = &a->pages.word[page];
		g.seen = r->seen;
		g.data = r->data;
	} else {
		g = gn__page_snapshot_direct(&a->pages, page, GN__OLD);
		r->page = page;
		r->seen = g.seen;
		r->data = g.data;
	}
	return gn__recent_take(a, r, g, address, to, size);
}

/* With a set table: read the element if its page is the remembered one. Returns 1 or 0. */
SIMT_FN int gn__recent_stays(const struct gn_array *a, struct gn__recent *r, uint64_t index, void *to,
                             uint32_t size)
{
	const uint64_t address = a->base + index * size;
	const struct gn_hold g = {r->word, r->data, r->seen};

	return gn__page_number(&a->pages, address) == r->page && gn__recent_take(a, r, g, address, to, size);
}

/* gn__read_hit, for both tables; it remembers the page. Returns 1 or 0. */
SIMT_FN int gn__recent_hit(const struct gn_array *a, struct gn__recent *r, uint64_t index, void *to,
                           uint32_t size)
{
	const uint64_t page = gn__page_number(&a->pages, a->base + index * size);
	const struct gn_hold g = gn__page_snapshot(&a->pages, page, GN__OLD);
	uint64_t value[2];

	if (!gn__read_value(a, &g, index, value, size))
		return 0;
	memcpy(to, value, size);
	gn__count_hits(&a->pages, 1);
	if (!a->pages.counting) {
		r->page = page;
		r->seen = g.seen;
		r->data = g.data;
		r->word = g.word;
	}
	return 1;
}

/*
 * Read an element by a call.
 * @code  what gn__read_in_line returned, which is then not tried again; 0: it was not tried
 */
SIMT_NOINLINE_FN struct gn__access gn__recent_by_call(const struct gn_array *a, uint64_t index, uint32_t size,
                                                      int code)
{
	if (!code)
		return gn__read_otherwise(a, index, size);
	return gn__read_by_call(a, index, size, code);
}

/*
 * gn__recent_by_call. On cuda the call gets the address of a copy of the array. If the address of the array
 * itself were passed, the array and the remembered page would lie in memory instead of registers, for every
 * read. If the copy were passed by value, 64 bytes would be spilled.
 */
SIMT_FN struct gn__access gn__recent_called(const struct gn_array *a, uint64_t index, uint32_t size, int code)
{
	struct gn_array copy;

	if (!SIMT_ON_CUDA)
		return gn__recent_by_call(a, index, size, code);
	copy = *a;
	return SIMT_COLD(gn__recent_by_call)(&copy, index, size, code);
}

/*
 * A read that gn__recent_read does not serve at once. Misses of several lanes are served in line, as in
 * gn__read.
 */
SIMT_NOINLINE_ON_CPU_FN struct gn__access gn__recent_otherwise(const struct gn_array *a, struct gn__recent *r,
                                                               uint64_t index, uint32_t size)
{
	struct gn__access read = {{0, 0}, {0, 0}};

	if (simt_unlikely(index >= a->bound[gn__size_log2(size)] || a->sample != 0))
		return gn__recent_called(a, index, size, 0);
	if (a->memory) {
		gn__take_element(read.bits, a->memory + index * size, size);
		return read;
	}
	if ((!a->pages.backing || a->pages.counting) &&
	    simt_likely(gn__recent_hit(a, r, index, read.bits, size)))
		return read;
	read = gn__read_in_line(a, index, size);
	return read.status.code ? gn__recent_called(a, index, size, read.status.code) : read;
}

/* gn__recent_read - gn__read by a thread that remembers its page. @r  the caller's, changed */
SIMT_INLINE_FN int gn__recent_read(const struct gn_array *a, struct gn__recent *r, uint64_t index, void *to,
                                   uint32_t size)
{
	const uint32_t k = gn__size_log2(size);

	if (simt_likely(index < a->quick[k])) {
		if (simt_likely(gn__recent_quickly(a, r, index, to, size)))
			return 0;
	} else if (simt_likely(index < a->bound[k]) && gn__recent_stays(a, r, index, to, size)) {
		return 0;
	}
	return gn__read_give(gn__recent_otherwise(a, r, index, size), to, size);
}

#endif
