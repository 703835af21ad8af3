/* SPDX-License-Identifier: Apache-2.0 */
/* refused.h - included before an example: every launch of it is one that no machine takes. */
#include <grapnel/grapnel.h>

static inline int launch_nothing(struct simt_machine *machine, const struct simt_kernel *kernel, const void *arguments)
{
	const struct simt_grid none = {0, 0, 0};

	return simt_launch(machine, kernel, none, arguments);
}

#define simt_launch(machine, kernel, grid, arguments) ((void)(grid), launch_nothing(machine, kernel, arguments))
