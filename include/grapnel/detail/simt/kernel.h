/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/simt/kernel.h - SIMT_KERNEL makes entry points of a function: one for the cpu machine and, if nvcc
 * compiles it, one for cuda.
 */
#ifndef GRAPNEL_SIMT_KERNEL_H
#define GRAPNEL_SIMT_KERNEL_H

#include <grapnel/detail/simt/base.h>

/* A kernel as SIMT_KERNEL makes it. Plain data; owned by the program. */
struct simt_kernel {
	const char *name;
	size_t argument_bytes;
	void (*cpu)(const void *arguments);
	const void *cuda; /* NULL if this source was not compiled by nvcc */
};

#ifdef __cplusplus
#define SIMT__EXTERN extern "C"
#else
#define SIMT__EXTERN extern
#endif
#define SIMT_KERNEL_DECLARE(function) SIMT__EXTERN const struct simt_kernel function##_kernel

#if defined(__CUDACC__)
/*
 * Blocks of 1024 threads that a multiprocessor must hold: one, if it cannot hold the requested number of
 * threads. Source: CUDA programming guide, technical specifications per compute capability: a multiprocessor
 * holds 2048 or 1536 threads.
 */
#if SIMT_ON_CUDA && ((__CUDA_ARCH__ >= 860 && __CUDA_ARCH__ < 900) || __CUDA_ARCH__ >= 1100)
#define SIMT__RESIDENT(threads) 1
#else
#define SIMT__RESIDENT(threads) ((threads) / 1024)
#endif
#endif

#if defined(__CUDACC_RTC__)
/*
 * NVRTC compiles for a GPU alone. The kernel is a function <function>_kernel, which the program finds by this
 * name and launches itself.
 */
#define SIMT__KERNEL(function, argument_type, block, residents)                \
	extern "C" __global__ void __launch_bounds__(block, residents)         \
	    function##_kernel(const __grid_constant__ argument_type arguments) \
	{                                                                      \
		function(&arguments);                                          \
	}
#else
/*
 * The list of the program's cuda kernels, filled before main. All are loaded before a kernel that stays
 * resident is launched: CUDA would load a kernel at its first launch, which waits for kernels that stay.
 */
struct simt__listed {
	const struct simt_kernel *kernel;
	struct simt__listed *next;
};
SIMT__EXTERN int simt__list(struct simt__listed *kernel);
#if defined(__CUDACC__)
#define SIMT__KERNEL(function, argument_type, block, residents)                                          \
	static __global__ void __launch_bounds__(block, residents)                                       \
	    function##__cuda(const __grid_constant__ argument_type arguments)                            \
	{                                                                                                \
		function(&arguments);                                                                    \
	}                                                                                                \
	static void function##__cpu(const void *arguments)                                               \
	{                                                                                                \
		function((const argument_type *)arguments);                                              \
	}                                                                                                \
	SIMT_KERNEL_DECLARE(function);                                                                   \
	const struct simt_kernel function##_kernel = {#function, sizeof(argument_type), function##__cpu, \
	                                              (const void *)function##__cuda};                   \
	static struct simt__listed function##__entry = {&function##_kernel, 0};                          \
	static const int function##__listed __attribute__((unused)) = simt__list(&function##__entry);
#else
#define SIMT__KERNEL(function, argument_type, block, residents) \
	static void function##__cpu(const void *arguments)      \
	{                                                       \
		function((const argument_type *)arguments);     \
	}                                                       \
	SIMT_KERNEL_DECLARE(function);                          \
	const struct simt_kernel function##_kernel = {#function, sizeof(argument_type), function##__cpu, 0};
#endif
#endif
#define SIMT_KERNEL_RESIDENT(function, argument_type, threads) \
	SIMT__KERNEL(function, argument_type, 1024, SIMT__RESIDENT(threads))
#define SIMT_KERNEL_SMALL(function, argument_type) SIMT__KERNEL(function, argument_type, 512, 1)
#define SIMT_KERNEL(function, argument_type) SIMT_KERNEL_RESIDENT(function, argument_type, 1024)

#endif
