/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simt.h - one source, several machines: the whole of what device code may rely on.
 *
 * Device code is written once, in the common subset of C11, C++17 and CUDA C, as plain functions marked
 * SIMT_FN. A kernel is such a function over one argument struct:
 *
 *     struct scale_args { float *x; uint64_t count; float by; };
 *
 *     SIMT_FN void scale(const struct scale_args *a)
 *     {
 *             for (uint64_t i = simt_global_thread(); i < a->count; i += simt_global_threads())
 *                     a->x[i] *= a->by;
 *     }
 *     SIMT_KERNEL(scale, struct scale_args)
 *
 * and the host launches it on any machine with simt_launch(machine, &scale_kernel, grid, &args).
 * Compiled by a C or C++ compiler it runs on the cpu machine; compiled by nvcc, on cpu and cuda.
 *
 *   detail/simt/base.h     who am I: thread, block, lane
 *   detail/simt/atomic.h   loads, stores and atomics whose names carry order and scope
 *   detail/simt/reduce.h   atomics that return nothing
 *   detail/simt/warp.h     a warp's lanes together: ballot, shuffle, match
 *   detail/simt/wait.h     waiting, time, barriers
 *   detail/simt/copy.h     a warp's lanes move bytes together
 *   detail/simt/machine.h  host side: open a machine, memory, launch
 *   explore.h  host side: run a kernel under every schedule, or many random ones
 *
 * Nothing outside these files names a CUDA intrinsic, a compiler atomic or assembly.
 */
#ifndef GRAPNEL_SIMT_H
#define GRAPNEL_SIMT_H

#include <grapnel/detail/simt/base.h>
#include <grapnel/detail/simt/atomic.h>
#include <grapnel/detail/simt/reduce.h>
#include <grapnel/detail/simt/warp.h>
#include <grapnel/detail/simt/wait.h>
#include <grapnel/detail/simt/copy.h>
#include <grapnel/detail/simt/machine.h>

#endif
