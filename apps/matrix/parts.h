/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h - how jobs over a far matrix or grid divide it among warps. Host and kernels. */
#ifndef GN_MATRIX_PARTS_H
#define GN_MATRIX_PARTS_H

#include <grapnel/simt.h>

SIMT_FN uint64_t gn_matrix_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* How many parts of this size all of them make; the last may be smaller. */
SIMT_FN uint64_t gn_matrix_parts(uint64_t all, uint64_t part)
{
	return all / part + (all % part != 0);
}

/*
 * How many warps read side by side. With many more the cache would drop what it read ahead for one before its
 * turn.
 * @cache_bytes  of the cache in front of the data; 0: none
 */
SIMT_FN uint64_t gn_matrix_warps(const struct simt_info *info, uint64_t cache_bytes)
{
	const uint64_t all = info->resident_threads / info->warp_width, stream_bytes = 65536;
	const uint64_t room = cache_bytes / stream_bytes;

	if (!cache_bytes || room >= all)
		return all;
	return room > info->processors ? room : info->processors;
}

#endif
