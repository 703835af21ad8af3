/* SPDX-License-Identifier: Apache-2.0 */
/* refused.h - included before an example: every launch of it is one that no machine takes. */
#include <grapnel/grapnel.h>

static inline int launch_nothing(struct simt_machine *machine, const struct simt_kernel *kernel,
                                 const void *arguments, struct gn_error *error)
{
	const struct simt_grid none = {0, 0, 0};

	return simt_launch(machine, kernel, none, arguments, error);
}

static inline int launch_too_much(struct gn_data *data, const struct simt_kernel *kernel,
                                  const void *arguments, struct gn_error *error)
{
	const struct simt_grid large = {1, 4096, 0};

	return gn_launch(data, kernel, large, arguments, error);
}

#define simt_launch(machine, kernel, grid, arguments, error) \
	((void)(grid), launch_nothing(machine, kernel, arguments, error))
#define gn_launch(data, kernel, grid, arguments, error) \
	((void)(grid), launch_too_much(data, kernel, arguments, error))
