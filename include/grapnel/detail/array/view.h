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

/* How accesses reach the store: through a cache, or each by itself. */
enum gn_mode { GN_PAGED, GN_DIRECT };

struct gn__samples;

/* The first failure of an array. */
struct gn_failure {
	uint32_t state; /* 0 none, 1 being written, 2 there */
	int32_t code;   /* negative */
	uint64_t index; /* of the element */
	/* NVMe status field of a device; for an access of the wrong size, that size in bytes; else 0 */
	uint32_t device;
	uint32_t reserved;
};

enum { GN__SIZES = 5 }; /* of elements: 1, 2, 4, 8, 16 bytes */

/*
 * An array as kernels see it. Plain data: pass it by value inside the kernel's arguments. It repeats some
 * members of the cache, so that a hit loads nothing but the page's word and the data.
 *
 * There is a bound for each size of access, indexed by the size's logarithm. The bound for the elements' size
 * is count, all others are 0. So one comparison keeps an index inside the array and refuses accesses of
 * another size.
 */
struct gn_array {
	uint64_t count;         /* elements */
	uint64_t base;          /* paged: address of element 0 in the cache's pages; direct: 0 */
	struct gn__pages pages; /* of the cache; all 0 in direct mode */
	/* equal to bound if the table is direct and hits are neither counted nor noted; else 0 */
	uint64_t quick[GN__SIZES];
	char *memory;               /* direct mode: element 0, else NULL */
	struct gn_failure *failure; /* shared with the host */
	uint32_t element_log2;      /* 0 to 4 */
	uint32_t read_only;
	struct gn__samples *sample; /* where accesses are noted (detail/array/sample.h), or NULL */
	uint64_t bound[GN__SIZES];  /* an access of this size needs an index below it */
};

SIMT_FN uint64_t gn_count(const struct gn_array *a)
{
	return a->count;
}

/*
 * Fill the bounds of an array whose count and element_log2 are set.
 * @quick  1: the table is direct and hits are neither counted nor noted
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
 * Refuse an access of size bytes whose index is past the end (-GN_ERANGE) or whose size is wrong
 * (-GN_EINVAL).
 */
SIMT_FN int gn__refused(const struct gn_array *a, uint64_t index, uint32_t size)
{
	const int other = index < a->count;
	const struct gn_store_status status = {other ? -GN_EINVAL : -GN_ERANGE, other ? size : 0};

	return SIMT_COLD(gn__fail)(a, index, status);
}

#endif
