/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys.h - what the sorts and their kernels share.
 */
#ifndef GN_SORT_KEYS_H
#define GN_SORT_KEYS_H

#include <grapnel/simt.h>

SIMT_FN uint64_t gn_sort_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* How many parts of this size all of them make; the last may be smaller. */
SIMT_FN uint64_t gn_sort_parts(uint64_t all, uint64_t part)
{
	return all / part + (all % part != 0);
}

/* One key of 8 bytes, or of 4; wide is a constant. */
SIMT_INLINE_FN uint64_t gn_sort_load(const void *keys, uint64_t i, int wide)
{
	return wide ? ((const uint64_t *)keys)[i] : ((const uint32_t *)keys)[i];
}

SIMT_INLINE_FN void gn_sort_store(void *keys, uint64_t i, uint64_t key, int wide)
{
	if (wide)
		((uint64_t *)keys)[i] = key;
	else
		((uint32_t *)keys)[i] = (uint32_t)key;
}

#endif
