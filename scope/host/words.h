/* SPDX-License-Identifier: Apache-2.0 */
/* words.h - loops over memory that no compiler may leave out. */
#ifndef GN_SCOPE_HOST_WORDS_H
#define GN_SCOPE_HOST_WORDS_H

#include <stdint.h>

/* scope_words_sum - the sum, modulo 2^64, of words of 8 bytes; bytes is a multiple of 64. Reads each once. */
uint64_t scope_words_sum(const void *memory, uint64_t bytes);

/* scope_words_write - word k becomes first + k; bytes is a multiple of 64. */
void scope_words_write(void *memory, uint64_t bytes, uint64_t first);

/* scope_words_chase - follow so many pointers; returns the last. */
void *scope_words_chase(void *at, uint64_t steps);

#endif
