/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/change.h - atomic changes of one element of 4 or 8 bytes, for the atomics of arrays and of net.
 */
#ifndef GRAPNEL_CHANGE_H
#define GRAPNEL_CHANGE_H

#include <grapnel/simt.h>

/* How an element changes. */
enum gn_change {
	GN_ADD,       /* an integer */
	GN_ADD_FLOAT, /* f32 or f64, by size */
	GN_MIN,       /* unsigned */
	GN_MAX,       /* unsigned */
	GN_CAS,       /* to operand[1] if the element is operand[0] */
	GN_PUT,       /* to operand[0] */
	GN_AND,
	GN_OR,
	GN_XOR,
	GN_GET /* no change */
};

SIMT_FN uint64_t gn__added_float(uint64_t bits, uint64_t by, uint32_t bytes)
{
	float f, g;
	double d, e;
	uint32_t low = (uint32_t)bits, low_by = (uint32_t)by;

	if (bytes == 4) {
		memcpy(&f, &low, 4);
		memcpy(&g, &low_by, 4);
		f += g;
		memcpy(&low, &f, 4);
		return low;
	}
	memcpy(&d, &bits, 8);
	memcpy(&e, &by, 8);
	d += e;
	memcpy(&bits, &d, 8);
	return bits;
}

/* The bits of an element of 4 or 8 bytes after a change. */
SIMT_FN uint64_t gn__changed(enum gn_change change, uint64_t bits, const uint64_t *operand, uint32_t bytes)
{
	switch (change) {
	case GN_ADD: return bytes == 4 ? (uint32_t)(bits + operand[0]) : bits + operand[0];
	case GN_ADD_FLOAT: return gn__added_float(bits, operand[0], bytes);
	case GN_MIN: return operand[0] < bits ? operand[0] : bits;
	case GN_MAX: return operand[0] > bits ? operand[0] : bits;
	case GN_CAS: return bits == operand[0] ? operand[1] : bits;
	case GN_PUT: return bytes == 4 ? (uint32_t)operand[0] : operand[0];
	case GN_AND: return bits & operand[0];
	case GN_OR: return bits | operand[0];
	case GN_XOR: return bits ^ operand[0];
	default: return bits;
	}
}

SIMT_FN uint64_t gn__change_4(uint32_t *element, enum gn_change change, const uint64_t *operand)
{
	uint32_t seen, was;

	if (change == GN_ADD)
		return simt_add_relaxed_dev_u32(element, (uint32_t)operand[0]);
	seen = simt_load_relaxed_dev_u32(element);
	for (;;) {
		was =
		    simt_cas_acq_rel_dev_u32(element, seen, (uint32_t)gn__changed(change, seen, operand, 4));
		if (was == seen)
			return was;
		seen = was;
	}
}

SIMT_FN uint64_t gn__change_8(uint64_t *element, enum gn_change change, const uint64_t *operand)
{
	uint64_t seen, was;

	if (change == GN_ADD)
		return simt_add_relaxed_dev_u64(element, operand[0]);
	if (change == GN_XOR)
		return simt_xor_relaxed_dev_u64(element, operand[0]);
	seen = simt_load_relaxed_dev_u64(element);
	for (;;) {
		was = simt_cas_acq_rel_dev_u64(element, seen, gn__changed(change, seen, operand, 8));
		if (was == seen)
			return was;
		seen = was;
	}
}

/*
 * Change an element of 4 or 8 bytes in memory of the device, atomically on the device. Returns the bits
 * before.
 */
SIMT_FN uint64_t gn__change_element(void *element, enum gn_change change, const uint64_t *operand,
                                    uint32_t bytes)
{
	return bytes == 4 ? gn__change_4((uint32_t *)element, change, operand)
	                  : gn__change_8((uint64_t *)element, change, operand);
}

/* As gn__change_element, in memory that the host changes, too. */
SIMT_FN uint64_t gn__change_element_sys(void *element, enum gn_change change, const uint64_t *operand,
                                        uint32_t bytes)
{
	uint32_t *narrow = (uint32_t *)element;
	uint64_t *wide = (uint64_t *)element;
	uint64_t seen, was;

	if (change == GN_ADD)
		return bytes == 4 ? simt_add_relaxed_sys_u32(narrow, (uint32_t)operand[0])
		                  : simt_add_relaxed_sys_u64(wide, operand[0]);
	if (change == GN_XOR && bytes == 8)
		return simt_xor_relaxed_sys_u64(wide, operand[0]);
	seen = bytes == 4 ? simt_load_acquire_sys_u32(narrow) : simt_load_acquire_sys_u64(wide);
	for (;;) {
		const uint64_t to = gn__changed(change, seen, operand, bytes);

		was = bytes == 4 ? simt_cas_relaxed_sys_u32(narrow, (uint32_t)seen, (uint32_t)to)
		                 : simt_cas_relaxed_sys_u64(wide, seen, to);
		if (was == seen)
			return was;
		seen = was;
	}
}

/*
 * A change that does not return the bits before. Returns 1, or 0 if there is no instruction for it: then
 * gn__change_element must be used.
 */
#define GN__REDUCE(name, T, type)                                                     \
	SIMT_FN int name(type *element, enum gn_change change, type operand)          \
	{                                                                             \
		switch (change) {                                                     \
		case GN_ADD: simt_reduce_add_relaxed_##T(element, operand); return 1; \
		case GN_MIN: simt_reduce_min_relaxed_##T(element, operand); return 1; \
		case GN_MAX: simt_reduce_max_relaxed_##T(element, operand); return 1; \
		case GN_AND: simt_reduce_and_relaxed_##T(element, operand); return 1; \
		case GN_OR: simt_reduce_or_relaxed_##T(element, operand); return 1;   \
		case GN_XOR: simt_reduce_xor_relaxed_##T(element, operand); return 1; \
		default: return 0;                                                    \
		}                                                                     \
	}

GN__REDUCE(gn__reduce_4, dev_u32, uint32_t)
GN__REDUCE(gn__reduce_8, dev_u64, uint64_t)
GN__REDUCE(gn__reduce_sys_4, sys_u32, uint32_t)
GN__REDUCE(gn__reduce_sys_8, sys_u64, uint64_t)

#endif
