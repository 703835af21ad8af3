/* SPDX-License-Identifier: Apache-2.0 */
/* unit.h - cmocka, for sources that are compiled as C and as C++. */
#ifndef GN_TESTS_UNIT_H
#define GN_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#include <cmocka.h>
#ifdef __cplusplus
}
#endif

#endif
