/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.h - much memory filled, spoilt and compared with a pattern (scope/pattern.h): each an equal part, by
 * as many threads as this one has processors, up to 16.
 */
#ifndef GN_SCOPE_HOST_PARTS_H
#define GN_SCOPE_HOST_PARTS_H

#include <stdint.h>

#include <grapnel/error.h>

#ifdef __cplusplus
extern "C" {
#endif

void scope_host_fill(void *to, uint64_t bytes, uint64_t seed);
void scope_host_poison(void *to, uint64_t bytes);

/* scope_host_check - 0, or -GN_EIO: how many words are wrong, and which is the first. */
int scope_host_check(const void *from, uint64_t bytes, uint64_t seed, struct gn_error *e);

#ifdef __cplusplus
}
#endif

#endif
