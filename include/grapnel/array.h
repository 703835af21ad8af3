/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array.h - what users touch: typed elements of a store, read and written by any thread.
 *
 *     uint32_t x = gn_read_u32(&array, i);            the value; a failure is kept in the array
 *     int rc = gn_array_read(&array, i, &x);          the code
 *     struct gn_cursor c = gn_cursor_init(&array);         repeated touches of one page cost a look, not a look-up
 *     uint32_t y = gn_cursor_read_u32(&c, i);
 *     gn_array_acquire(&array, mask, i, 0, &page);    a page by reference: plain loads, 16 bytes at a time
 *
 * Reads and writes may be called from divergent code by any lanes; lanes that are together and touch one page act
 * once. Memory order is that of ordinary device memory: races between user threads are the user's. An array is in
 * one mode at a time:
 *
 *   GN_PAGED   through a cache
 *   GN_DIRECT  fine-grained loads and stores on the store's own memory (byte-addressable stores only)
 *
 * Value forms return 0 for what cannot be read; nothing ever returns wrong data silently: the array keeps the first
 * failure (index, code, device status) where host and device can read it (gn_array_failure).
 */
#ifndef GRAPNEL_ARRAY_H
#define GRAPNEL_ARRAY_H

#include <grapnel/cache.h>
#include <grapnel/error.h>
#include <grapnel/simt.h>
#include <grapnel/store.h>
#include <grapnel/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

enum gn_mode { GN_PAGED, GN_DIRECT };

/* The first failure of an array. */
struct gn_failure {
	uint32_t state; /* 0 none, 1 being written, 2 there */
	int32_t code;   /* negative */
	uint64_t index; /* of the element */
	uint32_t device; /* what the device said: an NVMe status field, or 0 */
	uint32_t reserved;
};

/*
 * An array as kernels see it. Plain data: pass it by value inside the kernel's arguments. Hot members of the cache
 * are repeated here so that a hit loads nothing but the page's word and the data.
 */
struct gn_array {
	uint64_t count;        /* elements */
	uint64_t base;         /* paged: address of element 0 in the cache's pages; direct: 0 */
	uint64_t *word;        /* direct table, or NULL */
	char *frame;
	char *memory;          /* direct mode: element 0, else NULL */
	const struct gn_cache_view *cache;
	struct gn_failure *failure; /* shared with the host */
	uint32_t element_log2; /* 0 to 4 */
	uint32_t page_log2;
	uint32_t counting;     /* the cache counts */
	uint32_t read_only;
};

/* What an array is made of. */
struct gn_array_config {
	enum gn_mode mode;
	struct gn_cache *cache; /* paged; NULL in direct mode */
	struct gn_store *store; /* one of the cache's; direct: any byte-addressable one */
	uint64_t offset;        /* of element 0 in the store, in bytes; a multiple of element_bytes */
	uint64_t count;         /* elements */
	uint32_t element_bytes; /* 1, 2, 4, 8 or 16 */
};

/*
 * gn_array_create - describe elements of a store.
 * @array   receives the handle; end with gn_array_destroy. Cache, store and machine outlive it.
 * Host. Returns 0, -GN_EINVAL (element size, offset; a store that is not the cache's), -GN_ERANGE (reaches past the
 * store), -GN_ENOTSUP (direct mode on a store that is not byte-addressable), -GN_ENOMEM.
 */
int gn_array_create(struct gn_array *array, struct simt_machine *machine, const struct gn_array_config *config,
		    struct gn_error *error);

/* gn_array_destroy - give the handle's memory back. Does NOT flush. Host. */
void gn_array_destroy(struct gn_array *array, struct simt_machine *machine);

/*
 * gn_array_failure - the first failure since the last call, if any, and forget it.
 * Host, after simt_wait. Returns 0 (none) or its code with index, code and device status in the message.
 */
int gn_array_failure(struct gn_array *array, struct gn_error *error);

#ifdef __cplusplus
}
#endif

/* gn_count - number of elements. */
SIMT_FN uint64_t gn_count(const struct gn_array *a)
{
	return a->count;
}

/* Keep the first failure of an array; later ones are dropped. Any thread. */
SIMT_NOINLINE_FN int gn__fail(const struct gn_array *a, uint64_t index, struct gn_store_status status)
{
	struct gn_failure *f = a->failure;

	if (!simt_load_relaxed_dev_u32(&f->state) && !simt_cas_acq_rel_dev_u32(&f->state, 0, 1)) {
		f->code = status.code;
		f->index = index;
		f->device = status.device;
		simt_store_release_sys_u32(&f->state, 2);
	}
	return status.code;
}

/* ---- moving one element; size is a constant at every call, so the switch disappears ---- */

/*
 * Users' types are theirs: what goes in and out of their variables goes by memcpy, through a variable of its own in each
 * case, which stays in a register.
 */

