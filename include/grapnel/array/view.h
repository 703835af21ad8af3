/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array/view.h - an array as kernels see it: plain data, made by gn_array_create.
 */
#ifndef GRAPNEL_ARRAY_VIEW_H
#define GRAPNEL_ARRAY_VIEW_H

#include <grapnel/cache.h>
#include <grapnel/simt.h>
#include <grapnel/store.h>

enum gn_mode { GN_PAGED, GN_DIRECT };

struct gn_sample;

/* The first failure of an array. */
struct gn_failure {
	uint32_t state; /* 0 none, 1 being written, 2 there */
	int32_t code;   /* negative */
	uint64_t index; /* of the element */
	uint32_t device; /* what the device said: an NVMe status field; of an access of another size than the elements' its bytes; or 0 */
	uint32_t reserved;
};

enum { GN__SIZES = 5 }; /* of elements: 1, 2, 4, 8, 16 bytes */

/*
 * An array as kernels see it. Plain data: pass it by value inside the kernel's arguments. Hot members of the cache
 * are repeated here so that a hit loads nothing but the page's word and the data.
 *
 * Each size of access has bounds of its own, at the logarithm of the size: those of the elements' size are count, all
 * others 0. So the comparison that keeps an index inside the array also refuses accesses of another size.
 */
struct gn_array {
	uint64_t count;        /* elements */
	uint64_t base;         /* paged: address of element 0 in the cache's pages; direct: 0 */
	uint64_t *word;        /* direct table, or NULL */
	uint64_t quick[GN__SIZES]; /* as bound where reads that hit have nothing else to do: with a direct table, if nothing is
				      counted or noted; else 0 */
	char *frame;
	char *memory;          /* direct mode: element 0, else NULL */
	const struct gn_cache_view *cache;
	struct gn_failure *failure; /* shared with the host */
	uint64_t *sector;      /* [frames], of a cache whose pages come by sectors; where backing is not NULL */
	char *backing;         /* misses are served by cache/fault.h: byte 0 of the cache's pages would lie here in the store; or NULL */
	uint32_t element_log2; /* 0 to 4 */
	uint32_t page_log2;
	uint32_t counting;     /* the cache counts */
	uint32_t sector_log2;
	uint32_t read_only;
	struct gn_sample *sample; /* accesses are noted there (array/sample.h), or NULL */
	uint64_t zero;         /* is 0, which no compiler knows: see simt_load_behind_dev_u64 */
	uint64_t bound[GN__SIZES]; /* below it an index may be accessed by this size */
};

/* gn_count - number of elements. */
SIMT_FN uint64_t gn_count(const struct gn_array *a)
{
	return a->count;
}

/* Where the bounds of a size are; 1, 2, 4, 8 or 16 bytes. */
SIMT_FN uint32_t gn__size_log2(uint32_t size)
{
	return (uint32_t)(size > 1) + (size > 2) + (size > 4) + (size > 8);
}

/* Fill the bounds of an array whose count and element_log2 are there. @quick  1: there is nothing else to do on a hit */
SIMT_FN void gn__array_bounds(struct gn_array *a, int quick)
{
	for (uint32_t k = 0; k < GN__SIZES; k++) {
		a->bound[k] = k == a->element_log2 ? a->count : 0;
		a->quick[k] = quick ? a->bound[k] : 0;
	}
}

/*
 * Those of mask whose elements have the caller's size and lie in the caller's page of one cache. Collective. With a direct
 * table the address of the page's word says which page of which cache, and its lowest bits are free for the size. Both
 * exchanges are between all lanes of mask, whatever tables their caches have: see gn__access_together.
 */
SIMT_FN uint32_t gn__same_page(const struct gn_array *a, uint32_t mask, uint64_t page)
{
	const uint64_t where = a->word ? (uint64_t)(uintptr_t)&a->word[page] : (uint64_t)(uintptr_t)a->cache;
	uint32_t lanes = simt_match_any_u64(mask, where | a->element_log2), same;

	if (simt_ballot(mask, !a->word)) {
		same = simt_match_any_u64(mask, page);
		lanes &= a->word ? lanes : same;
	}
	return lanes;
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

/* An index past the end. */
SIMT_FN int gn__out_of_range(const struct gn_array *a, uint64_t index)
{
	const struct gn_store_status status = {-GN_ERANGE, 0};

	return SIMT_COLD(gn__fail)(a, index, status);
}

/* An access by so many bytes that is not below their bound: past the end, or else of another size than the elements'. */
SIMT_FN int gn__refused(const struct gn_array *a, uint64_t index, uint32_t size)
{
	const int other = index < a->count;
	const struct gn_store_status status = {other ? -GN_EINVAL : -GN_ERANGE, other ? size : 0};

	return SIMT_COLD(gn__fail)(a, index, status);
}

#endif
