/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/array/view.h - an array as kernels see it: plain data, made by gn_array_create.
 */
#ifndef GRAPNEL_ARRAY_VIEW_H
#define GRAPNEL_ARRAY_VIEW_H

#include <grapnel/cache.h>
#include <grapnel/detail/cache/page.h>
#include <grapnel/simt.h>
#include <grapnel/store.h>

enum gn_mode { GN_PAGED, GN_DIRECT };

struct gn__samples;

/* The first failure of an array. */
struct gn_failure {
	uint32_t state; /* 0 none, 1 being written, 2 there */
	int32_t code;   /* negative */
	uint64_t index; /* of the element */
	/*
	 * what the device said: an NVMe status field; of an access of another size than the elements' its
	 * bytes; or 0
	 */
	uint32_t device;
	uint32_t reserved;
};

enum { GN__SIZES = 5 }; /* of elements: 1, 2, 4, 8, 16 bytes */

/*
 * An array as kernels see it. Plain data: pass it by value inside the kernel's arguments. Hot members of the
 * cache are repeated here so that a hit loads nothing but the page's word and the data.
 *
 * Each size of access has bounds of its own, at the logarithm of the size: those of the elements' size are
 * count, all others 0. So the comparison that keeps an index inside the array also refuses accesses of
 * another size.
 */
struct gn_array {
	uint64_t count;         /* elements */
	uint64_t base;          /* paged: address of element 0 in the cache's pages; direct: 0 */
	struct gn__pages pages; /* of the cache; all 0 in direct mode */
	/*
	 * as bound where reads that hit have nothing else to do: with a direct table, if nothing is counted
	 * or noted; else 0
	 */
	uint64_t quick[GN__SIZES];
	char *memory;               /* direct mode: element 0, else NULL */
	struct gn_failure *failure; /* shared with the host */
	uint32_t element_log2;      /* 0 to 4 */
	uint32_t read_only;
	struct gn__samples *sample; /* accesses are noted there (detail/array/sample.h), or NULL */
	uint64_t bound[GN__SIZES];  /* below it an index may be accessed by this size */
};

SIMT_FN uint64_t gn_count(const struct gn_array *a)
{
	return a->count;
}

/*
 * Fill the bounds of an array whose count and element_log2 are there.
 * @quick  1: there is nothing else to do on a hit
 */
SIMT_FN void gn__array_bounds(struct gn_array *a, int quick)
{
	for (uint32_t k = 0; k < GN__SIZES; k++) {
		a->bound[k] = k == a->element_log2 ? a->count : 0;
		a->quick[k] = quick ? a->bound[k] : 0;
	}
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

/*
 * An access by so many bytes that is not below their bound: past the end, or else of another size than the
 * elements'.
 */
SIMT_FN int gn__refused(const struct gn_array *a, uint64_t index, uint32_t size)
{
	const int other = index < a->count;
	const struct gn_store_status status = {other ? -GN_EINVAL : -GN_ERANGE, other ? size : 0};

	return SIMT_COLD(gn__fail)(a, index, status);
}

#endif
