/* SPDX-License-Identifier: Apache-2.0 */
#include "data.h"

SIMT_FN void gn_base_fill(const struct gn_base_fill_args *a)
{
	for (uint64_t i = simt_global_thread(); i < a->words; i += simt_global_threads())
		a->to[i] = gn_base_word(a->first + i);
}
SIMT_KERNEL(gn_base_fill, struct gn_base_fill_args)
