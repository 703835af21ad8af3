// SPDX-License-Identifier: Apache-2.0
// The sum by [] of the C++ view.
#include <grapnel/grapnel.hpp>

#include "natural/access.h"

SIMT_FN void gn_natural_sum_view(const struct gn_natural_args *a)
{
	gn::array<float> x(a->array);
	double mine = 0;

	for (uint64_t i = simt_global_thread(); i < a->touches; i += simt_global_threads())
		mine += x[i];
	gn_natural_add(a, mine);
}
SIMT_KERNEL(gn_natural_sum_view, struct gn_natural_args)
