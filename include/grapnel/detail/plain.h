/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/plain.h - what the headers need of the C library: integers of fixed width, size_t, memcpy, memset.
 *
 * Every other header gets them from here. NVRTC, which compiles kernels while a program runs, has no C
 * library: it knows size_t, memcpy, memset and assert by itself, and the integers are declared here. If the
 * program brings a <stdint.h> of its own (as Jitify does), that one counts. Otherwise the 64-bit integers are
 * what libcu++ takes under NVRTC, so that both can be included.
 */
#ifndef GRAPNEL_PLAIN_H
#define GRAPNEL_PLAIN_H

#if !defined(__CUDACC_RTC__)
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#elif __has_include(<stdint.h>)
#include <stdint.h>
#else
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef unsigned long long uintptr_t;
#endif

#endif
