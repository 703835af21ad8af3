/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - the steps of a request, named where they happen.
 *
 * GN_TRACE(step) does nothing, unless a program is compiled with GN_TRACE_ENABLED for the cpu machine. Then
 * it calls gn_trace_note, which that program defines, with the step's name. A test does so, with the
 * library's sources compiled in the same way, and compares the steps with docs/life-of-a-request.md. A step
 * is noted before the store that lets another thread continue, and after the load that lets this thread
 * continue.
 */
#ifndef GRAPNEL_TRACE_H
#define GRAPNEL_TRACE_H

#include <grapnel/detail/simt/base.h>

#if defined(GN_TRACE_ENABLED) && !SIMT_ON_CUDA
/* clang-format off */
#ifdef __cplusplus
extern "C"
#endif
void gn_trace_note(const char *step);
/* clang-format on */
#define GN_TRACE(step) gn_trace_note(#step)
#else
#define GN_TRACE(step) ((void)0)
#endif

#endif
