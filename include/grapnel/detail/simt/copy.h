/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/simt/copy.h - the lanes of a warp move bytes together.
 */
#ifndef GRAPNEL_SIMT_COPY_H
#define GRAPNEL_SIMT_COPY_H

#include <grapnel/detail/simt/base.h>
#include <grapnel/detail/simt/lookup.h>
#include <grapnel/detail/simt/warp.h>

#if !defined(__CUDACC_RTC__)
#ifdef __cplusplus
extern "C" {
#endif

void simt__copy(void *to, const void *from, size_t bytes);
void simt__warp_copy(uint32_t mask, void *to, const void *from, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif

#if SIMT_ON_CUDA
/*
 * Load and store 16 bytes. The load bypasses caches that may be stale, because others write the source. Both
 * lines leave the device's cache first, so that it keeps the table by which the device translates addresses
 * of host memory.
 */
static __device__ __forceinline__ uint4 simt__load_16(const char *from)
{
	uint4 v;

	asm volatile("ld.relaxed.sys.L2::cache_hint.v4.u32 {%0,%1,%2,%3}, [%4], %5;"
	             : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
	             : "l"(from), "l"(simt__go_first()));
	return v;
}

static __device__ __forceinline__ void simt__store_16(char *to, uint4 v)
{
	asm volatile("st.L2::cache_hint.v4.u32 [%0], {%1,%2,%3,%4}, %5;"
	             :
	             : "l"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "l"(simt__go_first())
	             : "memory");
}
#endif

SIMT_FN void simt_copy(uint32_t mask, void *to, const void *from, size_t bytes)
{
#if SIMT_ON_CUDA
	const size_t step = 16 * (size_t)simt_popcount(mask);
	const char *source = (const char *)from;
	char *target = (char *)to;
	size_t at = 16 * (size_t)simt_rank(mask);

	__syncwarp(mask);
	/* Eight loads in flight for each lane: a full warp loads a 4 KiB page in one round trip. */
	for (; at + 7 * step < bytes; at += 8 * step) {
		uint4 v[8];

#pragma unroll
		for (int k = 0; k < 8; k++)
			v[k] = simt__load_16(source + at + k * step);
#pragma unroll
		for (int k = 0; k < 8; k++)
			simt__store_16(target + at + k * step, v[k]);
	}
	for (; at < bytes; at += step)
		simt__store_16(target + at, simt__load_16(source + at));
	__syncwarp(mask);
#else
	if (mask & (mask - 1))
		simt__warp_copy(mask, to, from, bytes);
	else
		simt__copy(to, from, bytes);
#endif
}

#if SIMT_ON_CUDA
/* A walk over the runs of the lanes of `left`, 16 bytes for each lane at a time. The same in all lanes. */
struct simt__walk {
	uint32_t left;
	uint32_t at; /* offset in the run of the first lane of left, in bytes */
};

/* The caller's next 16 bytes of a walk, by the addresses that the lanes pass; NULL if it has none. */
static __device__ __forceinline__ char *simt__walk_on(uint32_t mask, struct simt__walk *w,
                                                      const void *address, uint32_t bytes)
{
	const int lane = __ffs((int)w->left) - 1;
	const uint32_t mine = w->at + 16 * simt_rank(mask);
	const uint32_t run = __shfl_sync(mask, bytes, lane & 31);
	const uint64_t base = __shfl_sync(mask, (uint64_t)(uintptr_t)address, lane & 31);
	char *piece = w->left && mine < run ? (char *)(uintptr_t)(base + mine) : (char *)0;

	w->at += 16 * simt_popcount(mask);
	if (w->at >= run) {
		w->at = 0;
		w->left &= w->left - 1;
	}
	return piece;
}
#endif

SIMT_NOINLINE_FN void simt_copy_each(uint32_t mask, uint32_t wants, void *to, const void *from,
                                     uint32_t bytes)
{
#if SIMT_ON_CUDA
	struct simt__walk from_walk = {wants, 0}, to_walk = {wants, 0};

	__syncwarp(mask);
	while (to_walk.left) {
		uint4 v[4];

		/*
		 * The runs are walked twice, because keeping the target addresses would take more registers
		 * than short kernels have.
		 */
#pragma unroll
		for (int k = 0; k < 4; k++) {
			const char *piece = simt__walk_on(mask, &from_walk, from, bytes);

			if (piece)
				v[k] = simt__load_16(piece);
		}
#pragma unroll
		for (int k = 0; k < 4; k++) {
			char *piece = simt__walk_on(mask, &to_walk, to, bytes);

			if (piece)
				simt__store_16(piece, v[k]);
		}
	}
	__syncwarp(mask);
#else
	if (!(mask & (mask - 1))) {
		if (wants)
			simt_copy(mask, to, from, bytes);
		return;
	}
	if (!wants)
		simt_warp_sync(mask);
	for (uint32_t left = wants; left; left &= left - 1) {
		const uint32_t lane = simt_first_lane(left);

		simt_copy(mask, (void *)(uintptr_t)simt_shfl_u64(mask, (uint64_t)(uintptr_t)to, lane),
		          (const void *)(uintptr_t)simt_shfl_u64(mask, (uint64_t)(uintptr_t)from, lane),
		          simt_shfl_u32(mask, bytes, lane));
	}
#endif
}

/* The element that a lane asks for: it lies in one of the runs that are copied. */
struct simt__element {
	uint32_t lane;    /* the lane whose run the element lies in; SIMT_NO_LANE: the lane asks for none */
	uint32_t at;      /* offset in the run in bytes, a multiple of size */
	uint32_t size;    /* 1, 2, 4, 8 or 16 bytes */
	uint64_t bits[2]; /* receives the element in the low bits */
};

enum { SIMT_LINE = 128 };
static const uint32_t SIMT_NO_LANE = 32;

/* Load an element, each 8 bytes of it atomically. */
SIMT_FN void simt__take(struct simt__element *ask, const char *from)
{
	ask->bits[1] = 0;
	switch (ask->size) {
	case 1: ask->bits[0] = simt_load_relaxed_dev_u8((const uint8_t *)from); break;
	case 2: ask->bits[0] = simt_load_relaxed_dev_u16((const uint16_t *)(const void *)from); break;
	case 4: ask->bits[0] = simt_load_relaxed_dev_u32((const uint32_t *)(const void *)from); break;
	case 8: ask->bits[0] = simt_load_relaxed_dev_u64((const uint64_t *)(const void *)from); break;
	default:
		ask->bits[0] = simt_load_relaxed_dev_u64((const uint64_t *)(const void *)from);
		ask->bits[1] = simt_load_relaxed_dev_u64((const uint64_t *)(const void *)(from + 8));
	}
}

#if SIMT_ON_CUDA
/*
 * Take the element at byte `at` of the 16 bytes that lane `holder` loaded. Collective; the caller takes it
 * only if found is 1.
 */
static __device__ __forceinline__ void simt__take_loaded(uint32_t mask, struct simt__element *ask, uint4 v,
                                                         uint32_t holder, uint32_t at, int found)
{
	const uint32_t x = __shfl_sync(mask, v.x, holder), y = __shfl_sync(mask, v.y, holder);
	const uint32_t z = __shfl_sync(mask, v.z, holder), w = __shfl_sync(mask, v.w, holder);

	if (!found)
		return;
	ask->bits[0] = ((uint64_t)(at & 8 ? w : y) << 32 | (at & 8 ? z : x)) >> (at & 7) * 8;
	ask->bits[1] = (uint64_t)w << 32 | z; /* used if size is 16 */
}

/* The position of set bit number n of mask, counted from 0. */
static __device__ __forceinline__ uint32_t simt__nth_bit(uint32_t mask, uint32_t n)
{
	uint32_t at = 0;

#pragma unroll
	for (uint32_t width = 16; width; width /= 2) {
		const uint32_t here = __popc(mask >> at & ((1u << width) - 1));

		if (n >= here) {
			n -= here;
			at += width;
		}
	}
	return at;
}

/*
 * Copy runs of one line each: eight lanes move a line. The elements that lanes ask for are taken from
 * registers. The loop is not unrolled: there are few lines, and other warps run while this one waits.
 */
static __device__ __forceinline__ struct simt__element simt__copy_lines(uint32_t mask, uint32_t wants,
                                                                        void *to, const void *from,
                                                                        struct simt__element ask)
{
	const uint32_t lanes = __popc(mask), pieces = 8 * __popc(wants), rank = simt_rank(mask);
	/* the piece of 16 bytes that has the caller's element */
	const uint32_t asked =
	    ask.lane < 32 ? 8 * __popc(wants & ((1u << ask.lane) - 1)) + (ask.at >> 4) : ~0u;

	__syncwarp(mask);
#pragma unroll 1
	for (uint32_t first = 0; first < pieces; first += lanes) {
		const uint32_t piece = first + rank, part = (piece & 7) * 16;
		const uint32_t owner =
		    simt__nth_bit(piece < pieces ? wants : mask, piece < pieces ? piece >> 3 : 0);
		const char *source = (const char *)__shfl_sync(mask, (uint64_t)(uintptr_t)from, owner) + part;
		char *target = (char *)__shfl_sync(mask, (uint64_t)(uintptr_t)to, owner) + part;
		const int found = asked - first < lanes;
		uint4 v = {0, 0, 0, 0};

		if (piece < pieces) {
			v = simt__load_16(source);
			simt__store_16(target, v);
		}
		simt__take_loaded(mask, &ask, v, simt__nth_bit(mask, found ? asked - first : 0), ask.at,
		                  found);
	}
	__syncwarp(mask);
	return ask;
}
#endif

/*
 * simt__copy_element - collective: simt_copy_each, which also gives an element of the copied bytes to each
 * lane that asks for one.
 * @mask, @wants, @to, @from, @bytes  as for simt_copy_each
 * @ask    each lane's own; ask.lane is in wants, or SIMT_NO_LANE
 * Returns the caller's ask with its bits. Order as in simt_copy_each.
 */
SIMT_INLINE_FN struct simt__element simt__copy_element(uint32_t mask, uint32_t wants, void *to,
                                                       const void *from, uint32_t bytes,
                                                       struct simt__element ask)
{
	const char *asked;

	simt_copy_each(mask, wants, to, from, bytes);
	asked = (const char *)(uintptr_t)simt_shfl_u64(mask, (uint64_t)(uintptr_t)to,
	                                               ask.lane < 32 ? ask.lane : simt_first_lane(mask));
	if (ask.lane < 32)
		simt__take(&ask, asked + ask.at);
	return ask;
}

/* simt__copy_lines_element - simt__copy_element for runs of one line each (SIMT_LINE bytes). */
SIMT_INLINE_FN struct simt__element simt__copy_lines_element(uint32_t mask, uint32_t wants, void *to,
                                                             const void *from, struct simt__element ask)
{
#if SIMT_ON_CUDA
	return simt__copy_lines(mask, wants, to, from, ask);
#else
	return simt__copy_element(mask, wants, to, from, SIMT_LINE, ask);
#endif
}

#endif
