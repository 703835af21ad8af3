/* SPDX-License-Identifier: Apache-2.0 */
#include "host.h"

#include "baselines/data.h"

void gn_base_host_fill(uint32_t *to, uint64_t words)
{
#pragma omp parallel for schedule(static)
	for (uint64_t i = 0; i < words; i++)
		to[i] = gn_base_word(i);
}