/* With acquire, so that the second look at the page's word stays behind (A5 of docs/memory-model.md). */
SIMT_FN uint64_t gn__load_8(const void *from)
{
	return simt_load_acquire_dev_u64((const uint64_t *)from);
}

SIMT_FN void gn__load_element(void *to, const void *from, uint32_t size)
{
	if (size == 1) {
		uint8_t value = simt_load_acquire_dev_u8((const uint8_t *)from);

		memcpy(to, &value, 1);
	} else if (size == 2) {
		uint16_t value = simt_load_acquire_dev_u16((const uint16_t *)from);

		memcpy(to, &value, 2);
	} else if (size == 4) {
		uint32_t value = simt_load_acquire_dev_u32((const uint32_t *)from);

		memcpy(to, &value, 4);
	} else if (size == 8) {
		uint64_t value = gn__load_8(from);

		memcpy(to, &value, 8);
	} else {
		uint64_t low = gn__load_8(from), high = gn__load_8((const char *)from + 8);

		memcpy(to, &low, 8);
		memcpy((char *)to + 8, &high, 8);
	}
}

/* Plain accesses to memory that is aligned to the element: a pinned page, or the store's own memory. */
SIMT_FN void gn__take_element(void *to, const void *from, uint32_t size)
{
	switch (size) {
	case 1: memcpy(to, from, 1); break;
	case 2: memcpy(to, __builtin_assume_aligned(from, 2), 2); break;
	case 4: memcpy(to, __builtin_assume_aligned(from, 4), 4); break;
	case 8: memcpy(to, __builtin_assume_aligned(from, 8), 8); break;
	default: memcpy(to, __builtin_assume_aligned(from, 16), 16);
	}
}

SIMT_FN void gn__put_element(void *to, const void *from, uint32_t size)
{
	switch (size) {
	case 1: memcpy(to, from, 1); break;
	case 2: memcpy(__builtin_assume_aligned(to, 2), from, 2); break;
	case 4: memcpy(__builtin_assume_aligned(to, 4), from, 4); break;
	case 8: memcpy(__builtin_assume_aligned(to, 8), from, 8); break;
	default: memcpy(__builtin_assume_aligned(to, 16), from, 16);
	}
}

/* ---- reading ---- */

/* A frame's bytes with the word that vouches for them. */
struct gn__glimpse {
	const uint64_t *word;
	uint64_t seen;
	const char *data; /* of the page */
};

SIMT_FN struct gn__glimpse gn__look(const struct gn_array *a, uint64_t page)
{
	struct gn__glimpse g;

	if (a->word) {
		g.word = &a->word[page];
		g.seen = simt_load_acquire_dev_u64(g.word);
		g.data = a->frame + ((size_t)gn_word_payload(g.seen) << a->page_log2);
	} else {
		struct gn_place place = gn__find_in_set(a->cache, page);

		g.word = place.word;
		g.seen = place.word ? place.seen : 0;
		g.data = a->frame + ((size_t)place.frame << a->page_log2);
	}
	return g;
}

/* The clock's hand cleared REF: set it again. */
SIMT_FN void gn__touch(const struct gn__glimpse *g)
{
	if (simt_unlikely(!(g->seen & GN_WORD_REF)))
		simt_or_relaxed_dev_u64((uint64_t *)(uintptr_t)g->word, GN_WORD_REF);
}

/* Did the page stay in its frame since the glimpse? */
SIMT_FN int gn__still(const struct gn__glimpse *g)
{
	return !((g->seen ^ simt_load_relaxed_dev_u64(g->word)) & GN_WORD_SAME);
}

SIMT_FN void gn__count_hits(const struct gn_array *a, uint64_t hits)
{
	if (simt_unlikely(a->counting) && hits)
		gn__count_u64(&gn__stripe(a->cache)->hits, hits);
}

/*
 * Pin a page that is in its frame: the first lane looks and takes the pin for all. Returns 1 or 0, to all lanes of
 * mask. This is gn_cache_pin's common case without a call and without the words of the cache behind it.
 */
SIMT_FN int gn__pin_hit(const struct gn_array *a, uint32_t mask, uint64_t page, int write, struct gn_hold *hold)
{
	const uint32_t leader = simt_first_lane(mask);
	struct gn__glimpse g = {0, 0, 0};
	uint64_t data = 0;

	if (simt_lane() == leader) {
		g = gn__look(a, page);
		if (g.seen & GN_WORD_VALID && !(g.seen & GN_WORD_BUSY) && (g.seen & GN_WORD_PINS) != GN_WORD_PINS) {
			const uint64_t mark = GN_WORD_REF | (write ? GN_WORD_DIRTY : 0);

			if (simt_cas_acquire_dev_u64((uint64_t *)(uintptr_t)g.word, g.seen, (g.seen | mark) + GN_WORD_PIN) ==
			    g.seen)
				data = (uint64_t)(uintptr_t)g.data;
		}
	}
	data = simt_shfl_u64(mask, data, leader);
	hold->word = (uint64_t *)(uintptr_t)g.word;
	hold->data = (char *)(uintptr_t)data;
	simt_warp_sync(mask);
	if (data && simt_lane() == leader)
		gn__count_hits(a, simt_popcount(mask));
	return data != 0;
}

