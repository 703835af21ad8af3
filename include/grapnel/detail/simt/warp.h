/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/simt/warp.h - collective functions of the lanes of a warp.
 */
#ifndef GRAPNEL_SIMT_WARP_H
#define GRAPNEL_SIMT_WARP_H

#include <grapnel/detail/simt/base.h>

#if !defined(__CUDACC_RTC__)
#ifdef __cplusplus
extern "C" {
#endif

/* The cpu machine's implementations; only called if the warp has more than one lane. */
uint32_t simt__active(void);
uint32_t simt__ballot(uint32_t mask, int predicate);
uint32_t simt__or(uint32_t mask, uint32_t value);
uint64_t simt__shfl(uint32_t mask, uint64_t value, uint32_t source);
uint32_t simt__equals(uint32_t mask, uint64_t value);
void simt__warp_sync(uint32_t mask);

#ifdef __cplusplus
}
#endif
#endif

SIMT_FN uint32_t simt_popcount(uint32_t mask)
{
#if SIMT_ON_CUDA
	return (uint32_t)__popc(mask);
#else
	/* the builtin is a function call unless the build targets processors that have the instruction */
	return mask & (mask - 1) ? (uint32_t)__builtin_popcount(mask) : mask != 0;
#endif
}

SIMT_FN uint32_t simt_first_lane(uint32_t mask)
{
#if SIMT_ON_CUDA
	return (uint32_t)__ffs((int)mask) - 1;
#else
	return (uint32_t)__builtin_ctz(mask);
#endif
}

SIMT_FN uint32_t simt_rank(uint32_t mask)
{
	return simt_popcount(mask & ((1u << simt_lane()) - 1));
}

/*
 * On cpu it returns the lanes that reach this call before they wait elsewhere. It is always inlined, because
 * simt__active tells calls apart by their return address.
 *
 * On cuda the caller's own bit is added, although it is already set. ptxas (13.0) assumes that the result of
 * a vote is the same in all lanes. It then checks the mask of only one lane before a collective, for all
 * lanes that are there. But lanes that made this call apart, with different masks, can be together later: a
 * convergence barrier may release some lanes while others of their mask still run a loop. A released lane
 * would pass the collective without the others of its mask, and they would wait for it for ever. A value that
 * depends on the lane is checked for each lane.
 */
SIMT_INLINE_FN uint32_t simt_active(void)
{
#if SIMT_ON_CUDA
	return __activemask() | 1u << simt_lane();
#else
	return simt__self->warp_width == 1 ? 1u : simt__active();
#endif
}

SIMT_FN uint32_t simt_ballot(uint32_t mask, int predicate)
{
#if SIMT_ON_CUDA
	return __ballot_sync(mask, predicate);
#else
	return simt__self->warp_width == 1 ? (uint32_t) !!predicate : simt__ballot(mask, predicate);
#endif
}

SIMT_FN uint32_t simt_shfl_u32(uint32_t mask, uint32_t value, uint32_t source)
{
#if SIMT_ON_CUDA
	return __shfl_sync(mask, value, (int)source);
#else
	return simt__self->warp_width == 1 ? value : (uint32_t)simt__shfl(mask, value, source);
#endif
}

SIMT_FN uint64_t simt_shfl_u64(uint32_t mask, uint64_t value, uint32_t source)
{
#if SIMT_ON_CUDA
	return __shfl_sync(mask, value, (int)source);
#else
	return simt__self->warp_width == 1 ? value : simt__shfl(mask, value, source);
#endif
}

SIMT_FN uint32_t simt_match_any_u64(uint32_t mask, uint64_t value)
{
#if SIMT_ON_CUDA
	return __match_any_sync(mask, value);
#else
	return simt__self->warp_width == 1 ? 1u : simt__equals(mask, value);
#endif
}

SIMT_FN uint32_t simt_or_u32(uint32_t mask, uint32_t value)
{
#if SIMT_ON_CUDA
	return __reduce_or_sync(mask, value);
#else
	return simt__self->warp_width == 1 ? value : simt__or(mask, value);
#endif
}

/*
 * simt_match_small - collective: as simt_match_any_u64, for values below 2^bits. On cuda it takes one ballot
 * for each bit; a match instruction takes one step for each different value.
 */
SIMT_FN uint32_t simt_match_small(uint32_t mask, uint32_t value, uint32_t bits)
{
#if SIMT_ON_CUDA
	uint32_t same = mask;

	for (uint32_t bit = 0; bit < bits; bit++) {
		const uint32_t set = __ballot_sync(mask, value >> bit & 1);

		same &= value >> bit & 1 ? set : ~set;
	}
	return same;
#else
	(void)bits;
	return simt_match_any_u64(mask, value);
#endif
}

SIMT_FN void simt_warp_sync(uint32_t mask)
{
#if SIMT_ON_CUDA
	__syncwarp(mask);
#else
	if (simt__self->warp_width != 1)
		simt__warp_sync(mask);
#endif
}

#endif
