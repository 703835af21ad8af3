/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - the data as a program on the host makes them.
 */
#ifndef GN_BASELINES_HOST_H
#define GN_BASELINES_HOST_H

#include <stdint.h>

/* gn_base_host_fill - to[i] = gn_base_word(i), by every core of the host; returns when it is done. */
void gn_base_host_fill(uint32_t *to, uint64_t words);

#endif