/* Pin the page of a paged array, whatever it takes; write only if the array is not read-only. */
SIMT_FN struct gn_store_status gn__pin(const struct gn_array *a, uint32_t mask, uint64_t page, int write,
				       struct gn_hold *hold)
{
	const struct gn_store_status ok = {0, 0};

	return simt_likely(gn__pin_hit(a, mask, page, write, hold))
		       ? ok
		       : SIMT_COLD(gn_cache_pin)(a->cache, mask, page, write, hold);
}

/* What the slow way found. A value, so that the caller's variable has no address and stays in its register. */
struct gn__slow_read {
	uint64_t bytes[2];
	int code;
};

/*
 * The page is not at hand: lanes that want the same one bring it in together, each reads its element while it is
 * pinned. Where no frame can be had, every lane reads from the store.
 */
SIMT_NOINLINE_FN struct gn__slow_read gn__read_slowly(const struct gn_array *a, uint64_t index, uint32_t size)
{
	const uint64_t address = a->base + (index << a->element_log2);
	const uint64_t page = address >> a->page_log2;
	const uint32_t at = (uint32_t)address & ((1u << a->page_log2) - 1);
	const uint32_t lanes = simt_match_any_u64(simt_active(), page);
	struct gn__slow_read read = {{0, 0}, 0};
	struct gn_hold hold;
	struct gn_store_status status = gn_cache_pin(a->cache, lanes, page, 0, &hold);

	if (!status.code) {
		gn__take_element(read.bytes, hold.data + at, size);
		GN_TRACE(element);
		gn_cache_unpin(lanes, &hold);
	} else if (status.code == -GN_ENOBUFS) {
		status = gn_cache_bypass_read(a->cache, page, at, read.bytes, size);
	}
	read.code = status.code ? gn__fail(a, index, status) : 0;
	return read;
}

SIMT_FN int gn__out_of_range(const struct gn_array *a, uint64_t index)
{
	const struct gn_store_status status = {-GN_ERANGE, 0};

	return SIMT_COLD(gn__fail)(a, index, status);
}

/* The element, if its page is at hand and stays there. Returns 1 or 0. */
SIMT_FN int gn__read_hit(const struct gn_array *a, uint64_t index, void *to, uint32_t size)
{
	const uint64_t address = a->base + index * size;
	const struct gn__glimpse g = gn__look(a, address >> a->page_log2);
	uint64_t value[2]; /* may be another page's until the second look */

	GN_TRACE(look);
	if (!(g.seen & GN_WORD_VALID))
		return 0;
	gn__touch(&g);
	gn__load_element(value, g.data + ((uint32_t)address & ((1u << a->page_log2) - 1)), size);
	if (!gn__still(&g))
		return 0;
	memcpy(to, value, size);
	GN_TRACE(hit);
	gn__count_hits(a, 1);
	return 1;
}

SIMT_FN int gn__read_missing(const struct gn_array *a, uint64_t index, void *to, uint32_t size)
{
	const struct gn__slow_read read = SIMT_COLD(gn__read_slowly)(a, index, size);

	if (!read.code)
		memcpy(to, read.bytes, size);
	return read.code;
}

SIMT_FN int gn__read(const struct gn_array *a, uint64_t index, void *to, uint32_t size)
{
	if (simt_unlikely(index >= a->count))
		return gn__out_of_range(a, index);
	if (a->memory) {
		gn__take_element(to, a->memory + index * size, size);
		return 0;
	}
	return simt_likely(gn__read_hit(a, index, to, size)) ? 0 : gn__read_missing(a, index, to, size);
}

/* ---- writing ---- */

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
 * gn_array_read, gn_array_write - one element, status form.
 * @index    element
 * @to, @from  element_bytes of the array, aligned to it
 * Any thread, from divergent code; waits while the page is fetched. Returns 0; -GN_ERANGE (index past the end);
 * -GN_EIO, -GN_ETIMEDOUT (the transfer failed); -GN_EROFS. The first failure is also kept in the array. After a
 * failed read *to is unchanged; after a failed write the element is unchanged.
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

SIMT_FN int gn_array_write(const struct gn_array *a, uint64_t index, const void *from)
{
	return SIMT_COLD(gn__write)(a, index, from, 1u << a->element_log2);
}

/*
 * gn_read_T, gn_write_T - one element, value form. T is the array's element type: its size must be that of the
 * array. Reads return 0 on failure. Otherwise as gn_array_read and gn_array_write.
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

#include <grapnel/array/cursor.h>
#include <grapnel/array/page.h>

#endif
