/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.h - random words of 4 bytes, each compared.
 */
#ifndef GN_BASELINES_WORDS_H
#define GN_BASELINES_WORDS_H

#include "baselines/data.h"

struct gn_base_words_args {
	struct gn_array array;  /* u32 */
	const uint32_t *memory; /* the words themselves, for the way by pointer */
	uint64_t words;         /* to choose from */
	uint64_t touches;
	uint64_t *wrong;
	uint32_t seed;
};

SIMT_KERNEL_DECLARE(gn_base_words_pointer); /* loads, as they come */
SIMT_KERNEL_DECLARE(gn_base_words_array);   /* gn_read_u32 */

#endif
