/* SPDX-License-Identifier: Apache-2.0 */
#include "words.h"

SIMT_FN void gn_base_words_pointer(const struct gn_base_words_args *a)
{
	uint64_t wrong = 0;

	for (uint64_t k = simt_global_thread(); k < a->touches; k += simt_global_threads()) {
		const uint64_t i = gn_base_draw(k, a->seed, a->words);

		wrong += a->memory[i] != gn_base_word(i);
	}
	gn_base_report(a->wrong, wrong);
}
SIMT_KERNEL_RESIDENT(gn_base_words_pointer, struct gn_base_words_args, 2048)

SIMT_FN void gn_base_words_array(const struct gn_base_words_args *a)
{
	uint64_t wrong = 0;

	for (uint64_t k = simt_global_thread(); k < a->touches; k += simt_global_threads()) {
		const uint64_t i = gn_base_draw(k, a->seed, a->words);

		wrong += gn_read_u32(&a->array, i) != gn_base_word(i);
	}
	gn_base_report(a->wrong, wrong);
}
SIMT_KERNEL_RESIDENT(gn_base_words_array, struct gn_base_words_args, 2048)
