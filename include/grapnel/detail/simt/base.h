/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/simt/base.h - the macros that mark device code, and the indices of a thread.
 */
#ifndef GRAPNEL_SIMT_BASE_H
#define GRAPNEL_SIMT_BASE_H

#include <grapnel/detail/plain.h>

/*
 * SIMT_FN marks a function that kernels may call. SIMT_NOINLINE_FN and SIMT_INLINE_FN also fix whether it is
 * inlined, at any level of optimisation. SIMT_NOINLINE_ON_CPU_FN is not inlined on cpu; on cuda the compiler
 * decides. SIMT_MEMBER_FN and SIMT_INLINE_MEMBER_FN mark a C++ member or template. SIMT_ON_CUDA is 1 while
 * nvcc compiles for the device. A SIMT_FN must not have static tables, recursion, or a goto over an
 * initialised declaration.
 */
#if defined(__CUDACC__)
#define SIMT_FN static __host__ __device__ inline __attribute__((unused))
#define SIMT_NOINLINE_FN static __host__ __device__ __noinline__ __attribute__((unused))
#define SIMT_INLINE_FN static __host__ __device__ __forceinline__ __attribute__((unused))
#define SIMT_NOINLINE_ON_CPU_FN SIMT_FN
#define SIMT_MEMBER_FN __host__ __device__ inline
#define SIMT_INLINE_MEMBER_FN __host__ __device__ __forceinline__
#else
#define SIMT_FN static inline __attribute__((unused))
#define SIMT_NOINLINE_FN static __attribute__((noinline, unused))
#define SIMT_INLINE_FN static inline __attribute__((always_inline, unused))
#define SIMT_NOINLINE_ON_CPU_FN SIMT_NOINLINE_FN
#define SIMT_MEMBER_FN inline
#define SIMT_INLINE_MEMBER_FN inline __attribute__((always_inline))
#endif

#if defined(__CUDA_ARCH__)
#define SIMT_ON_CUDA 1
#else
#define SIMT_ON_CUDA 0
#endif

#define simt_likely(x) __builtin_expect(!!(x), 1)
#define simt_unlikely(x) __builtin_expect(!!(x), 0)

/*
 * SIMT_UNROLL - in front of a loop with a constant count: on cuda the compiler unrolls it, so that an array
 * stays in registers.
 */
#if SIMT_ON_CUDA
#define SIMT_UNROLL _Pragma("unroll")
#else
#define SIMT_UNROLL
#endif

/*
 * SIMT_COLD(function)(arguments) - call a SIMT_NOINLINE_FN that is rarely needed, at no cost for the path
 * that does not call it. On cuda, in a direct call, the compiler knows which registers the function uses and
 * keeps the caller's values in local memory, on the common path too. A call through a pointer must follow the
 * calling convention: there the callee saves the registers that it uses.
 */
#if SIMT_ON_CUDA
template <typename function> static __device__ __forceinline__ function simt__cold(function f)
{
	asm volatile("" : "+l"(f));
	return f;
}
#define SIMT_COLD(function) simt__cold(function)
#else
#define SIMT_COLD(function) (function)
#endif

#if !defined(__CUDACC_RTC__)
#ifdef __cplusplus
extern "C" {
#endif

/*
 * A thread of the cpu machine, as device code sees it. A host thread that runs no kernel is thread 0 of a
 * grid of one thread, in a warp of one lane, without shared memory. It may call device code whose data it
 * can access.
 */
struct simt__lane {
	uint32_t thread, block, block_threads, blocks;
	uint32_t lane, warp_width;
	uint32_t processor; /* index of the OS thread that runs this block */
	void *shared;       /* the block's shared memory */
};

/*
 * The fast model for variables of a thread. A library that a program loads late may find no room for it: such
 * a one is compiled with another model.
 */
#ifndef SIMT__TLS_MODEL
#define SIMT__TLS_MODEL "initial-exec"
#endif

#if !defined(__CUDA_ARCH__)
extern __thread struct simt__lane *simt__self __attribute__((tls_model(SIMT__TLS_MODEL)));
#endif

/*
 * simt__point - a place where a checking schedule may switch threads. Sources compiled with SIMT_PREEMPT call
 * it before every atomic. It returns at once under other schedules and in host threads.
 */
void simt__point(void);

#ifdef __cplusplus
}
#endif
#endif

#if defined(SIMT_PREEMPT) && !defined(__CUDA_ARCH__)
#define SIMT__POINT() simt__point()
#else
#define SIMT__POINT() ((void)0)
#endif

SIMT_FN uint32_t simt_thread(void)
{
#if SIMT_ON_CUDA
	return threadIdx.x;
#else
	return simt__self->thread;
#endif
}

SIMT_FN uint32_t simt_block_threads(void)
{
#if SIMT_ON_CUDA
	return blockDim.x;
#else
	return simt__self->block_threads;
#endif
}

SIMT_FN uint32_t simt_block(void)
{
#if SIMT_ON_CUDA
	return blockIdx.x;
#else
	return simt__self->block;
#endif
}

SIMT_FN uint32_t simt_blocks(void)
{
#if SIMT_ON_CUDA
	return gridDim.x;
#else
	return simt__self->blocks;
#endif
}

SIMT_FN uint64_t simt_global_thread(void)
{
	return (uint64_t)simt_block() * simt_block_threads() + simt_thread();
}

SIMT_FN uint64_t simt_global_threads(void)
{
	return (uint64_t)simt_blocks() * simt_block_threads();
}

SIMT_FN uint32_t simt_warp_width(void)
{
#if SIMT_ON_CUDA
	return 32;
#else
	return simt__self->warp_width;
#endif
}

SIMT_FN uint32_t simt_whole_warp(void)
{
	return simt_warp_width() == 32 ? 0xffffffffu : (1u << simt_warp_width()) - 1;
}

SIMT_FN uint32_t simt_lane(void)
{
#if SIMT_ON_CUDA
	return threadIdx.x % 32;
#else
	return simt__self->lane;
#endif
}

SIMT_FN uint32_t simt_processor(void)
{
#if SIMT_ON_CUDA
	uint32_t processor;

	asm("mov.u32 %0, %%smid;" : "=r"(processor));
	return processor;
#else
	return simt__self->processor;
#endif
}

#endif
